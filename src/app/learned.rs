//! The learned policy that a team brings to a run.
//!
//! Owns which table that is: the saved one of the team, or one trained on simulated tasks at once.

use std::path::Path;
use std::sync::Arc;

use super::shipped::load_team;
use crate::config::Assets;
use crate::engine::Team;
use crate::model::{PolicyAgent, UserError};
use crate::policy::{
    MIXED, PROCESS, Process, Provenance, SimulatedAgent, Store, Trained, Trainer, snapshot,
    usual_episodes,
};

/// The team with the table that chooses who speaks, where its file wants one.
///
/// # Errors
/// When its policy cannot be used, or is one of other agents.
pub fn with_policy(assets: &Assets, data: &Path, team: Arc<Team>) -> Result<Arc<Team>, UserError> {
    let Some(agents) = team.policy_agents() else { return Ok(team) };
    let store = Store::new(data, &team.name)?;
    let policy = match store.load()? {
        Some(policy) => policy,
        None => trained(shipped_process(assets, &agents)?, &team.name)?,
    };
    let table = snapshot(&policy)?;
    if table.agents != agents {
        let words = |agents: &[PolicyAgent]| {
            agents.iter().map(|agent| agent.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        return Err(UserError::new(
            format!("Cannot use {}", store.path().display()),
            format!(
                "it chooses among {} with other roles or names than the team `{}`, which has {}",
                words(&table.agents),
                team.name,
                words(&agents)
            ),
            format!("Run `firmhand policy train --team {}`.", team.name),
        ));
    }
    Ok(team.with_policy(table))
}

/// The simulated work of a team: chances and rewards of the file, agents of the team if it has any
/// that a policy chooses among.
///
/// # Errors
/// When a file is wrong.
pub fn process_of(assets: &Assets, team: &str) -> Result<Process, UserError> {
    shipped_process(assets, &agents_of(assets, team)?)
}

/// As [`process_of`], with the chances and rewards of `given`.
///
/// # Errors
/// When the team's file is wrong.
pub fn process_by(assets: &Assets, team: &str, given: Process) -> Result<Process, UserError> {
    Ok(with_agents(given, &agents_of(assets, team)?))
}

/// The team of that name, if there is one.
fn known_team(assets: &Assets, name: &str) -> Result<Option<Arc<Team>>, UserError> {
    let is_known = Team::names(assets).iter().any(|known| known == name);
    is_known.then(|| load_team(assets, name)).transpose()
}

/// The agents that a policy of the team chooses among; none where there is no such team.
fn agents_of(assets: &Assets, team: &str) -> Result<Vec<PolicyAgent>, UserError> {
    let team = known_team(assets, team)?;
    Ok(team.and_then(|team| team.policy_agents()).unwrap_or_default())
}

/// Why no run would use a policy of this team; `None` where runs do.
///
/// # Errors
/// When the team's file is wrong.
pub fn unused(assets: &Assets, team: &str) -> Result<Option<String>, UserError> {
    let Some(known) = known_team(assets, team)? else {
        return Ok(Some(format!("There is no team `{team}` that would use this policy.")));
    };
    Ok(known.policy_agents().is_none().then(|| {
        format!(
            "The team `{team}` does not choose who speaks by a policy, and will not use this one."
        )
    }))
}

fn shipped_process(assets: &Assets, agents: &[PolicyAgent]) -> Result<Process, UserError> {
    let file = assets.text(PROCESS)?;
    Ok(with_agents(Process::parse(&file.origin.to_string(), &file.text)?, agents))
}

fn with_agents(mut process: Process, agents: &[PolicyAgent]) -> Process {
    if !agents.is_empty() {
        let simulated =
            |agent: &PolicyAgent| SimulatedAgent { name: agent.name.to_string(), role: agent.role };
        process.agents = agents.iter().map(simulated).collect();
    }
    process
}

/// A policy that has learned nothing yet, to be trained on tasks of that class or the usual one.
///
/// # Errors
/// When there are no such tasks.
pub fn untrained(
    team: &str,
    process: Process,
    tasks: Option<&str>,
    seed: u64,
) -> Result<Trained, UserError> {
    let tasks = tasks.unwrap_or(&process.train_on).to_owned();
    Trained::new(Provenance {
        team: team.to_owned(),
        knows_classes: tasks == MIXED,
        tasks,
        seed: seed.to_string(),
        episodes: 0,
        sessions: 0,
        learned_from: Vec::new(),
        date: String::new(),
        process,
    })
}

fn trained(process: Process, team: &str) -> Result<Trained, UserError> {
    let episodes = usual_episodes(process.agents.len());
    let mut policy = untrained(team, process, None, 1)?;
    Trainer::new(&policy.model, 1, 0).train(&mut policy.table, episodes);
    policy.origin.episodes = episodes;
    Ok(policy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::SpeakerSelection;
    use crate::tools;

    fn team(name: &str) -> Arc<Team> {
        Team::load(&Assets::built_in(), name, &tools::known).unwrap()
    }

    fn table_of(team: &Team) -> Arc<crate::model::PolicyTable> {
        let table = team.phases.iter().find_map(|phase| match &phase.selection {
            SpeakerSelection::Policy(table) => table.clone(),
            _ => None,
        });
        table.unwrap()
    }

    #[test]
    fn the_learned_team_is_ready_without_a_training_and_takes_a_saved_one() {
        let (assets, data) = (Assets::built_in(), tempfile::tempdir().unwrap());
        let ready = with_policy(&assets, data.path(), team("learned")).unwrap();
        let first = table_of(&ready);
        assert_eq!((first.episodes, first.agents.len()), (5_000, 4));
        let store = Store::new(data.path(), "learned").unwrap();
        let mut saved = trained(process_of(&assets, "learned").unwrap(), "learned").unwrap();
        saved.origin.sessions = 3;
        store.save(&store.lock().unwrap(), &saved).unwrap();
        let taken = table_of(&with_policy(&assets, data.path(), team("learned")).unwrap());
        assert_eq!(taken.sessions, 3);
        assert_ne!(taken.hash, first.hash);
        let other = with_policy(&assets, data.path(), team("single")).unwrap();
        assert_eq!(*other, *team("single"));
    }

    #[test]
    fn a_policy_of_other_agents_is_refused() {
        let (assets, data) = (Assets::built_in(), tempfile::tempdir().unwrap());
        let store = Store::new(data.path(), "learned").unwrap();
        let mut process = process_of(&assets, "learned").unwrap();
        process.agents.swap(0, 1);
        store.save(&store.lock().unwrap(), &trained(process, "learned").unwrap()).unwrap();
        let error = with_policy(&assets, data.path(), team("learned")).unwrap_err();
        assert!(
            error.why.contains("coder, planner") && error.fix.contains("policy train"),
            "{error}"
        );
    }
}
