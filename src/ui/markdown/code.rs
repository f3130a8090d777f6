//! A fence of code: rows found as it grows, colours only for what is looked at.

use std::collections::BTreeMap;

use crate::text::colouring::Colouring;
use crate::text::sanitize;
use crate::text::syntax::Span;
use crate::text::tree::Language;
use crate::ui::job::{BackgroundJob, JobState};
use crate::ui::line;
use crate::ui::role::Role;

use super::breaks::code_parts;
use super::wrap::{CellRow, StyledText};

/// Lines that are coloured together in a block longer than this.
const SEGMENT: usize = 200;

/// Longest open block that is coloured anew whenever it grows, in bytes.
const MAX_OPEN: usize = 16 * 1024;

/// Cells left of the code.
const MARGIN: &str = " ";

/// Whether a block goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Growth {
    /// It has no end yet.
    Open,
    /// It has its closing fence.
    Complete,
}
impl Growth {
    pub const fn of(is_complete: bool) -> Self {
        if is_complete { Self::Complete } else { Self::Open }
    }
}

#[derive(Debug, Default)]
pub(super) struct CodeBlock {
    columns: usize,
    colouring: Option<Colouring>,
    name: String,
    /// Where each line starts, the fence lines not counted.
    lines: Vec<u32>,
    /// For each row its line, and which part of it.
    rows: Vec<(u32, u32)>,
    /// Up to where lines were looked at.
    seen: usize,
    is_closed: bool,
    /// Colours of lines, by segment, with the length of the block they were made for.
    colours: BTreeMap<usize, (usize, Vec<Vec<Span>>)>,
    job: Option<SegmentJob>,
}

/// The colours of a segment under way.
#[derive(Debug)]
struct SegmentJob {
    segment: usize,
    /// Length of the block that they are made for.
    len: usize,
    job: BackgroundJob<Vec<Vec<Span>>>,
}

impl CodeBlock {
    pub fn new(columns: usize) -> Self {
        Self { columns, ..Self::default() }
    }

    pub fn rows(&self) -> usize {
        self.rows.len() + usize::from(!self.name.is_empty())
    }

    fn text_columns(&self) -> usize {
        self.columns.saturating_sub(2 * MARGIN.len()).max(4)
    }

    /// Colours it as that language, whatever its fence says.
    pub fn set_colouring(&mut self, colouring: Option<Colouring>) {
        self.colouring = colouring;
    }

    fn is_json(&self) -> bool {
        self.colouring == Some(Colouring::Tree(Language::Json))
    }

    /// Whether a row stands above the code, for its name.
    pub fn has_head(&self) -> bool {
        !self.name.is_empty()
    }

    /// Takes the whole block as it is now; only what was appended is looked at.
    pub fn update(&mut self, text: &str, growth: Growth) {
        if self.seen == 0 {
            let Some(head) = text.split_inclusive('\n').next() else { return };
            let info = head.trim().trim_start_matches(['`', '~']).trim();
            let name = info.split([' ', ',', '{']).next().unwrap_or_default();
            self.colouring = Colouring::named(name);
            self.name = sanitize::line(name).chars().take(24).collect();
            if !head.ends_with('\n') {
                return;
            }
            self.seen = head.len();
        } else if let Some(last) = self.lines.last().copied() {
            // The last line may have been cut off in the middle.
            let last = last as usize;
            self.lines.pop();
            let line = u32::try_from(self.lines.len()).unwrap_or(u32::MAX);
            while self.rows.last().is_some_and(|(of, _)| *of >= line) {
                self.rows.pop();
            }
            self.seen = last;
        }
        self.is_closed = growth == Growth::Complete;
        let end = if self.is_closed { closing_fence(text) } else { text.len() };
        while self.seen < end {
            let rest = text.get(self.seen..end).unwrap_or_default();
            let Some(line) = rest.split_inclusive('\n').next() else { break };
            self.add_line(line.trim_end_matches(['\n', '\r']));
            self.seen += line.len();
        }
    }

    fn add_line(&mut self, line: &str) {
        let number = u32::try_from(self.lines.len()).unwrap_or(u32::MAX);
        self.lines.push(u32::try_from(self.seen).unwrap_or(u32::MAX));
        let columns = self.text_columns();
        // Plain short lines are most of all lines: they need not be measured.
        let is_short = line.len() <= columns && line.bytes().all(|b| matches!(b, b' '..=b'~'));
        let parts =
            if is_short { 1 } else { parts(&sanitize::line(line), columns, self.is_json()).len() };
        self.rows.extend((0..u32::try_from(parts).unwrap_or(1)).map(|part| (number, part)));
    }

    fn line<'t>(&self, text: &'t str, number: usize) -> &'t str {
        let Some(start) = self.lines.get(number) else { return "" };
        let rest = text.get(*start as usize..).unwrap_or_default();
        rest.split('\n').next().unwrap_or_default().trim_end_matches('\r')
    }

    /// Colours the lines of `count` rows from `first` on. Whether some of it is still to come.
    pub fn prepare(&mut self, text: &str, first: usize, count: usize) -> bool {
        let Some(colouring) = self.colouring else { return false };
        self.take_finished();
        if !self.is_closed && text.len() > MAX_OPEN {
            return self.job.is_some();
        }
        let head = usize::from(self.has_head());
        let line_of =
            |row: usize| self.rows.get(row.saturating_sub(head)).map(|(line, _)| *line as usize);
        let last = self.lines.len().saturating_sub(1);
        let from = line_of(first).unwrap_or(0) / SEGMENT;
        let until = line_of(first + count).unwrap_or(last) / SEGMENT;
        for segment in from..=until {
            if self.colours.get(&segment).is_some_and(|(len, _)| *len == text.len()) {
                continue;
            }
            let start =
                self.lines.get(segment * SEGMENT).map_or(text.len(), |start| *start as usize);
            let end = match self.lines.get((segment + 1) * SEGMENT) {
                Some(end) => *end as usize,
                None if self.is_closed => closing_fence(text),
                None => text.len(),
            };
            let source = text.get(start..end).unwrap_or_default();
            if !colouring.is_slow() {
                self.colours.insert(segment, (text.len(), colouring.highlight(source)));
            } else if self.job.is_none() {
                let source = source.to_owned();
                let job = BackgroundJob::start(move || colouring.highlight(&source));
                self.job = Some(SegmentJob { segment, len: text.len(), job });
            }
        }
        self.job.is_some()
    }

    fn take_finished(&mut self) {
        let Some(SegmentJob { segment, len, job }) = &self.job else { return };
        let colours = match job.look() {
            JobState::Running => return,
            JobState::Done(colours) => colours,
            JobState::Lost => Vec::new(),
        };
        self.colours.insert(*segment, (*len, colours));
        self.job = None;
    }

    pub fn row(&self, text: &str, index: usize) -> CellRow {
        let head = usize::from(!self.name.is_empty());
        let Some(index) = index.checked_sub(head) else {
            let name = StyledText::new(format!("{MARGIN}{}", self.name), Role::Dim);
            return CellRow::new(vec![name]);
        };
        let Some((line, part)) = self.rows.get(index).copied() else { return CellRow::default() };
        let (line, part) = (line as usize, part as usize);
        let lines = self.colours.get(&(line / SEGMENT)).map(|(_, lines)| lines);
        let spans = lines.and_then(|lines| lines.get(line % SEGMENT));
        let mut pieces = vec![StyledText::new(MARGIN, Role::Code)];
        let whole = coloured(self.line(text, line), spans.map_or(&[], Vec::as_slice));
        let columns = self.text_columns();
        let width: usize = whole.iter().map(StyledText::width).sum();
        if width > columns && part > 0 && !self.is_json() {
            let text: String = whole.iter().map(|piece| piece.text.as_str()).collect();
            pieces.push(StyledText::new(" ".repeat(hanging(&text, columns)), Role::Code));
        }
        pieces.extend(match (width <= columns, part) {
            (true, 0) => whole,
            (true, _) => Vec::new(),
            (false, _) => cut_part(&whole, part, columns, self.is_json()),
        });
        CellRow { pieces, fill: Some(Role::Code) }
    }
}

/// Where the closing fence of a closed block starts.
fn closing_fence(text: &str) -> usize {
    let body = text.trim_end();
    body.rfind('\n').map_or(body.len(), |end| end + 1)
}

/// The parts of a line that is wider than the screen. Text within JSON that has lines of its own
/// is broken where those end, which makes files in an answer readable.
fn parts(line: &str, columns: usize, is_json: bool) -> Vec<&str> {
    if line::width(line) <= columns {
        return vec![line];
    }
    if !is_json {
        let first = code_parts(line, columns).first().map_or(line.len(), |part| part.len());
        let (first, rest) = line.split_at(first);
        let mut out = vec![first];
        out.extend(code_parts(rest, columns - hanging(line, columns)));
        return out;
    }
    let mut out = Vec::new();
    let mut start = 0;
    let mut is_escape = false;
    for (place, byte) in line.bytes().enumerate() {
        if is_escape && byte == b'n' {
            out.extend(code_parts(line.get(start..=place).unwrap_or_default(), columns));
            start = place + 1;
        }
        is_escape = byte == b'\\' && !is_escape;
    }
    let rest = line.get(start..).unwrap_or_default();
    if !rest.is_empty() || out.is_empty() {
        out.extend(code_parts(rest, columns));
    }
    out
}

/// Columns by which the rows after the first one of a line are indented: as far as the line is.
fn hanging(line: &str, columns: usize) -> usize {
    let blanks = line.len() - line.trim_start_matches(' ').len();
    if blanks < columns / 2 { blanks } else { 0 }
}

/// A line with colours.
fn coloured(line: &str, spans: &[Span]) -> Vec<StyledText> {
    let pieces = clean_pieces(line, spans, Role::Code).into_iter();
    pieces.map(|(text, role)| StyledText::new(text, role)).collect()
}
/// A line in pieces of one colour, with its tabs expanded and nothing in it that could move the
/// cursor; what has no colour looks like `plain`.
pub fn clean_pieces(line: &str, spans: &[Span], plain: Role) -> Vec<(String, Role)> {
    let mut pieces = Vec::new();
    let (mut at, mut column) = (0, 0);
    let mut add = |range: std::ops::Range<usize>, role: Role| {
        let raw = line.get(range.start..range.end.min(line.len())).unwrap_or_default();
        if !raw.is_empty() {
            let clean = sanitize::line_from(raw, column).into_owned();
            column += line::width(&clean);
            pieces.push((clean, role));
        }
    };
    for span in spans {
        add(at..span.range.start, plain);
        add(span.range.clone(), Role::syntax(span.kind));
        at = span.range.end.max(at);
    }
    add(at..line.len(), plain);
    pieces
}

/// The pieces of one part of a wrapped line, cut where [`parts`] cuts the whole.
fn cut_part(pieces: &[StyledText], part: usize, columns: usize, is_json: bool) -> Vec<StyledText> {
    let whole: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    let parts = parts(&whole, columns, is_json);
    let start: usize = parts.iter().take(part).map(|text| text.len()).sum();
    let end = start + parts.get(part).map_or(0, |text| text.len());
    let mut at = 0;
    let mut out = Vec::new();
    for piece in pieces {
        let (from, until) = (at.max(start), (at + piece.text.len()).min(end));
        if from < until
            && let Some(text) = piece.text.get(from - at..until - at)
        {
            out.push(StyledText::new(text, piece.face));
        }
        at += piece.text.len();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_one_line_are_indented_as_the_line_is() {
        let line = "        printf(\"found a device at %02x and went on\", address);";
        assert_eq!((hanging(line, 40), hanging(line, 12)), (8, 0));
        let parts = parts(line, 40, false);
        assert!(parts.len() > 1 && parts.concat() == line, "{parts:?}");
        assert!(parts.iter().skip(1).all(|part| line::width(part) <= 32), "{parts:?}");
        let text = format!("```c\n{line}\n```\n");
        let mut block = CodeBlock::new(42);
        block.update(&text, Growth::Complete);
        let rows: Vec<String> = (0..block.rows()).map(|row| block.row(&text, row).text()).collect();
        let second = rows.get(2).unwrap();
        assert!(second.starts_with(&format!("{MARGIN}        ")), "{rows:?}");
    }
}
