//! One run of a compiler that makes nothing.
//!
//! Owns its process, its bounds and its plain environment. Must not know what it is asked about.

#![expect(clippy::disallowed_methods, reason = "the compiler is a process")]

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;

use process_wrap::tokio::CommandWrap;
use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::time::Instant;

use super::job::CompileLine;
use super::overlay::Overlay;
use crate::sandbox::{Limits, RunEnd, Runner, Walls, programs};
use crate::toolchain::confined;
use crate::toolchain::process::ChildGroup;

/// Bytes of output that are kept.
const MAX_OUTPUT: usize = 1 << 20;

/// Bytes of memory that a compiler may use, where that can be bounded.
const MAX_MEMORY: u64 = 2 << 30;

/// Where compilations of one job happen.
pub(super) struct CompilePlace<'a> {
    pub(super) overlay: &'a Overlay,
    pub(super) project: &'a Path,
    /// The `PATH` that builds have; `None`: the one of this program.
    pub(super) path: Option<&'a OsStr>,
    /// Runs compilers in the sandbox; `None`: they are programs of the person.
    pub(super) runner: Option<&'a Runner>,
    /// What has no verdict then gets none.
    pub(super) deadline: Instant,
}

/// What a compiler says of a source.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// Its output with errors; empty when there are none.
    pub(super) output: Vec<u8>,
    /// The headers that it read.
    pub(super) read: Vec<PathBuf>,
}

/// Compiles a source without making anything. `None` when the compiler gave no verdict in time.
/// Dropping the future ends it.
pub(super) async fn compile(line: &CompileLine, place: &CompilePlace<'_>) -> Option<Verdict> {
    let verdict = async {
        match place.runner {
            Some(runner) => confined_verdict(line, place, runner).await,
            None => verdict(line, place).await,
        }
    };
    tokio::time::timeout_at(place.deadline, verdict).await.ok()?
}

fn args(line: &CompileLine, overlay: &Overlay) -> Option<Vec<String>> {
    let source = overlay.source(&line.source).into_os_string().into_string().ok()?;
    // It names every header that it reads.
    let mut args = vec!["-fsyntax-only".to_owned(), "-H".to_owned()];
    args.extend(overlay.options(&line.options, &line.source));
    args.push(source);
    Some(args)
}

/// In the sandbox the compiler reads the project, what is proposed, its own files and the headers that
/// its options name; it writes nowhere but below the temporary folder.
async fn confined_verdict(
    line: &CompileLine,
    place: &CompilePlace<'_>,
    runner: &Runner,
) -> Option<Verdict> {
    let args = args(line, place.overlay)?;
    let path = place.path.map(OsStr::to_owned).or_else(|| std::env::var_os("PATH"));
    let folder = place.overlay.folder().to_owned();
    let variables =
        [("PATH", path), ("LC_ALL", Some("C".into())), ("TMPDIR", Some(folder.clone().into()))];
    let named = |(name, value): (&str, Option<std::ffi::OsString>)| {
        Some((name.to_owned(), value?.into_string().ok()?))
    };
    let time = place.deadline.saturating_duration_since(Instant::now());
    let limits = Limits { memory: MAX_MEMORY, time: Some(time), ..Limits::default() };
    let mut reads = confined::reads(place.project, &line.compiler, &args);
    reads.extend(programs().chain([place.overlay.root().to_owned()]));
    let walls = Walls {
        program: line.compiler.clone(),
        args,
        env: variables.into_iter().filter_map(named).collect(),
        reads,
        writes: vec![folder.clone()],
        folder,
        limits,
        machine: None,
    };
    let mut output = Vec::new();
    let report = confined::run(runner, walls, |bytes| keep(&mut output, bytes)).await.ok()?;
    match (report.wall, report.end) {
        (None, RunEnd::Exit(code)) => answer(code, output),
        (Some(_), _) | (_, RunEnd::Signal(_) | RunEnd::Stopped) => None,
    }
}

/// What an exit code and the output mean.
fn answer(code: i32, output: Vec<u8>) -> Option<Verdict> {
    match code {
        0 => Some(Verdict { output: Vec::new(), read: headers(&output) }),
        // Ended without a word about the source: it could not be asked.
        1 if memchr::memmem::find(&output, b"error: ").is_some() => {
            let read = headers(&output);
            Some(Verdict { output: without_headers(&output), read })
        }
        _ => None,
    }
}

/// Whether a line names a header that was read, and which: a dot for each level, then its path.
fn header(line: &[u8]) -> Option<&[u8]> {
    let dots = line.iter().take_while(|byte| **byte == b'.').count();
    let path = line.get(dots..)?.strip_prefix(b" ")?;
    (dots > 0 && !path.is_empty()).then_some(path)
}

fn headers(output: &[u8]) -> Vec<PathBuf> {
    let lines = output.split(|byte| *byte == b'\n');
    let paths = lines.filter_map(header).map(|path| String::from_utf8_lossy(path).into_owned());
    paths.map(|path| plain(Path::new(&path))).collect()
}

/// A path without `.` and `..`, as far as its text tells.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = out.pop(),
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => out.push(part),
        }
    }
    out
}

/// The output without the names of headers, and without the list of headers that lack a guard.
fn without_headers(output: &[u8]) -> Vec<u8> {
    let lines = output.split_inclusive(|byte| *byte == b'\n');
    let lines =
        lines.take_while(|line| !line.starts_with(b"Multiple include guards may be useful"));
    lines.filter(|line| header(line).is_none()).flatten().copied().collect()
}

fn keep(output: &mut Vec<u8>, bytes: &[u8]) {
    let space = MAX_OUTPUT.saturating_sub(output.len());
    output.extend_from_slice(bytes.get(..space).unwrap_or(bytes));
}

async fn verdict(line: &CompileLine, place: &CompilePlace<'_>) -> Option<Verdict> {
    let mut command = Command::new(&line.compiler);
    command
        .args(args(line, place.overlay)?)
        .current_dir(place.overlay.folder())
        .env_clear()
        .envs(std::env::vars_os().filter(|(name, _)| name == "PATH" || name == "TMPDIR"))
        .envs(place.path.map(|path| ("PATH", path)))
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    // A compiler starts others, which have to end with it.
    let mut group = ChildGroup::spawn(CommandWrap::from(command)).ok()?;
    bound(group.child.id());
    let mut output = Vec::new();
    let mut stderr = group.child.stderr().take()?;
    let mut chunk = vec![0; 16 * 1024];
    loop {
        let read = stderr.read(&mut chunk).await.ok()?;
        if read == 0 {
            break;
        }
        keep(&mut output, chunk.get(..read).unwrap_or_default());
    }
    let status = group.child.wait().await.ok()?;
    answer(status.code()?, output)
}

/// Keeps a compiler that reads without end from taking the whole memory.
#[cfg(target_os = "linux")]
fn bound(process: Option<u32>) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let Some(process) = process.and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)) else {
        return;
    };
    let limit = Rlimit { current: Some(MAX_MEMORY), maximum: Some(MAX_MEMORY) };
    // It may be over already; the time limit holds in any case.
    let _ = prlimit(Some(process), Resource::As, limit);
}

#[cfg(not(target_os = "linux"))]
fn bound(_: Option<u32>) {}
