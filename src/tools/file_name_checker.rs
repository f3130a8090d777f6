//! `file_name_checker`: whether the files a team plans may have the names it gave them.

use serde_json::{Value, json};

use super::entry::ToolEntry;
pub use super::organized_files::NAME;
use super::organized_files::{FileNameCheckerArgs, plan};
use super::{Reply, ToolContext, ToolError, answer, args};
use crate::model::ProjectPath;

fn check(context: &ToolContext, args: FileNameCheckerArgs) -> Result<Value, ToolError> {
    let unknown = unknown(context, &args.uses);
    let files = plan(args)?;
    let conflicts: Vec<Value> =
        files.iter().filter_map(|file| conflict(context, &file.path)).collect();
    if conflicts.is_empty() {
        let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let source = context.names.source();
        let mut fine = json!({ "files": names, "checked_against": source });
        answer::set(&mut fine, "unknown_names", answer::filled(&unknown));
        return Ok(answer::ok(fine));
    }
    let count = conflicts.len();
    let error = ToolError::new(
        "name_conflict",
        format!("{count} of {} file names are taken by the framework", files.len()),
        "Rename those files, for instance as suggested, and check the whole list again.",
    );
    let mut refusal = error.to_answer_with(json!({ "conflicts": conflicts }));
    answer::set(&mut refusal, "unknown_names", answer::filled(&unknown));
    Ok(refusal)
}

/// Which of these names the installed framework does not declare, and what is near; nothing
/// without an index of it.
fn unknown(context: &ToolContext, names: &[String]) -> Vec<Value> {
    let Some(declared) = context.knowledge.declared() else { return Vec::new() };
    let unknown = names.iter().filter_map(|name| Some((name, declared.near_if_unknown(name)?)));
    let framework = declared.framework();
    let answer = |(name, near): (&String, Vec<String>)| {
        let why = format!("`{name}` is not declared in {framework}");
        json!({ "name": name, "why": why, "near": near })
    };
    unknown.map(answer).collect()
}

/// A folder of `components` that has the name of a component of the framework.
fn replaced(context: &ToolContext, path: &ProjectPath) -> Option<Value> {
    let (name, rest) = path.as_str().strip_prefix("components/")?.split_once('/')?;
    let conflict = context.names.replaced(name)?;
    let suggestion = format!("components/{}/{rest}", conflict.suggestion);
    Some(json!({ "file_name": path, "why": conflict.why, "suggestion": suggestion }))
}

fn conflict(context: &ToolContext, path: &ProjectPath) -> Option<Value> {
    if let Some(replaced) = replaced(context, path) {
        return Some(replaced);
    }
    let conflict = context.names.conflict(path.file_name())?;
    let suggestion = match path.parent() {
        Some(folder) => format!("{folder}/{}", conflict.suggestion),
        None => conflict.suggestion,
    };
    Some(json!({ "file_name": path, "why": conflict.why, "suggestion": suggestion }))
}

pub(super) const TOOL: ToolEntry = ToolEntry {
    name: NAME,
    about: "Checks the complete list of planned files against the names of the framework's own \
         headers and components. A list without conflicts becomes the list of files that \
         have to be written. Names of the framework that the code is going to use are looked \
         up in the installed version, too.",
    schema: args::schema::<FileNameCheckerArgs>,
    call: |call| Box::pin(async move { check(call.context, call.args()?).map(Reply::Answer) }),
    ..ToolEntry::USUAL
};
