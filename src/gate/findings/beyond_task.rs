//! What a change does beyond a task that is about words, form or names alone: code that says
//! something else, values that are not the same.
//!
//! Owns the comparison of both versions. What a task is about is known to
//! [`task_kind`](super::task_kind).

use std::collections::BTreeMap;

use foldhash::{HashMap, HashSet};

use super::limit_names::words;
use super::named_numbers::NamedNumber;
use super::source::SourceText;
use super::task_kind::{self, TaskKind};
use super::{Subject, converted_units, literals, moved_values, unchecked_limits};
use crate::model::{Change, Finding, FindingLevel, FindingPlace, ProjectPath};
use crate::text::c_tokens::{Token, TokenKind};

/// Values that are told of one file.
const MOST_VALUES: usize = 4;

/// Shortest name that may be another spelling of one, in bytes.
const SHORTEST_NAME: usize = 4;

/// Letters by which two spellings of a name differ.
const MOST_LETTERS: usize = 2;

/// What is to be said of a file that the task leaves as it is.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Vec<Finding> {
    let is_deleted = matches!(subject.change, Change::Delete { .. });
    let task = subject.context.person_words();
    let Some(kind) = task_kind::of(&task).or_else(|| task_kind::keeps_values(&task)) else {
        return Vec::new();
    };
    if subject.base.is_none() && !is_deleted {
        return match kind {
            TaskKind::Structure => moved(path, subject),
            _ => Vec::new(),
        };
    }
    let language = Language::of(path.file_name());
    if is_deleted {
        let is_code = kind != TaskKind::Structure && language.is_some();
        return is_code.then(|| finding("deletes code", kind)).into_iter().collect();
    }
    let (Some(old), Some(new)) = (subject.base_source(), subject.source()) else {
        return Vec::new();
    };
    if kind == TaskKind::Structure || path.extension() == Some("json") {
        return values(kind, subject);
    }
    let Some(language) = language else { return Vec::new() };
    let line = match language {
        Language::Tokens => other_token(old, new, (kind, subject)),
        Language::Kconfig => other_line(&options(old.text), &options(new.text)),
        Language::Lines => other_line(&lines(old, kind), &lines(new, kind)),
    };
    let Some(line) = line else { return Vec::new() };
    let at = match line {
        Line::Added(line) => Some(line),
        Line::Gone(line) => unchecked_limits::near(line, subject),
    };
    let mut found = finding("changes code", kind);
    found.place = at.map(FindingPlace::line);
    vec![found]
}

fn finding(what: &str, kind: TaskKind) -> Finding {
    let text = format!("{what}, and the task is only about {}", kind.what());
    Finding::new(FindingLevel::Warning, text).advice("Make sure that this is meant to change, too.")
}

/// Whether a file is code of C, C++, Arduino, Python or Rust.
pub(super) fn is_code(path: &ProjectPath) -> bool {
    matches!(Language::of(path.file_name()), Some(Language::Tokens))
}

/// How a file is read.
#[derive(Clone, Copy)]
enum Language {
    Tokens,
    Kconfig,
    Lines,
}

impl Language {
    fn of(name: &str) -> Option<Self> {
        let end = name.rsplit_once('.').map_or("", |(_, end)| end);
        match end {
            "c" | "h" | "cc" | "hh" | "cpp" | "hpp" | "cxx" | "hxx" | "ino" | "py" | "rs" => {
                Some(Self::Tokens)
            }
            _ if name.starts_with("Kconfig") => Some(Self::Kconfig),
            "cmake" | "csv" | "ini" | "sh" | "yml" | "yaml" | "ld" => Some(Self::Lines),
            _ if name == "CMakeLists.txt" || name.starts_with("sdkconfig") => Some(Self::Lines),
            _ => None,
        }
    }
}

/// A line, from 1, of the new version or of the old one.
enum Line {
    Added(u32),
    Gone(u32),
}

/// The first line on which a program says something else.
fn other_token(
    old: &SourceText<'_>,
    new: &SourceText<'_>,
    (kind, subject): (TaskKind, &Subject<'_>),
) -> Option<Line> {
    if kind == TaskKind::Format {
        return other_count(old, new);
    }
    let is_python = new.path.extension() == Some("py");
    let counts = |token: &&Token<'_>| match token.kind {
        TokenKind::Word | TokenKind::Number | TokenKind::Mark => true,
        // What documents a function of Python is a text.
        TokenKind::Text => {
            let is_document =
                is_python && ["\"\"\"", "'''"].iter().any(|marks| token.raw.contains(marks));
            kind == TaskKind::Comments && !is_document
        }
        TokenKind::DirectiveEnd => false,
    };
    let mut was = old.tokens().iter().filter(counts);
    let mut is = new.tokens().iter().filter(counts);
    // A name that was misspelled, too, gets another spelling.
    let is_same = |one: &Token<'_>, other: &Token<'_>| {
        let are_words = one.kind == TokenKind::Word && other.kind == TokenKind::Word;
        one.raw == other.raw
            || kind == TaskKind::Wording
                && (are_words && one.raw.len() >= SHORTEST_NAME)
                && strsim::osa_distance(one.raw, other.raw) <= MOST_LETTERS
    };
    loop {
        let (gone, came) = match (was.next(), is.next()) {
            (None, None) => return None,
            (Some(one), Some(other)) if is_same(one, other) => continue,
            different => different,
        };
        let came = came.map(|token| new.number_at(token.start));
        let gone = gone.map(|token| Line::Gone(old.number_at(token.start)));
        let is_new = |line: &u32| subject.changed().added.contains(line);
        return match came.filter(is_new) {
            Some(line) => Some(Line::Added(line)),
            None => gone.or(came.map(Line::Added)),
        };
    }
}

/// The first line with a word or number that the other version has less often. Marks that a formatter
/// adds and takes away do not count; it also sorts what is included, and splits texts.
fn other_count(old: &SourceText<'_>, new: &SourceText<'_>) -> Option<Line> {
    let texts = |source: &SourceText<'_>| {
        let texts = source.tokens().iter().filter_map(Token::text);
        texts
            .flat_map(|text| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
            .collect::<String>()
    };
    let is_same_text = texts(old) == texts(new);
    let counts = |token: &&Token<'_>| match token.kind {
        TokenKind::Word | TokenKind::Number => true,
        TokenKind::Text => !is_same_text,
        TokenKind::Mark => !matches!(token.raw, "{" | "}" | "(" | ")" | "," | ";" | "\\"),
        TokenKind::DirectiveEnd => false,
    };
    let other = |of: &SourceText<'_>, than: &SourceText<'_>| {
        let mut known: HashMap<&str, usize> = HashMap::default();
        for token in than.tokens().iter().filter(counts) {
            *known.entry(token.raw).or_default() += 1;
        }
        let is_more = |token: &&&Token<'_>| match known.get_mut(token.raw) {
            Some(left) if *left > 0 => {
                *left -= 1;
                false
            }
            _ => true,
        };
        let tokens: Vec<&Token<'_>> = of.tokens().iter().filter(counts).collect();
        let more = tokens.iter().find(is_more)?;
        // One that stands between others than before is the one that came.
        let pairs: HashSet<(&str, &str)> = {
            let known: Vec<&str> =
                than.tokens().iter().filter(counts).map(|token| token.raw).collect();
            known.iter().copied().zip(known.iter().skip(1).copied()).collect()
        };
        let is_in_new_place = |pair: &&[&Token<'_>]| match pair {
            [before, token] => token.raw == more.raw && !pairs.contains(&(before.raw, token.raw)),
            _ => false,
        };
        let came = tokens.windows(2).find(is_in_new_place).and_then(<[_]>::last).unwrap_or(more);
        Some(of.number_at(came.start))
    };
    other(new, old).map(Line::Added).or_else(|| other(old, new).map(Line::Gone))
}

/// The first line that the other version does not have.
fn other_line(old: &[(u32, String)], new: &[(u32, String)]) -> Option<Line> {
    let first = |of: &[(u32, String)], than: &[(u32, String)]| {
        let known: HashSet<&str> = than.iter().map(|(_, text)| text.as_str()).collect();
        of.iter().find(|(_, text)| !known.contains(text.as_str())).map(|(line, _)| *line)
    };
    first(new, old).map(Line::Added).or_else(|| first(old, new).map(Line::Gone))
}

/// The lines of a file without comments, white space and, where the wording may change, texts.
fn lines(source: &SourceText<'_>, kind: TaskKind) -> Vec<(u32, String)> {
    let all = (1..).zip(source.code().lines()).map(|(number, line)| {
        let squeezed: String = line.chars().filter(|c| !c.is_whitespace()).collect();
        let kept = match kind {
            // What stands between quotes.
            TaskKind::Wording => squeezed.split('"').step_by(2).collect::<Vec<_>>().join("\""),
            _ => squeezed,
        };
        (number, kept)
    });
    all.filter(|(_, line)| !line.is_empty()).collect()
}

/// What a Kconfig says besides its prompts and help texts: each line with the option it belongs to.
fn options(text: &str) -> Vec<(u32, String)> {
    const KEYS: [&str; 14] = [
        "config",
        "menuconfig",
        "choice",
        "endchoice",
        "if",
        "endif",
        "source",
        "rsource",
        "range",
        "default",
        "depends",
        "select",
        "imply",
        "visible",
    ];
    let mut found = Vec::new();
    let (mut option, mut help) = (String::new(), None);
    for (number, line) in (1..).zip(text.lines()) {
        let depth = line.len() - line.trim_start().len();
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(first) = words.first() else { continue };
        if help.is_some_and(|help| depth > help) {
            continue;
        }
        help = matches!(*first, "help" | "---help---").then_some(depth);
        if matches!(*first, "config" | "menuconfig") {
            option = words.get(1).copied().unwrap_or_default().to_owned();
        }
        if KEYS.contains(first) {
            found.push((number, format!("{option}: {}", words.join(" "))));
        }
    }
    found
}

/// The values that changed: of names that both versions have, and of names that stand in each other's
/// place.
fn values(kind: TaskKind, subject: &Subject<'_>) -> Vec<Finding> {
    let is_wanted = |name: &str| !name.to_ascii_lowercase().contains("version");
    let Some(both) = subject.numbers() else { return Vec::new() };
    let [was, is] = both.map(|all| -> Vec<NamedNumber> {
        all.iter().filter(|number| is_wanted(&number.name)).cloned().collect()
    });
    let mut found = Vec::new();
    for (old, new) in same_names(&was, &is).into_iter().chain(renamed(&was, &is, subject)) {
        let is_other = (old.value - new.value).abs() > f64::EPSILON
            && old.unit == new.unit
            && !converted_units::is_same(old, new);
        let line = new.lines.into_iter().find(|line| subject.changed().added.contains(line));
        let Some(line) = line.filter(|_| is_other && found.len() < MOST_VALUES) else { continue };
        let name = match old.name == new.name {
            true => format!("`{}`", new.name),
            false => format!("`{}`, now `{}`,", old.name, new.name),
        };
        let what = format!("changes {name} from `{}` to `{}`", old.shown, new.shown);
        found.push(finding(&what, kind).at(FindingPlace::line(line)));
    }
    found
}

/// The values that changed on their way from another file of the change into this new one.
fn moved(path: &ProjectPath, subject: &Subject<'_>) -> Vec<Finding> {
    let is_wanted = |name: &str| !name.to_ascii_lowercase().contains("version");
    let all = moved_values::find(path, subject, &is_wanted).into_iter();
    let other = all
        .filter(|(was, now)| (was.value - now.value).abs() > f64::EPSILON && was.unit == now.unit);
    let found = other.take(MOST_VALUES).map(|(was, now)| {
        let what = format!("changes `{}` from `{}` to `{}`", now.name, was.shown, now.shown);
        finding(&what, TaskKind::Structure).at(FindingPlace::line(now.lines[0]))
    });
    found.collect()
}

/// The numbers of names that stand once in both versions.
fn same_names<'a>(
    old: &'a [NamedNumber],
    new: &'a [NamedNumber],
) -> Vec<(&'a NamedNumber, &'a NamedNumber)> {
    let once = |all: &'a [NamedNumber]| {
        let mut found: BTreeMap<&str, Option<&NamedNumber>> = BTreeMap::new();
        for number in all {
            found.entry(&number.name).and_modify(|known| *known = None).or_insert(Some(number));
        }
        found
    };
    let mut new = once(new);
    let both = once(old).into_iter().map(|(name, old)| (old, new.remove(name).flatten()));
    both.filter_map(|(old, new)| Some((old?, new?))).collect()
}

/// The numbers of names that only one version has, on lines that stand in each other's place.
pub(super) fn renamed<'a>(
    old: &'a [NamedNumber],
    new: &'a [NamedNumber],
    subject: &Subject<'_>,
) -> Vec<(&'a NamedNumber, &'a NamedNumber)> {
    let names = |all: &'a [NamedNumber]| -> HashSet<&'a str> {
        all.iter().map(|number| number.name.as_str()).collect()
    };
    let (was, is) = (names(old), names(new));
    let gone = old.iter().filter(|number| !is.contains(number.name.as_str()));
    let gone: BTreeMap<u32, &NamedNumber> = gone.map(|number| (number.lines[0], number)).collect();
    if gone.is_empty() {
        return Vec::new();
    }
    let came = new.iter().filter(|number| !was.contains(number.name.as_str()));
    let came: BTreeMap<u32, &NamedNumber> = came.map(|number| (number.lines[0], number)).collect();
    let pairs = literals::pairs(subject.changed()).into_iter();
    let pairs = pairs.filter_map(|(was, is)| Some((*gone.get(&was)?, *came.get(&is)?)));
    pairs.filter(|(was, is)| has_same_unit(&was.name, &is.name)).collect()
}

/// Whether two names end with the same unit, or with none.
fn has_same_unit(one: &str, other: &str) -> bool {
    const UNITS: [&str; 22] = [
        "s", "sec", "secs", "ms", "us", "ns", "min", "mins", "h", "hz", "khz", "mhz", "v", "mv",
        "a", "ma", "mm", "cm", "ticks", "percent", "bytes", "kb",
    ];
    let unit = |name: &str| {
        let last = words(name).last().map(str::to_ascii_lowercase)?;
        UNITS.contains(&last.as_str()).then_some(last)
    };
    unit(one) == unit(other)
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::{self, TestProject};
    use crate::model::CheckKind;

    fn reported(path: &str, old: &str, new: &str, task: &str) -> Vec<String> {
        let all = test_changes::reported(CheckKind::BeyondTask, (path, Some(old), new), task);
        all.into_iter().filter(|found| found.starts_with("Warning")).collect()
    }

    const OLD: &str = "/* On. */\nvoid on(void) { set(4, 1); log(\"pmp on\"); }\n";

    #[test]
    fn code_that_changes_under_a_task_about_words_is_told() {
        let code = "Warning 2: changes code, and the task is only about ";
        for (task, new, wanted) in [
            ("Add comments to the driver", OLD.replace("On.", "Switches it on."), ""),
            ("Add comments to the driver", OLD.replace("set(4", "set(5"), "comments"),
            ("Add comments to the driver", OLD.replace("pmp", "pump"), "comments"),
            ("Fix the typo", OLD.replace("pmp", "pump"), ""),
            ("Fix the typo", OLD.replace("pmp", "pump").replace("1)", "0)"), "wording"),
            ("Add comments", OLD.replace("set(4, 1)", "set(1, 4)"), "comments"),
            ("Add comments", OLD.replace("void on", "void /* a */ on"), ""),
            ("Fix the typo", OLD.replace("void on", "static void on"), "wording"),
            ("Fix the typos", OLD.replace("pmp on", "on").replace("set(", "pump_set("), "wording"),
            ("Reformat the driver", OLD.replace("{ ", "{\n  "), ""),
            ("Reformat the driver", OLD.replace("\"pmp on\"", "\"pmp \"\n  \"on\""), ""),
            ("Reformat the driver", OLD.replace(", 1", ", 0"), "formatting"),
            ("Reformat the driver", OLD.replace(" log(\"pmp on\");", ""), "formatting"),
            ("Make it faster", OLD.replace(", 1", ", 0"), ""),
        ] {
            let found = reported("pump.c", OLD, &new, task);
            match wanted {
                "" => assert_eq!(found, [] as [String; 0], "{task}: {new}"),
                wanted => assert_eq!(found, [format!("{code}{wanted}")], "{task}: {new}"),
            }
        }
    }

    #[test]
    fn a_misspelled_name_may_get_another_spelling() {
        let old = "int wifi_conect(void);\nint stop(void);\n";
        let task = "Fix the typo in wifi_conect";
        assert_eq!(
            reported("a.h", old, &old.replace("conect", "connect"), task),
            [] as [String; 0]
        );
        assert_eq!(reported("a.h", old, &old.replace("stop", "start_pump"), task).len(), 1);
    }

    #[test]
    fn options_and_settings_stay_under_a_task_about_words() {
        let old = "config A\n    int \"Ramp\"\n    range 1 9\n    help\n        Fast.\n        default is 3\n";
        let task = "Translate the help texts";
        let words = old.replace("Fast.", "Quick.").replace("\"Ramp\"", "\"Slope\"");
        assert_eq!(reported("Kconfig", old, &words, task), [] as [String; 0]);
        let range = "Warning 3: changes code, and the task is only about wording";
        assert_eq!(reported("Kconfig", old, &words.replace("1 9", "1 99"), task), [range]);
        assert_eq!(reported("Kconfig", old, "config A\n    int \"Ramp\"\n", task).len(), 1);
        let list = "# a\nset(A \"x\") # b\nset(B 1)\n";
        let task = "Fix the spelling";
        let words = list.replace("# a", "# c").replace("\"x\"", "\"y\"");
        assert_eq!(reported("CMakeLists.txt", list, &words, task), [] as [String; 0]);
        assert_eq!(reported("CMakeLists.txt", list, &words.replace("B 1", "B 2"), task).len(), 1);
        assert_eq!(reported("notes.md", "a\n", "b\n", task), [] as [String; 0]);
    }

    #[test]
    fn code_is_not_deleted_and_texts_of_documents_are_free() {
        let task = "Fix the spelling";
        let files = [("a.c", "int a;\n"), ("a.md", "# A\n")];
        let changes = [("a.c", None), ("a.md", None)];
        let all = TestProject { files: &files, task, chip: None }
            .reported(CheckKind::BeyondTask, &changes);
        let wanted = "a.c Warning: deletes code, and the task is only about wording";
        assert_eq!(all, [wanted]);
        let old = "def on():\n    \"\"\"On.\"\"\"\n    set('a', 1)\n";
        let found = |new: &str| reported("a.py", old, new, "Add comments to the driver");
        assert_eq!(found(&old.replace("On.", "Switches it on.")), [] as [String; 0]);
        assert_eq!(found(&old.replace("'a'", "'b'")).len(), 1);
        let yaml = "a: 1 # one\nb: 2\n";
        let found = |new: &str| reported("a.yml", yaml, new, "Add comments to the settings");
        assert_eq!(found(&yaml.replace("# one", "# first")), [] as [String; 0]);
        assert_eq!(found(&yaml.replace("b: 2", "b: 3")).len(), 1);
        assert_eq!(found("a: 1\n").len(), 1, "a line went");
    }

    #[test]
    fn values_stay_when_names_change() {
        let old = "#define LED 4\n#define RAMP_MS 300\nint a[2];\n";
        let task = "Rename LED to LAMP";
        let renamed = old.replace("LED", "LAMP");
        assert_eq!(reported("a.h", old, &renamed, task), [] as [String; 0]);
        let wanted = "Warning 2: changes `RAMP_MS` from `300` to `30`, and the task is only about \
                      names and the order of the code";
        assert_eq!(reported("a.h", old, &renamed.replace("300", "30"), task), [wanted]);
        assert_eq!(reported("a.h", old, &renamed.replace("300", "(3 * 100)"), task).len(), 0);
        let swapped = "#define LED 4\n#define SLOPE_MS 30\nint a[2];\n";
        let wanted = "Warning 2: changes `RAMP_MS`, now `SLOPE_MS`, from `300` to `30`, and the task is \
                      only about names and the order of the code";
        assert_eq!(reported("a.h", old, swapped, "Rename RAMP_MS to SLOPE_MS"), [wanted]);
        let open = "Rename LED to LAMP and make the ramp shorter";
        assert_eq!(reported("a.h", old, &renamed.replace("300", "30"), open), [] as [String; 0]);
    }
}
