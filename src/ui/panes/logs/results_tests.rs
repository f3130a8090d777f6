//! The tabs Tests and Analysis as a person uses them.

use std::sync::Arc;

use insta::assert_snapshot;

use super::super::pane_bench::{PaneBench, SessionStore};
use super::*;
use crate::model::*;
use crate::ui::action::Action;
use crate::ui::pane::{Effect, FilePlace, Pane as _};

fn pane(bench: &PaneBench) -> LogsPane {
    let store = Arc::clone(&bench.store);
    LogsPane::new(Arc::<SessionStore>::clone(&store), store)
}

/// A run in which these tests failed, and `test_add` passed.
fn run(bench: &mut PaneBench, number: u32, failed: &[&str]) {
    let log = LogId { kind: LogKind::Test, number };
    let (run, command) = (TestRunId(number), "tests in Python · all".to_owned());
    bench.record(Event::Test(TestEvent::Started { run, log, command }));
    let mut report =
        TestReport { framework: "pytest 8.3".into(), millis: 1_250, ..TestReport::default() };
    let wrong = failed.iter().map(|name| TestCase {
        millis: 12,
        message: "assert 3 == 4".into(),
        file: Some("test/test_ring.py".into()),
        line: Some(21),
        output: "def test_full():\n>   assert ring.size == 4\nE   assert 3 == 4\n".into(),
        ..TestCase::new(*name, TestOutcome::Failed)
    });
    report.tests = wrong.collect();
    report.tests.push(TestCase { millis: 3, ..TestCase::new("test_add", TestOutcome::Passed) });
    report.tests.iter().for_each(|test| report.counts.add(test.outcome));
    report.proposed = vec![TestedFile {
        path: ProjectPath::new("ring.py").unwrap(),
        hash: ContentHash::of(b"x"),
    }];
    bench.record(Event::Test(TestEvent::Ended { run, report: Box::new(report) }));
}

#[test]
fn failures_come_first_with_place_output_and_history() {
    let mut bench = PaneBench::new();
    run(&mut bench, 1, &["test_full", "test_add"]);
    run(&mut bench, 2, &["test_full", "test_empty"]);
    let mut pane = pane(&bench);
    let mut shown = vec![bench.show(&mut pane, 90, 14)];
    assert_eq!(pane.tab(), Tab::Tests);
    assert_eq!(pane.title(&bench.cx()).to_string(), "Build ─ Serial ─ Tests ✗2 ─ Events");
    let place = FilePlace { path: ProjectPath::new("test/test_ring.py").unwrap(), line: Some(21) };
    assert!(
        matches!(&bench.press(&mut pane, Action::Open)[..], [Effect::Preview(at)] if *at == place)
    );
    bench.press(&mut pane, Action::PreviousSource);
    shown.push(bench.show(&mut pane, 60, 8));
    assert_snapshot!(shown.join("\n"));
}

#[test]
fn keys_go_through_what_is_wrong_and_back_to_the_newest() {
    let mut bench = PaneBench::new();
    run(&mut bench, 1, &[]);
    run(&mut bench, 2, &["test_full", "test_empty"]);
    let mut pane = pane(&bench);
    bench.show(&mut pane, 80, 12);
    bench.press(&mut pane, Action::NextError);
    assert!(bench.show(&mut pane, 80, 12).contains("test_empty · failed"));
    let none = bench.press(&mut pane, Action::NextError);
    assert!(format!("{none:?}").contains("there is no other one that is wrong"));
    bench.press(&mut pane, Action::Bottom);
    assert!(bench.show(&mut pane, 80, 12).contains("test_add · passed"));
    bench.press(&mut pane, Action::PreviousSource);
    assert!(bench.show(&mut pane, 80, 12).contains("1 test passed"));
    let first = bench.press(&mut pane, Action::PreviousSource);
    assert!(format!("{first:?}").contains("this is the first one"));
    bench.press(&mut pane, Action::Back);
    assert!(bench.show(&mut pane, 80, 12).contains("2 of 3 tests failed"));
}

#[test]
fn an_analysis_has_a_tab_with_places() {
    let mut bench = PaneBench::new();
    let (turn, call, tool) = (TurnId(1), CallId(1), ToolName::new("analyze_complexity"));
    let args = serde_json::json!({ "paths": ["main/a.c"] });
    bench.record(Event::Turn(TurnEvent::ToolCalled { turn, call, tool, args }));
    let result = serde_json::json!({ "ok": true, "functions": [
        { "path": "main/a.c", "function": "plain", "line": 3, "lines": 4, "cyclomatic": 1, "cognitive": 0, "nesting": 0 },
        { "path": "main/a.c", "function": "knot", "line": 9, "lines": 80, "cyclomatic": 12, "cognitive": 41, "nesting": 5 },
    ] });
    bench.record(Event::Turn(TurnEvent::ToolAnswered { call, result, millis: 7 }));
    let mut pane = pane(&bench);
    assert_eq!(pane.title(&bench.cx()).to_string(), "Build ─ Serial ─ Analysis 1 ─ Events");
    pane.show(Tab::Analysis);
    assert_snapshot!(bench.show(&mut pane, 80, 8));
    let place = FilePlace { path: ProjectPath::new("main/a.c").unwrap(), line: Some(9) };
    assert!(
        matches!(&bench.press(&mut pane, Action::Open)[..], [Effect::Preview(at)] if *at == place)
    );
}
