//! Tests of the timeline.

use std::fs;

use crate::model::{
    AgentName, Batch, BatchId, BlobRef, CallId, Change, ContentHash, Event, PersonEvent,
    ProjectPath, Proposal, ProposalEvent, ProposalId, TurnEvent, TurnId,
};

use super::*;

fn proposal(id: u32) -> Event {
    let content = BlobRef { hash: ContentHash::of(b"x"), bytes: 1 };
    let path = ProjectPath::new("main/a.c").unwrap();
    Event::Proposal(ProposalEvent::Made(Box::new(Proposal {
        id: ProposalId(id),
        turn: TurnId(1),
        call: CallId(1),
        agent: "A".into(),
        tool: "generate_code".into(),
        reason: String::new(),
        batch: Batch { id: BatchId(1), index: 1, of: 1 },
        change: Change::Save { path, base: None, content },
        checks: vec![],
        facts: crate::model::Facts::default(),
    })))
}

fn turn(turn: u32) -> Event {
    Event::Turn(TurnEvent::Started { turn: TurnId(turn), agent: AgentName::from("A"), step: None })
}

fn text_added(turn: u32, number: usize) -> Event {
    Event::Turn(TurnEvent::TextAdded { turn: TurnId(turn), text: format!("{number} ") })
}

/// A session with these events at these moments, in milliseconds.
fn session(events: Vec<(i64, Event)>) -> (tempfile::TempDir, SessionDir, Vec<Record>) {
    let data = tempfile::tempdir().unwrap();
    let dir = SessionDir::create(data.path(), "test", Timestamp(0)).unwrap();
    let records: Vec<Record> = (1..)
        .zip(events)
        .map(|(seq, (at, event))| Record { v: 1, seq: Seq(seq), at: Timestamp(at), event })
        .collect();
    let lines = records.iter().map(|record| serde_json::to_string(record).unwrap() + "\n");
    fs::write(dir.journal(), lines.collect::<String>()).unwrap();
    (data, dir, records)
}

fn position(timeline: &Timeline) -> u64 {
    assert_eq!(timeline.view().seq, timeline.state().position);
    timeline.state().position.0
}

fn after(start: Instant, millis: u64) -> Instant {
    start + Duration::from_millis(millis)
}

#[test]
fn plays_in_recorded_time_with_long_pauses_shortened() {
    let moments = [1000, 1100, 1100, 1400, 90_000, 90_100];
    let events = moments.iter().enumerate().map(|(n, at)| (*at, text_added(1, n))).collect();
    let (_data, dir, _) = session(events);
    let mut timeline = Timeline::open(&dir).unwrap();
    assert_eq!(position(&timeline), 6);
    let start = Instant::now();
    timeline.command(TimelineCommand::TogglePlay, start).unwrap();
    assert_eq!(position(&timeline), 1, "at the end it plays from the start");
    assert_eq!(timeline.wait().unwrap(), Some(Duration::from_millis(100)));
    assert_eq!(timeline.advance(after(start, 99)).unwrap(), FeedChange::Unchanged);
    assert_eq!(timeline.wait().unwrap(), Some(Duration::from_millis(1)));
    assert_eq!(timeline.advance(after(start, 100)).unwrap(), FeedChange::Changed);
    assert_eq!(position(&timeline), 3, "two records of one moment come together");
    timeline.command(TimelineCommand::Faster, after(start, 100)).unwrap();
    timeline.advance(after(start, 250)).unwrap();
    assert_eq!(position(&timeline), 4, "300 ms pass in 150 at double speed");
    timeline.advance(after(start, 749)).unwrap();
    assert_eq!(position(&timeline), 4);
    timeline.advance(after(start, 750)).unwrap();
    assert_eq!(position(&timeline), 5, "a pause of 88 s lasts one second, halved");
    timeline.advance(after(start, 5000)).unwrap();
    assert_eq!(position(&timeline), 6);
    timeline.advance(after(start, 5001)).unwrap();
    assert_eq!(timeline.state().playback, Playback::Held);
    assert_eq!(timeline.wait().unwrap(), None);
}

#[test]
fn holding_keeps_the_place() {
    let events = (0..10).map(|n| (i64::from(n) * 100, text_added(1, 0))).collect();
    let (_data, dir, _) = session(events);
    let mut timeline = Timeline::open(&dir).unwrap();
    let start = Instant::now();
    timeline.command(TimelineCommand::Start, start).unwrap();
    timeline.command(TimelineCommand::TogglePlay, start).unwrap();
    timeline.advance(after(start, 200)).unwrap();
    timeline.command(TimelineCommand::TogglePlay, after(start, 250)).unwrap();
    assert_eq!(timeline.advance(after(start, 9000)).unwrap(), FeedChange::Unchanged);
    assert_eq!(position(&timeline), 3);
    timeline.command(TimelineCommand::TogglePlay, after(start, 9000)).unwrap();
    assert_eq!(timeline.advance(after(start, 9050)).unwrap(), FeedChange::Unchanged);
}

#[test]
fn a_flood_is_folded_in_bounded_pieces() {
    let (_data, dir, _) = session((0..9_000).map(|n| (5, text_added(1, n))).collect());
    let mut timeline = Timeline::open(&dir).unwrap();
    let start = Instant::now();
    timeline.command(TimelineCommand::TogglePlay, start).unwrap();
    let mut places = vec![];
    while timeline.advance(start).unwrap() == FeedChange::ChangedAndMore {
        places.push(position(&timeline));
    }
    assert_eq!(places, [4_001, 8_001]);
    assert_eq!(position(&timeline), 9_000);
}

#[test]
fn steps_by_event_turn_and_proposal_and_stays_inside() {
    use Direction::{Back, Forward};
    let events = vec![
        turn(1),
        text_added(1, 1),
        proposal(1),
        turn(2),
        text_added(2, 1),
        proposal(2),
        Event::Person(PersonEvent::Paused),
    ];
    let (_data, dir, _) = session((0..).zip(events).collect());
    let mut timeline = Timeline::open(&dir).unwrap();
    let now = Instant::now();
    let mut go = |command| {
        timeline.command(command, now).unwrap();
        position(&timeline)
    };
    assert_eq!(go(TimelineCommand::StepEvent(Back)), 6);
    assert_eq!(go(TimelineCommand::StepEvent(Forward)), 7);
    assert_eq!(go(TimelineCommand::StepEvent(Forward)), 7);
    assert_eq!(go(TimelineCommand::StepTurn(Back)), 4);
    assert_eq!(go(TimelineCommand::StepTurn(Back)), 1);
    assert_eq!(go(TimelineCommand::StepTurn(Back)), 1);
    assert_eq!(go(TimelineCommand::StepEvent(Back)), 1);
    assert_eq!(go(TimelineCommand::StepProposal(Forward)), 3);
    assert_eq!(go(TimelineCommand::StepProposal(Forward)), 6);
    assert_eq!(go(TimelineCommand::StepProposal(Forward)), 6);
    assert_eq!(go(TimelineCommand::StepProposal(Back)), 3);
    assert_eq!(go(TimelineCommand::Seek(Seq(99))), 7);
    assert_eq!(go(TimelineCommand::SeekTime(Timestamp(4))), 5);
    assert_eq!(go(TimelineCommand::SeekTime(Timestamp(-1))), 1);
    assert_eq!(go(TimelineCommand::Start), 1);
}

#[test]
fn every_place_of_a_long_session_is_the_fold_up_to_it() {
    let event = |n: usize| match n % 40 {
        0 => turn(u32::try_from(n).unwrap()),
        _ => text_added(u32::try_from(n / 40 * 40).unwrap(), n),
    };
    let (_data, dir, records) =
        session((0..7_000).map(|n| (i64::try_from(n).unwrap() * 3, event(n))).collect());
    let mut timeline = Timeline::open(&dir).unwrap();
    let now = Instant::now();
    let targets = [6_999, 6_998, 6_990, 2_000, 2_001, 1_999, 4_500, 4_400, 6_000, 1, 0, 3_000];
    for target in targets {
        timeline.command(TimelineCommand::Seek(Seq(target)), now).unwrap();
        let mut expected = SessionView::default();
        let upto = usize::try_from(target).unwrap();
        records[..upto].iter().for_each(|record| expected.apply(record));
        assert!(*timeline.view() == expected, "at {target}");
    }
}

#[test]
fn damaged_lines_are_counted_and_passed_over() {
    let (_data, dir, _) =
        session((0..5).map(|n| (n, Event::Person(PersonEvent::Paused))).collect());
    let text = fs::read_to_string(dir.journal()).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines[2] = "{\"v\":1,\"seq\":3,\u{1b}[2J";
    fs::write(dir.journal(), lines.join("\n") + "\n{\"v\":1,").unwrap();
    let mut timeline = Timeline::open(&dir).unwrap();
    assert_eq!((timeline.state().damaged, timeline.damage()[0].line), (1, 3));
    assert!(!timeline.damage()[0].preview.contains('\u{1b}'));
    let now = Instant::now();
    timeline.command(TimelineCommand::Seek(Seq(3)), now).unwrap();
    assert_eq!(position(&timeline), 2);
    timeline.command(TimelineCommand::StepEvent(Direction::Forward), now).unwrap();
    assert_eq!(position(&timeline), 4);
    timeline.command(TimelineCommand::StepEvent(Direction::Back), now).unwrap();
    assert_eq!(position(&timeline), 2);
}

#[test]
fn an_empty_session_stands_still() {
    let (_data, dir, _) = session(vec![]);
    let mut timeline = Timeline::open(&dir).unwrap();
    let now = Instant::now();
    for command in [
        TimelineCommand::Start,
        TimelineCommand::End,
        TimelineCommand::StepEvent(Direction::Back),
        TimelineCommand::StepEvent(Direction::Forward),
        TimelineCommand::StepTurn(Direction::Back),
        TimelineCommand::SeekTime(Timestamp(7)),
        TimelineCommand::TogglePlay,
    ] {
        timeline.command(command, now).unwrap();
        assert_eq!(position(&timeline), 0);
    }
    timeline.advance(after(now, 100)).unwrap();
    assert_eq!(timeline.state().playback, Playback::Held);
}
