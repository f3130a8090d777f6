//! How many tokens the results of tools take in TOON and in JSON: `cargo bench --bench toon -- FOLDER…`.
//!
//! A folder holds sessions: every `journal.jsonl` below it is read. Tokens are counted as by the newest
//! models of OpenAI. `shorter of both` is what agents with `exchange = "toon"` are given. Without a folder
//! every recording that ships is played first, with everything approved by a rule, which takes minutes;
//! the journal of the tests is read too.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench prints and may stop"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use firmhand::model::{Event, Record, TurnEvent};
use firmhand::provider::parse_script;
use firmhand::text::toon;
use serde_json::Value;

/// Results of one tool: how many, and their tokens in JSON, in TOON, and in the shorter of both.
#[derive(Default, Clone, Copy)]
struct Count {
    results: u64,
    json: u64,
    toon: u64,
    shorter: u64,
}

fn main() {
    let folders: Vec<PathBuf> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).map(PathBuf::from).collect();
    let mut journals = Vec::new();
    folders.iter().for_each(|folder| find(folder, &mut journals));
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    if folders.is_empty() {
        // Without `--bench` one is enough to show that it works.
        let most = if std::env::args().any(|arg| arg == "--bench") { usize::MAX } else { 1 };
        play_all(place.path(), most);
        find(place.path(), &mut journals);
        journals.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/journal-v1.jsonl"));
    }
    let mut tools: BTreeMap<String, Count> = BTreeMap::new();
    for journal in &journals {
        add(&std::fs::read_to_string(journal).unwrap(), &mut tools);
    }
    println!("{} sessions", journals.len());
    println!("{:<24}{:>8}{:>10}{:>10}{:>17}", "tool", "results", "JSON", "TOON", "shorter of both");
    let mut all = Count::default();
    for (tool, count) in &tools {
        row(tool, *count);
        all.results += count.results;
        all.json += count.json;
        all.toon += count.toon;
        all.shorter += count.shorter;
    }
    row("all", all);
}

/// Plays the recordings that ship; what each comes to is on disk below `place`.
fn play_all(place: &Path, most: usize) {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    let policy = place.join("policy.toml");
    std::fs::write(&policy, "[[policy]]\ndecide = \"allow\"\n").unwrap();
    let folders = std::fs::read_dir(assets.join("demo")).unwrap().flatten();
    let mut folders: Vec<PathBuf> = folders.map(|entry| entry.path()).collect();
    folders.sort();
    for folder in folders.iter().take(most) {
        let file = folder.join("script.toml");
        let text = std::fs::read_to_string(&file).unwrap();
        let next_to_it = |name: &str| Ok(std::fs::read_to_string(folder.join(name)).unwrap());
        let script = parse_script("script.toml", &text, &next_to_it).unwrap();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let project = place.join("projects").join(&name);
        std::fs::create_dir_all(&project).unwrap();
        if let Some(starter) = script.project() {
            copy(&assets.join("projects").join(starter), &project);
        }
        let done = Command::new(env!("CARGO_BIN_EXE_firmhand"))
            .args(["run", script.task(), "--team", script.team(), "--speed", "max", "--script"])
            .arg(&file)
            .arg("--project")
            .arg(&project)
            .arg("--policy")
            .arg(&policy)
            .env("FIRMHAND_DATA_DIR", place.join("data"))
            .env("FIRMHAND_CONFIG_DIR", place.join("config"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let outcome = done.status.code().map_or("killed".to_owned(), |code| code.to_string());
        println!("played {name}, exit code {outcome}");
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            std::fs::create_dir_all(&to).unwrap();
            copy(&path, &to);
        } else {
            std::fs::copy(&path, &to).unwrap();
        }
    }
}

fn row(name: &str, count: Count) {
    let saved = 100.0 * (1.0 - count.shorter as f64 / count.json.max(1) as f64);
    println!(
        "{name:<24}{:>8}{:>10}{:>10}{:>10} {saved:>5.1}%",
        count.results, count.json, count.toon, count.shorter
    );
}

fn find(folder: &Path, journals: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            find(&path, journals);
        } else if path.ends_with("journal.jsonl") {
            journals.push(path);
        }
    }
}

fn add(journal: &str, tools: &mut BTreeMap<String, Count>) {
    let encoding = tiktoken::get_encoding("o200k_base").unwrap();
    let mut names = BTreeMap::new();
    for line in journal.lines() {
        let Ok(record) = serde_json::from_str::<Record>(line) else { continue };
        match record.event {
            Event::Turn(TurnEvent::ToolCalled { call, tool, .. }) => {
                names.insert(call, tool.to_string());
            }
            Event::Turn(TurnEvent::ToolAnswered { call, result, .. }) => {
                let tool = names.get(&call).cloned().unwrap_or_default();
                let (json, toon) = (result.to_string(), compact(&result));
                let of_json = encoding.count(&json) as u64;
                let of_toon = toon.as_ref().map_or(of_json, |toon| encoding.count(toon) as u64);
                let is_shorter = toon.is_some_and(|toon| toon.len() < json.len());
                let count = tools.entry(tool).or_default();
                count.results += 1;
                count.json += of_json;
                count.toon += of_toon;
                count.shorter += if is_shorter { of_toon } else { of_json };
            }
            _ => {}
        }
    }
}

fn compact(value: &Value) -> Option<String> {
    toon::encode(value)
}
