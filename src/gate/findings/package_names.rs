//! Packages whose names are almost those of well-known ones: `pyserail` for `pyserial`.
//!
//! Owns where packages are named; the known ones are listed in `assets/findings/packages.toml`.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use super::Subject;
use crate::model::{Check, CheckKind, Finding, FindingLevel, FindingPlace, ProjectPath};
use crate::text::shipped::shipped_table;

const ADVICE: &str =
    "Such names are used to have other code installed. Compare it letter by letter.";

/// Shortest name that may be another spelling of one, in letters.
const SHORTEST: usize = 5;

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct KnownPackages {
    python: HashSet<String>,
    rust: HashSet<String>,
    node: HashSet<String>,
    /// Who publishes components of ESP-IDF and libraries of PlatformIO.
    publishers: HashSet<String>,
}

static KNOWN: LazyLock<KnownPackages> = LazyLock::new(|| {
    shipped_table(include_str!("../../../assets/findings/packages.toml")).unwrap_or_default()
});

/// A command that installs packages, and their names behind it.
static INSTALLS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"\b(?P<tool>pip3?|pipx|uv|npm|cargo)["',\s]+(?:pip["',\s]+)?(?:install|add|i)\b(?P<names>[^\n|;&)\]]*)"#)
        .ok()
});

/// The check of a file; `None` where no name is almost that of a known package.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Check> {
    let text = subject.text()?;
    let added = &subject.changed().added;
    let lines = (1..).zip(text.lines()).filter(|(line, _)| added.contains(line));
    let name = path.file_name();
    let mut section = Section::default();
    let mut found = Vec::new();
    let in_list = name.starts_with("requirements") && name.ends_with(".txt");
    let has_publishers =
        matches!(name, "idf_component.yml" | "idf_component.yaml" | "platformio.ini");
    for (line, text) in lines.clone().filter(|_| has_publishers) {
        let almost =
            publisher(text).and_then(|name| Some((name, almost(name, &KNOWN.publishers)?)));
        found.extend(almost.map(|(name, known)| {
            let text =
                format!("takes a package of `{name}`, which is spelled almost like `{known}`");
            Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(line)).advice(ADVICE)
        }));
    }
    for (line, text) in (1..).zip(text.lines()).filter(|_| name == "Cargo.toml" || in_list) {
        let named = match in_list {
            true => first_name(text).map(|name| (name, &KNOWN.python)),
            false => section.dependency(text).map(|name| (name, &KNOWN.rust)),
        };
        let almost = named.and_then(|(name, known)| Some((name, almost(name, known)?)));
        found.extend(almost.filter(|_| added.contains(&line)).map(|it| finding(it, line)));
    }
    for (line, text) in lines.filter(|(_, text)| text.contains("install") || text.contains("add")) {
        for groups in INSTALLS.iter().flat_map(|pattern| pattern.captures_iter(text)) {
            let part = |name: &str| groups.name(name).map_or("", |part| part.as_str());
            let known = match part("tool") {
                "cargo" => &KNOWN.rust,
                "npm" => &KNOWN.node,
                _ => &KNOWN.python,
            };
            let words = part("names").split(|c: char| c.is_whitespace() || "\"',".contains(c));
            let names = words.filter(|word| !word.starts_with('-')).filter_map(first_name);
            let names = names.filter_map(|name| Some((name, almost(name, known)?)));
            found.extend(names.map(|it| finding(it, line)));
        }
    }
    (!found.is_empty()).then(|| Check::with(CheckKind::HostCode, found))
}

fn finding((name, known): (&str, &str), line: u32) -> Finding {
    let text = format!("takes the package `{name}`, which is spelled almost like `{known}`");
    Finding::new(FindingLevel::Warning, text).at(FindingPlace::line(line)).advice(ADVICE)
}

/// Who publishes the package that a line names: `espressif/led_strip: "^2.5"`.
fn publisher(line: &str) -> Option<&str> {
    let value = line.trim().trim_start_matches("lib_deps").trim_start_matches([' ', '=', '-']);
    let (name, rest) = value.trim_matches(['"', '\'']).split_once('/')?;
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ' ');
    (!rest.starts_with('/') && !name.is_empty() && name.chars().all(is_of_name)).then_some(name)
}

/// The tables of a manifest of Cargo, line by line.
#[derive(Default)]
struct Section {
    has_dependencies: bool,
}

impl Section {
    /// The package that a line names.
    fn dependency<'t>(&mut self, line: &'t str) -> Option<&'t str> {
        if let Some(table) = line.trim().strip_prefix('[') {
            self.has_dependencies = table.trim_end_matches(']').ends_with("dependencies");
            return None;
        }
        line.split_once('=').filter(|_| self.has_dependencies)?;
        first_name(line)
    }
}

/// The name at the start of a line, without its version.
fn first_name(line: &str) -> Option<&str> {
    let line = line.trim();
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let end = line.find(|c: char| !is_of_name(c)).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    // A path or an address.
    (!name.is_empty() && !rest.starts_with(['/', ':', '@']) && !name.starts_with('.'))
        .then_some(name)
}

/// The known package that a name which is not known differs from in one letter, or in two that changed
/// places.
fn almost<'k>(name: &str, known: &'k HashSet<String>) -> Option<&'k str> {
    let plain = |name: &str| name.to_ascii_lowercase().replace(['_', '.'], "-");
    let own = plain(name);
    let is_near = |other: &&String| {
        other.len() >= SHORTEST
            && other.len().abs_diff(own.len()) <= 1
            && strsim::osa_distance(&own, other) == 1
    };
    if own.len() < SHORTEST || known.contains(&own) {
        return None;
    }
    // The same one each time.
    known.iter().filter(is_near).min().map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::TestProject;
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let project = TestProject { files: &[], task: "Log the output", chip: None };
        let all = project.reported(CheckKind::HostCode, &[(path, Some(text))]);
        all.into_iter().filter(|found| found.contains("spelled almost")).collect()
    }

    #[test]
    fn a_name_that_is_almost_that_of_a_known_package_is_reported() {
        let list = "intelhex==2.3.0\nPyYAML==6.0.2\npyserail==3.5\nour-own-tool\n";
        let wanted = "tools/requirements.txt Warning: takes the package `pyserail`, which is spelled almost \
                      like `pyserial`";
        assert_eq!(found("tools/requirements.txt", list), [wanted]);
        assert_eq!(
            found("tools/requirements.txt", &list.replace("serail", "serial")),
            [] as [String; 0]
        );
        let components = "dependencies:\n  espresif/led_strip: \"^2.5.3\"\n";
        assert_eq!(found("main/idf_component.yml", components).len(), 1);
        let right = components.replace("espresif", "espressif");
        assert_eq!(found("main/idf_component.yml", &right), [] as [String; 0]);
        let libraries =
            "[env:a]\nlib_deps =\n    bblanchom/ArduinoJson@^7\n    adafruit/Adafruit BME280\n";
        assert_eq!(found("platformio.ini", libraries).len(), 1);
        let project = TestProject { files: &[], task: "Log the output", chip: None };
        let both =
            project.reported(CheckKind::HostCode, &[("setup.sh", Some("pip install pyserail\n"))]);
        assert!(
            both.iter().any(|found| found.contains("runs `pip")),
            "of the command, too: {both:?}"
        );
        let manifest =
            "[package]\nname = \"serd\"\n[dependencies]\nserde = \"1\"\nserde_jsom = \"1\"\n";
        assert_eq!(found("Cargo.toml", manifest).len(), 1);
        assert_eq!(found("Cargo.toml", &manifest.replace("jsom", "json")), [] as [String; 0]);
        for (command, count) in [
            ("pip install --user esptol pytest", 1),
            ("python3 -m pip install 'requets>=2'", 1),
            ("cargo install espflahs", 1),
            ("pip install -r requirements.txt", 0),
            ("pip install esptool pyserial ./tools/mypackage", 0),
            ("add the pyserail package", 0),
        ] {
            assert_eq!(found("tools/setup.sh", &format!("{command}\n")).len(), count, "{command}");
        }
    }
}
