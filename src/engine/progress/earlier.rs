//! The runs before the present one, as the team of the present one is reported of them.
//!
//! Owns the words only; must not look at the project.

use crate::model::{ProjectPath, SessionOutcome};

/// Runs that are reported of, the newest ones.
const MOST_RUNS: usize = 5;

/// Files that are named of one run.
const MOST_FILES: usize = 40;

/// What came before.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::engine) struct EarlierRuns {
    reported: Vec<String>,
    /// How many there were.
    count: u32,
}

impl EarlierRuns {
    /// The present run is one of the earlier ones from here on.
    pub fn end_run(
        &mut self,
        task: &str,
        outcome: Option<&SessionOutcome>,
        changed: &[ProjectPath],
    ) {
        self.count += 1;
        let ended = match outcome {
            Some(SessionOutcome::Completed) => "completed".to_owned(),
            Some(SessionOutcome::Failed(error)) => format!("failed: {}", error.what),
            Some(SessionOutcome::Stopped) => "stopped by the person".to_owned(),
            None => "not finished".to_owned(),
        };
        let named: Vec<&str> = changed.iter().take(MOST_FILES).map(ProjectPath::as_str).collect();
        let files = match (named.len(), changed.len() - named.len()) {
            (0, _) => "no file was changed".to_owned(),
            (_, 0) => format!("changed: {}", named.join(", ")),
            (_, more) => format!("changed: {} and {more} more", named.join(", ")),
        };
        self.reported.push(format!("{}. “{}” ({ended}; {files})", self.count, task.trim()));
        if self.reported.len() > MOST_RUNS {
            self.reported.remove(0);
        }
    }

    /// What the team is reported; `None` in the first run.
    pub fn words(&self) -> Option<String> {
        (!self.reported.is_empty()).then(|| {
            format!(
                "Earlier requests in this session, all carried out on the same project, the oldest \
                 first:\n{}",
                self.reported.join("\n")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::UserError;

    #[test]
    fn the_newest_runs_are_told_with_their_number_and_end() {
        let mut earlier = EarlierRuns::default();
        assert_eq!(earlier.words(), None);
        let failed = SessionOutcome::Failed(UserError::new("no build passed", "x", ""));
        earlier.end_run("scan the bus\n", Some(&failed), &[]);
        let words = earlier.words().unwrap();
        let reported = "1. “scan the bus” (failed: no build passed; no file was changed)";
        assert!(words.ends_with(reported), "{words}");
        for _ in 0..MOST_RUNS {
            earlier.end_run("more", Some(&SessionOutcome::Completed), &[]);
        }
        let words = earlier.words().unwrap();
        assert!(!words.contains("1. “") && words.contains("6. “more”"), "{words}");
    }
}
