//! `map_sketch`: what an Arduino sketch is made of, before anything in it is touched.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::entry::ToolEntry;
use super::{Reply, ToolContext, ToolError, answer, args};
use crate::lang::SketchMap;
use crate::model::ProjectPath;
use crate::toolchain::sketch::Sketch;
use crate::workspace::{ProjectDir, Sources};

/// Name of the tool.
pub const NAME: &str = "map_sketch";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MapSketchArgs {}

fn map(context: &ToolContext, _: MapSketchArgs) -> Result<Value, ToolError> {
    let sketch = sketch(&context.project_dir)?;
    let is_read = |path: &ProjectPath| {
        matches!(
            path.extension(),
            Some("ino" | "c" | "cc" | "cpp" | "cxx" | "h" | "hh" | "hpp" | "hxx")
        )
    };
    let sources: Vec<(ProjectPath, String)> =
        Sources::of(&context.project_dir).texts().filter(|(path, _)| is_read(path)).collect();
    let map = SketchMap::of(sources.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let lines: usize = sources.iter().map(|(_, text)| text.lines().count()).sum();
    let files: Vec<&ProjectPath> = sources.iter().map(|(path, _)| path).collect();
    Ok(answer::ok(json!({
        "sketch": sketch.name,
        "tabs": sketch.tabs,
        "compiled_beside": sketch.sources,
        "files": files,
        "lines": lines,
        "map": map,
    })))
}

/// The sketch in the project's folder.
///
/// # Errors
/// `no_sketch` when there is none.
pub(super) fn sketch(project_dir: &ProjectDir) -> Result<Sketch, ToolError> {
    Sketch::read(project_dir.root()).ok_or_else(|| {
        ToolError::new(
            "no_sketch",
            "the project folder holds no Arduino sketch",
            "A sketch is a folder with a file `NAME.ino` and without a CMakeLists.txt.",
        )
    })
}

pub(super) const TOOL: ToolEntry = ToolEntry {
    name: NAME,
    about: "Maps the Arduino sketch: its tabs, entry points, libraries, I2C, SPI and UART \
         interfaces and pins, each with file and line.",
    schema: args::schema::<MapSketchArgs>,
    call: |call| Box::pin(async move { map(call.context, call.args()?).map(Reply::Answer) }),
    ..ToolEntry::USUAL
};
