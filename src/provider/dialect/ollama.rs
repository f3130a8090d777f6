//! Ollama's own protocol: JSON lines, tool calls in one piece, a context of chosen size.

use serde_json::{Map, Value, json};

use super::{AnswerPiece, DialectReader, Fault, Received, RequestBody, Slot, Stop};
use super::{arguments, chat, count, service_fault};
use crate::model::{CallId, ToolCall, Usage};

/// The context that is asked for when nobody says anything. Left alone, Ollama takes a small one
/// and drops the beginning of the conversation without a word.
pub const WINDOW: u64 = 16_384;

/// Writes a request.
pub(super) fn write(asked: &RequestBody<'_>) -> Value {
    let profile = asked.profile;
    let mut options = Map::new();
    options.insert("num_ctx".into(), json!(profile.window.unwrap_or(WINDOW)));
    if let Some(most) = asked.max_tokens {
        options.insert("num_predict".into(), json!(most));
    }
    if let Some(temperature) = asked.temperature {
        options.insert("temperature".into(), json!(temperature));
    }
    let mut body = Map::new();
    body.insert("model".into(), json!(profile.model));
    body.insert("messages".into(), chat::messages(asked, calling, result));
    body.insert("stream".into(), json!(true));
    body.insert("options".into(), Value::Object(options));
    if !asked.conversation.tools.is_empty() {
        body.insert("tools".into(), chat::tools(asked));
    }
    if let Some(form) = asked.form {
        body.insert("format".into(), form.schema.clone());
    }
    if profile.effort.is_some() && !asked.without.reasoning {
        body.insert("think".into(), json!(true));
    }
    Value::Object(body)
}

fn calling(text: &str, calls: &[ToolCall]) -> Value {
    let call = |call: &ToolCall| {
        let (name, arguments) = (call.tool.as_str(), arguments(&call.args));
        json!({ "function": { "name": name, "arguments": arguments } })
    };
    let calls: Vec<Value> = calls.iter().map(call).collect();
    json!({ "role": "assistant", "content": text, "tool_calls": calls })
}

fn result(_: CallId, tool: &str, text: &str) -> Value {
    json!({ "role": "tool", "tool_name": tool, "content": text })
}

/// Reads an answer.
pub(super) struct OllamaReader;

impl DialectReader for OllamaReader {
    fn read(&mut self, message: &str, out: &mut Received<'_>) -> Result<(), Fault> {
        let line = super::json(message, out.profile)?;
        self.read_whole(&line, out)
    }

    fn read_whole(&mut self, line: &Value, out: &mut Received<'_>) -> Result<(), Fault> {
        if let Some(error) = line.get("error") {
            return Err(service_fault(error, out.profile));
        }
        let text = |field: &str| {
            let text = line.pointer(field).and_then(Value::as_str);
            text.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        out.extend(text("/message/thinking").map(AnswerPiece::Reasoning));
        out.extend(text("/message/content").map(AnswerPiece::Text));
        let calls = line.pointer("/message/tool_calls").and_then(Value::as_array);
        for call in calls.into_iter().flatten() {
            let name = call.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
            let args = match call.pointer("/function/arguments") {
                Some(Value::String(args)) => args.clone(),
                Some(args) => args.to_string(),
                None => String::new(),
            };
            out.push(AnswerPiece::Call { slot: Slot::New, name: name.to_owned(), args });
        }
        if line.get("done").and_then(Value::as_bool) == Some(true) {
            out.extend(text("/model").map(AnswerPiece::Model));
            out.push(AnswerPiece::Usage(Usage {
                input: count(line.get("prompt_eval_count")),
                output: count(line.get("eval_count")),
                ..Usage::default()
            }));
            let is_cut = text("/done_reason").as_deref() == Some("length");
            out.push(AnswerPiece::Stop(if is_cut { Stop::Length } else { Stop::End }));
        }
        Ok(())
    }
}
