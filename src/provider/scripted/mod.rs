//! The scripted model: plays a recorded conversation and checks that the run fits it.
//!
//! It is a model only in that it answers requests; it never looks at the project, and says so
//! wherever a person writes to it. A script is a test as well: a request that is not the one the
//! recording expects is refused with both sides named. It keeps nothing between calls. How far the
//! conversation has come travels in [`Request::state`], so a run that was killed goes on where it
//! was. Must not know teams, tools' insides or where data files are.
//!
//! # The file
//!
//! TOML. Unknown keys, names that lead nowhere, and parts that can never be reached are refused by
//! file and line.
//!
//! ```toml
//! format = 1
//! title = "Scan the I2C bus"
//! task = "Generate an I2C driver for the ESP32"
//! team = "generate"                    # the team that was recorded, this one if not said
//! project = "sensor-node"              # begins with this folder of assets/projects; or empty
//! start = "plan"                       # id of the first step
//! starts = [{ when = { agent = "ReviewerAgent" }, goto = "save" }] # others, if the first request is so
//!
//! [timing]                             # only for `Pacing::Real`
//! chars_per_second = 500
//! think_ms = 400
//!
//! [files."main/main.c"]                # a file of the project and its versions, as files
//! versions = ["main.1.c", "main.2.c"]  # beside the script
//!
//! [files.fix]                          # the same path may have several names
//! path = "main/main.c"
//! versions = ["main.fixed.c"]
//!
//! [[steps]]
//! id = "plan"
//! agent = "PlanningAgent"              # who must be asking
//! say = "ReviewerAgent : save the file"
//! next = [{ goto = "save" }]
//!
//! [[steps]]
//! id = "save"
//! agent = "ReviewerAgent"
//! expect = { phase = "generate", attempt = 1, tools = ["generate_code"], mentions = ["I2C"] }
//! say = "I save it."
//! calls = [{ tool = "generate_code", files = ["main/main.c"] }]
//! next = [
//!     { when = { tool = "generate_code", at = "/rejected/0", exists = true }, goto = "again" },
//!     { goto = "done" },
//! ]
//!
//! [[steps]]
//! id = "again"
//! agent = "ReviewerAgent"
//! say = "{rejected} was refused: “{reason}”. Here is another version."
//! calls = [{ tool = "generate_code", files = "rejected" }]
//! next = [
//!     { when = { tool = "generate_code", at = "/rejected/0", exists = true }, goto = "again" },
//!     { goto = "done" },
//! ]
//!
//! [[steps]]
//! id = "done"
//! agent = "ReviewerAgent"
//! say = "Saved."
//! end = true                           # nothing follows; being asked again is an error
//! ```
//!
//! **Steps.** One step is one model answer: `say` (Markdown), then `list` (files as a JSON list in
//! a fenced block), then `calls`. `args` of a call are given as they are; `files` adds
//! `files = [{file_name, code}]`. Both `list` and `files` take names from `[files]`, or the word
//! `"rejected"`: every file of `rejected` in the last answer, each in its next version. When there
//! is no further version, the last one gets a comment with the person's words, so that it differs.
//! In `say`, `{reason}`, `{rejected}` and `{said}` stand for the words of the refusal, the names
//! of the refused files and what the person said last.
//!
//! `raw` of a call gives its arguments as text, which need not be JSON. With `verbatim = true` at
//! the top, as in recordings of real runs, everything is said as it stands: no braces are filled.
//!
//! **`expect`** is checked when the step is played: `phase`, `attempt`, `step` of the plan, `tools` that must be
//! offered, `mentions` somewhere in the conversation, `last_mentions` in its last message.
//!
//! **`next`** is read from the top against the *next* request; the first entry whose `when` holds
//! is taken. Conditions in one `when` must all hold: `agent`, `phase`, `attempt`, `step` of the request;
//! `mentions` in its last message, capitals aside; `said` (whether the person said something
//! new); `tool`, the name of a tool that answered in this turn, and for its answer (or that of the
//! last tool) `at`, a JSON pointer, with one of `exists`, `equals`, `contains`.
//!
//! **Asides** answer what the person asks about a proposal that waits. Each `[[asides]]` has `say`
//! and may have `agent` (who is asked) and `mentions` (in the question, capitals aside); the first
//! that fits is said. They never move the recording on.
//!
//! **Usage** is an estimate, one token for four bytes of request and answer, because no model
//! counts them.

mod answer;
mod aside;
mod comment;
mod condition;
mod cursor;
mod format;
mod head;
mod load;
mod pace;
mod script;
mod situation;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::{self, BoxStream};

use super::{Delta, Provider, Request};
use crate::model::UserError;
pub use head::{ScriptHead, script_head};
pub use load::{Sibling, parse_script};
pub use pace::Pacing;
use pace::ScriptedReply;
pub use script::Script;

/// Answers from a script.
#[derive(Debug, Clone)]
pub struct Scripted {
    script: Arc<Script>,
    pacing: Pacing,
}

impl Scripted {
    /// Plays `script`.
    #[must_use]
    pub const fn new(script: Arc<Script>, pacing: Pacing) -> Self {
        Self { script, pacing }
    }

    fn played(&self, answer: ScriptedReply) -> BoxStream<'static, Result<Delta, UserError>> {
        match self.pacing {
            Pacing::Instant => stream::iter(answer.whole().into_iter().map(Ok)).boxed(),
            Pacing::Real => pace::typed(answer.typed(self.script.timing)).map(Ok).boxed(),
        }
    }
}

impl Provider for Scripted {
    fn label(&self) -> String {
        "scripted model".to_owned()
    }

    fn ask(&self, request: Request) -> BoxStream<'static, Result<Delta, UserError>> {
        match answer::answer(&self.script, &request) {
            Ok(answer) => self.played(answer),
            Err(error) => stream::iter([Err(error)]).boxed(),
        }
    }

    fn ask_aside(&self, request: Request) -> BoxStream<'static, Result<Delta, UserError>> {
        self.played(aside::answer(&self.script, &request))
    }
}
