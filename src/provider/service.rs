//! The services that run models: their names, addresses and habits.

use std::fmt;

/// Whose protocol a service speaks, with its habits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Service {
    /// OpenAI, chat completions.
    OpenAi,
    Responses,
    /// Azure OpenAI: deployments and an API version.
    Azure,
    Anthropic,
    GitHub,
    OpenRouter,
    /// Ollama's own protocol.
    Ollama,
    /// A llama.cpp server.
    LlamaCpp,
    LmStudio,
    /// A vLLM server.
    Vllm,
    /// Anything else that speaks chat completions.
    Compatible,
}

impl Service {
    pub const ALL: [Self; 11] = [
        Self::OpenAi,
        Self::Responses,
        Self::Azure,
        Self::Anthropic,
        Self::GitHub,
        Self::OpenRouter,
        Self::Ollama,
        Self::LlamaCpp,
        Self::LmStudio,
        Self::Vllm,
        Self::Compatible,
    ];

    /// Its name in configuration, its usual address and the usual variable of its key; empty:
    /// nobody can know.
    const fn usual(self) -> [&'static str; 3] {
        match self {
            Self::OpenAi => ["openai", "https://api.openai.com/v1", "OPENAI_API_KEY"],
            Self::Responses => ["openai-responses", "https://api.openai.com/v1", "OPENAI_API_KEY"],
            Self::Azure => ["azure", "", "AZURE_OPENAI_API_KEY"],
            Self::Anthropic => ["anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY"],
            Self::GitHub => ["github", "https://models.github.ai/inference", "GITHUB_TOKEN"],
            Self::OpenRouter => {
                ["openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"]
            }
            Self::Ollama => ["ollama", "http://127.0.0.1:11434", ""],
            Self::LlamaCpp => ["llamacpp", "http://127.0.0.1:8080/v1", ""],
            Self::LmStudio => ["lmstudio", "http://127.0.0.1:1234/v1", ""],
            Self::Vllm => ["vllm", "http://127.0.0.1:8000/v1", ""],
            Self::Compatible => ["openai-compatible", "", ""],
        }
    }

    /// Its name in configuration.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.usual()[0]
    }

    /// The service of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|service| service.name() == name)
    }

    /// Where it is unless the person says otherwise; `None`: nobody can know.
    #[must_use]
    pub fn base_url(self) -> Option<&'static str> {
        Some(self.usual()[1]).filter(|url| !url.is_empty())
    }

    /// The variable in which its key usually is.
    #[must_use]
    pub fn key_variable(self) -> Option<&'static str> {
        Some(self.usual()[2]).filter(|name| !name.is_empty())
    }
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_found_by_the_names_they_have() {
        for service in Service::ALL {
            assert_eq!(Service::named(service.name()), Some(service));
        }
        assert_eq!(Service::named("open-ai"), None);
    }
}
