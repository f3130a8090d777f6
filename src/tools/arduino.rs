//! `build_arduino` and `flash_arduino`: building and flashing by Arduino's names for boards.
//!
//! Owns their arguments; what they do is done as for any other project.

use schemars::JsonSchema;
use serde::Deserialize;

use super::build;
use super::entry::{TimeLimit, ToolEntry};
use super::flash;
use super::{Reply, ToolError, args, map_sketch, recorded};
use crate::model::{Draft, DraftChange};
use crate::toolchain::chip_of_fqbn;
use crate::workspace::ProjectDir;
use serde_json::json;

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

/// Checks that the whole project, a sketch, is meant; gives the board that is named.
fn named_board(
    project_dir: &ProjectDir,
    project_path: Option<&str>,
    fqbn: Option<String>,
) -> Result<Option<String>, ToolError> {
    build::whole_project(project_dir, project_path)?;
    let named = fqbn.filter(|fqbn| !fqbn.trim().is_empty());
    let named = named.as_deref().map(board).transpose()?;
    map_sketch::sketch(project_dir)?;
    Ok(named)
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

pub(super) const BUILD: ToolEntry = ToolEntry {
    name: "build_arduino",
    about: "Builds the Arduino sketch and reports errors and warnings with file, line, message and \
         hint.",
    schema: args::schema::<BuildArgs>,
    time: TimeLimit::OfBuild,
    call: |call| {
        Box::pin(async move {
            let context = call.context;
            let BuildArgs { project_path, fqbn } = call.args()?;
            let fqbn = named_board(&context.project_dir, project_path.as_deref(), fqbn)?;
            let mut answer = build::build(context, fqbn.clone()).await?;
            if let Some(fqbn) = fqbn {
                if let Some(chip) = chip_of_fqbn(&fqbn) {
                    answer["target"]["chip"] = json!(chip);
                }
                answer["target"]["board"] = json!(fqbn);
                answer["fqbn"] = json!(fqbn);
            }
            Ok(Reply::Answer(answer))
        })
    },
    ..ToolEntry::USUAL
};

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

/// Checks that what would be flashed was built for the chip of that board.
fn same_chip(fqbn: &str, drafts: &[Draft]) -> Result<(), ToolError> {
    let plans = drafts.iter().filter_map(|draft| match &draft.change {
        DraftChange::Flash(plan) => Some(plan),
        _ => None,
    });
    for plan in plans {
        let built = plan.board.chip.as_str();
        if let Some(chip) = chip_of_fqbn(fqbn).filter(|chip| *chip != built) {
            let message = format!("fqbn: `{fqbn}` has a {chip}, and the last build is for {built}");
            let hint = format!("Call `{}` with the same `fqbn` first.", BUILD.name);
            return Err(ToolError::new("other_board", message, hint));
        }
    }
    Ok(())
}

pub(super) const FLASH: ToolEntry = ToolEntry {
    name: "flash_arduino",
    about: "Proposes to write the last passed build of the sketch to the board it was built for. \
         A person decides; afterwards the board runs it, and its serial output is recorded.",
    schema: args::schema::<FlashArgs>,
    time: flash::TOOL.time,
    call: |call| {
        Box::pin(async move {
            let context = call.context;
            let FlashArgs { project_path, fqbn, port, baud } = call.args()?;
            let fqbn = named_board(&context.project_dir, project_path.as_deref(), fqbn)?;
            let reply = flash::propose(context, flash::FlashArgs { port, baud }).await?;
            if let (Some(fqbn), Reply::Propose { drafts, .. }) = (&fqbn, &reply) {
                same_chip(fqbn, drafts)?;
            }
            Ok(reply)
        })
    },
    finish: |done| {
        let baud = done.args_again::<FlashArgs>().and_then(|args| args.baud);
        recorded::ready(flash::finish_at(done.context, baud, done.proposals))
    },
};

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
