//! From what tests print and write to what became of each.
//!
//! Owns the forms of the frameworks. Everything here was written by a program that an agent wrote:
//! nothing is trusted, everything is bounded.

mod collected;
mod criterion;
mod json_lines;
mod junit;
mod place;
mod printed;
mod tap;
mod unity;

pub use collected::Collected;
pub use json_lines::{JsonRun, read as json_lines};
pub use junit::read as junit;
pub use printed::printed;

#[cfg(test)]
mod report_tests;
