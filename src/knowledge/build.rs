//! Builds and renews the stored index of a corpus.
//!
//! Owns the folder of an index: the library's files, and `corpus.json` and `files.json` beside them.
//! Only one program builds at a time; what another one reads stays as it is until the new state is
//! complete. A file is read again when its time or length changed and its content did too.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tantivy::TantivyError;

use super::chips::{ChipFacts, ChipSet};
use super::corpus::{Corpus, CorpusFile, CorpusKind, FileRole, SEPARATE, is_shared};
use super::folder::disk_words;
use super::index::{COMPONENT, FORMAT, HEADER, IndexChange, MISSING, PassageIndex};
use super::leftovers::{self, FAILED_FILE};
use super::passage::{Passage, PassageKind};
use super::split::{self, Document, SplitContext, WindowSize};
use super::words::Splitter;
use crate::files;
use crate::model::UserError;
use crate::text::contain::contained;
use crate::text::redact::Redactor;
use crate::text::{credentials, encoding};

/// Name of the description of a corpus beside its index.
const CORPUS_FILE: &str = "corpus.json";
/// Name of the list of files that the index holds.
const FILES_FILE: &str = "files.json";
/// Name of the file that the building program holds.
const LOCK_FILE: &str = "build.lock";
/// Name of the file that the program holds which makes vectors.
pub const VECTORS_LOCK: &str = "vectors.lock";
/// Name of the file with the vectors of the passages.
pub const VECTORS_FILE: &str = "vectors.bin";
/// Why a file is not read whose name is that of a text.
const NO_TEXT: &str = "its content is not text";
/// Threads that read files.
const THREADS: usize = 2;

/// What is written beside an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexInfo {
    pub format: u32,
    pub corpus: Corpus,
    pub files: usize,
    pub passages: u64,
}

/// The list of files beside an index.
#[derive(Debug, Default, Serialize, Deserialize)]
struct FileList {
    /// [`PassageIndex::stamp`] of the index that holds them.
    stamp: u64,
    files: BTreeMap<String, FileStamp>,
}

/// A file as it was when it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct FileStamp {
    number: u64,
    bytes: u64,
    modified: u64,
    hash: String,
    passages: usize,
    /// The chips that it was for; other files say so, which change on their own.
    #[serde(default)]
    chips: ChipSet,
}

/// What was done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BuildReport {
    pub files: usize,
    pub read: usize,
    pub removed: usize,
    pub passages: u64,
    /// Files that could not be read, each with the reason.
    pub refused: Vec<(String, String)>,
}

/// A piece of a file that is no plain text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Part {
    /// Where it is in the file, e.g. `page=3`.
    pub anchor: String,
    /// Title of the whole; empty: the path of the file.
    pub title: String,
    pub heading: String,
    pub text: String,
}

/// How a build is to be done.
pub struct BuildOptions<'a> {
    pub window: WindowSize,
    /// Reads a file that is no plain text, such as a PDF document or the journal of a session, or
    /// says why not.
    pub parts: &'a (dyn Fn(&Path) -> Result<Vec<Part>, String> + Sync),
    /// Keys of the person that must not stand in an index of their own work.
    pub secrets: &'a Redactor,
    /// Is told how many files of how many are done.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

/// The description in an index's folder, if it is one that this program can use.
#[must_use]
pub fn info(folder: &Path) -> Option<IndexInfo> {
    let text = files::read_text(&folder.join(CORPUS_FILE), files::SETTINGS).ok()?;
    let info: IndexInfo = serde_json::from_str(&text).ok()?;
    (info.format == FORMAT).then_some(info)
}

/// Builds the index of a corpus, or renews it. Waits while another program does.
///
/// # Errors
/// When the corpus is not there, or the index cannot be written; an older state stays usable.
pub fn build(
    folder: &Path,
    corpus: &Corpus,
    options: &BuildOptions<'_>,
) -> Result<BuildReport, UserError> {
    let what = || format!("Cannot index {}", corpus.label());
    let wrong = |error: io::Error| {
        UserError::from_cause(what(), &error).fix("Free some space, or check the folder's rights.")
    };
    if !corpus.root.exists() {
        let why = format!("{} is not there", corpus.root.display());
        return Err(UserError::new(what(), why, "Remove it with `firmhand index remove`."));
    }
    let lock = lock(folder, LOCK_FILE).map_err(wrong)?;
    let attempt = || {
        contained(|| attempt(folder, corpus, options))
            .unwrap_or_else(|| Err("a file of the index is damaged".to_owned()))
    };
    let built = attempt().or_else(|why| {
        // A full disk, for example, leaves the older state as it was.
        if !is_damaged(folder) {
            return Err(why);
        }
        discard(folder).map_err(|error| disk_words(&error))?;
        attempt()
    });
    match &built {
        Ok(_) => leftovers::forget(folder),
        Err(why) => {
            tidy(folder);
            leftovers::note(folder, why);
        }
    }
    drop(lock);
    built.map_err(|why| {
        UserError::new(what(), why, "Free some space, then run `firmhand index build`.")
    })
}

/// Removes the index of a corpus.
///
/// # Errors
/// When its files cannot be removed.
#[expect(clippy::disallowed_methods, reason = "the folder holds the index and nothing else")]
pub fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Waits until no other program holds that file of an index, and holds it.
#[expect(clippy::disallowed_methods, reason = "the folder of the index is the program's own")]
pub fn lock(folder: &Path, name: &str) -> io::Result<File> {
    fs::create_dir_all(folder)?;
    let file = File::create(folder.join(name))?;
    file.lock()?;
    Ok(file)
}

/// Whether the index in a folder cannot be used as it is: it cannot be opened, or its checksums do
/// not fit.
#[must_use]
pub fn is_damaged(folder: &Path) -> bool {
    let damaged = contained(|| PassageIndex::open(folder).and_then(|index| index.damaged()));
    !matches!(damaged, Some(Ok(0)))
}

/// Files that stay when an index is made anew. Vectors belong to texts, wherever those stand.
const KEPT: [&str; 4] = [LOCK_FILE, VECTORS_LOCK, VECTORS_FILE, FAILED_FILE];

fn discard(folder: &Path) -> io::Result<()> {
    leftovers::remove_but(folder, &|name| KEPT.contains(&name))
}

/// Removes what a build that failed has written: all of it, or what does not belong to the older
/// state, which is searched on.
fn tidy(folder: &Path) {
    let older =
        info(folder).map(|_| PassageIndex::open(folder).and_then(|index| index.file_stems()));
    // What is left costs space only.
    let _ = match older {
        None => discard(folder),
        Some(Ok(stems)) => leftovers::remove_but(folder, &|name| {
            let siblings = [CORPUS_FILE, FILES_FILE];
            let is_sibling = KEPT.contains(&name) || siblings.contains(&name);
            is_sibling || name.split('.').next().is_some_and(|stem| stems.contains(stem))
        }),
        // Whatever is wrong, the next build finds out.
        Some(Err(_)) => Ok(()),
    };
}

/// Writes a file beside the index, whole or not at all, and waits until it is on the disk.
pub fn write_whole(folder: &Path, name: &str, content: &[u8]) -> io::Result<()> {
    write_draft(folder, name, content)?.sync_all()?;
    take_draft(folder, name)
}

#[expect(clippy::disallowed_methods, reason = "the folder of the index is the program's own")]
fn write_draft(folder: &Path, name: &str, content: &[u8]) -> io::Result<File> {
    let mut file = File::create(folder.join(format!("{name}.new")))?;
    file.write_all(content)?;
    Ok(file)
}

#[expect(clippy::disallowed_methods, reason = "the folder of the index is the program's own")]
fn take_draft(folder: &Path, name: &str) -> io::Result<()> {
    fs::rename(folder.join(format!("{name}.new")), folder.join(name))
}

fn attempt(
    folder: &Path,
    corpus: &Corpus,
    options: &BuildOptions<'_>,
) -> Result<BuildReport, String> {
    let words = |error: &dyn std::fmt::Display| error.to_string();
    let usable = info(folder).is_some_and(|info| info.corpus.root == corpus.root);
    if !usable {
        discard(folder).map_err(|error| disk_words(&error))?;
    }
    let index = PassageIndex::open_or_create(folder).map_err(|error| match &error {
        TantivyError::IoError(error) => disk_words(error),
        _ => words(&error),
    })?;
    let stamp = index.stamp().map_err(|error| words(&error))?;
    // After a power cut the list may be newer than the index.
    let list = if usable { stamps(folder) } else { FileList::default() };
    let known = if list.stamp <= stamp { list.files } else { BTreeMap::new() };
    let plan = Plan::of(corpus, known);
    if plan.work.is_empty() && plan.gone.is_empty() && usable {
        return Ok(BuildReport {
            files: plan.kept.len(),
            passages: index.passages(),
            ..BuildReport::default()
        });
    }
    let changed = change(&index, (corpus, options), &plan);
    // A thread that could not write does not say why.
    let mut done = changed.map_err(|why| index.write_fault().unwrap_or(why))?;
    let mut stamps = plan.kept;
    stamps.append(&mut done.stamps);
    let index = PassageIndex::open(folder).map_err(|error| words(&error))?;
    let (files, passages) = (stamps.len(), index.passages());
    let list = FileList { stamp: index.stamp().map_err(|error| words(&error))?, files: stamps };
    let info = IndexInfo { format: FORMAT, corpus: corpus.clone(), files, passages };
    write_json(folder, FILES_FILE, &list)?;
    write_json(folder, CORPUS_FILE, &info)?;
    let (read, removed) = (plan.work.len(), plan.gone.len());
    Ok(BuildReport { files, read, removed, passages, refused: done.refused })
}

/// Takes in what changed.
fn change(
    index: &PassageIndex,
    (corpus, options): (&Corpus, &BuildOptions<'_>),
    plan: &Plan,
) -> Result<Done, String> {
    let words = |error: TantivyError| error.to_string();
    let is_small = plan.work.len() <= 64;
    let change = index.change(if is_small { 1 } else { THREADS }).map_err(words)?;
    for path in &plan.gone {
        change.remove(path);
    }
    let facts = corpus.chip_facts();
    let job = Job { corpus, facts, options, change: &change, all: plan.work.len() };
    let done = job.run(&plan.work)?;
    if corpus.kind == CorpusKind::Framework {
        add_components(corpus, &change).map_err(words)?;
    }
    change.commit(if is_small { 6 } else { 1 }).map_err(words)?;
    Ok(done)
}

/// Does not wait for the disk, as the index beside it does not.
fn write_json(folder: &Path, name: &str, value: &impl Serialize) -> Result<(), String> {
    let text = serde_json::to_vec(value).map_err(|error| error.to_string())?;
    let written = write_draft(folder, name, &text).and_then(|_| take_draft(folder, name));
    written.map_err(|error| disk_words(&error))
}

fn stamps(folder: &Path) -> FileList {
    let text = files::read_text(&folder.join(FILES_FILE), files::IMAGE).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// The names of components, which are folders.
fn add_components(corpus: &Corpus, change: &IndexChange<'_>) -> tantivy::Result<()> {
    let folders = ["components", "examples/common_components"];
    let entries = folders.iter().flat_map(|folder| fs::read_dir(corpus.root.join(folder)));
    let names = entries.flatten().flatten().filter_map(|entry| {
        // A folder may stay for tests of what was removed.
        let is_component = entry.path().join("CMakeLists.txt").is_file();
        is_component.then(|| format!("{COMPONENT}{}", entry.file_name().display()))
    });
    let is_there = |folder: &str| {
        let folder = corpus.root.join("components").join(folder);
        // A component that is gone altogether is declared nowhere.
        folder.parent().is_none_or(|component| !component.is_dir())
            || fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
    };
    let missing = SEPARATE.iter().map(|(folder, _)| folder).filter(|folder| !is_there(folder));
    let names: Vec<String> =
        names.chain(missing.map(|folder| format!("{MISSING}{folder}"))).collect();
    change.remove("components");
    change.add_names("components", 0, &names.join(" "))
}

/// A file that is to be read.
struct FileToRead {
    file: CorpusFile,
    number: u64,
    bytes: u64,
    modified: u64,
    /// What the index holds of it.
    before: Option<FileStamp>,
}

/// Which files are read, kept and taken out.
struct Plan {
    work: Vec<FileToRead>,
    kept: BTreeMap<String, FileStamp>,
    gone: Vec<String>,
}

impl Plan {
    fn of(corpus: &Corpus, mut known: BTreeMap<String, FileStamp>) -> Self {
        let mut next = known.values().map(|stamp| stamp.number + 1).max().unwrap_or(1);
        let (mut work, mut kept) = (Vec::new(), BTreeMap::new());
        let is_file = corpus.root.is_file();
        for file in corpus.files() {
            let place = if is_file { corpus.root.clone() } else { corpus.root.join(&file.path) };
            let Ok(found) = fs::metadata(place) else { continue };
            let modified = found
                .modified()
                .ok()
                .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
                .map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
            let old = known.remove(&file.path);
            match old {
                Some(stamp)
                    if stamp.bytes == found.len()
                        && stamp.modified == modified
                        && stamp.chips == file.chips =>
                {
                    kept.insert(file.path, stamp);
                }
                before => {
                    let number = before.as_ref().map_or(next, |stamp| stamp.number);
                    next += u64::from(number == next);
                    work.push(FileToRead { file, number, bytes: found.len(), modified, before });
                }
            }
        }
        Self { work, kept, gone: known.into_keys().collect() }
    }
}

#[derive(Default)]
struct Done {
    stamps: BTreeMap<String, FileStamp>,
    refused: Vec<(String, String)>,
}

struct Job<'a> {
    corpus: &'a Corpus,
    facts: ChipFacts,
    options: &'a BuildOptions<'a>,
    change: &'a IndexChange<'a>,
    all: usize,
}

impl Job<'_> {
    fn run(&self, work: &[FileToRead]) -> Result<Done, String> {
        let next = AtomicUsize::new(0);
        let reader = || {
            let mut words = Splitter::default();
            let mut done = Done::default();
            while let Some(item) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                self.read(item, &mut words, &mut done).map_err(|error| error.to_string())?;
                (self.options.progress)(next.load(Ordering::Relaxed).min(self.all), self.all);
            }
            Ok::<Done, String>(done)
        };
        if work.len() < 8 {
            return reader();
        }
        let mut all = Done::default();
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(reader)).collect();
            for thread in threads {
                let mut done = thread
                    .join()
                    .unwrap_or_else(|_| Err("a file could not be understood".to_owned()))?;
                all.stamps.append(&mut done.stamps);
                all.refused.append(&mut done.refused);
            }
            Ok(all)
        })
    }

    fn read(
        &self,
        work: &FileToRead,
        words: &mut Splitter,
        done: &mut Done,
    ) -> tantivy::Result<()> {
        let path = &work.file.path;
        let place = self.corpus.absolute(path);
        let is_plain = !matches!(work.file.role, FileRole::Parts(_));
        let parts = match is_plain {
            false => (self.options.parts)(&place),
            true => files::read_start(&place, files::SOURCE)
                .map_err(|error| error.to_string())
                .and_then(|bytes| encoding::decode(bytes).ok_or_else(|| NO_TEXT.to_owned()))
                .map(|text| vec![Part { text, ..Part::default() }]),
        };
        let mut parts = match parts {
            Ok(parts) => parts,
            Err(why) => {
                done.refused.push((path.clone(), why));
                Vec::new()
            }
        };
        if self.corpus.kind.is_own() {
            parts.iter_mut().for_each(|part| self.clean(path, part));
        }
        if work.bytes > files::SOURCE && is_plain {
            let why = format!("only its first {} MiB are indexed", files::SOURCE >> 20);
            done.refused.push((path.clone(), why));
        }
        let hash = hash_of(&parts);
        let is_same = |old: &&FileStamp| old.hash == hash && old.chips == work.file.chips;
        if let Some(old) = work.before.as_ref().filter(is_same) {
            let stamp = FileStamp { bytes: work.bytes, modified: work.modified, ..old.clone() };
            done.stamps.insert(path.clone(), stamp);
            return Ok(());
        }
        self.change.remove(path);
        let mut count = 0;
        for part in &parts {
            for mut passage in self.passages(&work.file, part) {
                // An option of the project is a text of the project before all.
                if self.corpus.kind == CorpusKind::Project {
                    passage.kind = PassageKind::Project;
                }
                self.change.add(&passage, work.number, words)?;
                count += 1;
            }
        }
        if self.corpus.kind == CorpusKind::Framework
            && let Some(names) = parts.first().and_then(|part| names_of(path, &part.text))
        {
            self.change.add_names(path, work.number, &names)?;
        }
        let stamp = FileStamp {
            number: work.number,
            bytes: work.bytes,
            modified: work.modified,
            hash,
            passages: count,
            chips: work.file.chips,
        };
        done.stamps.insert(path.clone(), stamp);
        Ok(())
    }

    /// Takes secrets out of the person's own work.
    fn clean(&self, path: &str, part: &mut Part) {
        for text in [&mut part.title, &mut part.heading, &mut part.text] {
            let clean = credentials::without(path, text);
            *text = self.options.secrets.clean(&clean).into_owned();
        }
    }

    fn passages(&self, file: &CorpusFile, part: &Part) -> Vec<Passage> {
        let include =
            |path: &str| files::read_text(&self.corpus.absolute(path), files::SETTINGS).ok();
        let context =
            SplitContext { facts: &self.facts, window: self.options.window, include: &include };
        match file.role {
            FileRole::Names => Vec::new(),
            FileRole::Passages(form, kind) => {
                let text = &part.text;
                let document = Document { path: &file.path, text, kind, chips: file.chips };
                split::split(document, form, &context)
            }
            FileRole::Parts(kind) => {
                let title = if part.title.is_empty() { &file.path } else { &part.title };
                let document =
                    Document { path: &file.path, text: &part.text, kind, chips: file.chips };
                let of = |piece: split::Piece| Passage {
                    anchor: part.anchor.clone(),
                    headings: vec![part.heading.clone()],
                    ..document.passage(title, piece.text)
                };
                split::cut(&part.text, self.options.window).into_iter().map(of).collect()
            }
        }
    }
}

/// The names that a file of the framework makes known.
fn names_of(path: &str, text: &str) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if name.starts_with("sdkconfig.rename") {
        let words = text.split_whitespace().filter(|word| word.starts_with("CONFIG_"));
        return Some(words.collect::<Vec<_>>().join(" "));
    }
    if path.starts_with("examples/") && !is_shared(path) {
        return None;
    }
    if name.rsplit_once('.').is_some_and(|(_, end)| matches!(end, "h" | "hpp" | "hh")) {
        let mut names = split::names_in_header(text).join(" ");
        // As `#include` may name it: every end of its path.
        let mut rest = path;
        while let Some((_, tail)) = rest.split_once('/') {
            names.push(' ');
            names.push_str(HEADER);
            names.push_str(tail);
            rest = tail;
        }
        return Some(names);
    }
    name.starts_with("Kconfig").then(|| {
        split::options_in(text).map(|name| format!("CONFIG_{name}")).collect::<Vec<_>>().join(" ")
    })
}

fn hash_of(parts: &[Part]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        for text in [&part.anchor, &part.title, &part.heading, &part.text] {
            hash.update(text.as_bytes());
        }
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
#[path = "build_tests.rs"]
mod tests;
