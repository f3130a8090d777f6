//! Documentation of the framework, of the person and of the program itself, and the search over it.
//!
//! Owns passages, their stored indexes, the ranking, and the list of names that the framework has
//! taken. Reads the corpora; writes nothing but indexes in the folder that it is given.

mod applies;
mod build;
mod chips;
mod corpus;
mod declared;
mod endpoint;
mod folder;
mod fusion;
mod group;
mod index;
mod known_words;
mod leftovers;
mod library;
mod names;
mod notes;
mod passage;
mod pieces;
mod python_lists;
mod query;
mod question_vector;
mod rank;
mod relevance;
mod remotes;
mod spelling;
mod split;
mod stored_texts;
mod synonyms;
mod topics;
mod vectors;
mod words;

pub use build::{BuildOptions, BuildReport, IndexInfo, Part, build, info, is_damaged, remove};
pub use chips::{ChipFacts, ChipSet};
pub use corpus::{Corpus, CorpusKind, JOURNAL, is_document, is_framework};
pub use declared::DeclaredNames;
pub use endpoint::{Embedder, Endpoints, RemoteCorpus, RemoteFacts, Reranker, SEARCH_TIME};
pub use index::{COMPONENT, HEADER, PassageIndex};
pub use leftovers::failed_lately;
pub use library::{Library, SearchAnswer};
pub use names::{NameConflict, NameList};
pub use notes::{
    Knowledge, OwnWork, check as check_note, corpus as notes_corpus, in_memory as index_notes,
};
pub use passage::{Found, Passage, PassageKind, component_of};
pub use query::Filter;
pub use split::{Document, Form, SplitContext, WindowSize, split};
pub use stored_texts::{notes as stored_notes, topics as stored_topics};
pub use synonyms::Synonyms;
pub use topics::{Topics, check as check_topics};
pub use vectors::{VectorReport, build as build_vectors};
pub use words::Splitter;
