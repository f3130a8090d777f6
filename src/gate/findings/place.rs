//! The place of a change: inside the project, on the file it was made for, and named by nobody.

use super::limit::NAMED_PLACES;
use crate::gate::folder::{PlaceError, look};
use crate::model::{Check, CheckKind, ContentHash, FindingLevel, ProjectPath, Reference};
use crate::workspace::ProjectDir;

/// Looks at the file that `path` names; `base` is what it has to hold.
pub(super) fn find(
    project_dir: &ProjectDir,
    path: &ProjectPath,
    base: Option<ContentHash>,
) -> Vec<Check> {
    let inside = Check::clean(CheckKind::InProject);
    match look(project_dir, path) {
        Ok(found) if found.as_ref().map(|found| found.hash) == base => {
            vec![inside, Check::clean(CheckKind::BaseUnchanged)]
        }
        Ok(_) => {
            let text = "the file has changed since the agent read it";
            vec![inside, Check::of(CheckKind::BaseUnchanged, FindingLevel::Stop, text)]
        }
        Err(PlaceError::Disk(error)) => {
            let text = error.to_string();
            vec![inside, Check::of(CheckKind::BaseUnchanged, FindingLevel::Warning, text)]
        }
        Err(error) => {
            vec![Check::of(CheckKind::InProject, FindingLevel::Stop, error.to_string())]
        }
    }
}

/// Who still names a file that would be deleted.
pub(super) fn unreferenced(references: &[Reference]) -> Check {
    if references.is_empty() {
        return Check::clean(CheckKind::Unreferenced);
    }
    let named = references.iter().take(NAMED_PLACES).map(|r| format!("{}:{}", r.path, r.line));
    let named: Vec<String> = named.collect();
    let more = match references.len().checked_sub(NAMED_PLACES) {
        Some(more) if more > 0 => format!(" and {more} more"),
        _ => String::new(),
    };
    let text = format!("still named in {}{more}", named.join(", "));
    Check::of(CheckKind::Unreferenced, FindingLevel::Warning, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ReferenceKind;

    #[test]
    fn a_few_references_are_named_and_the_others_counted() {
        let references = |count: u32| -> Vec<Reference> {
            let path = || ProjectPath::new("a.c").unwrap();
            let of = |line| Reference {
                path: path(),
                line,
                kind: ReferenceKind::Include,
                text: String::new(),
            };
            (1..=count).map(of).collect()
        };
        let text = |count| unreferenced(&references(count)).findings[0].text.clone();
        assert_eq!(text(1), "still named in a.c:1");
        assert_eq!(text(5), "still named in a.c:1, a.c:2, a.c:3, a.c:4, a.c:5");
        assert_eq!(text(7), "still named in a.c:1, a.c:2, a.c:3, a.c:4, a.c:5 and 2 more");
        assert_eq!(unreferenced(&[]).level(), None);
    }
}
