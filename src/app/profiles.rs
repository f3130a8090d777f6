//! Profiles made ready for use: from the person's configuration, or from what the environment
//! already holds.
//!
//! The one place that reads keys. A key goes from its source into a profile and nowhere else.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use percent_encoding::percent_decode_str;
use secrecy::SecretString;

use super::keyring::Keyring;
use crate::config::models::{AgentLayer, KeyLayer, ProfileLayer, ToolsWord};
use crate::config::spanned::word;
use crate::config::{Assets, Models, Origin, ProfileEntry, RemoteEntry, RemoteKind};
use crate::files;
use crate::model::UserError;
use crate::provider::{
    AgentChoice, Catalogue, FindProfile, KeyForm, KeySource, ModelOptions, Panel, Prices, Profile,
    ReadKey, Service, ToolUse, Wire,
};
use crate::text::secrets::Secrets;

/// Where what is known of models is written.
const CATALOGUE: &str = "assets/models/catalogue.toml";

/// Services that are found by what people have in their environment, the likeliest first. A token
/// for GitHub is usually there for other reasons, so it comes last.
const FOUND: [(Service, &str); 6] = [
    (Service::Anthropic, "ANTHROPIC_API_KEY"),
    (Service::OpenAi, "OPENAI_API_KEY"),
    (Service::Azure, "AZURE_OPENAI_API_KEY"),
    (Service::OpenRouter, "OPENROUTER_API_KEY"),
    (Service::Ollama, "OLLAMA_HOST"),
    (Service::GitHub, "GITHUB_TOKEN"),
];

/// Variables with addresses, in which passwords can stand.
const ADDRESSES: [&str; 7] = [
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "ALL_PROXY",
    "OLLAMA_HOST",
    "OPENAI_BASE_URL",
    "ANTHROPIC_BASE_URL",
    "AZURE_OPENAI_ENDPOINT",
];

/// The text of an environment variable that is set and not empty.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// The secrets that lie ready: keys in the environment and in files, passwords of addresses, values of
/// headers, for all profiles: an agent may read a file with the key of another one. Those in keyrings
/// are learned when they are read.
fn secrets(models: &Models, remotes: &Remotes) -> Secrets {
    let secrets = Secrets::default();
    let keys = || {
        let of_models = models.profiles.values().map(|entry| (&entry.says.key, &entry.origin));
        of_models.chain(remotes.values().map(|entry| (&entry.says.key, &entry.origin)))
    };
    let usual = FOUND.into_iter().filter(|(service, _)| *service != Service::Ollama);
    let named = keys().filter_map(|(key, _)| key.env.clone());
    for name in usual.map(|(_, name)| name.to_owned()).chain(named) {
        variable(&name).iter().for_each(|key| secrets.add_key(key));
    }
    for name in ADDRESSES {
        let found = [variable(name), variable(&name.to_ascii_lowercase())];
        found.iter().flatten().for_each(|url| secrets.add_url(url));
    }
    for (key, origin) in keys() {
        let Some(file) = &key.file else { continue };
        let file = sibling(file, folder_of(origin));
        if let Ok(text) = files::read_text(&file, files::SETTINGS) {
            secrets.add_key(&text);
        }
    }
    for wire in models.profiles.values().map(|entry| &entry.says.wire) {
        wire.base_url.iter().chain(&wire.proxy).for_each(|url| secrets.add_url(url));
        wire.headers.iter().for_each(|(name, value)| secrets.add_header(name, value));
    }
    for RemoteEntry { says, .. } in remotes.values() {
        says.wire.proxy.iter().for_each(|url| secrets.add_url(url));
        says.wire.headers.iter().for_each(|(name, value)| secrets.add_header(name, value));
    }
    secrets
}

/// Indexes on other machines, by their names.
pub type Remotes = BTreeMap<String, RemoteEntry>;

/// The profiles of this machine, and what their keys come from.
#[derive(Debug, Clone)]
pub struct Profiles {
    models: Models,
    remotes: Remotes,
    assets: Assets,
    keyring: Keyring,
    secrets: Secrets,
    /// The person's configuration file, for advice.
    file: PathBuf,
}

impl Profiles {
    /// The profiles that the settings and the environment name, and the indexes on other machines;
    /// `config` is the folder of the person's configuration.
    #[must_use]
    pub fn new(models: Models, remotes: Remotes, assets: Assets, config: &Path) -> Self {
        let (keyring, secrets) = (Keyring::default(), secrets(&models, &remotes));
        Self { models, remotes, assets, keyring, secrets, file: config.join("config.toml") }
    }

    /// How an index on another machine is reached, with its key; the model is the name of the index.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn remote(&self, name: &str) -> Result<Profile, UserError> {
        let entry = self.remotes.get(name).ok_or_else(|| {
            let why = "`[search.remotes]` has no such entry";
            UserError::new(format!("Cannot ask `{name}`"), why, "Name it in your configuration.")
        })?;
        let RemoteEntry { origin, says } = entry;
        let folder = folder_of(origin);
        // A name in an address is taken for a secret elsewhere; here it is none.
        let (url, user) = without_user(&says.url);
        let mut wire = Wire::new(&url);
        wire.api_version.clone_from(&says.wire.api_version);
        wire.ca_file = says.wire.ca_file.as_ref().map(|file| sibling(file, folder));
        wire.proxy.clone_from(&says.wire.proxy);
        wire.headers.clone_from(&says.wire.headers);
        wire.key_form = match (says.user.clone().or(user), says.kind) {
            (Some(user), _) => KeyForm::PasswordOf(user),
            (None, RemoteKind::Elasticsearch) => KeyForm::After("ApiKey"),
            (None, _) => KeyForm::Usual,
        };
        let service = match says.kind {
            // Its key goes into the header `api-key` too.
            RemoteKind::AzureSearch => Service::Azure,
            _ => Service::Compatible,
        };
        let profile = Profile::new(name, service, &says.index, wire);
        let profile = match says.key == KeyLayer::default() {
            true => profile,
            false => with_key(profile, &says.key, folder, &self.keyring),
        };
        Ok(profile.guarded_by(&self.secrets))
    }

    /// What must never be repeated: keys, passwords of addresses, values of headers. Those in keyrings
    /// are added when they are read.
    #[must_use]
    pub const fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Names of the profiles there are: the person's own, then those found in the environment.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let found = FOUND.into_iter().filter(|(_, name)| variable(name).is_some());
        let mut names: Vec<String> = self.models.profiles.keys().cloned().collect();
        for (service, _) in found {
            if !names.iter().any(|name| name == service.name()) {
                names.push(service.name().to_owned());
            }
        }
        names
    }

    /// The name of the profile that answers by default; `None`: there is no model.
    #[must_use]
    pub fn default_name(&self) -> Option<String> {
        let named = self.models.profile.value.clone();
        named.or_else(|| self.names().into_iter().next())
    }

    /// A profile by its name, with another model if one is named.
    ///
    /// # Errors
    /// When the profile does not exist, or something it needs is missing.
    pub fn find(&self, name: &str, model: Option<&str>) -> Result<Profile, UserError> {
        let file = self.assets.text(CATALOGUE)?;
        let catalogue = Catalogue::parse(&file.origin.to_string(), &file.text)?;
        let mut profile = match self.models.profiles.get(name) {
            Some(entry) => own_profile((name, entry), model, &catalogue, &self.keyring)?,
            None => self.found(name, model, &catalogue)?,
        };
        catalogue.complete(&mut profile);
        profile.options.temperature = self.models.temperature;
        Ok(profile.guarded_by(&self.secrets))
    }

    /// A profile by its own name or, where no profile has it, by the name of its model.
    ///
    /// # Errors
    /// As [`Profiles::find`].
    fn find_named(&self, name: &str, model: Option<&str>) -> Result<Profile, UserError> {
        let names = self.names();
        if model.is_some() || names.iter().any(|known| known == name) {
            return self.find(name, model);
        }
        let known = names.iter().filter_map(|known| self.find(known, None).ok());
        let named = known.into_iter().find(|profile| profile.model == name);
        named.map_or_else(|| self.find(name, None), Ok)
    }

    /// The models of a profile as one; an empty name stands for the default profile.
    ///
    /// # Errors
    /// As [`Profiles::find`].
    pub fn panel(&self, name: &str, model: Option<&str>) -> Result<Panel, UserError> {
        let default = self.default_name();
        let name = match (name, default.as_deref()) {
            ("", Some(default)) => default,
            ("", None) => return Err(self.no_model()),
            (name, _) => name,
        };
        let profile = self.find(name, model)?;
        // What is wrong with a key is said before a session begins.
        profile.key()?;
        let profiles = self.clone();
        let finder: FindProfile = Box::new(move |name, model| profiles.find_named(name, model));
        Panel::new(profile, finder)
    }

    fn no_model(&self) -> UserError {
        UserError::new(
            "Cannot start: no model is configured",
            "no profile is configured, and the environment names none",
            format!(
                "Set OPENAI_API_KEY, ANTHROPIC_API_KEY, AZURE_OPENAI_API_KEY, GITHUB_TOKEN or \
                 OLLAMA_HOST, or write a profile into {}.",
                self.file.display()
            ),
        )
    }

    /// A profile that the environment holds.
    fn found(
        &self,
        name: &str,
        model: Option<&str>,
        catalogue: &Catalogue,
    ) -> Result<Profile, UserError> {
        let found = FOUND.into_iter().find(|(service, _)| service.name() == name);
        let known =
            found.and_then(|(service, variable_name)| Some((service, variable(variable_name)?)));
        let Some((service, value)) = known else {
            let names = self.names();
            let there = match names.is_empty() {
                true => "no profile is configured".to_owned(),
                false => format!("the profiles are {}", names.join(", ")),
            };
            let fix = match found {
                Some((_, variable)) => format!("Set {variable}, or name another with `--profile`."),
                None => "Name one of these, or its model.".to_owned(),
            };
            return Err(UserError::new(format!("Cannot find the profile `{name}`"), there, fix));
        };
        let url = match service {
            Service::Azure => variable("AZURE_OPENAI_ENDPOINT").ok_or_else(|| {
                UserError::new(
                    "Cannot use Azure OpenAI",
                    "AZURE_OPENAI_API_KEY is set and AZURE_OPENAI_ENDPOINT is not",
                    "Set it to the address of your resource, e.g. https://NAME.openai.azure.com.",
                )
            })?,
            Service::Ollama => ollama_url(&value),
            Service::OpenAi => variable("OPENAI_BASE_URL").unwrap_or_else(|| base_url(service)),
            Service::Anthropic => {
                variable("ANTHROPIC_BASE_URL").unwrap_or_else(|| base_url(service))
            }
            _ => base_url(service),
        };
        let mut wire = Wire::new(&url);
        wire.api_version =
            variable("AZURE_OPENAI_API_VERSION").or_else(|| variable("OPENAI_API_VERSION"));
        let deployment = || match service {
            Service::Azure => variable("AZURE_OPENAI_DEPLOYMENT")
                .or_else(|| variable("AZURE_OPENAI_DEPLOYMENT_NAME")),
            _ => None,
        };
        let model = model.map(str::to_owned).or_else(deployment);
        let model = model.or_else(|| catalogue.usual(service).map(str::to_owned));
        let Some(model) = model else { return Err(no_name(name, service)) };
        let profile = Profile::new(name, service, &model, wire);
        Ok(match service {
            Service::Ollama => profile,
            _ => match found {
                Some((_, variable)) => with_variable(profile, variable),
                None => profile,
            },
        })
    }
}

/// An address without the name before its host, and that name.
fn without_user(url: &str) -> (String, Option<String>) {
    let parts = url.split_once("://").and_then(|(scheme, rest)| {
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let at = rest[..end].rfind('@')?;
        let user = percent_decode_str(&rest[..at]).decode_utf8_lossy().into_owned();
        Some((format!("{scheme}://{}", &rest[at + 1..]), Some(user)))
    });
    parts.unwrap_or_else(|| (url.to_owned(), None))
}

fn base_url(service: Service) -> String {
    service.base_url().unwrap_or_default().to_owned()
}

/// What `OLLAMA_HOST` says, which needs neither protocol nor port, and may say where a server
/// listens rather than where it is found.
fn ollama_url(host: &str) -> String {
    let host = host.trim().trim_end_matches('/');
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    let rest = rest.replacen("0.0.0.0", "127.0.0.1", 1);
    let rest = if rest.starts_with(':') { format!("127.0.0.1{rest}") } else { rest };
    let has_port = rest.rsplit(']').next().is_some_and(|end| end.contains(':'));
    let port = if has_port || scheme == "https" { "" } else { ":11434" };
    format!("{scheme}://{rest}{port}")
}

fn no_name(profile: &str, service: Service) -> UserError {
    UserError::new(
        format!("Cannot use `{profile}` without a model name"),
        format!("{service} has no default model"),
        format!("See `firmhand models --profile {profile}`, then name one with `--model`."),
    )
}

/// A profile that the person has written down.
fn own_profile(
    (name, entry): (&str, &ProfileEntry),
    model: Option<&str>,
    catalogue: &Catalogue,
    keyring: &Keyring,
) -> Result<Profile, UserError> {
    let ProfileEntry { origin, says } = entry;
    let wrong = |why: String, fix: &str| {
        Err(UserError::new(format!("Cannot use the profile `{name}` ({origin})"), why, fix))
    };
    let Some(service) = Service::named(&says.provider) else {
        let names = Service::ALL.map(Service::name).join(", ");
        let why = format!("`{}` is not a provider; use one of {names}", says.provider);
        return wrong(why, "Correct `provider` of the profile.");
    };
    let url = says.wire.base_url.clone().or_else(|| service.base_url().map(str::to_owned));
    let Some(url) = url else {
        let why = format!("{service} has no address of its own");
        return wrong(why, "Add `wire.base_url` to the profile.");
    };
    let folder = folder_of(origin);
    let model = model.map(str::to_owned).or_else(|| says.model.clone());
    let model = model.or_else(|| catalogue.usual(service).map(str::to_owned));
    let Some(model) = model else { return Err(no_name(name, service)) };
    let mut profile = Profile::new(name, service, &model, wire(&url, says, folder));
    profile.options.usual =
        ModelOptions { model: None, temperature: says.temperature, max_tokens: says.max_tokens };
    profile.effort = says.effort.map(|effort| word(&effort));
    profile.window = says.context_window;
    // What the profile says of prices it says of its own model.
    let is_own = says.model.as_ref().is_none_or(|own| *own == profile.model);
    profile.prices = says.price.filter(|_| is_own).map(|price| Prices {
        input: price.input,
        cached: price.cached,
        output: price.output,
        is_estimate: false,
    });
    profile.tools = match says.tools {
        ToolsWord::Auto => ToolUse::Auto,
        ToolsWord::Native => ToolUse::Native,
        ToolsWord::Words => ToolUse::Words,
    };
    let agents = says.agents.iter().map(|(agent, layer)| (agent.as_str().into(), choice(layer)));
    profile.agents = agents.collect();
    Ok(with_key(profile, &says.key, folder, keyring))
}

fn wire(url: &str, says: &ProfileLayer, folder: Option<&Path>) -> Wire {
    let mut wire = Wire::new(url);
    let layer = &says.wire;
    wire.api_version.clone_from(&layer.api_version);
    wire.ca_file = layer.ca_file.as_ref().map(|file| sibling(file, folder));
    wire.proxy.clone_from(&layer.proxy);
    wire.headers.clone_from(&layer.headers);
    if let Some(seconds) = layer.stall_seconds {
        wire.stall = Duration::from_secs(u64::from(seconds));
    }
    if let Some(tries) = layer.tries {
        wire.tries = tries;
    }
    wire
}

fn choice(layer: &AgentLayer) -> AgentChoice {
    AgentChoice {
        profile: layer.profile.clone(),
        options: ModelOptions {
            model: layer.model.clone(),
            temperature: layer.temperature,
            max_tokens: layer.max_tokens,
        },
    }
}

/// A file that is named from the folder of the configuration.
fn sibling(file: &Path, folder: Option<&Path>) -> PathBuf {
    folder.map_or_else(|| file.to_owned(), |folder| folder.join(file))
}

/// The folder of the file in which something is set.
fn folder_of(origin: &Origin) -> Option<&Path> {
    match origin {
        Origin::User { file, .. }
        | Origin::Project { file, .. }
        | Origin::FlagFile { file, .. } => file.parent(),
        Origin::Default | Origin::Env(_) | Origin::Flag(_) => None,
    }
}

fn with_key(profile: Profile, key: &KeyLayer, folder: Option<&Path>, keyring: &Keyring) -> Profile {
    if let Some(name) = &key.env {
        return with_variable(profile, name);
    }
    if let Some(file) = &key.file {
        let file = sibling(file, folder);
        let source = KeySource::File(file.clone());
        return profile.with_key(source, Box::new(move || key_file(&file).map(Some)));
    }
    if let Some(entry) = &key.keyring {
        let source = KeySource::Keyring(entry.clone());
        let (entry, keyring) = (entry.clone(), keyring.clone());
        return profile.with_key(source, Box::new(move || keyring.read(&entry).map(Some)));
    }
    match profile.service.key_variable() {
        Some(name) => with_variable(profile, name),
        None => profile,
    }
}

fn with_variable(profile: Profile, name: &str) -> Profile {
    let name = name.to_owned();
    let source = KeySource::Env(name.clone());
    let owner = profile.name.clone();
    let read: ReadKey = Box::new(move || match variable(&name) {
        Some(key) => Ok(Some(SecretString::from(key.trim().to_owned()))),
        None => Err(UserError::new(
            format!("Cannot use `{owner}`: it has no key"),
            format!("{name} is not set"),
            format!("Set {name}, or name a file with `key.file`."),
        )),
    });
    profile.with_key(source, read)
}

/// Reads a key from a file that nobody else may read.
fn key_file(file: &Path) -> Result<SecretString, UserError> {
    use std::os::unix::fs::PermissionsExt;
    let cannot = |why: String, fix: String| {
        Err(UserError::new(format!("Cannot use the key in {}", file.display()), why, fix))
    };
    let mode = match std::fs::metadata(file) {
        Ok(about) => about.permissions().mode(),
        Err(error) => {
            return cannot(error.to_string(), "Correct `key.file`.".into());
        }
    };
    if mode & 0o077 != 0 {
        let why = format!("others may read it too (mode {:o})", mode & 0o777);
        return cannot(why, format!("run `chmod 600 {}`", file.display()));
    }
    let text = match files::read_text(file, files::SETTINGS) {
        Ok(text) => text,
        Err(error) => return cannot(error.to_string(), "Make it a text file with the key.".into()),
    };
    match text.trim() {
        "" => cannot("it is empty".into(), "Put the key into it.".into()),
        key => Ok(SecretString::from(key.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_of_ollama_is_understood_in_all_its_forms() {
        for (host, url) in [
            ("127.0.0.1", "http://127.0.0.1:11434"),
            ("0.0.0.0:11434", "http://127.0.0.1:11434"),
            ("http://box:9999/", "http://box:9999"),
            ("https://ollama.example.com", "https://ollama.example.com"),
            (":1234", "http://127.0.0.1:1234"),
            ("[::1]", "http://[::1]:11434"),
        ] {
            assert_eq!(ollama_url(host), url, "{host}");
        }
    }

    #[test]
    fn an_index_on_another_machine_has_its_key_and_its_user() {
        let folder = tempfile::tempdir().unwrap();
        let of = |text: &str| {
            let origin = Origin::User { file: folder.path().join("config.toml"), line: 1 };
            let remotes =
                [("team".to_owned(), RemoteEntry { origin, says: toml::from_str(text).unwrap() })];
            let (models, remotes) = (Models::default(), remotes.into());
            let profiles = Profiles::new(models, remotes, Assets::built_in(), folder.path());
            (profiles.remote("team").unwrap(), profiles)
        };
        let (profile, profiles) =
            of("kind='postgres'\nurl='postgres://the%20reader@h:1/d'\nindex='t'");
        assert_eq!(profile.wire.base_url, "postgres://h:1/d");
        assert_eq!(profile.wire.key_form, KeyForm::PasswordOf("the reader".to_owned()));
        assert_eq!(profiles.secrets().clean("the reader reads"), "the reader reads");
        assert!(profile.key().unwrap().is_none() && profiles.remote("other").is_err());
        std::fs::write(folder.path().join("key"), "team-key-123\n").unwrap();
        let text = "kind='elasticsearch'\nurl='https://h'\nindex='t'\nkey={file='key'}";
        let (profile, profiles) = of(text);
        assert_eq!(profile.wire.key_form, KeyForm::After("ApiKey"));
        assert_eq!(profiles.secrets().clean("it is team-key-123"), "it is •••");
    }

    #[test]
    fn keys_in_files_are_secrets_before_their_profile_is_used() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("key"), "sk-of-another-profile\n").unwrap();
        let says = toml::from_str("provider = \"openai\"\nkey = { file = \"key\" }").unwrap();
        let origin = Origin::User { file: folder.path().join("config.toml"), line: 1 };
        let entry = ProfileEntry { origin, says };
        let models = Models { profiles: [("other".to_owned(), entry)].into(), ..Models::default() };
        let profiles = Profiles::new(models, Remotes::new(), Assets::built_in(), folder.path());
        assert_eq!(profiles.secrets().clean("it is sk-of-another-profile"), "it is •••");
    }

    #[test]
    fn a_key_file_that_others_may_read_is_refused_and_never_shown() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        std::fs::write(&file, "sk-secret\n").unwrap();
        let mode = |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode));
        mode(0o644).unwrap();
        let error = key_file(&file).unwrap_err();
        assert!(error.fix.contains("chmod 600") && !format!("{error:?}").contains("sk-"));
        mode(0o600).unwrap();
        let key = key_file(&file).unwrap();
        assert_eq!(secrecy::ExposeSecret::expose_secret(&key), "sk-secret");
        std::fs::write(&file, " \n").unwrap();
        assert!(key_file(&file).unwrap_err().why.contains("empty"));
        assert!(key_file(&folder.path().join("none")).is_err());
    }
}
