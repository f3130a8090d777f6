//! One index on another machine, asked in the way of its kind.

use std::sync::Arc;

use super::super::profile::Profile;
use super::super::wire::Client;
use super::about::{IndexAbout, IndexKind, MOST_BYTES};
use super::{azure, fault, opensearch, postgres};
use crate::model::{RemotePassage, RemoteQuestion};

/// An index on another machine.
#[derive(Debug)]
pub struct RemoteIndex {
    profile: Arc<Profile>,
    client: Client,
    about: IndexAbout,
}

impl RemoteIndex {
    /// Nothing is connected before the first search.
    #[must_use]
    pub fn new(profile: Profile, about: IndexAbout) -> Self {
        profile.guard();
        Self { profile: Arc::new(profile), client: Client::default(), about }
    }

    /// The passages that it finds, the best first. What must not be repeated is taken out of the
    /// question before.
    ///
    /// # Errors
    /// Why there is no answer, and how to correct that. Waits as long as the other machine does.
    pub async fn search(&self, question: &RemoteQuestion) -> Result<Vec<RemotePassage>, String> {
        let question = self.cleaned(question);
        if question.words.is_empty() {
            return Ok(Vec::new());
        }
        let found = match self.about.kind {
            IndexKind::Postgres => postgres::search(&self.profile, &self.about, &question).await,
            IndexKind::OpenSearch | IndexKind::Elasticsearch | IndexKind::AzureSearch => {
                self.by_http(&question).await
            }
        };
        found.map_err(|why| self.profile.redact(&why))
    }

    async fn by_http(&self, question: &RemoteQuestion) -> Result<Vec<RemotePassage>, String> {
        let (profile, about) = (&self.profile, &self.about);
        let is_azure = about.kind == IndexKind::AzureSearch;
        let (path, body) = match is_azure {
            true => (azure::path(profile), azure::body(about, question)),
            false => (opensearch::path(profile), opensearch::body(about, question)),
        };
        let answer = self.client.ask(profile, &path, &body, MOST_BYTES).await;
        let answer = answer.map_err(|fault| fault::of_http(profile, about.kind, fault))?;
        let found = match is_azure {
            true => azure::read(about, &answer),
            false => opensearch::read(about, &answer),
        };
        let mut found = found.ok_or_else(|| fault::other_form(profile))?;
        found.truncate(question.most);
        Ok(found)
    }

    /// A question without secrets: of one that has a secret, only words that stand elsewhere in it.
    fn cleaned(&self, question: &RemoteQuestion) -> RemoteQuestion {
        let mut question = question.clone();
        let text = self.profile.redact(&question.text);
        if text != question.text {
            let rest = text.to_lowercase();
            question.words.retain(|word| rest.contains(word.as_str()));
            question.text = text;
        }
        question
    }
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
