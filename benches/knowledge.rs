//! How well and how fast the documentation is searched: `cargo bench --bench knowledge`.
//!
//! `FIRMHAND_BENCH_IDF` names an installed ESP-IDF. Its index is built in a temporary folder, and the
//! questions of `tests/data/knowledge` are asked: the half that nothing was tuned to counts. The same
//! questions go to plain BM25 and to SQLite's FTS5 over whole files, to counting the question's words
//! in each file, and to `rg` where it is installed. Without `--bench` or without an ESP-IDF, the notes
//! of the program are searched.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench prints and may stop"
)]

#[path = "support/searches.rs"]
mod searches;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use firmhand::knowledge::{
    BuildOptions, Corpus, Filter, Library, Splitter, Synonyms, WindowSize, build, notes_corpus,
    stored_notes, stored_topics,
};
use firmhand::text::redact::Redactor;

use crate::searches::{Answer, K, count_words, full_text, plain_index, ripgrep, search_plain};

/// A question of the set.
struct Question {
    text: String,
    /// Path prefixes that answer it; none: nothing does.
    accepted: Vec<String>,
}

impl Question {
    fn fits(&self, path: &str) -> bool {
        self.accepted.iter().any(|prefix| path.starts_with(prefix.as_str()))
    }
}

fn main() {
    let is_bench = std::env::args().any(|arg| arg == "--bench");
    let idf = std::env::var_os("FIRMHAND_BENCH_IDF").map(PathBuf::from).filter(|_| is_bench);
    match idf {
        Some(root) => framework(&root),
        None => notes(),
    }
}

/// Only the notes: shows that it works.
fn notes() {
    let folder = tempfile::tempdir().unwrap();
    let library = with_notes(Library::new(synonyms()), folder.path());
    let questions = questions(3);
    let found = |question: &str| {
        let found = library.search(question, K, &Filter::default()).unwrap().found;
        found.into_iter().map(|found| found.passage.path).collect()
    };
    report("notes, own ranking", &questions, found);
    println!("FIRMHAND_BENCH_IDF names an ESP-IDF to index and to search");
}

fn framework(installed: &Path) {
    // Links to its files: one of them is to be changed.
    let copy = tempfile::tempdir().unwrap();
    link_all(installed, copy.path());
    let root = copy.path();
    let corpus = Corpus::at(root);
    let folder = tempfile::tempdir().unwrap();
    let options = BuildOptions {
        window: WindowSize::default(),
        parts: &|_| Err("no PDF is read here".to_owned()),
        secrets: &Redactor::default(),
        progress: &|_, _| {},
    };
    let started = Instant::now();
    build(folder.path(), &corpus, &options).unwrap();
    println!(
        "{}: built in {:.1} s, {:.1} MB on disk, at most {} MB of memory",
        corpus.label(),
        started.elapsed().as_secs_f64(),
        size(folder.path()) as f64 / 1e6,
        peak_memory()
    );
    let started = Instant::now();
    build(folder.path(), &corpus, &options).unwrap();
    println!("nothing changed: {} ms", started.elapsed().as_millis());
    let changed = root.join("docs/en/api-reference/peripherals/i2c.rst");
    let text = std::fs::read_to_string(&changed).unwrap();
    std::fs::remove_file(&changed).unwrap();
    std::fs::write(&changed, format!("{text}\nOne more line.\n")).unwrap();
    let started = Instant::now();
    build(folder.path(), &corpus, &options).unwrap();
    println!("one file changed: {} ms", started.elapsed().as_millis());
    let stored = tempfile::tempdir().unwrap();
    let open = || {
        let mut library = Library::new(synonyms());
        library.open(folder.path()).unwrap();
        with_notes(library, stored.path())
    };
    // The notes are indexed once, by the first search ever.
    drop(open());
    let started = Instant::now();
    let library = open();
    let opened = started.elapsed();
    library.search("How do I set a pin high?", K, &Filter::default()).unwrap();
    println!(
        "opened: {:.1} ms; with the first question answered: {:.1} ms",
        opened.as_secs_f64() * 1e3,
        started.elapsed().as_secs_f64() * 1e3
    );
    let questions = questions(2);
    let own = |question: &str| {
        let found = library.search(question, K, &Filter::default()).unwrap().found;
        found.into_iter().map(|found| found.passage.path).collect()
    };
    report("own ranking", &questions, own);
    report_depth(&library, &questions);
    compared(root, &questions);
}

/// The same questions, asked in other ways.
fn compared(root: &Path, questions: &[Question]) {
    let files = texts(root);
    let started = Instant::now();
    let plain = plain_index(&files);
    println!(
        "plain BM25 and FTS5 keep their index in memory; BM25: built in {:.1} s",
        started.elapsed().as_secs_f64()
    );
    report("plain BM25 over whole files", questions, |question| search_plain(&plain, question));
    let asked: Vec<&str> = questions.iter().map(|question| question.text.as_str()).collect();
    match full_text(&files, &asked) {
        Some((seconds, answers)) => {
            println!("FTS5: built in {seconds:.1} s");
            report_timed("FTS5 over whole files", questions, answers);
        }
        None => println!("FTS5: no python3 with it"),
    }
    if ripgrep(root, "gpio_config").is_some() {
        report("rg, a process for each word", questions, |question| {
            ripgrep(root, question).unwrap_or_default()
        });
    } else {
        println!("rg: not installed");
    }
    let lower: Vec<(String, String)> =
        files.into_iter().map(|(path, text)| (path, text.to_lowercase())).collect();
    report("words counted in each file", questions, |question| count_words(&lower, question));
}

fn link_all(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        let target = to.join(entry.file_name());
        if kind.is_dir() && entry.file_name() != ".git" {
            link_all(&path, &target);
        } else if kind.is_file() && std::fs::hard_link(&path, &target).is_err() {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}

/// NDCG at ten, where each place that answers counts once, and recall within the first thousand tokens,
/// at four bytes each.
fn report_depth(library: &Library, questions: &[Question]) {
    const DEEP: usize = 10;
    const MOST_BYTES: usize = 4 * 1_000;
    let gain = |place: usize| 1.0 / f64::from(u32::try_from(place).unwrap() + 2).log2();
    let (mut asked, mut ndcg, mut within) = (0_u32, 0.0, 0_u32);
    for question in questions.iter().filter(|question| !question.accepted.is_empty()) {
        let found = library.search(&question.text, DEEP, &Filter::default()).unwrap().found;
        let (mut left, mut sum) = (question.accepted.clone(), 0.0);
        let (mut bytes, mut is_within) = (0, false);
        for (place, one) in found.iter().enumerate() {
            let before = left.len();
            left.retain(|prefix| !one.passage.path.starts_with(prefix.as_str()));
            sum += if left.len() < before { gain(place) } else { 0.0 };
            is_within |= bytes < MOST_BYTES && question.fits(&one.passage.path);
            bytes += one.passage.text.len();
        }
        asked += 1;
        ndcg += sum / (0..question.accepted.len().min(DEEP)).map(gain).sum::<f64>();
        within += u32::from(is_within);
    }
    let all = f64::from(asked.max(1));
    println!(
        "own ranking: NDCG@{DEEP} {:.3}, recall within 1,000 tokens {:.3}",
        ndcg / all,
        f64::from(within) / all
    );
}

/// Recall and NDCG at five, what is said to questions about something else, and the times.
fn report(name: &str, questions: &[Question], search: impl Fn(&str) -> Vec<String>) {
    let timed = |question: &Question| {
        let started = Instant::now();
        let results = search(&question.text);
        (started.elapsed(), results)
    };
    report_timed(name, questions, questions.iter().map(timed).collect());
}

fn report_timed(name: &str, questions: &[Question], answers: Vec<Answer>) {
    let mut times: Vec<Duration> = Vec::new();
    let (mut asked, mut found, mut gain, mut off, mut silent) = (0_u32, 0_u32, 0.0, 0_u32, 0_u32);
    let mut slowest = (Duration::ZERO, "");
    for (question, (time, results)) in questions.iter().zip(answers) {
        times.push(time);
        slowest = slowest.max((time, question.text.as_str()));
        if question.accepted.is_empty() {
            off += 1;
            silent += u32::from(results.is_empty());
            continue;
        }
        asked += 1;
        if let Some(place) = results.iter().take(K).position(|path| question.fits(path)) {
            found += 1;
            gain += 1.0 / f64::from(u32::try_from(place).unwrap() + 2).log2();
        }
    }
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1000.0;
    println!(
        "{name}: recall@{K} {:.3}, gain of the first hit {:.3}, {asked} questions; nothing said to \
         {silent} of {off} others; p50 {:.2} ms, p99 {:.2} ms",
        f64::from(found) / f64::from(asked.max(1)),
        gain / f64::from(asked.max(1)),
        at(50),
        at(99),
    );
    println!("  the longest, {:.2} ms: {}", slowest.0.as_secs_f64() * 1000.0, slowest.1);
}

/// The half of the questions that nothing was tuned to, with what that column accepts.
fn questions(column: usize) -> Vec<Question> {
    let text = read("tests/data/knowledge/questions.tsv");
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let of_line = |line: &str| {
        let columns: Vec<&str> = line.split('\t').collect();
        let accepted = columns.get(column).copied().unwrap_or_default();
        let accepted: Vec<String> = accepted.split_whitespace().map(str::to_owned).collect();
        let counts =
            if columns[0] == "test" { !accepted.is_empty() } else { columns[0] == "off-test" };
        counts.then(|| Question { text: columns[1].to_owned(), accepted })
    };
    lines.filter_map(of_line).collect()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

fn synonyms() -> Synonyms {
    let text = read("assets/search/synonyms.txt");
    Synonyms::parse("synonyms.txt", &text, &mut Splitter::default()).unwrap()
}

/// The files of a folder that ships: name and text.
fn shipped(folder: &str) -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    paths.map(|path| (name(&path), std::fs::read_to_string(&path).unwrap())).collect()
}

fn named(files: &BTreeMap<String, String>) -> Vec<(&str, &str)> {
    files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()
}

/// The library with what ships: notes, and what people ask.
fn with_notes(mut library: Library, stored: &Path) -> Library {
    let (notes, topics) = (shipped("assets/knowledge"), shipped("assets/search/topics"));
    library.add(notes_corpus(""), stored_notes(stored, &named(&notes)).unwrap());
    library.know(stored_topics(stored, &named(&topics)).unwrap());
    library
}

/// What a person would search: documents, headers, examples and options.
fn texts(root: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> =
        ["docs/en", "components", "examples"].iter().map(|name| root.join(name)).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let kind = entry.file_type().unwrap();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let is_text = [".rst", ".md", ".h"].iter().any(|end| name.ends_with(end))
                || name.starts_with("Kconfig")
                || (name.ends_with(".c") && path.starts_with(root.join("examples")));
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file()
                && is_text
                && let Ok(text) = std::fs::read_to_string(&path)
            {
                files.push((path.strip_prefix(root).unwrap().display().to_string(), text));
            }
        }
    }
    files
}

fn size(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).unwrap().flatten();
    files.filter_map(|entry| entry.metadata().ok()).map(|it| it.len()).sum()
}

/// In megabytes, of this process.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1024
}
