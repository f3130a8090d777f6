//! clang-tidy: one process for each source that it is known how to compile.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;

use futures::StreamExt;

use super::linter::{AnalysisRun, Issue, Linter, LinterReport, NO_TIME, Output, OutputEnd};
use super::linter::{no_report, words};
use crate::files;
use crate::model::{ProjectPath, Severity};
use crate::text::pattern::Pattern;
use crate::toolchain::compile_units::CompileUnit;

/// So many run at a time.
const PARALLEL: usize = 2;

/// What is looked for: faults, and not style. The rules that are left out cry wolf over the
/// patterns of ESP-IDF: its macros, `ESP_ERROR_CHECK`, register addresses, handlers with a fixed
/// signature, and functions of C that are without their secure kin there.
const CHECKS: &str = "-*,clang-analyzer-*,bugprone-*,performance-*,misc-redundant-expression,\
    cert-flp30-c,\
    -clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling,\
    -clang-analyzer-security.insecureAPI.strcpy,\
    -clang-analyzer-optin.performance.Padding,\
    -bugprone-easily-swappable-parameters,-bugprone-reserved-identifier,\
    -bugprone-macro-parentheses,-bugprone-narrowing-conversions,\
    -bugprone-signed-bitwise,\
    -bugprone-assignment-in-if-condition,-bugprone-implicit-widening-of-multiplication-result,\
    -bugprone-branch-clone,-bugprone-multi-level-implicit-pointer-conversion,\
    -performance-no-int-to-ptr,-performance-enum-size";

/// Sources that are named when they were not built, at most.
const MAX_NAMED: usize = 8;

/// Reads `FILE:LINE:COLUMN: warning: WORDS [RULE]`; what is about no file has no place.
static FOUND: Pattern =
    Pattern::new(r"^(?:(.+?):(\d+):(\d+): )?(warning|error): (.*?) \[([A-Za-z0-9.,+_-]+)\]$");

pub(super) async fn run(run: &AnalysisRun<'_>, program: &Path) -> LinterReport {
    let units = by_file(run);
    if units.is_empty() {
        return gap(None, "it is not known how the sources are compiled: build the project once");
    }
    let mut reported = not_built(run);
    let mut jobs = Vec::with_capacity(units.len());
    for (path, unit) in units {
        jobs.push(one(run, program, path, unit));
    }
    let mut done = futures::stream::iter(jobs).buffered(PARALLEL);
    while let Some(one) = done.next().await {
        reported.extend(one);
    }
    reported
}

async fn one(
    run: &AnalysisRun<'_>,
    program: &Path,
    path: Option<ProjectPath>,
    unit: &CompileUnit,
) -> LinterReport {
    if run.is_late() {
        return gap(path, NO_TIME);
    }
    match run.output(program, |_| args(run, unit)).await {
        Ok(output) => {
            // What a build joined says itself where its lines are from; clang-tidy tells the others.
            let joined =
                path.is_none().then(|| files::read_text(&unit.file, files::SOURCE).ok()).flatten();
            let joined = joined.map(|text| (unit.file.as_path(), markers(&text)));
            read(run, path, &output, joined.as_ref())
        }
        Err(why) => gap(path, &why),
    }
}

/// Where the lines of a joined source are from, by its `#line`s.
type Markers = Vec<Marker>;

/// One `#line`.
#[derive(Debug, PartialEq, Eq)]
struct Marker {
    /// Line of the joined source that it is about, from 1.
    at: u32,
    /// What that line is in the file.
    line: u32,
    file: String,
}

fn markers(text: &str) -> Markers {
    let marker = |(at, line): (u32, &str)| {
        let (number, file) = line.strip_prefix("#line ")?.split_once(' ')?;
        let file = file.trim().trim_matches('"').to_owned();
        Some(Marker { at: at + 1, line: number.parse().ok()?, file })
    };
    (1..).zip(text.lines()).filter_map(marker).collect()
}

/// The file and line that a place in a joined source is from.
fn origin(markers: &Markers, line: u32) -> Option<(&str, u32)> {
    let marker = markers.iter().rev().find(|marker| marker.at <= line)?;
    Some((marker.file.as_str(), marker.line + (line - marker.at)))
}

fn gap(file: Option<ProjectPath>, why: &str) -> LinterReport {
    LinterReport::gap(Linter::ClangTidy, file, why)
}

/// What the last build did not compile. A sketch is compiled from copies.
fn not_built(run: &AnalysisRun<'_>) -> LinterReport {
    let built: BTreeSet<&Path> = run.order.units.iter().map(|unit| unit.file.as_path()).collect();
    let is_left = |path: &&ProjectPath| {
        matches!(path.extension(), Some("c" | "cc" | "cpp" | "cxx"))
            && !built.contains(&*run.order.project.join(path.as_str()))
    };
    let left: Vec<&str> = run.order.files.iter().filter(is_left).map(ProjectPath::as_str).collect();
    if run.order.is_sketch || left.is_empty() {
        return LinterReport::default();
    }
    let (named, rest) = left.split_at(left.len().min(MAX_NAMED));
    let named = named.join(", ");
    let more = match rest.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    gap(None, &format!("the last build did not compile {named}{more}; see `SRCS` of the component"))
}

/// The units in the order of the files that matter, each once; then those that the build makes of
/// files of the project, such as a sketch that was joined.
fn by_file<'a>(run: &'a AnalysisRun<'_>) -> Vec<(Option<ProjectPath>, &'a CompileUnit)> {
    let mut left: BTreeMap<&Path, &CompileUnit> =
        run.order.units.iter().map(|unit| (unit.file.as_path(), unit)).collect();
    let mut units = Vec::new();
    for path in &run.order.files {
        let file = run.order.project.join(path.as_str());
        if let Some(unit) = left.remove(file.as_path()) {
            units.push((Some(path.clone()), unit));
        }
    }
    let is_sketch = |file: &Path| file.to_string_lossy().ends_with(".ino.cpp") && file.is_file();
    if run.order.is_sketch {
        units.extend(left.into_iter().filter(|(file, _)| is_sketch(file)).map(|(_, u)| (None, u)));
    }
    units
}

fn args(run: &AnalysisRun<'_>, unit: &CompileUnit) -> Vec<OsString> {
    let inside = regex::escape(&run.order.project.display().to_string());
    // In YAML a quote within quotes is doubled.
    let inside = inside.replace('\'', "''");
    // Given here, so that no `.clang-tidy` of the project counts: one can load plugins.
    let config = format!(
        "{{Checks: '{CHECKS}', HeaderFilterRegex: '^{inside}/', InheritParentConfig: false}}"
    );
    let mut args: Vec<OsString> = vec![format!("--config={config}").into(), "--quiet".into()];
    args.push(unit.file.clone().into_os_string());
    args.extend(["--", "-ferror-limit=0"].map(OsString::from));
    args.extend(target(unit).into_iter().map(OsString::from));
    args.extend(unit.flags.iter().map(OsString::from));
    args
}

/// What a compiler for a chip knows by itself. An Xtensa is read as the other 32-bit chip: few
/// analysers know it.
fn target(unit: &CompileUnit) -> Vec<String> {
    let name = unit.compiler.file_name().unwrap_or_default().to_string_lossy();
    let Some((triple, _)) = name.rsplit_once('-').filter(|(triple, _)| triple.ends_with("-elf"))
    else {
        return Vec::new();
    };
    let mut flags = vec!["--target=riscv32-unknown-elf".to_owned(), "-nostdlibinc".to_owned()];
    if triple.starts_with("xtensa") {
        flags.extend(["-U__riscv", "-D__XTENSA__=1", "-D__XTENSA_EL__=1"].map(str::to_owned));
    }
    let root = unit.compiler.parent().and_then(Path::parent).map(|root| root.join(triple));
    let Some(include) = root.map(|root| root.join("include")).filter(|path| path.is_dir()) else {
        return flags;
    };
    let versions = std::fs::read_dir(include.join("c++")).into_iter().flatten().flatten();
    let newest = versions.map(|entry| entry.path()).max();
    let of_cxx = newest.into_iter().flat_map(|path| [path.join(triple), path]);
    for folder in of_cxx.chain([include]) {
        flags.extend(["-isystem".to_owned(), folder.display().to_string()]);
    }
    flags
}

/// Reads the findings of one source that is compiled as it is.
pub(super) fn read_source(run: &AnalysisRun<'_>, output: &Output) -> LinterReport {
    read(run, None, output, None)
}

/// Reads the findings of one source. An error means that the source was not understood as the
/// project's compiler understands it, so it is a gap and no finding.
fn read(
    run: &AnalysisRun<'_>,
    path: Option<ProjectPath>,
    output: &Output,
    joined: Option<&(&Path, Markers)>,
) -> LinterReport {
    let mut reported = LinterReport::default();
    let mut not_understood = None;
    for found in output.text.lines().filter_map(|line| FOUND.captures(line)) {
        let part = |index: usize| found.get(index).map_or("", |part| part.as_str());
        let (mut file, mut line) = (part(1), part(2).parse::<u32>().ok());
        if let Some((_, markers)) = joined.filter(|(made, _)| *made == Path::new(file))
            && let Some((from, at)) = line.and_then(|line| origin(markers, line))
        {
            (file, line) = (from, Some(at));
        }
        if part(6) == "clang-diagnostic-error" || part(4) == "error" {
            not_understood.get_or_insert_with(|| error(run, file, line, part(5)));
            continue;
        }
        let Some(file) = run.inside(file) else { continue };
        reported.issues.push(Issue {
            severity: Severity::Warning,
            file: Some(file),
            line,
            column: part(3).parse().ok(),
            message: words(part(5)),
            tool: Linter::ClangTidy,
            rule: words(part(6)),
        });
    }
    let why = match not_understood {
        Some(error) => Some(format!("only in part: {error}")),
        None if !output.is_whole() => Some(NO_TIME.to_owned()),
        // With errors in the source it ends with a code of its own as well, and names them.
        None if output.ended != OutputEnd::Exit(0) => Some(no_report(output.ended)),
        None => None,
    };
    if let Some(why) = why {
        reported.extend(gap(path, &why));
    }
    reported
}

/// What clang did not understand. Words of a file outside of the project are not passed on: a source
/// can include whatever the person may read.
fn error(run: &AnalysisRun<'_>, file: &str, line: Option<u32>, stated: &str) -> String {
    let number = line.map_or(String::new(), |line| format!(":{line}"));
    let is_ours = file.is_empty() || stated.ends_with("file not found");
    match run.inside(file) {
        Some(inside) => format!("clang says {inside}{number}: {stated}"),
        None if is_ours => format!("clang says {stated}"),
        None => {
            let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
            format!("clang does not understand {name}{number}, which is not the project's")
        }
    }
}

#[cfg(test)]
#[path = "clang_tidy_tests.rs"]
mod tests;
