//! Notices when a team goes in circles: the same files, the same failing build, or the same turn,
//! again.

use serde_json::Value;

use crate::model::{AgentName, ContentHash, ToolCall};
use crate::text::recover;

/// How often the same errors may come back although files were changed in between.
const SAME_ERRORS: u32 = 3;

/// How often in a row nothing of what was approved could be carried out.
const FRUITLESS: u32 = 2;

/// What was seen last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::engine) struct Guard {
    /// What was last handed to the tool that saves.
    saved: Option<ContentHash>,
    /// The files an agent last wrote down, for each agent that did.
    written: Vec<(AgentName, ContentHash)>,
    /// The errors of the last build that failed.
    errors: Option<ContentHash>,
    /// How often they came in a row.
    times: u32,
    /// Whether a file was changed since then.
    is_changed: bool,
    /// Calls in a row that could not carry out anything that was approved.
    fruitless: u32,
    /// What each agent ran last, as long as it failed and nothing has changed since.
    runs: Vec<(AgentName, ContentHash)>,
    /// What each agent did in its last turn, as long as nothing has changed since.
    turns: Vec<(AgentName, ContentHash)>,
}

impl Guard {
    /// Whether a call that saves files has the same arguments as the last one that was decided.
    pub fn repeats_save(&self, args: &Value) -> bool {
        self.saved == Some(hash(args))
    }

    /// A call that saves files came to a decision.
    pub fn decided(&mut self, args: &Value) {
        self.saved = Some(hash(args));
    }

    /// Takes what an agent said; tells whether it holds the same list of files as the last time
    /// this agent wrote one.
    pub fn repeats_files(&mut self, agent: &AgentName, message: &str) -> bool {
        if !message.contains("\"file_name\"") {
            return false;
        }
        let Ok(files) = recover::structured(message) else { return false };
        let hash = hash(&files);
        let is_same = remember(&mut self.written, agent, hash);
        if !is_same {
            self.turns.clear();
        }
        is_same
    }

    /// Takes what an agent did in a turn, see [`trail`]; tells whether it did the same in its turn
    /// before, with nothing changed in between.
    pub fn repeats_turn(&mut self, agent: &AgentName, trail: Option<ContentHash>) -> bool {
        let trail = trail.unwrap_or_else(|| ContentHash::of(b""));
        let is_same = remember(&mut self.turns, agent, trail);
        if is_same {
            // Whoever lets it go on is asked again only after two more.
            self.turns.retain(|(name, _)| name != agent);
        }
        is_same
    }

    /// An agent ran something; tells whether it is the same as it ran before, and failed again.
    pub fn repeats_run(&mut self, agent: &AgentName, call: &ToolCall, is_ok: bool) -> bool {
        if is_ok {
            self.runs.retain(|(name, _)| name != agent);
            return false;
        }
        let run = ContentHash::of(format!("{} {}", call.tool, call.args).as_bytes());
        let is_same = remember(&mut self.runs, agent, run);
        if is_same {
            // A person who lets it go on is asked again after two more.
            self.runs.retain(|(name, _)| name != agent);
        }
        is_same
    }

    /// Another chat begins, or the person spoke: what was said before is no measure any more.
    pub fn begin_anew(&mut self) {
        self.turns.clear();
        self.runs.clear();
    }

    /// A file of the project was changed.
    pub fn changed(&mut self) {
        self.is_changed = true;
        self.turns.clear();
        self.runs.clear();
    }

    /// Takes the answer of a tool with effects; tells the cause when approved effects have failed
    /// several times in a row, which more talk does not mend.
    pub fn fails_again(&mut self, result: &Value) -> Option<String> {
        let failed = result.get("failed").and_then(Value::as_array);
        let Some(why) = failed.and_then(|failed| failed.first()?.get("why")?.as_str()) else {
            self.fruitless = 0;
            return None;
        };
        let is_fruitless = ["saved", "deleted"]
            .iter()
            .all(|done| result.get(*done).and_then(Value::as_array).is_none_or(Vec::is_empty));
        self.fruitless = if is_fruitless { self.fruitless + 1 } else { 0 };
        (self.fruitless >= FRUITLESS).then(|| {
            self.fruitless = 0;
            why.to_owned()
        })
    }

    /// A build passed.
    pub fn passed(&mut self) {
        self.errors = None;
        self.times = 0;
    }

    /// A build failed with these errors; tells whether the team goes in circles: the same errors
    /// with unchanged files, or for the third time although files were changed.
    pub fn repeats_failure(&mut self, errors: &Value) -> bool {
        let hash = hash(errors);
        let is_same = self.errors.replace(hash) == Some(hash);
        self.times = if is_same { self.times + 1 } else { 1 };
        let was_changed = std::mem::take(&mut self.is_changed);
        is_same && (!was_changed || self.times >= SAME_ERRORS)
    }
}

/// What an agent did so far in a turn, with one more answer of its model: its words, however they
/// are laid out, and its calls.
pub(in crate::engine) fn trail(
    before: Option<ContentHash>,
    text: &str,
    calls: &[ToolCall],
) -> ContentHash {
    let mut done = before.map(|before| before.to_string()).unwrap_or_default();
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    for word in words {
        done.push(' ');
        done.extend(word.chars().flat_map(char::to_lowercase));
    }
    for call in calls {
        done.push_str(&format!("\n{} {}", call.tool, call.args));
    }
    ContentHash::of(done.as_bytes())
}

/// Keeps what an agent came up with; tells whether it is what was kept before.
fn remember(kept: &mut Vec<(AgentName, ContentHash)>, agent: &AgentName, new: ContentHash) -> bool {
    match kept.iter_mut().find(|(name, _)| name == agent) {
        Some((_, last)) => std::mem::replace(last, new) == new,
        None => {
            kept.push((agent.clone(), new));
            false
        }
    }
}

fn hash(value: &Value) -> ContentHash {
    // A JSON value always serialises.
    ContentHash::of(&serde_json::to_vec(value).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_same_save_twice_in_a_row_is_noticed_and_an_other_one_between_is_not() {
        let mut guard = Guard::default();
        let (a, b) = (json!({ "files": ["a"] }), json!({ "files": ["b"] }));
        assert!(!guard.repeats_save(&a));
        guard.decided(&a);
        assert!(guard.repeats_save(&a));
        assert!(!guard.repeats_save(&b));
        guard.decided(&b);
        assert!(!guard.repeats_save(&a));
    }

    #[test]
    fn the_same_failure_counts_at_once_only_when_nothing_was_changed() {
        let mut guard = Guard::default();
        let errors = json!([{ "message": "no such header" }]);
        assert!(!guard.repeats_failure(&errors));
        guard.changed();
        assert!(!guard.repeats_failure(&errors));
        guard.changed();
        assert!(guard.repeats_failure(&errors), "third time");
        guard.passed();
        assert!(!guard.repeats_failure(&errors));
        assert!(guard.repeats_failure(&errors), "unchanged files");
        assert!(!guard.repeats_failure(&json!(["other"])));
    }

    #[test]
    fn the_same_turn_is_noticed_unless_something_happened_in_between() {
        let mut guard = Guard::default();
        let agent = AgentName::from("CodeReviewerAgent");
        let turn = |text: &str| Some(trail(None, text, &[]));
        assert!(!guard.repeats_turn(&agent, turn("Nothing to save.")));
        assert!(!guard.repeats_turn(&"Other".into(), turn("Nothing to save.")));
        assert!(guard.repeats_turn(&agent, turn("**nothing** to\nsave")));
        assert!(!guard.repeats_turn(&agent, turn("Nothing to save.")), "it was allowed once more");
        assert!(guard.repeats_turn(&agent, turn("Nothing to save.")));
        for between in [Guard::changed, Guard::begin_anew] {
            guard.repeats_turn(&agent, turn("Nothing to save."));
            between(&mut guard);
            assert!(!guard.repeats_turn(&agent, turn("Nothing to save.")));
        }
        let call =
            ToolCall { id: crate::model::CallId(1), tool: "read_file".into(), args: json!({}) };
        assert_ne!(turn("x"), Some(trail(None, "x", std::slice::from_ref(&call))));
        let other = ToolCall { id: crate::model::CallId(2), ..call.clone() };
        assert_eq!(trail(None, "x", &[call]), trail(None, "x", &[other]));
    }

    #[test]
    fn the_same_run_that_fails_again_is_noticed_and_a_corrected_one_is_not() {
        let mut guard = Guard::default();
        let agent = AgentName::from("DebuggerAgent");
        let run = |code: &str| ToolCall {
            id: crate::model::CallId(1),
            tool: "run_tests".into(),
            args: json!({ "files": [{ "file_name": "test_a.py", "code": code }] }),
        };
        assert!(!guard.repeats_run(&agent, &run("a"), false));
        assert!(!guard.repeats_run(&agent, &run("b"), false));
        assert!(!guard.repeats_run(&"Other".into(), &run("b"), false));
        assert!(guard.repeats_run(&agent, &run("b"), false));
        assert!(!guard.repeats_run(&agent, &run("b"), false), "it was allowed once more");
        assert!(!guard.repeats_run(&agent, &run("b"), true));
        assert!(!guard.repeats_run(&agent, &run("b"), false));
        guard.changed();
        assert!(!guard.repeats_run(&agent, &run("b"), false));
    }

    #[test]
    fn effects_that_fail_twice_in_a_row_are_noticed_with_their_cause() {
        let mut guard = Guard::default();
        let failed = json!({ "saved": [], "failed": [{ "file_name": "a", "why": "disk full" }] });
        let saved = json!({ "saved": ["a"] });
        assert_eq!(guard.fails_again(&failed), None);
        assert_eq!(guard.fails_again(&saved), None);
        assert_eq!(guard.fails_again(&failed), None);
        assert_eq!(guard.fails_again(&failed), Some("disk full".to_owned()));
        assert_eq!(guard.fails_again(&failed), None, "asked anew only after two more");
    }

    #[test]
    fn each_agent_is_compared_with_itself_and_layout_does_not_matter() {
        let mut guard = Guard::default();
        let generator = AgentName::from("CodeGeneratorAgent");
        let one = r#"[{"file_name": "a.c", "code": "int a;"}]"#;
        let fenced = "Again:\n```json\n[{\"file_name\":\"a.c\",\"code\":\"int a;\"}]\n```";
        assert!(!guard.repeats_files(&generator, one));
        assert!(!guard.repeats_files(&"CodeFixerAgent".into(), one));
        assert!(guard.repeats_files(&generator, fenced));
        assert!(!guard.repeats_files(&generator, "no files here"));
    }
}
