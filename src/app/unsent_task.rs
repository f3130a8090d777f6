//! The task that was written on the start screen and not begun yet, from one program to the next.
//!
//! Owns when it is written to disk: once the person pauses, so that a program that is killed loses a
//! second of typing. Where it cannot be written, it is on the screen alone.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::own_file;
use crate::files;
use crate::ui::start::{Draft, Start, StartChoice};

/// Where it is kept, in the data folder.
const FILE: &str = "unsent-task.json";

/// How long the person has not typed before it is written.
const PAUSE: Duration = Duration::from_secs(1);

/// What is kept of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct KeptTask {
    task: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    project: Option<String>,
}

/// The task as it is on the screen and as it is on disk.
#[derive(Debug)]
pub(super) struct UnsentTask {
    file: PathBuf,
    now: Option<KeptTask>,
    kept: Option<KeptTask>,
    changed_at: Instant,
}

impl UnsentTask {
    pub fn of(data: &Path) -> Self {
        let file = data.join(FILE);
        let text = files::read_text(&file, files::SETTINGS).ok();
        let kept: Option<KeptTask> = text.and_then(|text| serde_json::from_str(&text).ok());
        Self { file, now: kept.clone(), kept, changed_at: Instant::now() }
    }

    /// The task of an earlier program, on the start screen unless that has another one.
    pub fn brought_back(data: &Path, start: &mut Start) -> Self {
        let mut unsent = Self::of(data);
        if let (None, Some(draft)) = (start.unsent(), unsent.read()) {
            start.keep_task(&draft);
        }
        unsent.take(start.unsent());
        unsent
    }

    /// Takes note of how it is on the screen after an event; writes it when the screen may end.
    pub fn follow(&mut self, start: &Start, choice: Option<&StartChoice>) {
        self.take(match choice {
            // It is the session's now, or comes back when it cannot be begun.
            Some(StartChoice::New(_)) => None,
            _ => start.unsent(),
        });
        if choice.is_some() {
            self.keep();
        }
    }

    /// As it was kept.
    pub fn read(&self) -> Option<Draft> {
        let KeptTask { task, project } = self.kept.clone()?;
        Some(Draft { task, project, ..Draft::default() })
    }

    /// Takes note of how it is now; `None`: nothing is written, or it was begun.
    pub fn take(&mut self, draft: Option<Draft>) {
        let now = draft.map(|Draft { task, project, .. }| KeptTask { task, project });
        if now != self.now {
            (self.now, self.changed_at) = (now, Instant::now());
        }
    }

    /// Returns once the person has paused after a change; never without one.
    pub async fn pause(&self) {
        match self.due() {
            None => std::future::pending().await,
            Some(due) => tokio::time::sleep_until(due).await,
        }
    }

    /// When it is to be written; `None`: it is on disk as it is.
    fn due(&self) -> Option<Instant> {
        (self.now != self.kept).then(|| self.changed_at + PAUSE)
    }

    /// Writes it to disk, if it has changed.
    pub fn keep(&mut self) {
        if self.now == self.kept {
            return;
        }
        self.kept.clone_from(&self.now);
        // Empty text stands for none, so that no file has to be deleted.
        let text = self.now.as_ref().and_then(|task| serde_json::to_string(task).ok());
        let _ = own_file::put(&self.file, &text.unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(task: &str) -> Draft {
        Draft { task: task.to_owned(), project: Some("/p".to_owned()), ..Draft::default() }
    }

    #[test]
    fn a_task_is_kept_once_the_person_pauses_and_gone_once_it_was_begun() {
        let data = tempfile::tempdir().unwrap();
        let mut unsent = UnsentTask::of(data.path());
        assert_eq!(unsent.read(), None);
        assert!(unsent.due().is_none(), "nothing was written");
        unsent.take(Some(draft("blink")));
        assert_eq!(UnsentTask::of(data.path()).read(), None);
        assert!(unsent.due().is_some_and(|due| due > Instant::now()));
        unsent.keep();
        assert!(unsent.due().is_none(), "it is written once");
        let mut later = UnsentTask::of(data.path());
        assert_eq!(later.read(), Some(draft("blink")));
        later.take(None);
        later.keep();
        assert_eq!(UnsentTask::of(data.path()).read(), None);
        std::fs::write(data.path().join(FILE), "{").unwrap();
        assert_eq!(UnsentTask::of(data.path()).read(), None, "a damaged file holds no task");
    }
}
