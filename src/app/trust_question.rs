//! Asks on the screen whether a project's own scripts may run.

use std::time::Instant;

use super::event_loop::Left;
use super::idle_wake::{IdleWake, Sources};
use super::terminal::Screen;
use crate::model::UserError;
use crate::ui::trust_dialog::{TrustAnswer, TrustDialog};

/// Shows `dialog` until the person decides. Leaving it in any other way does not trust the project.
///
/// # Errors
/// When signals cannot be watched.
pub async fn ask(
    screen: &mut Screen,
    mut dialog: TrustDialog,
) -> Result<Result<TrustAnswer, Left>, UserError> {
    let mut sources = Sources::watch()?;
    loop {
        if screen.draw(|frame| dialog.draw(frame, Instant::now())).is_err() {
            return Ok(Err(Left::TerminalLost));
        }
        let answer = match sources.next(screen).await {
            Ok(IdleWake::Event(event)) => dialog.on_event(&event, Instant::now()),
            Ok(IdleWake::Suspend) if screen.suspend().is_err() => {
                return Ok(Err(Left::TerminalLost));
            }
            Ok(IdleWake::Suspend | IdleWake::Redraw) => None,
            Err(left) => return Ok(Err(left)),
        };
        if let Some(answer) = answer {
            return Ok(Ok(answer));
        }
    }
}
