//! Details about the run when a change is looked at.
//!
//! A fold of events: the task, the plan, what went. Must not look at a change or the disk.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::knowledge::NameList;
use crate::model::{
    CallId, Change, ContentHash, Event, Outcome, PersonEvent, PlanItem, ProjectPath, ProposalEvent,
    ProposalId, SessionEvent, TeamEvent, ToolName, TurnEvent,
};

/// The tool by which a team says which files it is going to write.
const FILE_LIST_TOOL: &str = "file_name_checker";

/// What findings may take into account beside the change itself.
#[derive(Debug, Clone, Default)]
pub struct FindingsContext {
    /// The chip that the project is built for, e.g. `esp32s3`; `None` while it is not known.
    pub chip: Option<String>,
    /// What the person asked for, in their words; empty while it is not known.
    pub task: String,
    /// What the person said later.
    pub messages: Vec<String>,
    /// The steps of the plan that holds.
    pub plan: Vec<PlanItem>,
    /// Names that the framework has taken.
    pub names: Option<Arc<NameList>>,
    /// The files that the team said it would write, when its list was accepted.
    listed: Vec<String>,
    /// Lists that have no answer yet.
    listing: BTreeMap<CallId, Vec<String>>,
    /// What files held that this session deleted, and by which proposal.
    deleted: Vec<Deleted>,
    /// Deletions that have no outcome yet.
    deleting: BTreeMap<ProposalId, (ProjectPath, ContentHash)>,
}

/// A file that was deleted in this session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Deleted {
    /// By which proposal.
    pub(super) by: ProposalId,
    pub(super) path: ProjectPath,
    /// What it held.
    pub(super) content: ContentHash,
}

impl FindingsContext {
    /// Folds an event in.
    pub fn observe(&mut self, event: &Event) {
        if let Event::Session(SessionEvent::Started(start)) = event {
            self.task.clone_from(&start.task);
        }
        if let Event::Person(PersonEvent::Said { text, .. }) = event {
            self.messages.push(text.clone());
        }
        if let Event::Team(TeamEvent::PlanMade { items, .. }) = event {
            self.plan.clone_from(items);
        }
        self.observe_list(event);
        if let Event::Proposal(ProposalEvent::Made(proposal)) = event
            && let Change::Delete { path, base } = &proposal.change
        {
            self.deleting.insert(proposal.id, (path.clone(), base.hash));
        }
        if let Event::Proposal(ProposalEvent::Settled { proposal, outcome }) = event
            && let Some((path, content)) = self.deleting.remove(proposal)
            && *outcome == Outcome::Applied
        {
            self.deleted.push(Deleted { by: *proposal, path, content });
        }
    }

    fn observe_list(&mut self, event: &Event) {
        if let Event::Turn(TurnEvent::ToolCalled { call, tool, args, .. }) = event
            && *tool == ToolName::from(FILE_LIST_TOOL)
        {
            let files = args.get("files").and_then(Value::as_array).into_iter().flatten();
            let names = files.filter_map(|file| file.get("file_name")?.as_str());
            self.listing.insert(*call, names.map(str::to_owned).collect());
        }
        if let Event::Turn(TurnEvent::ToolAnswered { call, result, .. }) = event
            && let Some(names) = self.listing.remove(call)
            && result.get("ok").and_then(Value::as_bool) == Some(true)
        {
            self.listed = names;
        }
    }

    /// Whether the team has said which files it is going to write.
    pub(super) const fn has_list(&self) -> bool {
        !self.listed.is_empty()
    }

    /// Whether this file is among those.
    pub(super) fn is_listed(&self, path: &ProjectPath) -> bool {
        self.listed.iter().any(|name| name.eq_ignore_ascii_case(path.as_str()))
    }

    /// The newest deletion of a file that held exactly this.
    pub(super) fn deleted(&self, content: ContentHash) -> Option<&Deleted> {
        self.deleted.iter().rev().find(|deleted| deleted.content == content)
    }

    /// Whether anybody said what the run is about.
    pub(super) const fn has_task(&self) -> bool {
        !self.task.is_empty() || !self.plan.is_empty()
    }

    /// Everything that was asked for, in lower case.
    pub(super) fn words(&self) -> String {
        let plan = self.plan.iter().map(|item| item.task.as_str());
        let all = std::iter::once(self.task.as_str());
        let all = all.chain(self.messages.iter().map(String::as_str)).chain(plan);
        all.collect::<Vec<_>>().join("\n").to_lowercase()
    }
}
