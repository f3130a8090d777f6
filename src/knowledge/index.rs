//! Splits documents at their headings and ranks the pieces for a query.
//!
//! The ranking is Okapi BM25 over words and over the parts of identifiers, with the usual
//! k1 = 1.2 and b = 0.75 (Robertson & Zaragoza, 2009, sections 3.2 and 3.3).

use std::collections::BTreeMap;

use crate::model::UserError;

const K1: f64 = 1.2;
const B: f64 = 0.75;
/// A word of the title says more about a piece than one of its text.
const TITLE_WEIGHT: u32 = 3;

/// What a piece holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassageKind {
    /// Some program text.
    Code,
    Docs,
}

/// A piece of a document that fits a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    /// Title of the document and the heading.
    pub title: String,
    /// Where the facts are from.
    pub source: String,
    /// How well it fits; comparable within one search only.
    pub score: f64,
    /// The text, Markdown.
    pub text: String,
}

#[derive(Debug, Clone, PartialEq)]
struct IndexEntry {
    title: String,
    source: String,
    text: String,
    kind: PassageKind,
    counts: BTreeMap<String, u32>,
    length: u32,
}

/// The searchable documents.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Knowledge {
    entries: Vec<IndexEntry>,
    /// In how many pieces a word occurs.
    spread: BTreeMap<String, u32>,
}

impl Knowledge {
    /// Indexes documents, each a pair of a name for messages and its text. A document begins with
    /// a front matter between two `---` lines that states `title:` and `source:`.
    ///
    /// # Errors
    /// A document without front matter, title, source or text; says file and line.
    pub fn new<'a>(
        documents: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, UserError> {
        let mut knowledge = Self::default();
        for (file, text) in documents {
            let document = IndexedDocument::parse(file, text)?;
            for (heading, text) in pieces(document.body) {
                knowledge.add(&document, heading, &text);
            }
        }
        Ok(knowledge)
    }

    /// How many pieces there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is nothing to find.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The `k` pieces that fit best, the best first; only those that share a word with the query,
    /// and of that kind if one is given. Equal scores keep the order of the documents.
    #[must_use]
    pub fn search(&self, query: &str, k: usize, kind: Option<PassageKind>) -> Vec<Chunk> {
        let mut words = tokens(query);
        words.sort();
        words.dedup();
        let mut found: Vec<(f64, &IndexEntry)> = self
            .entries
            .iter()
            .filter(|entry| kind.is_none_or(|kind| entry.kind == kind))
            .map(|entry| (self.score(entry, &words), entry))
            .filter(|(score, _)| *score > 0.0)
            .collect();
        found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        found.truncate(k);
        found.into_iter().map(|(score, entry)| entry.chunk(score)).collect()
    }

    fn add(&mut self, document: &IndexedDocument<'_>, heading: Option<&str>, text: &str) {
        let title = match heading {
            Some(heading) => format!("{}: {heading}", document.title),
            None => document.title.to_owned(),
        };
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for word in tokens(text) {
            *counts.entry(word).or_default() += 1;
        }
        for word in tokens(&title) {
            *counts.entry(word).or_default() += TITLE_WEIGHT;
        }
        for word in counts.keys() {
            *self.spread.entry(word.clone()).or_default() += 1;
        }
        let kind = if text.contains("```") { PassageKind::Code } else { PassageKind::Docs };
        let length = counts.values().sum();
        let (source, text) = (document.source.to_owned(), text.to_owned());
        self.entries.push(IndexEntry { title, source, text, kind, counts, length });
    }

    fn score(&self, entry: &IndexEntry, words: &[String]) -> f64 {
        let count = f64::from(u32::try_from(self.entries.len()).unwrap_or(u32::MAX));
        let all: f64 = self.entries.iter().map(|entry| f64::from(entry.length)).sum();
        let relative = f64::from(entry.length) * count / all.max(1.0);
        let score_of = |word: &String| {
            let often = f64::from(entry.counts.get(word).copied().unwrap_or(0));
            let spread = f64::from(self.spread.get(word).copied().unwrap_or(0));
            let rarity = ((count - spread + 0.5) / (spread + 0.5)).ln_1p();
            rarity * often * (K1 + 1.0) / (often + K1 * (1.0 - B + B * relative))
        };
        words.iter().map(score_of).sum()
    }
}

impl IndexEntry {
    fn chunk(&self, score: f64) -> Chunk {
        let (title, source, text) = (self.title.clone(), self.source.clone(), self.text.clone());
        Chunk { title, source, score, text }
    }
}

struct IndexedDocument<'a> {
    title: &'a str,
    source: &'a str,
    body: &'a str,
}

impl<'a> IndexedDocument<'a> {
    fn parse(file: &str, text: &'a str) -> Result<Self, UserError> {
        let wrong = |line: usize, why: &str| {
            UserError::new(
                format!("Cannot read the document {file}:{line}"),
                why,
                "Begin it with `---`, `title: …`, `source: …`, `---`.",
            )
        };
        let rest =
            text.strip_prefix("---\n").ok_or_else(|| wrong(1, "there is no front matter"))?;
        let (head, body) =
            rest.split_once("\n---\n").ok_or_else(|| wrong(1, "the front matter has no end"))?;
        let (mut title, mut source) = ("", "");
        for (index, line) in head.lines().enumerate() {
            match line.split_once(':').map(|(key, value)| (key.trim(), value.trim())) {
                Some(("title", value)) => title = value,
                Some(("source", value)) => source = value,
                _ => {
                    return Err(wrong(index + 2, &format!("`{line}` is neither title nor source")));
                }
            }
        }
        let end = head.lines().count() + 2;
        match (title.is_empty(), source.is_empty(), body.trim().is_empty()) {
            (true, _, _) => Err(wrong(end, "there is no title")),
            (_, true, _) => Err(wrong(end, "there is no source")),
            (_, _, true) => Err(wrong(end, "there is no text")),
            (false, false, false) => Ok(Self { title, source, body }),
        }
    }
}

/// Splits at headings outside of code fences; a piece has the heading it stands under.
fn pieces(body: &str) -> Vec<(Option<&str>, String)> {
    let mut pieces: Vec<(Option<&str>, String)> = vec![(None, String::new())];
    let mut in_code = false;
    for line in body.lines() {
        in_code ^= line.trim_start().starts_with("```");
        let heading = line.trim_start_matches('#');
        if !in_code && heading.len() < line.len() && heading.starts_with(' ') {
            pieces.push((Some(heading.trim()), String::new()));
        } else if let Some((_, text)) = pieces.last_mut() {
            text.push_str(line);
            text.push('\n');
        }
    }
    for (_, text) in &mut pieces {
        *text = text.trim().to_owned();
    }
    pieces.retain(|(_, text)| !text.is_empty());
    pieces
}

/// Words in lower case, identifiers whole and in their parts: `i2c_new_master_bus` gives itself,
/// `i2c`, `new`, `master` and `bus`.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
        let word = word.trim_matches('_').to_lowercase();
        if word.contains('_') {
            tokens.extend(word.split('_').filter(|part| part.len() > 1).map(stem));
        }
        if word.chars().count() > 1 {
            tokens.push(stem(&word));
        }
    }
    tokens
}

/// Takes a plural's ending off, which is most of what stemming would bring here.
fn stem(word: &str) -> String {
    match word.strip_suffix('s') {
        Some(stem) if word.len() > 3 && !stem.ends_with(['s', 'u', 'i']) => stem.to_owned(),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const I2C: &str = "---\ntitle: I2C\nsource: here\n---\nThe bus has two wires.\n\n\
                       ## Making a bus\nCall `i2c_new_master_bus`.\n```c\n# no heading\n```\n\n\
                       ## Pull-ups\nThe lines need resistors.\n";
    const GPIO: &str =
        "---\ntitle: GPIO\nsource: there\n---\n## Levels\n`gpio_set_level` sets it.\n";

    fn knowledge() -> Knowledge {
        Knowledge::new([("i2c.md", I2C), ("gpio.md", GPIO)]).unwrap()
    }

    #[test]
    fn pieces_follow_the_headings_but_not_those_in_code() {
        let found = knowledge();
        let titles: Vec<&str> = found.entries.iter().map(|entry| entry.title.as_str()).collect();
        assert_eq!(titles, ["I2C", "I2C: Making a bus", "I2C: Pull-ups", "GPIO: Levels"]);
        assert!(found.entries[1].text.contains("# no heading"));
    }

    #[test]
    fn an_identifier_is_found_whole_and_by_its_parts() {
        for query in ["i2c_new_master_bus", "how to make a new master", "MASTER"] {
            let found = knowledge().search(query, 5, None);
            assert_eq!(found[0].title, "I2C: Making a bus", "{query}");
        }
        assert_eq!(knowledge().search("set level", 1, None)[0].source, "there");
    }

    #[test]
    fn scores_fall_and_bounds_hold() {
        let found = knowledge().search("bus lines resistors", 2, None);
        assert_eq!(found.len(), 2);
        assert!(found[0].score >= found[1].score);
        assert!(knowledge().search("zebra", 5, None).is_empty());
        assert!(knowledge().search("", 5, None).is_empty());
    }

    #[test]
    fn code_and_words_are_told_apart() {
        let found = knowledge().search("bus", 5, Some(PassageKind::Code));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].title, "I2C: Making a bus");
    }

    /// The shipped documents by name.
    fn shipped() -> Vec<(&'static str, &'static str)> {
        vec![
            ("build-errors.md", include_str!("../../assets/knowledge/build-errors.md")),
            ("cmake-components.md", include_str!("../../assets/knowledge/cmake-components.md")),
            ("freertos-tasks.md", include_str!("../../assets/knowledge/freertos-tasks.md")),
            ("gpio.md", include_str!("../../assets/knowledge/gpio.md")),
            ("i2c-master.md", include_str!("../../assets/knowledge/i2c-master.md")),
            ("logging.md", include_str!("../../assets/knowledge/logging.md")),
            ("nvs.md", include_str!("../../assets/knowledge/nvs.md")),
            ("project-layout.md", include_str!("../../assets/knowledge/project-layout.md")),
            ("timers.md", include_str!("../../assets/knowledge/timers.md")),
            ("uart-console.md", include_str!("../../assets/knowledge/uart-console.md")),
        ]
    }

    #[test]
    fn plain_questions_find_the_right_shipped_passage() {
        let knowledge = Knowledge::new(shipped()).unwrap();
        let cases = [
            ("scan the i2c bus for devices", "I2C master driver: Scanning for devices"),
            ("i2c_master_transmit_receive read register", "reading a register"),
            ("undefined reference to a function", "Common build errors: undefined reference"),
            ("idf_component_register SRCS", "CMake and components: Registering a component"),
            ("nvs_commit store a value", "Reading and writing a value"),
            ("create a task stack size", "Starting a task"),
            ("implicit declaration of ESP_LOGI", "implicit declaration of function"),
            ("periodic esp_timer", "A periodic timer"),
            ("which gpio pins to avoid on the ESP32", "GPIO"),
        ];
        for (query, title) in cases {
            let found = knowledge.search(query, 3, None);
            let titles: Vec<&str> = found.iter().map(|chunk| chunk.title.as_str()).collect();
            assert!(titles.iter().any(|found| found.contains(title)), "{query}: {titles:?}");
        }
    }

    #[test]
    fn bad_documents_are_refused_with_file_and_line() {
        let cases = [
            ("no front matter", "a.md:1"),
            ("---\ntitle: x\n", "a.md:1"),
            ("---\ntitle: x\nauthor: y\n---\ntext\n", "a.md:3"),
            ("---\ntitle: x\n---\ntext\n", "a.md:3"),
            ("---\ntitle: x\nsource: y\n---\n\n", "a.md:4"),
        ];
        for (text, place) in cases {
            let error = Knowledge::new([("a.md", text)]).unwrap_err();
            assert!(error.what.ends_with(place), "{text:?}: {}", error.what);
        }
    }
}
