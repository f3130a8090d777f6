//! Anthropic's messages.

use serde_json::{Map, Value, json};

use super::conversation::ConversationTurn;
use super::{AnswerPiece, DialectReader, Fault, Received, RequestBody, Slot, Stop};
use super::{arguments, call_id, count, service_fault};
use crate::model::{Cost, Usage};

/// Tokens of an answer where neither profile nor agent say anything; the service wants a number.
const MOST_TOKENS: u32 = 16_384;

/// Tokens a model may think for, by effort.
const THINKING: [(&str, u32); 3] = [("low", 2_048), ("medium", 8_192), ("high", 24_576)];

/// Writes a request.
pub(super) fn write(asked: &RequestBody<'_>) -> Value {
    let profile = asked.profile;
    let effort = profile.effort.as_ref().filter(|_| !asked.without.reasoning);
    let thinking = effort.and_then(|effort| THINKING.iter().find(|(name, _)| name == effort));
    let most = asked.max_tokens.unwrap_or(MOST_TOKENS);
    let mut body = Map::new();
    body.insert("model".into(), json!(profile.model));
    // Thinking counts as part of the answer.
    let thought = thinking.map_or(0, |(_, tokens)| *tokens);
    body.insert("max_tokens".into(), json!(most.saturating_add(thought)));
    body.insert("stream".into(), json!(true));
    if !asked.conversation.system.is_empty() {
        let cache = json!({ "type": "ephemeral" });
        let block =
            json!({ "type": "text", "text": asked.conversation.system, "cache_control": cache });
        body.insert("system".into(), json!([block]));
    }
    body.insert("messages".into(), messages(asked));
    if !asked.conversation.tools.is_empty() {
        let tools = asked.conversation.tools.iter().map(|spec| {
            json!({
                "name": spec.name.as_str(),
                "description": spec.description,
                "input_schema": spec.schema,
            })
        });
        body.insert("tools".into(), tools.collect());
    }
    if let Some(form) = asked.form {
        let format = json!({ "type": "json_schema", "schema": form.schema });
        body.insert("output_config".into(), json!({ "format": format }));
    }
    match thinking {
        // A thinking model takes no temperature.
        Some((_, tokens)) => {
            body.insert("thinking".into(), json!({ "type": "enabled", "budget_tokens": tokens }));
        }
        None => {
            if let Some(temperature) = asked.temperature.filter(|_| !asked.without.temperature) {
                body.insert("temperature".into(), json!(temperature.clamp(0.0, 1.0)));
            }
        }
    }
    Value::Object(body)
}

/// The conversation; results of tools are said by the other side, and neighbours are joined.
fn messages(asked: &RequestBody<'_>) -> Value {
    let mut thoughts = asked.thoughts();
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    for turn in &asked.conversation.turns {
        let (role, blocks) = match turn {
            ConversationTurn::Outside(text) => {
                ("user", vec![json!({ "type": "text", "text": text })])
            }
            ConversationTurn::Own { text, calls } => {
                let mut blocks = thoughts.next().unwrap_or_default().to_vec();
                if !text.trim().is_empty() {
                    // White space at the end of the last answer is refused.
                    blocks.push(json!({ "type": "text", "text": text.trim_end() }));
                }
                blocks.extend(calls.iter().map(|call| {
                    let (id, name) = (call_id(call.id), call.tool.as_str());
                    let input = arguments(&call.args);
                    json!({ "type": "tool_use", "id": id, "name": name, "input": input })
                }));
                ("assistant", blocks)
            }
            ConversationTurn::Result { call, json: text, .. } => {
                let id = call_id(*call);
                let block = json!({ "type": "tool_result", "tool_use_id": id, "content": text });
                ("user", vec![block])
            }
        };
        match messages.last_mut() {
            Some((last, so_far)) if *last == role => so_far.extend(blocks),
            _ => messages.push((role, blocks)),
        }
    }
    // What was said so far is the same in the next request.
    if let Some(Value::Object(last)) = messages.last_mut().and_then(|(_, blocks)| blocks.last_mut())
    {
        last.insert("cache_control".into(), json!({ "type": "ephemeral" }));
    }
    let messages =
        messages.into_iter().map(|(role, content)| json!({ "role": role, "content": content }));
    messages.collect()
}

/// Reads an answer.
#[derive(Default)]
pub(super) struct AnthropicReader {
    usage: Usage,
    /// The thought that is under way, to be kept with its signature.
    thought: Option<(String, String)>,
    stop: Option<Stop>,
}

impl DialectReader for AnthropicReader {
    fn read(&mut self, message: &str, out: &mut Received<'_>) -> Result<(), Fault> {
        let event = super::json(message, out.profile)?;
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        let place = event.get("index").and_then(Value::as_u64).unwrap_or(0);
        match kind {
            "message_start" => {
                let message = event.get("message").unwrap_or(&Value::Null);
                let model = message.get("model").and_then(Value::as_str);
                out.extend(model.map(|model| AnswerPiece::Model(model.to_owned())));
                self.count(message.get("usage"), out);
            }
            "content_block_start" => {
                self.begin(place, event.get("content_block").unwrap_or(&Value::Null), out);
            }
            "content_block_delta" => {
                self.delta(place, event.get("delta").unwrap_or(&Value::Null), out);
            }
            "content_block_stop" => self.end_thought(out),
            "message_delta" => {
                self.count(event.get("usage"), out);
                let why = event.pointer("/delta/stop_reason").and_then(Value::as_str);
                if let Some(why) = why {
                    self.stop = Some(stop(why, event.pointer("/delta/stop_details/explanation")));
                }
            }
            "message_stop" => out.push(AnswerPiece::Stop(self.stop.take().unwrap_or(Stop::End))),
            "error" => {
                return Err(service_fault(event.get("error").unwrap_or(&Value::Null), out.profile));
            }
            // `ping`, and what may be added to the protocol.
            _ => {}
        }
        Ok(())
    }

    fn read_whole(&mut self, whole: &Value, out: &mut Received<'_>) -> Result<(), Fault> {
        let Some(blocks) = whole.get("content").and_then(Value::as_array) else {
            return Err(Fault::garbled(
                out.profile,
                "an answer without content",
                &whole.to_string(),
            ));
        };
        let model = whole.get("model").and_then(Value::as_str);
        out.extend(model.map(|model| AnswerPiece::Model(model.to_owned())));
        self.count(whole.get("usage"), out);
        for (place, block) in (0..).zip(blocks) {
            self.begin(place, block, out);
            self.end_thought(out);
        }
        let why = whole.get("stop_reason").and_then(Value::as_str).unwrap_or_default();
        out.push(AnswerPiece::Stop(stop(why, None)));
        Ok(())
    }
}

impl AnthropicReader {
    fn count(&mut self, usage: Option<&Value>, out: &mut Received<'_>) {
        let Some(usage) = usage.filter(|usage| usage.is_object()) else { return };
        let cached = count(usage.get("cache_read_input_tokens"));
        let written = count(usage.get("cache_creation_input_tokens"));
        let input = count(usage.get("input_tokens")).saturating_add(cached).saturating_add(written);
        // The last message tells of the answer alone.
        if input > 0 {
            self.usage.input = input;
            self.usage.cached = cached;
        }
        self.usage.output = self.usage.output.max(count(usage.get("output_tokens")));
        self.usage.cost = Cost::ZERO;
        out.push(AnswerPiece::Usage(self.usage));
    }

    fn begin(&mut self, place: u64, block: &Value, out: &mut Received<'_>) {
        let text = |field: &str| block.get(field).and_then(Value::as_str).unwrap_or_default();
        match text("type") {
            "text" if !text("text").is_empty() => {
                out.push(AnswerPiece::Text(text("text").to_owned()))
            }
            "thinking" => {
                let (thought, signature) = (text("thinking"), text("signature"));
                if !thought.is_empty() {
                    out.push(AnswerPiece::Reasoning(thought.to_owned()));
                }
                self.thought = Some((thought.to_owned(), signature.to_owned()));
            }
            "redacted_thinking" => out.push(AnswerPiece::Keep(block.clone())),
            "tool_use" => {
                // A stream begins with an empty object and tells the arguments afterwards.
                let input = block.get("input").filter(|input| *input != &json!({}));
                let args = input.map_or_else(String::new, Value::to_string);
                let name = text("name").to_owned();
                out.push(AnswerPiece::Call { slot: Slot::Place(place), name, args });
            }
            _ => {}
        }
    }

    fn delta(&mut self, place: u64, delta: &Value, out: &mut Received<'_>) {
        let text =
            |field: &str| delta.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        match delta.get("type").and_then(Value::as_str).unwrap_or_default() {
            "text_delta" => out.push(AnswerPiece::Text(text("text"))),
            "input_json_delta" => {
                let args = text("partial_json");
                out.push(AnswerPiece::Call { slot: Slot::Place(place), name: String::new(), args });
            }
            "thinking_delta" => {
                let more = text("thinking");
                if let Some((thought, _)) = &mut self.thought {
                    thought.push_str(&more);
                }
                out.push(AnswerPiece::Reasoning(more));
            }
            "signature_delta" => {
                if let Some((_, signature)) = &mut self.thought {
                    signature.push_str(&text("signature"));
                }
            }
            _ => {}
        }
    }

    /// A thought without a signature is not taken back by the service.
    fn end_thought(&mut self, out: &mut Received<'_>) {
        let Some((thinking, signature)) = self.thought.take() else { return };
        if !signature.is_empty() {
            out.push(AnswerPiece::Keep(
                json!({ "type": "thinking", "thinking": thinking, "signature": signature }),
            ));
        }
    }
}

fn stop(why: &str, explanation: Option<&Value>) -> Stop {
    match why {
        "max_tokens" | "model_context_window_exceeded" => Stop::Length,
        "refusal" => Stop::Refused(
            explanation.and_then(Value::as_str).unwrap_or("its safety rules").to_owned(),
        ),
        _ => Stop::End,
    }
}
