//! Where files may be read without the bounded reader.
//!
//! What belongs to a project or to the person is read by `files`, which takes regular files of a
//! bounded length only. Other files are the program's own, and are named here.

use super::paths::Seen;
use super::{Rule, SourceFile, Violation};

/// The files that may read by themselves: (path or folder, why).
const HOMES: &[(&str, &str)] = &[
    ("files.rs", "the bounded reader itself"),
    ("journal/", "a session's own files, which grow without a bound and are read in pieces"),
    ("app/history.rs", "the program's own file, bounded there"),
    ("app/copies.rs", "a session's own journal and logs are copied"),
];

/// Functions of `fs` that read a whole file.
const FUNCTIONS: &[&str] = &["read", "read_to_string"];

/// Finds files that are read in another way.
pub fn check(file: &SourceFile, seen: &Seen) -> Vec<Violation> {
    let fits =
        |home: &str| file.path == home || (home.ends_with('/') && file.path.starts_with(home));
    if HOMES.iter().any(|(home, _)| fits(home)) {
        return Vec::new();
    }
    let reads = seen.paths.iter().filter(|path| is_read(&path.segments));
    let told = reads.map(|path| {
        let text = path.segments.join("::");
        file.broken(Rule::Read, path.line, format!("{text}: read through `crate::files`"))
    });
    told.collect()
}

fn is_read(segments: &[String]) -> bool {
    let Some((last, before)) = segments.split_last() else { return false };
    match before.last().map(String::as_str) {
        Some("fs") => FUNCTIONS.contains(&last.as_str()),
        Some("File") => last == "open",
        _ => false,
    }
}
