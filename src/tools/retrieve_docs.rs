//! `retrieve_docs`: passages of the shipped documentation that fit a question.

use std::sync::Arc;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{AnswerLimits, Reply, Tool, ToolContext, ToolError, answer, args};
use crate::knowledge::{Knowledge, PassageKind};
use crate::model::ToolSpec;

/// Name of the tool.
pub const NAME: &str = "retrieve_docs";

const DEFAULT_K: usize = 5;
const MAX_K: usize = 20;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RetrieveDocsArgs {
    /// What to look for; function names help.
    query: String,
    /// How many passages at most; 5 when not given, 20 at most.
    #[serde(default)]
    k: Option<usize>,
    /// `code` for passages with program text, `docs` for the others; both when not given.
    #[serde(default)]
    kind: Option<ArgKind>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ArgKind {
    Code,
    Docs,
}

/// Makes the tool.
pub(super) fn make(context: &ToolContext) -> Arc<dyn Tool> {
    let (knowledge, limits) = (Arc::clone(&context.knowledge), context.limits);
    Arc::new(RetrieveDocs { knowledge, limits })
}

struct RetrieveDocs {
    knowledge: Arc<Knowledge>,
    limits: AnswerLimits,
}

impl RetrieveDocs {
    fn search(&self, args: &RetrieveDocsArgs) -> Value {
        let kind = args.kind.map(|kind| match kind {
            ArgKind::Code => PassageKind::Code,
            ArgKind::Docs => PassageKind::Docs,
        });
        let k = args.k.unwrap_or(DEFAULT_K).clamp(1, MAX_K);
        let mut space = self.limits.answer_bytes;
        let mut chunks = Vec::new();
        for chunk in self.knowledge.search(&args.query, k, kind) {
            if chunk.text.len() > space {
                break;
            }
            space -= chunk.text.len();
            // Two digits tell passages apart and keep the answer the same on every machine.
            let score = (chunk.score * 100.0).round() / 100.0;
            chunks.push(json!({
                "title": chunk.title, "source": chunk.source, "score": score, "text": chunk.text,
            }));
        }
        answer::ok(json!({ "chunks": chunks }))
    }
}

impl Tool for RetrieveDocs {
    fn spec(&self) -> ToolSpec {
        args::spec::<RetrieveDocsArgs>(
            NAME,
            "Searches the documentation of the framework that ships with this program and returns \
             the passages that fit best, with title, source and score.",
        )
    }

    fn call(&self, args: Value) -> BoxFuture<'_, Result<Reply, ToolError>> {
        Box::pin(async move { Ok(Reply::Answer(self.search(&args::parse(args)?))) })
    }
}
