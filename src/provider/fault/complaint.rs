//! What a service says when it does not answer: its own words, what they mean for the call, and
//! what the person can do.

use serde_json::Value;

use super::super::profile::{KeySource, Profile};
use super::super::service::Service;
use super::kind::{FaultKind, Feature};
use crate::model::UserError;
use crate::text::sanitize;

/// Characters of a service's own words that are shown.
const MOST_WORDS: usize = 300;

/// A proxy wants to know who asks.
pub(super) fn locked_proxy(profile: &Profile, why: String) -> UserError {
    UserError::new(
        format!("The proxy in front of {} asks for a name and a password", profile.host()),
        why,
        format!(
            "Write them into `wire.proxy` of the profile `{}`, or into HTTPS_PROXY: \
             http://NAME:PASSWORD@HOST:PORT.",
            profile.name
        ),
    )
}

/// What a failing service said, on one line.
pub(super) fn service_message(profile: &Profile, body: &str) -> String {
    let start = body.trim_start();
    if start.starts_with('<') {
        return "a web page instead of an answer".to_owned();
    }
    // Some fail in the form of the stream that was asked for.
    let start =
        start.strip_prefix("data:").map_or(start, |data| data.lines().next().unwrap_or(data));
    let json: Option<Value> = serde_json::from_str(start.trim()).ok();
    let places = ["/error/message", "/message", "/error", "/detail", "/0/error/message"];
    let found = json.as_ref().and_then(|json| {
        places.iter().find_map(|at| json.pointer(at)?.as_str().filter(|text| !text.is_empty()))
    });
    match words(profile, found.unwrap_or(start)) {
        text if text.is_empty() => "nothing".to_owned(),
        text => text,
    }
}

/// Foreign text on one line, short, and without the key that it may repeat.
pub(super) fn words(profile: &Profile, text: &str) -> String {
    let line = sanitize::line(text.trim()).into_owned();
    let clean = profile.redact(&line);
    match clean.char_indices().nth(MOST_WORDS) {
        Some((at, _)) => format!("{}…", clean.get(..at).unwrap_or_default()),
        None => clean,
    }
}

/// Failures that are known by their words rather than by their number.
pub(super) fn special(status: u16, message: &str, body: &str) -> Option<FaultKind> {
    let has = |parts: &[&str]| parts.iter().any(|part| message.contains(part));
    let code = body.contains("context_length_exceeded") || body.contains("exceed_context_size");
    let is_long = has(&[
        "maximum context length",
        "prompt is too long",
        "context window",
        "context size",
        "context length",
        "too many tokens",
        "input is too long",
    ]);
    if matches!(status, 400 | 413 | 422 | 500) && (code || is_long) {
        return Some(FaultKind::TooLong(limit_in(message)));
    }
    if status == 413 {
        return Some(FaultKind::TooLong(None));
    }
    if !matches!(status, 400 | 404 | 422 | 500 | 501) {
        return None;
    }
    // Said in many ways, and nothing else in a request is called so.
    let form = [
        "response_format",
        "json_schema",
        "output_config",
        "output_format",
        "output format",
        "text.format",
        "structured output",
        "json mode",
        "vocabulary required for format",
    ];
    if has(&form) {
        return Some(FaultKind::Unsupported(Feature::Form));
    }
    let refuses =
        has(&["support", "unrecognized", "unknown", "not permitted", "unexpected", "--jinja"]);
    if !refuses {
        return None;
    }
    let feature = if has(&["max_completion_tokens"]) && has(&["max_tokens"]) {
        Feature::OldLimit
    } else if has(&["stream_options"]) {
        Feature::StreamUsage
    } else if has(&["temperature"]) {
        Feature::Temperature
    } else if has(&["reasoning", "thinking", "encrypted", "does not support think"]) {
        Feature::Reasoning
    } else if has(&["tools", "tool_choice", "tool use", "function call", "tool call"]) {
        Feature::Tools
    } else {
        return None;
    };
    Some(FaultKind::Unsupported(feature))
}

/// The number of tokens that would fit, out of sentences like “maximum context length is 8192
/// tokens” and “prompt is too long: 210000 tokens > 200000 maximum”.
fn limit_in(message: &str) -> Option<u64> {
    let numbers: Vec<u64> = message
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok())
        .filter(|number| *number >= 256)
        .collect();
    numbers.into_iter().min()
}

pub(super) fn in_words(profile: &Profile, status: u16, message: &str) -> UserError {
    let host = profile.host();
    let why = format!("it said “{message}” ({status})");
    let name = &profile.name;
    match status {
        401 => UserError::new(format!("{host} does not accept the key"), why, key_fix(profile)),
        402 => UserError::new(
            format!("{host} asks for payment"),
            why,
            "Add credit to the account, or choose another model (here, or with `--profile`).",
        ),
        403 => UserError::new(
            format!("{host} does not allow this key to use the model `{}`", profile.model),
            why,
            format!("Ask for access, or choose another model: `firmhand models --profile {name}`."),
        ),
        404 if profile.service == Service::Ollama => UserError::new(
            format!("Ollama does not have the model `{}`", profile.model),
            why,
            format!(
                "Get it with `ollama pull {}`, or choose another with `--model`.",
                profile.model
            ),
        ),
        404 => UserError::new(
            format!("{host} has no model `{}` at this address", profile.model),
            why,
            format!("List what it has with `firmhand models --profile {name}`; see `base_url`."),
        ),
        407 => locked_proxy(profile, why),
        429 => UserError::new(
            format!("{host} accepts no more requests at the moment"),
            why,
            "Wait, or choose another model (here, or with `--profile`).",
        ),
        500..=599 => UserError::new(
            format!("{host} has a fault"),
            why,
            "Wait for the service to recover, or choose another model (here, or with `--profile`).",
        ),
        _ => UserError::new(
            format!("{host} refused the request"),
            why,
            format!("Check the profile with `firmhand doctor --profile {name}`."),
        ),
    }
}

fn key_fix(profile: &Profile) -> String {
    match &profile.key_source {
        KeySource::Env(name) => format!("Set {name} to a valid key."),
        KeySource::File(file) => format!("Put a valid key into {}.", file.display()),
        KeySource::Keyring(entry) => format!("Put a valid key into the keyring entry `{entry}`."),
        KeySource::None => format!("Give the profile `{}` a key.", profile.name),
    }
}
