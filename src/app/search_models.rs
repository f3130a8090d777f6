//! The endpoints that take part in the search, as the person has set them up.
//!
//! Makes calls that wait out of requests that do not. Owns how long a search waits for them.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use tokio::runtime::Runtime;

use super::machine::Machine;
use crate::knowledge::{Embedder, Endpoints, Reranker};
use crate::model::UserError;
use crate::provider::SearchModel;

/// How long a search waits for an endpoint.
const SEARCH_TIME: Duration = Duration::from_secs(2);

/// An endpoint with the thread that asks it, so that callers may be anywhere.
struct Asker {
    model: Arc<SearchModel>,
    /// Given up without waiting when the asker goes.
    runtime: Option<Runtime>,
}

impl Asker {
    fn of(machine: &Machine, profile: &str) -> Result<Self, UserError> {
        let model = Arc::new(SearchModel::new(machine.profiles.find(profile, None)?));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("endpoint")
            .enable_all()
            .build()
            .map_err(|error| UserError::from_cause("Cannot ask an endpoint", &error))?;
        Ok(Self { model, runtime: Some(runtime) })
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
        let (sender, answer) = mpsc::channel();
        let request = ask(Arc::clone(&self.model));
        let runtime = self.runtime.as_ref().ok_or("it is closed")?;
        let task = runtime.spawn(async move {
            // After the time limit nobody receives it.
            let _ = sender.send(request.await);
        });
        let late = |_| {
            task.abort();
            format!("no answer within {} s", most.as_secs())
        };
        let answer = answer.recv_timeout(most).map_err(late)?;
        answer.map_err(|error| format!("{}: {}", error.what, error.why))
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
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
    (endpoints, wrong)
}
