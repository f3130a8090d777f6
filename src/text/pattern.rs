//! A regular expression of the program's own, compiled when it is first needed.

use std::sync::OnceLock;

use regex::{Captures, Regex};

/// A pattern; one that does not compile would find nothing, which the tests notice.
#[derive(Debug)]
pub struct Pattern {
    text: &'static str,
    made: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// One of that form.
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        Self { text, made: OnceLock::new() }
    }

    /// The compiled form.
    pub fn get(&self) -> Option<&Regex> {
        self.made.get_or_init(|| Regex::new(self.text).ok()).as_ref()
    }

    /// The parts of the first place that it fits.
    pub fn captures<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        self.get()?.captures(text)
    }

    /// Whether it fits anywhere.
    pub fn is_match(&self, text: &str) -> bool {
        self.get().is_some_and(|pattern| pattern.is_match(text))
    }
}
