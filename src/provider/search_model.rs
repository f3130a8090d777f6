//! A model behind a service that helps a search: it makes vectors of texts, or says how well they
//! fit a question.
//!
//! Speaks the protocols for that, `/embeddings` as OpenAI has it, Ollama's `/api/embed`, and
//! `/rerank` as Cohere, Jina, vLLM and llama.cpp have it. Must not know what the texts are.

use std::sync::Arc;

use serde_json::{Value, json};

use super::dialect::AZURE_VERSION;
use super::fault::Fault;
use super::profile::Profile;
use super::service::Service;
use super::wire::Client;
use crate::model::UserError;

/// A model that makes vectors, or one that judges results.
#[derive(Debug)]
pub struct SearchModel {
    profile: Arc<Profile>,
    client: Client,
}

impl SearchModel {
    /// Nothing is connected before the first request.
    #[must_use]
    pub fn new(profile: Profile) -> Self {
        profile.guard();
        Self { profile: Arc::new(profile), client: Client::default() }
    }

    /// The profile it was made from.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// One vector for each text. What must not be repeated is taken out of the texts before.
    ///
    /// # Errors
    /// When the service cannot be reached, refuses, or answers something else.
    pub async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, UserError> {
        let body = json!({ "model": self.profile.model, "input": self.cleaned(texts) });
        let answer = self.post(&self.embed_path(), &body).await?;
        vectors(&answer, texts.len()).ok_or_else(|| self.garbled(&answer))
    }

    /// One figure for each text, the higher the better.
    ///
    /// # Errors
    /// As [`SearchModel::embed`].
    pub async fn rerank(&self, question: &str, texts: &[String]) -> Result<Vec<f32>, UserError> {
        let (query, documents) = (self.profile.redact(question), self.cleaned(texts));
        let body = json!({
            "model": self.profile.model, "query": query, "documents": documents,
            "top_n": texts.len(),
        });
        let answer = self.post("/rerank", &body).await?;
        figures(&answer, texts.len()).ok_or_else(|| self.garbled(&answer))
    }

    fn cleaned(&self, texts: &[String]) -> Vec<String> {
        texts.iter().map(|text| self.profile.redact(text)).collect()
    }

    fn embed_path(&self) -> String {
        match self.profile.service {
            Service::Azure => {
                let version = self.profile.wire.api_version.as_deref().unwrap_or(AZURE_VERSION);
                let model = &self.profile.model;
                format!("/openai/deployments/{model}/embeddings?api-version={version}")
            }
            Service::Ollama => "/api/embed".to_owned(),
            _ => "/embeddings".to_owned(),
        }
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Value, UserError> {
        let answer = async {
            let mut reply = self.client.post(&self.profile, path, body).await?;
            reply.whole_of().await
        };
        answer.await.map_err(|fault: Fault| fault.error)
    }

    fn garbled(&self, answer: &Value) -> UserError {
        let text = answer.to_string();
        Fault::garbled(&self.profile, "an answer of another form", &text).error
    }
}

/// The vectors of an answer in the order of the texts: `data` of OpenAI, `embeddings` of Ollama.
fn vectors(answer: &Value, count: usize) -> Option<Vec<Vec<f32>>> {
    let vector = |value: &Value| -> Option<Vec<f32>> {
        value.as_array()?.iter().map(number).collect::<Option<Vec<f32>>>()
    };
    if let Some(list) = answer.get("embeddings") {
        let all: Vec<Vec<f32>> = list.as_array()?.iter().map(vector).collect::<Option<_>>()?;
        return (all.len() == count).then_some(all);
    }
    let mut all = vec![None; count];
    for (place, item) in answer.get("data")?.as_array()?.iter().enumerate() {
        *all.get_mut(index(item).unwrap_or(place))? = Some(vector(item.get("embedding")?)?);
    }
    all.into_iter().collect()
}

/// The figures of an answer in the order of the texts; a text that is not named fits least.
fn figures(answer: &Value, count: usize) -> Option<Vec<f32>> {
    let mut all = vec![None; count];
    for item in answer.get("results")?.as_array()? {
        let score = item.get("relevance_score").or_else(|| item.get("score"))?;
        *all.get_mut(index(item)?)? = Some(number(score)?);
    }
    let least = all.iter().flatten().copied().reduce(f32::min)?;
    Some(all.into_iter().map(|score| score.unwrap_or(least - 1.0)).collect())
}

fn index(item: &Value) -> Option<usize> {
    usize::try_from(item.get("index")?.as_u64()?).ok()
}

#[expect(clippy::cast_possible_truncation, reason = "a vector needs no more digits")]
fn number(value: &Value) -> Option<f32> {
    value.as_f64().map(|value| value as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_read_in_the_order_of_the_texts() {
        let openai =
            json!({"data": [{"index": 1, "embedding": [0.5]}, {"index": 0, "embedding": [1]}]});
        assert_eq!(vectors(&openai, 2), Some(vec![vec![1.0], vec![0.5]]));
        let ollama = json!({"embeddings": [[1.0, 2.0]]});
        assert_eq!(vectors(&ollama, 1), Some(vec![vec![1.0, 2.0]]));
        for wrong in [json!({}), json!({"data": []}), json!({"embeddings": [["a"]]})] {
            assert_eq!(vectors(&wrong, 1), None, "{wrong}");
        }
        let beyond = json!({"data": [{"index": 7, "embedding": [1]}]});
        assert_eq!(vectors(&beyond, 1), None);
    }

    #[test]
    fn figures_belong_to_their_texts() {
        let answer = json!({"results": [
            {"index": 2, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.2},
        ]});
        let found = figures(&answer, 3).unwrap();
        assert!(found[2] > found[0] && found[0] > found[1], "{found:?}");
        assert_eq!(figures(&json!({"results": []}), 2), None);
        assert_eq!(figures(&json!({"results": [{"index": 5, "relevance_score": 1}]}), 2), None);
    }
}
