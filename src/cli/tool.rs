//! `firmhand tool NAME`: one call of a tool, from the command line.
//!
//! Owns the making of a session for it. What a tool would change is refused, unless the rules of a
//! policy file decide on it.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::tool_effects::{CallJournal, builds_for};
use super::{check_change, diagnose, report, runtime};
use crate::app::documentation::Documentation;
use crate::app::machine::Machine;
use crate::app::shipped::{load_adapters, load_names};
use crate::app::trust::Trust;
use crate::device::{Programs, SerialHub};
use crate::knowledge::{Knowledge, NameList};
use crate::model::{ContentHash, Ledger, ToolName, UserError};
use crate::toolchain::{
    ArduinoToolchain, BuildSandbox, IdfToolchain, PlatformioToolchain, StopSwitch, Toolchain,
    ToolchainKind, VirtualToolchain, fitting,
};
use crate::tools::load_kit;
use crate::tools::{self, Registry, Reply, SharedState, ToolContext, ToolError, Unkept};
use crate::workspace::ProjectDir;

/// Why a change that no policy decides is not made.
const NEEDS_PERSON: &str = "this changes something, so a person has to decide on the screen";

/// Where a person or a policy decides.
const WHERE_PERSON: &str = "Run it in a session (`firmhand new TASK`), or name a file of rules that allow it: `--policy FILE`.";

/// Tools that build.
const BUILDS: &[&str] = &["build_project", "build_arduino"];

/// The folder that arguments name as their project: tools take its absolute path from anywhere.
pub fn project_in(args: &str) -> Option<PathBuf> {
    let args: Value = serde_json::from_str(args).ok()?;
    let folder = PathBuf::from(args.get("project_path")?.as_str()?);
    (folder.is_absolute() && folder.is_dir()).then_some(folder)
}

/// What becomes of changes that a tool wants to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effects {
    /// Nothing is changed.
    Refused,
    /// The policy of the settings decides.
    ByPolicy,
}

/// Calls a tool in `project` and prints its answer, one JSON object. Exit codes: 0 for
/// `"ok": true`, 1 for `"ok": false`.
///
/// # Errors
/// When the answer cannot be printed.
pub fn call(
    machine: &Machine,
    (name, effects): (&str, Effects),
    args: &str,
    project: &Path,
) -> Result<ExitCode, UserError> {
    answer_to(machine, (name, effects), args, project).or_else(|(code, error)| {
        report::json(&ToolError::from_user_error(code, &error).to_answer())?;
        Ok(ExitCode::FAILURE)
    })
}

/// As [`call`]; what could not even be asked is an error with its code.
fn answer_to(
    machine: &Machine,
    (name, effects): (&str, Effects),
    args: &str,
    project: &Path,
) -> Result<ExitCode, (&'static str, UserError)> {
    let not_run = |error| ("not_run", error);
    let bad = |error| ("bad_arguments", error);
    let name = ToolName::new(name);
    if name.as_str() == check_change::NAME {
        let names = known_names(machine, project).map_err(not_run)?;
        let args = check_change::parse(args).map_err(bad)?;
        let answer = check_change::answer(project, names, args).map_err(bad)?;
        return report::json(&answer).map(|()| ExitCode::SUCCESS).map_err(not_run);
    }
    if name.as_str() == diagnose::NAME {
        return diagnose::tool(args, project).map_err(bad);
    }
    tools::known(&name).map_err(|error| ("unknown_tool", error))?;
    let args: Value = serde_json::from_str(args).map_err(|error| {
        let fix = "Write e.g. `--args '{\"port\": \"/dev/ttyUSB0\", \"timeout\": 3}'`.";
        bad(UserError::new("Cannot read the arguments as JSON", error.to_string(), fix))
    })?;
    run(machine, (&name, effects), args, project).map_err(not_run)
}

fn run(
    machine: &Machine,
    (name, effects): (&ToolName, Effects),
    args: Value,
    project: &Path,
) -> Result<ExitCode, UserError> {
    let runtime = runtime::engine()?;
    let mut answer = runtime.block_on(async {
        let builds = match effects {
            Effects::ByPolicy => builds_for(name.as_str()).map(ToolName::new),
            Effects::Refused => None,
        };
        if let Err(error) = check_trust(machine, builds.as_ref().unwrap_or(name), project) {
            return Ok(ToolError::from_user_error("untrusted", &error).to_answer());
        }
        let journal = match effects {
            Effects::ByPolicy => Some(CallJournal::begin(machine, name)?),
            Effects::Refused => None,
        };
        let context = context(machine, project, journal.as_ref())?;
        let registry = Registry::new(&context);
        let tool = registry.get(name)?;
        let limit = tool.timeout();
        let cancel = context.cancel.clone();
        // What was started is ended, and the answer says so.
        let _interrupt = tokio::spawn(async move {
            interrupted().await;
            cancel.cancel();
        });
        if let Some(journal) = &journal
            && let Some(failed) = journal.build_first(&registry, name, &args).await?
        {
            return Ok(failed);
        }
        let answer = match tokio::time::timeout(limit, tool.call(args)).await {
            Ok(Ok(Reply::Answer(answer))) => answer,
            Ok(Ok(Reply::Propose { drafts, finish })) => match &journal {
                Some(journal) => journal.decide(machine, &context, name, (drafts, finish)).await,
                None => ToolError::new("needs_approval", NEEDS_PERSON, WHERE_PERSON).to_answer(),
            },
            Ok(Err(error)) => error.to_answer(),
            Err(_) => {
                let message = format!("no answer within {} s", limit.as_secs());
                ToolError::new("timed_out", message, "").to_answer()
            }
        };
        Ok::<_, UserError>(answer)
    })?;
    // It was built for the virtual board, where another toolchain was expected.
    if let Some(error) = missing(project).filter(|_| BUILDS.contains(&name.as_str())) {
        let words = format!("built for the virtual board: {}. {}", error.why, error.fix);
        answer["notice"] = json!(words);
    }
    // A blocked read of a device must not hold the answer up.
    runtime.shutdown_background();
    report::json(&answer)?;
    let is_ok = answer.get("ok") == Some(&Value::Bool(true));
    Ok(if is_ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Waits until the person or the system wants the program to end.
async fn interrupted() {
    let signals = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let mut all: Vec<Signal> = signals.into_iter().filter_map(|kind| signal(kind).ok()).collect();
    let any = all.iter_mut().map(|one| Box::pin(one.recv()));
    futures::future::select_all(any).await;
}

/// The names of the framework and the documentation, which checks of a change ask.
fn known_names(
    machine: &Machine,
    project: &Path,
) -> Result<(NameList, Option<Arc<Knowledge>>), UserError> {
    let names = load_names(&machine.assets, toolchain(machine, project)?.as_ref())?;
    Ok((names, Some(knowledge(machine, project)?)))
}

/// A build by a real toolchain runs what the project brings; PlatformIO reads its configuration also
/// to name its boards, which may lead it anywhere.
fn check_trust(machine: &Machine, name: &ToolName, project: &Path) -> Result<(), UserError> {
    let asks =
        name.as_str() == "list_boards" && fitting(project).contains(&ToolchainKind::Platformio);
    if (BUILDS.contains(&name.as_str()) || asks) && is_installed(project) {
        return Trust::of(&machine.dirs.data).check(project);
    }
    Ok(())
}

/// Prints the name of every tool and the first sentence about it.
///
/// # Errors
/// When a part of the session that tools need cannot be made.
pub fn list(machine: &Machine, project: &Path) -> Result<ExitCode, UserError> {
    let specs = runtime::engine()?.block_on(async {
        Ok::<_, UserError>(Registry::new(&context(machine, project, None)?).all())
    })?;
    let space = specs.iter().map(|spec| spec.name.as_str().len()).max().unwrap_or(0);
    report::line(&format!("{:space$}  {}", check_change::NAME, check_change::ABOUT));
    report::line(&format!("{:space$}  {}", diagnose::NAME, diagnose::ABOUT));
    for spec in specs {
        let about = spec.description.split_inclusive(". ").next().unwrap_or_default().trim();
        report::line(&format!("{:space$}  {about}", spec.name.as_str()));
    }
    Ok(ExitCode::SUCCESS)
}

fn context(
    machine: &Machine,
    project: &Path,
    journal: Option<&CallJournal>,
) -> Result<ToolContext, UserError> {
    let ledger: Arc<dyn Ledger> = match journal {
        Some(journal) => Arc::clone(&journal.recorder) as _,
        None => Arc::new(Unkept),
    };
    let project_dir = Arc::new(ProjectDir::open(project)?);
    let toolchain = toolchain(machine, project_dir.root())?;
    let hub = SerialHub::new(Arc::clone(&ledger))
        .knowing(load_adapters(&machine.assets)?, Programs::of_project(project_dir.root()));
    Ok(ToolContext {
        project_dir,
        ledger,
        state: journal.map_or_else(SharedState::default, |journal| journal.recorder.state()),
        knowledge: knowledge(machine, project)?,
        names: Arc::new(load_names(&machine.assets, toolchain.as_ref())?),
        assets: machine.assets.clone(),
        toolchain,
        runner: machine.runner.with_consent(Trust::of(&machine.dirs.data).consent(project)?),
        contents: None,
        serial: Arc::new(hub),
        limits: tools::AnswerLimits {
            build_seconds: u64::from(machine.settings.limits.build_seconds.value),
            monitor_seconds: machine.settings.limits.monitor_seconds.value,
            ..tools::AnswerLimits::default()
        },
        cancel: StopSwitch::default(),
    })
}

/// What is searched: documents without an index are indexed by `firmhand search` and in sessions.
fn knowledge(machine: &Machine, project: &Path) -> Result<Arc<Knowledge>, UserError> {
    let library = Documentation::of(machine, Some(project)).library(&|_| Ok(false))?;
    Ok(Arc::new(Knowledge::of(library)))
}

/// The toolchain that a session in that folder would have.
fn toolchain(machine: &Machine, project: &Path) -> Result<Arc<dyn Toolchain>, UserError> {
    let runner = machine.runner.with_consent(Trust::of(&machine.dirs.data).consent(project)?);
    // One simulated board for each project, which keeps what one call has flashed for the next one.
    let place = project.canonicalize().unwrap_or_else(|_| project.to_owned());
    let mut name = ContentHash::of(place.as_os_str().as_bytes()).to_string();
    name.truncate(16);
    let board = machine.dirs.data.join("boards").join(name);
    if let Some(installed) = installed(project, &machine.build_sandbox(runner), &board) {
        return Ok(installed);
    }
    Ok(Arc::new(VirtualToolchain::new(load_kit(&machine.assets)?, board, machine.runner.clone())))
}

/// Why no toolchain for such a project was found; `None` when one was, or none is needed.
fn missing(project: &Path) -> Option<UserError> {
    if is_installed(project) {
        return None;
    }
    fitting(project).iter().find_map(|kind| not_found(*kind))
}

/// Why a toolchain is not installed, if it is not.
fn not_found(kind: ToolchainKind) -> Option<UserError> {
    match kind {
        ToolchainKind::Idf => IdfToolchain::find().err(),
        ToolchainKind::Arduino => ArduinoToolchain::find().err(),
        ToolchainKind::Platformio => PlatformioToolchain::find().err(),
    }
}

/// The toolchain for such a project that is installed here; its builds run in that sandbox.
fn installed(project: &Path, builds: &BuildSandbox, board: &Path) -> Option<Arc<dyn Toolchain>> {
    fitting(project).iter().find_map(|kind| -> Option<Arc<dyn Toolchain>> {
        let builds = builds.clone();
        Some(match kind {
            ToolchainKind::Idf => {
                let idf = IdfToolchain::find().ok()?;
                let idf = idf.with_host_folder(board.to_owned(), builds.runner.clone());
                Arc::new(idf.with_build_sandbox(builds))
            }
            ToolchainKind::Arduino => {
                Arc::new(ArduinoToolchain::find().ok()?.with_build_sandbox(builds))
            }
            ToolchainKind::Platformio => {
                Arc::new(PlatformioToolchain::find().ok()?.with_build_sandbox(builds))
            }
        })
    })
}

/// Whether a toolchain for such a project is installed here.
fn is_installed(project: &Path) -> bool {
    fitting(project).iter().any(|kind| not_found(*kind).is_none())
}
