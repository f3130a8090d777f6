//! Runs one program in the sandbox and keeps what it printed, within bounds.
//!
//! Owns the pipes and the threads that read them. Must not know what is run.

use std::collections::VecDeque;
use std::io::{self, PipeReader, Read, Write};
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio_util::sync::CancellationToken;

use super::folder::ScratchFolder;
use crate::model::UserError;
use crate::sandbox::{ConfinedRun, Ends, Limits, RunEnd, RunReport, Runner, Walls};
use crate::text::sanitize;

/// Bytes of a stream that is shown of which are kept so many from its beginning, and as many from its
/// end.
const SHOWN: usize = 512 << 10;

/// The same for a stream that tests are read from.
const READ: usize = 8 << 20;

/// Takes what a program prints, as it comes.
pub type OutputSink = Arc<dyn Fn(&[u8]) + Send + Sync>;

/// A program for the sandbox.
#[derive(Debug, Clone)]
pub struct ConfinedProgram {
    pub program: std::path::PathBuf,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    /// What it reads beside the scratch folder and the programs of this machine.
    pub reads: Vec<std::path::PathBuf>,
    pub input: Vec<u8>,
    pub limits: Limits,
    pub streams: Streams,
}

/// Whether standard output and standard error are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    Apart,
    Together,
}

/// What a program printed: its beginning and its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptOutput {
    /// Bytes of each end that are kept.
    most: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl KeptOutput {
    const fn new(most: usize) -> Self {
        Self { most, head: Vec::new(), tail: VecDeque::new(), total: 0 }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let space = self.most - self.head.len();
        let (first, rest) = bytes.split_at(space.min(bytes.len()));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let excess = self.tail.len().saturating_sub(self.most);
        self.tail.drain(..excess);
    }

    /// Bytes that were left out.
    #[must_use]
    pub fn cut(&self) -> u64 {
        self.total - (self.head.len() + self.tail.len()) as u64
    }

    /// All that is kept, as it came.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.head.iter().chain(&self.tail).copied().collect()
    }

    /// As text without control sequences; bytes that are not UTF-8 are read as Latin-1 where the
    /// whole looks like it, and else shown by their numbers.
    #[must_use]
    pub fn text(&self) -> String {
        let mut all = self.head.clone();
        if self.cut() > 0 {
            all.extend_from_slice(format!("\n… {} bytes left out …\n", self.cut()).as_bytes());
        }
        all.extend(&self.tail);
        readable(&all)
    }
}

/// Bytes of a program as harmless text.
#[must_use]
pub fn readable(bytes: &[u8]) -> String {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        // Letters of Western Europe; control characters there mean that it is something else.
        Err(_) if !bytes.iter().any(|byte| matches!(byte, 0x80..=0x9f | 0)) => {
            bytes.iter().map(|byte| char::from(*byte)).collect()
        }
        Err(_) => sanitize::decode(bytes).into_owned(),
    };
    sanitize::block(&sanitize::strip_sequences(&text)).into_owned()
}

/// How a program ended and what it printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    pub report: RunReport,
    /// Standard output, or both streams.
    pub output: KeptOutput,
    /// Standard error; empty when it went together with the output.
    pub errors: KeptOutput,
    /// Whether the person stopped it.
    pub was_cancelled: bool,
}

impl Captured {
    /// Whether it ended by itself with code 0.
    #[must_use]
    pub fn is_well(&self) -> bool {
        self.report.wall.is_none() && self.report.end == RunEnd::Exit(0)
    }

    /// How it ended in words; `None` when it ended well.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        if self.was_cancelled {
            return Some("the person stopped it".to_owned());
        }
        match (self.report.wall, self.report.end) {
            (Some(wall), _) => Some(format!("the sandbox ended it: it reached the limit ({wall})")),
            (None, RunEnd::Exit(0)) => None,
            (None, RunEnd::Exit(code)) => Some(format!("exit code {code}")),
            (None, RunEnd::Signal(signal)) => Some(format!("ended by signal {}", named(signal))),
            (None, RunEnd::Stopped) => Some("it was ended from outside".to_owned()),
        }
    }
}

/// A signal by its name where it has a usual one.
fn named(signal: i32) -> String {
    match nix::sys::signal::Signal::try_from(signal) {
        Ok(known) => format!("{signal} ({known})"),
        Err(_) => signal.to_string(),
    }
}

/// Runs a program in the scratch folder; `sink` takes all that it prints.
///
/// # Errors
/// When there is no sandbox, or it cannot be started.
pub async fn run(
    runner: &Runner,
    scratch: &ScratchFolder,
    program: ConfinedProgram,
    (sink, cancel): (OutputSink, CancellationToken),
) -> Result<Captured, UserError> {
    let walls = walls(scratch, &program);
    let (input, streams) = (program.input, program.streams);
    let runner = runner.clone();
    let started = tokio::task::spawn_blocking(move || start(&runner, &walls, input, streams, sink));
    let (run, pipes) = started.await.map_err(|error| failed(&error.to_string()))??;
    let waiter = run.waiter();
    let mut ended = tokio::task::spawn_blocking(move || {
        let report = waiter.wait();
        let [output, errors] = pipes.map(|pipe| pipe.and_then(|pipe| pipe.join().ok()));
        let none = || KeptOutput::new(0);
        (report, output.unwrap_or_else(none), errors.unwrap_or_else(none))
    });
    let (ended, was_cancelled) = tokio::select! {
        ended = &mut ended => (ended, false),
        () = cancel.cancelled() => {
            drop(run);
            (ended.await, true)
        }
    };
    let (report, output, errors) = ended.map_err(|error| failed(&error.to_string()))?;
    Ok(Captured { report, output, errors, was_cancelled })
}

fn walls(scratch: &ScratchFolder, program: &ConfinedProgram) -> Walls {
    let temporary = scratch.temporary().display().to_string();
    let path = "/usr/local/bin:/usr/bin:/bin";
    let usual =
        [("HOME", &*temporary), ("TMPDIR", &temporary), ("LANG", "C.UTF-8"), ("PATH", path)];
    let usual = usual.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let is_left = |(name, _): &(String, String)| program.env.iter().all(|(own, _)| own != name);
    let env = usual.into_iter().filter(is_left).chain(program.env.iter().cloned()).collect();
    let reads = crate::sandbox::programs().chain(program.reads.iter().cloned());
    let disk = program.limits.disk.saturating_add(scratch.copied());
    Walls {
        program: program.program.clone(),
        args: program.args.clone(),
        env,
        folder: scratch.project(),
        reads: reads.chain([scratch.support()]).collect(),
        writes: vec![scratch.project(), scratch.results(), scratch.temporary()],
        limits: Limits { disk, ..program.limits.clone() },
        machine: None,
    }
}

type Reading = JoinHandle<KeptOutput>;

fn start(
    runner: &Runner,
    walls: &Walls,
    input: Vec<u8>,
    streams: Streams,
    sink: OutputSink,
) -> Result<(ConfinedRun, [Option<Reading>; 2]), UserError> {
    let pipe = || io::pipe().map_err(|error| failed(&error.to_string()));
    let ((its_input, mut feed), (output, its_output)) = (pipe()?, pipe()?);
    let (errors, its_errors, most) = match streams {
        Streams::Apart => {
            let (errors, its_errors) = pipe()?;
            (Some(errors), its_errors, SHOWN)
        }
        Streams::Together => {
            let its_errors = its_output.try_clone().map_err(|error| failed(&error.to_string()))?;
            (None, its_errors, READ)
        }
    };
    let ends =
        Ends { input: its_input.into(), output: its_output.into(), errors: its_errors.into() };
    let run = runner.start(walls, ends)?;
    // It ends when all is written or the program has ended; nobody waits for it.
    std::thread::spawn(move || feed.write_all(&input));
    let errors = errors.map(|errors| read(errors, SHOWN, Arc::clone(&sink)));
    Ok((run, [Some(read(output, most, sink)), errors]))
}

fn read(mut pipe: PipeReader, most: usize, sink: OutputSink) -> Reading {
    std::thread::spawn(move || {
        let mut kept = KeptOutput::new(most);
        let mut buffer = vec![0; 64 << 10];
        loop {
            match pipe.read(&mut buffer) {
                Ok(0) => return kept,
                Ok(count) => {
                    let bytes = buffer.get(..count).unwrap_or_default();
                    kept.push(bytes);
                    sink(bytes);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return kept,
            }
        }
    })
}

fn failed(why: &str) -> UserError {
    UserError::new("Cannot run the program", why, "Run `firmhand doctor` to see what is missing.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_and_the_end_of_long_output_are_kept() {
        let mut kept = KeptOutput::new(SHOWN);
        kept.push(b"begin ");
        for _ in 0..40 {
            kept.push(&[b'x'; 64 << 10]);
        }
        kept.push(b" end");
        assert_eq!(kept.head.len(), SHOWN);
        assert_eq!(kept.tail.len(), SHOWN);
        let text = kept.text();
        assert!(text.starts_with("begin x") && text.ends_with("x end"));
        assert!(text.contains(&format!("{} bytes left out", kept.cut())));
    }

    #[test]
    fn output_that_is_not_utf_8_is_readable() {
        assert_eq!(readable(b"gr\xfc\xdfe\n"), "grüße\n");
        assert_eq!(readable("grüße".as_bytes()), "grüße");
        assert_eq!(readable(b"\x00\xff\x81"), "␀\\xff\\x81");
        assert_eq!(readable(b"\x1b[31mred\x1b[0m \x1b]0;title\x07"), "red ");
    }
}
