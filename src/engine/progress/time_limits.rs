//! How long what is under way may go on, and why it is cut off.
//!
//! Must not read a clock: what was worked is told to the fold.

use std::time::Duration;

use super::lanes::LaneId;
use super::run_progress::RunProgress;
use crate::engine::attempt::Move;
use crate::model::TurnStop;

/// Why the open turn of a chat ends before its agent is done: the budget that is used up.
pub(in crate::engine) fn cut(run: &RunProgress, id: LaneId) -> Option<String> {
    let (lane, phase) = run.lane(id)?;
    let asks = matches!(lane.attempt.next(phase), Move::AskModel);
    asks.then(|| run.budget_meter.cut(id)).flatten()
}

/// How long the open turn of a chat may work on; `None`: as long as it takes.
pub(in crate::engine) fn time_left(run: &RunProgress, id: LaneId) -> Option<Duration> {
    let lane = run.lane(id);
    let condition = lane.and_then(|(lane, phase)| phase.terminate.time_left(&lane.attempt.facts));
    run.budget_meter.time_left(id).into_iter().chain(condition).min()
}

/// How long whatever is under way may take.
pub(in crate::engine) fn least_time_left(run: &RunProgress) -> Option<Duration> {
    let of_chats = run.lanes().filter_map(|(id, ..)| time_left(run, id));
    of_chats.chain(run.budget_meter.time_left(LaneId::default())).min()
}

/// Which time of a chat is over, and how its open turn ends for it.
pub(in crate::engine) fn time_over(run: &RunProgress, id: LaneId) -> (String, TurnStop) {
    if let Some(what) = run.budget_meter.session_reached() {
        let why = format!("the budget of the session is used up: {what}");
        return (why, TurnStop::Interrupted);
    }
    let lane = run.lane(id);
    let met = || lane.and_then(|(lane, phase)| phase.terminate.met(&lane.attempt.facts));
    if let Some(why) = run.budget_meter.phase_reached().or_else(met) {
        return (why.clone(), TurnStop::Terminated(why));
    }
    let cut = run.budget_meter.cut(id);
    (cut.unwrap_or_else(|| "its time is over".to_owned()), TurnStop::Done)
}
