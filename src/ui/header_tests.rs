//! Tests of the first row.

use super::*;
use crate::model::{Event, TurnEvent, TurnId};
use crate::ui::fixture::UiBench;

#[test]
fn how_strong_the_sandbox_is_shows_at_every_width() {
    use crate::model::SessionEvent;
    for (width, word) in [(80, "sandbox"), (120, "sandbox"), (200, "sandboxed")] {
        for (level, word) in [
            (SandboxLevel::Namespaces, word),
            (SandboxLevel::Landlock, "Landlock"),
            (SandboxLevel::None, "no sandbox"),
        ] {
            let mut fixture = UiBench::at_work(width, 24);
            let missing = Vec::new();
            fixture.record(0, Event::Session(SessionEvent::Sandboxed { level, missing }));
            fixture.sync();
            let screen = fixture.screen();
            let first = screen.lines().next().unwrap_or_default();
            assert!(first.contains(word), "{width}: {first}");
        }
    }
}

#[test]
fn nothing_moves_when_something_waits_or_another_agent_speaks() {
    for width in [80, 120, 200] {
        let mut fixture = UiBench::at_work(width, 40);
        let first =
            |fixture: &UiBench| fixture.screen().lines().next().unwrap_or_default().to_owned();
        let place = |row: &str| {
            let column = |part| row.find(part).map(|at| row[..at].chars().count());
            let parts = match width {
                // A row at the bottom of a small screen tells the phase.
                ..WIDE => ["i2c-scan", "virtual", "scripted"],
                _ => ["i2c-scan", "build & fix", "scripted"],
            };
            parts.map(column)
        };
        let before = place(&first(&fixture));
        assert!(before.iter().all(Option::is_some), "{width}: {}", first(&fixture));
        fixture.propose(1);
        fixture.sync();
        assert_eq!(place(&first(&fixture)), before, "{width}: {}", first(&fixture));
        let agent = "ACoderWithAName".into();
        fixture.record(0, Event::Turn(TurnEvent::Started { turn: TurnId(9), agent, step: None }));
        fixture.pass(70_000);
        fixture.sync();
        assert_eq!(place(&first(&fixture)), before, "{width}: {}", first(&fixture));
    }
}

/// A screen of that width at work, on which that agent has spoken for a minute.
fn at_work_with(width: u16, agent: &str) -> (UiBench, String) {
    let mut bench = UiBench::at_work(width, if width == 60 { 16 } else { 40 });
    let started = TurnEvent::Started { turn: TurnId(9), agent: agent.into(), step: None };
    let ended = TurnEvent::Ended { turn: TurnId(2), stop: crate::model::TurnStop::Done };
    bench.record(0, Event::Turn(ended));
    bench.record(0, Event::Turn(started));
    bench.sync();
    bench.pass(60_000);
    let first = bench.screen().lines().next().unwrap_or_default().to_owned();
    (bench, first)
}

#[test]
fn a_small_screen_always_says_who_works_or_what_waits() {
    let (mut bench, first) = at_work_with(60, "CodeExampleRetrieverAgent");
    assert!(first.contains("CodeExam") && first.contains('…'), "{first}");
    let (_, wider) = at_work_with(80, "CodeExampleRetrieverAgent");
    assert!(wider.contains("CodeExampleRetrieverAgent ") && wider.contains("1:00"), "{wider}");
    bench.propose(1);
    bench.sync();
    let first = bench.screen().lines().next().unwrap_or_default().to_owned();
    assert!(first.contains("CodeExam") && first.contains("1 waiting"), "{first}");
    bench.end(SessionOutcome::Completed);
    bench.sync();
    assert!(bench.screen().lines().next().unwrap().contains("completed"));
    let mut replay = UiBench::new(60, 16, Mode::Replay);
    replay.begin();
    replay.sync();
    let first = replay.screen().lines().next().unwrap_or_default().to_owned();
    assert!(first.contains("replay") && first.contains("between turns"), "{first}");
}

#[test]
fn names_give_way_only_where_there_is_no_room_for_them() {
    use crate::model::{Cost, ModelEvent, PhaseEvent, Usage};
    let (mut bench, _) = at_work_with(120, "AnswerAgent");
    bench.record(0, Event::Model(ModelEvent::Named { model: "tiny".into() }));
    let (phase, title) = ("answer".to_owned(), "answer".to_owned());
    let started = PhaseEvent::Started { phase, title, attempt: 1, max_attempts: 1, step: None };
    bench.record(0, Event::Phase(started));
    let usage = Usage { input: 9, cost: Cost(5_700_000), ..Usage::default() };
    let answered = TurnEvent::ModelAnswered { turn: TurnId(9), usage, state: None };
    bench.record(0, Event::Turn(answered));
    bench.ask();
    bench.sync();
    let first = bench.screen().lines().next().unwrap_or_default().to_owned();
    for part in ["i2c-scan", "generate", "AnswerAgent waits", "tiny", " question"] {
        assert!(first.contains(part), "{part}: {first}");
    }
}

#[test]
fn the_time_of_an_agent_is_without_that_of_the_person() {
    let (mut bench, first) = at_work_with(120, "FlashAgent");
    assert!(first.contains("FlashAgent") && first.contains("1:00"), "{first}");
    bench.ask();
    bench.pass(600_000);
    let (question, answer) = (crate::model::QuestionId(1), "Nothing".to_owned());
    let answered = crate::model::PersonEvent::Answered { question, answer };
    bench.record(600_000, Event::Person(answered));
    bench.sync();
    let first = bench.screen().lines().next().unwrap_or_default().to_owned();
    assert!(first.contains("FlashAgent") && first.contains(" 0 s"), "{first}");
}

#[test]
fn a_project_is_called_by_the_folder_that_tells_most() {
    assert_eq!(project_name("/home/me/i2c-scan/"), "i2c-scan");
    assert_eq!(project_name("/data/sessions/2026-01-02-1304-scan/project"), "scan");
    assert_eq!(project_name("/data/sessions/2026-01-02/project"), "2026-01-02");
    assert_eq!(project_name("/home/me/2026-scan"), "2026-scan");
    assert_eq!(project_name("project"), "project");
    assert_eq!(project_name("/"), "/");
}

/// The columns in which these words begin in the first row; `None` for those that are not there.
fn columns_of(bench: &UiBench, words: &[&str]) -> Vec<Option<usize>> {
    let screen = bench.screen();
    let first = screen.lines().next().unwrap_or_default();
    let column = |words: &&str| first.find(words).map(|at| first[..at].chars().count());
    words.iter().map(column).collect()
}

#[test]
fn phases_costs_and_the_end_move_nothing_and_a_model_that_is_chosen_shows() {
    use crate::model::{Cost, ModelEvent, PhaseEvent, Usage};
    for width in [80, 120, 200] {
        let mut bench = UiBench::at_work(width, 40);
        bench.record(0, Event::Model(ModelEvent::Named { model: "tiny".into() }));
        bench.sync();
        let mut parts = vec!["i2c-scan", "virtual", "sandbox", "tiny"];
        parts.extend((width >= WIDE).then_some("generate"));
        let level = SandboxLevel::Namespaces;
        let sandboxed = crate::model::SessionEvent::Sandboxed { level, missing: Vec::new() };
        bench.record(0, Event::Session(sandboxed));
        bench.sync();
        let before = columns_of(&bench, &parts);
        assert!(before.iter().all(Option::is_some), "{width}: {}", bench.screen());
        let (phase, title) = ("answer".to_owned(), "a phase with a long title".to_owned());
        let started =
            PhaseEvent::Started { phase, title, attempt: 10, max_attempts: 10, step: None };
        bench.record(0, Event::Phase(started));
        let usage = Usage { input: 41_236, cost: Cost(12_345_678_900), ..Usage::default() };
        let answered = TurnEvent::ModelAnswered { turn: TurnId(2), usage, state: None };
        bench.record(0, Event::Turn(answered));
        bench.sync();
        assert_eq!(columns_of(&bench, &parts), before, "{width}: {}", bench.screen());
        assert!(width < WIDE || columns_of(&bench, &["$12"])[0].is_some(), "{}", bench.screen());
        bench.end(SessionOutcome::Completed);
        bench.sync();
        assert_eq!(columns_of(&bench, &parts), before, "{width}: {}", bench.screen());
        bench.record(0, Event::Model(ModelEvent::Named { model: "other-one".into() }));
        bench.sync();
        let other = ["i2c-scan", "virtual", "sandbox", "other-one"];
        assert_eq!(columns_of(&bench, &other)[..], before[..4], "{width}: {}", bench.screen());
    }
}

#[test]
fn the_panes_stay_where_they_are_when_the_first_agent_speaks_and_something_is_proposed() {
    let titles = |bench: &UiBench| {
        let screen = bench.screen();
        let place = |name: &str| {
            let mut rows = screen.lines().enumerate().skip(1);
            rows.find_map(|(row, text)| Some((row, text[..text.find(name)?].chars().count())))
        };
        [place("Chat"), place("Review"), place("Project")]
    };
    let mut empty = UiBench::new(120, 40, Mode::Live);
    empty.begin();
    empty.sync();
    let before = titles(&empty);
    assert!(before.iter().all(Option::is_some), "{}", empty.screen());
    let mut bench = UiBench::at_work(120, 40);
    assert_eq!(titles(&bench), before, "{}", bench.screen());
    bench.propose(1);
    bench.sync();
    assert_eq!(titles(&bench), before, "{}", bench.screen());
}

#[test]
fn the_phase_stays_next_to_a_model_that_costs_and_the_provider_gives_way() {
    use crate::model::{Cost, ModelEvent, Usage};
    for project in ["/projects/m1", "/projects/i2c-scan-of-bus"] {
        let mut bench = UiBench::at_work(120, 40);
        bench.view.head.start.as_mut().unwrap().project = project.into();
        let model = "tiny2 (openai, local)".to_owned();
        bench.record(0, Event::Model(ModelEvent::Named { model }));
        let level = SandboxLevel::Namespaces;
        let sandboxed = crate::model::SessionEvent::Sandboxed { level, missing: Vec::new() };
        bench.record(0, Event::Session(sandboxed));
        let usage = Usage { input: 41_236, cost: Cost(12_000_000), ..Usage::default() };
        let answered = TurnEvent::ModelAnswered { turn: TurnId(2), usage, state: None };
        bench.record(0, Event::Turn(answered));
        bench.sync();
        let first = bench.screen().lines().next().unwrap_or_default().to_owned();
        for part in ["build & fix 2", "sandbox", "tiny2", "$0.0", "CodeFixerAgent"] {
            assert!(first.contains(part), "{part}: {first}");
        }
        assert!(!first.contains("openai"), "{first}");
    }
}

#[test]
fn the_number_of_attempts_is_told_where_there_is_space() {
    for (width, row, words) in [(80, 38, "fix 2/10"), (120, 0, "fix 2/10"), (200, 0, "fix 2/10")] {
        let bench = UiBench::at_work(width, 40);
        let first = bench.screen().lines().nth(row).unwrap_or_default().to_owned();
        assert!(first.contains(words), "{first}");
    }
}
