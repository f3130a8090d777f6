//! `list_boards`: which ports there are and what may be behind them.

use std::sync::Arc;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Reply, Tool, ToolContext, ToolError, answer, args};
use crate::model::ToolSpec;
use crate::toolchain::sketch::Sketch;
use crate::toolchain::{board_manager_urls, known_boards};

/// Name of the tool.
pub const NAME: &str = "list_boards";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListBoardsArgs {}

/// Makes the tool.
pub(super) fn make(context: &ToolContext) -> Arc<dyn Tool> {
    Arc::new(ListBoards { context: context.clone() })
}

struct ListBoards {
    context: ToolContext,
}

impl Tool for ListBoards {
    fn spec(&self) -> ToolSpec {
        args::spec::<ListBoardsArgs>(
            NAME,
            "Lists the serial ports with a guess of the chip behind each, the board that is \
             connected, and the targets, Arduino boards or PlatformIO environments that can be \
             built for.",
        )
    }

    fn call(&self, args: Value) -> BoxFuture<'_, Result<Reply, ToolError>> {
        Box::pin(async move {
            let ListBoardsArgs {} = args::parse(args)?;
            let hub = Arc::clone(&self.context.serial);
            let ports = tokio::task::spawn_blocking(move || hub.ports()).await.unwrap_or_default();
            let root = self.context.project_dir.root();
            let mut boards = self.context.toolchain.boards(root).await;
            let is_sketch = Sketch::is_at(root);
            if boards.is_empty() && is_sketch {
                boards = known_boards();
            }
            let connected = self.context.state.snapshot().board;
            let mut fields = json!({
                "ports": ports,
                "connected": connected,
                "toolchain": self.context.toolchain.label(),
                "targets": self.context.toolchain.targets(),
                "boards": boards,
            });
            if is_sketch {
                fields["board_manager_urls"] = json!(board_manager_urls());
            }
            Ok(Reply::Answer(answer::ok(fields)))
        })
    }
}
