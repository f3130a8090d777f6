//! Takes the person's wishes while the run goes on.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::concern::STOP;
use super::progress::Progress;
use super::run::Shared;
use super::step::Words;
use crate::gate::Desk;
use crate::model::event::Level;
use crate::model::{
    AgentName, Event, Intent, ModelEvent, PlanItem, QuestionId, TeamFact, UserError,
};
use crate::provider::Chosen;

/// Takes wishes one after the other.
pub(super) struct Clerk {
    shared: Arc<Shared>,
    desk: Desk,
    inbox: mpsc::Receiver<Intent>,
}

impl Clerk {
    pub fn new(shared: Arc<Shared>, desk: Desk, inbox: mpsc::Receiver<Intent>) -> Self {
        Self { shared, desk, inbox }
    }

    /// Works until something could not be recorded. When nobody can send wishes any more, it only
    /// waits: whoever let go of the senders decides what becomes of the run.
    pub async fn serve(mut self) -> UserError {
        while let Some(intent) = self.inbox.recv().await {
            if let Err(error) = self.take(intent) {
                return error;
            }
            self.shared.changed.notify_one();
        }
        std::future::pending().await
    }

    fn take(&self, intent: Intent) -> Result<(), UserError> {
        match intent {
            Intent::Decide { proposal, shown, verdict, unseen } => {
                match self.desk.decide(proposal, shown, verdict, unseen) {
                    Ok(()) => Ok(()),
                    Err(error) => self.shared.notice(Level::Warning, error.into()),
                }
            }
            Intent::Say { to, text } => self.say(to, text),
            Intent::Answer { question, answer } => self.answer(question, answer),
            Intent::EditPlan { items } => self.edit_plan(items),
            Intent::EditContext { add, remove } => {
                let is_empty = add.is_empty() && remove.is_empty();
                let fact = TeamFact::ContextEdited { add, remove };
                self.when(|_| !is_empty, Event::Team(fact))
            }
            Intent::UseModel { profile } => self.choose(&profile),
            Intent::Pause => self.when(|p| !p.is_paused() && !p.is_stopping(), Event::Paused),
            Intent::Resume => self.when(Progress::is_paused, Event::Unpaused),
            Intent::Stop => self.stop(),
        }
    }

    /// Records `event` if it makes sense now; doing the same twice is no fact.
    fn when(&self, sense: impl Fn(&Progress) -> bool, event: Event) -> Result<(), UserError> {
        self.shared.record_with(|p| (p.ended().is_none() && sense(p)).then_some(event))
    }

    fn say(&self, to: Option<AgentName>, text: String) -> Result<(), UserError> {
        if text.trim().is_empty() {
            return Ok(());
        }
        self.when(|_| true, Event::PersonSaid { to, text })
    }

    /// Takes the plan as the person has changed it. Steps without words are left out.
    fn edit_plan(&self, mut items: Vec<PlanItem>) -> Result<(), UserError> {
        items.retain(|item| !item.task.trim().is_empty());
        if items.is_empty() {
            let notice = UserError::new(
                "The plan was not changed",
                "it would have no step left",
                "Stop the run instead, or say what shall be done.",
            );
            return self.shared.notice(Level::Warning, notice);
        }
        self.when(
            |p| p.running().is_some() && !p.is_stopping(),
            Event::Team(TeamFact::PlanMade { by: None, items }),
        )
    }

    fn choose(&self, profile: &str) -> Result<(), UserError> {
        match self.shared.provider.choose(profile.trim()) {
            Ok(Chosen { provider, label }) => {
                self.when(|_| true, Event::Model(ModelEvent::Chosen { provider, label }))
            }
            Err(error) => self.shared.notice(Level::Warning, error),
        }
    }

    fn answer(&self, question: QuestionId, answer: String) -> Result<(), UserError> {
        let open = self.shared.progress().question();
        let Some((_, options, words)) = open.filter(|(id, ..)| *id == question) else {
            let notice = UserError::new(
                "The answer came too late",
                format!("question {question} does not wait any more"),
                "",
            );
            return self.shared.notice(Level::Warning, notice);
        };
        let answer = answer.trim().to_owned();
        self.shared.record(Event::Answered { question, answer: answer.clone() })?;
        let is_offered = options.contains(&answer);
        if answer == STOP && is_offered {
            return self.stop();
        }
        match words {
            Words::ToTeam if !is_offered => self.say(None, answer),
            Words::ToTeam | Words::ToCall => Ok(()),
        }
    }

    fn stop(&self) -> Result<(), UserError> {
        self.when(|_| true, Event::StopRequested)?;
        self.shared.stop.cancel();
        self.desk.close("the person stopped the run");
        Ok(())
    }
}
