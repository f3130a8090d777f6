//! One configuration file as it is written, before the layers are put together.

use schemars::{JsonSchema, Schema};
use serde::Deserialize;

use crate::model::{ChangeKind, UserError};

use super::glob::Glob;
use super::models::{BudgetsLayer, ModelsLayer, Profiles};
use super::notify::Notify;
use super::policy::{PolicyRule, Ruling};
use super::sandbox::SandboxLayer;
use super::search::SearchLayer;
use super::source::{ConfigSource, LayerKind};
use super::spanned::{Spanned, schema_of};

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
    /// The sandbox of builds.
    pub sandbox: SandboxLayer,
    /// Models that take part in the search of documents.
    pub search: SearchLayer,
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
    /// Any other tool call is ended after this long, if not before.
    pub tool_seconds: Option<Spanned<u32>>,
    /// How long agents listen to a board unless they say otherwise, 1 to 120.
    pub monitor_seconds: Option<Spanned<u32>>,
    /// Most attempts of a phase.
    pub max_attempts: Option<Spanned<u32>>,
    /// Turns of a session after which the person is asked.
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

impl Layer {
    /// Reads the values.
    pub fn parse(source: &ConfigSource<'_>) -> Result<Self, UserError> {
        let layer = match source.kind {
            LayerKind::User | LayerKind::Project => toml::from_str(source.text),
            LayerKind::PolicyFile => toml::from_str::<PolicyLayer>(source.text)
                .map(|only| Self { policy: only.policy, ..Self::default() }),
        };
        layer.map_err(|error| {
            source.wrong(error.span().unwrap_or(0..0), first_line(error.message()))
        })
    }

    /// The rules, which come from `source`.
    pub fn rules(&self, source: &ConfigSource<'_>) -> Result<Vec<PolicyRule>, UserError> {
        self.policy.iter().map(|spanned| rule(source, spanned)).collect()
    }
}

fn rule(source: &ConfigSource<'_>, spanned: &Spanned<RuleLayer>) -> Result<PolicyRule, UserError> {
    let rule = spanned.get_ref();
    if rule.decide == Ruling::Allow {
        let fix = "Move the rule to your own configuration, or use `ask` or `deny`.";
        source.only_of_person(spanned.span(), "only ask or deny", fix)?;
    }
    let path = match &rule.path {
        None => None,
        Some(path) if rule.kind.is_some_and(ChangeKind::is_of_board) => {
            let kind = rule.kind.map_or("", ChangeKind::as_str);
            let why = format!("a {kind} changes no file: remove `path`");
            return Err(source.wrong(path.span(), &why));
        }
        Some(path) => {
            Some(Glob::new(path.get_ref()).map_err(|why| source.wrong(path.span(), &why))?)
        }
    };
    Ok(PolicyRule {
        decide: rule.decide,
        kind: rule.kind,
        tool: rule.tool.as_deref().map(Into::into),
        agent: rule.agent.as_deref().map(Into::into),
        path,
        origin: source.origin(spanned.span()),
    })
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or(text)
}
