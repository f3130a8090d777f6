//! A theme or keymap file as text, and errors that name its file and line.

use std::ops::Range;

use strsim::levenshtein;
use toml::de::DeTable;
use toml::{Spanned, de::DeValue};

use crate::config::{AssetFile, Assets};
use crate::model::UserError;
use crate::text::lines::line_at;

/// Files that build on files that build on files end here.
const MAX_DEPTH: usize = 4;

/// A data file together with its place.
#[derive(Debug)]
pub(super) struct DataFile {
    file: AssetFile,
}

impl DataFile {
    /// Reads `<folder>/<name>.toml`.
    pub fn load(assets: &Assets, folder: &str, name: &str) -> Result<Self, UserError> {
        Ok(Self { file: assets.text(&format!("{folder}/{name}.toml"))? })
    }

    /// Reads a file and those it is based on (its key `inherits`), the most basic one first. A
    /// person's own file that inherits its own name is based on the built-in one.
    pub fn load_chain(assets: &Assets, folder: &str, name: &str) -> Result<Vec<Self>, UserError> {
        let mut chain: Vec<Self> = Vec::new();
        let mut next = Some(name.to_owned());
        let mut last = String::new();
        while let Some(name) = next {
            let is_own = chain.first().is_some_and(|first| first.file.origin.is_users());
            let file = if name == last && is_own {
                Self::load(&Assets::built_in(), folder, &name)?
            } else {
                Self::load(assets, folder, &name)?
            };
            let table = file.parse()?;
            next = match table.get("inherits") {
                None => None,
                Some(_) if chain.len() >= MAX_DEPTH => {
                    return Err(file.wrong(0..0, "it inherits from too many files", ""));
                }
                Some(base) => Some(file.text_of(base)?.to_owned()),
            };
            last = name;
            chain.insert(0, file);
        }
        Ok(chain)
    }

    /// The table at its root.
    pub fn parse(&self) -> Result<DeTable<'_>, UserError> {
        match DeTable::parse(&self.file.text) {
            Ok(table) => Ok(table.into_inner()),
            Err(error) => {
                let why = error.message().lines().next().unwrap_or("it is not TOML").to_owned();
                Err(self.wrong(error.span().unwrap_or(0..0), &why, ""))
            }
        }
    }

    /// A value that must be a string.
    pub fn text_of<'v>(&self, value: &'v Spanned<DeValue<'_>>) -> Result<&'v str, UserError> {
        value.get_ref().as_str().ok_or_else(|| self.not_a("a string", value))
    }

    /// A value that must be a table.
    pub fn table_of<'v, 'i>(
        &self,
        value: &'v Spanned<DeValue<'i>>,
    ) -> Result<&'v DeTable<'i>, UserError> {
        value.get_ref().as_table().ok_or_else(|| self.not_a("a table", value))
    }

    /// The error that `value` is something else.
    pub fn not_a(&self, wanted: &str, value: &Spanned<DeValue<'_>>) -> UserError {
        let why = format!("expected {wanted}, not a value of type {}", value.get_ref().type_str());
        self.wrong(value.span(), &why, "")
    }

    /// An error at a place of this file.
    pub fn wrong(&self, span: Range<usize>, why: &str, fix: &str) -> UserError {
        let what = format!("Cannot use {}, line {}", self.file.origin, self.line(&span));
        UserError::new(what, why, fix)
    }

    /// Where something stands, for people: file and line.
    pub fn place(&self, span: &Range<usize>) -> String {
        format!("{}, line {}", self.file.origin, self.line(span))
    }

    fn line(&self, span: &Range<usize>) -> usize {
        line_at(&self.file.text, span.start)
    }
}

/// Advice for an unknown name: the known names nearest to it, or all if none is near.
pub(super) fn near_names<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    let mut scored: Vec<(usize, &str)> =
        known.map(|known| (levenshtein(name, known), known)).collect();
    scored.sort_unstable();
    let near: Vec<&str> = scored
        .iter()
        .filter(|(far, known)| *far <= 1 + known.len() / 3 || known.contains(name))
        .take(4)
        .map(|(_, known)| *known)
        .collect();
    if near.is_empty() {
        let all: Vec<&str> = scored.iter().map(|(_, known)| *known).collect();
        format!("there are: {}", all.join(", "))
    } else {
        format!("similar: {}", near.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_offered_before_all_of_them() {
        let known = ["approve", "approve-rest", "reject"];
        assert_eq!(near_names("aprove", known.into_iter()), "similar: approve");
        assert_eq!(
            near_names("xyz", known.into_iter()),
            "there are: reject, approve, approve-rest"
        );
    }
}
