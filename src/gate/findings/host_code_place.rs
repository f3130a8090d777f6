//! A place in a text that runs on the developer's machine, or is fetched from elsewhere.

use std::ops::Range;

use crate::model::FindingLevel;

/// Something that runs or is fetched, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HostCode {
    pub(super) range: Range<usize>,
    pub(super) level: FindingLevel,
    pub(super) text: String,
}
