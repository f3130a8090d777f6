//! What kind of work a request asks for, as far as its words tell.
//!
//! Only what is plain counts: whatever is not told from the words is work on the project, so that a wish
//! is never taken for a question. Must not know teams.

use std::sync::LazyLock;

use regex::Regex;

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

/// A sentence that asks, with or without its mark.
static ASKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let verb = "is|are|was|were|does|do|did|can|could|should|would|will|has|have|happens|means";
    let pattern = format!(
        r"^(?:(?:what|who|which|where|when)(?: (?:{verb})|'s|’s)|how (?:{verb}|to|many|much|long|often|fast|big|far)|why|what's|how's|where's|explain|describe)\b"
    );
    Regex::new(&pattern).ok()
});

/// How a sentence with a question mark begins that asks.
static ASKS_WITH_MARK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^(?:what|who|whose|which|where|when|how|why|is|are|was|were|does|do|did|has|have)\b",
    )
    .ok()
});

/// What makes a wish of a question, or has it end in the project.
static WISHES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\b(?:can|could|would|will) (?:you|we)\b|\bplease\b|^(?:how|what) about\b|^what if\b|^why (?:not|don't|do you not)\b|\b(?:readme|comments?|documents?|docs|files?)\b",
    )
    .ok()
});

/// What may stand before a question.
static BEFORE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(?:(?:and|but|so|then|ok|okay|well|also)\b[ ,]*)+").ok());

/// Words of the longest question that has no verb, such as `And SPI?`.
const BARE: usize = 4;

/// How such a wish begins.
const POLITE: [&str; 6] = ["can", "could", "would", "will", "shall", "should"];

/// What is said of a build that fails, and of one that is to be brought back.
static BROKEN_BUILD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let build = "(?:build|compilation|compiler|linker|compile|linking|compiling)";
    let bad = "(?:broken|failing|fails|failed|fail|red)";
    let cannot = "(?:does not|doesn't|doesn’t|won't|won’t|will not|cannot|can't|can’t|can not|no longer|fails? to|failed to|unable to)";
    let pattern = [
        format!(r"\b{build} (?:is |was |has |keeps |still |now |always )*{bad}\b"),
        format!(r"\b(?:broken|failing|failed) {build}\b"),
        format!(r"\b{cannot} (?:be )?(?:build|built|compile|compiled|link|linked)s?\b"),
        format!(r"\b{build} (?:errors?|failures?)(?:$|[.,;:!?]| (?:in|of|from|at|on|when|since|after|again|please|and)\b)"),
        r"\b(?:fix|repair|restore|correct) (?:the |my |this )?build\b".to_owned(),
    ]
    .join("|");
    Regex::new(&pattern).ok()
});

fn fits(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

impl Wanted {
    /// Reads a request.
    #[must_use]
    pub fn of(task: &str) -> Self {
        let lower = task.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let is_end = |c: char| matches!(c, '.' | '?' | '!' | ';');
        let has_words = |sentence: &&str| sentence.chars().any(char::is_alphanumeric);
        let mut sentences = lower.split_inclusive(is_end).map(str::trim).filter(has_words);
        let is_answer = sentences.next().is_some_and(is_question) && sentences.all(is_question);
        match is_answer {
            true => Self::Answer,
            false if fits(&BROKEN_BUILD, &lower) => Self::Build,
            false => Self::Work,
        }
    }
}

fn is_question(sentence: &str) -> bool {
    let lead = BEFORE.as_ref().and_then(|before| before.find(sentence)).map_or(0, |it| it.end());
    let asked = sentence.get(lead..).unwrap_or_default();
    if fits(&WISHES, asked) {
        return false;
    }
    let is_marked = asked.ends_with('?');
    let first = asked.split_whitespace().next().unwrap_or_default();
    let is_bare = asked.split_whitespace().count() <= BARE && !POLITE.contains(&first);
    fits(&ASKS, asked) || is_marked && (fits(&ASKS_WITH_MARK, asked) || is_bare)
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
            "how many UARTs does the S3 have",
            "Which pins can wake it?",
            "What does error 0x105 mean",
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
            "Do a scan of the bus at start",
            "Have the LED blink twice",
            "When the button is pressed, toggle the LED",
            "When it is pressed, can you toggle the LED?",
            "What the user types is to be echoed",
            "Which sensor is read should be configurable",
            "Where possible, use const",
            "Explain the pins in the README",
            "How it works should stand in a comment",
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
            "there is a linker error in app_main",
            "Why? It no longer builds",
            "fix the build",
        ] {
            assert_eq!(Wanted::of(task), Wanted::Build, "{task}");
        }
        for task in [
            "Build a thermometer",
            "Link the button to the LED",
            "Blink an error code, and build it into the status line of the display on the wall",
            "Handle the error of i2c_master_probe",
            "Do not build yet, only change main.c",
            "Build an error page for the web server",
            "Add a link that fails over to the second access point",
            "Build the error handler",
        ] {
            assert_eq!(Wanted::of(task), Wanted::Work, "{task}");
        }
    }
}
