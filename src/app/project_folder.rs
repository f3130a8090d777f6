//! The project's folder before a run: whether it is trusted, that it is there, and what it begins
//! with.

use std::path::Path;

use super::parts::Wanted;
use super::trust::Trust;
use crate::config::Assets;
use crate::journal::SessionDir;
use crate::model::UserError;
use crate::workspace::Sandbox;

/// Real toolchains run what a project brings; the virtual board only compiles its sources.
pub(super) fn check_trust(
    trust: &Trust,
    wanted: &Wanted,
    project: Option<&Path>,
) -> Result<(), UserError> {
    match project {
        Some(project) if wanted.parts.toolchain != "virtual" => trust.check(project),
        _ => Ok(()),
    }
}

/// Opens the project's folder; one that is not there is made, as the person has asked for it.
#[expect(clippy::disallowed_methods, reason = "the folder the person named, before any agent acts")]
pub(super) fn project_folder(
    dir: &SessionDir,
    wanted: Option<&Path>,
) -> Result<Sandbox, UserError> {
    let path = wanted.map_or_else(|| dir.project(), Path::to_owned);
    std::fs::create_dir_all(&path).map_err(|error| {
        UserError::new(
            format!("cannot make the project folder {}", path.display()),
            error.to_string(),
            "choose another folder with `--project DIR`",
        )
    })?;
    Ok(Sandbox::open(&path)?)
}

/// Puts the files of a starter into an empty project; one that holds files already stays as it is.
#[expect(clippy::disallowed_methods, reason = "a recording's own project, before any agent acts")]
pub(super) fn begin_with(
    assets: &Assets,
    starter: &str,
    project: &Sandbox,
) -> Result<(), UserError> {
    if !project.list(1).files.is_empty() {
        return Ok(());
    }
    let folder = format!("assets/projects/{starter}/");
    let files = assets.list(folder.trim_end_matches('/'));
    if files.is_empty() {
        return Err(UserError::new(
            format!("there is no project `{starter}` to begin with"),
            "assets/projects has no folder of that name",
            "use `--project DIR` with a project of your own",
        ));
    }
    for path in files {
        let Some(below) = path.strip_prefix(&folder) else { continue };
        let to = project.root().join(below);
        let (content, _) = assets.bytes(&path)?;
        let parent = to.parent().unwrap_or(project.root());
        std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&to, &content)).map_err(
            |error| {
                UserError::new(
                    format!("cannot make {}", to.display()),
                    error.to_string(),
                    "choose another folder with `--project DIR`",
                )
            },
        )?;
    }
    Ok(())
}
