//! Shows which ports there are until one is chosen, or comes that was asked for.

use std::time::Duration;

use super::event_loop::Left;
use super::idle_wake::{IdleWake, Sources};
use super::terminal::Screen;
use crate::device::{Adapters, Address, ports};
use crate::model::UserError;
use crate::ui::ports::{PortChoice, PortList, PortRow, Presence};

/// How often ports are looked for.
const LOOK: Duration = Duration::from_millis(300);

/// Which ports the person wants to choose from.
#[derive(Debug, Clone)]
pub struct PortFilter {
    /// Those that were named; none: every one of this machine.
    pub named: Vec<String>,
    /// What USB adapters are called.
    pub adapters: Adapters,
}

impl PortFilter {
    /// The ports as they are now. Reads a few small files.
    #[must_use]
    pub fn look(&self) -> Vec<PortRow> {
        let known = ports::list(&self.adapters);
        let row = |info: &ports::PortInfo| PortRow {
            port: info.path.clone(),
            label: info.label.clone(),
            chip: info.chips.first().map(|chip| format!("{chip}?")).unwrap_or_default(),
            presence: Presence::There,
        };
        if self.named.is_empty() {
            return known.iter().map(row).collect();
        }
        let named = |port: &String| match known.iter().find(|info| info.path == *port) {
            Some(info) => row(info),
            None => {
                let address = Address::parse(port).ok();
                let is_there = address.as_ref().is_some_and(Address::may_be_there);
                let label = match address {
                    Some(Address::Tcp(_) | Address::Rfc2217(_)) => "over the network",
                    Some(Address::Tty(_)) | None if is_there => "",
                    Some(Address::Tty(_)) | None => "not there yet",
                };
                let presence = if is_there { Presence::There } else { Presence::Awaited };
                PortRow {
                    port: port.clone(),
                    label: label.to_owned(),
                    chip: String::new(),
                    presence,
                }
            }
        };
        self.named.iter().map(named).collect()
    }

    /// The port that needs no choice: the only one that was named, or the only board.
    #[must_use]
    pub fn only(&self) -> Option<String> {
        match self.named.as_slice() {
            [] => {
                let boards = ports::list(&self.adapters);
                let mut boards = boards.into_iter().filter(ports::PortInfo::is_likely_board);
                boards.next().filter(|_| boards.next().is_none()).map(|board| board.path)
            }
            [_] => {
                let row = self.look().into_iter().next()?;
                (row.presence == Presence::There).then_some(row.port)
            }
            _ => None,
        }
    }
}

/// Shows `list` until a port is chosen, or the only one that was named is there. Draws only after
/// something happened.
///
/// # Errors
/// When signals cannot be watched.
pub async fn choose(
    screen: &mut Screen,
    list: &mut PortList,
    wanted: &PortFilter,
) -> Result<Result<String, Left>, UserError> {
    let mut sources = Sources::watch()?;
    let mut looks = tokio::time::interval(LOOK);
    let mut is_stale = true;
    loop {
        if is_stale && screen.draw(|frame| list.draw(frame)).is_err() {
            return Ok(Err(Left::TerminalLost));
        }
        is_stale = true;
        let choice = tokio::select! {
            biased;
            woken = sources.next(screen) => match woken {
                Ok(IdleWake::Event(event)) => list.on_event(&event),
                Ok(IdleWake::Suspend) => Some(PortChoice::Suspend),
                Ok(IdleWake::Redraw) => None,
                Err(left) => return Ok(Err(left)),
            },
            _ = looks.tick() => {
                is_stale = list.set(wanted.look());
                let awaited = wanted.named.len() == 1;
                wanted.only().filter(|_| awaited).map(PortChoice::Open)
            }
        };
        match choice {
            None => {}
            Some(PortChoice::Open(port)) => return Ok(Ok(port)),
            Some(PortChoice::Quit) => return Ok(Err(Left::Quit)),
            Some(PortChoice::Suspend) if screen.suspend().is_err() => {
                return Ok(Err(Left::TerminalLost));
            }
            Some(PortChoice::Suspend) => {}
        }
    }
}
