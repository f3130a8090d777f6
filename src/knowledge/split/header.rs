//! Splits C headers: each documented declaration with its comment is a passage.
//!
//! Reads comments and brackets only, not the language, so that every header of every version is
//! read. Pure.

use super::document::{Document, SplitContext};
use super::window::cut;
use crate::knowledge::passage::Passage;

/// Names in a header's own passage.
const MOST_NAMES: usize = 150;
/// Longest declaration that is kept, in bytes.
const LONGEST: usize = 6_000;

/// A comment and what it stands before.
struct Documented<'a> {
    comment: String,
    code: &'a str,
    names: Vec<String>,
}

/// Splits a header.
pub(super) fn split(document: Document<'_>, context: &SplitContext<'_>) -> Vec<Passage> {
    let text = document.text;
    let title = include_name(document.path).to_owned();
    let mut passages = Vec::new();
    let mut all_names: Vec<String> = Vec::new();
    for found in documented(text).into_iter().chain(macros(text)) {
        let Some(name) = found.names.first().cloned() else { continue };
        all_names.push(name.clone());
        let body = format!("{}\n```c\n{}\n```", found.comment, found.code.trim_end());
        let is_function = found.code.contains(&format!("{name}("));
        let heading = if is_function { format!("{name}()") } else { name.clone() };
        for piece in cut(&body, context.window) {
            passages.push(Passage {
                anchor: name.clone(),
                headings: vec![heading.clone()],
                symbols: found.names.clone(),
                ..document.passage(&title, piece.text)
            });
        }
    }
    if !all_names.is_empty() {
        all_names.truncate(MOST_NAMES);
        let text = format!("`#include \"{title}\"` declares: {}", all_names.join(", "));
        let pieces = cut(&text, context.window).into_iter().take(2);
        passages.extend(pieces.map(|piece| document.passage(&title, piece.text)));
    }
    passages
}

/// The path as an `#include` names it.
fn include_name(path: &str) -> &str {
    path.rsplit_once("/include/")
        .map_or_else(|| path.rsplit('/').next().unwrap_or(path), |(_, name)| name)
}

/// Every identifier of a header, for the question whether a name exists at all.
#[must_use]
pub fn names(text: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut names: Vec<&str> = text
        .split(|c| !is_part(c))
        .filter(|word| word.len() > 2 && word.len() < 100 && !word.as_bytes()[0].is_ascii_digit())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Comments that begin with `/**` or `/*!`, each with the declaration after it.
fn documented(text: &str) -> Vec<Documented<'_>> {
    let mut found = Vec::new();
    let mut place = 0;
    while let Some(start) = text[place..].find("/*").map(|start| place + start) {
        let Some(end) = text[start + 2..].find("*/").map(|end| start + 2 + end) else { break };
        place = end + 2;
        let is_doc = text[start..].starts_with("/**") || text[start..].starts_with("/*!");
        let trails = text[start..].starts_with("/*!<") || text[start..].starts_with("/**<");
        if !is_doc || trails || end < start + 4 {
            continue;
        }
        let comment = comment_words(&text[start + 3..end]);
        if comment.len() < 8 || comment.starts_with("@{") {
            continue;
        }
        let Some((code, names)) = declaration(&text[place..]) else { continue };
        // Comments inside a structure belong to it.
        let after = code.as_ptr() as usize - text.as_ptr() as usize + code.len();
        place = after.max(place);
        if !names.is_empty() {
            let code = &code[..code.floor_char_boundary(LONGEST)];
            found.push(Documented { comment, code, names });
        }
    }
    found
}

/// Macros with a comment behind them, such as error codes.
fn macros(text: &str) -> Vec<Documented<'_>> {
    let mut found = Vec::new();
    for line in text.lines() {
        let Some(rest) = line.trim_start().strip_prefix("#define ") else { continue };
        let Some((code, comment)) = rest.split_once("/*!<").or_else(|| rest.split_once("/**<"))
        else {
            continue;
        };
        let name: String =
            code.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let comment = comment.trim_end().trim_end_matches("*/").trim().to_owned();
        if !name.is_empty() && !comment.is_empty() {
            found.push(Documented { comment, code: line.trim(), names: vec![name] });
        }
    }
    found
}

/// A comment's words: stars at the start of lines and Doxygen's commands are taken off.
fn comment_words(comment: &str) -> String {
    let mut words = String::new();
    for line in comment.lines() {
        let line = line.trim();
        let line = line.strip_prefix('*').unwrap_or(line).trim_start_matches('*').trim();
        let line = ["@brief", "\\brief", "@file", "@code{c}", "@code", "@endcode", "@verbatim"]
            .iter()
            .fold(line, |line, command| line.strip_prefix(command).unwrap_or(line).trim_start());
        let line = line.replace("@param", "Parameter").replace("@return", "Returns:");
        let line = line.replace("@note", "Note:").replace("@attention", "Attention:");
        if !line.is_empty() || words.ends_with(|c| c != '\n') {
            words.push_str(&line);
            words.push('\n');
        }
    }
    words.trim().to_owned()
}

/// The declaration that follows a comment, and the names that it declares.
fn declaration(text: &str) -> Option<(&str, Vec<String>)> {
    let mut rest = text;
    // Conditions around a declaration do not matter here.
    loop {
        rest = rest.trim_start();
        if let Some(directive) = rest.strip_prefix('#') {
            if directive.trim_start().starts_with("define") {
                return Some(define(rest));
            }
            let (_, tail) = rest.split_once('\n')?;
            rest = tail;
        } else if rest.starts_with("//") {
            rest = rest.split_once('\n')?.1;
        } else {
            break;
        }
    }
    if rest.starts_with("/*") || rest.starts_with("extern \"C\"") || rest.starts_with('}') {
        return None;
    }
    let end = end_of(rest)?;
    let code = &rest[..end];
    Some((code, declared(code)))
}

fn define(text: &str) -> (&str, Vec<String>) {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        end += line.len();
        if !line.trim_end().ends_with('\\') {
            break;
        }
    }
    let code = &text[..end];
    let name = code
        .split_whitespace()
        .find(|word| !matches!(*word, "#" | "define" | "#define"))
        .map(|word| word.split('(').next().unwrap_or(word).to_owned());
    (code, name.into_iter().collect())
}

/// Where a declaration ends: at its semicolon, or before a function's body.
fn end_of(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut round, mut curly, mut saw_round) = (0_i32, 0_i32, false);
    let mut place = 0;
    while place < bytes.len() {
        match bytes[place] {
            b'/' if bytes.get(place + 1) == Some(&b'*') => {
                place += 2 + text[place + 2..].find("*/")? + 1;
            }
            b'/' if bytes.get(place + 1) == Some(&b'/') => {
                place += text[place..].find('\n').unwrap_or(text.len() - place) - 1;
            }
            b'(' => {
                round += 1;
                saw_round |= curly == 0;
            }
            b')' => round -= 1,
            b'{' if curly == 0 && round == 0 && saw_round && !is_type(text) => return Some(place),
            b'{' => curly += 1,
            b'}' => curly -= 1,
            b';' if curly <= 0 && round <= 0 => return Some(place + 1),
            _ => {}
        }
        if curly < 0 {
            return None;
        }
        place += 1;
    }
    None
}

fn is_type(code: &str) -> bool {
    ["typedef", "struct", "enum", "union"].iter().any(|word| code.starts_with(word))
}

/// The names of a declaration: the type or function, then the values of an enumeration.
fn declared(code: &str) -> Vec<String> {
    let plain = without_comments(code);
    let identifiers = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|word| !word.is_empty() && !word.as_bytes()[0].is_ascii_digit())
            .map(str::to_owned)
            .collect()
    };
    let mut names = Vec::new();
    if let (Some(open), Some(close)) = (plain.find('{'), plain.rfind('}')) {
        names.extend(identifiers(&plain[close..]).into_iter().next());
        let head = identifiers(&plain[..open]);
        names.extend(head.last().filter(|word| !is_type(word)).cloned());
        if head.iter().any(|word| word == "enum") {
            names.extend(
                plain[open + 1..close]
                    .split(',')
                    .filter_map(|value| identifiers(value).into_iter().next())
                    .take(80),
            );
        }
    } else if plain.starts_with("typedef")
        && let Some(pointer) = plain.find("(*")
    {
        // A type of functions.
        names.extend(identifiers(&plain[pointer + 2..]).into_iter().next());
    } else if let Some(open) = function_bracket(&plain) {
        names.extend(identifiers(&plain[..open]).pop());
    } else {
        let before = plain.split('=').next().unwrap_or(&plain);
        names.extend(identifiers(before.split('[').next().unwrap_or(before)).pop());
    }
    names
}

/// The bracket of a function's parameters: the first that follows a name and is no attribute's.
fn function_bracket(code: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(open) = code[from..].find('(').map(|open| from + open) {
        let before = code[..open].trim_end();
        let name_start =
            before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |place| place + 1);
        let name = &before[name_start..];
        let is_attribute = name.starts_with("__") || name == "_Alignas" || name.is_empty();
        if !is_attribute {
            return Some(open);
        }
        from = open + 1;
    }
    None
}

fn without_comments(code: &str) -> String {
    let mut plain = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(start) = rest.find("/*") {
        plain.push_str(&rest[..start]);
        rest = rest[start..].split_once("*/").map_or("", |(_, tail)| tail);
    }
    plain.push_str(rest);
    let lines = plain.lines().filter(|line| !line.trim_start().starts_with('#'));
    lines.map(|line| line.split("//").next().unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::document::plain_context;
    use super::*;
    use crate::knowledge::chips::ChipSet;
    use crate::knowledge::passage::PassageKind;

    const HEADER: &str = r#"/*
 * SPDX
 */
#pragma once
/** @file Things. */
#ifdef __cplusplus
extern "C" {
#endif
/**
 * @brief Mode of a thing
 */
typedef enum {
    THING_OFF = 0, /*!< Off */
    THING_ON,      /*!< On */
} thing_mode_t;

/** @brief How a thing is made */
typedef struct thing_config {
    int pin;           /*!< Its pin */
    struct { int a: 1; } flags;
} thing_config_t;

/** Called when it changes. */
typedef void (*thing_cb_t)(int level, void *arg);

/**
 * @brief Starts a thing
 *
 * @param[in] config What to make.
 * @return ESP_OK
 */
#if X
esp_err_t thing_start(const thing_config_t *config, int (*f)(void)) __attribute__((deprecated));
#endif

/** @brief Adds; inline. */
static inline __attribute__((always_inline)) int thing_add(int a) { return a; }

/** @brief Most things. */
#define THING_MOST(x) \
    (x)
#define ESP_ERR_THING_LOST (0x100 + 2) /*!< The thing was lost */
/** unfinished
"#;

    fn passages(text: &str) -> Vec<Passage> {
        let context = plain_context();
        let path = "components/thing/include/driver/thing.h";
        split(Document { path, text, kind: PassageKind::Api, chips: ChipSet::ALL }, &context)
    }

    #[test]
    fn each_documented_declaration_is_a_passage() {
        let found = passages(HEADER);
        let titles: Vec<String> = found.iter().map(Passage::full_title).collect();
        let expected = [
            "thing_mode_t",
            "thing_config_t",
            "thing_cb_t",
            "thing_start()",
            "thing_add()",
            "THING_MOST()",
            "ESP_ERR_THING_LOST",
        ];
        let expected: Vec<String> =
            expected.iter().map(|name| format!("driver/thing.h: {name}")).collect();
        assert_eq!(titles[..7], expected);
        assert_eq!(found[0].symbols, ["thing_mode_t", "THING_OFF", "THING_ON"]);
        assert_eq!(found[3].source(), "components/thing/include/driver/thing.h#thing_start");
        let text = &found[3].text;
        assert!(text.starts_with("Starts a thing\nParameter[in] config What to make."), "{text}");
        assert!(found[6].text.contains("The thing was lost"));
        assert!(found[7].text.contains("declares: thing_mode_t, "));
    }

    #[test]
    fn broken_headers_end_somewhere() {
        for text in
            ["/**", "/** abcdefgh */", "/** abcdefgh */ int (", "/** abcdefgh */ }", "/*/ x"]
        {
            assert!(passages(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn every_name_is_known() {
        let names = names("#define A_B 1\nint foo_bar(int x); /* see baz_q */");
        assert_eq!(names, ["A_B", "baz_q", "define", "foo_bar", "int", "see"]);
    }
}
