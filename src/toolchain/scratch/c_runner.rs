//! Tests in C and C++: each file with tests becomes a program of its own, with the sources that it
//! includes the headers of.
//!
//! Firmware logic that includes headers of ESP-IDF runs on the virtual board. Unity, Criterion and the Test Anything Protocol are understood; a program that prints none of them
//! is one test, which passes when it ends with 0.

use super::c_program::{CProgram, Compiled, compile};
use super::c_sources::{SourceSet, has_main};
use super::captured::{Captured, ConfinedProgram};
use super::firmware_runner::{Beginning, RESTART, TestBoard};
use super::order::RunOutcome;
use super::report::{Collected, printed};
use super::run_env::RunEnv;
use crate::model::{TestCase, TestOutcome, UserError};
use crate::toolchain::Kit;

const UNITY: &str = include_str!("../../../assets/testing/unity.h");

/// Makes a program print each line at once, so that none is lost when it crashes.
const LINE_BY_LINE: &str = "/usr/bin/stdbuf";

/// Bytes of a source that are looked at.
const LIMIT: u64 = 1 << 20;

/// Runs the tests in these sources.
///
/// # Errors
/// When there is no compiler or no sandbox.
pub async fn run(
    env: &mut RunEnv<'_>,
    files: &[String],
    kit: Option<&Kit>,
) -> Result<RunOutcome, UserError> {
    let mut board = TestBoard::new(kit);
    let (project, support) = (env.scratch.project(), env.scratch.support());
    let mut outcome =
        RunOutcome { tests: Collected::below(&[&project, &support]), ..RunOutcome::default() };
    env.scratch.put_support("unity.h", UNITY)?;
    let mut frameworks: Vec<&'static str> = Vec::new();
    for (number, file) in files.iter().enumerate() {
        if env.is_over() {
            outcome.stopped = "the time was over before all tests had run".to_owned();
            break;
        }
        let program = match build(env, &mut board, number, file).await? {
            Ok((program, notes)) => {
                outcome.notes.extend(notes);
                program
            }
            Err(case) => {
                outcome.tests.add(case);
                continue;
            }
        };
        let captured = env.run(program).await?;
        let framework = read(file, &captured, &mut outcome);
        if !frameworks.contains(&framework) {
            frameworks.push(framework);
        }
        if captured.was_cancelled {
            break;
        }
    }
    frameworks.retain(|framework| !framework.is_empty());
    outcome.framework = if frameworks.is_empty() { "C".to_owned() } else { frameworks.join(", ") };
    Ok(outcome)
}

/// The program of one file; or the test that says why there is none.
async fn build(
    env: &mut RunEnv<'_>,
    board: &mut TestBoard<'_>,
    number: usize,
    file: &str,
) -> Result<Result<(ConfinedProgram, Option<String>), TestCase>, UserError> {
    env.say(&format!("-- {file}"));
    let text = env.scratch.text(file, LIMIT).unwrap_or_default();
    let sources = SourceSet::of(env.scratch, file);
    let has_criterion = sources.foreign.iter().any(|header| header.starts_with("criterion/"));
    let headers = board.headers_of(&sources);
    let beginning = match (has_main(&text), text.contains("app_main(")) {
        _ if has_criterion => Beginning::Main,
        (true, true) => Beginning::AppMain,
        (true, false) => Beginning::Main,
        (false, _) => Beginning::Made,
    };
    let first = if beginning != Beginning::Made {
        format!("./{file}")
    } else {
        let has_own_unity = !sources.foreign.contains("unity.h");
        let Some(mut runner) = runner_of(file, &text, has_own_unity) else {
            let message = "there is neither a `main` nor a test function in it";
            let case = TestCase { message: message.to_owned(), ..failed(file) };
            return Ok(Err(case));
        };
        if !headers.is_empty() {
            runner = on_board(&runner, has_own_unity);
        }
        let name = format!("runner_{number}.c{}", if file.ends_with(".c") { "" } else { "pp" });
        env.scratch.put_support(&name, &runner)?;
        env.scratch.support().join(name).display().to_string()
    };
    let mut args = if has_criterion { vec!["-lcriterion".to_owned()] } else { Vec::new() };
    if !headers.is_empty() || beginning == Beginning::AppMain {
        match board.args(env, beginning).await? {
            Ok(more) => args.extend(more),
            Err(Compiled::Failed(captured)) => return Ok(Err(uncompiled(file, &captured))),
            Err(Compiled::Program(_)) => {}
        }
    }
    let note = (!headers.is_empty())
        .then(|| format!("{file} runs on the virtual board, because of {}", headers.join(", ")));
    let name = format!("test_{number}");
    let program = CProgram { first: &first, sources: &sources, name: &name, args: &args };
    match compile(env, &program).await? {
        Compiled::Program(path) => {
            let verbose = has_criterion.then(|| "--verbose=1".to_owned());
            if std::path::Path::new(LINE_BY_LINE).is_file() {
                let args =
                    ["-oL".to_owned(), path.display().to_string()].into_iter().chain(verbose);
                return Ok(Ok((env.program(LINE_BY_LINE.into(), args.collect()), note)));
            }
            Ok(Ok((env.program(path, verbose.into_iter().collect()), note)))
        }
        Compiled::Failed(captured) => Ok(Err(uncompiled(file, &captured))),
    }
}

fn failed(file: &str) -> TestCase {
    TestCase {
        file: Some(file.to_owned()),
        line: Some(1),
        ..TestCase::new(file, TestOutcome::Error)
    }
}

/// The test that says what the compiler found.
fn uncompiled(file: &str, captured: &Captured) -> TestCase {
    let output = captured.output.text();
    let error =
        output.lines().find(|line| line.contains("error:") || line.contains("undefined reference"));
    let (place, message) = match error.and_then(|line| line.split_once("error:")) {
        Some((place, message)) => (place, message.trim().to_owned()),
        None => ("", error.map_or_else(|| captured.fault().unwrap_or_default(), str::to_owned)),
    };
    // An error in a header of the board is one of who includes it.
    let included =
        output.lines().find_map(|line| line.trim().strip_prefix("In file included from ./"));
    let place = if place.contains("board/") { included.unwrap_or(place) } else { place };
    let mut parts = place.split(':');
    let at =
        parts.next().filter(|at| !at.is_empty()).map(|at| at.trim_start_matches("./").to_owned());
    let line = parts.next().and_then(|line| line.trim_end_matches(',').parse().ok());
    let mut message = format!("it does not compile: {message}");
    let is_firmware =
        ["esp_", "freertos/", "driver/"].iter().any(|start| message.contains(&format!(" {start}")));
    if is_firmware {
        message.push_str(
            "; the virtual board, on which tests run here, has no more of ESP-IDF: keep the logic apart \
             from what it lacks",
        );
    }
    let case = failed(file);
    TestCase { message, output, line: line.or(case.line), file: at.or(case.file.clone()), ..case }
}

/// A program that runs the test functions of a source; `None` when it has none.
fn runner_of(file: &str, text: &str, has_own_unity: bool) -> Option<String> {
    let functions: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .filter_map(|(index, line)| Some((index + 1, test_function(line)?)))
        .collect();
    let has_cases = text.contains("TEST_CASE(") && !has_own_unity;
    if functions.is_empty() && !has_cases {
        return None;
    }
    let mut runner = format!(
        "#include \"{file}\"\n#include \"unity.h\"\nint main(void)\n{{\n    UNITY_BEGIN();\n"
    );
    for (line, name) in functions {
        runner.push_str(&format!("#line {line} \"{file}\"\n    RUN_TEST({name});\n"));
    }
    if has_cases {
        runner.push_str("    unity_run_all_cases();\n");
    }
    runner.push_str("    return UNITY_END();\n}\n");
    Some(runner)
}

/// The same runner as firmware of the virtual board, which begins elsewhere and does not end by itself.
fn on_board(runner: &str, has_own_unity: bool) -> String {
    let report = "    printf(\"%s:%d:%s:FAIL: ended by signal: the firmware restarts the board here\\n\", \
                  Unity.file, Unity.line, Unity.name ? Unity.name : \"test\");\n";
    // Another Unity has other names for these.
    let report = if has_own_unity { "" } else { report };
    let restart = RESTART.replace("    (void)reason;\n", &format!("    (void)reason;\n{report}"));
    let body = runner.replace("int main(void)\n", "extern \"C\" void app_main(void)\n");
    let body = body.replace("return UNITY_END();", "exit(UNITY_END());");
    let both = body
        .replace("extern \"C\" void app_main", &format!("BOARD_C {restart}BOARD_C void app_main"));
    format!(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n#ifdef __cplusplus\n#define BOARD_C extern \"C\"\n\
         #else\n#define BOARD_C\n#endif\n{both}"
    )
}

/// The name of a function without arguments that is a test by its name.
fn test_function(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("static ").unwrap_or(line).strip_prefix("void ")?;
    let (name, args) = rest.trim_start().split_once('(')?;
    let name = name.trim();
    let is_name = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    let is_test = name.starts_with("test") || name.starts_with("should");
    let (inside, after) = args.split_once(')')?;
    let is_plain = matches!(inside.trim(), "" | "void") && !after.trim_start().starts_with(';');
    (is_name && is_test && is_plain).then_some(name)
}

/// Reads what a test program printed; returns the framework.
fn read(file: &str, captured: &Captured, outcome: &mut RunOutcome) -> &'static str {
    let text = captured.output.text();
    let before = outcome.tests.counts.total();
    let bad = outcome.tests.counts.bad();
    let form = printed(&text, &mut outcome.tests);
    let fault = captured.fault();
    if captured.report.wall.is_some() || captured.was_cancelled {
        outcome.stopped = format!("{file}: {}", fault.clone().unwrap_or_default());
    }
    let cut = captured.output.cut();
    if cut > 0 {
        let note = format!("{file}: {cut} bytes of output were left out, and tests in them");
        outcome.notes.push(note);
    }
    let is_counted = outcome.tests.counts.total() > before;
    let case = |message| TestCase { message, output: last_lines(&text), ..failed(file) };
    match (form.framework, fault) {
        ("", fault) => outcome.tests.add(whole_program(file, &text, fault)),
        (_, fault) if !form.is_whole => {
            // A crash that the framework itself has reported is not reported twice.
            if !text.contains(":FAIL: ended by signal") {
                let why = fault.unwrap_or_else(|| "exit code 0".to_owned());
                let message = format!("the test program ended before all tests had run: {why}");
                outcome.tests.add(case(message));
            }
        }
        (_, Some(fault)) if outcome.tests.counts.bad() == bad => {
            let message = format!("every test passed, and then the program failed: {fault}");
            outcome.tests.add(case(message));
        }
        (_, None | Some(_)) if !is_counted => outcome.notes.push(format!("{file} has no tests")),
        (_, None | Some(_)) => {}
    }
    form.framework
}

/// A test program without a framework.
fn whole_program(file: &str, text: &str, fault: Option<String>) -> TestCase {
    let case = TestCase { output: last_lines(text), ..failed(file) };
    let Some(fault) = fault else {
        return TestCase { outcome: TestOutcome::Passed, ..case };
    };
    let assertion =
        text.lines().find(|line| line.contains("Assertion `") && line.contains("failed"));
    // `program: test.c:12: main: Assertion `a == b' failed.`
    let mut parts = assertion.unwrap_or_default().split(": ");
    let place = parts.nth(1).and_then(|place| place.split_once(':'));
    let at = place.map(|(at, _)| at.trim_start_matches("./").to_owned());
    let line = place.and_then(|(_, line)| line.trim_end_matches(':').parse().ok());
    let message = match assertion.and_then(|line| line.split_once("Assertion ")) {
        Some((_, what)) => format!("assertion {what}"),
        None => fault,
    };
    let (line, file, outcome) = (line.or(case.line), at.or(case.file), TestOutcome::Failed);
    TestCase { message, outcome, line, file, ..case }
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines.get(lines.len().saturating_sub(60)..).unwrap_or_default().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_functions_are_found_by_their_heads() {
        assert_eq!(test_function("void test_ring_is_empty(void)"), Some("test_ring_is_empty"));
        assert_eq!(test_function("static void test_a() {"), Some("test_a"));
        assert_eq!(test_function("void test_a(void);"), None);
        assert_eq!(test_function("void test_a(int b)"), None);
        assert_eq!(test_function("int test_a(void)"), None);
        assert_eq!(test_function("void setUp(void) {}"), None);
    }

    #[test]
    fn an_assertion_has_its_place() {
        let text = "test_0: ./test/ring.c:12: main: Assertion `a == 3' failed.\n";
        let case = whole_program("test/ring.c", text, Some("ended by signal 6 (SIGABRT)".into()));
        assert_eq!((case.file.as_deref(), case.line), (Some("test/ring.c"), Some(12)));
        assert_eq!(case.message, "assertion `a == 3' failed.");
    }
}
