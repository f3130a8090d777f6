//! Why an index on another machine has no answer, in one sentence with what to do about it.

use serde_json::Value;

use super::super::profile::Profile;
use super::super::wire::AskFault;
use super::about::{IndexKind, MOST_BYTES};
use crate::model::UserError;
use crate::text::sanitize;

/// Most letters of what the other machine says.
const MOST_LETTERS: usize = 200;

/// The failure of a request by HTTP.
pub fn of_http(profile: &Profile, kind: IndexKind, fault: AskFault) -> String {
    let (name, index) = (&profile.name, &profile.model);
    match fault {
        AskFault::Setup(error) => in_one(&error),
        AskFault::Connection(cause) => {
            let cause = sanitize::line(&cause).into_owned();
            let is_certificate = cause.contains("certificate") || cause.contains("UnknownIssuer");
            match is_certificate {
                true => format!(
                    "it cannot be trusted ({cause}); if your network has its own certificate \
                     authority, name its file with `wire.ca_file` in `[search.remotes.{name}]`"
                ),
                false => format!(
                    "it cannot be reached ({cause}); check the network, and `url` in \
                     `[search.remotes.{name}]`"
                ),
            }
        }
        AskFault::Status(status, body) => of_status(profile, kind, status, &body),
        AskFault::TooLong => format!(
            "its answer has more than {} MB; let `fields.text` in `[search.remotes.{name}]` name \
             the field with the passage, not with the whole document",
            MOST_BYTES >> 20
        ),
        AskFault::NoJson(cause) => format!(
            "its answer is not JSON ({cause}); check `url` and `index` ({index}) in \
             `[search.remotes.{name}]`"
        ),
    }
}

fn of_status(profile: &Profile, kind: IndexKind, status: u16, body: &[u8]) -> String {
    let (name, index) = (&profile.name, &profile.model);
    let message = message_of(body);
    let message =
        if message.is_empty() { status.to_string() } else { format!("{status}, “{message}”") };
    match status {
        300..=399 => format!(
            "it leads to another address, which is not followed ({status}); write the right one \
             into `url` in `[search.remotes.{name}]`"
        ),
        401 | 403 => format!(
            "it refuses the key from {} ({message}); correct `key` in `[search.remotes.{name}]`, or \
             ask for the right to read `{index}`",
            profile.key_source
        ),
        404 => format!(
            "it has no index `{index}` ({message}); correct `index` or `url` in \
             `[search.remotes.{name}]`"
        ),
        400 => format!(
            "it does not understand the search ({message}); check `fields`{} in \
             `[search.remotes.{name}]`",
            if kind == IndexKind::AzureSearch { " and `semantic`" } else { "" }
        ),
        429 => format!("it is asked too often ({message}); try again later"),
        500.. => format!("it failed ({message}); try again later, or ask who runs it"),
        _ => format!("it refused the search ({message}); check `[search.remotes.{name}]`"),
    }
}

/// An answer without what an answer has.
pub fn other_form(profile: &Profile) -> String {
    format!(
        "its answer has another form than that of its kind; check `kind` and `url` in \
         `[search.remotes.{}]`",
        profile.name
    )
}

/// What the other machine says about a failure, in a few words.
fn message_of(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let value: Value = serde_json::from_str(&text).unwrap_or_default();
    let places =
        ["/error/root_cause/0/reason", "/error/reason", "/error/message", "/message", "/error"];
    let found = places.iter().find_map(|place| value.pointer(place)?.as_str());
    let found = match found {
        Some(found) => found,
        None if value.is_null() && !text.trim_start().starts_with('<') => text.as_ref(),
        None => "",
    };
    brief(found)
}

/// Foreign words, on one line and not too many.
pub fn brief(text: &str) -> String {
    let text = sanitize::strip_sequences(text);
    let cut = &text[..text.floor_char_boundary(MOST_LETTERS)];
    sanitize::line(cut.trim()).into_owned()
}

/// Why and how to correct it, as one sentence.
pub fn in_one(error: &UserError) -> String {
    let fix = error.fix.trim_end_matches('.');
    let mut letters = fix.chars();
    let first = letters.next().map(|c| c.to_ascii_lowercase()).into_iter();
    format!("{}; {}", error.why, first.chain(letters).collect::<String>())
}
