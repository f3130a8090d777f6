//! Records in a line each, for the Events tab.
//!
//! Owns the wording. Must not look at anything but the record.

use crate::model::{
    AgentName, BoardEvent, BuildEvent, BuildOutcome, Change, Event, FileEvent, FilesEvent,
    LogEvent, LogId, ModelEvent, Outcome, PassageMark, PersonEvent, PhaseEvent, PhaseOutcome,
    PortChange, PortEvent, ProposalEvent, Record, SandboxLevel, SerialControl, SessionEvent,
    SessionOutcome, TeamEvent, TestEvent, TurnEvent, TurnStop,
};
use crate::ui::line;

use Tone::{Bad, Good, Plain};

/// Longest digest, in characters.
const MAX: usize = 240;

/// What a record says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    /// The kind of fact, as in the journal.
    pub kind: &'static str,
    /// The gist in one harmless line.
    pub text: String,
    /// Whether something went wrong.
    pub tone: Tone,
}

/// How a fact feels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Nothing to worry about.
    Plain,
    /// Something went well.
    Good,
    /// Something went wrong.
    Bad,
}

/// Sums up a record.
#[must_use]
pub fn digest(record: &Record) -> Digest {
    let (kind, text, tone) = of_event(&record.event);
    let mut short: String = text.chars().take(MAX).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    Digest { kind, text: line::clean(&short), tone }
}

type DigestParts = (&'static str, String, Tone);

fn of_event(event: &Event) -> DigestParts {
    match event {
        Event::Session(event) => of_session(event),
        Event::Files(FilesEvent::Listed { files, omitted, .. }) => {
            let files = files.len() + usize::try_from(*omitted).unwrap_or(usize::MAX);
            ("project_listed", line::counted(files, "file", "files"), Plain)
        }
        Event::Files(FilesEvent::Disk(FileEvent::ChangedOutside { files })) => {
            let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
            ("changed_outside", names.join(", "), Plain)
        }
        Event::Phase(event) => of_phase(event),
        Event::Turn(event) => of_turn(event),
        Event::Model(event) => of_model(event),
        Event::Team(event) => of_team(event),
        Event::Test(TestEvent::Started { run, command, .. }) => {
            ("tests_started", format!("{run} {command}"), Plain)
        }
        Event::Test(TestEvent::Ended { run, report }) => {
            let tone = if report.has_passed() { Good } else { Bad };
            ("tests_ended", format!("{run} {}", report.summary()), tone)
        }
        Event::Proposal(event) => of_proposal(event),
        Event::Build(event) => of_build(event),
        Event::Log(LogEvent::Grew { log, bytes, lines }) => {
            let lines = usize::try_from(*lines).unwrap_or(usize::MAX);
            let lines = line::counted(lines, "line", "lines");
            ("log_grew", format!("{log} {bytes} bytes, {lines}"), Plain)
        }
        Event::Board(BoardEvent::Connected(board)) => {
            ("board_connected", format!("{} {} {}", board.label, board.chip, board.port), Good)
        }
        Event::Board(BoardEvent::Lost { port, why }) => {
            ("board_lost", format!("{port} {why}"), Bad)
        }
        Event::Port(PortEvent::Opened { port, log, baud }) => {
            ("serial_opened", format!("{port} {baud} → {log}"), Plain)
        }
        Event::Port(PortEvent::Closed { log, why }) => {
            ("serial_closed", format!("{log} {why}"), Plain)
        }
        Event::Port(PortEvent::Changed { log, event }) => of_port(*log, event),
        Event::Person(event) => of_person(event),
    }
}

fn of_session(event: &SessionEvent) -> DigestParts {
    match event {
        SessionEvent::Started(start) => {
            ("session_started", format!("{} · {} · {}", start.team, start.model, start.task), Plain)
        }
        SessionEvent::RunStarted(start) => {
            ("run_started", format!("{} · {} · {}", start.number, start.team, start.task), Plain)
        }
        SessionEvent::Resumed { program, choices } => {
            let changed = if choices.is_some() { " · limits changed" } else { "" };
            ("session_resumed", format!("by {program}{changed}"), Plain)
        }
        SessionEvent::Sandboxed { level, missing } => {
            let tone = if *level == SandboxLevel::None { Bad } else { Plain };
            let missing = missing.iter().map(|what| format!(" · missing: {what}"));
            ("session_sandboxed", format!("{level}{}", missing.collect::<String>()), tone)
        }
        SessionEvent::Ended { outcome } => {
            let (text, tone) = match outcome {
                SessionOutcome::Completed => ("completed".to_owned(), Good),
                SessionOutcome::Failed(error) => (error.to_string(), Bad),
                SessionOutcome::Stopped => ("stopped".to_owned(), Plain),
            };
            ("session_ended", text, tone)
        }
    }
}

fn of_phase(event: &PhaseEvent) -> DigestParts {
    match event {
        PhaseEvent::Started { title, attempt, max_attempts, .. } => {
            ("phase_started", format!("{title} {attempt}/{max_attempts}"), Plain)
        }
        PhaseEvent::Ended { phase, attempt, outcome, step } => {
            let (why, tone) = match outcome {
                PhaseOutcome::Succeeded(why) => (why.as_str(), Good),
                PhaseOutcome::Failed(why) => (why.as_str(), Bad),
                PhaseOutcome::Stopped => ("stopped", Plain),
            };
            ("phase_ended", format!("{}{phase} {attempt}: {why}", of_step(*step)), tone)
        }
    }
}

fn of_turn(event: &TurnEvent) -> DigestParts {
    match event {
        TurnEvent::SpeakerChosen { agent, reason, step, .. } => {
            ("speaker_chosen", format!("{}{agent}: {reason}", of_step(*step)), Plain)
        }
        TurnEvent::PolicyTaken(table) => {
            let words = format!("{} {} · {} states", table.team, table.hash, table.rows.len());
            ("policy_taken", words, Plain)
        }
        TurnEvent::Started { turn, agent, step } => {
            ("turn_started", format!("{}{turn} {agent}", of_step(*step)), Plain)
        }
        TurnEvent::TextAdded { turn, text } => ("text_added", format!("{turn} {text}"), Plain),
        TurnEvent::ToolCalled { call, tool, args, .. } => {
            ("tool_called", format!("{call} {tool} {args}"), Plain)
        }
        TurnEvent::ToolAnswered { call, result, millis } => {
            let is_bad = result.get("ok").and_then(serde_json::Value::as_bool) == Some(false);
            let tone = if is_bad { Bad } else { Plain };
            ("tool_answered", format!("{call} {millis} ms {result}"), tone)
        }
        TurnEvent::ModelAnswered { turn, usage, .. } => {
            ("model_answered", format!("{turn} {} in, {} out", usage.input, usage.output), Plain)
        }
        TurnEvent::Ended { turn, stop } => {
            let (text, tone) = match stop {
                TurnStop::Done => ("done".to_owned(), Plain),
                TurnStop::Terminated(why) => (why.to_string(), Plain),
                TurnStop::Stopped => ("stopped".to_owned(), Plain),
                TurnStop::Failed(error) => (error.to_string(), Bad),
                TurnStop::Interrupted => ("interrupted".to_owned(), Bad),
            };
            ("turn_ended", format!("{turn} {text}"), tone)
        }
    }
}

/// Which step of the plan it is about; empty: the whole.
fn of_step(step: Option<u32>) -> String {
    step.map_or_else(String::new, |step| format!("step {step} · "))
}

fn of_build(event: &BuildEvent) -> DigestParts {
    match event {
        BuildEvent::Started { build, command, .. } => {
            ("build_started", format!("{build} {command}"), Plain)
        }
        BuildEvent::Progress { build, done, total } => {
            ("build_progress", format!("{build} [{done}/{total}]"), Plain)
        }
        BuildEvent::Ended { build, outcome, diagnostics, millis, .. } => {
            let found = line::counted(diagnostics.len(), "finding", "findings");
            let (text, tone) = match outcome {
                BuildOutcome::Passed => ("passed".to_owned(), Good),
                BuildOutcome::Failed => (format!("failed, {found}"), Bad),
                BuildOutcome::TimedOut => ("ran into the time limit".to_owned(), Bad),
                BuildOutcome::Cancelled => ("stopped".to_owned(), Plain),
                BuildOutcome::NotRun(error) => (error.to_string(), Bad),
            };
            ("build_ended", format!("{build} {millis} ms {text}"), tone)
        }
    }
}

fn of_port(log: LogId, event: &PortChange) -> DigestParts {
    let (text, tone) = match event {
        PortChange::Lost { why } => (format!("lost: {why}"), Bad),
        PortChange::Back { millis } => (format!("back after {millis} ms"), Good),
        PortChange::Sent { text, by } => {
            let who = by.as_ref().map_or("the person", AgentName::as_str);
            (format!("{who} sent {text}"), Plain)
        }
        PortChange::Controlled(SerialControl::Baud(baud)) => (format!("{baud} Bd"), Plain),
        PortChange::Controlled(SerialControl::Reset) => ("reset".to_owned(), Plain),
        PortChange::Controlled(SerialControl::BootLoader) => ("boot loader".to_owned(), Plain),
        PortChange::Panicked { report, .. } => {
            (format!("{}: {}", report.kind.words(), report.message), Bad)
        }
        PortChange::CoreDumped(dump) => {
            (format!("{} · {} bytes", dump.name, dump.content.bytes), Plain)
        }
    };
    ("port", format!("{log} {text}"), tone)
}

fn of_person(event: &PersonEvent) -> DigestParts {
    let (kind, text) = match event {
        PersonEvent::Wrote { to: Some(agent), text } => {
            ("person_said", format!("to {agent}: {text}"))
        }
        PersonEvent::Wrote { to: None, text } => ("person_said", text.clone()),
        PersonEvent::Asked { question, text, .. } => ("asked", format!("{question} {text}")),
        PersonEvent::Answered { question, answer } => ("answered", format!("{question} {answer}")),
        PersonEvent::SpeakerNamed { agent } => ("speaker_named", agent.to_string()),
        PersonEvent::Paused => ("paused", String::new()),
        PersonEvent::Unpaused => ("unpaused", String::new()),
        PersonEvent::StopRequested => ("stop_requested", String::new()),
        PersonEvent::Noticed { notice, .. } => ("noticed", notice.to_string()),
    };
    (kind, text, Plain)
}

fn of_proposal(event: &ProposalEvent) -> DigestParts {
    match event {
        ProposalEvent::Made(proposal) => {
            let (kind, what) = (proposal.change.kind(), changed(&proposal.change));
            ("proposed", format!("#{} {kind} {what} by {}", proposal.id, proposal.agent), Plain)
        }
        ProposalEvent::Restated { proposal, why, .. } => {
            ("restated", format!("#{proposal} {why}"), Plain)
        }
        ProposalEvent::Inquired { proposal, agent, text, .. } => {
            ("inquired", format!("#{proposal} to {agent}: {text}"), Plain)
        }
        ProposalEvent::InquiryTextAdded { inquiry, text } => {
            ("inquiry_text_added", format!("{inquiry} {text}"), Plain)
        }
        ProposalEvent::InquiryEnded { inquiry, failed: None, .. } => {
            ("inquiry_ended", format!("{inquiry} answered"), Good)
        }
        ProposalEvent::InquiryEnded { inquiry, failed: Some(error), .. } => {
            ("inquiry_ended", format!("{inquiry} {error}"), Bad)
        }
        ProposalEvent::RuleAdded { rule, says } => {
            ("rule_added", format!("rule {rule}: {says}"), Plain)
        }
        ProposalEvent::RuleRevoked { rule } => ("rule_revoked", format!("rule {rule}"), Plain),
        ProposalEvent::Decided { proposal, decision } => {
            let verdict = &decision.verdict;
            let tone = if verdict.is_approval() { Good } else { Bad };
            let colon = if verdict.words().is_empty() { "" } else { ": " };
            let text = format!("#{proposal} {}{colon}{}", verdict.label(), verdict.words());
            ("decided", text, tone)
        }
        ProposalEvent::Settled { proposal, outcome } => {
            let (text, tone) = match outcome {
                Outcome::Applied => ("applied".to_owned(), Good),
                Outcome::Denied => ("not done".to_owned(), Plain),
                Outcome::Stale { .. } => ("stale: it had changed meanwhile".to_owned(), Bad),
                Outcome::Failed(error) => (error.to_string(), Bad),
                Outcome::Interrupted(what) => (format!("interrupted: {what}"), Bad),
            };
            ("settled", format!("#{proposal} {text}"), tone)
        }
        ProposalEvent::FlashProgress { proposal, done, total } => {
            ("flash_progress", format!("#{proposal} {done}/{total} bytes"), Plain)
        }
    }
}

/// What a change is made to.
fn changed(change: &Change) -> String {
    match change {
        Change::Send(plan) => format!("{} {}", plan.board.label, plan.visible().concat()),
        Change::Read(plan) => format!("{} into {}", plan.region.name(), plan.path),
        Change::Erase(plan) => format!("{} of {}", plan.name(), plan.board.label),
        Change::Nvs(plan) => format!("{} of {}", plan.region.name(), plan.board.label),
        change => match (change.board(), change.path()) {
            (Some(board), _) => board.label.clone(),
            (None, path) => path.map_or_else(String::new, ToString::to_string),
        },
    }
}

fn of_model(event: &ModelEvent) -> DigestParts {
    match event {
        ModelEvent::Reasoned { turn, text } => ("model_reasoned", format!("{turn} {text}"), Plain),
        ModelEvent::Faulted { turn, attempt, most, wait_millis, fault } => {
            let text = format!("{turn} {fault}; try {attempt}/{most} in {wait_millis} ms");
            ("model_faulted", text, Bad)
        }
        ModelEvent::Trimmed { turn, left_out, tokens, window } => {
            let pieces = line::counted(left_out.len(), "piece", "pieces");
            let text = format!("{turn} {pieces} left out, {tokens} of {window} tokens");
            ("model_trimmed", text, Plain)
        }
        ModelEvent::Summarised(summary) => {
            let (turn, count) = (summary.turn, summary.messages());
            let messages = if count == 1 { "message" } else { "messages" };
            let (text, tone) = match &summary.failed {
                None => (format!(", {} tokens", summary.tokens), Plain),
                Some(why) => (format!(": {why}"), Bad),
            };
            ("model_summarised", format!("{turn} {count} {messages}{text}"), tone)
        }
        ModelEvent::Named { model } => ("model_named", model.clone(), Plain),
        ModelEvent::Chosen { provider, label } => {
            ("model_chosen", format!("{label} ({provider})"), Plain)
        }
        ModelEvent::Budgeted(budget) => {
            let words = |limit: Option<String>| limit.unwrap_or_else(|| "no limit".to_owned());
            let tokens = words(budget.tokens.map(|tokens| format!("{tokens} tokens")));
            let cost = words(budget.cost.map(|cost| cost.to_string()));
            let time = words(budget.seconds.map(|seconds| format!("{seconds} s")));
            ("model_budgeted", format!("{tokens}, {cost}, {time}"), Plain)
        }
    }
}

fn of_team(event: &TeamEvent) -> DigestParts {
    let (kind, text) = match event {
        TeamEvent::Attached(document) => {
            ("attached", format!("{} {} bytes", document.name, document.bytes))
        }
        TeamEvent::PlanMade { by, items } => {
            let by = by.as_ref().map_or("the person", AgentName::as_str);
            let steps = line::counted(items.len(), "step", "steps");
            ("plan_made", format!("by {by}, {steps}"))
        }
        TeamEvent::ContextListed { call, files } => {
            let tokens: u64 = files.iter().map(|file| file.tokens).sum();
            let files = line::counted(files.len(), "file", "files");
            ("context_listed", format!("{call} {files}, {tokens} tokens"))
        }
        TeamEvent::ContextEdited { add, remove } => {
            ("context_edited", format!("+{} -{}", add.len(), remove.len()))
        }
        TeamEvent::PassageMarked(marked) => {
            let mark = match marked.mark {
                PassageMark::Pinned => "pinned",
                PassageMark::Muted => "muted",
                PassageMark::None => "unmarked",
            };
            ("passage_marked", format!("{mark} {}", marked.source))
        }
        TeamEvent::ArtifactPosted(artifact) => {
            let (number, kind) = (artifact.number, artifact.kind.word());
            ("artifact_posted", format!("{number} {kind}: {}", artifact.title))
        }
    };
    (kind, text, Plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Seq, Timestamp, TurnId};

    #[test]
    fn a_digest_is_one_harmless_short_line() {
        let text = format!("a\nb\u{1b}[31m{}", "x".repeat(5000));
        let event = Event::Turn(TurnEvent::TextAdded { turn: TurnId(3), text });
        let record = Record { v: 1, seq: Seq(1), at: Timestamp(0), event };
        let found = digest(&record);
        assert_eq!(found.kind, "text_added");
        assert!(found.text.starts_with("3 a␊b␛[31mxx") && found.text.ends_with('…'));
        assert!(found.text.chars().count() <= MAX + 1);
    }
}
