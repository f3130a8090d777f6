//! What follows from a change, in one line of facts: what is written, what is built again, which
//! numbers change.
//!
//! Says only what can be told from the two versions and the project; guesses nothing.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::Subject;
use crate::model::{Change, ProjectPath};

/// Values that are named one by one.
const NAMED_VALUES: usize = 3;

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
    let (Some(old), Some(text)) = (subject.base_text(), subject.text()) else { return Vec::new() };
    let changed = subject.changed();
    let (mut gone, new) = (values_in(old, &changed.removed), values_in(text, &changed.added));
    let mut told = Vec::new();
    for (name, value) in &new {
        let Some(place) = gone.iter().position(|(known, _)| known == name) else { continue };
        let (_, was) = gone.remove(place);
        if was != *value {
            told.push(format!("{} {was} → {value}", readable(name)));
        }
    }
    let more = told.len().saturating_sub(NAMED_VALUES);
    told.truncate(NAMED_VALUES);
    match more {
        0 => {}
        1 => told.push("1 more value".to_owned()),
        _ => told.push(format!("{more} more values")),
    }
    told
}

/// The values in those lines of a text, which are numbered from 1.
fn values_in(text: &str, lines: &BTreeSet<u32>) -> Vec<(String, String)> {
    let all = (1..).zip(text.split_inclusive('\n'));
    all.filter(|(number, _)| lines.contains(number))
        .filter_map(|(_, line)| value(line.trim_end_matches(['\n', '\r'])))
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
    let is_told = value.chars().count() <= LONGEST && !crate::text::inspect::names_secret(name);
    is_told.then(|| (name.to_owned(), value.to_owned()))
}

/// `PUMP_LIMIT` as `pump limit`; an option keeps its name.
fn readable(name: &str) -> String {
    match name.starts_with("CONFIG_") {
        true => name.to_owned(),
        false => name.replace('_', " ").trim().to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_a_name_and_a_number() {
        let of =
            |line: &str| value(line).map(|(name, value)| format!("{} {value}", readable(&name)));
        assert_eq!(of("#define PUMP_LIMIT 3600 // s").as_deref(), Some("pump limit 3600"));
        assert_eq!(of("    .max_transfer_sz = 4096,").as_deref(), Some("max transfer sz 4096"));
        assert_eq!(of("static const int limit_s = 30;").as_deref(), Some("limit s 30"));
        assert_eq!(of("CONFIG_LWIP_IPV6=y").as_deref(), Some("CONFIG_LWIP_IPV6 y"));
        assert_eq!(of("CONFIG_WIFI_PASSWORD=\"x\""), None);
        assert_eq!(of("if (a == 3) return;"), None);
    }
}
