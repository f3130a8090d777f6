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

/// What to do about a line that is only for the person's own configuration.
pub(super) const MOVE_LINE: &str = "Move the line to your own configuration.";

impl ConfigSource<'_> {
    /// Puts a value that is given into a setting.
    pub fn set<T: Clone, U: From<T>>(&self, given: &Option<Spanned<T>>, into: &mut Sourced<U>) {
        if let Some(given) = given {
            into.set(Some(given.get_ref().clone()), &self.origin(given.span()));
        }
    }

    /// As [`ConfigSource::set`] for a number of which 0 makes no sense.
    pub fn set_positive<U: From<u32>>(
        &self,
        given: &Option<Spanned<u32>>,
        into: &mut Sourced<U>,
    ) -> Result<(), UserError> {
        if let Some(zero) = given.as_ref().filter(|given| *given.get_ref() == 0) {
            return Err(self.wrong(zero.span(), "it must be at least 1"));
        }
        self.set(given, into);
        Ok(())
    }

    /// Refuses what stands at these bytes in a project's own configuration, to which agents write;
    /// `may` says what such a file may do.
    pub fn only_of_person(
        &self,
        span: Range<usize>,
        may: &str,
        fix: &str,
    ) -> Result<(), UserError> {
        if self.kind != LayerKind::Project {
            return Ok(());
        }
        let why = format!("a project's own configuration may {may}, because agents write to it");
        Err(self.wrong(span, &why).fix(fix))
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
