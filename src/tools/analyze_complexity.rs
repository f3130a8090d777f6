//! `analyze_complexity`: figures per function for the files that are named.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::entry::ToolEntry;
use super::{Reply, ToolContext, ToolError, answer, args, files};
use crate::lang::complexity;

/// How long one file may take.
const BUDGET: Duration = Duration::from_secs(2);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AnalyzeComplexityArgs {
    /// C, C++ or Python files relative to the project folder.
    paths: Vec<String>,
}

fn analyze(context: &ToolContext, args: &AnalyzeComplexityArgs) -> Result<Value, ToolError> {
    if args.paths.is_empty() {
        let message = "paths: the list is empty";
        return Err(ToolError::new("bad_arguments", message, "Name at least one file."));
    }
    let (mut functions, mut skipped, mut omitted) = (Vec::new(), Vec::new(), 0);
    for (index, text) in args.paths.iter().enumerate() {
        let path = args::path(&format!("paths[{index}]"), text)?;
        let source = context.project_dir.read(&path).map_err(files::unreadable);
        let source = match source.and_then(|content| files::as_text(&path, content)) {
            Ok(source) => source,
            Err(error) => {
                skipped.push(json!({ "path": path, "why": error.message }));
                continue;
            }
        };
        let Some(found) = complexity(&path, &source, BUDGET) else {
            let why = "it is neither C, C++ nor Python, or takes too long";
            skipped.push(json!({ "path": path, "why": why }));
            continue;
        };
        for function in found {
            if functions.len() >= context.limits.files {
                omitted += 1;
                continue;
            }
            functions.push(json!({
                "path": path, "function": function.name, "line": function.line,
                "lines": function.lines, "cyclomatic": function.cyclomatic,
                "cognitive": function.cognitive, "nesting": function.nesting,
            }));
        }
    }
    let mut fields = json!({ "functions": functions });
    answer::set(&mut fields, "skipped", answer::filled(&skipped));
    answer::set(&mut fields, "omitted", (omitted > 0).then_some(omitted));
    Ok(answer::ok(fields))
}

pub(super) const TOOL: ToolEntry = ToolEntry {
    name: "analyze_complexity",
    about: "Measures each function of C, C++ and Python files: cyclomatic and cognitive \
         complexity, lines, nesting.",
    schema: args::schema::<AnalyzeComplexityArgs>,
    call: |call| Box::pin(async move { analyze(call.context, &call.args()?).map(Reply::Answer) }),
    ..ToolEntry::USUAL
};
