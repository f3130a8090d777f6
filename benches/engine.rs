//! How fast a team runs on a model that answers at once: `cargo bench --bench engine`, or a part of
//! it, `-- chat`, `-- plan` (a plan of 50 steps, one after the other and side by side) or `-- saves`.
//!
//! Everything but the model is real: the recorder with its journal on disk, the gate, the files.
//! Without `--bench` it makes one small round, to show that it works.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench prints and may stop"
)]

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use firmhand::config::{Assets, Origin, Policy, PolicyRule, Ruling};
use firmhand::device::SerialHub;
use firmhand::engine::{
    Engine, EngineLimits, EngineSetup, NextRun, NextRuns, Recorder, Team, Toolbox,
};
use firmhand::gate::{ApprovalQueue, Gate, GateParts, NextNumbers};
use firmhand::journal::SessionDir;
use firmhand::model::event::SessionStart;
use firmhand::model::*;
use firmhand::provider::{Delta, Provider, Request};
use firmhand::toolchain::{BuildJob, BuildReport, FlashOrder, Toolchain};
use firmhand::tools::{Reply, Tool, ToolError};
use firmhand::workspace::ProjectDir;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use serde_json::{Value, json};

/// Steps of the plan.
const STEPS: u32 = 50;

/// Comparisons of which the middle one is told.
const ROUNDS: usize = 25;

fn main() {
    let is_bench = std::env::args().any(|arg| arg == "--bench");
    let names: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let is_wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    let (chat, rounds, saves) = if is_bench { (20_000, ROUNDS, 100) } else { (100, 1, 10) };
    let turns_of_step = if is_bench { 100 } else { 2 };
    let data = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for messages in [100, 1_000].into_iter().filter(|_| is_wanted("chat")) {
        let rate = rate(chat, run(data.path(), &talk(chat, messages), Kind::Chat));
        println!("chat turns, {messages} messages a chat: {rate:.0}/s");
    }
    for parallel in [1, 4].into_iter().filter(|_| is_wanted("plan")) {
        let time = run(data.path(), &plan(turns_of_step, parallel), Kind::Chat);
        let rate = rate(STEPS * turns_of_step, time);
        println!("turns in a plan of {STEPS} steps, {parallel} side by side: {rate:.0}/s");
    }
    if is_wanted("saves") {
        compare_saves(data.path(), rounds, saves);
    }
}

/// Short runs of saving turns and of the same saves by hand in turns, so that both meet the same
/// disk, however it changes its speed.
fn compare_saves(data: &Path, rounds: usize, saves: u32) {
    let (mut appends, mut turns, mut files, mut shares) = (vec![], vec![], vec![], vec![]);
    for round in 0..rounds {
        appends.push(rate(saves, syncing(data, saves)));
        let ours = rate(saves, run(data, &talk(saves, 100), Kind::Save));
        let bare = rate(saves, by_hand(&data.join(format!("by-hand-{round}")), saves));
        shares.push(100.0 * ours / bare);
        turns.push(ours);
        files.push(bare);
    }
    println!("one synced append: {:.0}/s", median(appends));
    println!("turns that save a file: {:.0}/s", median(turns));
    println!("files written and synced by hand: {:.0}/s", median(files));
    println!("saving turns reach {:.0} % of the rate by hand", median(shares));
}

fn rate(count: u32, time: Duration) -> f64 {
    f64::from(count) / time.as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Chat,
    Save,
}

struct Model(Kind);

impl Provider for Model {
    fn label(&self) -> String {
        "bench model".into()
    }

    fn ask(&self, request: Request) -> BoxStream<'static, Result<Delta, UserError>> {
        let answered = request.messages.last().is_some_and(|last| last.role == MessageRole::Tool);
        let number = request.messages.len();
        let piece = if request.phase == "plan" {
            let steps = (1..=STEPS).map(|step| format!("{step}. part {step} (after nothing)\n"));
            Delta::Text(steps.collect())
        } else if self.0 == Kind::Chat || answered {
            // Other words each time: whoever says the same twice is stopped.
            Delta::Text(format!("Some words that an agent says in turn {number}."))
        } else {
            let args = json!({ "code": format!("int a{number};") }).to_string();
            Delta::Call { tool: "generate_code".into(), args }
        };
        let usage = Usage { input: 10, output: 10, ..Usage::default() };
        futures::stream::iter([Ok(piece), Ok(Delta::Done { usage, state: None })]).boxed()
    }
}

struct Save(Arc<ProjectDir>, AtomicU32);

impl Tool for Save {
    fn spec(&self) -> ToolSpec {
        let schema = json!({ "type": "object" });
        ToolSpec { name: "generate_code".into(), description: "Saves.".into(), schema }
    }

    fn call(&self, args: Value) -> BoxFuture<'_, Result<Reply, ToolError>> {
        // A new file each time; `benches/gate.rs` says why.
        let name = format!("part_{}.c", self.1.fetch_add(1, Ordering::Relaxed));
        let path = ProjectPath::new(&name).unwrap();
        let base = self.0.read_if_there(&path).unwrap();
        let content = args["code"].as_str().unwrap().as_bytes().to_vec();
        let change = DraftChange::Save { path, base, content };
        let drafts = vec![Draft { change, reason: String::new(), checks: Vec::new() }];
        let finish = |done: Vec<Settlement>| {
            assert_eq!(done[0].outcome, Outcome::Applied);
            async { Ok(json!({ "ok": true, "saved": ["main.c"] })) }.boxed()
        };
        async move { Ok(Reply::Propose { drafts, finish: Box::new(finish) }) }.boxed()
    }
}

struct NoToolchain;

impl Toolchain for NoToolchain {
    fn label(&self) -> String {
        "none".into()
    }
    fn command(&self, _project: &Path) -> String {
        "none".into()
    }
    fn build(&self, _: BuildJob) -> BoxFuture<'_, BuildReport> {
        panic!("nothing is built here")
    }
    fn plan_flash(&self, _: &Path, _: BuildId, _: Timestamp) -> Result<FlashPlan, UserError> {
        Err(UserError::new("no board", "", ""))
    }
    fn flash(&self, _: FlashOrder) -> BoxFuture<'_, Result<BoardInfo, UserError>> {
        panic!("nothing is flashed here")
    }
}

/// How long a team takes.
///
/// Their files stay until the bench ends: ext4 without a journal looks through every file deleted
/// in the last minutes before it makes one.
fn run(data: &Path, phases: &str, kind: Kind) -> Duration {
    let root = tempfile::tempdir_in(data).unwrap().keep();
    let setup = setup(&root, phases, kind);
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).enable_all().build().unwrap();
    let started = Instant::now();
    let outcome = runtime.block_on(async {
        let engine = Engine::start(setup).unwrap();
        engine.join().await.unwrap()
    });
    let time = started.elapsed();
    // Attempts that end by their limit of messages have not reached their goal.
    let is_plan = phases.contains("for_each");
    assert_eq!(outcome == SessionOutcome::Completed, is_plan, "{outcome:?}");
    time
}

/// Attempts of `messages` turns until there were `turns` of them.
fn talk(turns: u32, messages: u32) -> String {
    let (attempts, messages) = (turns.div_ceil(messages), messages.min(turns));
    format!(
        "[[phases]]\nname = \"p\"\ntitle = \"p\"\nparticipants = [\"A\", \"B\"]\n\
         selection = \"round_robin\"\ngoal = \"build_passed\"\nattempts = {attempts}\n\
         terminate = {{ max_messages = {messages} }}\n"
    )
}

/// A plan, and so many turns for each of its steps.
fn plan(turns: u32, parallel: u32) -> String {
    format!(
        "[[phases]]\nname = \"plan\"\ntitle = \"plan\"\nparticipants = [\"A\"]\n\
         selection = \"round_robin\"\nplanner = \"A\"\ngoal = \"planned\"\n\
         terminate = {{ max_messages = 1 }}\n\
         [[phases]]\nname = \"step\"\ntitle = \"step\"\nparticipants = [\"A\", \"B\"]\n\
         for_each = \"plan\"\nparallel = {parallel}\nselection = \"round_robin\"\n\
         context = [\"plan\"]\ngoal = \"answered\"\nterminate = {{ max_messages = {turns} }}\n"
    )
}

fn team(root: &Path, phases: &str) -> Arc<Team> {
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    for name in ["A", "B"] {
        let text = format!(
            "+++\nname = \"{name}\"\ndescription = \"x\"\ntools = [\"generate_code\"]\n+++\nTalk.\n"
        );
        write(&format!("prompts/agents/{name}.md"), &text);
    }
    let text = format!("name = \"bench\"\ntitle = \"x\"\ndescription = \"x\"\n{phases}");
    write("prompts/teams/bench.toml", &text);
    Team::load(&Assets::with_user_folder(root), "bench", &|_| Ok(())).unwrap()
}

fn setup(root: &Path, phases: &str, kind: Kind) -> EngineSetup {
    let team = team(root, phases);
    std::fs::create_dir(root.join("project")).unwrap();
    let dir = SessionDir::create(root, "bench", Timestamp(0)).unwrap();
    let session = SessionStart {
        id: dir.id().clone(),
        task: "bench".into(),
        team: "bench".into(),
        project: String::new(),
        model: "bench model".into(),
        toolchain: "none".into(),
        program: "0".into(),
        parts: Default::default(),
    };
    let recorder = Arc::new(Recorder::create(dir).unwrap());
    let state = recorder.state();
    let blobs = Arc::new(recorder.blobs().clone());
    let ledger: Arc<dyn Ledger> = recorder;
    let project = Arc::new(ProjectDir::open(&root.join("project")).unwrap());
    let desk = ApprovalQueue::default();
    let origin = Origin::User { file: "bench.toml".into(), line: 1 };
    let (tool, agent, path) = (None, None, None);
    let rule = PolicyRule { decide: Ruling::Allow, kind: None, tool, agent, path, origin };
    let parts = GateParts {
        ledger: Arc::clone(&ledger),
        blobs,
        project_dir: Arc::clone(&project),
        toolchain: Arc::new(NoToolchain),
        serial: Arc::new(SerialHub::new(Arc::clone(&ledger))),
        policy: Arc::new(Policy::new(vec![rule])),
        names: None,
        knowledge: None,
        cancel: firmhand::toolchain::StopSwitch::default(),
    };
    let gate = Arc::new(Gate::new(parts, &desk, NextNumbers::after([])));
    let save: Arc<dyn Tool> = Arc::new(Save(Arc::clone(&project), AtomicU32::new(0)));
    let tools = Toolbox::from([(ToolName::from("generate_code"), save)]);
    let (provider, limits) = (Arc::new(Model(kind)), EngineLimits::default());
    let documents = Vec::new();
    EngineSetup {
        session,
        documents,
        team,
        ledger,
        gate,
        desk,
        tools,
        state,
        provider,
        project,
        limits,
        next_runs: Arc::new(NoMore),
    }
}

/// No run follows.
struct NoMore;

impl NextRuns for NoMore {
    fn prepare(&self, _: &str, _: Option<&str>, _: &str) -> Result<NextRun, UserError> {
        Err(UserError::new("no run follows", "", ""))
    }

    fn team(&self, _: &str) -> Result<Arc<Team>, UserError> {
        Err(UserError::new("no run follows", "", ""))
    }
}

fn syncing(data: &Path, count: u32) -> Duration {
    let file = OpenOptions::new().create(true).append(true).open(data.join("raw")).unwrap();
    let started = Instant::now();
    for _ in 0..count {
        (&file).write_all(&[b'x'; 200]).unwrap();
        file.sync_data().unwrap();
    }
    started.elapsed()
}

/// What a save cannot do without: the decision synced, the content synced in a new file, the file
/// put in its place, the folder synced. As with a session, decisions and project have folders of
/// their own.
fn by_hand(place: &Path, count: u32) -> Duration {
    let (session, folder) = (place.join("session"), &place.join("project"));
    std::fs::create_dir_all(&session).unwrap();
    std::fs::create_dir(folder).unwrap();
    let log = OpenOptions::new().create(true).append(true).open(session.join("log")).unwrap();
    let started = Instant::now();
    for number in 0..count {
        (&log).write_all(&[b'x'; 200]).unwrap();
        log.sync_data().unwrap();
        let mut new = File::create(folder.join("new")).unwrap();
        write!(new, "int a{number};").unwrap();
        new.sync_all().unwrap();
        std::fs::rename(folder.join("new"), folder.join(format!("part_{number}.c"))).unwrap();
        File::open(folder).unwrap().sync_all().unwrap();
    }
    started.elapsed()
}
