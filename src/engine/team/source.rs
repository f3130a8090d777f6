//! A file of a team or an agent while it is read: what is wrong in it is told with its line.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;

use super::format::LimitWord;
use crate::config::Spanned;
use crate::config::assets::AssetFile;
use crate::model::{AgentName, ToolName, UserError};
use crate::text::lines::line_at;

/// Tells whether a tool of that name exists.
pub type KnownTool<'a> = &'a dyn Fn(&ToolName) -> Result<(), UserError>;

/// A file, and how many of its bytes stand before the TOML that is read.
pub(super) struct TeamSource<'a> {
    pub file: &'a AssetFile,
    pub skipped: usize,
}

impl TeamSource<'_> {
    pub fn wrong(&self, span: &Range<usize>, why: impl Into<String>, fix: &str) -> UserError {
        let line = line_at(&self.file.text, self.skipped + span.start);
        UserError::new(format!("Cannot use {}, line {line}", self.file.origin), why, fix)
    }

    pub fn parse<T: for<'de> Deserialize<'de>>(&self, text: &str) -> Result<T, UserError> {
        toml::from_str(text).map_err(|error| {
            let why = error.message().trim().replace('\n', ", ");
            self.wrong(&error.span().unwrap_or(0..0), why, "Correct or remove that line.")
        })
    }

    /// Refuses a name that is not the file's.
    pub fn same_name(&self, name: &Spanned<String>, stem: &str) -> Result<(), UserError> {
        if name.get_ref() == stem {
            return Ok(());
        }
        let why = format!("the name `{}` is not the file's name `{stem}`", name.get_ref());
        Err(self.wrong(&name.span(), why, "Make them the same."))
    }

    pub fn tool(
        &self,
        name: &Spanned<String>,
        known: KnownTool<'_>,
    ) -> Result<ToolName, UserError> {
        let tool = ToolName::new(name.get_ref());
        match known(&tool) {
            Ok(()) => Ok(tool),
            Err(error) => {
                Err(self.wrong(&name.span(), format!("there is no tool `{tool}`"), &error.fix))
            }
        }
    }

    pub fn one_of(
        &self,
        name: &Spanned<String>,
        known: &[AgentName],
    ) -> Result<AgentName, UserError> {
        let found = known.iter().find(|agent| agent.as_str() == name.get_ref());
        found.cloned().ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(AgentName::as_str).collect();
            let why = format!("there is no agent `{}` here", name.get_ref());
            self.wrong(&name.span(), why, &format!("Use one of: {}.", names.join(", ")))
        })
    }

    /// A number of the file, or the one of the team's `limits` that it names.
    pub fn positive(
        &self,
        number: Option<Spanned<LimitWord>>,
        limits: &BTreeMap<String, u32>,
        default: u32,
    ) -> Result<u32, UserError> {
        let Some(number) = number else { return Ok(default) };
        match number.get_ref() {
            LimitWord::Number(0) => {
                Err(self.wrong(&number.span(), "the number must be at least 1", "Raise it."))
            }
            LimitWord::Number(number) => Ok(*number),
            LimitWord::Name(name) => limits.get(name).copied().ok_or_else(|| {
                let why = format!("there is no limit `{name}`");
                let fix = "Write a number, or give the limit its number in [limits].";
                self.wrong(&number.span(), why, fix)
            }),
        }
    }
}
