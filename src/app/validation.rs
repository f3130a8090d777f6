//! Tries an order of agents on tasks whose recorded answers are really run, in the sandbox.
//!
//! Owns the test program that is made of a task's checks. The same answer is run once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use crate::config::Assets;
use crate::model::{ContentHash, ProjectPath, UserError};
use crate::policy::{Judge, RecordedSelector, RecordedTask, SELECTOR, TASKS, tasks};
use crate::sandbox::Runner;
use crate::toolchain::scratch::{
    Coverage, RunEnv, ScratchFolder, TestLanguage, TestOrder, run_tests,
};

/// Time of one run.
const TIME: Duration = Duration::from_secs(20);

/// Runs answers in the sandbox.
pub struct SandboxJudge {
    runner: Runner,
    runtime: Runtime,
    known: BTreeMap<ContentHash, bool>,
}

impl SandboxJudge {
    /// A judge that has run nothing yet.
    ///
    /// # Errors
    /// When no runtime can be made.
    pub fn new(runner: Runner) -> Result<Self, UserError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime
            .map_err(|error| UserError::from_cause("Cannot run the recorded answers", &error))?;
        Ok(Self { runner, runtime, known: BTreeMap::new() })
    }

    /// How many different answers were run.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.known.len()
    }

    async fn run(&self, code: &str, test: &str) -> Result<bool, UserError> {
        let mut scratch = ScratchFolder::new()?;
        for (name, content) in [("solution.py", code), ("test_solution.py", test)] {
            let path = ProjectPath::new(name).map_err(|error| {
                UserError::from_cause("Cannot run the recorded answers", &error)
            })?;
            scratch.put(&path, content.as_bytes())?;
        }
        let project = scratch.project();
        let output = (Arc::new(|_: &[u8]| {}) as _, CancellationToken::new());
        let mut env = RunEnv::new(&self.runner, &scratch, &project, output, TIME);
        let (language, coverage) = (TestLanguage::Python, Coverage::NotMeasured);
        let order = TestOrder { language, paths: Vec::new(), coverage, kit: None };
        Ok(run_tests(&mut env, &order).await?.has_passed())
    }
}

impl Judge for SandboxJudge {
    fn passes(&mut self, task: &RecordedTask, code: &str) -> Result<bool, UserError> {
        let test = test_program(task);
        let hash = ContentHash::of(format!("{code}\n{test}").as_bytes());
        if let Some(known) = self.known.get(&hash) {
            return Ok(*known);
        }
        let passed = self.runtime.block_on(self.run(code, &test))?;
        self.known.insert(hash, passed);
        Ok(passed)
    }
}

/// The recorded tasks that ship, or those of the person.
///
/// # Errors
/// When the file is wrong.
pub fn recorded_tasks(assets: &Assets) -> Result<Vec<RecordedTask>, UserError> {
    let file = assets.text(TASKS)?;
    tasks(&file.origin.to_string(), &file.text)
}

/// The recorded answers of a model that chooses who speaks, which ship, or those of the person.
///
/// # Errors
/// When the file is wrong.
pub fn recorded_selector(assets: &Assets) -> Result<RecordedSelector, UserError> {
    let file = assets.text(SELECTOR)?;
    RecordedSelector::parse(&file.origin.to_string(), &file.text)
}

fn test_program(task: &RecordedTask) -> String {
    let mut text =
        "import unittest\n\nfrom solution import *\n\n\ndef raises(error, call, *args):\n    \
        try:\n        call(*args)\n    except error:\n        return True\n    return False\n\n\n\
        class Checks(unittest.TestCase):\n"
            .to_owned();
    for (number, check) in task.checks.iter().enumerate() {
        text.push_str(&format!(
            "    def test_{number}(self):\n        self.assertTrue({check})\n\n"
        ));
    }
    text
}
