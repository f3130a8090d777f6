//! Programs and tests that agents wrote, run in the sandbox over a copy of the project.
//!
//! Owns the copy, the programs that are started over it, and what their output means. What runs here
//! reads the copy and the programs of this machine and writes the copy; nothing of it reaches the
//! project. Must not know who asks, nor what is proposed.

mod assertions;
mod c_program;
mod c_runner;
mod c_sources;
mod captured;
mod code_run;
mod ctest;
mod firmware_runner;
mod folder;
mod interpreter;
mod order;
mod python_check;
mod python_runner;
mod report;
mod run_env;
mod test_files;
mod test_run;

pub use captured::{Captured, OutputSink};
pub use code_run::{CodeResult, CodeRun, Language, run_code};
pub use folder::ScratchFolder;
pub use order::{Coverage, TestLanguage, TestOrder};
pub use python_check::{CheckError, CheckStep, PythonChecked, check_python};
pub use run_env::RunEnv;
pub use test_run::run_tests;
