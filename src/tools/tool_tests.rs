//! Tests of the tools that read and write files, through the registry as agents use them.

use std::fs;
use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};
use serde_json::{Value, json};

use super::*;
use crate::config::assets::Assets;
use crate::device::SerialHub;
use crate::knowledge::{Knowledge, NameList};
use crate::model::Settlement;
use crate::model::{
    BlobRef, BoardInfo, BuildEvent, BuildId, BuildOutcome, CallId, Change, CheckKind, ContentHash,
    DecidedBy, Decision, DraftChange, Event, FindingLevel, FlashPlan, Ledger, LogId, LogKind,
    MarkedPassage, Outcome, PassageMark, ProposalEvent, ProposalId, Record, Seq, TeamEvent,
    Timestamp, ToolName, TurnEvent, TurnId, UserError, Verdict,
};
use crate::toolchain::{BuildJob, BuildReport, FlashOrder, Toolchain};
use crate::workspace::ProjectDir;

/// These tools neither record nor build.
struct Unused;

fn unused() -> UserError {
    UserError::new("Cannot do that", "the tools under test must not ask for it", "")
}

impl Ledger for Unused {
    fn record(&self, _: Event) -> Result<Seq, UserError> {
        Err(unused())
    }

    fn store(&self, _: &[u8]) -> Result<BlobRef, UserError> {
        Err(unused())
    }

    fn append_log(&self, _: LogId, _: &[u8]) -> Result<(), UserError> {
        Err(unused())
    }

    fn flush_log(&self, _: LogId) -> Result<(), UserError> {
        Err(unused())
    }
}

impl Toolchain for Unused {
    fn label(&self) -> String {
        "none".to_owned()
    }

    fn command(&self, _project: &std::path::Path) -> String {
        "none".to_owned()
    }

    fn build(&self, _: BuildJob) -> BoxFuture<'_, BuildReport> {
        let outcome = BuildOutcome::NotRun(unused());
        async move { BuildReport { outcome, diagnostics: Vec::new() } }.boxed()
    }

    fn plan_flash(
        &self,
        _: &std::path::Path,
        _: BuildId,
        _: Timestamp,
    ) -> Result<FlashPlan, UserError> {
        Err(unused())
    }

    fn flash(&self, _: FlashOrder) -> BoxFuture<'_, Result<BoardInfo, UserError>> {
        async { Err(unused()) }.boxed()
    }
}

/// A project folder with the tools on it.
pub(super) struct ToolBench {
    pub(super) folder: tempfile::TempDir,
    pub(super) context: ToolContext,
    registry: Registry,
}

impl ToolBench {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let names = "source: ESP-IDF v0\nheader driver/gpio.h esp_driver_gpio\ncomponent led\n";
        let docs = "---\ntitle: GPIO\nsource: manual\n---\n## Levels\nUse `gpio_set_level`.\n";
        let context = ToolContext {
            project_dir: Arc::new(ProjectDir::open(folder.path()).unwrap()),
            ledger: Arc::new(Unused),
            state: SharedState::default(),
            knowledge: Arc::new(Knowledge::new([("gpio.md", docs)]).unwrap()),
            names: Arc::new(NameList::parse("names.txt", names).unwrap()),
            assets: Assets::built_in(),
            toolchain: Arc::new(Unused),
            runner: crate::sandbox::Runner::of_this_program(),
            contents: None,
            serial: Arc::new(SerialHub::new(Arc::new(Unused))),
            limits: AnswerLimits {
                files: 3,
                file_bytes: 40,
                answer_bytes: 120,
                ..AnswerLimits::default()
            },
            cancel: crate::toolchain::StopSwitch::default(),
        };
        let registry = Registry::new(&context);
        Self { folder, context, registry }
    }

    /// The same with other bounds in its context.
    pub(super) fn remade(self) -> Self {
        let registry = Registry::new(&self.context);
        Self { registry, ..self }
    }

    pub(super) fn write(&self, path: &str, content: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(super) fn tool(&self, name: &str) -> Arc<dyn Tool> {
        self.registry.get(&ToolName::from(name)).unwrap()
    }

    pub(super) async fn call(&self, tool: &str, args: Value) -> Result<Reply, ToolError> {
        self.registry.get(&ToolName::from(tool)).unwrap().call(args).await
    }

    pub(super) async fn answer(&self, tool: &str, args: Value) -> Value {
        match self.call(tool, args).await {
            Ok(Reply::Answer(answer)) => answer,
            Ok(Reply::Propose { .. }) => panic!("{tool} proposed something"),
            Err(error) => error.to_answer(),
        }
    }

    fn fold(&self, event: Event) {
        self.context.state.fold(&Record { v: 1, seq: Seq(1), at: Timestamp(5), event });
    }

    /// Calls a tool the way the engine does, with the call and its answer on record.
    async fn recorded(&self, call: u32, tool: &str, args: Value) -> Value {
        let (turn, call) = (TurnId(1), CallId(call));
        self.fold(Event::Turn(TurnEvent::ToolCalled {
            turn,
            call,
            tool: tool.into(),
            args: args.clone(),
        }));
        let result = self.answer(tool, args).await;
        self.fold(Event::Turn(TurnEvent::ToolAnswered { call, result: result.clone(), millis: 1 }));
        result
    }
}

pub(super) fn settlement(
    number: u32,
    verdict: Verdict,
    by: DecidedBy,
    outcome: Outcome,
) -> Settlement {
    let decision = Decision { verdict, by, shown: ContentHash::of(b""), unseen: 0, stops: 0 };
    Settlement { proposal: ProposalId(number), decision, outcome }
}

#[test]
fn every_tool_has_a_closed_schema_and_words() {
    let desk = ToolBench::new();
    for entry in TOOLS {
        let spec = desk.registry.get(&ToolName::from(entry.name)).unwrap().spec();
        assert_eq!(spec.name.as_str(), entry.name);
        assert!(!spec.description.is_empty());
        assert_eq!(spec.schema["type"], "object", "{}", entry.name);
        assert_eq!(spec.schema["additionalProperties"], false, "{}", entry.name);
    }
}

#[test]
fn an_unknown_tool_is_told_with_the_known_ones() {
    let error = known(&ToolName::from("write_everything")).unwrap_err();
    assert!(error.fix.contains("generate_code") && error.fix.contains("read_file"), "{error:?}");
    assert!(known(&ToolName::from("generate_code")).is_ok());
}

#[tokio::test]
async fn wrong_arguments_name_the_field() {
    let desk = ToolBench::new();
    let cases = [
        ("generate_code", json!({ "files": [{ "file_name": "a.c" }] }), "files[0]"),
        ("generate_code", json!({ "files": [], "why": "x" }), "why"),
        ("generate_code", json!({ "files": [] }), "files"),
        ("read_file", json!({ "path": 3 }), "path"),
        ("retrieve_docs", json!({ "query": "x", "kind": "songs" }), "kind"),
        ("read_code_files", json!({ "all": true }), "all"),
        ("read_file", json!("main.c"), "object"),
    ];
    for (tool, args, field) in cases {
        let error = desk.call(tool, args.clone()).await.err().unwrap();
        assert_eq!(error.code, "bad_arguments", "{tool} {args}");
        assert!(error.message.contains(field), "{tool} {args}: {}", error.message);
    }
    for path in ["../x", "/etc/passwd", "a\u{202e}.c", ""] {
        let error = desk.call("read_file", json!({ "path": path })).await.err().unwrap();
        assert_eq!(error.code, "bad_path", "{path:?}");
    }
}

#[tokio::test]
async fn lists_are_bounded_and_leave_build_output_out() {
    let desk = ToolBench::new();
    for file in ["build/x.o", ".git/config", "secret.log", "main/a.c", "main/b.c", "z/c.c"] {
        desk.write(file, "x");
    }
    desk.write(".gitignore", "*.log\n");
    let listed = desk.answer("list_project_files", json!({})).await;
    assert_eq!(listed, json!({ "ok": true, "files": ["main/a.c", "main/b.c", "z/c.c"] }));
    desk.write("z/d.c", "x");
    let listed = desk.answer("list_project_files", json!({ "project_path": "." })).await;
    assert_eq!(listed["omitted"], 1);
    let part = desk.answer("list_project_files", json!({ "project_path": "main" })).await;
    assert_eq!(part["files"], json!(["main/a.c", "main/b.c"]));
}

#[tokio::test]
async fn long_files_are_cut_at_a_line_and_it_is_said() {
    let desk = ToolBench::new();
    desk.write("a.c", &"0123456789\n".repeat(10));
    let read = desk.answer("read_file", json!({ "path": "a.c" })).await;
    assert_eq!(read["content"], "0123456789\n".repeat(3));
    assert_eq!(read["omitted_bytes"], 77);
    desk.write("u.c", &"é".repeat(30));
    let read = desk.answer("read_file", json!({ "path": "u.c" })).await;
    assert_eq!(read["content"], "é".repeat(20));
    fs::write(desk.folder.path().join("bin"), [0xff, 0xfe, 0x00]).unwrap();
    let read = desk.answer("read_file", json!({ "path": "bin" })).await;
    assert_eq!(read["error"]["code"], "not_text");
    let read = desk.answer("read_file", json!({ "path": "no.c" })).await;
    assert_eq!(read["error"]["code"], "not_found");
}

#[tokio::test]
async fn sources_come_in_blocks_within_the_bound() {
    let desk = ToolBench::new();
    desk.write("main/main.c", "int a;\n");
    desk.write("README.md", "not a source\n");
    desk.write("CMakeLists.txt", "project(x)");
    let read = desk.answer("read_code_files", json!({})).await;
    let expected =
        "### File: CMakeLists.txt ###\nproject(x)\n\n### File: main/main.c ###\nint a;\n\n";
    assert_eq!(read["text"], expected);
    assert_eq!((&read["files"], read.get("cut")), (&json!(2), None));
    desk.write("big.c", &"x\n".repeat(50));
    let read = desk.answer("read_code_files", json!({})).await;
    assert_eq!(read["cut"][0]["path"], "big.c");
}

#[tokio::test]
async fn a_file_behind_a_link_out_of_the_project_cannot_be_read() {
    let desk = ToolBench::new();
    let outside = tempfile::NamedTempFile::new().unwrap();
    std::os::unix::fs::symlink(outside.path(), desk.folder.path().join("a.c")).unwrap();
    let read = desk.answer("read_file", json!({ "path": "a.c" })).await;
    assert_eq!(read["error"]["code"], "outside_project");
    let error =
        desk.call("generate_code", json!({ "files": [{ "file_name": "a.c", "code": "" }] }));
    assert_eq!(error.await.err().unwrap().code, "outside_project");
}

#[tokio::test]
async fn taken_names_are_told_and_a_good_list_is_remembered() {
    let desk = ToolBench::new();
    let files = |names: [&str; 2]| {
        let file = |name: &str| json!({ "file_name": name, "description": "x" });
        json!({ "files": names.map(file) })
    };
    let bad = desk.recorded(1, "file_name_checker", files(["main/main.c", "main/gpio.h"])).await;
    assert_eq!(bad["ok"], false);
    assert_eq!(bad["conflicts"][0]["suggestion"], "main/app_gpio.h");
    assert!(desk.context.state.snapshot().organized.is_empty());
    let good =
        desk.recorded(2, "file_name_checker", files(["main/main.c", "main/app_gpio.h"])).await;
    assert_eq!(good["ok"], true);
    let organized = desk.context.state.snapshot().organized;
    assert_eq!(organized.len(), 2);
    desk.recorded(3, "file_name_checker", files(["main/gpio.h", "b.c"])).await;
    assert_eq!(desk.context.state.snapshot().organized, organized);
    let refused = desk.answer("approve_saved_files", json!({})).await;
    assert_eq!(refused["error"]["code"], "files_missing");
    assert!(refused["error"]["message"].as_str().unwrap().contains("main/app_gpio.h"));
    desk.write("main/main.c", "");
    desk.write("main/app_gpio.h", "");
    assert_eq!(desk.answer("approve_saved_files", Value::Null).await["ok"], true);
}

#[tokio::test]
async fn a_list_with_a_path_outside_is_refused_and_not_remembered() {
    let desk = ToolBench::new();
    for outside in ["../x.c", "/etc/passwd", "main/../../x.c", "C:\\x.c", "~/x.c"] {
        let files = [("main/main.c", "x"), (outside, "y")]
            .map(|(name, what)| json!({ "file_name": name, "description": what }));
        let error = desk.call("file_name_checker", json!({ "files": files })).await.err().unwrap();
        assert_eq!(error.code, "bad_path", "{outside}");
        assert!(error.message.contains("files[1].file_name"), "{}", error.message);
    }
    assert!(desk.context.state.snapshot().organized.is_empty());
}

#[tokio::test]
async fn a_phase_that_builds_is_closed_by_a_fresh_build_only() {
    let desk = ToolBench::new();
    desk.context.state.set_goal(PhaseGoal::BuildPassed);
    let approve = || desk.answer("approve_saved_files", json!({}));
    assert_eq!(approve().await["ok"], false);
    let log = LogId { kind: LogKind::Build, number: 1 };
    let started = |build| {
        Event::Build(BuildEvent::Started { build: BuildId(build), log, command: "x".into() })
    };
    let ended = |build, outcome| {
        let diagnostics = Vec::new();
        Event::Build(BuildEvent::Ended {
            build: BuildId(build),
            outcome,
            diagnostics,
            millis: 1,
            size: None,
        })
    };
    desk.fold(started(1));
    assert_eq!(approve().await["ok"], false);
    desk.fold(ended(1, BuildOutcome::Failed));
    assert_eq!(approve().await["ok"], false);
    desk.fold(started(2));
    desk.fold(ended(2, BuildOutcome::Passed));
    assert_eq!(approve().await["build"], 2);
    assert_eq!(desk.context.state.snapshot().next_build(), BuildId(3));
    let path = crate::model::ProjectPath::new("a.c").unwrap();
    let content = BlobRef { hash: ContentHash::of(b""), bytes: 0 };
    desk.fold(Event::Proposal(ProposalEvent::Made(Box::new(Proposal {
        id: ProposalId(1),
        turn: TurnId(1),
        call: CallId(1),
        agent: "A".into(),
        tool: "generate_code".into(),
        reason: String::new(),
        batch: crate::model::Batch { id: crate::model::BatchId(1), index: 1, of: 1 },
        change: Change::Save { path, base: None, content },
        checks: Vec::new(),
        facts: crate::model::Facts::default(),
    }))));
    assert_eq!(approve().await["ok"], true);
    desk.fold(Event::Proposal(ProposalEvent::Settled {
        proposal: ProposalId(1),
        outcome: Outcome::Applied,
    }));
    assert_eq!(approve().await["error"]["code"], "build_not_passed");
}

#[tokio::test]
async fn passages_carry_title_source_and_score() {
    let desk = ToolBench::new();
    let found = desk.answer("retrieve_docs", json!({ "query": "gpio_set_level" })).await;
    assert_eq!(found["chunks"][0]["title"], "GPIO: Levels");
    assert_eq!(found["chunks"][0]["source"], "gpio.md#levels");
    assert!(found["chunks"][0]["score"].as_f64().unwrap() > 0.0);
    let none = desk.answer("retrieve_docs", json!({ "query": "zebra" })).await;
    assert_eq!(none, json!({ "ok": true, "chunks": [] }));
}

#[tokio::test]
async fn pinned_passages_come_first_muted_ones_never_and_numbers_go_on_within_a_turn() {
    let desk = ToolBench::new();
    let mark = |source: &str, mark| {
        let (source, title, text) = (source.to_owned(), "Mine".to_owned(), "Words.".to_owned());
        let marked = Box::new(MarkedPassage { source, title, text, mark });
        desk.fold(Event::Team(TeamEvent::PassageMarked(marked)));
    };
    let sources = |answer: &Value| -> Vec<(u64, String)> {
        let chunks = answer["chunks"].as_array().unwrap().iter();
        let of = |it: &Value| {
            (it["number"].as_u64().unwrap(), it["source"].as_str().unwrap().to_owned())
        };
        chunks.map(of).collect()
    };
    let (levels, mine) = ("gpio.md#levels".to_owned(), "a.rst#b".to_owned());
    mark("a.rst#b", PassageMark::Pinned);
    let first = desk.recorded(1, "retrieve_docs", json!({ "query": "gpio_set_level" })).await;
    assert_eq!(sources(&first), [(1, mine.clone()), (2, levels.clone())]);
    assert_eq!(first["chunks"][0]["text"], "Words.");
    let second = desk.recorded(2, "retrieve_docs", json!({ "query": "gpio_set_level" })).await;
    assert_eq!(sources(&second), [(3, mine.clone()), (4, levels.clone())]);
    desk.fold(Event::Turn(TurnEvent::Started { turn: TurnId(2), agent: "A".into(), step: None }));
    mark("gpio.md#levels", PassageMark::Muted);
    let third = desk.recorded(3, "retrieve_docs", json!({ "query": "gpio_set_level" })).await;
    assert_eq!(sources(&third), [(1, mine)]);
    mark("a.rst#b", PassageMark::None);
    mark("gpio.md#levels", PassageMark::Pinned);
    let last = desk.answer("retrieve_docs", json!({ "query": "gpio_set_level" })).await;
    assert_eq!(sources(&last), [(2, levels)], "a pinned passage is there once");
}

#[tokio::test]
async fn new_code_is_checked_and_proposed_file_by_file() {
    let desk = ToolBench::new();
    desk.write("main/old.c", "int old;\n");
    let code = |name: &str, code: &str| json!({ "file_name": name, "code": code });
    let files = json!([
        code("main/CMakeLists.txt", "idf_component_register(SRCS \"main.c\" INCLUDE_DIRS \".\")\n"),
        code("main/main.c", "void app_main(void) {}\n"),
        code("main/old.c", "int old = \u{202e}1;\n"),
        code("main/gpio.h", "int broken( {\n"),
    ]);
    let reply = desk.call("generate_code", json!({ "files": files, "reason": "first" })).await;
    let Ok(Reply::Propose { drafts, finish }) = reply else { panic!("nothing was proposed") };
    let status = |draft: usize, kind| {
        drafts[draft].checks.iter().find(|check| check.kind == kind).map(|check| check.level())
    };
    assert_eq!(status(1, CheckKind::InCmake), Some(None));
    assert_eq!(status(1, CheckKind::Parses), Some(None));
    assert_eq!(status(2, CheckKind::InCmake), Some(Some(FindingLevel::Warning)));
    assert_eq!(status(2, CheckKind::Text), Some(Some(FindingLevel::Stop)));
    assert_eq!(status(3, CheckKind::Name), Some(Some(FindingLevel::Warning)));
    assert_eq!(status(3, CheckKind::Parses), Some(Some(FindingLevel::Stop)));
    assert_eq!(status(3, CheckKind::InCmake), None);
    let bases: Vec<bool> = drafts
        .iter()
        .map(|draft| matches!(&draft.change, DraftChange::Save { base: Some(_), .. }))
        .collect();
    assert_eq!(bases, [false, false, true, false]);
    let stale = Outcome::Stale { found: None };
    let rejected = Verdict::reject("no tabs");
    let answer = finish(vec![
        settlement(1, Verdict::Approve, DecidedBy::Person, Outcome::Applied),
        settlement(2, rejected.clone(), DecidedBy::Person, Outcome::Denied),
        settlement(3, Verdict::Approve, DecidedBy::Person, stale),
        settlement(4, rejected, DecidedBy::Policy("deny **".into()), Outcome::Denied),
    ]);
    let answer = answer.await.unwrap();
    assert_eq!(answer["ok"], false);
    assert_eq!(answer["saved"], json!(["main/CMakeLists.txt"]));
    assert_eq!(answer["rejected"][0], json!({ "file_name": "main/main.c", "reason": "no tabs" }));
    assert_eq!(answer["rejected"][1]["reason"], "a rule forbids it: deny **");
    assert_eq!(answer["failed"][0]["file_name"], "main/old.c");
    assert_eq!(answer["registered_in"], json!(["main/CMakeLists.txt"]));
}

#[tokio::test]
async fn the_same_file_twice_is_refused() {
    let desk = ToolBench::new();
    let file = json!({ "file_name": "a.c", "code": "" });
    let twice = json!({ "files": [file, { "file_name": "./a.c", "code": "x" }] });
    let error = desk.call("generate_code", twice).await.err().unwrap();
    assert!(error.message.contains("files[1]"), "{}", error.message);
}
