//! Everything that can be searched at once: the indexes of several corpora.
//!
//! Owns the choice of what is good enough to be an answer, and the reasons that are given with it.
//! Must not write.

use std::collections::HashMap;
use std::mem::take;
use std::path::{Path, PathBuf};

use tantivy::DocAddress;

use super::build::{self, IndexInfo};
use super::chips::ChipSet;
use super::corpus::{Corpus, CorpusKind};
use super::endpoint::{Embedder, Endpoints};
use super::fusion;
use super::group::{Group, Origin};
use super::index::PassageIndex;
use super::passage::{Found, Passage, component_of};
use super::query::{Corrections, Filter, Form, Question};
use super::rank::{self, Hit, Spread};
use super::spelling;
use super::synonyms::Synonyms;
use super::vectors::{self, Near};
use super::words::Splitter;
use crate::model::UserError;
use crate::text::contain::contained;

/// The part of a question's weight that a file must cover to be an answer.
const LEAST_COVERED: f32 = 0.5;
/// The same where one of its words is of another field.
const LEAST_COVERED_WITH_FOREIGN: f32 = 0.7;
/// The same for the passage itself.
const LEAST_IN_PASSAGE: f32 = 0.45;
const LEAST_IN_PASSAGE_WITH_FOREIGN: f32 = 0.6;
/// Both, for a question with a word of the field.
const LEAST_COVERED_OF_FIELD: f32 = 0.3;
const LEAST_IN_PASSAGE_OF_FIELD: f32 = 0.2;
/// The part that title, headings and declared names must cover where that decides.
const LEAST_IN_HEADS: f32 = 0.5;
/// All of it, but for rounding.
const ALL: f32 = 0.999;
/// Most words of a short question.
const SHORT: usize = 5;
/// Words that no document has and that stand for nothing, from which on a question may be about
/// something else.
const MOST_UNKNOWN: usize = 2;
/// Least score of an answer to a question without such a word, in terms of the rarest word.
const LEAST_SCORE: f32 = 0.85;
/// Below so many passages, many words of the field are not known.
const FEW_PASSAGES: u64 = 5_000;
/// Most that a word of the question weighs in that.
const KNOWN_WORD: f32 = 4.5;
/// What a word weighs that no document has: it is likely to be about something else.
const UNKNOWN_WORD: f32 = 6.5;
/// What a name in a message weighs that no document has, but its parts.
const INNER_NAME: f32 = 1.0;
/// One in so many passages has a word of another field at most, if it is to count as one.
const FOREIGN_PASSAGES: u64 = 400;
/// Results that score less than this part of the best are left out.
const LEAST_OF_BEST: f32 = 0.35;
/// How far down the lists are looked at that endpoints take part in.
const DEPTH: usize = 50;
/// What a note counts for where the framework's own documents are there.
const NOTE_WITH_FRAMEWORK: f32 = 0.62;

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

    /// The question with its words corrected, and how many passages have them.
    fn read(&self, query: &str) -> tantivy::Result<(Question, Spread, Corrections)> {
        let mut words = Splitter::default();
        let mut read = |corrections: &Corrections| {
            let question = Question::read(query, &mut words, &self.synonyms, corrections);
            let mut spread = Spread::default();
            for part in &self.open {
                spread.add(&part.index, &question)?;
            }
            Ok::<_, tantivy::TantivyError>((question, spread))
        };
        let (question, spread) = read(&Corrections::new())?;
        let indexes: Vec<&PassageIndex> = self.open.iter().map(|part| &part.index).collect();
        let corrections = spelling::corrections(&question, &spread, &indexes)?;
        if corrections.is_empty() {
            return Ok((question, spread, corrections));
        }
        let (question, spread) = read(&corrections)?;
        Ok((question, spread, corrections))
    }

    fn find(&self, query: &str, k: usize, filter: &Filter) -> tantivy::Result<SearchAnswer> {
        let depth = if self.endpoints.is_any() { k.max(DEPTH) } else { k };
        let found = self.find_by_words(query, depth, filter)?;
        let mut left_out = self.left_out.clone();
        let mut found = match &self.endpoints.embedder {
            None => found.into_iter().map(|(_, found)| found).collect(),
            Some(embedder) => {
                let near = self.near(query, &**embedder, filter, &mut left_out)?;
                self.joined(found, &near, filter)?
            }
        };
        if let Some(reranker) = &self.endpoints.reranker
            && let Err(why) = fusion::rerank(&mut found, query, &**reranker)
        {
            left_out.push(format!("the reranker: {why}"));
        }
        found.truncate(k);
        Ok(SearchAnswer { found, left_out })
    }

    /// What has the words of the question, and is about it.
    fn find_by_words(
        &self,
        query: &str,
        k: usize,
        filter: &Filter,
    ) -> tantivy::Result<Vec<(Place, Found)>> {
        if self.open.is_empty() {
            return Ok(Vec::new());
        }
        let (question, spread, corrections) = self.read(query)?;
        let hits = self.hits(&question, &spread, filter)?;
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
            if found.iter().any(|(_, known)| known.is_same(&one)) {
                continue;
            }
            one.score = hit.score;
            one.why = judge.why(&hit, &one.passage, filter.chip);
            for (written, meant) in &corrections {
                one.why.push_str(&format!("; `{}` for `{written}`", meant.join(" ")));
            }
            found.push((place, one));
        }
        Ok(found)
    }

    /// The passages that have words of the question, the best first.
    fn hits(
        &self,
        question: &Question,
        spread: &Spread,
        filter: &Filter,
    ) -> tantivy::Result<Vec<(usize, Hit)>> {
        let has_framework = self.frameworks().next().is_some();
        let mut hits: Vec<(usize, Hit)> = Vec::new();
        for (number, part) in self.open.iter().enumerate() {
            if !takes_corpus(filter, &part.corpus) {
                continue;
            }
            let is_note = part.corpus.kind == CorpusKind::Notes;
            let factor = if is_note && has_framework { NOTE_WITH_FRAMEWORK } else { 1.0 };
            let found = rank::rank(&part.index, question, spread, filter)?;
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

fn takes_corpus(filter: &Filter, corpus: &Corpus) -> bool {
    let named = filter.corpus.as_ref().is_none_or(|name| *name == corpus.name);
    let versioned = filter.version.as_ref().is_none_or(|version| {
        let version = version.trim_start_matches('v');
        corpus.version.starts_with(version) || corpus.kind != CorpusKind::Framework
    });
    named && versioned
}

/// Decides what is about the question.
struct RelevanceJudge<'a> {
    question: &'a Question,
    /// What each written word weighs.
    weights: Vec<f32>,
    all: f32,
    /// Whether a word of the question is one that only this field uses, or stands for one.
    is_of_field: bool,
    /// Whether one of its words is of another field.
    has_foreign: bool,
    /// How many words were written.
    written: usize,
    /// How many of them no document has, and stand for nothing.
    unknown: usize,
    least_score: f32,
}

impl<'a> RelevanceJudge<'a> {
    fn new(question: &'a Question, spread: &Spread) -> Self {
        // A few documents know few words: what they do not know says less there.
        let is_small = spread.passages < FEW_PASSAGES;
        let strange = if is_small { KNOWN_WORD } else { UNKNOWN_WORD };
        // A word of another field that many documents use is one of this field too.
        let most_foreign = spread.passages / FOREIGN_PASSAGES;
        let is_foreign = |number: usize| {
            let passages: u64 = spread.counts[number].iter().sum();
            question.foreign.contains(&number) && passages <= most_foreign
        };
        let is_known = |number: usize| spread.counts[number].iter().any(|count| *count > 0);
        // A message names what is inside of the program, which no document does.
        let is_inner_name = |number: usize| {
            let parts = question.groups[number + 1..].iter().enumerate();
            let mut parts = parts.take_while(|(_, group)| group.origin == Origin::Part).peekable();
            question.form == Form::Error
                && parts.peek().is_some()
                && parts.all(|(at, _)| is_known(number + 1 + at))
        };
        let weight = |number: usize| match question.groups[number].origin {
            Origin::Written if !is_known(number) && is_inner_name(number) => INNER_NAME,
            Origin::Written if is_foreign(number) => UNKNOWN_WORD,
            // How rare a word is matters less here: a rare one alone is not what is asked.
            Origin::Written if spread.counts[number].iter().all(|count| *count == 0) => strange,
            Origin::Written => spread.rarity(number, 0).min(KNOWN_WORD),
            // A part counts where its identifier is not written like that anywhere.
            Origin::Part => 0.25 * spread.rarity(number, 0).min(KNOWN_WORD),
            Origin::For(_) => 0.0,
        };
        let weights: Vec<f32> = (0..question.groups.len()).map(weight).collect();
        let all = weights.iter().sum();
        let has_foreign = (0..question.groups.len()).any(is_foreign);
        let is_of_field = question.groups.iter().enumerate().any(|(number, group)| {
            let says_so = match &group.origin {
                // Beside a word of another field any other word alone may be meant otherwise.
                Origin::For(numbers) => !has_foreign || numbers.len() > 1,
                Origin::Written => group.is_term(),
                Origin::Part => false,
            };
            says_so && is_known(number)
        });
        let written =
            question.groups.iter().filter(|group| group.origin == Origin::Written).count();
        let is_unknown = |number: &usize| {
            let is_written = question.groups[*number].origin == Origin::Written;
            let is_strange = is_foreign(*number) || !is_known(*number);
            is_written && is_strange && !question.is_understood(*number)
        };
        let unknown = (0..question.groups.len()).filter(is_unknown).count();
        let least_score = if is_small { 0.0 } else { LEAST_SCORE * spread.rarity_of(0) };
        Self { question, weights, all, is_of_field, has_foreign, written, unknown, least_score }
    }

    /// The part of the question that words cover: a word is covered when it is there, or what it
    /// stands for is.
    fn covered(&self, words: u64) -> f32 {
        let mut covered = words;
        for (number, group) in self.question.groups.iter().enumerate() {
            if let Origin::For(numbers) = &group.origin
                && words & (1 << number) != 0
            {
                covered |= numbers.iter().fold(0, |bits, number| bits | 1 << number);
            }
        }
        let sum: f32 = self
            .weights
            .iter()
            .enumerate()
            .filter(|(number, _)| covered & (1 << number) != 0)
            .map(|(_, weight)| weight)
            .sum();
        if self.all > 0.0 { sum / self.all } else { 0.0 }
    }

    /// The part of the question that words cover as they were written.
    fn written_part(&self, words: u64) -> f32 {
        let weights = self.weights.iter().enumerate();
        let sum: f32 = weights.filter(|(at, _)| words & (1 << at) != 0).map(|(_, it)| it).sum();
        if self.all > 0.0 { sum / self.all } else { 0.0 }
    }

    /// Whether a passage has each word of a short question, and most of them where it says what it is
    /// about: words that are common in this field score low.
    fn holds_all(&self, hit: &Hit) -> bool {
        self.written <= SHORT
            && self.written_part(hit.words) >= ALL
            && self.written_part(hit.heads) >= LEAST_IN_HEADS
    }

    /// Whether a file has a symbol of the question, or what a phrase of it stands for: a single word
    /// may be meant otherwise.
    fn has_term(&self, hit: &Hit) -> bool {
        let of = |(at, group): (usize, &Group)| match &group.origin {
            _ if hit.file_words & (1 << at) == 0 => false,
            Origin::For(numbers) => numbers.len() > 1,
            Origin::Written => group.is_term(),
            Origin::Part => false,
        };
        self.question.groups.iter().enumerate().any(of)
    }

    /// Whether a passage is headed by the code of an error that is asked about.
    fn explains_code(&self, hit: &Hit) -> bool {
        let mut groups = self.question.groups.iter().enumerate();
        groups.any(|(at, group)| hit.heads & (1 << at) != 0 && group.is_code())
    }

    fn is_about(&self, hit: &Hit, corpus: CorpusKind) -> bool {
        // What the person has added is small, and is about what they ask: words that stand in each of
        // its files score low there.
        let is_theirs = corpus == CorpusKind::Documents
            && self.written > 1
            && self.written_part(hit.words) >= ALL;
        if is_theirs || self.holds_all(hit) || self.explains_code(hit) {
            return true;
        }
        let (file, passage) = (self.covered(hit.file_words), self.covered(hit.words));
        if self.is_of_field {
            let is_sure = self.unknown < MOST_UNKNOWN
                || self.covered(hit.heads) >= LEAST_IN_HEADS
                || self.has_term(hit);
            return is_sure
                && file >= LEAST_COVERED_OF_FIELD
                && passage >= LEAST_IN_PASSAGE_OF_FIELD;
        }
        // Long questions of everyday words meet some passage by chance, but score low there.
        let is_strong = self.written < 2 || hit.score >= self.least_score;
        let (least, least_in_passage) = match self.has_foreign {
            true => (LEAST_COVERED_WITH_FOREIGN, LEAST_IN_PASSAGE_WITH_FOREIGN),
            false => (LEAST_COVERED, LEAST_IN_PASSAGE),
        };
        is_strong && file >= least && passage >= least_in_passage
    }

    fn why(&self, hit: &Hit, passage: &Passage, chip: Option<ChipSet>) -> String {
        let has = |number: usize| hit.words & (1 << number) != 0;
        let words: Vec<&str> = (0..self.question.groups.len())
            .filter(|number| has(*number))
            .map(|number| self.question.groups[number].words[0].0.as_str())
            .collect();
        let mut why = format!("words: {}", words.join(", "));
        if let Some(symbol) = passage.symbols.iter().find(|symbol| {
            words.iter().any(|word| symbol.eq_ignore_ascii_case(word) && word.contains('_'))
        }) {
            why.push_str(&format!("; declares {symbol}"));
        }
        match (self.question.form, passage.kind) {
            (Form::Plain, _) => {}
            (form, kind) => why.push_str(&format!("; {} for {}", kind.name(), form.name())),
        }
        if chip.is_some() && passage.chips != ChipSet::ALL {
            why.push_str("; for this chip");
        }
        why
    }
}

#[cfg(test)]
#[path = "library_tests.rs"]
mod tests;
