//! An index on another machine that a team shares: OpenSearch, Elasticsearch, Azure AI Search or
//! PostgreSQL.
//!
//! Speaks their protocols, and says in words why there is no answer. Must not choose among results, nor
//! trust any of them.

mod about;
mod azure;
mod fault;
mod opensearch;
mod postgres;
mod shared;
mod sql;
mod tls;

pub use about::{IndexAbout, IndexFields, IndexKind};
pub use shared::RemoteIndex;
