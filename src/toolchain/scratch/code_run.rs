//! Runs one program that an agent wrote.
//!
//! Owns which languages there are and how a program of each is started.

use std::time::Duration;

use super::c_program::{CProgram, Compiled, compile};
use super::c_sources::SourceSet;
use super::captured::{Captured, ConfinedProgram, Streams};
use super::interpreter::PythonStart;
use super::run_env::RunEnv;
use crate::model::{ProjectPath, UserError};
use crate::sandbox::RunEnd;
use crate::text::reverty;

/// Bytes of a program in Reverty that are read.
const MOST_SOURCE: u64 = 4 << 20;

/// A language that programs are run in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Python,
    C,
    Cxx,
    Shell,
    Reverty,
}

impl Language {
    /// Ending of its files.
    #[must_use]
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Python => "py",
            Self::C => "c",
            Self::Cxx => "cpp",
            Self::Shell => "sh",
            Self::Reverty => "rev",
        }
    }
}

/// A program to run; its files are in the copy already.
#[derive(Debug, Clone)]
pub struct CodeRun {
    pub language: Language,
    pub entry: ProjectPath,
    pub args: Vec<String>,
    pub input: Vec<u8>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeResult {
    /// `false` when it did not compile; then the output is the compiler's.
    pub did_run: bool,
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub output: String,
    pub errors: String,
    /// Bytes that are in neither.
    pub cut: u64,
    pub took: Duration,
    /// The most memory it had, in bytes.
    pub peak: u64,
    /// The limit that stopped it, or what it was kept from: time, memory, processes, file, network.
    pub wall: Option<String>,
    pub was_cancelled: bool,
}

/// Runs it.
///
/// # Errors
/// When what runs the language is missing, or there is no sandbox.
pub async fn run_code(env: &mut RunEnv<'_>, order: CodeRun) -> Result<CodeResult, UserError> {
    let program = match started(env, &order).await? {
        Ok(program) => program,
        Err(failed) => return Ok(result(&failed, CodeStep::Compile)),
    };
    let program = ConfinedProgram { input: order.input, streams: Streams::Apart, ..program };
    Ok(result(&env.run(program).await?, CodeStep::Run))
}

/// The program to start; or what the compiler had to say.
async fn started(
    env: &mut RunEnv<'_>,
    order: &CodeRun,
) -> Result<Result<ConfinedProgram, Captured>, UserError> {
    // A name that begins like an option is none.
    let entry = format!("./{}", order.entry);
    let with = |first: Vec<String>| first.into_iter().chain(order.args.iter().cloned()).collect();
    Ok(Ok(match order.language {
        Language::Python => python(env, &entry, &order.args).await?,
        Language::Reverty => {
            let source = env.scratch.text(order.entry.as_str(), MOST_SOURCE).unwrap_or_default();
            let made = reverty::to_python(&source).map_err(|faults| not_reverty(order, &faults))?;
            let name = "program.py";
            env.scratch.put_support(name, &made.text)?;
            let file = env.scratch.support().join(name).display().to_string();
            python(env, &file, &order.args).await?
        }
        Language::Shell => env.program("/bin/sh".into(), with(vec![entry])),
        Language::C | Language::Cxx => {
            let sources = SourceSet::of(env.scratch, order.entry.as_str());
            let program = CProgram { first: &entry, sources: &sources, name: "program", args: &[] };
            match compile(env, &program).await? {
                Compiled::Program(program) => env.program(program, with(Vec::new())),
                Compiled::Failed(captured) => return Ok(Err(*captured)),
            }
        }
    }))
}

async fn python(
    env: &mut RunEnv<'_>,
    file: &str,
    args: &[String],
) -> Result<ConfinedProgram, UserError> {
    let start = PythonStart::find(env).await?;
    let args = ["-u", file].into_iter().map(str::to_owned).chain(args.iter().cloned()).collect();
    Ok(start.program(env, args, &[env.scratch.project()]))
}

fn not_reverty(order: &CodeRun, faults: &[reverty::Fault]) -> UserError {
    let first = faults.first().map_or_else(String::new, |fault| {
        format!("{}:{}:{}: {}", order.entry, fault.line, fault.column, fault.message)
    });
    UserError::new("Cannot translate the program", first, "Correct it and run it again.")
}

enum CodeStep {
    Compile,
    Run,
}

fn result(captured: &Captured, step: CodeStep) -> CodeResult {
    let (code, signal) = match captured.report.end {
        RunEnd::Exit(code) => (Some(code), None),
        RunEnd::Signal(signal) => (None, Some(signal)),
        RunEnd::Stopped => (None, None),
    };
    let (output, errors) = (captured.output.text(), captured.errors.text());
    let wall = match captured.report.wall {
        Some(wall) => Some(wall.to_string()),
        None if captured.is_well() => None,
        None => refused(&errors).map(str::to_owned),
    };
    CodeResult {
        did_run: matches!(step, CodeStep::Run),
        code,
        signal,
        output,
        errors,
        cut: captured.output.cut() + captured.errors.cut(),
        took: captured.report.took,
        peak: captured.report.peak,
        wall,
        was_cancelled: captured.was_cancelled,
    }
}

/// What a program was kept from, told from its complaint.
fn refused(errors: &str) -> Option<&'static str> {
    let has = |words: &[&str]| words.iter().any(|word| errors.contains(word));
    let network =
        &["Network is unreachable", "name resolution", "Name or service not known", "ENETUNREACH"];
    let file =
        &["Read-only file system", "EROFS", "PermissionError", "Permission denied", "EACCES"];
    let memory = &["MemoryError", "std::bad_alloc", "Cannot allocate memory"];
    let processes = &["can't start new thread", "Resource temporarily unavailable"];
    let walls: [(&str, &[&str]); 4] =
        [("network", network), ("file", file), ("memory", memory), ("processes", processes)];
    walls.into_iter().find(|(_, words)| has(words)).map(|(wall, _)| wall)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wall_is_read_from_the_complaint() {
        assert_eq!(refused("OSError: [Errno 101] Network is unreachable"), Some("network"));
        assert_eq!(refused("OSError: [Errno 30] Read-only file system: '/etc/x'"), Some("file"));
        assert_eq!(refused("MemoryError"), Some("memory"));
        assert_eq!(refused("AssertionError: 3 != 4"), None);
    }
}
