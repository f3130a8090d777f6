//! The words, names, paths and includes of a project's files.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::calls::{self, CallGraph, SourceFunctions};
use super::facts::SourceFacts;
use super::words::{self, hash, words};
use crate::model::ProjectPath;

/// Saturation and length normalisation of BM25, at their usual values.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// How near a file is to the header or source of the same name, and to what it includes.
const SAME_STEM: f64 = 1.0;
const INCLUDED: f64 = 0.4;
const INCLUDING: f64 = 0.3;
/// A header that more files include than this says nothing about any of them.
const MOST_USERS: usize = 12;

/// Files whose texts are held at a time.
const BATCH: usize = 128;

/// What a ranking needs to know of a project; the texts themselves are not kept.
#[derive(Debug, Default)]
pub struct ProjectIndex {
    files: Vec<IndexedFile>,
    /// Files with a word, by its hash, and how often.
    postings: HashMap<u64, Vec<(u32, u32)>>,
    path_postings: HashMap<String, Vec<u32>>,
    by_path: HashMap<String, usize>,
    /// Hashes of whole identifiers, with the files that have them.
    identifiers: HashMap<u64, Vec<u32>>,
    average: f64,
    calls: CallGraph,
}

#[derive(Debug)]
struct IndexedFile {
    path: ProjectPath,
    bytes: usize,
    words: u32,
    includes: Vec<usize>,
    users: Vec<usize>,
}

impl ProjectIndex {
    /// Reads the texts of a project.
    pub fn new(texts: impl IntoIterator<Item = (ProjectPath, String)>) -> Self {
        let mut index = Self::default();
        let mut targets: Vec<Arc<SourceFacts>> = Vec::new();
        let mut functions: Vec<Option<Arc<SourceFunctions>>> = Vec::new();
        let mut texts = texts.into_iter();
        loop {
            let batch: Vec<(ProjectPath, String)> = texts.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                break;
            }
            functions.extend(calls::of_all(&batch).into_iter().map(|found| Some(Arc::new(found))));
            for (path, text) in batch {
                let facts = Arc::new(SourceFacts::of(&text));
                index.add(path, &facts);
                targets.push(facts);
            }
        }
        index.finish(&targets);
        index.tie_calls(&functions);
        index
    }

    /// Puts together what is known of the texts of a project; who calls whom is not.
    pub fn of_facts(files: impl IntoIterator<Item = (ProjectPath, Arc<SourceFacts>)>) -> Self {
        let mut index = Self::default();
        let mut all = Vec::new();
        for (path, facts) in files {
            index.add(path, &facts);
            all.push(facts);
        }
        index.finish(&all);
        index
    }

    /// Adds who calls whom, by the functions of each file in the order of the files; `None` where
    /// they are not known.
    pub fn tie_calls(&mut self, functions: &[Option<Arc<SourceFunctions>>]) {
        self.calls = CallGraph::new(functions);
    }

    fn finish(&mut self, files: &[Arc<SourceFacts>]) {
        self.link(files);
        let total: f64 = self.files.iter().map(|file| f64::from(file.words)).sum();
        self.average = (total / f64::from(number(self.files.len()).max(1))).max(1.0);
    }

    fn add(&mut self, path: ProjectPath, facts: &SourceFacts) {
        let id = number(self.files.len());
        for (word, times) in &facts.words {
            self.postings.entry(*word).or_default().push((id, *times));
        }
        for word in words(path.as_str()).into_keys() {
            self.path_postings.entry(word).or_default().push(id);
        }
        for name in &facts.identifiers {
            self.identifiers.entry(*name).or_default().push(id);
        }
        self.by_path.insert(path.to_string(), self.files.len());
        self.files.push(IndexedFile {
            path,
            bytes: facts.bytes,
            words: facts.total,
            includes: Vec::new(),
            users: Vec::new(),
        });
    }

    /// Finds the files that includes mean: the one whose path ends so; of several the nearest.
    fn link(&mut self, files: &[Arc<SourceFacts>]) {
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        for (id, file) in self.files.iter().enumerate() {
            by_name.entry(file.path.file_name().to_owned()).or_default().push(id);
        }
        for (id, facts) in files.iter().enumerate() {
            for target in &facts.includes {
                let name = target.rsplit('/').next().unwrap_or(target);
                let named = by_name.get(name).map(Vec::as_slice).unwrap_or_default();
                let ending = target.trim_start_matches("../").trim_start_matches("./");
                let fits = |other: &&usize| self.path(**other).as_str().ends_with(ending);
                let from = self.path(id).as_str();
                let near = |other: &&usize| common(self.path(**other).as_str(), from);
                let Some(&found) = named.iter().filter(fits).max_by_key(near) else { continue };
                if found == id {
                    continue;
                }
                if let Some(file) = self.files.get_mut(id) {
                    file.includes.push(found);
                }
                if let Some(file) = self.files.get_mut(found) {
                    file.users.push(id);
                }
            }
        }
    }

    /// How many files there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Bytes of all files together.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes as u64).sum()
    }

    pub(super) fn path(&self, file: usize) -> &ProjectPath {
        // Numbers of files come from this index alone, and it never forgets one.
        &self.files[file].path
    }

    pub(super) fn tokens(&self, file: usize) -> u64 {
        self.files.get(file).map_or(0, |file| (file.bytes as u64).div_ceil(4))
    }

    /// Files with words, by BM25.
    pub(super) fn by_words(&self, asked: &BTreeMap<String, u32>) -> Vec<(usize, f64)> {
        let mut found: BTreeMap<usize, f64> = BTreeMap::new();
        for word in asked.keys() {
            let Some(postings) = self.postings.get(&hash(word)) else { continue };
            let rare = self.rarity(postings.len());
            for (id, times) in postings {
                let id = *id as usize;
                let length = self.files.get(id).map_or(0.0, |file| f64::from(file.words));
                let times = f64::from(*times);
                let norm = K1 * (1.0 - B + B * length / self.average);
                *found.entry(id).or_default() += rare * times * (K1 + 1.0) / (times + norm);
            }
        }
        found.into_iter().collect()
    }

    /// Files with words in their paths.
    pub(super) fn by_paths(&self, asked: &BTreeMap<String, u32>) -> Vec<(usize, f64)> {
        let mut found: BTreeMap<usize, f64> = BTreeMap::new();
        for word in asked.keys() {
            let Some(ids) = self.path_postings.get(word) else { continue };
            let rare = self.rarity(ids.len());
            for id in ids {
                let id = *id as usize;
                // A word of the name says more than one of a folder.
                let name = self.files.get(id).map_or("", |file| file.path.file_name());
                let share = if words(name).contains_key(word) { 1.0 } else { 0.5 };
                *found.entry(id).or_default() += rare * share;
            }
        }
        found.into_iter().collect()
    }

    /// Files that have an identifier of the request, or are named in it.
    pub(super) fn by_names(&self, request: &str) -> Vec<(usize, f64)> {
        let mut found: BTreeMap<usize, f64> = BTreeMap::new();
        for name in words::names(request) {
            if let Some(ids) = self.identifiers.get(&hash(&name)) {
                let rare = self.rarity(ids.len());
                for id in ids {
                    *found.entry(*id as usize).or_default() += rare;
                }
            }
            for (id, file) in self.files.iter().enumerate() {
                let path = file.path.as_str();
                if path == name || path.ends_with(&format!("/{name}")) {
                    *found.entry(id).or_default() += 2.0 * self.rarity(1);
                }
            }
        }
        found.into_iter().collect()
    }

    /// Values of paths as values of files; paths that are no files any more are left out.
    pub(super) fn of_paths(&self, values: &BTreeMap<String, f64>) -> Vec<(usize, f64)> {
        let found =
            values.iter().filter_map(|(path, value)| Some((*self.by_path.get(path)?, *value)));
        found.collect()
    }

    /// Files that are near one, with how near.
    pub(super) fn neighbours(&self, file: usize) -> Vec<(usize, f64)> {
        let Some(of) = self.files.get(file) else { return Vec::new() };
        let is_same_stem = |other: usize| stem(self.path(other)) == stem(&of.path);
        let mut near: Vec<(usize, f64)> = Vec::new();
        for &other in &of.includes {
            let users = self.files.get(other).map_or(0, |other| other.users.len());
            if is_same_stem(other) || users <= MOST_USERS {
                near.push((other, if is_same_stem(other) { SAME_STEM } else { INCLUDED }));
            }
        }
        for &other in &of.users {
            if is_same_stem(other) || of.users.len() <= MOST_USERS {
                near.push((other, if is_same_stem(other) { SAME_STEM } else { INCLUDING }));
            }
        }
        near
    }

    /// Who calls whom.
    pub(super) const fn calls(&self) -> &CallGraph {
        &self.calls
    }

    /// Files that define a function of the request for others.
    pub(super) fn defining(&self, request: &str) -> Vec<(usize, f64)> {
        let mut found: BTreeMap<usize, f64> = BTreeMap::new();
        for name in words::names(request) {
            let of = self.calls.definers_of(&name);
            for file in of {
                *found.entry(*file).or_default() += self.rarity(of.len());
            }
        }
        found.into_iter().collect()
    }

    fn rarity(&self, files: usize) -> f64 {
        let (all, with) = (f64::from(number(self.files.len())), f64::from(number(files)));
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }
}

fn stem(path: &ProjectPath) -> &str {
    path.file_name().split('.').next().unwrap_or_default()
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// How many bytes two paths have in common at their start.
fn common(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}
