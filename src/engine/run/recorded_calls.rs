//! Takes up the calls that an earlier start of the program left unanswered although proposals of
//! them are recorded.
//!
//! The recorded proposals come first: such a call is answered with what became of them, whatever
//! its tool would say now that some of them may be carried out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::secrets::secret_in;
use super::tool_run::{ToolRun, call_error};
use crate::engine::progress::lanes::LaneId;
use crate::engine::progress::time_limits::time_left;
use crate::gate::{Gate, ProposalOrigin, Recorded};
use crate::model::{CallId, Draft, Proposal, UserError};
use crate::tools::{Finish, Reply, Tool, plain_finish};

/// How long the answer may take of a tool that no longer exists.
const ANSWER: Duration = Duration::from_secs(5);

/// Proposals from before a restart whose calls have no answer yet.
pub(super) struct RecordedCalls(Mutex<BTreeMap<CallId, Vec<Recorded>>>);

impl RecordedCalls {
    pub const fn new(recorded: BTreeMap<CallId, Vec<Recorded>>) -> Self {
        Self(Mutex::new(recorded))
    }

    /// The recorded proposals of a call; given once.
    pub fn take(&self, call: CallId) -> Vec<Recorded> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(&call).unwrap_or_default()
    }

    /// Brings the recorded proposals of a call to an end and makes its answer. `tool` is `None`
    /// when the agent may not call it any more.
    pub async fn take_up(
        &self,
        (run, lane): (&ToolRun, LaneId),
        tool: Option<Arc<dyn Tool>>,
        origin: ProposalOrigin,
        args: Value,
        mut recorded: Vec<Recorded>,
    ) -> Result<Value, UserError> {
        recorded.sort_by_key(|recorded| recorded.proposal.batch.index);
        let proposals: Vec<Proposal> = recorded.iter().map(Recorded::as_made).collect();
        let missing = missing(&proposals);
        let rest = match &tool {
            Some(tool) if missing > 0 => rest((run, lane), tool.as_ref(), &args, &proposals).await,
            Some(_) | None => None,
        };
        let is_cut = missing > 0 && rest.is_none();
        let (drafts, finish) = match (rest, &tool) {
            (Some(rest), _) => rest,
            (None, Some(tool)) => {
                let contents = run.gate.contents();
                (Vec::new(), tool.finish_recorded(&args, &proposals, contents).await)
            }
            (None, None) => (Vec::new(), plain_finish(&proposals)),
        };
        let limit = tool.map_or(ANSWER, |tool| tool.timeout());
        let settlements = run.gate.resubmit(&origin, recorded, drafts).await.map_err(call_error)?;
        let mut answer = run.answer(limit, finish, settlements).await?;
        if let (Some(answer), true) = (answer.as_object_mut(), is_cut) {
            let why = "the program ended before these were proposed; call again to propose them";
            answer.insert("not_proposed".to_owned(), json!({ "changes": missing, "why": why }));
        }
        Ok(answer)
    }

    /// Brings the proposals of calls that are never made to an end: a run that stops makes no call
    /// any more.
    pub async fn settle(&self, gate: &Gate) -> Result<(), UserError> {
        let all = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *all)
        };
        for recorded in all.into_values() {
            let Some(Recorded { proposal, .. }) = recorded.first() else { continue };
            let Proposal { turn, call, agent, tool, .. } = proposal.clone();
            let origin = ProposalOrigin { turn, call, agent, tool };
            gate.resubmit(&origin, recorded, Vec::new()).await.map_err(call_error)?;
        }
        Ok(())
    }
}

/// Makes a call again that was cut off before all of its drafts were recorded: before that
/// nothing of it was carried out. `None` when it does not lead to the same proposals any more.
async fn rest(
    (run, lane): (&ToolRun, LaneId),
    tool: &dyn Tool,
    args: &Value,
    proposals: &[Proposal],
) -> Option<(Vec<Draft>, Finish)> {
    let left = time_left(&run.shared.progress(), lane);
    let reply = run.bounded((run.limit(tool), left), tool.call(args.clone())).await;
    let Ok(Reply::Propose { drafts, finish }) = reply else { return None };
    let of = proposals.first().map_or(0, |first| first.batch.of as usize);
    let is_same = drafts.len() == of
        && proposals.iter().zip(&drafts).all(|(proposal, draft)| {
            let (change, wished) = (&proposal.change, &draft.change);
            change.path() == wished.path() && change.board() == wished.board()
        });
    (is_same && secret_in(&*run.shared.provider(), &drafts).is_none()).then_some((drafts, finish))
}

/// How many proposals of a batch were not recorded yet.
fn missing(proposals: &[Proposal]) -> usize {
    let of = proposals.first().map_or(0, |first| first.batch.of as usize);
    of.saturating_sub(proposals.len())
}
