//! What the reporters for pytest and unittest write: a line of JSON as a test begins and as it ends.
//!
//! A test that began and did not end has ended its runner.

use serde::Deserialize;

use super::collected::Collected;
use crate::model::{TestCase, TestOutcome};

#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum ReportLine {
    Start { name: String, file: Option<String>, line: Option<u32> },
    End(Box<Ended>),
    Done,
}

#[derive(Deserialize)]
struct Ended {
    name: String,
    outcome: TestOutcome,
    #[serde(default)]
    seconds: f64,
    #[serde(default)]
    message: String,
    #[serde(default)]
    output: String,
    file: Option<String>,
    line: Option<u32>,
}

/// Whether the runner came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonRun {
    Whole,
    /// It ended before all tests had run.
    CutShort,
}

/// Reads them; `fault` says how the runner ended when that is needed. A line that is not of this form
/// is left out.
pub fn read(bytes: &[u8], fault: &str, tests: &mut Collected) -> JsonRun {
    let mut open: Option<TestCase> = None;
    let mut run = JsonRun::CutShort;
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(line) = serde_json::from_slice::<ReportLine>(line) else { continue };
        match line {
            ReportLine::Start { name, file, line } => {
                open = Some(TestCase { file, line, ..TestCase::new(name, TestOutcome::Error) });
            }
            ReportLine::End(ended) => {
                open = open.filter(|open| open.name != ended.name);
                tests.add(case(*ended));
            }
            ReportLine::Done => run = JsonRun::Whole,
        }
    }
    if let Some(open) = open {
        tests.add(TestCase { message: format!("it ended the test runner: {fault}"), ..open });
    }
    run
}

fn case(ended: Ended) -> TestCase {
    let Ended { name, outcome, seconds, message, output, file, line } = ended;
    TestCase { name, outcome, millis: millis(seconds), message, file, line, output }
}

/// Seconds that a program gave, in milliseconds; 0 for what is not a time.
pub fn millis(seconds: f64) -> u64 {
    std::time::Duration::try_from_secs_f64(seconds)
        .map_or(0, |time| u64::try_from(time.as_millis()).unwrap_or(0))
}
