//! What a session was before it goes on, from its records.
//!
//! A fold of records; must not keep them.

use crate::engine::Recorder;
use crate::gate::NextNumbers;
use crate::journal::{self, Damage, ReadItem, SessionDir};
use crate::model::event::{RunStart, SessionChoices, SessionStart};
use crate::model::{Budget, Event, ModelEvent, ProposalEvent, SessionEvent, TurnEvent, UserError};
use crate::view::plural;

/// What has to be known of a session before it can go on.
pub(super) struct Past {
    /// Its first record, if it is the start of a session.
    pub session: Option<Box<SessionStart>>,
    /// What the person has set for it.
    pub choices: SessionChoices,
    /// What it may use, as it was recorded last.
    pub budget: Budget,
    /// The run that began last, unless that is the first one.
    pub last_run: Option<RunStart>,
    /// Whether its last run is over.
    pub has_ended: bool,
    /// Whether the journal holds the table that chooses who speaks.
    pub has_policy: bool,
    /// The model that was chosen last.
    pub provider: Option<String>,
    pub numbers: NextNumbers,
    /// Lines that this version cannot read: how many, and the first of them.
    unread: Option<(u64, Damage)>,
}

impl Past {
    /// Reads the session, and lets the tools' state of `recorder` learn of it.
    pub fn of(dir: &SessionDir, recorder: &Recorder) -> Result<Self, UserError> {
        let mut past = Self {
            session: None,
            choices: SessionChoices::default(),
            budget: Budget::default(),
            last_run: None,
            has_ended: false,
            has_policy: false,
            provider: None,
            numbers: NextNumbers::after([]),
            unread: None,
        };
        let state = recorder.state();
        let mut is_first = true;
        journal::scan(&dir.journal(), |item, _| {
            let record = &match item {
                ReadItem::Record(record) => record,
                ReadItem::Damaged(line) => return past.pass_over(line),
            };
            state.fold(record);
            if let Event::Session(event) = &record.event
                && let Some(choices) = event.choices()
            {
                past.choices = choices.clone();
            }
            match &record.event {
                Event::Session(SessionEvent::Started(start)) if is_first => {
                    past.session = Some(start.clone())
                }
                Event::Session(SessionEvent::RunStarted(start)) => {
                    past.last_run = Some(RunStart::clone(start));
                    past.has_ended = false;
                    past.has_policy = false;
                }
                Event::Turn(TurnEvent::PolicyTaken(_)) => past.has_policy = true,
                Event::Session(SessionEvent::Ended { .. }) => past.has_ended = true,
                Event::Model(ModelEvent::Budgeted(budget)) => past.budget = *budget,
                Event::Model(ModelEvent::Chosen { provider, .. }) => {
                    past.provider = Some(provider.clone());
                }
                Event::Proposal(ProposalEvent::Made(proposal)) => past.numbers.pass(proposal),
                _ => {}
            }
            is_first = false;
        })?;
        Ok(past)
    }

    fn pass_over(&mut self, line: Damage) {
        match &mut self.unread {
            Some((count, _)) => *count += 1,
            None => self.unread = Some((1, line)),
        }
    }

    /// What cannot be read of the session, for the person; `None`: all of it can.
    pub fn unread_lines(&self) -> Option<UserError> {
        let (count, first) = self.unread.as_ref()?;
        let what = format!("{} of this session's journal cannot be read", plural(*count, "line"));
        Some(UserError::new(
            what,
            format!(
                "line {}: {}; it is damaged, or another version of firmhand wrote it. What it \
                 recorded is missing here, everything else is complete",
                first.line, first.why
            ),
            "The lines stay in the journal; the firmhand version that wrote them can read them.",
        ))
    }

    /// The session with the task and the team of its last run.
    pub fn run_to_go_on(&self, session: &SessionStart) -> SessionStart {
        match &self.last_run {
            Some(run) => {
                SessionStart { task: run.task.clone(), team: run.team.clone(), ..session.clone() }
            }
            None => session.clone(),
        }
    }
}
