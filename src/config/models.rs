//! Which models there are and what may be spent on them, as the person has written it down.
//!
//! A project's own file may choose among the person's profiles and spend less, but define none:
//! agents write to it, and a profile says where the key is sent.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{Budget, Cost, UserError};

use super::origin::{Origin, Sourced};
use super::source::{ConfigSource, LayerKind};
use super::spanned::Spanned;

/// Models and budgets.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Models {
    /// The profile that answers unless a flag says otherwise.
    pub profile: Sourced<Option<String>>,
    /// The person's profiles, by name.
    pub profiles: BTreeMap<String, ProfileEntry>,
    /// What the session may use.
    pub session: Sourced<Budget>,
    /// What all attempts of a phase may use.
    pub phase: Sourced<Budget>,
    /// What a turn may use.
    pub turn: Sourced<Budget>,
    /// Sampling temperature of every agent, whatever its file and its profile say.
    pub temperature: Option<f64>,
}

/// A profile as it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileEntry {
    /// Where it begins.
    pub origin: Origin,
    /// What it says.
    pub says: ProfileLayer,
}

/// What a profile says; everything but the provider may be left out.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileLayer {
    /// Whose protocol is spoken, e.g. `openai`.
    pub provider: String,
    /// The model; on Azure the deployment.
    pub model: Option<String>,
    /// Where the key is.
    #[serde(default)]
    pub key: KeyLayer,
    /// How the service is reached.
    #[serde(default)]
    pub wire: WireLayer,
    /// Sampling temperature, from 0 on.
    pub temperature: Option<f64>,
    /// Most tokens of one answer.
    pub max_tokens: Option<u32>,
    /// Tokens of conversation and answer together.
    pub context_window: Option<u64>,
    /// How hard the model shall think.
    pub effort: Option<Effort>,
    /// How tools are offered: `auto`, `native` or `words`.
    #[serde(default)]
    pub tools: ToolsWord,
    /// US dollars for a million tokens.
    pub price: Option<PriceLayer>,
    /// What some agents use instead.
    #[serde(default)]
    pub agents: BTreeMap<String, AgentLayer>,
}

/// Where a key is; at most one of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct KeyLayer {
    /// Name of an environment variable.
    pub env: Option<String>,
    /// A file that only the person may read.
    pub file: Option<PathBuf>,
    /// An entry of the system's keyring.
    pub keyring: Option<String>,
}

impl KeyLayer {
    /// Whether there is more than one place to read it from.
    pub(super) fn names_several(&self) -> bool {
        let places = [self.env.is_some(), self.file.is_some(), self.keyring.is_some()];
        places.into_iter().filter(|is_given| *is_given).count() > 1
    }
}

/// How a service is reached.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WireLayer {
    pub base_url: Option<String>,
    /// Azure's API version.
    pub api_version: Option<String>,
    /// A PEM file of certificates to trust besides the system's.
    pub ca_file: Option<PathBuf>,
    pub proxy: Option<String>,
    /// Headers to add. Their values are taken out of what is shown and kept, from eight characters
    /// on.
    pub headers: BTreeMap<String, String>,
    /// How long nothing of an answer may come; signs of life do not count.
    pub stall_seconds: Option<u32>,
    /// How often a call is made at most.
    pub tries: Option<u32>,
}

/// How hard a model shall think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    Low,
    Medium,
    High,
}

/// How tools are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolsWord {
    /// As the service has it, in words if the model does not take them.
    #[default]
    Auto,
    /// As the service has it.
    Native,
    Words,
}

/// US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriceLayer {
    /// Tokens sent to the model.
    pub input: f64,
    /// Tokens sent that were cached.
    pub cached: Option<f64>,
    /// Tokens that the model wrote.
    pub output: f64,
}

/// What an agent uses instead.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AgentLayer {
    pub profile: Option<String>,
    /// Another model of the same service.
    pub model: Option<String>,
    /// Sampling temperature, from 0 on.
    pub temperature: Option<f64>,
    /// Most tokens of one answer.
    pub max_tokens: Option<u32>,
}

/// `[models]`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ModelsLayer {
    /// The profile that answers unless `--profile` names another one.
    profile: Option<Spanned<String>>,
}

/// `[budget]`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct BudgetsLayer {
    /// For the whole session.
    session: Option<Spanned<BudgetLayer>>,
    /// For all attempts of a phase.
    phase: Option<Spanned<BudgetLayer>>,
    /// For a turn.
    turn: Option<Spanned<BudgetLayer>>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct BudgetLayer {
    /// Tokens sent and received.
    tokens: Option<u64>,
    /// US dollars.
    dollars: Option<f64>,
    minutes: Option<f64>,
}

/// Profiles as a layer has them.
pub(super) type Profiles = BTreeMap<Spanned<String>, Spanned<ProfileLayer>>;

impl Models {
    /// Takes what a layer says.
    pub(super) fn take(
        &mut self,
        source: &ConfigSource<'_>,
        models: &ModelsLayer,
        profiles: &Profiles,
        budgets: &BudgetsLayer,
    ) -> Result<(), UserError> {
        source.set(&models.profile, &mut self.profile);
        for (name, says) in profiles {
            self.profiles.insert(name.get_ref().clone(), entry(source, name, says)?);
        }
        let pairs = [
            (&budgets.session, &mut self.session),
            (&budgets.phase, &mut self.phase),
            (&budgets.turn, &mut self.turn),
        ];
        for (given, into) in pairs {
            let Some(given) = given else { continue };
            let origin = source.origin(given.span());
            let value = budget(source, given)?;
            let value = match source.kind {
                LayerKind::Project => less(value, into.value),
                LayerKind::User | LayerKind::PolicyFile => value,
            };
            *into = Sourced { value, origin };
        }
        Ok(())
    }
}

fn entry(
    source: &ConfigSource<'_>,
    name: &Spanned<String>,
    spanned: &Spanned<ProfileLayer>,
) -> Result<ProfileEntry, UserError> {
    let wrong = |why: &str| Err(source.wrong(name.span(), why));
    let fix = "Move the profile to your own configuration.";
    source.only_of_person(name.span(), "not define profiles", fix)?;
    let says = spanned.get_ref();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.get_ref().is_empty() || !name.get_ref().chars().all(is_plain) {
        return wrong("the name of a profile has letters, digits, `-`, `_` and `.` only");
    }
    if says.key.names_several() {
        return wrong("a profile has one key: name a variable, a file or a keyring entry");
    }
    let agents = says.agents.values().map(|agent| agent.temperature);
    let mut temperatures = agents.chain([says.temperature]).flatten();
    if temperatures.any(|temperature| !(0.0..=2.0).contains(&temperature)) {
        return wrong("a temperature is from 0 to 2");
    }
    let prices = says.price.iter().flat_map(|price| [price.input, price.output]);
    let mut prices = prices.chain(says.price.and_then(|price| price.cached));
    if prices.any(|price| !price.is_finite() || price < 0.0) {
        return wrong("a price is not less than 0");
    }
    let wire = &says.wire;
    let nothing = [says.max_tokens, wire.stall_seconds, wire.tries];
    if nothing.contains(&Some(0)) || says.context_window == Some(0) {
        return wrong("numbers of a profile must be at least 1");
    }
    let is_url = |url: &String| url.starts_with("http://") || url.starts_with("https://");
    if wire.base_url.as_ref().is_some_and(|url| !is_url(url)) {
        return wrong("`base_url` begins with http:// or https://");
    }
    if wire.proxy.as_ref().is_some_and(|url| !is_url(url)) {
        return wrong("`proxy` begins with http:// or https://, e.g. http://HOST:PORT");
    }
    let hosts = [&wire.base_url, &wire.proxy];
    if hosts.into_iter().flatten().any(|url| !url.is_ascii()) {
        return wrong("an address has ASCII letters only; write its host in Punycode (xn--...)");
    }
    let origin = source.origin(name.span());
    Ok(ProfileEntry { origin, says: says.clone() })
}

fn budget(source: &ConfigSource<'_>, spanned: &Spanned<BudgetLayer>) -> Result<Budget, UserError> {
    let BudgetLayer { tokens, dollars, minutes } = *spanned.get_ref();
    let is_wrong = |number: f64| !number.is_finite() || number <= 0.0;
    let is_nothing = dollars.is_some_and(|dollars| Cost::from_dollars(dollars).is_zero());
    if tokens == Some(0)
        || is_nothing
        || dollars.is_some_and(is_wrong)
        || minutes.is_some_and(is_wrong)
    {
        return Err(source.wrong(spanned.span(), "a budget must be above 0"));
    }
    // Rounded up: a budget of a few seconds is not none.
    let seconds = minutes.map(|minutes| (minutes * 60.0).ceil() as u64);
    Ok(Budget { tokens, cost: dollars.map(Cost::from_dollars), seconds, turns: None })
}

/// The smaller of each.
fn less(one: Budget, other: Budget) -> Budget {
    fn least<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
        one.into_iter().chain(other).min()
    }
    Budget {
        tokens: least(one.tokens, other.tokens),
        cost: least(one.cost, other.cost),
        seconds: least(one.seconds, other.seconds),
        turns: least(one.turns, other.turns),
    }
}

/// A budget in words.
pub(super) fn budget_words(budget: &Budget) -> String {
    let parts = [
        budget.tokens.map(|tokens| format!("{tokens} tokens")),
        budget.cost.map(|cost| cost.to_string()),
        budget.seconds.map(|seconds| format!("{seconds} s")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "no limit".to_owned() } else { parts.join(", ") }
}
