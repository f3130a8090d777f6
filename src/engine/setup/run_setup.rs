//! Everything a run works with, put together by whoever starts it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::limits::EngineLimits;
use super::next_runs::NextRuns;
use crate::engine::team::Team;
use crate::gate::{ApprovalQueue, Gate};
use crate::model::event::SessionStart;
use crate::model::{Document, Ledger, ToolName};
use crate::provider::Provider;
use crate::tools::{Registry, SharedState, TOOLS, Tool};
use crate::workspace::ProjectDir;

/// The tools of a run, by name.
pub type Toolbox = BTreeMap<ToolName, Arc<dyn Tool>>;

/// Every tool of a registry.
#[must_use]
pub fn toolbox(registry: &Registry) -> Toolbox {
    let names = TOOLS.iter().map(|entry| ToolName::new(entry.name));
    names.filter_map(|name| registry.get(&name).ok().map(|tool| (name, tool))).collect()
}

/// Everything a run works with.
#[derive(Clone)]
pub struct EngineSetup {
    /// What the session is about: the first record of a new session.
    pub session: SessionStart,
    /// Documents that come with the task; a resumed session has them in its journal.
    pub documents: Vec<Document>,
    /// Who takes part.
    pub team: Arc<Team>,
    /// Takes every fact.
    pub ledger: Arc<dyn Ledger>,
    /// Brings what tools wish for to a decision and an end.
    pub gate: Arc<Gate>,
    /// Where the person's decisions go.
    pub desk: ApprovalQueue,
    /// What agents can call.
    pub tools: Toolbox,
    /// What tools know of the session; the recorder folds every record into it, and for a resumed
    /// session has folded those of the journal.
    pub state: SharedState,
    /// Puts the runs together that follow.
    pub next_runs: Arc<dyn NextRuns>,
    /// Answers for the agents.
    pub provider: Arc<dyn Provider>,
    /// The project's folder, for listing.
    pub project: Arc<ProjectDir>,
    pub limits: EngineLimits,
}
