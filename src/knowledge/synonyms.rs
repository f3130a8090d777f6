//! Words that people use for what the documents call otherwise.
//!
//! Owns the file of synonyms: `words, or other words => what the documents say`, one line each,
//! `a = b` for words that stand for each other, `~ a, b` for words that any question may have, `! a, b` for
//! words of other fields, and `!! a, b*` for other platforms, of which `b*` stands for each word that
//! begins so.

use std::collections::{HashMap, HashSet};

use super::group::{Group, Origin};
use super::known_words::KNOWN;
use super::words::{Splitter, WordRole};
use crate::model::UserError;

/// Most words, small ones too, from one word of a phrase to the next.
const MOST_BETWEEN: usize = 4;
/// What an added word counts for.
const ADDED: f32 = 0.85;
/// What a word counts for once it was understood: documents that have it as it was written may mean
/// something else by it.
const UNDERSTOOD: f32 = 0.6;
/// What a word of the same meaning counts for.
const EQUAL: f32 = 0.7;

/// The shortest name of this platform, in small letters.
const OWN: &str = "esp";

/// Words before the name of a board that is only spoken to, and those that may stand between.
const TOWARDS: [&str; 6] = ["to", "with", "from", "between", "and", "via"];
const ARTICLES: [&str; 5] = ["a", "an", "the", "my", "another"];

/// The stems of a phrase, and what is added for it.
type Phrase = (Vec<String>, Vec<String>);

/// The synonyms, by the stems of the words.
#[derive(Debug, Clone, Default)]
pub struct Synonyms {
    /// By the first stem: all stems of the phrase, and what is added for it.
    phrases: HashMap<String, Vec<Phrase>>,
    equals: HashMap<String, Vec<String>>,
    /// Stems of words that questions about something else have.
    foreign: HashSet<String>,
    /// Stems of words that any question may have.
    light: HashSet<String>,
    /// Names of other platforms, in small letters, and how such names begin.
    platforms: HashSet<String>,
    platform_starts: Vec<String>,
}

impl Synonyms {
    /// Reads the file; `file` is its name in messages.
    ///
    /// # Errors
    /// A line of no known form; says file and line.
    pub fn parse(file: &str, text: &str, words: &mut Splitter) -> Result<Self, UserError> {
        let mut found = Self::default();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(names) = line.strip_prefix("!!") {
                for name in names.split(',').map(|name| name.trim().to_lowercase()) {
                    match name.strip_suffix('*') {
                        Some(start) => found.platform_starts.push(start.to_owned()),
                        None => _ = found.platforms.insert(name),
                    }
                }
            } else if let Some(light) = line.strip_prefix('~') {
                found.light.extend(light.split(',').flat_map(|word| stems(word, words)));
            } else if let Some(foreign) = line.strip_prefix('!') {
                found.foreign.extend(foreign.split(',').flat_map(|word| stems(word, words)));
            } else if let Some((phrases, added)) = line.split_once("=>") {
                let added = stems(added, words);
                for phrase in phrases.split(',') {
                    let phrase = stems(phrase, words);
                    if let (Some(first), false) = (phrase.first(), added.is_empty()) {
                        let known = found.phrases.entry(first.clone()).or_default();
                        known.push((phrase.clone(), added.clone()));
                    }
                }
            } else if line.contains('=') {
                let equal: Vec<String> =
                    line.split('=').flat_map(|word| stems(word, words)).collect();
                for word in &equal {
                    let others = equal.iter().filter(|other| *other != word).cloned();
                    found.equals.entry(word.clone()).or_default().extend(others);
                }
            } else {
                return Err(UserError::new(
                    format!("Cannot read the synonyms {file}:{}", number + 1),
                    format!("`{line}` has neither `=>` nor `=`"),
                    "Write `words, other words => what the documents say`, `a = b`, `~ a, b`, `! a, b` or `!! a, b`.",
                ));
            }
        }
        Ok(found)
    }

    /// Whether a word, by its stem, is one of another field.
    #[must_use]
    pub fn is_foreign(&self, word: &str) -> bool {
        self.foreign.contains(word)
    }

    /// Whether a word, by its stem, is one that any question may have.
    #[must_use]
    pub fn is_light(&self, word: &str) -> bool {
        self.light.contains(word)
    }

    /// Whether a word in small letters is the name of another platform.
    #[must_use]
    pub fn is_platform(&self, word: &str) -> bool {
        self.platforms.contains(word)
            || self.platform_starts.iter().any(|start| word.starts_with(start.as_str()))
    }

    /// Whether a text is about another platform and not this one: what it asks, no document here tells,
    /// however many of its words are here. A board that something is sent to is another matter.
    #[must_use]
    pub fn is_of_other_platform(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        let names = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
        let is_peer = |before: &[&str]| {
            let last = before.iter().rev().find(|word| !ARTICLES.contains(word));
            last.is_some_and(|word| TOWARDS.contains(word))
        };
        let mut places = names.iter().enumerate();
        !names.iter().any(|name| is_own(name))
            && places.any(|(at, name)| self.is_platform(name) && !is_peer(&names[..at]))
    }

    /// Adds to a question what its words stand for. `places` are the written words with the numbers
    /// of their groups, if they have one.
    pub fn extend(&self, groups: &mut Vec<Group>, places: &[(String, Option<usize>)], most: usize) {
        let mut added: Vec<(String, Vec<usize>)> = Vec::new();
        for start in 0..places.len() {
            for (phrase, words) in self.phrases.get(&places[start].0).into_iter().flatten() {
                let Some(numbers) = matched(phrase, &places[start..]) else { continue };
                for number in &numbers {
                    groups[*number].weight = groups[*number].weight.min(UNDERSTOOD);
                }
                added.extend(words.iter().map(|word| (word.clone(), numbers.clone())));
            }
        }
        for group in groups.iter_mut() {
            for word in self.equals.get(&group.words[0].0).into_iter().flatten() {
                group.words.push((word.clone(), EQUAL));
            }
        }
        for (word, numbers) in added {
            let known = groups.iter().any(|group| group.words[0].0 == word);
            if !known && groups.len() < most {
                let origin = Origin::For(numbers);
                groups.push(Group { words: vec![(word, 1.0)], weight: ADDED, origin });
            }
        }
    }
}

/// Whether a text names this platform or what belongs to it.
#[must_use]
pub fn names_this_platform(text: &str) -> bool {
    let text = text.to_lowercase();
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(is_own)
}

/// Whether a name in small letters begins as those of this platform do.
fn is_own(name: &str) -> bool {
    name == OWN || KNOWN.own_starts.iter().any(|start| name.starts_with(start))
}

/// The groups of a phrase that begins here; up to one other word, and small ones, may stand between
/// two of it.
fn matched(phrase: &[String], places: &[(String, Option<usize>)]) -> Option<Vec<usize>> {
    let mut numbers = Vec::new();
    let mut place = 0;
    for word in phrase {
        let rest = &places[place..];
        let found = rest.iter().take(MOST_BETWEEN).position(|(written, _)| written == word)?;
        if rest[..found].iter().filter(|(_, number)| number.is_some()).count() > 1 {
            return None;
        }
        if place == 0 && found > 0 {
            return None;
        }
        numbers.extend(places[place + found].1);
        place += found + 1;
    }
    (!numbers.is_empty()).then_some(numbers)
}

fn stems(text: &str, words: &mut Splitter) -> Vec<String> {
    let found = words.words(text).into_iter();
    found.filter(|word| word.role != WordRole::Joined).map(|word| word.text).collect()
}
