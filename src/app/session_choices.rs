//! What the person sets for one session, from its start to all of its later openings.
//!
//! Owns the way from the settings of a start into the session's first record, and back. The budget of
//! a session is not here: the engine records it, as often as the person allows more.

use std::collections::BTreeMap;

use super::machine::Machine;
use crate::config::{LimitOverrides, Origin, Settings, Sourced};
use crate::engine::Supervision;
use crate::model::Budget;
use crate::model::event::SessionChoices;

/// What was set for a session that begins: by the command line or by the start screen, not by files,
/// which hold whenever it is opened.
pub fn of_start(
    settings: &Settings,
    team_limits: BTreeMap<String, u32>,
    supervision: Supervision,
) -> SessionChoices {
    let limits = &settings.limits;
    SessionChoices {
        temperature: settings.models.temperature.map(|degrees| (degrees * 1_000.0).round() as u32),
        team_limits,
        limited_team: String::new(),
        max_attempts: given(&limits.max_attempts).flatten(),
        build_seconds: given(&limits.build_seconds),
        tool_seconds: given(&limits.tool_seconds).flatten(),
        monitor_seconds: given(&limits.monitor_seconds),
        plans_go_on: supervision == Supervision::Show,
    }
}

/// What is set for a session that goes on: as before, but for what was said now. `limits` are those of
/// the team that goes on, with its name; `first` is the team that the session began with.
pub fn of_resume(
    settings: &Settings,
    before: &SessionChoices,
    (team, limits): (&str, &BTreeMap<String, u32>),
    first: &str,
) -> SessionChoices {
    let set = of_start(settings, BTreeMap::new(), supervision(before));
    if limits.is_empty() {
        let (team_limits, limited_team) = (before.team_limits.clone(), before.limited_team.clone());
        return SessionChoices { team_limits, limited_team, ..set };
    }
    let mut team_limits = before.limits_of(team, first);
    team_limits.extend(limits.clone());
    let limited_team = if team == first { String::new() } else { team.to_owned() };
    SessionChoices { team_limits, limited_team, ..set }
}

/// A setting that a flag has set.
fn given<T: Clone>(setting: &Sourced<T>) -> Option<T> {
    matches!(setting.origin, Origin::Flag(_)).then(|| setting.value.clone())
}

/// The machine with what was set for a session; what is set now goes before it.
pub fn machine_for(machine: &Machine, choices: &SessionChoices) -> Machine {
    let settings = &machine.settings;
    let temperature = choices.temperature.map(|thousandths| f64::from(thousandths) / 1_000.0);
    let temperature = settings.models.temperature.or(temperature);
    let limits = &settings.limits;
    let older = LimitOverrides {
        max_attempts: given(&limits.max_attempts).flatten().or(choices.max_attempts),
        build_seconds: given(&limits.build_seconds).or(choices.build_seconds),
        tool_seconds: given(&limits.tool_seconds).flatten().or(choices.tool_seconds),
        monitor_seconds: given(&limits.monitor_seconds).or(choices.monitor_seconds),
    };
    let mut machine = machine.for_session(&Budget::default(), temperature);
    machine.settings.take_limits(older);
    machine
}

/// Whether plans wait in a session that goes on.
pub const fn supervision(choices: &SessionChoices) -> Supervision {
    match choices.plans_go_on {
        true => Supervision::Show,
        false => Supervision::Ask,
    }
}
