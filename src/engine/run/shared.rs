//! What a run and the clerk who takes the person's wishes have in common.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};

use super::open_calls::OpenCallsSender;
use crate::engine::attempt::cited;
use crate::engine::progress::RunProgress;
use crate::engine::progress::time_limits::least_time_left;
use crate::engine::setup::{AgentSlots, EngineSetup};
use crate::gate::{Gate, WorkTime};
use crate::model::event::Level;
use crate::model::{
    Budget, Event, Ledger, ModelEvent, PersonEvent, SessionEvent, TurnEvent, TurnStop, UserError,
};
use crate::provider::Provider;
use crate::toolchain::StopSwitch;

/// What the run and the clerk who takes the person's wishes work on together.
pub(in crate::engine) struct Shared {
    progress: Mutex<RunProgress>,
    pub ledger: Arc<dyn Ledger>,
    /// Told when a wish may let the run go on.
    pub changed: Notify,
    /// Cancelled when the person stops the run.
    pub stop: StopSwitch,
    /// Who answers and who takes part in the present run.
    cast: Mutex<Cast>,
    /// Takes what was said about the run into account.
    gate: Arc<Gate>,
    /// Calls that models are still writing.
    pub open_calls: OpenCallsSender,
    /// Recorded before the next run of a session whose last run was over when it was opened again.
    resumption: Mutex<Option<SessionEvent>>,
}

/// Who answers and who takes part in a run.
struct Cast {
    provider: Arc<dyn Provider>,
    agents: Arc<AgentSlots>,
}

impl WorkTime for Shared {
    fn left(&self) -> Option<Duration> {
        least_time_left(&self.progress())
    }

    fn worked(&self, time: Duration) {
        self.progress().worked(None, u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    }
}

impl Shared {
    pub fn new(progress: RunProgress, setup: &EngineSetup) -> Self {
        let agents = Arc::new(AgentSlots::new(progress.team(), &setup.tools));
        let cast = Cast { provider: Arc::clone(&setup.provider), agents };
        Self {
            progress: Mutex::new(progress),
            ledger: Arc::clone(&setup.ledger),
            changed: Notify::new(),
            stop: setup.gate.stop_switch(),
            cast: Mutex::new(cast),
            gate: Arc::clone(&setup.gate),
            open_calls: watch::Sender::new(Arc::from([])),
            resumption: Mutex::new(None),
        }
    }

    /// Leaves the record that the session goes on to [`Self::record_resumption`].
    pub fn resume_later(&self, resumed: SessionEvent) {
        *self.resumption() = Some(resumed);
    }

    /// Records that the session goes on, where that was left for later.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn record_resumption(&self) -> Result<(), UserError> {
        let resumed = self.resumption().take();
        resumed.map_or(Ok(()), |resumed| self.record(Event::Session(resumed)))
    }

    fn resumption(&self) -> MutexGuard<'_, Option<SessionEvent>> {
        self.resumption.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The progress, for a short look. Never held across an await.
    pub fn progress(&self) -> MutexGuard<'_, RunProgress> {
        // Each fold leaves the progress whole, so a panic elsewhere does not make it wrong.
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers for the agents.
    pub fn provider(&self) -> Arc<dyn Provider> {
        Arc::clone(&self.cast().provider)
    }

    /// What each agent of the present run brings to its requests.
    pub fn agents(&self) -> Arc<AgentSlots> {
        Arc::clone(&self.cast().agents)
    }

    /// From here on, another model answers.
    pub fn replace_provider(&self, provider: Arc<dyn Provider>) {
        self.cast().provider = provider;
    }

    /// From here on, others take part.
    pub fn replace_agents(&self, agents: AgentSlots) {
        self.cast().agents = Arc::new(agents);
    }

    fn cast(&self) -> MutexGuard<'_, Cast> {
        // Every change leaves it whole.
        self.cast.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records an event and folds it in, in one order for everyone.
    pub fn record(&self, event: Event) -> Result<(), UserError> {
        self.record_with(|_| Some(event))
    }

    /// Records what `make` makes of the progress, if anything, with nothing in between.
    pub fn record_with(
        &self,
        make: impl FnOnce(&RunProgress) -> Option<Event>,
    ) -> Result<(), UserError> {
        let mut progress = self.progress();
        let Some(event) = make(&progress) else { return Ok(()) };
        // Looked for while the turn is open still.
        let remark = remark_at_end(&progress, &event);
        self.take(&mut progress, event)?;
        let Some(notice) = remark else { return Ok(()) };
        let noticed = PersonEvent::Noticed { level: Level::Warning, notice };
        self.take(&mut progress, Event::Person(noticed))
    }

    fn take(&self, progress: &mut RunProgress, event: Event) -> Result<(), UserError> {
        // Folded first, because recording takes the event away; if that fails, the run ends.
        progress.apply(&event);
        self.gate.observe(&event);
        self.ledger.record(event).map(|_| ())
    }

    /// Sets what the session may use, where `given` says something of it and that is not known.
    pub fn change_budget(&self, given: Budget) -> Result<(), UserError> {
        self.record_with(|progress| {
            let known = progress.budget_meter().budget;
            let budget = given.or(known);
            (budget != known).then_some(Event::Model(ModelEvent::Budgeted(budget)))
        })
    }

    /// Tells the person something that is not part of the conversation.
    pub fn notice(&self, level: Level, notice: UserError) -> Result<(), UserError> {
        self.record(Event::Person(PersonEvent::Noticed { level, notice }))
    }
}

/// What the person is told of the answer of a turn that ends.
fn remark_at_end(progress: &RunProgress, event: &Event) -> Option<UserError> {
    let Event::Turn(TurnEvent::Ended { turn, stop }) = event else { return None };
    let went_well = matches!(stop, TurnStop::Done | TurnStop::Terminated(_));
    let lane = progress.lane_of_turn(*turn).filter(|_| went_well)?;
    let (lane, phase) = progress.lane(lane)?;
    cited::remark(lane.attempt.turn.as_ref()?, phase)
}
