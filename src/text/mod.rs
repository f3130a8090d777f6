//! Pure text algorithms: sanitising, diff, syntax, recovery of structured answers.
//!
//! Owns no state and must not do IO.

mod c_source;
pub mod diff;
pub mod recover;
pub mod sanitize;
pub mod syntax;
mod syntax_error;
pub mod words;
