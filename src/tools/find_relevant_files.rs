//! `find_relevant_files`: which files of a large project a request is about, with reasons.

use std::sync::Arc;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::entry::{Call, TimeLimit, ToolEntry};
use super::source_index::{Coverage, Patience, SourceIndex};
use super::{Reply, ToolError, answer, args};
use crate::lang::{ChosenFile, CommitHistory, RelevanceQuery, parse_log, within};
use crate::model::ProjectPath;
use crate::toolchain::git_log;
use crate::workspace::ProjectDir;

/// Files and tokens of one answer when nothing else is asked for.
const FILES: usize = 10;
const TOKENS: u64 = 24_000;
/// How long `git` may take.
const GIT: Duration = Duration::from_secs(1);
/// Until when the texts of the project are read, from the start of the call, and until when all is
/// ranked, so that the answer comes within five seconds on a busy machine too.
const TEXTS: Duration = Duration::from_millis(2_200);
const CALLS: Duration = Duration::from_millis(3_800);

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

async fn find(call: Call<'_>) -> Result<Value, ToolError> {
    let (context, index) = (call.context, Arc::clone(&call.memory.index));
    let args: FindRelevantFilesArgs = call.args()?;
    if args.request.trim().is_empty() {
        let message = "request: it is empty";
        return Err(ToolError::new("bad_arguments", message, "Write what should be done."));
    }
    let patience = Patience { since: Instant::now(), texts: TEXTS, calls: CALLS };
    let cancel = context.cancel.child_token();
    let log = git_log(context.project_dir.root(), GIT, cancel).await;
    let project_dir = Arc::clone(&context.project_dir);
    let diagnosed = context.state.snapshot().diagnosed;
    // Reading a project is work, not waiting; it must not hold up the others.
    let work =
        move || choose((&project_dir, &index), (&args, patience), &diagnosed, &parse_log(&log));
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        ToolError::new("not_read", format!("the project was not read: {error}"), "")
    })
}

fn choose(
    (project_dir, index): (&ProjectDir, &SourceIndex),
    (args, patience): (&FindRelevantFilesArgs, Patience),
    diagnosed: &[ProjectPath],
    history: &CommitHistory,
) -> Value {
    let question = RelevanceQuery { request: &args.request, diagnosed, history };
    let ranking = index.rank(project_dir, &question, patience);
    let (ranked, coverage) = (ranking.files, ranking.coverage);
    let of = ranked.len();
    let (files, tokens) = (args.most_files.unwrap_or(FILES), args.most_tokens.unwrap_or(TOKENS));
    let chosen = within(ranked, files.clamp(1, 200), tokens);
    let total: u64 = chosen.iter().map(|chosen| chosen.tokens).sum();
    let files: Vec<Value> = chosen.iter().map(file_json).collect();
    let mut fields = json!({
        "files": files, "tokens": total, "candidates": of, "project_files": coverage.of,
        "project_tokens": ranking.bytes.div_ceil(4),
    });
    if !coverage.is_whole() {
        fields["answered_from"] = json!(in_words(coverage));
    }
    answer::ok(fields)
}

/// What an answer rests on when time ran out.
fn in_words(coverage: Coverage) -> String {
    let Coverage { files, with_calls, of } = coverage;
    format!(
        "answered from {files} of {of} files, and from the calls in {with_calls} of them; call again \
         to go on with the rest"
    )
}

fn file_json(chosen: &ChosenFile) -> Value {
    // Two digits are more than the ranking is worth.
    let score = (chosen.score * 100.0).round() / 100.0;
    json!({
        "path": chosen.path, "tokens": chosen.tokens, "score": score, "why": chosen.reasons,
    })
}

pub(super) const TOOL: ToolEntry = ToolEntry {
    name: "find_relevant_files",
    about: "Finds the files of the project that a request is about, best first, each with its \
         size in tokens and the reasons: words, names, calls, includes, past changes, the last build.",
    schema: args::schema::<FindRelevantFilesArgs>,
    time: TimeLimit::Of(GIT.saturating_add(Duration::from_secs(9))),
    call: |call| Box::pin(async move { find(call).await.map(Reply::Answer) }),
    ..ToolEntry::USUAL
};
