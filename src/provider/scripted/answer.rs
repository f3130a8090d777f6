//! Makes the answer to one request: finds the step, checks what it expects, fills in the files
//! and the person's words.

use serde_json::{Map, Value, json};

use super::comment;
use super::cursor::{Cursor, Handed};
use super::pace::ScriptedReply;
use super::script::{AnswerFiles, Call, Expect, NextStep, Script, ScriptStep};
use super::situation::{Situation, shortened};
use crate::model::{Usage, UserError};
use crate::provider::{Delta, Request};

/// What is said first when the person has spoken: nobody shall believe that it was understood.
const NOTED: &str =
    "scripted model: your message is noted and recorded; the recording goes on.\n\n";

/// Bytes that make about one token.
const BYTES_PER_TOKEN: u64 = 4;

/// Answers a request.
///
/// # Errors
/// When the recording has ended, or the request is not the one that comes next in it.
pub(super) fn answer(script: &Script, request: &Request) -> Result<ScriptedReply, UserError> {
    let before = Cursor::read(request.state.as_deref(), script)?;
    let situation = Situation::new(request, before.as_ref().map(|cursor| &cursor.requests));
    let step = next_step(script, before.as_ref(), &situation)?;
    check(script, step, &situation)?;
    let received = situation.requests.clone();
    let files = before.map(|cursor| cursor.files).unwrap_or_default();
    let mut player = Player {
        script,
        step,
        situation,
        cursor: Cursor { at: step.id.clone(), files, requests: received },
    };
    player.play()
}

fn next_step<'a>(
    script: &'a Script,
    before: Option<&Cursor>,
    at: &Situation<'_>,
) -> Result<&'a ScriptStep, UserError> {
    let place = match before {
        None => {
            let holds = |start: &&NextStep| start.when.as_ref().is_none_or(|when| when.holds(at));
            script.starts.iter().find(holds).map_or(script.start, |start| start.goto)
        }
        Some(cursor) => way_on(script, cursor, at)?,
    };
    script.steps.get(place).ok_or_else(|| other_script(script, "a place out of its range"))
}

fn way_on(script: &Script, cursor: &Cursor, at: &Situation<'_>) -> Result<usize, UserError> {
    let Some(step) = script.steps.iter().find(|step| step.id == cursor.at) else {
        return Err(other_script(script, &format!("step `{}`", cursor.at)));
    };
    if step.next.is_empty() {
        return Err(UserError::new(
            "The recorded conversation is over",
            format!(
                "{}; nothing follows step `{}` ({})",
                at.in_words(),
                step.id,
                origin(script, step)
            ),
            "Stop the run; for other work begin a session with another model.",
        ));
    }
    let next = step.next.iter().find(|next| next.when.as_ref().is_none_or(|when| when.holds(at)));
    next.map(|next| next.goto).ok_or_else(|| {
        let ways: Vec<String> = step
            .next
            .iter()
            .filter_map(|next| next.when.as_ref())
            .map(ToString::to_string)
            .collect();
        let why = format!("after step `{}` it knows only: {}", step.id, ways.join(" · or "));
        misfit(script, step, &format!("{why}; but {}", at.in_words()))
    })
}

fn other_script(script: &Script, place: &str) -> UserError {
    UserError::new(
        format!("Cannot go on with the recording {}", script.file),
        format!("the session has come to {place}, which this script does not have"),
        "Use the script the session was begun with, or begin a new session.",
    )
}

fn origin(script: &Script, step: &ScriptStep) -> String {
    format!("{}, line {}", script.file, step.line)
}

fn misfit(script: &Script, step: &ScriptStep, why: &str) -> UserError {
    UserError::new(
        "The run does not follow the recorded conversation",
        format!("{why} ({}, step `{}`)", origin(script, step), step.id),
        "Stop the run and begin a new one; a changed team or tool needs a changed recording.",
    )
}

/// Checks that the request is the one the step answers.
fn check(script: &Script, step: &ScriptStep, at: &Situation<'_>) -> Result<(), UserError> {
    let request = at.request;
    let Expect { phase, attempt, step: of_plan, tools, mentions, last_mentions } = &step.expect;
    let wrong = |expected: String, got: String| {
        Err(misfit(script, step, &format!("it expects {expected}, but {got}")))
    };
    if step.agent != request.agent {
        return wrong(format!("{} to ask", step.agent), at.in_words());
    }
    if let Some(phase) = phase.as_ref().filter(|phase| **phase != request.phase) {
        return wrong(format!("phase `{phase}`"), format!("this is phase `{}`", request.phase));
    }
    if let Some(attempt) = attempt.filter(|attempt| *attempt != request.attempt) {
        return wrong(format!("attempt {attempt}"), format!("this is attempt {}", request.attempt));
    }
    if let Some(of_plan) = of_plan.filter(|of_plan| Some(*of_plan) != request.step) {
        let wanted = format!("step {of_plan} of the plan");
        return match request.step {
            Some(step) => wrong(wanted, format!("this is step {step}")),
            None => wrong(wanted, "this is about the whole".to_owned()),
        };
    }
    let is_offered = |tool: &&String| request.tools.iter().any(|spec| spec.name.as_str() == *tool);
    if let Some(tool) = tools.iter().find(|tool| !is_offered(tool)) {
        let offered: Vec<&str> = request.tools.iter().map(|spec| spec.name.as_str()).collect();
        return wrong(
            format!("the tool `{tool}`"),
            format!("{} is offered [{}]", request.agent, offered.join(", ")),
        );
    }
    let is_mentioned =
        |text: &&String| request.messages.iter().any(|m| m.text.contains(text.as_str()));
    if let Some(text) = mentions.iter().find(|text| !is_mentioned(text)) {
        return wrong(format!("“{text}” in the conversation"), "nobody said that".to_owned());
    }
    let last = at.last_message();
    match last_mentions.iter().find(|text| !last.contains(text.as_str())) {
        Some(text) => {
            wrong(format!("“{text}” in the last message"), format!("that is “{}”", shortened(last)))
        }
        None => Ok(()),
    }
}

/// One step being played.
struct Player<'a> {
    script: &'a Script,
    step: &'a ScriptStep,
    situation: Situation<'a>,
    cursor: Cursor,
}

impl Player<'_> {
    fn play(&mut self) -> Result<ScriptedReply, UserError> {
        let mut text = String::new();
        if self.script.verbatim {
            text.push_str(&self.step.say);
        } else {
            if !self.situation.written.is_empty() {
                text.push_str(NOTED);
            }
            text.push_str(&self.filled(&self.step.say));
        }
        if let Some(list) = &self.step.list {
            let json = format!("{:#}", self.files(list)?);
            text.push_str(&format!("\n\n```json\n{json}\n```"));
        }
        let calls: Result<Vec<Delta>, _> =
            self.step.calls.iter().map(|call| self.call(call)).collect();
        let calls = calls?;
        let usage = usage(self.situation.request, &text, &calls);
        Ok(ScriptedReply { text, calls, done: Delta::Done { usage, state: self.cursor.write() } })
    }

    /// Puts the person's words in place of the words in braces.
    fn filled(&self, say: &str) -> String {
        let mut filled = String::with_capacity(say.len());
        let mut rest = say;
        while let Some((before, from)) = rest.find('{').and_then(|at| rest.split_at_checked(at)) {
            filled.push_str(before);
            let (name, words) = if from.starts_with("{reason}") {
                ("{reason}", self.situation.reason())
            } else if from.starts_with("{rejected}") {
                ("{rejected}", self.rejected_names())
            } else if from.starts_with("{said}") {
                let written = self.situation.written.last().copied().unwrap_or_default();
                ("{said}", written.to_owned())
            } else {
                ("{", "{".to_owned())
            };
            filled.push_str(&comment::one_line(&words));
            rest = from.strip_prefix(name).unwrap_or_default();
        }
        filled.push_str(rest);
        filled
    }

    fn rejected_names(&self) -> String {
        let refusals = self.situation.refusals();
        let names: Vec<String> = refusals.iter().map(|file| format!("`{}`", file.path)).collect();
        names.join(", ")
    }

    fn call(&mut self, call: &Call) -> Result<Delta, UserError> {
        if let Some(raw) = &call.raw {
            return Ok(Delta::Call { tool: call.tool.clone(), args: raw.clone() });
        }
        let mut args: Map<String, Value> = call.args.clone();
        if let Some(files) = &call.files {
            args.insert("files".to_owned(), self.files(files)?);
        }
        Ok(Delta::Call { tool: call.tool.clone(), args: Value::Object(args).to_string() })
    }

    /// Files as `[{file_name, code}]`; what is handed in is noted.
    fn files(&mut self, files: &AnswerFiles) -> Result<Value, UserError> {
        let list = match files {
            AnswerFiles::Named(places) => places.iter().filter_map(|&at| self.named(at)).collect(),
            AnswerFiles::Rejected => {
                let refusals = self.situation.refusals();
                if refusals.is_empty() {
                    let why = "it wants to hand in refused files again, but none was refused";
                    return Err(misfit(self.script, self.step, why));
                }
                let again = refusals.iter().map(|file| self.again(&file.path, &file.reason));
                again.collect::<Result<Vec<Value>, _>>()?
            }
        };
        Ok(Value::Array(list))
    }

    /// A file in the version that was last handed in under this name, or the first.
    fn named(&mut self, place: usize) -> Option<Value> {
        let file = self.script.files.get(place)?;
        let handed = self.cursor.files.get(&file.path).filter(|handed| handed.file == place);
        let version = handed.map_or(0, |handed| handed.version);
        let code = file.versions.get(version)?;
        self.cursor.files.insert(file.path.clone(), Handed { file: place, version });
        Some(json!({ "file_name": file.path, "code": code }))
    }

    /// A refused file in its next version.
    fn again(&mut self, path: &str, reason: &str) -> Result<Value, UserError> {
        let handed = self.cursor.files.get_mut(path);
        let found = handed.and_then(|handed| Some((self.script.files.get(handed.file)?, handed)));
        let Some((file, handed)) = found else {
            let why = format!("`{path}` was refused, which it never handed in");
            return Err(misfit(self.script, self.step, &why));
        };
        let code = match file.versions.get(handed.version + 1) {
            Some(code) => {
                handed.version += 1;
                code.clone()
            }
            None => {
                let last = file.versions.last().map(String::as_str).unwrap_or_default();
                comment::with_words(path, last, reason)
            }
        };
        Ok(json!({ "file_name": path, "code": code }))
    }
}

/// An estimate: nobody counts tokens for a recording.
pub(super) fn usage(request: &Request, text: &str, calls: &[Delta]) -> Usage {
    let messages = request.messages.iter().map(|message| {
        let calls = message.calls.iter().map(|call| json_len(&call.args)).sum::<usize>();
        message.text.len() + calls
    });
    let tools = request.tools.iter().map(|spec| spec.description.len() + json_len(&spec.schema));
    let called = calls.iter().map(|call| match call {
        Delta::Call { tool, args } => tool.as_str().len() + args.len(),
        _ => 0,
    });
    Usage {
        input: tokens(messages.chain(tools).sum()),
        output: tokens(text.len() + called.sum::<usize>()),
        ..Usage::default()
    }
}

const fn tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(BYTES_PER_TOKEN)
}

/// About how long a value's JSON text is, without making it.
fn json_len(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 4,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(|item| json_len(item) + 1).sum::<usize>(),
        Value::Object(fields) => {
            2 + fields.iter().map(|(key, item)| key.len() + json_len(item) + 4).sum::<usize>()
        }
    }
}
