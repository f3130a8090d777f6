//! The blackboard: what a run has produced so far, by kind, and what of it an agent is given.
//!
//! A fold of the run's own events. Artifacts outlive the chats of phases and attempts.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

use crate::engine::attempt::chat::errors_of;
use crate::engine::attempt::{AcceptedAnswer, OpenTurn};
use crate::engine::team::Phase;
use crate::model::{
    AgentName, Artifact, ArtifactKind, Event, TeamEvent, ToolName, TurnStop, estimated_tokens,
};
use crate::text::recover;

/// Longest title, in characters.
const TITLE: usize = 80;

/// An artifact with what it holds.
#[derive(Debug, Clone, PartialEq)]
struct PostedArtifact {
    artifact: Artifact,
    text: String,
}

/// All kinds, newest of each, and the newest answer of each agent whose answers have a form.
#[derive(Debug, Clone, PartialEq, Default)]
struct PostedKinds {
    newest: BTreeMap<ArtifactKind, PostedArtifact>,
    answers: BTreeMap<AgentName, Value>,
}

/// What was put up, and which open chat has put it up: others are given it once that chat has ended.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::engine) struct Blackboard {
    /// By chats that have ended.
    all: PostedKinds,
    /// By each open chat, by its number.
    open: BTreeMap<u32, PostedKinds>,
    /// Those that are not recorded yet.
    unrecorded: VecDeque<Artifact>,
    last: u32,
    /// Counts the chats that were begun.
    chats: u32,
    /// What nested teams have come to, oldest first.
    results: Vec<String>,
}

impl Blackboard {
    /// A chat begins; gives its number.
    pub fn begin_chat(&mut self) -> u32 {
        self.chats += 1;
        self.open.insert(self.chats, PostedKinds::default());
        self.chats
    }

    /// A chat has ended: what it has put up is for all.
    pub fn end_chat(&mut self, chat: u32) {
        let Some(PostedKinds { newest, answers }) = self.open.remove(&chat) else { return };
        for (kind, posted) in newest {
            let number = |posted: &PostedArtifact| posted.artifact.number;
            if self.all.newest.get(&kind).map(number) < Some(number(&posted)) {
                self.all.newest.insert(kind, posted);
            }
        }
        self.all.answers.extend(answers);
    }

    /// What was put up for the run before is taken down; numbers go on.
    pub fn start_run(&mut self) {
        self.all = PostedKinds::default();
        self.open.clear();
        self.unrecorded.clear();
        self.results.clear();
    }

    /// The team of a phase has ended.
    pub fn team_ended(&mut self, phase: &str, outcome: &str, words: &str) {
        let text = format!("The team of the phase `{phase}` has ended: {outcome}.\n{words}");
        let text = text.trim_end().to_owned();
        self.post(ArtifactKind::Result, &format!("the result of `{phase}`"), None, text.clone());
        self.results.push(text);
    }

    /// What nested teams have come to.
    pub fn team_results(&self) -> &[String] {
        &self.results
    }

    /// Puts something up that all open chats are told.
    pub fn post(&mut self, kind: ArtifactKind, title: &str, by: Option<&AgentName>, text: String) {
        let posted = self.made(kind, title, by, text);
        for open in self.open.values_mut() {
            open.newest.insert(kind, posted.clone());
        }
        self.all.newest.insert(kind, posted);
    }

    /// Puts up what a chat has made.
    fn post_in(
        &mut self,
        chat: u32,
        (kind, title): (ArtifactKind, &str),
        by: Option<&AgentName>,
        text: String,
    ) {
        let posted = self.made(kind, title, by, text);
        self.open.entry(chat).or_default().newest.insert(kind, posted);
    }

    fn made(
        &mut self,
        kind: ArtifactKind,
        title: &str,
        by: Option<&AgentName>,
        text: String,
    ) -> PostedArtifact {
        self.last += 1;
        let title = crate::text::sanitize::line(title.lines().next().unwrap_or_default());
        let artifact = Artifact {
            number: self.last,
            kind,
            title: title.chars().take(TITLE).collect(),
            by: by.cloned(),
            tokens: estimated_tokens(text.len() as u64),
        };
        self.unrecorded.push_back(artifact.clone());
        PostedArtifact { artifact, text }
    }

    /// Takes an answer that has its form.
    fn accepted(
        &mut self,
        (chat, agent): (u32, &AgentName),
        kind: Option<ArtifactKind>,
        AcceptedAnswer { value, text }: &AcceptedAnswer,
    ) {
        self.open.entry(chat).or_default().answers.insert(agent.clone(), value.clone());
        if let Some(kind) = kind {
            let title = format!("the answer of {agent}");
            self.post_in(chat, (kind, &title), Some(agent), text.clone());
        }
    }

    /// Takes the answer of a turn that came to its end.
    pub fn turn_ended(
        &mut self,
        chat: u32,
        turn: Option<&OpenTurn>,
        stop: &TurnStop,
        phase: &Phase,
    ) {
        let is_done = matches!(stop, TurnStop::Done | TurnStop::Terminated(_));
        if let Some(turn) = turn.filter(|_| is_done)
            && let Some(accepted) = &turn.work.accepted
        {
            let kind = phase.work.get(&turn.agent).and_then(|work| work.makes);
            self.accepted((chat, &turn.agent), kind, accepted);
        }
    }

    /// The newest answer of an agent, in that chat or in one that has ended.
    pub fn answer(&self, chat: u32, agent: &AgentName) -> Option<&Value> {
        let own = self.open.get(&chat).and_then(|open| open.answers.get(agent));
        own.or_else(|| self.all.answers.get(agent))
    }

    /// Takes down the newest answer of an agent.
    pub fn forget_answer(&mut self, agent: &AgentName) -> Option<Value> {
        self.all.answers.remove(agent)
    }

    /// Takes what a model said last, and why it is asked again if it is.
    pub fn answer_ended(&mut self, chat: u32, turn: Option<&OpenTurn>, fault: Option<String>) {
        if let Some(turn) = turn {
            self.observe_text(chat, &turn.agent, &turn.text);
            self.refused(chat, &turn.agent, fault);
        }
    }

    /// Puts up why an agent is asked again.
    fn refused(&mut self, chat: u32, agent: &AgentName, fault: Option<String>) {
        if let Some(fault) = fault {
            let title = Artifact::refusal_title(agent, &fault);
            self.post_in(chat, (ArtifactKind::Feedback, &title), None, title.clone());
        }
    }

    /// What is to be recorded next.
    pub fn due(&self) -> Option<Event> {
        let artifact = self.unrecorded.front()?.clone();
        Some(Event::Team(TeamEvent::ArtifactPosted(artifact)))
    }

    /// An artifact was recorded.
    pub fn recorded(&mut self, artifact: &Artifact) {
        self.unrecorded.retain(|known| known.number != artifact.number);
    }

    /// The newest of each of those kinds that a chat does not hold already.
    pub fn needed(&self, chat: u32, kinds: &[ArtifactKind]) -> Vec<String> {
        let own = self.open.get(&chat);
        let is_held = |kind: &ArtifactKind| own.is_some_and(|own| own.newest.contains_key(kind));
        let entries = ArtifactKind::ALL.iter().filter(|kind| kinds.contains(kind));
        let entries = entries.filter(|kind| !is_held(kind));
        let reported = entries.filter_map(|kind| self.all.newest.get(kind)).map(|entry| {
            let by = entry.artifact.by.as_ref().map_or("the person", AgentName::as_str);
            let kind = entry.artifact.kind.word();
            format!("From the blackboard, {kind} by {by}:\n{}", entry.text)
        });
        reported.collect()
    }

    /// Takes what an agent wrote: a list of files is code.
    fn observe_text(&mut self, chat: u32, agent: &AgentName, text: &str) {
        if !text.contains("\"file_name\"") {
            return;
        }
        let answer = recover::structured(text).ok();
        let Some(files) = answer.as_ref().and_then(crate::engine::team::files_in) else { return };
        let names: Vec<&str> =
            files.iter().filter_map(|file| file.get("file_name")?.as_str()).collect();
        let title = names.join(", ");
        self.post_in(chat, (ArtifactKind::Code, &title), Some(agent), text.to_owned());
    }

    /// Takes a tool's answer in a chat.
    pub fn answered(
        &mut self,
        (chat, agent): (u32, &AgentName),
        (tool, args): (&ToolName, &Value),
        result: &Value,
    ) {
        let is_ok = result.get("ok").and_then(Value::as_bool).unwrap_or(false);
        let by = Some(agent);
        let count = |key: &str| result.get(key).and_then(Value::as_array).map_or(0, Vec::len);
        match tool.as_str() {
            "build_project" | "build_arduino" => match errors_of(result) {
                Some(errors) => {
                    let title = match count("errors") {
                        0 | 1 => "the build failed, 1 error".to_owned(),
                        errors => format!("the build failed, {errors} errors"),
                    };
                    self.post_in(chat, (ArtifactKind::Error, &title), by, errors);
                }
                None => {
                    let text = "The last build passed.".to_owned();
                    self.take_down(ArtifactKind::Error);
                    self.post_in(chat, (ArtifactKind::Result, "the build passed"), by, text);
                }
            },
            "run_tests" if result.get("counts").is_some() => {
                let title = tests_title(result);
                self.post_in(chat, (ArtifactKind::Tests, &title), by, result.to_string());
            }
            "file_name_checker" if is_ok => {
                let files = args.get("files").and_then(Value::as_array);
                let title = format!("{} planned files", files.map_or(0, Vec::len));
                self.post_in(chat, (ArtifactKind::Contract, &title), by, args.to_string());
            }
            "monitor_serial" => {
                let (kind, title) = serial_title(result);
                self.post_in(chat, (kind, &title), by, result.to_string());
            }
            "retrieve_docs" | "scan_i2c" | "get_pinout_info" | "run_static_analysis" if is_ok => {
                let query = args.get("query").and_then(Value::as_str);
                let title = match query {
                    Some(query) => format!("{tool}: {query}"),
                    None => tool.to_string(),
                };
                self.post_in(chat, (ArtifactKind::Result, &title), by, result.to_string());
            }
            "read_code_files" | "read_header_files" | "read_project_files" if is_ok => {
                self.post_in(chat, (ArtifactKind::Code, tool.as_str()), by, result.to_string());
            }
            _ => {}
        }
        if count("rejected") > 0
            && let Some(rejected) = result.get("rejected")
        {
            let title = refused_title(rejected);
            self.post_in(chat, (ArtifactKind::Feedback, &title), None, rejected.to_string());
        }
    }

    fn take_down(&mut self, kind: ArtifactKind) {
        for posted in self.open.values_mut().chain([&mut self.all]) {
            posted.newest.remove(&kind);
        }
    }
}

/// What came of looking at a port, and what it is called.
fn serial_title(result: &Value) -> (ArtifactKind, String) {
    let is_ok = result.get("ok").and_then(Value::as_bool).unwrap_or(false);
    match (is_ok, result.get("panics").and_then(Value::as_array).map_or(0, Vec::len)) {
        (true, 0) => (ArtifactKind::Result, "serial output".to_owned()),
        (_, 0) => (ArtifactKind::Error, "the port could not be read".to_owned()),
        (_, panics) => (ArtifactKind::Error, format!("{panics} panics on the board")),
    }
}

/// How many tests passed or failed.
fn tests_title(result: &Value) -> String {
    let is_ok = result.get("ok").and_then(Value::as_bool).unwrap_or(false);
    let count = |key: &str| result.pointer(&format!("/counts/{key}")).and_then(Value::as_u64);
    let bad = count("failed").unwrap_or(0) + count("errors").unwrap_or(0);
    let tests = |number: u64| match number {
        1 => "1 test".to_owned(),
        number => format!("{number} tests"),
    };
    match (is_ok, bad) {
        (true, _) => format!("{} passed", tests(count("passed").unwrap_or(0))),
        (false, 0) => "the tests did not run to the end".to_owned(),
        (false, bad) => format!("{} failed", tests(bad)),
    }
}

/// What the person sent back first, with their words, and how many files more.
fn refused_title(rejected: &Value) -> String {
    let all = rejected.as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |key: &str| all.first().and_then(|file| file.get(key)?.as_str());
    let name = text("file_name").unwrap_or("1 file");
    let reason = text("reason").filter(|reason| !reason.is_empty());
    let more = match all.len().saturating_sub(1) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    match reason {
        Some(reason) => format!("{name} refused{more}: {reason}"),
        None => format!("{name} refused{more}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn agents_are_given_the_newest_of_what_they_need_unless_the_chat_holds_it() {
        let mut board = Blackboard::default();
        let agent = AgentName::from("BuildAgent");
        let chat = board.begin_chat();
        board.post(ArtifactKind::Plan, "plan", Some(&agent), "old".into());
        board.post_in(chat, (ArtifactKind::Plan, "plan"), Some(&agent), "new".into());
        let kinds = [ArtifactKind::Error, ArtifactKind::Plan];
        assert!(board.needed(chat, &kinds).is_empty(), "this chat holds it");
        let other = board.begin_chat();
        let old = ["From the blackboard, plan by BuildAgent:\nold"];
        assert_eq!(board.needed(other, &kinds), old, "the other chat goes on");
        board.end_chat(chat);
        let new = ["From the blackboard, plan by BuildAgent:\nnew"];
        assert_eq!(board.needed(other, &kinds), new);
        let after = board.begin_chat();
        assert_eq!(board.needed(after, &kinds), new);
        assert!(board.needed(after, &[ArtifactKind::Code]).is_empty());
    }

    #[test]
    fn chats_side_by_side_are_given_their_own_answers() {
        let mut board = Blackboard::default();
        let agent = AgentName::from("Rater");
        let answer = |value: u32| AcceptedAnswer { value: json!(value), text: String::new() };
        let (one, two) = (board.begin_chat(), board.begin_chat());
        board.accepted((one, &agent), None, &answer(1));
        assert_eq!((board.answer(one, &agent), board.answer(two, &agent)), (Some(&json!(1)), None));
        board.accepted((two, &agent), None, &answer(2));
        board.end_chat(one);
        assert_eq!(board.answer(two, &agent), Some(&json!(2)));
        board.end_chat(two);
        assert_eq!(board.forget_answer(&agent), Some(json!(2)));
    }

    #[test]
    fn a_build_that_passes_takes_the_error_down() {
        let mut board = Blackboard::default();
        let (agent, tool) = (AgentName::from("B"), ToolName::from("build_project"));
        let failed = json!({ "ok": false, "errors": [{ "message": "no such header" }] });
        let chat = board.begin_chat();
        board.answered((chat, &agent), (&tool, &json!({})), &failed);
        board.end_chat(chat);
        let chat = board.begin_chat();
        assert!(board.needed(chat, &[ArtifactKind::Error])[0].contains("no such header"));
        let passed = json!({ "ok": true, "errors": [] });
        board.answered((chat, &agent), (&tool, &json!({})), &passed);
        assert!(board.needed(chat, &[ArtifactKind::Error]).is_empty());
    }

    #[test]
    fn tests_are_an_artifact_of_their_own() {
        let mut board = Blackboard::default();
        let (agent, tool) = (AgentName::from("T"), ToolName::from("run_tests"));
        let counts = json!({ "passed": 3, "failed": 1, "errors": 1, "skipped": 0 });
        let failed = json!({ "ok": false, "counts": counts });
        let chat = board.begin_chat();
        board.answered((chat, &agent), (&tool, &json!({})), &failed);
        board.end_chat(chat);
        let chat = board.begin_chat();
        assert!(board.needed(chat, &[ArtifactKind::Tests])[0].contains("tests by T"));
        let Some(Event::Team(TeamEvent::ArtifactPosted(artifact))) = board.due() else { panic!() };
        assert_eq!(artifact.title, "2 tests failed");
        let broken = json!({ "ok": false, "error": {} });
        board.answered((chat, &agent), (&tool, &json!({})), &broken);
        assert_eq!(board.needed(chat, &[ArtifactKind::Tests]).len(), 1);
    }

    #[test]
    fn each_artifact_is_to_be_recorded_once_and_in_order() {
        let mut board = Blackboard::default();
        board.post(ArtifactKind::Task, "a\nb", None, "a\nb".into());
        let files = "```json\n[{\"file_name\": \"a.c\", \"code\": \"x\"}]\n```";
        board.observe_text(1, &"A".into(), files);
        let mut titles = Vec::new();
        while let Some(Event::Team(TeamEvent::ArtifactPosted(artifact))) = board.due() {
            board.recorded(&artifact);
            titles.push(artifact.title);
        }
        assert_eq!(titles, ["a", "a.c"]);
    }

    #[test]
    fn what_the_person_sends_back_is_named_with_their_words() {
        let file = |name: &str, reason: &str| json!({ "file_name": name, "reason": reason });
        let two = json!([file("a.c", "too long"), file("b.c", "")]);
        assert_eq!(refused_title(&two), "a.c refused, and 1 more: too long");
        assert_eq!(refused_title(&json!([file("b.c", "")])), "b.c refused");
    }
}
