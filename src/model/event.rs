//! Every fact of a session.
//!
//! The JSON form is part of the journal's format: adding a variant or an optional field keeps
//! [`Record::VERSION`](super::Record::VERSION), anything else raises it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answering::ModelEvent;
use super::board::BoardInfo;
use super::build::{BuildOutcome, Diagnostic, ProgramSize};
use super::check::Check;
use super::decision::Decision;
use super::error::UserError;
use super::files::FileEvent;
use super::ids::{
    AgentName, BuildId, CallId, InquiryId, LogId, ProposalId, QuestionId, RuleId, SessionId,
    ToolName, TurnId,
};
use super::intent::Excerpt;
use super::message::Usage;
use super::outcome::{PhaseOutcome, SessionOutcome, TurnStop};
use super::path::ProjectPath;
use super::proposal::{Change, Outcome, Proposal};
use super::rule::SessionRule;
use super::serial::PortEvent;
use super::team::TeamFact;

/// One file of the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectFile {
    /// Where it is.
    pub path: ProjectPath,
    /// Length in bytes.
    pub bytes: u64,
}

/// What a session is about; the body of [`Event::SessionStarted`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStart {
    /// Name of the session.
    pub id: SessionId,
    /// The person's request.
    pub task: String,
    /// Name of the team.
    pub team: String,
    /// Absolute path of the project folder.
    pub project: String,
    /// What the screen calls the model, e.g. `scripted model`.
    pub model: String,
    /// What the screen calls the toolchain, e.g. `virtual board`.
    pub toolchain: String,
    /// Version of the program that wrote this.
    pub program: String,
    /// How to get the same model and toolchain again.
    #[serde(default)]
    pub parts: SessionParts,
}

/// What a session runs with, in a form that can be opened again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SessionParts {
    /// What answers for the agents, e.g. `script:i2c-scan` or `script:/home/me/own/script.toml`.
    pub provider: String,
    /// What builds and flashes: `virtual` or `idf`.
    pub toolchain: String,
}

/// How important a [`Event::Noticed`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Good to know.
    Info,
    /// Something is off, the run goes on.
    Warning,
    Error,
}

/// A fact. What is large and rare is boxed: a long session holds a million, and every
/// fact is moved several times on its way into a view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The first record of every journal.
    SessionStarted(Box<SessionStart>),
    /// The program opened the session again to go on.
    SessionResumed {
        /// Version of the program.
        program: String,
    },
    /// The run is over.
    SessionEnded {
        /// How it ended.
        outcome: SessionOutcome,
    },
    /// The files of the project as they are now; replaces the list known before.
    ProjectListed {
        /// Sorted by path.
        files: Vec<ProjectFile>,
        /// How many more there are than could be listed.
        #[serde(default)]
        omitted: u64,
    },
    /// Something about the project's files that no agent did.
    Files(FileEvent),
    /// A phase, or one attempt of it, begins with an empty chat.
    PhaseStarted {
        /// Its name in the team's file, e.g. `generate`.
        phase: String,
        /// Its name for people, e.g. `build & fix`.
        title: String,
        /// Counted from 1.
        attempt: u32,
        /// How many there may be.
        max_attempts: u32,
    },
    /// That attempt is over.
    PhaseEnded {
        /// Name of the phase.
        phase: String,
        attempt: u32,
        /// How it ended.
        outcome: PhaseOutcome,
    },
    /// The next speaker is known.
    SpeakerChosen {
        agent: AgentName,
        /// Why, in a sentence for people.
        reason: String,
    },
    /// An agent begins to speak.
    TurnStarted {
        /// Number of the turn.
        turn: TurnId,
        agent: AgentName,
    },
    /// It said some more.
    TextAdded {
        turn: TurnId,
        /// What to append.
        text: String,
    },
    /// It called a tool.
    ToolCalled {
        turn: TurnId,
        /// Number of the call.
        call: CallId,
        tool: ToolName,
        /// The arguments as the model gave them.
        args: Value,
    },
    /// The tool answered.
    ToolAnswered {
        call: CallId,
        /// The JSON object with `ok`.
        result: Value,
        /// How long it took, waiting for the person included.
        millis: u64,
    },
    /// One model call of the turn is complete; a turn with tool calls has several.
    ModelAnswered {
        turn: TurnId,
        /// Tokens it cost.
        usage: Usage,
        /// What the provider wants to be given back with the agent's next request, so that it
        /// can go on after a restart. Opaque to everyone else.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<String>,
    },
    /// Something about the model that answers.
    Model(ModelEvent),
    /// The agent is done.
    TurnEnded {
        turn: TurnId,
        /// Why it ended.
        stop: TurnStop,
    },
    /// The team has laid out something for its own work.
    Team(TeamFact),
    /// A tool wishes for an effect.
    Proposed(Box<Proposal>),
    /// The file changed on disk while the proposal waited: from here on this is what waits.
    Restated {
        proposal: ProposalId,
        /// The wish against the file as it is now.
        change: Box<Change>,
        /// Findings about it, which replace those known before.
        checks: Vec<Check>,
        /// What happened, in a sentence for people.
        why: String,
    },
    /// The person asks the agent about its proposal, which goes on waiting.
    Inquired {
        /// Number of the question.
        inquiry: InquiryId,
        proposal: ProposalId,
        /// Who is asked.
        agent: AgentName,
        /// The lines it is about; `None`: the whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        excerpt: Option<Excerpt>,
        text: String,
    },
    /// The agent answered some more.
    InquiryTextAdded {
        inquiry: InquiryId,
        /// What to append.
        text: String,
    },
    /// The answer is complete, or did not come.
    InquiryEnded {
        inquiry: InquiryId,
        /// Tokens it cost.
        usage: Usage,
        /// Why there is no whole answer; `None` when there is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failed: Option<UserError>,
    },
    /// The person made a rule for the session. Synced before it decides anything.
    RuleAdded {
        rule: RuleId,
        /// What it says, about what.
        says: SessionRule,
    },
    /// The person ended a rule of the session.
    RuleRevoked { rule: RuleId },
    /// The wish was decided. Synced before the effect begins.
    Decided { proposal: ProposalId, decision: Box<Decision> },
    /// What came of it.
    Settled { proposal: ProposalId, outcome: Outcome },
    /// Bytes of a flash that were written so far.
    FlashProgress {
        proposal: ProposalId,
        /// Written and verified bytes.
        done: u64,
        /// Bytes to write and to verify.
        total: u64,
    },
    /// A build began.
    BuildStarted {
        /// Number of the build.
        build: BuildId,
        /// Where its raw output goes.
        log: LogId,
        /// What is run, for people.
        command: String,
    },
    /// The build got on.
    BuildProgress {
        build: BuildId,
        /// Steps that are done.
        done: u32,
        /// Steps in all.
        total: u32,
    },
    /// The build ended.
    BuildEnded {
        build: BuildId,
        outcome: BuildOutcome,
        /// What was found, errors first.
        diagnostics: Vec<Diagnostic>,
        /// How long it took.
        millis: u64,
        /// What the program takes; `None` when the build did not pass or it was not measured.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<Box<ProgramSize>>,
    },
    /// A raw log is now this long.
    LogGrew {
        log: LogId,
        /// Its length in bytes.
        bytes: u64,
        /// Line feeds in it.
        lines: u64,
    },
    /// A board is there.
    BoardConnected(BoardInfo),
    /// A board is gone.
    BoardLost { port: String, why: String },
    /// Bytes from a port now go to a log.
    SerialOpened {
        port: String,
        /// Where its bytes go.
        log: LogId,
        /// Bits per second; 0 where it means nothing.
        baud: u32,
    },
    /// No more bytes come from that port.
    SerialClosed {
        /// The log that is complete now.
        log: LogId,
        why: String,
    },
    /// Something happened to an open port.
    Port { log: LogId, event: PortEvent },
    /// The person said something.
    PersonSaid {
        /// `None`: to all agents.
        to: Option<AgentName>,
        text: String,
    },
    /// The run asks the person.
    Asked {
        /// Number of the question.
        question: QuestionId,
        /// Who asks; `None`: the program itself.
        agent: Option<AgentName>,
        text: String,
        /// Answers to choose from; empty: free text.
        options: Vec<String>,
    },
    /// The person answered.
    Answered { question: QuestionId, answer: String },
    /// The run holds.
    Paused,
    /// The run goes on.
    Unpaused,
    /// The person wants the run to end.
    StopRequested,
    /// Something the person should know.
    Noticed {
        /// How important it is.
        level: Level,
        /// What, why, and what to do.
        notice: UserError,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_small() {
        assert!(size_of::<Event>() <= 120, "{} bytes", size_of::<Event>());
    }
}
