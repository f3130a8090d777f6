//! Programs in Python before they are run: parser, linter, type checker, and the collection of tests.
//!
//! Owns how they are started; which of them is installed is found out where they run.

use serde::{Deserialize, Serialize};

use super::interpreter::PythonStart;
use super::run_env::RunEnv;
use crate::model::UserError;

const CHECKER: &str = include_str!("../../../assets/testing/firmhand_check.py");

/// Name of the file with the results.
const RESULTS: &str = "check.json";

/// Bytes of results that are read.
const MOST: u64 = 4 << 20;

/// What was looked at, and what was found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PythonChecked {
    pub steps: Vec<CheckStep>,
    pub errors: Vec<CheckError>,
    /// What is worth a word and no error.
    pub notes: Vec<String>,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckStep {
    /// E.g. `parse` or `lint`.
    pub step: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// `None`: it could not be done, see `note`.
    pub ok: Option<bool>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// An error, with its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckError {
    pub step: String,
    /// From the project's folder.
    pub file: String,
    /// Counted from 1.
    pub line: u32,
    pub column: u32,
    pub message: String,
}

/// Checks these files of the copy.
///
/// # Errors
/// When there is no Python or no sandbox, or the checker came to no end.
pub async fn check_python(
    env: &mut RunEnv<'_>,
    files: &[String],
) -> Result<PythonChecked, UserError> {
    let start = PythonStart::find(env).await?;
    let name = "firmhand_check.py";
    env.scratch.put_support(name, CHECKER)?;
    let script = env.scratch.support().join(name).display().to_string();
    let args = [script].into_iter().chain(files.iter().map(|file| format!("./{file}"))).collect();
    let program = start.reporting(env, args, &[env.scratch.project()], RESULTS);
    let captured = env.run(program).await?;
    let results = env.scratch.result(RESULTS, MOST).unwrap_or_default();
    serde_json::from_slice(&results).map_err(|_| {
        let fault = captured.fault().unwrap_or_else(|| "it wrote no results".to_owned());
        UserError::new("Cannot check the program", fault, "See whether importing the tests ends.")
    })
}
