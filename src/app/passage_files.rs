//! Where the file of a passage lies on this machine, and at which of its lines the passage begins.
//!
//! Owns the way back from what a search told to the disk. What it told may come from the journal of
//! somebody else: only files below the folders that are searched here are named.

use std::path::{Path, PathBuf};

use super::documentation::Documentation;
use super::machine::Machine;
use crate::files;
use crate::knowledge::PassageKind;
use crate::model::UserError;
use crate::ui::PassagePlace;

/// Bytes of a file in which a passage is looked for.
const MOST_BYTES: u64 = 4 << 20;
/// Shortest line that tells a place.
const TELLING: usize = 12;

/// The file of a passage, and the line where it begins, from 1, where that is certain.
///
/// # Errors
/// When the passage is part of the program or of an older session, or its file is not among what is
/// searched on this machine.
pub fn find(
    machine: &Machine,
    project: &Path,
    place: &PassagePlace,
) -> Result<(PathBuf, Option<u32>), UserError> {
    if let Some((name, _)) = place.source.split_once(':')
        && machine.settings.search.remotes.contains_key(name)
    {
        return Err(elsewhere(place, name));
    }
    let mut corpora = Documentation::of(machine, Some(project)).corpora()?;
    if !place.documents.is_empty() {
        corpora.retain(|corpus| corpus.label() == place.documents);
    }
    let mut roots: Vec<&Path> = corpora.iter().map(|corpus| corpus.root.as_path()).collect();
    roots.push(project);
    find_below(&roots, place)
}

/// Why a passage of an index on another machine has no file here.
fn elsewhere(place: &PassagePlace, name: &str) -> UserError {
    UserError::new(
        format!("Cannot open {}", place.source),
        format!("it is from `{name}`, an index on another machine, and has no file on this one"),
        "The text that was sent is below its title.",
    )
}

/// As [`find`], below these folders.
fn find_below(roots: &[&Path], place: &PassagePlace) -> Result<(PathBuf, Option<u32>), UserError> {
    let failed = |why: &str, fix: &str| {
        Err(UserError::new(format!("Cannot open {}", place.source), why, fix))
    };
    let is_of = |kind: PassageKind| place.kind == kind.name();
    if is_of(PassageKind::Note) {
        let why = "this note is part of the program and has no file";
        return failed(why, "Its whole text stands below its title.");
    }
    if is_of(PassageKind::Session) {
        let why = "it is from an earlier session, which is not a text file";
        return failed(why, "`firmhand replay` shows the session.");
    }
    let path = place.source.split('#').next().unwrap_or_default();
    let mut there: Vec<(PathBuf, Option<u32>)> = roots
        .iter()
        .filter_map(|root| below(root, path))
        .map(|file| {
            let line = line_of(&file, &place.text);
            (file, line)
        })
        .collect();
    // Of several files of that name it is the one with the text.
    there.sort_by_key(|(_, line)| line.is_none());
    match there.into_iter().next() {
        Some((file, _)) if is_pdf(path) => failed(
            "it is a PDF, which an editor of texts cannot show",
            &format!("Open {} with a reader of PDFs.", file.display()),
        ),
        Some(found) => Ok(found),
        // Where the session was, such an index was set up.
        None if remote_of(place).is_some() => {
            Err(elsewhere(place, remote_of(place).unwrap_or_default()))
        }
        None => {
            let why = match place.documents.as_str() {
                "" => "no documents of this machine have such a file".to_owned(),
                named => format!("{named}, as it is searched on this machine, has no such file"),
            };
            failed(&why, "`firmhand index list` tells what is searched.")
        }
    }
}

/// The index on another machine that a passage seems to be from: its documents are named so too.
fn remote_of(place: &PassagePlace) -> Option<&str> {
    let (name, _) = place.source.split_once(':')?;
    let documents = place.documents.split(' ').next().unwrap_or_default();
    (documents.is_empty() || documents == name).then_some(name)
}

fn is_pdf(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("pdf"))
}

/// A file at a path below a folder, or that file itself; no link leads out of it.
fn below(root: &Path, path: &str) -> Option<PathBuf> {
    let root = root.canonicalize().ok()?;
    if root.is_file() {
        let name = root.file_name()?.to_str()?;
        return (name == path).then_some(root);
    }
    let file = root.join(path).canonicalize().ok()?;
    (file.starts_with(&root) && file.is_file()).then_some(file)
}

/// The line at which a passage begins in its file: where its first telling line is followed by the
/// most of the lines after it.
fn line_of(file: &Path, passage: &str) -> Option<u32> {
    let bytes = files::read(file, MOST_BYTES).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let wanted: Vec<&str> =
        passage.lines().map(str::trim).filter(|line| line.len() >= TELLING).take(6).collect();
    let length = passage.lines().count();
    let after = |at: usize| {
        let end = at.saturating_add(length).min(lines.len());
        wanted.iter().filter(|line| lines[at..end].contains(line)).count()
    };
    let places = wanted.iter().find_map(|line| {
        let places: Vec<usize> = (0..lines.len()).filter(|at| lines[*at] == *line).collect();
        (!places.is_empty()).then_some(places)
    })?;
    // Of places that are as good the first counts.
    let best = places.into_iter().rev().max_by_key(|at| after(*at))?;
    u32::try_from(best + 1).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn place(source: &str, kind: &str, text: &str) -> PassagePlace {
        let [source, kind, text] = [source, kind, text].map(str::to_owned);
        PassagePlace { source, documents: String::new(), kind, text }
    }

    #[test]
    fn a_passage_is_found_again_with_its_line() {
        let [one, two] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let text = "Title\n=====\n\nA line that stands twice.\nOther words.\n\nPart\n----\n\n\
                    A line that stands twice.\nThe words of this passage.\n";
        fs::create_dir(two.path().join("docs")).unwrap();
        fs::write(two.path().join("docs/bus.rst"), text).unwrap();
        fs::write(two.path().join("scan.PDF"), "%PDF").unwrap();
        let roots = [one.path(), two.path()];
        let find = |source: &str, kind: &str, text: &str| {
            find_below(&roots, &place(source, kind, text)).map(|(_, line)| line)
        };
        let passage = "Part\n\nA line that stands twice.\nThe words of this passage.";
        assert_eq!(find("docs/bus.rst#part", "guide", passage), Ok(Some(10)));
        assert_eq!(find("docs/bus.rst", "guide", "words that the file has not"), Ok(None));
        let refusals = [
            (find("docs/gone.rst", "guide", passage), "no documents of this machine"),
            (find("gpio.md#levels", "note", "Levels."), "part of the program"),
            (find("20260101", "session", ""), "an earlier session"),
            (find("scan.PDF", "guide", ""), "it is a PDF"),
        ];
        for (refused, why) in refusals {
            assert!(refused.unwrap_err().why.contains(why), "{why}");
        }
        // Of two files with that path it is the one with the text.
        fs::create_dir(one.path().join("docs")).unwrap();
        fs::write(one.path().join("docs/bus.rst"), "Quite another text.\n").unwrap();
        let (file, _) = find_below(&roots, &place("docs/bus.rst", "", passage)).unwrap();
        assert!(file.starts_with(two.path().canonicalize().unwrap()));
    }

    #[test]
    fn what_is_from_another_machine_has_no_file_and_that_is_clear() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("bus.rst"), "The bus.\n").unwrap();
        for path in ["team:bus.rst#start", "team:../bus.rst", "team:/etc/passwd"] {
            let error = find_below(&[root.path()], &place(path, "guide", "The bus.")).unwrap_err();
            assert!(error.why.contains("`team`, an index on another machine"), "{error:?}");
        }
    }

    #[test]
    fn nothing_outside_of_what_is_searched_is_opened() {
        let [root, outside] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        fs::write(outside.path().join("secret.txt"), "a secret\n").unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("docs")).unwrap();
        let whole = outside.path().join("secret.txt").display().to_string();
        let up = format!("../{}/secret.txt", outside.path().file_name().unwrap().to_str().unwrap());
        for path in ["docs/secret.txt", &whole, &up, "", ".", "/dev/null"] {
            assert!(find_below(&[root.path()], &place(path, "", "")).is_err(), "{path}");
        }
        // A corpus may be one file.
        let file = outside.path().join("secret.txt");
        assert!(find_below(&[&file], &place("secret.txt", "", "")).is_ok());
        assert!(find_below(&[&file], &place("other.txt", "", "")).is_err());
    }
}
