//! How well files are chosen for a request, and what that saves: `cargo bench --bench context`.
//!
//! `FIRMHAND_BENCH_REPO` names the git folder of a public project with a history: for past commits
//! the files they touched are set against those chosen from their messages, with the project and
//! its history as they were right before. `FIRMHAND_BENCH_COMMITS` says how many (40); the even and
//! the odd ones are told apart, so that weights can be set on one half and judged on the other.
//! `FIRMHAND_BENCH_HEADERS` names a folder whose headers are
//! read, such as `components` of ESP-IDF. `FIRMHAND_BENCH_PROJECT` names a project: what
//! `extend-existing` has in its chat for `FIRMHAND_BENCH_REQUEST` (declarations, list of files,
//! ranking, and the first five, ten and twelve files of it), by the program's own tools, is set
//! against all sources. The same for edits: `FIRMHAND_INSERT_CASES=20000 cargo test --release --lib
//! text::insert` and `FIRMHAND_GIT_CASES=5000 cargo test --release --lib text::patch -- --nocapture`.
//! Without `--bench` or without these, a small made-up
//! project shows that it works.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench prints, starts git and may stop"
)]

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use firmhand::lang::{
    CommitHistory, ProjectIndex, RelevanceQuery, parse_log, rank, read_header, within,
};
use firmhand::model::ProjectPath;
use firmhand::workspace::{ProjectDir, Sources, is_source};

/// Files that are chosen for one commit.
const CHOSEN: usize = 10;

fn main() {
    let is_bench = std::env::args().any(|arg| arg == "--bench");
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|_| is_bench);
    if let Some(repo) = folder("FIRMHAND_BENCH_REPO") {
        let count = std::env::var("FIRMHAND_BENCH_COMMITS").ok().and_then(|n| n.parse().ok());
        past_commits(&repo, count.unwrap_or(40));
    }
    if let Some(headers) = folder("FIRMHAND_BENCH_HEADERS") {
        scan(&headers);
    }
    if let Some(project) = folder("FIRMHAND_BENCH_PROJECT") {
        let request = std::env::var("FIRMHAND_BENCH_REQUEST").ok();
        let usual = "Log how long each reconnect to the network took";
        share(&project, request.as_deref().unwrap_or(usual));
    }
    if !is_bench || std::env::var_os("FIRMHAND_BENCH_REPO").is_none() {
        small();
    }
}

/// One commit with the source files it touched.
struct Past {
    id: String,
    message: String,
    files: Vec<String>,
}

fn git(repo: &Path, args: &[&str]) -> String {
    let done = Command::new("git").arg("--git-dir").arg(repo).args(args).output().unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

fn commits(repo: &Path, count: usize) -> Vec<Past> {
    let format = "--format=%x01%H%n%s%n%b";
    let log = git(
        repo,
        &[
            "log",
            "--no-merges",
            "--no-renames",
            "--name-only",
            "--diff-filter=M",
            format,
            "-n",
            "3000",
        ],
    );
    let entries = log.split('\u{1}').filter(|entry| !entry.trim().is_empty());
    let all = entries.filter_map(|entry| {
        let (head, names) = entry.trim_end().rsplit_once("\n\n")?;
        let (id, message) = head.split_once('\n')?;
        let files: Vec<String> =
            names.lines().filter(|name| is_code(name)).map(str::to_owned).collect();
        let is_told = message.split_whitespace().count() >= 4;
        let few = (1..=8).contains(&files.len()) && names.lines().count() <= 30;
        (is_told && few).then(|| Past { id: id.to_owned(), message: message.to_owned(), files })
    });
    all.take(count).collect()
}

fn is_code(name: &str) -> bool {
    ProjectPath::new(name).is_ok_and(|path| is_source(&path))
}

/// The project and its past as they were before a commit.
fn before(repo: &Path, id: &str) -> (ProjectIndex, CommitHistory, usize) {
    let parent = format!("{id}^");
    let names = git(repo, &["-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", &parent]);
    let names: Vec<&str> = names.lines().filter(|name| is_code(name)).collect();
    let mut cat = Command::new("git")
        .arg("--git-dir")
        .arg(repo)
        .args(["cat-file", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = cat.stdin.take().unwrap();
    let wanted: String = names.iter().map(|name| format!("{parent}:{name}\n")).collect();
    let writer = std::thread::spawn(move || stdin.write_all(wanted.as_bytes()).unwrap());
    let mut out = Vec::new();
    cat.stdout.take().unwrap().read_to_end(&mut out).unwrap();
    writer.join().unwrap();
    cat.wait().unwrap();
    let mut at = 0;
    let texts: Vec<(ProjectPath, String)> = names
        .iter()
        .filter_map(|name| {
            let end = at + out[at..].iter().position(|&byte| byte == b'\n')?;
            let head = String::from_utf8_lossy(&out[at..end]).into_owned();
            at = end + 1;
            let size: usize = head.rsplit(' ').next()?.parse().ok()?;
            let text = String::from_utf8(out[at..at + size].to_vec());
            at += size + 1;
            Some((ProjectPath::new(name).ok()?, text.ok()?))
        })
        .collect();
    let count = texts.len();
    let log = git(
        repo,
        &[
            "log",
            "--no-merges",
            "--no-renames",
            "--name-only",
            "--format=%x01%s%n%b",
            "-n",
            "3000",
            &parent,
        ],
    );
    (ProjectIndex::new(texts), parse_log(&log), count)
}

#[derive(Default)]
struct Figures {
    precision: Vec<f64>,
    recall: Vec<f64>,
    recall_20: Vec<f64>,
    best: Vec<f64>,
}

impl Figures {
    fn add(&mut self, paths: &[&str], past: &Past) {
        let hits = |count: usize| {
            paths.iter().take(count).filter(|path| past.files.iter().any(|f| f == *path)).count()
        };
        let (ten, of) = (hits(CHOSEN), past.files.len());
        self.precision.push(ratio(ten, CHOSEN.min(paths.len()).max(1)));
        self.recall.push(ratio(ten, of));
        self.recall_20.push(ratio(hits(20), of));
        self.best.push(ratio(hits(of), of));
    }

    fn print(&self, name: &str) {
        let mean =
            |values: &[f64]| 100.0 * values.iter().sum::<f64>() / ratio(values.len().max(1), 1);
        println!(
            "{name}, {} commits: recall@10 {:.0} %, precision@10 {:.0} %, recall@20 {:.0} %, precision at the number of files touched {:.0} %",
            self.recall.len(),
            mean(&self.recall),
            mean(&self.precision),
            mean(&self.recall_20),
            mean(&self.best)
        );
    }
}

fn ratio(part: usize, of: usize) -> f64 {
    f64::from(u32::try_from(part).unwrap()) / f64::from(u32::try_from(of).unwrap())
}

fn past_commits(repo: &Path, count: usize) {
    let (mut even, mut odd) = (Figures::default(), Figures::default());
    let mut ranking = Vec::new();
    let mut shares = Vec::new();
    for (number, past) in commits(repo, count).iter().enumerate() {
        let (index, history, files) = before(repo, &past.id);
        let started = Instant::now();
        let question = RelevanceQuery { request: &past.message, diagnosed: &[], history: &history };
        let ranked = rank(&index, &question);
        ranking.push(started.elapsed());
        let paths: Vec<&str> = ranked.iter().map(|chosen| chosen.path.as_str()).collect();
        if number % 2 == 0 { &mut even } else { &mut odd }.add(&paths, past);
        let chosen: u64 = within(ranked.clone(), CHOSEN, u64::MAX).iter().map(|c| c.tokens).sum();
        shares.push(100.0 * chosen as f64 / index.bytes().div_ceil(4) as f64);
        if number == 0 {
            println!(
                "{files} source files, {} tokens, {} past changes",
                index.bytes().div_ceil(4),
                history.len()
            );
        }
        if std::env::var_os("FIRMHAND_BENCH_SHOW").is_some() {
            println!("{} {}", &past.id[..8], past.message.lines().next().unwrap());
            for file in &past.files {
                let place = paths
                    .iter()
                    .position(|path| path == file)
                    .map_or("-".to_owned(), |p| (p + 1).to_string());
                println!("    {place:>5} {file}");
            }
        }
    }
    even.print("even commits");
    odd.print("odd commits");
    shares.sort_by(f64::total_cmp);
    ranking.sort();
    println!(
        "tokens of ten chosen files: median {:.2} % of the whole project",
        shares[shares.len() / 2]
    );
    println!("ranking: median {:.1} ms", ranking[ranking.len() / 2].as_secs_f64() * 1e3);
}

fn scan(folder: &Path) {
    let project_dir = ProjectDir::open(folder).unwrap();
    let listing = project_dir.list(100_000);
    let is_header = |path: &ProjectPath| matches!(path.extension(), Some("h" | "hpp" | "hh"));
    let headers: Vec<ProjectPath> =
        listing.files.into_iter().map(|f| f.path).filter(is_header).collect();
    let started = Instant::now();
    let (mut bytes, mut told, mut declarations, mut unclear, mut files) = (0, 0, 0, 0, 0);
    for path in &headers {
        let Ok(Ok(text)) = project_dir.read(path).map(String::from_utf8) else { continue };
        let header = read_header(path, &text, Duration::from_secs(4));
        files += 1;
        bytes += text.len();
        declarations += header.declarations.len();
        told += header.declarations.iter().map(|found| found.text.len() + 1).sum::<usize>();
        unclear += usize::from(header.unclear > 0);
    }
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{files} headers in {seconds:.2} s, {:.0} files/s, {:.1} MB/s; {declarations} declarations, {:.1} % of the text; {unclear} headers with places that were not understood",
        f64::from(files) / seconds,
        bytes as f64 / 1e6 / seconds,
        100.0 * told as f64 / bytes as f64
    );
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
        println!("peak memory: {}", peak.trim_start_matches("VmHWM:").trim());
    }
}

/// The answer of one of the program's tools, as a model is given it.
fn answer(project: &Path, tool: &str, args: &serde_json::Value) -> serde_json::Value {
    let done = Command::new(env!("CARGO_BIN_EXE_firmhand"))
        .args(["tool", tool, "--args", &args.to_string(), "--project"])
        .arg(project)
        .output()
        .unwrap();
    serde_json::from_slice(&done.stdout).unwrap_or_else(|_| panic!("{tool}: {done:?}"))
}

/// What a team that never reads a project whole has in its chat, against the whole project.
fn share(project: &Path, request: &str) {
    use serde_json::json;
    let tokens = |text: &str| tiktoken::get_encoding("o200k_base").unwrap().count(text);
    let project_dir = ProjectDir::open(project).unwrap();
    let (mut bytes, mut whole, mut count) = (0, 0, 0);
    for (_, text) in Sources::of(&project_dir).texts() {
        bytes += text.len();
        whole += tokens(&text);
        count += 1;
    }
    println!("{count} sources, {bytes} bytes, {whole} tokens");
    let headers = answer(project, "read_header_files", &json!({})).to_string();
    let ranked = answer(project, "find_relevant_files", &json!({ "request": request }));
    let paths: Vec<&serde_json::Value> =
        ranked["files"].as_array().unwrap().iter().map(|file| &file["path"]).collect();
    println!("declarations and list: {} bytes; request: {request}", headers.len());
    for most in [5, 10, 12] {
        let paths = &paths[..most.min(paths.len())];
        let files = answer(project, "read_project_files", &json!({ "paths": paths })).to_string();
        let chat = format!("{headers}{ranked}{files}");
        let (length, read) = (chat.len(), tokens(&chat));
        println!(
            "with {} files: {length} bytes, {:.2} % of all; {read} tokens, {:.2} % of all",
            paths.len(),
            100.0 * length as f64 / bytes as f64,
            100.0 * read as f64 / whole as f64
        );
    }
}

fn small() {
    let files = (0..40).map(|n| {
        let text = format!("#include \"part{n}.h\"\nint part{n}_start(void) {{ return {n}; }}\n");
        (ProjectPath::new(&format!("main/part{n}.c")).unwrap(), text)
    });
    let index = ProjectIndex::new(files);
    let history = parse_log("\u{1}Start part 7 later\n\nmain/part7.c\n");
    let question =
        RelevanceQuery { request: "part7_start shall wait", diagnosed: &[], history: &history };
    let ranked = rank(&index, &question);
    println!("{} files, {} candidates, first {}", index.len(), ranked.len(), ranked[0].path);
    assert_eq!(ranked[0].path.as_str(), "main/part7.c");
}
