//! Answers that a program reads: held to a form where the service can, and read from the text
//! where it cannot.

use std::sync::Arc;

use firmhand::provider::{AnswerForm, Request, Service};
use firmhand::text::recover;
use serde_json::{Value, json};

use super::{ask, first_request, remote};
use crate::wire::speak::{self, DIALECTS, say};
use crate::wire::{Reply, Server};

fn form() -> AnswerForm {
    let schema = json!({
        "type": "object",
        "properties": { "next": { "type": "string" } },
        "required": ["next"],
        "additionalProperties": false,
    });
    AnswerForm { name: "next_speaker", schema }
}

/// A request without tools whose answer has a form.
fn formed() -> Request {
    let mut request = first_request();
    request.tools = Arc::from([]);
    request.form = Some(Arc::new(form()));
    request
}

/// Where a dialect says the form, and what it says there.
fn place(service: Service) -> (&'static str, Value) {
    let AnswerForm { name, schema } = form();
    match service {
        Service::Responses => (
            "/text/format",
            json!({ "type": "json_schema", "name": name, "schema": schema, "strict": true }),
        ),
        Service::Anthropic => {
            ("/output_config/format", json!({ "type": "json_schema", "schema": schema }))
        }
        Service::Ollama => ("/format", schema),
        _ => {
            let inner = json!({ "name": name, "schema": schema, "strict": true });
            ("/response_format", json!({ "type": "json_schema", "json_schema": inner }))
        }
    }
}

#[tokio::test]
async fn a_service_holds_the_model_to_the_form_of_an_answer() {
    for service in DIALECTS {
        let server = Server::new();
        server.then(speak::reply(service, &say("{\"next\": \"Build Agent\"}")));
        let heard = ask(&remote(service, &server), formed()).await;
        let (at, meant) = place(service);
        let body = server.seen().pop().unwrap().body;
        assert_eq!(body.pointer(at), Some(&meant), "{service}: {body}");
        assert!(body.to_string().contains("The form of your answer"), "{service}: {body}");
        assert_eq!(heard.text, "```json\n{\"next\": \"Build Agent\"}\n```", "{service}");
        let read = recover::structured(&heard.text).unwrap();
        assert_eq!(read, json!({ "next": "Build Agent" }));
        assert!(heard.notes.is_empty() && heard.faults.is_empty());
    }
}

#[tokio::test]
async fn an_agent_with_tools_is_not_held_to_a_form() {
    for service in DIALECTS {
        let server = Server::new();
        server.then(speak::reply(service, &say("{\"next\": \"BuildAgent\"}")));
        let mut request = formed();
        request.tools = first_request().tools;
        let heard = ask(&remote(service, &server), request).await;
        let body = server.seen().pop().unwrap().body;
        assert_eq!(body.pointer(place(service).0), None, "{service}: {body}");
        assert_eq!(heard.text, "{\"next\": \"BuildAgent\"}", "{service}");
    }
}

#[tokio::test]
async fn a_service_that_refuses_the_form_is_asked_without_from_then_on() {
    let refusals = [
        (
            Service::OpenAi,
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
        ),
        (Service::OpenAi, "This response_format type is unavailable now"),
        (Service::Responses, "Invalid schema for response_format 'files'"),
        (Service::Anthropic, "output_config: Extra inputs are not permitted"),
        (Service::Anthropic, "'claude-3-haiku' does not support output format."),
        (Service::Ollama, "failed to load model vocabulary required for format"),
    ];
    for (service, said) in refusals {
        let server = Server::new();
        let status = if service == Service::Ollama { 500 } else { 400 };
        let refusal = json!({ "error": { "message": said } });
        server.then(Reply::status(status, "", &refusal.to_string()));
        let prose = "I choose it.\n```json\n{\"next\": \"BuildAgent\"}\n```\nThat is all.";
        server.then(speak::reply(service, &say(prose)));
        server.then(speak::reply(service, &say("{\"next\": \"BuildAgent\"}")));
        let remote = remote(service, &server);
        let heard = ask(&remote, formed()).await;
        assert_eq!((heard.notes.len(), heard.faults.len()), (1, 0), "{said}");
        assert!(heard.notes[0].what.contains("limited to a JSON schema"), "{:?}", heard.notes);
        assert_eq!(heard.text, prose);
        assert_eq!(recover::structured(&heard.text).unwrap(), json!({ "next": "BuildAgent" }));
        let again = ask(&remote, formed()).await;
        assert!(again.notes.is_empty(), "said once");
        let at = place(service).0;
        let seen = server.seen();
        let has: Vec<bool> = seen.iter().map(|seen| seen.body.pointer(at).is_some()).collect();
        assert_eq!(has, [true, false, false], "{said}");
    }
    // A second refusal has another cause, and is one.
    let server = Server::new();
    for _ in 0..2 {
        server.then(Reply::status(400, "", r#"{"error":"response_format is not supported"}"#));
    }
    let error = ask(&remote(Service::OpenAi, &server), formed()).await.failed();
    assert!(error.why.contains("response_format"), "{error:?}");
}

#[tokio::test]
async fn an_answer_in_a_form_that_broke_off_is_not_doubled() {
    for service in DIALECTS {
        let server = Server::new();
        let answer = say("{\"next\": \"BuildAgent\"}");
        server.then(speak::reply(service, &answer.clone().ends(speak::End::Nowhere)));
        server.then(speak::reply(service, &answer));
        let heard = ask(&remote(service, &server), formed()).await;
        assert_eq!(heard.faults.len(), 1, "{service}");
        assert_eq!(heard.text, "```json\n{\"next\": \"BuildAgent\"}\n```", "{service}");
    }
}
