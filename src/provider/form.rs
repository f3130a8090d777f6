//! The form of an answer that a program reads: what is asked of services that can hold a model to
//! it, and how such an answer is shown.
//!
//! Whoever reads the answer takes it out of the text as ever, because not every service keeps its
//! word.

use serde_json::Value;

/// What a model is told about the form.
const HOW: &str = include_str!("form.md");

/// The form of an answer: a JSON object that fits a schema.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerForm {
    /// What services call it: letters, digits, `_` and `-`.
    pub name: &'static str,
    /// A JSON schema whose objects name all their fields as required and allow no others, which
    /// is what the strictest service wants.
    pub schema: Value,
}

impl AnswerForm {
    /// Adds the form to a model's instructions: a model that is only held to it, and not told of
    /// it, writes worse.
    pub(super) fn add_to_instructions(&self, system: &mut String) {
        if !system.is_empty() {
            system.push_str("\n\n");
        }
        system.push_str(HOW);
        system.push_str(&format!("\n`{}`", self.schema));
    }
}

/// Puts a bare JSON object into a code fence as it comes, so that it is shown as what it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Fence {
    /// Nothing but blanks came yet.
    Waiting(String),
    /// An object began.
    Open,
    /// The answer is none, or was not to be one.
    #[default]
    None,
}

const OPENING: &str = "```json\n";

impl Fence {
    /// Before an answer that is to have a form.
    pub fn waiting() -> Self {
        Self::Waiting(String::new())
    }

    /// What is shown of the next piece of text.
    pub fn pass(&mut self, text: String) -> String {
        let Self::Waiting(blanks) = self else { return text };
        let begins = text.trim_start();
        if begins.is_empty() {
            blanks.push_str(&text);
            return String::new();
        }
        if begins.starts_with('{') {
            let shown = format!("{OPENING}{begins}");
            *self = Self::Open;
            return shown;
        }
        let shown = format!("{blanks}{text}");
        *self = Self::None;
        shown
    }

    /// What closes it when the answer is over.
    pub fn close(&mut self) -> Option<String> {
        let is_open = std::mem::replace(self, Self::None) == Self::Open;
        is_open.then(|| "\n```".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::recover;

    fn shown(pieces: &[&str]) -> String {
        let mut fence = Fence::waiting();
        let mut shown: String =
            pieces.iter().map(|piece| fence.pass((*piece).to_owned())).collect();
        shown.extend(fence.close());
        shown
    }

    #[test]
    fn an_object_is_fenced_wherever_the_pieces_are_cut_and_anything_else_is_left() {
        let fenced = shown(&[" \n", "", "{\"a\"", ": \"```\"}"]);
        assert_eq!(fenced, "```json\n{\"a\": \"```\"}\n```");
        assert_eq!(recover::structured(&fenced).unwrap(), serde_json::json!({ "a": "```" }));
        for plain in ["I choose BuildAgent.", "```json\n{}\n```", "  [1]", ""] {
            assert_eq!(shown(&[plain]), plain);
        }
        assert_eq!(shown(&["\n", "no {}"]), "\nno {}");
    }
}
