//! Indexes on other machines, asked while the search runs here, and what comes of their answers.
//!
//! Owns what of a foreign answer may become a result: a few passages of bounded length, free of control
//! characters, about the question, and not here already. Must not know how an index is reached.

use std::collections::HashSet;
use std::sync::Arc;
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use tantivy::DocAddress;

use super::chips::ChipSet;
use super::corpus::CorpusKind;
use super::endpoint::{Embedder, RemoteCorpus, RemoteFacts, SEARCH_TIME};
use super::fusion;
use super::group::Origin;
use super::index::PassageFacts;
use super::passage::{Found, Passage, PassageKind, component_of};
use super::query::{Filter, Question};
use super::question_vector::QuestionVector;
use super::rank::{Hit, SATURATION, Spread, WEIGHTS};
use super::relevance::{FEW_PASSAGES, RelevanceJudge};
use super::words::{Splitter, WordRole};
use crate::model::{RemoteFilter, RemotePassage, RemoteQuestion};
use crate::text::contain::contained;
use crate::text::sanitize;

/// Passages that each of them is asked for.
const ASKED: usize = 30;
/// Most passages of one file, as of a file here.
const MOST_OF_FILE: usize = 2;
/// How long they wait for the vector of the question.
const VECTOR_TIME: Duration = Duration::from_millis(800);
/// Most bytes of a passage, and of each of the short texts that belong to it.
const LONGEST_TEXT: usize = 16 << 10;
const LONGEST_NAME: usize = 400;
/// Most headings or symbols of a passage.
const MOST_NAMES: usize = 40;
/// Letters from which on a text that is part of another one is the same passage.
const TELLING: usize = 80;
/// The usual length of a passage in words.
const USUAL_LENGTH: f32 = 110.0;

/// What each of them found, or why it found nothing.
type Answer<'a> = (&'a RemoteFacts, Result<Vec<RemotePassage>, String>);

/// The indexes that can have what a filter takes.
pub fn taking<'a>(
    all: &'a [Arc<dyn RemoteCorpus>],
    filter: &Filter,
) -> Vec<&'a Arc<dyn RemoteCorpus>> {
    let takes = |remote: &&Arc<dyn RemoteCorpus>| {
        let corpus = &remote.facts().corpus;
        let is_named = filter.corpus.as_ref().is_none_or(|name| *name == corpus.name);
        is_named && is_version(&corpus.version, filter)
    };
    all.iter().filter(takes).collect()
}

/// Whether a version is one that the filter takes; what has none may be.
fn is_version(version: &str, filter: &Filter) -> bool {
    let plain = |version: &str| version.trim_start_matches(['v', 'V']).to_owned();
    version.is_empty()
        || filter.version.as_ref().is_none_or(|it| plain(version).starts_with(&plain(it)))
}

/// Asks indexes while `here` searches, which gets the embedder that makes the vector only once.
pub fn ask_while<'a, T>(
    remotes: &[&'a Arc<dyn RemoteCorpus>],
    question: &RemoteQuestion,
    embedder: Option<&dyn Embedder>,
    here: impl FnOnce(Option<&dyn Embedder>) -> T,
) -> (T, Vec<Answer<'a>>) {
    let start = Instant::now();
    let is_wanted = remotes.iter().any(|remote| remote.facts().takes_vectors);
    let vector = embedder.filter(|_| is_wanted).map(QuestionVector::of);
    let vector = vector.as_ref();
    thread::scope(|scope| {
        if let Some(vector) = vector {
            let make = || vector.make(&question.text);
            if let Err(error) = named("vector").spawn_scoped(scope, make) {
                vector.fail(&error.to_string());
            }
        }
        let ask = |remote: &'a Arc<dyn RemoteCorpus>| {
            let mut question = question.clone();
            let ask = move || {
                if remote.facts().takes_vectors {
                    question.vector = vector.and_then(|vector| vector.within(VECTOR_TIME));
                }
                let within = SEARCH_TIME.saturating_sub(start.elapsed());
                contained(|| remote.search(question, within))
            };
            (remote.facts(), named("remote").spawn_scoped(scope, ask))
        };
        let asked: Vec<_> = remotes.iter().map(|remote| ask(remote)).collect();
        let found = here(vector.map(|vector| vector as &dyn Embedder).or(embedder));
        let answers = asked.into_iter().map(|(facts, asking)| (facts, answer(asking))).collect();
        (found, answers)
    })
}

fn named(name: &str) -> thread::Builder {
    thread::Builder::new().name(name.to_owned())
}

type Asking<'s> = std::io::Result<ScopedJoinHandle<'s, Option<Result<Vec<RemotePassage>, String>>>>;

fn answer(asking: Asking<'_>) -> Result<Vec<RemotePassage>, String> {
    let broken = || Err("asking it stopped unexpectedly".to_owned());
    match asking {
        Ok(handle) => handle.join().ok().flatten().unwrap_or_else(broken),
        Err(error) => Err(format!("it cannot be asked: {error}")),
    }
}

/// A question as other machines get it: the words that count as they are written, then those that they
/// stand for.
pub fn question(query: &str, read: &Question, filter: &Filter, most: usize) -> RemoteQuestion {
    let text = sanitize::strip_sequences(query);
    let text = text[..text.floor_char_boundary(2_000)].replace(char::is_control, " ");
    let mut splitter = Splitter::default();
    let mut words: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    let written = text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_lowercase);
    for word in written.filter(|word| word.len() <= 64) {
        let stems = splitter.words(&word);
        let counts = stems.iter().any(|stem| stem.role != WordRole::Silent);
        if counts && seen.insert(stems[0].text.clone()) {
            words.push(word);
        }
    }
    let meant = read.groups.iter().filter(|group| matches!(group.origin, Origin::For(_)));
    for (word, _) in meant.filter_map(|group| group.words.first()) {
        if seen.insert(word.clone()) {
            words.push(word.clone());
        }
    }
    words.truncate(32);
    let filter = RemoteFilter {
        kinds: filter.kinds.iter().map(|kind| kind.name().to_owned()).collect(),
        chips: filter.chip.iter().flat_map(|chip| chip.names()).map(str::to_owned).collect(),
        component: filter.component.clone(),
        version: filter.version.clone(),
    };
    RemoteQuestion { text, words, vector: None, filter, most: most.max(ASKED) }
}

/// What was found here together with what other machines found, as one list. What is from elsewhere
/// must be about the question, as what is from here; its place in its list is all that counts of how
/// another machine ranked it.
pub fn joined(
    here: Vec<Found>,
    answers: Vec<Answer<'_>>,
    (question, spread, filter): (&Question, &Spread, &Filter),
    left_out: &mut Vec<String>,
) -> Vec<Found> {
    let mut all = here;
    let mut lists: Vec<Vec<usize>> = vec![(0..all.len()).collect()];
    let mut texts: Vec<String> = all.iter().map(|found| plain(&found.passage.text)).collect();
    for (facts, answer) in answers {
        let passages = match answer {
            Ok(passages) => passages,
            Err(why) => {
                left_out.push(format!("{} ({}): {why}", facts.corpus.name, facts.address));
                continue;
            }
        };
        let found = passages.into_iter().filter_map(|it| taken(facts, it, filter)).take(2 * ASKED);
        let mut list = Vec::new();
        for mut one in about(found.collect(), question, spread, filter) {
            let text = plain(&one.passage.text);
            let place = match texts.iter().position(|known| is_same(known, &text)) {
                Some(place) => place,
                None => {
                    let why = format!(
                        "; place {} of {}, on another machine",
                        list.len() + 1,
                        facts.corpus.name
                    );
                    one.why.push_str(&why);
                    all.push(one);
                    texts.push(text);
                    all.len() - 1
                }
            };
            if !list.contains(&place) {
                list.push(place);
            }
        }
        lists.push(list);
    }
    if lists.iter().skip(1).all(Vec::is_empty) {
        return all;
    }
    let mut all: Vec<Option<Found>> = all.into_iter().map(Some).collect();
    let order = fusion::fused(&lists).into_iter();
    order
        .filter_map(|(place, score)| {
            let mut one = all[place].take()?;
            one.score = score;
            Some(one)
        })
        .collect()
}

/// A text without what may differ between two copies of it.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_same(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    short == long || short.len() >= TELLING && long.contains(short)
}

/// A passage that came as a result, if the filter takes it; nothing of it can harm a terminal.
fn taken(facts: &RemoteFacts, passage: RemotePassage, filter: &Filter) -> Option<Found> {
    let kind = PassageKind::from_name(&passage.kind.to_lowercase()).unwrap_or(PassageKind::Guide);
    let chips = passage.chips.iter().filter_map(|name| ChipSet::of(name));
    let chips = chips.reduce(ChipSet::or).unwrap_or(facts.chips);
    let version = match passage.version.as_str() {
        "" => facts.corpus.version.clone(),
        version => short(version),
    };
    let component = match passage.component.as_str() {
        "" => component_of(&passage.path),
        component => Some(component),
    };
    let is_taken = filter.takes(PassageFacts { kind, is_migration: false, chips })
        && is_version(&version, filter)
        && filter.component.as_deref().is_none_or(|wanted| component == Some(wanted))
        // The person's own work is on their own machine.
        && !PassageKind::OWN.contains(&kind);
    let text = sanitize::strip_sequences(&passage.text);
    let text = sanitize::block(&text[..text.floor_char_boundary(LONGEST_TEXT)]).trim().to_owned();
    if !is_taken || text.is_empty() {
        return None;
    }
    let names = |names: &[String]| -> Vec<String> {
        let names = names.iter().take(MOST_NAMES).map(|name| short(name));
        names.filter(|name| !name.is_empty()).collect()
    };
    let name = facts.corpus.name.clone();
    let title = match short(&passage.title) {
        title if title.is_empty() => short(passage.path.rsplit('/').next().unwrap_or_default()),
        title => title,
    };
    let passage = Passage {
        path: format!("{name}:{}", short(&passage.path)),
        anchor: short(&passage.anchor),
        title,
        headings: names(&passage.headings),
        kind,
        chips,
        symbols: names(&passage.symbols),
        text,
    };
    Some(Found { passage, corpus: name, version, score: 0.0, why: String::new() })
}

/// A short foreign text on one line.
fn short(text: &str) -> String {
    let text = sanitize::strip_sequences(text);
    sanitize::line(text[..text.floor_char_boundary(LONGEST_NAME)].trim()).into_owned()
}

/// Those that are about the question, in their order, few of each file.
fn about(found: Vec<Found>, question: &Question, spread: &Spread, filter: &Filter) -> Vec<Found> {
    let mut splitter = Splitter::default();
    let words: Vec<[Vec<String>; 4]> =
        found.iter().map(|one| fields(&one.passage, &mut splitter)).collect();
    // A word that another machine has is known.
    let mut spread = spread.clone();
    spread.counts.resize(question.groups.len(), Vec::new());
    for (group, counts) in question.groups.iter().zip(&mut spread.counts) {
        counts.resize(group.words.len(), 0);
        for ((word, _), count) in group.words.iter().zip(counts) {
            *count +=
                words.iter().filter(|of| of.iter().any(|it| it.contains(word))).count() as u64;
        }
    }
    // How much it has nobody knows here: as in many passages, a word that is nowhere counts against it.
    spread.passages = (spread.passages + found.len() as u64).max(FEW_PASSAGES);
    let judge = RelevanceJudge::new(question, &spread);
    let mut kept: Vec<Found> = Vec::new();
    for (mut one, words) in found.into_iter().zip(&words) {
        let hit = hit(&one, words, question, &spread);
        let of_file = kept.iter().filter(|it| it.passage.path == one.passage.path).count();
        // Without a word of the question nothing is about it, whatever else its machine found in it.
        if hit.words == 0 || of_file >= MOST_OF_FILE || !judge.is_about(&hit, CorpusKind::Remote) {
            continue;
        }
        one.why = judge.why(&hit, &one.passage, filter.chip);
        kept.push(one);
    }
    kept
}

/// The stems of symbols, title, headings and text.
fn fields(passage: &Passage, splitter: &mut Splitter) -> [Vec<String>; 4] {
    let Passage { symbols, title, headings, text, .. } = passage;
    let fields = [&symbols.join(" "), title, &headings.join(" "), text];
    fields.map(|field| {
        let words = splitter.words(field).into_iter();
        words.filter(|word| word.role != WordRole::Silent).map(|word| word.text).collect()
    })
}

/// What a foreign passage has of the question, weighed as passages here are.
#[expect(clippy::cast_precision_loss, reason = "lengths and frequencies are small")]
fn hit(found: &Found, words: &[Vec<String>; 4], question: &Question, spread: &Spread) -> Hit {
    let length = 0.4 + 0.6 * words[3].len() as f32 / USUAL_LENGTH;
    let (mut score, mut here, mut heads) = (0.0, 0, 0);
    for (number, group) in question.groups.iter().enumerate() {
        let mut best: f32 = 0.0;
        for (place, (word, weight)) in group.words.iter().enumerate() {
            let counts = [0, 1, 2, 3]
                .map(|at| words[at].iter().filter(|it| *it == word).count() as f32 * WEIGHTS[at]);
            let frequency = counts[0] + counts[1] + counts[2] + counts[3] / length;
            if frequency > 0.0 {
                here |= 1 << number;
                heads |= u64::from(counts[..3].iter().any(|count| *count > 0.0)) << number;
                let rarity = spread.rarity(number, place) * weight * group.weight;
                best = best.max(rarity * frequency / (SATURATION + frequency));
            }
        }
        score += best;
    }
    let Passage { kind, chips, .. } = found.passage;
    let facts = PassageFacts { kind, is_migration: false, chips };
    let address = DocAddress::new(0, 0);
    Hit { address, file: 0, facts, score, words: here, heads, file_words: here, topic_words: 0 }
}

#[cfg(test)]
#[path = "remotes_tests.rs"]
mod tests;
