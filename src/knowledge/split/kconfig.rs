//! Splits lists of options (`Kconfig`): each option with its prompt, help, defaults and conditions.
//!
//! Pure.

use super::document::{Document, SplitContext};
use super::window::cut;
use crate::knowledge::passage::{Passage, PassageKind};

/// An option as it is read.
#[derive(Default)]
struct KconfigEntry {
    name: String,
    is_choice: bool,
    prompt: String,
    facts: Vec<String>,
    help: String,
    menus: Vec<String>,
}

/// Splits a list.
pub(super) fn split(document: Document<'_>, context: &SplitContext<'_>) -> Vec<Passage> {
    let mut passages = Vec::new();
    for entry in entries(document.text) {
        // An option without a prompt is not set by people.
        if entry.prompt.is_empty() && entry.help.is_empty() {
            continue;
        }
        let name = format!("CONFIG_{}", entry.name);
        let what = if entry.is_choice { "Choice " } else { "" };
        let mut text = format!("{what}`{name}`: {}\n", entry.prompt);
        if !entry.menus.is_empty() {
            text.push_str(&format!("In menuconfig: {}\n", entry.menus.join(" > ")));
        }
        if !entry.facts.is_empty() {
            text.push_str(&entry.facts.join("\n"));
            text.push('\n');
        }
        if !entry.help.is_empty() {
            text.push_str(&format!("\n{}", entry.help.trim_end()));
        }
        let title = if entry.prompt.is_empty() { name.clone() } else { entry.prompt.clone() };
        for piece in cut(&text, context.window) {
            passages.push(Passage {
                anchor: entry.name.clone(),
                headings: vec![title.clone()],
                kind: PassageKind::Option,
                symbols: vec![name.clone()],
                ..document.passage(&name, piece.text)
            });
        }
    }
    passages
}

/// The names of all options and choices of a list, without `CONFIG_`.
pub fn names(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let (word, rest) = line.trim().split_once(char::is_whitespace)?;
        matches!(word, "config" | "menuconfig" | "choice").then(|| first_word(rest))
    })
}

fn first_word(text: &str) -> &str {
    let end = text.trim_start().find(|c: char| !c.is_alphanumeric() && c != '_');
    let text = text.trim_start();
    &text[..end.unwrap_or(text.len())]
}

fn entries(text: &str) -> Vec<KconfigEntry> {
    let mut done: Vec<KconfigEntry> = Vec::new();
    let mut menus: Vec<String> = Vec::new();
    let mut open: Option<KconfigEntry> = None;
    let mut help_indent: Option<usize> = None;
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let trimmed = line.trim();
        if let Some(least) = help_indent {
            let inside = trimmed.is_empty() || indent >= least.max(1);
            if inside && let Some(entry) = &mut open {
                if least == 0 && !trimmed.is_empty() {
                    help_indent = Some(indent);
                }
                entry.help.push_str(trimmed);
                entry.help.push('\n');
                continue;
            }
            help_indent = None;
        }
        let (word, rest) = trimmed.split_once(char::is_whitespace).unwrap_or((trimmed, ""));
        match word {
            "config" | "menuconfig" | "choice" => {
                done.extend(open.take());
                open = Some(KconfigEntry {
                    name: first_word(rest).to_owned(),
                    is_choice: word == "choice",
                    menus: menus.clone(),
                    ..KconfigEntry::default()
                });
            }
            "menu" => {
                done.extend(open.take());
                menus.push(quoted(rest).unwrap_or_default().to_owned());
            }
            "endmenu" => {
                done.extend(open.take());
                menus.pop();
            }
            "endchoice" | "if" | "endif" | "source" | "rsource" | "orsource" | "osource"
            | "mainmenu" | "comment" => done.extend(open.take()),
            "help" | "---help---" => help_indent = Some(0),
            _ => {
                if let Some(entry) = &mut open {
                    attribute(entry, word, rest, trimmed);
                }
            }
        }
    }
    done.extend(open);
    done.retain(|entry| !entry.name.is_empty());
    done
}

fn attribute(entry: &mut KconfigEntry, word: &str, rest: &str, line: &str) {
    match word {
        "bool" | "int" | "hex" | "string" | "tristate" | "prompt" | "float" => {
            if let Some(prompt) = quoted(rest) {
                prompt.clone_into(&mut entry.prompt);
            }
            if word != "prompt" {
                entry.facts.push(format!("Type: {word}"));
            }
        }
        "default" | "range" | "select" | "imply" => entry.facts.push(line.to_owned()),
        "depends" => entry.facts.push(format!("Depends {rest}")),
        _ => {}
    }
}

/// What stands in the first pair of quotation marks.
fn quoted(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once('"')?;
    rest.split_once('"').map(|(inside, _)| inside)
}

#[cfg(test)]
mod tests {
    use super::super::document::plain_context;
    use super::*;
    use crate::knowledge::chips::ChipSet;

    const LIST: &str = "menu \"Log\"\n\n    config LOG_COLORS\n        bool \"Use colors\"\n        \
        default y\n        depends on LOG_ANY\n        help\n            Adds colors.\n\n            \
        And a reset.\n\n    choice LOG_LEVEL\n        bool \"Level\"\n        config LOG_NONE\n            \
        bool \"No output\"\n    endchoice\n\n    config HIDDEN\n        bool\nendmenu\nconfig";

    #[test]
    fn each_option_that_people_set_is_a_passage() {
        let context = plain_context();
        let (kind, chips) = (PassageKind::Option, ChipSet::ALL);
        let path = "components/log/Kconfig";
        let found = split(Document { path, text: LIST, kind, chips }, &context);
        let sources: Vec<String> = found.iter().map(Passage::source).collect();
        let expected = ["LOG_COLORS", "LOG_LEVEL", "LOG_NONE"];
        assert_eq!(sources, expected.map(|name| format!("components/log/Kconfig#{name}")));
        assert_eq!(
            found[0].text,
            "`CONFIG_LOG_COLORS`: Use colors\nIn menuconfig: Log\nType: bool\ndefault y\nDepends on \
             LOG_ANY\n\nAdds colors.\n\nAnd a reset."
        );
        let all: Vec<&str> = names(LIST).collect();
        assert_eq!(all, ["LOG_COLORS", "LOG_LEVEL", "LOG_NONE", "HIDDEN"]);
    }
}
