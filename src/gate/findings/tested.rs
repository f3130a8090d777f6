//! What the tests said that an agent ran with exactly this content, before it was proposed.

use super::Subject;
use crate::model::{Check, CheckKind, Finding, FindingLevel, ProjectPath};

/// The check of a file that tests ran with; `None` when none ran with this content.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Check> {
    let tests = subject.context.tests_of(path, subject.content)?;
    let level = if tests.has_passed { FindingLevel::Note } else { FindingLevel::Warning };
    let mut finding = Finding::new(level, tests.summary.clone());
    if !tests.has_passed {
        finding = finding.advice("The tests ran with this content; see the tab Tests of the logs.");
    }
    Some(Check::with(CheckKind::Tests, vec![finding]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::FindingsContext;
    use super::*;
    use crate::model::{CallId, ContentHash, Draft, DraftChange, Event, TurnEvent, TurnId};

    fn context(content: &[u8], passed: u32, failed: u32) -> FindingsContext {
        let mut context = FindingsContext::default();
        let hash = ContentHash::of(content).to_string();
        let result = json!({
            "ok": failed == 0,
            "counts": { "passed": passed, "failed": failed, "errors": 0, "skipped": 0 },
            "with": [{ "file_name": "ring.py", "sha256": hash }],
        });
        let (turn, call, args) = (TurnId(1), CallId(1), json!({}));
        context.observe(&Event::Turn(TurnEvent::ToolCalled {
            turn,
            call,
            tool: "run_tests".into(),
            args,
        }));
        context.observe(&Event::Turn(TurnEvent::ToolAnswered { call, result, millis: 1 }));
        context
    }

    fn reported(context: &FindingsContext, content: &[u8]) -> Option<(FindingLevel, String)> {
        let folder = tempfile::tempdir().unwrap();
        let project_dir = crate::workspace::ProjectDir::open(folder.path()).unwrap();
        let path = ProjectPath::new("ring.py").unwrap();
        let change = DraftChange::Save { path, base: None, content: content.to_vec() };
        let draft = Draft { change, reason: String::new(), checks: Vec::new() };
        let made = crate::gate::examine(&project_dir, vec![draft], context);
        let check = made[0].checks.iter().find(|check| check.kind == CheckKind::Tests)?;
        Some((check.findings[0].level, check.findings[0].text.clone()))
    }

    #[test]
    fn tests_that_ran_with_this_content_are_reported_and_others_are_not() {
        let passed = context(b"size = 5\n", 7, 0);
        let note = Some((FindingLevel::Note, "7 tests passed with this content".to_owned()));
        assert_eq!(reported(&passed, b"size = 5\n"), note);
        assert_eq!(reported(&passed, b"size = 6\n"), None);
        let failed = context(b"size = 5\n", 5, 2);
        let warning =
            Some((FindingLevel::Warning, "2 of 7 tests failed with this content".to_owned()));
        assert_eq!(reported(&failed, b"size = 5\n"), warning);
        assert_eq!(reported(&FindingsContext::default(), b"size = 5\n"), None);
    }
}
