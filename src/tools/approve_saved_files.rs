//! `approve_saved_files`: whether the running phase has reached its goal.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::entry::ToolEntry;
use super::state::{LastBuild, PhaseGoal, TeamState};
use super::{Reply, ToolContext, ToolError, answer, args};
use crate::model::BuildOutcome;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ApproveSavedFilesArgs {}

fn files_saved(context: &ToolContext, state: &TeamState) -> Result<Value, ToolError> {
    if state.organized.is_empty() {
        let hint = "Let the complete list of files pass `file_name_checker` first.";
        return Err(ToolError::new("nothing_organized", "no list of files is known", hint));
    }
    let (saved, missing): (Vec<_>, Vec<_>) = state
        .organized
        .iter()
        .map(|file| &file.path)
        .partition(|path| context.project_dir.is_file(path));
    if missing.is_empty() {
        return Ok(answer::ok(json!({ "goal": "files_saved", "files": saved })));
    }
    let names: Vec<&str> = missing.iter().map(|path| path.as_str()).collect();
    let message = format!("not on disk yet: {}", names.join(", "));
    Err(ToolError::new("files_missing", message, "Save them with `generate_code`."))
}

fn build_passed(last: Option<&LastBuild>) -> Result<Value, ToolError> {
    let failed = |message: &str| {
        let hint = "Fix the project and call `build_project` again.";
        Err(ToolError::new("build_not_passed", message, hint))
    };
    let Some(last) = last else { return failed("the project was not built yet") };
    match &last.outcome {
        Some(BuildOutcome::Passed) if last.changes_since > 0 => {
            failed("files have changed since the last build")
        }
        Some(BuildOutcome::Passed) => {
            Ok(answer::ok(json!({ "goal": "build_passed", "build": last.build })))
        }
        Some(BuildOutcome::Failed) => failed("the last build failed"),
        Some(BuildOutcome::TimedOut) => failed("the last build reached its time limit"),
        Some(BuildOutcome::Cancelled) => failed("the last build was stopped"),
        Some(BuildOutcome::NotRun(error)) => failed(&error.to_string()),
        None => failed("the last build is still running"),
    }
}

fn tests_passed(state: &TeamState) -> Result<Value, ToolError> {
    if state.tests_passed() {
        return Ok(answer::ok(json!({ "goal": "tests_passed" })));
    }
    let (message, hint) = match &state.last_tests {
        None => ("no tests were run yet", "Call `run_tests`."),
        Some(last) if last.is_outdated => {
            ("files have changed since the last tests", "Call `run_tests` again.")
        }
        Some(last) if last.is_fresh_success() => {
            ("the files that the tests passed with are not saved", "Save them as they were tested.")
        }
        Some(_) => ("the last tests did not pass", "Correct the code and call `run_tests` again."),
    };
    Err(ToolError::new("tests_not_passed", message, hint))
}

fn close(context: &ToolContext, _: ApproveSavedFilesArgs) -> Result<Value, ToolError> {
    let state = context.state.snapshot();
    match state.goal {
        PhaseGoal::FilesSaved => files_saved(context, &state),
        PhaseGoal::TestsPassed => tests_passed(&state),
        PhaseGoal::Answered => Ok(answer::ok(json!({ "goal": "answered" }))),
        PhaseGoal::RunsPassed => Ok(answer::ok(json!({ "goal": "runs_passed" }))),
        PhaseGoal::Planned => Ok(answer::ok(json!({ "goal": "planned" }))),
        PhaseGoal::BuildPassed | PhaseGoal::BoardStable => build_passed(state.last_build.as_ref()),
    }
}

pub(super) const TOOL: ToolEntry = ToolEntry {
    name: "approve_saved_files",
    about: "Closes the phase. While files are generated it succeeds once every planned file is \
         saved; while the project is built, once the last build has passed; while it is \
         tested, once the tests have passed with the saved files.",
    schema: args::schema::<ApproveSavedFilesArgs>,
    call: |call| Box::pin(async move { close(call.context, call.args()?).map(Reply::Answer) }),
    ..ToolEntry::USUAL
};
