//! cppcheck: one process for all sources, which tells its findings in XML.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};

use super::linter::{AnalysisRun, CUT_SHORT, Gap, Issue, Linter, LinterReport, Output, OutputEnd};
use super::linter::{no_report, words};
use crate::model::{ProjectPath, Severity};

/// Sources that are given to it at most.
const MAX_FILES: usize = 1_000;

/// Folders of headers that are given to it at most.
const MAX_FOLDERS: usize = 50;

/// How it reads sources. Without the headers of the framework nobody can know what is suppressed.
const OPTIONS: &str = "--xml --xml-version=2 --quiet \
    --enable=warning,performance,portability,style --platform=unix32 --max-configs=6 -j2 \
    -DESP_PLATFORM=1 --suppress=missingInclude --suppress=missingIncludeSystem \
    --suppress=unusedFunction --suppress=unusedStructMember --suppress=unmatchedSuppression \
    --suppress=constParameterCallback";

/// Findings that say that cppcheck did not understand the source.
const GAPS: &str = "syntaxError internalError internalAstError preprocessorErrorDirective \
    unknownMacro cppcheckError instantiationError premium-internalError";

pub(super) async fn run(run: &AnalysisRun<'_>, program: &Path) -> LinterReport {
    let files = sources(run, &["c", "cc", "cpp", "cxx", "ino"], MAX_FILES);
    if files.is_empty() {
        return gap("the project has no source in C or C++");
    }
    let mut args = options(run);
    args.extend(files);
    match run.output(program, |_| args).await {
        Ok(output) => {
            let mut reported = read(run, &output.text);
            incomplete(&output).into_iter().for_each(|why| reported.extend(gap(&why)));
            reported
        }
        Err(why) => gap(&why),
    }
}

/// Why its report is not whole; `None`: it is.
pub(super) fn incomplete(output: &Output) -> Option<String> {
    match output.ended {
        OutputEnd::Cut => Some(CUT_SHORT.to_owned()),
        // It closes its list of findings, also where there are none.
        ended => (!output.text.contains("</results>")).then(|| no_report(ended)),
    }
}

/// How it reads sources.
pub(super) fn options(run: &AnalysisRun<'_>) -> Vec<OsString> {
    OPTIONS.split(' ').map(OsString::from).chain(folders(run)).collect()
}

/// The first files of the order with such an ending.
pub(super) fn sources(run: &AnalysisRun<'_>, endings: &[&str], most: usize) -> Vec<OsString> {
    let has_one = |path: &&ProjectPath| path.extension().is_some_and(|it| endings.contains(&it));
    let files = run.order.files.iter().filter(has_one).take(most);
    files.map(|path| run.order.project.join(path.as_str()).into_os_string()).collect()
}

fn gap(why: &str) -> LinterReport {
    LinterReport::gap(Linter::Cppcheck, None, why)
}

/// The project's own folders of headers. With those of the framework it would take minutes.
fn folders(run: &AnalysisRun<'_>) -> Vec<OsString> {
    let flags = run.order.units.iter().flat_map(|unit| unit.flags.windows(2));
    let named = flags.filter(|pair| pair.first().is_some_and(|option| option == "-I"));
    let own = named.filter_map(|pair| pair.get(1)).filter(|folder| run.inside(folder).is_some());
    let folders: BTreeSet<&String> = own.collect();
    folders.into_iter().take(MAX_FOLDERS).map(|folder| format!("-I{folder}").into()).collect()
}

/// A finding whose places are still to come.
struct OpenFinding {
    issue: Issue,
    is_placed: bool,
}

/// Reads the findings, as many as were written whole.
pub(super) fn read(run: &AnalysisRun<'_>, text: &str) -> LinterReport {
    let mut reported = LinterReport::default();
    let mut reader = Reader::from_str(text);
    // Words before the first tag are none of the findings.
    reader.config_mut().check_end_names = false;
    let mut open: Option<OpenFinding> = None;
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) if tag.name().as_ref() == "error" => open = begin(&tag),
            Ok(Event::Empty(tag)) if tag.name().as_ref() == "error" => {
                end(begin(&tag), &mut reported);
            }
            Ok(Event::Start(tag) | Event::Empty(tag)) if tag.name().as_ref() == "location" => {
                // The first is where it is; the others lead there.
                if let Some(open) = open.as_mut().filter(|open| !open.is_placed) {
                    open.is_placed = true;
                    place(run, &tag, &mut open.issue);
                }
            }
            Ok(Event::End(tag)) if tag.name().as_ref() == "error" => {
                end(open.take(), &mut reported);
            }
            Ok(Event::Eof) | Err(_) => return reported,
            Ok(_) => {}
        }
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag.try_get_attribute(name).ok()??;
    Some(found.normalized_value(XmlVersion::Implicit1_0).ok()?.into_owned())
}

fn begin(tag: &BytesStart<'_>) -> Option<OpenFinding> {
    let severity = match attribute(tag, "severity")?.as_str() {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        "style" | "performance" | "portability" => Severity::Note,
        // What is about cppcheck itself.
        _ => return None,
    };
    let issue = Issue {
        severity,
        file: None,
        line: None,
        column: None,
        message: words(&attribute(tag, "msg")?),
        tool: Linter::Cppcheck,
        rule: words(&attribute(tag, "id")?),
    };
    Some(OpenFinding { issue, is_placed: false })
}

fn place(run: &AnalysisRun<'_>, tag: &BytesStart<'_>, issue: &mut Issue) {
    let number = |name: &str| attribute(tag, name)?.parse().ok().filter(|number| *number > 0);
    issue.file = attribute(tag, "file").and_then(|file| run.inside(&file));
    issue.line = number("line");
    issue.column = number("column");
}

fn end(open: Option<OpenFinding>, reported: &mut LinterReport) {
    let Some(OpenFinding { issue, .. }) = open else { return };
    if GAPS.split(' ').any(|gap| gap == issue.rule) {
        let line = issue.line.map_or(String::new(), |line| format!("line {line}: "));
        // A source can include whatever the person may read; its words are not passed on.
        let why = match issue.file {
            Some(_) => format!("only in part: {line}{}", issue.message),
            None => "incomplete: a file outside of the project is not understood".to_owned(),
        };
        reported.gaps.push(Gap { tool: Linter::Cppcheck, file: issue.file, why });
    } else if issue.file.is_some() {
        reported.issues.push(issue);
    }
}

#[cfg(test)]
#[path = "cppcheck_tests.rs"]
mod tests;
