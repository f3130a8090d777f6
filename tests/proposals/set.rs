//! Reads the sets of proposals in `bad` and `good`.
//!
//! `⟦U+202E⟧` in a file stands for that character, `⟦⟧` for nothing. A content is given whole, as
//! replacements in what the file holds, as another file's content, or as hexadecimal digits.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

/// A file of proposals.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Set {
    proposal: Vec<Sample>,
}

/// A proposal of one or more changes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// What is wrong with it, or ordinary about it.
    pub name: String,
    /// The check that finds it, or any of several; none for good ones.
    #[serde(default)]
    kind: Kinds,
    /// Part of the lines at one of which it is to be found; empty where no line tells.
    #[serde(default)]
    pub mark: String,
    /// The chip of the project.
    #[serde(default = "usual_chip")]
    pub chip: String,
    /// What the person asked for.
    #[serde(default)]
    pub task: String,
    /// What the proposal takes the first file to hold, where that is not so.
    #[serde(default)]
    pub base: Option<String>,
    /// Files that were deleted earlier in the session.
    #[serde(default)]
    pub deleted: Vec<String>,
    /// What the project holds.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// What is proposed.
    pub changes: Vec<Wanted>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(untagged)]
enum Kinds {
    #[default]
    None,
    One(String),
    Any(Vec<String>),
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Wanted {
    /// The file; empty for a flash.
    pub path: String,
    content: Option<String>,
    replace: Vec<(String, String)>,
    from: Option<String>,
    content_hex: Option<String>,
    /// Whether the file goes.
    pub delete: bool,
    /// Whether lines are inserted into it.
    pub insert: bool,
    crlf: bool,
    tabs: bool,
    /// What is written to a board.
    pub images: Vec<Image>,
}

/// An image of a flash.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Image {
    /// Its file in the project.
    pub file: String,
    /// Where it goes.
    pub offset: u32,
    /// For a program: the number of the chip in its header.
    chip_id: Option<u16>,
    /// For a partition table: its text.
    table: Option<String>,
    /// First bytes otherwise.
    #[serde(default)]
    hex: String,
    /// Its length, where it is longer than that.
    #[serde(default)]
    bytes: usize,
}

fn usual_chip() -> String {
    "esp32".to_owned()
}

impl Sample {
    fn spelled_out(mut self) -> Self {
        self.mark = spelled_out(&self.mark);
        self.files =
            self.files.into_iter().map(|(path, text)| (path, spelled_out(&text))).collect();
        for change in &mut self.changes {
            change.path = spelled_out(&change.path);
            change.content = change.content.take().map(|text| spelled_out(&text));
            for (old, new) in &mut change.replace {
                (*old, *new) = (spelled_out(old), spelled_out(new));
            }
        }
        self
    }

    /// The checks one of which finds it.
    pub fn kinds(&self) -> Vec<&str> {
        match &self.kind {
            Kinds::None => Vec::new(),
            Kinds::One(kind) => vec![kind],
            Kinds::Any(kinds) => kinds.iter().map(String::as_str).collect(),
        }
    }

    /// What a file of the project holds.
    pub fn held(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// What a change makes the file hold.
    pub fn content(&self, wanted: &Wanted) -> Vec<u8> {
        if let Some(digits) = &wanted.content_hex {
            return bytes(digits);
        }
        let from = wanted.from.as_deref().unwrap_or(&wanted.path);
        let text = wanted.content.clone().or_else(|| self.held(from).map(str::to_owned));
        let mut text = text.unwrap_or_else(|| panic!("{}: {from} holds nothing", self.name));
        for (old, new) in &wanted.replace {
            assert!(text.contains(old.as_str()), "{}: no {old:?}", self.name);
            text = text.replace(old.as_str(), new);
        }
        if wanted.tabs {
            text = text.replace("    ", "\t");
        }
        if wanted.crlf {
            text = text.replace('\n', "\r\n");
        }
        text.into_bytes()
    }

    /// Numbers, from 1, of the lines of a change that hold the mark; none in a change without it.
    pub fn lines(&self, wanted: &Wanted) -> Vec<u32> {
        let content = String::from_utf8_lossy(&self.content(wanted)).into_owned();
        let lines = content.split('\n').zip(1..);
        lines.filter(|(line, _)| line.contains(&self.mark)).map(|(_, number)| number).collect()
    }
}

impl Image {
    /// The bytes of its file.
    pub fn content(&self) -> Vec<u8> {
        let mut content = match (&self.table, self.chip_id) {
            (Some(text), _) => table(text),
            (None, Some(chip)) => program(chip, self.offset >= 0x9000),
            (None, None) => bytes(&self.hex),
        };
        let length = self.bytes.max(content.len());
        content.resize(length, 0);
        content
    }
}

fn bytes(digits: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(digit).collect()
}

/// The header of a program for 4 MB of flash, and what tells an application.
fn program(chip: u16, is_app: bool) -> Vec<u8> {
    let mut image = vec![0; 64];
    image[..4].copy_from_slice(&[0xe9, 1, 2, 0x20]);
    image[12..14].copy_from_slice(&chip.to_le_bytes());
    if is_app {
        image[32..36].copy_from_slice(&0xabcd_5432_u32.to_le_bytes());
    }
    image
}

/// A partition table as the bootloader reads it.
fn table(text: &str) -> Vec<u8> {
    let mut image = Vec::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let number = |at: usize| u32::from_str_radix(&fields[at][2..], 16).unwrap();
        let kind = u8::from(fields[1] == "data");
        let subtype = match fields[2] {
            "phy" => 1,
            "nvs" => 2,
            "coredump" => 3,
            "nvs_keys" => 4,
            "fat" => 0x81,
            "spiffs" => 0x82,
            "littlefs" => 0x83,
            other if other.starts_with("0x") => u8::from_str_radix(&other[2..], 16).unwrap(),
            slot => slot.strip_prefix("ota_").map_or(0, |n| 0x10 + n.parse::<u8>().unwrap()),
        };
        image.extend([0xaa, 0x50, kind, subtype]);
        image.extend(number(3).to_le_bytes());
        image.extend(number(4).to_le_bytes());
        let mut label = fields[0].as_bytes().to_vec();
        label.resize(16, 0);
        image.extend(label);
        image.extend([0; 4]);
    }
    image.resize(0xc00, 0xff);
    image
}

/// All proposals in the files of a folder beside this file, in the order of their names.
pub fn load(folder: &str) -> Vec<Sample> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proposals").join(folder);
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let mut samples = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let set: Set =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        samples.extend(set.proposal.into_iter().map(Sample::spelled_out));
    }
    samples
}

/// The text with the characters that its placeholders stand for.
fn spelled_out(text: &str) -> String {
    let mut parts = text.split('⟦');
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('⟧').unwrap();
        if let Some(digits) = name.strip_prefix("U+") {
            all.push(char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap());
        }
        all.push_str(rest);
    }
    all
}
