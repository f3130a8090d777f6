//! What source texts say: what headers declare, how complex functions are, which files a request
//! is about.
//!
//! Pure: texts come in, facts go out; must not
//! read files.

mod complexity;
mod declaration;
mod declarations;
mod preprocess;
mod relevance;
mod scan;
mod signatures;
mod sketch_map;

pub use complexity::{Complexity, MeasuredFunctions, complexity};
pub use declarations::{Declaration, DeclarationKind, HeaderSummary, read_header};
pub use preprocess::grammar_of;
pub use relevance::{
    ChosenFile, Commit, CommitHistory, ProjectIndex, RelevanceQuery, SourceFacts, SourceFunctions,
    parse_log, rank, within,
};
pub use signatures::signatures;
pub use sketch_map::{SketchMap, SketchSpot};
