//! Tests that a project's own CMake builds and CTest runs.

use super::c_program::on_path;
use super::captured::ConfinedProgram;
use super::folder::ScratchFolder;
use super::order::RunOutcome;
use super::report::{Collected, junit};
use super::run_env::RunEnv;
use crate::model::{ProjectPath, TestCase, TestOutcome, UserError};

/// Name of the folder that it is built in, among the results.
const BUILD: &str = "build";

/// Bytes of results that are read.
const MOST: u64 = 64 << 20;

const RESULTS: &str = "ctest.xml";

/// The folder whose lists ask for tests; `None` where no list does. A project of ESP-IDF itself cannot
/// be built this way.
pub fn folder(scratch: &ScratchFolder, paths: &[ProjectPath]) -> Option<String> {
    let lists = scratch.files().map(ProjectPath::as_str);
    let mut folders = lists.filter_map(|path| match path.strip_suffix("CMakeLists.txt")? {
        "" => Some((path, "")),
        folder => folder.strip_suffix('/').map(|folder| (path, folder)),
    });
    let is_wanted = |folder: &str| {
        let is_part = |path: &ProjectPath| {
            path.as_str() == folder || path.as_str().starts_with(&format!("{folder}/"))
        };
        paths.is_empty() || (!folder.is_empty() && paths.iter().all(is_part))
    };
    let found = folders.find(|(path, folder)| {
        let text = scratch.text(path, 1 << 20).unwrap_or_default();
        let asks = ["enable_testing", "include(CTest)", "gtest_discover_tests"];
        let is_idf = text.contains("project.cmake") || text.contains("idf_component_register");
        is_wanted(folder) && !is_idf && asks.iter().any(|word| text.contains(word))
    });
    found.map(|(_, folder)| folder.to_owned())
}

/// Whether CMake and CTest are installed.
pub fn is_there() -> bool {
    on_path("cmake").is_some() && on_path("ctest").is_some()
}

/// Why the tests of a list cannot be run.
pub fn missing() -> UserError {
    UserError::new(
        "Cannot run tests",
        "the project's tests are built by CMake, and `cmake` and `ctest` are not in PATH",
        "Install them, e.g. `sudo apt install cmake`.",
    )
}

/// Builds and runs them.
///
/// # Errors
/// When a part is missing, or there is no sandbox.
pub async fn run(env: &mut RunEnv<'_>, folder: &str) -> Result<RunOutcome, UserError> {
    let project = env.scratch.project();
    let build = env.scratch.results().join(BUILD).display().to_string();
    let source = project.join(folder).display().to_string();
    let mut outcome = RunOutcome {
        framework: "CTest".to_owned(),
        tests: Collected::below(&[&project]),
        ..RunOutcome::default()
    };
    let configure = ["-S", source.as_str(), "-B", build.as_str(), "-DCMAKE_BUILD_TYPE=Debug"];
    for args in [&configure[..], &["--build", build.as_str(), "--parallel", "2"]] {
        let program = tool(env, "cmake", args)?;
        let captured = env.compile(program).await?;
        if let Some(fault) = captured.fault() {
            let output = captured.output.text();
            let error = output
                .lines()
                .find(|line| line.contains("rror:") || line.starts_with("CMake Error"));
            let message = error.map_or(fault, str::to_owned);
            let list = format!("{folder}/CMakeLists.txt").trim_start_matches('/').to_owned();
            let file = Some(list.clone());
            let case = TestCase::new(list, TestOutcome::Error);
            outcome.tests.add(TestCase { message, output, file, ..case });
            return Ok(outcome);
        }
    }
    env.scratch.allow_run_below(BUILD);
    let results = env.scratch.results().join(RESULTS).display().to_string();
    let args =
        ["--test-dir", build.as_str(), "--output-junit", results.as_str(), "--output-on-failure"];
    let program = tool(env, "ctest", &args)?;
    let captured = env.run(program).await?;
    let text = env.scratch.result(RESULTS, MOST);
    match text {
        Some(text) => junit(&crate::text::sanitize::decode(&text), &mut outcome.tests),
        None => {
            let fault = captured.fault().unwrap_or_else(|| "exit code 0".to_owned());
            outcome.stopped = format!("CTest ended without results ({fault})");
        }
    }
    if captured.report.wall.is_some() {
        outcome.stopped = captured.fault().unwrap_or_default();
    }
    Ok(outcome)
}

/// A program of CMake; it may be installed anywhere.
fn tool(env: &RunEnv<'_>, name: &str, args: &[&str]) -> Result<ConfinedProgram, UserError> {
    let found = on_path(name).ok_or_else(missing)?;
    let real = std::fs::canonicalize(&found).unwrap_or_else(|_| found.clone());
    let mut program = env.program(real.clone(), args.iter().map(|arg| (*arg).to_owned()).collect());
    // Its own modules are in a folder next to that of its programs.
    program.reads.extend(real.parent().and_then(|bin| bin.parent()).map(Into::into));
    Ok(program)
}
