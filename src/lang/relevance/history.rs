//! What past changes tell: which words went with which files, and which files go together.

use std::collections::{BTreeMap, HashMap};

use super::words::words;

/// Changes of more files than this tell nothing about any of them.
const MOST_FILES: usize = 30;

/// One past change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    pub message: String,
    /// The files it touched, relative to the project.
    pub files: Vec<String>,
}

/// The past changes of a project, newest first.
#[derive(Debug, Clone, Default)]
pub struct CommitHistory {
    commits: Vec<(BTreeMap<String, u32>, Vec<String>)>,
    /// In how many messages a word is.
    spread: HashMap<String, u32>,
    /// The changes that touched a file.
    of_file: HashMap<String, Vec<usize>>,
}

/// Reads what `git log --name-only --format=%x01%s%n%b` prints; the message comes first, the names
/// after the last blank line.
#[must_use]
pub fn parse_log(log: &str) -> CommitHistory {
    CommitHistory::new(log.split('\u{1}').filter(|entry| !entry.trim().is_empty()).map(|entry| {
        let entry = entry.trim_end();
        let (message, names) = entry.rsplit_once("\n\n").unwrap_or((entry, ""));
        let files = names.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
        Commit { message: message.to_owned(), files }
    }))
}

impl CommitHistory {
    /// Takes changes, newest first.
    pub fn new(commits: impl IntoIterator<Item = Commit>) -> Self {
        let mut history = Self::default();
        for Commit { message, files } in commits {
            if files.is_empty() || files.len() > MOST_FILES {
                continue;
            }
            let words = words(&message);
            for word in words.keys() {
                *history.spread.entry(word.clone()).or_default() += 1;
            }
            let number = history.commits.len();
            for file in &files {
                history.of_file.entry(file.clone()).or_default().push(number);
            }
            history.commits.push((words, files));
        }
        history
    }

    /// How many changes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.commits.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.commits.is_empty()
    }

    /// Files that changes with these words touched, with how much speaks for each.
    pub(super) fn by_message(&self, asked: &BTreeMap<String, u32>) -> BTreeMap<String, f64> {
        let total = count(self.commits.len());
        let weight = |word: &String| -> f64 {
            let spread = self.spread.get(word).copied().unwrap_or(0);
            ((total + 1.0) / (f64::from(spread) + 0.5)).ln().max(0.0)
        };
        let mut found: BTreeMap<String, f64> = BTreeMap::new();
        for (age, (message, files)) in self.commits.iter().enumerate() {
            let common: f64 =
                asked.keys().filter(|word| message.contains_key(*word)).map(weight).sum();
            if common <= 0.0 {
                continue;
            }
            let own: f64 = message.keys().map(weight).sum();
            let alike = common * common / own.max(1.0);
            // What is long past counts less, and so does a change of many files.
            let fresh = 1.0 / (1.0 + count(age) / 500.0);
            for file in files {
                *found.entry(file.clone()).or_default() +=
                    alike * fresh / count(files.len()).sqrt();
            }
        }
        found
    }

    /// Files that were changed together with one, and in which share of its changes.
    pub(super) fn together_with(&self, file: &str) -> Vec<(String, f64)> {
        let Some(changes) = self.of_file.get(file) else { return Vec::new() };
        let mut times: BTreeMap<&str, u32> = BTreeMap::new();
        for (_, files) in changes.iter().filter_map(|&number| self.commits.get(number)) {
            for other in files.iter().filter(|other| *other != file) {
                *times.entry(other).or_default() += 1;
            }
        }
        // A file of few changes proves little.
        let all = count(changes.len()) + 2.0;
        times.into_iter().map(|(other, times)| (other.to_owned(), f64::from(times) / all)).collect()
    }
}

/// A count as a number to calculate with.
fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_with_its_messages_and_names() {
        let history = parse_log("\u{1}One\n\nBody.\n\n\na.c\nb.c\n\n\u{1}Two\n\nb.c\n\u{1}Empty\n");
        assert_eq!(history.len(), 2);
        assert_eq!(history.together_with("a.c"), [("b.c".to_owned(), 1.0 / 3.0)]);
        assert_eq!(history.by_message(&words("two")).keys().collect::<Vec<_>>(), ["b.c"]);
        assert!(parse_log("").is_empty());
    }
}
