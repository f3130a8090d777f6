//! The messages a person has sent in a project, kept for the next sessions in it.
//!
//! Owns a file of lines below the data folder; only ever adds to it.

use std::fs::{self, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::model::{ContentHash, UserError};

/// Messages that are brought back.
const MOST: usize = 100;

/// Bytes at the end of the file that are looked at for them.
const MAX_BYTES: u64 = 256 << 10;

/// The history of one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputHistory {
    file: PathBuf,
}

impl InputHistory {
    /// The history of the project in that folder.
    #[must_use]
    pub fn of(data: &Path, project: &Path) -> Self {
        let name = ContentHash::of(project.as_os_str().as_encoded_bytes()).to_string();
        let name = name.get(..16).unwrap_or(&name);
        Self { file: data.join("history").join(format!("{name}.jsonl")) }
    }

    /// The messages, oldest first; none when there are none or they cannot be read.
    #[must_use]
    pub fn read(&self) -> Vec<String> {
        let text = self.end().unwrap_or_default();
        // The first line may be cut, and others damaged: both are no messages.
        let mut messages: Vec<String> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        messages.drain(..messages.len().saturating_sub(MOST));
        messages
    }

    fn end(&self) -> std::io::Result<String> {
        let mut file = fs::File::open(&self.file)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(MAX_BYTES)))?;
        let mut bytes = Vec::new();
        file.take(MAX_BYTES).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Adds a message.
    ///
    /// # Errors
    /// When it cannot be written.
    #[expect(clippy::disallowed_methods, reason = "the person's own words, below the data folder")]
    pub fn add(&self, message: &str) -> Result<(), UserError> {
        let failed = |error: std::io::Error| {
            UserError::from_cause("Cannot keep the message for later", &error)
        };
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let mut options = OpenOptions::new();
        // Messages may hold what is nobody else's business.
        options.append(true).create(true).mode(0o600);
        let mut file = options.open(&self.file).map_err(failed)?;
        let mut line = serde_json::Value::from(message).to_string();
        line.push('\n');
        file.write_all(line.as_bytes()).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back_in_the_same_project_and_damage_is_passed_over() {
        let data = tempfile::tempdir().unwrap();
        let history = InputHistory::of(data.path(), Path::new("/p/one"));
        assert!(history.read().is_empty());
        for number in 0..150 {
            history.add(&format!("line {number}\nof two")).unwrap();
        }
        assert_eq!((history.read().len(), history.read()[99].as_str()), (100, "line 149\nof two"));
        let mut text = fs::read_to_string(&history.file).unwrap();
        text.push_str("\"cut");
        fs::write(&history.file, text).unwrap();
        assert_eq!(history.read().last().unwrap(), "line 149\nof two");
        assert!(InputHistory::of(data.path(), Path::new("/p/two")).read().is_empty());
    }
}
