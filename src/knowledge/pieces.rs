//! Scores topics by pieces of words: they meet where one says "thermometre", "wakeups" or
//! "Temperaturfühler", which no stemmer brings together with what the topic says.
//!
//! Owns the ranking by pieces, BM25 (Robertson & Zaragoza, 2009). Must not decide what a topic is.

use std::collections::{BTreeSet, HashMap};

use tantivy::postings::Postings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocSet, TERMINATED, Term};

use super::index::PassageIndex;

/// What all pieces together count for beside the words.
const WEIGHT: f32 = 0.25;
/// How soon a piece that comes often says no more, and how much the length of a topic matters.
const SATURATION: f32 = 1.4;
const LENGTH: f32 = 0.5;

/// What the passages with pieces are worth that have some of these.
///
/// # Errors
/// When the index cannot be read.
#[expect(clippy::cast_precision_loss, reason = "counts of topics and pieces are far below 2^24")]
pub fn scores(
    index: &PassageIndex,
    pieces: &BTreeSet<String>,
) -> tantivy::Result<HashMap<DocAddress, f32>> {
    let field = index.fields.pieces;
    let all = index.passages().max(1) as f32;
    let mut found: HashMap<DocAddress, f32> = HashMap::new();
    for (ordinal, segment) in (0..).zip(index.searcher.segment_readers()) {
        let list = segment.inverted_index(field)?;
        let lengths = segment.get_fieldnorms_reader(field)?;
        let mean = (list.total_num_tokens() as f32 / all).max(1.0);
        for piece in pieces {
            let term = Term::from_field_text(field, piece);
            let Some(mut postings) = list.read_postings(&term, IndexRecordOption::WithFreqs)?
            else {
                continue;
            };
            let count = list.doc_freq(&term)? as f32;
            let rarity = ((all - count + 0.5).max(0.5) / (count + 0.5)).ln_1p();
            let mut doc = postings.doc();
            while doc != TERMINATED {
                let length = lengths.fieldnorm(doc) as f32 / mean;
                let frequency = postings.term_freq() as f32;
                let worth = frequency / (frequency + SATURATION * (1.0 - LENGTH + LENGTH * length));
                *found.entry(DocAddress::new(ordinal, doc)).or_default() += WEIGHT * rarity * worth;
                doc = postings.advance();
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::topics;
    use super::super::words::Splitter;
    use super::*;

    const FILE: &str = "[[topic]]\nname = \"Temperature\"\npaths = [\"docs/temp\"]\n\
                        asked = \"thermometer, how warm is it\"\n\n[[topic]]\nname = \"Sleep\"\n\
                        paths = [\"docs/sleep\"]\nasked = \"wakeup by a timer, doze\"\n";

    fn best(question: &str) -> Option<String> {
        let mut index = PassageIndex::in_memory().unwrap();
        topics::fill(&mut index, [("topics.toml", FILE)]).unwrap();
        let pieces = Splitter::default().pieces(question).into_iter().collect();
        let all = scores(&index, &pieces).unwrap();
        let (address, _) = all.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(index.passage(address).unwrap().title)
    }

    #[test]
    fn words_that_are_built_otherwise_meet_in_their_pieces() {
        for question in ["thermometres", "Temperaturfühler", "is it warmer"] {
            assert_eq!(best(question).as_deref(), Some("Temperature"), "{question}");
        }
        for question in ["wakeups", "waking up by timers", "dozing"] {
            assert_eq!(best(question).as_deref(), Some("Sleep"), "{question}");
        }
        assert_eq!(best("zebra"), None);
        assert_eq!(best(""), None);
    }
}
