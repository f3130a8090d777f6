//! Writes one and the same answer in every dialect.

use firmhand::provider::{KeySource, Profile, ReadKey, Service, Wire};
use serde_json::{Value, json};
use std::time::Duration;

use super::Reply;

/// The dialects, by a service that speaks each.
pub const DIALECTS: [Service; 4] =
    [Service::OpenAi, Service::Responses, Service::Anthropic, Service::Ollama];

/// The key of all tests.
pub const KEY: &str = "sk-wire-0123456789abcdef";

/// What a model answers.
#[derive(Debug, Clone, Default)]
pub struct Say {
    pub reasoning: String,
    /// In pieces.
    pub text: Vec<String>,
    pub calls: Vec<(String, Value)>,
    pub stop: End,
    pub usage: (i64, i64, i64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum End {
    #[default]
    Natural,
    Length,
    Refused,
    /// The connection ends before the answer does.
    Nowhere,
}

pub fn say(text: &str) -> Say {
    let text = text.split_inclusive(' ').map(str::to_owned).collect();
    Say { text, usage: (100, 20, 40), ..Say::default() }
}

impl Say {
    pub fn call(mut self, tool: &str, args: Value) -> Self {
        self.calls.push((tool.to_owned(), args));
        self
    }

    pub fn ends(mut self, end: End) -> Self {
        self.stop = end;
        self
    }
}

/// A profile for a server at that address.
pub fn profile(service: Service, url: &str) -> Profile {
    let path = match service {
        Service::Anthropic | Service::Ollama | Service::Azure => "",
        _ => "/v1",
    };
    let mut wire = Wire::new(&format!("{url}{path}"));
    wire.pause = Duration::from_millis(20);
    wire.stall = Duration::from_millis(500);
    wire.tries = 4;
    let key: ReadKey = Box::new(|| Ok(Some(KEY.into())));
    Profile::new("test", service, "test-model", wire)
        .with_key(KeySource::Env("FIRMHAND_TEST_KEY".into()), key)
}

/// How a stream of that service calls itself.
pub fn content_type(service: Service) -> &'static str {
    match service {
        Service::Ollama => "application/x-ndjson",
        _ => "text/event-stream; charset=utf-8",
    }
}

/// The answer as that service streams it.
pub fn body(service: Service, say: &Say) -> String {
    let events = match service {
        Service::Responses => responses(say),
        Service::Anthropic => anthropic(say),
        Service::Ollama => {
            let lines = ollama(say).into_iter().map(|line| format!("{line}\n"));
            return lines.collect();
        }
        _ => chat(say),
    };
    let named = |event: &Value| match event.get("type").and_then(Value::as_str) {
        Some(name) => format!("event: {name}\ndata: {event}\n\n"),
        None => format!("data: {event}\n\n"),
    };
    let mut text: String = events.iter().map(named).collect();
    let is_chat = !matches!(service, Service::Responses | Service::Anthropic);
    if is_chat && say.stop != End::Nowhere {
        text.push_str("data: [DONE]\n\n");
    }
    text
}

/// The answer as a reply of the server.
pub fn reply(service: Service, say: &Say) -> Reply {
    Reply::ok(content_type(service), body(service, say).as_bytes())
}

fn chat(say: &Say) -> Vec<Value> {
    let chunk = |delta: Value, why: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": why });
        json!({ "id": "x", "model": "test-model-1", "choices": [choice] })
    };
    let mut events = vec![chunk(json!({ "role": "assistant", "content": "" }), Value::Null)];
    if !say.reasoning.is_empty() {
        events.push(chunk(json!({ "reasoning_content": say.reasoning }), Value::Null));
    }
    events.extend(say.text.iter().map(|text| chunk(json!({ "content": text }), Value::Null)));
    for (index, (name, args)) in say.calls.iter().enumerate() {
        let call = |function: Value| {
            let call = json!({ "index": index, "function": function });
            chunk(json!({ "tool_calls": [call] }), Value::Null)
        };
        let mut first = call(json!({ "name": name, "arguments": "" }));
        first["choices"][0]["delta"]["tool_calls"][0]["id"] = json!(format!("id{index}"));
        events.push(first);
        for piece in pieces(args) {
            events.push(call(json!({ "arguments": piece })));
        }
    }
    let why = match say.stop {
        End::Nowhere => return events,
        End::Length => "length",
        End::Refused => {
            events.push(chunk(json!({ "refusal": "I will not." }), Value::Null));
            "stop"
        }
        End::Natural if say.calls.is_empty() => "stop",
        End::Natural => "tool_calls",
    };
    events.push(chunk(json!({}), json!(why)));
    let (input, output, cached) = say.usage;
    let details = json!({ "cached_tokens": cached });
    let usage = json!({
        "prompt_tokens": input, "completion_tokens": output, "prompt_tokens_details": details,
    });
    events.push(json!({ "id": "x", "model": "test-model-1", "choices": [], "usage": usage }));
    events
}

/// JSON text in pieces of a few characters.
fn pieces(args: &Value) -> Vec<String> {
    let text = args.as_str().map_or_else(|| args.to_string(), str::to_owned);
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(200).map(|part| part.iter().collect()).collect()
}

fn responses(say: &Say) -> Vec<Value> {
    let created = json!({ "id": "r", "model": "test-model-1", "status": "in_progress" });
    let mut events = vec![json!({ "type": "response.created", "response": created })];
    let mut place = 0;
    if !say.reasoning.is_empty() {
        let delta = &say.reasoning;
        events.push(json!({ "type": "response.reasoning_summary_text.delta", "delta": delta }));
        let item = json!({ "type": "reasoning", "id": "rs", "encrypted_content": "cipher" });
        events
            .push(json!({ "type": "response.output_item.done", "output_index": 0, "item": item }));
        place += 1;
    }
    for delta in &say.text {
        events.push(
            json!({ "type": "response.output_text.delta", "output_index": place, "delta": delta }),
        );
    }
    for (index, (name, args)) in say.calls.iter().enumerate() {
        let at = place + 1 + index;
        let text = args.as_str().map_or_else(|| args.to_string(), str::to_owned);
        let item = |arguments: &str| json!({ "type": "function_call", "call_id": format!("id{index}"), "name": name, "arguments": arguments });
        events.push(
            json!({ "type": "response.output_item.added", "output_index": at, "item": item("") }),
        );
        for delta in pieces(args) {
            let kind = "response.function_call_arguments.delta";
            events.push(json!({ "type": kind, "output_index": at, "delta": delta }));
        }
        events.push(
            json!({ "type": "response.output_item.done", "output_index": at, "item": item(&text) }),
        );
    }
    let (input, output, cached) = say.usage;
    let details = json!({ "cached_tokens": cached });
    let usage =
        json!({ "input_tokens": input, "output_tokens": output, "input_tokens_details": details });
    let mut response =
        json!({ "id": "r", "model": "test-model-1", "status": "completed", "usage": usage });
    let mut kind = "response.completed";
    match say.stop {
        End::Natural => {}
        End::Length => {
            kind = "response.incomplete";
            response["incomplete_details"] = json!({ "reason": "max_output_tokens" });
        }
        End::Refused => {
            events.push(json!({ "type": "response.refusal.delta", "delta": "I will not." }));
        }
        End::Nowhere => return events,
    }
    events.push(json!({ "type": kind, "response": response }));
    events
}

fn anthropic(say: &Say) -> Vec<Value> {
    let (input, output, cached) = say.usage;
    let usage = json!({
        "input_tokens": input - cached, "cache_read_input_tokens": cached, "output_tokens": 1,
    });
    let message = json!({ "id": "m", "model": "test-model-1", "usage": usage });
    let mut events = vec![json!({ "type": "message_start", "message": message })];
    let mut index = 0;
    let mut block = |start: Value, deltas: Vec<Value>, events: &mut Vec<Value>| {
        events
            .push(json!({ "type": "content_block_start", "index": index, "content_block": start }));
        events.extend(
            deltas.into_iter().map(
                |delta| json!({ "type": "content_block_delta", "index": index, "delta": delta }),
            ),
        );
        events.push(json!({ "type": "content_block_stop", "index": index }));
        index += 1;
    };
    if !say.reasoning.is_empty() {
        let thought = json!({ "type": "thinking_delta", "thinking": say.reasoning });
        let signature = json!({ "type": "signature_delta", "signature": "sig" });
        let start = json!({ "type": "thinking", "thinking": "", "signature": "" });
        block(start, vec![thought, signature], &mut events);
    }
    events.push(json!({ "type": "ping" }));
    if !say.text.is_empty() {
        let text = say.text.iter().map(|text| json!({ "type": "text_delta", "text": text }));
        block(json!({ "type": "text", "text": "" }), text.collect(), &mut events);
    }
    for (number, (name, args)) in say.calls.iter().enumerate() {
        let start =
            json!({ "type": "tool_use", "id": format!("id{number}"), "name": name, "input": {} });
        let json = pieces(args).into_iter();
        let deltas = json.map(|part| json!({ "type": "input_json_delta", "partial_json": part }));
        block(start, deltas.collect(), &mut events);
    }
    let why = match say.stop {
        End::Nowhere => return events,
        End::Length => "max_tokens",
        End::Refused => "refusal",
        End::Natural if say.calls.is_empty() => "end_turn",
        End::Natural => "tool_use",
    };
    let usage = json!({ "output_tokens": output });
    events
        .push(json!({ "type": "message_delta", "delta": { "stop_reason": why }, "usage": usage }));
    events.push(json!({ "type": "message_stop" }));
    events
}

fn ollama(say: &Say) -> Vec<Value> {
    let line =
        |message: Value| json!({ "model": "test-model-1", "message": message, "done": false });
    let mut lines = Vec::new();
    if !say.reasoning.is_empty() {
        lines.push(line(json!({ "role": "assistant", "content": "", "thinking": say.reasoning })));
    }
    lines.extend(say.text.iter().map(|text| line(json!({ "role": "assistant", "content": text }))));
    if !say.calls.is_empty() {
        let calls: Vec<Value> = say
            .calls
            .iter()
            .map(|(name, args)| json!({ "function": { "name": name, "arguments": args } }))
            .collect();
        lines.push(line(json!({ "role": "assistant", "content": "", "tool_calls": calls })));
    }
    if say.stop != End::Nowhere {
        let why = if say.stop == End::Length { "length" } else { "stop" };
        let (input, output, _) = say.usage;
        lines.push(json!({
            "model": "test-model-1", "message": { "role": "assistant", "content": "" },
            "done": true, "done_reason": why, "prompt_eval_count": input, "eval_count": output,
        }));
    }
    lines
}
