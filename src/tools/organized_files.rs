//! The files that a team has decided to write, as it lists them.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::args;
use super::error::ToolError;
use crate::model::ProjectPath;

/// A file the team has decided to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrganizedFile {
    /// Where it goes.
    pub path: ProjectPath,
    /// Its purpose in a line.
    pub description: String,
}

/// Name of the tool that takes the list.
pub const NAME: &str = "file_name_checker";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FileNameCheckerArgs {
    /// Every file of the project that is to be written.
    pub(super) files: Vec<PlannedFile>,
    /// Names of the framework that the code is going to use: functions, types, `CONFIG_` options,
    /// headers such as `driver/gpio.h`. Each is looked up in the installed version.
    #[serde(default)]
    pub(super) uses: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PlannedFile {
    /// Path relative to the project folder.
    pub(super) file_name: String,
    /// Its purpose in one line.
    pub(super) description: String,
}

/// The files that a call with these arguments plans; `None` when they are not of that shape.
pub(super) fn organized(args: &Value) -> Option<Vec<OrganizedFile>> {
    plan(args::parse(args.clone()).ok()?).ok()
}

pub(super) fn plan(args: FileNameCheckerArgs) -> Result<Vec<OrganizedFile>, ToolError> {
    let mut files: Vec<OrganizedFile> = Vec::with_capacity(args.files.len());
    for (index, planned) in args.files.into_iter().enumerate() {
        let path = args::path(&format!("files[{index}].file_name"), &planned.file_name)?;
        if files.iter().any(|file| file.path == path) {
            let message = format!("files[{index}].file_name: `{path}` is listed twice");
            return Err(ToolError::new("bad_arguments", message, "List every file once."));
        }
        files.push(OrganizedFile { path, description: planned.description });
    }
    if files.is_empty() {
        let message = "files: the list is empty";
        return Err(ToolError::new("bad_arguments", message, "List every file of the project."));
    }
    Ok(files)
}
