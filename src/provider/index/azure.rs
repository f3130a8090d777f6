//! Azure AI Search: the search of documents, with semantic ranking and vectors where they are set up.

use serde_json::{Value, json};

use super::super::profile::Profile;
use super::about::IndexAbout;
use crate::model::{RemotePassage, RemoteQuestion};

/// The version of the protocol unless the person says otherwise.
const VERSION: &str = "2024-07-01";

/// The path of a request.
pub fn path(profile: &Profile) -> String {
    let version = profile.wire.api_version.as_deref().unwrap_or(VERSION);
    format!("/indexes/{}/docs/search?api-version={version}", profile.model)
}

/// The passages of an answer; `None`: it is not one.
pub fn read(about: &IndexAbout, answer: &Value) -> Option<Vec<RemotePassage>> {
    let found = answer.get("value")?.as_array()?;
    Some(found.iter().map(|document| about.passage(document)).collect())
}

/// The body of a request.
pub fn body(about: &IndexAbout, question: &RemoteQuestion) -> Value {
    let fields = &about.fields;
    let read: Vec<&str> = fields.read().into_iter().map(|(_, field)| field).collect();
    let mut body = json!({
        "search": question.words.join(" "), "searchMode": "any", "top": question.most,
        "select": read.join(","),
    });
    if let Some(configuration) = &about.semantic {
        // Its model reads sentences; signs that mean something in a search are taken out.
        let plain = |c: char| if c.is_alphanumeric() || "_.,'".contains(c) { c } else { ' ' };
        let text: String = question.text.chars().map(plain).collect();
        body["search"] = json!(text.split_whitespace().collect::<Vec<_>>().join(" "));
        body["queryType"] = json!("semantic");
        body["semanticConfiguration"] = json!(configuration);
    }
    let filter = filter_of(about, question);
    if !filter.is_empty() {
        body["filter"] = json!(filter);
    }
    if let (Some(field), Some(vector)) = (&fields.vector, &question.vector) {
        body["vectorQueries"] = json!([
            { "kind": "vector", "vector": vector, "fields": field, "k": question.most },
        ]);
    }
    body
}

/// What results must be, in OData. Its texts cannot be compared by how they begin, so the version is
/// left to those who read what comes.
fn filter_of(about: &IndexAbout, question: &RemoteQuestion) -> String {
    let (fields, wanted) = (&about.fields, &question.filter);
    let either = |of: &str, names: &[String]| {
        let each = names.iter().map(|name| format!("{of} eq '{}'", name.replace('\'', "''")));
        each.collect::<Vec<_>>().join(" or ")
    };
    let mut parts = Vec::new();
    if let (Some(field), false) = (&fields.kind, wanted.kinds.is_empty()) {
        parts.push(format!("({})", either(field, &wanted.kinds)));
    }
    if let (Some(field), false) = (&fields.chips, wanted.chips.is_empty()) {
        let one = either("chip", &wanted.chips);
        parts.push(format!("({field}/any(chip: {one}) or not {field}/any())"));
    }
    if let (Some(field), Some(component)) = (&fields.component, &wanted.component) {
        parts.push(either(field, std::slice::from_ref(component)));
    }
    parts.join(" and ")
}
