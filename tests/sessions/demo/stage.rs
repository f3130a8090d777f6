//! A place where the recorded demo is played: everything but the model is the program's own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use firmhand::app::learned;
use firmhand::app::shipped::load_adapters;
use firmhand::config::{Assets, Origin, Policy, PolicyRule, Ruling};
use firmhand::device::{Programs, SerialHub};
use firmhand::engine::{
    Engine, EngineHandle, EngineSetup, NextRun, NextRuns, Recorder, Team, toolbox,
};
use firmhand::gate::{ApprovalQueue, Gate, GateParts, NextNumbers};
use firmhand::journal::{ReadItem, SessionDir, scan};
use firmhand::knowledge::{Knowledge, NameList};
use firmhand::model::event::{SessionParts, SessionStart};
use firmhand::model::{
    Amended, BlobSource, DecisionNote, Event, Intent, Ledger, PersonEvent, Proposal, ProposalEvent,
    Record, Seq, SessionId, SessionOutcome, Shown, Timestamp, Verdict,
};
use firmhand::provider::{Pacing, Provider, Script, Scripted, parse_script};
use firmhand::toolchain::Toolchain;
use firmhand::tools::{AnswerLimits, Registry, ToolContext, known};
use firmhand::workspace::ProjectDir;

/// A recording that ships.
pub fn recording(name: &str) -> Arc<Script> {
    let folder = format!("assets/demo/{name}");
    let assets = Assets::built_in();
    let text = |name: &str| {
        let file = assets.text(&format!("{folder}/{name}"))?;
        Ok(file.text.into_owned())
    };
    Arc::new(parse_script("script.toml", &text("script.toml").unwrap(), &text).unwrap())
}

/// What a person does.
pub trait Person {
    /// Decides a proposal; how often this file or flash was proposed before, from 0.
    fn decide(&mut self, proposal: &Proposal, before: usize) -> Verdict;

    /// Whether the person decides by now; what waits goes on waiting until then, but not for ever.
    fn is_ready(&self) -> bool {
        true
    }

    /// Answers a question of the program.
    fn answer(&mut self, text: &str) -> String {
        panic!("nobody expected the question: {text}")
    }

    /// What else the person wishes once this event is there.
    fn wishes(&mut self, _event: &Event) -> Vec<Intent> {
        Vec::new()
    }

    /// The text to save instead of the one proposed, which is given; `None`: it is decided as it
    /// is.
    fn edits(&mut self, _proposal: &Proposal, _text: &str) -> Option<String> {
        None
    }

    /// Says something once after this event.
    fn says(&mut self, _event: &Event) -> Option<String> {
        None
    }
}

/// A person who is asked only where a check has failed, because a rule decides all else.
pub struct Nobody;

impl Person for Nobody {
    fn decide(&mut self, proposal: &Proposal, _: usize) -> Verdict {
        assert!(proposal.stops() > 0, "nobody is there for {proposal:?}");
        Verdict::Approve
    }
}

impl<F: FnMut(&Proposal, usize) -> Verdict> Person for F {
    fn decide(&mut self, proposal: &Proposal, before: usize) -> Verdict {
        self(proposal, before)
    }
}

pub fn approve() -> Verdict {
    Verdict::Approve
}

/// Rejects with these words.
pub fn reject(reason: &str) -> Verdict {
    Verdict::reject(reason)
}

/// A project folder, a data folder and a toolchain.
pub struct Stage {
    root: tempfile::TempDir,
    session: SessionDir,
    toolchain: Arc<dyn Toolchain>,
    policy: Policy,
    model: Option<Arc<dyn Provider>>,
    knowledge: Option<Arc<Knowledge>>,
    task: Option<String>,
    script: Arc<Script>,
    assets: Assets,
}

/// No run follows here.
struct NoMore;

impl NextRuns for NoMore {
    fn prepare(
        &self,
        _: &str,
        _: Option<&str>,
        _: &str,
    ) -> Result<NextRun, firmhand::model::UserError> {
        Err(firmhand::model::UserError::new("no run follows here", "", ""))
    }

    fn team(&self, _: &str) -> Result<Arc<Team>, firmhand::model::UserError> {
        Err(firmhand::model::UserError::new("no run follows here", "", ""))
    }
}

/// The notes that ship.
fn notes(assets: &Assets) -> Knowledge {
    let documents: Vec<(String, String)> = assets
        .list("assets/knowledge")
        .into_iter()
        .map(|path| (path.clone(), assets.text(&path).unwrap().text.into_owned()))
        .collect();
    let documents = documents.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    Knowledge::new(documents).unwrap()
}

impl Stage {
    pub fn new(toolchain: Arc<dyn Toolchain>) -> Self {
        Self::with(|_| toolchain)
    }

    /// With a toolchain that keeps files of its own beside the project.
    pub fn with(make: impl FnOnce(&Path) -> Arc<dyn Toolchain>) -> Self {
        let root = tempfile::tempdir().unwrap();
        let toolchain = make(root.path());
        fs::create_dir(root.path().join("project")).unwrap();
        let session = SessionDir::create(root.path(), "task", Timestamp(0)).unwrap();
        let script = recording("i2c-scan");
        let (policy, model, knowledge, task) = (Policy::default(), None, None, None);
        let assets = Assets::built_in();
        Self { root, session, toolchain, policy, model, knowledge, task, script, assets }
    }

    /// With another recording, and the project it begins with.
    pub fn playing(mut self, name: &str) -> Self {
        self.script = recording(name);
        let Some(starter) = self.script.project() else { return self };
        let (assets, folder) = (Assets::built_in(), format!("assets/projects/{starter}/"));
        for path in assets.list(folder.trim_end_matches('/')) {
            let to = self.project(path.strip_prefix(&folder).unwrap());
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::write(to, assets.bytes(&path).unwrap().0).unwrap();
        }
        self
    }

    /// With a team of a person's own in `folder`, and a recording of it.
    pub fn of_own(mut self, folder: &Path, script: &str, files: &BTreeMap<String, String>) -> Self {
        let text = |name: &str| Ok(files[name].clone());
        self.script = Arc::new(parse_script("script.toml", script, &text).unwrap());
        self.assets = Assets::with_user_folder(folder);
        self
    }

    /// With a rule that allows everything.
    pub fn allowing_all(mut self) -> Self {
        let (kind, tool, agent, path) = (None, None, None, None);
        let origin = Origin::User { file: "policy.toml".into(), line: 1 };
        self.policy = Policy::new(vec![PolicyRule {
            decide: Ruling::Allow,
            kind,
            tool,
            agent,
            path,
            origin,
        }]);
        self
    }

    /// With another model than the recording.
    pub fn answered_by(mut self, model: Arc<dyn Provider>) -> Self {
        self.model = Some(model);
        self
    }

    /// With other documents than the notes.
    pub fn knowing(mut self, knowledge: Arc<Knowledge>) -> Self {
        self.knowledge = Some(knowledge);
        self
    }

    /// With another task than the recording's.
    pub fn asking(mut self, task: &str) -> Self {
        self.task = Some(task.to_owned());
        self
    }

    /// A path in the project.
    pub fn project(&self, below: &str) -> PathBuf {
        self.root.path().join("project").join(below)
    }

    /// The text of a file of the project.
    pub fn file(&self, below: &str) -> String {
        fs::read_to_string(self.project(below)).unwrap()
    }

    /// All bytes of a raw log.
    pub fn log(&self, log: firmhand::model::LogId) -> String {
        let bytes = fs::read(self.session.log_file(log)).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The journal as it is on disk.
    pub fn records(&self) -> Vec<Record> {
        let mut records = Vec::new();
        scan(&self.session.journal(), |item, _| match item {
            ReadItem::Record(record) => records.push(record),
            other => panic!("the journal is damaged: {other:?}"),
        })
        .unwrap();
        records
    }

    pub fn events(&self) -> Vec<Event> {
        self.records().into_iter().map(|record| record.event).collect()
    }

    fn setup(&self, recorder: &Arc<Recorder>, known_before: &[Record]) -> EngineSetup {
        let proposals = known_before.iter().filter_map(|record| match &record.event {
            Event::Proposal(ProposalEvent::Made(proposal)) => Some(&**proposal),
            _ => None,
        });
        let numbers = NextNumbers::after(proposals);
        let assets = Assets::built_in();
        let (desk, stop) = (ApprovalQueue::default(), firmhand::toolchain::StopSwitch::default());
        let ledger: Arc<dyn Ledger> = Arc::clone(recorder) as Arc<dyn Ledger>;
        let project_dir = Arc::new(ProjectDir::open(&self.project("")).unwrap());
        let hub = SerialHub::new(Arc::clone(&ledger));
        let programs = Programs::of_project(project_dir.root());
        let serial = Arc::new(hub.knowing(load_adapters(&assets).unwrap(), programs));
        let gate = GateParts {
            ledger: Arc::clone(&ledger),
            blobs: Arc::new(recorder.blobs().clone()),
            project_dir: Arc::clone(&project_dir),
            toolchain: Arc::clone(&self.toolchain),
            serial: Arc::clone(&serial),
            policy: Arc::new(self.policy.clone()),
            names: None,
            knowledge: None,
            cancel: stop.clone(),
        };
        let names = assets.text("assets/names/esp-idf.txt").unwrap().text;
        let context = ToolContext {
            project_dir: Arc::clone(&project_dir),
            ledger: Arc::clone(&ledger),
            state: recorder.state(),
            knowledge: match &self.knowledge {
                Some(knowledge) => Arc::clone(knowledge),
                None => Arc::new(notes(&assets)),
            },
            names: Arc::new(NameList::parse("esp-idf.txt", &names).unwrap()),
            assets: Assets::built_in(),
            toolchain: Arc::clone(&self.toolchain),
            runner: crate::sandbox_runner(),
            contents: Some(Arc::new(recorder.blobs().clone())),
            serial,
            limits: AnswerLimits::default(),
            cancel: stop.clone(),
        };
        let script = Arc::clone(&self.script);
        EngineSetup {
            session: self.start(self.task.as_deref().unwrap_or(script.task())),
            documents: Vec::new(),
            team: self.team(&self.assets, script.team()),
            gate: Arc::new(Gate::new(gate, &desk, numbers)),
            tools: toolbox(&Registry::new(&context)),
            provider: match &self.model {
                Some(model) => Arc::clone(model),
                None => Arc::new(Scripted::new(script, Pacing::Instant)),
            },
            limits: firmhand::engine::EngineLimits::default(),
            next_runs: Arc::new(NoMore),
            state: recorder.state(),
            project: project_dir,
            ledger,
            desk,
        }
    }

    /// Where the team's own policy would be.
    pub fn policies(&self) -> PathBuf {
        self.root.path().join("policies")
    }

    /// The team, with the table that it learns from simulated tasks where it has none.
    fn team(&self, assets: &Assets, name: &str) -> Arc<Team> {
        let data = self.policies();
        let team = Team::load(assets, name, &known).unwrap();
        learned::with_policy(assets, &data, team).unwrap()
    }

    fn start(&self, task: &str) -> SessionStart {
        SessionStart {
            id: SessionId::new("demo"),
            task: task.to_owned(),
            team: self.script.team().to_owned(),
            project: self.project("").display().to_string(),
            model: "scripted model".to_owned(),
            toolchain: self.toolchain.label(),
            program: "0".to_owned(),
            parts: SessionParts::default(),
        }
    }

    /// Plays the recording from beginning to end.
    pub fn play(&self, person: impl Person) -> SessionOutcome {
        runtime().block_on(async {
            let recorder = Arc::new(Recorder::create(self.session.clone()).unwrap());
            let setup = self.setup(&recorder, &[]);
            let desk = setup.desk.clone();
            let run = Engine::start(setup).unwrap();
            self.supervise(run, desk, person).await
        })
    }

    /// Begins to play and leaves as soon as so many records are there; tells how many there are.
    pub fn leave_after(&self, records: usize) -> usize {
        runtime().block_on(async {
            let recorder = Arc::new(Recorder::create(self.session.clone()).unwrap());
            let mut published = recorder.subscribe();
            let run = Engine::start(self.setup(&recorder, &[])).unwrap();
            let is_there = |seq: &Seq| seq.0 >= records as u64;
            let reached =
                tokio::time::timeout(Duration::from_secs(60), published.wait_for(is_there));
            reached.await.unwrap().unwrap();
            run.detach().await;
        });
        self.records().len()
    }

    /// Goes on where the run was left.
    pub fn go_on(&self, person: impl Person) -> SessionOutcome {
        runtime().block_on(async {
            let records = self.records();
            let (recorder, _) = Recorder::reopen(self.session.clone()).unwrap();
            let recorder = Arc::new(recorder);
            for record in &records {
                recorder.state().fold(record);
            }
            let setup = self.setup(&recorder, &records);
            let desk = setup.desk.clone();
            let run = Engine::resume(setup, &records).unwrap();
            self.supervise(run, desk, person).await
        })
    }

    async fn supervise(
        &self,
        run: EngineHandle,
        desk: ApprovalQueue,
        mut person: impl Person,
    ) -> SessionOutcome {
        let mut seen = 0;
        // Not decided as far as is known; what a rule decides never waits at the desk.
        let mut open: Vec<Proposal> = Vec::new();
        let mut proposed: BTreeMap<String, usize> = BTreeMap::new();
        let mut ready = Instant::now();
        loop {
            let is_over = run.is_finished();
            let events = self.events();
            for event in events.get(seen..).unwrap_or_default() {
                for wish in person.wishes(event) {
                    send(&run, wish).await;
                }
                if let Some(text) = person.says(event) {
                    send(&run, Intent::Say { to: None, text }).await;
                }
                match event {
                    Event::Proposal(ProposalEvent::Made(proposal)) => {
                        open.push((**proposal).clone())
                    }
                    Event::Proposal(ProposalEvent::Decided { proposal, .. }) => {
                        open.retain(|known| known.id != *proposal)
                    }
                    Event::Person(PersonEvent::Asked { question, text, .. }) => {
                        let (question, answer) = (*question, person.answer(text));
                        send(&run, Intent::Answer { question, answer }).await;
                    }
                    _ => {}
                }
            }
            seen = events.len();
            let waiting = desk.waiting();
            let is_ready = person.is_ready();
            ready = if is_ready { Instant::now() } else { ready };
            assert!(ready.elapsed() < Duration::from_secs(60), "nobody decides {waiting:?}");
            let (now, later): (Vec<_>, Vec<_>) =
                open.into_iter().partition(|known| is_ready && waiting.contains(&known.id));
            open = later;
            for proposal in now {
                let count = proposed.entry(subject(&proposal)).or_default();
                // Whatever was found: these runs are about what comes afterwards.
                let shown = Shown::whole(proposal.id, proposal.change.hash());
                let shown = Shown { stops: u32::MAX, ..shown };
                let text = proposal.change.after().map(|after| {
                    let blob = self.session.blobs().blob(&after.hash).unwrap();
                    String::from_utf8(blob.to_vec()).unwrap()
                });
                let edited = text.and_then(|text| person.edits(&proposal, &text));
                if let Some(text) = edited {
                    send(&run, own_edit(shown, text)).await;
                    continue;
                }
                let verdict = person.decide(&proposal, *count);
                *count += 1;
                send(&run, Intent::Decide { shown, verdict }).await;
            }
            if is_over {
                return run.join().await.unwrap();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().build().unwrap()
}

/// What a proposal is about: its path, or `flash`.
pub fn subject(proposal: &Proposal) -> String {
    proposal.change.path().map_or_else(|| "flash".to_owned(), ToString::to_string)
}

async fn send(run: &EngineHandle, intent: Intent) {
    // A run that has just ended takes no wishes any more.
    let _ = run.intents.send(intent).await;
}

/// The person's own text instead of what was proposed.
fn own_edit(shown: Shown, text: String) -> Intent {
    let (how, note) = (Amended::Edit, DecisionNote::new("my own hand"));
    Intent::Amend { shown, how, content: text.into_bytes(), note, phrase: None }
}
