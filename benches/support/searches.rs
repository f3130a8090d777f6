//! Other ways to search the same files, to compare with: counting words, `rg`, BM25 over whole files,
//! and SQLite's FTS5.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use tantivy::collector::TopDocs;
use tantivy::query::QueryParser;
use tantivy::schema::{STORED, STRING, Schema, TEXT, Value};
use tantivy::{Index, TantivyDocument, doc};

/// Results that are looked at.
pub const K: usize = 5;

/// What a search answered, best first, and how long it took.
pub type Answer = (Duration, Vec<String>);

pub fn plain_index(files: &[(String, String)]) -> Index {
    let mut schema = Schema::builder();
    let path = schema.add_text_field("path", STRING | STORED);
    let text = schema.add_text_field("text", TEXT);
    let index = Index::create_in_ram(schema.build());
    let mut writer = index.writer_with_num_threads(1, 64 << 20).unwrap();
    for (name, content) in files {
        writer.add_document(doc!(path => name.as_str(), text => content.as_str())).unwrap();
    }
    writer.commit().unwrap();
    index
}

pub fn search_plain(index: &Index, question: &str) -> Vec<String> {
    let path = index.schema().get_field("path").unwrap();
    let text = index.schema().get_field("text").unwrap();
    let searcher = index.reader().unwrap().searcher();
    let words: String = question
        .chars()
        .map(|sign| if sign.is_alphanumeric() || sign == '_' { sign } else { ' ' })
        .collect();
    let Ok(query) = QueryParser::for_index(index, vec![text]).parse_query(&words.to_lowercase())
    else {
        return Vec::new();
    };
    let hits = searcher.search(&query, &TopDocs::with_limit(K).order_by_score()).unwrap();
    let name = |document: TantivyDocument| {
        document.get_first(path).and_then(|value| value.as_str()).unwrap_or_default().to_owned()
    };
    hits.into_iter().map(|(_, address)| name(searcher.doc(address).unwrap())).collect()
}

pub fn count_words(files: &[(String, String)], question: &str) -> Vec<String> {
    let words = long_words(question);
    let mut counted: Vec<(usize, &String)> = files
        .iter()
        .map(|(path, text)| {
            (words.iter().filter(|word| text.contains(String::as_str(word))).count(), path)
        })
        .filter(|(count, _)| *count > 0)
        .collect();
    counted.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    counted.into_iter().take(K).map(|(_, path)| path.clone()).collect()
}

/// By `rg`, one process a word, which is how a person or an agent searches: the files with most of the
/// question's words first. None where `rg` is not installed.
pub fn ripgrep(root: &Path, question: &str) -> Option<Vec<String>> {
    let mut words_of: BTreeMap<String, usize> = BTreeMap::new();
    for word in long_words(question) {
        let listed = Command::new("rg")
            .args(["--files-with-matches", "--ignore-case", "--fixed-strings", "--no-messages"])
            .args(["--glob", "*.{rst,md,h,c}", "--glob", "Kconfig*", "--", &word])
            .args(["docs/en", "components", "examples"])
            .current_dir(root)
            .output()
            .ok()?;
        for path in String::from_utf8_lossy(&listed.stdout).lines() {
            *words_of.entry(path.to_owned()).or_default() += 1;
        }
    }
    let mut counted: Vec<(String, usize)> = words_of.into_iter().collect();
    counted.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    Some(counted.into_iter().take(K).map(|(path, _)| path).collect())
}

/// By FTS5 in Python's `sqlite3`, all questions in one process: the seconds that its table took, and
/// an answer for each question. None where Python or FTS5 is not installed.
pub fn full_text(files: &[(String, String)], questions: &[&str]) -> Option<(f64, Vec<Answer>)> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/support/full_text.py");
    let mut python = Command::new("python3")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let given = serde_json::json!({ "files": files, "questions": questions, "k": K });
    python.stdin.take()?.write_all(given.to_string().as_bytes()).ok()?;
    let printed = python.wait_with_output().ok()?.stdout;
    let answered: serde_json::Value = serde_json::from_slice(&printed).ok()?;
    let (build, answers): (f64, Vec<(f64, Vec<String>)>) =
        (answered["build"].as_f64()?, serde_json::from_value(answered["answers"].clone()).ok()?);
    let timed = |(seconds, paths)| (Duration::from_secs_f64(seconds), paths);
    Some((build, answers.into_iter().map(timed).collect()))
}

/// Words of more than three letters, in lower case.
fn long_words(question: &str) -> BTreeSet<String> {
    question
        .to_lowercase()
        .split(|sign: char| !sign.is_alphanumeric() && sign != '_')
        .filter(|word| word.len() > 3)
        .map(str::to_owned)
        .collect()
}
