//! Ranks the passages of one index for a question.
//!
//! The ranking is BM25F (Robertson & Zaragoza, 2009, section 3.4): the frequencies of a word in the
//! fields of a passage are weighted, made comparable by the length of the field, and added before
//! they saturate. To that comes what the other passages of the same file say, and what kind of text
//! the question is likely to want.

use std::collections::HashMap;

use tantivy::postings::Postings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocId, DocSet, SegmentReader, TERMINATED, Term};

use super::index::{FACTS, FILE, PassageFacts, PassageIndex, SEARCHED, TEXT};
use super::passage::PassageKind;
use super::query::{Filter, Form, Question};

/// Weights of the fields: symbols, title, headings, text.
const WEIGHTS: [f32; SEARCHED] = [3.0, 2.4, 2.4, 1.0];
/// How much the length of a field matters.
const LENGTHS: [f32; SEARCHED] = [0.5, 0.5, 0.4, 0.6];
/// How soon a word that comes often says no more.
const SATURATION: f32 = 1.4;
/// What the other passages of the file count for.
const NEIGHBOURS: f32 = 0.45;

/// What another passage of the same file must reach of the best, and what it counts for.
const LEAST_OF_SECOND: f32 = 0.85;
const SECOND: f32 = 0.75;
/// Most passages of one file.
const MOST_OF_FILE: usize = 2;

/// A passage that fits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    pub address: DocAddress,
    pub file: u64,
    pub facts: PassageFacts,
    pub score: f32,
    /// One bit for each word of the question that it has.
    pub words: u64,
    /// The same for its title, its headings and what it declares.
    pub heads: u64,
    /// The same for its file.
    pub file_words: u64,
}

/// How many passages have each of the words; what makes a word rare.
#[derive(Debug, Clone, Default)]
pub struct Spread {
    pub passages: u64,
    /// By group and word of the question.
    pub counts: Vec<Vec<u64>>,
}

impl Spread {
    /// Adds what one index says.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn add(&mut self, index: &PassageIndex, question: &Question) -> tantivy::Result<()> {
        self.passages += index.passages();
        self.counts.resize(question.groups.len(), Vec::new());
        for (group, counts) in question.groups.iter().zip(&mut self.counts) {
            counts.resize(group.words.len(), 0);
            for ((word, _), count) in group.words.iter().zip(counts) {
                for segment in index.searcher.segment_readers() {
                    let mut most = 0;
                    for field in index.fields.searched {
                        let term = Term::from_field_text(field, word);
                        most = most.max(segment.inverted_index(field)?.doc_freq(&term)?);
                    }
                    *count += u64::from(most);
                }
            }
        }
        Ok(())
    }

    /// The weight of a word by its rarity.
    #[must_use]
    pub fn rarity(&self, group: usize, word: usize) -> f32 {
        self.rarity_of(self.counts[group][word])
    }

    /// The weight of a word that so many passages have.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of passages are far below 2^24")]
    pub fn rarity_of(&self, count: u64) -> f32 {
        let (all, count) = (self.passages.max(1) as f32, count as f32);
        ((all - count + 0.5).max(0.5) / (count + 0.5)).ln_1p()
    }
}

/// The best passages, few of each file, the best first.
///
/// # Errors
/// When the index cannot be read.
pub fn rank(
    index: &PassageIndex,
    question: &Question,
    spread: &Spread,
    filter: &Filter,
) -> tantivy::Result<Vec<Hit>> {
    let files = file_scores(index, question, spread)?;
    let mut hits = Vec::new();
    for (ordinal, segment) in index.searcher.segment_readers().iter().enumerate() {
        let ordinal = u32::try_from(ordinal).unwrap_or(u32::MAX);
        let scored = &files.segments[ordinal as usize];
        let facts = segment.fast_fields().u64(FACTS)?;
        let numbers = segment.fast_fields().u64(FILE)?;
        for &doc in &scored.touched {
            if segment.is_deleted(doc) {
                continue;
            }
            let Some(found) = facts.first(doc).and_then(PassageFacts::unpack) else { continue };
            if !filter.takes(found) {
                continue;
            }
            let file = numbers.first(doc).unwrap_or(0);
            let place = usize::try_from(file).unwrap_or(0);
            let own = scored.scores[doc as usize];
            let around = files.scores.get(place).copied().unwrap_or(0.0);
            let score = (own + NEIGHBOURS * around) * prior(found, question, filter);
            hits.push(Hit {
                address: DocAddress::new(ordinal, doc),
                file,
                facts: found,
                score,
                words: scored.words[doc as usize],
                heads: scored.heads[doc as usize],
                file_words: files.words.get(place).copied().unwrap_or(0),
            });
        }
    }
    Ok(best_of_files(hits))
}

/// Another passage of a file is kept when it scores nearly as high as the best, and stands behind
/// files that are as good.
fn best_of_files(mut hits: Vec<Hit>) -> Vec<Hit> {
    const KEPT: usize = 400;
    let by_score =
        |a: &Hit, b: &Hit| b.score.total_cmp(&a.score).then_with(|| a.address.cmp(&b.address));
    if hits.len() > KEPT {
        hits.select_nth_unstable_by(KEPT, by_score);
        hits.truncate(KEPT);
    }
    hits.sort_by(by_score);
    let mut kept: HashMap<u64, (f32, usize)> = HashMap::new();
    hits.retain_mut(|hit| {
        let (best, count) = kept.entry(hit.file).or_insert((hit.score, 0));
        *count += 1;
        let is_good = *count == 1 || *count <= MOST_OF_FILE && hit.score >= *best * LEAST_OF_SECOND;
        if *count > 1 {
            hit.score *= SECOND;
        }
        is_good
    });
    hits.sort_by(by_score);
    hits
}

/// How likely a question wants such a text, before its words are looked at.
fn prior(facts: PassageFacts, question: &Question, filter: &Filter) -> f32 {
    let kind = match (question.form, facts.kind) {
        (Form::Symbol, PassageKind::Api) => 1.3,
        (Form::Option, PassageKind::Option) => 1.5,
        (Form::Error, PassageKind::Hint) => 1.5,
        (Form::Error, PassageKind::Example | PassageKind::Option) => 0.8,
        (Form::Example, PassageKind::Example) => 1.35,
        (_, PassageKind::Guide) => 1.12,
        (_, PassageKind::Api) => 0.95,
        (_, PassageKind::Example) => 0.85,
        (_, PassageKind::Option) => 0.85,
        (_, PassageKind::Hint) => 0.75,
        (_, PassageKind::Note | PassageKind::Project | PassageKind::Session) => 1.0,
    };
    let migration = if facts.is_migration && !question.asks_migration { 0.6 } else { 1.0 };
    let chip = match filter.chip {
        Some(chip) if !facts.chips.and(chip).is_empty() => 1.0,
        Some(_) => 0.5,
        None if facts.chips.count() <= 2 => 0.85,
        None => 1.0,
    };
    kind * migration * chip
}

/// Scores of the passages of one segment.
struct SegmentScores {
    scores: Vec<f32>,
    words: Vec<u64>,
    heads: Vec<u64>,
    touched: Vec<DocId>,
}

/// Scores of passages and of files: a file has each word where it has it best.
struct Scores {
    segments: Vec<SegmentScores>,
    scores: Vec<f32>,
    words: Vec<u64>,
}

fn file_scores(
    index: &PassageIndex,
    question: &Question,
    spread: &Spread,
) -> tantivy::Result<Scores> {
    let mut all = Scores { segments: Vec::new(), scores: Vec::new(), words: Vec::new() };
    let lengths = mean_lengths(index)?;
    let mut best: Vec<Vec<f32>> = vec![Vec::new(); question.groups.len()];
    for segment in index.searcher.segment_readers() {
        let most = segment.max_doc() as usize;
        let numbers = segment.fast_fields().u64(FILE)?;
        let mut scored = SegmentScores {
            scores: vec![0.0; most],
            words: vec![0; most],
            heads: vec![0; most],
            touched: Vec::new(),
        };
        let mut group_scores = vec![0.0_f32; most];
        let mut group_touched: Vec<DocId> = Vec::new();
        for (number, group) in question.groups.iter().enumerate() {
            for (place, (word, weight)) in group.words.iter().enumerate() {
                let rarity = spread.rarity(number, place) * weight * group.weight;
                add_word(index, segment, word, rarity, &lengths, |doc, score, is_head| {
                    scored.heads[doc as usize] |= u64::from(is_head) << number;
                    let held = &mut group_scores[doc as usize];
                    if *held <= 0.0 {
                        group_touched.push(doc);
                    }
                    *held = held.max(score);
                })?;
            }
            for doc in group_touched.drain(..) {
                let score = std::mem::take(&mut group_scores[doc as usize]);
                let own = &mut scored.scores[doc as usize];
                if *own <= 0.0 {
                    scored.touched.push(doc);
                }
                *own += score;
                scored.words[doc as usize] |= 1 << number;
                let file = usize::try_from(numbers.first(doc).unwrap_or(0)).unwrap_or(0);
                let best = &mut best[number];
                if best.len() <= file {
                    best.resize(file + 1, 0.0);
                }
                best[file] = best[file].max(score);
            }
        }
        all.segments.push(scored);
    }
    let files = best.iter().map(Vec::len).max().unwrap_or(0);
    (all.scores, all.words) = (vec![0.0; files], vec![0; files]);
    for (number, best) in best.iter().enumerate() {
        for (file, score) in best.iter().enumerate().filter(|(_, score)| **score > 0.0) {
            all.scores[file] += score;
            all.words[file] |= 1 << number;
        }
    }
    Ok(all)
}

/// The mean length of each field over the whole index, in words.
#[expect(clippy::cast_precision_loss, reason = "a mean of lengths needs no more digits")]
fn mean_lengths(index: &PassageIndex) -> tantivy::Result<[f32; SEARCHED]> {
    let mut means = [1.0; SEARCHED];
    for (field, mean) in index.fields.searched.iter().zip(&mut means) {
        let mut words = 0;
        for segment in index.searcher.segment_readers() {
            words += segment.inverted_index(*field)?.total_num_tokens();
        }
        *mean = (words as f32 / index.passages().max(1) as f32).max(1.0);
    }
    Ok(means)
}

/// Calls `take` with what a word is worth in each passage that has it.
#[expect(clippy::cast_precision_loss, reason = "lengths and frequencies are small")]
fn add_word(
    index: &PassageIndex,
    segment: &SegmentReader,
    word: &str,
    rarity: f32,
    lengths: &[f32; SEARCHED],
    mut take: impl FnMut(DocId, f32, bool),
) -> tantivy::Result<()> {
    let mut open = Vec::with_capacity(SEARCHED);
    for (place, field) in index.fields.searched.iter().enumerate() {
        let term = Term::from_field_text(*field, word);
        let list = segment.inverted_index(*field)?;
        if let Some(postings) = list.read_postings(&term, IndexRecordOption::WithFreqs)? {
            open.push((place, postings, segment.get_fieldnorms_reader(*field)?));
        }
    }
    // The lists are in the order of the passages: the least of their heads is next.
    while let Some(doc) =
        open.iter().map(|(_, postings, _)| postings.doc()).min().filter(|doc| *doc != TERMINATED)
    {
        let (mut frequency, mut is_head) = (0.0, false);
        for (place, postings, norms) in &mut open {
            if postings.doc() == doc {
                let length = norms.fieldnorm(doc) as f32 / lengths[*place];
                let relative = 1.0 - LENGTHS[*place] + LENGTHS[*place] * length;
                is_head |= *place < TEXT;
                frequency += WEIGHTS[*place] * postings.term_freq() as f32 / relative;
                postings.advance();
            }
        }
        take(doc, rarity * frequency / (SATURATION + frequency), is_head);
    }
    Ok(())
}
