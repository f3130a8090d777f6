//! Which team takes a task on, and why a team that was wished for does not fit.

use std::path::Path;

use super::request_words::Wanted;
use crate::engine::Team;
use crate::model::{Ground, UserError};
use crate::toolchain::sketch::Sketch;
use crate::workspace::ProjectDir;

/// Looks at a project folder; one that is not there is empty.
#[must_use]
pub fn ground(project: Option<&Path>) -> Ground {
    let project_dir = project.and_then(|path| ProjectDir::open(path).ok());
    match project_dir {
        None => Ground::Empty,
        Some(project_dir) if project_dir.list(1).files.is_empty() => Ground::Empty,
        Some(project_dir) if Sketch::is_at(project_dir.root()) => Ground::Sketch,
        Some(project_dir) if project_dir.is_generated() => Ground::Generated,
        Some(_) => Ground::Existing,
    }
}

/// The team that only answers, and writes no file.
pub const ANSWERS: &str = "single";

/// The team that fits when nobody names one.
#[must_use]
pub const fn usual_team(ground: Ground) -> &'static str {
    match ground {
        Ground::Empty => "generate",
        Ground::Generated => "edit-generated",
        Ground::Sketch => "arduino",
        Ground::Existing => "edit-existing",
    }
}

/// Files at the top of a project that say what builds its firmware.
const OF_FIRMWARE: [&str; 5] =
    ["CMakeLists.txt", "platformio.ini", "component.mk", "idf_component.yml", "sdkconfig"];

/// The team that fits what comes next in a project: as [`usual_team`], unless the project is a program
/// for another machine than a board.
#[must_use]
pub fn next_team(ground: Ground, project: &Path) -> &'static str {
    let is_firmware = || OF_FIRMWARE.iter().any(|name| project.join(name).is_file());
    match ground {
        Ground::Existing if !is_firmware() => "mesh",
        _ => usual_team(ground),
    }
}

/// The team that fits a request, and why: as [`next_team`], unless its words want something else than
/// work on the project.
#[must_use]
pub fn team_for(task: &str, ground: Ground, project: &Path) -> (&'static str, &'static str) {
    let next = next_team(ground, project);
    let is_firmware = matches!(next, "edit-generated" | "edit-existing");
    match Wanted::of(task) {
        Wanted::Answer => (ANSWERS, "it asks for an answer"),
        Wanted::Build if is_firmware => ("mend", "it is about a build that fails"),
        Wanted::Build | Wanted::Work if next == usual_team(ground) => (next, fits_because(ground)),
        Wanted::Build | Wanted::Work => (next, "the project is not one of firmware"),
    }
}

/// Why a team fits when nobody names one.
const fn fits_because(ground: Ground) -> &'static str {
    match ground {
        Ground::Empty => "the project is empty",
        Ground::Generated => "firmhand generated this project",
        Ground::Sketch => "the project is an Arduino sketch",
        Ground::Existing => "the project is your own",
    }
}

/// Checks a team against what there is, by what its file says it works on.
///
/// # Errors
/// When it needs a project and there is none, or another one than this; says which team fits.
pub fn check(team: &Team, ground: Ground) -> Result<(), UserError> {
    if team.works_on.is_empty() || team.works_on.contains(&ground) {
        return Ok(());
    }
    let name = &team.name;
    let does_not_fit = |this: &str, why: &str, fix: &str| {
        Err(UserError::new(format!("Cannot use the team `{name}` for {this}"), why, fix))
    };
    let nothing =
        |why, fix| Err(UserError::new(format!("Cannot start the team `{name}`"), why, fix));
    let mends_sketches = team.works_on == [Ground::Sketch];
    match ground {
        Ground::Empty if mends_sketches => nothing(
            "it works on a sketch, and there is no file in the project folder",
            "Name the sketch's folder with `--project DIR`.",
        ),
        Ground::Empty => nothing(
            "it changes a project, and there is no file in the project folder",
            "Name the folder with `--project DIR`, or use `--team generate`.",
        ),
        Ground::Generated | Ground::Existing if mends_sketches => does_not_fit(
            "this project",
            "there is no `.ino` file directly in its folder, or the folder has a CMakeLists.txt of ESP-IDF or a platformio.ini",
            "Name the sketch's folder with `--project DIR`, or use `--team edit-existing`.",
        ),
        Ground::Sketch => does_not_fit(
            "an Arduino sketch",
            "it works on projects of ESP-IDF",
            "Use `--team arduino`.",
        ),
        Ground::Existing if team.works_on.contains(&Ground::Generated) => does_not_fit(
            "this project",
            "it reads whole projects, and the first line of CMakeLists.txt does not show that firmhand generated this one",
            "Use `--team edit-existing`, or `--team extend-existing` to only add files.",
        ),
        Ground::Existing | Ground::Generated => does_not_fit(
            "this project",
            "it starts in an empty folder",
            "Name an empty folder with `--project DIR`, or use `--team edit-existing`.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Assets;
    use crate::tools;

    fn check(team: &str, ground: Ground) -> Result<(), UserError> {
        super::check(&Team::load(&Assets::built_in(), team, &tools::known).unwrap(), ground)
    }

    #[test]
    fn each_ground_has_its_team() {
        let place = tempfile::tempdir().unwrap();
        assert_eq!(ground(None), Ground::Empty);
        assert_eq!(ground(Some(place.path())), Ground::Empty);
        assert_eq!(ground(Some(&place.path().join("none"))), Ground::Empty);
        let list = place.path().join("CMakeLists.txt");
        let tab = place.path().join("mine.ino");
        std::fs::write(&tab, "void setup() {}\n").unwrap();
        assert_eq!(ground(Some(place.path())), Ground::Sketch);
        assert_eq!(usual_team(Ground::Sketch), "arduino");
        let ini = place.path().join("platformio.ini");
        std::fs::write(&ini, "[env:a]\n").unwrap();
        assert_eq!(ground(Some(place.path())), Ground::Existing, "its tabs are PlatformIO's");
        std::fs::remove_file(&ini).unwrap();
        std::fs::write(&list, "project(mine)\n").unwrap();
        assert_eq!(ground(Some(place.path())), Ground::Existing);
        std::fs::write(&list, "# firmhand: generated project\nproject(mine)\n").unwrap();
        assert_eq!(ground(Some(place.path())), Ground::Generated);
    }

    #[test]
    fn a_program_that_is_no_firmware_goes_on_with_the_team_for_any_code() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("todo.py"), "print(1)\n").unwrap();
        assert_eq!(next_team(Ground::Existing, place.path()), "mesh");
        assert_eq!(next_team(Ground::Generated, place.path()), "edit-generated");
        check("mesh", Ground::Existing).unwrap();
        std::fs::write(place.path().join("CMakeLists.txt"), "project(mine)\n").unwrap();
        assert_eq!(next_team(Ground::Existing, place.path()), "edit-existing");
    }

    #[test]
    fn a_question_and_a_broken_build_have_teams_of_their_own() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("CMakeLists.txt"), "project(mine)\n").unwrap();
        let team = |task, ground| team_for(task, ground, place.path()).0;
        for (task, ground, name) in [
            ("What is a pull-up?", Ground::Existing, "single"),
            ("What is a pull-up?", Ground::Empty, "single"),
            ("The build is broken", Ground::Existing, "mend"),
            ("The build is broken", Ground::Sketch, "arduino"),
            ("Blink twice", Ground::Existing, "edit-existing"),
            ("Blink twice", Ground::Empty, "generate"),
        ] {
            assert_eq!(team(task, ground), name, "{task}");
            check(name, ground).unwrap();
        }
    }

    #[test]
    fn a_team_that_does_not_fit_is_explained() {
        let error = check("edit-generated", Ground::Existing).unwrap_err();
        assert!(error.fix.contains("edit-existing"), "{error:?}");
        let error = check("edit-existing", Ground::Empty).unwrap_err();
        assert!(error.fix.contains("--project"), "{error:?}");
        for team in ["mend", "pair"] {
            assert!(check(team, Ground::Empty).unwrap_err().fix.contains("--project"));
            assert!(check(team, Ground::Sketch).unwrap_err().fix.contains("arduino"));
            assert!(
                check(team, Ground::Existing).is_ok() && check(team, Ground::Generated).is_ok()
            );
        }
        assert!(check("edit-existing", Ground::Generated).is_ok());
        assert!(check("generate", Ground::Empty).is_ok());
        assert!(check("draft", Ground::Sketch).unwrap_err().fix.contains("arduino"));
        for ground in [Ground::Empty, Ground::Existing] {
            assert!(check("arduino", ground).unwrap_err().fix.contains("--project"));
        }
        assert!(check("edit-existing", Ground::Sketch).unwrap_err().fix.contains("arduino"));
        assert!(
            check("arduino", Ground::Sketch).is_ok() && check("single", Ground::Sketch).is_ok()
        );
    }
}
