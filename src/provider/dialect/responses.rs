//! OpenAI's responses.

use serde_json::{Map, Value, json};

use super::conversation::ConversationTurn;
use super::{
    AnswerPiece, DialectReader, Fault, MOST_REFUSAL, Profile, Received, RequestBody, Slot, Stop,
};
use super::{arguments, call_id, service_fault, usage};

/// Writes a request. Nothing is stored at the service; what it needs again is given back.
pub(super) fn write(asked: &RequestBody<'_>) -> Value {
    let profile = asked.profile;
    let mut body = Map::new();
    body.insert("model".into(), json!(profile.model));
    if !asked.conversation.system.is_empty() {
        body.insert("instructions".into(), json!(asked.conversation.system));
    }
    body.insert("input".into(), input(asked));
    body.insert("stream".into(), json!(true));
    body.insert("store".into(), json!(false));
    if !asked.conversation.tools.is_empty() {
        let tools = asked.conversation.tools.iter().map(|spec| {
            json!({
                "type": "function",
                "name": spec.name.as_str(),
                "description": spec.description,
                "parameters": spec.schema,
                "strict": false,
            })
        });
        body.insert("tools".into(), tools.collect());
    }
    if let Some(form) = asked.form {
        let format = json!({
            "type": "json_schema", "name": form.name, "schema": form.schema, "strict": true,
        });
        body.insert("text".into(), json!({ "format": format }));
    }
    if let Some(most) = asked.max_tokens {
        body.insert("max_output_tokens".into(), json!(most));
    }
    if let Some(temperature) = asked.temperature.filter(|_| !asked.without.temperature) {
        body.insert("temperature".into(), json!(temperature));
    }
    if !asked.without.reasoning && thinks(profile) {
        let mut reasoning = Map::from_iter([("summary".to_owned(), json!("auto"))]);
        reasoning.extend(profile.effort.iter().map(|effort| ("effort".to_owned(), json!(effort))));
        body.insert("reasoning".into(), Value::Object(reasoning));
        body.insert("include".into(), json!(["reasoning.encrypted_content"]));
    }
    Value::Object(body)
}

/// Whether the model is one of those that think, as far as its name tells.
fn thinks(profile: &Profile) -> bool {
    let model = profile.model.as_str();
    let is_o = model.starts_with('o') && model.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    profile.effort.is_some() || is_o || (model.starts_with("gpt-5") && !model.contains("chat"))
}

fn input(asked: &RequestBody<'_>) -> Value {
    let mut thoughts = asked.thoughts();
    let mut items = Vec::with_capacity(asked.conversation.turns.len());
    for turn in &asked.conversation.turns {
        match turn {
            ConversationTurn::Outside(text) => {
                let content = json!([{ "type": "input_text", "text": text }]);
                items.push(json!({ "type": "message", "role": "user", "content": content }));
            }
            ConversationTurn::Own { text, calls } => {
                items.extend_from_slice(thoughts.next().unwrap_or_default());
                if !text.is_empty() {
                    let content = json!([{ "type": "output_text", "text": text }]);
                    items.push(
                        json!({ "type": "message", "role": "assistant", "content": content }),
                    );
                }
                items.extend(calls.iter().map(|call| {
                    json!({
                        "type": "function_call",
                        "call_id": call_id(call.id),
                        "name": call.tool.as_str(),
                        "arguments": arguments(&call.args).to_string(),
                    })
                }));
            }
            ConversationTurn::Result { call, json: text, .. } => items.push(json!({
                "type": "function_call_output",
                "call_id": call_id(*call),
                "output": text,
            })),
        }
    }
    Value::Array(items)
}

/// Reads an answer.
#[derive(Default)]
pub(super) struct ResponsesReader {
    is_named: bool,
    has_stopped: bool,
    refusal: String,
    /// Places of calls whose arguments came in pieces, so that the whole is not taken again.
    streamed: Vec<u64>,
    /// Whether text came in pieces.
    has_text: bool,
}

impl DialectReader for ResponsesReader {
    fn read(&mut self, message: &str, out: &mut Received<'_>) -> Result<(), Fault> {
        if message.trim() == "[DONE]" {
            return Ok(());
        }
        let event = super::json(message, out.profile)?;
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        let text = || event.get("delta").and_then(Value::as_str).unwrap_or_default().to_owned();
        let place = event.get("output_index").and_then(Value::as_u64).unwrap_or(0);
        let item = event.get("item").unwrap_or(&Value::Null);
        match kind {
            "response.created" | "response.in_progress" => self.name(event.get("response"), out),
            "response.output_text.delta" => {
                self.has_text = true;
                out.push(AnswerPiece::Text(text()));
            }
            "response.refusal.delta" if self.refusal.len() < MOST_REFUSAL => {
                self.refusal.push_str(&text());
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                out.push(AnswerPiece::Reasoning(text()));
            }
            "response.reasoning_summary_part.done" => {
                out.push(AnswerPiece::Reasoning("\n\n".into()))
            }
            "response.output_item.added" => begin(place, item, out),
            "response.function_call_arguments.delta" => {
                if !self.streamed.contains(&place) {
                    self.streamed.push(place);
                }
                let (slot, name) = (Slot::Place(place), String::new());
                out.push(AnswerPiece::Call { slot, name, args: text() });
            }
            "response.output_item.done" => self.end(place, item, out),
            "response.completed" | "response.incomplete" | "response.done" => {
                self.finish(event.get("response").unwrap_or(&Value::Null), out);
            }
            "response.failed" => {
                let error = event.pointer("/response/error").unwrap_or(&Value::Null);
                return Err(service_fault(error, out.profile));
            }
            "error" => {
                return Err(service_fault(event.get("error").unwrap_or(&event), out.profile));
            }
            // What is told twice, and what may be added to the protocol.
            _ => {}
        }
        Ok(())
    }

    fn read_whole(&mut self, whole: &Value, out: &mut Received<'_>) -> Result<(), Fault> {
        if let Some(error) = whole.get("error").filter(|error| !error.is_null()) {
            return Err(service_fault(error, out.profile));
        }
        let Some(items) = whole.get("output").and_then(Value::as_array) else {
            return Err(Fault::garbled(
                out.profile,
                "an answer without output",
                &whole.to_string(),
            ));
        };
        for (place, item) in (0..).zip(items) {
            begin(place, item, out);
            self.end(place, item, out);
        }
        self.finish(whole, out);
        Ok(())
    }
}

fn begin(place: u64, item: &Value, out: &mut Received<'_>) {
    if item.get("type").and_then(Value::as_str) == Some("function_call") {
        let name = item.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        out.push(AnswerPiece::Call { slot: Slot::Place(place), name, args: String::new() });
    }
}

impl ResponsesReader {
    fn name(&mut self, response: Option<&Value>, out: &mut Received<'_>) {
        let model = response.and_then(|response| response.get("model")?.as_str());
        if let Some(model) = model.filter(|_| !self.is_named) {
            self.is_named = true;
            out.push(AnswerPiece::Model(model.to_owned()));
        }
    }

    fn end(&mut self, place: u64, item: &Value, out: &mut Received<'_>) {
        match item.get("type").and_then(Value::as_str).unwrap_or_default() {
            "function_call" if !self.streamed.contains(&place) => {
                let args = item.get("arguments").and_then(Value::as_str).unwrap_or_default();
                let (slot, name) = (Slot::Place(place), String::new());
                out.push(AnswerPiece::Call { slot, name, args: args.to_owned() });
            }
            // Without its cipher the service could not read it again.
            "reasoning" if item.get("encrypted_content").is_some_and(Value::is_string) => {
                let mut item = item.clone();
                if let Value::Object(fields) = &mut item {
                    // Ids mean nothing where nothing is stored.
                    fields.remove("id");
                    fields.remove("status");
                }
                out.push(AnswerPiece::Keep(item));
            }
            "message" if !self.has_text => {
                for part in item.get("content").and_then(Value::as_array).into_iter().flatten() {
                    let field = |name| part.get(name).and_then(Value::as_str).map(str::to_owned);
                    out.extend(field("text").map(AnswerPiece::Text));
                    self.refusal.extend(field("refusal"));
                }
            }
            _ => {}
        }
    }

    fn finish(&mut self, response: &Value, out: &mut Received<'_>) {
        if std::mem::replace(&mut self.has_stopped, true) {
            return;
        }
        self.name(Some(response), out);
        if let Some(counted) = response.get("usage").filter(|usage| usage.is_object()) {
            let details = "input_tokens_details";
            out.push(AnswerPiece::Usage(usage(counted, "input_tokens", "output_tokens", details)));
        }
        let why = response.pointer("/incomplete_details/reason").and_then(Value::as_str);
        out.push(AnswerPiece::Stop(match why {
            Some("max_output_tokens") => Stop::Length,
            Some("content_filter") => Stop::Refused("its filter stopped the answer".into()),
            _ if !self.refusal.is_empty() => Stop::Refused(self.refusal.clone()),
            _ => Stop::End,
        }));
    }
}
