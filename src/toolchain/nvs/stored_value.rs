//! A stored value, and how it is shown to people.
//!
//! Owns that what may be a secret is masked. Must not know where values are stored.

use super::encoding::Encoding;
use crate::model::{ContentHash, NvsKind, NvsSeen, NvsValue};
use crate::text::{credentials, inspect};

/// Bytes of a blob that are shown.
const SHOWN_BYTES: usize = 32;

/// A stored value: its type, and its bytes as they are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredValue {
    pub kind: NvsKind,
    /// Numbers with the lowest byte first, text with the NUL at its end.
    pub bytes: Vec<u8>,
}

impl StoredValue {
    /// What it is known by.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        let mut all = vec![Encoding::of(self.kind).code];
        all.extend_from_slice(&self.bytes);
        ContentHash::of(&all)
    }

    /// As a plan names it.
    pub(super) fn planned(&self) -> NvsValue {
        NvsValue { kind: self.kind, text: self.text() }
    }

    /// As it is told of the key that it belongs to.
    pub(super) fn seen(&self, key: &str) -> NvsSeen {
        NvsSeen { kind: self.kind, shown: self.shown(key), hash: self.hash() }
    }

    /// In words; what may be a secret is masked.
    pub(super) fn shown(&self, key: &str) -> String {
        let text = self.text();
        let length = self.bytes.len();
        if inspect::names_secret(key)
            || credentials::secrets("", &text).iter().any(|secret| secret.is_sure)
        {
            return match self.kind {
                NvsKind::String => {
                    format!("•••••••• ({} characters)", text.chars().count())
                }
                NvsKind::Blob => format!("•••••••• ({length} bytes)"),
                _ => "•••••••• (masked)".to_owned(),
            };
        }
        match self.kind {
            NvsKind::String => format!("\"{}\"", text.escape_debug()),
            NvsKind::Blob if length > SHOWN_BYTES => {
                let head = text.get(..SHOWN_BYTES * 2).unwrap_or_default();
                let hash = ContentHash::of(&self.bytes).short().to_owned();
                format!("{head}… ({length} bytes, sha256 {hash})")
            }
            NvsKind::Blob => format!("{text} ({length} bytes)"),
            _ => text,
        }
    }

    fn text(&self) -> String {
        let hex = || self.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        match self.kind {
            NvsKind::Blob => hex(),
            NvsKind::String => {
                let end = self.bytes.iter().position(|byte| *byte == 0);
                let text = self.bytes.get(..end.unwrap_or(self.bytes.len())).unwrap_or_default();
                String::from_utf8_lossy(text).into_owned()
            }
            kind => {
                let is_negative = Encoding::of(kind).is_signed()
                    && self.bytes.last().is_some_and(|byte| byte & 0x80 != 0);
                let mut all = [if is_negative { 0xff } else { 0 }; 16];
                all.iter_mut().zip(&self.bytes).for_each(|(to, from)| *to = *from);
                i128::from_le_bytes(all).to_string()
            }
        }
    }
}
