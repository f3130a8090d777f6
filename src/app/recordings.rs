//! Recorded conversations that ship with the program, or that the person names.
//!
//! Owns where they are and which of them fits. Must not play them.

use std::path::Path;

use crate::config::Assets;
use crate::files;
use crate::model::UserError;
use crate::provider::{Script, parse_script, script_head};

/// Folder of the recorded conversations that ship with the program.
const FOLDER: &str = "assets/demo";

/// The recorded conversation of `firmhand demo`.
const DEMO: &str = "i2c-scan";

/// A recording that ships with the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// Its name, the one of its folder.
    pub name: String,
    /// The task that it answers.
    pub task: String,
    /// The team that it plays.
    pub team: String,
    /// The project it begins with.
    pub starter: Option<String>,
}

impl Recording {
    /// Reads the recording in a file, or the one of that name that ships with the program.
    ///
    /// # Errors
    /// As [`load_script`].
    pub fn load(assets: &Assets, name: &str) -> Result<Self, UserError> {
        let script = load_script(assets, name)?;
        Ok(Self {
            task: script.task().to_owned(),
            team: script.team().to_owned(),
            starter: script.project().map(str::to_owned),
            name: name.to_owned(),
        })
    }

    /// Whether it was made in this project: most files of the one it begins with are there. What it
    /// reads and changes is not in another one.
    #[must_use]
    pub fn is_of(&self, project: &Path, assets: &Assets) -> bool {
        let Some(starter) = &self.starter else { return true };
        let folder = format!("assets/projects/{starter}");
        let files = assets.list(&folder);
        let below =
            |path: &String| path.strip_prefix(&folder)?.strip_prefix('/').map(str::to_owned);
        let there = files.iter().filter_map(below).filter(|file| project.join(file).is_file());
        there.count() * 3 > files.len() * 2
    }
}

/// The recordings that ship with the program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recordings(Vec<Recording>);

impl Recordings {
    /// Reads what each of them is about; whether one can be played shows when it is chosen.
    ///
    /// # Errors
    /// When its beginning is wrong, which only a person's own copy can be.
    pub fn load(assets: &Assets) -> Result<Self, UserError> {
        let names = assets.list(FOLDER).into_iter().filter_map(|path| {
            let below = path.strip_prefix(FOLDER)?.trim_start_matches('/');
            below.strip_suffix("/script.toml").map(str::to_owned)
        });
        let recording = |name: String| {
            let script = assets.text(&format!("{FOLDER}/{name}/script.toml"))?;
            let head = script_head(&script.origin.to_string(), &script.text)?;
            let (task, team, starter) = (head.task, head.team, head.project);
            Ok(Recording { name, task, team, starter })
        };
        names.map(recording).collect::<Result<_, _>>().map(Self)
    }

    /// The recording of a team; without a team, that of the demo.
    ///
    /// # Errors
    /// When the team has none.
    pub fn of_team(&self, team: Option<&str>) -> Result<&Recording, UserError> {
        let is_wanted = |recording: &&Recording| match team {
            Some(team) => recording.team == team,
            None => recording.name == DEMO,
        };
        let is_first = |recording: &&Recording| Some(recording.name.as_str()) == team;
        let first = self.0.iter().find(|it| is_first(it) && is_wanted(it));
        first.or_else(|| self.0.iter().find(is_wanted)).ok_or_else(|| {
            let teams: Vec<&str> = self.0.iter().map(|known| known.team.as_str()).collect();
            UserError::new(
                format!("Cannot play the team `{}`", team.unwrap_or(DEMO)),
                "a demo plays a recorded conversation, and this team has none",
                format!("Use one of: {}.", teams.join(", ")),
            )
        })
    }

    /// The recording that answers `task`, if there is one.
    #[must_use]
    pub fn of_task(&self, task: &str) -> Option<&Recording> {
        self.0.iter().find(|recording| words(&recording.task) == words(task))
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Recording> {
        self.0.iter()
    }
}

/// The words of a task, without case and punctuation.
fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// The recording in a file, or the one of that name that ships with the program.
///
/// # Errors
/// When there is none, or it is wrong; says file and line.
pub fn load_script(assets: &Assets, name: &str) -> Result<Script, UserError> {
    let file = Path::new(name);
    if file.is_absolute() {
        let folder = file.parent().map(Path::to_owned).unwrap_or_default();
        let text = read_text(file)?;
        return parse_script(name, &text, &|sibling| read_text(&folder.join(sibling)));
    }
    let folder = format!("{FOLDER}/{name}");
    let script = assets.text(&format!("{folder}/script.toml"))?;
    parse_script(&script.origin.to_string(), &script.text, &|sibling| {
        Ok(assets.text(&format!("{folder}/{sibling}"))?.text.into_owned())
    })
}

fn read_text(path: &Path) -> Result<String, UserError> {
    files::read_text(path, files::SOURCE).map_err(|error| {
        UserError::new(
            format!("Cannot read {}", path.display()),
            error.to_string(),
            "Check that the file exists and is text.",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Example;

    #[test]
    fn a_recording_is_found_by_team_or_by_the_words_of_its_task() {
        let all = Recordings::load(&Assets::built_in()).unwrap();
        let demo = all.of_team(None).unwrap();
        assert_eq!(demo.name, DEMO);
        assert_eq!(all.of_team(Some(&demo.team)).unwrap().team, demo.team);
        let task = format!("  {} !", demo.task.to_uppercase());
        assert_eq!(all.of_task(&task), Some(demo));
        assert_eq!(all.of_task("something else"), None);
        assert!(all.of_team(Some("nobody")).unwrap_err().fix.contains(&demo.team));
    }

    #[test]
    fn a_recording_is_of_the_project_that_it_was_made_in() {
        let assets = Assets::built_in();
        let all = Recordings::load(&assets).unwrap();
        let project = tempfile::tempdir().unwrap();
        let edits = all.of_team(Some("extend-existing")).unwrap();
        assert!(
            all.of_team(None).unwrap().is_of(project.path(), &assets),
            "it begins with nothing"
        );
        std::fs::create_dir(project.path().join("main")).unwrap();
        for file in ["CMakeLists.txt", "main/CMakeLists.txt", "main/main.c"] {
            std::fs::write(project.path().join(file), "").unwrap();
        }
        assert!(!edits.is_of(project.path(), &assets), "every project has such files");
        let folder = "assets/projects/sensor-node/";
        for file in assets.list("assets/projects/sensor-node") {
            let to = project.path().join(file.strip_prefix(folder).unwrap());
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::write(to, "").unwrap();
        }
        assert!(edits.is_of(project.path(), &assets));
    }

    #[test]
    fn every_recording_is_an_example_and_every_recorded_example_has_its_recording() {
        let assets = Assets::built_in();
        let all = Recordings::load(&assets).unwrap();
        let examples = Example::all(&assets).unwrap();
        for recording in &all.0 {
            let is_same = |example: &&Example| words(&example.task) == words(&recording.task);
            let example = examples.iter().find(is_same).expect(&recording.name);
            assert!(example.is_recorded, "{}", example.name);
            assert_eq!(example.project, recording.starter, "{}", example.name);
        }
        let recorded = examples.iter().filter(|example| example.is_recorded);
        for example in recorded {
            let recording = all.of_task(&example.task).expect(&example.name);
            assert_eq!(example.team, recording.team, "{}", example.name);
        }
    }
}
