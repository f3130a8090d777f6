//! Notes that ship with the program, and the one handle through which tools search.
//!
//! Owns the form of a note: a front matter with `title:` and `source:`, then Markdown. Must not read
//! files.

use std::path::Path;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use super::chips::{ChipFacts, ChipSet};
use super::corpus::{Corpus, CorpusKind};
use super::declared::DeclaredNames;
use super::index::PassageIndex;
use super::library::{Library, SearchAnswer};
use super::passage::PassageKind;
use super::query::Filter;
use super::split::{self, Document, Form, SplitContext, WindowSize};
use super::synonyms::Synonyms;
use super::words::Splitter;
use crate::model::UserError;

/// Opens the person's own work when a search asks for it: texts of the project, past sessions.
pub trait OwnWork: Send + Sync {
    /// What there is of these kinds, as it is now.
    ///
    /// # Errors
    /// When it can be neither indexed nor opened.
    fn open(&self, kinds: &[PassageKind]) -> Result<Library, UserError>;
}

/// What tools search. What is in it can be exchanged while they use it.
pub struct Knowledge {
    /// Why there is none, if it could not be opened.
    library: RwLock<Result<Arc<Library>, UserError>>,
    /// Set once `library` holds what it is to hold.
    is_open: OnceLock<()>,
    own: Option<Box<dyn OwnWork>>,
}

impl std::fmt::Debug for Knowledge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Knowledge").field("is_open", &self.is_open.get().is_some()).finish()
    }
}

impl Knowledge {
    /// Indexes notes in memory, each a pair of its file and its text.
    ///
    /// # Errors
    /// A note without front matter, title, source or text; says file and line.
    pub fn new<'a>(notes: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, UserError> {
        let mut library = Library::new(Synonyms::default());
        library.add(corpus(""), in_memory(notes)?);
        Ok(Self::of(library))
    }

    /// Searches that library.
    #[must_use]
    pub fn of(library: Library) -> Self {
        let knowledge = Self::opening();
        knowledge.replace(Ok(library));
        knowledge
    }

    /// Searches a library that is opened meanwhile: who searches before [`Knowledge::replace`] waits
    /// for it.
    #[must_use]
    pub fn opening() -> Self {
        let library = Library::new(Synonyms::default());
        let library = RwLock::new(Ok(Arc::new(library)));
        Self { library, is_open: OnceLock::new(), own: None }
    }

    /// Searches the person's own work too, when it is asked for.
    #[must_use]
    pub fn with_own(self, own: Box<dyn OwnWork>) -> Self {
        Self { own: Some(own), ..self }
    }

    /// Searches another library from now on, or tells why there is none.
    pub fn replace(&self, library: Result<Library, UserError>) {
        *self.library.write().unwrap_or_else(PoisonError::into_inner) = library.map(Arc::new);
        // Later ones find it open.
        let _ = self.is_open.set(());
    }

    fn library(&self) -> Result<Arc<Library>, UserError> {
        self.is_open.wait();
        self.library.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// See [`Library::search`].
    ///
    /// # Errors
    /// As there, and when the library could not be opened.
    pub fn search(
        &self,
        query: &str,
        k: usize,
        filter: &Filter,
    ) -> Result<SearchAnswer, UserError> {
        let kinds = filter.own_kinds();
        let mut answer = match filter.of_documents() {
            Some(documents) => self.library()?.search(query, k, &documents)?,
            None => SearchAnswer::default(),
        };
        if kinds.is_empty() {
            return Ok(answer);
        }
        let Some(own) = &self.own else {
            answer.left_out.push("the person's own work: it is not known here".to_owned());
            return Ok(answer);
        };
        let filter = Filter { kinds: kinds.clone(), ..filter.clone() };
        answer.join(own.open(&kinds)?.search(query, k, &filter)?, k);
        Ok(answer)
    }

    /// The names that the framework declares; `None` without a framework, and while the library is
    /// still being opened.
    #[must_use]
    pub fn declared(&self) -> Option<DeclaredNames> {
        self.is_open.get()?;
        let library = self.library.read().unwrap_or_else(PoisonError::into_inner).clone();
        DeclaredNames::of(library.ok()?)
    }

    /// How many passages there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        let library = self.library();
        library.map_or(0, |library| library.corpora().map(|(_, passages)| passages).sum())
    }

    /// Whether there is nothing to find.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The corpus of the notes.
#[must_use]
pub fn corpus(version: &str) -> Corpus {
    Corpus {
        kind: CorpusKind::Notes,
        name: "notes".to_owned(),
        version: version.to_owned(),
        licence: "MIT OR Apache-2.0".to_owned(),
        ..Corpus::own(Path::new(""))
    }
}

/// An index of notes in memory.
///
/// # Errors
/// A note that is wrong, or no memory for it.
pub fn in_memory<'a>(
    notes: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<PassageIndex, UserError> {
    let mut index = PassageIndex::in_memory().map_err(|error| failed(&error))?;
    fill(&mut index, notes)?;
    Ok(index)
}

/// Puts notes into an empty index.
///
/// # Errors
/// A note that is wrong, or no room for it.
pub(super) fn fill<'a>(
    index: &mut PassageIndex,
    notes: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<(), UserError> {
    let change = index.change(1).map_err(|error| failed(&error))?;
    let (facts, mut words) = (ChipFacts::default(), Splitter::default());
    for (number, (file, text)) in (1..).zip(notes) {
        check(file, text)?;
        let path = file.rsplit('/').next().unwrap_or(file);
        let (kind, chips) = (PassageKind::Note, ChipSet::ALL);
        let context =
            SplitContext { facts: &facts, window: WindowSize::default(), include: &|_| None };
        let document = Document { path, text, kind, chips };
        for passage in split::split(document, Form::Markdown, &context) {
            change.add(&passage, number, &mut words).map_err(|error| failed(&error))?;
        }
    }
    change.commit(1).map_err(|error| failed(&error))?;
    index.renew().map_err(|error| failed(&error))
}

fn failed(error: &tantivy::TantivyError) -> UserError {
    UserError::from_cause("Cannot index the notes of the program", error)
}

/// Checks a note's front matter.
///
/// # Errors
/// When it is not there or wrong, or when there is no text; says file and line.
pub fn check(file: &str, text: &str) -> Result<(), UserError> {
    let wrong = |line: usize, why: &str| {
        UserError::new(
            format!("Cannot read the document {file}:{line}"),
            why,
            "Begin it with `---`, `title: …`, `source: …`, `---`.",
        )
    };
    let rest = text.strip_prefix("---\n").ok_or_else(|| wrong(1, "there is no front matter"))?;
    let (head, body) =
        rest.split_once("\n---\n").ok_or_else(|| wrong(1, "the front matter has no end"))?;
    let (mut title, mut source) = ("", "");
    for (index, line) in head.lines().enumerate() {
        match line.split_once(':').map(|(key, value)| (key.trim(), value.trim())) {
            Some(("title", value)) => title = value,
            Some(("source", value)) => source = value,
            _ => {
                return Err(wrong(index + 2, &format!("`{line}` is neither title nor source")));
            }
        }
    }
    let end = head.lines().count() + 2;
    match (title.is_empty(), source.is_empty(), body.trim().is_empty()) {
        (true, _, _) => Err(wrong(end, "there is no title")),
        (_, true, _) => Err(wrong(end, "there is no source")),
        (_, _, true) => Err(wrong(end, "there is no text")),
        (false, false, false) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const I2C: &str = "---\ntitle: I2C\nsource: here\n---\nThe bus has two wires.\n\n\
                       ## Making a bus\nCall `i2c_new_master_bus`.\n```c\n# no heading\n```\n\n\
                       ## Pull-ups\nThe lines need resistors.\n";
    const GPIO: &str =
        "---\ntitle: GPIO\nsource: there\n---\n## Levels\n`gpio_set_level` sets it.\n";

    fn titles(query: &str, k: usize, filter: &Filter) -> Vec<String> {
        let knowledge = Knowledge::new([("i2c.md", I2C), ("gpio.md", GPIO)]).unwrap();
        let found = knowledge.search(query, k, filter).unwrap().found;
        found.iter().map(|found| found.passage.full_title()).collect()
    }

    #[test]
    fn who_searches_while_it_is_opened_waits_and_gets_the_answer_or_the_reason() {
        for is_there in [true, false] {
            let knowledge = Arc::new(Knowledge::opening());
            let asking = Arc::clone(&knowledge);
            let search = std::thread::spawn(move || asking.search("wires", 5, &Filter::default()));
            let mut library = Library::new(Synonyms::default());
            library.add(corpus(""), in_memory([("i2c.md", I2C)]).unwrap());
            let lost = UserError::new("Cannot open the documentation", "no memory", "");
            knowledge.replace(if is_there { Ok(library) } else { Err(lost) });
            match search.join().unwrap() {
                Ok(answer) => assert!(is_there && !answer.found.is_empty()),
                Err(error) => assert!(!is_there && error.why == "no memory"),
            }
        }
    }

    #[test]
    fn an_identifier_is_found_whole_and_by_its_parts() {
        for query in ["i2c_new_master_bus", "how to make a new master", "MASTER"] {
            assert_eq!(titles(query, 5, &Filter::default())[0], "I2C: Making a bus", "{query}");
        }
        assert_eq!(titles("set level", 1, &Filter::default()), ["GPIO: Levels"]);
    }

    #[test]
    fn what_nothing_is_about_has_no_answer() {
        for query in ["zebra", "", "...", "zebra bus stop of the old town"] {
            assert!(titles(query, 5, &Filter::default()).is_empty(), "{query}");
        }
        let api = Filter { kinds: vec![PassageKind::Api], ..Filter::default() };
        assert!(titles("gpio_set_level", 5, &api).is_empty());
    }

    #[test]
    fn bad_documents_are_refused_with_file_and_line() {
        let cases = [
            ("no front matter", "a.md:1"),
            ("---\ntitle: x\n", "a.md:1"),
            ("---\ntitle: x\nauthor: y\n---\ntext\n", "a.md:3"),
            ("---\ntitle: x\n---\ntext\n", "a.md:3"),
            ("---\ntitle: x\nsource: y\n---\n\n", "a.md:4"),
        ];
        for (text, place) in cases {
            let error = Knowledge::new([("a.md", text)]).unwrap_err();
            assert!(error.what.ends_with(place), "{text:?}: {}", error.what);
        }
    }
}
