//! Ranks the passages of one index for a question.
//!
//! The ranking is BM25F (Robertson & Zaragoza, 2009, section 3.4): the frequencies of a word in the
//! fields of a passage are weighted, made comparable by the length of the field, and added before
//! they saturate. To that comes what the other passages of the same file say, and what kind of text
//! the question is likely to want.

use std::collections::HashMap;
use std::sync::Arc;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocId, DocSet, InvertedIndexReader, SegmentReader, TERMINATED, Term};

use super::chips::ChipSet;
use super::index::{Columns, PassageFacts, PassageIndex, SEARCHED, TEXT};
use super::passage::PassageKind;
use super::query::{Filter, Form, Question};

/// Weights of the fields: symbols, title, headings, text.
pub const WEIGHTS: [f32; SEARCHED] = [3.0, 2.4, 2.4, 1.0];
/// How much the length of a field matters.
const LENGTHS: [f32; SEARCHED] = [0.5, 0.5, 0.4, 0.6];
/// How soon a word that comes often says no more.
pub const SATURATION: f32 = 1.4;
/// What the other passages of the file count for.
const NEIGHBOURS: f32 = 0.45;
/// What the words of people count for, of a topic that the file answers.
const TOPIC: f32 = 1.3;
/// What a passage counts for that has no word of the question itself.
const WITHOUT_WORDS: f32 = 0.7;

/// What another passage of the same file must reach of the best, and what it counts for.
const LEAST_OF_SECOND: f32 = 0.85;
const SECOND: f32 = 0.75;
/// Most passages of one file.
const MOST_OF_FILE: usize = 2;
/// Passages that are looked at more closely.
const KEPT: usize = 400;

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
    /// The same for what people ask that it answers.
    pub topic_words: u64,
}

impl Hit {
    /// What fits by other means than its words.
    #[must_use]
    pub const fn without_words(address: DocAddress, score: f32) -> Self {
        let facts =
            PassageFacts { kind: PassageKind::Note, is_migration: false, chips: ChipSet::ALL };
        let (words, heads, file_words, topic_words) = (0, 0, 0, 0);
        Self { address, file: 0, facts, score, words, heads, file_words, topic_words }
    }
}

/// A topic that a question may be about.
#[derive(Debug, Clone, PartialEq)]
pub struct TopicHit {
    /// Prefixes of paths that answer it.
    pub paths: Vec<String>,
    pub score: f32,
    /// One bit for each group of the question that it has.
    pub words: u64,
}

/// How many passages have each of the words; what makes a word rare.
#[derive(Debug, Clone, Default)]
pub struct Spread {
    pub passages: u64,
    /// By group and word of the question.
    pub counts: Vec<Vec<u64>>,
    /// One bit for each group that people ask in.
    pub asked: u64,
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

    /// Adds which words people ask in.
    ///
    /// # Errors
    /// When the index of topics cannot be read.
    pub fn add_asked(&mut self, topics: &PassageIndex, question: &Question) -> tantivy::Result<()> {
        for (number, group) in question.groups.iter().enumerate() {
            if let Some((word, _)) = group.words.first()
                && topics.passages_with(word)? > 0
            {
                self.asked |= 1 << number;
            }
        }
        Ok(())
    }

    /// Whether a document or somebody who asks has a word of that group as it was written.
    #[must_use]
    pub fn is_known(&self, group: usize) -> bool {
        self.asked & (1 << group) != 0 || self.counts[group].iter().any(|count| *count > 0)
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
    topics: &[TopicHit],
) -> tantivy::Result<Vec<Hit>> {
    let mut scores = scores(index, question, spread)?;
    scores.add_topics(index, topics)?;
    let mut best: Vec<(f32, DocAddress)> = Vec::new();
    for (ordinal, scored) in (0..).zip(&scores.segments) {
        for &doc in &scored.touched {
            let Some(found) = scored.columns.facts(doc).filter(|found| filter.takes(*found)) else {
                continue;
            };
            let file = scores.files[scored.columns.file(doc)];
            let own = scored.passages[doc as usize].score;
            let part = if own > 0.0 { 1.0 } else { WITHOUT_WORDS };
            let score = part
                * (own + NEIGHBOURS * file.score + TOPIC * file.topic)
                * prior(found, question, filter);
            best.push((score, DocAddress::new(ordinal, doc)));
        }
    }
    if best.len() > KEPT {
        best.select_nth_unstable_by(KEPT, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        best.truncate(KEPT);
    }
    let mut hits = Vec::with_capacity(best.len());
    for (score, address) in best {
        let scored = &scores.segments[address.segment_ord as usize];
        let Some(facts) = scored.columns.facts(address.doc_id) else { continue };
        let file = scored.columns.file(address.doc_id);
        let own = scored.passages[address.doc_id as usize];
        hits.push(Hit {
            address,
            file: file as u64,
            facts,
            score,
            words: own.words,
            heads: own.heads,
            file_words: scores.files[file].words,
            topic_words: scores.files[file].topic_words,
        });
    }
    Ok(best_of_files(hits))
}

/// Another passage of a file is kept when it scores nearly as high as the best, and stands behind
/// files that are as good.
fn best_of_files(mut hits: Vec<Hit>) -> Vec<Hit> {
    let by_score =
        |a: &Hit, b: &Hit| b.score.total_cmp(&a.score).then_with(|| a.address.cmp(&b.address));
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
    let migration = match (facts.is_migration, question.asks_migration) {
        (true, true) => 1.25,
        (true, false) => 0.6,
        (false, _) => 1.0,
    };
    let chip = match filter.chip {
        Some(chip) if !facts.chips.and(chip).is_empty() => 1.0,
        Some(_) => 0.5,
        None if facts.chips.count() <= 2 => 0.85,
        None => 1.0,
    };
    kind * migration * chip
}

/// What a passage has of the question.
#[derive(Debug, Clone, Copy, Default)]
struct Score {
    score: f32,
    /// Whether it is among those that are looked at.
    is_touched: bool,
    words: u64,
    heads: u64,
}

/// What a file has of the question.
#[derive(Debug, Clone, Copy, Default)]
struct FileScore {
    score: f32,
    words: u64,
    /// Of the topic that fits best and that it answers.
    topic: f32,
    topic_words: u64,
}

/// Scores of passages and of files: a file has each word where it has it best.
struct Scores<'a> {
    segments: Vec<SegmentScores<'a>>,
    files: Vec<FileScore>,
}

fn scores<'a>(
    index: &'a PassageIndex,
    question: &Question,
    spread: &Spread,
) -> tantivy::Result<Scores<'a>> {
    let worth = FieldWorth::of(index)?;
    let mut segments = Vec::new();
    for (ordinal, segment) in (0..).zip(index.searcher.segment_readers()) {
        segments.push(SegmentScores::new(index, segment, index.columns(ordinal)?)?);
    }
    let count = index.most_files()?;
    let (mut files, mut best) = (vec![FileScore::default(); count], vec![0.0_f32; count]);
    for (number, group) in question.groups.iter().enumerate() {
        for segment in &mut segments {
            for (place, (word, weight)) in group.words.iter().enumerate() {
                let rarity = spread.rarity(number, place) * weight * group.weight;
                segment.add_word(number, word, rarity, &worth)?;
            }
            segment.end_group(number, |file, score| best[file] = best[file].max(score));
        }
        for (file, best) in files.iter_mut().zip(&mut best).filter(|(_, best)| **best > 0.0) {
            file.score += std::mem::take(best);
            file.words |= 1 << number;
        }
    }
    Ok(Scores { segments, files })
}

impl Scores<'_> {
    /// Adds what people ask that the files answer.
    fn add_topics(&mut self, index: &PassageIndex, topics: &[TopicHit]) -> tantivy::Result<()> {
        for (segment, reader) in self.segments.iter_mut().zip(index.searcher.segment_readers()) {
            for topic in topics {
                for prefix in &topic.paths {
                    index.each_below(reader, prefix, |doc| {
                        let file = &mut self.files[segment.columns.file(doc)];
                        if topic.score > file.topic {
                            (file.topic, file.topic_words) = (topic.score, topic.words);
                        }
                        segment.touch(doc);
                    })?;
                }
            }
        }
        Ok(())
    }
}

/// The passages of one segment, by their numbers.
struct SegmentScores<'a> {
    columns: &'a Columns,
    lists: Vec<FieldLists>,
    passages: Vec<Score>,
    /// Those that have a word of the question, or that a topic of it names.
    touched: Vec<DocId>,
    /// How often one word is in each, by its weight.
    word: Tally,
    /// What the words of one group are worth in each.
    group: Tally,
}

impl<'a> SegmentScores<'a> {
    fn new(
        index: &PassageIndex,
        segment: &SegmentReader,
        columns: &'a Columns,
    ) -> tantivy::Result<Self> {
        let count = segment.max_doc() as usize;
        let open = |field: &Field| {
            let norms = segment.get_fieldnorms_reader(*field)?;
            Ok(FieldLists { field: *field, words: segment.inverted_index(*field)?, norms })
        };
        Ok(Self {
            columns,
            lists: index.fields.searched.iter().map(open).collect::<tantivy::Result<_>>()?,
            passages: vec![Score::default(); count],
            touched: Vec::new(),
            word: Tally::new(count),
            group: Tally::new(count),
        })
    }

    /// Adds a word of the group with that number.
    fn add_word(
        &mut self,
        number: usize,
        word: &str,
        rarity: f32,
        worth: &FieldWorth,
    ) -> tantivy::Result<()> {
        for (field, list) in self.lists.iter().enumerate() {
            let Some(mut postings) = list.of(word)? else { continue };
            let is_head = u64::from(field < TEXT) << number;
            let mut doc = postings.doc();
            while doc != TERMINATED {
                let of_length = worth.of_length(field, list.norms.fieldnorm_id(doc));
                self.word.add(doc, of_length * short(postings.term_freq()));
                self.passages[doc as usize].heads |= is_head;
                doc = postings.advance();
            }
        }
        let group = &mut self.group;
        self.word.drain(|doc, frequency| {
            group.raise(doc, rarity * frequency / (SATURATION + frequency));
        });
        Ok(())
    }

    /// Looks at a passage whatever words it has.
    fn touch(&mut self, doc: DocId) {
        if !std::mem::replace(&mut self.passages[doc as usize].is_touched, true) {
            self.touched.push(doc);
        }
    }

    /// Adds what the group is worth, and tells it of each passage with its file.
    fn end_group(&mut self, number: usize, mut tell: impl FnMut(usize, f32)) {
        self.group.drain(|doc, score| {
            let own = &mut self.passages[doc as usize];
            if !std::mem::replace(&mut own.is_touched, true) {
                self.touched.push(doc);
            }
            own.score += score;
            own.words |= 1 << number;
            tell(self.columns.file(doc), score);
        });
    }
}

#[expect(clippy::cast_precision_loss, reason = "lengths and frequencies are small")]
const fn short(number: u32) -> f32 {
    number as f32
}

/// A figure for each passage of a segment that has one.
struct Tally {
    figures: Vec<f32>,
    touched: Vec<DocId>,
}

impl Tally {
    fn new(count: usize) -> Self {
        Self { figures: vec![0.0; count], touched: Vec::new() }
    }

    fn add(&mut self, doc: DocId, more: f32) {
        let held = &mut self.figures[doc as usize];
        if *held <= 0.0 {
            self.touched.push(doc);
        }
        *held += more;
    }

    fn raise(&mut self, doc: DocId, to: f32) {
        let held = &mut self.figures[doc as usize];
        if *held <= 0.0 {
            self.touched.push(doc);
        }
        *held = held.max(to);
    }

    /// Hands all figures over; none is left.
    fn drain(&mut self, mut take: impl FnMut(DocId, f32)) {
        for doc in self.touched.drain(..) {
            take(doc, std::mem::take(&mut self.figures[doc as usize]));
        }
    }
}

/// What a word in a field is worth, by the length of the field as the index knows it.
struct FieldWorth([[f32; 256]; SEARCHED]);

impl FieldWorth {
    /// By the mean length of each field over the whole index, in words.
    #[expect(clippy::cast_precision_loss, reason = "a mean of lengths needs no more digits")]
    fn of(index: &PassageIndex) -> tantivy::Result<Self> {
        let mut worth = [[0.0; 256]; SEARCHED];
        for (place, (field, worth)) in index.fields.searched.iter().zip(&mut worth).enumerate() {
            let mut words = 0;
            for segment in index.searcher.segment_readers() {
                words += segment.inverted_index(*field)?.total_num_tokens();
            }
            let mean = (words as f32 / index.passages().max(1) as f32).max(1.0);
            for (id, worth) in (0..=u8::MAX).zip(worth) {
                let length = short(FieldNormReader::id_to_fieldnorm(id)) / mean;
                *worth = WEIGHTS[place] / (1.0 - LENGTHS[place] + LENGTHS[place] * length);
            }
        }
        Ok(Self(worth))
    }

    fn of_length(&self, field: usize, id: u8) -> f32 {
        self.0[field][usize::from(id)]
    }
}

/// The words of one field in a segment, and the lengths of the field.
struct FieldLists {
    field: Field,
    words: Arc<InvertedIndexReader>,
    norms: FieldNormReader,
}

impl FieldLists {
    /// The passages that have a word there, in their order.
    fn of(&self, word: &str) -> tantivy::Result<Option<SegmentPostings>> {
        let term = Term::from_field_text(self.field, word);
        Ok(self.words.read_postings(&term, IndexRecordOption::WithFreqs)?)
    }
}
