//! Names of the framework that the installed version does not have.
//!
//! Owns when a name is worth a word: it lies in a namespace of the framework, nothing of the project
//! declares it, and no component that is still to be downloaded could. Without an index there is
//! nothing to say.

use std::collections::BTreeSet;

use super::Subject;
use super::declared_uses::{self, UseKind, Uses};
use super::novelty;
use super::source::SourceText;
use super::{project_names, removed};
use crate::knowledge::{COMPONENT, DeclaredNames, HEADER};
use crate::model::{Check, CheckKind, Finding, FindingLevel, ProjectPath};
use crate::toolchain::platformio;
use crate::toolchain::sketch::Sketch;

/// The check of a file's new text; `None` without an index, and for what uses no such names.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Check> {
    let read = reader(path)?;
    let names = subject.context.knowledge.as_ref()?.declared()?;
    let root = subject.project_dir.root();
    // These bring a framework of their own version.
    if Sketch::is_at(root) || platformio::is_at(root) {
        return None;
    }
    let unknown = unknown(path, subject, &names, &read(subject.source()?));
    novelty::check(CheckKind::Declared, subject, |source| {
        in_source(source, &names, &unknown, &read(source))
    })
}

/// What reads the names of a file.
fn reader(path: &ProjectPath) -> Option<fn(&SourceText<'_>) -> Uses> {
    let name = path.file_name();
    if name == "CMakeLists.txt" {
        return Some(|source| declared_uses::of_cmake(source.text));
    }
    if name.starts_with("sdkconfig.defaults") || name.starts_with("sdkconfig.ci") {
        return Some(|source| declared_uses::of_defaults(source.text));
    }
    let is_code =
        matches!(path.extension(), Some("c" | "h" | "cpp" | "hpp" | "cc" | "hh" | "cxx" | "hxx"));
    is_code.then_some(declared_uses::of_code)
}

/// Names that nothing declares that could be looked at.
#[derive(Default)]
struct Unknown {
    names: BTreeSet<(UseKind, String)>,
    /// A header of neither the framework nor the project, which may declare any of them.
    strange_header: Option<String>,
}

/// What neither the framework nor the project declares, of names that the framework would.
fn unknown(
    path: &ProjectPath,
    subject: &Subject<'_>,
    names: &DeclaredNames,
    uses: &Uses,
) -> Unknown {
    let text = subject.text().unwrap_or_default();
    // A text for several versions names what only some of them have.
    let is_for_several = text.contains("ESP_IDF_VERSION");
    let judged = |used: &&(UseKind, String)| match used {
        (UseKind::Option | UseKind::Component, name) => !names.has(name),
        (UseKind::Symbol | UseKind::Header, name) => {
            !is_for_several
                && !names.has(name)
                && (is_removed(used, names)
                    || !is_of_compiler(name) && names.namespace(name).is_some())
        }
    };
    let mut unknown: BTreeSet<_> = uses.keys().filter(judged).cloned().collect();
    if unknown.is_empty() {
        return Unknown::default();
    }
    // A header that is not there yet may declare anything.
    let headers = uses.keys().filter(|(kind, name)| *kind == UseKind::Header && !names.has(name));
    let headers: BTreeSet<_> = headers.cloned().collect();
    let wanted: BTreeSet<_> = unknown.union(&headers).cloned().collect();
    let project = project_names::look_up(path, subject, &wanted);
    if project.is_open {
        return Unknown::default();
    }
    let is_strange = |used: &(UseKind, String)| {
        let (_, name) = used;
        !project.known.contains(name)
            && !is_of_compiler(name)
            && names.namespace(name).is_none()
            && !is_removed(used, names)
    };
    let strange_header = headers.iter().find(|used| is_strange(used)).map(|(_, name)| name.clone());
    unknown.retain(|(_, name)| !project.known.contains(name));
    Unknown { names: unknown, strange_header }
}

/// Whether the installed version is known to have a name no longer, or not yet.
fn is_removed(used: &(UseKind, String), names: &DeclaredNames) -> bool {
    removed::advice(used, names.version()).is_some()
}

/// Whether a name is likely to be the compiler's or the C library's.
fn is_of_compiler(name: &str) -> bool {
    let Some(name) = name.strip_prefix(HEADER) else {
        let begins = ["pthread_", "atomic_", "sem_", "sched_", "__", "PTHREAD_", "ATOMIC_"];
        return begins.iter().any(|begin| name.starts_with(begin));
    };
    let known = [
        "assert",
        "complex",
        "ctype",
        "dirent",
        "errno",
        "fcntl",
        "fenv",
        "float",
        "getopt",
        "inttypes",
        "libgen",
        "limits",
        "locale",
        "malloc",
        "math",
        "memory",
        "poll",
        "pthread",
        "regex",
        "sched",
        "semaphore",
        "setjmp",
        "signal",
        "stdalign",
        "stdarg",
        "stdatomic",
        "stdbool",
        "stddef",
        "stdint",
        "stdio",
        "stdlib",
        "string",
        "strings",
        "termios",
        "time",
        "unistd",
        "utime",
        "wchar",
        "wctype",
        "sdkconfig",
    ];
    // A program of the coprocessor gets a header when it is built.
    !name.ends_with(".h")
        || name.starts_with("ulp_")
        || ["sys/", "machine/", "arpa/", "net/", "netinet/"].iter().any(|top| name.starts_with(top))
        || name.strip_suffix(".h").is_some_and(|stem| known.contains(&stem))
}

fn in_source(
    source: &SourceText<'_>,
    names: &DeclaredNames,
    unknown: &Unknown,
    uses: &Uses,
) -> Vec<Finding> {
    let mut found = Vec::new();
    for (key, ranges) in uses.iter().filter(|(key, _)| unknown.names.contains(*key)) {
        let (kind, name) = key;
        let framework = names.framework();
        let plain = plain_name(name);
        let removal = removed::advice(key, names.version());
        // What a header that is not there declares is not known; what was removed is.
        let strange_header = unknown
            .strange_header
            .as_deref()
            .filter(|_| *kind == UseKind::Symbol && removal.is_none());
        let text = match kind {
            UseKind::Symbol => match strange_header.map(plain_name) {
                None => format!("`{plain}` is not declared in {framework}"),
                Some(header) => format!(
                    "`{plain}` is not declared in {framework}; `{header}`, which is not there, \
                     could declare it"
                ),
            },
            UseKind::Option => {
                format!("no Kconfig of {framework} or of the project declares `{plain}`")
            }
            UseKind::Header => format!("{framework} has no header `{plain}`"),
            UseKind::Component => format!("{framework} has no component `{plain}`"),
        };
        let is_certain =
            removal.is_some() || strange_header.is_none() && names.namespace(name).is_some();
        let level = if is_certain { FindingLevel::Warning } else { FindingLevel::Note };
        let finding = Finding::new(level, text).at(source.place(source.newest(ranges)));
        found.push(finding.advice(removal.unwrap_or_else(|| advice(names, name))));
    }
    found
}

fn plain_name(name: &str) -> &str {
    name.strip_prefix(HEADER).or_else(|| name.strip_prefix(COMPONENT)).unwrap_or(name)
}

/// The nearest names that there are.
fn advice(names: &DeclaredNames, name: &str) -> String {
    let near = names.near(name);
    let near: Vec<String> = near.iter().map(|name| format!("`{}`", plain_name(name))).collect();
    if near.is_empty() { String::new() } else { format!("Near: {}.", near.join(", ")) }
}

#[cfg(test)]
#[path = "declared_tests.rs"]
mod tests;
