//! How the virtual board would compile files as they shall become.
//!
//! Reads the project and what the last build left; writes nothing.

use std::path::{Path, PathBuf};

use super::build::HostBuild;
use super::draft::{self, DraftPlan};
use super::kit::Kit;
use super::plan::CompilePlan;
use crate::files;
use crate::model::UserError;
use crate::text::sketch::{self, EXTENSION};
use crate::toolchain::sketch::Sketch;
use crate::toolchain::syntax::{CompileLines, SyntaxJob};

/// How the sources of a project are compiled with the files of a job, whether it was built or not;
/// `None` while the project is not understood.
pub(super) fn draft_lines(
    kit: &Kit,
    compilers: (&Result<PathBuf, UserError>, &Result<PathBuf, UserError>),
    job: &SyntaxJob,
) -> Option<CompileLines> {
    let on_disk = CompilePlan::read(&job.project, kit).ok();
    if !draft::is_needed(job, on_disk.as_ref())
        && let Some(found) = lines(kit, compilers, job)
    {
        return Some(found);
    }
    let (compiler, cxx) = (compilers.0.as_ref().ok()?, compilers.1.as_ref().ok());
    let DraftPlan { plan, is_partial, tabs } = draft::plan(job, kit)?;
    let cxx = if plan.has_cxx() { cxx? } else { compiler };
    let build = HostBuild { root: &job.project, compiler, cxx, kit, plan: &plan, runner: None };
    let mut made: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    if let Some(joined) = &plan.joined {
        made.push((joined.path.clone(), joined_text(job, tabs)?.into_bytes()));
    }
    made.extend(build.headers()?);
    Some(CompileLines {
        all: build.all_lines(),
        made,
        is_old: is_partial,
        ..CompileLines::default()
    })
}

/// How the sources of a project are compiled; `None` before the first build, and while the project
/// is not understood.
pub(super) fn lines(
    kit: &Kit,
    (compiler, cxx): (&Result<PathBuf, UserError>, &Result<PathBuf, UserError>),
    job: &SyntaxJob,
) -> Option<CompileLines> {
    let compiler = compiler.as_ref().ok()?;
    let plan = CompilePlan::read(&job.project, kit).ok()?;
    let cxx = match cxx {
        Ok(cxx) => cxx,
        Err(_) if plan.has_cxx() => return None,
        Err(_) => compiler,
    };
    let all =
        HostBuild { root: &job.project, compiler, cxx, kit, plan: &plan, runner: None }.lines()?;
    let made = match &plan.joined {
        Some(joined) => {
            let text = joined_text(job, Sketch::read(&job.project)?.tabs)?;
            vec![(joined.path.clone(), text.into_bytes())]
        }
        None => Vec::new(),
    };
    Some(CompileLines { all, made, ..CompileLines::default() })
}

/// The source of a sketch with its tabs, the main one first, as they shall become.
fn joined_text(job: &SyntaxJob, mut names: Vec<PathBuf>) -> Option<String> {
    let proposed =
        |name: &Path| job.files.iter().find(|file| Path::new(file.path.as_str()) == name);
    let new = job.files.iter().map(|file| Path::new(file.path.as_str())).filter(|path| {
        path.extension().is_some_and(|ending| ending == EXTENSION)
            && path.parent() == Some(Path::new(""))
    });
    for name in new {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    let mut tabs = Vec::with_capacity(names.len());
    for name in &names {
        let path = job.project.join(name);
        let text = match proposed(name) {
            Some(file) => String::from_utf8(file.content.clone()).ok()?,
            None => files::read_text(&path, files::SOURCE).ok()?,
        };
        tabs.push((path.display().to_string(), text));
    }
    let tabs: Vec<sketch::Tab<'_>> =
        tabs.iter().map(|(name, text)| sketch::Tab { name, text }).collect();
    Some(sketch::join(&tabs))
}
