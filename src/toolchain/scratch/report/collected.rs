//! The tests of a run as they are gathered, within bounds.
//!
//! Owns which of very many tests are kept: all that are wrong as far as there is space, then the
//! first of the others. Makes every text harmless.

use std::path::Path;

use crate::model::{TestCase, TestCounts};
use crate::text::sanitize;

/// Tests that are kept.
pub const KEPT: usize = 2_000;

/// Longest name, message and output of one test, in bytes.
const NAME: usize = 300;
const MESSAGE: usize = 600;
const OUTPUT: usize = 8 << 10;

/// Bytes of output of all tests together.
const ALL_OUTPUT: usize = 512 << 10;

/// Tests that have ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Collected {
    pub counts: TestCounts,
    bad: Vec<TestCase>,
    good: Vec<TestCase>,
    /// Folders that places are relative to, longest first.
    roots: Vec<String>,
    output: usize,
}

impl Collected {
    /// Places below one of `roots` become relative to it.
    #[must_use]
    pub fn below(roots: &[&Path]) -> Self {
        let roots = roots.iter().map(|root| format!("{}/", root.display())).collect();
        Self { roots, ..Self::default() }
    }

    /// Adds a test.
    pub fn add(&mut self, test: TestCase) {
        self.counts.add(test.outcome);
        let list = if test.outcome.is_bad() { &mut self.bad } else { &mut self.good };
        if list.len() >= KEPT {
            return;
        }
        let TestCase { name, outcome, millis, message, file, line, output } = test;
        let mut output = cut(&self.shown(&sanitize::block(&output)), OUTPUT);
        if self.output + output.len() > ALL_OUTPUT {
            output.clear();
        }
        self.output += output.len();
        let first = message.trim().lines().next().unwrap_or_default();
        let name = cut(&sanitize::line(&name), NAME);
        let message = cut(&self.shown(&sanitize::line(first)), MESSAGE);
        let file = file.and_then(|file| self.relative(&file));
        let list = if outcome.is_bad() { &mut self.bad } else { &mut self.good };
        list.push(TestCase { name, outcome, millis, message, file, line, output });
    }

    /// A place within the project; `None` for one elsewhere.
    fn relative(&self, file: &str) -> Option<String> {
        let below = self.roots.iter().find_map(|root| file.strip_prefix(root));
        let file = below.unwrap_or(file);
        let file = file.strip_prefix("./").unwrap_or(file);
        crate::model::ProjectPath::new(file).ok().map(|path| path.as_str().to_owned())
    }

    /// Without the folder that the run was in, which is gone.
    fn shown(&self, text: &str) -> String {
        self.roots.iter().fold(text.to_owned(), |text, root| text.replace(root, ""))
    }

    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.counts.total() == 0
    }

    /// The tests that are kept, what is wrong first, and how many are not.
    #[must_use]
    pub fn finish(self) -> (Vec<TestCase>, u32) {
        let mut all = self.bad;
        all.extend(self.good);
        all.truncate(KEPT);
        let kept = u32::try_from(all.len()).unwrap_or(u32::MAX);
        (all, self.counts.total().saturating_sub(kept))
    }
}

fn cut(text: &str, most: usize) -> String {
    match text.len() <= most {
        true => text.to_owned(),
        false => format!("{}…", text.get(..text.floor_char_boundary(most)).unwrap_or_default()),
    }
}
