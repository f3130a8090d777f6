//! What is done besides, for the person alone: a copy of a log in a file of theirs.
//!
//! Owns work under way. Nothing of it belongs to the session, and no agent can ask for it.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::PathBuf;

use tokio::task::JoinSet;

use super::history::InputHistory;
use crate::journal::SessionDir;
use crate::model::{LogSource, UserError};
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
    let mut gone = 0;
    let bytes = match what {
        Saved::Log(log, end) => {
            let logs = dir.logs();
            gone = logs.start(log)?.bytes.min(end);
            let mut offset = gone;
            while offset < end {
                let bytes = logs.read_log(log, offset..end.min(offset + BLOCK))?;
                if bytes.is_empty() {
                    break;
                }
                file.write_all(&bytes).map_err(failed)?;
                offset += bytes.len() as u64;
            }
            offset - gone
        }
        Saved::Events(last) => {
            let source = BufReader::new(open(dir.journal()).map_err(failed)?);
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
    Ok(format!("saved {bytes} bytes to {}{gone}", path.display()))
}

fn open(path: PathBuf) -> std::io::Result<std::fs::File> {
    std::fs::File::open(path)
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
    use crate::journal::LogLimits;
    use crate::model::{LogId, LogKind, Seq, Timestamp};

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
}
