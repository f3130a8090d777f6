//! Tests of the hub on pseudo-terminals.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::super::tail::TAIL_BYTES;
use super::*;
use crate::device::Pty;
use crate::model::PortEvent;
use crate::model::{BlobRef, PanicKind, Seq};

#[derive(Default)]
struct CapturedSerial {
    /// Whether the disk takes no output.
    is_full: std::sync::atomic::AtomicBool,
    events: Mutex<Vec<Event>>,
    logs: Mutex<BTreeMap<LogId, Vec<u8>>>,
}

impl Ledger for CapturedSerial {
    fn record(&self, event: Event) -> Result<Seq, UserError> {
        lock(&self.events).push(event);
        Ok(Seq(1))
    }

    fn store(&self, _: &[u8]) -> Result<BlobRef, UserError> {
        Err(UserError::new("Cannot store", "a port stores nothing", ""))
    }

    fn append_log(&self, log: LogId, bytes: &[u8]) -> Result<(), UserError> {
        if self.is_full.load(std::sync::atomic::Ordering::Relaxed) {
            return Err(UserError::new("cannot write a log", "no space left", ""));
        }
        lock(&self.logs).entry(log).or_default().extend_from_slice(bytes);
        Ok(())
    }

    fn flush_log(&self, _: LogId) -> Result<(), UserError> {
        Ok(())
    }
}

/// A pseudo-terminal: the board's end and the path of the other one.
fn board() -> (std::fs::File, String) {
    let Pty { board, port, .. } = Pty::open().unwrap();
    (board, port)
}

async fn wait(listener: &Listener, bytes: u64) {
    until(listener, |received| received.bytes >= bytes).await;
}

/// What does not come fails instead of waiting for ever.
async fn until(listener: &Listener, is_so: impl Fn(&Received) -> bool) {
    let mut received = listener.subscribe();
    let so = tokio::time::timeout(Duration::from_secs(60), received.wait_for(|now| is_so(now)));
    assert!(so.await.is_ok(), "{:?}", listener.subscribe().borrow());
}

const LOG: LogId = LogId { kind: LogKind::Serial, number: 3 };

#[tokio::test]
async fn everything_a_board_prints_reaches_the_log() {
    let kept = Arc::new(CapturedSerial::default());
    let hub = SerialHub::new(kept.clone());
    let (mut board, port) = board();
    let listener = hub.open(&port, DEFAULT_BAUD, 3).await.unwrap();
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
    until(&listener, |received| received.away.is_some()).await;
    hub.close(&port).await;
    let opened = Event::Port(PortEvent::Opened { port, log: LOG, baud: DEFAULT_BAUD });
    let closed =
        Event::Port(PortEvent::Closed { log: LOG, why: "listening was stopped".to_owned() });
    let events = lock(&kept.events);
    let [first, Event::Port(PortEvent::Changed { event: PortChange::Lost { why }, .. }), last] =
        events.as_slice()
    else {
        panic!("{events:?}")
    };
    assert!(why.contains("disconnected") || why.contains("hung up"), "{why}");
    assert_eq!((first, last), (&opened, &closed));
}

#[tokio::test]
async fn a_full_disk_is_told_and_the_port_stays_open() {
    let kept = Arc::new(CapturedSerial::default());
    let hub = SerialHub::new(kept.clone());
    let (mut board, port) = board();
    let listener = hub.open(&port, DEFAULT_BAUD, 3).await.unwrap();
    kept.is_full.store(true, std::sync::atomic::Ordering::Relaxed);
    board.write_all(b"heard all the same\n").unwrap();
    until(&listener, |received| received.lost.as_deref() == Some("no space left")).await;
    assert_eq!(listener.since(0).1, b"heard all the same\n");
    kept.is_full.store(false, std::sync::atomic::Ordering::Relaxed);
    board.write_all(b"and kept again\n").unwrap();
    until(&listener, |received| received.lost.is_none() && received.bytes == 34).await;
    assert_eq!(
        (lock(&kept.logs)[&LOG].as_slice(), listener.closed()),
        (&b"and kept again\n"[..], None)
    );
}

#[tokio::test]
async fn an_open_port_keeps_its_log_and_a_dead_one_gets_another() {
    let kept = Arc::new(CapturedSerial::default());
    let hub = SerialHub::new(kept.clone());
    let (mut first, port) = board();
    let listener = hub.open(&port, DEFAULT_BAUD, 3).await.unwrap();
    assert_eq!(hub.open(&port, DEFAULT_BAUD, 4).await.unwrap().log, LOG);
    first.write_all(b"abc").unwrap();
    wait(&listener, 3).await;
    listener.set_reported(2);
    assert_eq!(hub.get(&port).unwrap().since(listener.reported()), (2, b"c".to_vec()));
    hub.close(&port).await;
    assert_eq!(listener.closed().as_deref(), Some("listening was stopped"));
    assert_eq!(hub.open(&port, DEFAULT_BAUD, 5).await.unwrap().log.number, 5);
}

#[tokio::test]
async fn a_missing_port_is_told_with_a_way_out() {
    let hub = SerialHub::new(Arc::new(CapturedSerial::default()));
    let error = hub.open("/dev/no-such-port", DEFAULT_BAUD, 1).await.unwrap_err();
    assert!(error.what.contains("/dev/no-such-port") && !error.fix.is_empty(), "{error:?}");
}

#[tokio::test]
async fn what_another_terminal_of_the_same_name_says_is_not_heard() {
    let hub = SerialHub::new(Arc::new(CapturedSerial::default()));
    let (first, port) = board();
    let listener = hub.open(&port, DEFAULT_BAUD, 3).await.unwrap();
    drop(first);
    until(&listener, |received| received.away.is_some()).await;
    // The lowest free number is given first; others may be faster.
    for _ in 0..40 {
        let (mut other, path) = board();
        let _ = other.write_all(b"secret");
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert_eq!(listener.since(0).1, b"", "{path} was taken for {port}");
    }
    assert!(listener.subscribe().borrow().away.is_some());
}

/// A port whose path stays the same while the board behind it is unplugged and plugged in again.
struct Socket {
    folder: tempfile::TempDir,
    board: Option<std::fs::File>,
}

impl Socket {
    fn new() -> Self {
        let mut socket = Self { folder: tempfile::tempdir().unwrap(), board: None };
        socket.plug();
        socket
    }

    fn port(&self) -> String {
        self.folder.path().join("board").display().to_string()
    }

    fn plug(&mut self) {
        let (board, path) = board();
        self.board = Some(board);
        std::os::unix::fs::symlink(path, self.port()).unwrap();
    }

    /// What is still in the kernel stays readable until it is read.
    fn unplug(&mut self) {
        std::fs::remove_file(self.port()).unwrap();
        self.board = None;
    }

    fn prints(&mut self, text: &str) {
        self.board.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unplugged_board_is_found_again_and_nothing_is_lost() {
    let kept = Arc::new(CapturedSerial::default());
    let hub = SerialHub::new(kept.clone());
    let mut socket = Socket::new();
    let listener = hub.open(&socket.port(), DEFAULT_BAUD, 3).await.unwrap();
    let mut times = Vec::new();
    let mut printed = String::new();
    for round in 0..10 {
        let text = format!("I ({round}) app: before\n");
        socket.prints(&text);
        printed += &text;
        // The kernel itself drops what nobody has read when a terminal hangs up.
        wait(&listener, printed.len() as u64).await;
        socket.unplug();
        until(&listener, |now| now.away.is_some()).await;
        socket.plug();
        let text = format!("I ({round}) app: after\n");
        socket.prints(&text);
        printed += &text;
        let since = Instant::now();
        wait(&listener, printed.len() as u64).await;
        times.push(since.elapsed());
    }
    assert_eq!(String::from_utf8_lossy(&lock(&kept.logs)[&LOG]), printed);
    assert_eq!(listener.subscribe().borrow().losses, 10);
    times.sort();
    assert!(times[times.len() / 2] < Duration::from_millis(500), "{times:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_sends_and_what_was_sent_is_recorded_first() {
    let kept = Arc::new(CapturedSerial::default());
    let hub = SerialHub::new(kept.clone());
    let (mut board, port) = board();
    let nobody = hub.transmit(&port, "x", None).await.unwrap_err();
    assert!(nobody.what.contains("is not open"), "{nobody:?}");
    hub.open(&port, DEFAULT_BAUD, 3).await.unwrap();
    hub.transmit(&port, "help\n", None).await.unwrap();
    let mut got = [0; 5];
    board.read_exact(&mut got).unwrap();
    assert_eq!(&got, b"help\n");
    let sent = PortChange::Sent { text: "help\n".to_owned(), by: None };
    assert!(
        lock(&kept.events).contains(&Event::Port(PortEvent::Changed { log: LOG, event: sent }))
    );
    hub.steer(&port, SerialControl::Baud(921_600)).await.unwrap();
    let error = hub.steer(&port, SerialControl::Reset).await.unwrap_err();
    assert!(error.why.contains("no DTR and RTS"), "{error:?}");
}

#[tokio::test]
async fn a_port_that_another_program_has_is_refused() {
    let (_board, port) = board();
    let other = serial2::SerialPort::open(&port, DEFAULT_BAUD).unwrap();
    rustix::fs::flock(&other, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let hub = SerialHub::new(Arc::new(CapturedSerial::default()));
    let error = hub.open(&port, DEFAULT_BAUD, 1).await.unwrap_err();
    assert!(error.why.contains("has it open") && error.fix.contains("End that"), "{error:?}");
    drop(other);
    hub.open(&port, DEFAULT_BAUD, 1).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_is_recorded_as_one() {
    let kept = Arc::new(CapturedSerial::default());
    let fixture =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/panic/crash-rv32.elf");
    let programs = Programs::named(Some(&fixture), None);
    let hub = SerialHub::new(kept.clone()).knowing(Adapters::default(), programs);
    let (mut board, port) = board();
    hub.open(&port, DEFAULT_BAUD, 3).await.unwrap();
    board.write_all(b"I (1) app: hello\n").unwrap();
    board.write_all(include_bytes!("../../tests/panic/crash-rv32.txt")).unwrap();
    let report = tokio::time::timeout(Duration::from_secs(10), async {
        loop {
            let found = lock(&kept.events).iter().find_map(|event| match event {
                Event::Port(PortEvent::Changed {
                    event: PortChange::Panicked { line, report, .. },
                    ..
                }) => Some((*line, report.clone())),
                _ => None,
            });
            match found {
                Some(found) => return found,
                None => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    });
    let (line, report) = report.await.unwrap();
    assert_eq!((line, report.kind), (1, PanicKind::Exception));
    assert_eq!(report.frames().nth(1).unwrap().function.as_deref(), Some("read_sensor"));
}

/// A server as RFC 2217 describes it, as far as it has to be: agrees, and keeps what it was told.
async fn serve(listener: TcpListener, message: Arc<Mutex<Vec<u8>>>) {
    let (mut stream, _) = listener.accept().await.unwrap();
    stream.write_all(&[255, 253, 44, b'h', b'i', 255, 255, b'\n']).await.unwrap();
    let mut buffer = [0; 512];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        lock(&message).extend_from_slice(&buffer[..count]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_board_in_a_lab_is_reset_over_the_network() {
    let kept = Arc::new(CapturedSerial::default());
    let hub = SerialHub::new(kept.clone());
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = format!("rfc2217://{}", server.local_addr().unwrap());
    let message = Arc::new(Mutex::new(Vec::new()));
    let serving = tokio::spawn(serve(server, Arc::clone(&message)));
    let listener = hub.open(&port, 74_880, 3).await.unwrap();
    wait(&listener, 4).await;
    assert_eq!(lock(&kept.logs)[&LOG], b"hi\xff\n");
    hub.steer(&port, SerialControl::BootLoader).await.unwrap();
    hub.transmit(&port, "a\n", None).await.unwrap();
    hub.close(&port).await;
    serving.await.unwrap();
    let message = lock(&message).clone();
    let holds = |bytes: &[u8]| memchr::memmem::find(&message, bytes);
    assert!(holds(&[255, 250, 44, 1, 0, 1, 0x24, 0x80, 255, 240]).is_some(), "baud: {message:?}");
    let dtr = holds(&[44, 5, 8]).unwrap();
    let released = memchr::memmem::rfind(&message, &[44, 5, 12]).unwrap();
    assert!(dtr < released, "EN rises after IO0 was pulled low");
    assert!(message.ends_with(b"a\n"));
}

#[tokio::test]
async fn nobody_at_an_address_is_told() {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = format!("tcp://{}", server.local_addr().unwrap());
    drop(server);
    let hub = SerialHub::new(Arc::new(CapturedSerial::default()));
    let error = hub.open(&port, DEFAULT_BAUD, 1).await.unwrap_err();
    assert_eq!(error.why, "no server answers at that address");
}

#[tokio::test]
async fn a_lent_port_is_free_until_it_is_given_back() {
    let kept = Arc::new(CapturedSerial::default());
    let hub = SerialHub::new(kept.clone());
    let (mut board, port) = board();
    let listener = hub.open(&port, DEFAULT_BAUD, 3).await.unwrap();
    let path = std::path::Path::new(&port);
    let busy = super::super::is_free(path).unwrap_err();
    assert_eq!(busy.kind(), std::io::ErrorKind::ResourceBusy);
    let loan = hub.lend(&port, "it is being flashed").await.unwrap();
    super::super::is_free(path).unwrap();
    let error = hub.transmit(&port, "x", None).await.unwrap_err();
    assert!(error.why.contains("in use"), "{error:?}");
    assert_eq!(listener.subscribe().borrow().away.as_deref(), Some("it is being flashed"));
    drop(loan);
    until(&listener, |received| received.away.is_none()).await;
    board.write_all(b"back").unwrap();
    wait(&listener, 4).await;
    assert_eq!(lock(&kept.logs)[&LOG], b"back");
    assert!(hub.lend("/dev/no-such-port", "why").await.is_none());
    // A port that is closed while it is in use by another step is not taken again.
    let loan = hub.lend(&port, "it is being flashed").await.unwrap();
    hub.close(&port).await;
    drop(loan);
    super::super::is_free(path).unwrap();
}
