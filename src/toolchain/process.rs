//! Runs one process with everything it starts, and ends all of it on demand.
//!
//! Owns process groups, time limits and the one pipe that keeps stdout and stderr in order. Must
//! not know what is run.
#![expect(
    clippy::disallowed_methods,
    reason = "builds and flashes are processes; all of them are started here"
)]

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessGroup};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

/// One read takes at most this many bytes.
const CHUNK_BYTES: usize = 64 * 1024;

/// How long the pipe may stay open after the process has ended, by something it left running.
const LEFTOVER: Duration = Duration::from_secs(2);

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessSpec {
    /// The program, by path or to be found in `PATH`.
    pub program: OsString,
    pub args: Vec<OsString>,
    /// Variables to set beside those of this program.
    pub env: Vec<(OsString, OsString)>,
    /// Where it runs.
    pub folder: PathBuf,
    /// After this the whole process group is ended.
    pub timeout: Duration,
    /// Ends the whole process group at once.
    pub cancel: CancellationToken,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessEnd {
    Well,
    /// With this exit code; `None` when a signal ended it.
    Badly(Option<i32>),
    /// It ran into its time limit and was ended.
    TimedOut,
    /// It was cancelled and ended.
    Cancelled,
}

/// A process and all it starts. Dropping it ends what is left of it.
pub(super) struct ChildGroup {
    /// The process that leads the group.
    pub(super) child: Box<dyn ChildWrapper>,
    is_over: bool,
}

impl ChildGroup {
    /// Starts `command` as the leader of a group of its own.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn spawn(mut command: CommandWrap) -> std::io::Result<Self> {
        command.wrap(ProcessGroup::leader()).wrap(KillOnDrop);
        Ok(Self { child: command.spawn()?, is_over: false })
    }

    /// Starts a compiler in that folder. Of the environment it has where programs are, or `path`, and
    /// where temporary files are.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn compiler(
        program: &Path,
        args: &[String],
        folder: &Path,
        path: Option<&OsStr>,
    ) -> std::io::Result<Self> {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(folder)
            .env_clear()
            .envs(std::env::vars_os().filter(|(name, _)| name == "PATH" || name == "TMPDIR"))
            .envs(path.map(|path| ("PATH", path)))
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        // A compiler starts others, which have to end with it.
        Self::spawn(CommandWrap::from(command))
    }

    /// Reads what it writes on standard error until that ends.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) async fn errors(&mut self, mut output: impl FnMut(&[u8])) -> std::io::Result<()> {
        let Some(mut stderr) = self.child.stderr().take() else { return Ok(()) };
        let mut chunk = vec![0; 16 * 1024];
        loop {
            match stderr.read(&mut chunk).await? {
                0 => return Ok(()),
                count => output(chunk.get(..count).unwrap_or_default()),
            }
        }
    }
}

impl Drop for ChildGroup {
    fn drop(&mut self) {
        if !self.is_over {
            // It may be gone already.
            let _ = self.child.start_kill();
        }
    }
}

/// Runs `job` without input. `output` takes what it prints, stdout and stderr in the order they
/// came. Dropping the future ends the whole process group.
///
/// # Errors
/// When it cannot be started or waited for.
pub async fn run(job: ProcessSpec, mut output: impl FnMut(&[u8])) -> std::io::Result<ProcessEnd> {
    let (reader, writer) = std::io::pipe()?;
    let mut reader = pipe::Receiver::from_owned_fd(reader.into())?;
    let mut command = CommandWrap::with_new(&job.program, |command| {
        command.args(&job.args).envs(job.env.iter().map(|(name, value)| (name, value)));
        command.current_dir(&job.folder).stdin(Stdio::null());
        // Builds run what agents wrote, which has no business with the keys of models.
        for name in key_variables() {
            command.env_remove(name);
        }
    });
    command.command_mut().stdout(writer.try_clone()?).stderr(writer);
    // Together with the command goes our writing end, so that the pipe ends with the process.
    let mut group = ChildGroup::spawn(command)?;
    let cancel = job.cancel.clone();
    tokio::select! {
        biased;
        () = cancel.cancelled() => Ok(ProcessEnd::Cancelled),
        () = tokio::time::sleep(job.timeout) => Ok(ProcessEnd::TimedOut),
        ended = until_over(&mut group, &mut reader, &mut output) => ended,
    }
}

/// As [`run`]; the first `most` bytes of what it prints are kept.
///
/// # Errors
/// As [`run`].
pub async fn output(job: ProcessSpec, most: usize) -> std::io::Result<(ProcessEnd, Vec<u8>)> {
    let mut output = Vec::new();
    let ended = run(job, |bytes| keep(&mut output, bytes, most)).await?;
    Ok((ended, output))
}

/// Adds to an output that is kept up to that length.
pub(super) fn keep(output: &mut Vec<u8>, bytes: &[u8], most: usize) {
    let space = most.saturating_sub(output.len());
    output.extend_from_slice(bytes.get(..space).unwrap_or(bytes));
}

/// The variables of this program's environment that hold keys of models' services; no process that
/// is started needs them.
pub fn key_variables() -> impl Iterator<Item = OsString> {
    std::env::vars_os().map(|(name, _)| name).filter(|name| is_key(name))
}

/// Whether a variable holds a key of a model's service: by its usual name, or because the program
/// was told so.
fn is_key(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let known = ["OPENAI", "ANTHROPIC", "AZURE_OPENAI", "OPENROUTER"];
    ["GITHUB_TOKEN", "GH_TOKEN", "HF_TOKEN"].contains(&name)
        || ["_API_KEY", "_AUTH_TOKEN"].iter().any(|end| name.ends_with(end))
        || known.iter().any(|maker| name.starts_with(maker))
        || lock(&HIDDEN).iter().any(|other| other.as_str() == name)
}

/// Variables that processes are not given besides the usual ones.
static HIDDEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

fn lock(names: &Mutex<BTreeSet<String>>) -> MutexGuard<'_, BTreeSet<String>> {
    names.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps these variables, too, from every process that is started from now on.
pub fn hide_variables(names: Vec<String>) {
    lock(&HIDDEN).extend(names);
}

async fn until_over(
    group: &mut ChildGroup,
    reader: &mut pipe::Receiver,
    output: &mut impl FnMut(&[u8]),
) -> std::io::Result<ProcessEnd> {
    let mut buffer = vec![0; CHUNK_BYTES];
    let mut is_open = true;
    let status = loop {
        tokio::select! {
            biased;
            read = reader.read(&mut buffer), if is_open => match read? {
                0 => is_open = false,
                count => output(buffer.get(..count).unwrap_or_default()),
            },
            status = group.child.wait() => break status?,
        }
    };
    while is_open {
        match tokio::time::timeout(LEFTOVER, reader.read(&mut buffer)).await {
            Ok(read) => match read? {
                0 => is_open = false,
                count => output(buffer.get(..count).unwrap_or_default()),
            },
            Err(_) => break,
        }
    }
    // What was left running and still holds the pipe is ended with the group.
    group.is_over = !is_open;
    Ok(if status.success() { ProcessEnd::Well } else { ProcessEnd::Badly(status.code()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> ProcessSpec {
        ProcessSpec {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            env: vec![("WORD".into(), "hello".into())],
            folder: std::env::temp_dir(),
            timeout: Duration::from_secs(60),
            cancel: CancellationToken::new(),
        }
    }

    async fn output_of(job: ProcessSpec) -> (ProcessEnd, String) {
        let mut all = Vec::new();
        let ended = run(job, |bytes| all.extend_from_slice(bytes)).await.unwrap();
        (ended, String::from_utf8(all).unwrap())
    }

    #[tokio::test]
    async fn keys_of_models_are_kept_from_processes() {
        for name in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AZURE_OPENAI_API_KEY", "GITHUB_TOKEN"]
        {
            assert!(is_key(name.as_ref()), "{name}");
        }
        assert!(!is_key("PATH".as_ref()) && !is_key("IDF_PATH".as_ref()));
        // Set by cargo for every test; stands for a key that a profile names.
        assert!(std::env::var_os("CARGO_PKG_NAME").is_some());
        assert!(output_of(shell("env")).await.1.contains("CARGO_PKG_NAME="));
        hide_variables(vec!["CARGO_PKG_NAME".to_owned()]);
        let (_, seen) = output_of(shell("env")).await;
        assert!(seen.contains("PATH=") && !seen.contains("CARGO_PKG_NAME="), "{seen}");
    }

    #[tokio::test]
    async fn both_outputs_come_in_order_and_whole() {
        let script = "for i in 1 2 3; do echo out $i; echo err $i >&2; done; echo $WORD; exit 3";
        let (ended, output) = output_of(shell(script)).await;
        assert_eq!(ended, ProcessEnd::Badly(Some(3)));
        assert_eq!(output, "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\nhello\n");
        let (ended, output) = output_of(shell("head -c 1000000 /dev/zero | tr '\\0' x")).await;
        assert_eq!((ended, output.len()), (ProcessEnd::Well, 1_000_000));
    }

    #[tokio::test]
    async fn children_end_with_the_group() {
        let mut job = shell("sleep 1000 & echo $!; wait");
        job.timeout = Duration::from_secs(1);
        let (ended, output) = output_of(job).await;
        assert_eq!(ended, ProcessEnd::TimedOut);
        let child: u32 = output.trim().parse().unwrap();
        let state = || std::fs::read_to_string(format!("/proc/{child}/stat"));
        // Ended, or not yet collected by whoever adopted it.
        while state().is_ok_and(|stat| !stat.contains(") Z ")) {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_cancelled_process_ends_at_once() {
        let job = shell("sleep 1000");
        job.cancel.cancel();
        assert_eq!(output_of(job).await.0, ProcessEnd::Cancelled);
    }

    #[tokio::test]
    async fn what_cannot_be_started_is_an_error() {
        let job = ProcessSpec { program: "/no/such/program".into(), ..shell("") };
        assert!(run(job, |_| {}).await.is_err());
    }
}
