//! Splits reStructuredText, as the framework's documentation has it.
//!
//! Headings make passages; `only` blocks say for which chips; included files are put in; roles and
//! directives are turned into plain words. Whatever is not understood stays as it is.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::document::{Document, SplitContext};
use super::substitutions::Substitutions;
use super::window::cut;
use crate::knowledge::chips::ChipSet;
use crate::knowledge::known_words::KNOWN;
use crate::knowledge::passage::{Passage, slug};
use crate::text::references;

/// How deep files include others.
const MOST_INCLUDES: usize = 4;
/// Options of tables, which say nothing in words.
const TABLE_OPTIONS: [&str; 6] =
    [":header-rows:", ":stub-columns:", ":widths:", ":align:", ":class:", ":width:"];

/// A line with the chips that it is for.
struct Line<'a> {
    text: Cow<'a, str>,
    chips: ChipSet,
}

/// A section before it is cut.
struct Section {
    headings: Vec<String>,
    chips: ChipSet,
    text: String,
}

/// Splits a document.
pub(super) fn split(document: Document<'_>, context: &SplitContext<'_>) -> Vec<Passage> {
    let mut lines = Vec::new();
    read_lines(document.text, document, context, 0, &mut lines);
    let mut substitutions = Substitutions::default();
    for line in &mut lines {
        if let Cow::Owned(filled) = substitutions.fill(&line.text) {
            line.text = Cow::Owned(filled);
        }
    }
    let sections = sections(&lines, document.chips);
    let title = sections
        .iter()
        .find_map(|section| section.headings.first().cloned())
        .unwrap_or_else(|| name_of(document.path));
    let mut passages = Vec::new();
    for section in sections {
        let headings: Vec<String> = section.headings.into_iter().skip(1).collect();
        let anchor = headings.last().map(|heading| slug(heading)).unwrap_or_default();
        for piece in cut(&section.text, context.window) {
            passages.push(Passage {
                anchor: anchor.clone(),
                headings: headings.clone(),
                chips: section.chips,
                ..document.passage(&title, piece.text)
            });
        }
    }
    passages
}

/// A title for a part that has none: its folder and its name.
fn name_of(path: &str) -> String {
    let mut parts: Vec<&str> = path.rsplit('/').take(2).collect();
    parts.reverse();
    parts.join(" ").trim_end_matches(".inc").trim_end_matches(".rst").to_owned()
}

/// Lines with their chips: `only` blocks are opened, included files put in.
fn read_lines<'a>(
    text: &'a str,
    document: Document<'_>,
    context: &SplitContext<'_>,
    depth: usize,
    lines: &mut Vec<Line<'a>>,
) {
    // Open `only` blocks: their indent, and the chips that are left inside.
    let mut open: Vec<(usize, ChipSet)> = Vec::new();
    let mut source = text.lines().peekable();
    while let Some(line) = source.next() {
        let indent = line.len() - line.trim_start().len();
        let trimmed = line.trim_start();
        if !trimmed.is_empty() {
            while open.last().is_some_and(|(outer, _)| indent <= *outer) {
                open.pop();
            }
        }
        let chips = open.last().map_or(document.chips, |(_, chips)| *chips);
        // A block for chips that the document is not about is shown to nobody.
        if chips.is_empty() {
            continue;
        }
        if let Some(condition) = trimmed.strip_prefix(".. only::") {
            let inside = chips.and(context.facts.holds_for(condition));
            open.push((indent, inside));
            continue;
        }
        if let Some(target) = trimmed.strip_prefix(".. include::") {
            let mut bounds = (None, None);
            while let Some(option) = source.peek().map(|line| line.trim())
                && option.starts_with(':')
            {
                bounds.0 = option.strip_prefix(":start-after:").map(str::trim).or(bounds.0);
                bounds.1 = option.strip_prefix(":end-before:").map(str::trim).or(bounds.1);
                source.next();
            }
            // What a block for some chips includes is for those alone.
            let document = Document { chips, ..document };
            include(target.trim(), bounds, document, context, depth, lines);
            continue;
        }
        // What an open block is indented by is not part of its text.
        let shift = open.len() * 4;
        let text = if shift > 0 && indent >= shift { &line[shift.min(indent)..] } else { line };
        lines.push(Line { text: Cow::Borrowed(text), chips });
    }
}

fn include(
    target: &str,
    (after, before): (Option<&str>, Option<&str>),
    document: Document<'_>,
    context: &SplitContext<'_>,
    depth: usize,
    lines: &mut Vec<Line<'_>>,
) {
    // One file for each chip is found under its own name.
    if target.contains('{') || depth >= MOST_INCLUDES {
        return;
    }
    let Some(path) = resolve(document.path, target) else { return };
    let Some(text) = (context.include)(&path) else { return };
    let mut part = text.as_str();
    if let Some(after) = after {
        part = part.split_once(after).map_or(part, |(_, rest)| rest);
    }
    if let Some(before) = before {
        part = part.split_once(before).map_or(part, |(rest, _)| rest);
    }
    let mut found = Vec::new();
    read_lines(part, Document { path: &path, ..document }, context, depth + 1, &mut found);
    lines.extend(
        found.into_iter().map(|line| Line { text: Cow::Owned(line.text.into_owned()), ..line }),
    );
}

/// A path that is named in a file, relative to the root.
fn resolve(from: &str, target: &str) -> Option<String> {
    let (folder, _) = from.rsplit_once('/').unwrap_or_default();
    let Some(absolute) = target.strip_prefix('/') else {
        return references::resolve(folder, target);
    };
    // In Sphinx this is the folder of the language.
    let tops = folder.split('/').filter(|part| !part.is_empty()).take(2).chain([absolute]);
    Some(tops.collect::<Vec<_>>().join("/"))
}

/// The sections of a document. A heading is a line with a line of one repeated sign under it; which
/// sign means which level is told by the order in which they come.
fn sections(lines: &[Line<'_>], chips: ChipSet) -> Vec<Section> {
    let mut levels: Vec<(char, bool)> = Vec::new();
    let mut path: Vec<String> = Vec::new();
    let mut done: Vec<Section> = Vec::new();
    let mut body = Body::new(chips);
    let mut place = 0;
    while place < lines.len() {
        let over = underline(&lines[place].text);
        let next = |step: usize| lines.get(place + step).map(|line| line.text.as_ref());
        let heading = if let Some(sign) = over
            && next(2).and_then(underline) == Some(sign)
            && next(1).is_some_and(|text| !text.trim().is_empty())
        {
            Some(((sign, true), 1, 3))
        } else if is_heading(&lines[place].text, next(1)) {
            next(1).and_then(underline).map(|sign| ((sign, false), 0, 2))
        } else {
            None
        };
        let Some((level, offset, length)) = heading else {
            body.take(&lines[place]);
            place += 1;
            continue;
        };
        body.end(&path, &mut done);
        let depth = levels.iter().position(|known| *known == level).unwrap_or_else(|| {
            levels.push(level);
            levels.len() - 1
        });
        path.truncate(depth);
        path.push(plain_words(lines[place + offset].text.trim()).into_owned());
        place += length;
    }
    body.end(&path, &mut done);
    done
}

fn underline(line: &str) -> Option<char> {
    let line = line.trim_end();
    let sign = line.chars().next()?;
    let is_line = line.len() >= 3
        && sign.is_ascii_punctuation()
        && !matches!(sign, '.' | ':' | '|')
        && line.chars().all(|c| c == sign);
    is_line.then_some(sign)
}

fn is_heading(line: &str, below: Option<&str>) -> bool {
    let text = line.trim_end();
    !text.is_empty()
        && !text.starts_with([' ', '.', ':', '|', '+'])
        && underline(text).is_none()
        && below.is_some_and(|below| {
            underline(below).is_some() && below.trim_end().len() + 3 >= text.chars().count()
        })
}

/// The text of a section as it grows.
struct Body {
    of_document: ChipSet,
    text: String,
    /// Chips of all lines so far.
    chips: ChipSet,
    /// Chips of the line before.
    last: ChipSet,
    /// Indent of a block that is left out, or of one that is code.
    block: Option<(usize, BlockKind)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    Silent,
    /// With the length of the text where it begins.
    Code(usize),
}

impl Body {
    fn new(of_document: ChipSet) -> Self {
        let (text, chips) = (String::new(), ChipSet::NONE);
        Self { of_document, text, chips, last: of_document, block: None }
    }

    fn end(&mut self, path: &[String], done: &mut Vec<Section>) {
        self.close();
        let text = std::mem::take(&mut self.text);
        let chips = if self.chips.is_empty() { self.of_document } else { self.chips };
        if !text.trim().is_empty() {
            done.push(Section { headings: path.to_vec(), chips, text });
        }
        (self.chips, self.last) = (ChipSet::NONE, self.of_document);
    }

    fn close(&mut self) {
        if let Some((_, BlockKind::Code(_))) = self.block.take() {
            self.text.truncate(self.text.trim_end().len());
            self.text.push_str("\n```\n\n");
        }
    }

    fn take(&mut self, line: &Line<'_>) {
        let text = line.text.trim_end();
        let indent = text.len() - text.trim_start().len();
        if let Some((outer, kind)) = self.block {
            if text.is_empty() || indent > outer {
                if let BlockKind::Code(start) = kind {
                    let is_first = self.text.len() == start;
                    let is_option = text.trim_start().starts_with(':');
                    if !(is_first && (text.is_empty() || is_option)) {
                        self.text.push_str(&text[text.len().min(outer + 4).min(indent)..]);
                        self.text.push('\n');
                    }
                }
                return;
            }
            self.close();
        }
        if text.is_empty() {
            if !self.text.is_empty() && !self.text.ends_with("\n\n") {
                self.text.push('\n');
            }
            return;
        }
        self.mark(line.chips);
        self.directive_or_words(text.trim_start(), indent, text);
    }

    /// Says where text for some chips only begins, and where it ends.
    fn mark(&mut self, chips: ChipSet) {
        if chips != self.last {
            let words = if chips == ChipSet::ALL {
                "[all chips]\n".to_owned()
            } else {
                format!("[only {}]\n", chips.names().join(", "))
            };
            self.text.push_str(&words);
            self.last = chips;
        }
        self.chips = self.chips.or(chips);
    }

    fn directive_or_words(&mut self, trimmed: &str, indent: usize, text: &str) {
        if indent > 0 && TABLE_OPTIONS.iter().any(|option| trimmed.starts_with(option)) {
            return;
        }
        if let Some(rest) = trimmed.strip_prefix(".. ") {
            let Some((name, argument)) = rest.split_once("::") else {
                // A label, a comment or a substitution.
                self.block = Some((indent, BlockKind::Silent));
                return;
            };
            let name = name.trim();
            if matches!(name, "code-block" | "code" | "sourcecode" | "parsed-literal" | "prompt") {
                let language = argument.trim().split(' ').next().unwrap_or("");
                self.text.push_str(&format!("```{language}\n"));
                self.block = Some((indent, BlockKind::Code(self.text.len())));
            } else if KNOWN.silent_directives.contains(name)
                || name.starts_with("doxygen")
                || name.starts_with('|')
            {
                self.block = Some((indent, BlockKind::Silent));
            } else if !matches!(name, "list" | "tabs" | "list-table" | "table" | "rubric" | "tab") {
                let mut letters = name.chars();
                let first = letters.next().map(|c| c.to_ascii_uppercase()).into_iter();
                let name: String = first.chain(letters).collect();
                self.text.push_str(&format!("{name}: {}\n", plain_words(argument.trim())));
            } else if !argument.trim().is_empty() {
                self.text.push_str(&format!("{}\n", plain_words(argument.trim())));
            }
            return;
        }
        if trimmed.starts_with(":link_to_translation:") || trimmed.starts_with(":orphan:") {
            return;
        }
        let opens_code = trimmed.ends_with("::");
        let words = if opens_code { text.trim_end_matches(':') } else { text };
        if !words.trim().is_empty() {
            self.text.push_str(&plain_words(words));
            if opens_code {
                self.text.push(':');
            }
            self.text.push('\n');
        }
        if opens_code {
            self.text.push_str("```\n");
            self.block = Some((indent, BlockKind::Code(self.text.len())));
        }
    }
}

/// Words without the signs of the markup.
fn plain_words(text: &str) -> Cow<'_, str> {
    static ROLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r":[a-z_:0-9+-]+:`([^`<]*?)\s*(?:<([^`>]*)>)?`|`([^`<]+?)\s*<[^`>]*>`_{0,2}|``([^`]+)``")
            .ok()
    });
    static CHIPS: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"^(\s*):([A-Za-z0-9_ ()]+): ([-*#]) ").ok());
    let mut text = Cow::Borrowed(text);
    if text.contains('`')
        && let Some(role) = ROLE.as_ref()
    {
        let plain = role.replace_all(&text, |found: &Captures<'_>| {
            let of = |group: usize| found.get(group).map_or("", |found| found.as_str());
            if let Some(code) = found.get(4) {
                return format!("`{}`", code.as_str());
            }
            match (of(1), of(2), of(3)) {
                ("", target, "") => target.to_owned(),
                ("", _, words) => words.to_owned(),
                (words, ..) if words.contains(' ') => words.to_owned(),
                (words, ..) => format!("`{words}`"),
            }
        });
        text = Cow::Owned(plain.into_owned());
    }
    if text.trim_start().starts_with(':')
        && let Some(chips) = CHIPS.as_ref()
    {
        text = Cow::Owned(chips.replace(&text, "$1$3 [$2] ").into_owned());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::window::WindowSize;
    use super::*;
    use crate::knowledge::chips::ChipFacts;
    use crate::knowledge::passage::PassageKind;

    fn passages(text: &str) -> Vec<Passage> {
        let document = Document {
            path: "docs/en/api/i2c.rst",
            text,
            kind: PassageKind::Guide,
            chips: ChipSet::ALL,
        };
        let include = |path: &str| {
            (path == "docs/en/inc/part.rst").then(|| "no\nSTART\nIncluded words.\nEND\nno".into())
        };
        let context = SplitContext {
            facts: &ChipFacts::default(),
            window: WindowSize::default(),
            include: &include,
        };
        split(document, &context)
    }

    #[test]
    fn headings_make_passages_with_their_path() {
        let found = passages(
            "=====\n I2C\n=====\n\nThe bus.\n\nMaster\n------\n\nWords.\n\nProbe\n^^^^^\n\nMore.\n\n\
             Slave\n-----\n\nLast.\n",
        );
        let all: Vec<_> =
            found.iter().map(|p| (p.source(), p.headings.join(">"), p.text.as_str())).collect();
        let at = |anchor: &str| format!("docs/en/api/i2c.rst{anchor}");
        assert_eq!(
            all,
            [
                (at(""), String::new(), "The bus."),
                (at("#master"), "Master".into(), "Words."),
                (at("#probe"), "Master>Probe".into(), "More."),
                (at("#slave"), "Slave".into(), "Last."),
            ]
        );
        assert!(found.iter().all(|passage| passage.title == "I2C"));
    }

    #[test]
    fn blocks_for_some_chips_say_so() {
        let found = passages(
            "A\n=\n\nA\n===\n\n.. only:: esp32\n\n    Old.\n\nB\n===\n\n.. only:: esp32c3\n\n    \
             New.\n\nFor all.\n",
        );
        let old = found.iter().find(|passage| passage.text.contains("Old.")).unwrap();
        assert_eq!(old.chips.names(), ["esp32"]);
        let new = found.iter().find(|passage| passage.text.contains("New.")).unwrap();
        assert_eq!(new.chips, ChipSet::ALL);
        assert_eq!(new.text, "[only esp32c3]\nNew.\n\n[all chips]\nFor all.");
    }

    #[test]
    fn what_is_for_no_chip_of_its_document_is_no_text() {
        let text = "A\n===\n\n.. only:: esp32\n\n    Old.\n\n.. only:: esp32c3\n\n    .. include:: \
                    ../inc/part.rst\n\nFor both.\n";
        let chips = ChipSet::of("esp32s2").unwrap().or(ChipSet::of("esp32c3").unwrap());
        let include = |path: &str| (path == "docs/en/inc/part.rst").then(|| "Included.".into());
        let (facts, window) = (&ChipFacts::default(), WindowSize::default());
        let context = SplitContext { facts, window, include: &include };
        let (path, kind) = ("docs/en/api/a.rst", PassageKind::Guide);
        let found = split(Document { path, text, kind, chips }, &context);
        assert_eq!(
            found[0].text,
            "[only esp32c3]\nIncluded.\n\n[only esp32s2, esp32c3]\nFor both."
        );
        assert_eq!(found[0].chips, chips);
    }

    #[test]
    fn markup_becomes_words() {
        let found = passages(
            "T\n===\n\nSee :cpp:func:`i2c_probe`, :doc:`the guide <../x>` and ``CONFIG_X``.\n\n.. \
             code-block:: c\n    :emphasize-lines: 1\n\n    int a;\n\n    int b;\n\n.. figure:: \
             a.png\n    :align: center\n\n.. note::\n\n    Mind this.\n\n.. _label:\n\nRun::\n\n  \
             make\n\n.. include:: ../inc/part.rst\n    :start-after: START\n    :end-before: END\n",
        );
        assert_eq!(
            found[0].text,
            "See `i2c_probe`, the guide and `CONFIG_X`.\n\n```c\nint a;\n\nint b;\n```\n\nNote: \n\n    \
             Mind this.\n\nRun:\n```\nmake\n```\n\nIncluded words."
        );
    }

    #[test]
    fn broken_documents_are_still_text() {
        for text in
            [".. code-block:: c\n", "=====", "=====\n=====\n=====", ".. only:: (\n  x", "::"]
        {
            let _ = passages(text);
        }
        assert_eq!(passages("Just words.\n\n.. include:: /none.rst\n")[0].text, "Just words.");
    }
}
