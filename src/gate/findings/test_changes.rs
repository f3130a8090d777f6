//! What is found in a single change of an otherwise empty project, for tests.

use super::FindingsContext;
use crate::model::{Check, CheckKind, Draft, DraftChange, ProjectPath};
use crate::workspace::ProjectDir;

/// The checks of a change that is proposed for this task.
pub(super) fn checks_of(change: DraftChange, task: &str) -> Vec<Check> {
    let folder = tempfile::tempdir().unwrap();
    let base = match &change {
        DraftChange::Save { path, base: Some(base), .. } | DraftChange::Delete { path, base } => {
            Some((path, base))
        }
        _ => None,
    };
    if let Some((path, base)) = base {
        let path = folder.path().join(path.as_str());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, base).unwrap();
    }
    let project_dir = ProjectDir::open(folder.path()).unwrap();
    let mut context = FindingsContext::default();
    context.task = task.to_owned();
    let draft = Draft { change, reason: String::new(), checks: Vec::new() };
    crate::gate::examine(&project_dir, vec![draft], &context).remove(0).checks
}

/// The check of this kind of a file that is saved: its path, what it held, and what it will hold.
pub(super) fn check(
    kind: CheckKind,
    (path, base, content): (&str, Option<&str>, &str),
    task: &str,
) -> Option<Check> {
    let (path, base) = (ProjectPath::new(path).unwrap(), base.map(|base| base.as_bytes().to_vec()));
    let change = DraftChange::Save { path, base, content: content.as_bytes().to_vec() };
    checks_of(change, task).into_iter().find(|check| check.kind == kind)
}

/// Its findings: level, line and text.
pub(super) fn reported(
    kind: CheckKind,
    change: (&str, Option<&str>, &str),
    task: &str,
) -> Vec<String> {
    let found = check(kind, change, task).map(|check| check.findings).unwrap_or_default();
    let line = |place: &crate::model::FindingPlace| place.line;
    let shown = |finding: crate::model::Finding| {
        let line = finding.place.as_ref().map_or(0, line);
        format!("{:?} {line}: {}", finding.level, finding.text)
    };
    found.into_iter().map(shown).collect()
}

/// Findings of this kind in changes of a project with these files that are proposed together: the
/// path, the level and the text of each. A change without content deletes the file.
pub(super) fn reported_together(
    kind: CheckKind,
    files: &[(&str, &str)],
    changes: &[(&str, Option<&str>)],
    task: &str,
) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let project_dir = ProjectDir::open(folder.path()).unwrap();
    let mut context = FindingsContext::default();
    context.task = task.to_owned();
    let draft = |(path, content): &(&str, Option<&str>)| {
        let path = ProjectPath::new(path).unwrap();
        let base = project_dir.read_if_there(&path).unwrap();
        let change = match content {
            Some(text) => DraftChange::Save { path, base, content: text.as_bytes().to_vec() },
            None => DraftChange::Delete { path, base: base.unwrap() },
        };
        Draft { change, reason: String::new(), checks: Vec::new() }
    };
    let drafts = changes.iter().map(draft).collect();
    let mut all = Vec::new();
    for proposal in crate::gate::examine(&project_dir, drafts, &context) {
        let path = proposal.change.path().map_or("", |path| path.as_str()).to_owned();
        for check in proposal.checks.into_iter().filter(|check| check.kind == kind) {
            let shown =
                |found: crate::model::Finding| format!("{path} {:?}: {}", found.level, found.text);
            all.extend(check.findings.into_iter().map(shown));
        }
    }
    all
}
