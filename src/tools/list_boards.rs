//! `list_boards`: which ports there are and what may be behind them.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::entry::ToolEntry;
use super::{Reply, ToolContext, ToolError, answer, args};
use crate::toolchain::sketch::Sketch;
use crate::toolchain::{board_manager_urls, known_boards};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListBoardsArgs {}

async fn list(context: &ToolContext, _: ListBoardsArgs) -> Result<Value, ToolError> {
    let hub = Arc::clone(&context.serial);
    let ports = tokio::task::spawn_blocking(move || hub.ports()).await.unwrap_or_default();
    let root = context.project_dir.root();
    let mut boards = context.toolchain.boards(root).await;
    let is_sketch = Sketch::is_at(root);
    if boards.is_empty() && is_sketch {
        boards = known_boards();
    }
    let connected = context.state.snapshot().board;
    let mut fields = json!({
        "ports": ports,
        "connected": connected,
        "toolchain": context.toolchain.label(),
        "targets": context.toolchain.targets(),
        "boards": boards,
    });
    answer::set(&mut fields, "board_manager_urls", is_sketch.then(board_manager_urls));
    Ok(answer::ok(fields))
}

pub(super) const TOOL: ToolEntry = ToolEntry {
    name: "list_boards",
    about: "Lists the serial ports with a guess of the chip behind each, the board that is \
         connected, and the targets, Arduino boards or PlatformIO environments that can be \
         built for.",
    schema: args::schema::<ListBoardsArgs>,
    call: |call| Box::pin(async move { list(call.context, call.args()?).await.map(Reply::Answer) }),
    ..ToolEntry::USUAL
};
