//! Teams and agents: the files that describe them, and what these say once everything is checked.
//!
//! Must not know how a run goes on.

mod answer_form;
mod condition;
mod definition;
mod file;
mod format;
mod phase;
mod source;
mod toolchain_notes;

pub(super) use answer_form::{files_in, form};
pub(super) use condition::Facts;
pub use condition::{CallResult, Condition};
pub use definition::{
    Agent, ContextPart, Failure, ForEach, Phase, PlanReview, Rework, SpeakerSelection, Team,
};
pub use file::agents;
pub use format::schema as team_schema;
pub use source::KnownTool;
