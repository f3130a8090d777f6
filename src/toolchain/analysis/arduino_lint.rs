//! arduino-lint: looks at the shape of a sketch and tells it in JSON.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::linter::{AnalysisRun, Issue, Linter, LinterReport, no_report, words};
use crate::model::{ProjectPath, Severity};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Report {
    projects: Vec<Project>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Project {
    path: PathBuf,
    rules: Vec<LintRule>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LintRule {
    #[serde(rename = "ID")]
    id: String,
    brief: String,
    result: String,
    level: String,
    message: String,
}

pub(super) async fn run(run: &AnalysisRun<'_>, program: &Path) -> LinterReport {
    let options = ["--format", "json", "--project-type", "sketch"].map(OsString::from);
    let args = options.into_iter().chain([run.order.project.clone().into_os_string()]).collect();
    let why = match run.output(program, |_| args).await {
        Ok(output) => match read(run, &output.text) {
            Some(reported) => return reported,
            None if output.is_whole() => no_report(output.ended),
            None => "the time limit was reached before the end".to_owned(),
        },
        Err(why) => why,
    };
    LinterReport::gap(Linter::ArduinoLint, None, &why)
}

/// Reads the report, which words on stderr may go before; `None` when there is none.
pub(super) fn read(run: &AnalysisRun<'_>, text: &str) -> Option<LinterReport> {
    let start = text.find('{')?;
    let mut values = serde_json::Deserializer::from_str(text.get(start..)?).into_iter::<Report>();
    let report = values.next()?.ok()?;
    let mut reported = LinterReport::default();
    for project in report.projects {
        // A library in the sketch is a project of its own.
        let inside = project.path.strip_prefix(&run.order.project).ok();
        let file = inside.and_then(|path| ProjectPath::new(path.to_str()?).ok());
        for rule in project.rules {
            if !rule.result.eq_ignore_ascii_case("fail") {
                continue;
            }
            let severity = match rule.level.to_ascii_lowercase().as_str() {
                "error" => Severity::Error,
                "warning" => Severity::Warning,
                _ => Severity::Note,
            };
            let text = if rule.message.is_empty() { &rule.brief } else { &rule.message };
            reported.issues.push(Issue {
                severity,
                file: file.clone(),
                line: None,
                column: None,
                message: words(text),
                tool: Linter::ArduinoLint,
                rule: words(&rule.id),
            });
        }
    }
    Some(reported)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{order, run_of};
    use super::*;

    #[test]
    fn failed_rules_become_issues() {
        let order = order("/p/blink");
        let text = r#"some words
        { "configuration": { "paths": ["/p/blink"], "projectType": "all", "recursive": true },
          "projects": [{ "path": "/p/blink", "projectType": "sketch",
            "configuration": { "compliance": "specification", "libraryManager": "", "official": false },
            "rules": [
              { "category": "structure", "subcategory": "root folder", "ID": "SS001", "brief": "name mismatch",
                "description": "", "result": "fail", "level": "ERROR",
                "message": "Sketch folder name must match main sketch\u001b[2J file" },
              { "category": "structure", "subcategory": "miscellaneous", "ID": "SS002", "brief": "brief words",
                "description": "", "result": "fail", "level": "WARNING", "message": "" },
              { "category": "structure", "subcategory": "", "ID": "SS003", "brief": "", "description": "",
                "result": "pass", "level": "NOTICE", "message": "" } ],
            "summary": { "pass": false, "warningCount": 1, "errorCount": 1 } },
           { "path": "/p/blink/lib", "rules": [{ "ID": "LS006", "result": "fail", "level": "WARNING", "message": "m" }] }],
          "summary": { "pass": false, "warningCount": 1, "errorCount": 1 } }"#;
        let reported = read(&run_of(&order), text).unwrap();
        let found: Vec<_> = reported
            .issues
            .iter()
            .map(|issue| {
                (issue.severity, issue.rule.as_str(), issue.file.as_ref().map(|f| f.as_str()))
            })
            .collect();
        assert_eq!(
            found,
            [
                (Severity::Error, "SS001", None),
                (Severity::Warning, "SS002", None),
                (Severity::Warning, "LS006", Some("lib")),
            ]
        );
        assert!(!reported.issues[0].message.contains('\u{1b}'), "{:?}", reported.issues[0]);
        assert_eq!(reported.issues[1].message, "brief words");
        assert!(read(&run_of(&order), "no project found").is_none());
        assert!(read(&run_of(&order), "{ broken").is_none());
    }
}
