//! The text of one configuration file, and what is said of places in it.
//!
//! Owns where a value came from and how an error names its line. Must not know any setting.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::origin::{Origin, Sourced};
use super::spanned::Spanned;
use crate::model::UserError;
use crate::text::lines::line_at;

/// Which file a layer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LayerKind {
    User,
    Project,
    /// Named by a flag; holds nothing but rules.
    PolicyFile,
}

/// The text of a configuration file together with its place, for error messages.
#[derive(Debug)]
pub(super) struct ConfigSource<'a> {
    pub kind: LayerKind,
    pub file: &'a Path,
    pub text: &'a str,
}

impl ConfigSource<'_> {
    /// A value with its origin.
    pub fn sourced<T: Clone>(&self, value: &Spanned<T>) -> Sourced<T> {
        Sourced { value: value.get_ref().clone(), origin: self.origin(value.span()) }
    }

    /// As [`ConfigSource::sourced`] for a number of which 0 makes no sense.
    pub fn positive(&self, value: &Spanned<u32>) -> Result<Sourced<u32>, UserError> {
        if *value.get_ref() == 0 {
            return Err(self.wrong(value.span(), "it must be at least 1"));
        }
        Ok(self.sourced(value))
    }

    /// The place of what stands at these bytes.
    pub fn origin(&self, span: Range<usize>) -> Origin {
        let (file, line): (PathBuf, usize) = (self.file.to_owned(), self.line(&span));
        match self.kind {
            LayerKind::User => Origin::User { file, line },
            LayerKind::Project => Origin::Project { file, line },
            LayerKind::PolicyFile => Origin::FlagFile { file, line },
        }
    }

    fn line(&self, span: &Range<usize>) -> usize {
        line_at(self.text, span.start)
    }

    /// What is wrong at these bytes, with the line to correct.
    pub fn wrong(&self, span: Range<usize>, why: &str) -> UserError {
        let file = self.file.display();
        let line = self.line(&span);
        UserError::new(
            format!("Cannot use {file}, line {line}"),
            why,
            format!("Correct line {line} of {file}."),
        )
    }
}
