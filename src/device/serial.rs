//! Keeps serial ports open and empties them into logs.
//!
//! Owns one task per open port. What a board prints goes to the ledger first and is then told to
//! listeners; a slow listener never holds a port up. Nothing is sent to a board unless a person,
//! or the gate for them, asks for it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::adapters::{Adapters, ResetStyle};
use super::link::{Address, Link};
use super::panic::{Programs, RawPanic};
use super::ports::{self, PortInfo, UsbId};
use super::pump::{PortOrder, Pump, Task};
pub use super::received::Received;
use super::received::{changed, lock};
use super::refusal::not_opened;
use super::reset::{self, Into};
use super::tail::Tail;
use crate::model::{
    AgentName, Event, Ledger, LogId, LogKind, PanicReport, PortChange, PortEvent, SerialControl,
    UserError,
};

/// Bits per second that ESP32 boards print with unless told otherwise.
pub const DEFAULT_BAUD: u32 = 115_200;

/// Hears what comes from one open port.
#[derive(Debug, Clone)]
pub struct Listener {
    pub port: String,
    /// Where its bytes go.
    pub log: LogId,
    received: watch::Receiver<Received>,
    tail: Arc<Mutex<Tail>>,
}

impl Listener {
    /// How far the port has come, now and whenever that changes.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<Received> {
        self.received.clone()
    }

    /// The bytes from position `from` on, and the position of the first of them, which is later
    /// when the older ones are no longer held.
    #[must_use]
    pub fn since(&self, from: u64) -> (u64, Vec<u8>) {
        lock(&self.tail).since(from)
    }

    /// The position up to which [`Listener::set_reported`] was called.
    #[must_use]
    pub fn reported(&self) -> u64 {
        lock(&self.tail).reported
    }

    /// Notes that everything before `position` has been reported to whoever asked.
    pub fn set_reported(&self, position: u64) {
        let mut tail = lock(&self.tail);
        tail.reported = tail.reported.max(position);
    }

    /// Why the port is closed; `None` while it is open.
    #[must_use]
    pub fn closed(&self) -> Option<String> {
        self.received.borrow().closed.clone()
    }
}

/// A port that is lent. Dropping it gives the port back.
#[derive(Debug)]
pub struct Loan {
    _back: oneshot::Sender<()>,
}

#[derive(Debug)]
struct OpenPort {
    listener: Listener,
    orders: mpsc::Sender<PortOrder>,
    reset: ResetStyle,
    baud: u32,
    stop: DropGuard,
}

/// All serial ports that the program listens to.
pub struct SerialHub {
    ledger: Arc<dyn Ledger>,
    adapters: Arc<Adapters>,
    programs: Arc<Programs>,
    ports: Mutex<BTreeMap<String, OpenPort>>,
}

impl SerialHub {
    /// Makes a hub without open ports; what ports receive goes to `ledger`. Dropping the hub
    /// closes its ports.
    #[must_use]
    pub fn new(ledger: Arc<dyn Ledger>) -> Self {
        let (adapters, programs) = (Arc::default(), Arc::default());
        Self { ledger, adapters, programs, ports: Mutex::default() }
    }

    /// The same hub, which knows adapters and the programs that panics are looked up in.
    #[must_use]
    pub fn knowing(self, adapters: Adapters, programs: Programs) -> Self {
        Self { adapters: Arc::new(adapters), programs: Arc::new(programs), ..self }
    }

    /// Listens to `port`, a path such as `/dev/ttyUSB0` or a network address, with `baud` bits per
    /// second. What it receives goes to the serial log with that `number`. When the port is open
    /// already, it stays as it is and keeps its log. When it goes away, it is looked for until it
    /// is closed. Needs a tokio runtime.
    ///
    /// # Errors
    /// When there is no such port, it may not be opened, or the opening could not be recorded.
    pub async fn open(&self, port: &str, baud: u32, number: u32) -> Result<Listener, UserError> {
        if let Some(open) = self.get(port).filter(|listener| listener.closed().is_none()) {
            return Ok(open);
        }
        let address = Address::parse(port)?;
        let link = Link::open(&address, baud).await.map_err(|e| not_opened(port, &e))?;
        let (reset, usb) = self.known(port);
        let mut ports = lock(&self.ports);
        if let Some(open) = ports.get(port).filter(|open| open.listener.closed().is_none()) {
            return Ok(open.listener.clone());
        }
        let log = LogId { kind: LogKind::Serial, number };
        self.ledger.record(Event::Port(PortEvent::Opened { port: port.to_owned(), log, baud }))?;
        let received = watch::Sender::new(Received::default());
        let listener = Listener {
            port: port.to_owned(),
            log,
            received: received.subscribe(),
            tail: Arc::default(),
        };
        let (stop, (orders, inbox)) = (CancellationToken::new(), mpsc::channel(16));
        let pump = Pump {
            address,
            baud,
            usb,
            adapters: Arc::clone(&self.adapters),
            programs: Arc::clone(&self.programs),
            ledger: Arc::clone(&self.ledger),
            log,
            tail: Arc::clone(&listener.tail),
            received,
            orders: inbox,
            stop: stop.clone(),
        };
        tokio::spawn(pump.run(link));
        let stop = stop.drop_guard();
        let open = OpenPort { listener: listener.clone(), orders, reset, baud, stop };
        ports.insert(port.to_owned(), open);
        Ok(listener)
    }

    /// The listener of a port that was opened before, closed or not.
    #[must_use]
    pub fn get(&self, port: &str) -> Option<Listener> {
        lock(&self.ports).get(port).map(|open| open.listener.clone())
    }

    /// Stops listening to a port, so that another program can use it, and waits until it is
    /// free. Does nothing when the port is not open.
    pub async fn close(&self, port: &str) {
        let Some(OpenPort { listener, stop, .. }) = lock(&self.ports).remove(port) else {
            return;
        };
        drop(stop);
        let mut received = listener.subscribe();
        // The task ends at its next wait; when it is gone already, nothing holds the port.
        let _ = received.wait_for(|received| received.closed.is_some()).await;
    }

    /// Lends an open port to whoever writes to the board's flash: it is free when this returns, and
    /// listened to again, with the same log, when the loan is dropped. `None` when it is not open.
    pub async fn lend(&self, port: &str, why: &str) -> Option<Loan> {
        let orders = lock(&self.ports).get(port).map(|open| open.orders.clone())?;
        let (loan, given_back) = oneshot::channel();
        let (reply, lent) = oneshot::channel();
        let task = Task::Lend { why: why.to_owned(), given_back };
        orders.send(PortOrder { task, reply }).await.ok()?;
        match lent.await {
            Ok(Ok(())) => Some(Loan { _back: loan }),
            // It is away or closed: then nobody holds it.
            Ok(Err(_)) | Err(_) => None,
        }
    }

    /// Sends text to a port: an effect, for a person's own key or an approved proposal of `by`.
    /// It is recorded before it is sent.
    ///
    /// # Errors
    /// When the port is not open or away, or does not take it.
    pub async fn transmit(
        &self,
        port: &str,
        text: &str,
        by: Option<AgentName>,
    ) -> Result<(), UserError> {
        let log = self.opened(port)?;
        self.ledger.record(changed(log, PortChange::Sent { text: text.to_owned(), by }))?;
        self.order(port, Task::Write(text.as_bytes().to_vec())).await
    }

    /// Changes how a port runs: an effect, for a person's own key.
    ///
    /// # Errors
    /// When the port is not open or away, or cannot do that.
    pub async fn steer(&self, port: &str, control: SerialControl) -> Result<(), UserError> {
        let log = self.opened(port)?;
        let style = lock(&self.ports).get(port).map(|open| open.reset).unwrap_or_default();
        let task = match control {
            SerialControl::Baud(baud) => Task::Baud(baud),
            SerialControl::Reset => Task::Pulse(reset::steps(style, Into::Program)),
            SerialControl::BootLoader => Task::Pulse(reset::steps(style, Into::BootLoader)),
        };
        self.order(port, task).await?;
        if let SerialControl::Baud(baud) = control
            && let Some(open) = lock(&self.ports).get_mut(port)
        {
            open.baud = baud;
        }
        self.ledger.record(changed(log, PortChange::Controlled(control)))?;
        Ok(())
    }

    /// Listens to an open port with `baud` bits per second from now on, as the firmware that was
    /// just written to its board talks. Nothing is done, nor recorded, where it runs so already.
    ///
    /// # Errors
    /// When the port is not open or away, or has no such rate.
    pub async fn retune(&self, port: &str, baud: u32) -> Result<(), UserError> {
        if lock(&self.ports).get(port).is_some_and(|open| open.baud == baud) {
            return Ok(());
        }
        self.steer(port, SerialControl::Baud(baud)).await
    }

    /// The ports of this machine. Reads a few small files.
    #[must_use]
    pub fn ports(&self) -> Vec<PortInfo> {
        ports::list(&self.adapters)
    }

    /// Looks a panic up in the programs of the project. Reads files.
    #[must_use]
    pub fn report(&self, raw: &RawPanic) -> PanicReport {
        self.programs.report(raw)
    }

    fn known(&self, port: &str) -> (ResetStyle, Option<UsbId>) {
        let found = self.ports().into_iter().find(|info| info.path == port);
        found.map(|info| (info.reset, info.usb)).unwrap_or_default()
    }

    fn opened(&self, port: &str) -> Result<LogId, UserError> {
        let listener = self.get(port).filter(|listener| listener.closed().is_none());
        listener.map(|listener| listener.log).ok_or_else(|| closed(port))
    }

    async fn order(&self, port: &str, task: Task) -> Result<(), UserError> {
        let orders = lock(&self.ports).get(port).map(|open| open.orders.clone());
        let orders = orders.ok_or_else(|| closed(port))?;
        let (reply, done) = oneshot::channel();
        orders.send(PortOrder { task, reply }).await.map_err(|_| closed(port))?;
        let done = done.await.map_err(|_| closed(port))?;
        done.map_err(|error| {
            let fix = match error.kind() {
                std::io::ErrorKind::Unsupported => "Press the button on the board instead.",
                _ => "Check that the board is connected and accepts input, then try again.",
            };
            UserError::new(format!("Cannot do that on `{port}`"), error.to_string(), fix)
        })
    }
}

fn closed(port: &str) -> UserError {
    UserError::new(format!("`{port}` is not open"), "no connection is open", "Connect to it first.")
}

#[cfg(test)]
#[path = "serial_tests.rs"]
mod tests;
