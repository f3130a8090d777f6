//! The lines of the start screen's list, in order.
//!
//! Owns which there are; how they look is the screen's.

use super::start_facts::StartFacts;
use super::start_sessions::SessionList;

/// Projects in the list.
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
pub(super) fn rows_of(
    facts: &StartFacts,
    library: ExampleListing,
    sessions: &SessionList,
) -> Vec<StartRow> {
    let (listed, more) = sessions.listed(&facts.sessions);
    if sessions.is_searching() {
        // Nothing else is in the way of what is looked for.
        let mut rows = vec![StartRow::Heading("Sessions found", listed.len() + more)];
        if listed.is_empty() && !sessions.is_reading() {
            rows.push(StartRow::Words("no session has these words; esc lists all"));
        }
        rows.extend(listed.into_iter().map(StartRow::Session));
        if sessions.is_reading() {
            rows.push(StartRow::Words("older requests of long sessions are still being read"));
        }
        if more > 0 {
            rows.push(StartRow::Words("and older ones: more words find fewer sessions"));
        }
        return rows;
    }
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
    rows.extend(listed.into_iter().map(StartRow::Session));
    if !facts.projects.is_empty() {
        rows.extend([StartRow::Blank, StartRow::Heading("Projects", 0)]);
        rows.extend((0..facts.projects.len().min(MOST)).map(StartRow::Project));
    }
    rows.extend([StartRow::Blank, StartRow::Heading("State", 0)]);
    rows.extend((0..facts.findings.len()).map(StartRow::HealthLine));
    rows
}
