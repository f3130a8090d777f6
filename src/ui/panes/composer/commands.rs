//! The commands that a message may be: `/pause` and others.

use crate::model::{AgentName, Intent};
use crate::ui::action::Action;
use crate::ui::pane::Effect;
use crate::view::RunState;

/// Commands by name, with what they do.
pub(super) const COMMANDS: [(&str, &str); 8] = [
    ("pause", "pauses the run once what is under way has ended"),
    ("resume", "continues the run"),
    ("stop", "ends the run"),
    ("model", "switches the model: /model, /model PROFILE, /model PROFILE/MODEL"),
    ("team", "chooses the team of the next run: /team, /team NAME"),
    ("next", "names who speaks next where a policy chooses: /next AGENT"),
    ("quit", "leaves the program"),
    ("help", "shows what every key does"),
];

/// Whether a command does something while the run stands like that.
pub(super) fn works_now(name: &str, state: &RunState) -> bool {
    match name {
        "pause" => matches!(state, RunState::Running),
        "resume" => matches!(state, RunState::Paused),
        "stop" | "next" => !state.is_over(),
        "team" => matches!(state, RunState::Ended(_)),
        _ => true,
    }
}

/// What a command does, given without its `/`, while the run stands like that.
pub(super) fn run_command(command: &str, state: &RunState) -> Vec<Effect> {
    let name = command.split_whitespace().next().unwrap_or_default();
    match name {
        _ if state.is_over() && !works_now(name, state) => {
            Effect::refuse(format!("`/{name}` does nothing: the run is over"))
        }
        "pause" => vec![Effect::intent(Intent::Pause)],
        "resume" => vec![Effect::intent(Intent::Resume)],
        "stop" => vec![Effect::intent(Intent::Stop)],
        "model" => match command.split_whitespace().nth(1) {
            Some(profile) => vec![Effect::intent(Intent::UseModel { profile: profile.to_owned() })],
            None => vec![Effect::Act(Action::ChooseModel)],
        },
        "team" => vec![Effect::Act(Action::NextTeam)],
        "next" => match command.split_whitespace().nth(1) {
            Some(agent) => {
                let agent = AgentName::from(agent.trim_start_matches('@'));
                vec![Effect::intent(Intent::NameSpeaker { agent })]
            }
            None => Effect::refuse("name the agent that speaks next: /next AGENT"),
        },
        "quit" => vec![Effect::Act(Action::Quit)],
        "help" => vec![Effect::Act(Action::Help)],
        _ => {
            let known: Vec<String> = COMMANDS.iter().map(|(name, _)| format!("/{name}")).collect();
            Effect::refuse(format!("there is no command `/{name}`; use {}", known.join(" ")))
        }
    }
}
