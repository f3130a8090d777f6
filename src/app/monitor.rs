//! Listening to a board without a team: a session whose only author is the person.
//!
//! Owns putting it together. It is a session like any other, so that it is kept, searched and
//! replayed by the same means.

use std::path::PathBuf;
use std::sync::Arc;

use super::machine::{Machine, now};
use super::plan::log_limits;
use super::shipped::load_adapters;
use crate::device::{Address, Listener, Programs, SerialHub, ports};
use crate::engine::Recorder;
use crate::journal::SessionDir;
use crate::model::event::{SessionParts, SessionStart};
use crate::model::{Event, Ledger, SessionEvent, SessionOutcome, UserError};

/// The name that such a session has instead of a team's.
pub const TEAM: &str = "monitor";

/// What to listen to.
#[derive(Debug, Clone)]
pub struct MonitorOptions {
    /// The port; `None`: the only board that is connected.
    pub port: Option<String>,
    /// Bits per second.
    pub baud: u32,
    /// Program to look panics up in.
    pub elf: Option<PathBuf>,
    /// Folder of the project whose programs panics are looked up in.
    pub project: PathBuf,
}

/// A session that listens.
pub struct Monitor {
    pub dir: SessionDir,
    pub recorder: Arc<Recorder>,
    pub hub: Arc<SerialHub>,
    /// The port that was opened.
    pub listener: Listener,
}

impl Monitor {
    /// Closes the port and ends the session.
    pub async fn end(self) {
        self.hub.close(&self.listener.port).await;
        // Without this record the session is found interrupted, which does no harm.
        let _ = self
            .recorder
            .record(Event::Session(SessionEvent::Ended { outcome: SessionOutcome::Completed }));
    }
}

/// Begins to listen. Must be called on a runtime.
///
/// # Errors
/// When there is no such port, several to choose from, or it cannot be opened.
pub async fn start(machine: &Machine, wish: MonitorOptions) -> Result<Monitor, UserError> {
    let adapters = load_adapters(&machine.assets)?;
    let port = match wish.port {
        Some(port) => port,
        None => only_port(&ports::list(&adapters))?,
    };
    if let Some(elf) = wish.elf.as_ref().filter(|elf| !elf.is_file()) {
        let what = format!("there is no program at {}", elf.display());
        let fix = "Name the .elf file that was built, or leave `--elf` out.";
        return Err(UserError::new(what, "it is not a file", fix));
    }
    Address::parse(&port)?;
    let dir = SessionDir::create(&machine.dirs.data, &format!("monitor {port}"), now())?;
    let recorder = Recorder::create(dir.clone())?.keeping(log_limits(&machine.settings));
    let recorder = Arc::new(recorder.guarded_by(machine.profiles.secrets()));
    recorder.record(Event::Session(SessionEvent::Started(Box::new(SessionStart {
        id: dir.id().clone(),
        task: format!("Listen to {port}"),
        team: TEAM.to_owned(),
        project: wish.project.display().to_string(),
        model: String::new(),
        toolchain: String::new(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        parts: SessionParts::default(),
    }))))?;
    recorder.spawn_ticks();
    let programs = Programs::named(wish.elf.as_deref(), Some(&wish.project));
    let ledger: Arc<dyn Ledger> = Arc::clone(&recorder) as Arc<dyn Ledger>;
    let hub = Arc::new(SerialHub::new(ledger).knowing(adapters, programs));
    match hub.open(&port, wish.baud, 1).await {
        Ok(listener) => Ok(Monitor { dir, recorder, hub, listener }),
        Err(error) => {
            let _ = recorder.record(Event::Session(SessionEvent::Ended {
                outcome: SessionOutcome::Failed(error.clone()),
            }));
            Err(error)
        }
    }
}

/// The port to take when none is named.
fn only_port(ports: &[crate::device::PortInfo]) -> Result<String, UserError> {
    let boards: Vec<_> = ports.iter().filter(|port| port.is_likely_board()).collect();
    let names = |ports: &[&crate::device::PortInfo]| {
        let name = |port: &&crate::device::PortInfo| format!("{} ({})", port.path, port.label);
        ports.iter().map(name).collect::<Vec<_>>().join(", ")
    };
    match boards.as_slice() {
        [board] => Ok(board.path.clone()),
        [] => {
            let others: Vec<_> = ports.iter().collect();
            let why = if others.is_empty() {
                "there is no serial port".to_owned()
            } else {
                format!("none of the ports looks like a board: {}", names(&others))
            };
            let fix = "Connect the board, or name the port: `firmhand monitor /dev/ttyUSB0` or \
                       `firmhand monitor rfc2217://host:4000`.";
            Err(UserError::new("Cannot find a board", why, fix))
        }
        several => Err(UserError::new(
            "Cannot choose a port",
            names(several),
            "Name the port: `firmhand monitor PORT`.",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{PortInfo, ResetStyle};

    fn port(path: &str, chips: &[&str]) -> PortInfo {
        PortInfo {
            path: path.to_owned(),
            label: "CP210x".to_owned(),
            chips: chips.iter().map(|&chip| chip.to_owned()).collect(),
            usb: None,
            reset: ResetStyle::Classic,
        }
    }

    #[test]
    fn the_only_board_is_taken_and_a_choice_is_left_to_the_person() {
        let uart = port("/dev/ttyS0", &[]);
        let (a, b) = (port("/dev/ttyUSB0", &["esp32"]), port("/dev/ttyUSB1", &["esp32"]));
        assert_eq!(only_port(&[a.clone(), uart.clone()]).unwrap(), "/dev/ttyUSB0");
        let error = only_port(&[a, b]).unwrap_err();
        assert!(error.why.contains("/dev/ttyUSB1 (CP210x)"), "{error:?}");
        assert!(only_port(&[uart]).unwrap_err().why.contains("/dev/ttyS0"));
        assert!(only_port(&[]).unwrap_err().why.contains("no serial port"));
    }
}
