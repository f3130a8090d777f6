//! Keeps serial ports open and empties them into logs.
//!
//! Owns one task per open port. What a board prints goes to the ledger first and is then told to
//! listeners; a slow listener never holds a port up. Must not interpret the bytes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serial2_tokio::SerialPort;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::model::{Event, Ledger, LogId, LogKind, UserError};

/// Bits per second that ESP32 boards print with unless told otherwise.
pub const DEFAULT_BAUD: u32 = 115_200;

/// One read takes at most this many bytes.
const CHUNK_BYTES: usize = 64 * 1024;

/// Listeners can look back this far; the log holds everything.
const TAIL_BYTES: usize = 512 * 1024;

/// How far a port has come.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Received {
    /// Bytes since the port was opened.
    pub bytes: u64,
    /// Why no more will come; `None` while the port is open.
    pub closed: Option<String>,
}

/// The newest bytes of a port.
#[derive(Debug, Default)]
struct Tail {
    bytes: Vec<u8>,
    /// Position of the first of them since the port was opened.
    start: u64,
    /// Up to where somebody has reported them.
    reported: u64,
}

impl Tail {
    fn push(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
        // Cut rarely, so that a flood is not copied around with every chunk.
        if self.bytes.len() > 2 * TAIL_BYTES {
            let gone = self.bytes.len() - TAIL_BYTES;
            self.bytes.drain(..gone);
            self.start += gone as u64;
        }
    }

    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

/// Hears what comes from one open port.
#[derive(Debug, Clone)]
pub struct Listener {
    /// The port.
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
        let tail = lock(&self.tail);
        let from = from.clamp(tail.start, tail.end());
        let skip = usize::try_from(from - tail.start).unwrap_or(usize::MAX);
        (from, tail.bytes.get(skip..).unwrap_or_default().to_vec())
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

#[derive(Debug)]
struct OpenPort {
    listener: Listener,
    device: Arc<SerialPort>,
    stop: DropGuard,
}

impl OpenPort {
    /// Whether bytes can still come. A pseudo-terminal whose other end is gone refuses to tell
    /// its settings, even before its task has noticed.
    fn is_live(&self) -> bool {
        self.listener.closed().is_none() && self.device.get_configuration().is_ok()
    }
}

/// All serial ports that the program listens to.
pub struct SerialHub {
    ledger: Arc<dyn Ledger>,
    ports: Mutex<BTreeMap<String, OpenPort>>,
}

impl SerialHub {
    /// Makes a hub without open ports; what ports receive goes to `ledger`. Dropping the hub
    /// closes its ports.
    #[must_use]
    pub fn new(ledger: Arc<dyn Ledger>) -> Self {
        Self { ledger, ports: Mutex::default() }
    }

    /// Listens to `port`, a path such as `/dev/ttyUSB0`, with `baud` bits per second. What it
    /// receives goes to the serial log with that `number`. When the port is open already, it
    /// stays as it is and keeps its log. Needs a tokio runtime.
    ///
    /// # Errors
    /// When there is no such port, it may not be opened, or the opening could not be recorded.
    pub fn open(&self, port: &str, baud: u32, number: u32) -> Result<Listener, UserError> {
        let mut ports = lock(&self.ports);
        if let Some(open) = ports.get(port).filter(|open| open.is_live()) {
            return Ok(open.listener.clone());
        }
        let device = Arc::new(SerialPort::open(port, baud).map_err(|e| not_opened(port, &e))?);
        let log = LogId { kind: LogKind::Serial, number };
        self.ledger.record(Event::SerialOpened { port: port.to_owned(), log, baud })?;
        let received = watch::Sender::new(Received::default());
        let listener = Listener {
            port: port.to_owned(),
            log,
            received: received.subscribe(),
            tail: Arc::default(),
        };
        let stop = CancellationToken::new();
        let pump = Pump {
            device: Arc::clone(&device),
            ledger: Arc::clone(&self.ledger),
            log,
            tail: Arc::clone(&listener.tail),
            received,
            stop: stop.clone(),
        };
        tokio::spawn(pump.run());
        let open = OpenPort { listener: listener.clone(), device, stop: stop.drop_guard() };
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
        let Some(OpenPort { listener, device, stop }) = lock(&self.ports).remove(port) else {
            return;
        };
        drop(device);
        drop(stop);
        let mut received = listener.subscribe();
        // The task ends at its next wait; when it is gone already, nothing holds the port.
        let _ = received.wait_for(|received| received.closed.is_some()).await;
    }
}

/// Empties one port.
struct Pump {
    device: Arc<SerialPort>,
    ledger: Arc<dyn Ledger>,
    log: LogId,
    tail: Arc<Mutex<Tail>>,
    received: watch::Sender<Received>,
    stop: CancellationToken,
}

impl Pump {
    async fn run(self) {
        let why = self.pump().await;
        let Self { device, ledger, log, received, .. } = self;
        drop(device);
        // A log that cannot be told complete is found complete when the session ends.
        let _ = ledger.flush_log(log);
        let _ = ledger.record(Event::SerialClosed { log, why: why.clone() });
        received.send_modify(|received| received.closed = Some(why));
    }

    /// Runs until the port ends and tells why it did.
    async fn pump(&self) -> String {
        let mut buffer = vec![0; CHUNK_BYTES];
        loop {
            let read = tokio::select! {
                biased;
                () = self.stop.cancelled() => return "listening was stopped".to_owned(),
                read = self.device.read(&mut buffer) => read,
            };
            let bytes = match read {
                Ok(0) => return "the port hung up".to_owned(),
                Ok(count) => buffer.get(..count).unwrap_or_default(),
                Err(error) => return gone(&error),
            };
            if let Err(error) = self.ledger.append_log(self.log, bytes) {
                return format!("its log cannot be written: {error}");
            }
            let end = {
                let mut tail = lock(&self.tail);
                tail.push(bytes);
                tail.end()
            };
            self.received.send_modify(|received| received.bytes = end);
        }
    }
}

fn gone(error: &std::io::Error) -> String {
    match rustix::io::Errno::from_io_error(error) {
        // What a terminal says when the device is unplugged or the other end is closed.
        Some(rustix::io::Errno::IO | rustix::io::Errno::NODEV | rustix::io::Errno::NXIO) => {
            "the board was disconnected".to_owned()
        }
        _ => format!("the port cannot be read: {error}"),
    }
}

fn not_opened(port: &str, error: &std::io::Error) -> UserError {
    let fix = match error.kind() {
        std::io::ErrorKind::NotFound => "Connect the board, or name another port.",
        std::io::ErrorKind::PermissionDenied => {
            "Add yourself to the group that owns the port (often `dialout` or `uucp`) and log in \
             again."
        }
        _ => "Close other programs that use the port, or reconnect the board.",
    };
    UserError::new(format!("Cannot listen to `{port}`"), error.to_string(), fix)
}

/// A panic elsewhere leaves the state whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "serial_tests.rs"]
mod tests;
