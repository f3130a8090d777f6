//! Files that an agent wrote down as JSON: each as code of its own instead of a wall of escapes.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::model::ProjectPath;
use crate::text::colouring::Colouring;
use crate::ui::line;
use crate::ui::role::Role;

use super::code::{CodeBlock, Growth};
use super::open_files::{self, OpenFile};
use super::wrap::{CellRow, StyledText};

/// Something in a text that can be folded: the place of its chunk, and which of the chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FoldId {
    /// Where its chunk begins in the source, in bytes.
    pub start: usize,
    pub(super) index: usize,
}

/// The files of one answer.
#[derive(Debug)]
pub(super) struct AnswerFiles(Vec<FilePart>);

#[derive(Debug)]
struct FilePart {
    path: String,
    lines: usize,
    /// The code as a fence, which is what [`CodeBlock`] reads.
    source: String,
    code: CodeBlock,
    growth: Growth,
}

/// Lines of a file that are shown while it comes.
const NEWEST: usize = 8;

impl AnswerFiles {
    /// Reads a complete fence of JSON; `None` when it holds anything but files.
    pub fn read(fence: &str, columns: usize) -> Option<Self> {
        let (body, _) = body_of(fence, "json")?.trim_end().rsplit_once('\n')?;
        let value: Value = serde_json::from_str(body).ok()?;
        let list = value.as_array().or_else(|| value.get("files")?.as_array())?;
        let files: Option<Vec<FilePart>> =
            list.iter().map(|file| read_file(file, columns)).collect();
        files.filter(|files| !files.is_empty()).map(Self)
    }

    /// Reads a fence of JSON that still grows; `None` when it holds anything but files. Of the file
    /// that comes the newest lines show.
    pub fn read_open(fence: &str, columns: usize) -> Option<Self> {
        let files = open_files::read(body_of(fence, "json")?)?;
        let part = |file: OpenFile| {
            let lines = file.code.lines().count();
            let skipped = if file.is_whole { lines } else { lines.saturating_sub(NEWEST) };
            let newest: String = file.code.split_inclusive('\n').skip(skipped).collect();
            file_part(file.path, lines, &newest, (columns, Growth::of(file.is_whole)))
        };
        Some(Self(files.into_iter().map(part).collect()))
    }

    /// Rows of all files.
    pub fn rows(&self, start: usize, unfolded: &BTreeSet<FoldId>) -> usize {
        let of_one =
            |(index, file): (usize, &FilePart)| file.rows(FoldId { start, index }, unfolded);
        self.0.iter().enumerate().map(of_one).sum()
    }

    /// First row of each file.
    pub fn folds(&self, start: usize, unfolded: &BTreeSet<FoldId>) -> Vec<(usize, FoldId)> {
        let mut row = 0;
        let mut folds = Vec::new();
        for (index, file) in self.0.iter().enumerate() {
            let id = FoldId { start, index };
            folds.push((row, id));
            row += file.rows(id, unfolded);
        }
        folds
    }

    /// The file that a row belongs to, and the row within it.
    fn find(
        &self,
        start: usize,
        unfolded: &BTreeSet<FoldId>,
        row: usize,
    ) -> Option<(FoldId, usize)> {
        let folds = self.folds(start, unfolded);
        let (first, id) = folds.iter().rfind(|(first, _)| *first <= row)?;
        Some((*id, row - first))
    }

    /// Colours rows from `first` on. Whether some of it is still to come.
    pub fn prepare(
        &mut self,
        start: usize,
        unfolded: &BTreeSet<FoldId>,
        first: usize,
        count: usize,
    ) -> bool {
        let mut is_busy = false;
        for row in first..first + count {
            let Some((id, inside)) = self.find(start, unfolded, row) else { break };
            let Some(file) = self.0.get_mut(id.index) else { break };
            is_busy |= file.prepare(inside);
        }
        is_busy
    }

    pub fn row(&self, start: usize, unfolded: &BTreeSet<FoldId>, row: usize) -> CellRow {
        let found = self.find(start, unfolded, row);
        let row = found.and_then(|(id, inside)| {
            Some(self.0.get(id.index)?.row(inside, unfolded.contains(&id)))
        });
        row.unwrap_or_default()
    }
}

/// What follows the first line of a fence in that language.
pub(super) fn body_of<'t>(fence: &'t str, language: &str) -> Option<&'t str> {
    let (head, body) = fence.split_once('\n')?;
    let own = head.trim_start_matches(['`', '~', ' ']).trim();
    own.eq_ignore_ascii_case(language).then_some(body)
}
/// A file that is being written: its path, how long it is, and its newest lines.
#[derive(Debug)]
pub struct GrowingFile(FilePart);

impl GrowingFile {
    /// A file of so many lines so far; `newest` are the last of them, `None`: all has come.
    #[must_use]
    pub fn new(path: &str, lines: usize, newest: Option<&str>, columns: usize) -> Self {
        let growth = Growth::of(newest.is_none());
        Self(file_part(path.to_owned(), lines, newest.unwrap_or_default(), (columns, growth)))
    }

    /// Rows that it takes.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.0.rows(FoldId { start: 0, index: 0 }, &BTreeSet::new())
    }

    /// Makes a row ready to be drawn. Whether colours of it are still to come.
    pub fn prepare(&mut self, row: usize) -> bool {
        self.0.prepare(row)
    }

    #[must_use]
    pub fn row(&self, row: usize) -> CellRow {
        self.0.row(row, false)
    }
}

impl FilePart {
    fn rows(&self, id: FoldId, unfolded: &BTreeSet<FoldId>) -> usize {
        let shows = self.growth == Growth::Open || unfolded.contains(&id);
        1 + if shows { self.code.rows() } else { 0 }
    }

    /// Makes a row ready to be drawn. Whether colours of it are still to come.
    fn prepare(&mut self, row: usize) -> bool {
        row.checked_sub(1).is_some_and(|row| self.code.prepare(&self.source, row, 1))
    }
    fn row(&self, row: usize, is_unfolded: bool) -> CellRow {
        match row.checked_sub(1) {
            None => self.head(is_unfolded),
            Some(row) => self.code.row(&self.source, row),
        }
    }
    fn head(&self, is_unfolded: bool) -> CellRow {
        let (mark, role) = match (self.growth, is_unfolded) {
            (Growth::Open, _) => ("▾ ", Role::Busy),
            (Growth::Complete, true) => ("▾ ", Role::Dim),
            (Growth::Complete, false) => ("▸ ", Role::Dim),
        };
        let more = if self.growth == Growth::Open { " so far" } else { "" };
        let noun = if self.lines == 1 { "line" } else { "lines" };
        let lines = format!("  {} {noun}{more}", self.lines);
        CellRow::new(vec![
            StyledText::new(mark, role),
            StyledText::new(self.path.clone(), Role::Text),
            StyledText::new(lines, Role::Dim),
        ])
    }
}

fn read_file(value: &Value, columns: usize) -> Option<FilePart> {
    let fields = value.as_object()?;
    let text = |names: [&str; 2]| names.iter().find_map(|name| fields.get(*name)?.as_str());
    let (path, code) = (text(["file_name", "path"])?, text(["code", "content"])?);
    // Anything else in it would be lost to the eye.
    if fields.len() != 2 {
        return None;
    }
    let lines = code.lines().count();
    Some(file_part(path.to_owned(), lines, code, (columns, Growth::Complete)))
}

fn file_part(
    path: String,
    lines: usize,
    code: &str,
    (columns, growth): (usize, Growth),
) -> FilePart {
    let colouring = ProjectPath::new(&path).ok().and_then(|path| Colouring::of(&path));
    let end = if code.ends_with('\n') { "" } else { "\n" };
    let source = format!("```\n{code}{end}```\n");
    let mut block = CodeBlock::new(columns);
    block.update(&source, Growth::Complete);
    block.set_colouring(colouring);
    let margin = if growth == Growth::Open { 22 } else { 14 };
    let path = line::cut_start(&path, columns.saturating_sub(margin).max(8));
    FilePart { path, lines, source, code: block, growth }
}
