//! Reports of compilers in the language of the person's computer, read as if they were English.
//!
//! Owns the words that GCC's translations use; only what frames a message is translated.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::patterns::{self, group};

/// The English words of a severity; the more specific first.
const SEVERITIES: [&str; 6] =
    ["internal compiler error", "sorry, unimplemented", "fatal error", "error", "warning", "note"];

/// Words of another language around a name.
#[derive(Debug, Clone, Copy)]
struct Phrase {
    english: &'static str,
    before: &'static str,
    after: &'static str,
}

impl Phrase {
    /// The text as English, when it is this phrase.
    fn translate(&self, text: &str) -> Option<String> {
        let rest = text.strip_prefix(self.before)?;
        let (name, rest) = match self.after {
            "" => (rest, ""),
            after => rest.split_once(after)?,
        };
        Some(format!("{}{name}{rest}", self.english))
    }
}

static PHRASES: LazyLock<Vec<Phrase>> = LazyLock::new(|| {
    let rows = include_str!("languages.txt").lines().filter_map(|line| line.split_once(" = "));
    rows.flat_map(|(english, others)| {
        let english = english.trim_end_matches('%');
        others.split(" | ").map(move |other| {
            let (before, after) = other.split_once('%').unwrap_or((other, ""));
            Phrase { english, before, after }
        })
    })
    .collect()
});

/// The phrases that a text can contain; none for one in English.
#[derive(Debug)]
pub(super) struct Language {
    severities: Vec<Phrase>,
    others: Vec<Phrase>,
}

impl Language {
    /// Of a text.
    pub(super) fn of(text: &str) -> Self {
        let is_severity = |phrase: &&Phrase| SEVERITIES.contains(&phrase.english);
        let is_there = |phrase: &&Phrase| {
            let is_followed = |colon| text.contains(&format!("{}{colon}", phrase.before));
            text.contains(phrase.before) && [":", " :", "\u{a0}:", "："].iter().any(is_followed)
        };
        let mut severities: Vec<Phrase> =
            PHRASES.iter().filter(is_severity).filter(is_there).copied().collect();
        // "fatal fejl" before "fejl".
        severities.sort_by_key(|phrase| std::cmp::Reverse(phrase.before.len()));
        let others = match severities.is_empty() {
            true => Vec::new(),
            false => PHRASES.iter().filter(|phrase| !is_severity(phrase)).copied().collect(),
        };
        Self { severities, others }
    }

    /// A line as GCC prints it in English.
    pub(super) fn english<'t>(&self, line: Cow<'t, str>) -> Cow<'t, str> {
        if self.severities.is_empty() {
            return line;
        }
        match self.report(&line).or_else(|| self.frame(&line)) {
            Some(english) => Cow::Owned(english),
            None => line,
        }
    }

    /// A line with a severity behind a place or a program.
    fn report(&self, line: &str) -> Option<String> {
        let found = patterns::REPORTER.captures(line)?;
        let (place, rest) = (group(&found, 1), group(&found, 2));
        let (severity, stated) = self.severities.iter().find_map(|phrase| {
            let rest = rest.strip_prefix(phrase.before)?.trim_start_matches([' ', '\u{a0}']);
            let stated = rest.strip_prefix(':').or_else(|| rest.strip_prefix('：'))?;
            Some((phrase.english, stated.trim_start()))
        })?;
        let stated = match severity {
            "note" => self.phrase(stated, |_| true).unwrap_or_else(|| stated.to_owned()),
            _ => stated.to_owned(),
        };
        Some(format!("{place}{severity}: {stated}"))
    }

    /// A line that leads to a report: where a file is included, a function inlined, or which function
    /// it is in.
    fn frame(&self, line: &str) -> Option<String> {
        let indent = line.len() - line.trim_start().len();
        let text = line.trim_start();
        if indent == 0 {
            let is_file = |phrase: &Phrase| phrase.english == "In file included from";
            if let Some(english) = self.phrase(text, is_file) {
                return Some(english);
            }
            let (file, context) = text.split_once(": ")?;
            let english = self.phrase(context, |phrase| phrase.english.starts_with("In "))?;
            return Some(format!("{file}: {english}"));
        }
        let is_place = text.ends_with([',', ':']);
        let english = self.phrase(text, |phrase| phrase.english == "from");
        if let (true, Some(english)) = (is_place, english) {
            return Some(format!("{:indent$}{english}", ""));
        }
        let inlined = self.phrase(text, |phrase| phrase.english.starts_with("inlined from"))?;
        let (before, place) = inlined.rsplit_once(' ')?;
        let name = before.rsplit_once(' ').map_or(before, |(name, _)| name);
        Some(format!("{:indent$}{name} at {place}", ""))
    }

    fn phrase(&self, text: &str, is_it: impl Fn(&Phrase) -> bool) -> Option<String> {
        self.others.iter().filter(|phrase| is_it(phrase)).find_map(|phrase| phrase.translate(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn english(line: &str, severity: &str) -> String {
        let language = Language::of(&format!("a.c:1:1: {severity}: x"));
        language.english(Cow::Borrowed(line)).into_owned()
    }

    #[test]
    fn what_frames_a_message_is_read_in_any_language() {
        let cases = [
            ("Fehler", "a.c:3:4: Fehler: nicht da", "a.c:3:4: error: nicht da"),
            (
                "Fehler",
                "cc1: schwerwiegender Fehler: x.c: weg",
                "cc1: schwerwiegender Fehler: x.c: weg",
            ),
            (
                "schwerwiegender Fehler",
                "cc1: schwerwiegender Fehler: x.c: weg",
                "cc1: fatal error: x.c: weg",
            ),
            (
                "Anmerkung",
                "a.c:3:4: Anmerkung: bei Substitution des Makros »LOG«",
                "a.c:3:4: note: in expansion of macro »LOG«",
            ),
            ("virhe", "In Datei, eingebunden von a.c:1:", "In file included from a.c:1:"),
            ("Fehler", "                 von b.c:2,", "                 from b.c:2,"),
            ("Fehler", "a.c: In Funktion »f«:", "a.c: In function »f«:"),
            ("Fehler", "    eingefügt von »f« bei a.c:2:5:", "    inlined from »f« at a.c:2:5:"),
            ("错误", "a.c: 在函数‘f’中:", "a.c: In function ‘f’:"),
            ("致命错误", "a.c:1:10: 致命错误：n.h：没有", "a.c:1:10: fatal error: n.h：没有"),
            (
                "huom",
                "a.c:1:2: huom: ”LOG”-makron lavennuksessa",
                "a.c:1:2: note: in expansion of macro ”LOG”",
            ),
            ("Fehler", "von hier an: 3", "von hier an: 3"),
            ("error", "a.c:3:4: Fehler: nicht da", "a.c:3:4: Fehler: nicht da"),
        ];
        for (severity, line, expected) in cases {
            assert_eq!(english(line, severity), expected);
        }
    }
}
