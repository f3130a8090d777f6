//! Which team takes a task on, and why a team that was wished for does not fit.

use std::path::Path;

use crate::model::UserError;
use crate::workspace::Sandbox;

/// What there is to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// No file.
    Empty,
    /// A project that this program generated.
    Generated,
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
            Self::Existing => "edit-existing",
        }
    }
}

/// Checks a team against what there is.
///
/// # Errors
/// When it needs a project and there is none, or a generated one and this is another; says which
/// team fits.
pub fn check(team: &str, ground: Ground) -> Result<(), UserError> {
    let edits = ["edit-generated", "edit-existing", "extend-existing"].contains(&team);
    match ground {
        Ground::Empty if edits => Err(UserError::new(
            format!("the team `{team}` has nothing to work on"),
            "it changes a project, and there is no file in the project folder",
            "name the folder with `--project DIR`, or use `--team generate`",
        )),
        Ground::Existing if team == "edit-generated" => Err(UserError::new(
            "the team `edit-generated` does not fit this project",
            "it reads a project whole, and the first line of CMakeLists.txt does not say that \
             firmhand generated this one",
            "use `--team edit-existing`, or `--team extend-existing` to only add files",
        )),
        Ground::Empty | Ground::Generated | Ground::Existing => Ok(()),
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
        assert!(check("edit-existing", Ground::Generated).is_ok());
        assert!(check("generate", Ground::Empty).is_ok());
    }
}
