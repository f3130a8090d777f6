//! The lines of the start screen's list, in order.
//!
//! Owns which there are; how they look is the screen's.

use super::start_facts::StartFacts;

/// Sessions and projects in the list.
pub(super) const MOST: usize = 8;

/// A line of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Row {
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

impl Row {
    /// Whether it can be turned to.
    pub(super) const fn is_choice(self) -> bool {
        !matches!(self, Self::Heading(..) | Self::Words(_) | Self::Blank)
    }
}

/// Whether the examples are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Library {
    Folded,
    Unfolded,
}

/// The lines for those facts.
pub(super) fn rows_of(facts: &StartFacts, library: Library) -> Vec<Row> {
    let mut rows = vec![Row::Heading("Begin", 0), Row::Demo, Row::New];
    if !facts.examples.is_empty() {
        rows.push(Row::Library);
    }
    if library == Library::Unfolded {
        rows.extend((0..facts.examples.len()).map(Row::Example));
    }
    rows.push(Row::Blank);
    if !facts.models.is_empty() {
        rows.push(Row::Heading("Models", 0));
        rows.extend((0..facts.models.len()).map(Row::Model));
        rows.push(Row::Blank);
    }
    rows.push(Row::Heading("Sessions", facts.sessions.len()));
    if facts.sessions.is_empty() {
        rows.push(Row::Words("none yet; the demo takes three minutes and needs no account"));
    }
    rows.extend((0..facts.sessions.len().min(MOST)).map(Row::Session));
    if facts.sessions.len() > MOST {
        rows.push(Row::Words("older ones: firmhand sessions"));
    }
    if !facts.projects.is_empty() {
        rows.extend([Row::Blank, Row::Heading("Projects", 0)]);
        rows.extend((0..facts.projects.len().min(MOST)).map(Row::Project));
    }
    rows.extend([Row::Blank, Row::Heading("State", 0)]);
    rows.extend((0..facts.findings.len()).map(Row::HealthLine));
    rows
}
