//! What a question asks for: its words with those that mean the same, its form, its filters.
//!
//! Pure. Must not know how passages are stored.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use super::chips::ChipSet;
use super::group::{Group, Origin};
use super::index::PassageFacts;
use super::known_words::KNOWN;
use super::passage::PassageKind;
use super::synonyms::{Synonyms, names_this_platform};
use super::words::{Splitter, Word, WordRole};
use crate::text::sanitize;

/// Most groups of words of one question: one bit each.
const MOST_GROUPS: usize = 48;
/// Stems of words that say that something is an error.
const MESSAGE_WORDS: [&str; 5] = ["fatal", "error", "occur", "warn", "except"];
/// What a bare number counts for, and a word that any question may have.
const NUMBER: f32 = 0.5;
const LIGHT: f32 = 0.6;
/// Hexadecimal digits from which on a number is an address, not a code.
const ADDRESS_DIGITS: usize = 5;
/// How the names of sources end.
const SOURCES: [&str; 5] = [".c", ".h", ".cpp", ".cc", ".hpp"];
/// Words of a part of a question that is searched by itself, and most of such parts.
const LEAST_PART_WORDS: usize = 4;
const MOST_PARTS: usize = 4;
/// Most bytes of a question that are looked at.
const MOST_BYTES: usize = 4_000;

/// What was written, as it is searched, and what is searched for it.
pub type Corrections = HashMap<String, Vec<String>>;

/// What sort of question it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The name of something that is declared.
    Symbol,
    /// The name of an option.
    Option,
    /// What a compiler or a board said.
    Error,
    /// It asks for an example.
    Example,
    Plain,
}

impl Form {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Symbol => "a symbol",
            Self::Option => "an option",
            Self::Error => "an error",
            Self::Example => "an example",
            Self::Plain => "a question",
        }
    }
}

/// A question as it is searched.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    pub groups: Vec<Group>,
    /// Pieces of the words that were written, as [`Splitter::pieces`], each once.
    pub pieces: BTreeSet<String>,
    /// Numbers of the groups whose word is one of another field.
    pub foreign: Vec<usize>,
    /// One bit for each group whose word is the name of another platform.
    pub platforms: u64,
    pub form: Form,
    /// Whether it is about the way from one version to another.
    pub asks_migration: bool,
    /// Whether it names this platform.
    pub names_this: bool,
    /// Whether it is about another platform, as [`is_elsewhere`].
    pub is_elsewhere: bool,
}

/// What results must be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// One of these kinds; any when empty.
    pub kinds: Vec<PassageKind>,
    /// For this chip, or for all.
    pub chip: Option<ChipSet>,
    /// In this component of the framework.
    pub component: Option<String>,
    /// In the corpus of this name.
    pub corpus: Option<String>,
    /// Of a version that begins so.
    pub version: Option<String>,
}

impl Filter {
    /// Kinds of the person's own work that are asked for; those are never searched unasked.
    #[must_use]
    pub fn own_kinds(&self) -> Vec<PassageKind> {
        self.kinds.iter().copied().filter(|kind| PassageKind::OWN.contains(kind)).collect()
    }

    /// The same filter for kinds of documents alone; `None` when it asks for none.
    #[must_use]
    pub fn of_documents(&self) -> Option<Self> {
        let mut documents = self.clone();
        documents.kinds.retain(|kind| !PassageKind::OWN.contains(kind));
        let asks_own_only = documents.kinds.is_empty() && !self.kinds.is_empty();
        (!asks_own_only).then_some(documents)
    }

    /// Whether a passage with these facts may be a result.
    #[must_use]
    pub fn takes(&self, facts: PassageFacts) -> bool {
        (self.kinds.is_empty() || self.kinds.contains(&facts.kind))
            && self.chip.is_none_or(|chip| !facts.chips.and(chip).is_empty())
    }
}

impl Question {
    /// Reads a question; corrected words take the place of what was written.
    #[must_use]
    pub fn read(
        text: &str,
        words: &mut Splitter,
        synonyms: &Synonyms,
        corrections: &Corrections,
    ) -> Self {
        // A pasted line of a monitor has its colours with it.
        let text = sanitize::strip_sequences(&text[..text.floor_char_boundary(MOST_BYTES)]);
        let text = without_log_prefix(&text);
        let text = &without_line_numbers(&without_form(text));
        let form = form_of(text);
        let pieces = words.pieces(text).into_iter().collect();
        let written = words.words(text).into_iter().flat_map(|word| corrected(word, corrections));
        let mut groups: Vec<Group> = Vec::new();
        let mut places: Vec<(String, Option<usize>)> = Vec::new();
        for Word { text: word, role } in written {
            if groups.len() >= MOST_GROUPS / 2 {
                break;
            }
            if role == WordRole::Silent || is_address(&word) {
                places.push((word, None));
                continue;
            }
            let known = groups.iter().position(|group| group.words[0].0 == word);
            if role == WordRole::Plain || role == WordRole::Joined {
                places.push((word.clone(), Some(known.unwrap_or(groups.len()))));
            }
            if known.is_some() {
                continue;
            }
            let (weight, origin) = match role {
                // Each message has such words, whatever it is about.
                WordRole::Plain
                    if form == Form::Error && MESSAGE_WORDS.contains(&word.as_str()) =>
                {
                    (0.4, Origin::Written)
                }
                WordRole::Plain if is_number(&word) => (NUMBER, Origin::Written),
                WordRole::Plain if synonyms.is_light(&word) => (LIGHT, Origin::Written),
                WordRole::Plain => (1.0, Origin::Written),
                WordRole::Identifier => (1.6, Origin::Written),
                WordRole::Part => (0.45, Origin::Part),
                WordRole::Joined | WordRole::Silent => (0.9, Origin::Part),
            };
            groups.push(Group { words: vec![(word, 1.0)], weight, origin });
        }
        let is_foreign = |(number, group): (usize, &Group)| {
            synonyms.is_foreign(&group.words[0].0).then_some(number)
        };
        let foreign = groups.iter().enumerate().filter_map(is_foreign).collect();
        let named = groups.iter().enumerate();
        let named = named.filter(|(_, group)| synonyms.is_platform(&group.words[0].0));
        let platforms = named.fold(0, |bits, (number, _)| bits | 1 << number);
        synonyms.extend(&mut groups, &places, MOST_GROUPS);
        let asks_migration = asks_migration(text);
        let names_this = names_this_platform(text);
        let is_elsewhere = is_elsewhere(text, synonyms);
        Self { groups, pieces, foreign, platforms, form, asks_migration, names_this, is_elsewhere }
    }
}

/// Whether a question is about the way from one version to another.
fn asks_migration(text: &str) -> bool {
    let text = text.to_lowercase();
    KNOWN.migration.iter().any(|word| text.contains(word.as_str()))
}

/// Whether a question is about another platform. A name alone is looked up whatever it is: some are
/// here too.
#[must_use]
pub fn is_elsewhere(text: &str, synonyms: &Synonyms) -> bool {
    form_of(text) != Form::Symbol && synonyms.is_of_other_platform(text)
}

/// Sentences and lines of a long question, those that ask or tell an error first: what is around them
/// may be a story, or the names of somebody's files. None of a question of one sentence.
#[must_use]
pub fn parts(text: &str) -> Vec<&str> {
    let text = &text[..text.floor_char_boundary(MOST_BYTES)];
    let lines = text.lines().flat_map(|line| {
        let ends = line.match_indices(['.', '?', '!']).map(|(at, _)| at + 1);
        let is_end = |at: &usize| line[*at..].starts_with(' ') || line[*at..].is_empty();
        let mut from = 0;
        let ends: Vec<usize> = ends.filter(is_end).chain([line.len()]).collect();
        ends.into_iter().map(move |end| line[std::mem::replace(&mut from, end)..end].trim())
    });
    let has_words = |part: &&str| part.split_whitespace().count() >= LEAST_PART_WORDS;
    let mut parts: Vec<&str> = lines.filter(has_words).collect();
    if parts.len() == 1 && parts[0].len() == text.trim().len() {
        return Vec::new();
    }
    parts.sort_by_key(|part| !part.ends_with('?') && form_of(part) != Form::Error);
    parts.truncate(MOST_PARTS);
    parts
}

impl Question {
    /// Whether it may be about another field: the name of something is looked up whatever it is, and
    /// who names this platform means it.
    #[must_use]
    pub const fn may_be_elsewhere(&self) -> bool {
        !matches!(self.form, Form::Symbol | Form::Option) && !self.names_this
    }

    /// Whether something was added for what that group says.
    #[must_use]
    pub fn is_understood(&self, number: usize) -> bool {
        let mut groups = self.groups.iter();
        groups.any(|it| matches!(&it.origin, Origin::For(of) if of.contains(&number)))
    }
}

/// A word, or those that it was corrected to.
fn corrected(word: Word, corrections: &Corrections) -> Vec<Word> {
    match corrections.get(&word.text) {
        None => vec![word],
        Some(words) => {
            words.iter().map(|text| Word { text: text.clone(), role: word.role }).collect()
        }
    }
}

/// A pasted line of a log without its level and time, such as `E (1423) `.
fn without_log_prefix(text: &str) -> &str {
    let rest = text.trim_start().strip_prefix(['E', 'W', 'I', 'D', 'V']);
    let time = rest.and_then(|rest| rest.trim_start().strip_prefix('(')?.split_once(')'));
    match time {
        Some((time, rest)) if time.bytes().all(|byte| byte.is_ascii_digit()) => rest,
        Some(_) | None => text,
    }
}

/// A message of `ESP_ERROR_CHECK` without its form: the name of the error, and what failed. The words
/// around them stand in every such message.
fn without_form(text: &str) -> Cow<'_, str> {
    let whole = || {
        let (before, rest) = text.split_once("ESP_ERROR_CHECK")?;
        let (_, rest) = rest.split_once("failed")?;
        let is_name = |name: &&str| {
            name.starts_with("ESP_") && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        };
        let (name, rest) = rest.split_once('(')?.1.split_once(')')?;
        let name = Some(name).filter(is_name)?;
        // Newer versions tell the expression, and some people only paste the function.
        let failed = match rest.split_once("expression:") {
            Some((_, expression)) => expression,
            None => rest.split_once(" at ").map_or("", |(_, place)| place),
        };
        let failed = if failed.trim_start().starts_with("0x") { "" } else { failed };
        Some(format!("{before} {name} {failed}"))
    };
    whole().map_or(Cow::Borrowed(text), Cow::Owned)
}

/// A message without the lines of its files: `queue.c:1709` has another one in each version.
fn without_line_numbers(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut pieces = text.split(':');
    kept.extend(pieces.next());
    for piece in pieces {
        let is_source = SOURCES.iter().any(|end| kept.ends_with(end));
        let rest =
            if is_source { piece.trim_start_matches(|c: char| c.is_ascii_digit()) } else { piece };
        kept.push(':');
        kept.push_str(rest);
    }
    kept
}

/// Whether a word is a bare number.
fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a word is an address in memory, which is another one in each build.
fn is_address(word: &str) -> bool {
    word.strip_prefix("0x").is_some_and(|digits| {
        digits.len() >= ADDRESS_DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

fn form_of(text: &str) -> Form {
    let lower = text.to_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_name = |word: &&str| word.contains('_') && !word.contains("__");
    if words.len() <= 3 && words.iter().any(|word| word.contains("CONFIG_")) {
        return Form::Option;
    }
    if words.len() <= 2 && words.iter().any(is_name) {
        return Form::Symbol;
    }
    if KNOWN.errors.iter().any(|error| lower.contains(error.as_str())) {
        return Form::Error;
    }
    if ["example", "sample code", "demo ", "sample project"].iter().any(|word| lower.contains(word))
    {
        return Form::Example;
    }
    Form::Plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let (mut words, synonyms) = (Splitter::default(), Synonyms::default());
        let question = Question::read(text, &mut words, &synonyms, &Corrections::new());
        question.groups.into_iter().map(|group| group.words[0].0.clone()).collect()
    }

    #[test]
    fn a_question_is_about_another_platform_unless_that_is_only_spoken_to() {
        let text = "!! stm32*, zephyr, k_work*";
        let synonyms = Synonyms::parse("s", text, &mut Splitter::default()).unwrap();
        let is = |question: &str| is_elsewhere(question, &synonyms);
        assert!(is("Why does the STM32F407 hang?") && is("timers of Zephyr, please"));
        assert!(is("does k_work_delayable run at once"));
        for here in [
            "send data to an STM32F407",
            "between the ESP32 and a Zephyr board",
            "move my Zephyr code to the ESP32",
            "k_work_init",
            "zephyrus is a wind",
            "",
        ] {
            assert!(!is(here), "{here}");
        }
    }

    #[test]
    fn who_names_this_platform_means_it() {
        let may_be = |text: &str| {
            let (mut words, synonyms) = (Splitter::default(), Synonyms::default());
            let question = Question::read(text, &mut words, &synonyms, &Corrections::new());
            question.may_be_elsewhere()
        };
        for text in ["a travel router with my ESP", "boil eggs by an ESP32-C3", "tax of FreeRTOS"] {
            assert!(!may_be(text), "{text}");
        }
        for text in ["an espresso, especially good", "boil eggs", "tax of a house"] {
            assert!(may_be(text), "{text}");
        }
        assert!(!may_be("bake_cake") && !may_be("CONFIG_CAKE"));
    }

    #[test]
    fn a_long_question_has_parts_that_ask() {
        let text =
            "Fifty sensors in a barn. How do they relay for one another?\nBuilt with 5.4 here";
        assert_eq!(
            parts(text),
            [
                "How do they relay for one another?",
                "Fifty sensors in a barn.",
                "Built with 5.4 here"
            ]
        );
        assert_eq!(parts("How do I wake it from deep sleep?"), [""; 0]);
        assert_eq!(parts("esp_err_t i2c_x(void) v5.5.5 is gone"), [""; 0]);
        assert_eq!(parts(""), [""; 0]);
    }

    #[test]
    fn of_a_failed_check_the_error_and_what_failed_are_searched() {
        let message = "ESP_ERROR_CHECK failed: esp_err_t 0x110d (ESP_ERR_NVS_NO_FREE_PAGES) at \
                       0x400d5b2c file: \"./main/main.c\" line 41 func: app_main expression: nvs_flash_init()";
        assert_eq!(without_form(message).trim(), "ESP_ERR_NVS_NO_FREE_PAGES  nvs_flash_init()");
        let short = "why ESP_ERROR_CHECK failed: esp_err_t 0x101 (ESP_ERR_NO_MEM) at i2c_new";
        assert_eq!(without_form(short), "why  ESP_ERR_NO_MEM i2c_new");
        for other in ["ESP_ERROR_CHECK in C++", "ESP_ERROR_CHECK failed (why)", "no memory (a)"] {
            assert_eq!(without_form(other), other);
        }
    }

    #[test]
    fn what_differs_from_run_to_run_is_not_searched() {
        assert_eq!(words("E (1423) wifi: no memory"), ["wifi", "memori"]);
        assert_eq!(words("\u{1b}[0;31mE (1423) wifi: no memory\u{1b}[0m"), ["wifi", "memori"]);
        assert_eq!(words("panic at 0x400d1234, code 0x105"), ["panic", "code", "0x105"]);
        assert_eq!(words("E (abc) wifi"), ["e", "abc", "wifi"]);
        assert_eq!(words("queue.c:1709 (full)"), ["queue", "c", "full"]);
        assert_eq!(words("timer.c: 12:30"), ["timer", "c", "12", "30"]);
    }
}
