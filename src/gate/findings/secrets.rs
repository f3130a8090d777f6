//! Keys and passwords in the new content.

use super::Subject;
use super::source::{self, SourceText};
use crate::model::{Check, CheckKind, Finding, FindingLevel, ProjectPath};
use crate::text::credentials;

/// The check of a text; `None` for what is not text.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Check> {
    source::check(CheckKind::Secrets, path, subject, in_source)
}

fn in_source(source: &SourceText<'_>) -> Vec<Finding> {
    let found = credentials::secrets(source.path.as_str(), source.text).into_iter();
    found
        .map(|secret| {
            let level = match secret.is_sure {
                true => FindingLevel::Stop,
                false => FindingLevel::Warning,
            };
            Finding::new(level, format!("contains {}", secret.what))
                .at(source.place(&secret.range))
                .advice(
                    "Store it outside of the sources, e.g. in NVS or in a file that is not committed.",
                )
        })
        .collect()
}
