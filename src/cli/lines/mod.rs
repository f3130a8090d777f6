//! The line mode, `--plain`: for screen readers and terminals without a screen.
//!
//! Prints what happens line by line and takes decisions as typed lines. The same engine and the
//! same gate as under the full screen; owns its own guards, see [`heard`].

mod input;
mod line_command;
mod paper;
mod person_part;
mod proposal_text;
mod rest;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::process::ExitCode;
use std::time::Instant;

use tokio::sync::watch;

use super::{report, run};
use crate::app::assemble::Running;
use crate::app::signals::{Signal, Signals};
use crate::journal::{Blobs, JournalReader, ReadItem, SessionDir, scan};
use crate::model::{
    AgentName, ContextFile, DecidedBy, Event, Examiner, Intent, Outcome, PersonEvent,
    ProposalEvent, ProposalId, RuleId, Seq, SessionEvent, SessionOutcome, TurnEvent, TurnId,
    UserError,
};
use crate::text::{answer_words, sanitize};
use crate::view::{FileNames, PendingList, RuledView, RunState, SessionView, summary};
use input::{Input, Typed};
pub(super) use line_command::HELP;
use line_command::{About, Decide, LineCommand, Manner, may_decide};
use paper::Paper;
use person_part::Story;
use rest::Listed;

/// Checks that a person can type: what comes through a pipe must never decide.
///
/// # Errors
/// When standard input is no terminal.
pub fn require() -> Result<(), UserError> {
    if rustix::termios::isatty(io::stdin()) {
        return Ok(());
    }
    Err(UserError::new(
        "Cannot take decisions line by line",
        "standard input is not a terminal, and decisions cannot come through a pipe",
        "Type in a terminal, or let rules decide: `firmhand run TASK --policy FILE`.",
    ))
}

/// A session told line by line.
struct LineSession {
    reader: JournalReader,
    published: watch::Receiver<Seq>,
    view: SessionView,
    blobs: Blobs,
    /// What agents have said in their turns and is not printed yet; the answer to a question of the
    /// person has no turn.
    saying: BTreeMap<Option<TurnId>, String>,
    paper: Option<Paper>,
    /// The batch that was listed to be decided together.
    listed: Option<Listed>,
    asked: Option<(crate::model::QuestionId, Instant)>,
    /// How many runs were over when the next task was last asked for; `None`: it is never asked
    /// for. It is in a session that was over when it was opened again.
    asks_after: Option<usize>,
    /// Why agents spoke in this run; each is said once.
    reasons: BTreeSet<(AgentName, String)>,
    story: Story,
    /// What was told when the session was first followed; it is not told again.
    old: Seq,
}

/// Follows a session until it ends or the person leaves. Tells whether it is to be stopped in
/// order, with the view at its end.
///
/// # Errors
/// When the journal cannot be read.
pub async fn follow(running: &Running) -> Result<(ExitCode, SessionView), UserError> {
    let published = running.recorder.subscribe();
    let mut lines = LineSession::of(&running.dir, published)?;
    let was_over = running.engine.was_over;
    lines.old = last_printed(&running.dir, was_over)?;
    lines.asks_after = was_over.then_some(0);
    let mut signals = Signals::watch()?;
    let mut break_off = running.engine.break_off();
    let mut typed = Input::listen();
    report::line("Line mode. `help` lists what can be typed.");
    loop {
        lines.pull()?;
        if let RunState::Ended(outcome) = &lines.view.head.state {
            let code = exit_code(outcome);
            if lines.ask_for_task() == Leave::Yes {
                return Ok((code, lines.view));
            }
        }
        lines.show_waiting(Again::No);
        tokio::select! {
            biased;
            signal = signals.next() => {
                if let Signal::Terminate | Signal::Hangup | Signal::Interrupt = signal {
                    return Ok((ExitCode::from(signal.exit_status()), lines.view));
                }
            }
            changed = lines.published.changed() => {
                if changed.is_err() {
                    return Ok((ExitCode::FAILURE, lines.view));
                }
            }
            why = break_off.error() => {
                lines.pull()?;
                lines.view.break_off(why);
                return Ok((ExitCode::FAILURE, lines.view));
            }
            line = typed.next() => {
                let Some(first) = line else { return Ok((lines.leaving(), lines.view)) };
                if let LineCommand::Edit(number) = LineCommand::parse(&first.line) {
                    lines.edit(number, running.examiner.as_ref());
                    typed.read_on();
                    continue;
                }
                let (all, manner) = typed.burst(first).await;
                for line in all {
                    let (intent, leave) = lines.hear(&line, manner);
                    if let Some(intent) = intent
                        && running.engine.intents.send(intent).await.is_err()
                    {
                        report::line("the run is over");
                    }
                    if leave == Leave::Yes {
                        return Ok((lines.leaving(), lines.view));
                    }
                }
            }
        }
    }
}

fn exit_code(outcome: &SessionOutcome) -> ExitCode {
    match outcome {
        SessionOutcome::Completed => ExitCode::SUCCESS,
        SessionOutcome::Failed(_) | SessionOutcome::Stopped => ExitCode::from(3),
    }
}

/// The last record that is not told again: the one with which the session was taken up, 0 for a
/// new one; the last of all when nothing goes on before the next task.
fn last_printed(dir: &SessionDir, was_over: bool) -> Result<Seq, UserError> {
    let mut last = Seq(0);
    scan(&dir.journal(), |item, _| {
        let ReadItem::Record(record) = item else { return };
        if was_over || matches!(record.event, Event::Session(SessionEvent::Resumed { .. })) {
            last = record.seq;
        }
    })?;
    Ok(last)
}

/// Prints a saved session from its start to its end.
///
/// # Errors
/// When its journal cannot be read.
pub fn replay(dir: &SessionDir) -> Result<ExitCode, UserError> {
    let (publish, published) = watch::channel(Seq(u64::MAX));
    let mut lines = LineSession::of(dir, published)?;
    lines.story = Story::Saved;
    lines.pull()?;
    drop(publish);
    lines.end_saying();
    Ok(ExitCode::SUCCESS)
}

/// Whether the person leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leave {
    Yes,
    No,
}

/// Whether what was printed is to be printed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Again {
    Yes,
    No,
}

fn print_message(text: &str) {
    if let Some(words) = message_words(text) {
        report::line(&words);
    }
}

/// What is printed of a message; `None`: nothing, as of an answer that only chooses who speaks next.
fn message_words(text: &str) -> Option<String> {
    let is_shown = !text.trim().is_empty() && !answer_words::is_choice(text);
    is_shown.then(|| answer_words::in_words(text).trim_end().to_owned())
}

/// What a question is about, each step or file on a line.
fn listed(view: &SessionView) -> Vec<String> {
    match view.pending_list() {
        Some((_, PendingList::Plan(plan))) => (1..)
            .zip(&plan.steps)
            .map(|(number, (item, _)): (usize, _)| {
                let agent = item.agent.as_ref().map_or(String::new(), |agent| format!("{agent}: "));
                format!("  step {number}: {agent}{}", item.task)
            })
            .collect(),
        Some((_, PendingList::Context(context))) => {
            let file = |file: &ContextFile| format!("  file {}, {} tokens", file.path, file.tokens);
            context.files.iter().map(file).collect()
        }
        None => Vec::new(),
    }
}

impl LineSession {
    fn of(dir: &SessionDir, published: watch::Receiver<Seq>) -> Result<Self, UserError> {
        Ok(Self {
            reader: JournalReader::open(&dir.journal())?,
            published,
            view: SessionView::default(),
            blobs: dir.blobs(),
            saying: BTreeMap::new(),
            paper: None,
            listed: None,
            asked: None,
            asks_after: None,
            reasons: BTreeSet::new(),
            story: Story::Live,
            old: Seq(0),
        })
    }

    /// Takes in what was published.
    fn pull(&mut self) -> Result<(), UserError> {
        let published = *self.published.borrow_and_update();
        while let Some(item) = self.reader.next_published(published)? {
            let ReadItem::Record(record) = item else { continue };
            self.view.apply(&record);
            if record.seq > self.old {
                self.tell(&record.event);
            }
        }
        Ok(())
    }

    fn tell(&mut self, event: &Event) {
        if let Event::Proposal(ProposalEvent::Settled { proposal, outcome }) = event {
            self.tell_ruled(*proposal, outcome);
        }
        match event {
            Event::Turn(TurnEvent::TextAdded { turn, text }) => {
                self.saying.entry(Some(*turn)).or_default().push_str(text);
            }
            Event::Proposal(ProposalEvent::InquiryTextAdded { text, .. }) => {
                self.saying.entry(None).or_default().push_str(text);
            }
            // It is printed whole when its turn has come.
            Event::Proposal(ProposalEvent::Made(proposal)) => {
                self.end_saying();
                if let Some(line) = person_part::line(event, &self.view, self.story) {
                    report::line(&sanitize::line(&line));
                }
                if let Some(left) = RuledView::open(proposal, self.view.at) {
                    report::line(&sanitize::line(&format!("  {}", left.sentence())));
                }
            }
            Event::Proposal(ProposalEvent::Decided { decision, .. })
                if matches!(decision.by, DecidedBy::Policy(_)) => {}
            // The order itself was said by who gave it, and a usual order of turns only once.
            Event::Turn(TurnEvent::SpeakerChosen { agent, reason, .. })
                if !self.reasons.insert((agent.clone(), reason.clone())) =>
            {
                self.end_saying();
                report::line(&sanitize::line(agent.as_str()));
            }
            _ => self.tell_in_a_line(event),
        }
    }

    /// Prints an event that is told in a line, after what was said before it.
    fn tell_in_a_line(&mut self, event: &Event) {
        if let Event::Session(SessionEvent::RunStarted(_)) = event {
            self.reasons.clear();
        }
        let line = person_part::line(event, &self.view, self.story);
        let line = line.or_else(|| match (event, self.story) {
            // It is printed with its answers while it waits.
            (Event::Person(PersonEvent::Asked { .. }), Story::Live) => None,
            _ => run::line(event),
        });
        let is_end = matches!(event, Event::Proposal(ProposalEvent::InquiryEnded { .. }));
        match event {
            // Others may be speaking.
            Event::Turn(TurnEvent::Ended { turn, .. } | TurnEvent::ToolCalled { turn, .. }) => {
                self.end_saying_of(Some(*turn));
            }
            Event::Person(PersonEvent::Asked { .. }) => self.end_saying(),
            _ if is_end || line.is_some() => self.end_saying(),
            _ => {}
        }
        if let Some(line) = line {
            // Each part of these is on one line already.
            let has_rows =
                matches!(event, Event::Test(_) | Event::Turn(TurnEvent::ToolAnswered { .. }));
            let line = if has_rows { sanitize::block(&line) } else { sanitize::line(&line) };
            report::line(&line);
        }
        if let (Event::Person(PersonEvent::Asked { .. }), Story::Saved) = (event, self.story) {
            listed(&self.view).iter().for_each(|line| report::line(&sanitize::line(line)));
        }
        if let (Event::Session(SessionEvent::Ended { .. }), Story::Saved) = (event, self.story) {
            self.tell_summary();
        }
    }

    /// Prints what a rule decided.
    fn tell_ruled(&mut self, id: ProposalId, outcome: &Outcome) {
        let found = self.view.review.get(id);
        let decided = found.and_then(|view| Some((view, view.decision.as_ref()?)));
        let ruled = decided.and_then(|(view, (decision, _))| {
            RuledView::settled((id, &view.proposal.change), decision, outcome, self.view.at)
        });
        if let Some(ruled) = ruled {
            self.end_saying();
            report::line(&sanitize::line(&format!("  {}", ruled.sentence())));
        }
    }

    fn end_saying(&mut self) {
        for text in std::mem::take(&mut self.saying).into_values() {
            print_message(&text);
        }
    }

    fn end_saying_of(&mut self, turn: Option<TurnId>) {
        if let Some(text) = self.saying.remove(&turn) {
            print_message(&text);
        }
    }

    /// Prints the first proposal or question that waits, once.
    fn show_waiting(&mut self, again: Again) {
        let Some(waiting) = self.view.review.waiting().next() else {
            self.paper = None;
            self.show_question(again);
            return;
        };
        let proposal = &waiting.proposal;
        let (id, hash) = (proposal.id, proposal.change.hash());
        // What was restated is printed again.
        let is_printed = self.paper.as_ref().is_some_and(|paper| {
            let shown = paper.shown();
            (shown.proposal, shown.hash) == (id, hash)
        });
        if again == Again::No && is_printed {
            return;
        }
        let reported = proposal_text::proposal(proposal, &self.blobs);
        let mut paper = Paper::new(proposal.clone(), reported.as_ref().ok(), Instant::now());
        match &reported {
            Ok(reported) => {
                reported.lines.iter().for_each(|line| report::line(line));
                report::line(&format!(
                    "Type: {}, or reject {id} REASON. `help` lists the rest.",
                    paper.approval()
                ));
            }
            Err(error) => {
                report::line(&format!(
                    "Proposal {id} cannot be shown: {}: {}",
                    error.what, error.why
                ));
                report::line(&format!("It cannot be approved. Type: reject {id} REASON."));
            }
        }
        paper.at = Instant::now();
        if let Some(old) = self.paper.take().filter(|old| old.proposal.id == id) {
            paper.take_words_of(old);
        }
        self.paper = Some(paper);
    }

    /// Asks for the next task, once after each run, or has the session left.
    fn ask_for_task(&mut self) -> Leave {
        let over = self.view.head.runs.len();
        match self.asks_after {
            None => {
                self.tell_summary();
                return Leave::Yes;
            }
            Some(asked) if asked == over => return Leave::No,
            Some(_) => self.asks_after = Some(over),
        }
        self.tell_summary();
        report::line("The run is over. Type: task WORDS, or quit.");
        Leave::No
    }

    /// Prints what the last run came to.
    fn tell_summary(&mut self) {
        self.end_saying();
        if let Some(run) = self.view.work.run() {
            for (about, words) in summary(run, FileNames::All) {
                report::line(&sanitize::line(&format!("  {about}: {words}")));
            }
        }
    }

    /// The exit code of a session that is left now.
    fn leaving(&self) -> ExitCode {
        match &self.view.head.state {
            RunState::Ended(outcome) => exit_code(outcome),
            _ => ExitCode::SUCCESS,
        }
    }

    fn show_question(&mut self, again: Again) {
        let Some(question) = &self.view.head.question else { return };
        if again == Again::No && self.asked.is_some_and(|(id, _)| id == question.id) {
            return;
        }
        report::line(&format!("Question: {}", sanitize::line(&question.text)));
        listed(&self.view).iter().for_each(|line| report::line(&sanitize::line(line)));
        for (place, option) in question.options.iter().enumerate() {
            report::line(&format!("  {}: {}", place + 1, sanitize::line(option)));
        }
        report::line("Type: answer NUMBER, or answer WORDS.");
        self.asked = Some((question.id, Instant::now()));
    }

    /// Does what a line asks for, as far as it is a wish for the engine.
    fn hear(&mut self, typed: &Typed, manner: Manner) -> (Option<Intent>, Leave) {
        let Typed { at, line, .. } = typed;
        let wish = LineCommand::parse(line);
        if let Some(about) = wish.decides()
            && let Err(why) = may_decide(manner, *at, self.printed(about))
        {
            report::line(why);
            return (None, Leave::No);
        }
        let intent = match wish {
            LineCommand::Decide(number, decide) => self.decide(number, decide),
            LineCommand::Comment(number, line, words) => {
                self.paper(number).and_then(|paper| paper.comment(line, &words)).map(|()| {
                    report::line("kept; it goes to the agent with your decision");
                    None
                })
            }
            // It is edited before the next line is read.
            LineCommand::Edit(_) => Err("`edit` has to be typed by itself".to_owned()),
            LineCommand::Rest(number) => self.list_rest(number).map(|()| None),
            LineCommand::DecideRest(number, decide) => {
                rest::decide(&mut self.listed, number, decide)
            }
            LineCommand::Undo(number) => Ok(Some(Intent::Undo { proposal: ProposalId(number) })),
            LineCommand::Rules => {
                self.tell_rules();
                Ok(None)
            }
            LineCommand::Rule(says, number, scope) => {
                self.paper(number).and_then(|paper| paper.rule(says, scope)).map(Some)
            }
            LineCommand::Revoke(number) => Ok(Some(Intent::RevokeRule { rule: RuleId(number) })),
            LineCommand::Say(text) => Ok(Some(Intent::Say { to: None, text })),
            LineCommand::Task(task) => Ok(Some(Intent::StartRun { task, team: None })),
            LineCommand::Next(agent) => Ok(Some(Intent::NameSpeaker { agent })),
            LineCommand::Answer(words) => Ok(self.answer(words)),
            LineCommand::Pause => Ok(Some(Intent::Pause)),
            LineCommand::Resume => Ok(Some(Intent::Resume)),
            LineCommand::Stop => Ok(Some(Intent::Stop)),
            LineCommand::Quit => return (None, Leave::Yes),
            LineCommand::Show => {
                self.show_waiting(Again::Yes);
                Ok(None)
            }
            LineCommand::Help => {
                HELP.lines().for_each(report::line);
                Ok(None)
            }
            LineCommand::Unclear(why) => {
                report::line(&why);
                Ok(None)
            }
            LineCommand::Nothing => Ok(None),
        };
        let intent = intent.unwrap_or_else(|why| {
            report::line(&format!("not decided: {why}"));
            None
        });
        (intent, Leave::No)
    }

    /// When that was printed which a line decides about.
    fn printed(&self, about: About) -> Option<Instant> {
        match about {
            About::Proposal => self.paper.as_ref().map(|paper| paper.at),
            About::Batch => self.listed.as_ref().map(|listed| listed.at),
            About::Question => self.asked.map(|(_, at)| at),
            About::Past => None,
        }
    }

    /// What was printed of the proposal of that number.
    fn paper(&mut self, number: u32) -> Result<&mut Paper, String> {
        let waits = self.paper.as_ref().map_or_else(
            || "no proposal waits for a decision".to_owned(),
            |paper| format!("the waiting proposal is {}", paper.proposal.id),
        );
        let paper = self.paper.as_mut();
        paper.filter(|paper| paper.proposal.id == ProposalId(number)).ok_or(waits)
    }

    fn list_rest(&mut self, number: u32) -> Result<(), String> {
        self.paper(number)?;
        if let Some(paper) = &self.paper {
            self.listed = Some(Listed::print(paper, &self.view, &self.blobs)?);
        }
        Ok(())
    }

    fn decide(&mut self, number: u32, decide: Decide) -> Result<Option<Intent>, String> {
        let blobs = self.blobs.clone();
        self.paper(number)?.decide(decide, &blobs).map(Some)
    }

    /// Lets the person edit the proposed text; decides nothing.
    fn edit(&mut self, number: u32, examiner: &dyn Examiner) {
        let blobs = self.blobs.clone();
        match self.paper(number).and_then(|paper| paper.edit(&blobs, examiner)) {
            Ok(reported) => {
                report::line("Your edit of the proposal; the agent gets exactly this:");
                reported.lines.iter().for_each(|line| report::line(line));
            }
            Err(why) => report::line(&format!("not edited: {why}")),
        }
    }

    fn tell_rules(&self) {
        let mut rules = self.view.review.rules().peekable();
        if rules.peek().is_none() {
            report::line("this session has no rules");
        }
        for view in rules {
            let rule = view.rule.to_string();
            report::line(&format!("  rule {}: {}", view.id, sanitize::line(&rule)));
        }
    }

    fn answer(&self, words: String) -> Option<Intent> {
        let Some(question) = &self.view.head.question else {
            report::line("no question is open");
            return None;
        };
        Some(Intent::Answer { question: question.id, answer: words })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_of_a_selector_is_not_printed_and_a_message_is() {
        let answer = "{\"next\": \"BuildAgent\", \"why\": \"the files are saved\"}";
        assert_eq!(message_words(answer), None);
        assert_eq!(message_words(&format!("```json\n{answer}\n```\n")), None);
        assert_eq!(message_words("It is saved.\n"), Some("It is saved.".to_owned()));
    }
}
