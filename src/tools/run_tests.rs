//! `run_tests`: runs tests over a copy of the project with the proposed files in it.
//!
//! Owns what is recorded of a run and what the agent reads of it. Nothing is saved.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::entry::{Call, TimeLimit, ToolEntry};
use super::run_code::rounded;
use super::scratch::{GivenFile, KeptCopies, Scratch, proposed_json};
use super::virtual_kit::load_kit;
use super::{Caller, Reply, ToolContext, ToolError, answer, args};
use crate::model::{
    Event, Ledger, LogId, LogKind, ProjectPath, TestCase, TestEvent, TestReport, UserError,
};
use crate::toolchain::scratch::{Coverage, OutputSink, RunEnv, TestLanguage, TestOrder, run_tests};

/// Seconds that tests have when the call does not say.
const SECONDS: u32 = 60;
const MAX_SECONDS: u32 = 600;

/// Beyond the tests' own time, for copying and compiling.
const MARGIN: Duration = Duration::from_secs(180);

/// Bytes of output that go to the log of a run.
const LOG: u64 = 16 << 20;

/// Tests in one answer, and bytes of output of one of them.
const ANSWER_TESTS: usize = 60;
const ANSWER_OUTPUT: usize = 2_000;

/// Tests with output in one answer.
const ANSWER_OUTPUTS: usize = 10;

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum LanguageWord {
    Python,
    /// And C++.
    #[serde(alias = "cpp", alias = "c++")]
    C,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunTestsArgs {
    /// What the tests are written in.
    language: LanguageWord,
    /// Files or folders with tests, relative to the project folder; all tests when left out.
    #[serde(default)]
    paths: Vec<String>,
    /// Proposed files that the tests run with, in addition to those of the project or in their place.
    /// Nothing is saved.
    #[serde(default)]
    files: Vec<GivenFile>,
    /// Seconds that the tests may take, 1 to 600; 60 when left out.
    #[serde(default)]
    timeout: Option<u32>,
    /// Whether to measure how much of the code the tests run through.
    #[serde(default)]
    coverage: bool,
}

async fn test(call: Call<'_>) -> Result<Value, ToolError> {
    let (context, caller) = (call.context, call.caller);
    let args: RunTestsArgs = call.args()?;
    let seconds = args.timeout.unwrap_or(SECONDS);
    let seconds = args::seconds(seconds, MAX_SECONDS, "Let it do less in one run.")?;
    let paths = args.paths.iter().enumerate();
    let paths = paths.map(|(index, path)| args::path(&format!("paths[{index}]"), path));
    let paths = paths.collect::<Result<Vec<ProjectPath>, _>>()?;
    let scratch = KeptCopies::default().filled(context, caller, None, args.files).await?;
    let language = match args.language {
        LanguageWord::Python => TestLanguage::Python,
        LanguageWord::C => TestLanguage::C,
    };
    let coverage = if args.coverage { Coverage::Measured } else { Coverage::NotMeasured };
    // Without it tests of firmware say which header is missing.
    let kit = load_kit(&context.assets).ok().map(Arc::new);
    let order = TestOrder { language, paths, coverage, kit };
    let time = Duration::from_secs(seconds.into());
    let report = record(context, &caller, scratch, &order, time).await?;
    Ok(answer_of(&report))
}

/// Runs the tests between the two records of a run.
async fn record(
    context: &ToolContext,
    caller: &Caller,
    scratch: Scratch,
    order: &TestOrder,
    time: Duration,
) -> Result<TestReport, ToolError> {
    let ToolContext { ledger, state, runner, project_dir, .. } = context;
    let run = state.begin_test_run(caller.turn);
    let log = LogId { kind: LogKind::Test, number: run.0 };
    let started = TestEvent::Started { run, log, command: command(order) };
    ledger.record(Event::Test(started)).map_err(not_recorded)?;
    let cancel = context.cancel.child_token();
    // When the caller goes away, the tests must not go on.
    let _ended = cancel.clone().drop_guard();
    let sink = Arc::new(LogSink::new(Arc::clone(ledger), log));
    let output: OutputSink = {
        let sink = Arc::clone(&sink);
        Arc::new(move |bytes: &[u8]| sink.take(bytes))
    };
    let mut env = RunEnv::new(runner, &scratch.folder, project_dir.root(), (output, cancel), time);
    let ran = run_tests(&mut env, order).await;
    ledger.flush_log(log).map_err(not_recorded)?;
    let mut report = ran.clone().unwrap_or_else(|error| TestReport {
        stopped: format!("{}: {}", error.what, error.why),
        ..TestReport::default()
    });
    report.proposed = scratch.proposed;
    report.notes.extend(scratch.notes);
    let ended = TestEvent::Ended { run, report: Box::new(report.clone()) };
    ledger.record(Event::Test(ended)).map_err(not_recorded)?;
    match (ran, sink.lost()) {
        (_, Some(error)) => Err(not_recorded(error)),
        (Err(error), None) => Err(ToolError::from_user_error("not_run", &error)),
        (Ok(_), None) => Ok(report),
    }
}

fn command(order: &TestOrder) -> String {
    let language = match order.language {
        TestLanguage::Python => "Python",
        TestLanguage::C => "C",
    };
    let paths: Vec<&str> = order.paths.iter().map(ProjectPath::as_str).collect();
    let paths = if paths.is_empty() { "all".to_owned() } else { paths.join(" ") };
    format!("tests in {language} · {paths}")
}

fn not_recorded(error: UserError) -> ToolError {
    ToolError::from_user_error("not_recorded", &error)
}

/// Brings what tests print to the log of the run, within a bound.
struct LogSink {
    ledger: Arc<dyn Ledger>,
    log: LogId,
    written: Mutex<(u64, Option<UserError>)>,
}

impl LogSink {
    fn new(ledger: Arc<dyn Ledger>, log: LogId) -> Self {
        Self { ledger, log, written: Mutex::new((0, None)) }
    }

    fn take(&self, bytes: &[u8]) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let space = usize::try_from(LOG.saturating_sub(written.0)).unwrap_or(usize::MAX);
        let kept = bytes.get(..space.min(bytes.len())).unwrap_or_default();
        written.0 += bytes.len() as u64;
        if !kept.is_empty()
            && let Err(error) = self.ledger.append_log(self.log, kept)
        {
            written.1.get_or_insert(error);
        }
    }

    fn lost(&self) -> Option<UserError> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).1.take()
    }
}

fn answer_of(report: &TestReport) -> Value {
    let shown = report.tests.iter().take(ANSWER_TESTS).enumerate();
    let tests: Vec<Value> = shown.map(|(index, test)| test_json(index, test)).collect();
    let omitted = report.tests.len() - tests.len() + report.omitted as usize;
    let mut fields = json!({
        "framework": report.framework,
        "counts": report.counts,
        "seconds": rounded(Duration::from_millis(report.millis)),
        "tests": tests,
    });
    answer::set(&mut fields, "omitted", (omitted > 0).then_some(omitted));
    answer::set(&mut fields, "with", answer::filled(&proposed_json(&report.proposed)));
    if !report.checking_nothing.is_empty() {
        let names: Vec<&String> = report.checking_nothing.iter().take(ANSWER_TESTS).collect();
        fields["checking_nothing"] = json!({
            "tests": names,
            "hint": "These passed, but assert nothing: add an assertion that could be false.",
        });
    }
    answer::set(&mut fields, "notes", answer::filled(&report.notes));
    answer::set(&mut fields, "coverage_percent", report.coverage);
    if report.has_passed() {
        return answer::ok(fields);
    }
    let (code, hint) = match (report.counts.total(), report.stopped.is_empty()) {
        (_, false) => ("tests_stopped", "See the last test and its output."),
        (0, true) => ("no_tests", "See `notes`; name the files with tests in `paths`."),
        (_, true) => {
            ("tests_failed", "Correct the code, or the test if it is wrong, and run them again.")
        }
    };
    ToolError::new(code, report.summary(), hint).to_answer_with(fields)
}

fn test_json(index: usize, test: &TestCase) -> Value {
    let mut fields = json!({ "name": test.name, "outcome": test.outcome });
    if test.millis > 0 {
        fields["seconds"] = json!(rounded(Duration::from_millis(test.millis)));
    }
    if !test.message.is_empty() {
        fields["message"] = json!(test.message);
    }
    if let Some(file) = &test.file {
        fields["file"] = json!(file);
        fields["line"] = json!(test.line);
    }
    if test.outcome.is_bad() && index < ANSWER_OUTPUTS && !test.output.is_empty() {
        fields["output"] = json!(answer::cut(&test.output, ANSWER_OUTPUT).0);
    }
    fields
}

pub(super) const TOOL: ToolEntry = ToolEntry {
    name: "run_tests",
    about: "Runs tests in a project_dir over a copy of the project and reports each with its result, \
         message and place. Python: pytest, or unittest; C and C++: Unity, Criterion, TAP, CTest, or \
         a program that ends with 0; code that includes ESP-IDF headers runs on the virtual board. Files in `files` are used without being saved, so that a \
         change is tested before it is proposed.",
    schema: args::schema::<RunTestsArgs>,
    time: TimeLimit::Of(Duration::from_secs(MAX_SECONDS as u64).saturating_add(MARGIN)),
    call: |call| Box::pin(async move { test(call).await.map(Reply::Answer) }),
    ..ToolEntry::USUAL
};
