//! What is looked at: one change, with what the file holds now and what it will hold.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::OnceLock;
use std::time::Duration;

use super::FindingsContext;
use super::named_numbers::{self, NamedNumber};
use super::source::{SourceText, is_like_c};
use crate::model::event::ProjectFile;
use crate::model::{Change, Facts, ProjectPath};
use crate::text::diff::{ChangedLines, changed_lines};
use crate::text::syntax::Parsed;
use crate::text::syntax_versions::Changed as Replaced;
use crate::workspace::ProjectDir;

/// How long lines are compared for findings; beyond it the rest counts as changed.
pub(super) const BUDGET: Duration = Duration::from_millis(100);

/// Files of the project that are compared.
pub(super) const MOST_FILES: usize = 2_000;

/// One change, and what is known besides.
pub(in crate::gate) struct Subject<'a> {
    pub(in crate::gate) change: &'a Change,
    /// What the file holds; `None`: it is not there, or the change has no file.
    pub(in crate::gate) base: Option<&'a [u8]>,
    /// What it will hold; empty for a deletion or what is done to a board.
    pub(in crate::gate) content: &'a [u8],
    pub(in crate::gate) facts: &'a Facts,
    pub(in crate::gate) project_dir: &'a ProjectDir,
    /// The chip, the task and what else was said about the run.
    pub(in crate::gate) context: &'a FindingsContext,
    changed: OnceLock<Changed>,
    files: OnceLock<Vec<ProjectFile>>,
    source: OnceLock<Option<SourceText<'a>>>,
    base_source: OnceLock<Option<SourceText<'a>>>,
    numbers: OnceLock<Option<[Vec<NamedNumber>; 2]>>,
    /// What follows from the change, once that is worked out.
    pub(super) consequence: OnceLock<String>,
}

/// A text whose lines end with `\n` alone.
fn without_returns(text: &[u8]) -> Cow<'_, [u8]> {
    let mut rest = text;
    let mut kept = Vec::new();
    while let Some(at) = memchr::memmem::find(rest, b"\r\n") {
        let (line, behind) = rest.split_at(at);
        kept.extend_from_slice(line);
        rest = behind.get(1..).unwrap_or_default();
    }
    if rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    kept.extend_from_slice(rest);
    Cow::Owned(kept)
}

/// Which lines differ between the two versions.
#[derive(Debug, Default)]
pub(in crate::gate) struct Changed {
    /// Numbers in the new version, from 1.
    pub(in crate::gate) added: BTreeSet<u32>,
    /// Numbers in the old version, from 1.
    pub(in crate::gate) removed: BTreeSet<u32>,
}

impl Changed {
    /// The lines in which two versions differ, by more than what ends them: that is told as a whole.
    pub(super) fn between(base: &[u8], content: &[u8]) -> Self {
        Self::of_bytes(&without_returns(base), &without_returns(content))
    }

    /// The lines in which two versions differ by any byte.
    fn of_bytes(base: &[u8], content: &[u8]) -> Self {
        let lines = |ranges: Vec<Range<usize>>| {
            ranges.into_iter().flatten().filter_map(|line| u32::try_from(line + 1).ok())
        };
        let ChangedLines { added, removed } = changed_lines(base, content, BUDGET);
        Self { added: lines(added).collect(), removed: lines(removed).collect() }
    }

    /// The same as ranges of lines from 0 that stand in each other's place.
    pub(super) fn runs(&self) -> Vec<Replaced> {
        let mut runs: Vec<Replaced> = Vec::new();
        let at = |line: Option<&u32>| {
            line.and_then(|line| usize::try_from(*line - 1).ok()).unwrap_or(usize::MAX)
        };
        let (mut removed, mut added) =
            (self.removed.iter().peekable(), self.added.iter().peekable());
        // The next lines, old and new, behind those that are the same.
        let (mut old, mut new) = (0, 0);
        while removed.peek().is_some() || added.peek().is_some() {
            let same = (at(removed.peek().copied()) - old).min(at(added.peek().copied()) - new);
            let (from_old, from_new) = (old + same, new + same);
            (old, new) = (from_old, from_new);
            while removed.next_if(|line| at(Some(line)) == old).is_some() {
                old += 1;
            }
            while added.next_if(|line| at(Some(line)) == new).is_some() {
                new += 1;
            }
            runs.push(Replaced { old: from_old..old, new: from_new..new });
        }
        runs
    }

    /// The number in the old version of a line of the new one; `None` for a line that differs.
    pub(super) fn line_before(&self, line: u32) -> Option<u32> {
        if self.added.contains(&line) {
            return None;
        }
        let added = u32::try_from(self.added.range(..line).count()).ok()?;
        let mut before = line - added;
        for removed in &self.removed {
            if *removed > before {
                break;
            }
            before += 1;
        }
        Some(before)
    }
}

impl<'a> Subject<'a> {
    /// A change in its surroundings.
    pub(in crate::gate) fn new(
        change: &'a Change,
        versions: (Option<&'a [u8]>, &'a [u8]),
        facts: &'a Facts,
        project_dir: &'a ProjectDir,
        context: &'a FindingsContext,
    ) -> Self {
        let (base, content) = versions;
        Self {
            change,
            base,
            content,
            facts,
            project_dir,
            context,
            changed: OnceLock::new(),
            files: OnceLock::new(),
            source: OnceLock::new(),
            base_source: OnceLock::new(),
            numbers: OnceLock::new(),
            consequence: OnceLock::new(),
        }
    }

    /// The same change as if the file was new and held what it holds now.
    pub(super) fn before(&self) -> Option<Self> {
        let versions = (None, self.base?);
        Some(Self::new(self.change, versions, self.facts, self.project_dir, self.context))
    }

    /// The same change of a file that held something else before.
    pub(super) fn with_base<'b>(&'b self, base: &'b [u8]) -> Subject<'b> {
        let versions = (Some(base), self.content);
        Subject::new(self.change, versions, self.facts, self.project_dir, self.context)
    }

    /// The new content as text; `None` when it is not UTF-8.
    pub(super) fn text(&self) -> Option<&'a str> {
        std::str::from_utf8(self.content).ok()
    }

    /// What the file holds as text; `None` when it is not there or not UTF-8.
    pub(super) fn base_text(&self) -> Option<&'a str> {
        std::str::from_utf8(self.base?).ok()
    }

    /// The text that a file of the project will hold once this change and those beside it are
    /// carried out; `None` when it will not be there, or is no text.
    pub(super) fn text_after(&self, path: &str) -> Option<String> {
        let is_own = self.change.path().is_some_and(|own| own.as_str() == path);
        let content = match self.change {
            Change::Delete { .. } if is_own => None,
            Change::Save { .. } | Change::Insert { .. } if is_own => Some(self.content.to_vec()),
            _ => self.context.proposed.read(self.project_dir, path),
        };
        String::from_utf8(content?).ok()
    }

    /// The text that a file of the project holds before; `None` when it is not there, or no text.
    pub(super) fn text_before(&self, path: &str) -> Option<String> {
        let is_own = self.change.path().is_some_and(|own| own.as_str() == path);
        let content = match is_own {
            true => self.base.map(<[u8]>::to_vec),
            false => self.project_dir.read(&ProjectPath::new(path).ok()?).ok(),
        };
        String::from_utf8(content?).ok()
    }

    /// The new content with what is read of it; `None` when it is not UTF-8.
    pub(super) fn source(&self) -> Option<&SourceText<'a>> {
        let read =
            || Some(SourceText::new(self.change.path()?, self.text()?).after(self.base_text()));
        self.source.get_or_init(read).as_ref()
    }

    /// What the file holds with what is read of it; `None` when it is not there or not UTF-8.
    pub(super) fn base_source(&self) -> Option<&SourceText<'a>> {
        let read = || Some(SourceText::new(self.change.path()?, self.base_text()?));
        self.base_source.get_or_init(read).as_ref()
    }

    /// The numbers to which what the file held and what it is to hold give names; `None` when it is not
    /// there, or one of both is not UTF-8.
    pub(super) fn numbers(&self) -> Option<[&[NamedNumber]; 2]> {
        let all = |source: &SourceText<'_>| named_numbers::find(source, |_| true);
        let read = || Some([all(self.base_source()?), all(self.source()?)]);
        self.numbers.get_or_init(read).as_ref().map(|both| both.each_ref().map(Vec::as_slice))
    }

    /// What the file held and what it is to hold, of a source of C, C++, Arduino or Rust that was there.
    pub(super) fn versions_of_code(&self) -> Option<(&SourceText<'a>, &SourceText<'a>)> {
        let new = self.source().filter(|source| is_like_c(source.path))?;
        Some((self.base_source()?, new))
    }

    /// The files of the project.
    pub(super) fn files(&self) -> &[ProjectFile] {
        self.files.get_or_init(|| self.project_dir.list(MOST_FILES).files)
    }

    /// What the file holds and its tree; `None` when it is not there, or its language is not known.
    pub(super) fn base_parsed(&self) -> Option<&Parsed<'a>> {
        let base = self.base_source()?;
        base.parsed_from(|| {
            let new = self.source()?;
            // A tree counts bytes: lines that end otherwise are not the same to it.
            let has_returns = |text: &str| text.contains("\r\n");
            let runs = match has_returns(base.text) || has_returns(new.text) {
                true => Changed::of_bytes(base.text.as_bytes(), new.text.as_bytes()).runs(),
                false => self.changed().runs(),
            };
            new.parsed()?.before(new.path, base.text, &runs)
        })
    }

    /// The lines that differ; every line of a new file.
    pub(super) fn changed(&self) -> &Changed {
        self.changed.get_or_init(|| Changed::between(self.base.unwrap_or_default(), self.content))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_only_ends_otherwise_is_the_same() {
        let changed = |old: &str, new: &str| {
            let Changed { added, removed } = Changed::between(old.as_bytes(), new.as_bytes());
            (Vec::from_iter(removed), Vec::from_iter(added))
        };
        assert_eq!(changed("a\nb\n", "a\r\nb\r\n"), (vec![], vec![]));
        assert_eq!(changed("a\r\nb\nc", "a\nx\r\nc"), (vec![2], vec![2]));
        assert_eq!(changed("a\rb\n", "ab\n"), (vec![1], vec![1]));
        assert_eq!(changed("a\n\r\n", "a\n\n"), (vec![], vec![]));
    }

    #[test]
    fn lines_that_differ_are_ranges_in_each_others_place() {
        let runs = |removed: &[u32], added: &[u32]| {
            let (added, removed) =
                (added.iter().copied().collect(), removed.iter().copied().collect());
            let runs = Changed { added, removed }.runs().into_iter();
            runs.map(|run| (run.old, run.new)).collect::<Vec<_>>()
        };
        assert_eq!(runs(&[], &[]), []);
        assert_eq!(runs(&[3], &[3]), [(2..3, 2..3)]);
        assert_eq!(runs(&[1, 2, 8], &[6]), [(0..2, 0..0), (7..8, 5..6)]);
        assert_eq!(runs(&[5], &[1, 2, 7, 9]), [(0..0, 0..2), (4..5, 6..7), (6..6, 8..9)]);
    }
}
