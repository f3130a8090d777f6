//! Numbers that a source takes from other files of the project: headers that it includes, options of
//! the configuration, definitions of the build.
//!
//! Owns where they are looked for. What a name has several values for it leaves out.

use std::sync::LazyLock;

use foldhash::{HashMap, HashSet};
use regex::Regex;

use super::constants::Constants;
use crate::model::ProjectPath;
use crate::text::c_tokens::{Style, tokens};

/// Headers that are read for one source.
const MOST_HEADERS: usize = 24;

/// Headers within headers that are followed.
const DEPTH: usize = 4;

/// Longest header that is read, in bytes.
const LONGEST: usize = 256 * 1024;

/// Files with options, the most certain last.
const OPTIONS: [&str; 2] = ["sdkconfig.defaults", "sdkconfig"];

/// Files with the defaults of options.
const DEFAULTS: [&str; 4] =
    ["main/Kconfig", "main/Kconfig.projbuild", "Kconfig", "Kconfig.projbuild"];

/// Files that define names for the compiler.
const BUILDS: [&str; 3] = ["platformio.ini", "CMakeLists.txt", "main/CMakeLists.txt"];

/// Files that name the board of a sketch with its options.
const SKETCHES: [&str; 2] = ["sketch.yaml", "sketch.yml"];

/// Folders in which headers lie besides that of the source.
const FOLDERS: [&str; 7] = ["", "include/", "main/", "main/include/", "src/", "inc/", "lib/"];

/// `#include "board.h"`.
static INCLUDE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?m)^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]"#).ok());

/// `import config as cfg`, `from config import FAN_PIN`.
static IMPORT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?m)^[ \t]*(?:import[ \t]+(?P<module>[\w.]+)(?:[ \t]+as[ \t]+(?P<as>\w+))?|from[ \t]+(?P<from>[\w.]+)[ \t]+import\b)")
        .ok()
});

/// `FAN_PIN = 35`, in Python.
static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?m)^([A-Za-z_]\w*)[ \t]*=[ \t]*(?:const\([ \t]*)?(\d{1,9}|0[xX][0-9a-fA-F]{1,8})\b",
    )
    .ok()
});

/// `-DNAME=30`, `NAME=30` among definitions, also as a pin's name.
pub(super) static DEFINED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?:-D\s*|[\s"(])([A-Za-z_]\w*)=(?:GPIO_NUM_)?(\d{1,9}|0[xX][0-9a-fA-F]{1,8})\b"#)
        .ok()
});

/// The values of names that a source takes from elsewhere.
#[derive(Debug, Default)]
pub(super) struct OuterConstants {
    pub(super) values: HashMap<String, i128>,
    has_octal_memory: bool,
    has_psram: bool,
}

impl OuterConstants {
    /// Those of a source; `read` gives the text of a file of the project.
    pub(super) fn of(
        path: &ProjectPath,
        text: &str,
        read: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let mut found = Self::default();
        for name in DEFAULTS {
            found.defaults(&read(name).unwrap_or_default());
        }
        for name in OPTIONS {
            found.options(&read(name).unwrap_or_default());
        }
        for name in BUILDS {
            found.definitions(&read(name).unwrap_or_default());
        }
        for name in SKETCHES {
            found.board(&read(name).unwrap_or_default());
        }
        if path.extension() == Some("yaml") {
            found.node(text);
        }
        let folder = path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder);
        if path.extension() == Some("py") {
            found.own(text);
            found.modules(folder, text, &read);
            return found;
        }
        let mut headers = Headers { read: &read, known: HashSet::default() };
        headers.of(folder, text, 0, &mut found.values);
        found
    }

    /// Whether the project turns PSRAM on.
    pub(super) const fn has_psram(&self) -> bool {
        self.has_psram
    }

    /// Whether flash or PSRAM takes eight lines, which need more pins.
    pub(super) const fn has_octal_memory(&self) -> bool {
        self.has_octal_memory
    }

    /// The numbers that a source of Python gives names to at its top, each once.
    fn own(&mut self, text: &str) {
        let mut known: HashMap<&str, Option<i128>> = HashMap::default();
        for row in NUMBER.iter().flat_map(|pattern| pattern.captures_iter(text)) {
            let (Some(name), Some(value)) = (row.get(1), row.get(2)) else { continue };
            let value = number(value.as_str());
            known.entry(name.as_str()).and_modify(|known| *known = None).or_insert(value);
        }
        let all = known.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        self.values.extend(all);
    }

    /// The numbers of the modules that a source of Python imports: `config.FAN_PIN`, or `FAN_PIN` where
    /// it is imported by its name.
    fn modules(&mut self, folder: &str, text: &str, read: impl Fn(&str) -> Option<String>) {
        let imports = IMPORT.iter().flat_map(|pattern| pattern.captures_iter(text));
        for groups in imports.take(MOST_HEADERS) {
            let part = |name: &str| groups.name(name).map(|part| part.as_str());
            let Some(module) = part("from").or_else(|| part("module")) else { continue };
            let file = format!("{}.py", module.replace('.', "/"));
            let near = if folder.is_empty() { file.clone() } else { format!("{folder}/{file}") };
            let places = [near, file.clone(), format!("lib/{file}")];
            let Some(text) = places.iter().find_map(|place| read(place)) else { continue };
            let all = NUMBER.iter().flat_map(|pattern| pattern.captures_iter(&text));
            for row in all {
                let own = |at: usize| row.get(at).map_or("", |group| group.as_str());
                let Some(number) = number(own(2)) else { continue };
                let name = match part("from") {
                    Some(_) => own(1).to_owned(),
                    None => format!("{}.{}", part("as").unwrap_or(module), own(1)),
                };
                self.values.insert(name, number);
            }
        }
    }

    fn defaults(&mut self, text: &str) {
        let (mut option, mut several) = (String::new(), HashSet::default());
        for line in text.lines() {
            let mut words = line.split_whitespace();
            match (words.next(), words.next(), words.next()) {
                (Some("config" | "menuconfig"), Some(name), _) => option = format!("CONFIG_{name}"),
                (Some("default"), Some(value), condition) => {
                    // What depends on a condition has several values.
                    let is_first = several.insert(option.clone());
                    match value.parse::<i128>() {
                        Ok(number) if is_first && condition.is_none() => {
                            self.values.insert(option.clone(), number);
                        }
                        _ => _ = self.values.remove(&option),
                    }
                }
                _ => {}
            }
        }
    }

    fn options(&mut self, text: &str) {
        for line in text.lines() {
            let Some((name, value)) = line.split_once('=') else { continue };
            let value = value.trim();
            let is_octal = matches!(name, "CONFIG_SPIRAM_MODE_OCT" | "CONFIG_ESPTOOLPY_OCT_FLASH");
            self.has_octal_memory |= is_octal && value == "y";
            let is_psram = matches!(name, "CONFIG_SPIRAM" | "CONFIG_ESP32_SPIRAM_SUPPORT");
            self.has_psram |= is_psram && value == "y";
            if let Some(number) = number(value).filter(|_| name.starts_with("CONFIG_")) {
                self.values.insert(name.to_owned(), number);
            }
        }
    }

    /// `default_fqbn: esp32:esp32:esp32s3:PSRAM=opi`.
    fn board(&mut self, text: &str) {
        for line in text.lines().filter(|line| line.trim_start().starts_with("default_fqbn")) {
            let mut options = line.split([':', ',', '"', '\'', ' ']);
            self.has_octal_memory |=
                options.clone().any(|option| matches!(option, "PSRAM=opi" | "FlashMode=opi"));
            self.has_psram |= options
                .any(|option| option.strip_prefix("PSRAM=").is_some_and(|kind| kind != "disabled"));
        }
    }

    /// `psram:` with `mode: octal` below it, in a configuration of ESPHome.
    fn node(&mut self, text: &str) {
        self.has_psram |= text.lines().any(|line| line.trim_end() == "psram:");
        let block = text.lines().skip_while(|line| !line.starts_with("psram:"));
        let mut below =
            block.skip(1).take_while(|line| line.is_empty() || line.starts_with([' ', '#']));
        self.has_octal_memory |= below.any(|line| {
            let value = line.trim_start().strip_prefix("mode:");
            value.is_some_and(|value| value.trim().trim_matches(['"', '\'']).starts_with("octal"))
        });
    }

    fn definitions(&mut self, text: &str) {
        let is_octal = |line: &str| line.contains("memory_type") && line.contains("opi");
        self.has_octal_memory |= text.lines().any(is_octal);
        let lines = text.lines().filter(|line| !line.trim_start().starts_with(['#', ';']));
        self.has_psram |= lines.clone().any(|line| line.contains("BOARD_HAS_PSRAM"));
        let found = lines.flat_map(|line| DEFINED.as_ref().map(|it| it.captures_iter(line)));
        for groups in found.flatten() {
            let text = |at: usize| groups.get(at).map_or("", |group| group.as_str());
            if let Some(number) = number(text(2)) {
                self.values.insert(text(1).to_owned(), number);
            }
        }
    }
}

/// The texts of the headers of the project that a source includes, also through others.
pub(super) fn headers(
    path: &ProjectPath,
    text: &str,
    read: impl Fn(&str) -> Option<String>,
) -> Vec<(String, String)> {
    let folder = path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut found = Vec::new();
    Headers { read: &read, known: HashSet::default() }.texts(folder, text, 0, &mut found);
    found
}

struct Headers<'a> {
    read: &'a dyn Fn(&str) -> Option<String>,
    /// The files that were read.
    known: HashSet<String>,
}

impl Headers<'_> {
    /// Adds the constants of all headers that a text includes, those that are included first first.
    fn of(&mut self, folder: &str, text: &str, depth: usize, values: &mut HashMap<String, i128>) {
        let Some(pattern) = INCLUDE.as_ref() else { return };
        for groups in pattern.captures_iter(text) {
            let name = groups.get(1).map_or("", |name| name.as_str());
            if self.known.len() >= MOST_HEADERS || depth >= DEPTH {
                return;
            }
            let Some((path, text)) = self.find(folder, name) else { continue };
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
            self.of(&folder, &text, depth + 1, values);
            let found: Vec<(String, i128)> = {
                let all = tokens(&text, Style::C);
                Constants::with(&all, values).values().collect()
            };
            values.extend(found);
        }
    }

    /// Adds the texts of all headers that a text includes.
    fn texts(&mut self, folder: &str, text: &str, depth: usize, all: &mut Vec<(String, String)>) {
        for groups in INCLUDE.iter().flat_map(|pattern| pattern.captures_iter(text)) {
            let name = groups.get(1).map_or("", |name| name.as_str());
            if self.known.len() >= MOST_HEADERS || depth >= DEPTH {
                return;
            }
            let Some((path, text)) = self.find(folder, name) else { continue };
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
            self.texts(&folder, &text, depth + 1, all);
            all.push((path, text));
        }
    }

    /// The header of that name, if it was not read before.
    fn find(&mut self, folder: &str, name: &str) -> Option<(String, String)> {
        let own = match folder {
            "" => name.to_owned(),
            folder => format!("{folder}/{name}"),
        };
        let near = [own.clone(), format!("{folder}/include/{name}")];
        let places = near.into_iter().chain(FOLDERS.iter().map(|at| format!("{at}{name}")));
        for place in places {
            let Ok(path) = ProjectPath::new(&place) else { continue };
            if let Some(text) = (self.read)(path.as_str()).filter(|text| text.len() <= LONGEST) {
                let path = path.as_str().to_owned();
                return self.known.insert(path.clone()).then_some((path, text));
            }
        }
        None
    }
}

fn number(text: &str) -> Option<i128> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
