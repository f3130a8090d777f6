//! What a typed answer to a question means: one of those offered, or words of the person's own.
//!
//! Answers are numbered from 1 in the order they are shown, everywhere.

use crate::engine::concern::{STOP, takes_model};
use crate::engine::progress::step::Words;

/// What was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TypedAnswer {
    /// One of the answers that were offered.
    Offered(String),
    /// Something else.
    Own,
}

/// Words that say no to a question that can only be answered with yes or no.
const NO: [&str; 2] = ["no", "n"];

impl TypedAnswer {
    /// Finds the answer that was meant; `words` tells who would get another one.
    pub fn of(typed: &str, options: &[String], words: Words) -> Self {
        let bare = typed.trim().trim_end_matches(['.', '!']).to_lowercase();
        let same = options.iter().find(|option| option.to_lowercase() == bare);
        let is_no = takes_model(options) && NO.contains(&bare.as_str());
        let is_stop = is_no || takes_model(options) && bare == STOP;
        let refused = options.last().filter(|_| words != Words::ToCall && is_stop);
        let found = same.or(refused).or_else(|| numbered(&bare, options, words));
        found.map_or(Self::Own, |option| Self::Offered(option.clone()))
    }
}

/// The answer of that number. A number that stands in an answer of an agent's question may just as
/// well be what was meant.
fn numbered<'a>(bare: &str, options: &'a [String], words: Words) -> Option<&'a String> {
    let number: usize = bare.trim_end_matches(')').parse().ok()?;
    let names_it = |option: &String| {
        option.split(|c: char| !c.is_alphanumeric()).any(|word| word.parse() == Ok(number))
    };
    if words == Words::ToCall && options.iter().any(names_it) {
        return None;
    }
    options.get(number.checked_sub(1)?)
}

/// How the answers are given.
pub(super) fn hint(options: &[String]) -> String {
    let all: Vec<String> = (1..)
        .zip(options)
        .map(|(number, option): (usize, _)| format!("{number} ({option})"))
        .collect();
    format!("Answer {}.", all.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_number_or_a_no_is_one_of_the_answers_and_other_words_are_none() {
        let limit = options(&["go on", "stop"]);
        let offered = |word: &str| TypedAnswer::Offered(word.to_owned());
        for (typed, meant) in [
            ("1", offered("go on")),
            ("Go on", offered("go on")),
            ("2", offered("stop")),
            ("2)", offered("stop")),
            ("Stop.", offered("stop")),
            ("no", offered("stop")),
            ("0", TypedAnswer::Own),
            ("3", TypedAnswer::Own),
            ("12", TypedAnswer::Own),
            ("maybe", TypedAnswer::Own),
            ("", TypedAnswer::Own),
        ] {
            assert_eq!(TypedAnswer::of(typed, &limit, Words::NotTaken), meant, "{typed}");
        }
        let attempts = options(&["go on", "end the run"]);
        assert_eq!(TypedAnswer::of("stop", &attempts, Words::NotTaken), offered("end the run"));
        assert_eq!(hint(&limit), "Answer 1 (go on) or 2 (stop).");
    }

    #[test]
    fn a_number_that_an_agent_offers_itself_is_left_to_the_agent() {
        let pins = options(&["GPIO 2", "GPIO 4"]);
        assert_eq!(TypedAnswer::of("2", &pins, Words::ToCall), TypedAnswer::Own);
        let levels = options(&["low", "high"]);
        let high = TypedAnswer::Offered("high".to_owned());
        assert_eq!(TypedAnswer::of("2", &levels, Words::ToCall), high);
        assert_eq!(TypedAnswer::of("no", &levels, Words::ToCall), TypedAnswer::Own);
    }
}
