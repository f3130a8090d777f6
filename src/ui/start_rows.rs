//! The lines of the start screen's list, in order.
//!
//! Owns which there are; how they look is the screen's.

use super::start_facts::StartFacts;

/// Sessions and projects in the list.
pub(super) const MOST: usize = 8;

/// A line of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StartRow {
    Heading(&'static str, usize),
    Demo,
    New,
    Library,
    Example(usize),
    Model(usize),
    Session(usize),
    Project(usize),
    HealthLine(usize),
    Words(&'static str),
    Blank,
}

impl StartRow {
    /// Whether it can be turned to.
    pub(super) const fn is_choice(self) -> bool {
        !matches!(self, Self::Heading(..) | Self::Words(_) | Self::Blank)
    }
}

/// Whether the examples are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExampleListing {
    Folded,
    Unfolded,
}

/// The lines for those facts.
pub(super) fn rows_of(facts: &StartFacts, library: ExampleListing) -> Vec<StartRow> {
    let mut rows = vec![StartRow::Heading("Begin", 0), StartRow::Demo, StartRow::New];
    if !facts.examples.is_empty() {
        rows.push(StartRow::Library);
    }
    if library == ExampleListing::Unfolded {
        rows.extend((0..facts.examples.len()).map(StartRow::Example));
    }
    rows.push(StartRow::Blank);
    if !facts.models.is_empty() {
        rows.push(StartRow::Heading("Models", 0));
        rows.extend((0..facts.models.len()).map(StartRow::Model));
        rows.push(StartRow::Blank);
    }
    rows.push(StartRow::Heading("Sessions", facts.sessions.len()));
    if facts.sessions.is_empty() {
        rows.push(StartRow::Words("none yet; the demo takes three minutes and needs no account"));
    }
    rows.extend((0..facts.sessions.len().min(MOST)).map(StartRow::Session));
    if facts.sessions.len() > MOST {
        rows.push(StartRow::Words("older ones: firmhand sessions"));
    }
    if !facts.projects.is_empty() {
        rows.extend([StartRow::Blank, StartRow::Heading("Projects", 0)]);
        rows.extend((0..facts.projects.len().min(MOST)).map(StartRow::Project));
    }
    rows.extend([StartRow::Blank, StartRow::Heading("State", 0)]);
    rows.extend((0..facts.findings.len()).map(StartRow::HealthLine));
    rows
}
