//! Keys and passwords in the new content.

use super::{Subject, limited};
use crate::model::{Check, CheckKind, Finding, FindingLevel, FindingPlace};
use crate::text::inspect;

/// The check of a text; `None` for what is not text.
pub(super) fn find(subject: &Subject<'_>) -> Option<Check> {
    let found = inspect::secrets(subject.text()?);
    let finding = |place: inspect::Place| {
        let number = |of: usize| u32::try_from(of).unwrap_or(u32::MAX);
        Finding::new(FindingLevel::Stop, format!("contains {}", place.what))
            .at(FindingPlace::columns(number(place.line), number(place.column), 1))
            .advice("Keep it out of the sources, e.g. in NVS or in a file that is not committed.")
    };
    Some(limited(CheckKind::Secrets, found.into_iter().map(finding).collect()))
}
