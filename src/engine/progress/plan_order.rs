//! Which steps of a plan a step waits for, read from its line.
//!
//! Owns the words for it. Must not know how far a step is.

use std::sync::LazyLock;

use regex::Regex;

/// Which steps a step waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum After {
    /// Its line does not say: all before it.
    AllBefore,
    /// These, counted from 0; none when it is empty.
    Steps(Vec<usize>),
}

impl After {
    /// The steps that the one at `own` waits for.
    pub fn steps(&self, own: usize) -> impl Iterator<Item = usize> {
        let (all, named) = match self {
            Self::AllBefore => (0..own, [].as_slice()),
            Self::Steps(named) => (0..0, named.as_slice()),
        };
        all.chain(named.iter().copied().filter(move |step| *step != own))
    }
}

/// `(after 1, 3)`, `(after step 2 and step 4)`, `(after nothing)`: in brackets, so that no word of a task
/// is taken for it.
static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)[(\[]\s*after:?\s+(nothing|none|no steps?|(?:(?:(?:steps?|items?|tasks?|and|#|&|,)\s*)*\d{1,4}\s*,?\s*)+)\s*[)\]]",
    )
    .ok()
});

/// Reads the line of a step; what it says last counts.
pub(super) fn read(task: &str) -> After {
    let Some(words) = WORDS.as_ref() else { return After::AllBefore };
    let Some(words) = words.captures_iter(task).last().and_then(|found| found.get(1)) else {
        return After::AllBefore;
    };
    let numbers = words.as_str().split(|c: char| !c.is_ascii_digit());
    let steps = numbers.filter_map(|number| number.parse::<usize>().ok()?.checked_sub(1));
    After::Steps(steps.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_in_brackets_say_what_a_step_waits_for() {
        let steps = |numbers: &[usize]| After::Steps(numbers.to_vec());
        for (task, after) in [
            ("The list in list.py (after 1)", steps(&[0])),
            ("The list (After: 1, 3).", steps(&[0, 2])),
            ("The list [after step 2 and step 4] in list.py", steps(&[1, 3])),
            ("The list (after steps 1,2, and 3)", steps(&[0, 1, 2])),
            ("The list (after nothing)", steps(&[])),
            ("The list (after none)", steps(&[])),
            ("It blinks (after 1 second)", After::AllBefore),
            ("It blinks after 1", After::AllBefore),
            ("It blinks (after the store is open)", After::AllBefore),
            ("The list (after 1) (after 2)", steps(&[1])),
            ("The list (after 0)", steps(&[])),
            ("", After::AllBefore),
        ] {
            assert_eq!(read(task), after, "{task}");
        }
        assert_eq!(steps(&[0, 2]).steps(2).collect::<Vec<_>>(), [0], "none waits for itself");
        assert_eq!(After::AllBefore.steps(2).collect::<Vec<_>>(), [0, 1]);
    }
}
