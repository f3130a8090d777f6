//! `run_static_analysis`: what the installed linters find in the project's sources.
//!
//! Owns which files are looked at first. Must not change anything, nor run what the project brings.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::entry::{TimeLimit, ToolEntry};
use super::{Reply, ToolContext, ToolError, answer, args, files};
use crate::model::ProjectPath;
use crate::toolchain::sketch::Sketch;
use crate::toolchain::{Analysis, AnalysisOrder, Linter, analyze};
use crate::workspace::is_source;

/// Name of the tool.
pub const NAME: &str = "run_static_analysis";

const DEFAULT_SECONDS: u32 = 4;
const MAX_SECONDS: u32 = 120;

/// Files that are looked at, at most.
const MAX_FILES: usize = 2_000;

/// Gaps in one answer, at most.
const MAX_GAPS: usize = 20;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunStaticAnalysisArgs {
    /// Folder or file relative to the project folder; `.` or nothing for the whole project.
    #[serde(default)]
    project_path: Option<String>,
    /// Seconds that it may take, 1 to 120; 4 when left out.
    #[serde(default)]
    timeout: Option<u32>,
}

async fn run(context: &ToolContext, args: RunStaticAnalysisArgs) -> Result<Value, ToolError> {
    let seconds = args.timeout.unwrap_or(DEFAULT_SECONDS);
    let seconds = args::seconds(seconds, MAX_SECONDS, "Name a folder to analyze a part.")?;
    let project_dir = &context.project_dir;
    let folder = files::folder(project_dir, args.project_path.as_deref().unwrap_or("."))?;
    let copied = context.clone();
    let listed = tokio::task::spawn_blocking(move || listed(&copied, &folder));
    let (files, is_sketch) = listed.await.unwrap_or_default();
    if files.is_empty() {
        return Err(ToolError::new(
            "no_sources",
            "there is no C or C++ source there",
            "Name a folder from `list_project_files`, or nothing for the whole project.",
        ));
    }
    let units = context.toolchain.compile_units(project_dir.root());
    let cancel = context.cancel.child_token();
    // When whoever waits here goes away, the linters must not go on unseen.
    let _ended = cancel.clone().drop_guard();
    let order = AnalysisOrder {
        project: project_dir.root().to_owned(),
        files,
        units,
        is_sketch,
        runner: Some(context.runner.clone()),
        timeout: Duration::from_secs(seconds.into()),
        cancel,
    };
    Ok(answer(context, &order, analyze(&order).await))
}

fn answer(context: &ToolContext, order: &AnalysisOrder, mut found: Analysis) -> Value {
    // A header is read with every source that includes it.
    let is_wanted = |file: &ProjectPath| order.files.contains(file);
    found.issues.retain(|issue| issue.file.as_ref().is_none_or(is_wanted));
    let missing: Vec<Value> = found.missing.iter().map(|linter| absent(*linter)).collect();
    if found.ran.is_empty() {
        let installs: Vec<&str> = found.missing.iter().map(|linter| linter.install()).collect();
        let error = ToolError::new(
            "no_linter",
            "none of the linters is installed",
            format!("Ask the person to install one: {}.", installs.join("; or ")),
        );
        return error.to_answer_with(json!({ "missing": missing }));
    }
    let limit = context.limits.diagnostics;
    let omitted = found.issues.len().saturating_sub(limit);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for issue in &found.issues {
        *counts.entry(issue.tool.program()).or_default() += 1;
    }
    let tools: Vec<Value> = found
        .ran
        .iter()
        .map(|linter| {
            let name = linter.program();
            json!({ "tool": name, "issues": counts.get(name).copied().unwrap_or(0) })
        })
        .collect();
    let mut fields = json!({
        "issues": found.issues.iter().take(limit).collect::<Vec<_>>(),
        "tools": tools,
        "missing": missing,
    });
    answer::set(&mut fields, "omitted", (omitted > 0).then_some(omitted));
    if !found.gaps.is_empty() {
        let more = found.gaps.len().saturating_sub(MAX_GAPS);
        fields["not_analyzed"] = json!(found.gaps.iter().take(MAX_GAPS).collect::<Vec<_>>());
        answer::set(&mut fields, "not_analyzed_omitted", (more > 0).then_some(more));
    }
    answer::set(&mut fields, "complete", found.is_cut_short().then_some(false));
    if found.is_cut_short() && found.issues.is_empty() {
        let message = "the time ran out before the sources were read; nothing was found so far";
        let hint = "Call again with a longer `timeout`, or name a folder.";
        return ToolError::new("not_finished", message, hint).to_answer_with(fields);
    }
    answer::ok(fields)
}

fn absent(linter: Linter) -> Value {
    json!({ "tool": linter.program(), "install": linter.install() })
}

/// The sources below a folder, or the one file, those first that the last build complained about,
/// and whether the project is a sketch.
fn listed(context: &ToolContext, folder: &str) -> (Vec<ProjectPath>, bool) {
    let of_c = |path: &ProjectPath| {
        let ending = path.extension();
        is_source(path)
            && !matches!(ending, None | Some("py" | "cmake" | "S" | "txt" | "csv" | "yml"))
    };
    let file = folder.trim_end_matches('/');
    let is_there = |path: &ProjectPath| path.as_str().starts_with(folder) || path.as_str() == file;
    let all = context.project_dir.list(MAX_FILES).files.into_iter().map(|file| file.path);
    let mut files: Vec<ProjectPath> = all.filter(|path| of_c(path) && is_there(path)).collect();
    let diagnosed = context.state.snapshot().diagnosed;
    files.sort_by_key(|path| !diagnosed.contains(path));
    (files, Sketch::is_at(context.project_dir.root()))
}

pub(super) const TOOL: ToolEntry = ToolEntry {
    name: NAME,
    about: "Looks for problems in the C and C++ sources with clang-tidy, cppcheck and, for sketches, \
         arduino-lint, whichever are installed; reports file, line, severity, message and rule. \
         clang-tidy needs a project that has been built once.",
    schema: args::schema::<RunStaticAnalysisArgs>,
    time: TimeLimit::Of(Duration::from_secs(MAX_SECONDS as u64 + 10)),
    call: |call| Box::pin(async move { run(call.context, call.args()?).await.map(Reply::Answer) }),
    ..ToolEntry::USUAL
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::tool_tests::ToolBench;

    #[tokio::test]
    async fn faults_are_told_with_their_places_or_the_missing_linters() {
        let desk = ToolBench::new();
        desk.write(
            "main/main.c",
            "int value(void)\n{\n    int b[2] = {0, 0};\n    return b[2];\n}\n",
        );
        desk.write(
            "main/other.c",
            "int other(void)\n{\n    int b[2] = {0, 0};\n    return b[2];\n}\n",
        );
        let reported =
            desk.answer(NAME, json!({ "project_path": "main/main.c", "timeout": 60 })).await;
        let missing: Vec<&str> = reported["missing"]
            .as_array()
            .unwrap()
            .iter()
            .map(|missing| missing["tool"].as_str().unwrap())
            .collect();
        assert!(
            reported["missing"].as_array().unwrap().iter().all(|one| one["install"].is_string())
        );
        if missing.contains(&"cppcheck") {
            println!("only what is missing was looked at: cppcheck is not installed");
            return;
        }
        let issues = reported["issues"].as_array().unwrap();
        assert!(issues.iter().all(|issue| issue["file"] == "main/main.c"), "{reported}");
        let found = issues.iter().find(|issue| issue["rule"] == "arrayIndexOutOfBounds").unwrap();
        let place = (&found["line"], &found["severity"], &found["tool"]);
        assert_eq!(place, (&json!(4), &json!("error"), &json!("cppcheck")), "{found}");
        // The toolchain of this desk does not know how anything is compiled.
        if !missing.contains(&"clang-tidy") {
            let why = reported["not_analyzed"][0]["why"].as_str().unwrap();
            assert!(why.contains("build the project once"), "{reported}");
        }
    }

    #[tokio::test]
    async fn nonsense_is_refused() {
        let desk = ToolBench::new();
        desk.write("README.md", "# x\n");
        for (args, code) in [
            (json!({}), "no_sources"),
            (json!({ "project_path": "../elsewhere" }), "bad_path"),
            (json!({ "timeout": 0 }), "bad_arguments"),
            (json!({ "timeout": 1000 }), "bad_arguments"),
            (json!({ "checks": "*" }), "bad_arguments"),
        ] {
            let answer = desk.answer(NAME, args).await;
            assert_eq!(answer["error"]["code"], code, "{answer}");
        }
    }

    #[test]
    fn files_of_the_last_errors_come_first() {
        let desk = ToolBench::new();
        for path in ["main/a.c", "main/b.c", "main/c.h", "tools/d.py", "build/e.c", "f.ino"] {
            desk.write(path, "");
        }
        let mut context = desk.context.clone();
        context.limits.files = 10;
        let names = |folder: &str| -> Vec<String> {
            listed(&context, folder).0.iter().map(ToString::to_string).collect()
        };
        assert_eq!(names(""), ["f.ino", "main/a.c", "main/b.c", "main/c.h"]);
        assert_eq!(names("main/"), ["main/a.c", "main/b.c", "main/c.h"]);
        assert_eq!(names("main/b.c/"), ["main/b.c"]);
        let diagnostic = crate::model::Diagnostic {
            file: Some("main/b.c".to_owned()),
            line: None,
            column: None,
            severity: crate::model::Severity::Error,
            message: String::new(),
            hint: String::new(),
        };
        let ended = crate::model::Event::Build(crate::model::BuildEvent::Ended {
            build: crate::model::BuildId(1),
            outcome: crate::model::BuildOutcome::Failed,
            diagnostics: vec![diagnostic],
            millis: 1,
            size: None,
        });
        let record = crate::model::Record {
            v: 1,
            seq: crate::model::Seq(1),
            at: crate::model::Timestamp(1),
            event: ended,
        };
        context.state.fold(&record);
        assert_eq!(names(""), ["main/b.c", "f.ino", "main/a.c", "main/c.h"]);
    }
}
