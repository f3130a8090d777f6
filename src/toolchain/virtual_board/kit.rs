//! The kit of the virtual board: headers, runtime sources and tables that ship with the program.
//!
//! Owns what a kit file means. Must not read the disk; the texts are handed in.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::model::{ContentHash, UserError};

/// Everything a build needs besides the project.
#[derive(Debug, Clone)]
pub struct Kit {
    /// Files below the kit's folder, by path, stubs for missing headers included.
    pub files: BTreeMap<String, Cow<'static, [u8]>>,
    /// Components of the framework and what each requires publicly.
    pub components: BTreeMap<String, Vec<String>>,
    /// Components every other one has without asking.
    pub common: Vec<String>,
    /// Settings that a project's own go before.
    pub config: String,
    /// Changes when any file does.
    pub hash: ContentHash,
}

impl Kit {
    /// Reads the kit from its files: (path below the kit's folder, content).
    ///
    /// # Errors
    /// When a table is missing or a line of it is malformed; names file and line.
    pub fn new(
        files: impl IntoIterator<Item = (String, Cow<'static, [u8]>)>,
    ) -> Result<Self, UserError> {
        let mut files: BTreeMap<String, Cow<'static, [u8]>> = files.into_iter().collect();
        let table = |name: &str| -> Result<String, UserError> {
            let content =
                files.get(name).ok_or_else(|| malformed(name, 0, "the file is missing"))?;
            Ok(String::from_utf8_lossy(content).into_owned())
        };
        let (components, common) = components(&table("components.txt")?)?;
        let config = table("sdkconfig.txt")?;
        for (header, stub) in stubs(&table("unsupported.txt")?)? {
            files.insert(format!("unsupported/{header}"), Cow::Owned(stub.into_bytes()));
        }
        let mut all = Vec::new();
        for (path, content) in &files {
            all.extend_from_slice(path.as_bytes());
            all.extend_from_slice(ContentHash::of(content).to_string().as_bytes());
        }
        let hash = ContentHash::of(&all);
        Ok(Self { files, components, common, config, hash })
    }

    /// Paths of the runtime's sources.
    pub fn runtime_sources(&self) -> impl Iterator<Item = &str> {
        self.sources("runtime/", ".c")
    }

    fn sources(&self, folder: &'static str, ending: &'static str) -> impl Iterator<Item = &str> {
        let is_source = move |path: &&str| path.starts_with(folder) && path.ends_with(ending);
        self.files.keys().map(String::as_str).filter(is_source)
    }

    /// Paths of the sources of the Arduino core and its libraries.
    pub fn arduino_sources(&self) -> impl Iterator<Item = &str> {
        self.sources("arduino/", ".cpp")
    }

    /// Folders of the headers of the Arduino core and its libraries, below the kit's.
    #[must_use]
    pub fn arduino_folders(&self) -> BTreeSet<&str> {
        let headers = self.files.keys().filter(|path| path.ends_with(".h"));
        let folders = headers.filter_map(|path| path.rsplit_once('/').map(|(folder, _)| folder));
        folders.filter(|folder| folder.starts_with("arduino")).collect()
    }

    /// The component that brings a header.
    #[must_use]
    pub fn provider(&self, header: &str) -> Option<&str> {
        self.files.keys().find_map(|path| {
            let (component, inside) = path.strip_prefix("components/")?.split_once("/include/")?;
            (inside == header).then_some(component)
        })
    }

    /// A framework component and all it requires publicly, itself included.
    #[must_use]
    pub fn closure<'a>(&'a self, names: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'a str> {
        let mut open: Vec<&str> = names.into_iter().collect();
        let mut closed = BTreeSet::new();
        while let Some(name) = open.pop() {
            if let Some((name, requires)) = self.components.get_key_value(name)
                && closed.insert(name.as_str())
            {
                open.extend(requires.iter().map(String::as_str));
            }
        }
        closed
    }

    /// The C header that tells the configuration; later texts go before earlier ones.
    #[must_use]
    pub fn config_header(&self, own: &[String]) -> String {
        let mut values: BTreeMap<&str, &str> = BTreeMap::new();
        let texts = std::iter::once(self.config.as_str()).chain(own.iter().map(String::as_str));
        for line in texts.flat_map(str::lines).map(str::trim) {
            let unset = line.strip_prefix("# ").and_then(|l| l.strip_suffix(" is not set"));
            if let Some(name) = unset {
                values.remove(name);
            } else if let Some((name, value)) = line.split_once('=')
                && name.starts_with("CONFIG_")
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            {
                match value {
                    "n" | "" => values.remove(name),
                    value => values.insert(name, if value == "y" { "1" } else { value }),
                };
            }
        }
        let mut header = String::from("/* Made by the build from sdkconfig. */\n#pragma once\n");
        for (name, value) in values {
            header.push_str(&format!("#define {name} {value}\n"));
        }
        header
    }
}

type Components = (BTreeMap<String, Vec<String>>, Vec<String>);

fn components(text: &str) -> Result<Components, UserError> {
    let mut all = BTreeMap::new();
    for (number, line) in rows(text) {
        let (name, requires) = line
            .split_once(':')
            .ok_or_else(|| malformed("components.txt", number, "expected `name: requires…`"))?;
        all.insert(
            name.trim().to_owned(),
            requires.split_whitespace().map(str::to_owned).collect::<Vec<_>>(),
        );
    }
    let common = all.remove("common").unwrap_or_default();
    Ok((all, common))
}

/// Headers that end a compilation with a sentence about what is missing.
fn stubs(text: &str) -> Result<Vec<(String, String)>, UserError> {
    rows(text)
        .map(|(number, line)| {
            let parts: Vec<&str> = line.split('|').map(str::trim).collect();
            let [header, component, what] = parts[..] else {
                let expected = "expected `header | component | what is missing`";
                return Err(malformed("unsupported.txt", number, expected));
            };
            let stub = format!(
                "#error \"{header} (component {component}): the virtual board does not have {what}\"\n"
            );
            Ok((header.to_owned(), stub))
        })
        .collect()
}

fn rows(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

fn malformed(file: &str, line: usize, why: &str) -> UserError {
    UserError::new(
        "Cannot set up the virtual board",
        format!("assets/virtual/{file}:{line}: {why}"),
        "Restore the file, or remove your own copy of it.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kit() -> Kit {
        let file = |path: &str, text: &'static str| (path.to_owned(), Cow::from(text.as_bytes()));
        Kit::new([
            file("components.txt", "# table\ncommon: log\nlog:\nhal: soc\nsoc:\ndriver: hal"),
            file("sdkconfig.txt", "CONFIG_A=y\nCONFIG_B=\"x\"\nCONFIG_C=3"),
            file("unsupported.txt", "esp_wifi.h | esp_wifi | Wi-Fi"),
            file("runtime/log.c", ""),
        ])
        .unwrap()
    }

    #[test]
    fn requirements_are_followed() {
        assert_eq!(Vec::from_iter(kit().closure(["driver"])), ["driver", "hal", "soc"]);
        assert!(kit().closure(["nope"]).is_empty());
    }

    #[test]
    fn a_projects_configuration_goes_before_the_kits() {
        let own = ["CONFIG_C=4\n# CONFIG_B is not set\nCONFIG_D=n".to_owned()];
        let header = kit().config_header(&own);
        assert!(header.contains("#define CONFIG_A 1\n#define CONFIG_C 4\n"), "{header}");
        assert!(!header.contains("CONFIG_B") && !header.contains("CONFIG_D"), "{header}");
    }

    #[test]
    fn missing_headers_say_what_is_missing() {
        let kit = kit();
        let stub = String::from_utf8_lossy(&kit.files["unsupported/esp_wifi.h"]).into_owned();
        assert!(stub.contains("the virtual board does not have Wi-Fi"), "{stub}");
    }

    #[test]
    fn a_malformed_table_is_refused_by_line() {
        let file = |path: &str, text: &'static str| (path.to_owned(), Cow::from(text.as_bytes()));
        let error = Kit::new([
            file("components.txt", "log:\nno colon"),
            file("sdkconfig.txt", ""),
            file("unsupported.txt", ""),
        ])
        .unwrap_err();
        assert!(error.why.contains("components.txt:2"), "{error:?}");
    }
}
