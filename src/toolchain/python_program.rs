//! Runs programs that were translated to Python, in the sandbox.
//!
//! Owns the interpreter and its options: nothing of the person's environment, no packages, UTF-8.
//! A program that passed the check calls nothing but the functions that every program has; the
//! sandbox holds it even if that were wrong. Must not know the language that it comes from.
#![expect(
    clippy::disallowed_methods,
    reason = "the program is handed over in a file, and the interpreter is asked where it is"
)]

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Command;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use super::process::key_variables;
use crate::model::UserError;
use crate::sandbox::{ConfinedRun, Ends, Limits, RunEnd, Runner, Walls, programs};

/// Isolated, without packages, without caches, in UTF-8.
const OPTIONS: [&str; 5] = ["-I", "-S", "-B", "-X", "utf8"];

/// Most bytes of output that are handed over at once.
const PIECE: usize = 1 << 16;

/// Most bytes of a stack trace that are kept.
const MOST_TRACE: u64 = 1 << 20;

/// Memory that a program may have, in bytes.
const MOST_MEMORY: u64 = 1 << 30;

/// Ends the answer to one piece in [`PythonSession`].
const MARK: &[u8] = b"\x04\n";

/// Runs pieces one after the other in one world of names, and prints the values of expressions. On
/// standard error comes what went wrong, then the mark. A line `!` interrupts the piece that runs.
const SESSION: &str = include_str!("../../assets/testing/firmhand_session.py");

/// What a piece leaves that was interrupted.
pub const INTERRUPTED: &str = "KeyboardInterrupt";

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonEnd {
    /// `None` when a signal ended it.
    pub code: Option<i32>,
    /// What it wrote on standard error: the stack trace, if there is one.
    pub trace: String,
    /// The name of the program in the trace.
    pub file: String,
}

/// The Python of this machine.
#[derive(Debug)]
pub struct Python {
    program: PathBuf,
    /// Where its library is.
    prefix: PathBuf,
    runner: Runner,
    /// Where it starts.
    folder: tempfile::TempDir,
}

impl Python {
    /// Finds it.
    ///
    /// # Errors
    /// When there is none, or no place for its files.
    pub fn find(runner: Runner) -> Result<Self, UserError> {
        let mut command = Command::new("python3");
        command
            .args(OPTIONS)
            .args(["-c", "import sys; print(sys.executable, sys.base_prefix, sep='\\n')"]);
        for name in key_variables() {
            command.env_remove(name);
        }
        let reply = command.output().map_err(|error| no_python(&error))?;
        let reply = String::from_utf8_lossy(&reply.stdout).into_owned();
        let mut lines = reply.lines().map(PathBuf::from);
        let (Some(program), Some(prefix)) = (lines.next(), lines.next()) else {
            return Err(no_python(&io::ErrorKind::NotFound.into()));
        };
        let folder = tempfile::Builder::new().prefix("firmhand-").tempdir();
        let folder = folder.map_err(|error| failed(&error))?;
        Ok(Self { program, prefix, runner, folder })
    }

    fn start(&self, args: [&str; 2], ends: Ends) -> Result<ConfinedRun, UserError> {
        let folder = self.folder.path().to_owned();
        let walls = Walls {
            program: self.program.clone(),
            args: OPTIONS.into_iter().chain(args).map(str::to_owned).collect(),
            reads: programs().chain([self.prefix.clone(), self.program.clone()]).collect(),
            writes: vec![folder.clone()],
            folder,
            limits: Limits { memory: MOST_MEMORY, ..Limits::default() },
            ..Walls::default()
        };
        self.runner.start(&walls, ends)
    }

    /// Runs a program with that input and output until it ends. What it prints to a pipe comes at
    /// once.
    ///
    /// # Errors
    /// When it cannot be handed over, or there is no sandbox.
    pub fn run(
        &self,
        program: &str,
        input: OwnedFd,
        output: OwnedFd,
    ) -> Result<PythonEnd, UserError> {
        let file = self.folder.path().join("program.py");
        std::fs::write(&file, program).map_err(|error| failed(&error))?;
        let (mut trace_end, errors) = io::pipe().map_err(|error| failed(&error))?;
        let ends = Ends { input, output, errors: errors.into() };
        let shown = file.to_string_lossy().into_owned();
        let run = self.start(["-u", &shown], ends)?;
        let mut trace = Vec::new();
        let read = (&mut trace_end).take(MOST_TRACE).read_to_end(&mut trace);
        read.and_then(|_| io::copy(&mut trace_end, &mut io::sink()))
            .map_err(|error| failed(&error))?;
        let report = run.waiter().wait();
        let mut trace = String::from_utf8_lossy(&trace).into_owned();
        if let Some(wall) = report.wall {
            trace.push_str(&format!("The sandbox ended the program: it took too much ({wall}).\n"));
        }
        let code = match report.end {
            RunEnd::Exit(code) => Some(code),
            RunEnd::Signal(_) | RunEnd::Stopped => None,
        };
        Ok(PythonEnd { code, trace, file: shown })
    }

    /// Starts one that runs piece after piece.
    ///
    /// # Errors
    /// When there is no sandbox.
    pub fn session(&self) -> Result<PythonSession, UserError> {
        let pipe = || io::pipe().map_err(|error| failed(&error));
        let (its_input, input) = pipe()?;
        let ((output, its_output), (errors, its_errors)) = (pipe()?, pipe()?);
        let ends =
            Ends { input: its_input.into(), output: its_output.into(), errors: its_errors.into() };
        let run = self.start(["-c", SESSION], ends)?;
        Ok(PythonSession { _run: run, input, output, errors })
    }
}

fn no_python(error: &io::Error) -> UserError {
    let why = match error.kind() {
        io::ErrorKind::NotFound => "there is no `python3`".to_owned(),
        _ => error.to_string(),
    };
    let fix = "Install Python 3; `firmhand reverty check` and `py` work without it.";
    UserError::new("Cannot run the program", why, fix)
}

fn failed(error: &io::Error) -> UserError {
    UserError::from_cause("Cannot run the program", error)
}

/// A Python that runs piece after piece. Dropping it ends it.
#[derive(Debug)]
pub struct PythonSession {
    _run: ConfinedRun,
    input: io::PipeWriter,
    output: io::PipeReader,
    errors: io::PipeReader,
}

impl PythonSession {
    /// Runs one piece; `print` gets what it writes on standard output as it comes. Bytes that come
    /// from `interrupts` meanwhile end the piece. The last line of the stack trace, if it failed.
    ///
    /// # Errors
    /// When Python has ended.
    pub fn run(
        &mut self,
        piece: &str,
        mut interrupts: Option<&mut io::PipeReader>,
        mut print: impl FnMut(&[u8]),
    ) -> io::Result<Option<String>> {
        writeln!(self.input, "{}", piece.len())?;
        self.input.write_all(piece.as_bytes())?;
        self.input.flush()?;
        let mut trace = Vec::new();
        loop {
            // Output first: whatever came before the mark is printed before it counts.
            let (has_output, has_errors, is_interrupted) = self.wait(interrupts.as_deref())?;
            if let Some(interrupts) = interrupts.as_deref_mut().filter(|_| is_interrupted) {
                read_piece(interrupts)?;
                self.input.write_all(b"!\n")?;
            }
            if has_output {
                print(&read_piece(&mut self.output)?);
            } else if has_errors {
                let piece = read_piece(&mut self.errors)?;
                trace.extend(piece);
                if trace.ends_with(MARK) {
                    trace.truncate(trace.len() - MARK.len());
                    let trace = String::from_utf8_lossy(&trace).into_owned();
                    return Ok(Some(trace).filter(|trace| !trace.is_empty()));
                }
                let surplus = trace.len().saturating_sub(MOST_TRACE as usize);
                trace.drain(..surplus);
            }
        }
    }

    /// Waits until something was written: whether on standard output, on standard error, or by who
    /// interrupts.
    fn wait(&self, interrupts: Option<&io::PipeReader>) -> io::Result<(bool, bool, bool)> {
        let mut all = vec![
            PollFd::new(&self.output, PollFlags::IN),
            PollFd::new(&self.errors, PollFlags::IN),
        ];
        all.extend(interrupts.map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        match poll(&mut all, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let happened = |place: usize| all.get(place).is_some_and(|end| !end.revents().is_empty());
        Ok((happened(0), happened(1), happened(2)))
    }
}

/// What is there now, at least one byte.
fn read_piece(end: &mut io::PipeReader) -> io::Result<Vec<u8>> {
    let mut piece = vec![0; PIECE];
    let count = end.read(&mut piece)?;
    if count == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    piece.truncate(count);
    Ok(piece)
}
