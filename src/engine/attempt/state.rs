//! One attempt of a phase: its chat, whose turn it is, and what comes next in it.
//!
//! A fold of the run's own events; the same fold serves the live run and a resumed one.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::chat::{Audience, Chat};
use super::file_set::FileSet;
use super::listing::Listing;
use super::open_turn::{
    AcceptedAnswer, AfterCall, Answered, LooksUp, OpenTurn, SAVING_TOOL, TurnStage,
};
use super::plan_steps;
use super::repetition::{self, Guard};
use crate::engine::concern::Concern;
use crate::engine::speaker::next::{NextSpeaker, Speakers, Spoken};
use crate::engine::speaker::plan::Assignment;
use crate::engine::team::{
    CallResult, Exchange, Facts, LogSigns, Phase, PlanReview, SpeakerSelection, files_in,
};
use crate::model::{
    AgentName, CallId, ChatSummary, PlanItem, PolicyChoice, PolicyTable, ToolCall, ToolName,
    TurnId, TurnStop, Usage,
};
use crate::text::recover;
use crate::tools::{ASK, HAND_OFF, HandOffArgs};

/// How often an agent may call wrongly before the person is asked.
const PATIENCE: u32 = 3;

/// Words of tool errors that mean the model called wrongly, so that it has to call again.
pub(in crate::engine) const WRONG_CALLS: [&str; 4] =
    ["bad_arguments", "malformed_arguments", "unknown_tool", "tool_not_allowed"];

/// What comes next within an attempt.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::engine) enum Move {
    /// The next speaker is to be named.
    Choose(AgentName, String, Option<Box<PolicyChoice>>),
    /// The one who was named begins.
    Begin(AgentName),
    /// The model of the open turn is asked.
    AskModel,
    /// A call of the open turn is made.
    RunCall(CallId),
    /// The files a call is about to bring into the chat are to be listed.
    ListContext(CallId),
    /// A call is answered without being made.
    Answer(CallId, Value),
    /// The program makes a call itself.
    Call(ToolName, Value),
    /// The plan of the turn that ended is to be recorded.
    ShowPlan(AgentName, Vec<PlanItem>),
    /// The open turn is over.
    EndTurn(TurnStop),
    /// The attempt is over; the words say why.
    End(String),
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::engine) struct Attempt {
    /// Place of its phase in the team.
    pub phase: usize,
    /// Counted from 1.
    pub number: u32,
    /// The step of the plan that it is about, counted from 0.
    pub step: Option<usize>,
    /// What its conditions look at.
    pub facts: Facts,
    pub chat: Chat,
    /// The turn under way.
    pub turn: Option<OpenTurn>,
    speakers: Speakers,
    speaker: Option<AgentName>,
    plan: AttemptPlan,
    /// What was written and is not in the project yet.
    files: FileSet,
    ended_by: Option<String>,
    look_ups: LookUps,
}

/// The searches that begin the first turn of some agents.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct LookUps {
    /// What is to be done, in the words of the task or of its step.
    subject: String,
    /// Who has spoken.
    made: BTreeSet<AgentName>,
}

/// The plan of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct AttemptPlan {
    stage: PlanStage,
    /// Whether the person has seen a plan and let it be carried out.
    is_seen: bool,
}

/// How far the plan of an attempt is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum PlanStage {
    /// There is none, or it was looked at as far as it has to be.
    #[default]
    Settled,
    /// It is to be recorded.
    Due(AgentName, Vec<PlanItem>),
}

impl Attempt {
    /// One that has just begun.
    pub fn new(phase: usize, number: u32, step: Option<usize>) -> Self {
        Self { phase, number, step, ..Self::default() }
    }

    /// Searches are about this.
    pub fn is_about(&mut self, subject: String) {
        self.look_ups.subject = subject;
    }

    /// What comes next.
    pub fn next(&self, phase: &Phase) -> Move {
        let Some(turn) = &self.turn else { return self.next_between(phase) };
        if let Some(call) = turn.open_call().filter(|_| turn.is_complete) {
            return match &turn.answer {
                Some(answer) => Move::Answer(call.id, answer.clone()),
                None if turn.listing.is_due(call) => Move::ListContext(call.id),
                None => Move::RunCall(call.id),
            };
        }
        let work = phase.work.get(&turn.agent);
        if let Some((tool, args)) =
            work.and_then(|work| turn.fixed_call(work, (&self.files, &self.look_ups.subject)))
        {
            return Move::Call(tool, args);
        }
        if turn.is_complete || turn.work.stage != TurnStage::Asking {
            return Move::EndTurn(TurnStop::Done);
        }
        if turn.rounds > 0 {
            if let Some(why) = phase.terminate.met(&self.facts) {
                return Move::EndTurn(TurnStop::Terminated(why));
            }
            // Whoever has handed over has had its say; a further model call would only cost.
            let has_handed_over = turn.tools.get(&ToolName::new(HAND_OFF)) == Some(&true);
            if turn.rounds >= phase.limits.rounds || has_handed_over {
                return Move::EndTurn(TurnStop::Done);
            }
        }
        Move::AskModel
    }

    fn next_between(&self, phase: &Phase) -> Move {
        if let PlanStage::Due(agent, items) = &self.plan.stage {
            return Move::ShowPlan(agent.clone(), items.clone());
        }
        if let Some(why) = self.ended_by.clone().or_else(|| phase.terminate.met(&self.facts)) {
            return Move::End(why);
        }
        if let Some(agent) = &self.speaker {
            return Move::Begin(agent.clone());
        }
        match self.speakers.next(phase) {
            NextSpeaker::Speak(agent, reason) => Move::Choose(agent, reason, None),
            NextSpeaker::Learned(agent, choice) => {
                let why = choice.line(&agent);
                Move::Choose(agent, why, Some(choice))
            }
            NextSpeaker::Over(why) => Move::End(why),
        }
    }

    /// The person said something.
    pub fn add_person_message(&mut self, to: Option<AgentName>, text: String) {
        let waits = self.turn.as_ref().is_some_and(|t| t.is_complete && t.open_call().is_some());
        if waits {
            self.chat.hold(to, text);
        } else {
            self.chat.tell(to, text);
        }
    }

    /// An agent was named.
    pub fn chosen(&mut self, agent: &AgentName, phase: &Phase) {
        self.speakers.chosen(agent, phase);
        self.speaker = Some(agent.clone());
    }

    /// A learned table chooses who speaks in this attempt.
    pub fn learned(&mut self, table: Arc<PolicyTable>, class: &str, salt: u64) {
        self.speakers.learned.begin(table, class, salt);
    }

    /// The person wants this agent to speak next.
    pub fn speaker_named(&mut self, agent: &AgentName) {
        self.speakers.learned.name(agent);
    }

    /// A turn began.
    pub fn begun(&mut self, turn: TurnId, agent: &AgentName, phase: &Phase) {
        self.speaker = None;
        let is_first = self.look_ups.made.insert(agent.clone());
        let looks_up = if is_first { LooksUp::Yes } else { LooksUp::No };
        self.turn = Some(OpenTurn::new(turn, agent.clone(), (phase.work.get(agent), looks_up)));
    }

    /// A model has summarised the oldest part of the chat, or could not.
    pub fn summarised(&mut self, summary: &ChatSummary) {
        self.facts.tokens += summary.usage.total();
        self.facts.cost += summary.usage.cost;
        self.chat.summarised(summary);
    }

    /// More text came.
    pub fn added(&mut self, text: &str) {
        if let Some(turn) = &mut self.turn {
            turn.text.push_str(text);
        }
    }

    /// What the model call under way has said counts for nothing.
    pub fn taken_back(&mut self) {
        if let Some(turn) = self.turn.as_mut().filter(|turn| !turn.is_complete) {
            turn.text.clear();
            turn.calls.clear();
        }
    }

    /// Names of the files that were written and that the project does not hold.
    pub fn unsaved_files(&self) -> Vec<String> {
        self.files.unsaved_names()
    }

    /// A tool call came.
    pub fn called(&mut self, id: CallId, tool: &ToolName, args: &Value) {
        if let Some(turn) = &mut self.turn {
            let call = ToolCall { id, tool: tool.clone(), args: args.clone() };
            // What the program calls itself does not wait for the end of an answer.
            turn.is_complete |= turn.work.stage.is_fixed();
            turn.calls.push((call, Answered::No));
        }
    }

    /// A model call is complete. Besides why the person has to be asked, tells what is wrong with
    /// an answer that cannot be read.
    pub fn completed(
        &mut self,
        usage: Usage,
        guard: &mut Guard,
        (phase, steps): (&Phase, usize),
    ) -> (Option<Concern>, Option<String>) {
        self.facts.tokens += usage.total();
        self.facts.cost += usage.cost;
        let Some(turn) = self.turn.as_mut() else { return (None, None) };
        turn.is_complete = true;
        turn.rounds += 1;
        if self.speakers.learned.is_learned() && holds_files(&turn.text) {
            self.speakers.learned.coded();
        }
        let calls: Vec<ToolCall> = turn.calls.iter().map(|(call, _)| call.clone()).collect();
        let mut saves = calls.iter().filter(|call| call.tool.as_str() == SAVING_TOOL);
        let repeated = saves.any(|call| guard.repeats_save(&call.args));
        let rewritten = guard.repeats_files(&turn.agent, &turn.text);
        let is_private = phase.selection == SpeakerSelection::Selector(turn.agent.clone());
        let audience = if is_private { Audience::ByItself } else { Audience::ByAll };
        let is_final = calls.is_empty();
        turn.work.trail = Some(repetition::trail(turn.work.trail, &turn.text, &calls));
        self.chat.add_answer((turn.id, &turn.agent), &turn.text, calls, audience);
        let same = || Concern::SameFiles(turn.agent.clone());
        let mut concern = (repeated || rewritten).then(same);
        let Some(work) = phase.work.get(&turn.agent).filter(|_| is_final) else {
            return (concern, None);
        };
        let sent_back = phase.steps.send_back.as_ref().filter(|rules| rules.after == turn.agent);
        let holds = |answer: &Value| sent_back.map_or(Ok(()), |rules| rules.fits(answer, steps));
        let Err((fault, times)) = turn.read_answer(work, holds) else {
            if let Some(AcceptedAnswer { value, .. }) = &turn.work.accepted {
                self.files.take(value);
            }
            return (concern, None);
        };
        let note = format!(
            "Your answer cannot be used: {fault}. Answer again, the whole of it, in the form that \
             you were told."
        );
        self.chat.tell(Some(turn.agent.clone()), note);
        if times > work.retries {
            concern = Some(Concern::Unreadable(turn.agent.clone(), fault.clone()));
        }
        (concern, Some(fault))
    }

    /// A tool answered. Answers to calls of a model call that never completed count for nothing.
    pub fn answered(
        &mut self,
        id: CallId,
        (result, millis): (&Value, u64),
        guard: &mut Guard,
        phase: &Phase,
    ) -> Option<(ToolCall, AgentName, Option<Concern>)> {
        let turn = self.turn.as_mut()?;
        let (call, answered) = turn.calls.iter_mut().find(|(call, _)| call.id == id)?;
        *answered = Answered::Yes;
        let call = call.clone();
        let tool = &call.tool;
        turn.answer = None;
        turn.listing = Listing::default();
        if !turn.is_complete {
            return None;
        }
        let is_fixed = turn.work.stage.is_fixed();
        let was_refused = is_fixed && has_entries(result, "rejected");
        let is_ok = result.get("ok").and_then(Value::as_bool).unwrap_or(false) && !was_refused;
        if is_ok && tool.as_str() == SAVING_TOOL {
            guard.decided(&call.args);
        }
        turn.tools.insert(tool.clone(), is_ok);
        turn.log = LogSigns::of_call(tool, result).or(turn.log);
        turn.work.passages += result.get("chunks").and_then(Value::as_array).map_or(0, Vec::len);
        self.facts.learn(&call, result, millis);
        self.speakers.learned.answered(tool.as_str(), result);
        self.facts.answered(tool, if is_ok { CallResult::Ok } else { CallResult::Any });
        self.files.learn(result);
        let mut concern = match is_fixed {
            true => fixed_result(&mut self.chat, turn, phase, (tool, result, is_ok)),
            false => own_result(&mut self.chat, turn, phase, (&call, result)),
        };
        if tool.as_str() == SAVING_TOOL
            && let Some(why) = guard.fails_again(result)
        {
            concern = Some(Concern::NothingDone(turn.agent.clone(), why));
        }
        if ["run_tests", "run_code"].contains(&tool.as_str())
            && !is_fixed
            && guard.repeats_run(&turn.agent, &call, is_ok)
        {
            concern = Some(Concern::SameRun(turn.agent.clone()));
        }
        if has_entries(result, "saved") || has_entries(result, "deleted") {
            guard.changed();
        }
        if is_ok
            && tool.as_str() == HAND_OFF
            && let Ok(HandOffArgs { agent, task }) = HandOffArgs::read(&call.args)
        {
            let agent = AgentName::new(agent);
            self.facts.handed(&agent);
            self.speakers.hand_over(agent, task);
        }
        let agent = turn.agent.clone();
        if turn.open_call().is_none() {
            if !is_fixed {
                turn.is_complete = false;
                turn.text.clear();
                turn.calls.clear();
            }
            self.chat.tell_held();
        }
        Some((call, agent, concern))
    }

    /// The turn ended.
    pub fn ended(&mut self, stop: &TurnStop, guard: &mut Guard, phase: &Phase) -> Option<Concern> {
        let mut turn = self.turn.take()?;
        self.chat.tell_held();
        if turn.is_cut_off() {
            // Half an answer is told to nobody.
            turn.text.clear();
        }
        match stop {
            TurnStop::Failed(error) => {
                self.speaker = Some(turn.agent.clone());
                return Some(Concern::Failed(turn.agent, error.clone()));
            }
            TurnStop::Interrupted | TurnStop::Stopped => {
                self.speaker = Some(turn.agent);
                return None;
            }
            TurnStop::Terminated(why) => self.ended_by = Some(why.clone()),
            TurnStop::Done => {}
        }
        self.facts.messages += 1;
        self.facts.observe_text(&phase.terminate, &turn.agent, &turn.text);
        self.facts.spoke(&turn.agent);
        if let Some(planner) = &phase.plan.planner
            && *planner == turn.agent
            && let Some(items) = plan_steps::read(&turn.text, &phase.participants, planner)
        {
            self.plan.stage = PlanStage::Due(planner.clone(), items);
        }
        let failed = turn.tools.iter().filter(|(_, is_ok)| !**is_ok);
        let failed: Vec<ToolName> = failed.map(|(tool, _)| tool.clone()).collect();
        let answer = turn.work.accepted.as_ref().map(|accepted| &accepted.value);
        let (text, log) = (&turn.text, turn.log);
        let spoken = Spoken { agent: &turn.agent, text, answer, failed: &failed, log };
        let aftermath = self.speakers.ended(&spoken, phase);
        if let Some((to, note)) = aftermath.note {
            self.chat.tell(Some(to), note);
        }
        let is_leader = phase.selection.leader() == Some(&turn.agent);
        // What the program does by itself is bounded by the reworks that lead to it.
        let is_asked = turn.rounds > 0;
        let repeats = is_asked && !is_leader && guard.repeats_turn(&turn.agent, turn.work.trail);
        let same = repeats.then(|| Concern::SameTurn(turn.agent.clone()));
        let has_form = phase.work.get(&turn.agent).is_some_and(|work| work.answer.is_some());
        let is_silent = has_form && answer.is_none() && turn.rounds >= phase.limits.rounds;
        let silent = is_silent.then(|| {
            let why = format!("it made {} calls and did not answer", turn.rounds);
            Concern::Unreadable(turn.agent.clone(), why)
        });
        aftermath.concern.or(silent).or(same)
    }

    /// A plan was recorded; tells whether the person has to look at it.
    pub fn planned(
        &mut self,
        by: Option<&AgentName>,
        items: &[PlanItem],
        phase: &Phase,
    ) -> Option<Concern> {
        let was_due = matches!(self.plan.stage, PlanStage::Due(..));
        self.speakers.learned.planned();
        self.plan.stage = PlanStage::Settled;
        let Some(agent) = by else {
            let named = items.iter().filter_map(|item| {
                let known = phase.participants.contains(item.agent.as_ref()?);
                let agent = item.agent.clone().filter(|_| known)?;
                Some(Assignment { agent, task: item.task.clone() })
            });
            if let SpeakerSelection::Planner(_) = &phase.selection {
                self.speakers.replace_plan(named.collect());
            }
            let note = format!("I changed the plan. It is now:\n{}", plan_steps::in_words(items));
            self.add_person_message(None, note);
            return None;
        };
        let waits = phase.plan.review == PlanReview::First && was_due && !self.plan.is_seen;
        waits.then(|| Concern::Plan(agent.clone(), plan_steps::faults(items)))
    }

    /// The person has answered whether the plan is carried out.
    pub fn plan_judged(&mut self, is_taken: bool) {
        self.plan.is_seen = is_taken;
        if !is_taken {
            self.speakers.plan_anew();
        }
    }

    /// The call that waits for the person's answer to the agent's own question.
    fn asking(&mut self) -> Option<&mut OpenTurn> {
        let turn = self.turn.as_mut()?;
        let asks = turn.open_call().is_some_and(|call| call.tool.as_str() == ASK);
        asks.then_some(turn)
    }

    /// The person answered the question of the agent that speaks.
    pub fn replied(&mut self, answer: &str) {
        if let Some(turn) = self.asking() {
            turn.answer = Some(json!({ "ok": true, "answer": answer }));
        }
    }

    /// The person does not want the listed files read, for this reason.
    pub fn refuse_listing(&mut self, words: &str) {
        if let Some(turn) = &mut self.turn {
            let message = format!("the person wants other files: {words}");
            let error = json!({ "code": "not_chosen", "message": message });
            turn.answer = Some(json!({ "ok": false, "error": error }));
        }
    }
}

/// Whether a text holds files with their content.
fn holds_files(text: &str) -> bool {
    let answer = text.contains("\"file_name\"").then(|| recover::structured(text).ok()).flatten();
    answer.as_ref().and_then(files_in).is_some_and(|files| !files.is_empty())
}

/// Takes the answer to a call that the program made itself.
fn fixed_result(
    chat: &mut Chat,
    turn: &mut OpenTurn,
    phase: &Phase,
    (tool, result, is_ok): (&ToolName, &Value, bool),
) -> Option<Concern> {
    let work = phase.work.get(&turn.agent)?;
    let answer = work.exchange.compact(result);
    // What was looked up is for the agent alone; what was done is known to all.
    let to = (turn.work.stage == TurnStage::LookingUp).then(|| turn.agent.clone());
    let note = format!("The program called `{tool}` for {}: {answer}", turn.agent);
    chat.report(turn.id, to, note);
    match turn.fixed_answered(work, result, is_ok) {
        AfterCall::ChecksUsedUp(most) => Some(Concern::ChecksUsedUp(turn.agent.clone(), most)),
        AfterCall::EditUnreadable(fault) => {
            let note = format!(
                "The person has changed your answer before it was saved, and the changed version \
                 cannot be used: {fault}. Answer again, the whole of it, in the form that you were \
                 told: keep what the person changed, and correct its form."
            );
            chat.tell(Some(turn.agent.clone()), note);
            None
        }
        AfterCall::GoesOn => None,
    }
}

/// Takes the answer to a call of the agent.
fn own_result(
    chat: &mut Chat,
    turn: &mut OpenTurn,
    phase: &Phase,
    (call, result): (&ToolCall, &Value),
) -> Option<Concern> {
    let exchange = phase.work.get(&turn.agent).map_or(Exchange::Json, |work| work.exchange);
    let result_text = exchange.compact(result);
    chat.answered((turn.id, &turn.agent), call.id, &call.tool, result_text);
    let code = result.pointer("/error/code").and_then(Value::as_str).unwrap_or_default();
    turn.wrong_calls = if WRONG_CALLS.contains(&code) { turn.wrong_calls + 1 } else { 0 };
    if turn.wrong_calls < PATIENCE {
        return None;
    }
    turn.wrong_calls = 0;
    Some(Concern::WrongCalls(turn.agent.clone()))
}

fn has_entries(result: &Value, field: &str) -> bool {
    result.get(field).and_then(Value::as_array).is_some_and(|entries| !entries.is_empty())
}
