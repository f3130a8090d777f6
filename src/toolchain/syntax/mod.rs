//! Asks the compiler about files as they shall become, before anybody is asked to approve them.
//!
//! Owns what every toolchain does alike: which compilation shows a file, and what of the errors
//! belongs to it. Nothing that a project brings is run, and nothing is written beside a temporary
//! folder. Where there is no honest answer, there is none.

mod commands;
mod entry;
mod job;
mod options;
mod overlay;
mod probes;
mod reach;
mod run;

use std::path::{Path, PathBuf};

use futures::StreamExt;
use tokio::time::Instant;

pub(super) use commands::{Commands, CompilePaths, lines_of, path_of, tools_folder};
pub(super) use entry::CompileEntry;

use super::{diagnostics, paths};
use crate::files;
use crate::model::{Diagnostic, ProjectPath, Severity};
use crate::sandbox::Level;
use crate::text::references::mentions;
use job::{C, CXX, HEADERS, LISTS, has_ending};
pub(super) use job::{CompileLine, CompileLines};
pub use job::{NewText, SyntaxJob};
pub(in crate::toolchain) use overlay::Overlay;
use reach::IncludeScope;
use run::{CompilePlace, Verdict};

/// Compilers that run at the same time.
const PARALLEL: usize = 2;

/// Sources that are read at most to find one that includes a header.
const MOST_READ: usize = 400;

/// A longer source is not read for that, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// The compiler's errors in what a file leads to, in their order; none: it takes the file. `None`:
/// there is no honest answer.
pub type Finding = Option<Vec<Diagnostic>>;

/// No answer for any file of a job.
#[must_use]
pub fn no_answer(job: &SyntaxJob) -> Vec<Finding> {
    vec![None; job.files.len()]
}

/// A compilation to run, and the files it answers for.
struct Compilation {
    line: CompileLine,
    /// Places in the job.
    answers: Vec<usize>,
}

/// [`check`] with what `lines` tells of a project, which may read files for it.
pub(super) async fn check_with(
    job: SyntaxJob,
    lines: impl FnOnce(&Path) -> Option<CompileLines> + Send + 'static,
) -> Vec<Finding> {
    let project = job.project.clone();
    match tokio::task::spawn_blocking(move || lines(&project)).await {
        Ok(Some(lines)) => check(job, lines).await,
        Ok(None) | Err(_) => no_answer(&job),
    }
}

/// Looks at the files of `job`, compiled as `lines` say. Dropping the future ends the compilers.
pub(super) async fn check(job: SyntaxJob, lines: CompileLines) -> Vec<Finding> {
    let deadline = Instant::now() + job.limit;
    let mut found = no_answer(&job);
    let prepared = tokio::task::spawn_blocking(move || {
        let runner = job.runner.clone();
        let runner = runner.filter(|runner| runner.protection().level != Level::None);
        let all = compilations(&job, &lines);
        let made = lines.made.iter().map(|(path, text)| (path.as_path(), text.as_slice()));
        let own = job.files.iter().map(|file| (Path::new(file.path.as_str()), &*file.content));
        let sources = all.iter().map(|one| one.line.source.as_path());
        // A full disk is told by what has to write; here it costs an answer.
        let overlay = Overlay::make(&job.project, own.chain(made), sources).ok()?;
        let is_old = lines.is_old || job.files.iter().any(|file| is_list(&file.path));
        Some((all, overlay, is_old, lines.path, runner, job))
    });
    // It ends without a result only when the program ends.
    let Ok(Some((all, overlay, is_old, path, runner, job))) = prepared.await else { return found };
    let overlay = &overlay;
    let place = &CompilePlace {
        overlay,
        project: &job.project,
        path: path.as_deref(),
        runner: runner.as_ref(),
        deadline,
    };
    let runs = all.into_iter().map(|one| async move {
        let output = run::compile(&one.line, place).await;
        (one, output)
    });
    let mut runs = futures::stream::iter(runs).buffer_unordered(PARALLEL);
    while let Some((one, output)) = runs.next().await {
        let Some(Verdict { output, read }) = output else { continue };
        let errors = errors(&output, overlay, &job.project);
        // A header may need what every source includes before it.
        if paths::has_ending(&one.line.source, HEADERS) && !errors.is_empty() {
            continue;
        }
        // The compiler refused something, but no place of a file: it did not like the question.
        if errors.is_empty() && !output.is_empty() {
            continue;
        }
        for place in one.answers {
            if let (Some(file), Some(slot)) = (job.files.get(place), found.get_mut(place)) {
                // A header behind a condition that does not hold was never looked at. The tabs of
                // a sketch are parts of one source.
                let own = Path::new(file.path.as_str());
                let is_tab = has_ending(&file.path, &["ino"]);
                let is_read =
                    is_tab || one.line.source == own || read.contains(&overlay.root().join(own));
                if errors.is_empty() && !is_read && has_ending(&file.path, HEADERS) {
                    continue;
                }
                *slot = judge(file, &one.line.source, &errors, &job, is_old);
            }
        }
    }
    found
}

/// What there is to compile: each source once, whatever it answers for.
fn compilations(job: &SyntaxJob, lines: &CompileLines) -> Vec<Compilation> {
    let mut all: Vec<Compilation> = Vec::new();
    let folders = own_folders(&job.project, lines);
    let reach = IncludeScope { project: &job.project, batch: &job.files, folders: &folders };
    if job.files.iter().any(|file| !reach.holds(file)) {
        return all;
    }
    for (place, file) in job.files.iter().enumerate() {
        let Some(line) = line_for(file, job, lines) else { continue };
        match all.iter_mut().find(|known| known.line.source == line.source) {
            Some(known) => known.answers.push(place),
            None => all.push(Compilation { line, answers: vec![place] }),
        }
    }
    all
}

/// The folders of the project in which its compilations search for headers.
fn own_folders(project: &Path, lines: &CompileLines) -> Vec<PathBuf> {
    let options = lines.all.iter().flat_map(|line| &line.options);
    let folders = options.filter_map(|option| {
        let names = ["-I", "-isystem", "-iquote", "-idirafter"];
        let folder = Path::new(names.iter().find_map(|name| option.strip_prefix(name))?);
        folder.starts_with(project).then(|| folder.to_owned())
    });
    let folders: std::collections::BTreeSet<PathBuf> = folders.collect();
    folders.into_iter().collect()
}

/// How a file is compiled: by itself, or a header through a source that includes it.
fn line_for(file: &NewText, job: &SyntaxJob, lines: &CompileLines) -> Option<CompileLine> {
    if !has_ending(&file.path, HEADERS) {
        return source_line(&file.path, &job.project, lines);
    }
    let joined = lines.made.iter().map(|(path, _)| path);
    if let Some(source) = joined.into_iter().next().filter(|_| has_ending(&file.path, &["ino"])) {
        return lines.all.iter().find(|line| line.source == *source).cloned();
    }
    let in_batch = job.files.iter().filter(|other| {
        let text = String::from_utf8_lossy(&other.content);
        !mentions(&file.path, &other.path, &text).is_empty()
    });
    let mut in_batch = in_batch.filter_map(|other| source_line(&other.path, &job.project, lines));
    in_batch
        .next()
        .or_else(|| {
            let on_disk = lines.all.iter().take(MOST_READ);
            on_disk.into_iter().find(|line| includes(line, &file.path, job)).cloned()
        })
        .or_else(|| alone(&file.path, &job.project, lines))
}

/// How a header that no source includes yet is compiled by itself: as the C of its component. Only
/// that it compiles is an answer then.
fn alone(path: &ProjectPath, project: &Path, lines: &CompileLines) -> Option<CompileLine> {
    let source = Path::new(path.as_str());
    path.extension().filter(|ending| *ending == "h")?;
    let component = component(project, source);
    let line = lines.all.iter().find(|line| {
        line.source.extension().is_some_and(|ending| ending == "c")
            && self::component(project, &line.source) == component
    })?;
    let mut options = line.options.clone();
    options.push("-xc".to_owned());
    Some(CompileLine { source: source.to_owned(), compiler: line.compiler.clone(), options })
}

/// Whether a source on disk, which is not proposed itself, includes a header.
fn includes(line: &CompileLine, header: &ProjectPath, job: &SyntaxJob) -> bool {
    let Some(source) = line.source.to_str().and_then(|path| ProjectPath::new(path).ok()) else {
        return false;
    };
    let path = job.project.join(&line.source);
    job.files.iter().all(|file| file.path != source)
        && files::read(&path, MOST_BYTES).is_ok_and(|text| {
            !mentions(header, &source, &String::from_utf8_lossy(&text)).is_empty()
        })
}

/// How a source is compiled: as it is, or when it is new as the nearest of its component.
fn source_line(path: &ProjectPath, project: &Path, lines: &CompileLines) -> Option<CompileLine> {
    let language = [C, CXX].into_iter().find(|endings| has_ending(path, endings))?;
    let source = Path::new(path.as_str());
    if let Some(line) = lines.all.iter().find(|line| line.source == source) {
        return Some(line.clone());
    }
    let component = component(project, source);
    let siblings = lines.all.iter().filter(|line| {
        paths::has_ending(&line.source, language)
            && self::component(project, &line.source) == component
    });
    let nearest = siblings.max_by_key(|line| shared(&line.source, source))?;
    Some(CompileLine { source: source.to_owned(), ..nearest.clone() })
}

/// The folder of the component that a source belongs to: the nearest with a list.
fn component<'a>(project: &Path, source: &'a Path) -> Option<&'a Path> {
    source.ancestors().skip(1).find(|folder| project.join(folder).join("CMakeLists.txt").is_file())
}

/// Parts that two paths begin with alike.
fn shared(one: &Path, other: &Path) -> usize {
    one.components().zip(other.components()).take_while(|(one, other)| one == other).count()
}

/// The errors in a compiler's output, with places as the project's files are called.
fn errors(output: &[u8], overlay: &Overlay, project: &Path) -> Vec<Diagnostic> {
    // What is not proposed lies in the project itself.
    let mut found = diagnostics::parse_in(&[overlay.root(), project], output);
    found.retain(|one| one.severity == Severity::Error);
    found
}

/// What of the errors of a compilation `file` answers for.
fn judge(
    file: &NewText,
    source: &Path,
    errors: &[Diagnostic],
    job: &SyntaxJob,
    is_old: bool,
) -> Finding {
    // A folder of headers or a setting may come with the lists.
    let may_come = |one: &Diagnostic| {
        one.message.ends_with(": No such file or directory") || one.message.contains("CONFIG_")
    };
    if is_old && errors.iter().any(may_come) {
        return None;
    }
    let is_here = |one: &&Diagnostic| one.file.as_deref() == Some(file.path.as_str());
    let is_source = source == Path::new(file.path.as_str());
    let is_proposed = job.files.iter().any(|other| Path::new(other.path.as_str()) == source);
    let here: Vec<Diagnostic> = errors.iter().filter(is_here).cloned().collect();
    if is_source || (here.is_empty() && !is_proposed) {
        // Those in the file itself come first.
        let elsewhere = errors.iter().filter(|one| !is_here(one)).cloned();
        return Some(here.into_iter().chain(elsewhere).collect());
    }
    // What is wrong in a source may come from the header before it; the source tells.
    (!here.is_empty() || errors.is_empty()).then_some(here)
}

fn is_list(path: &ProjectPath) -> bool {
    LISTS.contains(&path.file_name())
        || path.file_name().starts_with("sdkconfig")
        || path.extension() == Some("cmake")
}

#[cfg(test)]
mod tests;
