//! From a model's JSON to typed arguments, and from typed arguments to a schema.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::ToolError;
use crate::model::ProjectPath;

/// The schema of arguments that are `A`. `A` carries `#[serde(deny_unknown_fields)]`, which the
/// schema repeats as `additionalProperties: false`.
#[must_use]
pub fn schema<A: JsonSchema>() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<A>().to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
    }
    schema
}

/// Reads arguments.
///
/// # Errors
/// `bad_arguments`, naming the field that does not fit.
pub fn parse<A: DeserializeOwned>(args: Value) -> Result<A, ToolError> {
    // Models send nothing, or null, to a tool without arguments.
    let args = if args.is_null() { json!({}) } else { args };
    if !args.is_object() {
        return Err(bad("the arguments", "they must be one JSON object"));
    }
    serde_path_to_error::deserialize(args).map_err(|error| {
        let field = error.path().to_string();
        let field = if field == "." { "the arguments".to_owned() } else { format!("`{field}`") };
        bad(&field, &error.into_inner().to_string())
    })
}

/// Reads a path inside the project.
///
/// # Errors
/// `bad_path`, saying which field and why.
pub fn path(field: &str, text: &str) -> Result<ProjectPath, ToolError> {
    ProjectPath::new(text).map_err(|error| ToolError {
        code: "bad_path",
        message: format!("{field}: {error}"),
        hint: "Give paths relative to the project folder, such as `main/main.c`.".to_owned(),
    })
}

/// Files that are each named once, one at least.
///
/// # Errors
/// `bad_path`, naming the one that does not fit; `bad_arguments` when there is none.
pub fn distinct_paths(given: &[String]) -> Result<Vec<ProjectPath>, ToolError> {
    let mut paths: Vec<ProjectPath> = Vec::with_capacity(given.len());
    for (index, text) in given.iter().enumerate() {
        let path = path(&format!("paths[{index}]"), text)?;
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        let message = "paths: the list is empty";
        return Err(ToolError::new("bad_arguments", message, "Name at least one file."));
    }
    Ok(paths)
}

/// The seconds that a call may take, `most` at most.
///
/// # Errors
/// `bad_arguments` when they are more, or none.
pub fn seconds(seconds: u32, most: u32, hint: &str) -> Result<u32, ToolError> {
    if (1..=most).contains(&seconds) {
        return Ok(seconds);
    }
    let message = format!("timeout: {seconds} is not between 1 and {most}");
    Err(ToolError::new("bad_arguments", message, hint))
}

fn bad(field: &str, why: &str) -> ToolError {
    ToolError {
        code: "bad_arguments",
        message: format!("{field}: {why}"),
        hint: "Call the tool again with arguments that follow its schema.".to_owned(),
    }
}
