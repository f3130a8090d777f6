//! Colours of languages without a tree: line by line, with the grammars of Sublime Text.
//!
//! Owns which language has which grammar, and what their scopes mean. Reading the grammars takes
//! some milliseconds and a long text up to seconds: must not be called by the thread that draws.
//! Foreign texts and grammars can be slow or break: both are bounded here.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use serde::Deserialize;
use syntect::parsing::{
    ParseState, Scope, ScopeStack, SyntaxDefinition, SyntaxReference, SyntaxSet, SyntaxSetBuilder,
};

use super::contain::contained;
use super::syntax::{Span, SyntaxKind};
use crate::text::shipped::shipped_table;

/// Longer texts are not looked at, in bytes.
const MAX_BYTES: usize = 1 << 20;
/// Longer lines have no colours, and the next one goes on where the one before them ended, in bytes.
const MAX_LINE: usize = 2_000;
/// Longest time for one text; the lines that were not reached have no colours.
const BUDGET: Duration = if cfg!(test) { Duration::from_secs(60) } else { Duration::from_secs(2) };

/// A language that is coloured line by line: the name of its grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LineLanguage(&'static str);

/// The data of `assets/syntax/lines.toml`.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct LineData {
    plain: Vec<String>,
    grammars: BTreeMap<String, Vec<String>>,
    scopes: HashMap<SyntaxKind, Vec<String>>,
}

static DATA: LazyLock<LineData> = LazyLock::new(|| {
    shipped_table(include_str!("../../assets/syntax/lines.toml")).unwrap_or_default()
});

/// Grammars that belong to this program.
const OWN: [&str; 7] = [
    include_str!("../../assets/syntax/assembly.sublime-syntax"),
    include_str!("../../assets/syntax/csv.sublime-syntax"),
    include_str!("../../assets/syntax/ini.sublime-syntax"),
    include_str!("../../assets/syntax/kconfig.sublime-syntax"),
    include_str!("../../assets/syntax/linker-script.sublime-syntax"),
    include_str!("../../assets/syntax/reverty.sublime-syntax"),
    include_str!("../../assets/syntax/sdkconfig.sublime-syntax"),
];

impl LineLanguage {
    /// The language that the name of a file suggests.
    #[must_use]
    pub fn of_file(name: &str) -> Option<Self> {
        // `sdkconfig.defaults.esp32s3`, `sdkconfig.ci`; `Kconfig.projbuild`.
        let start =
            name.split('.').next().filter(|start| matches!(*start, "sdkconfig" | "Kconfig"));
        let ending = name.rsplit_once('.').map(|(_, ending)| ending);
        [Some(name), start, ending].into_iter().flatten().find_map(Self::exactly)
    }

    /// The language with that name, as a fence of Markdown states it.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::exactly(name).or_else(|| Self::exactly(&name.to_ascii_lowercase()))
    }

    fn exactly(word: &str) -> Option<Self> {
        let found = DATA.grammars.iter().find(|(_, words)| words.iter().any(|it| it == word));
        found.map(|(grammar, _)| Self(grammar))
    }
}

/// The coloured pieces of the lines of `source`, in order and without overlap; fewer lines than it
/// has when it takes too long, none when it is too long.
#[must_use]
pub fn highlight(language: LineLanguage, source: &str) -> Vec<Vec<Span>> {
    if source.len() > MAX_BYTES {
        return Vec::new();
    }
    let until = Instant::now() + BUDGET;
    let mut lines = Vec::new();
    let done = contained(|| {
        static GRAMMARS: LazyLock<Grammars> = LazyLock::new(Grammars::load);
        let Some((set, syntax)) = GRAMMARS.of(language) else { return };
        let mut at = LineParser::new(set, syntax);
        for line in source.split_inclusive('\n') {
            if Instant::now() > until {
                break;
            }
            lines.push(if line.len() > MAX_LINE { Vec::new() } else { at.line(line) });
        }
    });
    // What was found before it broke is as good as any.
    let _ = done;
    lines
}

struct Grammars {
    own: SyntaxSet,
    others: SyntaxSet,
}

impl Grammars {
    fn load() -> Self {
        let mut own = SyntaxSetBuilder::new();
        for text in OWN {
            if let Ok(grammar) = SyntaxDefinition::load_from_str(text, true, None) {
                own.add(grammar);
            }
        }
        Self { own: own.build(), others: two_face::syntax::extra_newlines() }
    }

    fn of(&self, language: LineLanguage) -> Option<(&SyntaxSet, &SyntaxReference)> {
        [&self.own, &self.others]
            .into_iter()
            .find_map(|set| set.find_syntax_by_name(language.0).map(|syntax| (set, syntax)))
    }
}

/// Where the reading of a text stands.
struct LineParser<'a> {
    set: &'a SyntaxSet,
    state: ParseState,
    stack: ScopeStack,
}

impl<'a> LineParser<'a> {
    fn new(set: &'a SyntaxSet, syntax: &SyntaxReference) -> Self {
        Self { set, state: ParseState::new(syntax), stack: ScopeStack::new() }
    }

    fn line(&mut self, line: &str) -> Vec<Span> {
        let Ok(changes) = self.state.parse_line(line, self.set) else { return Vec::new() };
        let end = line.trim_end_matches(['\n', '\r']).len();
        let mut spans: Vec<Span> = Vec::new();
        let mut from = 0;
        let mut add = |from: usize, until: usize, kind: Option<SyntaxKind>| {
            let until = until.min(end);
            let Some(kind) = kind.filter(|_| from < until) else { return };
            match spans.last_mut() {
                Some(last) if last.kind == kind && last.range.end == from => last.range.end = until,
                _ => spans.push(Span { range: from..until, kind }),
            }
        };
        for (at, change) in &changes {
            add(from, *at, kind(self.stack.as_slice()));
            from = from.max(*at);
            if self.stack.apply(change).is_err() {
                break;
            }
        }
        add(from, end, kind(self.stack.as_slice()));
        spans
    }
}

/// What the scopes of a piece of text mean: the innermost one that says something.
fn kind(scopes: &[Scope]) -> Option<SyntaxKind> {
    static MEANINGS: LazyLock<Vec<(Scope, Option<SyntaxKind>)>> = LazyLock::new(|| {
        let coloured = DATA
            .scopes
            .iter()
            .flat_map(|(kind, names)| names.iter().map(|name| (name, Some(*kind))));
        let scopes = coloured.chain(DATA.plain.iter().map(|name| (name, None)));
        let mut scopes: Vec<_> = scopes
            .filter_map(|(name, kind)| Scope::new(name).ok().map(|scope| (scope, kind)))
            .collect();
        // Of two that fit, the longer one says more.
        scopes.sort_by_key(|(scope, _)| std::cmp::Reverse(scope.len()));
        scopes
    });
    scopes.iter().rev().find_map(|scope| {
        let found = MEANINGS.iter().find(|(known, _)| known.is_prefix_of(*scope));
        found.map(|(_, kind)| *kind)
    })?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use SyntaxKind::{
        Comment, Constant, Function, Keyword, Number, Operator, Preprocessor, Property,
        String as Text, Type, Variable,
    };

    /// What `word` means where it first stands in `source`.
    fn kind_of(name: &str, source: &str, word: &str) -> Option<SyntaxKind> {
        let (row, line) = source.lines().enumerate().find(|(_, line)| line.contains(word))?;
        let at = line.find(word)?;
        let lines = highlight(LineLanguage::named(name)?, source);
        let span =
            lines[row].iter().find(|s| s.range.start <= at && at + word.len() <= s.range.end);
        span.map(|span| span.kind)
    }

    fn means(name: &str, source: &str, words: &[(&str, SyntaxKind)]) {
        for (word, kind) in words {
            assert_eq!(kind_of(name, source, word), Some(*kind), "{name}: {word}");
        }
    }

    #[test]
    fn configurations_are_coloured_by_meaning() {
        let yaml = "# why\nname: \"text\"\ncount: 42\nlist:\n  - true\n";
        means(
            "yaml",
            yaml,
            &[
                ("# why", Comment),
                ("name", Property),
                ("\"text\"", Text),
                ("42", Number),
                ("true", Constant),
            ],
        );
        let toml = "# why\n[table]\nname = \"x\"\nn = 0x1F\nok = true\n";
        means(
            "toml",
            toml,
            &[
                ("# why", Comment),
                ("table", Type),
                ("name", Property),
                ("\"x\"", Text),
                ("0x1F", Number),
                ("true", Constant),
            ],
        );
        let ini = "; why\n[env:esp32]\nboard = esp32dev\nmonitor_speed = 115200 ; baud\nflags = -DX=\"a b\" ${env.x}\n";
        means(
            "ini",
            ini,
            &[
                ("; why", Comment),
                ("env:esp32", Type),
                ("monitor_speed", Property),
                ("115200", Number),
                ("; baud", Comment),
                ("\"a b\"", Text),
                ("${env.x}", Variable),
            ],
        );
    }

    #[test]
    fn options_of_esp_idf_are_coloured_by_meaning() {
        let sdkconfig =
            "# Automatic\n# CONFIG_Y is not set\nCONFIG_X=y\nCONFIG_N=240\nCONFIG_S=\"esp32\"\n";
        means(
            "sdkconfig",
            sdkconfig,
            &[
                ("# Automatic", Comment),
                ("is not set", Constant),
                ("CONFIG_X", Property),
                ("=", Operator),
                ("240", Number),
                ("\"esp32\"", Text),
            ],
        );
        let kconfig = "# why\nmenu \"App\"\n    config PIN\n        int \"Pin\"\n        default 4 if X\n        help\n            The pin.\nendmenu\n";
        means(
            "Kconfig",
            kconfig,
            &[
                ("# why", Comment),
                ("menu", Keyword),
                ("\"App\"", Text),
                ("PIN", Constant),
                ("int", Type),
                ("4", Number),
                ("The pin.", Comment),
                ("endmenu", Keyword),
            ],
        );
    }

    #[test]
    fn programs_are_coloured_by_meaning() {
        let shell = "# why\nfor i in a; do\n  echo \"x $i\" $((i + 42))\ndone\n";
        means(
            "sh",
            shell,
            &[
                ("# why", Comment),
                ("for", Keyword),
                ("echo", Function),
                ("\"x ", Text),
                ("42", Number),
            ],
        );
        let rust = "// why\nfn main() { let x = \"text\"; f(42); }\n";
        means(
            "rust",
            rust,
            &[
                ("// why", Comment),
                ("fn", Keyword),
                ("main", Function),
                ("\"text\"", Text),
                ("42", Number),
            ],
        );
        let make = "# why\nCC := gcc\nifeq ($(X),1)\nall: main.o\n\t$(CC) \"$<\"\nendif\n";
        means(
            "make",
            make,
            &[
                ("# why", Comment),
                ("CC", Variable),
                ("gcc", Text),
                ("ifeq", Keyword),
                ("all", Function),
            ],
        );
    }

    #[test]
    fn sources_near_the_chip_are_coloured_by_meaning() {
        let assembly = "# why\n#include \"x.h\"\n  .align 4\nstart:\n  addi sp, sp, -16 // more\n  .ascii \"text\"\n";
        means(
            "asm",
            assembly,
            &[
                ("# why", Comment),
                ("#include", Preprocessor),
                ("\"x.h\"", Text),
                (".align", Keyword),
                ("start", Function),
                ("addi", Keyword),
                ("-16", Number),
                ("// more", Comment),
            ],
        );
        let linker = "/* why */\nMEMORY { iram : org = 0x40080000, len = 128K }\nSECTIONS { .text : { KEEP(*(.vectors)) } INCLUDE \"x.ld\" }\n";
        means(
            "ld",
            linker,
            &[
                ("/* why */", Comment),
                ("MEMORY", Keyword),
                ("0x40080000", Number),
                ("128K", Number),
                (".text", Type),
                ("KEEP", Function),
                ("\"x.ld\"", Text),
            ],
        );
    }

    #[test]
    fn tables_and_differences_are_coloured_by_meaning() {
        let csv = "# Name, Type\nnvs, data, nvs, 0x9000, 24K\nx, \"a \"\"b\"\"\", 3.5\n";
        means(
            "csv",
            csv,
            &[
                ("# Name, Type", Comment),
                ("data", Keyword),
                ("0x9000", Number),
                ("24K", Number),
                ("\"a \"\"b\"\"\"", Text),
            ],
        );
        let diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ f\n same\n-old\n+new\n";
        means("diff", diff, &[("-old", Keyword), ("+new", Text)]);
        assert!(kind_of("diff", diff, "1,2").is_some());
        assert_eq!(kind_of("diff", diff, "same"), None);
    }

    #[test]
    fn every_language_has_a_grammar() {
        let grammars = Grammars::load();
        assert_eq!(grammars.own.syntaxes().len(), OWN.len());
        assert!(!DATA.scopes.is_empty() && !DATA.grammars.is_empty());
        for (grammar, words) in &DATA.grammars {
            assert!(grammars.of(LineLanguage(grammar)).is_some(), "{words:?}: {grammar}");
        }
    }

    #[test]
    fn long_lines_and_long_texts_cost_little() {
        let long = format!("a: 1\nb: \"{}\"\nc: 3\n", "[({".repeat(100_000));
        let lines = highlight(LineLanguage::named("yaml").unwrap(), &long);
        assert_eq!((lines.len(), lines[1].len()), (3, 0));
        assert!(!lines[0].is_empty() && !lines[2].is_empty());
        assert!(highlight(LineLanguage::named("sh").unwrap(), &"x\n".repeat(1 << 20)).is_empty());
        let nested = "$(".repeat(900);
        assert_eq!(highlight(LineLanguage::named("sh").unwrap(), &nested).len(), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4))]
        #[test]
        fn spans_lie_inside_their_lines_in_order(
            source in "([a-zA-Z_]{1,6}|[0-9]{1,3}|[-+@#\"'`/*(){}\\[\\];:=<>$%&|!,.\\\\ \t]|\r?\n|é|\u{1b}|\u{202e}){0,80}",
        ) {
            for grammar in DATA.grammars.keys() {
                let lines = highlight(LineLanguage(grammar), &source);
                prop_assert_eq!(lines.len(), source.split_inclusive('\n').count());
                for (spans, line) in lines.iter().zip(source.split_inclusive('\n')) {
                    prop_assert!(spans.iter().all(|span| line.get(span.range.clone()).is_some()));
                    prop_assert!(spans.windows(2).all(|two| two[0].range.end <= two[1].range.start));
                }
            }
        }
    }
}
