//! Runs programs that were translated to Python.
//!
//! Owns the interpreter's options: nothing of the person's environment, no packages, UTF-8. A
//! program that passed the check calls nothing but the functions that every program has: it opens no
//! file, starts nothing and reaches no network. Must not know the language that it comes from.
#![expect(
    clippy::disallowed_methods,
    reason = "the interpreter is a process; it is started here alone"
)]

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};

use super::process::key_variables;

/// Most bytes of a stack trace that are kept.
const MOST_TRACE: u64 = 1 << 20;

/// Ends the answer to one piece in [`PythonSession`].
const MARK: &str = "\u{4}";

/// Runs pieces one after the other in one world of names, and prints the values of expressions. On
/// standard error comes what went wrong, then the mark.
const SESSION: &str = r#"
import ast, sys, traceback
def refuse(prompt=""):
    raise EOFError("there is no input here")
space = {"__name__": "session", "input": refuse}
source = sys.stdin.buffer
while True:
    head = source.readline()
    if not head:
        break
    text = source.read(int(head)).decode()
    try:
        for part in ast.parse(text, "<program>").body:
            exec(compile(ast.Interactive([part]), "<program>", "single"), space)
    except BaseException as error:
        for line in traceback.format_exception_only(type(error), error):
            sys.stderr.write(line)
    sys.stdout.flush()
    sys.stderr.write("\x04\n")
    sys.stderr.flush()
"#;

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonEnd {
    /// `None` when a signal ended it.
    pub code: Option<i32>,
    /// What it wrote on standard error: the stack trace, if there is one.
    pub trace: String,
    /// The name of the program in the trace.
    pub file: PathBuf,
}

fn python() -> Command {
    let mut command = Command::new("python3");
    // Isolated, without packages, without caches, in UTF-8.
    command.args(["-I", "-S", "-B", "-X", "utf8"]);
    for name in key_variables() {
        command.env_remove(name);
    }
    command
}

/// Runs a program with this process's input and output until it ends.
///
/// # Errors
/// When there is no Python, or the program cannot be handed to it.
pub fn run(program: &str) -> io::Result<PythonEnd> {
    let folder = tempfile::Builder::new().prefix("firmhand-").tempdir()?;
    let file = folder.path().join("program.py");
    std::fs::write(&file, program)?;
    let mut child = python().arg(&file).stderr(Stdio::piped()).spawn()?;
    let mut trace = Vec::new();
    if let Some(mut errors) = child.stderr.take() {
        errors.by_ref().take(MOST_TRACE).read_to_end(&mut trace)?;
        io::copy(&mut errors, &mut io::sink())?;
    }
    let code = child.wait()?.code();
    Ok(PythonEnd { code, trace: String::from_utf8_lossy(&trace).into_owned(), file })
}

/// A Python that runs piece after piece.
#[derive(Debug)]
pub struct PythonSession {
    child: Child,
    input: ChildStdin,
    errors: BufReader<ChildStderr>,
}

impl PythonSession {
    /// Starts it.
    ///
    /// # Errors
    /// When there is no Python.
    pub fn start() -> io::Result<Self> {
        let mut command = python();
        command.args(["-c", SESSION]).stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let (Some(input), Some(errors)) = (child.stdin.take(), child.stderr.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        Ok(Self { child, input, errors: BufReader::new(errors) })
    }

    /// Runs one piece; what it prints goes to standard output. The last line of the stack trace, if
    /// it failed.
    ///
    /// # Errors
    /// When Python has ended.
    pub fn run(&mut self, piece: &str) -> io::Result<Option<String>> {
        writeln!(self.input, "{}", piece.len())?;
        self.input.write_all(piece.as_bytes())?;
        self.input.flush()?;
        let mut fault = String::new();
        loop {
            let mut line = Vec::new();
            if (&mut self.errors).take(MOST_TRACE).read_until(b'\n', &mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let line = String::from_utf8_lossy(&line);
            if line.trim_end() == MARK {
                return Ok(Some(fault).filter(|fault| !fault.is_empty()));
            }
            if fault.len() < MOST_TRACE as usize {
                fault.push_str(&line);
            }
        }
    }
}

impl Drop for PythonSession {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
