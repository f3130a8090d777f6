//! Signs of life are no answer: what services send to keep a connection open does not keep a run
//! waiting.

use std::time::{Duration, Instant};

use firmhand::provider::Service;
use serde_json::json;

use super::place::{Place, words};
use super::{Heard, ask, first_request, remote};
use crate::wire::speak::{self, DIALECTS, End, KEY, say};
use crate::wire::{Reply, Server};

/// What a service of that dialect may send without saying anything.
fn signs(service: Service) -> Vec<String> {
    let data = |value: serde_json::Value| format!("data: {value}\n\n");
    let mut signs = match service {
        Service::Ollama => {
            let line = |message| {
                let line = json!({ "model": "m", "message": message, "done": false });
                format!("{line}\n")
            };
            return vec![
                "\n".repeat(50),
                " \r\n".to_owned(),
                "{}\n".to_owned(),
                line(json!({})),
                line(json!({ "role": "assistant", "content": "" })),
                line(json!({ "role": "assistant", "content": "", "thinking": "" })),
                line(json!({ "role": "assistant", "content": "", "tool_calls": [] })),
            ];
        }
        Service::Responses => vec![
            data(json!({ "type": "response.in_progress", "response": { "model": "m" } })),
            data(json!({ "type": "response.output_text.delta", "delta": "" })),
            data(json!({ "type": "response.reasoning_summary_part.done" })),
            data(json!({ "type": "keepalive" })),
        ],
        Service::Anthropic => {
            let delta =
                |delta| json!({ "type": "content_block_delta", "index": 0, "delta": delta });
            let usage = json!({ "input_tokens": 5, "output_tokens": 0 });
            let message = json!({ "id": "m", "model": "m", "usage": usage });
            vec![
                "event: ping\ndata: {\"type\": \"ping\"}\n\n".to_owned(),
                data(delta(json!({ "type": "text_delta", "text": "" }))),
                data(delta(json!({ "type": "thinking_delta", "thinking": "" }))),
                data(json!({ "type": "message_start", "message": message })),
            ]
        }
        _ => {
            let chunk =
                |delta| json!({ "model": "m", "choices": [{ "index": 0, "delta": delta }] });
            let usage = json!({ "prompt_tokens": 5, "completion_tokens": 0 });
            vec![
                data(chunk(json!({}))),
                data(chunk(json!({ "role": "assistant", "content": "" }))),
                data(chunk(json!({ "content": null, "reasoning": "" }))),
                data(json!({ "choices": [], "usage": usage })),
            ]
        }
    };
    signs.extend(
        [": ping\n\n", "\n", "\r\n", "event: ping\n\n", "data: {}\n\n", "id: 7\n\n"]
            .map(str::to_owned),
    );
    signs
}

/// A beginning, then signs of life for longer than anybody waits.
fn lives_on(service: Service, begun: &str, sign: &str) -> Reply {
    let head = crate::wire::head(200, speak::content_type(service), "");
    let mut pieces = vec![(Duration::ZERO, format!("{head}{begun}").into_bytes())];
    let sign = (Duration::from_millis(40), sign.as_bytes().to_vec());
    pieces.extend(std::iter::repeat_n(sign, 400));
    Reply::Raw(pieces)
}

async fn one_fault(service: Service, reply: Reply, what: &str) -> Heard {
    let server = Server::new();
    server.then(reply);
    server.then(speak::reply(service, &say("at last")));
    let since = Instant::now();
    let heard = ask(&remote(service, &server), first_request()).await;
    assert_eq!((heard.text.as_str(), heard.faults.len()), ("at last", 1), "{service}: {what}");
    let took = since.elapsed();
    assert!(took < Duration::from_secs(5), "{service} was waited for {took:?}: {what}");
    let fault = &heard.faults[0].0;
    assert!(fault.what.contains("stopped answering"), "{service}: {fault:?}");
    heard
}

#[tokio::test]
async fn signs_of_life_without_content_are_silence() {
    for service in DIALECTS {
        let begun = speak::body(service, &say("It begins").ends(End::Nowhere));
        let all = signs(service);
        for sign in &all {
            one_fault(service, lives_on(service, &begun, sign), sign).await;
        }
        one_fault(service, lives_on(service, "", &all.concat()), "before anything was said").await;
    }
}

#[tokio::test]
async fn a_flood_of_signs_of_life_is_silence_too() {
    for service in DIALECTS {
        let head = crate::wire::head(200, speak::content_type(service), "").into_bytes();
        let piece = signs(service).concat().repeat(20).into_bytes();
        let reply = Reply::Repeat { head, piece, times: 2_000_000, tail: Vec::new() };
        one_fault(service, reply, "a flood").await;
    }
}

#[tokio::test]
async fn an_answer_in_one_piece_that_never_comes_is_silence() {
    let head = crate::wire::head(200, "application/json", "");
    let mut pieces = vec![(Duration::ZERO, head.into_bytes())];
    pieces.extend(std::iter::repeat_n((Duration::from_millis(40), b"\n".to_vec()), 400));
    one_fault(Service::OpenAi, Reply::Raw(pieces), "blanks").await;
}

#[tokio::test]
async fn a_slow_answer_among_signs_of_life_is_taken() {
    for service in DIALECTS {
        let server = Server::new();
        let body = speak::body(service, &say("one two three four five six"));
        let head = crate::wire::head(200, speak::content_type(service), "");
        let mut pieces = vec![(Duration::ZERO, head.into_bytes())];
        // Whole messages, each after half the time that nothing may come.
        let end = if service == Service::Ollama { "\n" } else { "\n\n" };
        for message in body.split_inclusive(end) {
            for sign in signs(service).iter().take(2) {
                pieces.push((Duration::from_millis(40), sign.as_bytes().to_vec()));
            }
            pieces.push((Duration::from_millis(40), message.as_bytes().to_vec()));
        }
        server.then(Reply::Raw(pieces));
        let heard = ask(&remote(service, &server), first_request()).await;
        assert_eq!(heard.text, "one two three four five six", "{service}");
        assert_eq!(heard.faults.len(), 0, "{service}: {:?}", heard.faults);
    }
}

#[tokio::test]
async fn signs_of_life_after_the_end_do_not_keep_an_answer_open() {
    let server = Server::new();
    let chunk = |delta, why| json!({ "choices": [{ "delta": delta, "finish_reason": why }] });
    let begun = format!(
        "data: {}\n\ndata: {}\n\n",
        chunk(json!({ "content": "all" }), None),
        chunk(json!({}), Some("stop"))
    );
    server.then(lives_on(Service::OpenAi, &begun, ": ping\n\n"));
    let since = Instant::now();
    let heard = ask(&remote(Service::OpenAi, &server), first_request()).await;
    assert_eq!((heard.text.as_str(), heard.faults.len()), ("all", 0));
    assert!(since.elapsed() < Duration::from_secs(8), "{:?}", since.elapsed());
}

#[test]
fn the_minutes_of_a_session_end_a_service_that_only_lives() {
    let server = Server::new();
    let place = Place::new(&format!(
        "[budget.session]\nminutes = 0.03\n[profiles.p]\nprovider = \"openai\"\nmodel = \"m\"\n\
         wire.base_url = \"{}\"\nwire.stall_seconds = 600\n",
        server.url("/v1")
    ));
    let project = place.path("project");
    server.then(lives_on(Service::OpenAi, "", ": ping\n\n"));
    let since = Instant::now();
    let args = ["run", "Blink", "--project", &project, "--profile", "p"];
    let output = place.run(&[("OPENAI_API_KEY", KEY)], &args);
    let shown = words(&output);
    assert_eq!(output.status.code(), Some(4), "{shown}");
    assert!(shown.contains("2 of 2 seconds of work are over"), "{shown}");
    assert!(shown.contains("stopped") && since.elapsed() < Duration::from_secs(12), "{shown}");
}
