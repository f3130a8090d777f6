//! OpenSearch and Elasticsearch: `_search` with BM25 over several fields, with the nearest vectors if
//! there is one of the question.

use serde_json::{Value, json};

use super::super::profile::Profile;
use super::about::{IndexAbout, IndexKind};
use crate::model::{RemotePassage, RemoteQuestion};

/// The path of a request.
pub fn path(profile: &Profile) -> String {
    format!("/{}/_search", profile.model)
}

/// The passages of an answer; `None`: it is not one.
pub fn read(about: &IndexAbout, answer: &Value) -> Option<Vec<RemotePassage>> {
    let hits = answer.pointer("/hits/hits")?.as_array()?;
    let passage = |hit: &Value| {
        let mut passage = about.passage(hit.get("_source")?);
        if passage.path.is_empty() {
            passage.path = hit.get("_id").and_then(Value::as_str).unwrap_or_default().to_owned();
        }
        Some(passage)
    };
    Some(hits.iter().filter_map(passage).collect())
}

/// The body of a request.
pub fn body(about: &IndexAbout, question: &RemoteQuestion) -> Value {
    let fields = &about.fields;
    let searched = [
        fields.title.as_ref().map(|it| format!("{it}^2.4")),
        fields.headings.as_ref().map(|it| format!("{it}^2.4")),
        fields.symbols.as_ref().map(|it| format!("{it}^3")),
        Some(fields.text.clone()),
    ];
    let searched: Vec<String> = searched.into_iter().flatten().collect();
    let words = json!({ "multi_match": {
        "query": question.words.join(" "), "fields": searched, "tie_breaker": 0.3,
        "lenient": true,
    }});
    let read: Vec<&str> = fields.read().into_iter().map(|(_, field)| field).collect();
    let filter = filter_of(about, question);
    let mut body = json!({
        "size": question.most, "_source": read, "track_total_hits": false, "timeout": "2s",
        "query": { "bool": { "must": [words], "filter": filter } },
    });
    let (Some(field), Some(vector)) = (&fields.vector, &question.vector) else { return body };
    let near = question.most;
    if about.kind == IndexKind::Elasticsearch {
        body["knn"] = json!({
            "field": field, "query_vector": vector, "k": near, "num_candidates": 10 * near,
            "filter": filter,
        });
    } else {
        let knn = json!({ "knn": { field: { "vector": vector, "k": near } } });
        body["query"] = json!({ "bool": {
            "should": [words, knn], "minimum_should_match": 1, "filter": filter,
        }});
    }
    body
}

fn filter_of(about: &IndexAbout, question: &RemoteQuestion) -> Vec<Value> {
    let (fields, wanted) = (&about.fields, &question.filter);
    let mut filter = Vec::new();
    if let (Some(field), false) = (&fields.kind, wanted.kinds.is_empty()) {
        filter.push(json!({ "terms": { field: wanted.kinds } }));
    }
    if let (Some(field), false) = (&fields.chips, wanted.chips.is_empty()) {
        // What names no chip is for all of them.
        filter.push(json!({ "bool": { "minimum_should_match": 1, "should": [
            { "terms": { field: wanted.chips } },
            { "bool": { "must_not": { "exists": { "field": field } } } },
        ]}}));
    }
    if let (Some(field), Some(component)) = (&fields.component, &wanted.component) {
        filter.push(json!({ "term": { field: component } }));
    }
    if let (Some(field), Some(version)) = (&fields.version, &wanted.version) {
        let version = version.trim_start_matches('v');
        let with_letter = format!("v{version}");
        filter.push(json!({ "bool": { "minimum_should_match": 1, "should": [
            { "prefix": { field: version } }, { "prefix": { field: with_letter } },
        ]}}));
    }
    filter
}
