//! The bytes of a log as they are: offset, hexadecimal, characters.
//!
//! Owns the bytes in sight. Reads no more than those, so that a log of any size shows at once.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::model::{LogId, LogSource, UserError};
use crate::ui::line;
use crate::ui::pane::Cx;
use crate::ui::role::Role;
use crate::ui::scroll::{Follow, Move, Scroll};

/// Bytes of a row where there is room, else half of them.
const PER_ROW: u64 = 16;

/// Columns of a row with [`PER_ROW`] bytes.
const WIDE: u16 = 77;

/// A look at bytes.
#[derive(Debug, Default)]
pub struct HexView {
    /// Where one looks, in rows.
    pub scroll: Scroll,
    per_row: u64,
    bytes: u64,
    /// The byte to go to as soon as the height is known.
    wanted: Option<u64>,
    /// Offset of the first byte of `shown`.
    start: u64,
    shown: Vec<u8>,
    error: Option<UserError>,
}

impl HexView {
    /// A look at a log: at the row with the byte at `offset`, or at its end.
    pub fn new(offset: Option<u64>, bytes: u64) -> Self {
        Self { per_row: PER_ROW, bytes, wanted: offset, ..Self::default() }
    }

    pub fn go(&mut self, step: Move) {
        self.scroll.go(step, self.rows());
    }

    /// Rows of the whole log.
    pub const fn rows(&self) -> u64 {
        self.bytes.div_ceil(self.per_row)
    }

    /// Reads what is in sight of the first `bytes` of a log.
    pub fn sync(&mut self, source: &dyn LogSource, log: LogId, bytes: u64, area: Rect) {
        let per_row = if area.width >= WIDE { PER_ROW } else { PER_ROW / 2 };
        self.bytes = bytes;
        self.scroll.set_height(usize::from(area.height));
        let gone = source.start(log).unwrap_or_default().bytes;
        self.scroll.set_first(gone.min(bytes).div_ceil(per_row));
        if per_row != self.per_row {
            self.per_row = per_row;
            let is_held = self.scroll.follow() == Follow::Held;
            self.wanted = self.wanted.or(is_held.then_some(self.start));
        }
        if let Some(offset) = self.wanted.take() {
            self.scroll.hold_at(offset / per_row, self.rows());
        }
        let range = self.scroll.range(self.rows());
        self.start = range.start * per_row;
        match source.read_log(log, self.start..(range.end * per_row).min(bytes)) {
            Ok(shown) => (self.shown, self.error) = (shown, None),
            Err(error) => (self.shown, self.error) = (Vec::new(), Some(error)),
        }
    }

    /// The rows in sight as text.
    pub fn text(&self) -> impl Iterator<Item = String> {
        self.lines().map(|(offset, bytes)| {
            let (hex, letters) = parts(bytes, self.per_row);
            format!("{offset:08x}  {hex}  {letters}")
        })
    }

    fn lines(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let per_row = usize::try_from(self.per_row).unwrap_or(1);
        (0..)
            .zip(self.shown.chunks(per_row))
            .map(|(row, bytes)| (self.start + row * self.per_row, bytes))
    }

    /// Draws the rows in sight.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
        if let Some(error) = &self.error {
            let error = line::cut(&format!(" {error}"), usize::from(area.width));
            line::draw(&cx.line(error, Role::Error), area, buf);
            return;
        }
        for ((offset, bytes), at) in self.lines().zip(area.rows()) {
            let (hex, letters) = parts(bytes, self.per_row);
            let row = Line::from(vec![
                cx.span(format!(" {offset:08x}"), Role::Dim),
                cx.span(format!("  {hex}"), Role::Text),
                cx.span(format!("  {letters}"), Role::LogInfo),
            ]);
            line::draw(&row, at, buf);
        }
    }
}

/// Bytes in hexadecimal, in groups of eight, and as characters, `.` where there is none.
fn parts(bytes: &[u8], per_row: u64) -> (String, String) {
    let mut hex = String::new();
    for place in 0..usize::try_from(per_row).unwrap_or(0) {
        if place > 0 {
            hex.push_str(if place % 8 == 0 { "  " } else { " " });
        }
        match bytes.get(place) {
            Some(byte) => hex.push_str(&format!("{byte:02x}")),
            None => hex.push_str("  "),
        }
    }
    let letter =
        |byte: &u8| if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '.' };
    (hex, bytes.iter().map(letter).collect())
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use crate::model::LogKind;

    struct MemoryLog(Vec<u8>);

    impl LogSource for MemoryLog {
        fn read_log(&self, _: LogId, range: Range<u64>) -> Result<Vec<u8>, UserError> {
            let range = usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap();
            assert!(range.len() <= 40 * 16, "no more is read than is in sight");
            Ok(self.0[range].to_vec())
        }
    }

    const LOG: LogId = LogId { kind: LogKind::Serial, number: 1 };

    fn shown(view: &mut HexView, source: &MemoryLog, area: Rect) -> Vec<String> {
        view.sync(source, LOG, source.0.len() as u64, area);
        view.text().collect()
    }

    #[test]
    fn bytes_are_shown_from_any_place_at_any_width() {
        let source = MemoryLog((0..100_u8).chain(*b"I (1) a\r\n").collect());
        let mut view = HexView::new(None, 109);
        let end = shown(&mut view, &source, Rect::new(0, 0, 80, 2));
        assert_eq!(
            end,
            [
                "00000050  50 51 52 53 54 55 56 57  58 59 5a 5b 5c 5d 5e 5f  PQRSTUVWXYZ[\\]^_",
                "00000060  60 61 62 63 49 20 28 31  29 20 61 0d 0a           `abcI (1) a..",
            ]
        );
        assert_eq!(end[0].len() + 1, usize::from(WIDE));
        let mut view = HexView::new(Some(40), 109);
        let here = shown(&mut view, &source, Rect::new(0, 0, 80, 1));
        assert!(here[0].starts_with("00000020"), "{here:?}");
        // A narrower pane shows the same place.
        let here = shown(&mut view, &source, Rect::new(0, 0, 60, 1));
        assert_eq!(here, ["00000020  20 21 22 23 24 25 26 27   !\"#$%&'"]);
        view.go(Move::Lines(1));
        assert_eq!(shown(&mut view, &source, Rect::new(0, 0, 60, 1))[0][..8], *"00000028");
        assert!(
            shown(&mut HexView::new(None, 0), &MemoryLog(vec![]), Rect::new(0, 0, 80, 9))
                .is_empty()
        );
    }
}
