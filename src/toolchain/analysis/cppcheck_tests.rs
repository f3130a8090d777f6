//! Tests of what cppcheck tells, with what it printed about real sources.

use super::super::tests::{order, run_of};
use super::*;

const PRINTED: &str = include_str!("../../../tests/data/analysis/cppcheck.xml");

#[test]
fn findings_are_read_at_their_first_place() {
    let order = order("/home/dev/demo");
    let reported = read(&run_of(&order), PRINTED);
    let found: Vec<String> = reported
        .issues
        .iter()
        .map(|issue| {
            let Issue { severity, file, line, column, message, rule, .. } = issue;
            let file = file.as_ref().map_or("-", |file| file.as_str());
            format!("{severity:?} {file}:{}:{} {rule}: {message}", line.unwrap(), column.unwrap())
        })
        .collect();
    insta::assert_snapshot!(found.join("\n"));
    assert!(reported.gaps.is_empty());
}

#[test]
fn what_was_written_before_the_end_counts() {
    let order = order("/home/dev/demo");
    let whole = read(&run_of(&order), PRINTED).issues.len();
    let mut last = 0;
    for end in (0..PRINTED.len()).filter(|&end| PRINTED.is_char_boundary(end)).step_by(7) {
        let count = read(&run_of(&order), &PRINTED[..end]).issues.len();
        assert!(count >= last && count <= whole);
        last = count;
    }
    assert_eq!(
        read(&run_of(&order), &format!("cppcheck: odd words\n{PRINTED}")).issues.len(),
        whole
    );
}

#[test]
fn a_report_without_its_end_is_no_report() {
    assert_eq!(incomplete(&Output::whole(PRINTED.to_owned())), None);
    let failed = |text: &str, ended| incomplete(&Output { text: text.to_owned(), ended }).unwrap();
    let garbage = failed("Traceback: hunter2\n", OutputEnd::Exit(1));
    assert_eq!(garbage, "it failed with exit code 1: start it in a terminal to see why");
    let nothing = failed("", OutputEnd::Exit(0));
    assert_eq!(nothing, "it printed no whole report: start it in a terminal to see why");
    assert_eq!(failed(PRINTED, OutputEnd::Cut), CUT_SHORT);
}

#[test]
fn what_it_did_not_understand_is_a_gap() {
    let order = order("/home/dev/demo");
    let text = r#"<?xml version="1.0"?><results version="2"><errors>
        <error id="unknownMacro" severity="error" msg="There is an unknown macro here somewhere.">
          <location file="/home/dev/demo/main/a.c" line="7" column="3"/></error>
        <error id="syntaxError" severity="error" msg="hunter2">
          <location file="/home/dev/.ssh/key" line="1" column="1"/></error>
        <error id="toomanyconfigs" severity="information" msg="Too many"/>
        <error id="nullPointer" severity="warning" msg="a &lt;b&gt; &#x1b;[2J">
          <location file="/elsewhere/b.c" line="1" column="1"/></error>
        <error id="zero" severity="style" msg="x"><location file="/home/dev/demo/c.c" line="0" column="0"/></error>
        </errors></results>"#;
    let reported = read(&run_of(&order), text);
    assert_eq!(reported.gaps.len(), 2);
    assert!(reported.gaps[0].why.contains("line 7: There is an unknown macro"));
    assert!(!reported.gaps[1].why.contains("hunter2"), "{reported:?}");
    assert_eq!(reported.issues.len(), 1);
    assert_eq!((reported.issues[0].line, reported.issues[0].rule.as_str()), (None, "zero"));
}

proptest::proptest! {
    #[test]
    fn any_text_is_survived(text in "[<>/=\"a-z &;\\[\\]!?-]{0,200}") {
        let order = order("/p");
        read(&run_of(&order), &format!("<errors>{text}"));
    }
}
