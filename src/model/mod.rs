//! The vocabulary every floor shares: ids, paths, events, proposals, intents.
//!
//! Owns the types that the engine writes and the screen reads. Must not do IO, read a clock,
//! start a task or know a terminal.

pub mod answering;
pub mod blob;
pub mod board;
pub mod build;
pub mod draft;
pub mod error;
pub mod event;
pub mod finding;
pub mod ids;
pub mod intent;
pub mod message;
pub mod outcome;
pub mod path;
pub mod proposal;
pub mod sources;
pub mod team;
pub mod time;
pub mod timeline;
pub mod tool_spec;

pub use answering::{Budget, Cost, LeftOut, ModelEvent, Spent};
pub use blob::{BlobRef, ContentHash};
pub use board::{BoardInfo, FlashImage, FlashPlan};
pub use build::{BuildOutcome, Diagnostic, Severity};
pub use draft::{Draft, DraftChange, Settlement};
pub use error::UserError;
pub use event::{Event, Record};
pub use finding::{Finding, Health};
pub use ids::{
    AgentName, BatchId, BuildId, CallId, LogId, LogKind, ProposalId, QuestionId, Seq, SessionId,
    ToolName, TurnId,
};
pub use intent::Intent;
pub use message::{Message, Role, ToolCall, Usage};
pub use outcome::{PhaseOutcome, SessionOutcome, TurnStop};
pub use path::ProjectPath;
pub use proposal::{
    Batch, Change, Check, CheckKind, CheckStatus, DecidedBy, Decision, Outcome, Proposal, Verdict,
};
pub use sources::{BlobSource, EventSource, Ledger, LogSource};
pub use team::{
    Artifact, ArtifactKind, ChosenBy, ContextFile, Document, PlanItem, TeamFact, estimated_tokens,
};
pub use time::Timestamp;
pub use timeline::{Direction, Playback, Speed, TimelineCommand, TimelineView};
pub use tool_spec::ToolSpec;
