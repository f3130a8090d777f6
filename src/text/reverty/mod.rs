//! Reverty: Python with mirrored keywords and constructs. Reading, checking, formatting, and the way
//! to Python and back.
//!
//! The language is described in `assets/reverty/grammar.md`. Texts of any kind may be given: what is
//! read is bounded in size and depth, and every fault has its line, its column and a hint. Owns no
//! state and must not do IO; running a program is not done here.

mod ast;
mod calls;
mod check;
mod clause;
mod cursor;
mod expr;
mod fault;
mod format;
#[cfg(test)]
mod generated_tests;
#[cfg(test)]
mod hint_tests;
mod hints;
mod lexer;
mod literal;
mod parser;
mod python;
mod python_parser;
#[cfg(test)]
mod reverty_tests;
mod scope;
mod sign;
mod trace;
mod tree;
mod words;
mod write;

pub use fault::Fault;
pub use python::{Ending, Python};
pub use trace::mapped;
pub use tree::{Node, outline};
pub use words::{DECLARED, Declared, EXCEPTIONS};

use bumpalo::Bump;

use ast::Program;
use fault::{Faults, Span};

/// Longest program that is read, in bytes.
pub const MOST_BYTES: usize = 64 << 20;

/// Whether a file of that name holds a program in Reverty.
#[must_use]
pub fn is_program(path: &str) -> bool {
    path.ends_with(".rev")
}

/// The text of a program, from the bytes of a file.
///
/// # Errors
/// Where the bytes are not UTF-8.
pub fn decode(bytes: &[u8]) -> Result<&str, Vec<Fault>> {
    std::str::from_utf8(bytes).map_err(|error| {
        let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let good = std::str::from_utf8(good).unwrap_or_default();
        let at = Span { start: u32::try_from(good.len()).unwrap_or(u32::MAX), end: u32::MAX };
        only(good, at, "the program is not UTF-8 text", "Save the file as UTF-8.")
    })
}

/// What is wrong with a program; nothing when it can be translated.
#[must_use]
pub fn check(text: &str) -> Vec<Fault> {
    let arena = Bump::new();
    read(&arena, text, parser::parse).err().unwrap_or_default()
}

/// The syntax tree of a program whose form is right.
///
/// # Errors
/// What is wrong with its form.
pub fn tree(text: &str) -> Result<Node, Vec<Fault>> {
    Ok(tree::tree(&well_formed(&Bump::new(), text)?))
}

/// A program in canonical form.
///
/// # Errors
/// What is wrong with its form.
pub fn format(text: &str) -> Result<String, Vec<Fault>> {
    Ok(format::format(&well_formed(&Bump::new(), text)?))
}

/// A program in Python.
///
/// # Errors
/// What is wrong with it.
pub fn to_python(text: &str) -> Result<Python, Vec<Fault>> {
    Ok(python::translate(&read(&Bump::new(), text, parser::parse)?, 0, Ending::CallMain))
}

/// The statements of a program from a line on, in Python: for programs that grow line by line.
///
/// # Errors
/// What is wrong with the program.
pub fn to_python_from(text: &str, line: u32) -> Result<Python, Vec<Fault>> {
    Ok(python::translate(&read(&Bump::new(), text, parser::parse)?, line, Ending::Nothing))
}

/// The names of the functions that a program defines, whatever else is wrong with it.
#[must_use]
pub fn functions_of(text: &str) -> Vec<String> {
    python::defined(&parser::parse(&Bump::new(), text).0)
}

/// A program in Python as Reverty.
///
/// # Errors
/// What of it is wrong, or has no form in Reverty.
pub fn from_python(text: &str) -> Result<String, Vec<Fault>> {
    Ok(format::format(&read(&Bump::new(), text, python_parser::parse)?))
}

type Parser = for<'s> fn(&'s Bump, &'s str) -> (Program<'s>, Faults);

/// Reads and checks.
fn read<'s>(arena: &'s Bump, text: &'s str, parse: Parser) -> Result<Program<'s>, Vec<Fault>> {
    check_size(text)?;
    let (program, mut faults) = parse(arena, text);
    // A line that was not understood may be the one that assigns what others use.
    if faults.is_empty() {
        check::check(&program, &mut faults);
    }
    if faults.is_empty() { Ok(program) } else { Err(faults.in_words(text)) }
}

fn well_formed<'s>(arena: &'s Bump, text: &'s str) -> Result<Program<'s>, Vec<Fault>> {
    check_size(text)?;
    let (program, faults) = parser::parse(arena, text);
    if faults.is_empty() { Ok(program) } else { Err(faults.in_words(text)) }
}

fn check_size(text: &str) -> Result<(), Vec<Fault>> {
    if text.len() <= MOST_BYTES {
        return Ok(());
    }
    let message = format!("the program is longer than {} MiB", MOST_BYTES >> 20);
    Err(only("", Span::default(), &message, "Split it."))
}

fn only(text: &str, at: Span, message: &str, hint: &str) -> Vec<Fault> {
    let mut faults = Faults::default();
    faults.add(at, message, hint);
    faults.in_words(text)
}
