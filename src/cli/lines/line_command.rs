//! What a typed line asks for, and whether it may decide.
//!
//! Owns the guards of the line mode. A decision names the proposal it is about, comes as long after
//! that was printed as a key on the full screen has to, and comes alone: lines that follow each
//! other at once were pasted.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::model::{AfterReject, AgentName, RuleSays};
use crate::ui::guard::SILENCE;

/// Lines closer together than this were not typed one after the other.
pub const BURST: Duration = Duration::from_millis(60);

/// What a decision on a proposal says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decide {
    /// Approve all of it.
    Approve,
    /// Approve all of it so although not every changed line was printed.
    Unseen(Box<Self>),
    /// Approve it although findings stand against it.
    Despite,
    /// Approve what has to be confirmed, by its phrase.
    Confirm(String),
    /// Approve the changed lines of these printed numbers only.
    Lines(BTreeSet<usize>),
    /// Approve the person's own version.
    Edited,
    /// Approve the person's own version although findings stand against it.
    EditedDespite,
    /// Approve the person's own version that has to be confirmed, by its phrase.
    EditedConfirm(String),
    /// Approve it and tell the agent something.
    Tell(String),
    /// Reject it with these words.
    Reject(String, AfterReject),
    /// Ask the agent; decides nothing.
    Ask(String),
}

/// What a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionScope {
    /// The file of the proposal.
    Path,
    /// The tool that proposes.
    Tool,
    /// The agent that proposes.
    Agent,
}

/// What a line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineCommand {
    /// Decide on the proposal of that number, or ask about it.
    Decide(u32, Decide),
    /// Keep words beside a changed line of it.
    Comment(u32, usize, String),
    /// Open it in the person's editor.
    Edit(u32),
    /// List what waits with it in the same batch.
    Rest(u32),
    /// Say the same to all that was listed; with lines that were not printed or without.
    DecideRest(u32, Decide),
    /// Take an applied change back.
    Undo(u32),
    /// List the rules of the session.
    Rules,
    /// Make a rule about proposals like that one.
    Rule(RuleSays, u32, DecisionScope),
    /// End a rule.
    Revoke(u32),
    /// Print what waits once more.
    Show,
    /// Tell the team.
    Say(String),
    /// Begin the next run of the session.
    Task(String),
    /// Let this agent speak next.
    Next(AgentName),
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

impl LineCommand {
    /// Reads a line.
    #[must_use]
    pub fn parse(line: &str) -> Self {
        let line = line.trim();
        let (word, rest) = first_word(line);
        let word = word.to_lowercase();
        let (number, words) = first_word(rest);
        match number.trim_start_matches('#').parse::<u32>() {
            Ok(number) => Self::about(&word, number, words),
            Err(_) => Self::alone(&word, rest),
        }
        .unwrap_or_else(|| match HOW.iter().find(|(name, _)| *name == word) {
            Some((_, how)) => Self::Unclear((*how).to_owned()),
            None if Self::about(&word, 1, "words")
                .or_else(|| Self::about(&word, 1, ""))
                .is_some() =>
            {
                Self::Unclear(format!("`{word}` needs the number of a proposal: `{word} 1`"))
            }
            None => Self::Unclear(format!("`{word}` is not a command; `help` lists all commands")),
        })
    }

    /// A command that names a number.
    fn about(word: &str, number: u32, words: &str) -> Option<Self> {
        let own = || words.to_owned();
        let has_words = !words.is_empty();
        Some(match word {
            "approve" => Self::Decide(number, approval(words)?),
            "tell" if has_words => Self::Decide(number, Decide::Tell(own())),
            "reject" => Self::Decide(number, Decide::Reject(own(), AfterReject::GoOn)),
            "reject-stop" => Self::Decide(number, Decide::Reject(own(), AfterReject::Stop)),
            "ask" if has_words => Self::Decide(number, Decide::Ask(own())),
            "comment" => {
                let (line, words) = first_word(words);
                Self::Comment(number, line.parse().ok()?, words.to_owned())
            }
            "edit" if !has_words => Self::Edit(number),
            "rest" if !has_words => Self::Rest(number),
            "approve-rest" if !has_words => Self::DecideRest(number, Decide::Approve),
            "approve-rest" if words == "unseen" => {
                Self::DecideRest(number, Decide::Unseen(Box::new(Decide::Approve)))
            }
            "reject-rest" => Self::DecideRest(number, Decide::Reject(own(), AfterReject::GoOn)),
            "undo" if !has_words => Self::Undo(number),
            "always" => Self::Rule(RuleSays::Always, number, scope(words)?),
            "never" => Self::Rule(RuleSays::Never, number, scope(words)?),
            "revoke" if !has_words => Self::Revoke(number),
            "say" | "answer" | "task" => return Self::alone(word, &format!("{number} {words}")),
            _ => return None,
        })
    }

    /// A command that names none.
    fn alone(word: &str, rest: &str) -> Option<Self> {
        Some(match word {
            "" => Self::Nothing,
            "task" if !rest.is_empty() => Self::Task(rest.trim().to_owned()),
            "say" if !rest.is_empty() => Self::Say(rest.trim().to_owned()),
            "answer" if !rest.is_empty() => Self::Answer(rest.trim().to_owned()),
            "next" if !rest.is_empty() && !rest.contains(char::is_whitespace) => {
                Self::Next(AgentName::from(rest.trim_start_matches('@')))
            }
            "rules" => Self::Rules,
            "show" => Self::Show,
            "pause" => Self::Pause,
            "resume" => Self::Resume,
            "stop" => Self::Stop,
            "quit" | "exit" => Self::Quit,
            "help" | "?" => Self::Help,
            _ => return None,
        })
    }

    /// What it decides for good; none: nothing.
    #[must_use]
    pub const fn decides(&self) -> Option<About> {
        match self {
            Self::Decide(_, Decide::Ask(_)) => None,
            Self::Decide(..) | Self::Rule(..) => Some(About::Proposal),
            Self::DecideRest(..) => Some(About::Batch),
            Self::Answer(_) => Some(About::Question),
            Self::Undo(_) => Some(About::Past),
            Self::Comment(..)
            | Self::Edit(_)
            | Self::Rest(_)
            | Self::Rules
            | Self::Revoke(_)
            | Self::Show
            | Self::Say(_)
            | Self::Task(_)
            | Self::Next(_)
            | Self::Pause
            | Self::Resume
            | Self::Stop
            | Self::Quit
            | Self::Help
            | Self::Nothing
            | Self::Unclear(_) => None,
        }
    }
}

/// What a line decides about: it must have been read before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// The proposal that waits.
    Proposal,
    /// What `rest` has listed.
    Batch,
    /// The question that waits.
    Question,
    /// What was decided before; nothing that is printed meanwhile changes it.
    Past,
}

/// How the commands are typed that need more than their name.
const HOW: [(&str, &str); 16] = [
    (
        "approve",
        "give the number of the proposal, then what is asked for: `lines 1-3,5`, `edited`, `unseen`, `despite` or a phrase: approve 3",
    ),
    ("tell", "give the number of the proposal, then your message: tell 3 WORDS"),
    ("reject", "give the number of the proposal: reject 3 REASON"),
    ("reject-stop", "give the number of the proposal: reject-stop 3 REASON"),
    ("ask", "give the number of the proposal, then your question: ask 3 WORDS"),
    ("comment", "give the number of the proposal and the number of the line: comment 3 2 WORDS"),
    ("edit", "give the number of the proposal: edit 3"),
    ("rest", "give the number of the proposal: rest 3"),
    ("undo", "give the number of the applied proposal: undo 3"),
    ("always", "give the number of the proposal, then path, tool or agent: always 3 path"),
    ("never", "give the number of the proposal, then path, tool or agent: never 3 path"),
    ("revoke", "give the number of the rule: revoke 1"),
    ("say", "text is missing after `say`"),
    ("task", "the task is missing after `task`"),
    ("answer", "the answer is missing after `answer`"),
    ("next", "name one agent of the team: next AGENT"),
];

/// What can be typed.
pub const HELP: &str = include_str!("../../../assets/help/line-mode.md");

fn first_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim())
}

/// What follows `approve NUMBER`.
fn approval(words: &str) -> Option<Decide> {
    Some(match first_word(words) {
        ("", _) => Decide::Approve,
        ("unseen", rest) => match approval(rest)? {
            how @ (Decide::Approve | Decide::Despite | Decide::Confirm(_)) => {
                Decide::Unseen(Box::new(how))
            }
            _ => return None,
        },
        ("despite", "") => Decide::Despite,
        ("edited", "") => Decide::Edited,
        ("edited", "despite") => Decide::EditedDespite,
        ("edited", words) if is_phrase(words) => Decide::EditedConfirm(words.to_owned()),
        ("lines" | "line", list) => Decide::Lines(numbers(list)?),
        _ if is_phrase(words) => Decide::Confirm(words.to_owned()),
        _ => return None,
    })
}

/// Whether these words begin like a phrase that confirms something.
fn is_phrase(words: &str) -> bool {
    ["flash", "erase", "edit", "burn", "encrypt"].contains(&first_word(words).0)
}

/// `1-3,5`; at most a million numbers.
fn numbers(list: &str) -> Option<BTreeSet<usize>> {
    let mut found = BTreeSet::new();
    for part in list.split([',', ' ']).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if first == 0 || last < first || last - first > 1_000_000 {
            return None;
        }
        found.extend(first..=last);
    }
    (!found.is_empty()).then_some(found)
}

fn scope(word: &str) -> Option<DecisionScope> {
    Some(match word {
        "path" | "file" => DecisionScope::Path,
        "tool" => DecisionScope::Tool,
        "agent" => DecisionScope::Agent,
        _ => return None,
    })
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
        (_, Some(shown)) if at < shown + SILENCE => Err(
            "not decided: this was typed before the proposal was printed; read it, then type it again",
        ),
        (Manner::Alone, _) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_without_its_number_says_which_one_it_needs() {
        for word in ["approve-rest", "comment", "undo"] {
            let LineCommand::Unclear(why) = LineCommand::parse(word) else { panic!("{word}") };
            assert!(!why.contains("is not a command") && why.contains(word), "{why}");
        }
        let LineCommand::Unclear(why) = LineCommand::parse("bless 1") else { panic!("no") };
        assert!(why.contains("is not a command"), "{why}");
    }

    #[test]
    fn a_decision_names_what_it_is_about() {
        let decide = |number, what| LineCommand::Decide(number, what);
        let reject = |words: &str| Decide::Reject(words.into(), AfterReject::GoOn);
        assert_eq!(LineCommand::parse(" approve #3 "), decide(3, Decide::Approve));
        assert_eq!(LineCommand::parse("REJECT 12 wrong file"), decide(12, reject("wrong file")));
        assert_eq!(LineCommand::parse("reject 12"), decide(12, reject("")));
        let lines = Decide::Lines([1, 2, 3, 7].into());
        assert_eq!(LineCommand::parse("approve 3 lines 1-3, 7"), decide(3, lines));
        assert_eq!(
            LineCommand::parse("approve 3 unseen"),
            decide(3, Decide::Unseen(Box::new(Decide::Approve)))
        );
        assert_eq!(LineCommand::parse("approve 3 despite"), decide(3, Decide::Despite));
        assert_eq!(LineCommand::parse("approve 3 edited"), decide(3, Decide::Edited));
        assert_eq!(
            LineCommand::parse("approve 3 edited despite"),
            decide(3, Decide::EditedDespite)
        );
        assert_eq!(LineCommand::parse("tell 3 keep it"), decide(3, Decide::Tell("keep it".into())));
    }

    #[test]
    fn a_phrase_is_typed_behind_the_number() {
        let decide = |what| LineCommand::Decide(3, what);
        for phrase in [
            "flash esp32 boot",
            "erase esp32 nvs",
            "edit esp32 nvs",
            "burn esp32 efuses",
            "burn efuses",
            "encrypt esp32s3 flash",
        ] {
            let line = format!("approve 3 {phrase}");
            assert_eq!(LineCommand::parse(&line), decide(Decide::Confirm(phrase.into())));
            let line = format!("approve 3 edited {phrase}");
            assert_eq!(LineCommand::parse(&line), decide(Decide::EditedConfirm(phrase.into())));
        }
    }

    #[test]
    fn comments_rules_and_answers_are_told_from_what_is_unclear() {
        assert_eq!(
            LineCommand::parse("comment 3 2 why?"),
            LineCommand::Comment(3, 2, "why?".into())
        );
        assert_eq!(
            LineCommand::parse("never 3 path"),
            LineCommand::Rule(RuleSays::Never, 3, DecisionScope::Path)
        );
        assert_eq!(LineCommand::parse("answer 2"), LineCommand::Answer("2".into()));
        for unclear in [
            "approve",
            "approve it",
            "a",
            "y",
            "yes",
            "a 3",
            "approve 3 and 4",
            "approve 3 lines",
            "approve 3 lines 0",
            "approve 3 lines 5-2",
            "approve 3 unseen now",
            "approve 3 edited now",
            "always 3",
            "comment 3 why",
            "tell 3",
            "reject",
            "say",
            "next",
            "next 3",
            "next one two",
            "\u{1b}[200~approve 3",
        ] {
            assert!(matches!(LineCommand::parse(unclear), LineCommand::Unclear(_)), "{unclear}");
        }
        assert_eq!(LineCommand::parse("  "), LineCommand::Nothing);
        for line in ["next BuildAgent", "NEXT  @BuildAgent "] {
            assert_eq!(LineCommand::parse(line), LineCommand::Next("BuildAgent".into()));
        }
        assert_eq!(LineCommand::parse("say approve 3"), LineCommand::Say("approve 3".into()));
    }

    #[test]
    fn a_line_has_to_follow_what_it_decides_about_and_nothing_else() {
        let about = |line| LineCommand::parse(line).decides();
        assert_eq!(about("approve 3"), Some(About::Proposal));
        assert_eq!(about("approve-rest 3"), Some(About::Batch));
        assert_eq!(about("answer 1"), Some(About::Question));
        assert_eq!(about("undo 3"), Some(About::Past));
        assert_eq!((about("ask 3 why"), about("rest 3"), about("stop")), (None, None, None));
        assert!(may_decide(Manner::Alone, Instant::now(), None).is_ok());
        assert!(may_decide(Manner::InBurst, Instant::now(), None).is_err());
    }

    #[test]
    fn what_was_typed_ahead_or_pasted_decides_nothing() {
        let shown = Instant::now();
        let after = |millis| shown + Duration::from_millis(millis);
        assert!(may_decide(Manner::Alone, after(399), Some(shown)).is_err());
        assert!(may_decide(Manner::Alone, after(400), Some(shown)).is_ok());
        assert!(may_decide(Manner::InBurst, after(5_000), Some(shown)).is_err());
    }
}
