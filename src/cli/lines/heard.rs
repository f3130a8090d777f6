//! What a typed line asks for, and whether it may decide.
//!
//! Owns the guards of the line mode. A decision names the proposal it is about, comes a moment
//! after that proposal was printed, and comes alone: lines that follow each other at once were
//! pasted.

use std::time::{Duration, Instant};

/// For this long after a proposal was printed, no line decides on it.
pub const DEAD_TIME: Duration = Duration::from_millis(300);

/// Lines closer together than this were not typed one after the other.
pub const BURST: Duration = Duration::from_millis(60);

/// What a line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// Approve the proposal of that number.
    Approve(u32),
    /// Reject it, with these words.
    Reject(u32, String),
    /// Print what waits once more.
    Show,
    /// Tell the team.
    Say(String),
    /// Answer the question.
    Answer(String),
    /// Hold the run.
    Pause,
    /// Let it go on.
    Resume,
    /// End it in order.
    Stop,
    /// Leave it as it stands.
    Quit,
    /// Say what can be typed.
    Help,
    /// Nothing was typed.
    Nothing,
    /// It cannot be understood; the text says why.
    Unclear(String),
}

impl Wish {
    /// Reads a line.
    #[must_use]
    pub fn parse(line: &str) -> Self {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let (number, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let number = number.trim_start_matches('#').parse::<u32>().ok();
        match (word.to_lowercase().as_str(), number) {
            ("", _) => Self::Nothing,
            ("approve", Some(number)) if words.trim().is_empty() => Self::Approve(number),
            ("approve", _) => Self::Unclear(
                "name what you approve by its number, and nothing else: approve 3".to_owned(),
            ),
            ("reject", Some(number)) => Self::Reject(number, words.trim().to_owned()),
            ("reject", None) => {
                Self::Unclear("name what you reject by its number: reject 3 REASON".to_owned())
            }
            ("say", _) if !rest.is_empty() => Self::Say(rest.to_owned()),
            ("answer", _) if !rest.is_empty() => Self::Answer(rest.to_owned()),
            ("say" | "answer", _) => Self::Unclear(format!("there are no words after `{word}`")),
            ("show", _) => Self::Show,
            ("pause", _) => Self::Pause,
            ("resume", _) => Self::Resume,
            ("stop", _) => Self::Stop,
            ("quit" | "exit", _) => Self::Quit,
            ("help" | "?", _) => Self::Help,
            _ => Self::Unclear(format!("`{word}` is no command; `help` lists them all")),
        }
    }

    /// Whether it decides something for good.
    #[must_use]
    pub const fn is_decision(&self) -> bool {
        matches!(self, Self::Approve(_) | Self::Reject(..) | Self::Answer(_))
    }
}

/// How a line came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// By itself.
    Alone,
    /// With others at once.
    InBurst,
}

/// Whether a line that came at `at` may decide on what was printed at `shown`.
///
/// # Errors
/// Why not, for the person.
pub fn may_decide(manner: Manner, at: Instant, shown: Option<Instant>) -> Result<(), &'static str> {
    match (manner, shown) {
        (Manner::InBurst, _) => {
            Err("not decided: several lines at once look like pasted text; type it again")
        }
        (_, Some(shown)) if at < shown + DEAD_TIME => Err(
            "not decided: this was typed before the proposal was there; read it, then type it again",
        ),
        (Manner::Alone, _) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_names_what_it_is_about() {
        assert_eq!(Wish::parse(" approve #3 "), Wish::Approve(3));
        assert_eq!(Wish::parse("REJECT 12 wrong file"), Wish::Reject(12, "wrong file".into()));
        assert_eq!(Wish::parse("reject 12"), Wish::Reject(12, String::new()));
        for unclear in [
            "approve",
            "approve it",
            "a",
            "y",
            "yes",
            "a 3",
            "approve 3 and 4",
            "reject",
            "say",
            "\u{1b}[200~approve 3",
        ] {
            assert!(matches!(Wish::parse(unclear), Wish::Unclear(_)), "{unclear}");
        }
        assert_eq!(Wish::parse("  "), Wish::Nothing);
        assert_eq!(Wish::parse("say approve 3"), Wish::Say("approve 3".into()));
    }

    #[test]
    fn what_was_typed_ahead_or_pasted_decides_nothing() {
        let shown = Instant::now();
        let after = |millis| shown + Duration::from_millis(millis);
        assert!(may_decide(Manner::Alone, after(299), Some(shown)).is_err());
        assert!(may_decide(Manner::Alone, after(300), Some(shown)).is_ok());
        assert!(may_decide(Manner::InBurst, after(5_000), Some(shown)).is_err());
    }
}
