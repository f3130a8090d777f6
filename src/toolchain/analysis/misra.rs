//! The rules of MISRA C that cppcheck's addon checks: those that point at faults, for sources in C.
//!
//! Owns which rules are reported, and the words for them: the addon brings only their numbers.

use std::ffi::OsString;
use std::path::Path;

use super::cppcheck;
use super::linter::{AnalysisRun, Issue, Linter, LinterReport, Output};
use crate::files;

/// What the addon writes before the number of a rule.
const PREFIX: &str = "misra-c2012-";

/// Sources that are given to it at most: the addon is a script in Python.
const MAX_FILES: usize = 200;

/// The rule that a case does not go on into the next.
const FALLS_THROUGH: &str = "16.3";

/// A word that it is meant to stands so many lines before it.
const LINES_BEFORE: usize = 3;

/// The rules, by number, and what breaks each. Those of style are left out, and those that everyday code
/// for ESP-IDF breaks: `malloc`, `goto` to the end, several `return`s, results that nobody needs.
const RULES: [(&str, &str); 24] = [
    ("3.1", "a comment begins within a comment"),
    ("3.2", "this comment ends in \\, so that the next line belongs to it"),
    ("6.2", "a signed field of one bit holds 0 and -1, never 1"),
    ("7.1", "a number that begins with 0 is octal"),
    ("7.3", "the letter l at the end of a number looks like 1: write L"),
    ("8.10", "an inline function that is not static may not be linked"),
    ("8.12", "two names of an enum have the same value, one of them by counting"),
    ("9.3", "a part of this array has no value of its own"),
    ("11.8", "a cast takes const or volatile away"),
    ("12.2", "a shift by more bits than the type has"),
    ("12.5", "sizeof of a parameter is that of a pointer, not of the array"),
    ("13.1", "a value in this list changes something; in which order is not defined"),
    ("13.5", "what stands to the right of && or || changes something, and may not run"),
    ("13.6", "what stands in sizeof is never run"),
    ("14.1", "a loop counts with a floating-point number, which rounds"),
    ("15.2", "a goto jumps back"),
    ("15.3", "a goto jumps into a block"),
    ("16.2", "a case of the switch is in another block"),
    ("16.3", "a case goes on into the next: write break"),
    ("17.2", "this function calls itself, so that its stack has no limit"),
    ("17.6", "static within the brackets of a parameter"),
    ("18.8", "the size of this array is known only at run time: it may not fit on the stack"),
    ("21.4", "setjmp and longjmp skip what releases resources"),
    ("21.7", "atoi, atol and atof cannot report that the text is no number: use strtol"),
];

pub(super) async fn run(run: &AnalysisRun<'_>, program: &Path) -> LinterReport {
    let files = cppcheck::sources(run, &["c"], MAX_FILES);
    if files.is_empty() {
        return LinterReport::default();
    }
    // The addon writes what it reads; never next to the sources.
    let args = |folder: &Path| {
        let mut args = vec![OsString::from("--addon=misra")];
        args.push(format!("--cppcheck-build-dir={}", folder.display()).into());
        args.extend(cppcheck::options(run));
        args.extend(files);
        args
    };
    match run.output(program, args).await {
        Ok(output) => read(run, &output),
        Err(why) => gap(&why),
    }
}

/// Reads the findings, or why there are none.
fn read(run: &AnalysisRun<'_>, output: &Output) -> LinterReport {
    let says = |text: &str| output.text.contains(text);
    if says("Did not find addon") {
        return gap("cppcheck's addon misra.py is not installed; it comes with cppcheck's package");
    }
    if says("Failed to auto detect python") || says("python: not found") {
        return gap("cppcheck's addon needs Python, which is not found");
    }
    let mut reported = LinterReport::default();
    for mut issue in cppcheck::read(run, &output.text).issues {
        let number = issue.rule.strip_prefix(PREFIX);
        let rule = RULES.iter().find(|(rule, _)| number == Some(*rule));
        if let Some((number, breaks)) = rule
            && !(*number == FALLS_THROUGH && is_meant(run, &issue))
        {
            issue.message = (*breaks).to_owned();
            reported.issues.push(issue);
        }
    }
    if !output.is_whole() {
        reported.extend(gap("not all sources were checked in the time"));
    } else if says("Failed to execute addon") || says("Failed to execute '") {
        reported.extend(gap("cppcheck's addon did not run to its end"));
    } else if let Some(why) = cppcheck::incomplete(output) {
        reported.extend(gap(&why));
    }
    reported
}

/// Whether the lines before a case say that it is meant to go on from the one before.
fn is_meant(run: &AnalysisRun<'_>, issue: &Issue) -> bool {
    let (Some(file), Some(line)) = (&issue.file, issue.line) else { return false };
    let text = files::read_text(&run.order.project.join(file.as_str()), files::SOURCE);
    let end = usize::try_from(line).unwrap_or(usize::MAX).saturating_sub(1);
    text.is_ok_and(|text| {
        let before: Vec<&str> = text.lines().take(end).collect();
        let is_label = |line: &str| {
            let line = line.trim_start();
            line.starts_with("case ") || line.starts_with("default:")
        };
        let mut last = before.iter().rev().take(LINES_BEFORE).take_while(|line| !is_label(line));
        last.any(|line| {
            let letters: String = line.chars().filter(|c| c.is_alphabetic()).collect();
            let letters = letters.to_lowercase();
            letters.contains("fallthrough") || letters.contains("fallsthrough")
        })
    })
}

fn gap(why: &str) -> LinterReport {
    LinterReport::gap(Linter::Cppcheck, None, &format!("rules of MISRA C: {why}"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{order, run_of};
    use super::*;

    fn output(text: &str) -> Output {
        Output::whole(text.to_owned())
    }

    #[test]
    fn rules_get_words_and_those_of_style_are_left_out() {
        let order = order("/home/dev/demo");
        let text = include_str!("../../../tests/data/analysis/misra.xml");
        let reported = read(&run_of(&order), &output(text));
        let found: Vec<String> = reported
            .issues
            .iter()
            .map(|issue| {
                let file = issue.file.as_ref().map_or("-", |file| file.as_str());
                format!("{file}:{} {} {}", issue.line.unwrap(), issue.rule, issue.message)
            })
            .collect();
        let expected = [
            "main/main.c:30 misra-c2012-3.1 a comment begins within a comment",
            "main/main.c:11 misra-c2012-7.1 a number that begins with 0 is octal",
            "main/main.c:38 misra-c2012-7.3 the letter l at the end of a number looks like 1: write L",
            "main/main.c:31 misra-c2012-8.12 two names of an enum have the same value, one of them by counting",
            "main/main.c:21 misra-c2012-13.5 what stands to the right of && or || changes something, and may not run",
            "main/main.c:13 misra-c2012-14.1 a loop counts with a floating-point number, which rounds",
            "main/main.c:17 misra-c2012-16.3 a case goes on into the next: write break",
            "main/main.c:44 misra-c2012-16.3 a case goes on into the next: write break",
            "main/main.c:47 misra-c2012-16.3 a case goes on into the next: write break",
            "main/main.c:7 misra-c2012-17.2 this function calls itself, so that its stack has no limit",
            "main/main.c:23 misra-c2012-18.8 the size of this array is known only at run time: it may not fit on the stack",
        ];
        assert_eq!(found, expected);
        assert!(reported.gaps.is_empty(), "{reported:?}");
    }

    #[test]
    fn a_case_that_is_meant_to_go_on_is_no_finding() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let text = "switch (n) {\ncase 1:\n    a();\n    /* falls through */\ncase 2:\n    b();\n\
                    case 3:\n    c();\n    __attribute__((__fallthrough__));\ndefault:\n    d();\n}\n";
        std::fs::write(root.join("m.c"), text).unwrap();
        let order = order(root.to_str().unwrap());
        let error = |line: u32| {
            let file = root.join("m.c").display().to_string();
            format!(
                "<error id=\"misra-c2012-16.3\" severity=\"style\" msg=\"x\"><location \
                 file=\"{file}\" line=\"{line}\" column=\"1\"/></error>"
            )
        };
        let text = format!("<errors>{}{}{}</errors>", error(5), error(7), error(10));
        let found = read(&run_of(&order), &output(&text)).issues;
        assert_eq!(found.iter().map(|issue| issue.line).collect::<Vec<_>>(), [Some(7)]);
    }

    #[test]
    fn what_is_missing_is_named_once_and_is_no_finding() {
        let order = order("/home/dev/demo");
        for (text, word) in [
            ("Checking m.c ...\nDid not find addon misra.py\n", "not installed"),
            (
                "Bailing out from checking m.c since there was an internal error: Failed to auto \
              detect python\n",
                "needs Python",
            ),
            (
                "<errors>\nBailing out: Failed to execute addon (command: 'python3 x')\n",
                "to its end",
            ),
        ] {
            let reported = read(&run_of(&order), &output(text));
            assert!(reported.issues.is_empty() && reported.gaps.len() == 1, "{reported:?}");
            let why = &reported.gaps[0].why;
            assert!(why.starts_with("rules of MISRA C: ") && why.contains(word), "{why}");
        }
    }
}
