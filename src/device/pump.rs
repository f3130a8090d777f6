//! Empties one port, and finds it again when it was away.
//!
//! Owns the open link. Must not interpret what a board prints, except for having panics noticed.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::adapters::Adapters;
use super::findings::Findings;
use super::link::{Address, Link};
use super::panic::{Programs, Watch};
use super::ports::{self, UsbId};
use super::received::{Received, changed, lock};
use super::reset::ResetStep;
use super::tail::Tail;
use crate::model::{Event, Ledger, LogId, PortChange, PortEvent};

/// One read takes at most this many bytes.
const CHUNK_BYTES: usize = 64 * 1024;

/// Silence after which a panic that has no end is taken for complete.
const SILENCE: Duration = Duration::from_millis(400);

/// Time between two looks for a port that is away: at first, after a while, and in the long run.
const LOOKS: [(Duration, Duration); 3] = [
    (Duration::from_secs(5), Duration::from_millis(20)),
    (Duration::from_secs(60), Duration::from_millis(100)),
    (Duration::MAX, Duration::from_millis(400)),
];

/// A connection that ended sooner than this is not made anew at once.
const TOO_SHORT: Duration = Duration::from_millis(200);

/// Something to do with the port.
#[derive(Debug)]
pub(super) enum Task {
    Write(Vec<u8>),
    /// Change the baud rate.
    Baud(u32),
    /// Move DTR and RTS.
    Pulse(&'static [ResetStep]),
    /// Let go of the port until it is given back.
    Lend {
        /// What it is in use by another step for.
        why: String,
        /// Ends when it is given back.
        given_back: oneshot::Receiver<()>,
    },
}

/// A task, and who waits for it.
#[derive(Debug)]
pub(super) struct PortOrder {
    pub task: Task,
    pub reply: oneshot::Sender<io::Result<()>>,
}

/// Empties one port.
pub(super) struct Pump {
    pub address: Address,
    pub baud: u32,
    /// What the device is, to know it again.
    pub usb: Option<UsbId>,
    pub adapters: Arc<Adapters>,
    pub programs: Arc<Programs>,
    pub ledger: Arc<dyn Ledger>,
    pub log: LogId,
    pub tail: Arc<Mutex<Tail>>,
    pub received: watch::Sender<Received>,
    pub orders: mpsc::Receiver<PortOrder>,
    pub stop: CancellationToken,
}

/// Why emptying has ended.
enum End {
    /// It shall not go on.
    Stopped(String),
    /// The port is away.
    Lost(String),
    /// Somebody else needs the port for a while.
    Lent { why: String, given_back: oneshot::Receiver<()>, reply: oneshot::Sender<io::Result<()>> },
}

/// What ended a wait.
enum PumpWake {
    Stopped,
    Silence,
    PortOrder(Option<PortOrder>),
    Read(io::Result<usize>),
}

impl Pump {
    /// Runs until the port is closed.
    pub async fn run(mut self, link: Link) {
        let mut link = link;
        let ledger = Arc::clone(&self.ledger);
        let mut findings = Findings::new(ledger, Arc::clone(&self.programs), self.log);
        let why = loop {
            let since = Instant::now();
            let (why, given_back) = match self.pump(&mut link, &mut findings).await {
                End::Stopped(why) => break why,
                End::Lent { why, given_back, reply } => {
                    drop(link);
                    // Whoever asked may be gone; then it is given back already.
                    let _ = reply.send(Ok(()));
                    (why, Some(given_back))
                }
                End::Lost(why) => {
                    drop(link);
                    (why, None)
                }
            };
            match self.regain(why, since.elapsed(), given_back).await {
                Some(found) => link = found,
                None => break "listening was stopped".to_owned(),
            }
        };
        // A log that cannot be told complete is found complete when the session ends.
        let _ = self.ledger.flush_log(self.log);
        let closed = PortEvent::Closed { log: self.log, why: why.clone() };
        let _ = self.ledger.record(Event::Port(closed));
        self.received.send_modify(|received| {
            received.closed = Some(why);
            received.away = None;
        });
    }

    async fn pump(&mut self, link: &mut Link, findings: &mut Findings) -> End {
        let mut buffer = vec![0; CHUNK_BYTES];
        let mut watch = Watch::starting_at(findings.lines());
        loop {
            let woken = tokio::select! {
                biased;
                () = self.stop.cancelled() => PumpWake::Stopped,
                order = self.orders.recv() => PumpWake::PortOrder(order),
                read = link.read(&mut buffer) => PumpWake::Read(read),
                () = tokio::time::sleep(SILENCE), if watch.is_open() => PumpWake::Silence,
            };
            let bytes = match woken {
                PumpWake::Stopped | PumpWake::PortOrder(None) => {
                    return End::Stopped("listening was stopped".to_owned());
                }
                PumpWake::Silence => {
                    findings.tell(watch.finish());
                    continue;
                }
                PumpWake::PortOrder(Some(PortOrder { task, reply })) => {
                    if let Task::Lend { why, given_back } = task {
                        findings.tell(watch.finish());
                        return End::Lent { why, given_back, reply };
                    }
                    // Whoever asked may be gone.
                    let _ = reply.send(self.perform(task, link).await);
                    continue;
                }
                PumpWake::Read(Ok(0)) => return End::Lost("the port hung up".to_owned()),
                PumpWake::Read(Ok(count)) => buffer.get(..count).unwrap_or_default(),
                PumpWake::Read(Err(error)) => {
                    findings.tell(watch.finish());
                    return End::Lost(gone(&error));
                }
            };
            // What the disk does not take is missing from the log; whoever listens has it still.
            let lost = self.ledger.append_log(self.log, bytes).err().map(|error| error.why);
            let end = lock(&self.tail).push(bytes);
            self.received.send_modify(|received| {
                received.bytes = end;
                received.lost = lost;
            });
            findings.tell(watch.push(bytes, Instant::now()));
            findings.set_lines(watch.lines());
        }
    }

    async fn perform(&mut self, task: Task, link: &mut Link) -> io::Result<()> {
        match task {
            Task::Write(bytes) => link.write(&bytes).await,
            Task::Baud(baud) => {
                link.set_baud(baud).await?;
                self.baud = baud;
                Ok(())
            }
            Task::Pulse(steps) => {
                for step in steps {
                    link.set_lines(step.lines).await?;
                    tokio::time::sleep(step.wait).await;
                }
                Ok(())
            }
            // Taken where the link can be let go of.
            Task::Lend { .. } => Ok(()),
        }
    }

    /// Looks for the port until it is back; `None` when it shall not be looked for any more. A lent
    /// port is looked for once it is given back.
    async fn regain(
        &mut self,
        why: String,
        lived: Duration,
        lent: Option<oneshot::Receiver<()>>,
    ) -> Option<Link> {
        let since = Instant::now();
        // Somebody looking at the log must see all of it up to here.
        let _ = self.ledger.flush_log(self.log);
        let _ = self.ledger.record(changed(self.log, PortChange::Lost { why: why.clone() }));
        self.received.send_modify(|received| {
            received.away = Some(why);
            received.losses += 1;
        });
        let mut wait = if lived < TOO_SHORT { TOO_SHORT } else { Duration::ZERO };
        let was_lent = lent.is_some();
        if let Some(mut given_back) = lent {
            wait = Duration::ZERO;
            loop {
                tokio::select! {
                    biased;
                    () = self.stop.cancelled() => return None,
                    order = self.orders.recv() => {
                        let error = io::Error::new(io::ErrorKind::NotConnected, "it is in use by another step");
                        let _ = order?.reply.send(Err(error));
                    }
                    _ = &mut given_back => break,
                }
            }
        }
        loop {
            tokio::select! {
                biased;
                () = self.stop.cancelled() => return None,
                order = self.orders.recv() => {
                    let error = io::Error::new(io::ErrorKind::NotConnected, "it is disconnected");
                    // Whoever asked may be gone.
                    let _ = order?.reply.send(Err(error));
                    continue;
                }
                () = tokio::time::sleep(wait) => {}
            }
            if let Some(link) = self.look(was_lent).await {
                let millis = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
                let _ = self.ledger.record(changed(self.log, PortChange::Back { millis }));
                self.received.send_modify(|received| received.away = None);
                return Some(link);
            }
            let away = since.elapsed();
            let look = LOOKS.iter().find(|(until, _)| away < *until);
            wait = look.map_or(SILENCE, |(_, wait)| *wait);
        }
    }

    async fn look(&self, was_lent: bool) -> Option<Link> {
        if self.address.is_given_away() && !was_lent {
            return None;
        }
        if self.address.may_be_there() {
            return Link::open(&self.address, self.baud).await.ok();
        }
        // A board that restarts its own USB may come back under another name.
        let other = ports::find_again(self.usb.as_ref()?, &self.adapters)?;
        Link::open(&Address::Tty(other.into()), self.baud).await.ok()
    }
}

fn gone(error: &io::Error) -> String {
    match rustix::io::Errno::from_io_error(error) {
        // What a terminal says when the device is unplugged or the other end is closed.
        Some(rustix::io::Errno::IO | rustix::io::Errno::NODEV | rustix::io::Errno::NXIO) => {
            "the board was disconnected".to_owned()
        }
        _ => format!("the port cannot be read: {error}"),
    }
}
