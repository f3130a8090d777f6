//! What is found in a single change of an otherwise empty project, for tests.

use super::FindingsContext;
use crate::model::{Check, CheckKind, Draft, DraftChange, Finding, ProjectPath};
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
    let shown = |finding: Finding| {
        let line = finding.place.as_ref().map_or(0, line);
        format!("{:?} {line}: {}", finding.level, finding.text)
    };
    found.into_iter().map(shown).collect()
}

/// A project for tests: its files, its chip where that is known, and what is asked for.
pub(super) struct TestProject<'a> {
    pub(super) files: &'a [(&'a str, &'a str)],
    pub(super) chip: Option<&'a str>,
    pub(super) task: &'a str,
}

impl TestProject<'_> {
    /// Findings of this kind in changes that are proposed together, each with the path of its file. A
    /// change without content deletes the file.
    pub(super) fn findings(
        &self,
        kind: CheckKind,
        changes: &[(&str, Option<&str>)],
    ) -> Vec<(String, Finding)> {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in self.files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let project_dir = ProjectDir::open(folder.path()).unwrap();
        let mut context = FindingsContext::default();
        context.task = self.task.to_owned();
        context.chip = self.chip.map(str::to_owned);
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
        let proposals = crate::gate::examine(&project_dir, drafts, &context).into_iter();
        let found = proposals.flat_map(|proposal| {
            let path = proposal.change.path().map_or("", |path| path.as_str()).to_owned();
            let checks = proposal.checks.into_iter().filter(|check| check.kind == kind);
            let found: Vec<Finding> = checks.flat_map(|check| check.findings).collect();
            found.into_iter().map(move |finding| (path.clone(), finding))
        });
        found.collect()
    }

    /// The same: path, level and text.
    pub(super) fn reported(
        &self,
        kind: CheckKind,
        changes: &[(&str, Option<&str>)],
    ) -> Vec<String> {
        let all = self.findings(kind, changes).into_iter();
        all.map(|(path, found)| format!("{path} {:?}: {}", found.level, found.text)).collect()
    }
}
