//! Teams and agents: the files that describe them, and what these say once everything is checked.
//!
//! Must not know how a run goes on.

mod answer_form;
mod condition;
mod definition;
mod field_test;
mod fields;
mod file;
mod format;
mod log_signs;
mod phase;
mod request_form;
mod source;
mod target_notes;
mod toolchain_notes;
mod work;

pub(super) use answer_form::{Exchange, files_in, named_files};
pub(super) use condition::Facts;
pub use condition::{CallResult, Condition};
pub use definition::{
    Agent, Failure, ForEach, NestedTeam, Phase, PlanReview, Rework, SendBack, SpeakerSelection,
    Team,
};
pub use field_test::FieldTest;
pub use file::agents;
pub use format::{AfterFailure, ContextPart, schema as team_schema};
pub use log_signs::LogSigns;
pub(super) use request_form::form;
pub use source::KnownTool;
pub use work::{AgentWork, FixedCall, Saves, Variant};
