//! `analyze_complexity`: figures per function for the files that are named.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{AnswerLimits, Reply, Tool, ToolContext, ToolError, answer, args, files};
use crate::lang::complexity;
use crate::model::ToolSpec;
use crate::workspace::ProjectDir;

/// Name of the tool.
pub const NAME: &str = "analyze_complexity";

/// How long one file may take.
const BUDGET: Duration = Duration::from_secs(2);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AnalyzeComplexityArgs {
    /// C, C++ or Python files relative to the project folder.
    paths: Vec<String>,
}

/// Makes the tool.
pub(super) fn make(context: &ToolContext) -> Arc<dyn Tool> {
    let (project_dir, limits) = (Arc::clone(&context.project_dir), context.limits);
    Arc::new(AnalyzeComplexity { project_dir, limits })
}

struct AnalyzeComplexity {
    project_dir: Arc<ProjectDir>,
    limits: AnswerLimits,
}

impl AnalyzeComplexity {
    fn analyze(&self, args: &AnalyzeComplexityArgs) -> Result<Value, ToolError> {
        if args.paths.is_empty() {
            let message = "paths: the list is empty";
            return Err(ToolError::new("bad_arguments", message, "Name at least one file."));
        }
        let (mut functions, mut skipped, mut omitted) = (Vec::new(), Vec::new(), 0);
        for (index, text) in args.paths.iter().enumerate() {
            let path = args::path(&format!("paths[{index}]"), text)?;
            let source = self.project_dir.read(&path).map_err(files::unreadable);
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
                if functions.len() >= self.limits.files {
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
        if let Some(fields) = fields.as_object_mut() {
            if !skipped.is_empty() {
                fields.insert("skipped".to_owned(), Value::Array(skipped));
            }
            if omitted > 0 {
                fields.insert("omitted".to_owned(), json!(omitted));
            }
        }
        Ok(answer::ok(fields))
    }
}

impl Tool for AnalyzeComplexity {
    fn spec(&self) -> ToolSpec {
        args::spec::<AnalyzeComplexityArgs>(
            NAME,
            "Measures each function of C, C++ and Python files: cyclomatic and cognitive \
             complexity, lines, nesting.",
        )
    }

    fn call(&self, args: Value) -> BoxFuture<'_, Result<Reply, ToolError>> {
        Box::pin(async move { self.analyze(&args::parse(args)?).map(Reply::Answer) })
    }
}
