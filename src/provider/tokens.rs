//! Counts tokens: exactly for the models whose tokenizer is public, by an estimate that learns
//! from the service's own counts elsewhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::profile::Profile;
use super::service::Service;
use crate::model::{Message, ToolSpec};

/// Tokens that a service adds to a message or a tool.
const FRAME: u64 = 4;

/// Bytes of a token where nothing better is known, in thousandths.
const USUAL: u64 = 3_600;

/// How a model's tokens are counted.
#[derive(Debug, Clone)]
pub struct TokenCounter {
    kind: CountMethod,
    learnt: Arc<Learnt>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CountMethod {
    O200k,
    Cl100k,
    Estimate,
}

/// Bytes of a token as the service counted them, in thousandths.
#[derive(Debug)]
struct Learnt(AtomicU64);

/// What fits into a model, and how to measure it.
#[derive(Debug, Clone)]
pub struct Meter {
    /// Tokens of conversation and answer together.
    pub window: u64,
    /// Tokens to be left for the answer.
    pub answer: u64,
    pub counter: TokenCounter,
}

impl TokenCounter {
    /// The counter of a profile's model.
    #[must_use]
    pub fn of(profile: &Profile) -> Self {
        let name = profile.model.to_lowercase();
        let (maker, model) = name.split_once('/').unwrap_or(("openai", &name));
        let is_theirs = match profile.service {
            Service::OpenAi | Service::Responses | Service::Azure => true,
            Service::GitHub | Service::OpenRouter => maker == "openai",
            _ => false,
        };
        let is_old = model.starts_with("gpt-3.5")
            || model.starts_with("gpt-35")
            || model == "gpt-4"
            || ["gpt-4-", "gpt-4-32k"].iter().any(|old| model.starts_with(old));
        let kind = match (is_theirs, is_old) {
            (false, _) => CountMethod::Estimate,
            (true, true) => CountMethod::Cl100k,
            (true, false) => CountMethod::O200k,
        };
        Self { kind, learnt: Arc::new(Learnt(AtomicU64::new(USUAL))) }
    }

    /// One for a model of which nothing is known.
    #[must_use]
    pub fn unknown() -> Self {
        Self { kind: CountMethod::Estimate, learnt: Arc::new(Learnt(AtomicU64::new(USUAL))) }
    }

    /// Whether it counts rather than estimates.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.kind != CountMethod::Estimate
    }

    /// Tokens of a text.
    #[must_use]
    pub fn text(&self, text: &str) -> u64 {
        let encoding = match self.kind {
            CountMethod::O200k => tiktoken::get_encoding("o200k_base"),
            CountMethod::Cl100k => tiktoken::get_encoding("cl100k_base"),
            CountMethod::Estimate => None,
        };
        encoding.map_or_else(|| self.estimate(text), |encoding| encoding.count(text) as u64)
    }

    fn estimate(&self, text: &str) -> u64 {
        let bytes = (text.len() as u64).saturating_mul(1_000);
        bytes.div_ceil(self.learnt.0.load(Ordering::Relaxed).max(1))
    }

    /// Tokens of a message with its calls.
    #[must_use]
    pub fn message(&self, message: &Message) -> u64 {
        let calls = message
            .calls
            .iter()
            .map(|call| self.text(call.tool.as_str()) + self.text(&call.args.to_string()) + FRAME);
        self.text(&message.text) + FRAME + calls.sum::<u64>()
    }

    /// Tokens of a tool's declaration.
    #[must_use]
    pub fn tool(&self, spec: &ToolSpec) -> u64 {
        self.text(&spec.description) + self.text(&spec.schema.to_string()) + FRAME
    }

    /// Learns from a service that counted `counted` tokens where this counted `estimated`.
    pub(super) fn learn(&self, estimated: u64, counted: u64) {
        // Short requests consist of what services add of their own.
        if self.kind != CountMethod::Estimate || counted < 200 || estimated == 0 {
            return;
        }
        let old = self.learnt.0.load(Ordering::Relaxed);
        let seen = old.saturating_mul(estimated) / counted;
        let new = (old * 3 + seen.clamp(USUAL / 4, USUAL * 2)) / 4;
        self.learnt.0.store(new, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::super::profile::Wire;
    use super::*;

    fn counter(service: Service, model: &str) -> TokenCounter {
        TokenCounter::of(&Profile::new("p", service, model, Wire::new("http://h")))
    }

    #[test]
    fn the_tokenizer_goes_with_the_model() {
        // Counted with OpenAI's own tokenizer.
        let text = "The quick brown fox jumps over the lazy dog.";
        assert_eq!(counter(Service::OpenAi, "gpt-4o").text(text), 10);
        assert_eq!(counter(Service::OpenAi, "gpt-4").text(text), 10);
        let code = "esp_err_t err = i2c_new_master_bus(&config, &bus);";
        let new = counter(Service::GitHub, "openai/gpt-4.1");
        assert!(new.is_exact());
        assert!((14..=20).contains(&new.text(code)), "{}", new.text(code));
        assert!(!counter(Service::GitHub, "meta/llama-3.3-70b-instruct").is_exact());
        assert!(!counter(Service::Anthropic, "claude-sonnet-4-5").is_exact());
        assert_eq!(counter(Service::OpenAi, "gpt-4-turbo").kind, CountMethod::Cl100k);
        assert_eq!(counter(Service::OpenAi, "gpt-4.1").kind, CountMethod::O200k);
    }

    #[test]
    fn an_estimate_comes_closer_with_every_answer() {
        let counter = counter(Service::Ollama, "llama3.2");
        let text = "x".repeat(10_000);
        let truth = 4_000;
        let mut error = u64::MAX;
        for _ in 0..8 {
            let estimated = counter.text(&text);
            let now = estimated.abs_diff(truth);
            assert!(now <= error, "{now} after {error}");
            error = now;
            counter.learn(estimated, truth);
        }
        assert!(counter.text(&text).abs_diff(truth) < 200, "{}", counter.text(&text));
        let before = counter.text(&text);
        counter.learn(100, 0);
        counter.learn(100, u64::MAX);
        assert!(counter.text(&text) < before * 3, "one odd count does not spoil it");
    }
}
