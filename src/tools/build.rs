//! `build_project`: builds and tells what the compiler found.

use std::fs::{File, TryLockError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::entry::{TimeLimit, ToolEntry};
use super::{Reply, ToolContext, ToolError, answer, args, files};
use crate::model::{
    BuildEvent, BuildId, BuildOutcome, Diagnostic, Event, Ledger, LogId, LogKind, PersonEvent,
    ProgramSize, Severity, UserError, event::Level,
};
use crate::text::sanitize;
use crate::toolchain::other_builds::{self, OtherBuild};
use crate::toolchain::{BuildJob, BuildReport, BuildSink};
use crate::workspace::ProjectDir;

/// Progress is recorded at most this often.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// The end of the output that an answer holds when nothing in it was understood.
const TAIL_BYTES: usize = 4096;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BuildArgs {
    /// The folder of the project: `.`, or its absolute path; may be left out.
    #[serde(default)]
    project_path: Option<String>,
}

/// How often a build looks whether another one of the same project has ended.
const LOCK_POLL: Duration = Duration::from_millis(200);

/// Checks that the folder to build is the project's: a session builds one project.
///
/// # Errors
/// `bad_path` when it is another one.
pub(super) fn whole_project(
    project_dir: &ProjectDir,
    folder: Option<&str>,
) -> Result<(), ToolError> {
    let Some(folder) = folder else { return Ok(()) };
    let is_same =
        std::path::Path::new(folder).canonicalize().is_ok_and(|it| it == project_dir.root());
    if is_same || files::folder(project_dir, folder)?.is_empty() {
        return Ok(());
    }
    let message = format!("project_path: {folder} is not the folder of the project");
    Err(ToolError::new("bad_path", message, "Leave it out, or use `.`."))
}

/// Builds, for the board `fqbn` where the toolchain knows several; `None`: the project's own.
pub(super) async fn build(context: &ToolContext, fqbn: Option<String>) -> Result<Value, ToolError> {
    let ToolContext { ledger, toolchain, state, project_dir, limits, .. } = context;
    let _alone = alone(context).await?;
    let build = state.snapshot().next_build();
    let log = LogId { kind: LogKind::Build, number: build.0 };
    let command = toolchain.command(project_dir.root());
    ledger
        .record(Event::Build(BuildEvent::Started { build, log, command }))
        .map_err(not_recorded)?;
    let started = Instant::now();
    let sink = Arc::new(Sink {
        ledger: Arc::clone(ledger),
        build,
        log,
        seen: Mutex::new(SeenOutput { progress_at: None, tail: Vec::new(), lost: None }),
    });
    let cancel = context.cancel.child_token();
    // When whoever waits here goes away, the build must not go on unseen.
    let _ended = cancel.clone().drop_guard();
    let report = toolchain
        .build(BuildJob {
            project: project_dir.root().to_owned(),
            board: fqbn,
            sink: Arc::clone(&sink) as Arc<dyn BuildSink>,
            timeout: Duration::from_secs(limits.build_seconds),
            cancel,
        })
        .await;
    let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    ledger.flush_log(log).map_err(not_recorded)?;
    let BuildReport { outcome, diagnostics } = report;
    let size = match outcome {
        BuildOutcome::Passed => measure(context).await,
        _ => None,
    };
    let before = state.snapshot().size;
    let ended = Event::Build(BuildEvent::Ended {
        build,
        outcome: outcome.clone(),
        diagnostics: diagnostics.clone(),
        millis,
        size: size.clone().map(Box::new),
    });
    ledger.record(ended).map_err(not_recorded)?;
    if let Some(error) = sink.seen().lost.take() {
        return Err(not_recorded(error));
    }
    let mut reported = facts(context, build, &diagnostics, millis);
    // Somebody else who builds the project as well may be why it failed.
    if outcome == BuildOutcome::Failed
        && let Some(other) = other_build(context).await
    {
        let words = other.words();
        reported["note"] =
            json!(format!("{words} builds this project as well; each may disturb the other"));
    }
    let size = size.map(|size| size_json(&size, before.as_ref()));
    answer::set(&mut reported, "size", size);
    Ok(answer(context, &outcome, reported, &sink))
}

/// What an answer tells of every build.
fn facts(context: &ToolContext, build: BuildId, diagnostics: &[Diagnostic], millis: u64) -> Value {
    let ToolContext { toolchain, project_dir, limits, .. } = context;
    let mut reported = diagnostics_json(diagnostics, limits.diagnostics);
    reported["build"] = json!(build);
    reported["toolchain"] = json!(toolchain.label());
    reported["target"] = json!(toolchain.build_target(project_dir.root()));
    let tenths = u32::try_from(millis / 100).unwrap_or(u32::MAX);
    reported["seconds"] = json!(f64::from(tenths) / 10.0);
    reported
}

/// Waits until nobody else builds the project; it is locked until the answer is dropped. Where
/// folders cannot be locked, other programs of this kind are not waited for.
async fn alone(context: &ToolContext) -> Result<Option<File>, ToolError> {
    let mut wait = Wait { context, started: Instant::now(), was_announced: false };
    let folder = crate::files::open_folder(context.project_dir.root()).ok();
    let lock = 'locked: {
        let Some(folder) = folder else { break 'locked None };
        loop {
            match folder.try_lock() {
                Ok(()) => break 'locked Some(folder),
                Err(TryLockError::Error(_)) => break 'locked None,
                Err(TryLockError::WouldBlock) => {
                    wait.more("another session of Firmhand builds it").await?;
                }
            }
        }
    };
    while let Some(other) = other_build(context).await {
        wait.more(&format!("{} builds it", other.words())).await?;
    }
    Ok(lock)
}

/// A build of the project that the person runs.
async fn other_build(context: &ToolContext) -> Option<OtherBuild> {
    let project_dir = Arc::clone(&context.project_dir);
    let find = move || other_builds::running(project_dir.root());
    // It ends without a result only when the program ends.
    tokio::task::spawn_blocking(find).await.ok()?
}

/// What the program takes that was built.
async fn measure(context: &ToolContext) -> Option<ProgramSize> {
    let (toolchain, project_dir) =
        (Arc::clone(&context.toolchain), Arc::clone(&context.project_dir));
    // It ends without a result only when the program ends.
    tokio::task::spawn_blocking(move || toolchain.size(project_dir.root())).await.ok()?
}

fn answer(
    context: &ToolContext,
    outcome: &BuildOutcome,
    mut reported: Value,
    sink: &Sink,
) -> Value {
    let limit = context.limits.build_seconds;
    let error = match outcome {
        BuildOutcome::Passed => return answer::ok(reported),
        BuildOutcome::Failed => ToolError::new(
            "build_failed",
            "the project does not build",
            "Correct the errors at their places and build again.",
        ),
        BuildOutcome::TimedOut => ToolError::new(
            "build_timed_out",
            format!("the build was ended after {limit} seconds"),
            "Build again: what was built so far is kept.",
        ),
        BuildOutcome::Cancelled => ToolError::new("stopped", "the person stopped the build", ""),
        BuildOutcome::NotRun(error) => ToolError::from_user_error("build_not_run", error),
    };
    let is_unexplained = reported["errors"].as_array().is_none_or(Vec::is_empty);
    if is_unexplained && let Some(tail) = sink.tail() {
        reported["output_tail"] = Value::String(tail);
    }
    error.to_answer_with(reported)
}

/// Waiting for builds of others.
struct Wait<'a> {
    context: &'a ToolContext,
    started: Instant,
    was_announced: bool,
}

impl Wait<'_> {
    /// Waits a moment longer. The person is told once, and why.
    async fn more(&mut self, why: &str) -> Result<(), ToolError> {
        let ToolContext { limits, ledger, cancel, .. } = self.context;
        if self.started.elapsed() >= Duration::from_secs(limits.build_seconds) {
            let message = format!("another build of this project did not end: {why}");
            return Err(ToolError::new("busy", message, "Stop the other build first."));
        }
        if !self.was_announced {
            self.was_announced = true;
            let help = "It begins when the other one has ended; stop either of them.";
            let notice =
                UserError::new("The build waits for another one of this project", why, help);
            let noticed = PersonEvent::Noticed { level: Level::Info, notice };
            ledger.record(Event::Person(noticed)).map_err(not_recorded)?;
        }
        tokio::select! {
            () = cancel.cancelled() => {
                Err(ToolError::new("stopped", "the person stopped the build", ""))
            }
            () = tokio::time::sleep(LOCK_POLL) => Ok(()),
        }
    }
}

/// Lists diagnostics, errors first, within the bound.
fn diagnostics_json(diagnostics: &[Diagnostic], limit: usize) -> Value {
    let of = |severity: Severity| diagnostics.iter().filter(move |d| d.severity == severity);
    let errors: Vec<&Diagnostic> = of(Severity::Error).take(limit).collect();
    let warnings: Vec<&Diagnostic> = of(Severity::Warning).take(limit - errors.len()).collect();
    let notes: Vec<&Diagnostic> =
        of(Severity::Note).take(limit - errors.len() - warnings.len()).collect();
    let omitted = diagnostics.len() - errors.len() - warnings.len() - notes.len();
    let mut fields = json!({ "errors": errors, "warnings": warnings });
    answer::set(&mut fields, "notes", answer::filled(&notes));
    answer::set(&mut fields, "omitted", (omitted > 0).then_some(omitted));
    fields
}

/// A size for a model: bytes of each memory, how many more than before, and how many there are.
fn size_json(size: &ProgramSize, before: Option<&ProgramSize>) -> Value {
    let memory = size.uses.iter().map(|used| {
        let mut reported = json!({ "name": used.memory.label(), "bytes": used.bytes });
        let growth = before.and_then(|before| size.growth(before, used.memory));
        answer::set(&mut reported, "change", growth);
        answer::set(&mut reported, "limit", used.of);
        reported
    });
    let memory: Vec<Value> = memory.collect();
    let mut reported = json!({ "program": size.program, "memory": memory });
    if !size.host.is_empty() {
        reported["measured_on"] = json!(size.host);
    }
    reported
}

fn not_recorded(error: UserError) -> ToolError {
    ToolError::from_user_error("not_recorded", &error)
}

/// Brings a build's output and progress to the ledger.
struct Sink {
    ledger: Arc<dyn Ledger>,
    build: BuildId,
    log: LogId,
    seen: Mutex<SeenOutput>,
}

struct SeenOutput {
    progress_at: Option<Instant>,
    tail: Vec<u8>,
    /// The first failure to write the log.
    lost: Option<UserError>,
}

impl Sink {
    fn seen(&self) -> MutexGuard<'_, SeenOutput> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last whole lines of the output.
    fn tail(&self) -> Option<String> {
        let seen = self.seen();
        let text = sanitize::decode(&seen.tail);
        let text = sanitize::block(&sanitize::strip_sequences(&text)).into_owned();
        let text = text.trim_end();
        (!text.is_empty()).then(|| text.to_owned())
    }
}

impl BuildSink for Sink {
    fn output(&self, bytes: &[u8]) {
        let written = self.ledger.append_log(self.log, bytes);
        let mut seen = self.seen();
        if let (Err(error), None) = (written, &seen.lost) {
            seen.lost = Some(error);
        }
        seen.tail.extend_from_slice(bytes);
        let excess = seen.tail.len().saturating_sub(TAIL_BYTES);
        if excess > 0 {
            let start = seen.tail.iter().skip(excess).position(|&b| b == b'\n');
            let cut = start.map_or(excess, |start| excess + start + 1);
            seen.tail.drain(..cut);
        }
    }

    fn progress(&self, done: u32, total: u32) {
        let mut seen = self.seen();
        let is_due = seen.progress_at.is_none_or(|at| at.elapsed() >= PROGRESS_EVERY);
        if is_due || done >= total {
            seen.progress_at = Some(Instant::now());
            drop(seen);
            // Progress is for the eye; the outcome is what must not be lost.
            let _ = self.ledger.record(Event::Build(BuildEvent::Progress {
                build: self.build,
                done,
                total,
            }));
        }
    }
}

pub(super) const TOOL: ToolEntry = ToolEntry {
    name: "build_project",
    about: "Builds the project and reports errors and warnings with file, line, message and hint.",
    schema: args::schema::<BuildArgs>,
    time: TimeLimit::OfBuild,
    call: |call| {
        Box::pin(async move {
            let context = call.context;
            let BuildArgs { project_path } = call.args()?;
            whole_project(&context.project_dir, project_path.as_deref())?;
            build(context, None).await.map(Reply::Answer)
        })
    },
    ..ToolEntry::USUAL
};
