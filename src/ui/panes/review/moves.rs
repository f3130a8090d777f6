//! Where one looks in the proposal on screen: by rows, to the side, to the next change, to what was
//! not seen yet.

use super::items::{Blanks, Columns};
use super::look::{Look, Wrapping};
use super::shown::Shown;

impl Shown {
    /// Moves by rows; negative is up.
    pub fn scroll(&mut self, rows: i64) {
        let by = isize::try_from(rows).unwrap_or(if rows < 0 { isize::MIN } else { isize::MAX });
        self.place.top = self.place.top.saturating_add_signed(by).min(self.last_top());
    }

    /// Moves to the side. Whether there was anything there.
    pub fn scroll_aside(&mut self, columns: isize) -> bool {
        let Some(layout) = &self.layout else { return false };
        let room = match (layout.columns(), self.place.viewport.half) {
            (Columns::Beside, Some(half)) => half,
            _ => self.place.viewport.one,
        };
        let most = layout.widest().saturating_sub(room);
        let before = self.place.first_column;
        self.place.first_column = before.saturating_add_signed(columns).min(most);
        self.place.first_column != before
    }

    /// Rows in one screen, without the one that overlaps.
    #[must_use]
    pub fn page(&self) -> i64 {
        i64::try_from(self.place.viewport.rows.saturating_sub(1).max(1)).unwrap_or(1)
    }

    /// Goes to the next changed place, or with a negative `step` to the one before. Whether there
    /// is one.
    pub fn go_to_hunk(&mut self, step: i64) -> bool {
        let (Some(body), Some(layout)) = (self.body(), &self.layout) else { return false };
        let top = self.place.top;
        // With some of what is before it in sight.
        let above = (self.place.viewport.rows / 4).min(3);
        let mut rows =
            body.hunks.iter().map(|hunk| layout.rows_of(hunk.start).start.saturating_sub(above));
        let found =
            if step > 0 { rows.find(|&row| row > top) } else { rows.rfind(|&row| row < top) };
        let Some(row) = found else { return false };
        self.place.top = row.min(self.last_top());
        self.place.top != top
    }

    /// Goes to the first line that must be seen and was not; what hides it is undone in `look`.
    /// Whether there is such a line.
    pub fn go_to_unseen(&mut self, look: &mut Look) -> bool {
        let (Some(body), Some(layout), Some(seen)) = (self.body(), &self.layout, &self.seen) else {
            return false;
        };
        let Some((line, column)) = seen.next_unseen(body) else { return false };
        let rows = layout.rows_of(line);
        let shows = |row: &usize| {
            let mut cells = layout.cells(*row).into_iter().flatten();
            cells.any(|cell| cell.line == line && cell.part.columns.end > column)
        };
        let found = rows.clone().find(shows);
        let row = found.unwrap_or(rows.start);
        // One line of context above, unless there is hardly any room.
        let row = if self.place.viewport.rows > 3 { row.saturating_sub(1) } else { row };
        self.place.top = row.min(self.last_top());
        match look.wrapping {
            Wrapping::Scrolled => self.place.first_column = column,
            Wrapping::Wrapped if found.is_none() => look.blanks = Blanks::Shown,
            Wrapping::Wrapped => {}
        }
        if look.blanks == Blanks::Folded {
            look.blanks = Blanks::Shown;
        }
        true
    }

    /// Scrolls as little as is needed for a line to be in sight.
    pub fn reveal(&mut self, line: usize) {
        let Some(layout) = &self.layout else { return };
        let rows = layout.rows_of(line);
        let room = self.place.viewport.rows;
        let margin = (room / 4).min(2);
        if rows.start < self.place.top + margin {
            self.place.top = rows.start.saturating_sub(margin);
        } else if rows.end + margin > self.place.top + room {
            self.place.top = (rows.end + margin).saturating_sub(room).min(rows.start);
        }
        self.place.top = self.place.top.min(self.last_top());
    }

    /// The first changed line in sight, else the first there is.
    #[must_use]
    pub fn first_changed(&self) -> Option<usize> {
        let (body, layout) = (self.body()?, self.layout.as_ref()?);
        let is_changed =
            |line: &usize| body.lines.get(*line).is_some_and(|line| line.change().is_some());
        let in_sight = self.rows().flat_map(|row| layout.cells(row)).flatten();
        in_sight.map(|cell| cell.line).find(is_changed).or_else(|| body.changed().next())
    }
}
