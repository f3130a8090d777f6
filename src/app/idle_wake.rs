//! What wakes a screen that shows no session: the person, or a signal.

use crossterm::event::{Event, EventStream};
use futures::StreamExt;

use super::event_loop::Left;
use super::signals::{Signal, Signals};
use super::terminal::Screen;
use crate::model::UserError;

pub(super) enum IdleWake {
    /// The person did something.
    Event(Event),
    /// The person wants the shell for a while.
    Suspend,
    /// The screen has to be drawn anew.
    Redraw,
}

/// Where the events of a screen without a session come from.
pub(super) struct Sources {
    events: EventStream,
    signals: Signals,
}

impl Sources {
    /// Begins to listen.
    ///
    /// # Errors
    /// When signals cannot be watched.
    pub fn watch() -> Result<Self, UserError> {
        Ok(Self { events: EventStream::new(), signals: Signals::watch()? })
    }

    /// The next thing that happens, or why the screen is left. Nothing is lost when it is not
    /// waited for to its end.
    pub async fn next(&mut self, screen: &mut Screen) -> Result<IdleWake, Left> {
        tokio::select! {
            biased;
            signal = self.signals.next() => match signal {
                Signal::Terminate | Signal::Hangup | Signal::Interrupt => {
                    Err(Left::Signalled(signal))
                }
                Signal::Suspend => Ok(IdleWake::Suspend),
                Signal::Continue if screen.retake().is_err() => Err(Left::TerminalLost),
                Signal::Continue | Signal::Resize => Ok(IdleWake::Redraw),
            },
            event = self.events.next() => match event {
                Some(Ok(event)) => Ok(IdleWake::Event(event)),
                Some(Err(_)) | None => Err(Left::TerminalLost),
            },
        }
    }
}
