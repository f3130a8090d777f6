//! The forms of frameworks, as they print them, cut off, and with much that does not belong there.

use std::path::Path;

use super::printed::PrintedTests;
use super::*;
use crate::model::{TestCase, TestOutcome};

fn read(text: &str) -> (PrintedTests, Vec<TestCase>) {
    let mut tests = Collected::below(&[Path::new("/scratch/project")]);
    let form = printed(text, &mut tests);
    (form, tests.finish().0)
}

fn outcomes(tests: &[TestCase]) -> Vec<(&str, TestOutcome)> {
    tests.iter().map(|test| (test.name.as_str(), test.outcome)).collect()
}

#[test]
fn unity_with_prints_between_and_colons_in_names() {
    let text = "I (31) main: start\ntest/test_ring.c:12:test_is_empty:PASS\nhello\n\
        /scratch/project/test/test_ring.c:20:test_full: no space:FAIL: Expected 3 Was 4\n\
        test/test_ring.c:31:test_later:IGNORE: not yet\ntest/test_ring.c:40:test_timed:PASS (12 ms)\n\
        \n-----------------------\n4 Tests 1 Failures 1 Ignored\nFAIL\n";
    let (form, tests) = read(text);
    assert_eq!((form.framework, form.is_whole), ("Unity", true));
    use TestOutcome::{Failed, Passed, Skipped};
    let expected = [
        ("test_full: no space", Failed),
        ("test_is_empty", Passed),
        ("test_later", Skipped),
        ("test_timed", Passed),
    ];
    assert_eq!(outcomes(&tests), expected);
    assert_eq!(tests[0].file.as_deref(), Some("test/test_ring.c"));
    assert_eq!((tests[0].line, tests[0].message.as_str()), (Some(20), "Expected 3 Was 4"));
    assert_eq!(tests[0].output, "hello\n");
    assert_eq!(tests[3].millis, 12);
}

#[test]
fn unity_that_is_cut_off_has_no_summary() {
    let (form, tests) = read("a.c:1:test_a:PASS\na.c:9:test_b:FAIL: ended by signal 11\n");
    assert_eq!((form.framework, form.is_whole), ("Unity", false));
    assert_eq!(tests.len(), 2);
    assert_eq!(read("0 Tests 0 Failures 0 Ignored\nOK\n").0.framework, "Unity");
    assert_eq!(read("a.c:1: warning: unused\nmain.c:3:5: error: FAIL\n").1.len(), 0);
}

#[test]
fn criterion_with_failed_assertions_and_crashes() {
    let text = "[----] Criterion v2.4.1\n[====] Running 3 tests from ring:\n\
        [RUN ] ring::empty\n[PASS] ring::empty: (0.02s)\n[RUN ] ring::full\n\
        [----] test/ring.c:21: Assertion failed: The expression (a) == (b) is false.\n\
        [FAIL] ring::full: (0.10s)\n[RUN ] ring::null\n\
        [----] test/ring.c:30: Unexpected signal caught below this line!\n\
        [FAIL] ring::null: CRASH!\n\
        [====] Synthesis: Tested: 3 | Passing: 1 | Failing: 2 | Crashing: 1\n";
    let (form, tests) = read(text);
    assert_eq!((form.framework, form.is_whole), ("Criterion", true));
    assert_eq!(tests[0].name, "ring::full");
    assert_eq!((tests[0].line, tests[0].millis), (Some(21), 100));
    assert!(tests[0].message.contains("is false"), "{:?}", tests[0]);
    assert_eq!(tests[1].outcome, TestOutcome::Error);
    assert_eq!(tests[2].millis, 20);
}

#[test]
fn tap_with_directives_and_explanations() {
    let text = "1..4\nok 1 - opens\nnot ok 2 - closes\n# expected 1, got 2\nok 3 # SKIP no port\nokay\nnot ok 4\n";
    let (form, tests) = read(text);
    assert_eq!((form.framework, form.is_whole), ("TAP", true));
    assert_eq!(tests.len(), 4, "{tests:?}");
    assert_eq!(
        (tests[0].name.as_str(), tests[0].message.as_str()),
        ("closes", "expected 1, got 2")
    );
    assert_eq!(tests[3].outcome, TestOutcome::Skipped);
    assert!(!read("1..3\nok 1\n").0.is_whole);
    assert_eq!(read("ok, that is it\n").0.framework, "");
}

#[test]
fn junit_as_ctest_writes_it() {
    let text = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="(empty)" tests="2" failures="1">
  <testcase name="ring" classname="ring" time="0.25" status="fail">
    <failure message="Failed"/>
    <system-out>test/ring.c:12: Expected 3 &lt; 4
</system-out></testcase>
  <testcase name="list" time="0.01" status="run"/>
  <testcase name="off" status="disabled"><skipped message="Disabled"/></testcase>
  <testcase name="cut" status="run"><system-out>"#;
    let mut tests = Collected::default();
    junit(text, &mut tests);
    let (tests, omitted) = tests.finish();
    assert_eq!(omitted, 0);
    use TestOutcome::{Failed, Passed, Skipped};
    assert_eq!(outcomes(&tests), [("ring", Failed), ("list", Passed), ("off", Skipped)]);
    assert_eq!((tests[0].file.as_deref(), tests[0].line), (Some("test/ring.c"), Some(12)));
    assert_eq!(tests[0].millis, 250);
}

#[test]
fn a_test_that_began_and_did_not_end_has_ended_its_runner() {
    let text = br#"{"event":"start","name":"a","file":"t.py","line":3}
{"event":"end","name":"a","outcome":"passed","seconds":0.5,"message":"","output":"","file":"t.py","line":3}
not json
{"event":"end","name":"odd","outcome":"fantastic"}
{"event":"start","name":"b","file":"t.py","line":9}
"#;
    let mut tests = Collected::default();
    assert_eq!(json_lines(text, "exit code 9", &mut tests), JsonRun::CutShort);
    let (tests, _) = tests.finish();
    assert_eq!(outcomes(&tests), [("b", TestOutcome::Error), ("a", TestOutcome::Passed)]);
    assert_eq!(tests[0].message, "it ended the test runner: exit code 9");
    assert_eq!((tests[0].line, tests[1].millis), (Some(9), 500));
}

#[test]
fn of_a_hundred_thousand_tests_those_that_are_wrong_are_kept() {
    let mut text = String::new();
    for number in 0..100_000 {
        let end = if number % 1_000 == 999 { "FAIL: wrong" } else { "PASS" };
        text.push_str(&format!("t.c:{}:test_{number}:{end}\n", number + 1));
    }
    text.push_str("100000 Tests 100 Failures 0 Ignored\n");
    let mut tests = Collected::default();
    assert!(printed(&text, &mut tests).is_whole);
    assert_eq!((tests.counts.passed, tests.counts.failed), (99_900, 100));
    let (kept, omitted) = tests.finish();
    assert_eq!((kept.len(), omitted), (2_000, 98_000));
    assert!(kept[..100].iter().all(|test| test.outcome == TestOutcome::Failed));
}

#[test]
fn what_tests_print_reaches_no_terminal() {
    let text = "t.c:1:test_\x1b]52;c;x\x07a:FAIL: \x1b[31mred\nt.c:2:\u{202e}b:PASS\n";
    for test in read(text).1 {
        let all = format!("{}{}{}", test.name, test.message, test.output);
        assert!(!all.contains(['\x1b', '\x07', '\u{202e}']), "{all:?}");
    }
}
