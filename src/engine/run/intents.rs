//! Takes the person's wishes while the run goes on, and those that still make sense afterwards.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::sync::mpsc;

use super::inquiry::{self, InquiryRequest};
use super::next_run::NextRunParts;
use super::shared::Shared;
use super::typed_answer::{TypedAnswer, hint};
use crate::engine::concern::{STOP, takes_model};
use crate::engine::progress::RunProgress;
use crate::engine::progress::step::Words;
use crate::engine::team::SpeakerSelection;
use crate::gate::{ApprovalQueue, Gate, QueueError};
use crate::model::event::Level;
use crate::model::{
    AfterReject, AgentName, BlobRef, Event, Excerpt, Intent, Ledger, MarkedPassage, ModelEvent,
    Outcome, PassageMark, PassageMarks, PersonEvent, PlanItem, ProposalId, QuestionId, Shown,
    TeamEvent, UserError, Verdict,
};
use crate::provider::ChosenModel;
use crate::workspace::MAX_FILE_BYTES;

/// What the clerk works with.
pub(in crate::engine) struct ClerkParts {
    pub shared: Arc<Shared>,
    /// Where proposals wait.
    pub desk: ApprovalQueue,
    /// Takes changes back and keeps the rules of the session.
    pub gate: Arc<Gate>,
    /// Stores what the person has written.
    pub ledger: Arc<dyn Ledger>,
    /// What the next run is made of.
    pub next: NextRunParts,
    /// Bytes one answer may have.
    pub answer_bytes: usize,
}

/// What came of the choice of another model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ModelChoice {
    Made,
    Refused,
}

/// Takes wishes one after the other.
pub(in crate::engine) struct IntentHandler {
    counter: ClerkParts,
    inbox: mpsc::Receiver<Intent>,
    /// Questions about proposals that agents are answering.
    asides: FuturesUnordered<BoxFuture<'static, Result<(), UserError>>>,
}

impl IntentHandler {
    pub fn new(counter: ClerkParts, inbox: mpsc::Receiver<Intent>) -> Self {
        Self { counter, inbox, asides: FuturesUnordered::new() }
    }

    /// Works until something could not be recorded. When nobody can send wishes any more, it only
    /// brings open questions to their end: whoever let go of the senders decides what becomes of
    /// the run.
    pub async fn serve(mut self) -> UserError {
        let mut is_open = true;
        loop {
            let done = tokio::select! {
                biased;
                intent = self.inbox.recv(), if is_open => match intent {
                    Some(intent) => {
                        let taken = self.take(intent);
                        self.counter.shared.changed.notify_one();
                        taken
                    }
                    None => {
                        is_open = false;
                        Ok(())
                    }
                },
                Some(done) = self.asides.next(), if !self.asides.is_empty() => done,
                else => std::future::pending().await,
            };
            if let Err(error) = done {
                return error;
            }
        }
    }

    fn take(&mut self, intent: Intent) -> Result<(), UserError> {
        let counter = &self.counter;
        match intent {
            Intent::Decide { shown, verdict } => counter.decide(shown, verdict),
            Intent::Amend { shown, how, content, note, phrase } => {
                counter.amend(shown, &content, |content| Verdict::ApproveAmended {
                    how,
                    content,
                    note,
                    phrase,
                })
            }
            // No list covers findings: what has one is decided by itself.
            Intent::DecideAll { shown, verdict } => shown
                .into_iter()
                .try_for_each(|shown| counter.decide(Shown { stops: 0, ..shown }, verdict.clone())),
            Intent::Inquire { proposal, excerpt, text } => self.inquire(proposal, excerpt, text),
            Intent::Undo { proposal } => counter.undo(proposal),
            Intent::AddRule { rule } => counter.report(counter.gate.add_rule(rule).map(drop)),
            Intent::RevokeRule { rule } => counter.report(counter.gate.revoke_rule(rule)),
            Intent::Say { to, text } => counter.say(to, text),
            Intent::StartRun { task, team } => counter.start_run(task, team.as_deref()),
            Intent::Answer { question, answer } => counter.answer(question, answer),
            Intent::NameSpeaker { agent } => counter.name_speaker(&agent),
            Intent::EditPlan { items } => counter.edit_plan(items),
            Intent::EditContext { add, remove } => {
                let is_empty = add.is_empty() && remove.is_empty();
                let fact = TeamEvent::ContextEdited { add, remove };
                counter.when(|_| !is_empty, Event::Team(fact))
            }
            Intent::MarkPassage(marked) => counter.mark_passage(marked),
            Intent::UseModel { profile } => counter.choose(&profile).map(drop),
            Intent::Pause => counter
                .when(|p| !p.is_paused() && !p.is_stopping(), Event::Person(PersonEvent::Paused)),
            Intent::Resume => {
                counter.when(RunProgress::is_paused, Event::Person(PersonEvent::Unpaused))
            }
            Intent::Stop => counter.stop(),
        }
    }

    /// Asks the agent of a waiting proposal about it; the answer comes beside the run.
    fn inquire(
        &mut self,
        proposal: ProposalId,
        excerpt: Option<Excerpt>,
        text: String,
    ) -> Result<(), UserError> {
        let ClerkParts { shared, gate, answer_bytes, .. } = &self.counter;
        if text.trim().is_empty() {
            return Ok(());
        }
        let refused = |why: &str| {
            let what = format!("Cannot ask about proposal {proposal}");
            shared.notice(Level::Warning, UserError::new(what, why, ""))
        };
        let Some(proposal) = gate.waiting(proposal) else {
            return refused("it no longer waits");
        };
        let question = InquiryRequest { proposal, excerpt, text };
        let Some((inquiry, request)) = question.put(shared, &shared.agents())? else {
            return refused("its agent is not part of the current phase");
        };
        let (shared, provider) = (Arc::clone(shared), shared.provider());
        let most = *answer_bytes;
        let aside = inquiry::listen(shared, provider, inquiry, request, most);
        self.asides.push(aside.boxed());
        Ok(())
    }
}

impl ClerkParts {
    fn decide(&self, shown: Shown, verdict: Verdict) -> Result<(), UserError> {
        let stops = matches!(verdict, Verdict::Reject { then: AfterReject::Stop, .. });
        match self.desk.decide(shown, verdict) {
            Ok(()) if stops => self.stop(),
            Ok(()) => Ok(()),
            Err(error) => self.refuse(error),
        }
    }

    /// Stores what shall be written instead and decides with it.
    fn amend(
        &self,
        shown: Shown,
        content: &[u8],
        verdict: impl FnOnce(BlobRef) -> Verdict,
    ) -> Result<(), UserError> {
        if content.len() as u64 > MAX_FILE_BYTES {
            return self.warn(
                format!("Cannot accept the decision on proposal {}", shown.proposal),
                format!("the text has {} bytes, more than {MAX_FILE_BYTES}", content.len()),
                "Write such a file yourself.",
            );
        }
        // Before it is decided: once it is, the content must be there, whatever happens.
        let content = self.ledger.store(content)?;
        self.decide(shown, verdict(content))
    }

    fn undo(&self, proposal: ProposalId) -> Result<(), UserError> {
        let undone = {
            // Held so that the run folds these facts in the order they are recorded.
            let mut progress = self.shared.progress();
            self.gate.undo(proposal).map(|(settlement, events)| {
                events.iter().for_each(|event| progress.apply(event));
                settlement.outcome
            })
        };
        // What the disk did not allow is told where the person is.
        self.report(undone.and_then(|outcome| match outcome {
            Outcome::Applied => Ok(()),
            Outcome::Stale { .. } => Err(not_undone(proposal, "the file has changed since")),
            Outcome::Denied => Err(not_undone(proposal, "a rule of the configuration denies it")),
            Outcome::Interrupted(why) => Err(not_undone(proposal, &why)),
            Outcome::Failed(error) => Err(not_undone(proposal, &error.why)),
        }))
    }

    /// What the person wished and could not have is told to the person.
    fn report(&self, result: Result<(), UserError>) -> Result<(), UserError> {
        result.or_else(|error| self.shared.notice(Level::Warning, error))
    }

    fn warn(
        &self,
        what: impl Into<String>,
        why: impl Into<String>,
        fix: impl Into<String>,
    ) -> Result<(), UserError> {
        self.shared.notice(Level::Warning, UserError::new(what, why, fix))
    }

    fn refuse(&self, error: QueueError) -> Result<(), UserError> {
        self.shared.notice(Level::Warning, error.into())
    }

    /// Records `event` if it makes sense now; doing the same twice is no fact.
    fn when(&self, sense: impl Fn(&RunProgress) -> bool, event: Event) -> Result<(), UserError> {
        self.shared.record_with(|p| (p.ended().is_none() && sense(p)).then_some(event))
    }

    fn say(&self, to: Option<AgentName>, text: String) -> Result<(), UserError> {
        if text.trim().is_empty() {
            return Ok(());
        }
        if self.shared.progress().ended().is_some() {
            return self.warn("Cannot send the message", "the run is over", "");
        }
        self.when(|_| true, Event::Person(PersonEvent::Wrote { to, text }))
    }

    /// Lets this agent speak next, where a learned policy would choose.
    fn name_speaker(&self, wanted: &AgentName) -> Result<(), UserError> {
        let agents = {
            let progress = self.shared.progress();
            let learned = progress
                .phase()
                .filter(|phase| matches!(phase.selection, SpeakerSelection::Policy(_)));
            learned.map(|phase| phase.participants.clone())
        };
        let what = format!("Cannot let {wanted} speak next");
        let refused = |why: &str, fix: String| self.warn(&what, why, fix);
        let Some(agents) = agents else {
            let why = "no learned policy chooses who speaks now";
            return refused(why, "Tell the team in words what you want.".to_owned());
        };
        let is_wanted = |agent: &&AgentName| agent.as_str().eq_ignore_ascii_case(wanted.as_str());
        let Some(agent) = agents.iter().find(is_wanted).cloned() else {
            let names: Vec<&str> = agents.iter().map(AgentName::as_str).collect();
            let fix = format!("Name one of: {}.", names.join(", "));
            return refused("there is no such agent in this phase", fix);
        };
        self.when(|_| true, Event::Person(PersonEvent::SpeakerNamed { agent }))
    }

    /// Begins the next run, or says why it cannot.
    fn start_run(&self, task: String, team: Option<&str>) -> Result<(), UserError> {
        if task.trim().is_empty() {
            return Ok(());
        }
        match self.next.check(&self.shared, &self.gate, &task, team) {
            Ok(next) => self.next.begin(&self.shared, &self.desk, task, next),
            Err(error) => {
                self.shared.notice(Level::Warning, NextRunParts::not_started(&task, error))
            }
        }
    }

    /// Pins or mutes a passage, also after the run: the next one has it.
    fn mark_passage(&self, mut marked: Box<MarkedPassage>) -> Result<(), UserError> {
        if marked.mark != PassageMark::Pinned {
            marked.text.clear();
        } else if self.next.state.marks().pinned().count() >= PassageMarks::MOST_PINNED {
            return self.warn(
                format!("Cannot pin {}", marked.source),
                format!("{} passages are pinned already", PassageMarks::MOST_PINNED),
                "Remove the pin of another one first.",
            );
        }
        self.shared.record(Event::Team(TeamEvent::PassageMarked(marked)))
    }

    /// Takes the plan as the person has changed it. Steps without words are left out.
    fn edit_plan(&self, mut items: Vec<PlanItem>) -> Result<(), UserError> {
        items.retain(|item| !item.task.trim().is_empty());
        if items.is_empty() {
            return self.warn(
                "Cannot change the plan",
                "no step would be left",
                "Stop the run instead, or write what should be done.",
            );
        }
        self.when(
            |p| p.phase().is_some() && !p.is_stopping(),
            Event::Team(TeamEvent::PlanMade { by: None, items }),
        )
    }

    fn choose(&self, profile: &str) -> Result<ModelChoice, UserError> {
        match self.shared.provider().choose(profile.trim()) {
            Ok(ChosenModel { provider, label }) => {
                self.when(|_| true, Event::Model(ModelEvent::Chosen { provider, label }))?;
                Ok(ModelChoice::Made)
            }
            Err(error) => {
                self.shared.notice(Level::Warning, error)?;
                Ok(ModelChoice::Refused)
            }
        }
    }

    fn answer(&self, question: QuestionId, answer: String) -> Result<(), UserError> {
        let open = self.shared.progress().question();
        let Some((_, options, words)) = open.filter(|(id, ..)| *id == question) else {
            return self.warn(
                "Cannot accept the answer",
                format!("question {question} is no longer open"),
                "",
            );
        };
        let typed = answer.trim();
        let model = typed.strip_prefix("model ").filter(|_| takes_model(&options));
        let answer = match model {
            Some(profile) => match self.choose(profile)? {
                ModelChoice::Made => options.first().cloned().unwrap_or_default(),
                ModelChoice::Refused => return Ok(()),
            },
            None => match TypedAnswer::of(typed, &options, words) {
                TypedAnswer::Offered(option) => option,
                TypedAnswer::Own if words == Words::NotTaken => {
                    return self.ask_again(typed, &options);
                }
                TypedAnswer::Own => typed.to_owned(),
            },
        };
        let is_offered = options.contains(&answer);
        self.shared
            .record(Event::Person(PersonEvent::Answered { question, answer: answer.clone() }))?;
        if answer == STOP && is_offered {
            return self.stop();
        }
        match words {
            Words::ToTeam if !is_offered => self.say(None, answer),
            Words::ToTeam | Words::ToCall | Words::NotTaken => Ok(()),
        }
    }

    /// Says which answers there are; the question stays open.
    fn ask_again(&self, typed: &str, options: &[String]) -> Result<(), UserError> {
        self.warn(
            format!("Nothing was allowed: “{typed}” is none of the answers"),
            "the question still waits",
            hint(options),
        )
    }

    fn stop(&self) -> Result<(), UserError> {
        self.when(|_| true, Event::Person(PersonEvent::StopRequested))?;
        self.shared.stop.cancel();
        self.desk.close("the person stopped the run");
        Ok(())
    }
}

/// Says that a change stays as it is.
fn not_undone(proposal: ProposalId, why: &str) -> UserError {
    let fix = "Look at the file as it is now, and ask the team for the change you want.";
    UserError::new(format!("Cannot undo proposal {proposal}"), why.to_owned(), fix)
}
