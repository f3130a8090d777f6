//! Shows the start screen until the person chooses.

use crossterm::event::EventStream;
use futures::StreamExt;

use super::event_loop::Left;
use super::signals::{Signal, Signals};
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
    let mut events = EventStream::new();
    let mut signals = Signals::watch()?;
    loop {
        if screen.draw(|frame| start.draw(frame)).is_err() {
            return Ok(Err(Left::TerminalLost));
        }
        let choice = tokio::select! {
            biased;
            signal = signals.next() => match signal {
                Signal::Terminate | Signal::Hangup | Signal::Interrupt => {
                    return Ok(Err(Left::Signalled(signal)));
                }
                Signal::Suspend => Some(StartChoice::Suspend),
                Signal::Continue => {
                    if screen.retake().is_err() {
                        return Ok(Err(Left::TerminalLost));
                    }
                    None
                }
                Signal::Resize => None,
            },
            event = events.next() => match event {
                Some(Ok(event)) => start.on_event(&event),
                Some(Err(_)) | None => return Ok(Err(Left::TerminalLost)),
            },
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
