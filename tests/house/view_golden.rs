//! The view of a running session is the view of its replay, at every sequence number.

use std::collections::BTreeSet;
use std::time::Instant;

use crate::events::{ADDED, LAST_KIND, ORDER, event, kind, log};
use firmhand::app::{FeedChange, Live, Timeline};
use firmhand::engine::Recorder;
use firmhand::journal::{JournalReader, ReadItem, SessionDir};
use firmhand::model::LogEvent;
use firmhand::model::*;
use firmhand::view::SessionView;
use proptest::prelude::*;
use tokio::sync::watch;

/// What happens to a session.
#[derive(Debug, Clone)]
enum Step {
    Record(Box<Event>),
    Log(LogId, Vec<u8>),
    /// The program ends and opens the session again.
    Reopen,
}

/// What was given to the recorder, and what a screen beside it showed.
#[derive(Default)]
struct Recorded {
    /// The events that were given, in order, without the growth of logs.
    given: Vec<Event>,
    /// The running session's view after each step.
    shown: Vec<SessionView>,
}

/// Records the steps while a feed follows.
fn record(dir: &SessionDir, steps: &[Step]) -> Recorded {
    let mut recorder = Recorder::create(dir.clone()).unwrap();
    let mut live = Live::open(dir, recorder.subscribe()).unwrap();
    let mut recorded = Recorded::default();
    for step in steps {
        match step {
            Step::Record(event) => {
                recorder.record(Event::clone(event)).unwrap();
                recorded.given.push(Event::clone(event));
            }
            Step::Log(log, bytes) => recorder.append_log(*log, bytes).unwrap(),
            Step::Reopen => {
                drop(recorder);
                recorder = Recorder::reopen(dir.clone()).unwrap().0;
                live = Live::open(dir, recorder.subscribe()).unwrap();
            }
        }
        live.pull().unwrap();
        assert_eq!(live.view().seq, *recorder.subscribe().borrow());
        recorded.shown.push(live.view().clone());
    }
    recorded
}

/// The views after each record: folded from the events as they were given, never having been
/// JSON. Growth of logs that the recorder added is taken from the journal.
fn expected(dir: &SessionDir, given: Vec<Event>) -> Vec<SessionView> {
    let mut reader = JournalReader::open(&dir.journal()).unwrap();
    let mut given = given.into_iter().peekable();
    let mut views = vec![SessionView::default()];
    while let Some(item) = reader.next_item().unwrap() {
        let ReadItem::Record(mut record) = item else { panic!("{item:?}") };
        match given.peek() {
            Some(event) if kind(event) == kind(&record.event) && *event == record.event => {
                record.event = given.next().unwrap();
            }
            _ => assert!(matches!(record.event, Event::Log(LogEvent::Grew { .. })), "{record:?}"),
        }
        let mut view = views.last().unwrap().clone();
        view.apply(&record);
        assert_eq!(view.seq, Seq(views.len() as u64));
        views.push(view);
    }
    assert_eq!(given.next(), None, "an event was lost");
    views
}

/// Live: the journal grows by half a line at a time while a feed follows it.
fn check_live(dir: &SessionDir, expected: &[SessionView]) {
    let (publish, published) = watch::channel(Seq(0));
    let whole = std::fs::read(dir.journal()).unwrap();
    std::fs::write(dir.journal(), "").unwrap();
    let mut live = Live::open(dir, published).unwrap();
    let mut written = Vec::new();
    for (line, (seq, expected)) in
        whole.split_inclusive(|&b| b == b'\n').zip(expected.iter().enumerate().skip(1))
    {
        // Half a record is there, published or not; nothing of it may show.
        written.extend_from_slice(&line[..line.len() / 2]);
        std::fs::write(dir.journal(), &written).unwrap();
        publish.send_replace(Seq(seq as u64));
        assert_eq!(live.pull().unwrap(), FeedChange::Unchanged);
        written.extend_from_slice(&line[line.len() / 2..]);
        std::fs::write(dir.journal(), &written).unwrap();
        assert_eq!(live.pull().unwrap(), FeedChange::Changed);
        assert_eq!(live.view(), expected, "live at {seq}");
        assert_eq!(live.pull().unwrap(), FeedChange::Unchanged);
    }
    assert_eq!(written, whole);
}

/// Replay: to every place from the end, from the start, and by leaps.
fn check_replay(dir: &SessionDir, expected: &[SessionView]) {
    let mut timeline = Timeline::open(dir).unwrap();
    let last = expected.len() - 1;
    assert_eq!(timeline.view(), &expected[last]);
    let leaps = (0..=last).map(|n| n * 7 % (last + 1));
    let now = Instant::now();
    for seq in (0..=last).rev().chain(0..=last).chain(leaps) {
        timeline.command(TimelineCommand::Seek(Seq(seq as u64)), now).unwrap();
        assert_eq!(timeline.view(), &expected[seq], "replayed at {seq}");
    }
    timeline.command(TimelineCommand::End, now).unwrap();
    for view in expected.iter().skip(1).rev().skip(1) {
        timeline.command(TimelineCommand::StepEvent(Direction::Back), now).unwrap();
        assert_eq!(timeline.view(), view);
    }
    for view in expected.iter().skip(2) {
        timeline.command(TimelineCommand::StepEvent(Direction::Forward), now).unwrap();
        assert_eq!(timeline.view(), view);
    }
}

fn check(steps: &[Step]) {
    let data = tempfile::tempdir().unwrap();
    let dir = SessionDir::create(data.path(), "golden", Timestamp(0)).unwrap();
    let Recorded { given, shown } = record(&dir, steps);
    let views = expected(&dir, given);
    for view in shown {
        let seq = usize::try_from(view.seq.0).unwrap();
        assert_eq!(view, views[seq], "shown beside the recorder at {seq}");
    }
    check_live(&dir, &views);
    check_replay(&dir, &views);
}

/// Every kind of event, in an order that makes sense, every variation of each.
fn scenario() -> Vec<Step> {
    let mut steps = Vec::new();
    for variant in 0..crate::events::boards::VARIANTS.end {
        for kind in ORDER.into_iter().chain(ADDED.into_iter().flatten().copied()) {
            steps.push(Step::Record(Box::new(event(kind, variant, variant / 2 + 1))));
        }
        steps.push(Step::Log(log(variant, 1), b"line\n".repeat(3)));
        if variant % 4 == 3 {
            steps.push(Step::Reopen);
        }
    }
    steps
}

#[test]
fn live_and_replayed_views_agree_on_every_kind_of_event() {
    let steps = scenario();
    let kinds: BTreeSet<usize> = steps
        .iter()
        .filter_map(|step| match step {
            Step::Record(event) => Some(kind(event)),
            Step::Log(..) | Step::Reopen => None,
        })
        .collect();
    assert_eq!(kinds, (0..=LAST_KIND).collect(), "the scenario leaves kinds of events out");
    check(&steps);
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => (0..=LAST_KIND, 0..15u32, 1..5u32)
            .prop_map(|(kind, variant, number)| Step::Record(Box::new(event(kind, variant, number)))),
        2 => (0..2u32, proptest::collection::vec(any::<u8>(), 0..50))
            .prop_map(|(kind, bytes)| Step::Log(log(kind, 1), bytes)),
        1 => Just(Step::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn live_and_replayed_views_agree_on_any_events(steps in proptest::collection::vec(step(), 0..60)) {
        check(&steps);
    }
}
