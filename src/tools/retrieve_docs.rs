//! `retrieve_docs`: passages of the shipped documentation that fit a question.

use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::entry::ToolEntry;
use super::{Reply, ToolContext, ToolError, answer, args};
use crate::knowledge::{ChipSet, Filter, Found, PassageKind};
use crate::model::PassageMark;

const DEFAULT_K: usize = 5;
const MAX_K: usize = 20;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RetrieveDocsArgs {
    /// What to look for: a question, an error message, the name of a function or an option.
    query: String,
    /// How many passages at most; 5 when not given, 20 at most.
    #[serde(default)]
    k: Option<usize>,
    /// Kind of text: `guide`, `api`, `example`, `option`, `hint` or `note`; any when not given.
    /// `code` is examples and declarations, `docs` the others. `project` searches texts of the project
    /// itself, `session` what its past sessions came to; neither is searched unless named.
    #[serde(default, deserialize_with = "read_kinds")]
    #[schemars(schema_with = "kinds_schema")]
    kind: Vec<PassageKind>,
    /// Chip that it must apply to, such as `esp32c3`.
    #[serde(default)]
    chip: Option<String>,
    /// Component of the framework, such as `nvs_flash`.
    #[serde(default)]
    component: Option<String>,
    /// Version of the framework, or its start, such as `5.4`.
    #[serde(default)]
    version: Option<String>,
    /// Most bytes of each passage; the whole passage when not given.
    #[serde(default)]
    window: Option<usize>,
}

/// Names that stand for several kinds.
const GROUPS: [(&str, &[PassageKind]); 2] = [
    ("code", &[PassageKind::Example, PassageKind::Api, PassageKind::Note]),
    ("docs", &[PassageKind::Guide, PassageKind::Option, PassageKind::Hint, PassageKind::Note]),
];

fn kind_names() -> Vec<&'static str> {
    let groups = GROUPS.iter().map(|(name, _)| *name);
    groups.chain(PassageKind::ALL.map(PassageKind::name)).collect()
}

fn kinds_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "null"], "enum": kind_names() })
}

fn read_kinds<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PassageKind>, D::Error> {
    let Some(name) = Option::<String>::deserialize(from)? else { return Ok(Vec::new()) };
    let group = GROUPS.iter().find(|(group, _)| *group == name).map(|(_, kinds)| kinds.to_vec());
    group
        .or_else(|| PassageKind::from_name(&name).map(|kind| vec![kind]))
        .ok_or_else(|| D::Error::custom(format!("`{name}` is none of {}", kind_names().join(", "))))
}

async fn search(context: &ToolContext, args: RetrieveDocsArgs) -> Result<Value, ToolError> {
    let k = args.k.unwrap_or(DEFAULT_K).clamp(1, MAX_K);
    let chip = match &args.chip {
        None => None,
        Some(name) => Some(ChipSet::of(name).ok_or_else(|| unknown_chip(name))?),
    };
    let filter = Filter {
        kinds: args.kind,
        chip,
        component: args.component,
        corpus: None,
        version: args.version,
    };
    let muted = {
        let marks = context.state.marks();
        marks.all().count() - marks.pinned().count()
    };
    // Endpoints may take their time, for which no other task waits.
    let (knowledge, query) = (Arc::clone(&context.knowledge), args.query);
    let search = move || knowledge.search(&query, k + muted, &filter);
    let searched = tokio::task::spawn_blocking(search)
        .await
        .map_err(|error| ToolError::new("search_failed", error.to_string(), ""))?
        .map_err(|error| ToolError::new("search_failed", error.to_string(), error.fix))?;
    let marks = context.state.marks();
    let most = args.window.unwrap_or(usize::MAX);
    let mut answer = PassageList {
        space: context.limits.answer_bytes,
        most,
        number: context.state.passages(),
        chunks: Vec::new(),
    };
    for pinned in marks.pinned() {
        let chunk = json!({
            "title": pinned.title,
            "source": pinned.source,
            "why": "pinned by the person",
        });
        answer.add(chunk, &pinned.text);
    }
    let wanted =
        searched.found.iter().filter(|it| marks.of(&it.passage.source()) == PassageMark::None);
    for found in wanted.take(k) {
        answer.add(chunk(found), &found.passage.text);
    }
    let mut value = json!({ "chunks": answer.chunks });
    answer::set(&mut value, "not_searched", answer::filled(&searched.left_out));
    Ok(answer::ok(value))
}

/// The passages of an answer.
struct PassageList {
    /// Bytes that there is room for.
    space: usize,
    /// Most bytes of one passage.
    most: usize,
    /// Of the newest passage.
    number: usize,
    chunks: Vec<Value>,
}

impl PassageList {
    /// Adds a passage with the next number, by which it is cited. What does not fit is cut, so that
    /// one long passage does not hide the others.
    fn add(&mut self, mut chunk: Value, text: &str) {
        let text = &text[..text.floor_char_boundary(self.most.min(self.space))];
        if !text.is_empty() {
            self.space -= text.len();
            self.number += 1;
            chunk["number"] = json!(self.number);
            chunk["text"] = json!(text);
            self.chunks.push(chunk);
        }
    }
}

fn chunk(found: &Found) -> Value {
    // Two digits tell passages apart and keep the answer the same on every machine.
    let score = (f64::from(found.score) * 100.0).round() / 100.0;
    let mut chunk = json!({
        "title": found.passage.full_title(),
        "source": found.passage.source(),
        "score": score,
        "kind": found.passage.kind.name(),
        "why": found.why,
    });
    if !found.version.is_empty() {
        chunk["version"] = json!(format!("{} {}", found.corpus, found.version));
    }
    if found.passage.chips != ChipSet::ALL {
        chunk["chips"] = json!(found.passage.chips.names());
    }
    chunk
}

fn unknown_chip(name: &str) -> ToolError {
    ToolError::new(
        "bad_arguments",
        format!("chip: `{name}` is not a chip that is known here"),
        format!("Use one of {}.", ChipSet::ALL.names().join(", ")),
    )
}

pub(super) const TOOL: ToolEntry = ToolEntry {
    name: "retrieve_docs",
    about: "Searches the documentation of the installed framework, the person's documents and the \
         notes of this program, and returns the passages that fit best, with title, source and \
         score; none when nothing is about the question.",
    schema: args::schema::<RetrieveDocsArgs>,
    call: |call| {
        Box::pin(async move { Ok(Reply::Answer(search(call.context, call.args()?).await?)) })
    },
    ..ToolEntry::USUAL
};
