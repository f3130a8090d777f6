//! What a past session came to, in parts that can be searched: its task and outcome, errors of builds
//! with what removed them, what the person decided, and the final changes.
//!
//! Reads one journal. Keys and passwords of files are taken out here, by the form of each file; must
//! not write, and must not know how parts are stored.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use crate::journal::{Blobs, SessionDir, SessionState, SessionSummary, summary};
use crate::knowledge::Part;
use crate::model::{
    BlobRef, BuildEvent, BuildOutcome, Change, DecidedBy, Decision, Diagnostic, Event, Outcome,
    PersonEvent, ProjectPath, Proposal, ProposalEvent, ProposalId, QuestionId, Record,
    RecordSource, Seq, SessionEvent, SessionOutcome, Severity,
};
use crate::text::credentials;
use crate::text::diff::{Options, diff};

/// Most parts of one session.
const MOST_PARTS: usize = 80;
/// Most bytes of a part.
const MOST_BYTES: usize = 6_000;
/// Most files with their final changes.
const MOST_FILES: usize = 24;
/// Longest content that is compared, in bytes.
const LONGEST_CONTENT: u64 = 256 * 1024;
/// Most errors of one build.
const MOST_ERRORS: usize = 6;
/// Most characters of a title.
const MOST_TITLE: usize = 100;

/// The parts of the session with that journal; none of a session that has not ended, and none of one
/// that was about another project.
///
/// # Errors
/// Why the journal cannot be read, in words.
pub(super) fn read(journal: &Path, project: &Path) -> Result<Vec<Part>, String> {
    let dir = journal.parent().and_then(|root| SessionDir::at(root.to_owned()));
    let Some(dir) = dir else { return Ok(Vec::new()) };
    let about = summary(&dir);
    let is_of_project =
        about.start.as_ref().is_some_and(|start| Path::new(&start.project) == project);
    let outcome = match &about.state {
        SessionState::Ended(outcome) if is_of_project => outcome.clone(),
        SessionState::Newer(why) | SessionState::Unreadable(why) => return Err(why.clone()),
        _ => {
            return Ok(Vec::new());
        }
    };
    let mut lessons = Lessons::of(&about, dir.blobs());
    dir.each(&mut |record| lessons.take(record)).map_err(|error| error.to_string())?;
    Ok(lessons.finish(&outcome))
}

/// What a file held first and holds now.
#[derive(Clone, Copy)]
struct Versions {
    first: Option<BlobRef>,
    now: Option<BlobRef>,
}

/// A build that failed, and what the files were like that changed since.
struct FailedBuild {
    seq: Seq,
    errors: Vec<String>,
    changed: BTreeMap<ProjectPath, Versions>,
}

/// A fold of the records of one session.
struct Lessons {
    blobs: Blobs,
    title: String,
    tasks: Vec<String>,
    date: String,
    open: HashMap<ProposalId, (Proposal, Option<Decision>)>,
    changed: BTreeMap<ProjectPath, Versions>,
    failed: Option<FailedBuild>,
    asked: HashMap<QuestionId, String>,
    parts: Vec<Part>,
}

impl Lessons {
    fn of(about: &SessionSummary, blobs: Blobs) -> Self {
        let moment = jiff::Timestamp::from_millisecond(about.started_at.0).unwrap_or_default();
        Self {
            blobs,
            title: about.title.clone().unwrap_or_default(),
            tasks: Vec::new(),
            date: moment.strftime("%Y-%m-%d").to_string(),
            open: HashMap::new(),
            changed: BTreeMap::new(),
            failed: None,
            asked: HashMap::new(),
            parts: Vec::new(),
        }
    }

    fn take(&mut self, record: &Record) {
        match &record.event {
            Event::Session(SessionEvent::Started(start)) => self.tasks.push(start.task.clone()),
            Event::Session(SessionEvent::RunStarted(run)) => self.tasks.push(run.task.clone()),
            Event::Build(BuildEvent::Ended { outcome, diagnostics, .. }) => {
                self.built(record.seq, outcome, diagnostics);
            }
            Event::Proposal(ProposalEvent::Made(proposal)) => {
                self.open.insert(proposal.id, ((**proposal).clone(), None));
            }
            Event::Proposal(ProposalEvent::Restated { proposal, change, .. }) => {
                if let Some((known, _)) = self.open.get_mut(proposal) {
                    known.change = (**change).clone();
                }
            }
            Event::Proposal(ProposalEvent::Decided { proposal, decision }) => {
                self.decided(record.seq, *proposal, decision);
            }
            Event::Proposal(ProposalEvent::Settled { proposal, outcome: Outcome::Applied }) => {
                self.applied(*proposal);
            }
            Event::Person(PersonEvent::Asked { question, text, .. }) => {
                self.asked.insert(*question, text.clone());
            }
            Event::Person(PersonEvent::Answered { question, answer }) => {
                let question = self.asked.remove(question).unwrap_or_default();
                let text = format!("The question:\n{question}\n\nThe person answered:\n{answer}");
                self.add(record.seq, "Question and answer of the person", &text);
            }
            Event::Person(PersonEvent::Wrote { text, .. }) => {
                self.add(record.seq, "Words of the person", text);
            }
            _ => {}
        }
    }

    fn built(&mut self, seq: Seq, outcome: &BuildOutcome, diagnostics: &[Diagnostic]) {
        match outcome {
            BuildOutcome::Failed => {
                let errors = diagnostics.iter().filter(|it| it.severity == Severity::Error);
                let errors: Vec<String> = errors.take(MOST_ERRORS).map(line).collect();
                // A build that fails for something else has another lesson.
                let is_same = self.failed.as_ref().is_some_and(|failed| failed.errors == errors);
                if !is_same && !errors.is_empty() {
                    self.failed = Some(FailedBuild { seq, errors, changed: BTreeMap::new() });
                }
            }
            BuildOutcome::Passed => {
                let Some(failed) = self.failed.take() else { return };
                let changes: Vec<String> = failed
                    .changed
                    .iter()
                    .filter_map(|(path, versions)| self.difference(path, *versions))
                    .collect();
                if changes.is_empty() {
                    return;
                }
                let text = format!(
                    "The build failed:\n{}\n\nIt passed after this change:\n```diff\n{}```",
                    failed.errors.join("\n"),
                    changes.concat()
                );
                self.add(failed.seq, "Error of a build, and what removed it", &text);
            }
            BuildOutcome::TimedOut | BuildOutcome::Cancelled | BuildOutcome::NotRun(_) => {}
        }
    }

    fn decided(&mut self, seq: Seq, id: ProposalId, decision: &Decision) {
        let Some((proposal, known)) = self.open.get_mut(&id) else { return };
        *known = Some(decision.clone());
        let verdict = &decision.verdict;
        let says_nothing = verdict.is_approval()
            && verdict.words().trim().is_empty()
            && verdict.comments().is_empty()
            && verdict.amended().is_none();
        if decision.by != DecidedBy::Person || says_nothing {
            return;
        }
        let proposal = proposal.clone();
        let target = target(&proposal.change);
        let mut text = format!("{} wanted to {target}.", proposal.agent.as_str());
        if !proposal.reason.trim().is_empty() {
            text.push_str(&format!(" Its reason: {}", proposal.reason.trim()));
        }
        text.push_str(&format!("\n\nThe person: {}.", verdict.label()));
        if !verdict.words().trim().is_empty() {
            text.push_str(&format!(" {}", verdict.words().trim()));
        }
        for comment in verdict.comments() {
            text.push_str(&format!("\nOn line {}: {}", comment.line, comment.text));
        }
        let versions = Versions { first: proposal.change.after(), now: verdict.amended() };
        if let (Some(path), Some(_)) = (proposal.change.path(), versions.now)
            && let Some(change) = self.difference(path, versions)
        {
            text.push_str(&format!("\n\nWhat the person changed:\n```diff\n{change}```"));
        }
        self.add(seq, &format!("Decision of the person: {target}"), &text);
    }

    fn applied(&mut self, id: ProposalId) {
        let Some((proposal, decision)) = self.open.remove(&id) else { return };
        let change = &proposal.change;
        let Some(path) = change.path() else { return };
        let now = decision.and_then(|decision| decision.written(change));
        let first = change.before();
        let since_failure = self.failed.as_mut().map(|failed| &mut failed.changed);
        for versions in [Some(&mut self.changed), since_failure].into_iter().flatten() {
            versions.entry(path.clone()).or_insert(Versions { first, now }).now = now;
        }
    }

    fn finish(mut self, outcome: &SessionOutcome) -> Vec<Part> {
        let end = match outcome {
            SessionOutcome::Completed => "It was completed.".to_owned(),
            SessionOutcome::Stopped => "The person stopped it.".to_owned(),
            SessionOutcome::Failed(error) => format!("It failed: {}: {}", error.what, error.why),
        };
        let names: Vec<&str> = self.changed.keys().map(ProjectPath::as_str).collect();
        let files = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let text = format!(
            "Session of {}.\n\nTask:\n{}\n\n{end}\nChanged files: {files}",
            self.date,
            self.tasks.join("\n\nThen:\n")
        );
        let changed = std::mem::take(&mut self.changed);
        for (path, versions) in changed.into_iter().take(MOST_FILES) {
            if let Some(change) = self.difference(&path, versions) {
                let text = format!("What the session made of `{path}`:\n```diff\n{change}```");
                self.push(path.as_str().to_owned(), format!("Final change of {path}"), &text);
            }
        }
        self.push(String::new(), "Task and outcome".to_owned(), &text);
        self.parts
    }

    /// Adds a part that a record tells.
    fn add(&mut self, seq: Seq, heading: &str, text: &str) {
        if self.parts.len() < MOST_PARTS {
            self.push(format!("record-{}", seq.0), heading.to_owned(), text);
        }
    }

    fn push(&mut self, anchor: String, heading: String, text: &str) {
        let task = self.tasks.first().map(String::as_str).unwrap_or_default();
        let title = if self.title.is_empty() { task } else { &self.title };
        let title = title.lines().next().unwrap_or_default().chars().take(MOST_TITLE).collect();
        // Words of people hold secrets as prose does.
        let clean = credentials::without("words.md", text);
        let mut text = clean[..clean.floor_char_boundary(MOST_BYTES)].to_owned();
        if text.len() < clean.len() {
            text.push_str("\n… cut here");
        }
        self.parts.push(Part { anchor, title, heading, text });
    }

    /// What changed between two versions, without secrets; `None` when nothing did that can be told.
    fn difference(&self, path: &ProjectPath, versions: Versions) -> Option<String> {
        let text = |version: Option<BlobRef>| {
            let Some(version) = version else { return Some(String::new()) };
            if version.bytes > LONGEST_CONTENT {
                return None;
            }
            let bytes = self.blobs.load(&version.hash).ok()?;
            let text = std::str::from_utf8(&bytes).ok()?;
            Some(credentials::without(path.as_str(), text).into_owned())
        };
        let (old, new) = (text(versions.first)?, text(versions.now)?);
        let found = diff(old.as_bytes(), new.as_bytes(), Options::default());
        let change = found.unified(&format!("a/{path}"), &format!("b/{path}"));
        (!change.is_empty()).then_some(change)
    }
}

/// What a proposal is about, in words.
fn target(change: &Change) -> String {
    match change.path() {
        Some(path) => format!("{} {path}", change.kind()),
        None => change.kind().to_owned(),
    }
}

fn line(diagnostic: &Diagnostic) -> String {
    let place = match (&diagnostic.file, diagnostic.line) {
        (Some(file), Some(line)) => format!("{file}:{line}: "),
        (Some(file), None) => format!("{file}: "),
        (None, _) => String::new(),
    };
    format!("{place}error: {}", diagnostic.message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::JournalWriter;
    use crate::model::event::SessionStart;
    use crate::model::{
        Batch, BatchId, BuildId, CallId, Facts, SessionId, Timestamp, TurnId, Verdict,
    };

    const OLD: &str = "#include \"gone.h\"\nconst char *password = \"hunter2222\";\n";
    const NEW: &str = "#include \"there.h\"\nconst char *password = \"hunter3333\";\n";

    fn proposed(id: u32, base: Option<BlobRef>, content: BlobRef) -> Event {
        let path = ProjectPath::new("main/a.c").unwrap();
        Event::Proposal(ProposalEvent::Made(Box::new(Proposal {
            id: ProposalId(id),
            turn: TurnId(1),
            call: CallId(1),
            agent: "Coder".into(),
            tool: "write_file".into(),
            reason: "the header moved".into(),
            batch: Batch { id: BatchId(1), index: 1, of: 1 },
            change: Change::Save { path, base, content },
            checks: vec![],
            facts: Facts::default(),
        })))
    }

    fn decided(id: u32, verdict: Verdict, content: BlobRef) -> Event {
        let (proposal, shown) = (ProposalId(id), content.hash);
        let (by, unseen, stops) = (DecidedBy::Person, 0, 0);
        let decision = Box::new(Decision { verdict, by, shown, unseen, stops });
        Event::Proposal(ProposalEvent::Decided { proposal, decision })
    }

    fn built(outcome: BuildOutcome, errors: &[&str]) -> Event {
        let found = |message: &&str| Diagnostic {
            file: Some("main/a.c".into()),
            line: Some(1),
            ..Diagnostic::new(Severity::Error, (*message).to_owned())
        };
        let diagnostics = errors.iter().map(found).collect();
        let (build, millis, size) = (BuildId(1), 1, None);
        Event::Build(BuildEvent::Ended { build, outcome, diagnostics, millis, size })
    }

    /// A session that a build stopped, that a change helped, and that a person steered.
    fn session(data: &Path, project: &Path) -> SessionDir {
        let dir = SessionDir::create(data, "Read the pressure", Timestamp(0)).unwrap();
        let old = dir.blobs().store(OLD.as_bytes()).unwrap();
        let new = dir.blobs().store(NEW.as_bytes()).unwrap();
        let start = SessionStart {
            id: SessionId::new("x"),
            task: "Read the pressure of the pump".into(),
            team: "pair".into(),
            project: project.display().to_string(),
            model: "m".into(),
            toolchain: "virtual board".into(),
            program: "0".into(),
            parts: Default::default(),
        };
        let question = QuestionId(1);
        let settled = |id| {
            let (proposal, outcome) = (ProposalId(id), Outcome::Applied);
            Event::Proposal(ProposalEvent::Settled { proposal, outcome })
        };
        let asked = PersonEvent::Asked {
            question,
            agent: None,
            text: "Which unit?".into(),
            options: vec![],
            step: None,
        };
        let events = [
            Event::Session(SessionEvent::Started(Box::new(start))),
            proposed(1, None, old),
            decided(1, Verdict::Approve, old),
            settled(1),
            built(BuildOutcome::Failed, &["gone.h: No such file or directory"]),
            proposed(2, Some(old), old),
            decided(2, Verdict::reject("use the new header, never the old one"), old),
            proposed(3, Some(old), new),
            decided(3, Verdict::Approve, new),
            settled(3),
            built(BuildOutcome::Passed, &[]),
            Event::Person(asked),
            Event::Person(PersonEvent::Answered { question, answer: "Pascal".into() }),
            Event::Session(SessionEvent::Ended { outcome: SessionOutcome::Completed }),
        ];
        let mut writer = JournalWriter::create(&dir).unwrap();
        for event in events {
            writer.append(Timestamp(0), event).unwrap();
        }
        dir
    }

    #[test]
    fn a_session_tells_fixes_decisions_answers_and_final_changes() {
        let data = tempfile::tempdir().unwrap();
        let project = Path::new("/some/project");
        let journal = session(data.path(), project).journal();
        let parts = read(&journal, project).unwrap();
        let of = |heading: &str| {
            let part = parts.iter().find(|part| part.heading.starts_with(heading));
            part.unwrap_or_else(|| panic!("no {heading}: {parts:#?}")).clone()
        };
        let fix = of("Error of a build");
        assert_eq!(
            (fix.anchor.as_str(), fix.title.as_str()),
            ("record-5", "Read the pressure of the pump")
        );
        assert!(fix.text.contains("main/a.c:1: error: gone.h: No such file"), "{}", fix.text);
        assert!(fix.text.contains("-#include \"gone.h\"\n+#include \"there.h\""), "{}", fix.text);
        let refused = of("Decision of the person: save main/a.c");
        assert!(refused.text.contains("rejected. use the new header, never the old one"));
        assert!(
            of("Question and answer").text.contains("Which unit?\n\nThe person answered:\nPascal")
        );
        let change = of("Final change of main/a.c").text;
        assert!(change.contains("+#include \"there.h\"") && !change.contains("gone.h"), "{change}");
        assert!(of("Task and outcome").text.contains("It was completed.\nChanged files: main/a.c"));
        let all: String = parts.iter().map(|part| part.text.as_str()).collect();
        assert!(!all.contains("hunter"), "{all}");
    }

    #[test]
    fn sessions_of_other_projects_and_unfinished_ones_tell_nothing() {
        let data = tempfile::tempdir().unwrap();
        let dir = session(data.path(), Path::new("/some/project"));
        assert!(read(&dir.journal(), Path::new("/other")).unwrap().is_empty());
        let text = std::fs::read_to_string(dir.journal()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let unfinished = format!("{}\n", lines[..lines.len() - 1].join("\n"));
        std::fs::write(dir.journal(), unfinished).unwrap();
        assert!(read(&dir.journal(), Path::new("/some/project")).unwrap().is_empty());
    }
}
