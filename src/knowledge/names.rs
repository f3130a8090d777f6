//! Names the framework has taken: its public headers and its components.
//!
//! A header of the project with such a name hides the framework's own one from the compiler. A source hides
//! nothing: only its header would, so that it counts when that header would be hidden. Headers of the
//! framework that are included with their folder are hidden by nothing; only those that nearly
//! every project includes count, because one is easily written for the other.

use std::collections::{BTreeMap, BTreeSet};

use super::known_words::KNOWN;
use crate::model::UserError;

/// The taken names, read from a data file.
///
/// The file is line based: `# ` starts a comment, `source: …` says where the names are from,
/// `header PATH COMPONENT` (as one writes it in `#include`) and `component NAME` take a name each.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NameList {
    source: String,
    headers: BTreeMap<String, TakenHeader>,
    components: BTreeSet<String>,
}

/// Where a taken header is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TakenHeader {
    path: String,
    component: String,
}

/// Why a name should not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameConflict {
    /// The header or component that has the name, in a sentence.
    pub why: String,
    /// A file name that is free.
    pub suggestion: String,
}

/// Folders of headers that nearly every project includes.
const COMMON_FOLDERS: [&str; 2] = ["driver/", "freertos/"];

impl NameList {
    /// Reads the data file; `file` is its name in messages.
    ///
    /// # Errors
    /// A line of no known form, a name twice, or no source or names at all; says file and line.
    pub fn parse(file: &str, text: &str) -> Result<Self, UserError> {
        let mut list = Self::default();
        let wrong = |line: usize, why: String| {
            let what = format!("Cannot read the list of names, {file}:{line}");
            let fix = "Lines are `source: TEXT`, `header PATH COMPONENT` or `component NAME`.";
            UserError::new(what, why, fix)
        };
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            list.take(line).map_err(|why| wrong(index + 1, why))?;
        }
        let empty = |what: &str| {
            wrong(text.lines().count().max(1), format!("the file ends without {what}"))
        };
        if list.source.is_empty() {
            return Err(empty("a `source:` line"));
        }
        if list.headers.is_empty() || list.components.is_empty() {
            return Err(empty("a header and a component"));
        }
        Ok(list)
    }

    /// Where the names are from, e.g. `ESP-IDF v5.4`.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// How many names there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.headers.len() + self.components.len()
    }

    /// Whether there is no name at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Tells why a file of the project should not have that name (without folders); `None` when it
    /// may.
    #[must_use]
    pub fn conflict(&self, file_name: &str) -> Option<NameConflict> {
        let (stem, extension) = file_name.rsplit_once('.')?;
        let why = match extension {
            // `limits.hpp` hides no `limits.h`.
            "h" | "hpp" | "hh" => {
                self.taken_header(file_name).or_else(|| self.component_conflict(file_name))?
            }
            // A source shares the name of its header with the framework's.
            "c" | "cpp" | "cc" | "cxx" => self.source_conflict(stem, file_name)?,
            _ => return None,
        };
        let is_free = |stem: &str| {
            !self.headers.contains_key(&format!("{stem}.h")) && !self.components.contains(stem)
        };
        let suggestion = format!("{}.{extension}", free_name(stem, is_free));
        Some(NameConflict { why, suggestion })
    }

    /// Whether a file is only called like a component of the framework, and so hides nothing of it.
    #[must_use]
    pub fn hides_nothing(&self, file_name: &str) -> bool {
        self.component_conflict(file_name).is_some() && self.taken_header(file_name).is_none()
    }

    /// Tells which header of the framework, one in a folder, a header of the project would hide by
    /// its own folder: `main/lwip/sockets.h` hides `lwip/sockets.h`.
    #[must_use]
    pub fn hidden_by(&self, path: &str) -> Option<String> {
        let mut parts = path.rsplit('/');
        let (name, folder) = (parts.next()?, parts.next()?);
        let TakenHeader { path: taken, component } = self.headers.get(name)?;
        (*taken == format!("{folder}/{name}"))
            .then(|| format!("`{path}` would hide `{taken}` of the framework's {component}"))
    }

    /// Tells why a component of the project should not have that name; `None` when it may. The build
    /// takes the project's component instead of the framework's.
    #[must_use]
    pub fn replaced(&self, component: &str) -> Option<NameConflict> {
        if component == "main" || !self.components.contains(component) {
            return None;
        }
        let why = format!("a component `{component}` replaces the framework's `{component}`");
        let suggestion = free_name(component, |name| !self.components.contains(name));
        Some(NameConflict { why, suggestion })
    }

    fn take(&mut self, line: &str) -> Result<(), String> {
        if let Some(source) = line.strip_prefix("source:") {
            self.source = source.trim().to_owned();
            return Ok(());
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let twice = |name: &str| format!("`{name}` is listed twice");
        match words.as_slice() {
            ["header", path, component] if path.ends_with(".h") => {
                self.take_header(path, component).map_err(|()| twice(path))
            }
            ["component", name] => match self.components.insert((*name).to_owned()) {
                false => Err(twice(name)),
                true => Ok(()),
            },
            _ => Err(format!("`{line}` is neither a source, a header nor a component")),
        }
    }

    fn take_header(&mut self, path: &str, component: &str) -> Result<(), ()> {
        let name = path.rsplit('/').next().unwrap_or(path).to_owned();
        let header = TakenHeader { path: path.to_owned(), component: component.to_owned() };
        match self.headers.get(&name) {
            Some(known) if known.path == header.path => return Err(()),
            // One without a folder is what a file of the project would really hide.
            Some(known) if known.path == name || is_common(&known.path, &header.path) => {}
            Some(_) | None => {
                self.headers.insert(name, header);
            }
        }
        Ok(())
    }

    fn taken_header(&self, header: &str) -> Option<String> {
        if KNOWN.c_headers.contains(header) {
            return Some(format!("`{header}` has the name of a header of the C library"));
        }
        if let Some(TakenHeader { path, component }) = self.headers.get(header) {
            if path == header {
                let hides = format!("would hide `{path}` of the framework's {component}");
                return Some(format!("`{header}` {hides}"));
            }
            if COMMON_FOLDERS.iter().any(|folder| path.strip_prefix(folder) == Some(header)) {
                return Some(format!(
                    "`{header}` has the name of the framework's `{path}` ({component}), and one \
                     is easily included for the other"
                ));
            }
        }
        None
    }

    fn source_conflict(&self, stem: &str, file_name: &str) -> Option<String> {
        let header = format!("{stem}.h");
        // `string.c` next to the C library's `string.h` is harmless; its header would not be.
        let TakenHeader { path, component } =
            self.headers.get(&header).filter(|taken| taken.path == header)?;
        Some(format!(
            "`{file_name}` looks like the source of the framework's `{path}` ({component})"
        ))
    }

    fn component_conflict(&self, file_name: &str) -> Option<String> {
        let stem = file_name.strip_suffix(".h")?;
        // Every project has a component `main`, and it holds `main.c`.
        if stem == "main" || !self.components.contains(stem) {
            return None;
        }
        Some(format!("`{file_name}` has the name of the framework's component `{stem}`"))
    }
}

/// A name that is free: `app_` in front is the habit of the framework's own examples; should that be
/// taken as well, a number follows.
fn free_name(name: &str, is_free: impl Fn(&str) -> bool) -> String {
    let plain = format!("app_{name}");
    let numbered = (2..).map(|number| format!("{plain}_{number}"));
    let mut names = std::iter::once(plain.clone()).chain(numbered);
    names.find(|name| is_free(name)).unwrap_or(plain)
}

/// Whether the header that is known by a name is more widely included than another one.
fn is_common(known: &str, other: &str) -> bool {
    let is_in = |path: &str| COMMON_FOLDERS.iter().any(|folder| path.starts_with(folder));
    is_in(known) && other.contains('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: &str = "# a comment\nsource: ESP-IDF v0\nheader driver/i2c_master.h esp_driver_i2c\n\
                        header app_led.h led\ncomponent led\ncomponent main\n";

    fn list() -> NameList {
        NameList::parse("names.txt", DATA).unwrap()
    }

    #[test]
    fn a_header_of_the_framework_is_named_with_its_component() {
        let conflict = list().conflict("i2c_master.h").unwrap();
        assert!(conflict.why.contains("esp_driver_i2c"), "{}", conflict.why);
        assert_eq!(conflict.suggestion, "app_i2c_master.h");
        assert_eq!(list().conflict("i2c_master.c"), None, "a source hides nothing");
        let source = list().conflict("app_led.c").unwrap();
        assert!(source.why.contains("`app_led.h`"), "{}", source.why);
    }

    #[test]
    fn folders_say_what_a_file_hides() {
        let list = list();
        assert!(list.hidden_by("main/driver/i2c_master.h").is_some());
        assert_eq!(list.hidden_by("main/i2c_master.h"), None);
        assert_eq!(list.hidden_by("main/other/i2c_master.h"), None);
    }

    #[test]
    fn a_component_of_the_project_may_not_replace_one_of_the_framework() {
        let conflict = list().replaced("led").unwrap();
        assert_eq!(conflict.suggestion, "app_led");
        assert!(conflict.why.contains("replaces the framework's `led`"), "{}", conflict.why);
        assert_eq!((list().replaced("main"), list().replaced("app_led")), (None, None));
    }

    #[test]
    fn the_shipped_list_is_read() {
        let text = include_str!("../../assets/names/esp-idf.txt");
        let list = NameList::parse("esp-idf.txt", text).unwrap();
        assert!(list.len() > 700, "{}", list.len());
        for taken in ["gpio.h", "esp_log.h", "nvs_flash.h", "FreeRTOS.h", "esp_log.c", "driver.h"] {
            assert!(list.conflict(taken).is_some(), "{taken}");
        }
        for free in [
            "main.c",
            "i2c_scanner.h",
            "bme280.c",
            "app_config.h",
            "wifi_station.c",
            "i2c.c",
            "wifi.c",
            "utils.c",
            "common.c",
            "driver.c",
            "mesh.c",
            "limits.hpp",
        ] {
            assert_eq!(list.conflict(free), None, "{free}");
        }
    }

    #[test]
    fn headers_that_are_included_with_their_folder_block_no_source_and_no_header() {
        let data = "source: x\nheader mesh/main.h bt\nheader mesh/common.h bt\n\
                    header log_compression/utils.h bt\nheader esp_private/wifi.h esp_wifi\n\
                    header freertos/queue.h freertos\nheader os/queue.h nimble\ncomponent bt\n";
        let list = NameList::parse("names.txt", data).unwrap();
        for free in ["main.c", "main.cpp", "common.c", "common.h", "utils.h", "wifi.c", "bt.c"] {
            assert_eq!(list.conflict(free), None, "{free}");
        }
        assert!(list.conflict("queue.h").unwrap().why.contains("freertos/queue.h"));
        assert!(list.conflict("bt.h").is_some());
        assert!(list.hides_nothing("bt.h") && !list.hides_nothing("queue.h"));
    }

    #[test]
    fn a_suggestion_is_itself_free() {
        let conflict = list().conflict("led.h").unwrap();
        assert_eq!(conflict.suggestion, "app_led_2.h");
        assert_eq!(list().conflict(&conflict.suggestion), None);
    }

    #[test]
    fn ordinary_names_are_free() {
        for name in ["main.c", "CMakeLists.txt", "oled_display.h", "string.c", "README.md"] {
            assert_eq!(list().conflict(name), None, "{name}");
        }
        assert!(list().conflict("string.h").is_some());
    }

    #[test]
    fn bad_lines_are_refused_with_file_and_line() {
        let cases = [
            ("source: x\nheader a.h b\ncomponent c\nfolder d\n", "names.txt:4"),
            ("source: x\nheader a.h b\nheader a.h c\n", "names.txt:3"),
            ("source: x\nheader a.c b\n", "names.txt:2"),
            ("header a.h b\ncomponent c\n", "names.txt:2"),
            ("", "names.txt:1"),
        ];
        for (text, place) in cases {
            let error = NameList::parse("names.txt", text).unwrap_err();
            assert!(error.what.ends_with(place), "{text:?}: {}", error.what);
        }
    }
}
