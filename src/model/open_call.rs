//! A tool call that a model is still writing, as far as it has come.
//!
//! Nothing of it is recorded: it exists while it grows, for the screen alone, and the whole call
//! takes its place.

use super::ids::{CallId, ToolName, TurnId};

/// A tool call that a model is still writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCall {
    pub turn: TurnId,
    /// The number that it has once it is whole.
    pub call: CallId,
    /// Its tool, as the model names it; foreign text.
    pub tool: ToolName,
    /// Bytes of its arguments so far.
    pub bytes: usize,
    /// The newest of its arguments; the oldest comes first.
    pub args: Vec<OpenArg>,
}

/// One argument of a call that grows: a text, a number or a truth value in its JSON.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OpenArg {
    /// The number of the object that it is a field of: fields of one object belong together.
    pub object: usize,
    /// Its own name; empty in a list.
    pub name: String,
    /// The names and places in lists that lead to it, with a space between, e.g. `files 1 code`.
    pub label: String,
    /// Lines so far.
    pub lines: usize,
    /// Its newest text: foreign, and bounded.
    pub newest: String,
    /// Whether more text comes before the newest.
    pub is_cut: bool,
    /// Whether all of it has come.
    pub is_whole: bool,
}
