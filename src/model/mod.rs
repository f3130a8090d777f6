//! The vocabulary every floor shares: ids, paths, events, proposals, intents.
//!
//! Owns the types that the engine writes and the screen reads. Must not do IO, read a clock,
//! start a task or know a terminal.

pub mod answering;
pub mod blob;
pub mod board;
pub mod build;
pub mod check;
pub mod cost;
pub mod decision;
pub mod draft;
pub mod error;
pub mod event;
pub mod facts;
pub mod figures;
pub mod files;
pub mod health;
mod ids;
pub mod intent;
pub mod message;
pub mod nvs;
pub mod open_call;
pub mod outcome;
pub mod panic;
pub mod passage;
pub mod path;
pub mod policy;
pub mod proposal;
pub mod record;
pub mod remote_search;
pub mod rule;
pub mod sandbox;
pub mod serial;
pub mod sources;
pub mod team;
pub mod test_run;
pub mod time;
pub mod timeline;
pub mod tool_spec;

pub use answering::{Budget, ChatSummary, LeftOut, ModelEvent, Spent, SummarisedTurn};
pub use blob::{BlobRef, ContentHash};
pub use board::{BoardInfo, ErasePlan, FlashImage, FlashPlan, FlashRegion, ReadPlan, SendPlan};
pub use build::{BuildOutcome, Diagnostic, Memory, MemoryUse, ProgramSize, Severity};
pub use check::{Check, CheckKind, Finding, FindingLevel, FindingPlace};
pub use cost::Cost;
pub use decision::{
    AfterReject, Amended, DecidedBy, Decision, DecisionNote, LineComment, Side, Verdict,
};
pub use draft::{Draft, DraftChange, Settlement};
pub use error::UserError;
pub use event::{
    BoardEvent, BuildEvent, Event, FilesEvent, LogEvent, PersonEvent, PhaseEvent, PortEvent,
    ProposalEvent, SessionEvent, TurnEvent,
};
pub use facts::{
    BoardFacts, Facts, FlashArea, FlashFacts, Landing, Partition, Reference, ReferenceKind,
};
pub use figures::{CodeFigures, FunctionFigures};
pub use files::{FileEvent, OutsideChange};
pub use health::{Health, HealthLine};
pub use ids::{
    AgentName, BatchId, BuildId, CallId, InquiryId, LogId, LogKind, ProposalId, QuestionId, RuleId,
    Seq, SessionId, TestRunId, ToolName, TurnId,
};
pub use intent::{Excerpt, Intent, Shown};
pub use message::{Message, MessageRole, ToolCall, Usage};
pub use nvs::{NvsEdit, NvsKind, NvsPlan, NvsSeen, NvsSpace, NvsValue};
pub use open_call::{OpenArg, OpenCall};
pub use outcome::{PhaseOutcome, SessionOutcome, TurnStop};
pub use panic::{
    CoreDump, ElfMatch, PanicElf, PanicFrame, PanicKind, PanicRegister, PanicReport, PanicTrace,
};
pub use passage::{MarkedPassage, PassageMark, PassageMarks};
pub use path::ProjectPath;
pub use policy::{
    AgentRole, AgentValue, ChosenHow, PolicyAgent, PolicyChoice, PolicyRow, PolicyTable,
    PolicyValue,
};
pub use proposal::{Batch, Change, ChangeKind, Outcome, Proposal};
pub use record::Record;
pub use remote_search::{RemoteFilter, RemotePassage, RemoteQuestion};
pub use rule::{RuleSays, SessionRule};
pub use sandbox::SandboxLevel;
pub use serial::{LineEnding, PortChange, SerialCommand, SerialControl};
pub use sources::{
    BlobSource, EventSource, Examiner, FileSource, FileStart, Ledger, LogSource, LogStart,
    RecordSource,
};
pub use team::{
    Artifact, ArtifactKind, ChosenBy, ContextFile, Document, Ground, MODEL_ANSWER, MODEL_HINT,
    NextSuggestion, PlanItem, READ_FILES, START_PLAN, TeamEvent, TeamOffer, TeamOffers,
    estimated_tokens,
};
pub use test_run::{TestCase, TestCounts, TestEvent, TestOutcome, TestReport, TestedFile};
pub use time::Timestamp;
pub use timeline::{Direction, Playback, Speed, TimelineCommand, TimelineView};
pub use tool_spec::ToolSpec;
