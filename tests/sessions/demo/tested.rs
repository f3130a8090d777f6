//! A team that writes a failing test, sees it fail, fixes the code and sees it pass before anything is
//! proposed: with the compiler of this machine, in the sandbox.

use firmhand::model::{
    Artifact, ArtifactKind, CheckKind, Event, FindingLevel, ProposalEvent, SessionOutcome,
    TeamEvent, TestEvent, TestOutcome, TestReport,
};
use firmhand::view::SessionView;

use super::stage::{Nobody, Stage};
use super::whole::stage;

fn reports(stage: &Stage) -> Vec<TestReport> {
    let ended = stage.events().into_iter().filter_map(|event| match event {
        Event::Test(TestEvent::Ended { report, .. }) => Some(*report),
        _ => None,
    });
    ended.collect()
}

#[test]
fn a_test_fails_and_passes_before_anything_is_saved() {
    let stage = stage().playing("test-first").allowing_all();
    assert_eq!(stage.play(Nobody), SessionOutcome::Completed, "{:#?}", stage.events().last());
    let reports = reports(&stage);
    assert_eq!(reports.len(), 2, "{reports:?}");
    let first = &reports[0].tests[0];
    assert_eq!((first.outcome, first.line), (TestOutcome::Failed, Some(8)), "{first:?}");
    assert!(first.message.contains("Expected 2150 Was 537"), "{first:?}");
    assert!(reports[1].has_passed() && reports[1].counts.passed == 2, "{:?}", reports[1]);
    assert_eq!(reports[1].proposed.len(), 3);
    let events = stage.events();
    let place = |is: fn(&Event) -> bool| events.iter().position(is).unwrap();
    let last_tests = events.iter().rposition(|e| matches!(e, Event::Test(TestEvent::Ended { .. })));
    let proposed = place(|event| matches!(event, Event::Proposal(ProposalEvent::Made(_))));
    assert!(last_tests.unwrap() < proposed, "something was proposed before the tests passed");
    assert!(stage.file("test/test_average.c").contains("test_four_readings_count"));
}

#[test]
fn the_result_is_told_next_to_each_file_that_was_tested_and_on_the_blackboard() {
    let stage = stage().playing("test-first").allowing_all();
    stage.play(Nobody);
    let mut tested = Vec::new();
    let mut artifacts: Vec<Artifact> = Vec::new();
    for event in stage.events() {
        if let Event::Proposal(ProposalEvent::Made(proposal)) = &event
            && let Some(check) = proposal.checks.iter().find(|c| c.kind == CheckKind::Tests)
        {
            assert_eq!(check.findings[0].level, FindingLevel::Note);
            assert_eq!(check.findings[0].text, "2 tests passed with this content");
            tested.push(proposal.change.path().unwrap().to_string());
        }
        if let Event::Team(TeamEvent::ArtifactPosted(artifact)) = event {
            artifacts.push(artifact);
        }
    }
    tested.sort();
    let expected = [
        "components/report/average.c",
        "components/report/include/average.h",
        "test/test_average.c",
    ];
    assert_eq!(tested, expected);
    let tests = artifacts.iter().filter(|artifact| artifact.kind == ArtifactKind::Tests);
    let titles: Vec<&str> = tests.map(|artifact| artifact.title.as_str()).collect();
    assert_eq!(titles, ["1 test failed", "2 tests passed"]);
}

#[test]
fn a_replay_shows_the_runs_and_their_history() {
    let stage = stage().playing("test-first").allowing_all();
    stage.play(Nobody);
    let mut view = SessionView::default();
    stage.records().iter().for_each(|record| view.apply(record));
    let runs = &view.logs.tests.runs;
    assert_eq!(runs.len(), 2);
    assert!(runs[1].bytes > 0);
    assert_eq!(runs[1].report.as_ref().unwrap().summary(), "2 tests passed");
    let history = view.logs.tests.history(runs[1].run, "test_the_first_reading_is_the_average");
    assert_eq!(history, [TestOutcome::Failed, TestOutcome::Passed]);
}
