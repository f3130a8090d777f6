//! What the options of a project's configuration came to, which Kconfig does not say.
//!
//! An option in `sdkconfig.defaults` whose dependencies are not met is dropped without a word. Reads
//! what the configuration has written; must not run anything.
//!
//! Sources: `write_json_menus` and `write_config` of esp-idf-kconfig.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use super::route::{BUILD, target};
use crate::files;
use crate::model::{Diagnostic, Severity};

/// The options there are, below the build folder.
const MENUS: &str = "config/kconfig_menus.json";

/// Bytes of them that are read: ESP-IDF's own are a few million.
const MOST_MENUS: u64 = 32 << 20;

/// Warnings about options without effect, at most.
const MOST_WARNINGS: usize = 100;

/// Levels of menus that are looked into.
const MOST_DEPTH: usize = 64;

/// Bytes of a dependency that are quoted.
const MOST_QUOTED: usize = 160;

/// An entry of the menus.
#[derive(Debug, Deserialize)]
struct SettingsEntry {
    name: Option<String>,
    depends_on: Option<String>,
    #[serde(default)]
    children: Vec<SettingsEntry>,
}

/// Adds a warning for each option of the defaults that had no effect, and the line of the target to
/// errors about it.
pub(super) fn check(project: &Path, found: &mut Vec<Diagnostic>) {
    let read = |name: &str| files::read_text(&project.join(name), files::SOURCE).ok();
    let sdkconfig = read("sdkconfig");
    if let Some(text) = &sdkconfig {
        place_targets(text, found);
    }
    let Some(result) = sdkconfig.as_deref().map(Settings::read) else { return };
    let menus = project.join(BUILD).join(MENUS);
    let Ok(menus) = files::read_text(&menus, MOST_MENUS) else { return };
    let Ok(menus) = serde_json::from_str::<Vec<SettingsEntry>>(&menus) else { return };
    let mut options = BTreeMap::new();
    collect(&menus, MOST_DEPTH, &mut options);
    let of_target = target(project).map(|target| format!("sdkconfig.defaults.{target}"));
    let reported = reported(found);
    for file in ["sdkconfig.defaults".to_owned()].into_iter().chain(of_target) {
        let Some(text) = read(&file) else { continue };
        let unmet = unmet(&file, &text, &result, &options).into_iter();
        let new = unmet.filter(|(name, _)| !reported.contains(name)).take(MOST_WARNINGS);
        found.extend(new.map(|(_, warning)| warning));
    }
}

/// Options by name, with what each definition depends on.
type Options<'a> = BTreeMap<&'a str, Vec<&'a str>>;

fn collect<'a>(entries: &'a [SettingsEntry], depth: usize, options: &mut Options<'a>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    for entry in entries {
        if let Some(name) = &entry.name {
            let of = options.entry(name).or_default();
            of.push(entry.depends_on.as_deref().unwrap_or_default());
        }
        collect(&entry.children, depth, options);
    }
}

/// The options of a configuration.
struct Settings<'a> {
    /// All that are there, also those that are off.
    visible: BTreeSet<&'a str>,
    on: BTreeSet<&'a str>,
}

impl<'a> Settings<'a> {
    fn read(text: &'a str) -> Self {
        let mut settings = Self { visible: BTreeSet::new(), on: BTreeSet::new() };
        for line in text.lines().map(str::trim) {
            let off = line.strip_prefix("# CONFIG_").and_then(|it| it.strip_suffix(" is not set"));
            let set = line.strip_prefix("CONFIG_").and_then(|it| it.split_once('='));
            if let Some((name, value)) = set {
                settings.visible.insert(name);
                if value == "y" {
                    settings.on.insert(name);
                }
            }
            settings.visible.extend(off);
        }
        settings
    }
}

/// For each option of a file with defaults that was dropped: its name and a warning.
fn unmet(
    file: &str,
    defaults: &str,
    result: &Settings<'_>,
    options: &Options<'_>,
) -> Vec<(String, Diagnostic)> {
    let lines = (1u32..).zip(defaults.lines());
    let assigned = lines.filter_map(|(number, line)| {
        let (name, value) = line.trim().strip_prefix("CONFIG_")?.split_once('=')?;
        // What is off anyway is not missed.
        let is_wanted = !matches!(value.trim().trim_matches('"'), "n" | "");
        (is_wanted && !result.visible.contains(name)).then_some((number, name))
    });
    let warnings = assigned.filter_map(|(number, name)| {
        let needs = options.get(name)?.iter().find(|needs| !needs.is_empty())?;
        let message = format!("CONFIG_{name} has no effect: {}", reason(needs, result));
        let hint = "Set what it depends on as well, or remove the line.".to_owned();
        let (file, line) = (Some(file.to_owned()), Some(number));
        let stated = Diagnostic::new(Severity::Warning, message);
        Some((name.to_owned(), Diagnostic { file, line, hint, ..stated }))
    });
    warnings.collect()
}

/// What of a dependency is not met, as far as it is plain.
fn reason(needs: &str, result: &Settings<'_>) -> String {
    let mut missing = Vec::new();
    // Within brackets `||` and `&&` mean something else together.
    if !needs.contains("||") {
        for part in needs.split("&&").map(|part| part.trim().trim_matches(['(', ')'])) {
            let (name, is_wanted) = match part.strip_prefix('!') {
                Some(name) => (name, false),
                None => (part, true),
            };
            let is_symbol = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            if is_symbol && result.on.contains(name) != is_wanted {
                let state = if is_wanted { "is not set" } else { "is set" };
                missing.push(format!("{name} {state}"));
            }
        }
    }
    let end = needs.char_indices().nth(MOST_QUOTED).map_or(needs.len(), |(at, _)| at);
    let quoted = needs.get(..end).unwrap_or_default();
    let cut = if end < needs.len() { "…" } else { "" };
    match missing.is_empty() {
        true => format!("it depends on `{quoted}{cut}`, which is not met"),
        false => format!("it depends on `{quoted}{cut}`, and {}", missing.join(" and ")),
    }
}

/// The words of what Kconfig has said itself about options that had no effect.
fn reported(found: &[Diagnostic]) -> BTreeSet<String> {
    let is_about = |known: &&Diagnostic| {
        ["not visible", "check dependencies", "disabled dependency"]
            .iter()
            .any(|words| known.message.contains(words))
    };
    let words = found.iter().filter(is_about).flat_map(|known| known.message.split_whitespace());
    words.map(|word| word.trim_matches(['\'', '"', '`', ':', ',']).to_owned()).collect()
}

/// Gives errors about the target of `sdkconfig` the line that says it.
fn place_targets(sdkconfig: &str, found: &mut [Diagnostic]) {
    let line = (1u32..)
        .zip(sdkconfig.lines())
        .find(|(_, line)| line.trim_start().starts_with("CONFIG_IDF_TARGET="));
    let Some((number, _)) = line else { return };
    let about_target = found.iter_mut().filter(|one| {
        one.file.as_deref() == Some("sdkconfig")
            && one.line.is_none()
            && (one.message.contains("target") || one.message.contains("IDF_TARGET"))
    });
    for one in about_target {
        one.line = Some(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MENU: &str = r#"[{"children": [
        {"children": [], "depends_on": null, "name": "BT_ENABLED", "type": "bool"},
        {"children": [
            {"children": [], "depends_on": "BT_NIMBLE_ENABLED && BT_ENABLED", "name": "BT_NIMBLE_MESH"},
            {"children": [], "depends_on": "!BT_ENABLED", "name": "PLAIN"}
         ], "depends_on": "BT_ENABLED", "name": "BT_NIMBLE_ENABLED"},
        {"children": [], "depends_on": "(A && B) || C", "name": "EITHER"}
      ], "depends_on": null, "name": null, "id": "menu-bt", "title": "Bluetooth"}]"#;

    fn checked(files: &[(&str, &str)], mut found: Vec<Diagnostic>) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        check(folder.path(), &mut found);
        let short = |one: &Diagnostic| {
            let file = one.file.as_deref().unwrap_or_default();
            format!("{file}:{} {}", one.line.unwrap_or(0), one.message)
        };
        found.iter().map(short).collect()
    }

    fn error(file: &str, message: &str) -> Diagnostic {
        Diagnostic {
            file: Some(file.to_owned()),
            line: None,
            column: None,
            severity: Severity::Error,
            message: message.to_owned(),
            hint: String::new(),
        }
    }

    #[test]
    fn an_option_whose_dependency_is_not_met_is_warned_of_at_its_line() {
        let defaults = "# mesh\nCONFIG_BT_NIMBLE_MESH=y\nCONFIG_EITHER=5\nCONFIG_GONE=y\n\
                        CONFIG_BT_NIMBLE_ENABLED=n\nCONFIG_BT_ENABLED=n\n";
        let sdkconfig =
            "CONFIG_IDF_TARGET=\"esp32\"\n# CONFIG_BT_ENABLED is not set\nCONFIG_PLAIN=y\n";
        let files = [
            ("sdkconfig.defaults", defaults),
            ("sdkconfig", sdkconfig),
            ("build/config/kconfig_menus.json", MENU),
        ];
        let found = checked(&files, Vec::new());
        assert_eq!(
            found,
            [
                "sdkconfig.defaults:2 CONFIG_BT_NIMBLE_MESH has no effect: it depends on \
                 `BT_NIMBLE_ENABLED && BT_ENABLED`, and BT_NIMBLE_ENABLED is not set and \
                 BT_ENABLED is not set",
                "sdkconfig.defaults:3 CONFIG_EITHER has no effect: it depends on \
                 `(A && B) || C`, which is not met",
            ]
        );
        // With what they need they are there, and there is nothing to say.
        let on = "CONFIG_BT_ENABLED=y\nCONFIG_BT_NIMBLE_ENABLED=y\nCONFIG_BT_NIMBLE_MESH=y\nCONFIG_EITHER=5\n";
        let files = [files[0], ("sdkconfig", on), files[2]];
        assert_eq!(checked(&files, Vec::new()), Vec::<String>::new());
    }

    #[test]
    fn defaults_of_the_target_count_and_what_kconfig_said_is_not_said_again() {
        let files = [
            ("sdkconfig.defaults.esp32s3", "CONFIG_PLAIN=y\n"),
            ("sdkconfig.defaults.esp32", "CONFIG_PLAIN=y\n"),
            ("sdkconfig", "CONFIG_IDF_TARGET=\"esp32s3\"\nCONFIG_BT_ENABLED=y\n"),
            ("build/config/kconfig_menus.json", MENU),
        ];
        let reason =
            "CONFIG_PLAIN has no effect: it depends on `!BT_ENABLED`, and BT_ENABLED is set";
        assert_eq!(checked(&files, Vec::new()), [format!("sdkconfig.defaults.esp32s3:1 {reason}")]);
        let text = "PLAIN has user-set value y from /x but is not visible (disabled dependency)";
        assert_eq!(checked(&files, vec![error("main/Kconfig", text)]).len(), 1);
    }

    #[test]
    fn a_conflict_of_targets_is_placed_where_sdkconfig_names_one() {
        let sdkconfig = "# made\n\nCONFIG_IDF_TARGET=\"esp32\"\n";
        let text = "Project sdkconfig '/p/sdkconfig' was generated for target 'esp32', but ...";
        let found = checked(&[("sdkconfig", sdkconfig)], vec![error("sdkconfig", text)]);
        assert!(found[0].starts_with("sdkconfig:3 "), "{found:?}");
        assert!(checked(&[], vec![error("sdkconfig", text)])[0].starts_with("sdkconfig:0 "));
    }
}
