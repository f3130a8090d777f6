//! The tabs Tests and Analysis: lists of results with a place in the project each.
//!
//! Owns which run and which result are selected. Must not draw.

use std::sync::Arc;

use crate::model::{ProjectPath, TestCase, TestRunId};
use crate::ui::pane::{Effect, FilePlace};
use crate::ui::scroll::Move;
use crate::view::{AnalysisRow, AnalysisView, SessionView, TestRunView};

use super::open::Tab;

/// Where one is in a list of results.
#[derive(Debug, Clone, Copy, Default)]
struct ListPosition {
    /// The run or analysis that was chosen; `None`: the newest.
    chosen: Option<usize>,
    /// The result that is selected.
    selected: usize,
    /// Lines of its output that are above.
    above: usize,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Results {
    tests: ListPosition,
    analysis: ListPosition,
}

impl Results {
    const fn position(&self, tab: Tab) -> &ListPosition {
        match tab {
            Tab::Tests => &self.tests,
            Tab::Analysis | Tab::Build | Tab::Serial | Tab::Events => &self.analysis,
        }
    }

    const fn position_mut(&mut self, tab: Tab) -> &mut ListPosition {
        match tab {
            Tab::Tests => &mut self.tests,
            Tab::Analysis | Tab::Build | Tab::Serial | Tab::Events => &mut self.analysis,
        }
    }

    /// The run that is shown.
    pub fn run<'v>(&self, view: &'v SessionView) -> Option<&'v Arc<TestRunView>> {
        let runs = &view.logs.tests.runs;
        let number = |run: usize| u32::try_from(run).map(TestRunId);
        let chosen =
            self.tests.chosen.and_then(|run| runs.iter().find(|view| Ok(view.run) == number(run)));
        chosen.or(runs.last())
    }

    /// Its tests, what is wrong first.
    pub fn tests<'v>(&self, view: &'v SessionView) -> &'v [TestCase] {
        let report = self.run(view).and_then(|run| run.report.as_deref());
        report.map_or(&[], |report| report.tests.as_slice())
    }

    /// The analysis that is shown.
    pub fn analysis<'v>(&self, view: &'v SessionView) -> Option<&'v Arc<AnalysisView>> {
        let all = &view.logs.analyses.all;
        self.analysis.chosen.and_then(|place| all.get(place)).or(all.last())
    }

    /// What it found, what matters most first.
    pub fn rows<'v>(&self, view: &'v SessionView) -> &'v [AnalysisRow] {
        self.analysis(view).map_or(&[], |analysis| analysis.rows.as_slice())
    }

    /// How many results there are.
    pub fn count(&self, tab: Tab, view: &SessionView) -> usize {
        match tab {
            Tab::Tests => self.tests(view).len(),
            Tab::Analysis => self.rows(view).len(),
            Tab::Build | Tab::Serial | Tab::Events => 0,
        }
    }

    /// The place of the selected result in its list.
    pub fn selected(&self, tab: Tab, view: &SessionView) -> usize {
        self.position(tab).selected.min(self.count(tab, view).saturating_sub(1))
    }

    /// Lines of the selected result's output that are above.
    pub const fn above(&self, tab: Tab) -> usize {
        self.position(tab).above
    }

    /// Selects a result.
    pub fn select(&mut self, tab: Tab, place: usize) {
        let position = self.position_mut(tab);
        (position.selected, position.above) = (place, 0);
    }

    /// Selects another result; a page has `page` rows.
    pub fn go(&mut self, step: Move, page: i64, (tab, view): (Tab, &SessionView)) {
        let (at, count) = (self.selected(tab, view), self.count(tab, view));
        let by = |lines: i64| {
            let lines = isize::try_from(lines).unwrap_or(0);
            at.checked_add_signed(lines).unwrap_or(0).min(count.saturating_sub(1))
        };
        let place = match step {
            Move::Lines(lines) => by(lines),
            Move::Pages(pages) => by(pages.saturating_mul(page)),
            Move::Start => 0,
            Move::End => count.saturating_sub(1),
            Move::To(_) | Move::Columns(_) => return,
        };
        self.select(tab, place);
    }

    /// Selects the next (1) or the one before (-1) of those that are wrong.
    pub fn next_bad(&mut self, step: isize, tab: Tab, view: &SessionView) -> Vec<Effect> {
        let is_bad = |place: &usize| match tab {
            Tab::Tests => self.tests(view).get(*place).is_some_and(|test| test.outcome.is_bad()),
            Tab::Analysis | Tab::Build | Tab::Serial | Tab::Events => {
                self.rows(view).get(*place).is_some_and(|row| row.weight > 0)
            }
        };
        let selected = self.selected(tab, view);
        let bad = if step < 0 {
            (0..selected).rfind(is_bad)
        } else {
            (selected + 1..self.count(tab, view)).find(is_bad)
        };
        let Some(bad) = bad else { return Effect::info("there is no other one that is wrong") };
        self.select(tab, bad);
        Vec::new()
    }

    /// Scrolls the output of the selected result.
    pub fn scroll_output(&mut self, lines: isize, tab: Tab) {
        let position = self.position_mut(tab);
        position.above = position.above.saturating_add_signed(lines);
    }

    /// Shows an older (-1) or newer (1) run or analysis.
    ///
    /// # Errors
    /// Says why there is none.
    pub fn turn(&mut self, step: isize, tab: Tab, view: &SessionView) -> Result<(), &'static str> {
        let keys: Vec<usize> = match tab {
            Tab::Tests => {
                let runs = view.logs.tests.runs.iter();
                runs.map(|run| usize::try_from(run.run.0).unwrap_or(usize::MAX)).collect()
            }
            Tab::Analysis => (0..view.logs.analyses.all.len()).collect(),
            Tab::Build | Tab::Serial | Tab::Events => Vec::new(),
        };
        let newest = keys.len().saturating_sub(1);
        let chosen = self.position(tab).chosen;
        let at = chosen.and_then(|key| keys.iter().position(|known| *known == key));
        let next = at.unwrap_or(newest).checked_add_signed(step);
        let Some(next) = next.filter(|next| *next < keys.len()) else {
            return Err(if step < 0 { "this is the first one" } else { "this is the newest one" });
        };
        let position = self.position_mut(tab);
        *position = ListPosition::default();
        position.chosen = keys.get(next).copied().filter(|_| next != newest);
        Ok(())
    }

    /// Shows the newest of both again.
    pub const fn choose_newest(&mut self) {
        self.tests.chosen = None;
        self.analysis.chosen = None;
    }

    /// Where the selected result is in the project.
    pub fn file_place(&self, tab: Tab, view: &SessionView) -> Option<FilePlace> {
        let place = self.selected(tab, view);
        let (file, line) = match tab {
            Tab::Tests => self.tests(view).get(place).map(|test| (&test.file, test.line))?,
            Tab::Analysis => self.rows(view).get(place).map(|row| (&row.file, row.line))?,
            Tab::Build | Tab::Serial | Tab::Events => return None,
        };
        Some(FilePlace { path: ProjectPath::new(file.as_deref()?).ok()?, line })
    }

    /// The selected result as text to take away.
    pub fn text(&self, tab: Tab, view: &SessionView) -> Option<String> {
        let place = self.selected(tab, view);
        match tab {
            Tab::Tests => {
                let test = self.tests(view).get(place)?;
                let head = format!("{} {}: {}", test.name, test.outcome.word(), test.message);
                Some(format!("{head}\n{}", test.output))
            }
            Tab::Analysis => self.rows(view).get(place).map(|row| row.text.clone()),
            Tab::Build | Tab::Serial | Tab::Events => None,
        }
    }
}
