//! Words of a whole session, to be found in a replay: what agents write, what builds and boards printed,
//! and what proposals write.
//!
//! Owns which record brings which words to the screen, so that a search can go there. Reads every byte
//! once; of the session it holds only lines that are not complete yet, and parts of lines that match.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::model::{
    BlobRef, BlobSource, Event, EventSource, LogEvent, LogId, LogSource, LogStart, PersonEvent,
    ProposalEvent, Record, SessionEvent, TurnEvent, TurnId, UserError,
};
use crate::text::sanitize;
use crate::ui::layout::PaneId;
use crate::ui::panes::logs::digest::digest;
use crate::ui::panes::logs::source::scan_records;
use crate::view::line_index::MAX_LINE;
use crate::view::line_scan::{LineSource, Matcher};

/// Records read at once, and records that are looked through in a frame.
const RECORDS: u64 = 200;
const AT_ONCE: u64 = 100;

/// Bytes of a log that one record may bring, and of a file that a proposal may write; of more, the last
/// or the first ones are looked through.
const MOST_LOG: u64 = 1 << 20;
const MOST_FILE: usize = 1 << 20;

/// Bytes of a line of a chat that is not complete yet.
const MOST_TEXT: usize = 1 << 20;

/// Matches whose words are kept, characters of each, and how many of them are before the match.
const MOST_KEPT: usize = 5_000;
const LONGEST: usize = 160;
const BEFORE: usize = 24;

/// What a session recorded, and what it wrote.
#[derive(Clone)]
pub struct Recorded {
    pub events: Arc<dyn EventSource>,
    pub logs: Arc<dyn LogSource>,
    pub blobs: Arc<dyn BlobSource>,
}

impl fmt::Debug for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recorded")
    }
}

/// The words around a match, and the pane that shows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Excerpt {
    pub words: String,
    pub pane: Option<PaneId>,
}

/// Words around the matches so far, by the number of their line.
pub(super) type Excerpts = Arc<Mutex<HashMap<u64, Excerpt>>>;

/// A session as lines to look through, one for each record: the first of its lines that matches.
#[derive(Debug)]
pub(super) struct RecordedWords {
    recorded: Recorded,
    matcher: Matcher,
    /// The last record there is.
    last: u64,
    excerpts: Excerpts,
    open: Mutex<Incomplete>,
}

/// What is not complete after a record.
#[derive(Debug, Default)]
struct Incomplete {
    /// The line that is looked at next.
    next: u64,
    texts: HashMap<TurnId, String>,
    /// How far each log was read, and the start of its next line.
    logs: HashMap<LogId, (u64, Vec<u8>)>,
}

/// Lines that a record brings, with the pane that shows them.
type Lines = Vec<(Option<PaneId>, String)>;

pub(super) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RecordedWords {
    /// All of a session that ends with record `last`; words around matches are put into `excerpts`.
    pub(super) fn new(recorded: Recorded, matcher: Matcher, last: u64, excerpts: Excerpts) -> Self {
        Self { recorded, matcher, last, excerpts, open: Mutex::default() }
    }

    /// The line of a record: empty where nothing matches.
    fn line(&self, record: &Record, open: &mut Incomplete) -> String {
        let mut lines = Lines::new();
        self.bring(record, open, &mut lines);
        if record.seq.0 >= self.last {
            open.end(&mut lines);
        }
        for (pane, line) in lines {
            let line =
                sanitize::line(line.get(..line.floor_char_boundary(MAX_LINE)).unwrap_or_default());
            if self.matcher.is_match(&line) {
                let mut excerpts = lock(&self.excerpts);
                if excerpts.len() < MOST_KEPT {
                    let words = around(&line, &self.matcher);
                    excerpts.insert(record.seq.0 - 1, Excerpt { words, pane });
                }
                return line.into_owned();
            }
        }
        String::new()
    }

    fn bring(&self, record: &Record, open: &mut Incomplete, lines: &mut Lines) {
        let chat = Some(PaneId::Chat);
        match &record.event {
            Event::Turn(TurnEvent::TextAdded { turn, text }) => {
                return open.say(*turn, text, lines);
            }
            Event::Turn(TurnEvent::ToolCalled { turn, args, .. }) => {
                open.end_text(*turn, lines);
                strings(args, lines);
            }
            Event::Turn(TurnEvent::ToolAnswered { result, .. }) => strings(result, lines),
            Event::Turn(TurnEvent::Ended { turn, .. } | TurnEvent::ModelAnswered { turn, .. }) => {
                open.end_text(*turn, lines)
            }
            Event::Log(LogEvent::Grew { log, bytes, .. }) => {
                self.read_log(*log, *bytes, open, lines);
            }
            Event::Proposal(ProposalEvent::Made(proposal)) => {
                if let Some(content) = proposal.change.after() {
                    self.read_file(&content, lines);
                }
            }
            Event::Person(PersonEvent::Wrote { text, .. } | PersonEvent::Asked { text, .. }) => {
                add(text, chat, lines)
            }
            Event::Session(SessionEvent::Started(start)) => add(&start.task, chat, lines),
            Event::Session(SessionEvent::RunStarted(start)) => add(&start.task, chat, lines),
            _ => {}
        }
        let digest = digest(record);
        lines.push((None, format!("{} {}", digest.kind, digest.text)));
    }

    /// The new lines of a log; none of a log that was deleted.
    fn read_log(&self, log: LogId, until: u64, open: &mut Incomplete, lines: &mut Lines) {
        let (read, partial) = open.logs.entry(log).or_default();
        let kept = self.recorded.logs.start(log).map_or(until, |start| start.bytes);
        let from = (*read).max(kept).max(until.saturating_sub(MOST_LOG));
        if from > *read {
            partial.clear();
        }
        *read = until.max(*read);
        let Ok(bytes) = self.recorded.logs.read_log(log, from..until.max(from)) else { return };
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let space = MAX_LINE.saturating_sub(partial.len()).min(piece.len());
            partial.extend(piece.get(..space).unwrap_or_default());
            if piece.ends_with(b"\n") {
                let line = sanitize::log_line(partial).into_owned();
                lines.push((Some(PaneId::Logs), line));
                partial.clear();
            }
        }
    }

    /// What a proposal writes.
    fn read_file(&self, content: &BlobRef, lines: &mut Lines) {
        let Ok(bytes) = self.recorded.blobs.blob(&content.hash) else { return };
        let text = String::from_utf8_lossy(bytes.get(..bytes.len().min(MOST_FILE)).unwrap_or(&[]));
        add(&text, Some(PaneId::Review), lines);
    }
}

impl Incomplete {
    /// Adds to what an agent writes in a turn; its lines count where they are complete.
    fn say(&mut self, turn: TurnId, text: &str, lines: &mut Lines) {
        let written = self.texts.entry(turn).or_default();
        written.push_str(text);
        let end = match written.rfind('\n') {
            _ if written.len() > MOST_TEXT => written.len(),
            Some(last) => last + 1,
            None => return,
        };
        let rest = written.split_off(end);
        add(&std::mem::replace(written, rest), Some(PaneId::Chat), lines);
    }

    fn end_text(&mut self, turn: TurnId, lines: &mut Lines) {
        if let Some(written) = self.texts.remove(&turn) {
            answer(&written, lines);
        }
    }

    /// Nothing more comes.
    fn end(&mut self, lines: &mut Lines) {
        self.texts.drain().for_each(|(_, written)| answer(&written, lines));
        let logs = self.logs.drain().filter(|(_, (_, partial))| !partial.is_empty());
        lines.extend(logs.map(|(_, (_, partial))| {
            (Some(PaneId::Logs), sanitize::log_line(&partial).into_owned())
        }));
    }
}

fn add(text: &str, pane: Option<PaneId>, lines: &mut Lines) {
    lines.extend(text.lines().map(|line| (pane, line.to_owned())));
}

/// The end of what an agent wrote; an answer in JSON has its lines within its texts.
fn answer(text: &str, lines: &mut Lines) {
    match serde_json::from_str(text) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => strings(&value, lines),
        Ok(_) | Err(_) => add(text, Some(PaneId::Chat), lines),
    }
}

/// All names and texts in a value of JSON.
fn strings(value: &Value, lines: &mut Lines) {
    match value {
        Value::String(text) => add(text, Some(PaneId::Chat), lines),
        Value::Array(values) => values.iter().for_each(|value| strings(value, lines)),
        Value::Object(values) => {
            for (name, value) in values {
                add(name, Some(PaneId::Chat), lines);
                strings(value, lines);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The part of a line that matches, with what is next to it.
fn around(line: &str, matcher: &Matcher) -> String {
    let found = matcher.pattern().and_then(|pattern| pattern.find(line));
    let start = found.map_or(0, |found| found.start());
    let before = line.get(..start).unwrap_or_default().trim_start();
    let skipped = before.chars().count().saturating_sub(BEFORE);
    let mark = if skipped > 0 { "…" } else { "" };
    let kept: String = before.chars().skip(skipped).collect();
    // What is left of a word that was cut tells nothing.
    let before = kept.split_once(' ').filter(|_| skipped > 0).map_or(&*kept, |(_, words)| words);
    let rest: String = line.get(start..).unwrap_or_default().chars().take(LONGEST).collect();
    format!("{mark}{before}{rest}")
}

impl LineSource for RecordedWords {
    fn at_once(&self, _bytes: u64) -> u64 {
        AT_ONCE
    }

    fn start(&self) -> Result<LogStart, UserError> {
        // Records are all kept.
        Ok(LogStart::default())
    }

    fn scan(&self, range: Range<u64>, take: &mut dyn FnMut(&[u8])) -> Result<u64, UserError> {
        let mut open = lock(&self.open);
        if open.next != range.start {
            *open = Incomplete::default();
        }
        let (start, events) = (range.start, &*self.recorded.events);
        let line = |record: &Record| self.line(record, &mut open);
        let scanned = scan_records(events, range, RECORDS, take, line)?;
        open.next = start + scanned;
        Ok(scanned)
    }
}
