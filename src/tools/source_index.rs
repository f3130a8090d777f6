//! What is known of a project's sources for `find_relevant_files`.
//!
//! Owns the order and the time in which files are read: what is known of a file is kept until the file
//! changes, so that a call goes on where the one before it ran out of time. Must not rank.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::lang::{ChosenFile, ProjectIndex, RelevanceQuery, SourceFacts, SourceFunctions, rank};
use crate::model::ProjectPath;
use crate::workspace::{ProjectDir, Sources, WatchStamp, is_source};

/// Files that are looked at: more than any project that is not a whole framework.
const MOST_FILES: usize = 50_000;

/// The part of the time for texts that is left for them however late it is.
const LEAST_SHARE: u32 = 4;

/// How long the parts of a call may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// When the call began.
    pub(super) since: Instant,
    /// Until the texts are read.
    pub(super) texts: Duration,
    /// Until all is ranked, from the start as well.
    pub(super) calls: Duration,
}

/// How much of a project an answer rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Coverage {
    /// Sources whose words are known.
    pub(super) files: usize,
    /// Sources whose calls are known.
    pub(super) with_calls: usize,
    /// Sources there are.
    pub(super) of: usize,
}

impl Coverage {
    pub(super) const fn is_whole(self) -> bool {
        self.files == self.of && self.with_calls == self.of
    }
}

/// A ranking and what it rests on.
pub(super) struct Ranking {
    pub(super) files: Vec<ChosenFile>,
    pub(super) coverage: Coverage,
    /// Bytes of all files that are known.
    pub(super) bytes: u64,
}

#[derive(Clone)]
struct KnownSource {
    stamp: WatchStamp,
    facts: Arc<SourceFacts>,
    functions: Option<Arc<SourceFunctions>>,
}

/// What is known of the sources of one project.
#[derive(Default)]
pub(super) struct SourceIndex {
    known: Mutex<HashMap<ProjectPath, KnownSource>>,
}

impl SourceIndex {
    /// Ranks the project's files for a question with what can be known in time.
    pub(super) fn rank(
        &self,
        project_dir: &ProjectDir,
        query: &RelevanceQuery<'_>,
        patience: Patience,
    ) -> Ranking {
        let started = patience.since;
        let sources = project_dir.look_over(MOST_FILES).files.into_iter();
        let sources: Vec<(ProjectPath, WatchStamp)> =
            sources.filter(|(path, _)| is_source(path)).collect();
        let of = sources.len();
        // A tree that took long to list leaves less time, but never none.
        let texts = (started + patience.texts).max(Instant::now() + patience.texts / LEAST_SHARE);
        self.read_texts(project_dir, &sources, query.request, texts);
        let ranking = Instant::now();
        let known = self.known_of(&sources);
        let texts = known.iter().map(|(path, it)| (path.clone(), Arc::clone(&it.facts)));
        let mut index = ProjectIndex::of_facts(texts);
        let order = reading_order(&known, &rank(&index, query));
        // To rank once more takes as long again, on a busy machine too.
        let until = (started + patience.calls).checked_sub(ranking.elapsed() * 3 / 2);
        self.read_calls(project_dir, (&known, &order), until.unwrap_or(started));
        let functions: Vec<Option<Arc<SourceFunctions>>> = {
            let all = self.lock();
            known.iter().map(|(path, _)| all.get(path)?.functions.clone()).collect()
        };
        let with_calls = functions.iter().flatten().count();
        index.tie_calls(&functions);
        let coverage = Coverage { files: known.len(), with_calls, of };
        Ranking { files: rank(&index, query), coverage, bytes: index.bytes() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ProjectPath, KnownSource>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads what is new or changed, files with the most words of the request in their path first, and
    /// forgets what is gone or not text any more.
    fn read_texts(
        &self,
        project_dir: &ProjectDir,
        sources: &[(ProjectPath, WatchStamp)],
        request: &str,
        until: Instant,
    ) {
        let mut open: Vec<&(ProjectPath, WatchStamp)> = {
            let mut known = self.lock();
            let stamps: HashMap<&ProjectPath, WatchStamp> =
                sources.iter().map(|(path, stamp)| (path, *stamp)).collect();
            known.retain(|path, it| stamps.get(path) == Some(&it.stamp));
            sources.iter().filter(|(path, _)| !known.contains_key(path)).collect()
        };
        let words: Vec<String> = request
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.len() >= 3)
            .map(str::to_lowercase)
            .collect();
        open.sort_by_cached_key(|(path, _)| {
            let path = path.as_str().to_lowercase();
            Reverse(words.iter().filter(|word| path.contains(word.as_str())).count())
        });
        let read = in_parallel(&open, until, |(path, stamp)| {
            // What is no text counts as known and says nothing.
            let text = Sources::of(project_dir).text(path).unwrap_or_default();
            let facts = Arc::new(SourceFacts::of(&text));
            Some((path.clone(), KnownSource { stamp: *stamp, facts, functions: None }))
        });
        self.lock().extend(read);
    }

    /// The sources that are known, in the order of the project.
    fn known_of(&self, sources: &[(ProjectPath, WatchStamp)]) -> Vec<(ProjectPath, KnownSource)> {
        let known = self.lock();
        let found = sources.iter().filter_map(|(path, _)| known.get_key_value(path));
        found.map(|(path, it)| (path.clone(), it.clone())).collect()
    }

    fn read_calls(
        &self,
        project_dir: &ProjectDir,
        (known, order): (&[(ProjectPath, KnownSource)], &[usize]),
        until: Instant,
    ) {
        let open: Vec<&ProjectPath> = order
            .iter()
            .filter_map(|&at| known.get(at))
            .filter(|(_, it)| it.functions.is_none())
            .map(|(path, _)| path)
            .collect();
        let read = in_parallel(&open, until, |path| {
            let text = Sources::of(project_dir).text(path).unwrap_or_default();
            let left = until.saturating_duration_since(Instant::now());
            let functions = SourceFunctions::of(path, &text, left)?;
            Some(((*path).clone(), Arc::new(functions)))
        });
        let mut all = self.lock();
        for (path, functions) in read {
            if let Some(it) = all.get_mut(&path) {
                it.functions = Some(functions);
            }
        }
    }
}

/// The places of the known files: those of a ranking first, then the others.
fn reading_order(known: &[(ProjectPath, KnownSource)], ranked: &[ChosenFile]) -> Vec<usize> {
    let rank: HashMap<&ProjectPath, usize> =
        ranked.iter().enumerate().map(|(at, chosen)| (&chosen.path, at)).collect();
    let mut order: Vec<usize> = (0..known.len()).collect();
    order.sort_by_cached_key(|&at| {
        known.get(at).and_then(|(path, _)| rank.get(path)).copied().unwrap_or(usize::MAX)
    });
    order
}

/// Does `work` on the items from the first on, on as many processors as there are, until the time is
/// over.
fn in_parallel<I: Sync, T: Send>(
    items: &[I],
    until: Instant,
    work: impl Fn(&I) -> Option<T> + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let share = || {
        let mut done = Vec::new();
        while Instant::now() < until {
            let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
            done.extend(work(item));
        }
        done
    };
    let workers = std::thread::available_parallelism().map_or(1, |count| count.get().min(8));
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(share)).collect();
        // A grammar that gave up on one text costs the share of its thread, not the answer.
        running.into_iter().filter_map(|worker| worker.join().ok()).flatten().collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::CommitHistory;

    fn no_time() -> Patience {
        Patience { since: Instant::now(), texts: Duration::ZERO, calls: Duration::ZERO }
    }

    fn much() -> Patience {
        let (texts, calls) = (Duration::from_secs(300), Duration::from_secs(600));
        Patience { since: Instant::now(), texts, calls }
    }

    fn coverage(
        index: &SourceIndex,
        project_dir: &ProjectDir,
        patience: Patience,
    ) -> (usize, usize, usize) {
        let history = CommitHistory::default();
        let query = RelevanceQuery { request: "`tank_fill`", diagnosed: &[], history: &history };
        let Coverage { files, with_calls, of } = index.rank(project_dir, &query, patience).coverage;
        (files, with_calls, of)
    }

    #[test]
    fn what_was_read_is_kept_until_a_file_changes() {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("tank.c", "void tank_fill(void) { valve_open(); }\n");
        write("valve.c", "void valve_open(void) {}\n");
        write("notes.txt", "no source");
        let project_dir = ProjectDir::open(folder.path()).unwrap();
        let index = SourceIndex::default();
        assert_eq!(coverage(&index, &project_dir, no_time()), (0, 0, 2));
        assert_eq!(coverage(&index, &project_dir, much()), (2, 2, 2));
        assert_eq!(coverage(&index, &project_dir, no_time()), (2, 2, 2));
        write("valve.c", "void valve_open(void) { pump(); }\n");
        assert_eq!(coverage(&index, &project_dir, no_time()), (1, 1, 2));
        std::fs::remove_file(folder.path().join("tank.c")).unwrap();
        assert_eq!(coverage(&index, &project_dir, no_time()), (0, 0, 1));
        assert_eq!(coverage(&index, &project_dir, much()), (1, 1, 1));
    }

    /// On a busy machine the list and the history take most of the time: words are still read, calls
    /// wait for the next request.
    #[test]
    fn a_call_that_is_late_still_knows_words_and_ends() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.c"), "void tank_fill(void) {}\n").unwrap();
        let project_dir = ProjectDir::open(folder.path()).unwrap();
        let late = Patience {
            since: Instant::now().checked_sub(Duration::from_secs(40)).unwrap(),
            texts: Duration::from_secs(20),
            calls: Duration::from_secs(30),
        };
        assert_eq!(coverage(&SourceIndex::default(), &project_dir, late), (1, 0, 1));
    }

    #[test]
    fn no_text_and_empty_files_are_no_gap() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.c"), [0xff, 0xfe, 0]).unwrap();
        std::fs::write(folder.path().join("b.h"), "").unwrap();
        let project_dir = ProjectDir::open(folder.path()).unwrap();
        assert_eq!(coverage(&SourceIndex::default(), &project_dir, much()), (2, 2, 2));
    }
}
