//! Why a run stops to ask the person, and the words it asks with.

use serde_json::{Value, json};

use crate::model::{AgentName, MODEL_HINT, READ_FILES, START_PLAN, UserError};

/// Why the run cannot go on without the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Concern {
    /// An agent came up with the same files as before.
    SameFiles(AgentName),
    /// A build failed in the same way as before.
    SameBuild,
    /// An agent said and did the same as in its last turn.
    SameTurn(AgentName),
    /// An agent ran the same again, and it failed again.
    SameRun(AgentName),
    /// An agent's answers could not be read again and again, for this reason.
    Unreadable(AgentName, String),
    /// An agent's answers failed their check more often than they may.
    ChecksUsedUp(AgentName, u32),
    /// An agent called tools wrongly again and again.
    WrongCalls(AgentName),
    /// What was approved could not be carried out again and again, for this cause.
    NothingDone(AgentName, String),
    /// Whoever has to name the next speaker named nobody again and again.
    NobodyNamed(AgentName),
    /// An agent failed more often in a row than the pipeline allows.
    ReworkUsedUp(AgentName, u32),
    /// A plan waits for the person; what is wrong with the order of its steps, in sentences.
    Plan(AgentName, Vec<String>),
    /// Files wait for the person before they are read.
    Context(AgentName),
    /// The model of an agent failed.
    Failed(AgentName, UserError),
    /// The session has used what it may use.
    Spent(String),
    /// All attempts of a phase failed: its name, their number, and why the last one failed.
    AttemptsUsedUp(String, u32, String),
}

/// Whether another model can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OtherModels {
    Some,
    /// A recording answers.
    #[default]
    None,
}

/// What a question holds up besides the run itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    Nothing,
    Plan,
    /// Files for the context.
    Context,
}

impl Concern {
    /// What waits for the answer.
    #[must_use]
    pub const fn waits_for(&self) -> Waiting {
        match self {
            Self::Plan(..) => Waiting::Plan,
            Self::Context(_) => Waiting::Context,
            _ => Waiting::Nothing,
        }
    }

    /// Whether the first answer allows the run to use more than it was given.
    #[must_use]
    pub const fn allows_more(&self) -> bool {
        matches!(self, Self::Spent(_) | Self::AttemptsUsedUp(..))
    }

    /// Whether it is settled by that answer: words that name none of the answers allow nothing.
    #[must_use]
    pub fn takes(&self, answer: &str) -> bool {
        !self.allows_more() || self.question().1.iter().any(|option| option == answer)
    }

    /// The question, with the way to another model where there is one and it could help.
    #[must_use]
    pub fn words(&self, models: OtherModels) -> String {
        let (mut text, _) = self.question();
        let is_due_to_model =
            matches!(self, Self::Spent(_) | Self::AttemptsUsedUp(..) | Self::Failed(..));
        if models == OtherModels::Some && is_due_to_model {
            text.push_str(MODEL_HINT);
        }
        text
    }

    /// The question, and the answers to choose from; the last one always ends the run.
    #[must_use]
    pub fn question(&self) -> (String, Vec<String>) {
        let go_on = || vec!["go on".to_owned(), STOP.to_owned()];
        match self {
            Self::SameFiles(agent) => {
                (format!("{agent} wrote the same files as last time. Continue?"), go_on())
            }
            Self::SameBuild => {
                ("The build fails in the same way as before. Continue?".to_owned(), go_on())
            }
            Self::SameTurn(agent) => {
                (format!("{agent} says and does the same as in its last turn. Continue?"), go_on())
            }
            Self::SameRun(agent) => {
                (format!("{agent} ran the same again, and it failed again. Continue?"), go_on())
            }
            Self::Unreadable(agent, fault) => {
                let fault = fault.trim_end_matches([',', ';', ':', '.', ' ']);
                (format!("The answers of {agent} cannot be read: {fault}. Ask it again?"), go_on())
            }
            Self::ChecksUsedUp(agent, most) => (
                format!(
                    "The answer of {agent} still fails its check after {most} corrections. Ask it again?"
                ),
                go_on(),
            ),
            Self::WrongCalls(agent) => (
                format!("{agent} called its tools incorrectly three times in a row. Continue?"),
                go_on(),
            ),
            Self::NothingDone(agent, why) => (
                format!("No approved action of {agent} could be carried out: {why}. Continue?"),
                go_on(),
            ),
            Self::NobodyNamed(agent) => (
                format!("{agent} did not name the next agent, three times in a row. Continue?"),
                go_on(),
            ),
            Self::ReworkUsedUp(agent, most) => (
                format!("{agent} failed again after {most} attempts to fix it. Continue?"),
                go_on(),
            ),
            Self::Plan(agent, faults) => {
                (planned(agent, faults), vec![START_PLAN.to_owned(), STOP.to_owned()])
            }
            Self::Context(agent) => (
                format!("{agent} chose files for the context. Read them, or name other files?"),
                vec![READ_FILES.to_owned(), STOP.to_owned()],
            ),
            Self::Spent(what) => (
                format!("The budget of the session is used up: {what}. Allow as much again?"),
                go_on(),
            ),
            Self::AttemptsUsedUp(title, attempts, why) => {
                (used_up(title, *attempts, why), vec!["go on".to_owned(), END_RUN.to_owned()])
            }
            Self::Failed(agent, error) => (
                format!("The model did not answer {agent}: {}. Try again?", error.why),
                vec!["retry".to_owned(), STOP.to_owned()],
            ),
        }
    }
}

/// Most faults of a plan that its question tells.
const MOST_FAULTS: usize = 3;

fn planned(agent: &AgentName, faults: &[String]) -> String {
    let mut text = format!("{agent} has planned the work.");
    for fault in faults.iter().take(MOST_FAULTS) {
        text.push(' ');
        text.push_str(fault);
    }
    if let Some(more) = faults.len().checked_sub(MOST_FAULTS).filter(|more| *more > 0) {
        text.push_str(&format!(" The plan shows {more} more."));
    }
    text.push_str(" Start, or write what should change?");
    text
}

fn used_up(title: &str, attempts: u32, why: &str) -> String {
    let word = if attempts == 1 { "attempt" } else { "attempts" };
    format!(
        "The phase “{title}” did not reach its goal in {attempts} {word}: {why}. Allow as many again?"
    )
}

/// Whether a question with these answers may be answered with another model.
pub(super) fn takes_model(options: &[String]) -> bool {
    options.first().is_some_and(|first| ["go on", "retry"].contains(&first.as_str()))
}

/// The answer after which a run whose attempts are used up has failed.
pub(super) const END_RUN: &str = "end the run";

/// The answer that ends a run.
pub(super) const STOP: &str = "stop";

/// The word of a tool error: a limit in minutes or seconds ended the call.
pub(super) const OUT_OF_TIME: &str = "out_of_time";

/// Why a run failed in which some steps of the plan could not be done.
pub(super) fn unfinished(why: &str) -> UserError {
    UserError::new(
        "Not all of the plan was done",
        why,
        "Look at what these steps say in the chat, then ask for them in a new request.",
    )
}

/// How a run ends when a phase has failed for good.
pub(super) fn failure(title: &str, attempts: u32, why: &str) -> UserError {
    let after = if attempts > 1 { format!(" after {attempts} attempts") } else { String::new() };
    UserError::new(
        format!("The phase “{title}” did not reach its goal{after}"),
        why,
        "Look at its last messages and logs, then make the request more precise.",
    )
}

/// The answer to a call that was not made.
pub(super) fn not_run(code: &str, why: &str) -> Value {
    json!({ "ok": false, "error": { "code": code, "message": why } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_clean_sentences_and_say_what_can_be_typed() {
        let fault = "complexity: 11 instead of an integer, 1 to 10,".to_owned();
        let (text, _) = Concern::Unreadable("Judge".into(), fault).question();
        assert!(text.contains("an integer, 1 to 10. Ask it again?"), "{text}");
        for concern in [
            Concern::Spent("10 turns".to_owned()),
            Concern::AttemptsUsedUp("plan".to_owned(), 3, "no list".to_owned()),
            Concern::Failed("Coder".into(), UserError::new("", "busy (429). Try again", "")),
        ] {
            let text = concern.words(OtherModels::Some);
            assert!(
                text.contains("again? To go on with another model, type “model NAME”."),
                "{text}"
            );
            assert!(
                concern.words(OtherModels::None).ends_with("again?"),
                "a recording has no other model"
            );
        }
        let faults = (1..=5).map(|number| format!("Fault {number}.")).collect();
        let (text, _) = Concern::Plan("Planner".into(), faults).question();
        assert!(text.contains("Fault 3. The plan shows 2 more. Start"), "{text}");
    }
}
