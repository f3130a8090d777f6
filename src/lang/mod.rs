//! What source texts say: the declarations of headers, the includes between files.
//!
//! Owns the grammars that are only read, never shown. Pure: texts come in, facts go out; must not
//! read files.

mod declarations;
mod preprocess;
mod scan;
mod tree;

pub use declarations::{Declaration, DeclarationKind, Header, read_header};
pub use preprocess::grammar_of;
pub use tree::Grammar;
