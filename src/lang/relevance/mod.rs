//! Which files of a large project a request is about, with a reason for each.
//!
//! Owns the signals (words, names, paths, includes, calls, history, diagnostics) and how they are weighed.
//! Pure: texts and history come in, a ranking goes out. The weights are estimates;
//! `cargo bench --bench context` tells how well they do on the past commits of a project.

mod calls;
mod facts;
mod history;
mod index;
mod words;

use std::borrow::Cow;
use std::collections::BTreeMap;

pub use calls::SourceFunctions;
pub use facts::SourceFacts;
pub use history::{Commit, CommitHistory, parse_log};
pub use index::ProjectIndex;
use words::words;

use crate::model::ProjectPath;

/// Details beside the project's texts.
#[derive(Debug, Clone, Copy)]
pub struct RelevanceQuery<'a> {
    /// The person's words.
    pub request: &'a str,
    /// Files with errors or warnings of the last build.
    pub diagnosed: &'a [ProjectPath],
    /// What was changed together before.
    pub history: &'a CommitHistory,
}

/// A file that was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct ChosenFile {
    pub path: ProjectPath,
    /// Its length in tokens, at four bytes for one.
    pub tokens: u64,
    /// From 0 to about 1; comparable within one answer only.
    pub score: f64,
    /// Why, the strongest first.
    pub reasons: Vec<String>,
}

/// How much each signal counts.
const WORDS: f64 = 0.30;
const PATHS: f64 = 0.30;
const NAMES: f64 = 0.35;
const PAST: f64 = 0.45;
const DIAGNOSED: f64 = 0.60;
const NEAR: f64 = 0.35;
const TOGETHER: f64 = 0.30;
const DEFINES: f64 = 0.20;
const CALLED: f64 = 0.05;
const CALLS: f64 = 0.15;

/// Files whose neighbours are looked at.
const SEEDS: usize = 6;

/// Ranks the files of a project for a question; those without any signal are left out.
#[must_use]
pub fn rank(index: &ProjectIndex, question: &RelevanceQuery<'_>) -> Vec<ChosenFile> {
    let asked = words(question.request);
    let mut scores = Scores { of: vec![Vec::new(); index.len()] };
    scores.add(WORDS, "it contains words of the request", index.by_words(&asked));
    scores.add(PATHS, "its path contains words of the request", index.by_paths(&asked));
    scores.add(NAMES, "it has a name from the request", index.by_names(question.request));
    scores.add(DEFINES, "it defines a function of the request", index.defining(question.request));
    let past = question.history.by_message(&asked);
    scores.add(PAST, "changes with such words touched it before", index.of_paths(&past));
    let diagnosed: BTreeMap<String, f64> =
        question.diagnosed.iter().map(|path| (path.to_string(), 1.0)).collect();
    scores.add(DIAGNOSED, "the last build complains about it", index.of_paths(&diagnosed));
    let seeds = scores.best(SEEDS);
    let ties = ties(index, &seeds);
    let mut near: BTreeMap<usize, f64> = BTreeMap::new();
    let mut together: BTreeMap<String, f64> = BTreeMap::new();
    for (seed, score) in seeds {
        for (other, how) in index.neighbours(seed) {
            let entry = near.entry(other).or_default();
            *entry = entry.max(score * how);
        }
        for (other, share) in question.history.together_with(index.path(seed).as_str()) {
            let entry = together.entry(other).or_default();
            *entry = entry.max(score * share);
        }
    }
    let near = near.into_iter().collect();
    scores.add(NEAR, "it includes, or is included by, a file of the request", near);
    let together = index.of_paths(&together);
    scores.add(TOGETHER, "it was changed together with a file of the request", together);
    for (file, tie) in ties {
        scores.add_one(file, tie);
    }
    scores.ranked(index)
}

/// The strongest tie by calls that each file has to one of the seeds.
fn ties(index: &ProjectIndex, seeds: &[(usize, f64)]) -> BTreeMap<usize, (f64, String)> {
    let most = seeds.first().map_or(1.0, |(_, score)| *score);
    let mut ties: BTreeMap<usize, (f64, String)> = BTreeMap::new();
    let mut keep = |file: usize, value: f64, reason: &dyn Fn() -> String| {
        if ties.get(&file).is_none_or(|(known, _)| *known < value) {
            ties.insert(file, (value, reason()));
        }
    };
    for (seed, score) in seeds {
        let place = index.path(*seed);
        // Several functions tie closer than one.
        let close = |count: usize| score / most * if count > 1 { 1.0 } else { 0.75 };
        for (file, called) in index.calls().called_by(*seed) {
            let reason = || format!("{place} calls its `{}`", called.name);
            keep(file, CALLED * close(called.count), &reason);
        }
        for (file, called) in index.calls().callers_of(*seed) {
            let reason = || format!("it calls `{}` of {place}", called.name);
            keep(file, CALLS * close(called.count), &reason);
        }
    }
    ties
}

/// Takes files from the front of a ranking while there is room; one that is too large for what is
/// left is passed over. At least one is taken when there is any.
#[must_use]
pub fn within(ranked: Vec<ChosenFile>, most_files: usize, most_tokens: u64) -> Vec<ChosenFile> {
    let mut left = most_tokens;
    let mut taken: Vec<ChosenFile> = Vec::new();
    for chosen in ranked {
        if taken.len() >= most_files {
            break;
        }
        if chosen.tokens <= left || taken.is_empty() {
            left = left.saturating_sub(chosen.tokens);
            taken.push(chosen);
        }
    }
    taken
}

/// The weighed signals of each file.
struct Scores {
    of: Vec<Vec<(f64, Cow<'static, str>)>>,
}

impl Scores {
    /// Adds a signal, scaled so that its strongest file has the whole weight.
    fn add(&mut self, weight: f64, reason: &'static str, signal: Vec<(usize, f64)>) {
        let most = signal.iter().map(|(_, value)| *value).fold(0.0, f64::max);
        if most <= 0.0 {
            return;
        }
        for (file, value) in signal {
            if let Some(of) = self.of.get_mut(file)
                && value > 0.0
            {
                of.push((weight * value / most, Cow::Borrowed(reason)));
            }
        }
    }

    /// Adds what speaks for one file, as it is.
    fn add_one(&mut self, file: usize, (value, reason): (f64, String)) {
        if let Some(of) = self.of.get_mut(file) {
            of.push((value, Cow::Owned(reason)));
        }
    }

    fn total(&self, file: usize) -> f64 {
        self.of.get(file).map_or(0.0, |signals| signals.iter().map(|(value, _)| value).sum())
    }

    /// The files with the highest scores so far.
    fn best(&self, count: usize) -> Vec<(usize, f64)> {
        let mut all: Vec<(usize, f64)> = (0..self.of.len())
            .map(|file| (file, self.total(file)))
            .filter(|(_, s)| *s > 0.0)
            .collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        all.truncate(count);
        all
    }

    fn ranked(&self, index: &ProjectIndex) -> Vec<ChosenFile> {
        let best = self.best(usize::MAX);
        best.into_iter()
            .map(|(file, score)| {
                let mut signals = self.of.get(file).cloned().unwrap_or_default();
                signals.sort_by(|a, b| b.0.total_cmp(&a.0));
                ChosenFile {
                    path: index.path(file).clone(),
                    tokens: index.tokens(file),
                    score,
                    reasons: signals
                        .into_iter()
                        .take(3)
                        .map(|(_, reason)| reason.into_owned())
                        .collect(),
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> ProjectPath {
        ProjectPath::new(text).unwrap()
    }

    fn project() -> ProjectIndex {
        let files = [
            (
                "main/main.c",
                "#include \"wifi.h\"\n#include \"led.h\"\nvoid app_main(void) { wifi_start(); led_on(); }\n",
            ),
            (
                "main/wifi.c",
                "#include \"wifi.h\"\n// Joins the network and retries.\nint wifi_start(void) { return retry(); }\n",
            ),
            ("main/wifi.h", "int wifi_start(void);\n"),
            ("main/led.c", "#include \"led.h\"\nint led_on(void) { return 1; }\n"),
            ("main/led.h", "int led_on(void);\n"),
            ("main/Kconfig", "config RETRIES\n"),
        ];
        ProjectIndex::new(files.map(|(name, text)| (path(name), text.to_owned())))
    }

    fn names(ranked: &[ChosenFile]) -> Vec<&str> {
        ranked.iter().map(|chosen| chosen.path.as_str()).collect()
    }

    #[test]
    fn words_names_and_neighbours_find_the_files() {
        let history = CommitHistory::default();
        let question = RelevanceQuery {
            request: "Make the wifi retry longer",
            diagnosed: &[],
            history: &history,
        };
        let ranked = rank(&project(), &question);
        assert_eq!(names(&ranked)[..2], ["main/wifi.c", "main/wifi.h"]);
        assert!(!ranked[0].reasons.is_empty() && ranked[0].tokens > 0);
        let question = RelevanceQuery {
            request: "`led_on` shall return 2",
            diagnosed: &[],
            history: &history,
        };
        assert!(names(&rank(&project(), &question))[..2].contains(&"main/led.c"));
        let question = RelevanceQuery { request: "", diagnosed: &[], history: &history };
        assert_eq!(rank(&project(), &question), []);
    }

    #[test]
    fn callers_and_callees_are_found_with_their_reason() {
        let files = [
            ("main/app.c", "void app_main(void) { tank_fill(); }\n"),
            ("main/tank.c", "void tank_fill(void) { valve_open(); }\n"),
            ("drivers/v1.c", "void valve_open(void) {}\n"),
            ("drivers/v2.c", "void heater_on(void) {}\n"),
        ];
        let index = ProjectIndex::new(files.map(|(name, text)| (path(name), text.to_owned())));
        let history = CommitHistory::default();
        let question =
            RelevanceQuery { request: "`tank_fill` leaks", diagnosed: &[], history: &history };
        let ranked = rank(&index, &question);
        let why = |name: &str| {
            let found = ranked.iter().find(|chosen| chosen.path.as_str() == name);
            found.map(|chosen| chosen.reasons.join("; ")).unwrap_or_default()
        };
        assert_eq!(ranked[0].path.as_str(), "main/tank.c");
        assert!(why("main/app.c").contains("it calls `tank_fill` of main/tank.c"));
        assert_eq!(why("drivers/v1.c"), "main/tank.c calls its `valve_open`");
        assert_eq!(why("drivers/v2.c"), "");
        let question =
            RelevanceQuery { request: "`valve_open` sticks", diagnosed: &[], history: &history };
        let ranked = rank(&index, &question);
        let first = (ranked[0].path.as_str(), ranked[0].reasons.join("; "));
        assert_eq!(first.0, "drivers/v1.c");
        assert!(first.1.contains("it defines a function of the request"), "{first:?}");
    }

    #[test]
    fn history_and_diagnostics_count() {
        let log = "\u{1}Blink faster\n\nmain/led.c\nmain/Kconfig\n\u{1}Blink slower\n\nmain/led.c\nmain/Kconfig\ngone.c\n";
        let history = parse_log(log);
        let question = RelevanceQuery { request: "blink twice", diagnosed: &[], history: &history };
        let ranked = rank(&project(), &question);
        assert_eq!(names(&ranked)[..2], ["main/led.c", "main/Kconfig"]);
        let diagnosed = [path("main/wifi.h")];
        let question = RelevanceQuery {
            request: "fix it",
            diagnosed: &diagnosed,
            history: &CommitHistory::default(),
        };
        let ranked = rank(&project(), &question);
        assert_eq!(names(&ranked)[0], "main/wifi.h");
        assert!(ranked[0].reasons[0].contains("build"));
    }

    #[test]
    fn a_budget_is_kept_and_includes_in_a_circle_do_no_harm() {
        let circle = ProjectIndex::new([
            (path("a.h"), "#include \"b.h\"\nint alpha;".to_owned()),
            (
                path("b.h"),
                format!("#include \"a.h\"\n#include \"b.h\"\n{}", "int beta;\n".repeat(100)),
            ),
        ]);
        let history = CommitHistory::default();
        let question = RelevanceQuery { request: "alpha beta", diagnosed: &[], history: &history };
        let ranked = rank(&circle, &question);
        assert_eq!(ranked.len(), 2);
        assert_eq!(within(ranked.clone(), 1, 1_000).len(), 1);
        assert_eq!(names(&within(ranked.clone(), 9, 20)).len(), 1);
        assert_eq!(within(ranked, 9, 1_000).len(), 2);
    }
}
