//! Tools for models that have none: declared in words, called by JSON in the answer.

use serde_json::{Value, json};

use super::dialect::{Conversation, ConversationTurn, join};
use crate::model::ToolSpec;
use crate::text::recover;

/// Fields that hold the name of a tool, and its arguments.
const NAMES: [&str; 2] = ["tool", "name"];
const ARGUMENTS: [&str; 4] = ["arguments", "args", "parameters", "input"];

/// What a code block with calls is called.
const BLOCKS: [&str; 6] = ["", "json", "jsonc", "tool", "tool_call", "tool_calls"];

/// What a model is told about calling tools.
const HOW: &str = include_str!("words.md");

/// Says in words what a conversation says through tools.
pub(super) fn in_words<'a>(conversation: Conversation<'a>) -> Conversation<'a> {
    let Conversation { mut system, turns, tools } = conversation;
    if !tools.is_empty() {
        if !system.is_empty() {
            system.push_str("\n\n");
        }
        system.push_str(HOW);
        for spec in tools {
            let ToolSpec { name, description, schema } = spec;
            system.push_str(&format!("\n## {name}\n\n{description}\n\nSchema: `{schema}`\n"));
        }
    }
    let mut worded: Vec<ConversationTurn<'a>> = Vec::with_capacity(turns.len());
    for turn in turns {
        match turn {
            ConversationTurn::Outside(text) => join(&mut worded, text),
            ConversationTurn::Own { text, calls } => {
                // The model that wrote its calls into its words has said them already.
                let is_mentioned = calls.iter().all(|call| text.contains(call.tool.as_str()));
                let text = match is_mentioned {
                    true => text,
                    false => {
                        let calls: Vec<Value> = calls
                            .iter()
                            .map(|call| json!({ "tool": call.tool.as_str(), "arguments": call.args }))
                            .collect();
                        format!("{text}\n\n```json\n{}\n```", Value::Array(calls)).into()
                    }
                };
                worded.push(ConversationTurn::Own { text, calls: &[] });
            }
            ConversationTurn::Result { tool, json, .. } => {
                join(&mut worded, format!("`{tool}` answered:\n{json}"));
            }
        }
    }
    Conversation { system, turns: worded, tools: &[] }
}

/// The calls in an answer, as tool and arguments; arguments that cannot be read are given as they
/// stand, so that the model is told what is wrong with them.
pub(super) fn calls(text: &str, tools: &[ToolSpec]) -> Vec<(String, String)> {
    if tools.is_empty() || !text.contains(['{', '[']) {
        return Vec::new();
    }
    match recover::structured(text) {
        Ok(value) => calls_in(&value),
        Err(_) => broken(text, tools).into_iter().collect(),
    }
}

/// What the beginning of a text may become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CallStart {
    /// More has to come.
    Open,
    /// Not a call.
    None,
    /// All that stands before the arguments of a call.
    Call {
        tool: String,
        /// Brackets and braces that are open.
        brackets: usize,
        /// Whether they stand in a code block.
        has_fence: bool,
    },
}

/// Tells whether `text` begins a call in one of the forms that [`calls`] reads.
pub(super) fn call_start(text: &str) -> CallStart {
    let Some(block) = text.strip_prefix('`') else { return json_start(text, false) };
    let Some(block) = block.strip_prefix("``") else {
        return if "``".starts_with(block) { CallStart::Open } else { CallStart::None };
    };
    let (name, rest) = block.split_once('\n').map_or((block, None), |(a, b)| (a, Some(b)));
    match rest {
        Some(rest) if BLOCKS.contains(&name.trim()) => json_start(rest, true),
        None if BLOCKS.iter().any(|known| known.starts_with(name.trim())) => CallStart::Open,
        _ => CallStart::None,
    }
}

fn json_start(text: &str, has_fence: bool) -> CallStart {
    let mut tokens = Tokens { rest: text, brackets: 0 };
    match tokens.tool() {
        Ok(tool) => CallStart::Call { tool, brackets: tokens.brackets, has_fence },
        Err(Stopped::Early) => CallStart::Open,
        Err(Stopped::Other) => CallStart::None,
    }
}

/// Why the beginning of a call was not read.
enum Stopped {
    /// The text ended.
    Early,
    /// It is something else.
    Other,
}

/// Reads the beginning of a call.
struct Tokens<'a> {
    rest: &'a str,
    brackets: usize,
}

impl Tokens<'_> {
    /// The name of the tool; its arguments come next.
    fn tool(&mut self) -> Result<String, Stopped> {
        while self.letter()? == '[' {
            self.open('[')?;
        }
        self.open('{')?;
        loop {
            let field = self.string()?;
            self.take(':')?;
            match field.as_str() {
                "tool_calls" => {
                    self.open('[')?;
                    self.open('{')?;
                    continue;
                }
                "function" if self.letter()? == '{' => {
                    self.open('{')?;
                    continue;
                }
                "id" | "type" => {
                    self.string()?;
                }
                name if NAMES.contains(&name) => {
                    let tool = self.string()?;
                    self.take(',')?;
                    let args = self.string()?;
                    self.take(':')?;
                    let is_call = ARGUMENTS.contains(&args.as_str());
                    return if is_call { Ok(tool) } else { Err(Stopped::Other) };
                }
                _ => return Err(Stopped::Other),
            }
            self.take(',')?;
        }
    }

    fn letter(&mut self) -> Result<char, Stopped> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next().ok_or(Stopped::Early)
    }

    fn take(&mut self, wanted: char) -> Result<(), Stopped> {
        let found = self.letter()?;
        self.rest = self.rest.get(found.len_utf8()..).unwrap_or_default();
        if found == wanted { Ok(()) } else { Err(Stopped::Other) }
    }

    fn open(&mut self, bracket: char) -> Result<(), Stopped> {
        self.brackets += 1;
        self.take(bracket)
    }

    /// A string without escapes, as names are.
    fn string(&mut self) -> Result<String, Stopped> {
        self.take('"')?;
        let (text, rest) = self.rest.split_once('"').ok_or(Stopped::Early)?;
        if text.contains('\\') {
            return Err(Stopped::Other);
        }
        self.rest = rest;
        Ok(text.to_owned())
    }
}

/// Whether a text holds calls of any tools.
pub(super) fn has_calls(text: &str) -> bool {
    recover::structured(text).is_ok_and(|value| !calls_in(&value).is_empty())
}

fn calls_in(value: &Value) -> Vec<(String, String)> {
    let list = match value {
        Value::Array(list) => list.as_slice(),
        Value::Object(fields) => match fields.get("tool_calls").and_then(Value::as_array) {
            Some(list) => list.as_slice(),
            None => std::slice::from_ref(value),
        },
        _ => &[],
    };
    // One thing that is no call makes the whole something else, such as a list of files.
    let calls: Option<Vec<_>> = list.iter().map(call_in).collect();
    calls.unwrap_or_default()
}

fn call_in(value: &Value) -> Option<(String, String)> {
    let value = value.get("function").filter(|function| function.is_object()).unwrap_or(value);
    let name = NAMES.iter().find_map(|field| value.get(field)?.as_str())?;
    let args = ARGUMENTS.iter().find_map(|field| value.get(field))?;
    let args = match args {
        Value::String(args) => args.clone(),
        args => args.to_string(),
    };
    Some((name.to_owned(), args))
}

/// A call that was meant and went wrong.
fn broken(text: &str, tools: &[ToolSpec]) -> Option<(String, String)> {
    let at = text.find("\"tool\"")?;
    let after = text.get(at..)?;
    let named = |spec: &&ToolSpec| after.contains(&format!("\"{}\"", spec.name));
    let tool = tools.iter().find(named)?.name.as_str().to_owned();
    let start = text.get(..at)?.rfind(['{', '[']).unwrap_or(at);
    Some((tool, text.get(start..)?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CallId, ToolCall};

    fn tools() -> Vec<ToolSpec> {
        let spec = |name: &str| ToolSpec {
            name: name.into(),
            description: format!("does {name}"),
            schema: json!({ "type": "object" }),
        };
        vec![spec("read_file"), spec("build_project")]
    }

    fn found(text: &str) -> Vec<(String, String)> {
        calls(text, &tools())
    }

    #[test]
    fn calls_are_found_in_the_forms_that_models_write() {
        let one = [("read_file".to_owned(), r#"{"path":"a.c"}"#.to_owned())];
        for text in [
            r#"{"tool": "read_file", "arguments": {"path": "a.c"}}"#,
            "I look.\n```json\n{\"tool\": \"read_file\", \"arguments\": {\"path\": \"a.c\"}}\n```",
            r#"[{"name": "read_file", "parameters": {"path": "a.c"}}]"#,
            r#"{"tool_calls": [{"function": {"name": "read_file", "arguments": "{\"path\":\"a.c\"}"}}]}"#,
        ] {
            assert_eq!(found(text), one, "{text}");
        }
    }

    #[test]
    fn what_is_no_call_is_an_answer() {
        for text in [
            "No tool is needed.",
            "```json\n[{\"file_name\": \"a.c\", \"code\": \"int a[] = {1};\"}]\n```",
            r#"[{"tool": "read_file", "arguments": {}}, {"file_name": "a.c"}]"#,
            "int main(void) { return 0; }",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }

    #[test]
    fn a_broken_call_is_handed_on_so_that_the_model_hears_of_it() {
        let text = "I read.\n{\"tool\": \"read_file\", \"arguments\": {\"path\": \"a.c\"";
        let broken = [("read_file".to_owned(), text[8..].to_owned())];
        assert_eq!(found(text), broken);
    }

    #[test]
    fn a_conversation_in_words_has_no_tools_left() {
        let call = ToolCall { id: CallId(1), tool: "read_file".into(), args: json!({}) };
        let (specs, calls) = (tools(), [call]);
        let turns = vec![
            ConversationTurn::Outside("task".into()),
            ConversationTurn::Own { text: "I read.".into(), calls: &calls },
            ConversationTurn::Result { call: CallId(1), tool: "read_file", json: "{}" },
            ConversationTurn::Outside("and?".into()),
        ];
        let conversation = in_words(Conversation { system: "rules".into(), turns, tools: &specs });
        assert!(conversation.tools.is_empty());
        assert!(
            conversation.system.starts_with("rules")
                && conversation.system.contains("## build_project")
        );
        let [
            ConversationTurn::Outside(_),
            ConversationTurn::Own { text, calls },
            ConversationTurn::Outside(rest),
        ] = &*conversation.turns
        else {
            panic!("{:?}", conversation.turns)
        };
        assert!(text.contains(r#""tool":"read_file""#) && calls.is_empty());
        assert!(rest.starts_with("`read_file` answered:\n{}") && rest.ends_with("and?"));
    }
}
