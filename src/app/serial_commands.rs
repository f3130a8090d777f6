//! The person's own hands on serial ports: opening, closing, sending, resetting.
//!
//! Owns carrying out what a key asked for, in order. Every act is recorded by the hub; what fails
//! is told as a notice. An agent's wish never comes this way: it is a proposal.

use std::sync::Arc;

use tokio::sync::mpsc;

use crate::device::SerialHub;
use crate::model::event::Level;
use crate::model::{Event, Ledger, PersonEvent, SerialCommand, UserError};
use crate::tools::SharedState;

/// Commands that wait at most.
const WAITING: usize = 32;

/// Starts to carry out commands; ends when the sender is dropped. Needs a tokio runtime.
#[must_use]
pub fn start(
    hub: Arc<SerialHub>,
    ledger: Arc<dyn Ledger>,
    state: SharedState,
) -> mpsc::Sender<SerialCommand> {
    let (sender, mut commands) = mpsc::channel(WAITING);
    tokio::spawn(async move {
        while let Some(command) = commands.recv().await {
            if let Err(notice) = carry_out(&hub, &state, command).await {
                // What cannot be recorded is on the port's own line of the screen.
                let _ = ledger
                    .record(Event::Person(PersonEvent::Noticed { level: Level::Error, notice }));
            }
        }
    });
    sender
}

async fn carry_out(
    hub: &SerialHub,
    state: &SharedState,
    command: SerialCommand,
) -> Result<(), UserError> {
    match command {
        SerialCommand::Open { port, baud } => {
            let number = state.snapshot().serial_logs + 1;
            hub.open(&port, baud, number).await.map(|_| ())
        }
        SerialCommand::Close { port } => {
            hub.close(&port).await;
            Ok(())
        }
        SerialCommand::Send { port, text } => hub.transmit(&port, &text, None).await,
        SerialCommand::Control { port, control } => hub.steer(&port, control).await,
    }
}
