//! One run of a compiler that makes nothing.
//!
//! Owns its process, its bounds and its plain environment. Must not know what it is asked about.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use tokio::time::Instant;

use super::job::CompileLine;
use super::overlay::Overlay;
use crate::sandbox::{Limits, RunEnd, Runner, Walls, programs};
use crate::toolchain::confined;
use crate::toolchain::paths::plain;
use crate::toolchain::process::{ChildGroup, keep};

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
    let keep = |bytes: &[u8]| keep(&mut output, bytes, MAX_OUTPUT);
    let report = confined::run(runner, walls, keep).await.ok()?;
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

/// The output without the names of headers, and without the list of headers that lack a guard.
fn without_headers(output: &[u8]) -> Vec<u8> {
    let lines = output.split_inclusive(|byte| *byte == b'\n');
    let lines =
        lines.take_while(|line| !line.starts_with(b"Multiple include guards may be useful"));
    lines.filter(|line| header(line).is_none()).flatten().copied().collect()
}

async fn verdict(line: &CompileLine, place: &CompilePlace<'_>) -> Option<Verdict> {
    let args = args(line, place.overlay)?;
    let folder = place.overlay.folder();
    let mut group = ChildGroup::compiler(&line.compiler, &args, folder, place.path).ok()?;
    bound(group.child.id());
    let mut output = Vec::new();
    group.errors(|bytes| keep(&mut output, bytes, MAX_OUTPUT)).await.ok()?;
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
