//! Which words differ between two versions of a line, and which changed lines belong together.
//!
//! Owns the word-level part of a diff. Must not know files or hunks.

use std::collections::HashMap;
use std::ops::Range;

use similar::{Algorithm, DiffOp};

use super::align::align;

/// Lines longer than this get no emphasis.
const MAX_LINE: usize = 2_000;
/// Blocks with more combinations of lines than this are paired by position.
const MAX_COMBINATIONS: usize = 4_096;
/// Percentage of a line that must be alike for it to be a version of another one.
const MIN_ALIKE: usize = 30;

/// Byte ranges of `old` and of `new` that the other one lacks; both empty when too little is
/// alike to be of help. Ranges are sorted and do not touch.
#[must_use]
pub fn emphasis(old: &str, new: &str) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    if old.len() > MAX_LINE || new.len() > MAX_LINE {
        return (Vec::new(), Vec::new());
    }
    let (old_words, new_words) = (split(old), split(new));
    let ops = align(Algorithm::Myers, &old_words, &new_words, None);
    let mut alike = 0;
    let (mut old_marks, mut new_marks) = (WordRanges::new(&old_words), WordRanges::new(&new_words));
    for op in ops {
        if let DiffOp::Equal { old_index, len, .. } = op {
            let same = old_words.get(old_index..old_index + len).unwrap_or_default();
            alike += same.iter().map(|word| weight(word)).sum::<usize>();
            old_marks.skip(op.old_range());
            new_marks.skip(op.new_range());
        } else {
            old_marks.add(op.old_range());
            new_marks.add(op.new_range());
        }
    }
    let whole = weight(old).max(weight(new));
    if alike * 100 < whole * MIN_ALIKE {
        return (Vec::new(), Vec::new());
    }
    (old_marks.ranges, new_marks.ranges)
}

/// Pairs removed with added lines that are versions of one another, in order; places in `old`
/// and in `new`.
#[must_use]
pub fn pair(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    if old.len() == new.len() || old.len() * new.len() > MAX_COMBINATIONS {
        return (0..old.len().min(new.len())).map(|at| (at, at)).collect();
    }
    let bags: Vec<_> = new.iter().map(|line| bag(line)).collect();
    let width = new.len() + 1;
    // best[i * width + j]: the most that lines from i and j on can have in common.
    let mut best = vec![0_usize; (old.len() + 1) * width];
    let mut alike = vec![0_usize; old.len() * new.len()];
    let get = |table: &[usize], at: usize| table.get(at).copied().unwrap_or(0);
    for (i, line) in old.iter().enumerate().rev() {
        let words = bag(line);
        for (j, other) in bags.iter().enumerate().rev() {
            let common = in_common(&words, other);
            let whole = weight(line).max(weight(new.get(j).copied().unwrap_or_default()));
            let common = if common * 100 >= whole * MIN_ALIKE { common } else { 0 };
            let paired = if common > 0 { common + get(&best, (i + 1) * width + j + 1) } else { 0 };
            let apart = get(&best, (i + 1) * width + j).max(get(&best, i * width + j + 1));
            if let Some(cell) = alike.get_mut(i * new.len() + j) {
                *cell = if paired > apart { common } else { 0 };
            }
            if let Some(cell) = best.get_mut(i * width + j) {
                *cell = paired.max(apart);
            }
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < old.len() && j < new.len() {
        if get(&alike, i * new.len() + j) > 0 {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if get(&best, (i + 1) * width + j) >= get(&best, i * width + j + 1) {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// Runs of word characters, runs of blanks, and single signs.
fn split(line: &str) -> Vec<&str> {
    let class = |c: char| match c {
        ' ' | '\t' => 0,
        '_' => 1,
        // Marks and joiners must stay with their letters.
        _ if c.is_alphanumeric() || !c.is_ascii() => 1,
        _ => 2,
    };
    let mut words = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, c) in line.char_indices() {
        let now = class(c);
        if last.is_some_and(|last| last != now || now == 2) {
            words.extend(line.get(start..at));
            start = at;
        }
        last = Some(now);
    }
    words.extend(line.get(start..).filter(|rest| !rest.is_empty()));
    words
}

/// Bytes that are not blank.
fn weight(text: &str) -> usize {
    text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count()
}

fn bag(line: &str) -> HashMap<&str, usize> {
    let mut bag = HashMap::new();
    for word in split(line).into_iter().filter(|word| !word.trim().is_empty()) {
        *bag.entry(word).or_insert(0) += 1;
    }
    bag
}

fn in_common(one: &HashMap<&str, usize>, other: &HashMap<&str, usize>) -> usize {
    one.iter().map(|(word, n)| word.len() * n.min(other.get(word).unwrap_or(&0))).sum()
}

/// Collects ranges of words as ranges of bytes.
struct WordRanges<'a> {
    words: &'a [&'a str],
    at: usize,
    ranges: Vec<Range<usize>>,
}

impl<'a> WordRanges<'a> {
    const fn new(words: &'a [&'a str]) -> Self {
        Self { words, at: 0, ranges: Vec::new() }
    }

    fn skip(&mut self, words: Range<usize>) -> Range<usize> {
        let start = self.at;
        self.at += self.words.get(words).unwrap_or_default().iter().map(|w| w.len()).sum::<usize>();
        start..self.at
    }

    fn add(&mut self, words: Range<usize>) {
        let range = self.skip(words);
        match self.ranges.last_mut() {
            _ if range.is_empty() => {}
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.ranges.push(range),
        }
    }
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "a list of one range is meant")]
mod tests {
    use super::*;

    #[test]
    fn emphasis_names_the_words_that_differ() {
        let (old, new) = emphasis("int rc = probe(bus);", "esp_err_t rc = probe(bus, addr);");
        assert_eq!(old, [0..3]);
        assert_eq!(new, [0..9, 24..30]);
        assert_eq!(emphasis("alpha beta", "x(1);"), (vec![], vec![]));
        assert_eq!(emphasis("  a();", "    a();"), (vec![0..2], vec![0..4]));
    }

    #[test]
    fn lines_pair_with_their_own_version() {
        let old = ["i2c_probe(bus, 0x3c);", "return 0;"];
        let new = ["/* look */", "i2c_probe(bus, addr);", "count++;", "return count;"];
        assert_eq!(pair(&old, &new), [(0, 1), (1, 3)]);
        assert_eq!(pair(&["a"], &["b"]), [(0, 0)]);
        assert_eq!(pair(&["abc def"], &["x", "y"]), []);
    }

    #[test]
    fn words_put_together_are_the_line() {
        let line = "\tfoo(é\u{301}x, \"漢字\") != 3;";
        assert_eq!(split(line).concat(), line);
    }
}
