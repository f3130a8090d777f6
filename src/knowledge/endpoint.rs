//! What can be added to the search from elsewhere: vectors of texts and a judgement of results, both
//! by a model behind an endpoint, and passages of an index on another machine.
//!
//! Must not know how these are reached, nor which ones they are.

use std::sync::Arc;
use std::time::Duration;

use super::chips::ChipSet;
use super::corpus::Corpus;
use crate::model::{RemotePassage, RemoteQuestion};

/// How long a search waits for each of them.
pub const SEARCH_TIME: Duration = Duration::from_secs(2);

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

/// What is known of an index on another machine before it is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteFacts {
    /// Its name, and the version of all its passages, if they have one.
    pub corpus: Corpus,
    /// The chips that its passages apply to unless they say otherwise.
    pub chips: ChipSet,
    /// What it is, e.g. `opensearch`.
    pub kind: String,
    /// Where it is, without a key.
    pub address: String,
    /// Whether the vector of a question is of use to it.
    pub takes_vectors: bool,
}

/// Documents that another machine keeps and searches.
pub trait RemoteCorpus: Send + Sync {
    /// What is known of it.
    fn facts(&self) -> &RemoteFacts;

    /// What it finds within that time, the best first; not checked yet.
    ///
    /// # Errors
    /// Why there is nothing, and how to correct that, in words.
    fn search(
        &self,
        question: RemoteQuestion,
        within: Duration,
    ) -> Result<Vec<RemotePassage>, String>;
}

/// The endpoints that the person has set up; usually none.
#[derive(Clone, Default)]
pub struct Endpoints {
    pub embedder: Option<Arc<dyn Embedder>>,
    pub reranker: Option<Arc<dyn Reranker>>,
    /// Indexes on other machines, which are searched too.
    pub remotes: Vec<Arc<dyn RemoteCorpus>>,
}

impl Endpoints {
    /// Whether a model takes part.
    #[must_use]
    pub const fn has_model(&self) -> bool {
        self.embedder.is_some() || self.reranker.is_some()
    }
}
