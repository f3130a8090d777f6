//! Everything that can be searched at once: the indexes of several corpora.
//!
//! Owns how what the indexes, endpoints and other machines say becomes one answer. Must not write.

use std::collections::HashMap;
use std::mem::take;
use std::path::{Path, PathBuf};

use tantivy::DocAddress;

use super::build::{self, IndexInfo};
use super::corpus::{Corpus, CorpusKind};
use super::endpoint::{Embedder, Endpoints};
use super::fusion;
use super::index::PassageIndex;
use super::passage::{Found, component_of};
use super::query::{self, Corrections, Filter, Question};
use super::rank::{self, Hit, Spread, TopicHit};
use super::relevance::RelevanceJudge;
use super::remotes;
use super::spelling;
use super::synonyms::Synonyms;
use super::topics::{Fitting, Topics};
use super::vectors::{self, Near};
use super::words::Splitter;
use crate::model::UserError;
use crate::text::contain::contained;

/// Results that score less than this part of the best are left out.
const LEAST_OF_BEST: f32 = 0.35;
/// How far down the lists are looked at that endpoints take part in.
const DEPTH: usize = 50;
/// What a note counts for where the framework's own documents are there.
const NOTE_WITH_FRAMEWORK: f32 = 0.62;

/// Where the examples of the framework are, and most passages of one of them.
const EXAMPLES: &str = "examples/";
const MOST_OF_EXAMPLE: usize = 2;

/// What a search comes to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchAnswer {
    /// The best first.
    pub found: Vec<Found>,
    /// What was not searched or asked, each with the reason.
    pub left_out: Vec<String>,
}

impl SearchAnswer {
    /// Takes the results of another search in, in turns: scores of two searches say nothing about
    /// each other.
    pub fn join(&mut self, other: Self, k: usize) {
        let (mut mine, mut theirs) = (take(&mut self.found).into_iter(), other.found.into_iter());
        while self.found.len() < k {
            let next = [mine.next(), theirs.next()];
            if next.iter().all(Option::is_none) {
                break;
            }
            self.found.extend(next.into_iter().flatten());
        }
        self.found.truncate(k);
        self.left_out.extend(other.left_out);
    }
}

/// An open index.
struct OpenCorpus {
    corpus: Corpus,
    index: PassageIndex,
    /// Where it is on the disk; `None` in memory.
    folder: Option<PathBuf>,
}

/// The number of a corpus, and a passage in it.
type Place = (usize, DocAddress);

/// What can be searched.
#[derive(Default)]
pub struct Library {
    open: Vec<OpenCorpus>,
    synonyms: Synonyms,
    topics: Option<Topics>,
    endpoints: Endpoints,
    left_out: Vec<String>,
}

impl Library {
    /// A library without documents.
    #[must_use]
    pub fn new(synonyms: Synonyms) -> Self {
        Self { synonyms, ..Self::default() }
    }

    /// Lets endpoints take part: the question goes to them, to a reranker also what was found.
    pub fn ask(&mut self, endpoints: Endpoints) {
        self.endpoints = endpoints;
    }

    /// Knows what people ask.
    pub fn know(&mut self, topics: Topics) {
        self.topics = Some(topics);
    }

    /// Notes what is not searched, and why.
    pub fn leave_out(&mut self, what: String) {
        self.left_out.push(what);
    }

    /// What is not searched, each with the reason.
    #[must_use]
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Adds the stored index in a folder.
    ///
    /// # Errors
    /// When it is damaged, or of another version of the program.
    pub fn open(&mut self, folder: &Path) -> Result<IndexInfo, UserError> {
        let wrong = |why: String| {
            let what = format!("Cannot open the index {}", folder.display());
            UserError::new(what, why, "Build it again with `firmhand index build`.")
        };
        let info = build::info(folder)
            .ok_or_else(|| wrong("it is of another version, or not complete".to_owned()))?;
        let index = PassageIndex::open(folder).map_err(|error| wrong(error.to_string()))?;
        let (corpus, folder) = (info.corpus.clone(), Some(folder.to_owned()));
        self.open.push(OpenCorpus { corpus, index, folder });
        Ok(info)
    }

    /// Adds an index in memory.
    pub fn add(&mut self, corpus: Corpus, index: PassageIndex) {
        self.open.push(OpenCorpus { corpus, index, folder: None });
    }

    /// What is in it.
    pub fn corpora(&self) -> impl Iterator<Item = (&Corpus, u64)> {
        self.open.iter().map(|part| (&part.corpus, part.index.passages()))
    }

    /// The indexes of frameworks, for questions about names.
    pub fn frameworks(&self) -> impl Iterator<Item = (&Corpus, &PassageIndex)> {
        let is_framework = |part: &&OpenCorpus| part.corpus.kind == CorpusKind::Framework;
        self.open.iter().filter(is_framework).map(|part| (&part.corpus, &part.index))
    }

    /// The `k` best passages for a question, of each file few sections, the best first; nothing when nothing
    /// is about it.
    ///
    /// # Errors
    /// When an index cannot be read.
    pub fn search(
        &self,
        query: &str,
        k: usize,
        filter: &Filter,
    ) -> Result<SearchAnswer, UserError> {
        let wrong = |error: tantivy::TantivyError| {
            let what = "Cannot search the documentation";
            UserError::from_cause(what, &error).fix("Run `firmhand index check`.")
        };
        // What a damaged index breaks costs this answer, not the program.
        contained(|| self.find(query, k, filter))
            .unwrap_or_else(|| {
                Err(tantivy::TantivyError::InternalError("an index is damaged".to_owned()))
            })
            .map_err(wrong)
    }

    /// The question with these corrections, and how many passages have its words.
    fn read_with(
        &self,
        query: &str,
        corrections: &Corrections,
    ) -> tantivy::Result<(Question, Spread)> {
        let mut words = Splitter::default();
        let question = Question::read(query, &mut words, &self.synonyms, corrections);
        let mut spread = Spread::default();
        for part in &self.open {
            spread.add(&part.index, &question)?;
        }
        if let Some(topics) = &self.topics {
            spread.add_asked(topics.index(), &question)?;
        }
        Ok((question, spread))
    }

    /// The question with its words corrected, and how many passages have them.
    fn read(&self, query: &str) -> tantivy::Result<(Question, Spread, Corrections)> {
        let (question, spread) = self.read_with(query, &Corrections::new())?;
        let indexes: Vec<&PassageIndex> = self.open.iter().map(|part| &part.index).collect();
        let corrections = spelling::corrections(&question, &spread, &indexes)?;
        if corrections.is_empty() {
            return Ok((question, spread, corrections));
        }
        let (question, spread) = self.read_with(query, &corrections)?;
        Ok((question, spread, corrections))
    }

    fn find(&self, query: &str, k: usize, filter: &Filter) -> tantivy::Result<SearchAnswer> {
        let Endpoints { embedder, reranker, remotes } = &self.endpoints;
        let (embedder, asked) = (embedder.as_deref(), remotes::taking(remotes, filter));
        let is_alone = asked.is_empty() && !self.endpoints.has_model();
        let depth = if is_alone { k } else { k.max(DEPTH) };
        let mut left_out = self.left_out.clone();
        let mut found = if asked.is_empty() {
            self.find_here(query, depth, filter, embedder, &mut left_out)?
        } else {
            let (question, spread) = self.read_with(query, &Corrections::new())?;
            let sent = remotes::question(query, &question, filter, k);
            let here = |embedder: Option<&dyn Embedder>| {
                self.find_here(query, depth, filter, embedder, &mut left_out)
            };
            let (here, answers) = remotes::ask_while(&asked, &sent, embedder, here);
            remotes::joined(here?, answers, (&question, &spread, filter), &mut left_out)
        };
        if let Some(reranker) = reranker
            && let Err(why) = fusion::rerank(&mut found, query, &**reranker)
        {
            left_out.push(format!("the reranker: {why}"));
        }
        found.truncate(k);
        Ok(SearchAnswer { found, left_out })
    }

    /// What the indexes here have, by words and by vectors.
    fn find_here(
        &self,
        query: &str,
        depth: usize,
        filter: &Filter,
        embedder: Option<&dyn Embedder>,
        left_out: &mut Vec<String>,
    ) -> tantivy::Result<Vec<Found>> {
        let (found, is_elsewhere) = self.find_by_words(query, depth, filter)?;
        // Vectors are near to those of any other platform and of any other field.
        let Some(embedder) = embedder.filter(|_| !is_elsewhere) else {
            return Ok(found.into_iter().map(|(_, found)| found).collect());
        };
        let near = self.near(query, embedder, filter, left_out)?;
        self.joined(found, &near, filter)
    }

    /// What has the words of the question, or else of a sentence or line of it, and is about it; and
    /// whether the question is about another field.
    fn find_by_words(
        &self,
        query: &str,
        k: usize,
        filter: &Filter,
    ) -> tantivy::Result<(Vec<(Place, Found)>, bool)> {
        let (mut found, is_elsewhere) = self.find_whole(query, k, filter)?;
        // A sentence does not say again what it is about.
        let parts = if is_elsewhere { Vec::new() } else { query::parts(query) };
        for part in parts {
            if !found.is_empty() {
                break;
            }
            (found, _) = self.find_whole(part, k, filter)?;
            for (_, one) in &mut found {
                one.why.push_str("; for a part of the question");
            }
        }
        Ok((found, is_elsewhere))
    }

    /// What has the words of a question, and is about it; and whether that is another field.
    fn find_whole(
        &self,
        query: &str,
        k: usize,
        filter: &Filter,
    ) -> tantivy::Result<(Vec<(Place, Found)>, bool)> {
        if self.open.is_empty() {
            return Ok((Vec::new(), false));
        }
        let (mut question, spread, corrections) = self.read(query)?;
        let fitting = match &self.topics {
            Some(topics) => topics.fitting(&question)?,
            None => Fitting::default(),
        };
        question.is_elsewhere |= fitting.is_elsewhere && question.may_be_elsewhere();
        let hits = self.hits(&question, &spread, filter, &fitting.topics)?;
        let judge = RelevanceJudge::new(&question, &spread);
        let kind = |number: usize| self.open[number].corpus.kind;
        let hits = hits.into_iter().filter(|(number, hit)| judge.is_about(hit, kind(*number)));
        let mut best = None;
        let mut found: Vec<(Place, Found)> = Vec::new();
        for (number, hit) in hits {
            let best = *best.get_or_insert(hit.score);
            if found.len() >= k || hit.score < best * LEAST_OF_BEST {
                break;
            }
            let place = (number, hit.address);
            let Some(mut one) = self.passage(place, filter)? else { continue };
            let unit = example_of(&one.passage.path);
            let of_unit = found.iter().filter(|(_, known)| example_of(&known.passage.path) == unit);
            let is_enough = unit.is_some() && of_unit.count() >= MOST_OF_EXAMPLE;
            if is_enough || found.iter().any(|(_, known)| known.is_same(&one)) {
                continue;
            }
            one.score = hit.score;
            one.why = judge.why(&hit, &one.passage, filter.chip);
            for (written, meant) in &corrections {
                one.why.push_str(&format!("; `{}` for `{written}`", meant.join(" ")));
            }
            found.push((place, one));
        }
        Ok((found, question.is_elsewhere))
    }

    /// The passages that have words of the question, the best first.
    fn hits(
        &self,
        question: &Question,
        spread: &Spread,
        filter: &Filter,
        topics: &[TopicHit],
    ) -> tantivy::Result<Vec<(usize, Hit)>> {
        let has_framework = self.frameworks().next().is_some();
        let mut hits: Vec<(usize, Hit)> = Vec::new();
        for (number, part) in self.open.iter().enumerate() {
            if !takes_corpus(filter, &part.corpus) {
                continue;
            }
            let is_note = part.corpus.kind == CorpusKind::Notes;
            let factor = if is_note && has_framework { NOTE_WITH_FRAMEWORK } else { 1.0 };
            let found = rank::rank(&part.index, question, spread, filter, topics)?;
            hits.extend(
                found.into_iter().map(|hit| (number, Hit { score: hit.score * factor, ..hit })),
            );
        }
        hits.sort_by(|(_, a), (_, b)| b.score.total_cmp(&a.score));
        Ok(hits)
    }

    /// The passages whose vectors are near to that of the question, with their similarity.
    fn near(
        &self,
        query: &str,
        embedder: &dyn Embedder,
        filter: &Filter,
        left_out: &mut Vec<String>,
    ) -> tantivy::Result<Vec<(Place, f32)>> {
        let vector = match embedder.embed_question(query) {
            Ok(vector) => vector,
            Err(why) => {
                left_out.push(format!("the vectors: {why}"));
                return Ok(Vec::new());
            }
        };
        let mut near = Vec::new();
        for (number, part) in self.open.iter().enumerate() {
            let Some(folder) = &part.folder else { continue };
            if !takes_corpus(filter, &part.corpus) {
                continue;
            }
            match vectors::nearest(folder, embedder.model(), &vector, DEPTH) {
                Err(why) => left_out.push(format!("the vectors of {}: {why}", part.corpus.label())),
                Ok(found) => {
                    for Near { key, similarity } in found {
                        if let Some((address, facts)) = part.index.of_key(key)?
                            && filter.takes(facts)
                        {
                            near.push(((number, address), similarity));
                        }
                    }
                }
            }
        }
        near.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        near.truncate(DEPTH);
        Ok(near)
    }

    /// What the words found and what the vectors found, as one list.
    fn joined(
        &self,
        by_words: Vec<(Place, Found)>,
        near: &[(Place, f32)],
        filter: &Filter,
    ) -> tantivy::Result<Vec<Found>> {
        if near.is_empty() {
            return Ok(by_words.into_iter().map(|(_, found)| found).collect());
        }
        let places = by_words.iter().map(|(place, _)| *place).collect();
        let order = fusion::fused(&[places, near.iter().map(|(place, _)| *place).collect()]);
        let mut by_words: HashMap<Place, Found> = by_words.into_iter().collect();
        let similar: HashMap<Place, f32> = near.iter().copied().collect();
        let mut joined: Vec<Found> = Vec::new();
        for (place, score) in order {
            let mut one = match by_words.remove(&place) {
                Some(found) => found,
                None => match self.passage(place, filter)? {
                    Some(found) => found,
                    None => continue,
                },
            };
            if joined.iter().any(|known| known.is_same(&one)) {
                continue;
            }
            one.score = score;
            if let Some(similarity) = similar.get(&place) {
                let gap = if one.why.is_empty() { "" } else { "; " };
                one.why.push_str(&format!("{gap}similar by {similarity:.2}"));
            }
            joined.push(one);
        }
        Ok(joined)
    }

    /// The passage at a place, if it is in the component that is asked for.
    fn passage(&self, (number, address): Place, filter: &Filter) -> tantivy::Result<Option<Found>> {
        let OpenCorpus { corpus, index, .. } = &self.open[number];
        let passage = index.passage(address)?;
        let is_wanted = match &filter.component {
            Some(component) => component_of(&passage.path) == Some(component.as_str()),
            None => true,
        };
        let (name, version) = (corpus.name.clone(), corpus.version.clone());
        let found = Found { passage, corpus: name, version, score: 0.0, why: String::new() };
        Ok(is_wanted.then_some(found))
    }
}

/// The folder of the example that a file belongs to.
fn example_of(path: &str) -> Option<&str> {
    let (folder, _) = path.rsplit_once('/')?;
    let folder = folder.split("/main").next().unwrap_or(folder);
    path.starts_with(EXAMPLES).then_some(folder)
}

fn takes_corpus(filter: &Filter, corpus: &Corpus) -> bool {
    let named = filter.corpus.as_ref().is_none_or(|name| *name == corpus.name);
    let versioned = filter.version.as_ref().is_none_or(|version| {
        let version = version.trim_start_matches('v');
        corpus.version.starts_with(version) || corpus.kind != CorpusKind::Framework
    });
    named && versioned
}

#[cfg(test)]
#[path = "library_tests.rs"]
mod tests;
