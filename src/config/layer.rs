//! One configuration file as it is written, before the layers are put together.

use std::ops::Range;
use std::path::{Path, PathBuf};

use schemars::{JsonSchema, Schema};
use serde::Deserialize;

use crate::model::{ChangeKind, UserError};
use crate::text::lines::line_at;

use super::glob::Glob;
use super::models::{BudgetsLayer, ModelsLayer, Profiles};
use super::origin::{Origin, Sourced};
use super::policy::{PolicyRule, Ruling};
use super::settings::Notify;
use super::spanned::{Spanned, schema_of};

/// Which file a layer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LayerKind {
    User,
    Project,
    /// Named by a flag; holds nothing but rules.
    PolicyFile,
}

/// The text of a configuration file together with its place, for error messages.
#[derive(Debug)]
pub(super) struct ConfigSource<'a> {
    pub kind: LayerKind,
    pub file: &'a Path,
    pub text: &'a str,
}

/// Settings of a person or a project; each may be left out.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Layer {
    /// How the screen looks and is used.
    pub ui: UiLayer,
    /// Bounds on runs.
    pub limits: LimitsLayer,
    /// How much of the logs is kept.
    pub logs: LogsLayer,
    /// Which model answers.
    pub models: ModelsLayer,
    /// Models, by a name of yours.
    pub profiles: Profiles,
    /// What may be spent.
    pub budget: BudgetsLayer,
    /// Rules that decide about effects; the first one that holds counts.
    policy: Vec<Spanned<RuleLayer>>,
}

/// The schema of `config.toml`.
#[must_use]
pub fn schema() -> Schema {
    schema_of::<Layer>("Configuration of firmhand")
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct UiLayer {
    /// Name of a file in `themes/`.
    pub theme: Option<Spanned<String>>,
    /// Name of a file in `keymaps/`.
    pub keymap: Option<Spanned<String>>,
    /// Whether the mouse belongs to the program.
    pub mouse: Option<Spanned<bool>>,
    /// Whether the title of the terminal shows what waits.
    pub title: Option<Spanned<bool>>,
    /// How a person who looks elsewhere is called.
    pub notify: Option<Spanned<Notify>>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct LimitsLayer {
    /// A build is ended after this long.
    pub build_seconds: Option<Spanned<u32>>,
    /// Any other tool call is ended after this long.
    pub tool_seconds: Option<Spanned<u32>>,
    /// How long a board is listened to after it was flashed.
    pub monitor_seconds: Option<Spanned<u32>>,
    /// Most attempts of a phase.
    pub max_attempts: Option<Spanned<u32>>,
    /// Most turns of a session.
    pub max_turns: Option<Spanned<u32>>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct LogsLayer {
    /// How much output of each port and each build is kept, in MiB.
    pub keep_mib: Option<Spanned<u32>>,
    /// Size of the files that output is kept in, in MiB.
    pub segment_mib: Option<Spanned<u32>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RuleLayer {
    decide: Ruling,
    /// Kind of effect; any if it is not given.
    kind: Option<ChangeKind>,
    /// Tool that proposes it.
    tool: Option<String>,
    /// Agent that proposes it.
    agent: Option<String>,
    /// Pattern of the file, e.g. `main/**`.
    path: Option<Spanned<String>>,
}

/// A policy file has rules only: anything else in it would silently not count.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyLayer {
    #[serde(default)]
    policy: Vec<Spanned<RuleLayer>>,
}

impl ConfigSource<'_> {
    /// Reads the values.
    pub fn parse(&self) -> Result<Layer, UserError> {
        let layer = match self.kind {
            LayerKind::User | LayerKind::Project => toml::from_str(self.text),
            LayerKind::PolicyFile => toml::from_str::<PolicyLayer>(self.text)
                .map(|only| Layer { policy: only.policy, ..Layer::default() }),
        };
        layer.map_err(|error| self.wrong(error.span().unwrap_or(0..0), first_line(error.message())))
    }

    /// The rules of a parsed layer.
    pub fn rules(&self, layer: &Layer) -> Result<Vec<PolicyRule>, UserError> {
        layer.policy.iter().map(|rule| self.rule(rule)).collect()
    }

    fn rule(&self, spanned: &Spanned<RuleLayer>) -> Result<PolicyRule, UserError> {
        let rule = spanned.get_ref();
        if self.kind == LayerKind::Project && rule.decide == Ruling::Allow {
            let mut error = self.wrong(
                spanned.span(),
                "a project's own configuration may only ask or deny, because agents write to it",
            );
            error.fix = "Move the rule to your own configuration, or use `ask` or `deny`.".into();
            return Err(error);
        }
        let path = match &rule.path {
            None => None,
            Some(path) if rule.kind.is_some_and(ChangeKind::is_of_board) => {
                let kind = rule.kind.map_or("", ChangeKind::as_str);
                let why = format!("a {kind} changes no file: remove `path`");
                return Err(self.wrong(path.span(), &why));
            }
            Some(path) => {
                Some(Glob::new(path.get_ref()).map_err(|why| self.wrong(path.span(), &why))?)
            }
        };
        Ok(PolicyRule {
            decide: rule.decide,
            kind: rule.kind,
            tool: rule.tool.as_deref().map(Into::into),
            agent: rule.agent.as_deref().map(Into::into),
            path,
            origin: self.origin(spanned.span()),
        })
    }

    /// A value with its origin.
    pub fn sourced<T: Clone>(&self, value: &Spanned<T>) -> Sourced<T> {
        Sourced { value: value.get_ref().clone(), origin: self.origin(value.span()) }
    }

    /// As [`ConfigSource::sourced`] for a number of which 0 makes no sense.
    pub fn positive(&self, value: &Spanned<u32>) -> Result<Sourced<u32>, UserError> {
        if *value.get_ref() == 0 {
            return Err(self.wrong(value.span(), "it must be at least 1"));
        }
        Ok(self.sourced(value))
    }

    fn origin(&self, span: Range<usize>) -> Origin {
        let (file, line): (PathBuf, usize) = (self.file.to_owned(), self.line(&span));
        match self.kind {
            LayerKind::User => Origin::User { file, line },
            LayerKind::Project => Origin::Project { file, line },
            LayerKind::PolicyFile => Origin::FlagFile { file, line },
        }
    }

    fn line(&self, span: &Range<usize>) -> usize {
        line_at(self.text, span.start)
    }

    pub fn wrong(&self, span: Range<usize>, why: &str) -> UserError {
        let file = self.file.display();
        let line = self.line(&span);
        UserError::new(
            format!("Cannot use {file}, line {line}"),
            why,
            format!("Correct line {line} of {file}."),
        )
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or(text)
}
