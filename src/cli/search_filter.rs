//! What a search is narrowed to, checked against what there is.
//!
//! Owns the errors for a corpus, a component, a version, a chip or a project that is not there: a
//! search that could find nothing says so. Must not search.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::index_args::SearchArgs;
use crate::knowledge::{self, ChipSet, Corpus, CorpusKind, Filter, PassageKind};
use crate::model::UserError;
use crate::text::sanitize;

/// The folders that components are in.
const OF_COMPONENTS: [&str; 2] = ["components", "managed_components"];
/// Most names that an error lists.
const MOST_NAMES: usize = 8;

/// The filter that the arguments mean.
///
/// # Errors
/// When something that they name is not there.
pub fn of(args: &SearchArgs, documents: &[Corpus], project: &Path) -> Result<Filter, UserError> {
    let mut all: Vec<Corpus> = documents.to_vec();
    all.push(knowledge::notes_corpus(env!("CARGO_PKG_VERSION")));
    // Searched only when asked for.
    if args.kind.contains(&PassageKind::Project) {
        all.push(Corpus::project(project));
    }
    if args.kind.contains(&PassageKind::Session) {
        all.push(Corpus::sessions(project, project));
    }
    let mut filter = Filter {
        kinds: args.kind.clone(),
        chip: args.chip.as_deref().map(chip).transpose()?,
        component: args.component.clone(),
        corpus: args.corpus.clone(),
        version: args.idf.clone(),
    };
    if let Some(name) = &args.corpus {
        all = named(name, all)?;
        // A list shows names with their versions.
        if let Some(meant) = all.iter().find(|corpus| corpus.name != *name) {
            filter.corpus = Some(meant.name.clone());
            filter.version = args.idf.clone().or_else(|| Some(meant.version.clone()));
        }
    }
    // Only another machine knows what it has.
    let is_elsewhere = all.iter().any(|corpus| corpus.kind == CorpusKind::Remote);
    if let Some(version) = args.idf.as_ref().filter(|_| !is_elsewhere) {
        check_version(version, documents)?;
    }
    if let Some(component) = args.component.as_ref().filter(|_| !is_elsewhere) {
        check_component(component, &all)?;
    }
    Ok(filter)
}

/// Checks that the folder of a project is there.
///
/// # Errors
/// When it is not.
pub fn check_project(what: &str, project: &Path) -> Result<(), UserError> {
    if project.is_dir() {
        return Ok(());
    }
    let is = if project.exists() { "is not a folder" } else { "is not there" };
    let why = format!("the project {} {is}", sanitize::line(&project.display().to_string()));
    Err(UserError::new(what, why, "Name the folder of a project with `--project DIR`."))
}

fn wrong(why: impl Into<String>, fix: impl Into<String>) -> UserError {
    UserError::new("Cannot search", why, fix)
}

fn chip(name: &str) -> Result<ChipSet, UserError> {
    ChipSet::of(name).ok_or_else(|| {
        let known = ChipSet::ALL.names().join(", ");
        wrong(format!("`{name}` is not a chip that is known here"), format!("Use one of {known}."))
    })
}

/// The documents of that name, with or without a version.
fn named(name: &str, all: Vec<Corpus>) -> Result<Vec<Corpus>, UserError> {
    let known: BTreeSet<String> =
        all.iter().map(|corpus| sanitize::line(&corpus.name).into_owned()).collect();
    let (exact, others): (Vec<Corpus>, Vec<Corpus>) =
        all.into_iter().partition(|corpus| corpus.name == name);
    let meant = if exact.is_empty() {
        others.into_iter().filter(|corpus| corpus.label() == name).collect()
    } else {
        exact
    };
    if meant.is_empty() {
        let names = listed(known.iter().map(String::as_str));
        let fix = format!("Use one of {names}; `firmhand index` lists them.");
        return Err(wrong(format!("no documents are named `{name}`"), fix));
    }
    Ok(meant)
}

fn check_version(version: &str, documents: &[Corpus]) -> Result<(), UserError> {
    let wanted = version.trim_start_matches('v');
    let known: Vec<&str> = documents
        .iter()
        .filter(|corpus| corpus.kind == CorpusKind::Framework)
        .map(|corpus| corpus.version.as_str())
        .collect();
    if known.iter().any(|known| known.starts_with(wanted)) {
        return Ok(());
    }
    let why = format!("ESP-IDF {wanted} is not among the documents");
    let add = "add another ESP-IDF with `firmhand index add DIR`";
    Err(match known.is_empty() {
        true => wrong(why, "Set `IDF_PATH` to its folder, or run `firmhand index add DIR`."),
        false => wrong(why, format!("Use one of {}, or {add}.", listed(known.into_iter()))),
    })
}

/// Whether one of the documents has a component of that name.
fn check_component(name: &str, all: &[Corpus]) -> Result<(), UserError> {
    let known: BTreeSet<String> = all.iter().flat_map(components).collect();
    if known.contains(name) {
        return Ok(());
    }
    let why = format!("no component is named `{name}` in the documents that are searched");
    let mut near: Vec<(f64, &str)> =
        known.iter().map(|known| (strsim::jaro_winkler(name, known), known.as_str())).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let near = near.iter().take(MOST_NAMES).map(|(_, known)| *known);
    Err(match known.is_empty() {
        true => wrong(why, "Leave `--component` out: these documents have no components."),
        false => wrong(why, format!("The nearest names are {}.", listed(near))),
    })
}

/// The names of the components below a corpus.
fn components(corpus: &Corpus) -> Vec<String> {
    if corpus.root.as_os_str().is_empty() || corpus.root.is_file() {
        return Vec::new();
    }
    let folders = OF_COMPONENTS.iter().map(|folder| corpus.root.join(folder));
    let entries = folders.flat_map(fs::read_dir).flatten().flatten();
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    entries.filter(is_folder).filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// Names in a row, not too many of them.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.collect();
    let all = names.len();
    names.truncate(MOST_NAMES);
    let more = if all > MOST_NAMES { " and others" } else { "" };
    format!("{}{more}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        search: SearchArgs,
    }

    fn filter(words: &[&str], documents: &[Corpus]) -> Result<Filter, UserError> {
        let line = ["search", "words"].iter().chain(words);
        of(&Line::parse_from(line).search, documents, Path::new("."))
    }

    fn framework(root: &Path) -> Corpus {
        for part in ["docs/en", "components/esp_wifi"] {
            fs::create_dir_all(root.join(part)).unwrap();
        }
        fs::write(root.join("version.txt"), "v5.5.5\n").unwrap();
        Corpus::at(root)
    }

    #[test]
    fn what_is_not_there_is_named_with_what_is() {
        let folder = tempfile::tempdir().unwrap();
        let documents = [framework(folder.path())];
        for (words, fix) in [
            (["--corpus", "nosuch"], "esp-idf, notes"),
            (["--component", "wifi"], "esp_wifi"),
            (["--idf", "5.5.50"], "5.5.5"),
            (["--chip", "esp99"], "esp32c3"),
        ] {
            let error = filter(&words, &documents).unwrap_err();
            assert!(error.fix.contains(fix) && error.why.contains(words[1]), "{error:?}");
        }
        assert!(filter(&["--idf", "5"], &[]).unwrap_err().fix.contains("IDF_PATH"));
        assert!(filter(&["--component", "x"], &[]).unwrap_err().fix.contains("no components"));
        let gone = check_project("Cannot search", &folder.path().join("none")).unwrap_err();
        assert!(gone.why.contains("not there"), "{gone:?}");
        check_project("Cannot search", folder.path()).unwrap();
    }

    #[test]
    fn what_is_there_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let documents = [framework(folder.path())];
        for words in [["--corpus", "notes"], ["--component", "esp_wifi"], ["--idf", "v5.5"]] {
            filter(&words, &documents).unwrap();
        }
        let labelled = filter(&["--corpus", "esp-idf 5.5.5"], &documents).unwrap();
        assert_eq!(labelled.corpus.as_deref(), Some("esp-idf"));
        assert_eq!(labelled.version.as_deref(), Some("5.5.5"));
        let of_project = filter(&["--corpus", "project", "--kind", "project"], &documents);
        assert!(of_project.is_ok() && filter(&["--corpus", "project"], &documents).is_err());
    }
}
