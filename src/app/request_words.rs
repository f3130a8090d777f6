//! What kind of work a request asks for, as far as its words tell.
//!
//! Only what is plain counts: whatever is not told from the words is work on the project. Must not know
//! teams.

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// An answer; nothing is to change.
    Answer,
    /// A build that goes through again.
    Build,
    /// Anything else.
    Work,
}

/// How a question begins.
const QUESTIONS: [&str; 20] = [
    "how", "what", "why", "which", "where", "when", "who", "explain", "is", "are", "does", "do",
    "did", "was", "were", "has", "have", "what's", "how's", "where's",
];

/// How a wish begins that has the form of a question.
const WISHES: [&str; 8] = [
    "how about",
    "what about",
    "what if",
    "why not",
    "why don't",
    "why do you not",
    "do not",
    "have the",
];

/// What may stand before a question.
const BEFORE: [&str; 8] = ["and", "but", "so", "then", "ok", "okay", "well", "also"];

/// How a wish begins that is said politely.
const POLITE: [&str; 9] =
    ["can", "could", "would", "will", "shall", "should", "may", "please", "let"];

/// Words of the longest question that has no verb, such as `And SPI?`.
const BARE: usize = 4;

/// Words for a build.
const BUILD: [&str; 8] =
    ["build", "builds", "compile", "compiles", "compiling", "compilation", "link", "links"];

/// Words for one that fails.
const FAILS: [&str; 13] = [
    "broken", "fail", "fails", "failed", "failing", "failure", "error", "errors", "doesn't",
    "won't", "cannot", "can't", "not",
];

/// How far the two are apart at most, in words.
const NEAR: usize = 4;

impl Wanted {
    /// Reads a request.
    #[must_use]
    pub fn of(task: &str) -> Self {
        let lower = task.trim().to_lowercase();
        let is_end = |c: char| matches!(c, '.' | '?' | '!' | '\n' | ';');
        let mut sentences = lower.split_inclusive(is_end).map(str::trim).filter(|it| has_words(it));
        let is_answer = sentences.next().is_some_and(is_question) && sentences.all(is_question);
        if is_answer {
            return Self::Answer;
        }
        let mut clauses = lower.split(|c: char| is_end(c) || matches!(c, ',' | ':'));
        match clauses.any(is_failing_build) {
            true => Self::Build,
            false => Self::Work,
        }
    }
}

/// Whether a part of a sentence says of a build that it fails.
fn is_failing_build(clause: &str) -> bool {
    let words = clause.split(|c: char| !c.is_alphanumeric() && c != '\'');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let at = |known: &[&str]| words.iter().position(|word| known.contains(word));
    at(&BUILD).zip(at(&FAILS)).is_some_and(|(build, fails)| build.abs_diff(fails) <= NEAR)
}

fn has_words(sentence: &str) -> bool {
    sentence.chars().any(char::is_alphanumeric)
}

fn is_question(sentence: &str) -> bool {
    let words =
        sentence.split_whitespace().map(|it| it.trim_matches(|c: char| !c.is_alphanumeric()));
    let words: Vec<&str> = words.skip_while(|word| BEFORE.contains(word)).collect();
    let Some(first) = words.first() else { return false };
    if QUESTIONS.contains(first) {
        let joined = words.join(" ");
        return !WISHES.iter().any(|wish| joined.starts_with(wish));
    }
    sentence.ends_with('?') && words.len() <= BARE && !POLITE.contains(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_wants_an_answer_and_a_wish_in_the_form_of_one_does_not() {
        for task in [
            "How does the scan work?",
            "what is a pull-up",
            "Why is GPIO 12 a strapping pin? Which others are there?",
            "Explain the partition table.",
            "Does the ESP32-C3 have a DAC?",
            "And SPI?",
            "so, what is that?",
        ] {
            assert_eq!(Wanted::of(task), Wanted::Answer, "{task}");
        }
        for task in [
            "Can you add a button?",
            "Could you explain it, and rename the file?",
            "How about a second LED?",
            "And what about a second LED?",
            "Please blink twice?",
            "What if the sensor is missing? Handle that.",
            "How it blinks is wrong: twice as fast. Change it.",
            "Is the LED inverted? If so, correct it.",
            "Do not touch led.c; change the period",
            "Blink the LED",
            "",
            "?",
        ] {
            assert_eq!(Wanted::of(task), Wanted::Work, "{task}");
        }
    }

    #[test]
    fn a_build_that_fails_is_to_go_through_again() {
        for task in [
            "The build is broken, fix it",
            "It does not compile",
            "Fix the compile errors",
            "the project won't build any more",
            "main.c fails to compile",
        ] {
            assert_eq!(Wanted::of(task), Wanted::Build, "{task}");
        }
        for task in [
            "Build a thermometer",
            "Link the button to the LED",
            "Blink an error code, and build it into the status line of the display on the wall",
            "Handle the error of i2c_master_probe",
        ] {
            assert_eq!(Wanted::of(task), Wanted::Work, "{task}");
        }
    }
}
