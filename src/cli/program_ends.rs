//! What a program that is run for the person reads and writes.
//!
//! Owns that such a program never holds the person's terminal: it gets pipes there, and what it
//! writes is made harmless. Files and other programs get its bytes as they are.

use std::io::{self, IsTerminal, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::thread::{self, JoinHandle};

use super::report;
use crate::model::UserError;

/// Most bytes that are printed at once.
const PIECE: usize = 1 << 16;

/// The ends of one program.
#[derive(Debug)]
pub(super) struct ProgramEnds {
    pub input: OwnedFd,
    pub output: OwnedFd,
    /// Prints what comes out of `output`, if that is a pipe.
    printing: Option<JoinHandle<()>>,
}

impl ProgramEnds {
    /// Ends that lead to this process's standard input and output.
    ///
    /// # Errors
    /// When the machine has no more of them.
    pub(super) fn open() -> Result<Self, UserError> {
        let failed = |error: io::Error| UserError::from_cause("Cannot run the program", &error);
        let input = if io::stdin().is_terminal() {
            let (reader, writer) = io::pipe().map_err(failed)?;
            // It may wait for a line until this process ends.
            thread::spawn(move || hand_on(writer));
            reader.into()
        } else {
            io::stdin().as_fd().try_clone_to_owned().map_err(failed)?
        };
        if io::stdout().is_terminal() {
            let (reader, writer) = io::pipe().map_err(failed)?;
            let printing = Some(thread::spawn(move || print_all(reader)));
            return Ok(Self { input, output: writer.into(), printing });
        }
        let output = io::stdout().as_fd().try_clone_to_owned().map_err(failed)?;
        Ok(Self { input, output, printing: None })
    }

    /// The ends for the program, and what to do once it has ended: wait until all that it wrote is
    /// printed.
    pub(super) fn split(self) -> (OwnedFd, OwnedFd, impl FnOnce()) {
        let printing = self.printing;
        let finish = move || {
            if let Some(printing) = printing {
                let _ = printing.join();
            }
        };
        (self.input, self.output, finish)
    }
}

/// Gives the program what the person types, line by line.
fn hand_on(mut program: PipeWriter) {
    let mut line = String::new();
    while let Ok(1..) = io::stdin().read_line(&mut line) {
        if program.write_all(line.as_bytes()).is_err() {
            return;
        }
        line.clear();
    }
}

fn print_all(mut program: PipeReader) {
    let mut printer = Printer::default();
    let mut piece = vec![0; PIECE];
    while let Ok(count @ 1..) = program.read(&mut piece) {
        printer.print(piece.get(..count).unwrap_or_default());
    }
    printer.finish();
}

/// Prints what a program writes on a terminal, piece by piece.
#[derive(Debug, Default)]
pub(super) struct Printer {
    /// The beginning of a character whose end has not come yet.
    rest: Vec<u8>,
}

impl Printer {
    /// Prints all characters that are whole.
    pub(super) fn print(&mut self, bytes: &[u8]) {
        report::foreign(&self.text(bytes));
    }

    /// Prints what is left.
    pub(super) fn finish(self) {
        report::foreign(&String::from_utf8_lossy(&self.rest));
    }

    fn text(&mut self, bytes: &[u8]) -> String {
        self.rest.extend_from_slice(bytes);
        let mut chunks = self.rest.utf8_chunks().peekable();
        let mut text = String::new();
        let mut rest = 0;
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            // What is not a character is one mistake; at the very end it may be half a character.
            match chunk.invalid() {
                [] => {}
                half if chunks.peek().is_none() && is_half(half) => rest = half.len(),
                _ => text.push(char::REPLACEMENT_CHARACTER),
            }
        }
        self.rest.drain(..self.rest.len() - rest);
        text
    }
}

/// Whether more bytes could make this a character.
fn is_half(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Printer;

    proptest! {
        #[test]
        fn the_text_is_the_same_however_it_is_cut(
            bytes in proptest::collection::vec(prop_oneof![any::<u8>(), Just(0xf0), Just(0x9f), Just(0xa4)], 0..60),
            cuts in proptest::collection::vec(0_usize..60, 0..6),
        ) {
            let mut printer = Printer::default();
            let mut places: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            places.extend([0, bytes.len()]);
            places.sort_unstable();
            let mut text: String =
                places.windows(2).map(|ends| printer.text(&bytes[ends[0]..ends[1]])).collect();
            text.push_str(&String::from_utf8_lossy(&printer.rest));
            prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
        }
    }
}
