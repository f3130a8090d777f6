//! Secrets in calls that no longer run: in comments, and in texts for people.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::code;
use super::secret::Secret;
use crate::text::c_tokens::{Style, Token, tokens};
use crate::text::lines::line_starts;

/// What a call with a text among its arguments looks like.
static CALL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#"\w\([^()"\n]*""#).ok());

/// Those in the comments of a source.
pub(super) fn find(text: &str, tokens: &[Token<'_>]) -> Vec<Secret> {
    let mut found = Vec::new();
    let mut end = 0;
    // What no token covers is a comment or a blank.
    let starts = tokens.iter().map(|token| (token.start, token.range().end));
    for (start, next) in starts.chain([(text.len(), text.len())]) {
        if start > end + 8
            && let Some(comment) = text.get(end..start)
        {
            found.extend(in_lines(comment, end));
        }
        end = next;
    }
    found
}

/// Those in lines that begin at a byte of a file.
pub(super) fn in_lines(text: &str, from: usize) -> Vec<Secret> {
    let is_call = |line: &str| CALL.as_ref().is_some_and(|call| call.is_match(line));
    if !text.contains("(") || !is_call(text) {
        return Vec::new();
    }
    let lines = line_starts(text).filter(|(_, line)| is_call(line));
    lines.filter_map(|(start, line)| called(from + start, line)).collect()
}

/// A secret among the arguments of a call, as `// WiFi.begin("…", "…")`.
fn called(start: usize, line: &str) -> Option<Secret> {
    // From the name of the call on, `WiFi.begin`: words may stand before it.
    let call = CALL.as_ref()?.find(line)?;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '-' | '>');
    let before = line.get(..call.start())?.trim_end_matches(is_name).len();
    let from = before + line.get(before..)?.find(|c: char| c.is_alphabetic() || c == '_')?;
    let code = line.get(from..)?;
    let found = code::find(code, &tokens(code, Style::C), &HashMap::new());
    let first = found.into_iter().find(|secret| secret.is_sure)?;
    let range = start + from + first.range.start..start + from + first.range.end;
    Some(Secret { range, ..first })
}
