//! How values of a type are stored.

use crate::model::NvsKind;

/// The byte that names a type, and the bytes that a value of it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Encoding {
    /// The byte it is stored as; of a blob that of its parts.
    pub code: u8,
    /// Bytes of a number; `None` for what has a length of its own.
    pub width: Option<usize>,
}

impl Encoding {
    pub(super) const fn of(kind: NvsKind) -> Self {
        let (code, width) = match kind {
            NvsKind::U8 => (0x01, Some(1)),
            NvsKind::I8 => (0x11, Some(1)),
            NvsKind::U16 => (0x02, Some(2)),
            NvsKind::I16 => (0x12, Some(2)),
            NvsKind::U32 => (0x04, Some(4)),
            NvsKind::I32 => (0x14, Some(4)),
            NvsKind::U64 => (0x08, Some(8)),
            NvsKind::I64 => (0x18, Some(8)),
            NvsKind::String => (0x21, None),
            NvsKind::Blob => (0x42, None),
        };
        Self { code, width }
    }

    /// The type that is stored as that byte.
    pub(super) fn kind_of(code: u8) -> Option<NvsKind> {
        NvsKind::ALL.into_iter().find(|kind| Self::of(*kind).code == code)
    }

    /// Whether its numbers have a sign.
    pub(super) const fn is_signed(self) -> bool {
        self.width.is_some() && self.code & 0x10 != 0
    }
}
