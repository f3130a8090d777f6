//! `generate_code`: proposes whole files, one proposal each.

use std::sync::Arc;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::checks::{NewFile, Surroundings};
use super::cmake::Registration;
use super::report::Report;
use super::{Finish, Reply, Tool, ToolContext, ToolError, args, files};
use crate::knowledge::NameList;
use crate::model::{
    DecidedBy, Decision, Draft, DraftChange, ProjectPath, Settlement, ToolSpec, Verdict,
};
use crate::workspace::{MAX_FILE_BYTES, Sandbox};

/// Name of the tool.
pub const NAME: &str = "generate_code";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The files with their whole new contents.
    files: Vec<CodeFile>,
    /// Why, in one sentence for the person who decides.
    #[serde(default)]
    reason: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CodeFile {
    /// Path relative to the project folder.
    file_name: String,
    /// The whole content.
    code: String,
}

/// Makes the tool.
pub(super) fn make(context: &ToolContext) -> Arc<dyn Tool> {
    let (sandbox, names) = (Arc::clone(&context.sandbox), Arc::clone(&context.names));
    Arc::new(GenerateCode { sandbox, names })
}

struct GenerateCode {
    sandbox: Arc<Sandbox>,
    names: Arc<NameList>,
}

impl GenerateCode {
    fn propose(&self, args: Args) -> Result<Reply, ToolError> {
        let reason = args.reason;
        let batch = new_files(args.files)?;
        let around =
            Surroundings { sandbox: &self.sandbox, names: &self.names, batch: batch.as_slice() };
        let mut lists: Vec<ProjectPath> = Vec::new();
        let mut drafts = Vec::with_capacity(batch.len());
        for file in &batch {
            let base = self.sandbox.read_if_there(&file.path).map_err(files::unreadable)?;
            if let Registration::In(list) = around.registration(&file.path)
                && super::cmake::is_compiled(&file.path)
                && !lists.contains(&list)
            {
                lists.push(list);
            }
            let content = file.code.clone().into_bytes();
            let change = DraftChange::Save { path: file.path.clone(), base, content };
            drafts.push(Draft { change, reason: reason.clone(), checks: around.check(file) });
        }
        let paths: Vec<ProjectPath> = batch.into_iter().map(|file| file.path).collect();
        let finish: Finish = Box::new(move |settlements| {
            Box::pin(async move { Ok(report(&paths, &settlements, &lists)) })
        });
        Ok(Reply::Propose { drafts, finish })
    }
}

fn new_files(given: Vec<CodeFile>) -> Result<Vec<NewFile>, ToolError> {
    let mut files: Vec<NewFile> = Vec::with_capacity(given.len());
    let bad = |message: String, hint: &str| Err(ToolError::new("bad_arguments", message, hint));
    for (index, CodeFile { file_name, code }) in given.into_iter().enumerate() {
        let path = args::path(&format!("files[{index}].file_name"), &file_name)?;
        if files.iter().any(|file| file.path == path) {
            let message = format!("files[{index}].file_name: `{path}` is given twice");
            return bad(message, "Give every file once, with its whole content.");
        }
        if code.len() as u64 > MAX_FILE_BYTES {
            let message = format!("files[{index}].code: longer than {MAX_FILE_BYTES} bytes");
            return bad(message, "Split the file.");
        }
        files.push(NewFile { path, code });
    }
    if files.is_empty() {
        return bad("files: the list is empty".to_owned(), "Give at least one file.");
    }
    Ok(files)
}

/// Makes the answer: what was saved, what was rejected and with which words, what went wrong.
fn report(paths: &[ProjectPath], settlements: &[Settlement], lists: &[ProjectPath]) -> Value {
    let report = Report::of(paths, settlements);
    let fields = json!({
        "saved": report.done, "rejected": report.rejected, "registered_in": lists,
    });
    report.answer("saved", fields)
}

/// Why something was rejected, in the words of whoever did.
pub(super) fn words(decision: &Decision) -> String {
    let given = match &decision.verdict {
        Verdict::Reject { reason } => reason.as_str(),
        Verdict::Approve => "",
    };
    match &decision.by {
        DecidedBy::Person if given.is_empty() => "rejected without a reason".to_owned(),
        DecidedBy::Person => given.to_owned(),
        DecidedBy::Policy(rule) => format!("a rule forbids it: {rule}"),
        DecidedBy::Nobody(why) => why.clone(),
    }
}

impl Tool for GenerateCode {
    fn spec(&self) -> ToolSpec {
        args::spec::<Args>(
            NAME,
            "Proposes to save whole files. A person decides on each; the answer tells which were \
             saved and why others were rejected.",
        )
    }

    fn call(&self, args: Value) -> BoxFuture<'_, Result<Reply, ToolError>> {
        Box::pin(async move { self.propose(args::parse(args)?) })
    }
}
