//! What outlives an attempt, and what of it each chat begins with.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::blackboard::Blackboard;
use super::earlier::EarlierRuns;
use super::plan_track::PlanTrack;
use super::side_work::SideWork;
use crate::engine::attempt::Attempt;
use crate::engine::attempt::chat::{self, Chat};
use crate::engine::attempt::listing::Pins;
use crate::engine::concern::OtherModels;
use crate::engine::team::{ContextPart, Phase, SendBack, SpeakerSelection, Team};
use crate::model::event::{FileSignatures, ProjectFile, RunStart};
use crate::model::{
    AgentName, ArtifactKind, Document, Event, PolicyTable, SessionOutcome, TurnEvent,
};
use crate::policy::class_of;

/// What outlives an attempt.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::engine) struct PhaseMemory {
    /// What the person does beside the run.
    pub side_work: SideWork,
    pub listed: ListedProject,
    /// Errors of the last build, if it failed.
    pub errors: Option<String>,
    /// What the person said.
    pub person_messages: Vec<(Option<AgentName>, String)>,
    pub model: ModelMemory,
    /// What was produced so far.
    pub board: Blackboard,
    /// The plan as it is now, and how far it is.
    pub plan: PlanTrack,
    /// Documents that came with the task.
    pub documents: Vec<Document>,
    /// Who takes part.
    pub team: TeamMemory,
    /// The runs before this one.
    pub earlier: EarlierRuns,
    /// Files the person wants in the context or out of it.
    pub pins: Pins,
}

/// The project as it was listed last.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::engine) struct ListedProject {
    pub files: Vec<ProjectFile>,
    pub signatures: Vec<FileSignatures>,
}

/// Who takes part, as far as it is not the team's file that says so.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::engine) struct TeamMemory {
    /// The team of the next run, once it is known.
    pub next: Option<Arc<Team>>,
    /// The table that chooses who speaks in this run.
    pub table: Option<Arc<PolicyTable>>,
    /// Name of the session.
    pub session: String,
}

impl TeamMemory {
    /// The table that is to be recorded before the phase begins.
    pub fn due(&self, phase: &Phase) -> Option<Event> {
        let SpeakerSelection::Policy(Some(table)) = &phase.selection else { return None };
        let table = self.table.is_none().then(|| Box::new(PolicyTable::clone(table)))?;
        Some(Event::Turn(TurnEvent::PolicyTaken(table)))
    }

    /// A table was recorded.
    pub fn take(&mut self, table: &PolicyTable) {
        self.table = Some(Arc::new(table.clone()));
    }

    /// Lets the table choose in an attempt of that run, if one chooses in its phase.
    pub fn teach(&self, attempt: &mut Attempt, phase: &Phase, (run, task): (u32, &str)) {
        if let (SpeakerSelection::Policy(_), Some(table)) = (&phase.selection, &self.table) {
            let salt = self.salt(run, attempt.phase, attempt.number);
            attempt.learned(Arc::clone(table), class_of(task), salt);
        }
    }

    /// A number of its own for each attempt of each phase of each run of each session.
    fn salt(&self, run: u32, phase: usize, attempt: u32) -> u64 {
        let text = format!("{}\n{run} {phase} {attempt}", self.session);
        let hash = Sha256::digest(text.as_bytes());
        hash.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}

/// Who answers, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::engine) struct ModelMemory {
    /// What the provider wants back.
    pub state: Option<String>,
    /// How to get the model again that was chosen last.
    pub provider: Option<String>,
    /// Whether the person can choose another one.
    pub others: OtherModels,
    /// The model that answered last, as its service names it.
    pub name: Option<String>,
}

impl ModelMemory {
    /// Notes whether a service answers: the setup names its profile then.
    pub fn set_profile(&mut self, provider: &str) {
        self.others = match provider.starts_with("profile:") {
            true => OtherModels::Some,
            false => OtherModels::None,
        };
    }

    /// Another one answers from here on.
    pub fn change_to(&mut self, provider: &str) {
        *self = Self { provider: Some(provider.to_owned()), ..Self::default() };
        self.set_profile(provider);
    }
}

impl PhaseMemory {
    /// Begins the next run: what was said and made for the one before is behind it.
    pub fn start_run(&mut self, before: (&str, Option<&SessionOutcome>), start: &RunStart) {
        self.earlier.end_run(before.0, before.1, &start.changed);
        let task = &start.task;
        self.person_messages.clear();
        self.errors = None;
        self.team.table = None;
        self.plan = PlanTrack::default();
        self.board.start_run();
        self.board.post(ArtifactKind::Task, task, None, task.clone());
    }

    /// Opens the steps again that an answer sends back; those that were sent back too often need
    /// attention. Tells whether there is a step to carry out.
    pub fn send_back(&mut self, rules: &SendBack) -> bool {
        let answer = self.board.forget_answer(&rules.after);
        let entries = answer.as_ref().and_then(|it| it.get(&rules.field)?.as_array());
        let step = |entry: &Value| {
            let step = usize::try_from(entry.get("step")?.as_u64()?).ok()?.checked_sub(1)?;
            Some((step, entry.get("reason")?.as_str()?.to_owned()))
        };
        let steps: Vec<(usize, String)> = entries.into_iter().flatten().filter_map(step).collect();
        let report = rules.report.as_ref().zip(answer.as_ref());
        let points = report.and_then(|(field, answer)| answer.get(field)?.as_array());
        let is_missing = |point: &&Value| point.get("state").is_some_and(|it| it == "missing");
        let missing = points.into_iter().flatten().filter(is_missing);
        let missing = missing.filter_map(|entry| entry.get("point")?.as_str());
        self.plan.report(missing.map(str::to_owned).collect());
        self.plan.send_back(&steps, rules.most)
    }

    /// Begins the chat of an attempt: the task, its documents, the parts its phase asks for, the
    /// step that it is about while `others` are carried out in other chats, and what the person has
    /// said so far. Gives its number on the blackboard.
    pub fn open_chat(
        &mut self,
        task: &str,
        parts: &[ContextPart],
        (step, others): (Option<usize>, &BTreeSet<usize>),
        chat: &mut Chat,
    ) -> u32 {
        let number = self.board.begin_chat();
        chat.tell(None, task.to_owned());
        if let Some(earlier) = self.earlier.words() {
            chat.tell(None, earlier);
        }
        for document in &self.documents {
            chat.tell(None, chat::document(document));
        }
        for result in self.board.team_results() {
            chat.tell(None, result.clone());
        }
        for part in parts {
            let text = match part {
                ContextPart::Files => chat::file_list(&self.listed.files),
                ContextPart::BuildErrors => {
                    self.errors.as_ref().map(|errors| chat::build_errors(errors))
                }
                ContextPart::Plan => self.plan.in_words(others),
                ContextPart::Signatures => chat::signatures(&self.listed.signatures),
            };
            if let Some(text) = text {
                chat.tell(None, text);
            }
        }
        if let Some(text) = step.and_then(|step| self.plan.step_in_words(step)) {
            chat.tell(None, text);
        }
        for (to, text) in &self.person_messages {
            chat.tell(to.clone(), text.clone());
        }
        number
    }
}
