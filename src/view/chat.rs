//! What was said and done, in order, from the records.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::discriminant;
use std::sync::{Arc, LazyLock};

use serde_json::Value;

use super::entry::{
    CallState, CallView, ChatEntry, RetryView, SummarisedView, SummaryView, TrimView, TurnPart,
    TurnView,
};
use super::plan::{self, FilePlan, PlannedState};
use super::review::Review;
use super::ruled::RuledView;
use super::waits::Waits;
use super::work::Work;

use crate::model::event::RunStart;
use crate::model::{
    AgentName, CallId, ChatSummary, Event, ModelEvent, PersonEvent, PhaseEvent, ProjectPath,
    ProposalEvent, ProposalId, QuestionId, Record, SessionEvent, SummarisedTurn, TeamEvent,
    Timestamp, TurnEvent, TurnId, TurnStop, Usage, UserError, event::Level,
};

/// Entries that are kept whole; older ones are in the journal.
pub const KEPT: usize = 6_000;

/// Reasons that are remembered, so that none is told twice.
const REASONS: usize = 500;

/// What stands in the place of each older entry. One for all: a long session has a million.
static OLDER: LazyLock<Arc<ChatEntry>> = LazyLock::new(|| {
    let notice = UserError::new(
        "An older part of the conversation is not kept in memory",
        "the session is very long",
        "Go back on the timeline of `firmhand replay` to read it.",
    );
    Arc::new(ChatEntry::Notice { level: Level::Info, notice })
});

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chat {
    /// The oldest comes first.
    pub entries: Vec<Arc<ChatEntry>>,
    /// Entries before this place are older ones, save those that were open.
    shed: usize,
    /// Turns that have not ended, by their place in `entries`.
    open_turns: BTreeMap<TurnId, usize>,
    /// Parts that each open turn had when its model call under way began.
    settled_parts: BTreeMap<TurnId, usize>,
    /// Place of the newest question in `entries`.
    question: Option<usize>,
    /// Whom somebody has chosen in this run, and why.
    reasons: BTreeSet<(AgentName, String)>,
    /// Place of the newest plan in `entries`.
    plan: Option<usize>,
    /// Plans whose names are being checked.
    unchecked: BTreeMap<CallId, FilePlan>,
    /// Proposals for files of the plan.
    planned: BTreeMap<ProposalId, ProjectPath>,
    /// Calls without an answer: place of the turn, place of the part in it.
    open_calls: BTreeMap<CallId, (usize, usize)>,
    /// How long calls waited for decisions.
    waits: Waits,
    /// Which steps of a plan have their own chats now.
    lanes: OpenLanes,
}

/// The chats of steps that are open side by side.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct OpenLanes {
    open: BTreeSet<u32>,
    /// Whether there were several since none was open.
    several: bool,
}

impl OpenLanes {
    fn begin(&mut self, step: Option<u32>) {
        match step {
            Some(step) => _ = self.open.insert(step),
            None => self.open.clear(),
        }
        self.several = self.open.len() > 1 || (self.several && !self.open.is_empty());
    }

    fn end(&mut self, step: Option<u32>) {
        // Older records do not name the step; there was one at a time.
        match step {
            Some(step) => _ = self.open.remove(&step),
            None => self.open.clear(),
        }
        self.several &= !self.open.is_empty();
    }

    /// The step, where it has to be told which one it is.
    fn reported_step(&self, step: Option<u32>) -> Option<u32> {
        step.filter(|_| self.several)
    }
}

impl Chat {
    #[expect(clippy::too_many_lines, reason = "one arm for each event")]
    pub(super) fn apply(&mut self, record: &Record, review: &Review, work: &Work) {
        let at = record.at;
        match &record.event {
            Event::Phase(PhaseEvent::Started { title, attempt, max_attempts, step, .. }) => {
                self.lanes.begin(*step);
                self.push(ChatEntry::PhaseStarted {
                    title: title.clone(),
                    attempt: *attempt,
                    max_attempts: *max_attempts,
                    at,
                });
            }
            Event::Phase(PhaseEvent::Ended { phase, attempt, outcome, step }) => {
                let step_state = self.lanes.reported_step(*step);
                self.lanes.end(*step);
                self.push(ChatEntry::PhaseEnded {
                    phase: match step_state {
                        Some(step) => format!("{phase} {step}"),
                        None => phase.clone(),
                    },
                    attempt: *attempt,
                    outcome: outcome.clone(),
                })
            }
            Event::Turn(TurnEvent::SpeakerChosen { agent, reason, choice: None, .. }) => {
                self.choose(agent, reason);
            }
            // A learned policy gives its values anew each time.
            Event::Turn(TurnEvent::SpeakerChosen { agent, reason, choice: Some(_), .. }) => {
                self.push(ChatEntry::Choice { agent: agent.clone(), reason: reason.clone() });
            }
            Event::Turn(TurnEvent::Started { turn, agent, step }) => {
                self.start_turn(*turn, agent, self.lanes.reported_step(*step), at);
            }
            Event::Turn(TurnEvent::TextAdded { turn, text }) => {
                self.go_on(*turn, at);
                self.add_words(*turn, text, TurnPart::Text);
            }
            Event::Turn(TurnEvent::ToolCalled { turn, call, tool, args }) => {
                let state = CallState::Running { since: at };
                if tool.as_str() == plan::TOOL {
                    self.unchecked.extend(FilePlan::read(args).map(|plan| (*call, plan)));
                }
                let view = CallView { call: *call, tool: tool.clone(), args: args.clone(), state };
                self.go_on(*turn, at);
                self.add_call(*turn, view);
            }
            Event::Turn(TurnEvent::ToolAnswered { call, result, millis }) => {
                let plan = self.unchecked.remove(call);
                let is_taken = result.get("ok").and_then(Value::as_bool) == Some(true);
                let millis = millis.saturating_sub(self.waits.take(*call, at));
                self.answer_call(*call, CallState::Done { result: result.clone(), millis });
                if let Some(plan) = plan.filter(|_| is_taken) {
                    self.take_plan(plan);
                }
            }
            Event::Turn(TurnEvent::ModelAnswered { turn, usage, .. }) => {
                let parts = self.with_turn(*turn, |view| {
                    view.usage += *usage;
                    view.parts.len()
                });
                self.settled_parts.extend(parts.map(|parts| (*turn, parts)));
            }
            Event::Model(event) => self.apply_model(event, at),
            Event::Turn(TurnEvent::Ended { turn, stop }) => {
                self.with_turn(*turn, |view| view.ended = Some((stop.clone(), at)));
                self.open_turns.remove(turn);
                self.settled_parts.remove(turn);
            }
            Event::Proposal(ProposalEvent::Made(proposal)) => {
                self.waits.begin(proposal, at);
                self.push_ruled(RuledView::open(proposal, at));
                let path = proposal.change.path();
                let planned = path.and_then(|path| self.plan_mut()?.file_mut(path));
                if let Some(file) = planned {
                    if file.state != PlannedState::Done {
                        file.state = PlannedState::Proposed;
                    }
                    let path = file.path.clone();
                    self.planned.insert(proposal.id, path);
                }
            }
            Event::Proposal(ProposalEvent::Decided { proposal, .. }) => {
                self.waits.end(*proposal, at)
            }
            Event::Proposal(ProposalEvent::Settled { proposal, outcome }) => {
                self.waits.end(*proposal, at);
                let view = review.get(*proposal);
                let decided = view.and_then(|view| view.decision.as_ref().map(|made| (view, made)));
                self.push_ruled(decided.and_then(|(view, (decision, _))| {
                    let subject = (view.proposal.id, &view.proposal.change);
                    RuledView::settled(subject, decision, outcome, at)
                }));
                if let Some(path) = self.planned.remove(proposal)
                    && let Some(file) = self.plan_mut().and_then(|plan| plan.file_mut(&path))
                {
                    file.settle(outcome);
                }
            }
            Event::Person(PersonEvent::Wrote { to, text }) => {
                self.push(ChatEntry::Person { to: to.clone(), text: text.clone(), at });
            }
            Event::Person(PersonEvent::SpeakerNamed { agent }) => {
                let text = format!("{agent} speaks next");
                self.push(ChatEntry::Person { to: None, text, at });
            }
            Event::Person(PersonEvent::Asked { question, agent, text, options, .. }) => {
                self.question = Some(self.entries.len());
                self.replace_older_question(agent.as_ref(), text);
                self.push(ChatEntry::Question {
                    id: *question,
                    agent: agent.clone(),
                    text: text.clone(),
                    options: options.clone(),
                    answer: None,
                })
            }
            Event::Person(PersonEvent::Answered { question, answer }) => {
                self.answer_question(*question, answer)
            }
            Event::Person(PersonEvent::Noticed { level, notice }) => {
                self.push(ChatEntry::Notice { level: *level, notice: notice.clone() });
            }
            Event::Session(SessionEvent::RunStarted(start)) => {
                // The files of an earlier run's plan are not those of this one.
                self.plan = None;
                self.lanes = OpenLanes::default();
                self.reasons.clear();
                self.push(ChatEntry::RunStarted { start: RunStart::clone(start), at });
            }
            Event::Session(SessionEvent::Resumed { .. }) => {
                self.waits.restart(at);
                self.push(ChatEntry::Resumed { at });
            }
            Event::Session(SessionEvent::Ended { outcome }) => {
                let work = work.run().filter(|work| !work.is_empty()).cloned();
                self.push(ChatEntry::Ended { outcome: outcome.clone(), work });
            }
            // The blackboard is not a part of the conversation, save why an agent is asked again.
            Event::Team(TeamEvent::ArtifactPosted(artifact)) => {
                if let Some((agent, fault)) = artifact.refusal() {
                    self.refuse(agent, fault);
                }
            }
            Event::Team(fact) => self.push(ChatEntry::Fact { fact: fact.clone(), at }),
            Event::Session(_)
            // The table is not a part of the conversation; each choice by it is.
            | Event::Turn(TurnEvent::PolicyTaken(_))
            | Event::Files(_)
            | Event::Proposal(_)
            | Event::Build(_)
            | Event::Test(_)
            | Event::Log(_)
            | Event::Board(_)
            | Event::Port(_)
            | Event::Person(_) => {}
        }
    }

    /// What was said in this run already is not said again: neither a reason that always is the
    /// same, nor an order that stands in the words of the agent who gave it.
    fn choose(&mut self, agent: &AgentName, reason: &str) {
        if self.reasons.len() >= REASONS {
            self.reasons.clear();
        }
        if !self.reasons.insert((agent.clone(), reason.to_owned())) || self.has_ordered(reason) {
            return;
        }
        self.push(ChatEntry::Choice { agent: agent.clone(), reason: reason.to_owned() });
    }

    /// Whether the last turn says what `reason` quotes.
    fn has_ordered(&self, reason: &str) -> bool {
        let quoted = reason.split_once('“').and_then(|(_, rest)| rest.rsplit_once('”'));
        let Some((quoted, _)) = quoted else { return false };
        let quoted = quoted.trim_end_matches('…').split_whitespace().collect::<Vec<_>>();
        let last = self.entries.iter().rev().find_map(|entry| entry.turn());
        let texts = last.into_iter().flat_map(|turn| turn.parts.iter().filter_map(TurnPart::text));
        let words: Vec<&str> = texts.flat_map(str::split_whitespace).collect();
        !quoted.is_empty() && words.join(" ").contains(&quoted.join(" "))
    }

    fn push_ruled(&mut self, ruled: Option<RuledView>) {
        if let Some(ruled) = ruled {
            self.push(ChatEntry::Ruled(ruled));
        }
    }

    /// A new plan goes on where the one before was.
    fn take_plan(&mut self, mut plan: FilePlan) {
        if let Some(before) = self.plan_mut() {
            plan.go_on_from(before);
        }
        self.plan = Some(self.entries.len());
        self.push(ChatEntry::FilePlan(plan));
    }

    /// The newest list of files to write.
    #[must_use]
    pub fn file_plan(&self) -> Option<&FilePlan> {
        match &**self.entries.get(self.plan?)? {
            ChatEntry::FilePlan(plan) => Some(plan),
            _ => None,
        }
    }

    /// The newest plan.
    fn plan_mut(&mut self) -> Option<&mut FilePlan> {
        match Arc::make_mut(self.entries.get_mut(self.plan?)?) {
            ChatEntry::FilePlan(plan) => Some(plan),
            _ => None,
        }
    }

    pub(super) fn break_off(&mut self, notice: UserError) {
        self.push(ChatEntry::Notice { level: Level::Error, notice });
    }

    fn push(&mut self, entry: ChatEntry) {
        self.entries.push(Arc::new(entry));
        self.shed(KEPT);
    }

    /// Gives up what stands before the newest `kept` entries, save what may still change.
    fn shed(&mut self, kept: usize) {
        let until = self.entries.len().saturating_sub(kept);
        for place in self.shed..until {
            // What has not ended after so much else never will.
            let is_open = place + 4 * KEPT > self.entries.len()
                && (self.plan == Some(place)
                    || self.open_turns.values().any(|open| *open == place));
            if let (Some(entry), false) = (self.entries.get_mut(place), is_open) {
                *entry = Arc::clone(&OLDER);
            }
        }
        self.shed = self.shed.max(until);
    }

    /// Takes the older entries out and tells how many they were, after giving up all but the newest
    /// `kept`: a copy of what is left takes little memory.
    #[must_use]
    pub fn pack(&mut self, kept: usize) -> usize {
        self.shed(kept);
        let older = self.entries.iter().take_while(|entry| Arc::ptr_eq(entry, &OLDER)).count();
        self.entries = self.entries.split_off(older);
        older
    }

    /// Puts back what [`Chat::pack`] took out.
    pub fn unpack(&mut self, older: usize) {
        self.entries.splice(0..0, std::iter::repeat_n(Arc::clone(&OLDER), older));
    }

    fn start_turn(&mut self, turn: TurnId, agent: &AgentName, step: Option<u32>, at: Timestamp) {
        self.open_turns.insert(turn, self.entries.len());
        self.push(ChatEntry::Turn(TurnView {
            turn,
            agent: agent.clone(),
            step,
            at,
            parts: Vec::new(),
            usage: Usage::default(),
            ended: None,
        }));
    }

    /// What a turn says after a question stands below the question.
    fn go_on(&mut self, turn: TurnId, at: Timestamp) {
        let Some(place) = self.open_turns.get(&turn).copied() else { return };
        if self.question.is_none_or(|question| question < place) {
            return;
        }
        let settled = self.settled_parts.get(&turn).copied().unwrap_or(0);
        let before = self.turn_at(place).filter(|view| view.parts.len() <= settled);
        // Nothing is torn apart while it comes.
        let Some(before) = before else { return };
        if !before.parts.is_empty() {
            before.ended = Some((TurnStop::Done, at));
            let (agent, step) = (before.agent.clone(), before.step);
            self.settled_parts.remove(&turn);
            self.start_turn(turn, &agent, step, at);
        }
    }

    /// The last answer of an agent cannot be used.
    fn refuse(&mut self, agent: &str, fault: &str) {
        let mut open = self.open_turns.iter().filter(|(turn, place)| {
            let view = self.entries.get(**place).and_then(|entry| entry.turn());
            let parts = view.filter(|view| view.agent.as_str() == agent).map(|it| it.parts.len());
            parts.is_some_and(|parts| self.settled_parts.get(turn) == Some(&parts))
        });
        if let Some(turn) = open.next_back().map(|(turn, _)| *turn) {
            self.add_settled(turn, TurnPart::Refused(fault.to_owned()));
        }
    }

    fn with_turn<R>(&mut self, turn: TurnId, change: impl FnOnce(&mut TurnView) -> R) -> Option<R> {
        let place = *self.open_turns.get(&turn)?;
        self.turn_at(place).map(change)
    }

    fn turn_at(&mut self, place: usize) -> Option<&mut TurnView> {
        Arc::make_mut(self.entries.get_mut(place)?).turn_mut()
    }

    /// Adds words to what a turn is saying, or begins a part with them.
    fn add_words(&mut self, turn: TurnId, words: &str, kind: fn(String) -> TurnPart) {
        let settled = self.settled_parts.get(&turn).copied().unwrap_or(0);
        let is_alike = |part: &TurnPart| discriminant(part) == discriminant(&kind(String::new()));
        self.with_turn(turn, |view| {
            let is_fresh = view.parts.len() <= settled;
            match view.parts.last_mut().filter(|part| !is_fresh && is_alike(part)) {
                Some(TurnPart::Text(so_far) | TurnPart::Reasoning(so_far)) => {
                    so_far.push_str(words)
                }
                _ => view.parts.push(kind(words.to_owned())),
            }
        });
    }

    fn apply_model(&mut self, event: &ModelEvent, at: Timestamp) {
        match event {
            ModelEvent::Reasoned { turn, text } => {
                self.go_on(*turn, at);
                self.add_words(*turn, text, TurnPart::Reasoning);
            }
            ModelEvent::Faulted { turn, attempt, most, wait_millis, fault } => {
                self.take_back(*turn);
                // Failures in a row take one line, which counts.
                self.with_turn(*turn, |view| {
                    if matches!(view.parts.last(), Some(TurnPart::Retry(_))) {
                        view.parts.pop();
                    }
                });
                let due = Timestamp(at.0.saturating_add_unsigned(*wait_millis));
                let retry = RetryView { attempt: *attempt, most: *most, due, fault: fault.clone() };
                self.add_settled(*turn, TurnPart::Retry(retry));
            }
            ModelEvent::Trimmed { turn, left_out, tokens, window } => {
                let left_out = left_out.clone();
                let trim = TrimView { left_out, tokens: *tokens, window: *window };
                self.add_settled(*turn, TurnPart::Trimmed(trim));
            }
            ModelEvent::Summarised(summary) => {
                let part = self.summary(summary);
                self.with_turn(summary.turn, |view| view.usage += summary.usage);
                self.add_settled(summary.turn, part);
            }
            ModelEvent::Chosen { label, .. } => {
                // What comes with the start of a run was chosen for its request.
                let is_at_start = self
                    .entries
                    .last()
                    .is_some_and(|entry| matches!(&**entry, ChatEntry::RunStarted { .. }));
                let why = match is_at_start {
                    true => "the model before has no answer to this request",
                    false => "you chose it",
                };
                let notice = UserError::new(format!("{label} answers from now on"), why, "");
                self.push(ChatEntry::Notice { level: Level::Info, notice });
            }
            ModelEvent::Named { .. } | ModelEvent::Budgeted(_) => {}
        }
    }

    fn summary(&self, summary: &ChatSummary) -> TurnPart {
        let turns = summary.replaces.iter().map(|&SummarisedTurn { turn, messages }| {
            let found = self.place_of(turn).and_then(|place| self.entries.get(place)?.turn());
            let about = found.map(|found| (found.agent.clone(), found.begins()));
            SummarisedView { turn, messages, about }
        });
        TurnPart::Summary(SummaryView { turns: turns.collect(), summary: summary.clone().into() })
    }

    /// Place of the entry of a turn that is still kept.
    #[must_use]
    pub fn place_of(&self, wanted: TurnId) -> Option<usize> {
        let is_it = |entry: &Arc<ChatEntry>| entry.turn().is_some_and(|it| it.turn == wanted);
        self.entries.iter().rposition(is_it)
    }

    /// Adds a part that stays whatever becomes of the model call under way.
    fn add_settled(&mut self, turn: TurnId, part: TurnPart) {
        let parts = self.with_turn(turn, |view| {
            view.parts.push(part);
            view.parts.len()
        });
        self.settled_parts.extend(parts.map(|parts| (turn, parts)));
    }

    /// Takes back what came of the model call under way.
    fn take_back(&mut self, turn: TurnId) {
        let settled = self.settled_parts.get(&turn).copied().unwrap_or(0);
        let Some(place) = self.open_turns.get(&turn).copied() else { return };
        self.with_turn(turn, |view| view.parts.truncate(settled));
        self.open_calls.retain(|_, (entry, part)| *entry != place || *part < settled);
    }

    fn add_call(&mut self, turn: TurnId, call: CallView) {
        let id = call.call;
        let part = self.with_turn(turn, |view| {
            view.parts.push(TurnPart::Call(call));
            view.parts.len() - 1
        });
        if let (Some(part), Some(place)) = (part, self.open_turns.get(&turn)) {
            self.open_calls.insert(id, (*place, part));
        }
    }

    fn answer_call(&mut self, call: CallId, state: CallState) {
        let Some((place, part)) = self.open_calls.remove(&call) else { return };
        let Some(view) = self.turn_at(place) else { return };
        if let Some(TurnPart::Call(view)) = view.parts.get_mut(part) {
            view.state = state;
        }
    }

    /// What was asked before the session was opened again, and is asked once more, waits at one place.
    fn replace_older_question(&mut self, by: Option<&AgentName>, asked: &str) {
        let is_opening = |entry: &Arc<ChatEntry>| matches!(**entry, ChatEntry::Resumed { .. });
        let Some(opened) = self.entries.iter().rposition(is_opening) else { return };
        let is_older = |entry: &&mut Arc<ChatEntry>| {
            matches!(&***entry, ChatEntry::Question { agent, text, answer: None, .. }
                if agent.as_ref() == by && text == asked)
        };
        if let Some(entry) = self.entries[..opened].iter_mut().rev().find(is_older) {
            let notice = UserError::new("A question waited here", "it is asked again below", "");
            *Arc::make_mut(entry) = ChatEntry::Notice { level: Level::Info, notice };
        }
    }

    fn answer_question(&mut self, question: QuestionId, given: &str) {
        let asked = |entry: &&mut Arc<ChatEntry>| matches!(&***entry, ChatEntry::Question { id, .. } if *id == question);
        if let Some(entry) = self.entries.iter_mut().rev().find(asked)
            && let ChatEntry::Question { answer, .. } = Arc::make_mut(entry)
        {
            *answer = Some(given.to_owned());
        }
    }
}

#[cfg(test)]
#[path = "chat_tests.rs"]
mod tests;
