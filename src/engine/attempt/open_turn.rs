//! A turn that is under way: what its model said, the calls it waits for, and which of the calls
//! that the program makes itself comes next.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::file_set::{FileSet, edited};
use super::listing::Listing;
use crate::engine::team::{AfterFailure, AgentWork, FixedCall, LogSigns, Saves};
use crate::model::{AgentName, ContentHash, ToolCall, ToolName, TurnId};

/// The tool that proposes files.
pub(in crate::engine) const SAVING_TOOL: &str = "generate_code";

/// A turn that is under way.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::engine) struct OpenTurn {
    pub id: TurnId,
    pub agent: AgentName,
    /// What the model call under way, or the last complete one, said.
    pub text: String,
    /// The tool calls of that model call; the answered ones have `true`.
    pub calls: Vec<(ToolCall, Answered)>,
    /// The files that the open call is about to bring into the chat.
    pub listing: Listing,
    pub is_complete: bool,
    /// Model calls so far, without those for an answer that had to be given again.
    pub rounds: u32,
    pub wrong_calls: u32,
    /// Answer the person gave to the open call.
    pub answer: Option<Value>,
    /// Tools that were called, and whether the last answer was `ok`.
    pub tools: BTreeMap<ToolName, bool>,
    /// What the serial output that was brought last calls for.
    pub log: Option<LogSigns>,
    pub work: TurnWork,
}

/// Whether a call has its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Answered {
    No,
    Yes,
}

/// How far a turn is with what the program does around the model's answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::engine) struct TurnWork {
    pub stage: TurnStage,
    /// Passages of the documentation that it was given; their numbers count up from 1.
    pub passages: usize,
    /// The answer that has its form.
    pub accepted: Option<AcceptedAnswer>,
    /// Answers in a row that could not be read.
    unreadable: u32,
    /// Answers in a row that failed their check.
    failed: u32,
    /// What the agent did so far, to tell whether it does the same again.
    pub trail: Option<ContentHash>,
}

/// An answer as it was read, and as others are given it.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::engine) struct AcceptedAnswer {
    pub value: Value,
    pub text: String,
}

/// What comes next in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::engine) enum TurnStage {
    /// The search before anything else.
    LookingUp,
    /// The call before the model.
    Opening,
    #[default]
    Asking,
    /// The call that checks its answer.
    Checking,
    Saving,
    Closing,
}

/// What an answer of a fixed call leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine) enum AfterCall {
    GoesOn,
    /// The answer has failed its check so often in a row.
    ChecksUsedUp(u32),
    /// The person's version of the answer cannot be read, for this reason; the agent is asked again.
    EditUnreadable(String),
}

impl TurnStage {
    /// Whether the program makes a call itself.
    pub const fn is_fixed(self) -> bool {
        matches!(self, Self::LookingUp | Self::Opening | Self::Checking | Self::Saving)
    }
}

/// Whether a turn begins with a search, where its agent has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum LooksUp {
    No,
    Yes,
}

/// What comes after the search.
fn after_look_up(work: Option<&AgentWork>) -> TurnStage {
    let has_first = work.is_some_and(|work| work.first.is_some());
    if has_first { TurnStage::Opening } else { TurnStage::Asking }
}

impl OpenTurn {
    pub fn new(
        id: TurnId,
        agent: AgentName,
        (work, looks_up): (Option<&AgentWork>, LooksUp),
    ) -> Self {
        let look_up = work.filter(|_| looks_up == LooksUp::Yes).and_then(|it| it.look_up.as_ref());
        let stage = match look_up {
            Some(_) => TurnStage::LookingUp,
            None => after_look_up(work),
        };
        Self {
            id,
            agent,
            text: String::new(),
            calls: Vec::new(),
            listing: Listing::default(),
            is_complete: false,
            rounds: 0,
            wrong_calls: 0,
            answer: None,
            tools: BTreeMap::new(),
            log: None,
            work: TurnWork { stage, ..TurnWork::default() },
        }
    }

    /// The first call without an answer.
    pub fn open_call(&self) -> Option<&ToolCall> {
        self.calls.iter().find(|(_, answered)| *answered == Answered::No).map(|(call, _)| call)
    }

    /// Whether a model call had begun to answer and did not come to its end.
    pub fn is_cut_off(&self) -> bool {
        let has_begun = !self.text.is_empty() || !self.calls.is_empty();
        !self.is_complete && !self.work.stage.is_fixed() && has_begun
    }

    /// The call that the program makes next itself.
    pub fn fixed_call(
        &self,
        work: &AgentWork,
        (files, subject): (&FileSet, &str),
    ) -> Option<(ToolName, Value)> {
        let given = |call: &FixedCall| {
            let mut args = call.args.clone();
            if call.takes_files {
                args.insert("files".to_owned(), files.all());
            }
            (call.tool.clone(), Value::Object(args))
        };
        match self.work.stage {
            TurnStage::LookingUp => {
                let FixedCall { tool, mut args, .. } = work.look_up.clone()?;
                args.insert("query".to_owned(), json!(subject));
                Some((tool, Value::Object(args)))
            }
            TurnStage::Opening => work.first.as_ref().map(given),
            TurnStage::Checking => work.check.as_ref().map(given),
            TurnStage::Saving => {
                let mut args = Map::new();
                args.insert("files".to_owned(), self.proposed(work, files)?);
                args.insert("reason".to_owned(), json!(self.reason(work)));
                Some((ToolName::new(SAVING_TOOL), Value::Object(args)))
            }
            TurnStage::Asking | TurnStage::Closing => None,
        }
    }

    fn proposed(&self, work: &AgentWork, files: &FileSet) -> Option<Value> {
        match &work.saves {
            Saves::Nothing => None,
            Saves::Files => files.unsaved(),
            Saves::Answer(path) => {
                let code = work.exchange.encode(&self.work.accepted.as_ref()?.value);
                // A text file ends with a line feed.
                let code = format!("{}\n", code.trim_end());
                Some(json!([{ "file_name": path, "code": code }]))
            }
        }
    }

    fn reason(&self, work: &AgentWork) -> String {
        match work.first.as_ref().or(work.check.as_ref()) {
            Some(call) => format!("`{}` had no objection to these files.", call.tool),
            None => format!("This is the answer of {}.", self.agent),
        }
    }

    /// The model's answer is complete and calls nothing. `holds` looks at what its form cannot say.
    /// Tells what is wrong with it, and whether that was so too often.
    pub fn read_answer(
        &mut self,
        work: &AgentWork,
        holds: impl Fn(&Value) -> Result<(), String>,
    ) -> Result<(), (String, u32)> {
        let Some(shape) = &work.answer else {
            self.work.stage = TurnStage::Closing;
            return Ok(());
        };
        let read = shape.read(&self.text, work.exchange);
        let read = read.and_then(|value| self.has_called(work).map(|()| value));
        match read.and_then(|value| holds(&value).map(|()| value)) {
            Ok(value) => {
                self.work.unreadable = 0;
                let text = self.text.clone();
                self.work.accepted = Some(AcceptedAnswer { value, text });
                self.work.stage = match (&work.check, self.saves_answer(work)) {
                    (Some(_), _) => TurnStage::Checking,
                    (None, true) => TurnStage::Saving,
                    (None, false) => TurnStage::Closing,
                };
                Ok(())
            }
            Err(fault) => {
                self.work.unreadable += 1;
                let times = self.work.unreadable;
                if times > work.retries {
                    self.work.unreadable = 0;
                }
                self.ask_again();
                Err((fault, times))
            }
        }
    }

    /// Whether the agent called what its answer has to rest on; else what is missing, in words.
    fn has_called(&self, work: &AgentWork) -> Result<(), String> {
        let needed = &work.needs_call;
        if needed.is_empty() || needed.iter().any(|tool| self.tools.contains_key(tool)) {
            return Ok(());
        }
        let names: Vec<String> = needed.iter().map(|tool| format!("`{tool}`")).collect();
        Err(format!("it rests on nothing that was run: first call {}", names.join(" or ")))
    }

    /// Whether what is saved is what was answered; else it is saved when the first call went well.
    fn saves_answer(&self, work: &AgentWork) -> bool {
        work.saves != Saves::Nothing && work.first.is_none()
    }

    /// The model has to answer once more.
    fn ask_again(&mut self) {
        self.work.accepted = None;
        self.work.stage = TurnStage::Asking;
        self.is_complete = false;
        self.rounds = self.rounds.saturating_sub(1);
        self.text.clear();
        self.calls.clear();
    }

    /// A fixed call was answered.
    pub fn fixed_answered(&mut self, work: &AgentWork, result: &Value, is_ok: bool) -> AfterCall {
        self.calls.clear();
        let saves = work.saves != Saves::Nothing;
        match (self.work.stage, is_ok) {
            (TurnStage::LookingUp, _) => {
                self.work.stage = after_look_up(Some(work));
                self.is_complete = false;
            }
            (TurnStage::Opening, true) => {
                self.work.stage = if saves { TurnStage::Saving } else { TurnStage::Closing };
            }
            (TurnStage::Opening, false) => {
                match work.first.as_ref().map(|first| first.on_failure) {
                    Some(AfterFailure::End) => self.work.stage = TurnStage::Closing,
                    Some(AfterFailure::Ask) | None => {
                        self.work.stage = TurnStage::Asking;
                        self.is_complete = false;
                    }
                }
            }
            (TurnStage::Checking, true) => {
                self.work.failed = 0;
                let saves = self.saves_answer(work);
                self.work.stage = if saves { TurnStage::Saving } else { TurnStage::Closing };
            }
            (TurnStage::Checking, false) => {
                self.work.failed += 1;
                let times = self.work.failed;
                self.ask_again();
                if times > work.checks {
                    self.work.failed = 0;
                    return AfterCall::ChecksUsedUp(work.checks);
                }
            }
            // What the person wants otherwise is answered anew; files that others wrote are theirs.
            (TurnStage::Saving, false) if self.work.accepted.is_some() => self.ask_again(),
            (TurnStage::Saving, _) => {
                if let Some(fault) = self.take_edited(work, result) {
                    self.ask_again();
                    return AfterCall::EditUnreadable(fault);
                }
                self.work.stage = TurnStage::Closing;
            }
            (TurnStage::Asking | TurnStage::Closing, _) => {}
        }
        AfterCall::GoesOn
    }

    /// The version that the person wrote is the answer; tells what is wrong with its form.
    fn take_edited(&mut self, work: &AgentWork, result: &Value) -> Option<String> {
        let (Saves::Answer(path), Some(accepted)) = (&work.saves, &mut self.work.accepted) else {
            return None;
        };
        let (_, content) = edited(result).find(|(name, _)| *name == path.as_str())?;
        match work.answer.as_ref()?.read(content, work.exchange) {
            Ok(value) => {
                content.clone_into(&mut accepted.text);
                accepted.value = value;
                None
            }
            Err(fault) => Some(fault),
        }
    }
}
