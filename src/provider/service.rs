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

    /// Its name in configuration.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Responses => "openai-responses",
            Self::Azure => "azure",
            Self::Anthropic => "anthropic",
            Self::GitHub => "github",
            Self::OpenRouter => "openrouter",
            Self::Ollama => "ollama",
            Self::LlamaCpp => "llamacpp",
            Self::LmStudio => "lmstudio",
            Self::Vllm => "vllm",
            Self::Compatible => "openai-compatible",
        }
    }

    /// The service of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|service| service.name() == name)
    }

    /// Where it is unless the person says otherwise; `None`: nobody can know.
    #[must_use]
    pub const fn base_url(self) -> Option<&'static str> {
        match self {
            Self::OpenAi | Self::Responses => Some("https://api.openai.com/v1"),
            Self::Anthropic => Some("https://api.anthropic.com"),
            Self::GitHub => Some("https://models.github.ai/inference"),
            Self::OpenRouter => Some("https://openrouter.ai/api/v1"),
            Self::Ollama => Some("http://127.0.0.1:11434"),
            Self::LlamaCpp => Some("http://127.0.0.1:8080/v1"),
            Self::LmStudio => Some("http://127.0.0.1:1234/v1"),
            Self::Vllm => Some("http://127.0.0.1:8000/v1"),
            Self::Azure | Self::Compatible => None,
        }
    }

    /// The variable in which its key usually is.
    #[must_use]
    pub const fn key_variable(self) -> Option<&'static str> {
        match self {
            Self::OpenAi | Self::Responses => Some("OPENAI_API_KEY"),
            Self::Azure => Some("AZURE_OPENAI_API_KEY"),
            Self::Anthropic => Some("ANTHROPIC_API_KEY"),
            Self::GitHub => Some("GITHUB_TOKEN"),
            Self::OpenRouter => Some("OPENROUTER_API_KEY"),
            Self::Ollama | Self::LlamaCpp | Self::LmStudio | Self::Vllm | Self::Compatible => None,
        }
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
