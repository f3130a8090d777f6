//! One run of a compiler that makes nothing.
//!
//! Owns its process, its bounds and its plain environment. Must not know what it is asked about.

#![expect(clippy::disallowed_methods, reason = "the compiler is a process")]

use std::ffi::OsStr;
use std::process::Stdio;

use process_wrap::tokio::CommandWrap;
use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::time::Instant;

use super::job::CompileLine;
use super::overlay::Overlay;
use crate::toolchain::process::ChildGroup;

/// Bytes of output that are kept.
const MAX_OUTPUT: usize = 1 << 20;

/// Bytes of memory that a compiler may use, where that can be bounded.
#[cfg(target_os = "linux")]
const MAX_MEMORY: u64 = 2 << 30;

/// Compiles a source without making anything. The output with errors; empty when there are none;
/// `None` when the compiler gave no verdict until `deadline`. Dropping the future ends it.
pub(super) async fn compile(
    line: &CompileLine,
    overlay: &Overlay,
    path: Option<&OsStr>,
    deadline: Instant,
) -> Option<Vec<u8>> {
    tokio::time::timeout_at(deadline, verdict(line, overlay, path)).await.ok()?
}

async fn verdict(line: &CompileLine, overlay: &Overlay, path: Option<&OsStr>) -> Option<Vec<u8>> {
    let mut command = Command::new(&line.compiler);
    command
        .arg("-fsyntax-only")
        .args(overlay.options(&line.options, &line.source))
        .arg(overlay.source(&line.source))
        .current_dir(overlay.folder())
        .env_clear()
        .envs(std::env::vars_os().filter(|(name, _)| name == "PATH" || name == "TMPDIR"))
        .envs(path.map(|path| ("PATH", path)))
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
        let space = MAX_OUTPUT.saturating_sub(output.len());
        output.extend_from_slice(chunk.get(..read.min(space)).unwrap_or_default());
    }
    let status = group.child.wait().await.ok()?;
    match status.code() {
        Some(0) => Some(Vec::new()),
        // Ended without a word about the source: it could not be asked.
        Some(1) if memchr::memmem::find(&output, b"error: ").is_some() => Some(output),
        _ => None,
    }
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
