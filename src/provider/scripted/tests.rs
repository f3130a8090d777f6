//! A small script played against made-up requests.

use std::sync::Arc;

use futures::StreamExt;
use futures::executor::block_on;
use serde_json::{Value, json};

use super::{Pacing, Script, Scripted, parse_script};
use crate::model::{AgentName, CallId, Message, MessageRole, ToolCall, ToolSpec, Usage, UserError};
use crate::provider::{Delta, ModelOptions, Provider, Request};

const SCRIPT: &str = r#"
format = 1
title = "Save one file"
task = "Save a file"
start = "plan"

[files."main/a.c"]
versions = ["one", "two"]

[files.fix]
path = "main/a.c"
versions = ["fixed"]

[[steps]]
id = "plan"
agent = "Planner"
expect = { phase = "p", attempt = 1, mentions = ["Save"] }
say = """
Reviewer : save it
"""
next = [{ when = { said = true }, goto = "told" }, { goto = "save" }]

[[steps]]
id = "told"
agent = "Reviewer"
say = "You said “{said}” and {unknown}."
next = [{ goto = "save" }]

[[steps]]
id = "save"
agent = "Reviewer"
expect = { tools = ["generate_code"], last_mentions = ["save it"] }
say = "Here."
list = ["main/a.c"]
calls = [{ tool = "generate_code", files = ["main/a.c"] }]
next = [
    { when = { tool = "generate_code", at = "/rejected/0/reason", contains = "INCLUDE" }, goto = "fix" },
    { when = { tool = "generate_code", at = "/rejected/0", exists = true }, goto = "again" },
    { when = { tool = "generate_code", at = "/ok", equals = true }, goto = "done" },
]

[[steps]]
id = "again"
agent = "Reviewer"
say = "{rejected}: {reason}"
calls = [{ tool = "generate_code", files = "rejected" }]
next = [
    { when = { at = "/rejected/0", exists = true }, goto = "again" },
    { when = { tool = "generate_code" }, goto = "done" },
]

[[steps]]
id = "fix"
agent = "Reviewer"
say = "Fixed."
calls = [{ tool = "generate_code", args = { reason = "r" }, files = ["fix"] }]
next = [{ goto = "done" }]

[[steps]]
id = "done"
agent = "Reviewer"
say = "Saved."
end = true
"#;

fn script() -> Arc<Script> {
    let sibling = |name: &str| Ok(format!("int {name};\n"));
    Arc::new(parse_script("small.toml", SCRIPT, &sibling).unwrap())
}

/// A conversation as an engine would keep it.
struct Talk {
    provider: Scripted,
    messages: Vec<Arc<Message>>,
    state: Option<String>,
    phase: &'static str,
    calls: u32,
}

#[derive(Debug)]
struct AgentTurn {
    text: String,
    calls: Vec<Value>,
    usage: Usage,
}

impl Talk {
    fn new() -> Self {
        let messages = Vec::new();
        let provider = Scripted::new(script(), Pacing::Instant);
        let mut talk = Self { provider, messages, state: None, phase: "p", calls: 0 };
        talk.push(MessageRole::System, None, "rules");
        talk.person("Save a file, please");
        talk
    }

    fn push(&mut self, role: MessageRole, agent: Option<&str>, text: &str) {
        let agent = agent.map(AgentName::from);
        let (text, calls) = (text.to_owned(), Vec::new());
        self.messages.push(Arc::new(Message { role, agent, text, calls, answers: None }));
    }

    fn person(&mut self, text: &str) {
        self.push(MessageRole::User, None, text);
    }

    fn request(&self, agent: &str) -> Request {
        let schema = json!({ "type": "object" });
        let spec = ToolSpec { name: "generate_code".into(), description: "Saves.".into(), schema };
        Request {
            agent: agent.into(),
            phase: self.phase.to_owned(),
            attempt: 1,
            step: None,
            messages: self.messages.as_slice().into(),
            tools: Arc::from([spec]),
            options: ModelOptions::default(),
            form: None,
            state: self.state.clone(),
        }
    }

    fn try_ask(&mut self, agent: &str) -> Result<AgentTurn, UserError> {
        let stream = self.provider.ask(self.request(agent));
        let deltas: Vec<Result<Delta, UserError>> = block_on(stream.collect());
        let (mut text, mut calls, mut made) = (String::new(), Vec::new(), Vec::new());
        let mut done = None;
        for delta in deltas {
            assert_eq!(done, None, "nothing comes after the end");
            match delta? {
                Delta::Text(more) => text.push_str(&more),
                Delta::Call { tool, args } => {
                    self.calls += 1;
                    let args: Value = serde_json::from_str(&args).unwrap();
                    calls.push(args.clone());
                    made.push(ToolCall { id: CallId(self.calls), tool, args });
                }
                Delta::Done { usage, state } => {
                    self.state = state;
                    done = Some(usage);
                }
                other => panic!("a recording does not give {other:?}"),
            }
        }
        self.messages.push(Arc::new(Message {
            role: MessageRole::Assistant,
            agent: Some(agent.into()),
            text: text.clone(),
            calls: made,
            answers: None,
        }));
        Ok(AgentTurn { text, calls, usage: done.unwrap() })
    }

    fn ask(&mut self, agent: &str) -> AgentTurn {
        self.try_ask(agent).unwrap()
    }

    fn answer(&mut self, answer: &Value) {
        let answers = Some(CallId(self.calls));
        let (role, text) = (MessageRole::Tool, answer.to_string());
        let message = Message { role, agent: None, text, calls: Vec::new(), answers };
        self.messages.push(Arc::new(message));
    }

    fn refuse(&mut self, reason: &str) {
        let rejected = json!([{ "file_name": "main/a.c", "reason": reason }]);
        self.answer(&json!({ "ok": true, "saved": [], "rejected": rejected }));
    }

    fn to_save() -> Self {
        let mut talk = Self::new();
        talk.ask("Planner");
        talk.ask("Reviewer");
        talk
    }
}

fn code(turn: &AgentTurn) -> &str {
    turn.calls[0]["files"][0]["code"].as_str().unwrap()
}

#[test]
fn an_answer_has_text_then_files_then_calls() {
    let mut talk = Talk::new();
    assert_eq!(talk.ask("Planner").text, "Reviewer : save it");
    let turn = talk.ask("Reviewer");
    let files = crate::text::recover::structured(&turn.text).unwrap();
    let wanted = json!([{ "file_name": "main/a.c", "code": "int one;\n" }]);
    assert_eq!(files, wanted);
    assert!(turn.text.starts_with("Here.\n\n```json\n"));
    assert_eq!(turn.calls, [json!({ "files": wanted })]);
    talk.answer(&json!({ "ok": true, "saved": ["main/a.c"], "rejected": [] }));
    assert_eq!(talk.ask("Reviewer").text, "Saved.");
}

#[test]
fn a_refused_file_comes_back_changed_every_time() {
    let mut talk = Talk::to_save();
    talk.refuse("too short");
    let turn = talk.ask("Reviewer");
    assert_eq!(turn.text, "`main/a.c`: too short");
    assert_eq!(code(&turn), "int two;\n");
    talk.refuse("bad */ int x;\n#error {said}\n`Planner : stop`");
    let turn = talk.ask("Reviewer");
    assert_eq!(turn.text.lines().count(), 1);
    assert_eq!(
        code(&turn),
        "/* Reviewed again: bad * / int x; #error {said} `Planner : stop` */\nint two;\n"
    );
    talk.refuse("other words");
    assert_eq!(code(&talk.ask("Reviewer")), "/* Reviewed again: other words */\nint two;\n");
}

#[test]
fn the_first_way_that_fits_is_taken_and_capitals_do_not_matter() {
    let mut talk = Talk::to_save();
    talk.refuse("an include is missing");
    let turn = talk.ask("Reviewer");
    assert_eq!(turn.text, "Fixed.");
    assert_eq!(turn.calls[0]["reason"], "r");
    assert_eq!(code(&turn), "int fixed;\n");
}

#[test]
fn a_message_of_the_person_is_noted_once_and_quoted() {
    let mut talk = Talk::new();
    talk.ask("Planner");
    talk.person("use\nport 1");
    let turn = talk.ask("Reviewer").text;
    assert_eq!(
        turn,
        "scripted model: your message is noted and recorded; the recording goes on.\n\nYou said \
         “use port 1” and {unknown}."
    );
    talk.push(MessageRole::User, Some("Planner"), "save it");
    assert!(talk.ask("Reviewer").text.starts_with("Here."));
    talk.refuse("x");
    // The same words again are another message.
    talk.person("use\nport 1");
    assert!(talk.ask("Reviewer").text.starts_with("scripted model: "));
}

#[test]
fn what_the_program_says_is_not_taken_for_the_person() {
    let mut talk = Talk::new();
    talk.person("Files of the project:\n- main/a.c (3 bytes)\n");
    talk.person("The last build failed:\nmain/a.c:1: no");
    assert_eq!(talk.ask("Planner").text, "Reviewer : save it");
}

#[test]
fn the_place_travels_with_the_state_alone() {
    let mut talk = Talk::to_save();
    talk.refuse("too short");
    let (first, before) = (talk.request("Reviewer"), talk.provider.clone());
    let again = Scripted::new(script(), Pacing::Instant);
    let answers = [before, again].map(|provider| {
        let deltas: Vec<_> = block_on(provider.ask(first.clone()).collect());
        deltas
    });
    assert_eq!(answers[0], answers[1]);
}

#[test]
fn a_request_that_does_not_fit_is_refused_with_both_sides() {
    let mut talk = Talk::new();
    let error = talk.try_ask("Reviewer").unwrap_err();
    assert!(error.why.contains("it expects Planner to ask, but Reviewer asks"), "{error}");
    assert!(error.why.contains("small.toml, line 14, step `plan`"), "{error}");
    talk.phase = "q";
    let error = talk.try_ask("Planner").unwrap_err();
    assert!(error.why.contains("phase `p`, but this is phase `q`"), "{error}");

    let mut talk = Talk::new();
    talk.ask("Planner");
    talk.push(MessageRole::User, Some("X"), "something else");
    let error = talk.try_ask("Reviewer").unwrap_err();
    assert!(error.why.contains("in the last message, but that is “something else”"), "{error}");

    let mut talk = Talk::new();
    talk.messages.truncate(1);
    let error = talk.try_ask("Planner").unwrap_err();
    assert!(error.why.contains("“Save” in the conversation"), "{error}");
}

#[test]
fn a_missing_tool_and_another_attempt_are_refused() {
    let mut talk = Talk::new();
    let mut request = talk.request("Planner");
    request.attempt = 2;
    let error = block_on(talk.provider.ask(request).next()).unwrap().unwrap_err();
    assert!(error.why.contains("expects attempt 1, but this is attempt 2"), "{error}");
    talk.ask("Planner");
    let mut request = talk.request("Reviewer");
    request.tools = Arc::from([]);
    let error = block_on(talk.provider.ask(request).next()).unwrap().unwrap_err();
    assert!(error.why.contains("the tool `generate_code`, but Reviewer is offered []"), "{error}");
}

#[test]
fn an_answer_no_way_is_made_for_is_refused_with_the_ways_there_are() {
    let mut talk = Talk::to_save();
    talk.answer(&json!({ "ok": false, "error": { "code": "x" } }));
    let error = talk.try_ask("Reviewer").unwrap_err();
    assert!(error.why.contains("it knows only: `generate_code` answered, with “INCLUDE”"));
    assert!(error.why.contains(
        r#"but Reviewer asks in phase `p`, attempt 1; `generate_code` answered {"ok":false"#
    ));
}

#[test]
fn a_script_that_runs_dry_says_so() {
    let mut talk = Talk::to_save();
    talk.answer(&json!({ "ok": true, "rejected": [] }));
    talk.ask("Reviewer");
    let error = talk.try_ask("Reviewer").unwrap_err();
    assert_eq!(error.what, "The recorded conversation is over");
    assert!(error.why.contains("nothing follows step `done`"), "{error}");
    assert!(!error.fix.is_empty());
}

#[test]
fn a_state_of_another_script_is_refused() {
    for state in ["{\"at\":\"elsewhere\"}", "no state", "{\"at\":\"plan\",\"x\":1}"] {
        let mut talk = Talk::new();
        talk.state = Some(state.to_owned());
        let error = talk.try_ask("Planner").unwrap_err();
        assert_eq!(error.what, "Cannot go on with the recording small.toml");
    }
}

#[test]
fn usage_grows_with_what_is_sent_and_said() {
    let mut talk = Talk::new();
    let first = talk.ask("Planner").usage;
    let second = talk.ask("Reviewer").usage;
    assert!(second.input > first.input);
    assert_eq!(first.output, 5, "18 bytes");
    assert!(second.output > 30);
}
