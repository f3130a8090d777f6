//! What is done besides, for the person alone: a copy of a log in a file of theirs.
//!
//! Owns work under way. Nothing of it belongs to the session, and no agent can ask for it.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::PathBuf;

use tokio::task::JoinSet;

use super::history::InputHistory;
use crate::journal::{ReadItem, SessionDir, scan};
use crate::model::{Event, LogId, LogSource, PortChange, PortEvent, UserError};
use crate::text::sanitize;
use crate::ui::Saved;

/// Work under way for one session.
#[derive(Debug)]
pub struct Chores {
    dir: SessionDir,
    history: Option<InputHistory>,
    tasks: JoinSet<Result<String, UserError>>,
}

impl Chores {
    #[must_use]
    pub fn new(dir: SessionDir, history: Option<InputHistory>) -> Self {
        Self { dir, history, tasks: JoinSet::new() }
    }

    /// Keeps a message for the next sessions in the project; one that cannot be kept is lost.
    pub fn remember(&mut self, message: String) {
        if let Some(history) = self.history.clone() {
            self.tasks.spawn_blocking(move || history.add(&message).map(|()| String::new()));
        }
    }

    /// Begins to save a log. Must be called on a runtime.
    pub fn save(&mut self, what: Saved, to: &str) {
        let (dir, to) = (self.dir.clone(), to.to_owned());
        self.tasks.spawn_blocking(move || save(&dir, what, &to));
    }

    /// What came of the next one that has something to say; waits for ever while there is none.
    /// Safe to drop and call again.
    pub async fn next_done(&mut self) -> Result<String, UserError> {
        loop {
            match self.tasks.join_next().await {
                Some(Ok(Ok(words))) if words.is_empty() => {}
                Some(Ok(done)) => return done,
                Some(Err(error)) => {
                    return Err(UserError::from_cause("Saving stopped before the end", &error));
                }
                None => std::future::pending().await,
            }
        }
    }
}

/// Bytes of a log copied at once.
const BLOCK: u64 = 1 << 20;

fn save(dir: &SessionDir, what: Saved, to: &str) -> Result<String, UserError> {
    let path = expand(to);
    let failed = |error: std::io::Error| {
        let (why, fix) = match error.kind() {
            ErrorKind::AlreadyExists => {
                ("that file exists, and nothing is overwritten".to_owned(), "Choose another name.")
            }
            _ => (error.to_string(), "Choose another folder."),
        };
        UserError::new(format!("Cannot save to {to}"), why, fix)
    };
    #[expect(clippy::disallowed_methods, reason = "a new file that the person has named")]
    let mut file = OpenOptions::new().write(true).create_new(true).open(&path).map_err(failed)?;
    let (mut gone, mut looked_up) = (0, 0);
    let bytes = match what {
        Saved::Log(log, end) => {
            let logs = dir.logs();
            let start = logs.start(log)?;
            gone = start.bytes.min(end);
            let mut explained = Explained::of(dir, log, start.lines);
            let mut offset = gone;
            while offset < end {
                let bytes = logs.read_log(log, offset..end.min(offset + BLOCK))?;
                if bytes.is_empty() {
                    break;
                }
                file.write_all(&explained.with(&bytes)).map_err(failed)?;
                offset += bytes.len() as u64;
            }
            looked_up = explained.used;
            offset - gone
        }
        Saved::Events(last) => {
            let source = BufReader::new(File::open(dir.journal()).map_err(failed)?);
            let mut written = 0;
            for (line, _) in source.split(b'\n').zip(0..last.0) {
                let mut line = line.map_err(failed)?;
                line.push(b'\n');
                file.write_all(&line).map_err(failed)?;
                written += line.len() as u64;
            }
            written
        }
    };
    file.sync_all().map_err(failed)?;
    let gone = match gone {
        0 => String::new(),
        gone => format!("; the {gone} bytes before them are no longer kept"),
    };
    let looked_up = match looked_up {
        0 => String::new(),
        1 => ", with the calls of 1 panic".to_owned(),
        count => format!(", with the calls of {count} panics"),
    };
    Ok(format!("saved {bytes} bytes to {}{looked_up}{gone}", path.display()))
}

/// What was looked up about the panics of a log, to be written below them.
struct Explained {
    /// By the number of the line that it stands before, the last first.
    left: Vec<(u64, Vec<String>)>,
    /// The number of the next line.
    line: u64,
    used: usize,
}

impl Explained {
    /// For the log whose first line that is still there has that number. A journal that cannot be read
    /// explains nothing.
    fn of(dir: &SessionDir, log: LogId, first: u64) -> Self {
        let mut left = Vec::new();
        let take = |item: ReadItem, _| {
            if let ReadItem::Record(record) = item
                && let Event::Port(PortEvent::Changed { log: of, event }) = record.event
                && let PortChange::Panicked { end, report, .. } = event
                && of == log
                && end > first
            {
                left.push((end, report.lines()));
            }
        };
        if scan(&dir.journal(), take).is_err() {
            left.clear();
        }
        left.sort_by_key(|(end, _)| std::cmp::Reverse(*end));
        Self { left, line: first, used: 0 }
    }

    /// The bytes, with what was looked up below the last line of each panic.
    fn with(&mut self, bytes: &[u8]) -> Vec<u8> {
        if self.left.is_empty() {
            return bytes.to_vec();
        }
        let mut all = Vec::with_capacity(bytes.len());
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            all.extend_from_slice(piece);
            if !piece.ends_with(b"\n") {
                continue;
            }
            self.line += 1;
            while let Some((_, lines)) = self.left.pop_if(|(end, _)| *end <= self.line) {
                for line in lines {
                    all.extend_from_slice(sanitize::line(&line).as_bytes());
                    all.push(b'\n');
                }
                self.used += 1;
            }
        }
        all
    }
}

/// A path as the person typed it: `~/` is their home.
fn expand(to: &str) -> PathBuf {
    match (to.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => PathBuf::from(home).join(rest),
        _ => PathBuf::from(to),
    }
}

#[cfg(test)]
mod tests {
    use crate::journal::{JournalWriter, LogLimits};
    use crate::model::{LogKind, PanicReport, Seq, Timestamp};

    use super::*;

    #[test]
    fn what_is_no_longer_there_is_said_when_a_log_is_saved() {
        let data = tempfile::tempdir().unwrap();
        let dir = SessionDir::create(data.path(), "test", Timestamp(0)).unwrap();
        let log = LogId { kind: LogKind::Serial, number: 1 };
        let logs = dir.logs().keeping(LogLimits { keep: 40, segment: 10 });
        for n in 0..20 {
            logs.append(log, format!("{n:09}\n").as_bytes(), Timestamp(0)).unwrap();
        }
        let to = data.path().join("out.log").display().to_string();
        let output = save(&dir, Saved::Log(log, 190), &to).unwrap();
        assert!(output.starts_with("saved 30 bytes to "), "{output}");
        assert!(output.ends_with("the 160 bytes before them are no longer kept"), "{output}");
        assert_eq!(std::fs::read(&to).unwrap(), b"000000016\n000000017\n000000018\n");
    }

    #[test]
    fn a_log_is_saved_up_to_its_moment_and_nothing_is_overwritten() {
        let data = tempfile::tempdir().unwrap();
        let dir = SessionDir::create(data.path(), "test", Timestamp(0)).unwrap();
        let log = LogId { kind: LogKind::Serial, number: 1 };
        dir.logs().append(log, b"one\ntwo\nlater\n", Timestamp(0)).unwrap();
        let to = data.path().join("out.log").display().to_string();
        let output = save(&dir, Saved::Log(log, 8), &to).unwrap();
        assert!(output.starts_with("saved 8 bytes to "), "{output}");
        assert_eq!(std::fs::read(&to).unwrap(), b"one\ntwo\n");
        let error = save(&dir, Saved::Log(log, 14), &to).unwrap_err();
        assert!(error.fix.contains("another name"), "{error}");
        assert_eq!(std::fs::read(&to).unwrap(), b"one\ntwo\n");
        let nowhere = data.path().join("none/out.log").display().to_string();
        assert!(save(&dir, Saved::Log(log, 14), &nowhere).is_err());
        std::fs::write(dir.journal(), "a\nb\nc\n").unwrap();
        let to = data.path().join("events").display().to_string();
        save(&dir, Saved::Events(Seq(2)), &to).unwrap();
        assert_eq!(std::fs::read(&to).unwrap(), b"a\nb\n");
    }

    #[test]
    fn a_saved_log_has_the_calls_of_each_panic_below_it() {
        let data = tempfile::tempdir().unwrap();
        let dir = SessionDir::create(data.path(), "test", Timestamp(0)).unwrap();
        let log = LogId { kind: LogKind::Serial, number: 1 };
        let text = b"boot\nGuru Meditation Error\nBacktrace: 0x400d1234:0x3ffb\nRebooting\n";
        dir.logs().append(log, text, Timestamp(0)).unwrap();
        let report: PanicReport = serde_json::from_value(serde_json::json!({
            "kind": "exception", "said": "Guru Meditation Error",
            "traces": [{ "frames": [
                { "pc": 0x400d_1234_u32, "function": "app_main", "file": "main/main.c", "line": 12 },
                { "pc": 0x400d_5678_u32 },
            ]}],
        }))
        .unwrap();
        let mut journal = JournalWriter::create(&dir).unwrap();
        for (number, line) in [(1, 1), (2, 1)] {
            let change = PortChange::Panicked { line, end: 3, report: Box::new(report.clone()) };
            let log = LogId { number, ..log };
            let event = Event::Port(PortEvent::Changed { log, event: change });
            journal.append(Timestamp(0), event).unwrap();
        }
        drop(journal);
        let to = data.path().join("out.log").display().to_string();
        let output = save(&dir, Saved::Log(log, text.len() as u64), &to).unwrap();
        assert!(output.ends_with("out.log, with the calls of 1 panic"), "{output}");
        let saved = std::fs::read_to_string(&to).unwrap();
        assert_eq!(
            saved,
            "boot\nGuru Meditation Error\nBacktrace: 0x400d1234:0x3ffb\n--- exception ---\n    \
             0x400d1234  app_main at main/main.c:12\n    0x400d5678  ??\nRebooting\n"
        );
    }
}
