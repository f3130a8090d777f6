//! Which models take part in the search of documents, as settings.
//!
//! Must not know how they are asked.

use schemars::JsonSchema;
use serde::Deserialize;

use super::origin::Sourced;
use super::source::{ConfigSource, LayerKind};
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
}

/// The profiles of models that take part in the search; none unless the person names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchUse {
    pub embeddings: Sourced<Option<String>>,
    pub reranker: Sourced<Option<String>>,
}

impl Default for SearchUse {
    fn default() -> Self {
        Self { embeddings: Sourced::default(None), reranker: Sourced::default(None) }
    }
}

impl SearchUse {
    pub(super) fn take(
        &mut self,
        source: &ConfigSource<'_>,
        layer: &SearchLayer,
    ) -> Result<(), UserError> {
        let pairs =
            [(&layer.embeddings, &mut self.embeddings), (&layer.reranker, &mut self.reranker)];
        for (given, into) in pairs {
            let Some(given) = given else { continue };
            if source.kind == LayerKind::Project {
                let why = "a project's own configuration may not send documents to a service, \
                           because agents write to it";
                let mut error = source.wrong(given.span(), why);
                error.fix = "Move the line to your own configuration.".into();
                return Err(error);
            }
            let Sourced { value, origin } = source.sourced(given);
            *into = Sourced { value: Some(value), origin };
        }
        Ok(())
    }
}
