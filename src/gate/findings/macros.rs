//! Macros with parameters, as the preprocessor expands them.
//!
//! Owns `##` and the parameters. Must not know values.

use std::borrow::Cow;

use crate::text::c_tokens::{Token, TokenKind};

/// Longest text that a macro is expanded to, in bytes.
const LONGEST: usize = 1_000;

/// A macro with parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Macro {
    parameters: Vec<String>,
    /// The tokens that it stands for.
    body: Vec<String>,
}

impl Macro {
    /// The macro that a directive defines, from its name on; `None` when it has no parameters, or
    /// takes any number of arguments.
    pub(super) fn of(line: &[Token<'_>]) -> Option<Self> {
        let (name, open) = (line.first()?, line.get(1)?);
        // With a blank between them the parenthesis belongs to the value.
        if !open.is("(") || open.start != name.range().end {
            return None;
        }
        let close = line.iter().position(|token| token.is(")"))?;
        let mut parameters = Vec::new();
        for part in line.get(2..close)?.split(|token| token.is(",")) {
            match part {
                [] if close == 2 => {}
                [name] => parameters.push(name.word()?.into_owned()),
                _ => return None,
            }
        }
        Some(Self { parameters, body: texts(line.get(close + 1..)?) })
    }

    /// What a function stands for whose body returns this; `parameters` are its tokens between
    /// parentheses. `None` when one of them has no name.
    pub(super) fn of_function(parameters: &[Token<'_>], body: &[Token<'_>]) -> Option<Self> {
        let parts = parameters.split(|token| token.is(","));
        let names = parts.map(|part| match part {
            [_, .., name] => name.word().map(Cow::into_owned),
            _ => None,
        });
        Some(Self { parameters: names.collect::<Option<_>>()?, body: texts(body) })
    }

    /// What it stands for with these arguments; `value` is the value of an argument that is a
    /// constant. `None` when the arguments do not fit, or it becomes too long.
    pub(super) fn expand(
        &self,
        arguments: &[&[Token<'_>]],
        value: impl Fn(&[Token<'_>]) -> Option<i128>,
    ) -> Option<String> {
        let is_empty = self.parameters.is_empty() && matches!(arguments, [[]]);
        if arguments.len() != self.parameters.len() && !is_empty {
            return None;
        }
        let mut text = String::new();
        let joins = |at: usize| {
            let mark = |at: usize| self.body.get(at).is_some_and(|token| token == "#");
            mark(at) && mark(at + 1)
        };
        let mut at = 0;
        while let Some(token) = self.body.get(at) {
            if joins(at) {
                text.truncate(text.trim_end().len());
                at += 2;
                continue;
            }
            let place = self.parameters.iter().position(|name| name == token);
            match place.and_then(|place| arguments.get(place)) {
                None => text.push_str(token),
                Some(argument) => {
                    // Next to `##` the argument stays as it is written.
                    let is_joined = joins(at + 1) || at.checked_sub(2).is_some_and(joins);
                    match value(argument).filter(|_| !is_joined) {
                        Some(number) => text.push_str(&number.to_string()),
                        None => {
                            let raw: Vec<&str> = argument.iter().map(|token| token.raw).collect();
                            text.push_str(&raw.join(" "));
                        }
                    }
                }
            }
            if !joins(at + 1) {
                text.push(' ');
            }
            at += 1;
            if text.len() > LONGEST {
                return None;
            }
        }
        Some(text)
    }
}

fn texts(tokens: &[Token<'_>]) -> Vec<String> {
    let text = |token: &Token<'_>| match token.kind {
        TokenKind::Word => token.word().map(Cow::into_owned).unwrap_or_default(),
        _ => token.raw.to_owned(),
    };
    tokens.iter().map(text).collect()
}
