//! An index on another machine that a team shares: OpenSearch, Elasticsearch, Azure AI Search or
//! PostgreSQL.
//!
//! Speaks their protocols, and says in words why there is no answer. Must not know what becomes of what
//! was found, nor trust any of it.

mod azure;
mod fault;
mod opensearch;
mod postgres;
mod tls;

use std::sync::Arc;

use serde_json::Value;

use super::profile::Profile;
use super::wire::Client;
use crate::model::{RemotePassage, RemoteQuestion};

/// Most bytes of an answer.
const MOST_BYTES: usize = 8 << 20;
/// Most bytes of a passage that are asked for.
const LONGEST: usize = 16_000;

/// What an index is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexKind {
    OpenSearch,
    Elasticsearch,
    AzureSearch,
    Postgres,
}

/// What the fields or columns are called; `None`: it has none for that.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IndexFields {
    pub text: String,
    pub title: Option<String>,
    pub path: Option<String>,
    pub anchor: Option<String>,
    pub headings: Option<String>,
    pub symbols: Option<String>,
    pub kind: Option<String>,
    pub version: Option<String>,
    pub chips: Option<String>,
    pub component: Option<String>,
    pub vector: Option<String>,
    /// The column of type `tsvector`.
    pub tsvector: Option<String>,
}

impl IndexFields {
    /// The fields that are read, each with the name of what it is for.
    fn read(&self) -> Vec<(&'static str, &str)> {
        let all = [
            ("text", Some(&self.text)),
            ("title", self.title.as_ref()),
            ("path", self.path.as_ref()),
            ("anchor", self.anchor.as_ref()),
            ("headings", self.headings.as_ref()),
            ("symbols", self.symbols.as_ref()),
            ("kind", self.kind.as_ref()),
            ("version", self.version.as_ref()),
            ("chips", self.chips.as_ref()),
            ("component", self.component.as_ref()),
        ];
        all.into_iter().filter_map(|(name, field)| Some((name, field?.as_str()))).collect()
    }
}

/// An index on another machine.
#[derive(Debug)]
pub struct RemoteIndex {
    profile: Arc<Profile>,
    client: Client,
    /// What it is, its fields, and what only its kind has.
    about: IndexAbout,
}

/// What an index is, and how it is asked. The profile has its address and, as its model, its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexAbout {
    pub kind: IndexKind,
    pub fields: IndexFields,
    /// Azure's semantic configuration.
    pub semantic: Option<String>,
    /// PostgreSQL's configuration of the text search.
    pub language: String,
}

impl RemoteIndex {
    /// Nothing is connected before the first search.
    #[must_use]
    pub fn new(profile: Profile, about: IndexAbout) -> Self {
        profile.guard();
        Self { profile: Arc::new(profile), client: Client::default(), about }
    }

    /// The passages that it finds, the best first. What must not be repeated is taken out of the
    /// question before.
    ///
    /// # Errors
    /// Why there is no answer, and how to correct that. Waits as long as the other machine does.
    pub async fn search(&self, question: &RemoteQuestion) -> Result<Vec<RemotePassage>, String> {
        let question = self.cleaned(question);
        if question.words.is_empty() {
            return Ok(Vec::new());
        }
        let found = match self.about.kind {
            IndexKind::OpenSearch | IndexKind::Elasticsearch => self.opensearch(&question).await,
            IndexKind::AzureSearch => self.azure(&question).await,
            IndexKind::Postgres => self.postgres(&question).await,
        };
        found.map_err(|why| self.profile.redact(&why))
    }

    /// A question without secrets: of one that has a secret, only words that stand elsewhere in it.
    fn cleaned(&self, question: &RemoteQuestion) -> RemoteQuestion {
        let mut question = question.clone();
        let text = self.profile.redact(&question.text);
        if text != question.text {
            let rest = text.to_lowercase();
            question.words.retain(|word| rest.contains(word.as_str()));
            question.text = text;
        }
        question
    }

    /// A passage out of what the fields of a document hold.
    fn passage(&self, document: &Value) -> RemotePassage {
        let mut passage = RemotePassage::default();
        for (name, field) in self.about.fields.read() {
            let Some(value) = at(document, field) else { continue };
            match name {
                "text" => passage.text = text(value),
                "title" => passage.title = text(value),
                "path" => passage.path = text(value),
                "anchor" => passage.anchor = text(value),
                "headings" => passage.headings = list(value),
                "symbols" => passage.symbols = list(value),
                "kind" => passage.kind = text(value),
                "version" => passage.version = text(value),
                "chips" => passage.chips = names(value),
                _ => passage.component = text(value),
            }
        }
        passage
    }
}

/// A field of a document; dots and slashes lead into it.
fn at<'v>(document: &'v Value, field: &str) -> Option<&'v Value> {
    document
        .get(field)
        .or_else(|| field.split(['.', '/']).try_fold(document, |at, part| at.get(part)))
}

/// A value as one text.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join("\n"),
        Value::Null | Value::Bool(_) | Value::Object(_) => String::new(),
    }
}

/// A value as several texts: a list, or one on each line.
fn list(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().map(text).collect(),
        other => text(other).lines().map(str::to_owned).collect(),
    }
}

/// A value as several names, which blanks or commas may part.
fn names(value: &Value) -> Vec<String> {
    let all = list(value).join(" ");
    let names = all.split([' ', ',', ';']).map(str::trim);
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
