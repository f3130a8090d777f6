//! What the header shows: task, phase, speaker, board, tokens, and whether the run goes on.

use crate::model::{
    AgentName, BoardEvent, BoardInfo, Budget, Event, ModelEvent, PersonEvent, PhaseEvent,
    ProposalEvent, QuestionId, Record, SandboxLevel, SessionEvent, SessionOutcome, Timestamp,
    TurnEvent, TurnId, Usage, UserError, event::SessionStart,
};

/// The header's facts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Head {
    /// What the session is about; `None` before the first record.
    pub start: Option<SessionStart>,
    /// The runs of the session, the first one first.
    pub runs: Vec<RunView>,
    /// The phase and attempt that runs or ran last.
    pub phase: Option<PhaseView>,
    /// Who speaks now, whoever began first at the start.
    pub speakers: Vec<Speaker>,
    /// Tokens so far.
    pub usage: Usage,
    /// What the screen calls the model that answers; `None`: as the session began.
    pub model: Option<String>,
    /// How to get the model that was chosen again; `None`: as the session began.
    pub provider: Option<String>,
    /// What the session may use.
    pub budget: Budget,
    /// The board that is connected.
    pub board: Option<BoardInfo>,
    /// How strong the sandbox around agents' programs is; `None` until it was tried.
    pub sandbox: Option<SandboxLevel>,
    /// The question that waits for the person.
    pub question: Option<PersonQuestion>,
    /// Whether the run goes on.
    pub state: RunState,
}

/// A run of the session.
#[derive(Debug, Clone, PartialEq)]
pub struct RunView {
    /// The person's request.
    pub task: String,
    /// Name of the team.
    pub team: String,
    pub began_at: Timestamp,
    /// How and when it ended; `None` while it goes on.
    pub ended: Option<(SessionOutcome, Timestamp)>,
}

impl RunView {
    fn new((task, team): (&str, &str), began_at: Timestamp) -> Self {
        Self { task: task.to_owned(), team: team.to_owned(), began_at, ended: None }
    }
}

/// A phase, or one attempt of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhaseView {
    /// Name in the team's file.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// Counted from 1.
    pub attempt: u32,
    /// How many there may be.
    pub max_attempts: u32,
}

/// An agent's turn that is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Speaker {
    pub agent: AgentName,
    pub turn: TurnId,
    pub since: Timestamp,
}

/// A question to the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonQuestion {
    pub id: QuestionId,
    /// Who asks; `None`: the program.
    pub agent: Option<AgentName>,
    pub text: String,
    /// Answers to choose from; empty: free text.
    pub options: Vec<String>,
}

/// Whether the run goes on.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum RunState {
    /// No record yet.
    #[default]
    Empty,
    Running,
    /// Held by the person.
    Paused,
    /// Asked to stop, not there yet.
    Stopping,
    Ended(SessionOutcome),
    /// Over, because nothing can be recorded from now on; so no record says it. What waits can be
    /// taken up again later.
    BrokenOff(UserError),
}

impl RunState {
    /// Whether nobody works any more.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        matches!(self, Self::Ended(_) | Self::BrokenOff(_))
    }
}

/// What sessions call a model that is a recording.
const SCRIPTED: &str = "scripted model";

impl Head {
    /// What the screen calls the model that answers now; `None` before the session has begun.
    #[must_use]
    pub fn model_now(&self) -> Option<&str> {
        let start = self.start.as_ref()?;
        Some(self.model.as_ref().unwrap_or(&start.model))
    }

    /// Whether a recording answers, whatever it is told.
    #[must_use]
    pub fn is_scripted(&self) -> bool {
        self.model_now() == Some(SCRIPTED)
    }

    /// The run that goes on or was the last one.
    #[must_use]
    pub fn run(&self) -> Option<&RunView> {
        self.runs.last()
    }

    /// Who speaks; of several the one that began last.
    #[must_use]
    pub fn speaker(&self) -> Option<&Speaker> {
        self.speakers.last()
    }

    /// Name of the profile whose model answers; `None`: a script does.
    #[must_use]
    pub fn profile(&self) -> Option<&str> {
        let name = self.provider()?.strip_prefix("profile:")?;
        Some(name.split('/').next().unwrap_or(name))
    }

    /// What answers now, as sessions name it, e.g. `script:blink` or `profile:mine`.
    #[must_use]
    pub fn provider(&self) -> Option<&str> {
        let began = self.start.as_ref().map(|start| start.parts.provider.as_str());
        self.provider.as_deref().or(began)
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each event")]
    pub(super) fn apply(&mut self, record: &Record) {
        match &record.event {
            Event::Session(SessionEvent::Started(start)) => {
                self.start = Some(SessionStart::clone(start));
                self.state = RunState::Running;
                self.runs.push(RunView::new((&start.task, &start.team), record.at));
            }
            Event::Session(SessionEvent::RunStarted(start)) => {
                self.state = RunState::Running;
                self.phase = None;
                self.runs.push(RunView::new((&start.task, &start.team), record.at));
            }
            Event::Session(SessionEvent::Resumed { .. }) => {
                // A session whose last run is over waits for the next one.
                if !matches!(self.state, RunState::Ended(_)) {
                    self.state = RunState::Running;
                }
                self.speakers.clear();
                self.question = None;
                self.board = None;
            }
            Event::Session(SessionEvent::Sandboxed { level, .. }) => self.sandbox = Some(*level),
            Event::Session(SessionEvent::Ended { outcome }) => {
                self.state = RunState::Ended(outcome.clone());
                if let Some(run) = self.runs.last_mut() {
                    run.ended = Some((outcome.clone(), record.at));
                }
                self.speakers.clear();
                self.question = None;
            }
            Event::Phase(PhaseEvent::Started { phase, title, attempt, max_attempts, .. }) => {
                self.phase = Some(PhaseView {
                    name: phase.clone(),
                    title: title.clone(),
                    attempt: *attempt,
                    max_attempts: *max_attempts,
                });
            }
            Event::Turn(TurnEvent::Started { turn, agent, .. }) => {
                let (agent, since) = (agent.clone(), record.at);
                self.speakers.push(Speaker { agent, turn: *turn, since });
            }
            Event::Turn(TurnEvent::Ended { turn, .. }) => {
                self.speakers.retain(|speaker| speaker.turn != *turn);
            }
            Event::Turn(TurnEvent::ModelAnswered { usage, .. })
            | Event::Proposal(ProposalEvent::InquiryEnded { usage, .. }) => {
                self.usage += *usage;
            }
            Event::Model(event) => match event {
                ModelEvent::Named { model } => self.model = Some(model.clone()),
                ModelEvent::Chosen { label, provider } => {
                    self.model = Some(label.clone());
                    self.provider = Some(provider.clone());
                }
                ModelEvent::Budgeted(budget) => self.budget = *budget,
                ModelEvent::Summarised(summary) => self.usage += summary.usage,
                _ => {}
            },
            Event::Board(BoardEvent::Connected(board)) => self.board = Some(board.clone()),
            Event::Board(BoardEvent::Lost { port, .. }) => {
                self.board.take_if(|board| board.port == *port);
            }
            Event::Person(PersonEvent::Asked { question, agent, text, options, .. }) => {
                self.question = Some(PersonQuestion {
                    id: *question,
                    agent: agent.clone(),
                    text: text.clone(),
                    options: options.clone(),
                });
            }
            Event::Person(PersonEvent::Answered { .. }) => self.question = None,
            Event::Person(PersonEvent::Paused) => self.state = RunState::Paused,
            Event::Person(PersonEvent::Unpaused) => self.state = RunState::Running,
            Event::Person(PersonEvent::StopRequested) => self.state = RunState::Stopping,
            Event::Files(_)
            | Event::Phase(_)
            | Event::Turn(_)
            | Event::Proposal(_)
            | Event::Build(_)
            | Event::Test(_)
            | Event::Log(_)
            | Event::Port(_)
            | Event::Person(_)
            | Event::Team(_) => {}
        }
    }
}
