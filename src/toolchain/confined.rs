//! Runs one program behind walls and hands on what it prints.
//!
//! Owns the pipe, and what a compiler or a linter may read. Must not know what is asked or built.

use std::path::{Path, PathBuf};

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;

use crate::model::UserError;
use crate::sandbox::{Ends, RunReport, Runner, Walls};

/// One read takes at most this many bytes.
const CHUNK_BYTES: usize = 64 * 1024;

/// Longest name of an option before a path, e.g. `-idirafter`.
const LONGEST_OPTION: usize = 24;

/// Parts of a path that name a framework's folder, the root counted: `/home/me/esp`.
const FRAMEWORK_DEPTH: usize = 4;

/// Runs a program without input until it and all that it has started have ended. `output` takes what
/// it prints, stdout and stderr in the order they came. Dropping the future ends the program.
///
/// # Errors
/// When there is no sandbox, or the program cannot be started.
pub(super) async fn run(
    runner: &Runner,
    walls: Walls,
    mut output: impl FnMut(&[u8]),
) -> Result<RunReport, UserError> {
    let failed = |error: std::io::Error| UserError::from_cause("Cannot run the program", &error);
    let (reader, writer) = std::io::pipe().map_err(failed)?;
    let mut reader = pipe::Receiver::from_owned_fd(reader.into()).map_err(failed)?;
    // It ends at once, because nobody writes to it.
    let (input, _) = std::io::pipe().map_err(failed)?;
    let errors = writer.try_clone().map_err(failed)?;
    let ends = Ends { input: input.into(), output: writer.into(), errors: errors.into() };
    let runner = runner.clone();
    let started = tokio::task::spawn_blocking(move || runner.start(&walls, ends)).await;
    let run = started.map_err(|error| failed(error.into()))??;
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        match reader.read(&mut buffer).await.map_err(failed)? {
            0 => break,
            count => output(buffer.get(..count).unwrap_or_default()),
        }
    }
    let waiter = run.waiter();
    let report = tokio::task::spawn_blocking(move || waiter.wait()).await;
    report.map_err(|error| failed(error.into()))
}

/// What a compiler or a linter reads: the project, its own files, and what its arguments name.
pub(super) fn reads(project: &Path, program: &Path, args: &[String]) -> Vec<PathBuf> {
    let mut reads = vec![project.to_owned(), program.to_owned()];
    let real = std::fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
    for program in [program, &real] {
        let prefix = program.parent().and_then(Path::parent);
        reads.extend(prefix.filter(|prefix| prefix.components().count() > 2).map(Path::to_owned));
    }
    for arg in args {
        let Some(start) = arg.find('/').filter(|start| *start < LONGEST_OPTION) else { continue };
        let named = Path::new(arg.get(start..).unwrap_or_default());
        if !named.starts_with(project) && !reads.iter().any(|known| named.starts_with(known)) {
            reads.extend(framework_of(named));
        }
    }
    reads
}

/// The folder of a framework that a file or folder of headers belongs to: a few folders below the root,
/// so that there are not hundreds; never the folder of a person itself.
fn framework_of(path: &Path) -> Option<PathBuf> {
    let parts: Vec<_> = path.components().take(FRAMEWORK_DEPTH).collect();
    let folder: PathBuf = parts.iter().collect();
    let is_hidden = folder.components().any(|part| {
        matches!(part.as_os_str().to_str(), Some(".ssh" | ".gnupg" | ".aws" | ".config" | ".kube"))
    });
    (parts.len() == FRAMEWORK_DEPTH && !is_hidden).then_some(folder)
}
