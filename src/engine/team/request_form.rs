//! The forms that services are asked for: whom a selector chose, files, and fields.
//!
//! Must not read answers.

use std::sync::Arc;

use serde_json::{Value, json};

use super::answer_form::{AnswerShape, Exchange};
use super::definition::{Agent, Phase, SpeakerSelection};
use super::fields;
use crate::model::AgentName;
use crate::provider::AnswerForm;

/// The form of what an agent answers in a phase; `None`: words.
pub(in crate::engine) fn form(agent: &Agent, phase: &Phase) -> Option<Arc<AnswerForm>> {
    let form = match (&phase.selection, &agent.work.answer) {
        (SpeakerSelection::Selector(selector), _) if *selector == agent.name => {
            choice(phase.participants.iter().filter(|other| *other != selector))
        }
        (_, Some(AnswerShape::Files)) => files(),
        // A service that holds a model to JSON would not let it write anything else.
        (_, Some(AnswerShape::Fields(_))) if agent.work.exchange == Exchange::Toon => return None,
        (_, Some(AnswerShape::Fields(fields))) => {
            AnswerForm { name: "answer", schema: fields::schema(fields) }
        }
        (_, None) => return None,
    };
    Some(Arc::new(form))
}

/// Who speaks next, and why.
fn choice<'a>(others: impl Iterator<Item = &'a AgentName>) -> AnswerForm {
    let names: Vec<&str> = others.map(AgentName::as_str).collect();
    let next = json!({ "type": "string", "enum": names });
    let why = json!({ "type": "string", "description": "One sentence." });
    AnswerForm { name: "next_speaker", schema: object([("next", next), ("why", why)]) }
}

fn files() -> AnswerForm {
    let name = json!({ "type": "string", "description": "Path from the project's folder." });
    let code = json!({ "type": "string", "description": "The whole content of the file." });
    let file = object([("file_name", name), ("code", code)]);
    let files = json!({ "type": "array", "items": file });
    AnswerForm { name: "files", schema: object([("files", files)]) }
}

fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    fields::object(fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the strictest service wants of every object.
    fn check(schema: &Value) {
        if schema["type"] == "object" {
            let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
            assert_eq!(schema["required"], json!(names));
            assert_eq!(schema["additionalProperties"], false);
            schema["properties"].as_object().unwrap().values().for_each(check);
        }
        if schema["type"] == "array" {
            check(&schema["items"]);
        }
    }

    #[test]
    fn every_form_is_one_that_the_strictest_service_takes() {
        let names = ["BuildAgent", "CodeFixerAgent"].map(AgentName::from);
        for form in [files(), choice(names.iter())] {
            assert_eq!(form.schema["type"], "object", "the outermost value is an object");
            check(&form.schema);
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            assert!(form.name.chars().all(is_plain) && form.name.len() <= 64);
        }
        let next = &choice(names.iter()).schema["properties"]["next"];
        assert_eq!(next["enum"], json!(["BuildAgent", "CodeFixerAgent"]));
    }
}
