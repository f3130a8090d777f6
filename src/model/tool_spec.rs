//! What a tool tells about itself.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ids::ToolName;

/// A tool as models and other programs see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: ToolName,
    /// What it does, in one or two sentences for a model.
    pub description: String,
    /// JSON Schema of the arguments object; unknown fields are refused.
    pub schema: Value,
}
