//! Numbers that a text gives names to: constants and variables of code, options of settings.
//!
//! Owns how languages write them. Must not judge them.

use std::cell::LazyCell;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::constants::Constants;
use super::source::SourceText;
use super::table_numbers;
pub(super) use super::written_numbers::{NamedNumber, number};
use crate::text::c_tokens::{Style, Token, TokenKind};

/// Tokens of a value that are read.
const MOST_TOKENS: usize = 40;

/// Values that stand for no limit.
const BOUNDLESS: [&str; 8] = [
    "portMAX_DELAY",
    "UINT32_MAX",
    "UINT64_MAX",
    "INT32_MAX",
    "INT64_MAX",
    "INT_MAX",
    "UINT_MAX",
    "SIZE_MAX",
];

/// The numbers of a file whose names are `wanted`, in their order.
pub(super) fn find(source: &SourceText<'_>, wanted: impl Fn(&str) -> bool) -> Vec<NamedNumber> {
    let (name, text) = (source.path.file_name(), source.text);
    let end = name.rsplit_once('.').map_or("", |(_, end)| end);
    match end {
        "c" | "h" | "cc" | "hh" | "cpp" | "hpp" | "cxx" | "hxx" | "ino" | "inc" | "rs" => {
            in_code(source, Style::C, wanted)
        }
        "py" => in_code(source, Style::Python, wanted),
        "cmake" => in_lines(text, &CMAKE, wanted),
        _ if name == "CMakeLists.txt" => in_lines(text, &CMAKE, wanted),
        _ if name.starts_with("Kconfig") => in_kconfig(text, wanted),
        "csv" => table_numbers::find(text, wanted),
        "json" => in_lines(text, &MEMBER, wanted),
        // `-DNAME=30` among its flags names a number for the code.
        _ if name == "platformio.ini" => {
            let defined = in_lines(text, &CMAKE, &wanted);
            let set = in_lines(text, &SETTING, |name| !name.starts_with('D') && wanted(name));
            let mut all: Vec<NamedNumber> = set.into_iter().chain(defined).collect();
            all.sort_by_key(|number| number.lines);
            all
        }
        "yaml" | "yml" | "toml" | "ini" | "cfg" | "conf" | "properties" | "env" => {
            in_lines(text, &SETTING, wanted)
        }
        _ if name.starts_with("sdkconfig") => in_lines(text, &SETTING, wanted),
        _ => Vec::new(),
    }
}

/// A name and a number on a line of their own.
static SETTING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern = r#"^[\s{-]*["']?([A-Za-z_][\w.-]*)["']?\s*[=:]\s*["']?(-?\d[\w.]*)["']?\s*[,}]?\s*(?:[#;].*)?$"#;
    Regex::new(pattern).ok()
});

/// `"name": 30` of JSON, several of which may stand in a line.
static MEMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#""([A-Za-z_][\w.-]*)"\s*:\s*"?(-?\d[\w.]*)"?\s*(?:[,}\]]|$)"#).ok()
});

/// `set(NAME 30)`, `-DNAME=30`, `NAME=30` among definitions.
static CMAKE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?:\bset\s*\(\s*(\w+)\s+"?|(?:\s|"|\(|-D)([A-Za-z_]\w*)=)(-?\d[\w.]*)"#).ok()
});

fn in_lines(
    text: &str,
    pattern: &LazyLock<Option<Regex>>,
    wanted: impl Fn(&str) -> bool,
) -> Vec<NamedNumber> {
    let Some(pattern) = pattern.as_ref() else { return Vec::new() };
    let mut found = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        for groups in pattern.captures_iter(text) {
            let mut parts = groups.iter().skip(1).flatten().map(|part| part.as_str());
            let (Some(name), Some(shown)) = (parts.next(), parts.next()) else { continue };
            found.extend(simple(name, shown, line).filter(|_| wanted(name)));
        }
    }
    found
}

/// `config NAME` … `default 30`.
fn in_kconfig(text: &str, wanted: impl Fn(&str) -> bool) -> Vec<NamedNumber> {
    let (mut found, mut option) = (Vec::new(), "");
    for (line, text) in (1..).zip(text.lines()) {
        let mut words = text.split_whitespace();
        match (words.next(), words.next()) {
            (Some("config" | "menuconfig"), Some(name)) => option = name,
            (Some("default"), Some(shown)) if wanted(option) => {
                found.extend(simple(option, shown, line));
            }
            _ => {}
        }
    }
    found
}

/// A number that stands there itself.
fn simple(name: &str, shown: &str, line: u32) -> Option<NamedNumber> {
    let (value, unit) = number(shown)?;
    let (name, shown) = (name.to_owned(), shown.to_owned());
    Some(NamedNumber { name, value, unit, shown, lines: [line, line] })
}

fn in_code(
    source: &SourceText<'_>,
    style: Style,
    wanted: impl Fn(&str) -> bool,
) -> Vec<NamedNumber> {
    let all = source.tokens();
    let code =
        Code { source, all, constants: LazyCell::new(Box::new(|| Constants::new(all))), style };
    let words = all.iter().enumerate().filter_map(|(at, token)| Some((at, token.word()?)));
    // Few names get a value where they stand, and that is told sooner than whether they are wanted.
    let set = words.filter_map(|(at, name)| Some((at, name, code.value_after(at)?)));
    let set = set.filter(|(_, name, _)| wanted(name));
    set.filter_map(|(at, name, value)| code.number(at, &name, value)).collect()
}

struct Code<'a, 's> {
    source: &'a SourceText<'s>,
    all: &'a [Token<'a>],
    constants: LazyConstants<'a>,
    style: Style,
}

/// The constants of a source, which are read once a value names one.
type LazyConstants<'a> = LazyCell<Constants<'a>, Box<dyn FnOnce() -> Constants<'a> + 'a>>;

impl Code<'_, '_> {
    fn is(&self, at: usize, mark: &str) -> bool {
        self.all.get(at).is_some_and(|token| token.is(mark))
    }

    fn line(&self, at: usize) -> usize {
        self.all.get(at).map_or(0, |token| self.source.line_at(token.start))
    }

    /// The number that the name at `at` gets by the tokens of `range`.
    fn number(&self, at: usize, name: &str, range: Range<usize>) -> Option<NamedNumber> {
        let (value, unit, defined) = self.value(range.clone())?;
        let bytes = self.all.get(range.start)?.start..self.all.get(range.end - 1)?.range().end;
        let shown = self.source.text.get(bytes)?.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = |at| u32::try_from(self.line(at) + 1).unwrap_or(u32::MAX);
        let lines = [line(at), line(defined.unwrap_or(at))];
        Some(NamedNumber { name: name.to_owned(), value, unit, shown, lines })
    }

    /// The tokens of the value that a name gets.
    fn value_after(&self, at: usize) -> Option<Range<usize>> {
        let is_define = at.checked_sub(1).and_then(|before| self.all.get(before));
        if is_define.is_some_and(|token| token.in_directive && token.is_word("define")) {
            let rest = self.all.get(at + 1..)?.iter().take(MOST_TOKENS);
            let end = rest.clone().position(|token| token.kind == TokenKind::DirectiveEnd);
            return self.not_empty(at + 1..at + 1 + end.unwrap_or(rest.len()));
        }
        let mut next = at + 1;
        // `LIMIT: u32 = 30`
        if self.is(next, ":") && !self.is(next + 1, ":") {
            let is_type = |token: &Token<'_>| {
                token.kind == TokenKind::Word || ["&", "'", "<", ">", ":"].contains(&token.raw)
            };
            let rest = self.all.get(next + 1..)?.iter();
            next += 1 + rest.take(8).take_while(|token| is_type(token)).count();
        }
        let start = match self.is(next, "{") {
            true => next + 1,
            false if self.is(next, "=") && !self.is(next + 1, "=") => next + 1,
            false => return None,
        };
        let mut depth = 0_usize;
        for end in start..self.all.len().min(start + MOST_TOKENS) {
            let token = self.all.get(end)?;
            let ends_line = self.style == Style::Python && self.line(end) > self.line(start);
            match token.raw {
                _ if ends_line && depth == 0 => return self.not_empty(start..end),
                ";" | "," | ")" | "]" | "}" if depth == 0 => return self.not_empty(start..end),
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
        }
        (start + MOST_TOKENS > self.all.len()).then(|| self.not_empty(start..self.all.len()))?
    }

    fn not_empty(&self, range: Range<usize>) -> Option<Range<usize>> {
        (!range.is_empty()).then_some(range)
    }

    /// The number of an expression, its unit, and the token of the constant that it comes from.
    fn value(&self, range: Range<usize>) -> Option<(f64, String, Option<usize>)> {
        let part = self.all.get(range.clone())?;
        if let [token] = part {
            if BOUNDLESS.contains(&token.raw) {
                return Some((f64::INFINITY, String::new(), None));
            }
            if token.kind == TokenKind::Number {
                let (value, unit) = number(token.raw)?;
                return Some((value, unit, None));
            }
        }
        if let [minus, token] = part
            && minus.is("-")
            && token.kind == TokenKind::Number
        {
            let (value, unit) = number(token.raw)?;
            return Some((-value, unit, None));
        }
        if let Some(found) = self.constants.value(range.clone()) {
            #[expect(clippy::cast_precision_loss, reason = "compared by their size")]
            return Some((found.number as f64, String::new(), found.defined));
        }
        // `pdMS_TO_TICKS(30)`, `std::chrono::seconds(30)`: in a unit of its own.
        let open = range.clone().find(|at| self.is(*at, "("))?;
        let is_name = |token: &Token<'_>| token.kind == TokenKind::Word || token.is(":");
        let name = self.all.get(range.start..open).filter(|name| !name.is_empty())?;
        if !self.is(range.end - 1, ")") || !name.iter().all(is_name) {
            return None;
        }
        let inner = self.not_empty(open + 1..range.end - 1)?;
        let (value, unit, defined) = self.value(inner)?;
        let name: String = name.iter().map(|token| token.raw).collect();
        Some((value, name + &unit, defined))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ProjectPath;

    /// Every number of a file as `name value unit line`.
    fn numbers(path: &str, text: &str) -> Vec<String> {
        let path = ProjectPath::new(path).unwrap();
        let found = find(&SourceText::new(&path, text), |_| true);
        let shown_as = found.iter().map(|it| {
            let [line, from] = it.lines;
            format!("{} {} {} {line} {from}", it.name, it.value, it.unit).replace("  ", " ")
        });
        shown_as.collect()
    }

    #[test]
    fn languages_write_named_numbers_in_their_ways() {
        for (path, text, wanted) in [
            ("a.c", "#define LIMIT_S (30 * 60) // s\n", "LIMIT_S 1800 1 1"),
            ("a.c", "#define A 30\n#define LIMIT_S (A * 60)\n", "LIMIT_S 1800 2 1"),
            ("a.c", "static const float limit = 2.5f;", "limit 2.5 1 1"),
            ("a.c", "cfg.timeout = pdMS_TO_TICKS(100);", "timeout 100 pdMS_TO_TICKS 1 1"),
            ("a.c", "x_t c = {\n  .timeout_ms = 0x10,\n};", "timeout_ms 16 2 2"),
            ("a.c", "TickType_t timeout = portMAX_DELAY;", "timeout inf 1 1"),
            ("a.c", "int limit = -1;", "limit -1 1 1"),
            ("a.cpp", "constexpr int kLimit{30};", "kLimit 30 1 1"),
            ("a.cpp", "auto t = std::chrono::seconds(5);", "t 5 std::chrono::seconds 1 1"),
            ("a.cpp", "auto t = 500ms;", "t 500 ms 1 1"),
            ("a.rs", "const LIMIT: u32 = 3_600;", "LIMIT 3600 1 1"),
            ("a.py", "LIMIT = 30  # s\nprint(LIMIT)\n", "LIMIT 30 1 1"),
            ("a.py", "run(timeout=1.5, n=x)", "timeout 1.5 1 1"),
            ("sdkconfig", "# x\nCONFIG_WDT_TIMEOUT_S=5\n", "CONFIG_WDT_TIMEOUT_S 5 2 2"),
            ("a.yaml", "pump:\n  limit: 30 # s\n", "limit 30 2 2"),
            ("a.json", "{ \"limit\": 30 }\n", "limit 30 1 1"),
            ("CMakeLists.txt", "set(PUMP_LIMIT 30)\n", "PUMP_LIMIT 30 1 1"),
            ("a.cmake", "add_compile_definitions(PUMP_LIMIT=30)\n", "PUMP_LIMIT 30 1 1"),
            ("Kconfig", "config PUMP_LIMIT\n int\n default 30\n", "PUMP_LIMIT 30 3 3"),
        ] {
            assert!(
                numbers(path, text).iter().any(|shown_as| shown_as == wanted),
                "{text}: {:?}",
                { numbers(path, text) }
            );
        }
        for (path, text) in [
            ("a.c", "if (limit == 30) return;"),
            ("a.c", "if (limit <= 30 && max >= 4) return;"),
            ("a.c", "int limit = read_limit();"),
            ("a.c", "limit_t limit = { 0 };\n#define LIMIT(x) (x)\n"),
            ("a.c", "// limit = 30\nconst char *limit = \"30\";"),
            ("README.md", "limit = 30"),
        ] {
            assert_eq!(numbers(path, text), [] as [String; 0], "{text}");
        }
    }
}
