//! `file_name_checker`: whether the files a team plans may have the names it gave them.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Value, json};

pub use super::organized_files::NAME;
use super::organized_files::{FileNameCheckerArgs, plan};
use super::{Reply, Tool, ToolContext, ToolError, answer, args};
use crate::knowledge::{Knowledge, NameList};
use crate::model::{ProjectPath, ToolSpec};

/// Makes the tool.
pub(super) fn make(context: &ToolContext) -> Arc<dyn Tool> {
    let (names, knowledge) = (Arc::clone(&context.names), Arc::clone(&context.knowledge));
    Arc::new(FileNameChecker { names, knowledge })
}

struct FileNameChecker {
    names: Arc<NameList>,
    knowledge: Arc<Knowledge>,
}

impl FileNameChecker {
    fn check(&self, args: Value) -> Result<Value, ToolError> {
        let args: FileNameCheckerArgs = args::parse(args)?;
        let unknown = self.unknown(&args.uses);
        let files = plan(args)?;
        let conflicts: Vec<Value> =
            files.iter().filter_map(|file| self.conflict(&file.path)).collect();
        if conflicts.is_empty() {
            let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
            let source = self.names.source();
            let mut fine = json!({ "files": names, "checked_against": source });
            if !unknown.is_empty() {
                fine["unknown_names"] = Value::Array(unknown);
            }
            return Ok(answer::ok(fine));
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
            if !unknown.is_empty() {
                refusal.insert("unknown_names".to_owned(), Value::Array(unknown));
            }
        }
        Ok(refusal)
    }

    /// Which of these names the installed framework does not declare, and what is near; nothing
    /// without an index of it.
    fn unknown(&self, names: &[String]) -> Vec<Value> {
        let Some(declared) = self.knowledge.declared() else { return Vec::new() };
        let unknown = names.iter().filter_map(|name| Some((name, declared.near_if_unknown(name)?)));
        let framework = declared.framework();
        let answer = |(name, near): (&String, Vec<String>)| {
            let why = format!("`{name}` is not declared in {framework}");
            json!({ "name": name, "why": why, "near": near })
        };
        unknown.map(answer).collect()
    }

    /// A folder of `components` that has the name of a component of the framework.
    fn replaced(&self, path: &ProjectPath) -> Option<Value> {
        let (name, rest) = path.as_str().strip_prefix("components/")?.split_once('/')?;
        let conflict = self.names.replaced(name)?;
        let suggestion = format!("components/{}/{rest}", conflict.suggestion);
        Some(json!({ "file_name": path, "why": conflict.why, "suggestion": suggestion }))
    }

    fn conflict(&self, path: &ProjectPath) -> Option<Value> {
        if let Some(replaced) = self.replaced(path) {
            return Some(replaced);
        }
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
             have to be written. Names of the framework that the code is going to use are looked \
             up in the installed version, too.",
        )
    }

    fn call(&self, args: Value) -> BoxFuture<'_, Result<Reply, ToolError>> {
        Box::pin(async move { self.check(args).map(Reply::Answer) })
    }
}
