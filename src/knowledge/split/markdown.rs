//! Splits Markdown at its headings.
//!
//! A front matter may name the title. Pure.

use super::document::{Document, SplitContext};
use super::window::cut;
use crate::knowledge::passage::{Passage, slug};

/// Splits a document.
pub(super) fn split(document: Document<'_>, context: &SplitContext<'_>) -> Vec<Passage> {
    let (mut title, body) = front_matter(document.text);
    let mut path: Vec<(usize, String)> = Vec::new();
    let mut sections: Vec<(Vec<String>, String)> = vec![(Vec::new(), String::new())];
    let mut in_code = false;
    for line in body.lines() {
        in_code ^= line.trim_start().starts_with("```");
        if !in_code && let Some((level, heading)) = heading(line) {
            if title.is_none() && level == 1 {
                title = Some(heading.to_owned());
                path.clear();
                continue;
            }
            path.retain(|(outer, _)| *outer < level);
            path.push((level, heading.to_owned()));
            let headings = path.iter().map(|(_, heading)| heading.clone()).collect();
            sections.push((headings, String::new()));
        } else if let Some((_, text)) = sections.last_mut() {
            text.push_str(line);
            text.push('\n');
        }
    }
    let title = title.unwrap_or_else(|| name_of(document.path));
    let mut passages = Vec::new();
    for (headings, text) in sections {
        let anchor = headings.last().map(|heading| slug(heading)).unwrap_or_default();
        for piece in cut(&text, context.window) {
            passages.push(Passage {
                anchor: anchor.clone(),
                headings: headings.clone(),
                ..document.passage(&title, piece.text)
            });
        }
    }
    passages
}

fn name_of(path: &str) -> String {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or(path);
    match (name.split('.').next(), parts.next()) {
        (Some("README" | "readme" | "index"), Some(folder)) => folder.to_owned(),
        (Some(stem), _) => stem.to_owned(),
        (None, _) => name.to_owned(),
    }
}

/// The title that a front matter between two `---` lines names, and what follows it.
fn front_matter(text: &str) -> (Option<String>, &str) {
    let Some((head, body)) = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"))
    else {
        return (None, text);
    };
    let title = head.lines().find_map(|line| line.strip_prefix("title:"));
    (title.map(|title| title.trim().to_owned()), body)
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    ((1..=6).contains(&level) && rest.starts_with(' '))
        .then(|| (level, rest.trim().trim_end_matches('#').trim_end()))
        .filter(|(_, heading)| !heading.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::document::plain_context;
    use super::*;
    use crate::knowledge::chips::ChipSet;
    use crate::knowledge::passage::PassageKind;

    fn titles(path: &str, text: &str) -> Vec<(String, String)> {
        let (kind, chips) = (PassageKind::Note, ChipSet::ALL);
        let context = plain_context();
        let found = split(Document { path, text, kind, chips }, &context);
        found.iter().map(|passage| (passage.full_title(), passage.source())).collect()
    }

    #[test]
    fn headings_outside_of_code_make_passages() {
        let text = "---\ntitle: I2C\nsource: x\n---\nIntro.\n\n## Make a bus\n```c\n# no heading\n```\n\n\
                    ### Speed\nFast.\n\n## Pull-ups\nYes.\n";
        let found = titles("i2c.md", text);
        let expected = [
            ("I2C", "i2c.md"),
            ("I2C: Make a bus", "i2c.md#make-a-bus"),
            ("I2C: Speed", "i2c.md#speed"),
            ("I2C: Pull-ups", "i2c.md#pull-ups"),
        ];
        assert_eq!(found, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    }

    #[test]
    fn the_first_heading_is_the_title_else_the_folder() {
        assert_eq!(titles("a/README.md", "# Blink\nWords.\n")[0].0, "Blink");
        assert_eq!(titles("a/README.md", "Words.\n")[0].0, "a");
    }
}
