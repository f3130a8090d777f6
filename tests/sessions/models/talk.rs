//! What goes out and what comes in when all is well.

use std::time::{Duration, Instant};

use firmhand::model::{Cost, Usage};
use firmhand::provider::{Prices, Provider, Remote, Service, ToolUse};
use futures::StreamExt;
use serde_json::{Value, json};

use super::{ask, first_request, remote, request};
use crate::wire::speak::{self, DIALECTS, End, KEY, Say, say};
use crate::wire::{Reply, Server};

#[tokio::test]
async fn an_answer_streams_with_its_tokens_and_the_name_of_its_model() {
    for service in DIALECTS {
        let server = Server::new();
        let mut profile = speak::profile(service, &server.url(""));
        profile.prices =
            Some(Prices { input: 1.0, cached: Some(0.1), output: 10.0, is_estimate: true });
        server.then(speak::reply(service, &say("The LED is on GPIO 2. Größe: 🦀.")));
        let heard = ask(&Remote::new(profile), request()).await;
        assert_eq!(heard.text, "The LED is on GPIO 2. Größe: 🦀.", "{service}");
        assert_eq!(heard.models, [format!("test-model-1 ({service})")]);
        let cached = if service == Service::Ollama { 0 } else { 40 };
        let dollars = ((100.0 - f64::from(cached)) + f64::from(cached) * 0.1 + 200.0) / 1e6;
        let cost = Cost::from_dollars(dollars);
        let usage =
            Usage { input: 100, output: 20, cached: cached as u64, cost, is_estimated: true };
        assert_eq!(heard.usage, Some(usage), "{service}");
        assert_eq!((heard.calls.len(), heard.faults.len(), heard.state), (0, 0, None));
    }
}

#[tokio::test]
async fn a_request_holds_the_whole_conversation_and_the_key_only_in_its_header() {
    for service in DIALECTS {
        let server = Server::new();
        server.then(speak::reply(service, &say("ok")));
        ask(&remote(service, &server), request()).await;
        let seen = server.seen().pop().unwrap();
        let body = seen.body.to_string();
        for part in [
            "You write firmware.",
            "Blink an LED.\\n\\n[Planner]\\nCoder : write main.c",
            "I look first.",
            "main/main.c",
            "malformed",
            "int main;",
            "The tool generate_code.",
            "\"stream\":true",
            "test-model",
        ] {
            assert!(body.contains(part), "{service}: {part} is not in {body}");
        }
        assert!(!body.contains(KEY) && !seen.line.contains(KEY));
        let header = match service {
            Service::Anthropic => seen.header("x-api-key").unwrap().to_owned(),
            _ => seen.header("authorization").unwrap().replace("Bearer ", ""),
        };
        assert_eq!(header, KEY);
    }
}

#[tokio::test]
async fn parallel_calls_come_whole_with_their_arguments() {
    let code = json!({ "files": [{ "file_name": "main/main.c", "code": "int a[] = {1};\n\"ü\"".repeat(90) }] });
    for service in DIALECTS {
        let server = Server::new();
        let answer = say("I save both.")
            .call("generate_code", code.clone())
            .call("read_file", json!({}))
            .call("read_file", json!({ "path": "b.c" }));
        server.then(speak::reply(service, &answer));
        let heard = ask(&remote(service, &server), first_request()).await;
        assert_eq!(heard.text, "I save both.");
        let tools: Vec<&str> = heard.calls.iter().map(|(tool, _)| tool.as_str()).collect();
        assert_eq!(tools, ["generate_code", "read_file", "read_file"], "{service}");
        assert_eq!(serde_json::from_str::<Value>(&heard.calls[0].1).unwrap(), code, "{service}");
        assert!(matches!(heard.calls[1].1.as_str(), "" | "{}"), "{service}");
        assert_eq!(heard.calls[2].1, r#"{"path":"b.c"}"#);
    }
}

#[tokio::test]
async fn arguments_of_calls_come_while_they_are_written() {
    let code = "int a[] = {1};\n\"ü\"".repeat(90);
    let code = json!({ "files": [{ "file_name": "main/main.c", "code": code }] });
    for service in DIALECTS {
        let server = Server::new();
        let answer =
            say("I save.").call("generate_code", code.clone()).call("read_file", json!({}));
        let body = speak::body(service, &answer);
        server.then(Reply::dripping(speak::content_type(service), body.as_bytes(), 256));
        let heard = ask(&remote(service, &server), first_request()).await;
        let parts: Vec<(&str, String)> =
            heard.parts.iter().map(|(tool, args)| (tool.as_str(), args.concat())).collect();
        let whole: Vec<(&str, String)> =
            heard.calls.iter().map(|(tool, args)| (tool.as_str(), args.clone())).collect();
        assert_eq!(parts, whole, "{service}");
        // This service tells a call when it is whole.
        let least = if service == Service::Ollama { 1 } else { 2 };
        assert!(heard.parts[0].1.len() >= least, "{service}: {:?}", heard.parts[0].1);
    }
}

#[tokio::test]
async fn thoughts_are_shown_and_given_back_only_to_whom_they_belong() {
    for service in DIALECTS {
        let server = Server::new();
        let mut profile = speak::profile(service, &server.url(""));
        profile.effort = Some("low".into());
        let remote = Remote::new(profile);
        let mut thoughtful = say("I look.").call("read_file", json!({ "path": "a" }));
        thoughtful.reasoning = "Where is the LED?".into();
        server.then(speak::reply(service, &thoughtful));
        let heard = ask(&remote, first_request()).await;
        assert_eq!(heard.reasoning, "Where is the LED?", "{service}");
        assert_eq!(heard.text, "I look.");
        let mut next = request();
        next.state.clone_from(&heard.state);
        let mut other = next.clone();
        other.agent = "Reviewer".into();
        server.then(speak::reply(service, &say("done")));
        server.then(speak::reply(service, &say("done")));
        let after = ask(&remote, next).await;
        assert_eq!(after.state, None, "the loop is over");
        ask(&remote, other).await;
        let seen: Vec<String> = server.seen().iter().map(|seen| seen.body.to_string()).collect();
        let signed = match service {
            Service::Anthropic => "\"signature\":\"sig\"",
            Service::Responses => "\"encrypted_content\":\"cipher\"",
            _ => {
                assert!(heard.state.is_none() && !seen[1].contains("Where is the LED"));
                continue;
            }
        };
        assert!(seen[1].contains(signed), "{service}: {}", seen[1]);
        assert!(!seen[2].contains(signed), "{service}: {}", seen[2]);
    }
}

#[tokio::test]
async fn an_answer_that_was_cut_short_or_refused_says_so() {
    for service in DIALECTS {
        let server = Server::new();
        let remote = remote(service, &server);
        server.then(speak::reply(service, &say("half of").ends(End::Length)));
        let heard = ask(&remote, first_request()).await;
        assert_eq!((heard.text.as_str(), heard.notes.len()), ("half of", 1), "{service}");
        assert!(heard.notes[0].what.contains("cut off"));
        if service == Service::Ollama {
            continue;
        }
        server.then(speak::reply(service, &say("").ends(End::Refused)));
        let error = ask(&remote, first_request()).await.failed();
        assert!(error.what.contains("refused") && !error.fix.is_empty(), "{service}: {error:?}");
        assert_eq!(server.seen().len(), 2, "a refusal is not asked again");
    }
}

#[tokio::test]
async fn it_makes_no_difference_how_the_stream_is_cut() {
    for service in DIALECTS {
        let server = Server::new();
        let answer = say("Größe 🦀 日本").call("read_file", json!({ "path": "ü/🦀.c" }));
        let body = speak::body(service, &answer);
        server.then(Reply::dripping(speak::content_type(service), body.as_bytes(), 1));
        let mut patient = speak::profile(service, &server.url(""));
        patient.wire.stall = Duration::from_secs(20);
        let heard = ask(&Remote::new(patient), first_request()).await;
        assert_eq!(heard.text, "Größe 🦀 日本", "{service}");
        assert_eq!(heard.calls, [("read_file".into(), r#"{"path":"ü/🦀.c"}"#.into())]);
    }
}

#[tokio::test]
async fn dropping_the_answer_closes_the_connection_at_once() {
    for service in DIALECTS {
        let server = Server::new();
        let part = speak::body(service, &say("It begins").ends(End::Nowhere));
        let mut bytes = crate::wire::head(200, speak::content_type(service), "").into_bytes();
        bytes.extend_from_slice(part.as_bytes());
        server.then(Reply::Hang(bytes));
        let remote = remote(service, &server);
        let mut answer = remote.ask(first_request());
        assert!(answer.next().await.is_some(), "{service}");
        let since = Instant::now();
        drop(answer);
        while server.busy.load(std::sync::atomic::Ordering::SeqCst) > 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
            assert!(since.elapsed() < Duration::from_millis(300), "{service} goes on");
        }
    }
}

#[tokio::test]
async fn a_model_without_tools_is_told_of_them_in_words() {
    for service in DIALECTS {
        let server = Server::new();
        let refusal = r#"{"error":{"message":"test-model does not support tools"}}"#;
        server.then(Reply::status(400, "", refusal));
        let call =
            "I read.\n```json\n{\"tool\": \"read_file\", \"arguments\": {\"path\": \"a.c\"}}\n```";
        server.then(speak::reply(service, &say(call)));
        let broken = "{\"tool\": \"read_file\", \"arguments\": {\"path\": \"a.c\"";
        server.then(speak::reply(service, &say(broken)));
        let remote = remote(service, &server);
        let heard = ask(&remote, request()).await;
        assert_eq!(heard.calls, [("read_file".into(), r#"{"path":"a.c"}"#.into())], "{service}");
        assert_eq!((heard.notes.len(), heard.faults.len()), (1, 0));
        let heard = ask(&remote, request()).await;
        assert_eq!(heard.calls, [("read_file".into(), broken.into())], "{service}");
        assert!(heard.notes.is_empty(), "said once");
        let seen = server.seen();
        let told = seen[1].body.to_string();
        assert!(seen[1].body.get("tools").is_none() && told.contains("## generate_code"), "{told}");
        assert!(told.contains("`read_file` answered:"), "{told}");
    }
    let server = Server::new();
    let mut profile = speak::profile(Service::OpenAi, &server.url(""));
    profile.tools = ToolUse::Native;
    server.then(Reply::status(400, "", r#"{"error":"test-model does not support tools"}"#));
    assert!(ask(&Remote::new(profile), request()).await.error.is_some());
}

#[tokio::test]
async fn what_a_model_does_not_take_is_left_out_from_then_on() {
    let server = Server::new();
    let said = "Unsupported value: 'temperature' does not support 0.2 with this model.";
    server.then(Reply::status(400, "", &json!({ "error": { "message": said } }).to_string()));
    server.then(speak::reply(Service::OpenAi, &say("ok")));
    server.then(speak::reply(Service::OpenAi, &say("ok")));
    let remote = remote(Service::OpenAi, &server);
    let mut request = first_request();
    request.options.temperature = Some(0.2);
    ask(&remote, request.clone()).await;
    ask(&remote, request).await;
    let has: Vec<bool> =
        server.seen().iter().map(|seen| seen.body.get("temperature").is_some()).collect();
    assert_eq!(has, [true, false, false]);
}

#[tokio::test]
async fn every_service_is_asked_where_and_how_it_wants() {
    let cases = [
        (
            Service::Azure,
            "POST /openai/deployments/test-model/chat/completions?api-version=2024-10-21 ",
            "api-key",
        ),
        (Service::GitHub, "POST /v1/chat/completions ", "authorization"),
        (Service::OpenRouter, "POST /v1/chat/completions ", "x-title"),
        (Service::LlamaCpp, "POST /v1/chat/completions ", "authorization"),
        (Service::LmStudio, "POST /v1/chat/completions ", "authorization"),
        (Service::Vllm, "POST /v1/chat/completions ", "authorization"),
        (Service::Compatible, "POST /v1/chat/completions ", "authorization"),
        (Service::Responses, "POST /v1/responses ", "authorization"),
        (Service::Anthropic, "POST /v1/messages ", "anthropic-version"),
        (Service::Ollama, "POST /api/chat ", "authorization"),
    ];
    for (service, line, header) in cases {
        let server = Server::new();
        server.then(speak::reply(service, &say("ok")));
        let mut request = first_request();
        request.options.max_tokens = Some(77);
        let heard = ask(&remote(service, &server), request).await;
        assert_eq!(heard.text, "ok", "{service}");
        let seen = server.seen().pop().unwrap();
        assert!(seen.line.starts_with(line), "{service}: {}", seen.line);
        assert!(seen.header(header).is_some(), "{service}: {:?}", seen.headers);
        assert!(seen.body.to_string().contains("77"), "{service}: {}", seen.body);
    }
}

#[tokio::test]
async fn models_are_listed() {
    let lists = [
        (Service::OpenAi, json!({ "data": [{ "id": "b" }, { "id": "a" }] })),
        (Service::Anthropic, json!({ "data": [{ "type": "model", "id": "a" }, { "id": "b" }] })),
        (Service::Ollama, json!({ "models": [{ "name": "b", "model": "b" }, { "name": "a" }] })),
        (Service::GitHub, json!([{ "id": "a", "name": "A" }, { "id": "b" }])),
    ];
    for (service, list) in lists {
        let server = Server::new();
        server.then(Reply::ok("application/json", list.to_string().as_bytes()));
        assert_eq!(remote(service, &server).models().await.unwrap(), ["a", "b"], "{service}");
    }
}

#[tokio::test]
async fn an_answer_in_one_piece_is_taken_as_well() {
    let whole = [
        (
            Service::OpenAi,
            json!({ "model": "m", "choices": [{ "message": { "content": "ok",
            "tool_calls": [{ "id": "x", "function": { "name": "read_file", "arguments": "{}" } }] },
            "finish_reason": "tool_calls" }], "usage": { "prompt_tokens": 3, "completion_tokens": 2 } }),
        ),
        (
            Service::Anthropic,
            json!({ "model": "m", "stop_reason": "tool_use", "usage": { "input_tokens": 3,
            "output_tokens": 2 }, "content": [{ "type": "text", "text": "ok" },
            { "type": "tool_use", "name": "read_file", "input": {} }] }),
        ),
        (
            Service::Responses,
            json!({ "model": "m", "usage": { "input_tokens": 3, "output_tokens": 2 },
            "output": [{ "type": "message", "content": [{ "type": "output_text", "text": "ok" }] },
            { "type": "function_call", "name": "read_file", "arguments": "{}" }] }),
        ),
    ];
    for (service, whole) in whole {
        let server = Server::new();
        server.then(Reply::ok("application/json", whole.to_string().as_bytes()));
        let heard = ask(&remote(service, &server), first_request()).await;
        assert_eq!((heard.text.as_str(), heard.calls.len()), ("ok", 1), "{service}");
        assert_eq!(heard.usage.map(|usage| (usage.input, usage.output)), Some((3, 2)));
    }
    let nothing = Say::default();
    let server = Server::new();
    let remote = remote(Service::OpenAi, &server);
    for _ in 0..4 {
        server.then(speak::reply(Service::OpenAi, &nothing));
    }
    let error = ask(&remote, first_request()).await.failed();
    assert!(error.why.contains("answer was empty"), "{error:?}");
}
