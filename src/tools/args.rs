//! From a model's JSON to typed arguments, and from typed arguments to a schema.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::ToolError;
use crate::model::{ProjectPath, ToolName, ToolSpec};

/// Makes the description of a tool whose arguments are `A`. `A` carries
/// `#[serde(deny_unknown_fields)]`, which the schema repeats as `additionalProperties: false`.
#[must_use]
pub fn spec<A: JsonSchema>(name: &str, description: &str) -> ToolSpec {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<A>().to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
    }
    ToolSpec { name: ToolName::new(name), description: description.to_owned(), schema }
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

fn bad(field: &str, why: &str) -> ToolError {
    ToolError {
        code: "bad_arguments",
        message: format!("{field}: {why}"),
        hint: "Call the tool again with arguments that follow its schema.".to_owned(),
    }
}
