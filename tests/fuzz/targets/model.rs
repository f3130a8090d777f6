//! What models and their services send, and the scripts of the scripted one.

use firmhand::model::{ToolName, ToolSpec};
use firmhand::provider::foreign_reply::{ForeignOutcome, failed, streamed, whole, worded};
use firmhand::provider::{Delta, Service, parse_script};
use firmhand::text::recover;
use serde_json::Value;

use super::{is_harmful, lossy, pieces};

pub fn chat(data: &[u8]) {
    dialect(Service::OpenAi, data);
}

pub fn responses(data: &[u8]) {
    dialect(Service::Responses, data);
}

pub fn anthropic(data: &[u8]) {
    dialect(Service::Anthropic, data);
}

pub fn ollama(data: &[u8]) {
    dialect(Service::Ollama, data);
}

/// Where a stream is cut makes no difference; what is told of a failure is harmless.
fn dialect(service: Service, data: &[u8]) {
    let at_once = streamed(service, &[data]);
    let in_pieces = streamed(service, &pieces(data));
    match (&at_once, &in_pieces) {
        (Ok(one), Ok(other)) => {
            assert_eq!(joined(one), joined(other));
            assert_eq!(one.is_complete, other.is_complete);
        }
        (Err(one), Err(other)) => {
            assert_eq!(one, other);
            let told = format!("{}{}{}", one.what, one.why, one.fix);
            assert!(!told.contains(is_harmful), "{told:?}");
        }
        _ => panic!("{at_once:?} is not {in_pieces:?}"),
    }
    let _ = whole(service, data);
    let status = u16::from(data.first().copied().unwrap_or_default()) + 345;
    let told = failed(service, status, &lossy(data));
    assert!(!told.why.contains(is_harmful), "{:?}", told.why);
}

/// The deltas, with neighbouring pieces of a kind in one.
fn joined(heard: &ForeignOutcome) -> Vec<Delta> {
    let mut all: Vec<Delta> = Vec::new();
    for delta in &heard.deltas {
        match (all.last_mut(), delta) {
            (Some(Delta::Text(last)), Delta::Text(more))
            | (Some(Delta::Reasoning(last)), Delta::Reasoning(more)) => last.push_str(more),
            _ => all.push(delta.clone()),
        }
    }
    all
}

/// A value is found again in what is printed of it, alone and in a fence.
pub fn structured(data: &[u8]) {
    let text = lossy(data);
    match recover::structured(&text) {
        Ok(value) => {
            let printed = value.to_string();
            if has_fraction(&value) {
                // The last digit of a number with many may change on its way.
                assert!(recover::structured(&printed).is_ok());
                return;
            }
            assert_eq!(recover::structured(&printed).as_ref(), Ok(&value));
            let told = format!("Here it is:\n\n```json\n{printed}\n```\n");
            if value.is_object() || value.is_array() {
                assert_eq!(recover::structured(&told).as_ref(), Ok(&value));
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let read = ToolSpec {
        name: ToolName::new("read_file"),
        description: String::new(),
        schema: Value::Null,
    };
    let tools = [read];
    let (shown, calls) = worded(&[&text], &tools);
    assert!(calls.len() <= text.len());
    // What turns out at the end to be no call is shown at the end.
    let letters = |text: &str| {
        let mut letters: Vec<char> = text.chars().collect();
        letters.sort_unstable();
        letters
    };
    assert!(!calls.is_empty() || letters(&shown) == letters(&text), "text is lost: {shown:?}");
    // Nothing depends on where the text was cut.
    let (start, end) = text.split_at(text.floor_char_boundary(text.len() / 2));
    assert_eq!(worded(&[start, end], &tools), (shown, calls));
}

fn has_fraction(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(values) => values.iter().any(has_fraction),
        Value::Object(fields) => fields.values().any(has_fraction),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

/// A script is played or refused by file and line.
pub fn scripts(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let sibling = |name: &str| Ok(format!("// {name}\nint a;\n"));
    match parse_script("fuzz.toml", text, &sibling) {
        Ok(script) => assert!(!script.team().is_empty()),
        Err(error) => {
            let told = format!("{} {}", error.what, error.why);
            assert!(told.contains("fuzz.toml"), "{told}");
        }
    }
}
