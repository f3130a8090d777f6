//! The project's folder before a run: that it is there, and what it begins with.

use std::path::Path;

use crate::config::Assets;
use crate::journal::SessionDir;
use crate::model::UserError;
use crate::toolchain::output_folder;
use crate::workspace::ProjectDir;

/// Opens the project's folder; one that is not there is made, as the person has asked for it.
#[expect(clippy::disallowed_methods, reason = "the folder the person named, before any agent acts")]
pub(super) fn project_folder(
    dir: &SessionDir,
    wanted: Option<&Path>,
) -> Result<ProjectDir, UserError> {
    let path = wanted.map_or_else(|| dir.project(), Path::to_owned);
    std::fs::create_dir_all(&path).map_err(|error| {
        UserError::new(
            format!("Cannot make the project folder {}", path.display()),
            error.to_string(),
            "Choose another folder with `--project DIR`.",
        )
    })?;
    Ok(ProjectDir::open(&path)?)
}

/// Puts the files of a starter into an empty project; one that holds files already stays as it is.
pub(super) fn begin_with(
    assets: &Assets,
    starter: &str,
    project: &ProjectDir,
) -> Result<(), UserError> {
    if !project.list(1).files.is_empty() {
        return Ok(());
    }
    let folder = format!("assets/projects/{starter}/");
    let files = assets.list(folder.trim_end_matches('/'));
    if files.is_empty() {
        return Err(UserError::new(
            format!("Cannot find the example project `{starter}`"),
            "assets/projects has no folder of that name",
            "Use `--project DIR` with a project of your own.",
        ));
    }
    for path in files {
        let Some(below) = path.strip_prefix(&folder) else { continue };
        let (content, _) = assets.bytes(&path)?;
        output_folder::write_new(project.root(), Path::new(below), &content).map_err(|error| {
            UserError::new(
                format!("Cannot make {}", project.root().join(below).display()),
                error.to_string(),
                "Choose another folder with `--project DIR`.",
            )
        })?;
    }
    Ok(())
}
