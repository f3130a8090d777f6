//! Records in a line each, for the Events tab.
//!
//! Owns the wording. Must not look at anything but the record.

use crate::model::{
    AgentName, BoardEvent, BuildEvent, BuildOutcome, Change, Decision, Event, FileEvent,
    FilesEvent, LogEvent, LogId, ModelEvent, Outcome, PassageMark, PersonEvent, PhaseEvent,
    PhaseOutcome, PortChange, PortEvent, ProposalEvent, ProposalId, Record, SandboxLevel,
    SerialControl, SessionEvent, SessionOutcome, TeamEvent, TestEvent, TurnEvent, TurnStop,
};
use crate::text::sanitize;
use crate::ui::line;

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
    Digest { kind, text: sanitize::line(&short).into_owned(), tone }
}

type DigestParts = (&'static str, String, Tone);

fn of_port(log: LogId, event: &PortChange) -> DigestParts {
    use Tone::{Bad, Good, Plain};
    match event {
        PortChange::Lost { why } => ("port", format!("{log} lost: {why}"), Bad),
        PortChange::Back { millis } => ("port", format!("{log} back after {millis} ms"), Good),
        PortChange::Sent { text, by } => {
            let who = by.as_ref().map_or("the person", |agent| agent.as_str());
            ("port", format!("{log} {who} sent {text}"), Plain)
        }
        PortChange::Controlled(control) => {
            let what = match control {
                SerialControl::Baud(baud) => format!("{baud} Bd"),
                SerialControl::Reset => "reset".to_owned(),
                SerialControl::BootLoader => "boot loader".to_owned(),
            };
            ("port", format!("{log} {what}"), Plain)
        }
        PortChange::Panicked { report, .. } => {
            ("port", format!("{log} {}: {}", report.kind.words(), report.message), Bad)
        }
        PortChange::CoreDumped(dump) => {
            ("port", format!("{log} {} · {} bytes", dump.name, dump.content.bytes), Plain)
        }
    }
}

#[expect(clippy::too_many_lines, reason = "one arm for each event")]
fn of_event(event: &Event) -> DigestParts {
    use Tone::{Bad, Good, Plain};
    match event {
        Event::Session(SessionEvent::Started(start)) => {
            ("session_started", format!("{} · {} · {}", start.team, start.model, start.task), Plain)
        }
        Event::Session(SessionEvent::RunStarted(start)) => {
            ("run_started", format!("{} · {} · {}", start.number, start.team, start.task), Plain)
        }
        Event::Session(SessionEvent::Resumed { program, choices }) => {
            let changed = if choices.is_some() { " · limits changed" } else { "" };
            ("session_resumed", format!("by {program}{changed}"), Plain)
        }
        Event::Session(SessionEvent::Sandboxed { level, missing }) => {
            let tone = if *level == SandboxLevel::None { Bad } else { Plain };
            let missing = missing.iter().map(|what| format!(" · missing: {what}"));
            ("session_sandboxed", format!("{level}{}", missing.collect::<String>()), tone)
        }
        Event::Session(SessionEvent::Ended { outcome }) => match outcome {
            SessionOutcome::Completed => ("session_ended", "completed".to_owned(), Good),
            SessionOutcome::Failed(error) => ("session_ended", error.to_string(), Bad),
            SessionOutcome::Stopped => ("session_ended", "stopped".to_owned(), Plain),
        },
        Event::Files(FilesEvent::Listed { files, omitted, .. }) => {
            let files = files.len() + usize::try_from(*omitted).unwrap_or(usize::MAX);
            ("project_listed", line::counted(files, "file", "files"), Plain)
        }
        Event::Files(FilesEvent::Disk(event)) => of_files(event),
        Event::Phase(PhaseEvent::Started { title, attempt, max_attempts, .. }) => {
            ("phase_started", format!("{title} {attempt}/{max_attempts}"), Plain)
        }
        Event::Phase(PhaseEvent::Ended { phase, attempt, outcome, step }) => match outcome {
            PhaseOutcome::Succeeded(why) => {
                ("phase_ended", format!("{}{phase} {attempt}: {why}", of_step(*step)), Good)
            }
            PhaseOutcome::Failed(why) => {
                ("phase_ended", format!("{}{phase} {attempt}: {why}", of_step(*step)), Bad)
            }
            PhaseOutcome::Stopped => {
                ("phase_ended", format!("{}{phase} {attempt}: stopped", of_step(*step)), Plain)
            }
        },
        Event::Turn(TurnEvent::SpeakerChosen { agent, reason, step, .. }) => {
            ("speaker_chosen", format!("{}{agent}: {reason}", of_step(*step)), Plain)
        }
        Event::Turn(TurnEvent::PolicyTaken(table)) => {
            let words = format!("{} {} · {} states", table.team, table.hash, table.rows.len());
            ("policy_taken", words, Plain)
        }
        Event::Turn(TurnEvent::Started { turn, agent, step }) => {
            ("turn_started", format!("{}{turn} {agent}", of_step(*step)), Plain)
        }
        Event::Turn(TurnEvent::TextAdded { turn, text }) => {
            ("text_added", format!("{turn} {text}"), Plain)
        }
        Event::Turn(TurnEvent::ToolCalled { call, tool, args, .. }) => {
            ("tool_called", format!("{call} {tool} {args}"), Plain)
        }
        Event::Turn(TurnEvent::ToolAnswered { call, result, millis }) => {
            let is_bad = result.get("ok").and_then(serde_json::Value::as_bool) == Some(false);
            let tone = if is_bad { Bad } else { Plain };
            ("tool_answered", format!("{call} {millis} ms {result}"), tone)
        }
        Event::Turn(TurnEvent::ModelAnswered { turn, usage, .. }) => {
            ("model_answered", format!("{turn} {} in, {} out", usage.input, usage.output), Plain)
        }
        Event::Model(event) => of_model(event),
        Event::Turn(TurnEvent::Ended { turn, stop }) => match stop {
            TurnStop::Done => ("turn_ended", format!("{turn} done"), Plain),
            TurnStop::Terminated(why) => ("turn_ended", format!("{turn} {why}"), Plain),
            TurnStop::Stopped => ("turn_ended", format!("{turn} stopped"), Plain),
            TurnStop::Failed(error) => ("turn_ended", format!("{turn} {error}"), Bad),
            TurnStop::Interrupted => ("turn_ended", format!("{turn} interrupted"), Bad),
        },
        Event::Team(fact) => of_team(fact),
        Event::Test(TestEvent::Started { run, command, .. }) => {
            ("tests_started", format!("{run} {command}"), Plain)
        }
        Event::Test(TestEvent::Ended { run, report }) => {
            let tone = if report.has_passed() { Good } else { Bad };
            ("tests_ended", format!("{run} {}", report.summary()), tone)
        }
        Event::Proposal(ProposalEvent::Made(_))
        | Event::Proposal(ProposalEvent::Restated { .. })
        | Event::Proposal(ProposalEvent::Inquired { .. })
        | Event::Proposal(ProposalEvent::InquiryTextAdded { .. })
        | Event::Proposal(ProposalEvent::InquiryEnded { .. })
        | Event::Proposal(ProposalEvent::RuleAdded { .. })
        | Event::Proposal(ProposalEvent::RuleRevoked { .. })
        | Event::Proposal(ProposalEvent::Decided { .. })
        | Event::Proposal(ProposalEvent::Settled { .. }) => of_proposal(event),
        Event::Proposal(ProposalEvent::FlashProgress { proposal, done, total }) => {
            ("flash_progress", format!("#{proposal} {done}/{total} bytes"), Plain)
        }
        Event::Build(BuildEvent::Started { build, command, .. }) => {
            ("build_started", format!("{build} {command}"), Plain)
        }
        Event::Build(BuildEvent::Progress { build, done, total }) => {
            ("build_progress", format!("{build} [{done}/{total}]"), Plain)
        }
        Event::Build(BuildEvent::Ended { build, outcome, diagnostics, millis, .. }) => {
            let (text, tone) = match outcome {
                BuildOutcome::Passed => ("passed".to_owned(), Good),
                BuildOutcome::Failed => (
                    format!("failed, {}", line::counted(diagnostics.len(), "finding", "findings")),
                    Bad,
                ),
                BuildOutcome::TimedOut => ("ran into the time limit".to_owned(), Bad),
                BuildOutcome::Cancelled => ("stopped".to_owned(), Plain),
                BuildOutcome::NotRun(error) => (error.to_string(), Bad),
            };
            ("build_ended", format!("{build} {millis} ms {text}"), tone)
        }
        Event::Log(LogEvent::Grew { log, bytes, lines }) => {
            let lines =
                line::counted(usize::try_from(*lines).unwrap_or(usize::MAX), "line", "lines");
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
        Event::Person(PersonEvent::Wrote { to, text }) => match to {
            Some(agent) => ("person_said", format!("to {agent}: {text}"), Plain),
            None => ("person_said", text.clone(), Plain),
        },
        Event::Person(PersonEvent::Asked { question, text, .. }) => {
            ("asked", format!("{question} {text}"), Plain)
        }
        Event::Person(PersonEvent::Answered { question, answer }) => {
            ("answered", format!("{question} {answer}"), Plain)
        }
        Event::Person(PersonEvent::SpeakerNamed { agent }) => {
            ("speaker_named", agent.to_string(), Plain)
        }
        Event::Person(PersonEvent::Paused) => ("paused", String::new(), Plain),
        Event::Person(PersonEvent::Unpaused) => ("unpaused", String::new(), Plain),
        Event::Person(PersonEvent::StopRequested) => ("stop_requested", String::new(), Plain),
        Event::Person(PersonEvent::Noticed { notice, .. }) => {
            ("noticed", notice.to_string(), Plain)
        }
    }
}

/// Which step of the plan it is about; empty: the whole.
fn of_step(step: Option<u32>) -> String {
    step.map_or_else(String::new, |step| format!("step {step} · "))
}

fn of_files(event: &FileEvent) -> DigestParts {
    match event {
        FileEvent::ChangedOutside { files } => {
            let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
            ("changed_outside", names.join(", "), Tone::Plain)
        }
    }
}

fn of_proposal(event: &Event) -> DigestParts {
    match event {
        Event::Proposal(ProposalEvent::Made(proposal)) => {
            let what = match &proposal.change {
                Change::Send(plan) => format!("{} {}", plan.board.label, plan.visible().concat()),
                Change::Read(plan) => format!("{} into {}", plan.region.name(), plan.path),
                Change::Erase(plan) => format!("{} of {}", plan.name(), plan.board.label),
                Change::Nvs(plan) => format!("{} of {}", plan.region.name(), plan.board.label),
                change => match (change.board(), change.path()) {
                    (Some(board), _) => board.label.clone(),
                    (None, path) => path.map_or_else(String::new, ToString::to_string),
                },
            };
            let kind = proposal.change.kind();
            (
                "proposed",
                format!("#{} {kind} {what} by {}", proposal.id, proposal.agent),
                Tone::Plain,
            )
        }
        Event::Proposal(ProposalEvent::Restated { proposal, why, .. }) => {
            ("restated", format!("#{proposal} {why}"), Tone::Plain)
        }
        Event::Proposal(ProposalEvent::Inquired { proposal, agent, text, .. }) => {
            ("inquired", format!("#{proposal} to {agent}: {text}"), Tone::Plain)
        }
        Event::Proposal(ProposalEvent::InquiryTextAdded { inquiry, text }) => {
            ("inquiry_text_added", format!("{inquiry} {text}"), Tone::Plain)
        }
        Event::Proposal(ProposalEvent::InquiryEnded { inquiry, failed, .. }) => match failed {
            None => ("inquiry_ended", format!("{inquiry} answered"), Tone::Good),
            Some(error) => ("inquiry_ended", format!("{inquiry} {error}"), Tone::Bad),
        },
        Event::Proposal(ProposalEvent::RuleAdded { rule, says }) => {
            ("rule_added", format!("rule {rule}: {says}"), Tone::Plain)
        }
        Event::Proposal(ProposalEvent::RuleRevoked { rule }) => {
            ("rule_revoked", format!("rule {rule}"), Tone::Plain)
        }
        Event::Proposal(ProposalEvent::Decided { proposal, decision }) => {
            of_decision(*proposal, decision)
        }
        Event::Proposal(ProposalEvent::Settled { proposal, outcome }) => {
            let (text, tone) = match outcome {
                Outcome::Applied => ("applied".to_owned(), Tone::Good),
                Outcome::Denied => ("not done".to_owned(), Tone::Plain),
                Outcome::Stale { .. } => ("stale: it had changed meanwhile".to_owned(), Tone::Bad),
                Outcome::Failed(error) => (error.to_string(), Tone::Bad),
                Outcome::Interrupted(what) => (format!("interrupted: {what}"), Tone::Bad),
            };
            ("settled", format!("#{proposal} {text}"), tone)
        }
        _ => ("", String::new(), Tone::Plain),
    }
}

fn of_model(event: &ModelEvent) -> DigestParts {
    match event {
        ModelEvent::Reasoned { turn, text } => {
            ("model_reasoned", format!("{turn} {text}"), Tone::Plain)
        }
        ModelEvent::Faulted { turn, attempt, most, wait_millis, fault } => (
            "model_faulted",
            format!("{turn} {fault}; try {attempt}/{most} in {wait_millis} ms"),
            Tone::Bad,
        ),
        ModelEvent::Trimmed { turn, left_out, tokens, window } => {
            let pieces = line::counted(left_out.len(), "piece", "pieces");
            let text = format!("{turn} {pieces} left out, {tokens} of {window} tokens");
            ("model_trimmed", text, Tone::Plain)
        }
        ModelEvent::Summarised(summary) => {
            let (turn, count) = (summary.turn, summary.messages());
            let messages = if count == 1 { "1 message" } else { &format!("{count} messages") };
            let text = match &summary.failed {
                None => format!("{turn} {messages}, {} tokens", summary.tokens),
                Some(why) => format!("{turn} {messages}: {why}"),
            };
            let tone = if summary.failed.is_some() { Tone::Bad } else { Tone::Plain };
            ("model_summarised", text, tone)
        }
        ModelEvent::Named { model } => ("model_named", model.clone(), Tone::Plain),
        ModelEvent::Chosen { provider, label } => {
            ("model_chosen", format!("{label} ({provider})"), Tone::Plain)
        }
        ModelEvent::Budgeted(budget) => {
            let words = |limit: Option<String>| limit.unwrap_or_else(|| "no limit".to_owned());
            let tokens = words(budget.tokens.map(|tokens| format!("{tokens} tokens")));
            let cost = words(budget.cost.map(|cost| cost.to_string()));
            let time = words(budget.seconds.map(|seconds| format!("{seconds} s")));
            ("model_budgeted", format!("{tokens}, {cost}, {time}"), Tone::Plain)
        }
    }
}

fn of_decision(proposal: ProposalId, decision: &Decision) -> DigestParts {
    let verdict = &decision.verdict;
    let tone = if verdict.is_approval() { Tone::Good } else { Tone::Bad };
    let mut text = format!("#{proposal} {}", verdict.label());
    if !verdict.words().is_empty() {
        text.push_str(&format!(": {}", verdict.words()));
    }
    ("decided", text, tone)
}

fn of_team(fact: &TeamEvent) -> DigestParts {
    match fact {
        TeamEvent::Attached(document) => {
            ("attached", format!("{} {} bytes", document.name, document.bytes), Tone::Plain)
        }
        TeamEvent::PlanMade { by, items } => {
            let by = by.as_ref().map_or("the person", AgentName::as_str);
            (
                "plan_made",
                format!("by {by}, {}", line::counted(items.len(), "step", "steps")),
                Tone::Plain,
            )
        }
        TeamEvent::ContextListed { call, files } => {
            let tokens: u64 = files.iter().map(|file| file.tokens).sum();
            (
                "context_listed",
                format!("{call} {}, {tokens} tokens", line::counted(files.len(), "file", "files")),
                Tone::Plain,
            )
        }
        TeamEvent::ContextEdited { add, remove } => {
            ("context_edited", format!("+{} -{}", add.len(), remove.len()), Tone::Plain)
        }
        TeamEvent::PassageMarked(marked) => {
            let mark = match marked.mark {
                PassageMark::Pinned => "pinned",
                PassageMark::Muted => "muted",
                PassageMark::None => "unmarked",
            };
            ("passage_marked", format!("{mark} {}", marked.source), Tone::Plain)
        }
        TeamEvent::ArtifactPosted(artifact) => {
            let (number, kind) = (artifact.number, artifact.kind.word());
            ("artifact_posted", format!("{number} {kind}: {}", artifact.title), Tone::Plain)
        }
    }
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
