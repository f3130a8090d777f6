//! Details about the run when a change is looked at.
//!
//! A fold of events: the task, the plan, what went. Must not look at a change or the disk.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::proposed_files::ProposedFiles;
use crate::knowledge::{Knowledge, NameList};
use crate::model::{
    BlobSource, CallId, Change, ContentHash, Event, Outcome, PersonEvent, PlanItem, ProjectPath,
    ProposalEvent, ProposalId, SessionEvent, TeamEvent, TestCounts, TestReport, ToolName,
    TurnEvent,
};

/// The tool by which a team says which files it is going to write.
const FILE_LIST_TOOL: &str = "file_name_checker";

/// The tool that runs tests with files that are not saved.
const TEST_TOOL: &str = "run_tests";

/// What tests said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TestsOfContent {
    pub(super) has_passed: bool,
    /// E.g. `7 tests passed with this content`.
    pub(super) summary: String,
}

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
    /// Where the names that the framework declares are looked up.
    pub knowledge: Option<Arc<Knowledge>>,
    /// What files will hold that wait for a decision, which other proposals may build on.
    pub(in crate::gate) proposed: ProposedFiles,
    /// The files that the team said it would write, when its list was accepted.
    listed: Vec<String>,
    /// Lists that have no answer yet.
    listing: BTreeMap<CallId, Vec<String>>,
    /// Calls of tests that have no answer yet.
    testing: BTreeSet<CallId>,
    /// What the newest tests said that ran with this content of a file.
    tested: BTreeMap<ProjectPath, (ContentHash, TestsOfContent)>,
    deletions: Deletions,
}

/// Where contents of the session are read from, if there is one.
#[derive(Clone, Default)]
struct StoredContents(Option<Arc<dyn BlobSource>>);

impl fmt::Debug for StoredContents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StoredContents").field(&self.0.is_some()).finish()
    }
}

/// The deletions of this session.
#[derive(Debug, Clone, Default)]
struct Deletions {
    /// What files held that are deleted, and by which proposal.
    done: Vec<Deleted>,
    /// Those that have no outcome yet.
    open: BTreeMap<ProposalId, (ProjectPath, ContentHash)>,
    stored: StoredContents,
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
    /// Reads what deleted files held from here on.
    pub(in crate::gate) fn read_contents(&mut self, from: &Arc<dyn BlobSource>) {
        self.deletions.stored = StoredContents(Some(Arc::clone(from)));
    }

    /// Folds an event in.
    pub fn observe(&mut self, event: &Event) {
        if let Event::Session(SessionEvent::RunStarted(start)) = event {
            self.task = start.task.clone();
        }
        if let Event::Session(SessionEvent::Started(start)) = event {
            self.task.clone_from(&start.task);
        }
        if let Event::Person(PersonEvent::Wrote { text, .. }) = event {
            self.messages.push(text.clone());
        }
        if let Event::Team(TeamEvent::PlanMade { items, .. }) = event {
            self.plan.clone_from(items);
        }
        self.proposed.observe(event);
        self.observe_list(event);
        self.observe_tests(event);
        if let Event::Proposal(ProposalEvent::Made(proposal)) = event
            && let Change::Delete { path, base } = &proposal.change
        {
            self.deletions.open.insert(proposal.id, (path.clone(), base.hash));
        }
        if let Event::Proposal(ProposalEvent::Settled { proposal, outcome }) = event
            && let Some((path, content)) = self.deletions.open.remove(proposal)
            && *outcome == Outcome::Applied
        {
            self.deletions.done.push(Deleted { by: *proposal, path, content });
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

    fn observe_tests(&mut self, event: &Event) {
        if let Event::Turn(TurnEvent::ToolCalled { call, tool, .. }) = event
            && *tool == ToolName::from(TEST_TOOL)
        {
            self.testing.insert(*call);
        }
        if let Event::Turn(TurnEvent::ToolAnswered { call, result, .. }) = event
            && self.testing.remove(call)
        {
            let tests = tests_of(result);
            for file in result.get("with").and_then(Value::as_array).into_iter().flatten() {
                let text = |key: &str| file.get(key).and_then(Value::as_str);
                let path = text("file_name").and_then(|path| ProjectPath::new(path).ok());
                let hash = text("sha256").and_then(|hash| hash.parse::<ContentHash>().ok());
                if let (Some(path), Some(hash)) = (path, hash) {
                    self.tested.insert(path, (hash, tests.clone()));
                }
            }
        }
    }

    /// What tests said that ran with this content of a file.
    pub(super) fn tests_of(&self, path: &ProjectPath, content: &[u8]) -> Option<&TestsOfContent> {
        let (hash, tests) = self.tested.get(path)?;
        (*hash == ContentHash::of(content)).then_some(tests)
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
    pub(super) fn deleted(&self, content: &[u8]) -> Option<&Deleted> {
        let hash = (!self.deletions.done.is_empty()).then(|| ContentHash::of(content))?;
        self.deletions.done.iter().rev().find(|deleted| deleted.content == hash)
    }

    /// The files that this session deleted, the newest first, with what they held where that can be
    /// read.
    pub(super) fn deleted_files(&self) -> impl Iterator<Item = (&Deleted, Arc<[u8]>)> {
        self.deletions.done.iter().rev().filter_map(|deleted| {
            Some((deleted, self.deletions.stored.0.as_ref()?.blob(&deleted.content).ok()?))
        })
    }

    /// Whether anybody said what the run is about.
    pub(super) const fn has_task(&self) -> bool {
        !self.task.is_empty() || !self.plan.is_empty()
    }

    /// What the person asked for and what the agents planned from it, in lower case. The plan says what
    /// belongs to the work; it never makes a finding lighter, or agents would answer for themselves.
    pub(super) fn planned_words(&self) -> String {
        let plan = self.plan.iter().map(|item| item.task.to_lowercase());
        std::iter::once(self.person_words()).chain(plan).collect::<Vec<_>>().join("\n")
    }

    /// What the person asked for, in lower case.
    pub(super) fn person_words(&self) -> String {
        let asked = std::iter::once(&self.task).chain(&self.messages).map(String::as_str);
        asked.collect::<Vec<_>>().join("\n").to_lowercase()
    }
}

fn tests_of(result: &Value) -> TestsOfContent {
    let count = |key: &str| {
        let count = result.pointer(&format!("/counts/{key}")).and_then(Value::as_u64);
        count.and_then(|count| u32::try_from(count).ok()).unwrap_or(0)
    };
    let counts = TestCounts {
        passed: count("passed"),
        failed: count("failed"),
        errors: count("errors"),
        skipped: count("skipped"),
    };
    let has_passed = result.get("ok").and_then(Value::as_bool) == Some(true);
    let names = result.pointer("/checking_nothing/tests").and_then(Value::as_array);
    let names = names.into_iter().flatten().filter_map(Value::as_str);
    let checking_nothing = names.map(str::to_owned).collect();
    let words = TestReport { counts, checking_nothing, ..TestReport::default() }.summary();
    let cut_short = if counts.bad() == 0 && !has_passed { ", but not all ran" } else { "" };
    TestsOfContent { has_passed, summary: format!("{words} with this content{cut_short}") }
}
