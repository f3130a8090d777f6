//! Finds errors and warnings in what a build printed.
//!
//! Owns the knowledge of the forms in which GCC, Clang, linkers, CMake, Kconfig, ninja, Python and
//! `idf.py` report them. Pure, except [`locate()`], which reads files of the project.

mod cmake;
mod compiler;
mod encoding;
mod finding;
mod framework;
mod gather;
mod kconfig;
mod languages;
mod linker;
mod locate;
mod make;
mod objects;
mod paths;
mod patterns;
mod phrases;
mod programs;
mod progress;
mod python;
mod search;
mod step;
mod structured;
mod unfinished;

pub use encoding::utf8;
pub use gather::Gather;
pub use locate::locate;
pub use paths::{is_absolute, project_in};
pub(super) use phrases::{begins_with_any, has_any};
pub use progress::NinjaProgress;
pub use search::{parse, parse_failed, parse_in};
