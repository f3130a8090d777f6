//! `build_arduino` and `flash_arduino`: building and flashing by Arduino's names for boards.
//!
//! Owns their arguments; what they do is done as for any other project.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::build::{self, BuildProject};
use super::flash::{self, FlashProject};
use super::{Finish, Reply, Tool, ToolContext, ToolError, args, map_sketch, recorded};
use crate::model::{BlobSource, Draft, DraftChange, Proposal, ToolSpec};
use crate::toolchain::chip_of_fqbn;

/// Builds a sketch.
pub const BUILD: &str = "build_arduino";
/// Flashes a sketch.
pub const FLASH: &str = "flash_arduino";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BuildArgs {
    /// The folder of the sketch: `.`, or the absolute path of the project; may be left out.
    #[serde(default)]
    project_path: Option<String>,
    /// The board as Arduino calls it, e.g. `esp32:esp32:esp32s3`; that of `sketch.yaml` when left
    /// out.
    #[serde(default)]
    fqbn: Option<String>,
}

/// Makes the tool that builds.
pub(super) fn make_build(context: &ToolContext) -> Arc<dyn Tool> {
    Arc::new(BuildArduino { build: BuildProject { context: context.clone() } })
}

struct BuildArduino {
    build: BuildProject,
}

/// Whether a text may name a board: it becomes an argument of a program.
fn board(fqbn: &str) -> Result<String, ToolError> {
    let parts: Vec<&str> = fqbn.splitn(4, ':').collect();
    let is_word = |part: &&str| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.,=:".contains(c);
        !part.is_empty() && part.chars().all(is_plain) && !part.starts_with('-')
    };
    if parts.len() >= 3 && parts.iter().all(is_word) {
        return Ok(fqbn.to_owned());
    }
    Err(ToolError::new(
        "bad_arguments",
        "fqbn: a board is named `VENDOR:ARCHITECTURE:BOARD`",
        "Use a name from `list_boards`, e.g. `esp32:esp32:esp32`.",
    ))
}

impl Tool for BuildArduino {
    fn spec(&self) -> ToolSpec {
        args::spec::<BuildArgs>(
            BUILD,
            "Builds the Arduino sketch and reports errors and warnings with file, line, message and \
             hint.",
        )
    }

    fn is_build(&self) -> bool {
        true
    }

    fn timeout(&self) -> Duration {
        self.build.timeout()
    }

    fn call(&self, args: Value) -> BoxFuture<'_, Result<Reply, ToolError>> {
        Box::pin(async move {
            let BuildArgs { project_path, fqbn } = args::parse(args)?;
            build::whole_project(&self.build.context.project_dir, project_path.as_deref())?;
            map_sketch::sketch(&self.build.context.project_dir)?;
            let fqbn = fqbn.filter(|fqbn| !fqbn.trim().is_empty());
            let fqbn = fqbn.as_deref().map(board).transpose()?;
            let mut answer = self.build.build(fqbn.clone()).await?;
            if let Some(fqbn) = fqbn {
                if let Some(chip) = chip_of_fqbn(&fqbn) {
                    answer["target"]["chip"] = Value::String(chip.to_owned());
                }
                answer["target"]["board"] = Value::String(fqbn.clone());
                answer["fqbn"] = Value::String(fqbn);
            }
            Ok(Reply::Answer(answer))
        })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FlashArgs {
    /// The folder of the sketch: `.`, or the absolute path of the project; may be left out.
    #[serde(default)]
    project_path: Option<String>,
    /// The board as Arduino calls it; that of the last build, which is what is flashed.
    #[serde(default)]
    fqbn: Option<String>,
    /// The port of the board, e.g. `/dev/ttyUSB0`; the connected board when left out.
    #[serde(default)]
    port: Option<String>,
    /// Bits per second to listen with after the flash; those of the project's console when left
    /// out, else 115200.
    #[serde(default)]
    baud: Option<u32>,
}

/// Makes the tool that flashes.
pub(super) fn make_flash(context: &ToolContext) -> Arc<dyn Tool> {
    Arc::new(FlashArduino { flash: FlashProject { context: context.clone() } })
}

struct FlashArduino {
    flash: FlashProject,
}

/// Checks that what would be flashed was built for the chip of that board.
fn same_chip(fqbn: &str, drafts: &[Draft]) -> Result<(), ToolError> {
    let plans = drafts.iter().filter_map(|draft| match &draft.change {
        DraftChange::Flash(plan) => Some(plan),
        DraftChange::Save { .. }
        | DraftChange::Insert { .. }
        | DraftChange::Delete { .. }
        | DraftChange::Erase(_)
        | DraftChange::Send(_)
        | DraftChange::Read(_)
        | DraftChange::Nvs(_) => None,
    });
    for plan in plans {
        let built = plan.board.chip.as_str();
        if let Some(chip) = chip_of_fqbn(fqbn).filter(|chip| *chip != built) {
            let message = format!("fqbn: `{fqbn}` has a {chip}, and the last build is for {built}");
            let hint = format!("Call `{BUILD}` with the same `fqbn` first.");
            return Err(ToolError::new("other_board", message, hint));
        }
    }
    Ok(())
}

impl Tool for FlashArduino {
    fn spec(&self) -> ToolSpec {
        args::spec::<FlashArgs>(
            FLASH,
            "Proposes to write the last passed build of the sketch to the board it was built for. \
             A person decides; afterwards the board runs it, and its serial output is recorded.",
        )
    }

    fn timeout(&self) -> Duration {
        self.flash.timeout()
    }

    fn call(&self, args: Value) -> BoxFuture<'_, Result<Reply, ToolError>> {
        Box::pin(async move {
            let FlashArgs { project_path, fqbn, port, baud } = args::parse(args)?;
            build::whole_project(&self.flash.context.project_dir, project_path.as_deref())?;
            let fqbn = fqbn.filter(|fqbn| !fqbn.trim().is_empty());
            let fqbn = fqbn.as_deref().map(board).transpose()?;
            map_sketch::sketch(&self.flash.context.project_dir)?;
            let reply = self.flash.propose(flash::FlashArgs { port, baud }).await?;
            if let (Some(fqbn), Reply::Propose { drafts, .. }) = (&fqbn, &reply) {
                same_chip(fqbn, drafts)?;
            }
            Ok(reply)
        })
    }

    fn finish_recorded<'a>(
        &'a self,
        args: &'a Value,
        recorded: &'a [Proposal],
        _: &'a dyn BlobSource,
    ) -> BoxFuture<'a, Finish> {
        let baud = args::parse::<FlashArgs>(args.clone()).ok().and_then(|args| args.baud);
        recorded::ready(self.flash.finish_at(baud, recorded))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_are_named_in_three_parts_and_never_look_like_options() {
        for good in ["esp32:esp32:esp32s3", "esp32:esp32:esp32:PSRAM=enabled,CPUFreq=80"] {
            assert_eq!(board(good).unwrap(), good);
        }
        for bad in ["", "esp32", "esp32:esp32", "a:b:", "a:b:c d", "--x:y:z", "a:b:-c", "a:b:c;rm"]
        {
            assert_eq!(board(bad).unwrap_err().code, "bad_arguments", "{bad}");
        }
    }
}
