//! What a test program printed, in whichever of the known forms it is.

use super::collected::Collected;
use super::{criterion, tap, unity};

/// What the form was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrintedTests {
    /// The framework; empty when nothing was understood.
    pub framework: &'static str,
    /// Whether the summary at the end is there.
    pub is_whole: bool,
}

type Form = fn(&str, &mut Collected) -> Option<bool>;

const FORMS: [(&str, Form); 3] =
    [("Unity", unity::read), ("Criterion", criterion::read), ("TAP", tap::read)];

/// Reads it; the tests go to `tests`.
pub fn printed(text: &str, tests: &mut Collected) -> PrintedTests {
    for (framework, read) in FORMS {
        if let Some(is_whole) = read(text, tests) {
            return PrintedTests { framework, is_whole };
        }
    }
    PrintedTests::default()
}
