//! What agents are told of the framework, the chip and the board that firmware is for.
//!
//! Owns who is told. Must not know toolchains: the words are handed in.

use std::sync::Arc;

use super::definition::{Phase, Team};
use crate::model::ArtifactKind;

/// Tools of a phase in which code is written, be it a snippet, built or flashed.
const TOOLS: &[&str] = &[
    "build_arduino",
    "build_project",
    "flash_arduino",
    "flash_project",
    "generate_code",
    "insert_code",
    "retrieve_docs",
    "write_file",
];

/// Adds `words` to the instructions of every agent of the phases that write, build or flash code.
pub(super) fn add(team: Arc<Team>, words: &str) -> Arc<Team> {
    let mut team = Arc::unwrap_or_clone(team);
    let writes: Vec<bool> = team.phases.iter().map(|phase| writes_code(&team, phase)).collect();
    let phases = team.phases.iter_mut().zip(writes).filter(|(_, writes)| *writes);
    for (phase, _) in phases {
        phase.instruct_all(words);
    }
    Arc::new(team)
}

fn writes_code(team: &Team, phase: &Phase) -> bool {
    phase.participants.iter().filter_map(|name| team.agents.get(name)).any(|agent| {
        agent.makes.contains(&ArtifactKind::Code)
            || agent.tools.iter().any(|tool| TOOLS.contains(&tool.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::assets::Assets;
    use crate::tools;

    #[test]
    fn every_team_that_writes_firmware_tells_its_agents_what_firmware_is_for() {
        let assets = Assets::built_in();
        for name in Team::names(&assets) {
            let team = Team::load(&assets, &name, &tools::known).unwrap();
            let after = add(Arc::clone(&team), "chip: esp32s3");
            let mut count = 0;
            for (old, new) in team.phases.iter().zip(&after.phases) {
                for agent in &new.participants {
                    let words = new.instructions.get(agent).map_or("", String::as_str);
                    let own = old.instructions.get(agent).map_or("", String::as_str);
                    assert!(words.starts_with(own.trim_end()), "{name}, {agent}");
                    count += usize::from(words.ends_with("chip: esp32s3"));
                }
            }
            // What a contract describes is a program in Python, and no firmware.
            assert_eq!(count > 0, name != "contract", "{name}");
        }
    }
}
