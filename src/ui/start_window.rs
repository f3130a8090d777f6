//! Which rows of the start screen's list are on the screen.
//!
//! Owns the arithmetic only. Where not all fit, every block keeps a fair share: the rows go to the
//! blocks one by one, so that a short block is whole and a long one takes what is left, scrolled to
//! what is turned to.

use super::start_rows::StartRow;

/// Rows from which on blocks stay apart from each other although not all fit.
const ROOMY: usize = 28;

/// Rows of a block at least, its heading left out: of the one to begin with, of the sessions, of any
/// other and of what is new.
const LEAST_BEGIN: usize = 3;
const LEAST_SESSIONS: usize = 4;
const LEAST: usize = 2;
const LEAST_NEWS: usize = 3;

/// What is on the screen.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct StartWindow {
    /// Places of the rows, from top to bottom.
    pub places: Vec<usize>,
    /// Places of headings whose block is cut, with how many of its rows are shown.
    pub cut: Vec<(usize, usize)>,
}

/// A heading with the rows below it.
#[derive(Debug)]
struct Block {
    heading: usize,
    /// Places of its rows, without the blank one at its end.
    rows: std::ops::Range<usize>,
    least: usize,
    share: usize,
}

impl Block {
    fn wants(&self) -> usize {
        self.rows.len() - self.share.min(self.rows.len())
    }

    /// The rows that are shown, the one that is turned to among them.
    fn shown(&self, selected: usize) -> std::ops::Range<usize> {
        let last = match self.rows.contains(&selected) {
            // One more, so that there is seen to be something.
            true => (selected + 2).min(self.rows.end),
            false => self.rows.start,
        };
        let start = last.saturating_sub(self.share).max(self.rows.start);
        start..(start + self.share).min(self.rows.end)
    }
}

/// What of `rows` is shown in `height` rows; `news` are the rows that what is new would take below
/// them, 0 where it is somewhere else.
pub(super) fn window(
    rows: &[StartRow],
    selected: usize,
    height: usize,
    news: usize,
) -> StartWindow {
    let blanks = rows.iter().filter(|row| **row == StartRow::Blank).count();
    if rows.len() + news <= height {
        return StartWindow { places: (0..rows.len()).collect(), cut: Vec::new() };
    }
    let mut blocks = blocks(rows);
    let is_roomy = height >= ROOMY;
    let apart = if is_roomy { blanks + 1 } else { 0 };
    let space = height.saturating_sub(blocks.len() + apart);
    // What is new has a heading, and keeps its rows only where the blocks keep theirs.
    let least: usize = blocks.iter().map(|block| block.least).sum();
    let kept = if news > 0 && least + LEAST_NEWS < space { LEAST_NEWS + 1 } else { 0 };
    share(&mut blocks, space - kept.min(space), kept.saturating_sub(1), news.saturating_sub(1));
    let mut all = StartWindow::default();
    for block in &blocks {
        all.places.push(block.heading);
        let shown = block.shown(selected);
        if shown.len() < block.rows.len() {
            all.cut.push((block.heading, shown.len()));
        }
        all.places.extend(shown);
        if is_roomy && rows.get(block.rows.end) == Some(&StartRow::Blank) {
            all.places.push(block.rows.end);
        }
    }
    all.places.truncate(height);
    all
}

/// Hands out `space` rows; of those that are left, what is new takes one in its turn too, until it has
/// all that it `wants`.
fn share(blocks: &mut [Block], space: usize, news: usize, wants: usize) {
    for block in blocks.iter_mut() {
        block.share = block.least;
    }
    let (mut news, mut left) = (news, space);
    let total = |blocks: &[Block]| blocks.iter().map(|block| block.share).sum::<usize>();
    // The largest gives way, of several the last one.
    while total(blocks) > space {
        let Some(largest) = blocks.iter_mut().max_by_key(|block| block.share) else { return };
        largest.share = largest.share.saturating_sub(1);
    }
    left -= total(blocks);
    while left > 0 {
        let next = blocks.iter_mut().filter(|block| block.wants() > 0);
        let next = next.min_by_key(|block| block.share);
        match next {
            Some(block) if news == 0 || news >= wants || block.share <= news => block.share += 1,
            Some(_) => news += 1,
            None => return,
        }
        left -= 1;
    }
}

fn blocks(rows: &[StartRow]) -> Vec<Block> {
    let is_heading =
        |(place, row): (usize, &StartRow)| matches!(row, StartRow::Heading(..)).then_some(place);
    let headings: Vec<usize> = rows.iter().enumerate().filter_map(is_heading).collect();
    let ends = headings.iter().skip(1).copied().chain([rows.len()]);
    headings
        .iter()
        .zip(ends)
        .map(|(&heading, next)| {
            let is_blank = rows.get(next.saturating_sub(1)) == Some(&StartRow::Blank);
            let rows_of = heading + 1..if is_blank { next - 1 } else { next };
            let has = |wanted: fn(&StartRow) -> bool| {
                rows.get(rows_of.clone()).unwrap_or_default().iter().any(wanted)
            };
            let least = if has(|row| matches!(row, StartRow::Example(_))) {
                // It was unfolded to be read.
                LEAST_BEGIN + 2 * LEAST_SESSIONS
            } else if has(|row| *row == StartRow::Demo) {
                LEAST_BEGIN
            } else if has(|row| matches!(row, StartRow::Session(_))) {
                LEAST_SESSIONS
            } else {
                LEAST
            };
            let least = least.min(rows_of.len());
            Block { heading, rows: rows_of, least, share: 0 }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many sessions, and that many lines of state.
    fn rows(sessions: usize, state: usize) -> Vec<StartRow> {
        let mut rows = vec![StartRow::Heading("Begin", 0), StartRow::Demo, StartRow::New];
        rows.extend([StartRow::Library, StartRow::Blank]);
        rows.push(StartRow::Heading("Sessions", sessions));
        rows.extend((0..sessions).map(StartRow::Session));
        rows.extend([StartRow::Blank, StartRow::Heading("State", 0)]);
        rows.extend((0..state).map(StartRow::HealthLine));
        rows
    }

    fn sessions(rows: &[StartRow], window: &StartWindow) -> Vec<usize> {
        let session = |place: &usize| match rows[*place] {
            StartRow::Session(number) => Some(number),
            _ => None,
        };
        window.places.iter().filter_map(session).collect()
    }

    fn of_state(rows: &[StartRow], window: &StartWindow) -> usize {
        let is_state = |place: &&usize| matches!(rows[**place], StartRow::HealthLine(_));
        window.places.iter().filter(is_state).count()
    }

    #[test]
    fn the_list_takes_the_rows_that_are_free_and_the_other_blocks_stay_whole() {
        let rows = rows(500, 8);
        let window = window(&rows, 1, 57, 0);
        assert_eq!(window.places.len(), 56, "one is kept below the last block");
        assert_eq!(of_state(&rows, &window), 8);
        assert_eq!(sessions(&rows, &window), (0..40).collect::<Vec<_>>());
        assert_eq!(window.cut, [(5, 40)]);
    }

    #[test]
    fn a_small_screen_keeps_a_share_for_each_block_and_for_what_is_new() {
        let rows = rows(500, 8);
        let window = window(&rows, 1, 21, 7);
        let left = 21 - window.places.len();
        assert!(left > LEAST_NEWS, "{window:?}");
        assert!(of_state(&rows, &window) >= 3, "{window:?}");
        assert!(sessions(&rows, &window).len() >= 4, "{window:?}");
    }

    #[test]
    fn what_is_turned_to_is_always_shown() {
        for (height, state) in [(13, 8), (21, 8), (37, 12), (57, 3)] {
            let rows = rows(500, state);
            for selected in (0..rows.len()).filter(|place| rows[*place].is_choice()) {
                let window = window(&rows, selected, height, 6);
                assert!(window.places.contains(&selected), "{height}: {selected}");
                assert!(window.places.len() <= height);
            }
        }
    }

    #[test]
    fn nothing_is_cut_where_all_has_room() {
        let rows = rows(3, 2);
        assert_eq!(window(&rows, 1, 40, 5).places, (0..rows.len()).collect::<Vec<_>>());
    }
}
