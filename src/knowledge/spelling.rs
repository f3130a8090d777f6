//! Words of a question that no document has, and the words of the documents that were meant.
//!
//! Reads the terms of the indexes. Must not change a word that a document has.

use super::group::Origin;
use super::index::{PassageIndex, SYMBOLS, TEXT};
use super::query::{Corrections, Question};
use super::rank::Spread;

/// Least letters of a word that is corrected; shorter ones have too many neighbours.
const SHORTEST: usize = 5;
/// Letters from which on fewer passages have to have the word that was meant.
const MIDDLE: usize = 6;
/// Most letters of a word that is corrected; longer ones are data.
const LONGEST: usize = 64;
/// Letters from which on two of them may be wrong.
const LONG: usize = 8;
/// Least letters of each half of two words that were written as one.
const HALF: usize = 4;
/// One of so many passages must have a word that others are corrected to: a short word has rare
/// neighbours by chance.
const COMMON: u64 = 1_000;
const LESS_COMMON: u64 = 2_500;
const COMMON_ENOUGH: u64 = 5_000;
/// A long word that so few passages have may be misspelt there too,
const MISPRINTS: u64 = 3;
/// if so many times more have its neighbour.
const TIMES: u64 = 200;
/// Most words of one question that are looked up.
const MOST: usize = 8;

/// The corrections of a question.
///
/// # Errors
/// When an index cannot be read.
pub fn corrections(
    question: &Question,
    spread: &Spread,
    indexes: &[&PassageIndex],
) -> tantivy::Result<Corrections> {
    let unknown = question.groups.iter().enumerate().filter(|(number, group)| {
        let most = if group.words[0].0.chars().count() < LONG { 0 } else { MISPRINTS };
        let counts = spread.counts.get(*number).into_iter().flatten();
        group.origin == Origin::Written
            && counts.sum::<u64>() <= most
            && spread.asked & (1 << *number) == 0
            && !question.is_understood(*number)
    });
    let mut found = Corrections::new();
    for (number, group) in unknown.take(MOST) {
        let word = &group.words[0].0;
        let is_word = (SHORTEST..=LONGEST).contains(&word.chars().count());
        if !is_word || word.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        let count = spread.counts.get(number).map_or(0, |counts| counts.iter().sum());
        if let Some(near) = nearest(word, count, spread.passages, indexes)? {
            found.insert(word.clone(), vec![near]);
        } else if count > 0 {
            continue;
        } else if let Some((first, second)) = halves(word, spread.passages, indexes)? {
            found.insert(word.clone(), vec![first, second]);
        }
    }
    Ok(found)
}

/// The term that is nearest to a word, and of several the one that most passages have.
fn nearest(
    word: &str,
    count_of_word: u64,
    all: u64,
    indexes: &[&PassageIndex],
) -> tantivy::Result<Option<String>> {
    let first = word.chars().next().map_or(0, char::len_utf8);
    // Slips are rare where a word begins, and thousands of names begin alike.
    let Some(end_of_family) = word.find('_') else {
        return nearest_of(word, &word[..first], count_of_word, all, indexes);
    };
    let half = word.floor_char_boundary(word.len() / 2).max(first);
    let near = nearest_of(word, &word[..half], count_of_word, all, indexes)?;
    if near.is_some() || half <= end_of_family {
        return Ok(near);
    }
    nearest_of(word, &word[..=end_of_family], count_of_word, all, indexes)
}

/// The nearest of the terms that begin so.
fn nearest_of(
    word: &str,
    start: &str,
    count_of_word: u64,
    all: u64,
    indexes: &[&PassageIndex],
) -> tantivy::Result<Option<String>> {
    let is_name = word.contains('_');
    let length = word.chars().count();
    let most = if length < LONG || count_of_word > 0 { 1 } else { 2 };
    let least = match (is_name, length < LONG) {
        (true, _) => 1,
        (false, true) if length >= MIDDLE => (all / LESS_COMMON).max(2),
        (false, true) => (all / COMMON).max(2),
        (false, false) => (all / COMMON_ENOUGH).max(2),
    };
    let least = least.max(count_of_word * TIMES);
    let mut best: Option<(usize, u64, String)> = None;
    for index in indexes {
        let field = if is_name { SYMBOLS } else { TEXT };
        index.each_near_term(field, (word, most), start, |term, count| {
            if count < least || term.contains('_') != is_name {
                return;
            }
            // A number tells one chip or one pin from another.
            if term.bytes().filter(u8::is_ascii_digit).ne(word.bytes().filter(u8::is_ascii_digit)) {
                return;
            }
            let distance = strsim::osa_distance(word, term);
            let is_better = best.as_ref().is_none_or(|(known, counted, _)| {
                distance < *known || distance == *known && count > *counted
            });
            if distance <= usize::from(most) && is_better {
                best = Some((distance, count, term.to_owned()));
            }
        })?;
    }
    Ok(best.map(|(_, _, term)| term))
}

/// Two words that documents have, if they were written as one.
fn halves(
    word: &str,
    all: u64,
    indexes: &[&PassageIndex],
) -> tantivy::Result<Option<(String, String)>> {
    let least = (all / COMMON_ENOUGH).max(2);
    let mut best: Option<(u64, String, String)> = None;
    for (place, _) in word.char_indices().filter(|_| word.is_ascii()) {
        if place < HALF || word.len() - place < HALF {
            continue;
        }
        let (first, second) = word.split_at(place);
        let mut counts = [0, 0];
        for index in indexes {
            counts[0] += index.passages_with(first)?;
            counts[1] += index.passages_with(second)?;
        }
        let fewer = counts[0].min(counts[1]);
        if fewer >= least && best.as_ref().is_none_or(|(known, _, _)| fewer > *known) {
            best = Some((fewer, first.to_owned(), second.to_owned()));
        }
    }
    Ok(best.map(|(_, first, second)| (first, second)))
}
