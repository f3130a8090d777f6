//! `check_program`: whether programs in Python or Reverty hold before they are run.
//!
//! Owns the order of the checks and the places in Reverty. Nothing is saved.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::entry::{TimeLimit, ToolEntry};
use super::scratch::{GivenFile, KeptCopies, Scratch};
use super::{Caller, Reply, ToolContext, ToolError, answer, args};
use crate::model::ProjectPath;
use crate::text::reverty::{self, Python};
use crate::toolchain::scratch::{CheckError, CheckStep, PythonChecked, RunEnv, check_python};

/// Seconds that all checks may take together.
const SECONDS: u64 = 120;

/// Beyond that, for copying.
const MARGIN: Duration = Duration::from_secs(60);

/// Errors in one answer.
const ANSWER_ERRORS: usize = 40;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CheckProgramArgs {
    /// The files with their whole content: programs (`.py`, `.rev`) and their tests. Nothing is saved.
    files: Vec<GivenFile>,
}

/// A program in Reverty, and what became of it.
struct Translated {
    source: ProjectPath,
    target: ProjectPath,
    python: Python,
}

async fn check(context: &ToolContext, args: CheckProgramArgs) -> Result<Value, ToolError> {
    let mut python: Vec<ProjectPath> = Vec::new();
    let mut sources: Vec<(ProjectPath, String)> = Vec::new();
    for (index, file) in args.files.iter().enumerate() {
        let path = args::path(&format!("files[{index}].file_name"), file.name())?;
        match ending(&path) {
            Some("py") => python.push(path),
            Some("rev") => sources.push((path, file.text().to_owned())),
            Some(_) | None => {}
        }
    }
    if python.is_empty() && sources.is_empty() {
        let hint = "Give at least one file that ends with .py or .rev.";
        return Err(ToolError::new("no_program", "there is no program to check", hint));
    }
    let mut checked = PythonChecked::default();
    let made = translate(&sources, &mut checked)?;
    // What was made anew replaces what was made before.
    python.retain(|path| made.iter().all(|of| of.target != *path));
    python.extend(made.iter().map(|of| of.target.clone()));
    if checked.errors.is_empty() && !python.is_empty() {
        let found = run(context, args.files, &made, &python).await?;
        checked.steps.extend(found.steps);
        checked.errors.extend(found.errors.into_iter().map(|error| in_source(error, &made)));
        checked.notes.extend(found.notes);
    }
    Ok(answer_of(&checked, &made))
}

/// What looks at Python, over a copy of the project.
async fn run(
    context: &ToolContext,
    given: Vec<GivenFile>,
    made: &[Translated],
    python: &[ProjectPath],
) -> Result<PythonChecked, ToolError> {
    let copies = KeptCopies::default();
    let Scratch { mut folder, .. } = copies.filled(context, Caller::default(), None, given).await?;
    for of in made {
        let put = folder.put(&of.target, of.python.text.as_bytes());
        put.map_err(|error| ToolError::from_user_error("not_copied", &error))?;
    }
    let cancel = context.cancel.child_token();
    // When the caller goes away, the checks must not go on.
    let _ended = cancel.clone().drop_guard();
    let root = context.project_dir.root();
    let ends = (Arc::new(|_: &[u8]| {}) as _, cancel);
    let time = Duration::from_secs(SECONDS);
    let mut env = RunEnv::new(&context.runner, &folder, root, ends, time);
    let files: Vec<String> = python.iter().map(ToString::to_string).collect();
    let found = check_python(&mut env, &files).await;
    found.map_err(|error| ToolError::from_user_error("not_checked", &error))
}

fn ending(path: &ProjectPath) -> Option<&str> {
    path.as_str().rsplit_once('.').map(|(_, ending)| ending)
}

/// Parses and translates programs in Reverty; what is wrong goes to `checked`.
fn translate(
    sources: &[(ProjectPath, String)],
    checked: &mut PythonChecked,
) -> Result<Vec<Translated>, ToolError> {
    let mut made = Vec::new();
    for (source, text) in sources {
        let stem = source.as_str().strip_suffix(".rev").unwrap_or(source.as_str());
        let target = args::path("file_name", &format!("{stem}.py"))?;
        match reverty::to_python(text) {
            Ok(python) => made.push(Translated { source: source.clone(), target, python }),
            Err(faults) => checked.errors.extend(faults.into_iter().map(|fault| CheckError {
                step: "reverty".to_owned(),
                file: source.to_string(),
                line: fault.line,
                column: fault.column,
                message: format!("{} {}", fault.message, fault.hint).trim().to_owned(),
            })),
        }
    }
    if !sources.is_empty() {
        checked.steps.push(CheckStep {
            step: "reverty".to_owned(),
            tool: "translation to Python".to_owned(),
            ok: Some(checked.errors.is_empty()),
            note: String::new(),
        });
    }
    Ok(made)
}

/// An error in translated Python at its place in Reverty.
fn in_source(mut error: CheckError, made: &[Translated]) -> CheckError {
    let of = made.iter().find(|of| of.target.as_str() == error.file);
    if let Some(of) = of
        && let Some(line) = of.python.line_of(error.line as usize)
    {
        error.message = format!("{} ({}:{})", error.message, error.file, error.line);
        (error.file, error.line, error.column) = (of.source.to_string(), line, 1);
    }
    error
}

fn answer_of(checked: &PythonChecked, made: &[Translated]) -> Value {
    let shown: Vec<&CheckError> = checked.errors.iter().take(ANSWER_ERRORS).collect();
    let made = made.iter().map(|of| json!({ "file_name": of.target, "code": of.python.text }));
    let mut fields = json!({ "steps": checked.steps });
    let made: Vec<Value> = made.collect();
    answer::set(&mut fields, "made", answer::filled(&made));
    answer::set(&mut fields, "notes", answer::filled(&checked.notes));
    if checked.errors.is_empty() {
        return answer::ok(fields);
    }
    fields["errors"] = json!(shown);
    let message = match checked.errors.len() {
        1 => "there is 1 error".to_owned(),
        many => format!("there are {many} errors"),
    };
    let hint = "Correct each at its place, and give the files again.";
    ToolError::new("check_failed", message, hint).to_answer_with(fields)
}

pub(super) const TOOL: ToolEntry = ToolEntry {
    name: "check_program",
    about: "Checks programs in Python or Reverty before they are run, in a project_dir: Reverty is \
         translated to Python; Python is parsed, and looked at by flake8 or ruff and by mypy where \
         they are installed; tests are collected. Each error has its place. Nothing is saved.",
    schema: args::schema::<CheckProgramArgs>,
    time: TimeLimit::Of(Duration::from_secs(SECONDS).saturating_add(MARGIN)),
    call: |call| {
        Box::pin(async move { check(call.context, call.args()?).await.map(Reply::Answer) })
    },
    ..ToolEntry::USUAL
};
