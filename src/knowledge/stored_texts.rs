//! The indexes of what ships, notes and topics, kept on the disk between two runs of the program.
//!
//! These texts change with the program or when the person writes their own; until then nothing has to
//! be read of them again. Owns folders `notes-…` and `topics-…` below the one it is given. When one
//! cannot be written, or is damaged, the texts are indexed in memory: must not fail for that.

#![expect(clippy::disallowed_methods, reason = "the folder holds indexes and nothing else")]

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::index::{FORMAT, PassageIndex};
use super::notes;
use super::topics::{self, Topics};
use crate::model::UserError;
use crate::text::contain::contained;

/// How the names of folders begin until the index in them is complete.
const DRAFT: &str = "draft-";

/// Puts texts, each a pair of its file and its text, into an empty index.
type Fill = fn(&mut PassageIndex, &[(&str, &str)]) -> Result<(), UserError>;

/// What is kept: how the name of its folder begins, and how it is indexed.
#[derive(Clone, Copy)]
struct TextSet {
    prefix: &'static str,
    fill: Fill,
}

/// An index of notes: the one below `folder`, if it is of these very notes, or a new one.
///
/// # Errors
/// A note that is wrong, or no memory for it.
pub fn notes(folder: &Path, notes: &[(&str, &str)]) -> Result<PassageIndex, UserError> {
    let fill: Fill = |index, texts| notes::fill(index, texts.iter().copied());
    stored(folder, TextSet { prefix: "notes-", fill }, notes)
}

/// The topics of these files: those below `folder`, if they are of these very files, or new ones.
///
/// # Errors
/// A file that is wrong, or no memory for the index.
pub fn topics(folder: &Path, files: &[(&str, &str)]) -> Result<Topics, UserError> {
    let fill: Fill = |index, texts| topics::fill(index, texts.iter().copied());
    stored(folder, TextSet { prefix: "topics-", fill }, files).map(Topics::of)
}

fn stored(folder: &Path, set: TextSet, texts: &[(&str, &str)]) -> Result<PassageIndex, UserError> {
    let place = folder.join(format!("{}{}", set.prefix, digest(texts)));
    if let Some(index) = open(&place) {
        return Ok(index);
    }
    if let Some(index) = make(folder, &place, set, texts) {
        return Ok(index);
    }
    let no_memory = |error| UserError::from_cause("Cannot index what ships", &error);
    let mut index = PassageIndex::in_memory().map_err(no_memory)?;
    (set.fill)(&mut index, texts)?;
    Ok(index)
}

/// The first digits of a number that is another one for other files, other texts, or another way to
/// index them.
fn digest(texts: &[(&str, &str)]) -> String {
    let mut hash = Sha256::new();
    hash.update(format!("{FORMAT} {}", env!("CARGO_PKG_VERSION")));
    for (file, text) in texts {
        // With their lengths, so that nothing moves from one to the next.
        hash.update(format!("\n{} {}\n{file}{text}", file.len(), text.len()));
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The index in a folder, if it is whole.
fn open(place: &Path) -> Option<PassageIndex> {
    let index = contained(|| {
        let index = PassageIndex::open(place).ok()?;
        (index.damaged().ok()? == 0).then_some(index)
    });
    index.flatten()
}

/// Makes the index beside its place and moves it there; `None` when that is not possible.
fn make(folder: &Path, place: &Path, set: TextSet, texts: &[(&str, &str)]) -> Option<PassageIndex> {
    fs::create_dir_all(folder).ok()?;
    remove_others(folder, place, set.prefix);
    let draft = format!("{DRAFT}{}", set.prefix);
    let draft = tempfile::Builder::new().prefix(&draft).tempdir_in(folder).ok()?;
    let mut index = PassageIndex::open_or_create(draft.path()).ok()?;
    (set.fill)(&mut index, texts).ok()?;
    drop(index);
    // Another program may have been faster, which leaves its index there.
    let _ = fs::rename(draft.path(), place);
    open(place)
}

/// Removes what is damaged, and indexes of other texts. Who has one open keeps it.
fn remove_others(folder: &Path, place: &Path, prefix: &str) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_other = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(prefix) && (path != place || open(place).is_none())
    };
    for path in entries.map(|entry| entry.path()).filter(is_other) {
        // What stays is only a folder too many.
        let _ = fs::remove_dir_all(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const I2C: &str = "---\ntitle: I2C\nsource: here\n---\nThe bus has two wires.\n";
    const GPIO: &str = "---\ntitle: GPIO\nsource: there\n---\nA pin has a level.\n";

    fn folders(at: &Path) -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> =
            fs::read_dir(at).unwrap().map(|entry| entry.unwrap().path()).collect();
        all.sort();
        all
    }

    fn notes(at: &Path, notes: &[(&str, &str)]) -> u64 {
        super::notes(at, notes).unwrap().passages()
    }

    #[test]
    fn notes_are_indexed_once_until_they_change() {
        let data = tempfile::tempdir().unwrap();
        let at = data.path().join("knowledge");
        assert_eq!(notes(&at, &[("i2c.md", I2C)]), 1);
        let first = folders(&at);
        assert_eq!(first.len(), 1);
        let made = fs::metadata(first[0].join("meta.json")).unwrap().modified().unwrap();
        assert_eq!(notes(&at, &[("i2c.md", I2C)]), 1);
        assert_eq!(fs::metadata(first[0].join("meta.json")).unwrap().modified().unwrap(), made);
        assert_eq!(notes(&at, &[("i2c.md", I2C), ("gpio.md", GPIO)]), 2);
        let second = folders(&at);
        assert_eq!(second.len(), 1, "the index of other notes is gone");
        assert_ne!(first, second);
    }

    #[test]
    fn what_is_damaged_is_made_again_and_what_cannot_be_written_is_in_memory() {
        let data = tempfile::tempdir().unwrap();
        let at = data.path();
        notes(at, &[("i2c.md", I2C)]);
        for number in 0..folders(&folders(at)[0]).len() {
            // Those of a new index have other names.
            let file = &folders(&folders(at)[0])[number];
            let whole = fs::read(file).unwrap();
            fs::write(file, &whole[..whole.len() / 2]).unwrap();
            assert_eq!(notes(at, &[("i2c.md", I2C)]), 1, "{}", file.display());
            assert_eq!(folders(at).len(), 1);
        }
        let file = data.path().join("file");
        fs::write(&file, "").unwrap();
        assert_eq!(notes(&file, &[("i2c.md", I2C)]), 1, "not a folder");
        assert!(super::notes(at, &[("bad.md", "no front matter")]).is_err());
    }

    #[test]
    fn two_that_make_it_at_once_both_have_it() {
        let data = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            let makers: Vec<_> =
                (0..4).map(|_| scope.spawn(|| notes(data.path(), &[("i2c.md", I2C)]))).collect();
            assert!(makers.into_iter().all(|maker| maker.join().unwrap() == 1));
        });
        assert_eq!(folders(data.path()).len(), 1);
    }
}
