//! What a model behind an endpoint can add to the search: vectors of texts, and a judgement of
//! results.
//!
//! Must not know how an endpoint is reached, nor which one it is.

use std::sync::Arc;

/// Makes vectors of texts.
pub trait Embedder: Send + Sync {
    /// The model, which decides whether stored vectors can be compared.
    fn model(&self) -> &str;

    /// One vector for each text of passages, which may take as long as the service needs.
    ///
    /// # Errors
    /// Why there are none, in words.
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, String>;

    /// The vector of a question, in the time that a search may take.
    ///
    /// # Errors
    /// Why there is none, in words.
    fn embed_question(&self, question: &str) -> Result<Vec<f32>, String>;
}

/// Says how well texts fit a question.
pub trait Reranker: Send + Sync {
    /// One figure for each text, the higher the better.
    ///
    /// # Errors
    /// Why there are none, in words.
    fn rerank(&self, question: &str, texts: &[String]) -> Result<Vec<f32>, String>;
}

/// The endpoints that the person has set up; usually none.
#[derive(Clone, Default)]
pub struct Endpoints {
    pub embedder: Option<Arc<dyn Embedder>>,
    pub reranker: Option<Arc<dyn Reranker>>,
}

impl Endpoints {
    /// Whether there is one.
    #[must_use]
    pub const fn is_any(&self) -> bool {
        self.embedder.is_some() || self.reranker.is_some()
    }
}
