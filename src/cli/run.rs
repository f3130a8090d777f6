//! Runs a session without a screen: events go to standard output, rules decide, nobody is asked.
//!
//! Must not make the session; whoever calls has put it together.

use std::io::Write;
use std::path::PathBuf;

use serde_json::Value;
use tokio::sync::watch;

use super::last_reply::LastReply;
use crate::engine::EngineHandle;
use crate::gate::ApprovalQueue;
use crate::journal::{JournalReader, ReadItem};
use crate::model::event::SessionStart;
use crate::model::{
    BuildEvent, BuildOutcome, ChatSummary, DecidedBy, Event, Intent, ModelEvent, Outcome,
    PersonEvent, PhaseEvent, PhaseOutcome, ProposalEvent, Record, Seq, SessionEvent,
    SessionOutcome, TestEvent, TestReport, TurnEvent, UserError, Verdict, event::Level,
};
use crate::text::{json, sanitize};

/// How a run without a screen ended; the number is the program's exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum RunExit {
    /// Every phase reached its goal.
    Completed = 0,
    /// The run could not go on, e.g. because the disk is full.
    Broken = 1,
    /// A phase did not reach its goal.
    Failed = 3,
    /// The run came to a question that only a person can answer.
    NeedsPerson = 4,
    /// It was interrupted from outside, e.g. by Ctrl-C.
    Interrupted = 130,
}

/// How events are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventFormat {
    /// Every record as one line of JSON, as the journal has it.
    Json,
    /// What matters, as text.
    Text,
}

/// A session that runs.
pub struct Headless {
    /// Takes what is decided, and ends with the run.
    pub engine: EngineHandle,
    /// Where its proposals would wait.
    pub queue: ApprovalQueue,
    /// Its file of records.
    pub journal: PathBuf,
    /// The recorder's number of the last record.
    pub published: watch::Receiver<Seq>,
    /// How its events are written.
    pub form: EventFormat,
}

/// What a proposal that no rule decides is denied with.
const NOBODY: &str =
    "this run has no screen to ask a person; a rule of the policy file must allow it";

/// Follows a run to its end, writing each event to `out` as it is recorded. What no rule allows is
/// denied, and a question ends the run; so does `interrupted`.
///
/// # Errors
/// When the journal cannot be read or `out` cannot be written; the session is left as it is and
/// can be resumed.
pub async fn run_headless(
    run: Headless,
    interrupted: impl Future<Output = ()>,
    out: &mut (dyn Write + Send),
) -> Result<RunExit, UserError> {
    let Headless { engine, queue, journal, mut published, form } = run;
    queue.leave_unattended(NOBODY);
    let mut events = Events::new(JournalReader::open(&journal)?, form);
    let mut interrupted = std::pin::pin!(interrupted);
    let mut exit = None;
    loop {
        // Looked at before reading, so that nothing recorded before the end is missed.
        let is_over = engine.is_finished();
        let last = *published.borrow_and_update();
        match events.write_new(last, out) {
            Ok(Some(question)) => {
                exit = exit.or(Some(RunExit::NeedsPerson));
                send(&engine, question).await;
            }
            Ok(None) => {}
            Err(error) => {
                engine.detach().await;
                return Err(error);
            }
        }
        if is_over {
            break;
        }
        tokio::select! {
            () = &mut interrupted, if exit != Some(RunExit::Interrupted) => {
                exit = Some(RunExit::Interrupted);
                send(&engine, Intent::Stop).await;
            }
            changed = published.changed() => {
                if changed.is_err() {
                    tokio::time::sleep(PAUSE).await;
                }
            }
            // The last record comes a moment before the engine is done.
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
    Ok(match engine.join().await {
        Ok(SessionOutcome::Completed) => RunExit::Completed,
        Ok(SessionOutcome::Failed(_)) => RunExit::Failed,
        Ok(SessionOutcome::Stopped) => exit.unwrap_or(RunExit::Interrupted),
        Err(error) => {
            // The journal could not take it, so this is the only place left to say it.
            write_end(&error, form, out).map_err(cannot_write)?;
            RunExit::Broken
        }
    })
}

const PAUSE: std::time::Duration = std::time::Duration::from_millis(50);

/// A run that is over takes no wishes any more, and needs none.
async fn send(engine: &EngineHandle, intent: Intent) {
    let _ = engine.intents.send(intent).await;
}

/// The events of a run on their way to standard output.
struct Events {
    reader: JournalReader,
    form: EventFormat,
    reply: LastReply,
}

impl Events {
    fn new(reader: JournalReader, form: EventFormat) -> Self {
        Self { reader, form, reply: LastReply::default() }
    }

    /// Writes what was recorded meanwhile, up to the record `published`; returns what to answer to
    /// the last question, if there was one.
    fn write_new(
        &mut self,
        published: Seq,
        out: &mut (dyn Write + Send),
    ) -> Result<Option<Intent>, UserError> {
        let mut question = None;
        while let Some(item) = self.reader.next_published(published)? {
            let ReadItem::Record(record) = item else { continue };
            let reply = self.reply.take(&record.event);
            if let Some(reply) = reply.filter(|_| self.form == EventFormat::Text) {
                writeln!(out, "{}", sanitize::block(&reply)).map_err(cannot_write)?;
            }
            write_record(&record, self.form, out).map_err(cannot_write)?;
            // An agent's own question has no answer that ends the run.
            if let Event::Person(PersonEvent::Asked { question: id, agent, .. }) = record.event {
                question = Some(match agent {
                    Some(_) => Intent::Stop,
                    None => Intent::Answer { question: id, answer: "stop".to_owned() },
                });
            }
        }
        out.flush().map_err(cannot_write)?;
        Ok(question)
    }
}

fn cannot_write(error: std::io::Error) -> UserError {
    UserError::from_cause("Cannot write events to standard output", &error)
        .fix("Continue with `firmhand resume`.")
}

/// Why the run stopped unexpectedly, where its records would have said it.
fn write_end(
    error: &UserError,
    form: EventFormat,
    out: &mut (dyn Write + Send),
) -> std::io::Result<()> {
    match form {
        EventFormat::Json => {
            writeln!(out, "{}", json::line(&serde_json::json!({ "broken_off": error }))?)
        }
        EventFormat::Text => writeln!(out, "{}", sanitize::block(&sentence(error))),
    }
}

fn write_record(
    record: &Record,
    form: EventFormat,
    out: &mut (dyn Write + Send),
) -> std::io::Result<()> {
    match form {
        EventFormat::Json => {
            let line = json::line(record)?;
            writeln!(out, "{line}")
        }
        EventFormat::Text => match line(&record.event) {
            Some(line) => writeln!(out, "{}", sanitize::block(&line)),
            None => Ok(()),
        },
    }
}

fn phase_end(outcome: &PhaseOutcome, step: Option<u32>) -> String {
    let step = of_step(step);
    match outcome {
        PhaseOutcome::Succeeded(why) => format!("{step}phase reached its goal: {why}"),
        PhaseOutcome::Failed(why) => format!("{step}phase did not reach its goal: {why}"),
        PhaseOutcome::Stopped => format!("{step}phase stopped"),
    }
}

/// Which step of the plan it is about; empty: the whole.
fn of_step(step: Option<u32>) -> String {
    step.map_or_else(String::new, |step| format!("step {step}: "))
}

/// An event as a line for people; `None` for those that do not matter that much.
pub(super) fn line(event: &Event) -> Option<String> {
    Some(match event {
        Event::Session(SessionEvent::Started(start)) => {
            let SessionStart { id, team, task, .. } = &**start;
            format!("session {id}: request 1 for the team {team}: {task}")
        }
        Event::Session(SessionEvent::RunStarted(start)) => {
            format!("request {} for the team {}: {}", start.number, start.team, start.task)
        }
        Event::Phase(PhaseEvent::Started { title, attempt, max_attempts: 1, .. })
            if *attempt == 1 =>
        {
            format!("phase {title}")
        }
        Event::Phase(PhaseEvent::Started { title, attempt, max_attempts, .. }) => {
            format!("phase {title}, attempt {attempt} of {max_attempts}")
        }
        Event::Phase(PhaseEvent::Ended { outcome, step, .. }) => phase_end(outcome, *step),
        Event::Turn(TurnEvent::SpeakerChosen { agent, reason, step, .. }) => {
            format!("{}{agent}: {reason}", of_step(*step))
        }
        Event::Turn(TurnEvent::ToolCalled { tool, .. }) => format!("  calls {tool}"),
        Event::Turn(TurnEvent::ToolAnswered { result, .. }) => answered(result)?,
        Event::Proposal(ProposalEvent::Made(proposal)) => {
            let path = proposal.change.path().map(ToString::to_string).unwrap_or_default();
            format!("  proposal {}: {} {path}", proposal.id, proposal.change.kind())
        }
        Event::Proposal(ProposalEvent::Decided { proposal, decision }) => {
            let verdict = match &decision.verdict {
                Verdict::Reject { .. } => "denied",
                approval => approval.label(),
            };
            let by = match &decision.by {
                DecidedBy::Person => "the person",
                DecidedBy::Policy(rule) => rule,
                DecidedBy::Nobody(why) => why,
            };
            format!("  proposal {proposal} {verdict}: {by}")
        }
        Event::Proposal(ProposalEvent::Settled { proposal, outcome }) => unsettled(outcome)
            .map(|why| format!("  proposal {proposal} was not carried out: {why}"))?,
        Event::Build(BuildEvent::Ended { outcome, diagnostics, .. }) => {
            build_end(outcome, diagnostics.len())
        }
        Event::Test(TestEvent::Ended { report, .. }) => tests_end(report),
        Event::Model(ModelEvent::Summarised(summary)) => summarised(summary),
        Event::Person(PersonEvent::Asked { text, .. }) => format!("question: {text}"),
        Event::Person(PersonEvent::Noticed { level: Level::Warning | Level::Error, notice }) => {
            sentence(notice)
        }
        Event::Session(SessionEvent::Ended { outcome }) => match outcome {
            SessionOutcome::Completed => "completed".to_owned(),
            SessionOutcome::Failed(error) => format!("failed: {}", sentence(error)),
            SessionOutcome::Stopped => "stopped".to_owned(),
        },
        _ => return None,
    })
}

/// Why a call came to nothing, and what was not done in one that did; `None`: there is nothing to say.
fn answered(result: &Value) -> Option<String> {
    let is_ok = result.get("ok").and_then(Value::as_bool) != Some(false);
    if !is_ok {
        let message = sanitize::line(result.pointer("/error/message").and_then(Value::as_str)?);
        let errors = result.get("errors").and_then(Value::as_array).into_iter().flatten();
        let mut text = format!("    not ok: {message}");
        for error in errors.take(ERRORS_SHOWN) {
            let word = |key: &str| {
                sanitize::line(error.get(key).and_then(Value::as_str).unwrap_or_default())
            };
            let line = error.get("line").and_then(Value::as_u64);
            let line = line.map_or_else(String::new, |line| format!(":{line}"));
            text.push_str(&format!("\n      {}{line}: {}", word("file"), word("message")));
        }
        return Some(text);
    }
    // What looks at a program step by step says which steps it could not do.
    result.get("steps")?;
    let notes: Vec<&str> =
        result.get("notes")?.as_array()?.iter().filter_map(Value::as_str).collect();
    (!notes.is_empty()).then(|| format!("    {}", sanitize::line(&notes.join("; "))))
}

fn summarised(summary: &ChatSummary) -> String {
    let messages = summary.messages();
    match &summary.failed {
        None => format!("  {messages} messages summarised for the agents"),
        Some(why) => format!("  {messages} messages could not be summarised: {}", sentence(why)),
    }
}

/// Why an approved change is not on disk; `None` when it is, or when it was denied, which the
/// decision has told already.
fn unsettled(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Applied | Outcome::Denied => None,
        Outcome::Stale { .. } => Some("it has changed since the proposal".to_owned()),
        Outcome::Failed(error) => Some(sentence(error)),
        Outcome::Interrupted(what) => Some(what.clone()),
    }
}

/// Errors of one answer that are named.
const ERRORS_SHOWN: usize = 5;

/// Tests that are named.
const TESTS_SHOWN: usize = 20;

/// What tests came to, and each that is wrong with its place.
fn tests_end(report: &TestReport) -> String {
    let mut text = format!("  {}", report.summary());
    let bad = report.tests.iter().filter(|test| test.outcome.is_bad());
    for test in bad.take(TESTS_SHOWN) {
        let line = test.line.map_or_else(String::new, |line| format!(":{line}"));
        let place = test
            .file
            .as_ref()
            .map_or_else(String::new, |file| format!(" ({}{line})", sanitize::line(file)));
        text.push_str(&format!(
            "\n    {} {}{place}: {}",
            test.outcome.word(),
            sanitize::line(&test.name),
            sanitize::line(&test.message)
        ));
    }
    for note in &report.notes {
        text.push_str(&format!("\n    note: {}", sanitize::line(note)));
    }
    text
}

fn build_end(outcome: &BuildOutcome, findings: usize) -> String {
    let how = match outcome {
        BuildOutcome::Passed => "passed",
        BuildOutcome::Failed => "failed",
        BuildOutcome::TimedOut => "reached the time limit (limits.build_seconds)",
        BuildOutcome::Cancelled => "was cancelled",
        BuildOutcome::NotRun(error) => {
            return format!("  the build could not start: {}", sentence(error));
        }
    };
    format!("  the build {how}, {findings} findings")
}

fn sentence(error: &UserError) -> String {
    let fix = if error.fix.is_empty() { String::new() } else { format!(" ({})", error.fix) };
    format!("{}: {}{fix}", error.what, error.why)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::{Origin, Policy, PolicyRule, Ruling};
    use crate::engine::tests::fixture::{Begun, SessionBench, TEAM, usual};

    fn allow_saves() -> Policy {
        let origin = Origin::User { file: "p.toml".into(), line: 1 };
        let (tool, agent, path) = (None, None, None);
        Policy::new(vec![PolicyRule {
            decide: Ruling::Allow,
            kind: None,
            tool,
            agent,
            path,
            origin,
        }])
    }

    fn headless((engine, queue, journal, published): Begun) -> Headless {
        Headless { engine, queue, journal, published, form: EventFormat::Json }
    }

    async fn run(world: &SessionBench, policy: Policy) -> (RunExit, Vec<Record>) {
        let mut out = Vec::new();
        let run = headless(world.begin_under(policy, Arc::new(usual)));
        let exit = run_headless(run, std::future::pending(), &mut out).await.unwrap();
        let lines = out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        (exit, lines.map(|line| serde_json::from_slice(line).unwrap()).collect())
    }

    /// What is written of a journal with these events, up to the record `published`.
    fn written(events: Vec<Event>, published: u64, form: EventFormat) -> String {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("journal.jsonl");
        let line = |(seq, event)| {
            let at = crate::model::Timestamp(0);
            let record = Record { v: Record::VERSION, seq: Seq(seq), at, event };
            serde_json::to_string(&record).unwrap() + "\n"
        };
        std::fs::write(&journal, (1..).zip(events).map(line).collect::<String>()).unwrap();
        let reader = JournalReader::open(&journal).unwrap();
        let mut out = Vec::new();
        Events::new(reader, form).write_new(Seq(published), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_is_not_published_is_not_written() {
        let events = vec![Event::Person(PersonEvent::Paused); 2];
        assert_eq!(written(events, 1, EventFormat::Json).lines().count(), 1);
    }

    #[test]
    fn as_text_the_last_reply_is_written_before_the_end_and_harmless() {
        let turn = crate::model::TurnId(1);
        let events = || {
            let text = "Use `esp_timer`\u{1b}[31m [1].".to_owned();
            vec![
                Event::Turn(TurnEvent::Started { turn, agent: "Answerer".into(), step: None }),
                Event::Turn(TurnEvent::TextAdded { turn, text }),
                Event::Session(SessionEvent::Ended { outcome: SessionOutcome::Completed }),
            ]
        };
        let text = written(events(), 3, EventFormat::Text);
        assert!(
            text.starts_with("Answerer:\nUse `esp_timer`") && !text.contains('\u{1b}'),
            "{text}"
        );
        assert!(text.ends_with(" [1].\ncompleted\n"), "{text}");
        assert_eq!(written(events(), 3, EventFormat::Json).lines().count(), 3);
    }

    proptest::proptest! {
        #[test]
        fn every_line_is_harmless_and_parses_to_its_record(text in "(?s).{0,80}") {
            let text = format!("{text}\u{9b}31m\u{ad}\u{202e}");
            let turn = crate::model::TurnId(1);
            let event = Event::Turn(TurnEvent::TextAdded { turn, text });
            let at = crate::model::Timestamp(0);
            let record = Record { v: Record::VERSION, seq: Seq(1), at, event };
            let mut out = Vec::new();
            write_record(&record, EventFormat::Json, &mut out).unwrap();
            let line = String::from_utf8(out).unwrap();
            let line = line.strip_suffix('\n').unwrap();
            proptest::prop_assert_eq!(&serde_json::from_str::<Record>(line).unwrap(), &record);
            proptest::prop_assert_eq!(sanitize::line(line), line);
            proptest::prop_assert!(!line.chars().any(char::is_control));
        }
    }

    #[tokio::test]
    async fn rules_decide_and_every_record_is_written_once() {
        let world = SessionBench::new(TEAM);
        let (exit, records) = run(&world, allow_saves()).await;
        assert_eq!(exit, RunExit::Completed);
        assert_eq!(records, world.records());
        assert_eq!(world.file().unwrap(), "mended");
    }

    #[tokio::test]
    async fn what_would_be_asked_is_denied_and_says_why() {
        let world = SessionBench::new(TEAM);
        let (exit, records) = run(&world, Policy::default()).await;
        assert_eq!(exit, RunExit::NeedsPerson);
        assert_eq!(world.file(), None);
        let decisions = records.iter().filter_map(|record| match &record.event {
            Event::Proposal(ProposalEvent::Decided { decision, .. }) => Some(decision.by.clone()),
            _ => None,
        });
        let decisions: Vec<DecidedBy> = decisions.collect();
        assert!(!decisions.is_empty());
        assert!(decisions.iter().all(|by| *by == DecidedBy::Nobody(NOBODY.to_owned())));
    }

    #[test]
    fn what_could_not_be_done_says_why_and_how_to_mend_it() {
        let error = UserError::new("cannot do it", "the disk is read-only", "make it writable");
        let reported = "cannot do it: the disk is read-only (make it writable)";
        let outcome = Outcome::Failed(error.clone());
        assert!(unsettled(&outcome).is_some_and(|line| line.contains(reported)));
        assert_eq!(unsettled(&Outcome::Applied), None);
        assert!(build_end(&BuildOutcome::NotRun(error), 0).contains(reported));
    }

    #[tokio::test]
    async fn an_interruption_stops_the_run_in_order() {
        let world = SessionBench::new(TEAM);
        let endless = |_: &crate::provider::Request| -> Vec<_> {
            (0..500_000).map(|_| Ok(crate::provider::Delta::Text(String::new()))).collect()
        };
        let run = headless(world.begin_under(Policy::default(), Arc::new(endless)));
        let exit = run_headless(run, std::future::ready(()), &mut Vec::new()).await.unwrap();
        assert_eq!(exit, RunExit::Interrupted);
        let last = world.events().pop();
        assert_eq!(
            last,
            Some(Event::Session(SessionEvent::Ended { outcome: SessionOutcome::Stopped }))
        );
    }
}
