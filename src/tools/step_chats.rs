//! The chats of steps that are carried out side by side, and the files that each of them does not know
//! as they are now, because another one has changed them.
//!
//! A fold of records; must not read a file.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::model::{
    BlobRef, CallId, Change, Event, Outcome, PhaseEvent, ProjectPath, ProposalEvent, ProposalId,
    SessionEvent, ToolName, TurnEvent, TurnId,
};

/// Tools that show files whole.
const READS: [&str; 4] = ["read_file", "read_files", "read_project_files", "read_code_files"];

/// The one of them that shows all that there are.
const READS_ALL: &str = "read_code_files";

/// What others have changed since a chat began, with what it held before; the inner `None`: it was not
/// there.
type ChangedByOthers = BTreeMap<ProjectPath, Option<BlobRef>>;

/// The open chats of steps.
#[derive(Debug, Default)]
pub(super) struct StepChats {
    /// By the number of the step.
    open: BTreeMap<u32, ChangedByOthers>,
    /// The step of each open turn.
    turns: BTreeMap<TurnId, u32>,
    /// Calls that read files and have no answer yet.
    reading: BTreeMap<CallId, (u32, ToolName, Value)>,
    /// Proposals without an outcome.
    proposals: BTreeMap<ProposalId, (TurnId, Change)>,
}

impl StepChats {
    /// What a file held when the chat of a step began, if another chat has changed it since and this one
    /// has not read it again.
    pub fn known_before(&self, step: u32, path: &ProjectPath) -> Option<Option<BlobRef>> {
        self.open.get(&step)?.get(path).copied()
    }

    /// Folds one event in.
    pub fn fold(&mut self, event: &Event) {
        match event {
            Event::Session(SessionEvent::RunStarted(_)) => *self = Self::default(),
            Event::Phase(PhaseEvent::Started { step: Some(step), .. }) => {
                self.open.insert(*step, ChangedByOthers::new());
            }
            Event::Phase(PhaseEvent::Started { step: None, .. }) => self.open.clear(),
            Event::Phase(PhaseEvent::Ended { step: Some(step), .. }) => _ = self.open.remove(step),
            Event::Turn(event) => self.turn(event),
            Event::Proposal(event) => self.proposal(event),
            _ => {}
        }
    }

    fn turn(&mut self, event: &TurnEvent) {
        match event {
            TurnEvent::Started { turn, step: Some(step), .. } => {
                self.turns.insert(*turn, *step);
            }
            TurnEvent::ToolCalled { turn, call, tool, args } if READS.contains(&tool.as_str()) => {
                if let Some(step) = self.turns.get(turn) {
                    self.reading.insert(*call, (*step, tool.clone(), args.clone()));
                }
            }
            TurnEvent::ToolAnswered { call, result, .. } => {
                let read = self.reading.remove(call);
                if let Some((step, tool, args)) = read.filter(|_| result["ok"] == true) {
                    self.read(step, &tool, &args);
                }
            }
            TurnEvent::Ended { turn, .. } => _ = self.turns.remove(turn),
            _ => {}
        }
    }

    /// The chat of a step knows these files as they are now.
    fn read(&mut self, step: u32, tool: &ToolName, args: &Value) {
        let Some(changed) = self.open.get_mut(&step) else { return };
        if tool.as_str() == READS_ALL {
            changed.clear();
        }
        let many = args.get("paths").and_then(Value::as_array).into_iter().flatten();
        for path in args.get("path").into_iter().chain(many).filter_map(Value::as_str) {
            changed.retain(|known, _| known.as_str() != path);
        }
    }

    fn proposal(&mut self, event: &ProposalEvent) {
        match event {
            ProposalEvent::Made(made) if !self.open.is_empty() => {
                self.proposals.insert(made.id, (made.turn, made.change.clone()));
            }
            ProposalEvent::Restated { proposal, change, .. } => {
                if let Some((_, known)) = self.proposals.get_mut(proposal) {
                    known.clone_from(change);
                }
            }
            ProposalEvent::Settled { proposal, outcome } => {
                let Some((turn, change)) = self.proposals.remove(proposal) else { return };
                if let Some(path) = change.path().filter(|_| *outcome == Outcome::Applied) {
                    self.written(self.turns.get(&turn).copied(), path, change.before());
                }
            }
            _ => {}
        }
    }

    fn written(&mut self, by: Option<u32>, path: &ProjectPath, before: Option<BlobRef>) {
        for (step, changed) in &mut self.open {
            if Some(*step) == by {
                changed.remove(path);
            } else {
                changed.entry(path.clone()).or_insert(before);
            }
        }
    }
}
