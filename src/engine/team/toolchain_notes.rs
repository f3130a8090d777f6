//! What agents are told of a toolchain that their own instructions do not speak of.
//!
//! Owns the files of `prompts/toolchains`. Must not know which toolchains there are.

use std::sync::Arc;

use super::definition::Team;
use crate::config::assets::Assets;
use crate::model::UserError;

/// Where the words lie, one file for a toolchain.
const FOLDER: &str = "prompts/toolchains";

/// Adds what holds with that toolchain to the instructions of every agent.
pub(super) fn add(
    team: Arc<Team>,
    assets: &Assets,
    toolchain: &str,
) -> Result<Arc<Team>, UserError> {
    let path = format!("{FOLDER}/{toolchain}.md");
    if !assets.list(FOLDER).contains(&path) {
        return Ok(team);
    }
    let file = assets.text(&path)?;
    let words = file.text.trim();
    if words.is_empty() {
        return Err(UserError::new(
            format!("Cannot use {}, line 1", file.origin),
            "it is empty",
            "Write what agents must know about projects that are built this way, or remove it.",
        ));
    }
    let mut team = Arc::unwrap_or_clone(team);
    for phase in &mut team.phases {
        phase.instruct_all(words);
    }
    Ok(Arc::new(team))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools;

    fn load(name: &str) -> Arc<Team> {
        Team::load(&Assets::built_in(), name, &tools::known).unwrap()
    }

    #[test]
    fn every_agent_is_told_of_a_toolchain_that_has_words_and_keeps_its_own() {
        let assets = Assets::built_in();
        let before = load("mend");
        let after = load("mend").briefed(&assets, "platformio").unwrap();
        for (old, new) in before.phases.iter().zip(&after.phases) {
            assert_eq!(old.participants.len(), new.instructions.len());
            for (agent, instruction) in &new.instructions {
                assert!(instruction.contains("lib_deps"), "{agent}");
                let own = old.instructions.get(agent).map_or("", |own| own.trim_end());
                assert!(instruction.starts_with(own), "{agent}");
            }
        }
        for toolchain in ["virtual", "idf", "../agents/BuildAgent"] {
            assert_eq!(*load("mend").briefed(&assets, toolchain).unwrap(), *before, "{toolchain}");
        }
    }
}
