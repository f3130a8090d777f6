//! What a tool that is called from the command line wants to change: the rules of a policy file decide,
//! and what no rule allows is denied.
//!
//! Owns the temporary journal of such a call. Must not decide anything itself.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::app::machine::{Machine, now};
use crate::engine::Recorder;
use crate::gate::{ApprovalQueue, Gate, GateParts, NextNumbers, ProposalOrigin};
use crate::journal::SessionDir;
use crate::model::{AgentName, CallId, Draft, ToolName, TurnId, UserError};
use crate::tools::{Finish, Registry, Reply, ToolContext, ToolError};

/// What a change that no rule decides is denied with.
const NOBODY: &str = "no rule of the policy file allows it, and nobody is there to ask";

/// Tools that flash, each with the tool that builds what it flashes.
const FLASHES: &[(&str, &str)] =
    &[("flash_project", "build_project"), ("flash_arduino", "build_arduino")];

/// The tool that builds what `name` flashes.
pub fn builds_for(name: &str) -> Option<&'static str> {
    FLASHES.iter().find(|(flash, _)| *flash == name).map(|(_, build)| *build)
}

/// The records of one call, which are gone with it.
pub struct CallJournal {
    /// Removed with it.
    _folder: tempfile::TempDir,
    pub recorder: Arc<Recorder>,
}

impl CallJournal {
    /// Begins one.
    ///
    /// # Errors
    /// When the temporary folder cannot be used.
    pub fn begin(machine: &Machine, name: &ToolName) -> Result<Self, UserError> {
        let made = tempfile::Builder::new().prefix("firmhand-").tempdir();
        let folder = made.map_err(|error| UserError::from_cause("Cannot call the tool", &error))?;
        let dir = SessionDir::create(folder.path(), name.as_str(), now())?;
        let recorder = Recorder::create(dir)?.guarded_by(machine.profiles.secrets());
        Ok(Self { _folder: folder, recorder: Arc::new(recorder) })
    }

    /// Builds what a tool that flashes will flash: one call has no build before it. `None` when the
    /// build passed or is not needed, else its answer.
    pub async fn build_first(
        &self,
        registry: &Registry,
        name: &ToolName,
        args: &Value,
    ) -> Result<Option<Value>, UserError> {
        let Some(build) = builds_for(name.as_str()) else { return Ok(None) };
        let given = args.get("fqbn").filter(|fqbn| !fqbn.is_null());
        let args = given.map_or_else(|| json!({}), |fqbn| json!({ "fqbn": fqbn }));
        let answer = match registry.get(&ToolName::new(build))?.call(args).await {
            Ok(Reply::Answer(answer)) => answer,
            // A build proposes nothing.
            Ok(Reply::Propose { .. }) => return Ok(None),
            Err(error) => error.to_answer(),
        };
        Ok((answer["ok"] != true).then_some(answer))
    }

    /// Brings the drafts of a call to an end and makes its answer.
    pub async fn decide(
        &self,
        machine: &Machine,
        context: &ToolContext,
        name: &ToolName,
        (drafts, finish): (Vec<Draft>, Finish),
    ) -> Value {
        let queue = ApprovalQueue::default();
        let parts = GateParts {
            ledger: Arc::clone(&context.ledger),
            blobs: Arc::new(self.recorder.blobs().clone()),
            project_dir: Arc::clone(&context.project_dir),
            toolchain: Arc::clone(&context.toolchain),
            serial: Arc::clone(&context.serial),
            policy: Arc::new(machine.settings.policy.clone()),
            names: Some(Arc::clone(&context.names)),
            knowledge: Some(Arc::clone(&context.knowledge)),
            cancel: context.cancel.clone(),
        };
        let gate = Gate::new(parts, &queue, NextNumbers::after([]));
        gate.sandboxed_by(context.runner.clone());
        queue.leave_unattended(NOBODY);
        if let Err(error) = gate.admit(&drafts) {
            return ToolError::from_user_error("refused", &error).to_answer();
        }
        let agent = AgentName::from("command line");
        let origin = ProposalOrigin { turn: TurnId(1), call: CallId(1), agent, tool: name.clone() };
        match gate.submit(&origin, drafts).await {
            Ok(settlements) => {
                let answer = finish(settlements).await;
                answer.unwrap_or_else(|error| error.to_answer())
            }
            Err(error) => {
                ToolError::new("not_decided", error.to_string(), "Call the tool again.").to_answer()
            }
        }
    }
}
