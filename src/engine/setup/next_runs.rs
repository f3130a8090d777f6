//! What the runs are made of that follow the first one of a session.

use std::sync::Arc;

use crate::engine::team::Team;
use crate::model::UserError;
use crate::provider::{ChosenModel, Provider};

/// Puts together the runs that follow in a session.
pub trait NextRuns: Send + Sync {
    /// Team and model for a task; the team that fits the project when none is named. `provider`:
    /// what answers now, as [`ChosenModel::provider`] names it.
    ///
    /// # Errors
    /// When the team does not fit, the project is gone, or no model can do it.
    fn prepare(&self, task: &str, team: Option<&str>, provider: &str)
    -> Result<NextRun, UserError>;

    /// The team of an earlier run, by its name.
    ///
    /// # Errors
    /// When there is none of that name any more.
    fn team(&self, name: &str) -> Result<Arc<Team>, UserError>;
}

/// A run that follows.
pub struct NextRun {
    /// Who takes part.
    pub team: Arc<Team>,
    /// Why this team, in a few words.
    pub why: String,
    /// Another model than the one that answered before.
    pub model: Option<NextModel>,
}

/// A model that answers from a run on.
pub struct NextModel {
    /// Answers for the agents.
    pub provider: Arc<dyn Provider>,
    pub chosen: ChosenModel,
}
