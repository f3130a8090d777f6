//! Makes a file from some of the changes of a proposal.
//!
//! Owns the one way from "these lines are approved" to bytes, so that what a person is shown and
//! what is written come from the same code. Lines are never cut or recoded.

use std::collections::BTreeSet;

use super::align::byte_lines;
use super::diff::{FileDiff, LineKind};

/// Changed lines that are accepted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LineSelection {
    /// Lines of the old version that may go, by their numbers from 1.
    pub removed: BTreeSet<usize>,
    /// Lines of the new version that may come, by their numbers from 1.
    pub added: BTreeSet<usize>,
}

impl LineSelection {
    /// Every changed line of a comparison.
    #[must_use]
    pub fn all(diff: &FileDiff) -> Self {
        let mut all = Self::default();
        for line in diff.lines() {
            match (line.kind, line.old_no, line.new_no) {
                (LineKind::Removed, Some(old), _) => {
                    all.removed.insert(old);
                }
                (LineKind::Added, _, Some(new)) => {
                    all.added.insert(new);
                }
                _ => {}
            }
        }
        all
    }

    /// How many lines are accepted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.removed.len() + self.added.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty()
    }
}

/// Carries out the accepted changes only. `diff` is the comparison of `old` with `new`; with every
/// line accepted the result is `new`, with none it is `old`, byte by byte.
///
/// Where a line without a line end would no longer be the last one, it gets the file's line end.
#[must_use]
pub fn select(old: &[u8], new: &[u8], diff: &FileDiff, accepted: &LineSelection) -> Vec<u8> {
    let (old_lines, new_lines) = (byte_lines(old), byte_lines(new));
    let crlf = old_lines.iter().chain(&new_lines).any(|line| line.ends_with(b"\r\n"));
    let mut out = Joined { bytes: Vec::with_capacity(old.len().max(new.len())), crlf };
    let mut copied = 0;
    for hunk in &diff.hunks {
        // What lies between two hunks is in neither. Without old lines the start is the line
        // before.
        let start = hunk.old_start.saturating_sub(usize::from(hunk.old_len > 0));
        (copied..start).for_each(|between| out.push(old_lines.get(between)));
        copied = copied.max(start);
        for line in &hunk.lines {
            let goes = match (line.kind, line.new_no) {
                (LineKind::Added, Some(number)) => {
                    if accepted.added.contains(&number) {
                        out.push(new_lines.get(number.saturating_sub(1)));
                    }
                    continue;
                }
                (LineKind::Removed, _) => accepted.removed.contains(&(copied + 1)),
                (LineKind::Context | LineKind::Added, _) => false,
            };
            if !goes {
                out.push(old_lines.get(copied));
            }
            copied += 1;
        }
    }
    for rest in copied..old_lines.len() {
        out.push(old_lines.get(rest));
    }
    out.bytes
}

struct Joined {
    bytes: Vec<u8>,
    crlf: bool,
}

impl Joined {
    fn push(&mut self, line: Option<&&[u8]>) {
        let Some(line) = line else { return };
        if self.bytes.last().is_some_and(|last| *last != b'\n') {
            self.bytes.extend_from_slice(if self.crlf { b"\r\n" } else { b"\n" });
        }
        self.bytes.extend_from_slice(line);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::diff::{Options, diff};
    use super::*;

    fn chosen(old: &str, new: &str, removed: &[usize], added: &[usize]) -> String {
        let diff = diff(old.as_bytes(), new.as_bytes(), Options::default());
        let (removed, added) = (removed.iter().copied().collect(), added.iter().copied().collect());
        let bytes =
            select(old.as_bytes(), new.as_bytes(), &diff, &LineSelection { removed, added });
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn single_lines_are_taken_and_the_others_stay() {
        let (old, new) = ("a\nb\nc\nd\n", "a\nB\nc\nD\ne\n");
        assert_eq!(chosen(old, new, &[2], &[2]), "a\nB\nc\nd\n");
        assert_eq!(chosen(old, new, &[], &[5]), "a\nb\nc\nd\ne\n");
        assert_eq!(chosen(old, new, &[4], &[]), "a\nb\nc\n");
    }

    #[test]
    fn changes_far_apart_keep_what_lies_between() {
        let old: String = (0..40).map(|n| format!("line {n}\n")).collect();
        let new = old.replace("line 3\n", "three\n").replace("line 30\n", "thirty\n");
        let kept = old.replace("line 30\n", "thirty\n");
        assert_eq!(chosen(&old, &new, &[31], &[31]), kept);
    }

    #[test]
    fn lines_never_run_into_each_other_at_the_end_of_the_file() {
        assert_eq!(chosen("a", "a\nb\n", &[], &[2]), "a\nb\n");
        assert_eq!(chosen("x\r\na", "x\r\na\r\nb", &[], &[3]), "x\r\na\r\nb");
    }

    fn text() -> impl Strategy<Value = Vec<u8>> {
        let line = prop_oneof!["[abc]{0,2}\n", "[abc]{0,2}\r\n", Just("\u{feff}ü\n".to_owned())];
        (proptest::collection::vec(line, 0..14), "[ab]{0,2}", any::<bool>()).prop_map(
            |(lines, last, odd)| {
                let mut bytes = (lines.concat() + &last).into_bytes();
                if odd {
                    bytes.extend_from_slice(b"\xff\n\x00");
                }
                bytes
            },
        )
    }

    proptest! {
        #[test]
        fn all_is_the_proposal_and_none_is_the_file(old in text(), new in text(), context in 0usize..4) {
            let options = Options { context, ..Options::default() };
            let diff = diff(&old, &new, options);
            prop_assert_eq!(select(&old, &new, &diff, &LineSelection::all(&diff)), new.clone());
            prop_assert_eq!(select(&old, &new, &diff, &LineSelection::default()), old);
        }

        #[test]
        fn any_choice_has_the_accepted_lines_and_not_the_others(
            old in text(), new in text(), coins in proptest::collection::vec(any::<bool>(), 64),
        ) {
            let diff = diff(&old, &new, Options::default());
            let mut coins = coins.into_iter().cycle();
            let mut some = LineSelection::all(&diff);
            some.removed.retain(|_| coins.next().unwrap());
            some.added.retain(|_| coins.next().unwrap());
            let out = select(&old, &new, &diff, &some);
            let count = |bytes: &[u8]| bytes.split_inclusive(|&b| b == b'\n').count();
            prop_assert_eq!(count(&out), count(&old) - some.removed.len() + some.added.len());
        }
    }
}
