//! A model with the service that runs it, as the person has set it up.
//!
//! Holds the key, and sees to it that the key is never printed. Must not read files or the
//! environment: whoever makes a profile has done so.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};

use super::options::ModelOptions;
use super::service::Service;
use crate::model::{AgentName, Cost, Usage, UserError};
use crate::text::secrets::Secrets;

/// Reads a key when it is first needed, so that no keyring is opened for nothing.
pub type ReadKey = Box<dyn Fn() -> Result<Option<SecretString>, UserError> + Send + Sync>;

/// Where a key comes from, for messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// An environment variable.
    Env(String),
    /// A file that only the person may read.
    File(PathBuf),
    /// An entry of the system's keyring.
    Keyring(String),
    /// There is none.
    None,
}

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(name) => write!(f, "${name}"),
            Self::File(file) => write!(f, "{}", file.display()),
            Self::Keyring(entry) => write!(f, "keyring entry {entry}"),
            Self::None => f.write_str("no key"),
        }
    }
}

/// US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Prices {
    /// Tokens sent to the model.
    pub input: f64,
    /// Tokens sent that the service had cached; as `input` if it is not known.
    pub cached: Option<f64>,
    /// Tokens that the model wrote.
    pub output: f64,
    /// Whether nobody but this program's own list says so.
    pub is_estimate: bool,
}

impl Prices {
    /// What so many tokens cost.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> Cost {
        let fresh = usage.input.saturating_sub(usage.cached) as f64 * self.input;
        let cached = usage.cached.min(usage.input) as f64 * self.cached.unwrap_or(self.input);
        Cost::from_dollars((fresh + cached + usage.output as f64 * self.output) / 1e6)
    }
}

/// How tools are offered to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolUse {
    /// As the service has it, and in words when the model turns out not to take them.
    #[default]
    Auto,
    /// As the service has it.
    Native,
    /// In words: the model writes its call as JSON into its answer.
    Words,
}

/// In which form a key is sent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum KeyForm {
    /// As the service has it.
    #[default]
    Usual,
    /// In the header `authorization`, after that word.
    After(&'static str),
    /// As the password of that person.
    PasswordOf(String),
}

/// How a service is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wire {
    /// Its address, without a slash at the end.
    pub base_url: String,
    /// Azure's API version.
    pub api_version: Option<String>,
    /// A file with certificates to trust besides the system's.
    pub ca_file: Option<PathBuf>,
    /// A proxy; `None`: as the environment says.
    pub proxy: Option<String>,
    /// Headers to add.
    pub headers: BTreeMap<String, String>,
    pub key_form: KeyForm,
    /// How long nothing of an answer may come: text, a thought, a part of a call, a count.
    pub stall: Duration,
    /// How often a call is made at most.
    pub tries: u32,
    /// The pause after the first failure, doubled each time.
    pub pause: Duration,
}

impl Wire {
    /// The longest pause that the program makes of its own accord.
    pub const MOST_PAUSE: Duration = Duration::from_secs(30);

    /// The longest pause that a service may ask for.
    pub const MOST_ASKED_PAUSE: Duration = Duration::from_secs(300);

    /// A service at that address, reached in the usual way.
    #[must_use]
    pub fn new(base_url: &str) -> Self {
        Self {
            base_url: base_url.trim_end_matches('/').to_owned(),
            api_version: None,
            ca_file: None,
            proxy: None,
            headers: BTreeMap::new(),
            key_form: KeyForm::Usual,
            stall: Duration::from_secs(120),
            tries: 6,
            pause: Duration::from_secs(1),
        }
    }
}

/// What an agent uses instead of what the profile says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentChoice {
    pub profile: Option<String>,
    pub options: ModelOptions,
}

/// What a profile asks of its model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProfileOptions {
    /// What every agent asks, unless its file says otherwise.
    pub usual: ModelOptions,
    /// Sampling temperature of every agent, whatever its file says.
    pub temperature: Option<f64>,
}

/// A model with its service.
pub struct Profile {
    /// Its name in configuration.
    pub name: String,
    /// Whose protocol is spoken.
    pub service: Service,
    /// The model; on Azure the deployment.
    pub model: String,
    /// How the service is reached.
    pub wire: Wire,
    /// Where the key comes from.
    pub key_source: KeySource,
    /// What is asked of the model.
    pub options: ProfileOptions,
    /// How hard it shall think: `low`, `medium` or `high`.
    pub effort: Option<String>,
    /// Tokens of the conversation and the answer together.
    pub window: Option<u64>,
    /// What tokens cost.
    pub prices: Option<Prices>,
    /// How tools are offered.
    pub tools: ToolUse,
    /// What some agents use instead.
    pub agents: BTreeMap<AgentName, AgentChoice>,
    key: Key,
}

struct Key {
    read: ReadKey,
    known: OnceLock<Option<SecretString>>,
    /// Where it is made known, so that nothing that is said again holds it.
    secrets: Secrets,
}

impl Key {
    fn new(read: ReadKey, secrets: Secrets) -> Self {
        Self { read, known: OnceLock::new(), secrets }
    }
}

impl Profile {
    /// A model of a service, with nothing else said about it.
    #[must_use]
    pub fn new(name: &str, service: Service, model: &str, wire: Wire) -> Self {
        Self {
            name: name.to_owned(),
            service,
            model: model.to_owned(),
            wire,
            key_source: KeySource::None,
            options: ProfileOptions::default(),
            effort: None,
            window: None,
            prices: None,
            tools: ToolUse::Auto,
            agents: BTreeMap::new(),
            key: Key::new(Box::new(|| Ok(None)), Secrets::default()),
        }
    }

    /// Makes the key, once it is read, and the other secrets of the profile known to `secrets`.
    #[must_use]
    pub fn guarded_by(mut self, secrets: &Secrets) -> Self {
        secrets.add_all(&self.key.secrets);
        self.key.secrets = secrets.clone();
        self.guard();
        self
    }

    /// What must not be repeated of what the profile sends along.
    #[must_use]
    pub fn secrets(&self) -> &Secrets {
        &self.key.secrets
    }

    /// Makes known what the profile holds beside its key.
    pub(super) fn guard(&self) {
        let Wire { base_url, proxy, headers, .. } = &self.wire;
        self.key.secrets.add_url(base_url);
        proxy.iter().for_each(|proxy| self.key.secrets.add_url(proxy));
        headers.iter().for_each(|(name, value)| self.key.secrets.add_header(name, value));
    }

    /// Says where the key comes from.
    #[must_use]
    pub fn with_key(mut self, source: KeySource, read: ReadKey) -> Self {
        self.key_source = source;
        self.key = Key::new(read, self.key.secrets.clone());
        self
    }

    /// Copies everything but the model.
    ///
    /// # Errors
    /// When the key cannot be read, as both shall have the same.
    pub fn with_model(&self, model: &str) -> Result<Self, UserError> {
        let key = self.key()?.cloned();
        Ok(Self {
            key_source: self.key_source.clone(),
            options: self.options.clone(),
            effort: self.effort.clone(),
            tools: self.tools,
            agents: self.agents.clone(),
            key: Key {
                known: OnceLock::from(key),
                ..Key::new(Box::new(|| Ok(None)), self.key.secrets.clone())
            },
            ..Self::new(&self.name, self.service, model, self.wire.clone())
        })
    }

    /// The key, read now if it was not yet.
    ///
    /// # Errors
    /// When it is meant to be there and is not, or others could read it too.
    pub fn key(&self) -> Result<Option<&SecretString>, UserError> {
        if let Some(known) = self.key.known.get() {
            return Ok(known.as_ref());
        }
        let read = (self.key.read)()?;
        if let Some(key) = &read {
            self.key.secrets.add_key(key.expose_secret());
        }
        Ok(self.key.known.get_or_init(|| read).as_ref())
    }

    /// Whether the key was read already, or found not to be there.
    #[must_use]
    pub fn is_key_read(&self) -> bool {
        self.key.known.get().is_some()
    }

    /// The service's address without protocol and path, for messages.
    #[must_use]
    pub fn host(&self) -> String {
        host_of(&self.wire.base_url).to_owned()
    }

    /// The address of the proxy that the profile names, without a name and a password.
    #[must_use]
    pub fn proxy_host(&self) -> Option<&str> {
        self.wire.proxy.as_deref().map(host_of)
    }

    /// What the screen calls it.
    #[must_use]
    pub fn label(&self) -> String {
        let model = self.model.rsplit('/').next().unwrap_or(&self.model);
        format!("{model} ({})", self.service)
    }

    /// Puts dots in place of the key and of other secrets, should a text hold them.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        self.key.secrets.clean(text)
    }
}

fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split('/').next().unwrap_or(rest);
    // What is before an @ is a name and a password.
    host.rsplit('@').next().unwrap_or(host)
}

impl fmt::Debug for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Profile")
            .field("name", &self.name)
            .field("service", &self.service)
            .field("model", &self.model)
            .field("key_source", &self.key_source)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Profile {
        pub(in crate::provider) fn for_test(service: Service, base_url: &str) -> Self {
            let mut wire = Wire::new(base_url);
            wire.pause = Duration::from_millis(20);
            wire.stall = Duration::from_millis(400);
            wire.tries = 3;
            let source = KeySource::Env("FIRMHAND_TEST_KEY".to_owned());
            let key = || Ok(Some(SecretString::from("sk-test-0123456789")));
            let profile =
                Self::new("test", service, "test-model", wire).with_key(source, Box::new(key));
            // Known from the start, as if it had been sent.
            assert!(profile.key().is_ok());
            profile
        }
    }

    #[test]
    fn a_profile_never_prints_its_key() {
        let profile = Profile::for_test(Service::OpenAi, "http://name:word@127.0.0.1:1/v1");
        assert!(!format!("{profile:?}").contains("sk-test"));
        assert_eq!(profile.host(), "127.0.0.1:1");
        assert_eq!(profile.redact("bad key sk-test-0123456789!"), "bad key •••!");
    }

    #[test]
    fn cached_tokens_cost_less() {
        let prices = Prices { input: 2.0, cached: Some(0.5), output: 8.0, is_estimate: false };
        let tokens = |input, output, cached| Usage { input, output, cached, ..Usage::default() };
        let usage = tokens(1_000_000, 500_000, 400_000);
        assert_eq!(prices.cost(&usage), Cost::from_dollars(0.6 * 2.0 + 0.4 * 0.5 + 4.0));
        let odd = tokens(1, 0, 9);
        assert_eq!(prices.cost(&odd), Cost::from_dollars(0.5 / 1e6));
    }
}
