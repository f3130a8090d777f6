//! What an index on another machine is, what its fields are called, and how a passage is read out of
//! them.
//!
//! Must not know a protocol.

use serde_json::Value;

use crate::model::RemotePassage;

/// Most bytes of an answer.
pub const MOST_BYTES: usize = 8 << 20;
/// Most letters of a passage that are asked for.
pub const LONGEST: usize = 16_000;

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
    pub fn read(&self) -> Vec<(&'static str, &str)> {
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

impl IndexAbout {
    /// A passage out of what the fields of a document hold.
    pub fn passage(&self, document: &Value) -> RemotePassage {
        let mut passage = RemotePassage::default();
        for (name, field) in self.fields.read() {
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
