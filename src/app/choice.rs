//! Which team takes a task on, and why a team that was wished for does not fit.

use std::path::Path;

use crate::model::UserError;
use crate::toolchain::sketch::Sketch;
use crate::workspace::Sandbox;

/// What there is to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// No file.
    Empty,
    /// A project that this program generated.
    Generated,
    /// An Arduino sketch.
    Sketch,
    /// Any other project.
    Existing,
}

impl Ground {
    /// Looks at a project folder; one that is not there is empty.
    #[must_use]
    pub fn of(project: Option<&Path>) -> Self {
        let sandbox = project.and_then(|path| Sandbox::open(path).ok());
        match sandbox {
            None => Self::Empty,
            Some(sandbox) if sandbox.list(1).files.is_empty() => Self::Empty,
            Some(sandbox) if Sketch::is_at(sandbox.root()) => Self::Sketch,
            Some(sandbox) if sandbox.is_generated() => Self::Generated,
            Some(_) => Self::Existing,
        }
    }

    /// The team that fits when nobody names one.
    #[must_use]
    pub const fn team(self) -> &'static str {
        match self {
            Self::Empty => "generate",
            Self::Generated => "edit-generated",
            Self::Sketch => "arduino",
            Self::Existing => "edit-existing",
        }
    }
}

/// Teams that change a project of ESP-IDF.
const CHANGING: [&str; 5] = ["edit-generated", "edit-existing", "extend-existing", "mend", "pair"];

/// Checks a team against what there is.
///
/// # Errors
/// When it needs a project and there is none, or a generated one and this is another; says which
/// team fits.
pub fn check(team: &str, ground: Ground) -> Result<(), UserError> {
    let edits = CHANGING.contains(&team);
    match ground {
        Ground::Empty if edits => Err(UserError::new(
            format!("the team `{team}` has nothing to work on"),
            "it changes a project, and there is no file in the project folder",
            "name the folder with `--project DIR`, or use `--team generate`",
        )),
        Ground::Empty if team == "arduino" => Err(UserError::new(
            "the team `arduino` has nothing to work on",
            "it mends a sketch, and there is no file in the project folder",
            "name the sketch's folder with `--project DIR`",
        )),
        Ground::Generated | Ground::Existing if team == "arduino" => Err(UserError::new(
            "the team `arduino` does not fit this project",
            "there is no `.ino` file right in its folder, or there is a CMakeLists.txt as ESP-IDF \
             has it",
            "name the sketch's folder with `--project DIR`, or use `--team edit-existing`",
        )),
        Ground::Sketch if edits || ["generate", "draft"].contains(&team) => Err(UserError::new(
            format!("the team `{team}` does not fit an Arduino sketch"),
            "it works on projects of ESP-IDF",
            "use `--team arduino`",
        )),
        Ground::Existing if team == "edit-generated" => Err(UserError::new(
            "the team `edit-generated` does not fit this project",
            "it reads a project whole, and the first line of CMakeLists.txt does not say that \
             firmhand generated this one",
            "use `--team edit-existing`, or `--team extend-existing` to only add files",
        )),
        Ground::Empty | Ground::Generated | Ground::Sketch | Ground::Existing => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_ground_has_its_team() {
        let place = tempfile::tempdir().unwrap();
        assert_eq!(Ground::of(None), Ground::Empty);
        assert_eq!(Ground::of(Some(place.path())), Ground::Empty);
        assert_eq!(Ground::of(Some(&place.path().join("none"))), Ground::Empty);
        let list = place.path().join("CMakeLists.txt");
        let tab = place.path().join("mine.ino");
        std::fs::write(&tab, "void setup() {}\n").unwrap();
        assert_eq!(Ground::of(Some(place.path())), Ground::Sketch);
        assert_eq!(Ground::Sketch.team(), "arduino");
        std::fs::write(&list, "project(mine)\n").unwrap();
        assert_eq!(Ground::of(Some(place.path())), Ground::Existing);
        std::fs::write(&list, "# firmhand: generated project\nproject(mine)\n").unwrap();
        assert_eq!(Ground::of(Some(place.path())), Ground::Generated);
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
        for ground in [Ground::Empty, Ground::Existing] {
            assert!(check("arduino", ground).unwrap_err().fix.contains("--project"));
        }
        assert!(check("edit-existing", Ground::Sketch).unwrap_err().fix.contains("arduino"));
        assert!(
            check("arduino", Ground::Sketch).is_ok() && check("single", Ground::Sketch).is_ok()
        );
    }
}
