//! What people ask, in their own words, and the places that answer it.
//!
//! Owns the form of the files of topics: TOML, each topic with a name, prefixes of paths, and lines in
//! which people put it; one without paths is of another field. Documents call a thing by other words;
//! what people ask counts for the files that answer it as if it were written there, as documents are
//! expanded by questions (Nogueira et al., "Document expansion by query prediction", 2019). Must not
//! read files.

use serde::Deserialize;

use super::chips::ChipSet;
use super::index::PassageIndex;
use super::passage::{Passage, PassageKind};
use super::pieces;
use super::query::{Filter, Question};
use super::rank::{self, Hit, Spread, TopicHit};
use super::relevance::RelevanceJudge;
use super::split::Document;
use super::words::Splitter;
use crate::model::UserError;

/// Topics that score less than this part of the best do not count.
const LEAST_OF_BEST: f32 = 0.45;
/// Most topics that count for a question, and most that are looked at.
const MOST: usize = 8;
const LOOKED_AT: usize = 24;
/// The part of a question's weight that a topic must cover.
const LEAST_SHARE: f32 = 0.25;

/// The topics of a library.
pub struct Topics {
    index: PassageIndex,
}

/// What a question may be about.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fitting {
    /// The best first.
    pub topics: Vec<TopicHit>,
    /// Whether a topic that no document here answers fits better than all others.
    pub is_elsewhere: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    topic: Vec<Topic>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Topic {
    name: String,
    #[serde(default)]
    paths: Vec<String>,
    asked: String,
}

impl Topics {
    /// Those of an index that was made of files of topics.
    pub const fn of(index: PassageIndex) -> Self {
        Self { index }
    }

    /// What a question may be about.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(super) fn fitting(&self, question: &Question) -> tantivy::Result<Fitting> {
        let mut spread = Spread::default();
        spread.add(&self.index, question)?;
        let judge = RelevanceJudge::new(question, &spread);
        let mut hits = rank::rank(&self.index, question, &spread, &Filter::default(), &[])?;
        // One common word of many says little, however high it scores.
        hits.retain_mut(|hit| {
            let share = judge.covered(hit.words);
            hit.score *= share.sqrt();
            share >= LEAST_SHARE
        });
        let mut by_pieces = pieces::scores(&self.index, &question.pieces)?;
        for hit in &mut hits {
            hit.score += by_pieces.remove(&hit.address).unwrap_or_default();
        }
        hits.extend(
            by_pieces.into_iter().map(|(address, score)| Hit::without_words(address, score)),
        );
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.address.cmp(&b.address)));
        let mut found = Fitting::default();
        let mut elsewhere = 0.0;
        for hit in hits.into_iter().take(LOOKED_AT) {
            let best = found.topics.first().map_or(0.0, |best: &TopicHit| best.score);
            if found.topics.len() == MOST || hit.score < best * LEAST_OF_BEST {
                break;
            }
            let Hit { address, score, words, .. } = hit;
            let places = self.index.passage(address)?.anchor;
            if places.is_empty() {
                // A board that something is sent to is named in questions about this one.
                let is_named = words & question.platforms != 0;
                elsewhere = if is_named { elsewhere } else { f32::max(elsewhere, score) };
            } else {
                let paths = places.lines().map(str::to_owned).collect();
                found.topics.push(TopicHit { paths, score, words });
            }
        }
        let here = found.topics.first().map_or(0.0, |best| best.score);
        found.is_elsewhere = elsewhere > here;
        Ok(found)
    }

    /// The words in which people ask.
    pub(super) const fn index(&self) -> &PassageIndex {
        &self.index
    }
}

/// Checks a file of topics.
///
/// # Errors
/// Another form; says file and line.
pub fn check(file: &str, text: &str) -> Result<(), UserError> {
    read(file, text).map(drop)
}

/// Puts topics into an empty index, from files that are each a pair of its name and its text.
///
/// # Errors
/// A file of another form, or no room for the index.
pub fn fill<'a>(
    index: &mut PassageIndex,
    files: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<(), UserError> {
    let failed = |error: tantivy::TantivyError| {
        UserError::from_cause("Cannot index the topics of the search", &error)
    };
    let change = index.change(1).map_err(failed)?;
    let mut words = Splitter::default();
    let mut number = 0;
    for (file, text) in files {
        for topic in read(file, text)? {
            number += 1;
            change.add_with_pieces(&passage(topic), number, &mut words).map_err(failed)?;
        }
    }
    change.commit(1).map_err(failed)?;
    index.renew().map_err(failed)
}

/// A topic as the index holds it: its anchor are the places that answer it, a line each.
fn passage(topic: Topic) -> Passage {
    let (kind, chips) = (PassageKind::Note, ChipSet::ALL);
    let document = Document { path: "", text: "", kind, chips };
    Passage { anchor: topic.paths.join("\n"), ..document.passage(&topic.name, topic.asked) }
}

fn read(file: &str, text: &str) -> Result<Vec<Topic>, UserError> {
    let wrong = |line: usize, why: String| {
        let fix = "Write `[[topic]]` with `name`, `paths` and `asked`.";
        UserError::new(format!("Cannot read the topics {file}:{line}"), why, fix)
    };
    let page: Page = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start.min(text.len()));
        wrong(text[..at].matches('\n').count() + 1, error.message().replace('\n', ", "))
    })?;
    match page.topic.iter().find(|topic| topic.asked.trim().is_empty()) {
        Some(topic) => Err(wrong(1, format!("nobody asks `{}`", topic.name))),
        None => Ok(page.topic),
    }
}

#[cfg(test)]
mod tests {
    use super::super::group::{Group, Origin};
    use super::super::query::Form;
    use super::*;

    const FILE: &str = "[[topic]]\nname = \"CAN bus\"\npaths = [\"docs/twai\", \"examples/twai/\"]\n\
                        asked = \"\"\"\nsniff the traffic of a car\nOBD2\n\"\"\"\n\n[[topic]]\n\
                        name = \"Sleep\"\npaths = [\"docs/sleep\"]\nasked = \"doze, nap in the car\"\n";

    fn topics() -> Topics {
        let mut index = PassageIndex::in_memory().unwrap();
        fill(&mut index, [("topics.toml", FILE)]).unwrap();
        Topics::of(index)
    }

    fn question(words: &[&str]) -> Question {
        let group = |word: &&str| Group {
            words: vec![((*word).to_owned(), 1.0)],
            weight: 1.0,
            origin: Origin::Written,
        };
        Question {
            groups: words.iter().map(group).collect(),
            pieces: Splitter::default().pieces(&words.join(" ")).into_iter().collect(),
            foreign: Vec::new(),
            platforms: 0,
            form: Form::Plain,
            asks_migration: false,
            names_this: false,
            is_elsewhere: false,
        }
    }

    #[test]
    fn words_of_people_lead_to_the_places_that_answer() {
        let fitting = |words: &[&str]| topics().fitting(&question(words)).unwrap().topics;
        let found = fitting(&["sniff", "car"]);
        assert_eq!(found[0].paths, ["docs/twai", "examples/twai/"]);
        assert_eq!(found[0].words, 0b11);
        assert!(found.iter().all(|hit| hit.score >= found[0].score * LEAST_OF_BEST));
        let naps = fitting(&["nap"]);
        assert_eq!(
            naps.iter().map(|hit| hit.paths.as_slice()).collect::<Vec<_>>(),
            [["docs/sleep"]]
        );
        assert_eq!(fitting(&["napping"])[0].paths, ["docs/sleep"], "by its pieces");
        assert_eq!(fitting(&["zebra"]), []);
        assert_eq!(fitting(&[]), []);
    }

    #[test]
    fn a_topic_without_places_is_of_another_field() {
        let cake = "[[topic]]\nname = \"Cakes\"\nasked = \"bake a cake, icing, oven\"\n";
        let mut index = PassageIndex::in_memory().unwrap();
        fill(&mut index, [("topics.toml", FILE), ("elsewhere.toml", cake)]).unwrap();
        let topics = Topics::of(index);
        let fitting = |words: &[&str]| topics.fitting(&question(words)).unwrap();
        assert!(fitting(&["bake", "cake"]).is_elsewhere);
        assert_eq!(fitting(&["bake", "cake"]).topics, []);
        assert!(!fitting(&["sniff", "car", "bake"]).is_elsewhere);
        assert!(!fitting(&["zebra"]).is_elsewhere);
        let names_it = Question { platforms: 1, ..question(&["bake", "cake"]) };
        assert!(!topics.fitting(&names_it).unwrap().is_elsewhere);
    }

    #[test]
    fn bad_files_are_refused_with_file_and_line() {
        for (text, place) in [
            ("[[topic]]\nname = 3\n", "t.toml:2"),
            ("[[topic]]\nname = \"a\"\npaths = [\"p\"]\nasked = \" \"\n", "t.toml:1"),
            ("[[topic]]\nname = \"a\"\npaths = [\"p\"]\nask = \"b\"\n", "t.toml:4"),
            ("nothing", "t.toml:1"),
        ] {
            let mut index = PassageIndex::in_memory().unwrap();
            let error = fill(&mut index, [("t.toml", text)]).unwrap_err();
            assert!(error.what.ends_with(place), "{text:?}: {}", error.what);
        }
    }
}
