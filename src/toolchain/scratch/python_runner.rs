//! Tests in Python: with pytest where it is installed, else with unittest.

use super::captured::{Captured, ConfinedProgram};
use super::interpreter::PythonStart;
use super::order::{Coverage, RunOutcome, TestOrder};
use super::report::{Collected, JsonRun, json_lines};
use super::run_env::RunEnv;
use crate::model::UserError;

const REPORTER: &str = include_str!("../../../assets/testing/firmhand_report.py");
const UNITTEST: &str = include_str!("../../../assets/testing/firmhand_unittest.py");

/// Name of the file with the results.
const RESULTS: &str = "tests.jsonl";
const COVERED: &str = "coverage.json";

/// Bytes of results that are read.
const MOST: u64 = 64 << 20;

/// What pytest says with its exit code when there was nothing to run.
const NO_TESTS: i32 = 5;

/// Runs the tests in these files.
///
/// # Errors
/// When there is no Python or no sandbox.
pub async fn run(
    env: &mut RunEnv<'_>,
    order: &TestOrder,
    files: &[String],
) -> Result<RunOutcome, UserError> {
    let start = PythonStart::find(env).await?;
    let PythonStart { interpreter, packages } = &start;
    env.scratch.put_support("firmhand_report.py", REPORTER)?;
    env.scratch.put_support("firmhand_unittest.py", UNITTEST)?;
    let in_project =
        |name: &str| packages.as_ref().is_some_and(|folder| folder.join(name).is_dir());
    let has_pytest = interpreter.pytest.is_some() || in_project("pytest");
    let is_covered = order.coverage == Coverage::Measured
        && (interpreter.coverage.is_some() || in_project("coverage"));
    let mut args: Vec<String> = Vec::new();
    if is_covered {
        let data = env.scratch.results().join(".coverage").display().to_string();
        args.extend(["-m", "coverage", "run"].map(str::to_owned));
        args.push(format!("--data-file={data}"));
    }
    args.extend(if has_pytest { pytest_args(order, files) } else { unittest_args(env, files) });
    let captured = env.run(program(&start, env, args)).await?;
    let mut outcome = read(env, &captured, has_pytest);
    outcome.framework = match (has_pytest, &interpreter.pytest) {
        (true, Some(version)) => format!("pytest {version}").trim_end().to_owned(),
        (true, None) => "pytest".to_owned(),
        (false, _) => format!("unittest of Python {}", interpreter.version),
    };
    if !has_pytest {
        outcome.notes.extend(without_pytest(env, files));
    }
    if is_covered {
        outcome.coverage = covered(env, &start).await?;
    } else if order.coverage == Coverage::Measured {
        let install = "python3 -m pip install coverage";
        outcome.notes.push(format!("coverage was not measured; to have it: `{install}`"));
    }
    Ok(outcome)
}

/// How Python is started.
fn program(start: &PythonStart, env: &RunEnv<'_>, args: Vec<String>) -> ConfinedProgram {
    start.reporting(env, args, &[env.scratch.support(), env.scratch.project()], RESULTS)
}

fn pytest_args(order: &TestOrder, files: &[String]) -> Vec<String> {
    let options = "-m pytest -p firmhand_report -p no:cacheprovider -q --tb=short --color=no -rN \
                   --continue-on-collection-errors --rootdir=.";
    let mut args: Vec<String> = options.split(' ').map(str::to_owned).collect();
    // Without names the project's own settings say which they are, and pytest finds them faster.
    if !order.paths.is_empty() {
        args.extend(files.iter().map(|file| format!("./{file}")));
    }
    args
}

fn unittest_args(env: &RunEnv<'_>, files: &[String]) -> Vec<String> {
    let runner = env.scratch.support().join("firmhand_unittest.py").display().to_string();
    std::iter::once(runner).chain(files.iter().cloned()).collect()
}

fn read(env: &RunEnv<'_>, captured: &Captured, has_pytest: bool) -> RunOutcome {
    let project = env.scratch.project();
    let mut tests = Collected::below(&[&project]);
    let fault = captured.fault().unwrap_or_else(|| "it ended with exit code 0".to_owned());
    let results = env.scratch.result(RESULTS, MOST).unwrap_or_default();
    let run = json_lines(&results, &fault, &mut tests);
    let was_ended = captured.report.wall.is_some() || captured.was_cancelled;
    let is_empty = has_pytest && captured.report.end == crate::sandbox::RunEnd::Exit(NO_TESTS);
    let stopped = match run {
        _ if was_ended => fault,
        JsonRun::Whole => String::new(),
        JsonRun::CutShort if is_empty => String::new(),
        JsonRun::CutShort => {
            let text = captured.output.text();
            let last = text.trim_end().lines().next_back().unwrap_or_default().trim();
            let mut stopped = format!("the test runner ended before all tests had run ({fault})");
            if tests.is_empty() && !last.is_empty() {
                stopped.push_str(&format!(": {last}"));
            }
            stopped
        }
    };
    RunOutcome { tests, stopped, ..RunOutcome::default() }
}

/// What unittest does not run.
fn without_pytest(env: &RunEnv<'_>, files: &[String]) -> Option<String> {
    let needs = files.iter().filter(|file| {
        let text = env.scratch.text(file, 1 << 20).unwrap_or_default();
        let is_function = |line: &str| {
            line.starts_with("def test_")
                || line.starts_with("async def test_")
                || line.contains("import pytest")
        };
        text.lines().any(is_function)
    });
    let count = needs.count();
    (count > 0).then(|| {
        format!(
            "pytest is not installed, so tests that are plain functions were not run ({count} of {} files \
             have some); to have it: `python3 -m pip install pytest`",
            files.len()
        )
    })
}

/// How much of the code the tests ran through, of a hundred.
async fn covered(env: &mut RunEnv<'_>, start: &PythonStart) -> Result<Option<u32>, UserError> {
    let results = env.scratch.results();
    let mut args: Vec<String> = ["-m", "coverage", "json", "-q"].map(str::to_owned).into();
    args.push(format!("--data-file={}", results.join(".coverage").display()));
    args.extend(["-o".to_owned(), results.join(COVERED).display().to_string()]);
    let program = program(start, env, args);
    env.compile(program).await?;
    let text = env.scratch.result(COVERED, MOST).unwrap_or_default();
    let value: Option<serde_json::Value> = serde_json::from_slice(&text).ok();
    let percent = value.as_ref().and_then(|value| value.pointer("/totals/percent_covered"));
    let percent =
        percent.and_then(serde_json::Value::as_f64).map(|percent| percent.clamp(0.0, 100.0));
    Ok(percent.and_then(|percent| format!("{percent:.0}").parse().ok()))
}
