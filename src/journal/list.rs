//! The list of sessions, told from the first and last records of each.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::num::NonZero;
use std::ops::Deref;
use std::path::Path;
use std::thread;

use crate::model::{
    Event, PersonEvent, ProposalEvent, Record, Seq, SessionEvent, SessionId, SessionOutcome,
    Timestamp,
};

use super::dir::SessionDir;
use super::error::JournalError;
use super::facts::{JournalFacts, LaterRequest};
use super::kept_facts::{KeptFacts, Known, Stamp};
use super::lock::{Holder, holder};
use super::parse::ReadItem;
use super::reader::JournalReader;
use super::tail::{FIRST_LINES, Wanted, read_tail};

/// What a list says about a session.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSummary {
    pub id: SessionId,
    /// The name that the person gave it.
    pub title: Option<String>,
    /// How it stands.
    pub state: SessionState,
    /// What its journal alone tells; nothing when that cannot be read.
    pub facts: JournalFacts,
}

impl Deref for SessionSummary {
    type Target = JournalFacts;

    fn deref(&self) -> &JournalFacts {
        &self.facts
    }
}

impl SessionSummary {
    /// How many requests the session has had; 0 when even the first cannot be read.
    #[must_use]
    pub fn requests(&self) -> u32 {
        let first = u32::from(self.start.is_some());
        self.later.last().map_or(first, |last| last.number)
    }

    /// Task and team of the last request: that is the one whose end [`SessionSummary::state`] tells.
    #[must_use]
    pub fn last_request(&self) -> Option<(&str, &str)> {
        let first = self.start.as_ref().map(|start| (start.task.as_str(), start.team.as_str()));
        self.later.last().map(|last| (last.task.as_str(), last.team.as_str())).or(first)
    }
}

/// How a session stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionState {
    /// A program runs it now; its process id when that can be read.
    Running(Option<u32>),
    /// A program has it open, and its last run is over; the program's process id likewise.
    Open(Option<u32>),
    /// It is over.
    Ended(SessionOutcome),
    /// It was left in the middle and can be resumed.
    Unfinished,
    /// A newer program wrote its journal; the text names both formats.
    Newer(String),
    /// Its journal cannot be read; the text says why.
    Unreadable(String),
}

/// Bytes at the end of a journal that are looked at.
pub(super) const TAIL: u64 = 128 * 1024;

/// Bytes that are looked at where no beginning of a run is among the last [`TAIL`] bytes.
const LONG_TAIL: u64 = 4 * 1024 * 1024;

/// The events, by their names in journals, that tell how a session stands.
const STATE_EVENTS: &[&str] = &["session_ended", "run_started", "proposed", "decided", "settled"];

/// Sessions that one thread reads at least, and threads at most.
const LEAST_SHARE: usize = 32;
const MOST_THREADS: usize = 8;

/// A session of the list, and what its journal tells, if that can be read.
struct Listed {
    summary: SessionSummary,
    known: Option<Known>,
    /// Whether the journal was read for this list.
    is_read: bool,
}

/// All sessions below `data`, the one used last first.
///
/// # Errors
/// When the folder cannot be read. A session that cannot be read is listed as such.
pub fn list_sessions(data: &Path) -> Result<Vec<SessionSummary>, JournalError> {
    let dirs = SessionDir::all(data)?;
    let kept = KeptFacts::read(data);
    let listed = listed(&dirs, &kept);
    let read = listed.iter().filter(|one| one.is_read).count();
    if kept.is_worth_writing(read, dirs.len()) {
        let id = |one: &Listed| one.summary.id.to_string();
        let known = listed.iter().filter_map(|one| Some((id(one), one.known.clone()?)));
        KeptFacts::new(known.collect()).write(data);
    }
    let mut all: Vec<_> = listed.into_iter().map(|one| one.summary).collect();
    all.sort_by(|a, b| (b.last_at, &b.id).cmp(&(a.last_at, &a.id)));
    Ok(all)
}

/// What a list says about each of them, in their order; many are read side by side.
fn listed(dirs: &[SessionDir], kept: &KeptFacts) -> Vec<Listed> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
    let share = dirs.len().div_ceil(threads).max(LEAST_SHARE);
    let of = |share: &[SessionDir]| share.iter().map(|dir| one(dir, kept)).collect::<Vec<_>>();
    let mut shares = dirs.chunks(share);
    let Some(first) = shares.next() else { return Vec::new() };
    thread::scope(|scope| {
        let others: Vec<_> = shares.map(|share| (share, scope.spawn(move || of(share)))).collect();
        let mut all = of(first);
        for (share, other) in others {
            all.extend(other.join().unwrap_or_else(|_| of(share)));
        }
        all
    })
}

/// What a list says about that session.
#[must_use]
pub fn summary(dir: &SessionDir) -> SessionSummary {
    one(dir, &KeptFacts::default()).summary
}

fn one(dir: &SessionDir, kept: &KeptFacts) -> Listed {
    match known(dir, kept) {
        Ok((known, is_read)) => {
            let summary = summarised(known.facts.clone(), dir);
            Listed { summary, known: Some(known), is_read }
        }
        Err(error) => Listed { summary: unreadable(dir, &error), known: None, is_read: false },
    }
}

/// What the journal tells, and whether it had to be read for that.
fn known(dir: &SessionDir, kept: &KeptFacts) -> Result<(Known, bool), JournalError> {
    let path = dir.journal();
    let failed = || JournalError::io("open the session", &path);
    let stamp = Stamp::of(&fs::metadata(&path).map_err(failed())?);
    if let Some(facts) = kept.get(dir, stamp) {
        return Ok((Known { stamp, facts: facts.clone() }, false));
    }
    let file = File::open(&path).map_err(failed())?;
    // Taken before it is read: what is written meanwhile makes it another one.
    let stamp = Stamp::of(&file.metadata().map_err(failed())?);
    Ok((Known { stamp, facts: read_facts(&file, &path)? }, true))
}

fn read_facts(file: &File, path: &Path) -> Result<JournalFacts, JournalError> {
    let wanted = Wanted::Events(STATE_EVENTS);
    let mut tail = read_tail(file, path, TAIL, &wanted)?;
    if tail.first.is_none() && later(&tail.records).is_empty() {
        tail = read_tail(file, path, LONG_TAIL, &wanted)?;
    }
    let first = match tail.first.clone() {
        Some(first) => Some(first),
        None => first_record(path)?,
    };
    let start = first.as_ref().and_then(|record| match &record.event {
        Event::Session(SessionEvent::Started(start)) => Some(start.clone()),
        _ => None,
    });
    let last = tail.records.last();
    let (waiting, questions) = waiting(&tail.records);
    Ok(JournalFacts {
        start: start.map(|start| *start),
        later: later(&tail.records),
        started_at: first.map_or(Timestamp(0), |record| record.at),
        last_at: last.map_or(Timestamp(0), |record| record.at),
        last: last.map_or(Seq(0), |record| record.seq),
        bytes: tail.len,
        outcome: outcome(&tail.records),
        waiting,
        questions,
    })
}

/// The session as a list shows it; whether a program runs it is looked up now.
fn summarised(facts: JournalFacts, dir: &SessionDir) -> SessionSummary {
    let state = match (holder(dir), &facts.outcome) {
        (Holder::Process(id), Some(_)) => SessionState::Open(id),
        (Holder::Process(id), None) => SessionState::Running(id),
        (Holder::Nobody, Some(outcome)) => SessionState::Ended(outcome.clone()),
        (Holder::Nobody, None) => SessionState::Unfinished,
    };
    SessionSummary { id: dir.id().clone(), title: dir.title(), state, facts }
}

fn unreadable(dir: &SessionDir, error: &JournalError) -> SessionSummary {
    let why = error.to_string();
    let state = match error {
        JournalError::Newer { .. } => SessionState::Newer(why),
        _ => SessionState::Unreadable(why),
    };
    let facts = JournalFacts::default();
    SessionSummary { id: dir.id().clone(), title: dir.title(), state, facts }
}

fn first_record(path: &Path) -> Result<Option<Record>, JournalError> {
    let mut reader = JournalReader::open(path)?;
    for _ in 0..FIRST_LINES {
        match reader.next_item()? {
            Some(ReadItem::Record(record)) => return Ok(Some(record)),
            Some(ReadItem::Damaged(_)) => {}
            None => break,
        }
    }
    Ok(None)
}

pub(super) fn later(records: &[Record]) -> Vec<LaterRequest> {
    let request = |record: &Record| match &record.event {
        Event::Session(SessionEvent::RunStarted(start)) => Some(LaterRequest {
            number: start.number,
            task: start.task.clone(),
            team: start.team.clone(),
        }),
        _ => None,
    };
    records.iter().filter_map(request).collect()
}

/// How the last run of the session ended, unless it goes on.
fn outcome(records: &[Record]) -> Option<SessionOutcome> {
    records.iter().rev().find_map(|record| match &record.event {
        Event::Session(SessionEvent::Ended { outcome }) => Some(Some(outcome.clone())),
        Event::Session(SessionEvent::RunStarted(_)) => Some(None),
        _ => None,
    })?
}

/// How many proposals and questions wait together, and how many questions alone.
fn waiting(records: &[Record]) -> (usize, usize) {
    let (mut open, mut questions) = (BTreeSet::new(), BTreeSet::new());
    for record in records {
        match &record.event {
            Event::Proposal(ProposalEvent::Made(proposal)) => {
                open.insert(proposal.id);
            }
            Event::Proposal(ProposalEvent::Decided { proposal, .. })
            | Event::Proposal(ProposalEvent::Settled { proposal, .. }) => {
                open.remove(proposal);
            }
            Event::Person(PersonEvent::Asked { question, .. }) => {
                questions.insert(*question);
            }
            Event::Person(PersonEvent::Answered { question, .. }) => {
                questions.remove(question);
            }
            Event::Session(SessionEvent::Ended { .. }) => questions.clear(),
            _ => {}
        }
    }
    (open.len() + questions.len(), questions.len())
}

#[cfg(test)]
mod tests {
    use crate::model::event::RunStart;
    use crate::model::{
        Batch, BatchId, BlobRef, CallId, Change, ContentHash, ProjectPath, Proposal, ProposalId,
        TurnId, UserError,
    };

    use super::*;

    fn records(events: Vec<Event>) -> Vec<Record> {
        let record = |(seq, event)| Record { v: 1, seq: Seq(seq), at: Timestamp(0), event };
        (1..).zip(events).map(record).collect()
    }

    fn proposed(id: u32) -> Event {
        let base = BlobRef { hash: ContentHash::of(b""), bytes: 0 };
        let path = ProjectPath::new("a.c").unwrap();
        Event::Proposal(ProposalEvent::Made(Box::new(Proposal {
            id: ProposalId(id),
            turn: TurnId(1),
            call: CallId(1),
            agent: "A".into(),
            tool: "delete_files".into(),
            reason: String::new(),
            batch: Batch { id: BatchId(1), index: 1, of: 1 },
            change: Change::Delete { path, base },
            checks: vec![],
            facts: crate::model::Facts::default(),
        })))
    }

    #[test]
    fn counts_proposals_that_nothing_came_of_yet() {
        let settled = Event::Proposal(ProposalEvent::Settled {
            proposal: ProposalId(1),
            outcome: crate::model::Outcome::Failed(UserError::new("a", "b", "c")),
        });
        let all = records(vec![proposed(1), proposed(2), settled, proposed(3)]);
        assert_eq!(waiting(&all), (2, 0));
        let asked = |number| {
            let (agent, text, options) = (None, "Which?".to_owned(), Vec::new());
            let question = crate::model::QuestionId(number);
            Event::Person(PersonEvent::Asked { question, agent, text, options, step: None })
        };
        let answered = Event::Person(PersonEvent::Answered {
            question: crate::model::QuestionId(1),
            answer: "this".to_owned(),
        });
        assert_eq!(waiting(&records(vec![asked(1), answered, asked(2)])), (1, 1));
        let outcome = SessionOutcome::Stopped;
        let ended = Event::Session(SessionEvent::Ended { outcome });
        assert_eq!(waiting(&records(vec![asked(1), ended])), (0, 0));
    }

    #[test]
    fn a_session_is_over_until_the_next_run_begins() {
        let ended = || Event::Session(SessionEvent::Ended { outcome: SessionOutcome::Stopped });
        let resumed =
            || Event::Session(SessionEvent::Resumed { program: "0.1.0".into(), choices: None });
        assert_eq!(outcome(&records(vec![ended()])), Some(SessionOutcome::Stopped));
        let start = || RunStart {
            number: 2,
            task: "t".into(),
            team: "x".into(),
            why: String::new(),
            changed: Vec::new(),
        };
        let next = || Event::Session(SessionEvent::RunStarted(Box::new(start())));
        assert_eq!(outcome(&records(vec![ended(), next(), resumed()])), None);
        assert_eq!(
            outcome(&records(vec![ended(), resumed(), Event::Person(PersonEvent::Paused)])),
            Some(SessionOutcome::Stopped),
            "it was only opened again"
        );
        assert_eq!(
            outcome(&records(vec![ended(), next(), ended()])),
            Some(SessionOutcome::Stopped)
        );
        let RunStart { number, task, team, .. } = start();
        let request = LaterRequest { number, task, team };
        assert_eq!(later(&records(vec![ended(), next(), ended()])), [request]);
    }
}
