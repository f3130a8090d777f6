//! A tool at work: no longer than it may take, and its answer once its drafts are decided.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::shared::Shared;
use crate::engine::concern::OUT_OF_TIME;
use crate::gate::{Gate, GateError};
use crate::model::{Settlement, UserError};
use crate::tools::{Finish, Tool, ToolError};

/// How long a tool may take to end once the run is stopped.
const GRACE: Duration = Duration::from_secs(5);

/// What every tool call needs of the run.
#[derive(Clone)]
pub(super) struct ToolRun {
    pub shared: Arc<Shared>,
    pub gate: Arc<Gate>,
    /// Longest time of a call that is not a build; `None`: as the tool says.
    pub most: Option<Duration>,
}

impl ToolRun {
    /// How long a call of a tool may take.
    pub(super) fn limit(&self, tool: &dyn Tool) -> Duration {
        limit(self.most, tool)
    }

    /// Lets a tool make its answer of what became of its drafts.
    pub(super) async fn answer(
        &self,
        limit: Duration,
        finish: Finish,
        settlements: Vec<Settlement>,
    ) -> Result<Value, UserError> {
        let review = self.gate.take_feedback(&settlements);
        // What was decided is done by now, and its answer must not be lost for want of time.
        let answer = self.bounded((limit, None), finish(settlements)).await;
        let mut answer = answer.unwrap_or_else(|error| error.to_answer());
        // What the person did and said beside yes or no is told with the same answer, whatever
        // the tool makes of the outcomes.
        if let (Some(answer), false) = (answer.as_object_mut(), review.is_empty()) {
            answer.insert("review".to_owned(), Value::Array(review));
        }
        Ok(answer)
    }

    /// Waits for a tool, but no longer than it may take and than there is time `left`, and hardly
    /// longer than the run goes on.
    pub(super) async fn bounded<T>(
        &self,
        (limit, left): (Duration, Option<Duration>),
        work: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        let until = left.map_or(limit, |left| left.min(limit));
        let mut work = std::pin::pin!(tokio::time::timeout(until, work));
        let done = tokio::select! {
            biased;
            done = &mut work => Some(done),
            // The tool holds the same token and ends by itself, with an orderly answer.
            () = self.shared.stop.cancelled() => tokio::time::timeout(GRACE, work).await.ok(),
        };
        match done {
            Some(Ok(result)) => result,
            Some(Err(_)) if until < limit => {
                let message = "the time that the session, the phase or the turn may take is over";
                Err(ToolError::new(OUT_OF_TIME, message, ""))
            }
            Some(Err(_)) => {
                let message = format!("no answer within {} seconds", limit.as_secs());
                Err(ToolError::new("timeout", message, "Ask for less in one call."))
            }
            None => Err(ToolError::new("stopped", "the person stopped the run", "")),
        }
    }
}

/// A build has a limit of its own in the settings, which its tool knows.
fn limit(most: Option<Duration>, tool: &dyn Tool) -> Duration {
    let most = most.filter(|_| !tool.is_build());
    most.map_or(tool.timeout(), |most| most.min(tool.timeout()))
}

pub(super) fn call_error(error: GateError) -> UserError {
    match error {
        GateError::Record(error) => error,
        GateError::Detached => UserError::new(
            "The run was closed",
            "proposals still wait for a decision",
            "Continue with `firmhand resume`.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use futures::future::BoxFuture;

    use super::*;
    use crate::model::ToolSpec;
    use crate::tools::Reply;

    struct Takes(u64, bool);

    impl Tool for Takes {
        fn spec(&self) -> ToolSpec {
            panic!("it is not called")
        }

        fn timeout(&self) -> Duration {
            Duration::from_secs(self.0)
        }

        fn is_build(&self) -> bool {
            self.1
        }

        fn call(&self, _: Value) -> BoxFuture<'_, Result<Reply, ToolError>> {
            panic!("it is not called")
        }
    }

    #[test]
    fn a_call_takes_no_longer_than_the_settings_allow_and_a_build_has_its_own_limit() {
        let seconds =
            |most: Option<u64>, tool: Takes| limit(most.map(Duration::from_secs), &tool).as_secs();
        assert_eq!(seconds(None, Takes(5, false)), 5);
        assert_eq!(seconds(Some(2), Takes(5, false)), 2);
        assert_eq!(seconds(Some(60), Takes(5, false)), 5);
        assert_eq!(seconds(Some(2), Takes(1_200, true)), 1_200);
    }
}
