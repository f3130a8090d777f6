//! The names an installed ESP-IDF has taken, as the lines that the shipped list is made of.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Folders of a component that no project includes from.
const SKIPPED: [&str; 6] = ["test", "tests", "test_apps", "examples", "host_test", "docs"];
/// Deepest folder of a component that is looked into.
const DEPTH: usize = 10;

/// The names of the framework in a folder; `None` when it has no components.
pub(super) fn names_of(root: &Path, version: &str) -> Option<String> {
    let (mut components, mut headers) = (BTreeSet::new(), BTreeMap::new());
    for entry in std::fs::read_dir(root.join("components")).ok()?.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        if !entry.path().join("CMakeLists.txt").is_file() || !is_word(&name) {
            continue;
        }
        public_headers(&entry.path(), &name, &mut headers);
        components.insert(name);
    }
    if components.is_empty() || headers.is_empty() {
        return None;
    }
    let mut list = format!("source: ESP-IDF {version} as installed\n");
    for (path, component) in headers {
        list.push_str(&format!("header {path} {component}\n"));
    }
    for name in components {
        list.push_str(&format!("component {name}\n"));
    }
    Some(list)
}

/// Headers below folders named `include`, as one writes them in `#include`.
fn public_headers(component: &Path, name: &str, headers: &mut BTreeMap<String, String>) {
    let walk = ignore::WalkBuilder::new(component)
        .standard_filters(false)
        .follow_links(false)
        .max_depth(Some(DEPTH))
        .filter_entry(|entry| {
            let name = entry.file_name().to_str().unwrap_or_default();
            !SKIPPED.contains(&name) && !name.starts_with('.')
        })
        .build();
    for entry in walk.flatten() {
        let Ok(relative) = entry.path().strip_prefix(component) else { continue };
        let Some(relative) = relative.to_str().filter(|path| path.ends_with(".h")) else {
            continue;
        };
        let below = match relative.strip_prefix("include/") {
            Some(below) => below,
            None => match relative.rsplit_once("/include/") {
                Some((_, below)) => below,
                None => continue,
            },
        };
        if below.split('/').all(is_word) {
            headers.entry(below.to_owned()).or_insert_with(|| name.to_owned());
        }
    }
}

/// Whether a name fits into a line of words.
fn is_word(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::NameList;

    #[test]
    fn an_installed_framework_is_scanned() {
        let root = tempfile::tempdir().unwrap();
        for file in [
            "components/driver/CMakeLists.txt",
            "components/driver/gpio/include/driver/gpio.h",
            "components/driver/private.h",
            "components/driver/test_apps/include/no.h",
            "components/log/CMakeLists.txt",
            "components/log/include/esp_log.h",
            "components/README.md",
            "components/not_one/include/x.h",
        ] {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let text = names_of(root.path(), "v9.9").unwrap();
        assert_eq!(
            text,
            "source: ESP-IDF v9.9 as installed\nheader driver/gpio.h driver\nheader esp_log.h log\n\
             component driver\ncomponent log\n"
        );
        let list = NameList::parse("installed", &text).unwrap();
        assert!(list.conflict("gpio.h").is_some() && list.conflict("private.h").is_none());
        assert_eq!(names_of(&root.path().join("components"), "v9.9"), None);
    }
}
