//! What becomes of effects on boards when the time of the run is over.

use std::sync::Weak;

use super::*;
use crate::gate::WorkTime;
use crate::model::{BoardEvent, ProposalEvent};

/// A run that has so much time.
pub(super) struct Run {
    left: Option<Duration>,
    worked: Mutex<Duration>,
}

impl WorkTime for Run {
    fn left(&self) -> Option<Duration> {
        self.left.map(|left| left.saturating_sub(*self.worked.lock().unwrap()))
    }

    fn worked(&self, time: Duration) {
        *self.worked.lock().unwrap() += time;
    }
}

pub(super) fn run(world: &GateBench, left: Option<Duration>) -> Arc<Run> {
    let run = Arc::new(Run { left, worked: Mutex::default() });
    let time: Weak<dyn WorkTime> = Arc::<Run>::downgrade(&run);
    world.gate.bound_by(time);
    run
}

#[tokio::test]
async fn a_flash_ends_when_the_time_of_the_run_is_over() {
    let world = GateBench::asking();
    let run = run(&world, Some(Duration::from_millis(300)));
    *world.bench.is_slow.lock().unwrap() = true;
    let task = world.submit(vec![flash(true, false)]);
    world.on_desk(1).await;
    // The person may think for as long as they like.
    tokio::time::sleep(Duration::from_millis(400)).await;
    world.decide(1, Verdict::Approve);
    let patience = Duration::from_secs(30);
    let settled = tokio::time::timeout(patience, task).await.expect("it went on").unwrap();
    let [Outcome::Interrupted(words)] = &outcomes(settled)[..] else { panic!("not interrupted") };
    assert!(words.contains("time of the run") && words.contains("unknown"), "{words}");
    let worked = *run.worked.lock().unwrap();
    assert!(worked >= Duration::from_millis(300), "{worked:?}");
    let reported = world.events().into_iter().filter_map(|event| match event {
        Event::Proposal(ProposalEvent::Settled { outcome, .. }) => Some(outcome),
        _ => None,
    });
    assert_eq!(reported.collect::<Vec<_>>(), [Outcome::Interrupted(words.clone())]);
    assert!(
        !world.events().iter().any(|event| matches!(event, Event::Board(BoardEvent::Connected(_))))
    );
}

#[tokio::test]
async fn a_flash_that_is_done_in_time_is_applied_and_its_time_counts() {
    for left in [None, Some(Duration::from_secs(60))] {
        let world = GateBench::asking();
        let _run = run(&world, left);
        assert_eq!(world.approved_one(flash(true, false)).await, Outcome::Applied);
    }
}
