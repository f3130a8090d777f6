//! The endpoints and the other machines that take part in the search, as the person has set them up.
//!
//! Makes calls that wait out of requests that do not.

use std::sync::Arc;
use std::time::Duration;

use super::machine::Machine;
use super::remote_indexes;
use super::waiter::Waiter;
use crate::knowledge::{Embedder, Endpoints, Reranker, SEARCH_TIME};
use crate::model::UserError;
use crate::provider::SearchModel;

/// A model behind an endpoint.
struct Asker {
    model: Arc<SearchModel>,
    waiter: Waiter,
}

impl Asker {
    fn of(machine: &Machine, profile: &str) -> Result<Self, UserError> {
        let model = Arc::new(SearchModel::new(machine.profiles.find(profile, None)?));
        Ok(Self { model, waiter: Waiter::new()? })
    }

    /// The result of a request, or why there is none in that time.
    fn wait<T, F>(
        &self,
        most: Duration,
        ask: impl FnOnce(Arc<SearchModel>) -> F,
    ) -> Result<T, String>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, UserError>> + Send + 'static,
    {
        let answer = self.waiter.wait(most, ask(Arc::clone(&self.model)));
        let answer = answer.ok_or_else(|| format!("no answer within {} s", most.as_secs()))?;
        answer.map_err(|error| format!("{}: {}", error.what, error.why))
    }
}

impl Embedder for Asker {
    fn model(&self) -> &str {
        &self.model.profile().model
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, String> {
        let texts = texts.to_vec();
        // The connection has its own limit, which says more.
        let most = self.model.profile().wire.stall * 2;
        self.wait(most, |model| async move { model.embed(&texts).await })
    }

    fn embed_question(&self, question: &str) -> Result<Vec<f32>, String> {
        let texts = vec![question.to_owned()];
        let mut vectors =
            self.wait(SEARCH_TIME, |model| async move { model.embed(&texts).await })?;
        vectors.pop().ok_or_else(|| "no vector came".to_owned())
    }
}

impl Reranker for Asker {
    fn rerank(&self, question: &str, texts: &[String]) -> Result<Vec<f32>, String> {
        let (question, texts) = (question.to_owned(), texts.to_vec());
        self.wait(SEARCH_TIME, |model| async move { model.rerank(&question, &texts).await })
    }
}

/// The endpoints that the settings name, and what is wrong with those that cannot be used.
pub fn endpoints(machine: &Machine) -> (Endpoints, Vec<String>) {
    let (mut endpoints, mut wrong) = (Endpoints::default(), Vec::new());
    let named = &machine.settings.search;
    let mut asker = |key: &str, profile: Option<&String>| {
        let made = Asker::of(machine, profile?);
        let made =
            made.map_err(|error| wrong.push(format!("{key}: {}: {}", error.what, error.why)));
        made.ok().map(Arc::new)
    };
    if let Some(asker) = asker("search.embeddings", named.embeddings.value.as_ref()) {
        endpoints.embedder = Some(asker);
    }
    if let Some(asker) = asker("search.reranker", named.reranker.value.as_ref()) {
        endpoints.reranker = Some(asker);
    }
    let (remotes, wrong_remotes) = remote_indexes::remotes(machine);
    endpoints.remotes = remotes;
    wrong.extend(wrong_remotes);
    (endpoints, wrong)
}
