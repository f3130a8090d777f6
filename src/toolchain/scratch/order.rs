//! What is asked for when tests are run, and what a framework leaves behind.

use std::sync::Arc;

use super::report::Collected;
use crate::model::ProjectPath;
use crate::toolchain::Kit;

/// What tests are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestLanguage {
    Python,
    /// And C++.
    C,
}

/// Which tests to run; their files are in the copy already.
#[derive(Debug, Clone)]
pub struct TestOrder {
    pub language: TestLanguage,
    /// Files and folders; none: all.
    pub paths: Vec<ProjectPath>,
    pub coverage: Coverage,
    /// The virtual board, for tests of firmware; `None`: only what this machine compiles is tested.
    pub kit: Option<Arc<Kit>>,
}

/// Whether it is measured which lines the tests run through; that takes time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    Measured,
    NotMeasured,
}

/// What a framework left behind.
#[derive(Debug, Default)]
pub struct RunOutcome {
    pub framework: String,
    pub tests: Collected,
    pub stopped: String,
    pub notes: Vec<String>,
    pub coverage: Option<u32>,
}
