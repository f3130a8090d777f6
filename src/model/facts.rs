//! Details about a proposal beside the change itself: facts for whoever decides.

use serde::{Deserialize, Serialize};

use super::ids::ProposalId;
use super::path::ProjectPath;

/// Facts about one proposal, found before the person is asked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Facts {
    /// The applied proposal that this one takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<ProposalId>,
    /// For a deletion: where other files of the project still name the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// For a flash: the board's memory and what of it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash: Option<FlashFacts>,
    /// What follows from the change, in one line, e.g. `writes 1 file, pump limit 30 → 3600`; empty
    /// where there is nothing to say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub consequence: String,
    /// The rule, in its own words, that would have approved it if nothing stood against that;
    /// usually empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub held_rule: String,
    /// For a flash of a real board: what the board said of itself; `None` where nobody asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<BoardFacts>,
}

impl Facts {
    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// How a file names another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReferenceKind {
    /// By an `#include` line.
    Include,
    /// In a list of CMake.
    Cmake,
}

/// A place that names a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// The file that names it.
    pub path: ProjectPath,
    /// Counted from 1.
    pub line: u32,
    pub kind: ReferenceKind,
    /// That line, without the spaces around it.
    pub text: String,
}

/// One entry of a board's partition table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partition {
    /// Its label, e.g. `factory`.
    pub label: String,
    /// `app`, `data`, or a number.
    pub kind: String,
    /// E.g. `ota_0`, `nvs`, or a number.
    pub subtype: String,
    /// Flash address of its first byte.
    pub offset: u32,
    /// Length in bytes.
    pub bytes: u32,
}

/// A part of a board's flash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlashArea {
    /// What the chip starts first, and all that lies before the table.
    Bootloader,
    /// The table of partitions.
    PartitionTable,
    /// The partition of that label.
    Partition(String),
}

impl FlashArea {
    /// What the screen calls it.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Bootloader => "bootloader",
            Self::PartitionTable => "partition table",
            Self::Partition(label) => label,
        }
    }

    /// Whether a board that holds something wrong there does not start.
    #[must_use]
    pub const fn is_boot(&self) -> bool {
        match self {
            Self::Bootloader | Self::PartitionTable => true,
            Self::Partition(_) => false,
        }
    }
}

/// What a board said of itself before the person was asked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BoardFacts {
    /// Why it could not be asked; empty when it was.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub not_asked: String,
    /// Bytes of its flash; `None` when that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash_bytes: Option<u64>,
    /// Revision of the chip, e.g. `v3.1`; empty when it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub revision: String,
    /// Its address, which no other board has; empty when it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub mac: String,
    /// Whether it starts signed programs only; `None` when that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secure_boot: Option<bool>,
    /// Whether its flash is encrypted; `None` when that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash_encryption: Option<bool>,
    /// Whether a debugger cannot reach the chip by JTAG; `None` when that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jtag_disabled: Option<bool>,
    /// The partition table that it holds; none when it holds none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<Partition>,
}

impl BoardFacts {
    /// A board that could not be asked.
    pub fn not_asked(why: impl Into<String>) -> Self {
        Self { not_asked: why.into(), ..Self::default() }
    }
}

/// Where one image of a flash lands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Landing {
    /// The image's file, as the plan names it.
    pub file: String,
    /// What lies there: `bootloader`, `partition table`, a label of the table, or empty when it
    /// is outside of every partition.
    pub place: String,
    /// First address that is erased for it.
    pub erased_from: u32,
    /// First address after what is erased; whole sectors of 4,096 bytes.
    pub erased_to: u32,
    /// Bytes that do not fit into that place; 0 when it fits.
    #[serde(default)]
    pub overflow: u64,
    /// All that is erased for it, at least in part, by rising address; nothing for an image that
    /// the board holds already.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touches: Vec<FlashArea>,
}

/// A flash against the board's memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlashFacts {
    /// File that the table was read from, or `the board`; empty when there is none.
    pub source: String,
    /// By rising offset.
    pub partitions: Vec<Partition>,
    /// Where the table lies; `None` in earlier journals and for an erasing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table_offset: Option<u32>,
    /// One for each image, in the plan's order.
    pub landings: Vec<Landing>,
}
