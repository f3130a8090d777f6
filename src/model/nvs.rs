//! What a board keeps in its non-volatile storage, and changes of it.

use serde::{Deserialize, Serialize};

use super::blob::ContentHash;
use super::board::{BoardInfo, FlashRegion};

/// The types of values, as ESP-IDF has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NvsKind {
    /// 8 bits without a sign.
    U8,
    /// 8 bits with a sign.
    I8,
    /// 16 bits without a sign.
    U16,
    /// 16 bits with a sign.
    I16,
    /// 32 bits without a sign.
    U32,
    /// 32 bits with a sign.
    I32,
    /// 64 bits without a sign.
    U64,
    /// 64 bits with a sign.
    I64,
    String,
    Blob,
}

impl NvsKind {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::U8,
        Self::I8,
        Self::U16,
        Self::I16,
        Self::U32,
        Self::I32,
        Self::U64,
        Self::I64,
        Self::String,
        Self::Blob,
    ];

    /// E.g. `u8`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::I8 => "i8",
            Self::U16 => "u16",
            Self::I16 => "i16",
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::U64 => "u64",
            Self::I64 => "i64",
            Self::String => "string",
            Self::Blob => "blob",
        }
    }
}

/// A value to be stored, whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NvsValue {
    pub kind: NvsKind,
    /// A decimal number, the text itself, or bytes in hexadecimal digits.
    pub text: String,
}

/// A value that is stored: enough to tell it and to know it again, and never a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NvsSeen {
    pub kind: NvsKind,
    /// The value in words, cut where it is long and masked where it may be a secret.
    pub shown: String,
    /// Of its type and its bytes.
    pub hash: ContentHash,
}

/// One entry that is set, changed or removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NvsEdit {
    pub namespace: String,
    /// The key in it.
    pub key: String,
    /// What it holds now; `None`: it is not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<NvsSeen>,
    /// What it shall hold; `None`: it is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<NvsValue>,
    /// `after` in words, as [`NvsSeen::shown`]; empty for what is removed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub shown: String,
}

/// How the partition would be written: what the person decides on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NvsPlan {
    pub board: BoardInfo,
    /// The partition: all of it is erased and written anew.
    pub region: FlashRegion,
    /// What the partition held when it was read back.
    pub base: ContentHash,
    /// What it would hold then, if nothing else in it has changed since.
    pub image: ContentHash,
    pub edits: Vec<NvsEdit>,
    /// How full it would be.
    #[serde(rename = "room")]
    pub space: NvsSpace,
}

/// How full a partition is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NvsSpace {
    /// Entries of 32 bytes that are taken.
    pub used: u32,
    /// Those that there are, without the page that stays free.
    pub of: u32,
    /// Entries that are damaged, which the firmware drops as well.
    #[serde(default)]
    pub damaged: u32,
}

impl NvsEdit {
    /// `namespace:key`, as ESP-IDF's tools name it.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}:{}", self.namespace, self.key)
    }
}

impl NvsPlan {
    /// How many entries are new, change, and go.
    #[must_use]
    pub fn counts(&self) -> (usize, usize, usize) {
        let count = |wanted: fn(&NvsEdit) -> bool| self.edits.iter().filter(|e| wanted(e)).count();
        (
            count(|edit| edit.before.is_none()),
            count(|edit| edit.before.is_some() && edit.after.is_some()),
            count(|edit| edit.after.is_none()),
        )
    }
}
