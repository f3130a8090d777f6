//! Markdown on a grid of cells, laid out piece by piece while it grows.
//!
//! Owns the cut of a text into chunks that stay as they are once complete, so that a growing text
//! costs no more than its last chunk. Must not know panes.

mod breaks;
mod code;
mod files;
mod flow;
mod inline;
mod open_files;
mod split;
mod table;
mod wrap;

use std::collections::BTreeSet;

pub use breaks::code_parts;
pub(super) use code::clean_pieces;
pub use wrap::{CellRow, Face, StyledText, wrap};

use code::{CodeBlock, Growth};
use files::AnswerFiles;
pub use files::{FoldId, GrowingFile};
use split::{BlockKind, MarkdownBlock, Splitter};

use crate::text::answer_words::fields_in_words;
use crate::text::{sanitize, toon};
use crate::ui::role::Role;

/// A longer block of code is folded once it is complete, in lines.
const LONG: usize = 20;

/// Lines of it that are shown.
const SHOWN: usize = 8;

/// A line of foreign code as rows of at most `columns`, safe to show.
#[must_use]
pub fn code_rows(line: &str, columns: usize) -> Vec<String> {
    let clean = sanitize::line(line);
    code_parts(&clean, columns).into_iter().map(str::to_owned).collect()
}

/// A growing text laid out for one width.
#[derive(Debug, Default)]
pub struct MarkdownDocument {
    width: usize,
    /// Length of the source that was laid out.
    len: usize,
    splitter: Splitter,
    chunks: Vec<Chunk>,
    rows: usize,
    /// What shows all of itself.
    unfolded: BTreeSet<FoldId>,
}

/// One chunk of the text.
#[derive(Debug)]
struct Chunk {
    block: MarkdownBlock,
    first_row: usize,
    rows: usize,
    body: MarkdownBody,
}

#[derive(Debug)]
enum MarkdownBody {
    Text(Vec<CellRow>),
    Code(CodeBlock),
    Files(AnswerFiles),
}

impl MarkdownDocument {
    /// An empty text, laid out for that many columns.
    #[must_use]
    pub fn new(width: usize) -> Self {
        Self { width: width.max(8), ..Self::default() }
    }

    /// Rows so far.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Lays out what was appended to `source` since the last call. A text that did not grow but
    /// changed is not noticed.
    pub fn update(&mut self, source: &str) {
        if source.len() == self.len {
            return;
        }
        if source.len() < self.len {
            let unfolded = std::mem::take(&mut self.unfolded);
            *self = Self { unfolded, ..Self::new(self.width) };
        }
        // The last chunk was still open: take it up again.
        let kept = self.splitter.complete;
        let blocks = self.splitter.advance(source);
        let open = self.chunks.split_off(kept.min(self.chunks.len()));
        self.rows = self.chunks.last().map_or(0, |chunk| chunk.first_row + chunk.rows);
        let mut reused = open.into_iter().next();
        for block in blocks {
            let before = reused.take().filter(|old| old.block.range.start == block.range.start);
            self.push(block, before, source);
        }
        self.len = source.len();
    }

    /// Shows all of `unfolded`, and folds everything else that is long.
    pub fn set_unfolded(&mut self, unfolded: BTreeSet<FoldId>) {
        if unfolded == self.unfolded {
            return;
        }
        self.unfolded = unfolded;
        self.rows = 0;
        for chunk in std::mem::take(&mut self.chunks) {
            self.place(chunk);
        }
    }

    fn push(&mut self, block: MarkdownBlock, before: Option<Chunk>, source: &str) {
        let text = block.text(source);
        let read = if block.is_closed { AnswerFiles::read } else { AnswerFiles::read_open };
        let body = match (&block.kind, before.map(|chunk| chunk.body)) {
            (BlockKind::Text, _) => MarkdownBody::Text(flow::lay_out(text, self.width)),
            (BlockKind::Code, before) => match (read(text, self.width), before) {
                (Some(files), _) => MarkdownBody::Files(files),
                // Fields are told in words, once all of them are there.
                (None, _) if block.is_closed && fields(text).is_some() => {
                    let words = fields(text).unwrap_or_default();
                    MarkdownBody::Text(flow::lay_out(&words, self.width))
                }
                (None, before) => {
                    let mut code = match before {
                        Some(MarkdownBody::Code(code)) => code,
                        _ => CodeBlock::new(self.width),
                    };
                    code.update(text, Growth::of(block.is_closed));
                    MarkdownBody::Code(code)
                }
            },
        };
        self.place(Chunk { block, first_row: 0, rows: 0, body });
    }

    /// Puts a chunk below the others.
    fn place(&mut self, mut chunk: Chunk) {
        chunk.rows = chunk.count_rows(&self.unfolded);
        let gap = chunk.block.gap && !self.chunks.is_empty() && chunk.rows > 0;
        chunk.first_row = self.rows + usize::from(gap);
        self.rows = chunk.first_row + chunk.rows;
        self.chunks.push(chunk);
    }

    /// Makes rows from `first` on ready to be drawn; `count` of them are wanted. Whether some of
    /// their colours are still to come.
    pub fn prepare(&mut self, source: &str, first: usize, count: usize) -> bool {
        let mut is_busy = false;
        let start = self.place_of(first);
        for chunk in self.chunks.iter_mut().skip(start) {
            if chunk.first_row >= first + count {
                break;
            }
            let from = first.saturating_sub(chunk.first_row);
            match &mut chunk.body {
                MarkdownBody::Text(_) => {}
                MarkdownBody::Code(code) => {
                    is_busy |= code.prepare(chunk.block.text(source), from, count);
                }
                MarkdownBody::Files(files) => {
                    let start = chunk.block.range.start;
                    is_busy |= files.prepare(start, &self.unfolded, from, count);
                }
            }
        }
        is_busy
    }

    /// The place of the chunk that a row belongs to, or of the one below it.
    fn place_of(&self, row: usize) -> usize {
        self.chunks.partition_point(|chunk| chunk.first_row + chunk.rows <= row)
    }
    /// One row; an empty one between chunks and behind the end.
    #[must_use]
    pub fn row(&self, source: &str, index: usize) -> CellRow {
        let chunk = self.chunks.get(self.place_of(index));
        let Some(chunk) = chunk.filter(|chunk| chunk.first_row <= index) else {
            return CellRow::default();
        };
        let inside = index - chunk.first_row;
        match &chunk.body {
            MarkdownBody::Text(rows) => rows.get(inside).cloned().unwrap_or_default(),
            MarkdownBody::Code(code)
                if chunk.is_folded(&self.unfolded) && inside + 1 == chunk.rows =>
            {
                let text = format!(" ▸ {} more lines", code.rows() - inside);
                CellRow { pieces: vec![StyledText::new(text, Role::Dim)], fill: Some(Role::Code) }
            }
            MarkdownBody::Code(code) => code.row(chunk.block.text(source), inside),
            MarkdownBody::Files(files) => {
                files.row(chunk.block.range.start, &self.unfolded, inside)
            }
        }
    }

    /// Everything that can be folded, with the row to take hold of it.
    #[must_use]
    pub fn folds(&self) -> Vec<(usize, FoldId)> {
        self.chunks.iter().flat_map(|chunk| chunk.folds(&self.unfolded)).collect()
    }

    /// What can be taken hold of at that row.
    #[must_use]
    pub fn fold_at(&self, row: usize) -> Option<FoldId> {
        let folds = self.chunks.get(self.place_of(row))?.folds(&self.unfolded);
        folds.into_iter().find(|(at, _)| *at == row).map(|(_, fold)| fold)
    }
}

/// What a complete block of TOON says, as Markdown; `None` for other code.
fn fields(fence: &str) -> Option<String> {
    let (body, _) = files::body_of(fence, "toon")?.trim_end().rsplit_once('\n')?;
    fields_in_words(&toon::decode(body).ok()?)
}

impl Chunk {
    /// Whether it is folded unless the person wants to see all of it.
    fn is_long(&self) -> bool {
        match &self.body {
            MarkdownBody::Code(code) => self.block.is_closed && code.rows() > LONG,
            MarkdownBody::Text(_) | MarkdownBody::Files(_) => false,
        }
    }

    fn folds(&self, unfolded: &BTreeSet<FoldId>) -> Vec<(usize, FoldId)> {
        let start = self.block.range.start;
        let mut folds = match &self.body {
            MarkdownBody::Text(_) => Vec::new(),
            MarkdownBody::Code(_) if !self.is_long() => Vec::new(),
            MarkdownBody::Code(_) => {
                let row = if self.is_folded(unfolded) { self.rows - 1 } else { 0 };
                vec![(row, FoldId { start, index: 0 })]
            }
            MarkdownBody::Files(files) => files.folds(start, unfolded),
        };
        for (row, _) in &mut folds {
            *row += self.first_row;
        }
        folds
    }

    fn is_folded(&self, unfolded: &BTreeSet<FoldId>) -> bool {
        self.is_long() && !unfolded.contains(&FoldId { start: self.block.range.start, index: 0 })
    }

    fn count_rows(&self, unfolded: &BTreeSet<FoldId>) -> usize {
        match &self.body {
            MarkdownBody::Text(rows) => rows.len(),
            MarkdownBody::Code(code) if self.is_folded(unfolded) => {
                SHOWN + 1 + usize::from(code.has_head())
            }
            MarkdownBody::Code(code) => code.rows(),
            MarkdownBody::Files(files) => files.rows(self.block.range.start, unfolded),
        }
    }
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
