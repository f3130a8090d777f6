//! `firmhand reverty repl`: statements of Reverty one by one.
//!
//! Owns when a statement is complete, and which earlier ones still count.

use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::process::ExitCode;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tokio::signal::unix::{SignalKind, signal};

use super::program_ends::Printer;
use super::report;
use crate::model::UserError;
use crate::text::reverty::{Fault, functions_of, to_python_from};
use crate::toolchain::python_program::{INTERRUPTED, Python, PythonSession};

/// Longest statement in bytes.
const MOST_BYTES: usize = 1 << 20;

/// Reads statements from standard input until it ends. Prints their values and faults. Ctrl-C ends
/// what runs, or gives up what is typed.
///
/// # Errors
/// When Python cannot be started or has ended.
pub(super) fn run(python: &Python) -> Result<ExitCode, UserError> {
    let cannot = |error: io::Error| UserError::from_cause("Cannot read a line", &error);
    let mut session = python.session()?;
    let mut program = SavedProgram::default();
    let is_person = io::stdin().is_terminal();
    let mut input = TypedInput::new(is_person).map_err(cannot)?;
    let mut piece = String::new();
    let prompt = |piece: &str| {
        if is_person {
            report::prompt(if piece.is_empty() { ">>> " } else { "... " });
        }
    };
    prompt(&piece);
    loop {
        match input.next().map_err(cannot)? {
            Typed::End => break,
            Typed::Interrupt => {
                piece.clear();
                report::line("");
            }
            Typed::Line(line) => piece.push_str(&line),
        }
        if piece.len() > MOST_BYTES || is_complete(&piece) {
            let statement = std::mem::take(&mut piece);
            run_piece(&mut session, &mut program, &statement, input.interrupts.as_mut())?;
        }
        prompt(&piece);
    }
    run_piece(&mut session, &mut program, &piece, input.interrupts.as_mut())?;
    Ok(ExitCode::SUCCESS)
}

/// What was typed.
enum Typed {
    /// With its line feed.
    Line(String),
    Interrupt,
    End,
}

/// Lines of standard input, and the keys that interrupt.
struct TypedInput {
    lines: BufReader<io::Stdin>,
    /// A byte for each Ctrl-C; `None` where no person types.
    interrupts: Option<io::PipeReader>,
}

impl TypedInput {
    fn new(is_person: bool) -> io::Result<Self> {
        let interrupts = is_person.then(interrupts).transpose()?;
        Ok(Self { lines: BufReader::new(io::stdin()), interrupts })
    }

    fn next(&mut self) -> io::Result<Typed> {
        if self.lines.buffer().is_empty()
            && let Some(interrupts) = &mut self.interrupts
        {
            let stdin = io::stdin();
            let mut both =
                [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&*interrupts, PollFlags::IN)];
            while let Err(Errno::INTR) = poll(&mut both, None) {}
            let [_, is_interrupted] = both.map(|end| !end.revents().is_empty());
            if is_interrupted {
                interrupts.read_exact(&mut [0])?;
                return Ok(Typed::Interrupt);
            }
        }
        let mut line = String::new();
        match self.lines.read_line(&mut line)? {
            0 => Ok(Typed::End),
            _ => {
                if !line.ends_with('\n') {
                    line.push('\n');
                }
                Ok(Typed::Line(line))
            }
        }
    }
}

/// From here on Ctrl-C does not end this program, but writes a byte into the pipe.
fn interrupts() -> io::Result<io::PipeReader> {
    let (reader, mut writer) = io::pipe()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut signals = {
        let _within = runtime.enter();
        signal(SignalKind::interrupt())?
    };
    std::thread::Builder::new().name("interrupts".to_owned()).spawn(move || {
        runtime.block_on(async {
            while signals.recv().await.is_some() && writer.write_all(b"!").is_ok() {}
        });
    })?;
    Ok(reader)
}

/// Whether no further line can belong to the statement: a line with a block ends with an empty one.
fn is_complete(piece: &str) -> bool {
    let head = piece.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let types = ["tni", "taolf", "rts", "loob", "tsil", "tcid", "elput"];
    let has_block = head.starts_with(':')
        || types.iter().any(|word| head.starts_with(word))
        || head.contains("->");
    let last = piece.lines().next_back().unwrap_or_default();
    (!has_block || last.trim().is_empty()) && !last.ends_with('\\') && !is_open(piece)
}

/// Whether a bracket waits for its end.
fn is_open(piece: &str) -> bool {
    let (mut open, mut in_text, mut in_comment, mut is_escaped) = (0_i32, false, false, false);
    for byte in piece.bytes() {
        let is_plain = !std::mem::take(&mut is_escaped);
        match byte {
            b'\n' => (in_text, in_comment) = (false, false),
            _ if in_comment => {}
            b'\\' if in_text && is_plain => is_escaped = true,
            b'"' if is_plain => in_text = !in_text,
            _ if in_text => {}
            b'#' => in_comment = true,
            b'(' | b'[' | b'{' => open += 1,
            b')' | b']' | b'}' => open -= 1,
            _ => {}
        }
    }
    open > 0
}

/// The statements that ran so far.
#[derive(Debug, Default)]
struct SavedProgram {
    /// Each with the functions that it defines.
    pieces: Vec<(String, Vec<String>)>,
}

impl SavedProgram {
    /// Those that still count when `defined` are defined again.
    fn text(&self, defined: &[String]) -> String {
        let is_current = |own: &[String]| !own.iter().any(|name| defined.contains(name));
        let pieces = self.pieces.iter().filter(|(_, own)| is_current(own));
        pieces.map(|(text, _)| text.as_str()).collect()
    }
}

fn run_piece(
    session: &mut PythonSession,
    program: &mut SavedProgram,
    piece: &str,
    interrupts: Option<&mut io::PipeReader>,
) -> Result<(), UserError> {
    if piece.trim().is_empty() {
        return Ok(());
    }
    // What it defines is known from itself alone, when its form is right.
    let own = functions_of(piece);
    let before = program.text(&own);
    let lines = u32::try_from(before.lines().count()).unwrap_or(u32::MAX);
    let whole = format!("{before}{piece}");
    let python = match to_python_from(&whole, lines + 1) {
        Ok(python) => python,
        Err(faults) => {
            print_faults(&faults, &before);
            return Ok(());
        }
    };
    let ended = |error: io::Error| {
        let fix = "Start `firmhand reverty repl` again.";
        UserError::new("Cannot run the statement", error.to_string(), fix)
    };
    let mut printer = Printer::default();
    let is_terminal = io::stdout().is_terminal();
    let print = |bytes: &[u8]| if is_terminal { printer.print(bytes) } else { report::raw(bytes) };
    let fault = session.run(&python.text, interrupts, print).map_err(ended)?;
    printer.finish();
    match fault.as_deref().map(str::trim_end) {
        Some(INTERRUPTED) => report::message("stopped"),
        Some(fault) => report::message(fault),
        None => {}
    }
    program.pieces.retain(|(_, names)| !names.iter().any(|name| own.contains(name)));
    program.pieces.push((piece.to_owned(), own));
    Ok(())
}

fn print_faults(faults: &[Fault], before: &str) {
    for fault in faults {
        report::message(&fault_words(fault, before));
        if !fault.hint.is_empty() {
            report::message(&format!("  fix: {}", fault.hint));
        }
    }
}

/// A fault, with its line in what was typed. Earlier statements had none by themselves: what is found
/// there now is a fault of what was typed.
fn fault_words(fault: &Fault, before: &str) -> String {
    let Fault { line, column, message, .. } = fault;
    let line = *line as usize;
    match line.checked_sub(before.lines().count()).filter(|line| *line > 0) {
        Some(line) => format!("{line}:{column}: {message}"),
        None => {
            let earlier = before.lines().nth(line.saturating_sub(1)).unwrap_or_default().trim();
            format!("1:1: it does not fit the earlier line `{earlier}`: {message}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::reverty::check;

    #[test]
    fn a_statement_goes_on_while_a_bracket_is_open() {
        for piece in ["print(1 +\n", "x = [1,\n", "a = (1 + 2, {\n", "b = 1 + \\\n"] {
            assert!(!is_complete(piece), "{piece}");
        }
        for piece in ["print(1)\n", "x = \"(\"\n", "y = 1 # (\n", "z = \"\\\"(\"\n", "w = 1)\n"] {
            assert!(is_complete(piece), "{piece}");
        }
    }

    #[test]
    fn a_fault_in_an_earlier_statement_is_one_of_what_was_typed() {
        let fault = check("b = 1\nb: rts = \"q\"\n").remove(0);
        let words = fault_words(&fault, "b = 1\n");
        assert!(words.starts_with("1:1: it does not fit the earlier line `b = 1`: "), "{words}");
        let own = check("b = 1\nc = d\n").remove(0);
        assert!(fault_words(&own, "b = 1\n").starts_with("1:5: `d` "));
    }
}
