//! `run_code`: runs a program over a copy of the project, in the sandbox.
//!
//! Must not write the project: what a program writes stays in the copy.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::entry::{Call, TimeLimit, ToolEntry};
use super::scratch::{GivenFile, proposed_json};
use super::{Reply, ToolError, answer, args};
use crate::model::ProjectPath;
use crate::toolchain::scratch::{CodeResult, CodeRun, Language, RunEnv, run_code};

/// Seconds that a program has when the call does not say.
const SECONDS: u32 = 10;
const MAX_SECONDS: u32 = 300;

/// Beyond the program's own time, for copying, compiling and ending it.
const MARGIN: Duration = Duration::from_secs(90);

/// Bytes of each stream in an answer.
const ANSWER: usize = 32 << 10;

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum LanguageWord {
    Python,
    C,
    #[serde(alias = "c++")]
    Cpp,
    Shell,
    Reverty,
}

impl From<LanguageWord> for Language {
    fn from(word: LanguageWord) -> Self {
        match word {
            LanguageWord::Python => Self::Python,
            LanguageWord::C => Self::C,
            LanguageWord::Cpp => Self::Cxx,
            LanguageWord::Shell => Self::Shell,
            LanguageWord::Reverty => Self::Reverty,
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunCodeArgs {
    language: LanguageWord,
    /// The file the program begins in, relative to the project folder; or give `code`.
    #[serde(default)]
    entry: Option<String>,
    /// The whole program; or name its `entry`.
    #[serde(default)]
    code: Option<String>,
    /// Its arguments.
    #[serde(default)]
    args: Vec<String>,
    /// What it reads from standard input.
    #[serde(default)]
    stdin: String,
    /// Files that the program finds in the project folder, in addition to those that are there or in
    /// their place. Nothing is saved.
    #[serde(default)]
    files: Vec<GivenFile>,
    /// Name of a folder that later calls with the same name continue with: they find what this
    /// program wrote.
    #[serde(default)]
    keep: Option<String>,
    /// Seconds that it may take, 1 to 300; 10 when left out.
    #[serde(default)]
    timeout: Option<u32>,
}

async fn run(call: Call<'_>) -> Result<Value, ToolError> {
    let (context, kept, caller) = (call.context, &call.memory.copies, call.caller);
    let mut args: RunCodeArgs = call.args()?;
    let seconds = args.timeout.unwrap_or(SECONDS);
    let seconds = args::seconds(seconds, MAX_SECONDS, "Let it do less in one run.")?;
    let language = Language::from(args.language);
    let entry = entry(&mut args, language)?;
    // Each of several chats has copies of its own.
    let name = args.keep.map(|name| match caller.step {
        Some(step) => format!("step {step}/{name}"),
        None => name,
    });
    let mut scratch = kept.filled(context, caller, name.clone(), args.files).await?;
    match &entry {
        EntryPoint::File(path) if !scratch.folder.files().any(|known| known == path) => {
            let message = format!("there is no file `{path}`");
            let hint = "Name a file of the project, or give it in `files`.";
            return Err(ToolError::new("no_such_file", message, hint));
        }
        EntryPoint::File(_) => {}
        EntryPoint::Code(path, code) => {
            let put = scratch.folder.put(path, code.as_bytes());
            put.map_err(|error| ToolError::from_user_error("not_copied", &error))?;
        }
    }
    scratch.folder.clear_results();
    let cancel = context.cancel.child_token();
    // When the caller goes away, the program must not go on.
    let _ended = cancel.clone().drop_guard();
    let order = CodeRun {
        language,
        entry: entry.path().clone(),
        args: args.args,
        input: args.stdin.into_bytes(),
    };
    let root = context.project_dir.root();
    let ends = (Arc::new(|_: &[u8]| {}) as _, cancel);
    let time = Duration::from_secs(seconds.into());
    let mut env = RunEnv::new(&context.runner, &scratch.folder, root, ends, time);
    let result = run_code(&mut env, order).await;
    let proposed = proposed_json(&scratch.proposed);
    if let Some(name) = name {
        kept.keep(name, scratch.folder);
    }
    let result = result.map_err(|error| ToolError::from_user_error("not_run", &error))?;
    Ok(answer_of(&result, seconds, proposed, &scratch.notes))
}

/// Where the program begins.
enum EntryPoint {
    File(ProjectPath),
    Code(ProjectPath, String),
}

impl EntryPoint {
    const fn path(&self) -> &ProjectPath {
        match self {
            Self::File(path) | Self::Code(path, _) => path,
        }
    }
}

fn entry(args: &mut RunCodeArgs, language: Language) -> Result<EntryPoint, ToolError> {
    match (args.entry.take(), args.code.take()) {
        (Some(entry), None) => Ok(EntryPoint::File(args::path("entry", &entry)?)),
        (None, Some(code)) => {
            let name = format!("run_code_main.{}", language.ending());
            Ok(EntryPoint::Code(args::path("code", &name)?, code))
        }
        (Some(entry), Some(code)) => Ok(EntryPoint::Code(args::path("entry", &entry)?, code)),
        (None, None) => {
            let hint = "Give the program as `code`, or name the file it begins in as `entry`.";
            Err(ToolError::new("bad_arguments", "there is no program to run", hint))
        }
    }
}

fn answer_of(result: &CodeResult, seconds: u32, proposed: Vec<Value>, notes: &[String]) -> Value {
    let (output, output_cut) = answer::cut(&result.output, ANSWER);
    let (errors, errors_cut) = answer::cut(&result.errors, ANSWER);
    let mut fields = json!({
        "exit_code": result.code,
        "seconds": rounded(result.took),
        "memory_peak_kib": result.peak >> 10,
        "stdout": output,
        "stderr": errors,
    });
    let cut = result.cut + (output_cut + errors_cut) as u64;
    answer::set(&mut fields, "bytes_left_out", (cut > 0).then_some(cut));
    answer::set(&mut fields, "signal", result.signal);
    answer::set(&mut fields, "stopped_by", result.wall.as_ref());
    answer::set(&mut fields, "with", answer::filled(&proposed));
    answer::set(&mut fields, "notes", answer::filled(notes));
    match fault(result, seconds) {
        None => answer::ok(fields),
        Some(error) => error.to_answer_with(fields),
    }
}

fn fault(result: &CodeResult, seconds: u32) -> Option<ToolError> {
    if result.was_cancelled {
        return Some(ToolError::new("stopped", "the person stopped the run", ""));
    }
    if !result.did_run {
        let message = "the program does not compile";
        return Some(ToolError::new("not_compiled", message, "Correct the errors in `stdout`."));
    }
    match (result.wall.as_deref(), result.code, result.signal) {
        (Some("time"), None, None) => {
            let message = format!("the program was ended after {seconds} seconds");
            let hint = "Let it end by itself, or give a longer `timeout`.";
            Some(ToolError::new("time_limit", message, hint))
        }
        (Some("network"), ..) => {
            let hint = "The sandbox has no network; give what the program needs in `files`. A program reaches itself over loopback only where the machine has namespaces: `firmhand doctor`.";
            Some(ToolError::new("no_network", "the program tried to reach the network", hint))
        }
        (Some("file"), ..) => {
            let message = "the program may not read or write one of its files";
            let hint = "It may read and write the project's folder, which is a copy, and TMPDIR.";
            Some(ToolError::new("file_limit", message, hint))
        }
        (Some(wall), ..) => {
            let message = format!("the program took too much ({wall})");
            Some(ToolError::new("limit_reached", message, "Let it do with less."))
        }
        (None, Some(0), _) => None,
        (None, Some(code), _) => {
            let message = format!("the program ended with exit code {code}");
            Some(ToolError::new("program_failed", message, "See `stderr`."))
        }
        (None, None, signal) => {
            let message = format!("the program was ended by signal {}", signal.unwrap_or(0));
            Some(ToolError::new("program_failed", message, "See `stderr`."))
        }
    }
}

/// Seconds with two digits.
pub(super) fn rounded(time: Duration) -> f64 {
    (time.as_secs_f64() * 100.0).round() / 100.0
}

pub(super) const TOOL: ToolEntry = ToolEntry {
    name: "run_code",
    about: "Runs a program (Python, C, C++, shell, Reverty) in a project_dir over a copy of the project \
         and reports exit code, output, time and memory. `files` are in the copy without being \
         saved. There is no network, and the project itself is not changed.",
    schema: args::schema::<RunCodeArgs>,
    time: TimeLimit::Of(Duration::from_secs(MAX_SECONDS as u64).saturating_add(MARGIN)),
    call: |call| Box::pin(async move { run(call).await.map(Reply::Answer) }),
    ..ToolEntry::USUAL
};
