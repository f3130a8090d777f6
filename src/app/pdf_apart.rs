//! Reads PDF documents in a process of its own.
//!
//! A stranger's document can ask for any amount of memory and time, and the reader of its syntax
//! may give up by panicking. The program therefore starts itself once more for each of them, with
//! bounds that the kernel keeps; whatever goes wrong there is an error here. Must not know what the
//! text is for.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, setrlimit};
use tokio_util::sync::CancellationToken;

use crate::files;
use crate::text::json;
use crate::text::pdf::{self, PdfFault, PdfText};
use crate::toolchain::process::{ProcessEnd, ProcessSpec, run};

/// Longest document that is read, in bytes.
pub(super) const MOST_BYTES: u64 = 64 << 20;

/// The command that reads a document for another process.
pub const COMMAND: &str = "pdf-text";

/// Most memory that reading may take, in bytes of address space.
const MOST_MEMORY: u64 = 1 << 30;

/// Longest time that reading may take, in seconds.
const MOST_SECONDS: u64 = 20;

/// Most bytes of an answer: the text is bounded, and JSON may double it.
const MOST_ANSWER: usize = 32 << 20;

/// The text of a document.
///
/// # Errors
/// Why it cannot be read, and what to do.
pub(super) fn read(path: &Path) -> Result<PdfText, (String, String)> {
    let failed = |error: std::io::Error| {
        let fix = "Attach its text as a .md or .txt file instead.";
        (format!("the PDF reader could not be started: {error}"), fix.to_owned())
    };
    let job = ProcessSpec {
        program: std::env::current_exe().map_err(failed)?.into(),
        args: vec![COMMAND.into(), std::path::absolute(path).map_err(failed)?.into()],
        env: Vec::new(),
        folder: std::env::temp_dir(),
        timeout: Duration::from_secs(MOST_SECONDS),
        cancel: CancellationToken::new(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let mut answer = Vec::new();
    let work = run(job, |bytes| {
        if answer.len() + bytes.len() <= MOST_ANSWER {
            answer.extend_from_slice(bytes);
        }
    });
    let ended = runtime.map_err(failed)?.block_on(work).map_err(failed)?;
    understood(ended, &answer)
}

/// What the reader's end and its answer mean.
fn understood(ended: ProcessEnd, answer: &[u8]) -> Result<PdfText, (String, String)> {
    let anew = "Open it in a viewer, print the pages that matter to a new PDF, and attach that.";
    match ended {
        ProcessEnd::Well => {
            let read = serde_json::from_slice::<Result<PdfText, PdfFault>>(answer);
            let read =
                read.map_err(|_| ("the PDF reader gave no answer".to_owned(), anew.to_owned()))?;
            read.map_err(in_words)
        }
        ProcessEnd::TimedOut => {
            Err((format!("reading it takes longer than {MOST_SECONDS} s"), anew.to_owned()))
        }
        ProcessEnd::Badly(_) | ProcessEnd::Cancelled => {
            let gigabytes = MOST_MEMORY >> 30;
            let why = format!(
                "the PDF reader stopped: the file is damaged, or needs more than {gigabytes} GiB"
            );
            Err((why, anew.to_owned()))
        }
    }
}

fn in_words(fault: PdfFault) -> (String, String) {
    let (why, fix) = match fault {
        PdfFault::Locked => (
            "it is locked with a password".to_owned(),
            "Save a copy without it, for example with `qpdf --decrypt --password=… in.pdf out.pdf`",
        ),
        PdfFault::UnknownCipher => (
            "it is encrypted in a way that is not known here".to_owned(),
            "Open it in a viewer, print it to a new PDF, and attach that.",
        ),
        PdfFault::Damaged => (
            "it is not a PDF, or too damaged to find its pages".to_owned(),
            "Check that it opens in a viewer; download it again, or print it to a new PDF.",
        ),
        PdfFault::NoText(1) => (
            "there is no text on its page, so it may be scanned".to_owned(),
            "Run text recognition, for example `ocrmypdf in.pdf out.pdf`",
        ),
        PdfFault::NoText(pages) => (
            format!("there is no text on its {pages} pages, so it may be scanned"),
            "Run text recognition, for example `ocrmypdf in.pdf out.pdf`",
        ),
        PdfFault::NoLetters => (
            "its fonts do not say which letters they draw".to_owned(),
            "Run text recognition, for example `ocrmypdf --force-ocr in.pdf out.pdf`",
        ),
    };
    (why, fix.to_owned())
}

/// Reads the document for the process that asked, and answers in JSON on standard output. Runs
/// within bounds of memory and time from its first step on.
#[must_use]
pub fn answer(path: &Path) -> (ExitCode, String) {
    let bounds = [(Resource::As, MOST_MEMORY), (Resource::Cpu, MOST_SECONDS), (Resource::Core, 0)];
    for (resource, most) in bounds {
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        if setrlimit(resource, limit).is_err() {
            return (ExitCode::FAILURE, String::new());
        }
    }
    let Ok(bytes) = files::read(path, MOST_BYTES) else {
        return (ExitCode::FAILURE, String::new());
    };
    match json::line(&pdf::read(bytes)) {
        Ok(answer) => (ExitCode::SUCCESS, answer),
        Err(_) => (ExitCode::FAILURE, String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_of_the_reader_has_words_and_a_way_on() {
        let text = Ok::<_, PdfFault>(PdfText { pages: vec!["a".into()], of: 1 });
        let answer = serde_json::to_vec(&text).unwrap();
        assert_eq!(understood(ProcessEnd::Well, &answer).unwrap().of, 1);
        for (ended, why) in [
            (ProcessEnd::Well, "no answer"),
            (ProcessEnd::TimedOut, "20 s"),
            (ProcessEnd::Badly(Some(101)), "stopped"),
            (ProcessEnd::Badly(None), "1 GiB"),
        ] {
            let (found, fix) = understood(ended, b"thread panicked").unwrap_err();
            assert!(found.contains(why) && fix.contains("viewer"), "{found}");
        }
        for (fault, why) in [
            (PdfFault::Locked, "password"),
            (PdfFault::UnknownCipher, "encrypted"),
            (PdfFault::Damaged, "damaged"),
            (PdfFault::NoText(1), "scanned"),
            (PdfFault::NoText(7), "7 pages"),
            (PdfFault::NoLetters, "letters"),
        ] {
            let answer = serde_json::to_vec(&Err::<PdfText, _>(fault)).unwrap();
            let (found, fix) = understood(ProcessEnd::Well, &answer).unwrap_err();
            assert!(found.contains(why) && !fix.is_empty(), "{found}");
        }
    }
}
