//! What an agent's file may ask of the model.

/// What an agent's file may ask of the model; `None`: as configured for all.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelOptions {
    /// Name of the model.
    pub model: Option<String>,
    /// Sampling temperature, from 0.
    pub temperature: Option<f64>,
    /// Most tokens of one answer.
    pub max_tokens: Option<u32>,
}
