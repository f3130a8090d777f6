//! `find_relevant_files`: which files of a large project a request is about, with reasons.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Reply, Tool, ToolContext, ToolError, answer, args};
use crate::lang::{
    ChosenFile, CommitHistory, ProjectIndex, RelevanceQuery, parse_log, rank, within,
};
use crate::model::{ProjectPath, ToolSpec};
use crate::toolchain::git_log;
use crate::workspace::Sandbox;

/// Name of the tool.
pub const NAME: &str = "find_relevant_files";

/// Files and tokens of one answer when nothing else is asked for.
const FILES: usize = 10;
const TOKENS: u64 = 24_000;
/// How long `git` may take.
const GIT: Duration = Duration::from_secs(5);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FindRelevantFilesArgs {
    /// What shall be done, in the person's words, with the names they gave.
    request: String,
    /// Most files to choose; 10 when nothing is said.
    #[serde(default)]
    most_files: Option<usize>,
    /// Most tokens of all chosen files together; 24,000 when nothing is said.
    #[serde(default)]
    most_tokens: Option<u64>,
}

/// Makes the tool.
pub(super) fn make(context: &ToolContext) -> Arc<dyn Tool> {
    Arc::new(FindRelevantFiles { context: context.clone() })
}

struct FindRelevantFiles {
    context: ToolContext,
}

impl FindRelevantFiles {
    async fn find(&self, args: FindRelevantFilesArgs) -> Result<Value, ToolError> {
        if args.request.trim().is_empty() {
            let message = "request: it is empty";
            return Err(ToolError::new("bad_arguments", message, "Write what should be done."));
        }
        let cancel = self.context.cancel.child_token();
        let log = git_log(self.context.sandbox.root(), GIT, cancel).await;
        let sandbox = Arc::clone(&self.context.sandbox);
        let diagnosed = self.context.state.snapshot().diagnosed;
        // Reading a project is work, not waiting; it must not hold up the others.
        let work = move || choose(&sandbox, &args, &diagnosed, &parse_log(&log));
        tokio::task::spawn_blocking(work).await.map_err(|error| {
            ToolError::new("not_read", format!("the project was not read: {error}"), "")
        })
    }
}

fn choose(
    sandbox: &Sandbox,
    args: &FindRelevantFilesArgs,
    diagnosed: &[ProjectPath],
    history: &CommitHistory,
) -> Value {
    let index = ProjectIndex::new(sandbox.sources());
    let question = RelevanceQuery { request: &args.request, diagnosed, history };
    let ranked = rank(&index, &question);
    let of = ranked.len();
    let (files, tokens) = (args.most_files.unwrap_or(FILES), args.most_tokens.unwrap_or(TOKENS));
    let chosen = within(ranked, files.clamp(1, 200), tokens);
    let total: u64 = chosen.iter().map(|chosen| chosen.tokens).sum();
    let files: Vec<Value> = chosen.iter().map(file_json).collect();
    answer::ok(json!({
        "files": files, "tokens": total, "candidates": of, "project_files": index.len(),
        "project_tokens": index.bytes().div_ceil(4),
    }))
}

fn file_json(chosen: &ChosenFile) -> Value {
    // Two digits are more than the ranking is worth.
    let score = (chosen.score * 100.0).round() / 100.0;
    json!({
        "path": chosen.path, "tokens": chosen.tokens, "score": score, "why": chosen.reasons,
    })
}

impl Tool for FindRelevantFiles {
    fn spec(&self) -> ToolSpec {
        args::spec::<FindRelevantFilesArgs>(
            NAME,
            "Finds the files of the project that a request is about, best first, each with its \
             size in tokens and the reasons: words, names, calls, includes, past changes, the last build.",
        )
    }

    fn timeout(&self) -> Duration {
        GIT + Duration::from_secs(25)
    }

    fn call(&self, args: Value) -> BoxFuture<'_, Result<Reply, ToolError>> {
        Box::pin(async move { self.find(args::parse(args)?).await.map(Reply::Answer) })
    }
}
