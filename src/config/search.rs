//! Which models and which other machines take part in the search of documents, and what agents may
//! search, as settings.
//!
//! Must not know how they are asked.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::origin::{Origin, Sourced};
use super::remotes::{self, RemoteEntry, RemoteLayer};
use super::source::{ConfigSource, MOVE_LINE};
use super::spanned::Spanned;
use crate::model::UserError;

/// `[search]`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SearchLayer {
    /// The profile whose model makes vectors. `firmhand index build` sends it the texts of the
    /// indexed documents, a search the question.
    pub embeddings: Option<Spanned<String>>,
    /// The profile whose model puts results in order. A search sends it the question and up to 30
    /// passages.
    pub reranker: Option<Spanned<String>>,
    /// Whether agents may search what past sessions of the project came to: errors with what removed
    /// them, decisions, final changes. A person may always, with `firmhand search --kind session`.
    pub sessions: Option<Spanned<bool>>,
    /// Indexes on other machines that are searched too, by a name of yours. A search sends each of them
    /// the question.
    pub remotes: BTreeMap<Spanned<String>, RemoteLayer>,
}

/// The profiles of models that take part in the search, whether agents may search past sessions, and
/// indexes on other machines; none and no unless the person says so.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchUse {
    pub embeddings: Sourced<Option<String>>,
    pub reranker: Sourced<Option<String>>,
    pub sessions: Sourced<bool>,
    /// By their names.
    pub remotes: BTreeMap<String, RemoteEntry>,
}

impl SearchUse {
    pub(super) fn take(
        &mut self,
        source: &ConfigSource<'_>,
        layer: &SearchLayer,
    ) -> Result<(), UserError> {
        for given in layer.embeddings.iter().chain(&layer.reranker) {
            let may = "not send documents to a service";
            source.only_of_person(given.span(), may, MOVE_LINE)?;
        }
        source.set(&layer.embeddings, &mut self.embeddings);
        source.set(&layer.reranker, &mut self.reranker);
        if let Some(given) = &layer.sessions {
            source.only_of_person(given.span(), "not let agents read past sessions", MOVE_LINE)?;
        }
        source.set(&layer.sessions, &mut self.sessions);
        for (name, says) in &layer.remotes {
            let may = "not send questions to another machine";
            source.only_of_person(name.span(), may, MOVE_LINE)?;
            self.remotes.insert(name.get_ref().clone(), remotes::entry(source, name, says)?);
        }
        Ok(())
    }

    /// Every setting: its key, its value, and where it came from.
    pub(super) fn rows(&self) -> Vec<(String, String, Origin)> {
        let row = |key: &str, value: String, origin: &Origin| {
            (format!("search.{key}"), value, origin.clone())
        };
        let profile = |key: &str, profile: &Sourced<Option<String>>| {
            let value = profile.value.clone().unwrap_or_else(|| "none".to_owned());
            row(key, value, &profile.origin)
        };
        let mut rows = vec![
            profile("embeddings", &self.embeddings),
            profile("reranker", &self.reranker),
            row("sessions", self.sessions.value.to_string(), &self.sessions.origin),
        ];
        rows.extend(self.remotes.iter().map(|(name, RemoteEntry { origin, says })| {
            let value = format!("{} at {} ({})", says.index, says.url, says.kind.name());
            row(&format!("remotes.{name}"), value, origin)
        }));
        rows
    }
}
