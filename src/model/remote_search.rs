//! A question to an index on another machine, and the passages that come back.
//!
//! Owns what the search and the adapters that reach such an index have in common. Nothing that came is
//! checked yet.

/// A question to an index on another machine.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RemoteQuestion {
    /// As the person wrote it, without control characters.
    pub text: String,
    /// The words that count, in lower case, and what they stand for; each of letters, digits and
    /// underscores only.
    pub words: Vec<String>,
    /// Of the question, if the index can use it and it was there in time.
    pub vector: Option<Vec<f32>>,
    pub filter: RemoteFilter,
    /// Passages to return at most.
    pub most: usize,
}

/// What passages of another machine must be; an empty list takes all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RemoteFilter {
    /// Names of kinds, such as `guide`.
    pub kinds: Vec<String>,
    /// Names of chips, such as `esp32c3`.
    pub chips: Vec<String>,
    pub component: Option<String>,
    /// The start of a version.
    pub version: Option<String>,
}

/// A passage as another machine sent it; what the index does not have is empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RemotePassage {
    pub path: String,
    pub anchor: String,
    pub title: String,
    pub headings: Vec<String>,
    pub kind: String,
    pub chips: Vec<String>,
    pub component: String,
    pub version: String,
    pub symbols: Vec<String>,
    pub text: String,
}
