//! `file_name_checker`: whether the files a team plans may have the names it gave them.

use std::sync::Arc;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::state::OrganizedFile;
use super::{Reply, Tool, ToolContext, ToolError, answer, args};
use crate::knowledge::NameList;
use crate::model::{ProjectPath, ToolSpec};

/// Name of the tool.
pub const NAME: &str = "file_name_checker";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileNameCheckerArgs {
    /// Every file of the project that is to be written.
    files: Vec<PlannedFile>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PlannedFile {
    /// Path relative to the project folder.
    file_name: String,
    /// Its purpose in one line.
    description: String,
}

/// The files that a call with these arguments plans; `None` when they are not of that shape.
pub(super) fn organized(args: &Value) -> Option<Vec<OrganizedFile>> {
    plan(args::parse(args.clone()).ok()?).ok()
}

fn plan(args: FileNameCheckerArgs) -> Result<Vec<OrganizedFile>, ToolError> {
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

/// Makes the tool.
pub(super) fn make(context: &ToolContext) -> Arc<dyn Tool> {
    Arc::new(FileNameChecker { names: Arc::clone(&context.names) })
}

struct FileNameChecker {
    names: Arc<NameList>,
}

impl FileNameChecker {
    fn check(&self, args: Value) -> Result<Value, ToolError> {
        let files = plan(args::parse(args)?)?;
        let conflicts: Vec<Value> =
            files.iter().filter_map(|file| self.conflict(&file.path)).collect();
        if conflicts.is_empty() {
            let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
            let source = self.names.source();
            return Ok(answer::ok(json!({ "files": names, "checked_against": source })));
        }
        let count = conflicts.len();
        let error = ToolError::new(
            "name_conflict",
            format!("{count} of {} file names are taken by the framework", files.len()),
            "Rename those files, for instance as suggested, and check the whole list again.",
        );
        let mut refusal = error.to_answer();
        if let Some(refusal) = refusal.as_object_mut() {
            refusal.insert("conflicts".to_owned(), Value::Array(conflicts));
        }
        Ok(refusal)
    }

    fn conflict(&self, path: &ProjectPath) -> Option<Value> {
        let conflict = self.names.conflict(path.file_name())?;
        let suggestion = match path.parent() {
            Some(folder) => format!("{folder}/{}", conflict.suggestion),
            None => conflict.suggestion,
        };
        Some(json!({ "file_name": path, "why": conflict.why, "suggestion": suggestion }))
    }
}

impl Tool for FileNameChecker {
    fn spec(&self) -> ToolSpec {
        args::spec::<FileNameCheckerArgs>(
            NAME,
            "Checks the complete list of planned files against the names of the framework's own \
             headers and components. A list without conflicts becomes the list of files that \
             have to be written.",
        )
    }

    fn call(&self, args: Value) -> BoxFuture<'_, Result<Reply, ToolError>> {
        Box::pin(async move { self.check(args).map(Reply::Answer) })
    }
}
