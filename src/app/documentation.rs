//! Which documents are searched on this machine, and where their indexes are.
//!
//! Owns `knowledge/` in the data folder: one index for each corpus and version, shared by all
//! projects, and the list of what the person added. Must not know how passages are found.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};

use serde::{Deserialize, Serialize};

use super::addable::{addable, refused};
use super::machine::Machine;
use super::{own_file, past_sessions, pdf_apart, search_models};
use crate::knowledge::{
    self, BuildOptions, BuildReport, Corpus, CorpusKind, Knowledge, Library, OwnWork, Part,
    PassageKind, Splitter, Synonyms, Topics, VectorReport, WindowSize,
};
use crate::model::UserError;
use crate::text::contain;

/// Where ESP-IDF is when nobody says: below the home folder, and absolute.
const HOMES: [&str; 3] = ["esp/esp-idf", "esp-idf", ".espressif/esp-idf"];
const PLACES: [&str; 2] = ["/opt/esp/idf", "/opt/esp-idf"];

/// What the person added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Added {
    path: PathBuf,
    /// The project that it is for; all when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    project: Option<PathBuf>,
}

/// The list as it is written.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Page {
    #[serde(default)]
    added: Vec<Added>,
}

/// The documents of this machine.
pub struct Documentation<'a> {
    machine: &'a Machine,
    folder: PathBuf,
    project: Option<PathBuf>,
}

impl<'a> Documentation<'a> {
    /// For a project, if one is named.
    #[must_use]
    pub fn of(machine: &'a Machine, project: Option<&Path>) -> Self {
        let folder = machine.dirs.data.join("knowledge");
        Self { machine, folder, project: project.map(real) }
    }

    /// Everything with an index on the disk: the framework, and what was added.
    ///
    /// # Errors
    /// When the list of what was added cannot be read.
    pub fn corpora(&self) -> Result<Vec<Corpus>, UserError> {
        let mut roots: Vec<PathBuf> = framework().into_iter().flatten().collect();
        for added in self.page()?.added {
            let is_here = added.project.is_none() || added.project == self.project;
            if is_here && !roots.contains(&added.path) {
                roots.push(added.path);
            }
        }
        Ok(roots.iter().map(|root| Corpus::at(root)).collect())
    }

    /// Why the framework that the person means is not searched, if it is not.
    #[must_use]
    pub fn missing_framework(&self) -> Option<String> {
        framework().err()
    }

    /// Where the index of a corpus is.
    #[must_use]
    pub fn index_folder(&self, corpus: &Corpus) -> PathBuf {
        self.folder.join(corpus.id())
    }

    /// Indexes a folder or a file and adds it to the list; what cannot be indexed is not added.
    ///
    /// # Errors
    /// When there is nothing at that path that can be read, or the index or the list cannot be
    /// written.
    pub fn add(
        &self,
        named: &Path,
        is_for_project: IndexScope,
        progress: &(dyn Fn(&Corpus, usize, usize) + Sync),
    ) -> Result<(Corpus, BuildReport), UserError> {
        let path = addable(named)?;
        let corpus = Corpus::at(&path);
        let built = self.build(&corpus, &|done, all| progress(&corpus, done, all))?;
        if path.is_file() && built.passages == 0 {
            if !self.page()?.added.iter().any(|added| added.path == path) {
                // An index that stays costs space only.
                let _ = knowledge::remove(&self.index_folder(&corpus));
            }
            let why = built.refused.into_iter().next().map(|(_, why)| why);
            let why = why.unwrap_or_else(|| "the file has no text".to_owned());
            return Err(refused(named, why, "Name a file with text in it."));
        }
        let project = match is_for_project {
            IndexScope::All => None,
            IndexScope::Project => self.project.clone(),
        };
        self.change(|page| {
            let added = Added { path, project };
            if !page.added.contains(&added) {
                page.added.push(added);
            }
        })?;
        Ok((corpus, built))
    }

    /// Takes a folder or a file out, and removes its index; it is named by its path or as it is
    /// listed. Tells which one it was.
    ///
    /// # Errors
    /// When none or several are named so, or the list or the index cannot be changed.
    pub fn remove(&self, named: &Path) -> Result<PathBuf, UserError> {
        let mut known: Vec<PathBuf> =
            self.page()?.added.into_iter().map(|added| added.path).collect();
        known.sort();
        known.dedup();
        let path = which(named, &known)?.clone();
        self.change(|page| page.added.retain(|added| added.path != path))?;
        remove_index(&self.index_folder(&Corpus::at(&path)))?;
        Ok(path)
    }

    /// Builds or renews the index of a corpus.
    ///
    /// # Errors
    /// When it cannot be built.
    pub fn build(
        &self,
        corpus: &Corpus,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<BuildReport, UserError> {
        let parts = |path: &Path| match &corpus.project {
            Some(project) => past_sessions::read(path, project),
            None => pages(path),
        };
        let redactor = self.machine.profiles.secrets().redactor();
        let window = WindowSize::default();
        let options = BuildOptions { window, parts: &parts, secrets: &redactor, progress };
        knowledge::build(&self.index_folder(corpus), corpus, &options)
    }

    /// As [`Self::build`] where nobody asked for it: what failed a moment ago is not tried again.
    ///
    /// # Errors
    /// When it cannot be built, or could not.
    pub fn build_missing(
        &self,
        corpus: &Corpus,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<BuildReport, UserError> {
        match knowledge::failed_lately(&self.index_folder(corpus)) {
            None => self.build(corpus, progress),
            Some(why) => Err(UserError::new(
                format!("Cannot index {}", corpus.label()),
                format!("{why}; that was less than a minute ago"),
                "Run `firmhand index build` to try again at once.",
            )),
        }
    }

    /// The person's own work of these kinds, indexed as it is now; what cannot be indexed is left out
    /// and named.
    ///
    /// # Errors
    /// When the synonyms cannot be read.
    pub fn own_library(&self, kinds: &[PassageKind]) -> Result<Library, UserError> {
        let mut library = Library::new(self.synonyms()?);
        let Some(project) = &self.project else {
            library.leave_out("the project: no folder is named".to_owned());
            return Ok(library);
        };
        for kind in PassageKind::OWN.into_iter().filter(|kind| kinds.contains(kind)) {
            let corpus = match kind {
                PassageKind::Session => {
                    Corpus::sessions(&self.machine.dirs.data.join("sessions"), project)
                }
                _ => Corpus::project(project),
            };
            // Without a session there is nothing to find in them.
            if !corpus.root.exists() {
                continue;
            }
            let opened = self.build(&corpus, &|_, _| {}).and_then(|built| {
                library.open(&self.index_folder(&corpus))?;
                Ok(built.refused)
            });
            match opened {
                Ok(refused) => refused.into_iter().for_each(|(file, why)| {
                    library.leave_out(format!("{file}: {why}"));
                }),
                Err(error) => library.leave_out(format!("{}: {}", corpus.label(), error.why)),
            }
        }
        Ok(library)
    }

    /// Makes the vectors of a corpus that are missing; `None` when no endpoint is set up for that.
    ///
    /// # Errors
    /// When the endpoint fails, or nothing can be written.
    pub fn build_vectors(
        &self,
        corpus: &Corpus,
        progress: &dyn Fn(usize, usize),
    ) -> Result<Option<VectorReport>, UserError> {
        let (endpoints, wrong) = search_models::endpoints(self.machine);
        let Some(embedder) = endpoints.embedder else {
            let what = "Cannot make the vectors of the documents";
            let fix = "Correct `[search]` of your configuration.";
            return match self.machine.settings.search.embeddings.value {
                Some(_) => Err(UserError::new(what, wrong.join("; "), fix)),
                None => Ok(None),
            };
        };
        knowledge::build_vectors(&self.index_folder(corpus), &*embedder, progress).map(Some)
    }

    /// Everything that can be searched: the notes, and each corpus whose index is there. What is not
    /// there yet, or damaged, is built first if `missing` says so. A corpus that cannot be opened is
    /// left out and named.
    ///
    /// # Errors
    /// When the notes cannot be read.
    pub fn library(
        &self,
        missing: &dyn Fn(&Corpus) -> Result<bool, UserError>,
    ) -> Result<Library, UserError> {
        let mut library = Library::new(self.synonyms()?);
        library.know(self.topics()?);
        let (endpoints, wrong) = search_models::endpoints(self.machine);
        library.ask(endpoints);
        wrong.into_iter().for_each(|why| library.leave_out(why));
        if let Err(why) = framework() {
            library.leave_out(why);
        }
        for corpus in self.corpora()? {
            let folder = self.index_folder(&corpus);
            if library.open(&folder).is_ok() {
                continue;
            }
            let opened = match missing(&corpus) {
                Ok(true) => library.open(&folder).map_err(|error| error.why),
                Ok(false) => Err("it is not indexed yet".into()),
                Err(error) => Err(error.why),
            };
            if let Err(why) = opened {
                library.leave_out(format!("{}: {why}", corpus.label()));
            }
        }
        self.add_notes(&mut library)?;
        Ok(library)
    }

    fn synonyms(&self) -> Result<Synonyms, UserError> {
        let file = self.machine.assets.text("assets/search/synonyms.txt")?;
        Synonyms::parse(&file.origin.to_string(), &file.text, &mut Splitter::default())
    }

    /// What people ask, from the files that ship with the program or the person's own copies.
    fn topics(&self) -> Result<Topics, UserError> {
        let read = |path: String| {
            let file = self.machine.assets.text(&path)?;
            Ok((file.origin.to_string(), file.text))
        };
        let files = self.machine.assets.list("assets/search/topics").into_iter().map(read);
        let files: Vec<_> = files.collect::<Result<_, UserError>>()?;
        let named: Vec<_> =
            files.iter().map(|(file, text)| (file.as_str(), text.as_ref())).collect();
        knowledge::stored_topics(&self.folder, &named)
    }

    /// Adds the notes that ship with the program and the person's own copies of them.
    fn add_notes(&self, library: &mut Library) -> Result<(), UserError> {
        let notes = self.notes()?;
        let named: Vec<_> =
            notes.iter().map(|(path, text)| (path.as_str(), text.as_ref())).collect();
        library.add(
            knowledge::notes_corpus(env!("CARGO_PKG_VERSION")),
            knowledge::stored_notes(&self.folder, &named)?,
        );
        Ok(())
    }

    /// All notes: their path among the program's files, and their text, which is checked.
    fn notes(&self) -> Result<Vec<(String, Cow<'static, str>)>, UserError> {
        let note = |path: String| {
            let file = self.machine.assets.text(&path)?;
            knowledge::check_note(&file.origin.to_string(), &file.text)?;
            Ok((path, file.text))
        };
        self.machine.assets.list("assets/knowledge").into_iter().map(note).collect()
    }

    fn page(&self) -> Result<Page, UserError> {
        own_file::read(&self.list_file(), "Correct or remove it.")
    }

    fn list_file(&self) -> PathBuf {
        self.folder.join("added.toml")
    }

    fn change<T>(&self, change: impl FnOnce(&mut Page) -> T) -> Result<T, UserError> {
        let file = self.list_file();
        let failed = |error: std::io::Error| {
            UserError::from_cause(format!("Cannot write {}", self.list_file().display()), &error)
        };
        own_file::change(&file, failed, || {
            let mut page = self.page()?;
            let done = change(&mut page);
            let text = toml::to_string(&page)
                .map_err(|error| UserError::from_cause("Cannot write the list", &error))?;
            own_file::put(&file, &text).map_err(failed)?;
            Ok(done)
        })
    }
}

/// Whom an added document is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexScope {
    All,
    Project,
}

/// Removes the index in that folder.
///
/// # Errors
/// When it cannot be removed.
pub fn remove_index(folder: &Path) -> Result<(), UserError> {
    knowledge::remove(folder)
        .map_err(|error| UserError::from_cause("Cannot remove an index", &error))
}

/// Removes every index of past sessions in the data folder, so that nothing of a deleted one stays.
/// Each is made again when somebody searches it.
///
/// # Errors
/// When files cannot be removed.
pub fn forget_sessions(data: &Path) -> Result<(), UserError> {
    for entry in fs::read_dir(data.join("knowledge")).into_iter().flatten().flatten() {
        let folder = entry.path();
        let is_of_sessions = entry.file_name().to_string_lossy().starts_with("sessions-")
            && knowledge::info(&folder).is_none_or(|info| info.corpus.kind == CorpusKind::Sessions);
        if is_of_sessions {
            let what = "Cannot remove the index of past sessions";
            knowledge::remove(&folder).map_err(|error| UserError::from_cause(what, &error))?;
        }
    }
    Ok(())
}

/// The pages of a PDF document.
fn pages(path: &Path) -> Result<Vec<Part>, String> {
    let text = pdf_apart::read(path).map_err(|(why, fix)| format!("{why}. {fix}"))?;
    let page = |(number, text): (u32, String)| Part {
        anchor: format!("page={number}"),
        title: String::new(),
        heading: format!("page {number}"),
        text,
    };
    Ok((1..).zip(text.pages).map(page).collect())
}

/// What agents may search of the person's own work: the project, and past sessions if the person
/// has allowed it.
struct OwnWorkOfProject {
    machine: Machine,
    project: PathBuf,
}

impl OwnWork for OwnWorkOfProject {
    fn open(&self, kinds: &[PassageKind]) -> Result<Library, UserError> {
        let may_read = self.machine.settings.search.sessions.value;
        let is_allowed = |kind: &PassageKind| *kind != PassageKind::Session || may_read;
        let allowed: Vec<PassageKind> = kinds.iter().copied().filter(is_allowed).collect();
        let documentation = Documentation::of(&self.machine, Some(&self.project));
        let mut library = documentation.own_library(&allowed)?;
        if allowed.len() < kinds.len() {
            let why = "past sessions: the person has not allowed it with `search.sessions = true`";
            library.leave_out(why.to_owned());
        }
        Ok(library)
    }
}

/// What a session searches. It is opened on a thread of its own, because the first frame does not
/// wait for it; then corpora without an index are built there, and searched as soon as they are
/// complete.
///
/// # Errors
/// When a note or the list of what was added is wrong.
pub fn for_session(machine: &Machine, project: &Path) -> Result<Arc<Knowledge>, UserError> {
    let documentation = Documentation::of(machine, Some(project));
    documentation.notes()?;
    documentation.page()?;
    let own = OwnWorkOfProject { machine: machine.clone(), project: project.to_owned() };
    let knowledge = Arc::new(Knowledge::opening().with_own(Box::new(own)));
    let (machine, project) = (machine.clone(), project.to_owned());
    let later = Arc::downgrade(&knowledge);
    let open = move || {
        let documentation = Documentation::of(&machine, Some(&project));
        let replace = |library| _ = later.upgrade().map(|knowledge| knowledge.replace(library));
        // Whoever searches waits for an answer, whatever happens here.
        let is_whole = match contain::contained(|| documentation.library(&|_| Ok(false))) {
            Some(Ok(library)) => {
                let is_whole = library.left_out().is_empty();
                replace(Ok(library));
                is_whole
            }
            Some(Err(error)) => return replace(Err(error)),
            None => {
                let (what, fix) = ("Cannot open the documentation", "Run `firmhand index check`.");
                return replace(Err(UserError::new(what, "opening it stopped unexpectedly", fix)));
            }
        };
        if is_whole {
            return;
        }
        let build = |corpus: &Corpus| documentation.build_missing(corpus, &|_, _| {}).map(|_| true);
        if let Ok(library) = documentation.library(&build) {
            replace(Ok(library));
        }
    };
    if let Err(error) = std::thread::Builder::new().name("index".to_owned()).spawn(open) {
        knowledge.replace(Err(UserError::from_cause("Cannot open the documentation", &error)));
    }
    Ok(knowledge)
}

/// The framework that `IDF_PATH` names, else one in a usual place; `None` when there is none.
///
/// # Errors
/// When `IDF_PATH` names something else: the person means a framework that is not there.
fn framework() -> Result<Option<PathBuf>, String> {
    if let Some(root) = env::var_os("IDF_PATH").filter(|path| !path.is_empty()).map(PathBuf::from) {
        if knowledge::is_framework(&root) {
            return Ok(Some(real(&root)));
        }
        let what = if root.exists() { "is not an ESP-IDF" } else { "does not exist" };
        let fix = "set `IDF_PATH` to the folder of ESP-IDF, or unset it";
        return Err(format!("ESP-IDF: `IDF_PATH` names {}, which {what}; {fix}", root.display()));
    }
    let home = env::var_os("HOME").map(PathBuf::from);
    let usual = home.iter().flat_map(|home| HOMES.iter().map(|place| home.join(place)));
    let places = PLACES.iter().map(PathBuf::from);
    let mut all = usual.chain(places);
    Ok(all.find(|root| knowledge::is_framework(root)).map(|root| real(&root)))
}

fn real(path: &Path) -> PathBuf {
    // Of what is gone, the folder that it was in may be there.
    let gone = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    let found = path.canonicalize().ok().or_else(gone);
    found.or_else(|| std::path::absolute(path).ok()).unwrap_or_else(|| path.to_owned())
}

/// The one of the added paths that is meant by a path, or by a name as it is listed.
fn which<'a>(named: &Path, known: &'a [PathBuf]) -> Result<&'a PathBuf, UserError> {
    let wanted = real(named);
    if let Some(path) = known.iter().find(|path| **path == wanted) {
        return Ok(path);
    }
    let name = |path: &PathBuf| Corpus::at(path).label();
    let words = named.to_string_lossy();
    let so_named: Vec<&PathBuf> = known.iter().filter(|path| name(path) == words).collect();
    let all = |paths: &[&PathBuf], words: &dyn Fn(&PathBuf) -> String| {
        paths.iter().map(|path| words(path)).collect::<Vec<_>>().join(", ")
    };
    let what = format!("Cannot remove {}", named.display());
    match so_named.as_slice() {
        [only] => Ok(only),
        [] if known.is_empty() => {
            Err(UserError::new(what, "nothing was added to the documents", ""))
        }
        [] => {
            let there = all(&known.iter().collect::<Vec<_>>(), &name);
            let why = "it is not among the documents that were added";
            Err(UserError::new(what, why, format!("Name one of these, or its path: {there}.")))
        }
        several => {
            let there = all(several, &|path| path.display().to_string());
            let why = format!("{} of the documents are named so", several.len());
            Err(UserError::new(what, why, format!("Name one by its path: {there}.")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_named_by_its_path_or_as_it_is_listed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let known = ["a/good.pdf", "b/good.pdf", "b/notes.md"].map(|name| root.join(name));
        for path in &known {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let of = |named: &Path| which(named, &known).cloned();
        assert_eq!(of(&known[0]).unwrap(), known[0]);
        assert_eq!(of(Path::new("notes.md")).unwrap(), known[2]);
        let several = of(Path::new("good.pdf")).unwrap_err();
        assert!(several.fix.contains("a/good.pdf, ") && several.why.contains('2'), "{several:?}");
        let none = of(Path::new("other.pdf")).unwrap_err();
        assert!(none.fix.contains("good.pdf, good.pdf, notes.md"), "{none:?}");
        // What is gone is found by a path with `..` in it too.
        fs::remove_file(&known[2]).unwrap();
        assert_eq!(of(&root.join("a/../b/notes.md")).unwrap(), known[2]);
        assert!(which(Path::new("x"), &[]).unwrap_err().why.contains("nothing was added"));
    }
}
