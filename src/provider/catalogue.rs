//! Details of models beforehand: their windows, their prices, and which one is usual.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::profile::{Prices, Profile};
use super::service::Service;
use crate::model::UserError;
use crate::text::lines::line_at;

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    usual: BTreeMap<String, String>,
    models: Vec<KnownModel>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownModel {
    begins: String,
    window: u64,
    price: Price,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Price {
    input: f64,
    cached: Option<f64>,
    output: f64,
}

impl Catalogue {
    /// Reads the file; `origin` is its name in messages.
    ///
    /// # Errors
    /// When it is no such file, or names a service that is none; names file and line.
    pub fn parse(origin: &str, text: &str) -> Result<Self, UserError> {
        let wrong = |line: usize, why: &str| {
            UserError::new(
                format!("Cannot use {origin}, line {line}"),
                why,
                format!("Correct line {line} of {origin}."),
            )
        };
        let catalogue: Self = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            wrong(line_at(text, at), error.message())
        })?;
        if let Some(name) = catalogue.usual.keys().find(|name| Service::named(name).is_none()) {
            let line = text.lines().position(|line| line.trim_start().starts_with(name.as_str()));
            return Err(wrong(
                line.map_or(1, |line| line + 1),
                &format!("unknown provider `{name}`"),
            ));
        }
        Ok(catalogue)
    }

    /// The model of a service that is used when nobody names one.
    #[must_use]
    pub fn usual(&self, service: Service) -> Option<&str> {
        self.usual.get(service.name()).map(String::as_str)
    }

    /// Adds to a profile what is known of its model, where the profile says nothing itself.
    pub fn complete(&self, profile: &mut Profile) {
        // What runs on one's own machine is named alike and is not the same.
        if matches!(
            profile.service,
            Service::Ollama | Service::LlamaCpp | Service::LmStudio | Service::Vllm
        ) {
            return;
        }
        let model = profile.model.rsplit('/').next().unwrap_or_default().replace('.', "-");
        let begins = |known: &&KnownModel| model.starts_with(&known.begins.replace('.', "-"));
        let known = self.models.iter().filter(begins).max_by_key(|known| known.begins.len());
        let Some(known) = known else { return };
        let Price { input, cached, output } = known.price;
        profile.window.get_or_insert(known.window);
        profile.prices.get_or_insert(Prices { input, cached, output, is_estimate: true });
    }
}

#[cfg(test)]
mod tests {
    use super::super::profile::Wire;
    use super::*;

    const SHIPPED: &str = include_str!("../../assets/models/catalogue.toml");

    #[test]
    fn the_longest_name_counts_and_the_profile_wins() {
        let catalogue = Catalogue::parse("catalogue.toml", SHIPPED).unwrap();
        let complete = |service, model: &str| {
            let mut profile = Profile::new("p", service, model, Wire::new("http://h"));
            catalogue.complete(&mut profile);
            (profile.window, profile.prices.map(|prices| prices.input))
        };
        assert_eq!(complete(Service::OpenAi, "gpt-5-mini-2025-08-07"), (Some(400_000), Some(0.25)));
        assert_eq!(complete(Service::GitHub, "openai/gpt-4.1"), (Some(1_047_576), Some(2.0)));
        assert_eq!(complete(Service::OpenRouter, "anthropic/claude-sonnet-4.5").1, Some(3.0));
        assert_eq!(complete(Service::OpenAi, "mystery"), (None, None));
        assert_eq!(complete(Service::Ollama, "gpt-5"), (None, None));
        let mut own = Profile::new("p", Service::OpenAi, "gpt-4o", Wire::new("http://h"));
        own.window = Some(9);
        catalogue.complete(&mut own);
        assert_eq!(own.window, Some(9));
        assert!(own.prices.is_some_and(|prices| prices.is_estimate), "nobody else has said so");
        let stated = Prices { input: 9.0, cached: None, output: 9.0, is_estimate: false };
        own.prices = Some(stated);
        catalogue.complete(&mut own);
        assert_eq!(own.prices, Some(stated));
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let line = |text: &str| Catalogue::parse("c.toml", text).unwrap_err().what;
        assert!(line("[usual]\nopnai = 'x'\n").contains("line"), "models are missing");
        assert!(line("models = []\n[usual]\nopnai = 'x'\n").contains("line 3"));
        assert!(line("[usual]\n[[models]]\nbegins = 1\n").contains("line 3"));
    }
}
