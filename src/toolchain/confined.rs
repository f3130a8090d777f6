//! Runs one program behind walls and hands on what it prints.
//!
//! Owns the pipe, and what a compiler or a linter may read. Must not know what is asked or built.

use std::convert::Infallible;
use std::path::{Path, PathBuf};

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;

use super::hidden;
use crate::files;
use crate::model::UserError;
use crate::sandbox::{Ends, RunReport, Runner, Walls};

/// One read takes at most this many bytes.
const CHUNK_BYTES: usize = 64 * 1024;

/// Longest name of an option before a path, e.g. `-idirafter`.
const LONGEST_OPTION: usize = 24;

/// Bytes of the first line of a script that the system reads.
const LONGEST_FIRST_LINE: u64 = 256;

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
    output: impl FnMut(&[u8]),
) -> Result<RunReport, UserError> {
    match run_until(runner, walls, output, std::future::pending::<Infallible>()).await? {
        ConfinedEnd::Report(report) => Ok(report),
        ConfinedEnd::Stopped(never) => match never {},
    }
}

/// How a program ended that could be stopped.
pub(super) enum ConfinedEnd<S> {
    Report(RunReport),
    /// All of it has ended, for this reason.
    Stopped(S),
}

/// As [`run`]; when `stop` is there first, the program is ended, and that is waited for.
///
/// # Errors
/// As [`run`].
pub(super) async fn run_until<S>(
    runner: &Runner,
    walls: Walls,
    mut output: impl FnMut(&[u8]),
    stop: impl Future<Output = S>,
) -> Result<ConfinedEnd<S>, UserError> {
    let failed = |error: std::io::Error| UserError::from_cause("Cannot run the program", &error);
    let (reader, writer) = std::io::pipe().map_err(failed)?;
    let mut reader = pipe::Receiver::from_owned_fd(reader.into()).map_err(failed)?;
    // It ends at once, because nobody writes to it.
    let (input, _) = std::io::pipe().map_err(failed)?;
    let errors = writer.try_clone().map_err(failed)?;
    let ends = Ends { input: input.into(), output: writer.into(), errors: errors.into() };
    let runner = runner.clone();
    let started = tokio::task::spawn_blocking(move || runner.start(&walls, ends)).await;
    let mut run = started.map_err(|error| failed(error.into()))??;
    let waiter = run.waiter();
    let until_over = async {
        let mut buffer = vec![0; CHUNK_BYTES];
        loop {
            match reader.read(&mut buffer).await? {
                0 => break,
                count => output(buffer.get(..count).unwrap_or_default()),
            }
        }
        tokio::task::spawn_blocking(move || waiter.wait()).await.map_err(std::io::Error::from)
    };
    tokio::select! {
        biased;
        reason = stop => {
            let stopped = tokio::task::spawn_blocking(move || run.stop()).await;
            stopped.map_err(|error| failed(error.into()))?;
            Ok(ConfinedEnd::Stopped(reason))
        }
        report = until_over => report.map(ConfinedEnd::Report).map_err(failed),
    }
}

/// What a compiler or a linter reads: the project, its own files, and what its arguments name.
pub(super) fn reads(project: &Path, program: &Path, args: &[String]) -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let home = home.as_deref();
    let with_real = |path: &Path| [Some(path.to_owned()), std::fs::canonicalize(path).ok()];
    let mut programs: Vec<PathBuf> = with_real(program).into_iter().flatten().collect();
    // A script of the project may name any file as what starts it.
    let is_own = programs.iter().any(|program| program.starts_with(project));
    if let Some(interpreter) = interpreter(program).filter(|_| !is_own) {
        let of = with_real(&interpreter).into_iter().flatten();
        programs.extend(of.filter(|path| !hidden::is_private(path, home)));
    }
    let mut reads = vec![project.to_owned()];
    reads.extend(programs.iter().cloned());
    for program in &programs {
        let prefix = program.parent().and_then(Path::parent);
        let Some(prefix) = prefix.filter(|prefix| prefix.components().count() > 2) else {
            continue;
        };
        // The folder of a person's own programs is around what they keep; its libraries are not.
        match hidden::is_private(prefix, home) {
            true => reads.push(prefix.join("lib")),
            false => reads.push(prefix.to_owned()),
        }
    }
    for arg in args {
        let Some(start) = arg.find('/').filter(|start| *start < LONGEST_OPTION) else { continue };
        let named = Path::new(arg.get(start..).unwrap_or_default());
        if !named.starts_with(project) && !reads.iter().any(|known| named.starts_with(known)) {
            reads.extend(framework_of(named, home));
        }
    }
    reads
}

/// What a script is started with, as its first line names it; `None` for a program.
fn interpreter(program: &Path) -> Option<PathBuf> {
    let start = files::read_start(program, LONGEST_FIRST_LINE).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let path = PathBuf::from(std::str::from_utf8(line).ok()?.split_whitespace().next()?);
    path.is_absolute().then_some(path)
}

/// The folder of a framework that a file or folder of headers belongs to: a few folders below the root,
/// so that there are not hundreds; never the folder of a person itself, nor what they keep there.
fn framework_of(path: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let of_home = home.filter(|home| path.starts_with(home));
    let depth = of_home.map_or(0, |home| home.components().count() + 1).max(FRAMEWORK_DEPTH);
    let parts: Vec<_> = path.components().take(depth).collect();
    let folder: PathBuf = parts.iter().collect();
    (parts.len() == depth && !hidden::is_private(&folder, home)).then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_reads_what_it_is_started_with() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().canonicalize().unwrap().join(path);
        for path in ["python/bin", "env/bin"] {
            std::fs::create_dir_all(at(path)).unwrap();
        }
        std::fs::write(at("python/bin/python3"), "\x7fELF").unwrap();
        std::os::unix::fs::symlink(at("python/bin/python3"), at("env/bin/python3")).unwrap();
        let script = format!("#!{}\nimport lint\n", at("env/bin/python3").display());
        std::fs::write(at("env/bin/lint"), script).unwrap();
        assert_eq!(interpreter(&at("env/bin/lint")), Some(at("env/bin/python3")));
        assert_eq!(interpreter(&at("python/bin/python3")), None);
        let found = reads(Path::new("/p/demo"), &at("env/bin/lint"), &[]);
        for path in ["env", "python"] {
            assert!(found.contains(&at(path)), "{path}: {found:?}");
        }
        let own = reads(&at("env"), &at("env/bin/lint"), &[]);
        assert!(
            !own.contains(&at("python")),
            "a script of the project names what it likes: {own:?}"
        );
    }

    #[test]
    fn what_a_person_keeps_is_no_framework() {
        let of = |path: &str, home: &str| framework_of(Path::new(path), Some(Path::new(home)));
        for (path, home) in [
            ("/home/me/.netrc", "/home/me"),
            ("/home/me/.ssh/id", "/home/me"),
            ("/home/me/.local/share/keyrings/x", "/home/me"),
            ("/export/home/staff/me/x", "/export/home/staff/me/x"),
            ("/root/.aws/credentials", "/root"),
        ] {
            assert_eq!(of(path, home), None, "{path}");
        }
        for (path, home, folder) in [
            ("/home/me/esp/idf/include", "/home/me", "/home/me/esp"),
            ("/export/home/staff/me/esp/idf", "/export/home/staff/me", "/export/home/staff/me/esp"),
            ("/root/.platformio/packages/x", "/root", "/root/.platformio/packages"),
            ("/opt/esp/idf/components/x", "/home/me", "/opt/esp/idf"),
        ] {
            assert_eq!(of(path, home), Some(folder.into()), "{path}");
        }
    }
}
