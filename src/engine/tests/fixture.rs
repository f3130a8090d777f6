//! A small project with tools of its own, and a person who sits at the desk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;

use super::fixture_tools::{Approve, Build, Echo, NoToolchain, Save};
use crate::config::{Assets, Policy};
use crate::device::SerialHub;
use crate::engine::{
    Engine, EngineHandle, EngineLimits, EngineSetup, NextRun, NextRuns, Recorder, Supervision,
    Team, Toolbox,
};
use crate::gate::{ApprovalQueue, Gate, GateParts, NextNumbers};
use crate::journal::{ReadItem, SessionDir, scan};
use crate::model::event::{SessionParts, SessionStart};
use crate::model::*;
use crate::model::{PersonEvent, ProposalEvent, SessionEvent};
use crate::provider::{Delta, Provider, Request};
use crate::tools::Tool;
use crate::workspace::ProjectDir;

pub const TEAM: &str = r#"
name = "small"
title = "Small"
description = "Writes one file and builds it."
[[phases]]
name = "write"
title = "writing"
participants = ["Planner", "Writer", "Closer"]
selection = "planner"
planner = "Planner"
goal = "files_saved"
terminate = { any = [{ tool = "approve_saved_files", answer = "ok" }, { max_messages = 20 }] }
[[phases]]
name = "build"
title = "build & fix"
participants = ["Planner", "Builder", "Writer", "Closer"]
selection = "planner"
planner = "Planner"
context = ["files", "build_errors"]
attempts = 3
goal = "build_passed"
terminate = { any = [{ tool = "approve_saved_files" }, { max_messages = 20 }] }
"#;

/// The form of an answer, and what its agent is told for other answers.
const RATER: &str = r#"makes = ["contract"]
[turn]
exchange = "toon"
[[turn.form]]
name = "complexity"
type = "integer"
minimum = 1
maximum = 10
[[turn.variants]]
of = "Rater"
field = "complexity"
at_least = 6
text = "It is hard."
"#;

/// What a model is: a function of what it is asked.
pub type Model = dyn Fn(&Request) -> Vec<Result<Delta, UserError>> + Send + Sync;

pub struct FnProvider(pub Arc<Model>);

impl Provider for FnProvider {
    fn label(&self) -> String {
        "test model".into()
    }

    fn ask(&self, request: Request) -> BoxStream<'static, Result<Delta, UserError>> {
        let answer = (self.0)(&request);
        let hangs = matches!(answer.last(), Some(Ok(Delta::Model(model))) if model == HANGS);
        let answer = futures::stream::iter(answer);
        if hangs { answer.chain(futures::stream::pending()).boxed() } else { answer.boxed() }
    }
}

/// A model of this name never comes to an end once it has been named.
pub const HANGS: &str = "hangs";

/// Says this and then nothing for ever.
pub fn hang_after(text: &str) -> Vec<Result<Delta, UserError>> {
    vec![Ok(Delta::Text(text.into())), Ok(Delta::Model(HANGS.into()))]
}

pub fn say(text: &str) -> Vec<Result<Delta, UserError>> {
    vec![Ok(Delta::Text(text.into())), Ok(done())]
}

pub fn call(tool: &str, args: &str) -> Vec<Result<Delta, UserError>> {
    vec![Ok(Delta::Call { tool: tool.into(), args: args.into() }), Ok(done())]
}

pub fn done() -> Delta {
    Delta::Done { usage: Usage { input: 2, output: 1, ..Usage::default() }, state: None }
}

/// Fails for good after so many records, as a killed program writes nothing more.
struct Mortal(Arc<Recorder>, AtomicU64);

impl Ledger for Mortal {
    fn record(&self, event: Event) -> Result<Seq, UserError> {
        let lived = self.1.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
        match lived {
            Ok(_) => self.0.record(event),
            Err(_) => Err(UserError::new("dead", "dead", "")),
        }
    }
    fn store(&self, content: &[u8]) -> Result<BlobRef, UserError> {
        self.0.store(content)
    }
    fn append_log(&self, log: LogId, bytes: &[u8]) -> Result<(), UserError> {
        self.0.append_log(log, bytes)
    }
    fn flush_log(&self, log: LogId) -> Result<(), UserError> {
        self.0.flush_log(log)
    }
}

pub type Begun = (EngineHandle, ApprovalQueue, PathBuf, tokio::sync::watch::Receiver<Seq>);

/// Every run has the same team.
struct SameTeam(Arc<Team>);

impl NextRuns for SameTeam {
    fn prepare(&self, _: &str, team: Option<&str>, _: &str) -> Result<NextRun, UserError> {
        let team = self.team(team.unwrap_or("small"))?;
        Ok(NextRun { team, why: "there is no other".into(), model: None })
    }

    fn team(&self, name: &str) -> Result<Arc<Team>, UserError> {
        let no_team = || UserError::new(format!("there is no team `{name}`"), "", "");
        (name == self.0.name).then(|| Arc::clone(&self.0)).ok_or_else(no_team)
    }
}

/// A session's place on disk, which outlives the program.
pub struct SessionBench {
    root: tempfile::TempDir,
    session: SessionDir,
    pub team: Arc<Team>,
    /// Whether plans and files for the context wait for the person.
    pub supervision: Supervision,
}

pub fn known(name: &ToolName) -> Result<(), UserError> {
    let names = [
        "generate_code",
        "build_project",
        "approve_saved_files",
        "read_project_files",
        "ask_user",
        "hand_off",
        "run_code",
    ];
    if names.contains(&name.as_str()) {
        return Ok(());
    }
    Err(UserError::new("no tool", "", format!("Use one of: {}.", names.join(", "))))
}

/// The form of an answer that sends steps of the plan back.
const REVIEWER: &str = r#"[[turn.form]]
name = "again"
type = "list"
[[turn.form.fields]]
name = "step"
type = "integer"
[[turn.form.fields]]
name = "reason"
type = "text""#;

/// Writes a team and its agents below `folder`, as a person would.
pub fn write_team(folder: &Path, team: &str) {
    let agents = [
        ("Planner", ""),
        ("Writer", r#""generate_code", "ask_user", "hand_off""#),
        ("Second", r#""generate_code""#),
        ("Reader", r#""read_project_files""#),
        ("Builder", r#""build_project", "hand_off", "run_code""#),
        ("Closer", r#""approve_saved_files""#),
    ];
    std::fs::create_dir_all(folder.join("prompts/agents")).unwrap();
    std::fs::create_dir_all(folder.join("prompts/teams")).unwrap();
    // Agents whose answers have a form, which is written below their fields.
    let forms = [
        ("Lister", "answer = \"files\""),
        ("Rater", RATER),
        (
            "Judge",
            "[turn]\nfirst = { tool = \"build_project\" }\n[[turn.form]]\nname = \"code\"\n\
                   type = \"list\"\n[[turn.form]]\nname = \"tests\"\ntype = \"list\"",
        ),
        ("Reviewer", REVIEWER),
        (
            "Runner",
            "tools = [\"build_project\"]\n[turn]\nneeds_call = [\"build_project\"]\n\
                   [[turn.form]]\nname = \"missing\"\ntype = \"list\"",
        ),
        (
            "Librarian",
            "[turn]\nlook_up = { tool = \"read_project_files\", args = { chunks = [{ number = 1 }, \
                   { number = 2 }] } }",
        ),
        ("Checked", "answer = \"files\"\n[turn]\ncheck = { tool = \"approve_saved_files\" }"),
    ];
    for (name, form) in forms {
        let text =
            format!("+++\nname = \"{name}\"\ndescription = \"x\"\n{form}\n+++\nI am {name}.\n");
        std::fs::write(folder.join(format!("prompts/agents/{name}.md")), text).unwrap();
    }
    for (name, tools) in agents {
        let text = format!(
            "+++\nname = \"{name}\"\ndescription = \"x\"\ntools = [{tools}]\n+++\nI am {name}.\n"
        );
        std::fs::write(folder.join(format!("prompts/agents/{name}.md")), text).unwrap();
    }
    std::fs::write(folder.join("prompts/teams/small.toml"), team).unwrap();
}

impl SessionBench {
    pub fn new(team: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        write_team(root.path(), team);
        std::fs::create_dir(root.path().join("project")).unwrap();
        let assets = Assets::with_user_folder(root.path());
        // The built-in agents use the real tools, the ones here their own.
        let anything =
            |name: &ToolName| known(name).or_else(|_| crate::tools::known(name)).or(Ok(()));
        let team = Team::load(&assets, "small", &anything).unwrap();
        let session = SessionDir::create(root.path(), "task", Timestamp(0)).unwrap();
        Self { root, session, team, supervision: Supervision::Show }
    }

    pub fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    pub fn file(&self) -> Option<String> {
        std::fs::read_to_string(self.project().join("main.txt")).ok()
    }

    pub fn records(&self) -> Vec<Record> {
        let mut records = Vec::new();
        scan(&self.session.journal(), |item, _| {
            if let ReadItem::Record(record) = item {
                records.push(record);
            }
        })
        .unwrap();
        records
    }

    pub fn events(&self) -> Vec<Event> {
        self.records().into_iter().map(|record| record.event).collect()
    }

    fn setup(&self, recorder: Arc<Recorder>, life: u64, model: Arc<Model>) -> EngineSetup {
        self.setup_under(recorder, life, model, Policy::default())
    }

    fn setup_under(
        &self,
        recorder: Arc<Recorder>,
        life: u64,
        model: Arc<Model>,
        policy: Policy,
    ) -> EngineSetup {
        let state = recorder.state();
        let ledger: Arc<dyn Ledger> = Arc::new(Mortal(Arc::clone(&recorder), AtomicU64::new(life)));
        let records = if life == 0 { Vec::new() } else { self.old_records() };
        let mut proposals = Vec::new();
        for record in &records {
            state.fold(record);
            if let Event::Proposal(ProposalEvent::Made(proposal)) = &record.event {
                proposals.push(Proposal::clone(proposal));
            }
        }
        let project_dir = Arc::new(ProjectDir::open(&self.project()).unwrap());
        let (desk, stop) = (ApprovalQueue::default(), crate::toolchain::StopSwitch::default());
        let parts = GateParts {
            ledger: Arc::clone(&ledger),
            blobs: Arc::new(recorder.blobs().clone()),
            project_dir: Arc::clone(&project_dir),
            toolchain: Arc::new(NoToolchain),
            serial: Arc::new(SerialHub::new(Arc::clone(&ledger))),
            policy: Arc::new(policy),
            names: None,
            knowledge: None,
            cancel: stop.clone(),
        };
        let gate = Arc::new(Gate::new(parts, &desk, NextNumbers::after(&proposals)));
        let tools: [Arc<dyn Tool>; 7] = [
            Arc::new(Echo("ask_user")),
            Arc::new(Echo("run_code")),
            Arc::new(Echo("hand_off")),
            Arc::new(Echo("read_project_files")),
            Arc::new(Save(Arc::clone(&project_dir))),
            Arc::new(Build(Arc::clone(&project_dir), Arc::clone(&ledger), state.clone())),
            Arc::new(Approve(Arc::clone(&project_dir), state.clone())),
        ];
        let tools: Toolbox = tools.into_iter().map(|tool| (tool.spec().name, tool)).collect();
        EngineSetup {
            session: self.start(),
            documents: Vec::new(),
            team: Arc::clone(&self.team),
            ledger,
            gate,
            desk,
            tools,
            state,
            provider: Arc::new(FnProvider(model)),
            project: project_dir,
            next_runs: Arc::new(SameTeam(Arc::clone(&self.team))),
            limits: EngineLimits { supervision: self.supervision, ..EngineLimits::default() },
        }
    }

    fn old_records(&self) -> Vec<Record> {
        if self.session.journal().exists() { self.records() } else { Vec::new() }
    }

    fn start(&self) -> SessionStart {
        SessionStart {
            id: SessionId::new("test"),
            task: "make main.txt".into(),
            team: "small".into(),
            project: self.project().display().to_string(),
            model: "test model".into(),
            toolchain: "none".into(),
            program: "0".into(),
            parts: SessionParts::default(),
        }
    }

    /// Starts a run under `policy`; also gives its desk, its journal, and what tells of records.
    pub fn begin_under(&self, policy: Policy, model: Arc<Model>) -> Begun {
        let recorder = Arc::new(Recorder::create(self.session.clone()).unwrap());
        let published = recorder.subscribe();
        let setup = self.setup_under(recorder, u64::MAX, model, policy);
        let desk = setup.desk.clone();
        (Engine::start(setup).unwrap(), desk, self.session.journal(), published)
    }

    /// Starts a run that can record `life` events.
    pub fn begin(&self, life: u64, model: Arc<Model>) -> Result<EngineHandle, UserError> {
        let recorder = Arc::new(Recorder::create(self.session.clone()).unwrap());
        Engine::start(self.setup(recorder, life, model))
    }

    /// Starts a run; also gives its gate.
    pub fn begin_at_gate(&self, model: Arc<Model>) -> (EngineHandle, Arc<Gate>) {
        let recorder = Arc::new(Recorder::create(self.session.clone()).unwrap());
        let setup = self.setup(recorder, u64::MAX, model);
        let gate = Arc::clone(&setup.gate);
        (Engine::start(setup).unwrap(), gate)
    }

    /// Starts a run within other bounds than the usual ones.
    pub fn begin_within(
        &self,
        limits: EngineLimits,
        model: Arc<Model>,
    ) -> Result<EngineHandle, UserError> {
        let recorder = Arc::new(Recorder::create(self.session.clone()).unwrap());
        Engine::start(EngineSetup { limits, ..self.setup(recorder, u64::MAX, model) })
    }

    pub fn resume(&self, model: Arc<Model>) -> Result<EngineHandle, UserError> {
        self.resume_with(model, |_| {})
    }

    /// Goes on with the session, with a setup that `change` has changed.
    pub fn resume_with(
        &self,
        model: Arc<Model>,
        change: impl FnOnce(&mut EngineSetup),
    ) -> Result<EngineHandle, UserError> {
        let records = self.records();
        let (recorder, _) = Recorder::reopen(self.session.clone()).unwrap();
        let mut setup = self.setup(Arc::new(recorder), u64::MAX, model);
        change(&mut setup);
        Engine::resume(setup, &records)
    }

    /// Sits at the desk until the run is over: approves whatever waits and answers `answer`.
    pub async fn supervise(
        &self,
        handle: EngineHandle,
        answer: &str,
    ) -> Result<SessionOutcome, UserError> {
        while !handle.is_finished() {
            self.decide(&handle, answer).await;
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        handle.join().await
    }

    /// Approves whatever waits and answers `answer`.
    pub async fn decide(&self, handle: &EngineHandle, answer: &str) {
        for intent in self.wishes(answer) {
            let _ = handle.intents.send(intent).await;
        }
    }

    fn wishes(&self, answer: &str) -> Vec<Intent> {
        let mut proposals = BTreeMap::new();
        let mut question = None;
        for event in self.events() {
            match event {
                Event::Proposal(ProposalEvent::Made(proposal)) => {
                    // Whatever was found: these runs are about what comes afterwards.
                    let stops = proposal.stops();
                    let shown = Shown::whole(proposal.id, proposal.change.hash());
                    proposals.insert(proposal.id, Shown { stops, ..shown });
                }
                Event::Proposal(ProposalEvent::Decided { proposal, .. }) => {
                    proposals.remove(&proposal);
                }
                Event::Person(PersonEvent::Asked { question: id, .. }) => question = Some(id),
                Event::Person(PersonEvent::Answered { .. })
                | Event::Session(SessionEvent::Resumed { .. }) => question = None,
                _ => {}
            }
        }
        let decide = |(_, shown)| Intent::Decide { shown, verdict: Verdict::Approve };
        let answer = question.map(|question| Intent::Answer { question, answer: answer.into() });
        proposals.into_iter().map(decide).chain(answer).collect()
    }
}

/// Waits until an event is recorded.
pub async fn until(world: &SessionBench, wanted: impl Fn(&Event) -> bool) -> Event {
    for _ in 0..5_000 {
        if let Some(event) = world.events().into_iter().find(&wanted) {
            return event;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    panic!("never recorded: {:#?}", world.events());
}

/// The usual team: writes a bug, sees the build fail, mends it, builds again.
pub fn usual(request: &Request) -> Vec<Result<Delta, UserError>> {
    let last = request.messages.last().unwrap();
    let is_answer = last.role == MessageRole::Tool;
    let knows = |what: &str| request.messages.iter().skip(1).any(|m| m.text.contains(what));
    match (request.agent.as_str(), request.phase.as_str()) {
        ("Planner", "write") if knows("saved\":[\"main.txt\"]") => say("Closer : close it"),
        ("Planner", "write") => say("1. **Writer** : write main.txt"),
        ("Planner", _) if knows("`build_project` answered me: {\"ok\":true") => {
            say("Closer: close")
        }
        ("Planner", _) if knows("saved\":[\"main.txt\"]") => say("Closer: close"),
        ("Planner", _) if knows("`build_project` answered") => say("Writer : mend it"),
        ("Planner", _) => say("Builder : build"),
        ("Writer", _) if is_answer && last.text.contains("main.txt\"]") => say("It is saved."),
        ("Writer", "write") => call("generate_code", r#"{"code": "a bug"}"#),
        ("Writer", _) => call("generate_code", r#"{"code": "mended"}"#),
        ("Builder", _) if !is_answer => call("build_project", ""),
        ("Closer", _) if !is_answer => call("approve_saved_files", "{}"),
        _ => say("Done."),
    }
}
