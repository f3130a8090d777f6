//! What a source takes in from outside of the project: includes, embedded files, assembler.

use super::commands::shown;
use super::host_code_place::HostCode;
use super::source::SourceText;
use crate::model::FindingLevel;
use crate::text::c_tokens::{Token, TokenKind};

/// Whether a file is a source that has includes, by its name or path.
pub(super) fn is_code(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let end = name.rsplit_once('.').map_or("", |(_, end)| end);
    matches!(
        end,
        "c" | "h"
            | "cpp"
            | "hpp"
            | "cc"
            | "hh"
            | "cxx"
            | "hxx"
            | "ino"
            | "S"
            | "s"
            | "inc"
            | "rs"
            | "tpp"
            | "ipp"
    )
}

/// Whether a path leaves the project when it is read from the folder of `from`.
pub(super) fn is_outside(from: &str, path: &str) -> bool {
    let drive = path.as_bytes().get(1) == Some(&b':');
    if path.starts_with(['/', '~'])
        || drive
        || path.contains("$ENV{HOME}")
        || path.contains("$HOME")
    {
        return true;
    }
    if path.starts_with('$') {
        return false;
    }
    let mut depth = from.matches('/').count();
    for part in path.split(['/', '\\']) {
        match part {
            ".." => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return true,
            },
            "" | "." => {}
            _ => depth += 1,
        }
    }
    false
}

/// What is taken in from outside.
pub(super) fn find(source: &SourceText<'_>) -> Vec<HostCode> {
    let (path, text) = (source.path.as_str(), source.text);
    let hints = ["include", "incbin", "embed", "plugin", "Command"];
    if !hints.iter().any(|hint| text.contains(hint)) {
        return Vec::new();
    }
    let tokens = source.tokens();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let before = |back: usize| at.checked_sub(back).and_then(|at| tokens.get(at));
        if let Some(name) = token.text() {
            let directive = before(1).filter(|token| token.in_directive);
            let is_include =
                directive.is_some_and(|t| t.raw.starts_with("include") || t.is_word("import"));
            let is_embed = directive.is_some_and(|token| token.is_word("embed"))
                || before(1).is_some_and(|token| token.raw == "incbin")
                || (before(1).is_some_and(|token| token.is("("))
                    && before(2).is_some_and(|token| token.is("!"))
                    && before(3).is_some_and(|token| token.raw.starts_with("include")));
            if is_embed && is_outside(path, &name) {
                found.push(embedded(token, &name));
            } else if is_include && is_far(path, &name) {
                let text = format!("reads `{}`, which is outside of the project", shown(&name));
                found.push(HostCode::other(token.range(), (FindingLevel::Warning, text)));
            } else if let Some((_, rest)) = name.split_once(".incbin") {
                let file = rest.trim().trim_matches(['"', '\\']);
                let file = file.split(['"', '\\']).next().unwrap_or_default();
                if is_outside(path, file) {
                    found.push(embedded(token, file));
                }
            }
        } else if token.is("<") && before(1).is_some_and(|t| t.in_directive && t.is_word("include"))
        {
            let rest = text.get(token.start + 1..).unwrap_or_default();
            let name = rest.split(['>', '\n']).next().unwrap_or_default();
            if is_far(path, name) {
                let text = format!("reads `{}`, which is outside of the project", shown(name));
                let range = token.start..token.start + name.len() + 2;
                found.push(HostCode::other(range, (FindingLevel::Warning, text)));
            }
        } else if token.kind == TokenKind::Word && token.raw == "__has_embed" {
            let text = "asks for files at build time".to_owned();
            found.push(HostCode::other(token.range(), (FindingLevel::Note, text)));
        }
    }
    found
}

/// An include that is absolute or leaves the project. Up to two levels are forgiven: it may be
/// found from an include folder.
fn is_far(path: &str, name: &str) -> bool {
    let absolute = name.starts_with(['/', '~']) || name.as_bytes().get(1) == Some(&b':');
    absolute
        || (name.starts_with("../../..") && is_outside(path, name))
        || (name.contains("../../../.."))
}

fn embedded(token: &Token<'_>, file: &str) -> HostCode {
    let text =
        format!("puts `{}`, a file from outside of the project, into the firmware", shown(file));
    HostCode::other(token.range(), (FindingLevel::Stop, text))
}
