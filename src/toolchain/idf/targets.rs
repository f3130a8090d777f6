//! The targets that an installed ESP-IDF builds for, as its `idf.py` lists them.

use std::path::Path;

use crate::files;

/// Where `idf.py` lists them.
const FILE: &str = "tools/idf_py_actions/constants.py";

/// Those of every release since v5.3, for an installation whose list is not found.
const USUAL: [&str; 8] =
    ["esp32", "esp32s2", "esp32s3", "esp32c2", "esp32c3", "esp32c6", "esp32h2", "esp32p4"];

/// The supported targets, then those in preview.
pub(super) fn of(root: &Path) -> Vec<String> {
    let text = files::read_text(&root.join(FILE), files::SOURCE).unwrap_or_default();
    let mut targets = listed(&text, "SUPPORTED_TARGETS");
    if targets.is_empty() {
        return USUAL.map(str::to_owned).to_vec();
    }
    targets.extend(listed(&text, "PREVIEW_TARGETS"));
    targets
}

/// The words of a list of Python.
fn listed(text: &str, name: &str) -> Vec<String> {
    let starts = |line: &&str| line.starts_with(name);
    let Some(line) = text.lines().find(starts) else { return Vec::new() };
    // Only one list starts with that line.
    let from = text.find(line).unwrap_or(0);
    let list = text.get(from..).and_then(|rest| rest.split_once('[')?.1.split_once(']'));
    let words = list.map_or("", |(words, _)| words).split(',');
    let bare = words.map(|word| word.trim().trim_matches(['\'', '"']).to_owned());
    bare.filter(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_installations_own_list_counts() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(of(root.path()), USUAL);
        std::fs::create_dir_all(root.path().join("tools/idf_py_actions")).unwrap();
        let text = "GENERATORS = ['x']\nSUPPORTED_TARGETS = [\n    'esp32',\n    \"esp32c61\",\n]\n\
                    PREVIEW_TARGETS = ['linux', 'esp32h4']\n";
        std::fs::write(root.path().join(FILE), text).unwrap();
        assert_eq!(of(root.path()), ["esp32", "esp32c61", "linux", "esp32h4"]);
        std::fs::write(root.path().join(FILE), "SUPPORTED_TARGETS = [").unwrap();
        assert_eq!(of(root.path()), USUAL);
    }
}
