//! Takes known texts out of others: keys out of what services say, whole or in pieces.
//!
//! Owns the forms in which a secret is looked for: as it is, and as JSON, a URL, base64 or
//! hexadecimal digits hold it. Which texts are secrets is said by whoever makes a [`Redactor`].

mod raw;

use std::borrow::Cow;
use std::collections::BTreeSet;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

pub use raw::RawPieces;

/// What stands where a secret was.
pub const REMOVED: &str = "•••";

/// Bytes from which on a secret is also looked for in its encoded forms.
const SHORTEST_ENCODED: usize = 8;

/// What a part of a URL may hold as it is.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Finds secrets in texts and puts dots in their place.
#[derive(Default)]
pub struct Redactor {
    /// `None` when there is nothing to find.
    finder: Option<AhoCorasick>,
    /// Every form of every secret, sorted.
    forms: Vec<String>,
    longest: usize,
}

impl Redactor {
    /// Looks for these secrets.
    #[must_use]
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let forms: BTreeSet<String> = secrets.into_iter().flat_map(forms).collect();
        let forms: Vec<String> = forms.into_iter().filter(|form| !form.is_empty()).collect();
        let longest = forms.iter().map(String::len).max().unwrap_or(0);
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&forms);
        // It fails only for more text than any machine holds as keys.
        Self { finder: finder.ok().filter(|_| longest > 0), forms, longest }
    }

    /// Whether there is nothing to look for.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.finder.is_none()
    }

    /// Whether a secret stands in `bytes`.
    #[must_use]
    pub fn finds(&self, bytes: &[u8]) -> bool {
        self.finder.as_ref().is_some_and(|finder| finder.is_match(bytes))
    }

    /// `text` without secrets.
    #[must_use]
    pub fn clean<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match &self.finder {
            Some(finder) if finder.is_match(text) => {
                let with = vec![REMOVED; self.forms.len()];
                Cow::Owned(finder.replace_all(text, &with))
            }
            Some(_) | None => Cow::Borrowed(text),
        }
    }

    /// Takes secrets out of every text in `value`, names of fields too; tells whether there were
    /// any.
    pub fn clean_value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => {
                let Cow::Owned(clean) = self.clean(text) else { return false };
                *text = clean;
                true
            }
            Value::Array(items) => {
                let found =
                    items.iter_mut().filter_map(|item| self.clean_value(item).then_some(()));
                found.count() > 0
            }
            Value::Object(fields) => {
                let found =
                    fields.values_mut().filter_map(|item| self.clean_value(item).then_some(()));
                let inside = found.count() > 0;
                let named = fields.keys().any(|name| self.finds(name.as_bytes()));
                if named {
                    let old = std::mem::take(fields).into_iter();
                    *fields =
                        old.map(|(name, item)| (self.clean(&name).into_owned(), item)).collect();
                }
                inside || named
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// `text`, which may be JSON, without secrets, also where JSON writes their characters as
    /// escapes.
    #[must_use]
    pub fn clean_json<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let clean = self.clean(text);
        if self.finder.is_some()
            && clean.contains('\\')
            && let Ok(mut value) = serde_json::from_str(&clean)
            && self.clean_value(&mut value)
        {
            return Cow::Owned(value.to_string());
        }
        clean
    }

    /// Where the end of `output` begins, not before `from`, that may become a secret with what
    /// follows. In a text that is never within a character.
    fn open_end(&self, output: &[u8], from: usize) -> Option<usize> {
        let first = output.len().saturating_sub(self.longest.saturating_sub(1)).max(from);
        (first..output.len()).find(|at| {
            let end = output.get(*at..).unwrap_or_default();
            let next = self.forms.partition_point(|form| form.as_bytes() <= end);
            self.forms.get(next).is_some_and(|form| form.as_bytes().starts_with(end))
        })
    }

    /// The first secret in `text` from `from` on.
    fn next_in(&self, text: &str, from: usize) -> Option<std::ops::Range<usize>> {
        let found = self.finder.as_ref()?.find(text.get(from..)?)?;
        Some(from + found.start()..from + found.end())
    }
}

/// A text that comes in pieces. What may be the beginning of a secret is held back until what
/// follows tells.
#[derive(Debug, Default)]
pub struct Pieces {
    held: String,
}

impl Pieces {
    /// Takes a piece and gives back what can be passed on of the text so far.
    pub fn push(&mut self, redactor: &Redactor, piece: &str) -> String {
        if redactor.finder.is_none() && self.held.is_empty() {
            return piece.to_owned();
        }
        let mut text = std::mem::take(&mut self.held);
        text.push_str(piece);
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        let open_from = |from| redactor.open_end(text.as_bytes(), from).unwrap_or(text.len());
        let mut open = open_from(done);
        while let Some(found) = redactor.next_in(&text, done).filter(|found| found.start < open) {
            out.push_str(text.get(done..found.start).unwrap_or_default());
            out.push_str(REMOVED);
            done = found.end;
            if done > open {
                open = open_from(done);
            }
        }
        out.push_str(text.get(done..open).unwrap_or_default());
        text.drain(..open);
        self.held = text;
        out
    }

    /// The text is over: what was held back, without secrets.
    pub fn end(&mut self, redactor: &Redactor) -> String {
        let held = std::mem::take(&mut self.held);
        redactor.clean(&held).into_owned()
    }

    /// What was held back counts for nothing.
    pub fn forget(&mut self) {
        self.held.clear();
    }
}

/// Every text in which a secret may stand in another one.
fn forms(secret: &str) -> Vec<String> {
    let mut forms = vec![secret.to_owned()];
    // Inside a JSON text, and inside JSON that is a text of JSON.
    let mut escaped = secret.to_owned();
    for _ in 0..2 {
        let quoted = Value::String(escaped).to_string();
        escaped = quoted.trim_start_matches('"').to_owned();
        escaped.pop();
        forms.push(escaped.clone());
    }
    if secret.len() >= SHORTEST_ENCODED {
        forms.push(utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string());
        forms.push(utf8_percent_encode(secret, COMPONENT).to_string());
        forms.push(secret.bytes().map(|byte| format!("{byte:02x}")).collect());
        forms.push(secret.bytes().map(|byte| format!("{byte:02X}")).collect());
        for before in 0..3 {
            forms.extend(in_base64(secret, before));
        }
    }
    forms
}

/// The letters of base64 that a secret alone decides, when so many bytes stand before it.
fn in_base64(secret: &str, before: usize) -> [String; 2] {
    let mut bytes = vec![0; before];
    bytes.extend_from_slice(secret.as_bytes());
    let (first, end) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
    let cut = |text: String| text.get(first..end).unwrap_or_default().to_owned();
    [cut(STANDARD_NO_PAD.encode(&bytes)), cut(URL_SAFE_NO_PAD.encode(&bytes))]
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
