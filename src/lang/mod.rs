//! What source texts say: what headers declare, how complex functions are, which files a request
//! is about.
//!
//! Owns the grammars that are only read, never shown. Pure: texts come in, facts go out; must not
//! read files.

mod complexity;
mod declarations;
mod preprocess;
mod relevance;
mod scan;
mod sketch_map;
mod tree;

pub use complexity::{Complexity, complexity};
pub use declarations::{Declaration, DeclarationKind, Header, read_header};
pub use preprocess::grammar_of;
pub use relevance::{Chosen, Commit, History, ProjectIndex, Question, parse_log, rank, within};
pub use sketch_map::{Place, SketchMap};
pub use tree::Grammar;
