//! Runs the tests of a project, whichever framework they are written for.

use std::time::Instant;

use super::order::{RunOutcome, TestLanguage, TestOrder};
use super::run_env::RunEnv;
use super::{assertions, c_runner, ctest, python_runner, test_files};
use crate::model::{TestReport, UserError};

/// Runs them.
///
/// # Errors
/// When there are none, what runs them is missing, or there is no sandbox.
pub async fn run_tests(env: &mut RunEnv<'_>, order: &TestOrder) -> Result<TestReport, UserError> {
    let begun = Instant::now();
    env.scratch.clear_results();
    let outcome = match order.language {
        TestLanguage::Python => {
            let files = test_files::python(env.scratch, &order.paths);
            some(&files, "Python", "`test_*.py`")?;
            python_runner::run(env, order, &files).await?
        }
        TestLanguage::C => match ctest::folder(env.scratch, &order.paths) {
            Some(folder) if ctest::is_there() => ctest::run(env, &folder).await?,
            folder => {
                let files = test_files::c(env.scratch, &order.paths);
                if files.is_empty() && folder.is_some() {
                    return Err(ctest::missing());
                }
                some(&files, "C", "`test/test_*.c`")?;
                c_runner::run(env, &files, order.kit.as_deref()).await?
            }
        },
    };
    let RunOutcome { framework, tests, stopped, notes, coverage } = outcome;
    let counts = tests.counts;
    let (mut tests, omitted) = tests.finish();
    let checking_nothing = assertions::checking_nothing(env.scratch, order.language, &tests);
    for test in tests.iter_mut().filter(|test| checking_nothing.contains(&test.name)) {
        "checks nothing".clone_into(&mut test.message);
    }
    let millis = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(TestReport {
        framework,
        counts,
        tests,
        omitted,
        checking_nothing,
        proposed: Vec::new(),
        stopped,
        notes,
        coverage,
        millis,
    })
}

fn some(files: &[String], language: &str, names: &str) -> Result<(), UserError> {
    if !files.is_empty() {
        return Ok(());
    }
    let fix = format!("Name the files in `paths`, or give new ones in `files`, e.g. as {names}.");
    Err(UserError::new("Cannot run tests", format!("there are no tests in {language}"), fix))
}
