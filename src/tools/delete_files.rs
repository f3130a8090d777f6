//! `delete_files`: proposes to remove files, one proposal each, and tells who still names them.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::entry::ToolEntry;
use super::report::Report;
use super::{Finish, Reply, ToolContext, ToolError, answer, args, files, recorded};
use crate::model::{Draft, DraftChange, ProjectPath, Settlement};
use crate::text::references::MentionKind;
use crate::workspace::{ProjectDir, Reference, references_to};

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

fn propose(context: &ToolContext, args: &DeleteFilesArgs) -> Result<Reply, ToolError> {
    let paths = args::distinct_paths(&args.paths)?;
    let mut drafts = Vec::with_capacity(paths.len());
    for path in &paths {
        let base = context.project_dir.read(path).map_err(files::unreadable)?;
        let change = DraftChange::Delete { path: path.clone(), base };
        drafts.push(Draft { change, reason: args.reason.clone(), checks: Vec::new() });
    }
    Ok(Reply::Propose { drafts, finish: finish(context, paths) })
}

fn finish(context: &ToolContext, paths: Vec<ProjectPath>) -> Finish {
    let project_dir = Arc::clone(&context.project_dir);
    Box::new(move |settlements| {
        Box::pin(async move { Ok(report(&project_dir, &paths, &settlements)) })
    })
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
    answer::set(&mut fields, "still_named", answer::filled(&left));
    report.answer("deleted", fields)
}

pub(super) const TOOL: ToolEntry = ToolEntry {
    name: "delete_files",
    about: "Proposes to delete files. A person decides on each; the answer lists the deleted files, the kept files with the reason, and the includes and CMake lists that still refer to deleted files.",
    schema: args::schema::<DeleteFilesArgs>,
    call: |call| Box::pin(async move { propose(call.context, &call.args()?) }),
    finish: |done| recorded::ready(finish(done.context, recorded::paths(done.proposals))),
    ..ToolEntry::USUAL
};
