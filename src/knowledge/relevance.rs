//! Decides which passages are about a question, so that nothing is found where nothing is.
//!
//! Owns how much of a question a passage and its file must have, and the reason that is given with a
//! result. Must not read indexes.

use super::chips::ChipSet;
use super::corpus::CorpusKind;
use super::group::{Group, Origin};
use super::passage::Passage;
use super::query::{Form, Question};
use super::rank::{Hit, Spread};

/// The part of a question's weight that a file must cover to be an answer.
const LEAST_COVERED: f32 = 0.5;
/// The same where one of its words is of another field.
const LEAST_COVERED_WITH_FOREIGN: f32 = 0.7;
/// The same for the passage itself.
const LEAST_IN_PASSAGE: f32 = 0.45;
const LEAST_IN_PASSAGE_WITH_FOREIGN: f32 = 0.6;
/// Both, for a question with a word of the field.
const LEAST_COVERED_OF_FIELD: f32 = 0.4;
const LEAST_IN_PASSAGE_OF_FIELD: f32 = 0.3;
/// Words that tell something from which on a topic says what the question is about, and the part of it
/// that is enough then.
const WORDS_OF_TOPIC: usize = 3;
const LEAST_COVERED_OF_TOPIC: f32 = 0.3;
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
pub const FEW_PASSAGES: u64 = 5_000;
/// Most that a word of the question weighs in that.
const KNOWN_WORD: f32 = 4.5;
/// What a word weighs that no document has: it is likely to be about something else.
const UNKNOWN_WORD: f32 = 6.5;
/// What a name in a message weighs that no document has, but its parts.
const INNER_NAME: f32 = 1.0;
/// One in so many passages has a word of another field at most, if it is to count as one.
const FOREIGN_PASSAGES: u64 = 400;

/// Decides what is about the question.
pub struct RelevanceJudge<'a> {
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
    /// For a question whose words are so common.
    pub fn new(question: &'a Question, spread: &Spread) -> Self {
        // A few documents know few words: what they do not know says less there.
        let is_small = spread.passages < FEW_PASSAGES;
        let strange = if is_small { KNOWN_WORD } else { UNKNOWN_WORD };
        // A word of another field that many documents use is one of this field too.
        let most_foreign = spread.passages / FOREIGN_PASSAGES;
        let is_foreign = |number: usize| {
            let passages: u64 = spread.counts[number].iter().sum();
            question.foreign.contains(&number) && passages <= most_foreign
        };
        let is_known = |number: usize| spread.is_known(number);
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
            Origin::Written if !is_known(number) => strange,
            // A number, and a word that any question may have, tell little.
            Origin::Written => {
                let is_understood = question.is_understood(number);
                let part =
                    if is_understood { 1.0 } else { question.groups[number].weight.min(1.0) };
                part * spread.rarity(number, 0).min(KNOWN_WORD)
            }
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
    pub(super) fn covered(&self, words: u64) -> f32 {
        let mut covered = words;
        for (number, group) in self.question.groups.iter().enumerate() {
            if let Origin::For(numbers) = &group.origin
                && words & (1 << number) != 0
            {
                covered |= numbers.iter().fold(0, |bits, number| bits | 1 << number);
            }
        }
        self.written_part(covered)
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
            && self.written_part(hit.words | self.topic_alone(hit)) >= ALL
            && self.written_part(hit.heads | self.topic_alone(hit)) >= LEAST_IN_HEADS
    }

    /// The words of a topic, if they are more than one that tells something.
    fn topic_alone(&self, hit: &Hit) -> u64 {
        if self.telling(hit.topic_words) > 1 { hit.topic_words } else { 0 }
    }

    /// How many of the words that were written tell something: those that any question may have do not.
    fn telling(&self, words: u64) -> usize {
        let groups = self.question.groups.iter().enumerate();
        let telling = groups.filter(|(number, group)| {
            let is_written = group.origin == Origin::Written && group.weight >= 1.0;
            is_written && words & (1 << number) != 0
        });
        telling.count()
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

    /// Whether a passage of that kind of documents is about the question.
    pub fn is_about(&self, hit: &Hit, corpus: CorpusKind) -> bool {
        // What the person or the team has added is about what they ask: words that stand in each of its
        // files score low there.
        let is_theirs = matches!(corpus, CorpusKind::Documents | CorpusKind::Remote)
            && self.written > 1
            && self.written_part(hit.words) >= ALL;
        // They may have added documents on anything.
        if self.question.is_elsewhere && !is_theirs && corpus != CorpusKind::Documents {
            return false;
        }
        if is_theirs || self.holds_all(hit) || self.explains_code(hit) {
            return true;
        }
        let file = self.covered(hit.file_words | hit.topic_words);
        let passage = self.covered(hit.words | hit.topic_words);
        // Who tells a story has words of which no document has more than a few.
        if self.telling(hit.topic_words) >= WORDS_OF_TOPIC
            && file >= LEAST_COVERED_OF_TOPIC
            && passage >= LEAST_COVERED_OF_TOPIC
        {
            return true;
        }
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

    /// Which words fit, and what else counted.
    pub fn why(&self, hit: &Hit, passage: &Passage, chip: Option<ChipSet>) -> String {
        let of = |bits: u64| -> Vec<&str> {
            let groups = self.question.groups.iter().enumerate();
            let has = groups.filter(|(number, _)| bits & (1 << number) != 0);
            has.map(|(_, group)| group.words[0].0.as_str()).collect()
        };
        let words = of(hit.words);
        let mut why = match words.as_slice() {
            [] => "no word of the question".to_owned(),
            words => format!("words: {}", words.join(", ")),
        };
        if hit.topic_words != 0 {
            why.push_str(&format!("; people ask: {}", of(hit.topic_words).join(", ")));
        }
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
