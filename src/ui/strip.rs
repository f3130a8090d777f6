//! The row below the header: how far the run is, who works how long, what it costs and how long it
//! waited for the person. The dialog [`RunOverview`](super::overlay::RunOverview) has it all.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

use crate::text::sanitize;
use crate::view::duration;

use super::action::{Action, KeyContext};
use super::line::{self, LineParts};
use super::pane::Cx;
use super::role::Role;

/// Cells of the bar.
const BAR: usize = 10;

/// Agents that are named with their time, where there is some room and where there is much.
const NAMED: (usize, usize) = (2, 4);

/// Columns from which on there is much room.
const ROOMY: u16 = 160;

/// Draws the row; what does not fit is dropped from the least important part on.
pub(super) fn draw(area: Rect, buf: &mut Buffer, cx: &Cx<'_>) {
    if area.is_empty() {
        return;
    }
    let inside = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let separator = Span::styled(" · ", cx.style(Role::Faint));
    let (left, right) =
        line::fit_halves(left(cx, area.width), right(cx), &separator, usize::from(inside.width));
    line::draw_split(&left, &right, inside, buf);
}

fn left(cx: &Cx<'_>, columns: u16) -> LineParts {
    let mut parts = LineParts::default();
    if let Some(progress) = cx.view.progress() {
        let (done, open) = line::bar(progress.done, progress.total, BAR);
        parts.push(
            9,
            vec![
                Span::styled(done, cx.style(Role::Ok)),
                Span::styled(open, cx.style(Role::Faint)),
                Span::styled(
                    format!(" {}/{} {}", progress.done, progress.total, progress.unit),
                    cx.style(Role::Text),
                ),
            ],
        );
        if !progress.current.is_empty() && !cx.view.head.state.is_over() {
            let next = match progress.side_by_side.as_slice() {
                [] => format!("next: {}", line::cut(&sanitize::line(&progress.current), 36)),
                several => {
                    let numbers: Vec<String> = several.iter().map(ToString::to_string).collect();
                    format!("now: steps {}", numbers.join(", "))
                }
            };
            let weight = if progress.side_by_side.is_empty() { 3 } else { 7 };
            parts.push(weight, vec![Span::styled(next, cx.style(Role::Dim))]);
        }
    }
    if let Some(run) = cx.view.work.run() {
        let after = cx.clock.millis_since(cx.view.work.counted_until());
        let mut agents: Vec<_> = run.agents.iter().collect();
        // Who worked most comes first, so that places change seldom.
        let spoke = |name| cx.view.work.spoke(name, after);
        agents.sort_by_key(|(name, _)| std::cmp::Reverse(spoke(name)));
        let named = if columns < ROOMY { NAMED.0 } else { NAMED.1 };
        for (rank, (name, _)) in (0_u8..).zip(agents.iter().take(named)) {
            let millis = spoke(name);
            let clean = sanitize::line(name.as_str()).into_owned();
            parts.push(
                6 - rank.min(2),
                vec![
                    Span::styled(clean, cx.style(cx.agents.role(name))),
                    Span::styled(format!(" {}", duration(millis)), cx.style(Role::Dim)),
                ],
            );
        }
        let rest = agents.len().saturating_sub(named);
        if rest > 0 {
            parts.push(4, vec![Span::styled(format!("{rest} more"), cx.style(Role::Faint))]);
        }
    }
    parts
}

fn right(cx: &Cx<'_>) -> LineParts {
    let mut parts = LineParts::default();
    let (all, waited) = cx.view.work.times(cx.clock.millis_since(cx.view.work.counted_until()));
    if waited >= 1_000 {
        let role = if cx.view.work.is_waiting() { Role::Warn } else { Role::Dim };
        let text = format!("waited for you {}", duration(waited));
        parts.push(8, vec![Span::styled(text, cx.style(role))]);
    }
    parts.push(7, vec![Span::styled(format!("run {}", duration(all)), cx.style(Role::Dim))]);
    if let Some(key) = cx.keymap.key_of(&[KeyContext::Global], Action::ShowRun) {
        parts.push(
            5,
            vec![
                Span::styled(key, cx.style(Role::Key)),
                Span::styled(" details", cx.style(Role::KeyHelp)),
            ],
        );
    }
    parts
}

/// Whether there is anything to tell.
pub(super) fn is_wanted(cx: &crate::view::SessionView) -> bool {
    cx.work.run().is_some_and(|run| !run.agents.is_empty())
}

#[cfg(test)]
mod tests {
    use crate::ui::fixture::UiBench;

    fn row(bench: &UiBench) -> String {
        bench.screen().lines().nth(1).unwrap_or_default().to_owned()
    }

    #[test]
    fn the_strip_counts_while_agents_work_and_while_the_person_is_waited_for() {
        let mut bench = UiBench::at_work(120, 40);
        bench.pass(10_000);
        let shown = row(&bench);
        assert!(shown.contains("CodeFixerAgent 10 s"), "{shown}");
        assert!(shown.contains("BuildAgent 3 s") && !shown.contains("waited"), "{shown}");
        bench.propose(1);
        bench.sync();
        bench.pass(65_000);
        let shown = row(&bench);
        assert!(shown.contains("waited for you 1:05"), "{shown}");
        assert!(shown.contains("CodeFixerAgent 1 s"), "the session has a time of its own: {shown}");
    }

    #[test]
    fn a_small_screen_has_no_row_for_it() {
        let bench = UiBench::at_work(80, 24);
        assert!(!row(&bench).contains("run "), "{}", row(&bench));
    }
}
