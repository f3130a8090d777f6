//! The checks that every proposal gets, whatever its tool looked at before.

use super::folder::{PlaceError, look};
use crate::model::{Change, Check, CheckKind, CheckStatus, ContentHash, ProjectPath};
use crate::workspace::Sandbox;

/// Adds what the tool has not looked at itself.
pub(super) fn complete(sandbox: &Sandbox, change: &Change, checks: &mut Vec<Check>) {
    let found = match change {
        Change::Save { path, base, .. } => {
            place(sandbox, path, base.as_ref().map(|base| base.hash))
        }
        Change::Insert { path, base, .. } | Change::Delete { path, base } => {
            place(sandbox, path, Some(base.hash))
        }
        Change::Flash(plan) if plan.touches_boot => vec![check(
            CheckKind::BootUntouched,
            CheckStatus::Warned,
            "bootloader or partition table are among the images",
        )],
        Change::Flash(_) => vec![check(CheckKind::BootUntouched, CheckStatus::Passed, "")],
    };
    for check in found {
        if checks.iter().all(|known| known.kind != check.kind) {
            checks.push(check);
        }
    }
}

fn place(sandbox: &Sandbox, path: &ProjectPath, base: Option<ContentHash>) -> Vec<Check> {
    let inside = check(CheckKind::InProject, CheckStatus::Passed, "");
    match look(sandbox, path) {
        Ok(found) if found.as_ref().map(|found| found.hash) == base => {
            vec![inside, check(CheckKind::BaseUnchanged, CheckStatus::Passed, "")]
        }
        Ok(_) => {
            let note = "the file has changed since the agent read it";
            vec![inside, check(CheckKind::BaseUnchanged, CheckStatus::Failed, note)]
        }
        Err(PlaceError::Disk(error)) => {
            let note = error.to_string();
            vec![inside, check(CheckKind::BaseUnchanged, CheckStatus::Warned, &note)]
        }
        Err(error) => vec![check(CheckKind::InProject, CheckStatus::Failed, &error.to_string())],
    }
}

fn check(kind: CheckKind, status: CheckStatus, note: &str) -> Check {
    Check { kind, status, note: note.to_owned() }
}
