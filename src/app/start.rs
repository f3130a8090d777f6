//! Shows the start screen until the person chooses.

use super::event_loop::Left;
use super::idle_wake::{IdleWake, Sources};
use super::terminal::Screen;
use crate::model::UserError;
use crate::ui::start::{Start, StartChoice};

/// Shows `start` and returns what was chosen, or how the person left. Draws only after something
/// happened.
///
/// # Errors
/// When signals cannot be watched.
pub async fn choose(
    screen: &mut Screen,
    start: &mut Start,
) -> Result<Result<StartChoice, Left>, UserError> {
    let mut sources = Sources::watch()?;
    loop {
        if screen.draw(|frame| start.draw(frame)).is_err() {
            return Ok(Err(Left::TerminalLost));
        }
        let choice = match sources.next(screen).await {
            Ok(IdleWake::Event(event)) => start.on_event(&event),
            Ok(IdleWake::Suspend) => Some(StartChoice::Suspend),
            Ok(IdleWake::Redraw) => None,
            Err(left) => return Ok(Err(left)),
        };
        match choice {
            None => {}
            Some(StartChoice::Quit) => return Ok(Err(Left::Quit)),
            Some(StartChoice::Suspend) if screen.suspend().is_err() => {
                return Ok(Err(Left::TerminalLost));
            }
            Some(StartChoice::Suspend) => {}
            Some(choice) => return Ok(Ok(choice)),
        }
    }
}
