//! What moving a border, or a key, makes of the sizes of panes.

use ratatui::layout::Position;

use super::action::Action;
use super::layout::{Layout, PaneId, Shape};
use super::sizes::{Border, Sizes};

/// Columns or rows that one key makes a pane larger by.
const NUDGE: (u16, u16) = (4, 2);

/// The sizes that bring a border of `layout` to a place of the screen.
#[must_use]
pub fn moved(sizes: Sizes, border: Border, to: Position, layout: &Layout) -> Sizes {
    let main = layout.main();
    let project = layout.pane(PaneId::Project).map_or(0, |pane| pane.body.width + 1);
    let share = |part: u16, whole: u16| {
        let whole = u32::from(whole.max(1));
        let share = (u32::from(part.min(1_000)) * 1_000 + whole / 2) / whole;
        Some(u16::try_from(share).unwrap_or(1_000).min(1_000))
    };
    let x = to.x.saturating_sub(main.x);
    match border {
        Border::Project => Sizes { project: share(x, main.width), ..sizes },
        Border::Chat => {
            let rest = main.width.saturating_sub(project);
            Sizes { chat: share(x.saturating_sub(project), rest), ..sizes }
        }
        Border::Logs => {
            Sizes { logs: share(main.bottom().saturating_sub(to.y), main.height), ..sizes }
        }
    }
}

/// The sizes after a key made the pane `id` larger or smaller.
///
/// # Errors
/// Why that makes no sense now.
pub fn nudged(
    sizes: Sizes,
    id: PaneId,
    action: Action,
    layout: &Layout,
) -> Result<Sizes, &'static str> {
    let Some(area) = layout.pane(id).filter(|_| layout.panes.len() > 1) else {
        return Err("the pane already fills the screen");
    };
    let (border, way) = match (action, id) {
        (Action::Taller | Action::Lower, PaneId::Logs) => (Border::Logs, action == Action::Lower),
        (Action::Taller | Action::Lower, _) => (Border::Logs, action == Action::Taller),
        (_, PaneId::Logs) => return Err("the logs are as wide as the screen"),
        _ if layout.shape != Shape::Wide => return Err("there is no pane next to this one"),
        (_, PaneId::Project) => (Border::Project, action == Action::Wider),
        (_, PaneId::Chat) => (Border::Chat, action == Action::Wider),
        (_, PaneId::Review) => (Border::Chat, action == Action::Narrower),
    };
    let step = |place: u16, by: u16| {
        if way { place.saturating_add(by) } else { place.saturating_sub(by) }
    };
    let of = |id: PaneId| layout.pane(id).map_or(area.body, |pane| pane.body);
    let to = match border {
        Border::Project => Position::new(step(of(PaneId::Project).right(), NUDGE.0), 0),
        Border::Chat => Position::new(step(of(PaneId::Chat).right(), NUDGE.0), 0),
        Border::Logs => {
            let title = layout.pane(PaneId::Logs).map_or(0, |pane| pane.title.y);
            Position::new(0, step(title, NUDGE.1))
        }
    };
    let after = moved(sizes, border, to, layout);
    if after == sizes { Err("this is the limit") } else { Ok(after) }
}
