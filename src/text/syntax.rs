//! Colours by meaning, and the first place where a file does not parse.
//!
//! Must not know themes. Work on one text is bounded in size and time, because
//! the text may come from a model.

use std::borrow::Cow;
use std::ops::Range;

use tree_sitter::{QueryCursor, QueryCursorOptions, QueryCursorState, StreamingIterator, Tree};

pub use super::c_branches::is_conditional;
use super::c_errors::{self, CodeError};
use super::lenient_json;
use super::syntax_edit::{Changed, edited};
use super::syntax_error;
pub use super::syntax_error::{Certainty, SyntaxError};
pub use super::syntax_grammar::SyntaxKind;
use super::syntax_grammar::{Paint, grammar};
use super::tree::{Language, Limits, parse, parse_edited};
use crate::model::ProjectPath;

/// A piece of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Bytes of the line.
    pub range: Range<usize>,
    /// What it means.
    pub kind: SyntaxKind,
}

/// The language that the name of a file suggests, of those whose texts are checked.
#[must_use]
pub fn language_of(path: &ProjectPath) -> Option<Language> {
    if path.file_name() == "CMakeLists.txt" {
        return Some(Language::Cmake);
    }
    // Options of the compiler for a sketch, whatever its ending.
    if path.file_name() == "build_opt.h" {
        return None;
    }
    match path.extension()? {
        "c" | "h" => Some(Language::C),
        "cpp" | "hpp" | "cc" | "hh" | "cxx" | "hxx" | "ino" => Some(Language::Cpp),
        "cmake" => Some(Language::Cmake),
        "json" => Some(Language::Json),
        _ => None,
    }
}

/// The language with that name, as a fence of Markdown states it.
#[must_use]
pub fn language_named(name: &str) -> Option<Language> {
    match name.to_ascii_lowercase().as_str() {
        "c" | "h" => Some(Language::C),
        "cpp" | "c++" | "cc" | "hpp" | "arduino" | "ino" => Some(Language::Cpp),
        "cmake" => Some(Language::Cmake),
        "json" => Some(Language::Json),
        "py" | "python" => Some(Language::Python),
        _ => None,
    }
}

/// The coloured pieces of each line of `source`, in order and without overlap. Empty when the
/// text is too long or takes too long.
#[must_use]
pub fn highlight(language: Language, source: &str) -> Vec<Vec<Span>> {
    let limits = Limits::colours();
    let Some(tree) = parse(language, source, limits) else { return Vec::new() };
    coloured(language, &tree, source, None, limits).unwrap_or_default()
}

/// The coloured pieces of each line of `source`, of the lines in `ranges` alone when they are given,
/// in bytes; `None` when it takes too long.
pub(super) fn coloured(
    language: Language,
    tree: &Tree,
    source: &str,
    ranges: Option<&[Range<usize>]>,
    limits: Limits,
) -> Option<Vec<Vec<Span>>> {
    let grammar = grammar(language)?;
    let whole = 0..source.len();
    let mut found = Vec::new();
    let mut cursor = QueryCursor::new();
    for range in ranges.unwrap_or(std::slice::from_ref(&whole)) {
        let mut watch = |_: &QueryCursorState| limits.go_on();
        let options = QueryCursorOptions::new().progress_callback(&mut watch);
        cursor.set_byte_range(range.clone());
        let (root, text) = (tree.root_node(), source.as_bytes());
        let mut matches = cursor.matches_with_options(&grammar.query, root, text, options);
        while let Some(matched) = matches.next() {
            if !grammar.usable.get(matched.pattern_index).copied().unwrap_or(true) {
                continue;
            }
            for capture in matched.captures() {
                let paint = grammar.paints.get(capture.index as usize).copied();
                if let Some(paint) = paint.filter(|paint| *paint != Paint::Skip) {
                    found.push((capture.node.byte_range(), matched.pattern_index, paint));
                }
            }
        }
    }
    // Outer before inner; of two for the same text the later pattern is the more special one.
    found.sort_by_key(|(range, pattern, _)| (range.start, usize::MAX - range.end, *pattern));
    let mut kinds: Vec<Option<SyntaxKind>> = vec![None; source.len()];
    for (range, _, paint) in found {
        if let Some(cells) = kinds.get_mut(range) {
            cells.fill(match paint {
                Paint::Kind(kind) => Some(kind),
                Paint::Clear | Paint::Skip => None,
            });
        }
    }
    Some(spans(source, &kinds))
}

/// A text with its tree, so that all who look at it share one parse.
#[derive(Debug)]
pub struct Parsed<'a> {
    language: Language,
    /// What was parsed; its places are those of the source.
    text: Cow<'a, str>,
    tree: Tree,
    /// It may be one of C++ as well as one of C.
    is_header: bool,
}

impl<'a> Parsed<'a> {
    /// Parses `source` in the language that `path` suggests; `None` when its texts are not checked,
    /// or when it cannot be told in time.
    #[must_use]
    pub fn of(path: &ProjectPath, source: &'a str) -> Option<Self> {
        let language = language_of(path)?;
        let text = match language {
            Language::C | Language::Cpp => super::c_source::tame(source),
            Language::Json if lenient_json::is_for(path) => lenient_json::strict(source),
            Language::Cmake | Language::Json => Cow::Borrowed(source),
            Language::Python => return None,
        };
        let tree = parse(language, &text, Limits::colours())?;
        let is_header = path.extension() == Some("h");
        let parsed = Self { language, text, tree, is_header };
        // A header of C++ has often the ending of one of C.
        if is_header && parsed.tree.root_node().has_error() {
            let tree = parse(Language::Cpp, &parsed.text, Limits::colours());
            if let Some(tree) = tree.filter(|tree| !tree.root_node().has_error()) {
                return Some(Self { language: Language::Cpp, tree, ..parsed });
            }
        }
        Some(parsed)
    }

    /// The version before this one, in which `changes` were made; `None` where only a parse of its own
    /// tells its tree.
    #[must_use]
    pub fn before<'b>(
        &self,
        path: &ProjectPath,
        old: &'b str,
        changes: &[Changed],
    ) -> Option<Parsed<'b>> {
        let is_code = matches!(self.language, Language::C | Language::Cpp);
        if !is_code || language_of(path) != Some(self.language) || self.tree.root_node().has_error()
        {
            return None;
        }
        let (Cow::Borrowed(new), Cow::Borrowed(text)) = (&self.text, super::c_source::tame(old))
        else {
            return None;
        };
        let tree = edited(self.tree.clone(), (text, new), changes);
        let tree = parse_edited(self.language, text, Some(&tree), Limits::colours())?;
        let parsed = Parsed { text: Cow::Borrowed(text), tree, ..*self };
        (!parsed.tree.root_node().has_error()).then_some(parsed)
    }

    /// The places that do not parse, in the order of `source`; `None` when it cannot be told in time.
    #[must_use]
    pub fn errors(&self, source: &str) -> Option<Vec<SyntaxError>> {
        let has_error = self.tree.root_node().has_error();
        Some(match self.language {
            Language::C | Language::Cpp => self.code_errors(source)?,
            Language::Cmake | Language::Json | Language::Python if has_error => {
                vec![syntax_error::locate(&self.tree, source)]
            }
            Language::Cmake | Language::Json | Language::Python => Vec::new(),
        })
    }

    fn code_errors(&self, source: &str) -> Option<Vec<SyntaxError>> {
        let find = |language| c_errors::find(language, &self.text, Limits::colours());
        let is_certain = |error: &CodeError| error.certainty == Certainty::Certain;
        let found = match self.tree.root_node().has_error() {
            false => c_errors::find_in_parsed(self.language, &self.text),
            true => {
                let found = find(self.language)?;
                let is_unclear = self.is_header && found.iter().any(is_certain);
                let other = is_unclear.then(|| find(Language::Cpp)).flatten();
                other.filter(|other| !other.iter().any(is_certain)).unwrap_or(found)
            }
        };
        let place = |CodeError { at, message, certainty }| {
            syntax_error::place(source, at, message, certainty)
        };
        Some(found.into_iter().map(place).collect())
    }

    /// The first place that is wrong for sure, else the first that does not parse.
    #[must_use]
    pub fn first_error(&self, source: &str) -> Option<SyntaxError> {
        let mut errors = self.errors(source)?;
        let certain = errors.iter().position(|error| error.certainty == Certainty::Certain);
        (!errors.is_empty()).then(|| errors.swap_remove(certain.unwrap_or(0)))
    }

    /// The tree and its text, when all of it parsed in this language.
    #[must_use]
    pub fn whole(&self, language: Language) -> Option<(&Tree, &str)> {
        let is_whole = self.language == language && !self.tree.root_node().has_error();
        is_whole.then_some((&self.tree, &self.text))
    }
}

/// The first place where `source` does not parse in the language that `path` suggests; `None`
/// when it parses, when there is no grammar, or when it cannot be told in time.
#[must_use]
pub fn first_error(path: &ProjectPath, source: &str) -> Option<SyntaxError> {
    Parsed::of(path, source)?.first_error(source)
}

/// The first place where a file of Python does not parse; `None` when it parses, when it is none of
/// Python, or when it cannot be told in time. Python itself may know newer words than this grammar.
#[must_use]
pub fn python_error(path: &ProjectPath, source: &str) -> Option<SyntaxError> {
    if path.extension() != Some("py") {
        return None;
    }
    let tree = parse(Language::Python, source, Limits::colours())?;
    let has_error = tree.root_node().has_error();
    has_error.then(|| SyntaxError {
        certainty: Certainty::Possible,
        ..syntax_error::locate(&tree, source)
    })
}

/// Cuts the kinds of all bytes into pieces of lines.
fn spans(source: &str, kinds: &[Option<SyntaxKind>]) -> Vec<Vec<Span>> {
    let mut lines = Vec::new();
    let mut start = 0;
    for line in source.split_inclusive('\n') {
        let text = line.trim_end_matches(['\n', '\r']);
        let cells = kinds.get(start..start + text.len()).unwrap_or_default();
        let mut spans: Vec<Span> = Vec::new();
        for (at, kind) in cells.iter().enumerate() {
            let Some(kind) = *kind else { continue };
            match spans.last_mut() {
                Some(last) if last.kind == kind && last.range.end == at => last.range.end = at + 1,
                _ => spans.push(Span { range: at..at + 1, kind }),
            }
        }
        lines.push(spans);
        start += line.len();
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kind_of(language: Language, source: &str, word: &str) -> Option<SyntaxKind> {
        let (row, line) = source.lines().enumerate().find(|(_, line)| line.contains(word))?;
        let at = line.find(word)?;
        let lines = highlight(language, source);
        let span =
            lines[row].iter().find(|s| s.range.start <= at && at + word.len() <= s.range.end);
        span.map(|span| span.kind)
    }

    #[test]
    fn c_is_coloured_by_meaning() {
        let source = "#include \"esp_log.h\"\n/* why */ static const char *TAG = \"scan\";\n\
                      int probe(uint8_t a) {\n  ESP_LOGI(TAG, \"%d\", a.field + 0x3c);\n  return MAX;\n}\n";
        let kind = |word| kind_of(Language::C, source, word);
        assert_eq!(kind("#include"), Some(SyntaxKind::Preprocessor));
        assert_eq!(kind("\"esp_log.h\""), Some(SyntaxKind::String));
        assert_eq!(kind("/* why */"), Some(SyntaxKind::Comment));
        assert_eq!(kind("static"), Some(SyntaxKind::Keyword));
        assert_eq!(kind("char"), Some(SyntaxKind::Type));
        assert_eq!(kind("uint8_t"), Some(SyntaxKind::Type));
        assert_eq!(kind("probe"), Some(SyntaxKind::Function));
        assert_eq!(kind("ESP_LOGI"), Some(SyntaxKind::Function));
        assert_eq!(kind("field"), Some(SyntaxKind::Property));
        assert_eq!(kind("0x3c"), Some(SyntaxKind::Number));
        assert_eq!(kind("MAX"), Some(SyntaxKind::Constant));
        assert_eq!(kind("+"), Some(SyntaxKind::Operator));
    }

    #[test]
    fn a_sketch_is_coloured_by_meaning_and_its_errors_are_found() {
        let source = "#include <Wire.h>\nclass Led : public Print {\n  bool lit = true;\n};\n\
                      void setup() { Serial.begin(115200); }\n";
        let kind = |word| kind_of(Language::Cpp, source, word);
        assert_eq!(kind("#include"), Some(SyntaxKind::Preprocessor));
        assert_eq!(kind("class"), Some(SyntaxKind::Keyword));
        assert_eq!(kind("Led"), Some(SyntaxKind::Type));
        assert_eq!(kind("setup"), Some(SyntaxKind::Function));
        assert_eq!(kind("115200"), Some(SyntaxKind::Number));
        let path = ProjectPath::new("a.ino").unwrap();
        assert_eq!(first_error(&path, source), None);
        assert_eq!(first_error(&path, "void loop() {\n  if (true) {\n}\n").unwrap().line, 1);
    }

    #[test]
    fn python_that_does_not_parse_is_told_with_its_place() {
        let path = ProjectPath::new("a.py").unwrap();
        for good in [
            "",
            "x: int = 1\nmatch x:\n    case 1:\n        print(f\"{x!r:>{10}}\")\n",
            "async def f[T](a: T, /, *, b=1, **k) -> T:\n    return await g(a) if (n := b) else a\n",
            "with (open('a') as a, open('b') as b):\n    pass\ntype P = list[int]\n",
            "try:\n    pass\nexcept* ValueError as e:\n    raise\nlambda *a, **k: (yield)\n",
        ] {
            assert_eq!(python_error(&path, good), None, "{good}");
        }
        for (bad, line) in [
            ("def f(:\n    pass\n", 1),
            ("x = 1\nprint(x\n", 2),
            ("class A\n    pass\n", 1),
            ("for i in range(3):\nx = = 2\n", 2),
        ] {
            assert_eq!(python_error(&path, bad).map(|error| error.line), Some(line), "{bad}");
        }
        assert_eq!(python_error(&ProjectPath::new("a.txt").unwrap(), "def f(:"), None);
    }

    #[test]
    fn a_header_may_be_one_of_c_plus_plus() {
        let path = ProjectPath::new("led/Led.h").unwrap();
        let class = "#pragma once\nclass Led {\n public:\n  explicit Led(int pin = 2);\n  void set(bool &lit);\n};\n";
        assert_eq!(first_error(&path, class), None);
        assert_eq!(first_error(&path, "void set(int &lit, int level = 3);\n"), None);
        assert_eq!(first_error(&path, &class.replace("};", "")).unwrap().line, 2);
        assert!(first_error(&path, "int broken( {\n").is_some());
    }

    #[test]
    fn the_version_before_has_the_tree_that_a_parse_of_its_own_gives() {
        let path = ProjectPath::new("a.c").unwrap();
        let old = "#define LIMIT 30\nint a;\nint f(int n)\n{\n    return n > LIMIT;\n}\n";
        let new = "#define LIMIT 3600\nint f(int n)\n{\n    if (n) {\n        n--;\n    }\n    return n > LIMIT;\n}\n";
        let changes = [(0..2, 0..1), (4..4, 3..6)].map(|(old, new)| Changed { old, new });
        let tree = |parsed: &Parsed<'_>| parsed.tree.root_node().to_sexp();
        let parsed = Parsed::of(&path, new).unwrap();
        let before = parsed.before(&path, old, &changes).unwrap();
        assert_eq!(tree(&before), tree(&Parsed::of(&path, old).unwrap()));
        assert!(before.whole(Language::C).is_some_and(|(_, text)| text == old));
        let broken = Parsed::of(&path, "int f( {\n").unwrap();
        assert!(broken.before(&path, old, &changes).is_none());
        let json = ProjectPath::new("a.json").unwrap();
        assert!(Parsed::of(&json, "{}").unwrap().before(&json, "{}", &[]).is_none());
    }

    #[test]
    fn cmake_and_json_are_coloured_by_meaning() {
        let source = "# lists\nidf_component_register(SRCS \"main.c\" INCLUDE_DIRS include)\n\
                      if(TARGET x)\nendif()\nset(NAME ${OTHER})\n";
        let kind = |word| kind_of(Language::Cmake, source, word);
        assert_eq!(kind("# lists"), Some(SyntaxKind::Comment));
        assert_eq!(kind("idf_component_register"), Some(SyntaxKind::Function));
        assert_eq!(kind("SRCS"), Some(SyntaxKind::Constant));
        assert_eq!(kind("\"main.c\""), Some(SyntaxKind::String));
        assert_eq!(kind("include"), None);
        assert_eq!(kind("endif"), Some(SyntaxKind::Keyword));
        assert_eq!(kind("OTHER"), Some(SyntaxKind::Variable));
        let source = "{\"key\": \"text\", \"n\": [1, true]}";
        let kind = |word| kind_of(Language::Json, source, word);
        assert_eq!(kind("\"key\""), Some(SyntaxKind::Property));
        assert_eq!(kind("\"text\""), Some(SyntaxKind::String));
        assert_eq!(kind("1"), Some(SyntaxKind::Number));
        assert_eq!(kind("true"), Some(SyntaxKind::Constant));
    }

    #[test]
    fn names_suggest_languages() {
        let of = |path| language_of(&ProjectPath::new(path).unwrap());
        assert_eq!(of("main/CMakeLists.txt"), Some(Language::Cmake));
        assert_eq!(of("main/a.h"), Some(Language::C));
        assert_eq!((of("a.ino"), of("main/a.cpp")), (Some(Language::Cpp), Some(Language::Cpp)));
        assert_eq!(of("sdkconfig"), None);
        assert_eq!(language_named("C"), Some(Language::C));
    }

    proptest! {
        #[test]
        fn spans_lie_inside_their_lines_in_order(source in "[a-z#\"'/*(){};=\\\\\n\r é0]{0,120}") {
            for language in [Language::C, Language::Cpp, Language::Cmake, Language::Json] {
                let lines = highlight(language, &source);
                prop_assert_eq!(lines.len(), source.split_inclusive('\n').count());
                for (spans, line) in lines.iter().zip(source.split_inclusive('\n')) {
                    prop_assert!(spans.iter().all(|span| line.get(span.range.clone()).is_some()));
                    prop_assert!(spans.windows(2).all(|two| two[0].range.end <= two[1].range.start));
                }
            }
        }
    }
}
