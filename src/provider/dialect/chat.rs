//! OpenAI's chat completions, and what others have made of them.

use serde_json::{Map, Value, json};

use super::conversation::ConversationTurn;
use super::{
    AnswerPiece, DialectReader, Fault, MOST_REFUSAL, Received, RequestBody, Service, Slot, Stop,
};
use super::{arguments, call_id, service_fault, usage};
use crate::model::{CallId, ToolCall};

/// Writes a request.
pub(super) fn write(asked: &RequestBody<'_>) -> Value {
    let profile = asked.profile;
    let mut body = Map::new();
    if profile.service != Service::Azure {
        body.insert("model".into(), json!(profile.model));
    }
    body.insert("messages".into(), messages(asked, calling, result));
    body.insert("stream".into(), json!(true));
    if !asked.without.stream_usage {
        body.insert("stream_options".into(), json!({ "include_usage": true }));
    }
    if !asked.conversation.tools.is_empty() {
        body.insert("tools".into(), tools(asked));
    }
    if let Some(form) = asked.form {
        let schema = json!({ "name": form.name, "schema": form.schema, "strict": true });
        let format = json!({ "type": "json_schema", "json_schema": schema });
        body.insert("response_format".into(), format);
    }
    if let Some(most) = asked.max_tokens {
        let is_new = matches!(profile.service, Service::OpenAi | Service::Azure);
        let name = match is_new != asked.without.old_limit {
            true => "max_completion_tokens",
            false => "max_tokens",
        };
        body.insert(name.into(), json!(most));
    }
    if let Some(temperature) = asked.temperature.filter(|_| !asked.without.temperature) {
        body.insert("temperature".into(), json!(temperature));
    }
    if let Some(effort) = profile.effort.as_ref().filter(|_| !asked.without.reasoning) {
        match profile.service {
            Service::OpenRouter => body.insert("reasoning".into(), json!({ "effort": effort })),
            _ => body.insert("reasoning_effort".into(), json!(effort)),
        };
    }
    Value::Object(body)
}

/// The messages of a service that takes one for each turn, with calls and results as it writes
/// them.
pub(super) fn messages(
    asked: &RequestBody<'_>,
    calling: fn(&str, &[ToolCall]) -> Value,
    result: fn(CallId, &str, &str) -> Value,
) -> Value {
    let system = &asked.conversation.system;
    let system = (!system.is_empty()).then(|| json!({ "role": "system", "content": system }));
    let turns = asked.conversation.turns.iter().map(|turn| match turn {
        ConversationTurn::Outside(text) => json!({ "role": "user", "content": text }),
        ConversationTurn::Own { text, calls: [] } => {
            json!({ "role": "assistant", "content": text })
        }
        ConversationTurn::Own { text, calls } => calling(text, calls),
        ConversationTurn::Result { call, tool, json } => result(*call, tool, json),
    });
    system.into_iter().chain(turns).collect()
}

fn calling(text: &str, calls: &[ToolCall]) -> Value {
    let call = |call: &ToolCall| {
        let args = arguments(&call.args).to_string();
        let function = json!({ "name": call.tool.as_str(), "arguments": args });
        json!({ "id": call_id(call.id), "type": "function", "function": function })
    };
    let calls: Vec<Value> = calls.iter().map(call).collect();
    let content = if text.is_empty() { Value::Null } else { json!(text) };
    json!({ "role": "assistant", "content": content, "tool_calls": calls })
}

fn result(call: CallId, _: &str, text: &str) -> Value {
    json!({ "role": "tool", "tool_call_id": call_id(call), "content": text })
}

/// The declarations of tools, which Ollama takes in the same form.
pub(super) fn tools(asked: &RequestBody<'_>) -> Value {
    let tools = asked.conversation.tools.iter().map(|spec| {
        let function = json!({
            "name": spec.name.as_str(),
            "description": spec.description,
            "parameters": spec.schema,
        });
        json!({ "type": "function", "function": function })
    });
    tools.collect()
}

/// Reads an answer.
#[derive(Default)]
pub(super) struct ChatReader {
    is_named: bool,
    has_stopped: bool,
    refusal: String,
}

impl DialectReader for ChatReader {
    fn read(&mut self, message: &str, out: &mut Received<'_>) -> Result<(), Fault> {
        if message.trim() == "[DONE]" {
            // Some services end so without having said why.
            if !self.has_stopped {
                out.push(AnswerPiece::Stop(Stop::End));
            }
            return Ok(());
        }
        let chunk = super::json(message, out.profile)?;
        self.take(&chunk, "delta", out)
    }

    fn read_whole(&mut self, whole: &Value, out: &mut Received<'_>) -> Result<(), Fault> {
        self.take(whole, "message", out)?;
        if whole.pointer("/choices/0").is_none() {
            let text = whole.to_string();
            return Err(Fault::garbled(out.profile, "an answer without choices", &text));
        }
        if !self.has_stopped {
            out.push(AnswerPiece::Stop(Stop::End));
        }
        Ok(())
    }
}

impl ChatReader {
    fn take(&mut self, chunk: &Value, field: &str, out: &mut Received<'_>) -> Result<(), Fault> {
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            return Err(service_fault(error, out.profile));
        }
        let model = chunk.get("model").and_then(Value::as_str).filter(|model| !model.is_empty());
        if let Some(model) = model.filter(|_| !self.is_named) {
            self.is_named = true;
            out.push(AnswerPiece::Model(model.to_owned()));
        }
        if let Some(counted) = chunk.get("usage").filter(|usage| usage.is_object()) {
            let details = "prompt_tokens_details";
            let usage = usage(counted, "prompt_tokens", "completion_tokens", details);
            out.push(AnswerPiece::Usage(usage));
        }
        let Some(choice) = chunk.pointer("/choices/0") else { return Ok(()) };
        if let Some(delta) = choice.get(field) {
            self.delta(delta, out);
        }
        let why = choice.get("finish_reason").and_then(Value::as_str);
        if let Some(why) = why.filter(|_| !self.has_stopped) {
            self.has_stopped = true;
            out.push(AnswerPiece::Stop(match why {
                "length" => Stop::Length,
                "content_filter" => Stop::Refused(self.reason("its filter stopped the answer")),
                "error" => {
                    return Err(Fault::from_service(
                        out.profile,
                        "",
                        "the model failed in the middle",
                    ));
                }
                _ if !self.refusal.is_empty() => Stop::Refused(self.refusal.clone()),
                _ => Stop::End,
            }));
        }
        Ok(())
    }

    fn reason(&self, otherwise: &str) -> String {
        if self.refusal.is_empty() { otherwise.to_owned() } else { self.refusal.clone() }
    }

    fn delta(&mut self, delta: &Value, out: &mut Received<'_>) {
        let text = |value: Option<&Value>| {
            value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        // The same thought under two names is one thought.
        let thought = text(delta.get("reasoning_content")).or_else(|| text(delta.get("reasoning")));
        out.extend(thought.map(AnswerPiece::Reasoning));
        match delta.get("content") {
            Some(Value::Array(parts)) => {
                let parts = parts.iter().filter_map(|part| text(part.get("text")));
                out.extend(parts.map(AnswerPiece::Text));
            }
            content => out.extend(text(content).map(AnswerPiece::Text)),
        }
        let has_space = self.refusal.len() < MOST_REFUSAL;
        if let Some(refusal) = text(delta.get("refusal")).filter(|_| has_space) {
            self.refusal.push_str(&refusal);
        }
        for call in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            let id = text(call.get("id"));
            let slot = match (call.get("index").and_then(Value::as_u64), id) {
                // Some services give every call the same place and only the id tells.
                (Some(place), Some(id)) => Slot::Named(place, id),
                (Some(place), None) => Slot::Place(place),
                (None, Some(_)) => Slot::New,
                (None, None) => Slot::Place(u64::MAX),
            };
            let name = text(call.pointer("/function/name")).unwrap_or_default();
            let args = match call.pointer("/function/arguments") {
                Some(Value::String(args)) => args.clone(),
                Some(Value::Null) | None => String::new(),
                Some(args) => args.to_string(),
            };
            out.push(AnswerPiece::Call { slot, name, args });
        }
    }
}
