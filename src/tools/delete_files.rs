//! `delete_files`: proposes to remove files, one proposal each, and tells who still names them.

use std::sync::Arc;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::report::Report;
use super::{Finish, Reply, Tool, ToolContext, ToolError, args, files, recorded};
use crate::model::{BlobSource, Draft, DraftChange, ProjectPath, Proposal, Settlement, ToolSpec};
use crate::text::references::MentionKind;
use crate::workspace::{ProjectDir, Reference, references_to};

/// Name of the tool.
pub const NAME: &str = "delete_files";

/// References to one file that are told.
const MOST_REFERENCES: usize = 20;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DeleteFilesArgs {
    /// Files relative to the project folder. A folder goes by naming each of its files.
    paths: Vec<String>,
    /// Why, in one sentence for the person who decides.
    #[serde(default)]
    reason: String,
}

/// Makes the tool.
pub(super) fn make(context: &ToolContext) -> Arc<dyn Tool> {
    Arc::new(DeleteFiles { project_dir: Arc::clone(&context.project_dir) })
}

struct DeleteFiles {
    project_dir: Arc<ProjectDir>,
}

impl DeleteFiles {
    fn propose(&self, args: &DeleteFilesArgs) -> Result<Reply, ToolError> {
        let paths = distinct(&args.paths)?;
        let mut drafts = Vec::with_capacity(paths.len());
        for path in &paths {
            let base = self.project_dir.read(path).map_err(files::unreadable)?;
            let change = DraftChange::Delete { path: path.clone(), base };
            drafts.push(Draft { change, reason: args.reason.clone(), checks: Vec::new() });
        }
        Ok(Reply::Propose { drafts, finish: self.finish(paths) })
    }

    fn finish(&self, paths: Vec<ProjectPath>) -> Finish {
        let project_dir = Arc::clone(&self.project_dir);
        Box::new(move |settlements| {
            Box::pin(async move { Ok(report(&project_dir, &paths, &settlements)) })
        })
    }
}

fn distinct(given: &[String]) -> Result<Vec<ProjectPath>, ToolError> {
    let mut paths: Vec<ProjectPath> = Vec::with_capacity(given.len());
    for (index, text) in given.iter().enumerate() {
        let path = args::path(&format!("paths[{index}]"), text)?;
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        let message = "paths: the list is empty";
        return Err(ToolError::new("bad_arguments", message, "Name at least one file."));
    }
    Ok(paths)
}

/// Makes the answer: what is gone, what the person kept, and which lines still name what is gone.
fn report(project_dir: &ProjectDir, paths: &[ProjectPath], settlements: &[Settlement]) -> Value {
    let report = Report::of(paths, settlements);
    let gone: Vec<ProjectPath> =
        paths.iter().filter(|path| report.done.contains(&json!(path))).cloned().collect();
    // Looked for afterwards: what named a file may be gone with it.
    let left: Vec<Value> = references_to(project_dir, &gone)
        .iter()
        .take(MOST_REFERENCES)
        .map(|Reference { target, file, mention }| {
            let by = match mention.by {
                MentionKind::Include => "include",
                MentionKind::Cmake => "cmake",
            };
            json!({
                "deleted": target, "file_name": file, "line": mention.line, "by": by,
                "text": mention.text,
            })
        })
        .collect();
    let mut fields = json!({ "deleted": report.done, "kept": report.rejected });
    if let (Some(fields), false) = (fields.as_object_mut(), left.is_empty()) {
        fields.insert("still_named".to_owned(), Value::Array(left));
    }
    report.answer("deleted", fields)
}

impl Tool for DeleteFiles {
    fn spec(&self) -> ToolSpec {
        args::spec::<DeleteFilesArgs>(
            NAME,
            "Proposes to delete files. A person decides on each; the answer lists the deleted files, the kept files with the reason, and the includes and CMake lists that still refer to deleted files.",
        )
    }

    fn call(&self, args: Value) -> BoxFuture<'_, Result<Reply, ToolError>> {
        Box::pin(async move { self.propose(&args::parse(args)?) })
    }

    fn finish_recorded<'a>(
        &'a self,
        _args: &'a Value,
        recorded: &'a [Proposal],
        _: &'a dyn BlobSource,
    ) -> BoxFuture<'a, Finish> {
        recorded::ready(self.finish(recorded::paths(recorded)))
    }
}
