//! Tests of the hub on pseudo-terminals.

use std::io::Write;
use std::os::fd::OwnedFd;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::*;
use crate::model::{BlobRef, Seq};

#[derive(Default)]
struct Kept {
    events: Mutex<Vec<Event>>,
    logs: Mutex<BTreeMap<LogId, Vec<u8>>>,
}

impl Ledger for Kept {
    fn record(&self, event: Event) -> Result<Seq, UserError> {
        lock(&self.events).push(event);
        Ok(Seq(1))
    }

    fn store(&self, _: &[u8]) -> Result<BlobRef, UserError> {
        Err(UserError::new("Cannot store", "a port stores nothing", ""))
    }

    fn append_log(&self, log: LogId, bytes: &[u8]) -> Result<(), UserError> {
        lock(&self.logs).entry(log).or_default().extend_from_slice(bytes);
        Ok(())
    }

    fn flush_log(&self, _: LogId) -> Result<(), UserError> {
        Ok(())
    }
}

/// A pseudo-terminal: the board's end and the path of the other one.
fn board() -> (std::fs::File, String) {
    let master: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let path = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    (std::fs::File::from(master), path)
}

async fn wait(listener: &Listener, bytes: u64) {
    listener.subscribe().wait_for(|received| received.bytes >= bytes).await.unwrap();
}

const LOG: LogId = LogId { kind: LogKind::Serial, number: 3 };

#[tokio::test]
async fn everything_a_board_prints_reaches_the_log() {
    let kept = Arc::new(Kept::default());
    let hub = SerialHub::new(kept.clone());
    let (mut board, port) = board();
    let listener = hub.open(&port, DEFAULT_BAUD, 3).unwrap();
    let line = b"I (1) app: 0123456789\r\n";
    let writer = tokio::task::spawn_blocking(move || {
        for _ in 0..80_000 {
            board.write_all(line).unwrap();
        }
        board
    });
    wait(&listener, 80_000 * line.len() as u64).await;
    drop(writer.await.unwrap());
    assert_eq!(lock(&kept.logs)[&LOG], line.repeat(80_000));
    let (start, tail) = listener.since(0);
    assert!(start > 0 && tail.len() >= TAIL_BYTES, "{start}");
    assert_eq!(start + tail.len() as u64, 80_000 * line.len() as u64);
    listener.subscribe().wait_for(|received| received.closed.is_some()).await.unwrap();
    let why = listener.closed().unwrap();
    assert!(why.contains("disconnected") || why.contains("hung up"), "{why}");
    let opened = Event::SerialOpened { port, log: LOG, baud: DEFAULT_BAUD };
    assert_eq!(*lock(&kept.events), [opened, Event::SerialClosed { log: LOG, why }]);
}

#[tokio::test]
async fn an_open_port_keeps_its_log_and_a_dead_one_gets_another() {
    let kept = Arc::new(Kept::default());
    let hub = SerialHub::new(kept.clone());
    let (mut first, port) = board();
    let listener = hub.open(&port, DEFAULT_BAUD, 3).unwrap();
    assert_eq!(hub.open(&port, DEFAULT_BAUD, 4).unwrap().log, LOG);
    first.write_all(b"abc").unwrap();
    wait(&listener, 3).await;
    listener.set_reported(2);
    assert_eq!(hub.get(&port).unwrap().since(listener.reported()), (2, b"c".to_vec()));
    hub.close(&port).await;
    assert_eq!(listener.closed().as_deref(), Some("listening was stopped"));
    assert_eq!(hub.open(&port, DEFAULT_BAUD, 5).unwrap().log.number, 5);
}

#[tokio::test]
async fn a_missing_port_is_told_with_a_way_out() {
    let hub = SerialHub::new(Arc::new(Kept::default()));
    let error = hub.open("/dev/no-such-port", DEFAULT_BAUD, 1).unwrap_err();
    assert!(error.what.contains("/dev/no-such-port") && !error.fix.is_empty(), "{error:?}");
}
