//! Writes down what a model answers, as a script that [`Scripted`](super::Scripted) plays.
//!
//! The script is whole after every answer, so that a run that was killed can be played up to
//! there. Keys never get into it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use regex::Regex;
use serde::Serialize;

use super::retell::ReplayedAnswers;
use super::tokens::Meter;
use super::{ChosenModel, Delta, Provider, Request};
use crate::model::UserError;

/// What keys look like, whoever's they are.
const KEYS: &str = concat!(
    r"(?:sk|pk|rk|key|xai|gsk|hf)[-_][A-Za-z0-9_-]{16,}",
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}",
    r"|AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30,}|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+",
);

/// A model whose answers are written down.
pub struct Recording {
    model: Arc<dyn Provider>,
    tape: Arc<Tape>,
}

struct Tape {
    file: PathBuf,
    keys: Regex,
    script: Mutex<ScriptOut>,
    ends: Mutex<Ends>,
}

/// Where the recording can go on: places of steps.
#[derive(Default)]
struct Ends {
    /// The last answer that was about the whole.
    whole: Option<usize>,
    /// The last answers about steps of the plan since then.
    steps: BTreeMap<u32, usize>,
}

impl Ends {
    /// Takes the answer at `place`; gives the places that it follows.
    fn go_on(&mut self, step: Option<u32>, place: usize) -> Vec<usize> {
        let Some(step) = step else {
            let before = std::mem::take(&mut self.steps);
            let whole = self.whole.replace(place);
            return match before.is_empty() {
                true => whole.into_iter().collect(),
                false => before.into_values().collect(),
            };
        };
        match self.steps.insert(step, place) {
            Some(own) => vec![own],
            // Whether steps were carried out side by side or one after the other.
            None => {
                let others = self.steps.iter().filter(|(known, _)| **known != step);
                self.whole.into_iter().chain(others.map(|(_, place)| *place)).collect()
            }
        }
    }
}

#[derive(Serialize)]
struct ScriptOut {
    format: u32,
    title: String,
    task: String,
    start: String,
    verbatim: bool,
    steps: Vec<StepOut>,
}

#[derive(Serialize, Clone, Default)]
struct StepOut {
    id: String,
    agent: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    end: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    say: String,
    expect: ExpectOut,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calls: Vec<CallOut>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    next: Vec<NextOut>,
}

#[derive(Serialize, Clone, Default)]
struct ExpectOut {
    phase: String,
    attempt: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u32>,
}

#[derive(Serialize, Clone)]
struct CallOut {
    tool: String,
    raw: String,
}

#[derive(Serialize, Clone)]
struct NextOut {
    goto: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    when: Option<WhenOut>,
}

#[derive(Serialize, Clone)]
struct WhenOut {
    step: u32,
}

impl Recording {
    /// Writes the answers of `model` to a task into `file`, after those that a session already
    /// has.
    ///
    /// # Errors
    /// When the file already exists, or it cannot be made.
    pub fn new(
        model: Arc<dyn Provider>,
        file: &Path,
        task: &str,
        earlier: Vec<ReplayedAnswers>,
    ) -> Result<Self, UserError> {
        let cannot = |why: String| {
            UserError::new(
                format!("Cannot record into {}", file.display()),
                why,
                "Name another file with `--record`.",
            )
        };
        if file.exists() {
            return Err(cannot("the file already exists".to_owned()));
        }
        let keys = Regex::new(KEYS).map_err(|error| cannot(error.to_string()))?;
        let script = ScriptOut {
            format: 1,
            title: format!("Recorded from {}", model.label()),
            task: task.to_owned(),
            start: "a1".to_owned(),
            verbatim: true,
            steps: Vec::new(),
        };
        let tape = Tape {
            file: file.to_owned(),
            keys,
            script: Mutex::new(script),
            ends: Mutex::default(),
        };
        // An empty one, to find out now whether it can be written.
        write(file, b"").map_err(|error| cannot(error.to_string()))?;
        let recording = Self { model, tape: Arc::new(tape) };
        for ReplayedAnswers { agent, phase, attempt, step, say, calls } in earlier {
            let calls = calls.into_iter().map(|(tool, raw)| CallOut { tool, raw }).collect();
            let expect = ExpectOut { phase, attempt, step };
            let step = StepOut { agent, say, calls, expect, ..StepOut::default() };
            recording.tape.add(step, |text| recording.tape.clean(&*recording.model, text))?;
        }
        Ok(recording)
    }
}

impl Provider for Recording {
    fn label(&self) -> String {
        self.model.label()
    }

    fn choose(&self, wanted: &str) -> Result<ChosenModel, UserError> {
        self.model.choose(wanted)
    }

    fn meter(&self, request: &Request) -> Option<Meter> {
        self.model.meter(request)
    }

    fn redact(&self, text: &str) -> String {
        self.model.redact(text)
    }

    fn ask_aside(&self, request: Request) -> BoxStream<'static, Result<Delta, UserError>> {
        // Not a step: a question beside the conversation does not move it on.
        self.model.ask_aside(request)
    }

    fn ask(&self, request: Request) -> BoxStream<'static, Result<Delta, UserError>> {
        let mut step = StepOut {
            agent: request.agent.to_string(),
            expect: ExpectOut {
                phase: request.phase.clone(),
                attempt: request.attempt,
                step: request.step,
            },
            ..StepOut::default()
        };
        let (tape, model) = (Arc::clone(&self.tape), Arc::clone(&self.model));
        let answer = self.model.ask(request);
        let received = answer.flat_map(move |delta| {
            let mut note = None;
            match &delta {
                Ok(Delta::Text(text)) => step.say.push_str(text),
                Ok(Delta::Call { tool, args }) => {
                    step.calls.push(CallOut { tool: tool.to_string(), raw: args.clone() });
                }
                Ok(Delta::Again { .. }) => {
                    step.say.clear();
                    step.calls.clear();
                }
                Ok(Delta::Done { .. }) => {
                    let clean = |text: &str| tape.clean(&*model, text);
                    note = tape.add(std::mem::take(&mut step), clean).err();
                }
                Ok(_) | Err(_) => {}
            }
            // Before the end, as nothing may come after it.
            let note = note.map(|error| Ok(Delta::Note(error)));
            stream::iter(note.into_iter().chain([delta]))
        });
        received.boxed()
    }
}

impl Tape {
    /// Without what looks like a key, or is the model's.
    fn clean(&self, model: &dyn Provider, text: &str) -> String {
        let text = model.redact(text);
        self.keys.replace_all(&text, "REMOVED").into_owned()
    }

    fn add(&self, mut step: StepOut, clean: impl Fn(&str) -> String) -> Result<(), UserError> {
        step.say = clean(&step.say);
        for call in &mut step.calls {
            call.raw = clean(&call.raw);
            call.tool = clean(&call.tool);
        }
        // An answer of nothing cannot be played, and nothing follows from it.
        if step.say.trim().is_empty() && step.calls.is_empty() {
            step.say = "(no answer)".to_owned();
        }
        let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
        script.task = clean(&script.task);
        step.id = format!("a{}", script.steps.len() + 1);
        step.end = true;
        let (place, of_plan) = (script.steps.len(), step.expect.step);
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        for before in ends.go_on(of_plan, place) {
            if let Some(before) = script.steps.get_mut(before) {
                before.end = false;
                let when = of_plan.map(|step| WhenOut { step });
                before.next.push(NextOut { goto: step.id.clone(), when });
            }
        }
        script.steps.push(step);
        let cannot = |error: &dyn std::fmt::Display| {
            UserError::from_cause(format!("Cannot record into {}", self.file.display()), error)
        };
        let text = toml::to_string(&*script).map_err(|error| cannot(&error))?;
        write(&self.file, text.as_bytes()).map_err(|error| cannot(&error))
    }
}

/// Replaces the file as a whole.
#[expect(clippy::disallowed_methods, reason = "the recording that the person has asked for")]
fn write(file: &Path, content: &[u8]) -> std::io::Result<()> {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = file.with_file_name(name);
    std::fs::write(&part, content)?;
    std::fs::rename(&part, file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Usage;
    use crate::provider::{ModelOptions, Pacing, Scripted, parse_script};

    struct Fixed(Vec<Vec<Delta>>, Mutex<usize>);

    impl Provider for Fixed {
        fn label(&self) -> String {
            "fixed".into()
        }

        fn redact(&self, text: &str) -> String {
            text.replace("hunter2-key", "•••")
        }

        fn ask(&self, _: Request) -> BoxStream<'static, Result<Delta, UserError>> {
            let mut at = self.1.lock().unwrap();
            *at += 1;
            stream::iter(self.0[*at - 1].clone().into_iter().map(Ok)).boxed()
        }
    }

    fn request(agent: &str, state: Option<String>) -> Request {
        Request {
            step: None,
            agent: agent.into(),
            phase: "generate".into(),
            attempt: 1,
            messages: Arc::from([]),
            tools: Arc::from([]),
            options: ModelOptions::default(),
            form: None,
            state,
        }
    }

    fn play(provider: &dyn Provider, agents: &[&str]) -> Vec<Delta> {
        let mut state = None;
        let mut all = Vec::new();
        for agent in agents {
            let answer = provider.ask(request(agent, state.take()));
            let deltas: Vec<Delta> =
                futures::executor::block_on(answer.map(Result::unwrap).collect());
            for delta in deltas {
                match delta {
                    Delta::Done { state: next, .. } => state = next,
                    Delta::Again { .. } => all.clear(),
                    delta => all.push(delta),
                }
            }
        }
        all
    }

    #[test]
    fn what_was_recorded_plays_again_word_for_word_and_without_keys() {
        let done = || Delta::Done { usage: Usage::default(), state: None };
        let text = |text: &str| Delta::Text(text.into());
        let say = "I use {reason} and \"\"\"quotes\"\"\"\r\n'''too''' \\ 🦀\u{1}";
        let raw = r#"{"path": "a.c", "n": null, "broken": "#;
        let fault = UserError::new("cut", "cut", "");
        let again = Delta::Again { attempt: 2, most: 3, wait_millis: 1, fault };
        let answers = vec![
            vec![text("half"), again, text(say), done()],
            vec![
                text("The key is hunter2-key or sk-abcdefghijklmnopqrstuvwx."),
                Delta::Call { tool: "read_file".into(), args: raw.into() },
                done(),
            ],
            vec![done()],
        ];
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run.toml");
        let model = Arc::new(Fixed(answers, Mutex::new(0)));
        let recording = Recording::new(model.clone(), &file, "Blink", Vec::new()).unwrap();
        let agents = ["Planner", "Coder", "Planner"];
        play(&recording, &agents);
        let written = std::fs::read_to_string(&file).unwrap();
        assert!(!written.contains("hunter2") && !written.contains("sk-abc"), "{written}");
        let script = parse_script("run.toml", &written, &|name| panic!("no file {name}")).unwrap();
        assert_eq!(script.task(), "Blink");
        let played = play(&Scripted::new(Arc::new(script), Pacing::Instant), &agents);
        let removed = text("The key is ••• or REMOVED.");
        let call = Delta::Call { tool: "read_file".into(), args: raw.into() };
        assert_eq!(played, [text(say), removed, call, text("(no answer)")]);
        let error = Recording::new(model, &file, "Blink", Vec::new()).err().unwrap();
        assert!(error.why.contains("already"), "{error:?}");
    }
}
