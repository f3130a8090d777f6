//! Begins the next run of a session: the same journal, project, board and history of changes.
//!
//! Owns when that is possible. What the run is made of is put together by whoever started the
//! session.

use std::path::PathBuf;
use std::sync::Arc;

use super::shared::Shared;
use crate::engine::setup::{AgentSlots, NextRun, NextRuns, Toolbox};
use crate::gate::{ApprovalQueue, Gate};
use crate::model::event::RunStart;
use crate::model::{Event, ModelEvent, SessionEvent, UserError};
use crate::tools::SharedState;

/// How errors begin that keep a run from starting.
const CANNOT_START: &str = "Cannot start";

/// Characters of a request in such an error.
const MOST_WORDS: usize = 80;

/// What the next run is made of.
pub(in crate::engine) struct NextRunParts {
    pub runs: Arc<dyn NextRuns>,
    /// Knows what the run before has changed.
    pub state: SharedState,
    /// What agents can call.
    pub tools: Toolbox,
    /// The project's folder.
    pub project: PathBuf,
    /// How to get the model that the session began with.
    pub provider: String,
}

impl NextRunParts {
    /// Puts the next run together.
    ///
    /// # Errors
    /// When a run or an effect on a board is under way, the project is gone, or team and model do
    /// not fit.
    pub fn check(
        &self,
        shared: &Shared,
        gate: &Gate,
        task: &str,
        team: Option<&str>,
    ) -> Result<NextRun, UserError> {
        let cannot = |why: String, fix: &str| UserError::new("Cannot start the task", why, fix);
        if shared.progress().ended().is_none() {
            let why = "the run before it is not over yet".to_owned();
            return Err(cannot(why, "Wait for its end, or stop it."));
        }
        if gate.is_at_board() {
            let why = "a board is being written or read".to_owned();
            return Err(cannot(why, "Wait until that is done."));
        }
        if !self.project.is_dir() {
            let why = format!("the project folder {} is gone", self.project.display());
            return Err(cannot(why, "Restore the folder, or start a new session."));
        }
        let provider = shared.progress().provider().unwrap_or(&self.provider).to_owned();
        self.runs.prepare(task, team, &provider)
    }

    /// The error of a request that cannot be started, with the request's words: nothing else records
    /// them.
    pub fn not_started(task: &str, error: UserError) -> UserError {
        let words = task.split_whitespace().collect::<Vec<_>>().join(" ");
        let cut = words.char_indices().nth(MOST_WORDS).map_or(words.len(), |(at, _)| at);
        let more = if cut < words.len() { "…" } else { "" };
        let UserError { what, why, fix } = error;
        let reason = match what.strip_prefix(CANNOT_START) {
            None => format!("{what}: {why}"),
            Some(rest) => match rest.strip_prefix(": ") {
                Some(rest) => format!("{rest}: {why}"),
                None => why,
            },
        };
        UserError { what: format!("Not started: “{}{more}”", &words[..cut]), why: reason, fix }
    }

    /// Begins it.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn begin(
        &self,
        shared: &Shared,
        desk: &ApprovalQueue,
        task: String,
        next: NextRun,
    ) -> Result<(), UserError> {
        shared.record_resumption()?;
        if let Some(model) = next.model {
            shared.replace_provider(model.provider);
            let (provider, label) = (model.chosen.provider, model.chosen.label);
            shared.record(Event::Model(ModelEvent::Chosen { provider, label }))?;
        }
        shared.replace_agents(AgentSlots::new(&next.team, &self.tools));
        shared.stop.renew();
        desk.open_again();
        let changed = self.state.snapshot().changed_files().iter().cloned().collect();
        let team = next.team.name.clone();
        shared.progress().expect_run(next.team);
        shared.record_with(|progress| {
            let (number, why) = (progress.runs() + 1, next.why);
            let start = RunStart { number, task, team, why, changed };
            Some(Event::Session(SessionEvent::RunStarted(Box::new(start))))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_does_not_start_is_named_with_its_reason() {
        let not_started = |what: &str, task: &str| {
            let error =
                NextRunParts::not_started(task, UserError::new(what, "it is gone", "Wait."));
            (error.what, error.why)
        };
        let words = "Not started: “blink twice”".to_owned();
        for (what, why) in [
            ("Cannot start the task", "it is gone"),
            ("Cannot start: no model can do this task", "no model can do this task: it is gone"),
            ("Cannot read a.toml", "Cannot read a.toml: it is gone"),
        ] {
            assert_eq!(not_started(what, "blink\n twice"), (words.clone(), why.to_owned()));
        }
        let long = not_started("Cannot start", &"é".repeat(200)).0;
        assert_eq!(long.chars().count(), "Not started: “…”".chars().count() + MOST_WORDS);
    }
}
