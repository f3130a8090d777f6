//! The line mode, `--plain`: for screen readers and terminals without a screen.
//!
//! Prints what happens line by line and takes decisions as typed lines. The same engine and the
//! same gate as under the full screen; owns its own guards, see [`heard`].

mod heard;
mod told;

use std::io::{self, BufRead};
use std::process::ExitCode;
use std::time::Instant;

use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use super::{report, run};
use crate::app::compose::Running;
use crate::app::signals::{Signal, Signals};
use crate::journal::{Blobs, JournalReader, ReadItem, SessionDir, scan};
use crate::model::{
    ContentHash, Event, Intent, ProposalId, Seq, SessionOutcome, UserError, Verdict,
};
use crate::text::sanitize;
use crate::view::{RunState, SessionView};
use heard::{BURST, Manner, Wish, may_decide};

/// Checks that a person can type: what comes through a pipe must never decide.
///
/// # Errors
/// When standard input is no terminal.
pub fn require() -> Result<(), UserError> {
    if rustix::termios::isatty(io::stdin()) {
        return Ok(());
    }
    Err(UserError::new(
        "cannot take decisions line by line",
        "standard input is not a terminal, and what comes through a pipe must not decide",
        "type in a terminal, or let rules decide: `firmhand run TASK --policy FILE`",
    ))
}

/// The line that was typed, and when it came.
type Typed = (Instant, String);

/// A session told line by line.
struct Lines {
    reader: JournalReader,
    published: watch::Receiver<Seq>,
    view: SessionView,
    blobs: Blobs,
    /// What the agent has said of its current turn.
    saying: String,
    shown: Option<Shown>,
    asked: Option<crate::model::QuestionId>,
    /// What was told when the session was first followed; it is not told again.
    old: Seq,
}

/// What was printed for a decision.
struct Shown {
    id: ProposalId,
    hash: ContentHash,
    at: Instant,
    /// Whether all of it could be printed.
    whole: bool,
}

/// Follows a session until it ends or the person leaves. Tells whether it is to be stopped in
/// order, with the view at its end.
///
/// # Errors
/// When the journal cannot be read.
pub async fn follow(running: &Running) -> Result<(ExitCode, SessionView), UserError> {
    let published = running.recorder.subscribe();
    let mut lines = Lines::of(&running.dir, published)?;
    lines.old = taken_up(&running.dir)?;
    let mut signals = Signals::watch()?;
    let mut typed = listen();
    report::line("Line mode. `help` lists what can be typed.");
    loop {
        lines.pull()?;
        if let RunState::Ended(outcome) = &lines.view.head.state {
            let code = match outcome {
                SessionOutcome::Completed => ExitCode::SUCCESS,
                SessionOutcome::Failed(_) | SessionOutcome::Stopped => ExitCode::from(3),
            };
            return Ok((code, lines.view));
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
            line = typed.recv() => {
                let Some(first) = line else { return Ok((ExitCode::SUCCESS, lines.view)) };
                let (all, manner) = burst(first, &mut typed).await;
                for line in all {
                    let (intents, leave) = lines.hear(&line, manner);
                    for intent in intents {
                        if running.engine.intents.send(intent).await.is_err() {
                            report::line("the run is over");
                        }
                    }
                    if leave == Leave::Yes {
                        return Ok((ExitCode::SUCCESS, lines.view));
                    }
                }
            }
        }
    }
}

/// The record with which the session was last taken up again; 0 for a new one.
fn taken_up(dir: &SessionDir) -> Result<Seq, UserError> {
    let mut last = Seq(0);
    scan(&dir.journal(), |item, _| match item {
        ReadItem::Record(record) if matches!(record.event, Event::SessionResumed { .. }) => {
            last = record.seq;
        }
        ReadItem::Record(_) | ReadItem::Damaged(_) => {}
    })?;
    Ok(last)
}

/// Prints a saved session from its start to its end.
///
/// # Errors
/// When its journal cannot be read.
pub fn replay(dir: &SessionDir) -> Result<ExitCode, UserError> {
    let (publish, published) = watch::channel(Seq(u64::MAX));
    let mut lines = Lines::of(dir, published)?;
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

/// Reads typed lines on a thread of its own; the channel closes at the end of the input.
fn listen() -> mpsc::UnboundedReceiver<Typed> {
    let (send, receive) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if send.send((Instant::now(), line)).is_err() {
                return;
            }
        }
    });
    receive
}

/// All lines that came at once with the first one.
async fn burst(first: Typed, typed: &mut mpsc::UnboundedReceiver<Typed>) -> (Vec<Typed>, Manner) {
    let mut all = vec![first];
    while let Ok(Some(next)) = timeout(BURST, typed.recv()).await {
        all.push(next);
    }
    let manner = if all.len() == 1 { Manner::Alone } else { Manner::InBurst };
    (all, manner)
}

impl Lines {
    fn of(dir: &SessionDir, published: watch::Receiver<Seq>) -> Result<Self, UserError> {
        Ok(Self {
            reader: JournalReader::open(&dir.journal())?,
            published,
            view: SessionView::default(),
            blobs: dir.blobs(),
            saying: String::new(),
            shown: None,
            asked: None,
            old: Seq(0),
        })
    }

    /// Takes in what was published.
    fn pull(&mut self) -> Result<(), UserError> {
        let published = *self.published.borrow_and_update();
        while self.reader.position().seq < published {
            match self.reader.next_item()? {
                Some(ReadItem::Record(record)) => {
                    self.view.apply(&record);
                    if record.seq > self.old {
                        self.tell(&record.event);
                    }
                }
                Some(ReadItem::Damaged(_)) => {}
                None => break,
            }
        }
        Ok(())
    }

    fn tell(&mut self, event: &Event) {
        match event {
            Event::TextAdded { text, .. } => self.saying.push_str(text),
            // It is printed whole when its turn has come.
            Event::Proposed(_) => self.end_saying(),
            _ => {
                if let Some(line) = run::line(event) {
                    self.end_saying();
                    report::line(&sanitize::line(&line));
                } else if matches!(event, Event::TurnEnded { .. }) {
                    self.end_saying();
                }
            }
        }
    }

    fn end_saying(&mut self) {
        let text = std::mem::take(&mut self.saying);
        if !text.trim().is_empty() {
            report::line(text.trim_end());
        }
    }

    /// Prints the first proposal or question that waits, once.
    fn show_waiting(&mut self, again: Again) {
        let Some(waiting) = self.view.review.waiting().next() else {
            self.shown = None;
            self.show_question(again);
            return;
        };
        let proposal = &waiting.proposal;
        if again == Again::No && self.shown.as_ref().is_some_and(|shown| shown.id == proposal.id) {
            return;
        }
        let told = told::proposal(proposal, &self.blobs);
        let id = proposal.id;
        let whole = told.is_ok();
        match told {
            Ok(lines) => {
                lines.iter().for_each(|line| report::line(line));
                report::line(&format!("Type: approve {id}, or reject {id} REASON."));
            }
            Err(error) => {
                report::line(&format!(
                    "Proposal {id} cannot be shown: {}: {}",
                    error.what, error.why
                ));
                report::line(&format!("It cannot be approved. Type: reject {id} REASON."));
            }
        }
        self.shown = Some(Shown { id, hash: proposal.change.hash(), at: Instant::now(), whole });
    }

    fn show_question(&mut self, again: Again) {
        let Some(question) = &self.view.head.question else { return };
        if again == Again::No && self.asked == Some(question.id) {
            return;
        }
        report::line(&format!("Question: {}", sanitize::line(&question.text)));
        for (place, option) in question.options.iter().enumerate() {
            report::line(&format!("  {}: {}", place + 1, sanitize::line(option)));
        }
        report::line("Type: answer NUMBER, or answer WORDS.");
        self.asked = Some(question.id);
    }

    /// Does what a line asks for, as far as it is a wish for the engine.
    fn hear(&mut self, (at, line): &Typed, manner: Manner) -> (Vec<Intent>, Leave) {
        let wish = Wish::parse(line);
        let shown_at = self.shown.as_ref().map(|shown| shown.at);
        if wish.is_decision()
            && let Err(why) = may_decide(manner, *at, shown_at)
        {
            report::line(why);
            return (Vec::new(), Leave::No);
        }
        let intent = match wish {
            Wish::Approve(number) => self.decide(number, Verdict::Approve),
            Wish::Reject(number, reason) => self.decide(number, Verdict::reject(reason)),
            Wish::Say(text) => Some(Intent::Say { to: None, text }),
            Wish::Answer(words) => self.answer(words),
            Wish::Pause => Some(Intent::Pause),
            Wish::Resume => Some(Intent::Resume),
            Wish::Stop => Some(Intent::Stop),
            Wish::Quit => return (Vec::new(), Leave::Yes),
            Wish::Show => {
                self.show_waiting(Again::Yes);
                None
            }
            Wish::Help => {
                HELP.iter().for_each(|line| report::line(line));
                None
            }
            Wish::Unclear(why) => {
                report::line(&why);
                None
            }
            Wish::Nothing => None,
        };
        (intent.into_iter().collect(), Leave::No)
    }

    fn decide(&mut self, number: u32, verdict: Verdict) -> Option<Intent> {
        let Some(shown) = self.shown.as_ref().filter(|shown| shown.id == ProposalId(number)) else {
            let waits = self.shown.as_ref().map_or_else(
                || "nothing waits for a decision".to_owned(),
                |shown| format!("it is proposal {} that waits", shown.id),
            );
            report::line(&format!("not decided: {waits}"));
            return None;
        };
        if verdict == Verdict::Approve && !shown.whole {
            report::line("not decided: what cannot be shown cannot be approved");
            return None;
        }
        // Every changed line was printed.
        let (proposal, shown) = (shown.id, shown.hash);
        Some(Intent::Decide { proposal, shown, unseen: 0, verdict })
    }

    fn answer(&self, words: String) -> Option<Intent> {
        let Some(question) = &self.view.head.question else {
            report::line("no question waits");
            return None;
        };
        let place = words.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let option = place.and_then(|place| question.options.get(place));
        let answer = option.cloned().unwrap_or(words);
        Some(Intent::Answer { question: question.id, answer })
    }
}

const HELP: [&str; 9] = [
    "approve NUMBER          does what the proposal says",
    "reject NUMBER REASON    does not; the agent reads the reason",
    "show                    prints what waits once more",
    "say WORDS               tells the team",
    "answer NUMBER or WORDS  answers the question that waits",
    "pause, resume           holds the run, lets it go on",
    "stop                    ends the run in order",
    "quit                    leaves; `firmhand resume` goes on",
    "help                    prints this",
];
