//! What follows from a change, in one line of facts: what is written, what is built again, which
//! numbers change.
//!
//! Says only what can be told from the two versions and the project; guesses nothing.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use foldhash::HashSet;
use regex::Regex;

use super::named_numbers::NamedNumber;
use super::source::SourceText;
use super::{Subject, literals};
use crate::model::{Change, ProjectPath};

/// Values that are named one by one.
const NAMED_VALUES: usize = 3;

/// Changed lines in which more than plain assignments are read.
const MOST_LINES: usize = 200;

/// Longest value that is repeated, in characters.
const LONGEST: usize = 24;

/// A name with a number or a switch: a macro, an option of Kconfig, an assignment.
static VALUE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)^\s*(?:
            \#\s*define\s+(?P<macro>\w+)\s+\(?(?P<mv>-?\d[\w.]*)\)?\s*(?:/[/*].*)?$
          | (?P<option>CONFIG_\w+)=(?P<ov>\S+)\s*$
          | (?:[\w:<>]+[\s*]+)*(?P<name>[A-Za-z_][\w.>-]*)\s*=\s*\(?(?P<nv>-?\d[\w.]*)\)?\s*[;,]
          | \.(?P<field>\w+)\s*=\s*(?P<fv>-?\d[\w.]*)\s*,?
        )",
    )
    .ok()
});

/// The line for a change; empty where there is nothing to say.
pub(super) fn of(subject: &Subject<'_>) -> String {
    let mut parts = Vec::new();
    match subject.change {
        Change::Save { .. } if subject.base == Some(subject.content) => {
            parts.push("the file stays as it is".to_owned());
        }
        Change::Save { path, base, .. } => {
            parts.push(if base.is_some() { "writes 1 file" } else { "makes 1 file" }.to_owned());
            parts.extend(rebuilds(path));
        }
        Change::Insert { path, .. } => {
            parts.push("writes 1 file".to_owned());
            parts.extend(rebuilds(path));
        }
        Change::Delete { .. } => parts.push("deletes 1 file".to_owned()),
        // What is done to a board stands on the screen row by row.
        Change::Flash(_)
        | Change::Erase(_)
        | Change::Send(_)
        | Change::Read(_)
        | Change::Nvs(_) => {
            return String::new();
        }
    }
    parts.extend(values(subject));
    parts.join(", ")
}

fn rebuilds(path: &ProjectPath) -> Option<String> {
    let name = path.file_name();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    match ending {
        "c" | "cc" | "cpp" | "cxx" | "S" | "s" | "ino" => Some("rebuilds 1 unit".to_owned()),
        _ if name == "CMakeLists.txt" || name.starts_with("sdkconfig") => {
            Some("configures the project again".to_owned())
        }
        _ => None,
    }
}

/// Numbers and options that have another value afterwards.
fn values(subject: &Subject<'_>) -> Vec<String> {
    let (Some(old), Some(new)) = (subject.base_source(), subject.source()) else {
        return Vec::new();
    };
    let (path, changed) = (new.path, subject.changed());
    let [was, is] = subject.numbers().unwrap_or_default();
    let all = |source: &SourceText<'_>, numbers: &[NamedNumber], lines: &BTreeSet<u32>| {
        let mut all = values_in(source.text, lines);
        for (line, name, value) in named_in(numbers, lines) {
            if all.iter().all(|(at, known, _)| (*at, known) != (line, &name)) {
                all.push((line, name, value));
            }
        }
        all.sort_by_key(|(line, ..)| *line);
        all
    };
    let mut gone = all(old, was, &changed.removed);
    let mut reported: Vec<(u32, String)> = Vec::new();
    for (line, name, value) in &all(new, is, &changed.added) {
        let Some(place) = gone.iter().position(|(_, known, _)| known == name) else { continue };
        let (_, _, was) = gone.remove(place);
        if was != *value {
            reported.push((*line, format!("{} {was} → {value}", readable(name, path))));
        }
    }
    let named: HashSet<u32> = reported.iter().map(|(line, _)| *line).collect();
    let is_wanted = |line: u32| !named.contains(&line);
    reported.extend(literals::changed(path, (old.text, new.text), changed, is_wanted));
    reported.sort_by_key(|(line, _)| *line);
    let mut reported: Vec<String> = reported.into_iter().map(|(_, text)| text).collect();
    let more = reported.len().saturating_sub(NAMED_VALUES);
    reported.truncate(NAMED_VALUES);
    match more {
        0 => {}
        1 => reported.push("1 more value".to_owned()),
        _ => reported.push(format!("{more} more values")),
    }
    reported
}

/// Constants of code, defaults of options and the like in those lines.
fn named_in(numbers: &[NamedNumber], lines: &BTreeSet<u32>) -> Vec<(u32, String, String)> {
    if lines.len() > MOST_LINES {
        return Vec::new();
    }
    let here = numbers.iter().filter(|number| lines.contains(&number.lines[0]));
    let short = here.filter(|number| {
        number.shown.chars().count() <= LONGEST && !crate::text::inspect::names_secret(&number.name)
    });
    short.map(|number| (number.lines[0], number.name.clone(), number.shown.clone())).collect()
}

/// The values in those lines of a text, which are numbered from 1.
fn values_in(text: &str, lines: &BTreeSet<u32>) -> Vec<(u32, String, String)> {
    let all = (1..).zip(text.split_inclusive('\n'));
    all.filter(|(number, _)| lines.contains(number))
        .filter_map(|(number, line)| {
            let (name, value) = value(line.trim_end_matches(['\n', '\r']))?;
            Some((number, name, value))
        })
        .collect()
}

fn value(line: &str) -> Option<(String, String)> {
    if !line.contains('=') && !line.contains("define") {
        return None;
    }
    let found = VALUE.as_ref()?.captures(line)?;
    let pairs = [("macro", "mv"), ("option", "ov"), ("name", "nv"), ("field", "fv")];
    let (name, value) = pairs.iter().find_map(|(name, value)| {
        Some((found.name(name)?.as_str(), found.name(value)?.as_str()))
    })?;
    let is_reported = value.chars().count() <= LONGEST && !crate::text::inspect::names_secret(name);
    is_reported.then(|| (name.to_owned(), value.to_owned()))
}

/// `PUMP_LIMIT` as `pump limit`; an option keeps its name.
fn readable(name: &str, path: &ProjectPath) -> String {
    match name.starts_with("CONFIG_") || path.file_name().starts_with("Kconfig") {
        true => name.to_owned(),
        false => name.replace('_', " ").trim().to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::FindingsContext;
    use super::*;
    use crate::model::{Draft, DraftChange};

    #[test]
    fn values_have_a_name_and_a_number() {
        let path = ProjectPath::new("main/a.c").unwrap();
        let of = |line: &str| {
            value(line).map(|(name, value)| format!("{} {value}", readable(&name, &path)))
        };
        assert_eq!(of("#define PUMP_LIMIT 3600 // s").as_deref(), Some("pump limit 3600"));
        assert_eq!(of("    .max_transfer_sz = 4096,").as_deref(), Some("max transfer sz 4096"));
        assert_eq!(of("static const int limit_s = 30;").as_deref(), Some("limit s 30"));
        assert_eq!(of("CONFIG_LWIP_IPV6=y").as_deref(), Some("CONFIG_LWIP_IPV6 y"));
        assert_eq!(of("CONFIG_WIFI_PASSWORD=\"x\""), None);
        assert_eq!(of("if (a == 3) return;"), None);
    }

    /// The line for a file that changes from one text to another.
    fn reported(path: &str, old: &str, new: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let project_dir = crate::workspace::ProjectDir::open(folder.path()).unwrap();
        let (path, base) = (ProjectPath::new(path).unwrap(), Some(old.as_bytes().to_vec()));
        let change = DraftChange::Save { path, base, content: new.as_bytes().to_vec() };
        let draft = Draft { change, reason: String::new(), checks: Vec::new() };
        let made = crate::gate::examine(&project_dir, vec![draft], &FindingsContext::default());
        let line = made[0].facts.consequence.clone();
        line.split_once(", ").filter(|_| line.contains('→')).map_or(line.clone(), |(_, rest)| {
            rest.trim_start_matches("rebuilds 1 unit, ")
                .trim_start_matches("configures the project again, ")
                .to_owned()
        })
    }

    #[test]
    fn numbers_of_every_language_are_named() {
        let kconfig =
            "config RUN_SECONDS\n    int \"Longest run\"\n    range 1 60\n    default 30\n";
        for (path, old, from, to, wanted) in [
            ("a.c", "#define LIMIT_S 30\n", "30", "3600", "limit s 30 → 3600"),
            ("a.hpp", "constexpr int kMax{60};\n", "60", "90", "kmax 60 → 90"),
            ("a.hpp", "constexpr auto kWait = 30s;\n", "30s", "3600s", "kwait 30s → 3600s"),
            ("a.h", "enum { LOW = 10, HIGH = 80 };\n", "80", "95", "high 80 → 95"),
            ("a.py", "MAX_SECONDS = 30\n", "30", "3600", "max seconds 30 → 3600"),
            ("a.py", "def run(s, timeout=30):\n", "30", "3600", "timeout 30 → 3600"),
            ("main/Kconfig", kconfig, "default 30", "default 55", "RUN_SECONDS 30 → 55"),
            ("main/Kconfig", kconfig, "1 60", "1 600", "RUN_SECONDS range 60 → 600"),
            ("sdkconfig", "CONFIG_T_MS=500\n", "500", "5000", "CONFIG_T_MS 500 → 5000"),
            ("a.yaml", "limits:\n  seconds: 30\n", "30", "60", "seconds 30 → 60"),
            ("a.c", "int ok(int t)\n{\n    return t < 60;\n}\n", "60", "600", "line 3: 60 → 600"),
            ("p.csv", "nvs,data,nvs,0x9000,0x6000\n", "0x6000", "0x5000", "nvs 0x6000 → 0x5000"),
        ] {
            assert_eq!(reported(path, old, &old.replace(from, to)), wanted, "{path}: {old}");
        }
        assert_eq!(reported("a.c", "f(1, 2);\n", "g(1, 3);\n"), "writes 1 file, rebuilds 1 unit");
    }
}
