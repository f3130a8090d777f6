//! Cuts a growing text into chunks that no later text can change.
//!
//! Works line by line, without looking back. A chunk ends at a blank line that is followed by a
//! line without indent, at a heading, at a fence, and between items of a list.

use std::ops::Range;

/// What a chunk holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// Markdown other than a fence.
    Text,
    /// A fence of code, with its fence lines.
    Code,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MarkdownBlock {
    /// Bytes of the text.
    pub range: Range<usize>,
    pub kind: BlockKind,
    /// Whether an empty row belongs before it.
    pub gap: bool,
    /// Whether it looks complete; the last ones may still change.
    pub is_closed: bool,
}

impl MarkdownBlock {
    /// Its part of the source.
    pub fn text<'t>(&self, source: &'t str) -> &'t str {
        source.get(self.range.clone()).unwrap_or_default()
    }
}
/// A paragraph is cut after this many lines: text after that would be laid out again and again.
const MAX_LINES: u32 = 64;

#[derive(Debug, Default)]
pub(super) struct Splitter {
    /// Where the open chunk starts; everything before is cut for good.
    start: usize,
    /// Up to where lines were looked at.
    seen: usize,
    /// How many chunks are closed.
    pub complete: usize,
    open: OpenChunk,
    gap: bool,
    last: Last,
}

/// The chunk that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum OpenChunk {
    #[default]
    Nothing,
    Text(OpenText),
    Fence(Fence),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OpenText {
    is_list: bool,
    /// Whether its lines stand on their own, so that it may be cut between any two of them.
    is_plain: bool,
    after_blank: bool,
    lines: u32,
    /// A fence within a list.
    inner: Option<Fence>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fence {
    mark: u8,
    len: usize,
}

/// What the chunk before was, which decides about the empty row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Last {
    #[default]
    Other,
    Item,
    CutText,
}

impl Splitter {
    /// Looks at what was appended, and returns the chunks closed by it, then the open one, which
    /// is returned again next time.
    pub fn advance(&mut self, text: &str) -> Vec<MarkdownBlock> {
        let mut blocks = Vec::new();
        let rest = text.get(self.seen..).unwrap_or_default().split_inclusive('\n');
        for line in rest.take_while(|line| line.ends_with('\n')) {
            let start = self.seen;
            self.seen += line.len();
            self.take_line(line.trim_end_matches(['\n', '\r']), start, &mut blocks);
        }
        self.complete += blocks.len();
        let tail = text.get(self.seen..).unwrap_or_default();
        if self.start < text.len() && !(self.open == OpenChunk::Nothing && tail.trim().is_empty()) {
            self.push_open(tail, text.len(), &mut blocks);
        }
        blocks
    }

    /// The open chunk with the line that is not complete yet.
    fn push_open(&self, tail: &str, end: usize, blocks: &mut Vec<MarkdownBlock>) {
        let mut probe = Self { ..*self };
        if !tail.is_empty() {
            // What the unfinished line closes is taken up again with the next text.
            probe.take_line(tail.trim_end_matches('\r'), self.seen, blocks);
        }
        if probe.open != OpenChunk::Nothing && probe.start < end {
            blocks.push(probe.block(end, false));
        }
    }

    fn block(&self, end: usize, is_closed: bool) -> MarkdownBlock {
        let kind = match self.open {
            OpenChunk::Fence(_) => BlockKind::Code,
            OpenChunk::Text(_) | OpenChunk::Nothing => BlockKind::Text,
        };
        MarkdownBlock { range: self.start..end, kind, gap: self.gap, is_closed }
    }

    fn close(&mut self, end: usize, blocks: &mut Vec<MarkdownBlock>) {
        if self.open != OpenChunk::Nothing {
            blocks.push(self.block(end, true));
            self.last = match self.open {
                OpenChunk::Text(text) if text.is_list => Last::Item,
                OpenChunk::Text(_) | OpenChunk::Fence(_) | OpenChunk::Nothing => Last::Other,
            };
        }
        self.open = OpenChunk::Nothing;
        self.start = end;
    }

    fn begin(&mut self, open: OpenChunk, start: usize, gap: bool) {
        self.open = open;
        self.start = start;
        self.gap = gap;
    }

    fn take_line(&mut self, line: &str, start: usize, blocks: &mut Vec<MarkdownBlock>) {
        let end = start + line.len();
        match self.open {
            OpenChunk::Fence(fence) => {
                if fence.is_closed_by(line) {
                    let end = self.seen.max(end);
                    self.close(end, blocks);
                }
            }
            OpenChunk::Nothing => self.begin_line(line, start, true, blocks),
            OpenChunk::Text(text) => self.take_text_line(text, line, start, blocks),
        }
    }

    /// A line at the start of a chunk.
    fn begin_line(&mut self, line: &str, start: usize, gap: bool, blocks: &mut Vec<MarkdownBlock>) {
        if line.trim().is_empty() {
            return;
        }
        if let Some(fence) = Fence::opened_by(line) {
            self.begin(OpenChunk::Fence(fence), start, gap);
            return;
        }
        let is_list = is_item(line);
        let gap = gap && !(is_list && self.last == Last::Item) && self.last != Last::CutText;
        let is_plain = !is_list && !line.starts_with(['|', '<', '>', ' ', '\t', '#']);
        let text = OpenText { is_list, is_plain, after_blank: false, lines: 1, inner: None };
        self.begin(OpenChunk::Text(text), start, gap);
        if is_heading(line) {
            let end = self.seen.max(start + line.len());
            self.close(end, blocks);
        }
    }

    fn take_text_line(
        &mut self,
        mut text: OpenText,
        line: &str,
        start: usize,
        blocks: &mut Vec<MarkdownBlock>,
    ) {
        if let Some(fence) = text.inner {
            if fence.is_closed_by(line.trim_start()) {
                text.inner = None;
            }
            text.lines += 1;
            self.open = OpenChunk::Text(text);
            return;
        }
        if line.trim().is_empty() {
            self.open = OpenChunk::Text(OpenText { after_blank: true, ..text });
            return;
        }
        let is_indented = line.starts_with([' ', '\t']);
        let starts_anew = !is_indented
            && (text.after_blank
                || is_heading(line)
                || Fence::opened_by(line).is_some()
                || (text.is_list && is_item(line)));
        if starts_anew {
            self.close(start, blocks);
            self.begin_line(line, start, true, blocks);
            return;
        }
        if text.is_plain && text.lines >= MAX_LINES {
            self.close(start, blocks);
            self.last = Last::CutText;
            self.begin_line(line, start, false, blocks);
            self.last = Last::Other;
            return;
        }
        text.inner = Fence::opened_by(line.trim_start()).filter(|_| text.is_list);
        text.is_plain &= !is_item(line) && !line.starts_with('|');
        text.after_blank = false;
        text.lines += 1;
        self.open = OpenChunk::Text(text);
    }
}

impl Fence {
    fn opened_by(line: &str) -> Option<Self> {
        let inner = line.trim_start_matches(' ');
        if line.len() - inner.len() > 3 {
            return None;
        }
        let mark = *inner.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let len = inner.bytes().take_while(|byte| *byte == mark).count();
        let info = inner.get(len..).unwrap_or_default();
        (len >= 3 && !(mark == b'`' && info.contains('`'))).then_some(Self { mark, len })
    }

    fn is_closed_by(self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.len && line.bytes().all(|byte| byte == self.mark)
    }
}

fn is_heading(line: &str) -> bool {
    let marks = line.bytes().take_while(|byte| *byte == b'#').count();
    (1..=6).contains(&marks)
        && line.get(marks..).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

fn is_item(line: &str) -> bool {
    if ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark)) {
        return true;
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    (1..=9).contains(&digits)
        && line.get(digits..).is_some_and(|rest| rest.starts_with(". ") || rest.starts_with(") "))
}
