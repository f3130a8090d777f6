//! Boards behind ser2net, as in a lab: RFC 2217 and raw TCP, to a pseudo-terminal in the board's
//! place. Runs where ser2net is installed; elsewhere these tests say that they did nothing.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use firmhand::device::{DEFAULT_BAUD, Listener, Pty, Received, SerialHub};
use firmhand::model::{BlobRef, Event, Ledger, LogId, Seq, SerialControl, UserError};

/// What does not come within this fails.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Default)]
struct Kept(Mutex<Vec<u8>>);

impl Ledger for Kept {
    fn record(&self, _: Event) -> Result<Seq, UserError> {
        Ok(Seq(1))
    }

    fn store(&self, _: &[u8]) -> Result<BlobRef, UserError> {
        Err(UserError::new("Cannot store", "a port stores nothing", ""))
    }

    fn append_log(&self, _: LogId, bytes: &[u8]) -> Result<(), UserError> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(())
    }

    fn flush_log(&self, _: LogId) -> Result<(), UserError> {
        Ok(())
    }
}

fn ser2net() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    let found = folders.map(|folder| folder.join("ser2net")).find(|path| path.is_file());
    if found.is_none() {
        eprintln!("not run: ser2net is not installed (`apt install ser2net`)");
    }
    found
}

/// A server before a board.
struct Lab {
    program: PathBuf,
    folder: tempfile::TempDir,
    server: Option<Child>,
    board: Pty,
    rfc2217: u16,
    raw: u16,
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Lab {
    fn new(program: PathBuf) -> Self {
        let board = Pty::open().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (rfc2217, raw) = (free_port(), free_port());
        let serial = format!("serialdev,{},115200n81,local", board.port);
        let config = format!(
            "connection: &a\n  accepter: telnet(rfc2217),tcp,127.0.0.1,{rfc2217}\n  \
             connector: {serial}\n  options:\n    max-connections: 1\n\
             connection: &b\n  accepter: tcp,127.0.0.1,{raw}\n  connector: {serial}\n"
        );
        std::fs::write(folder.path().join("ser2net.yaml"), config).unwrap();
        let mut lab = Self { program, folder, server: None, board, rfc2217, raw };
        lab.start();
        lab
    }

    fn start(&mut self) {
        let config = self.folder.path().join("ser2net.yaml");
        let server = Command::new(&self.program)
            // In the foreground, and without lock files, which belong to the system.
            .args([Path::new("-n"), Path::new("-u"), Path::new("-c"), &config])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        self.server = Some(server);
        let since = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.raw)).is_err() {
            assert!(since.elapsed() < PATIENCE, "ser2net does not answer");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn stop(&mut self) {
        let mut server = self.server.take().unwrap();
        server.kill().unwrap();
        server.wait().unwrap();
    }

    fn says(&mut self, bytes: &[u8]) {
        self.board.board.write_all(bytes).unwrap();
    }

    fn hears(&mut self, bytes: &[u8]) {
        let mut got = vec![0; bytes.len()];
        self.board.board.read_exact(&mut got).unwrap();
        assert_eq!(got, bytes);
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        if self.server.is_some() {
            self.stop();
        }
    }
}

async fn until(listener: &Listener, is_so: impl Fn(&Received) -> bool) {
    let mut received = listener.subscribe();
    let so = tokio::time::timeout(PATIENCE, received.wait_for(|now| is_so(now)));
    assert!(so.await.is_ok(), "{:?}", listener.subscribe().borrow());
}

/// Every byte, the one that begins a command of the protocol twice.
fn every_byte() -> Vec<u8> {
    (0..=255).chain([255]).collect()
}

/// Says something again and again until it arrives: the server lets go of a connection, and of what
/// came meanwhile, in its own time.
async fn said(lab: &mut Lab, listener: &Listener, kept: &Kept) {
    let since = Instant::now();
    while kept.0.lock().unwrap().is_empty() {
        lab.says(b".");
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(since.elapsed() < PATIENCE, "{:?}", listener.subscribe().borrow());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_behind_a_server_is_as_good_as_one_at_a_cable() {
    let Some(program) = ser2net() else { return };
    for is_rfc2217 in [true, false] {
        let mut lab = Lab::new(program.clone());
        let kept = Arc::new(Kept::default());
        let hub = SerialHub::new(kept.clone());
        let port = match is_rfc2217 {
            true => format!("rfc2217://127.0.0.1:{}", lab.rfc2217),
            false => format!("tcp://127.0.0.1:{}", lab.raw),
        };
        let listener = hub.open(&port, DEFAULT_BAUD, 1).await.unwrap();
        said(&mut lab, &listener, &kept).await;
        let before = kept.0.lock().unwrap().len();
        lab.says(&every_byte());
        let arrived = |kept: &Kept| kept.0.lock().unwrap().ends_with(&every_byte());
        let since = Instant::now();
        while !arrived(&kept) {
            tokio::time::sleep(Duration::from_millis(10)).await;
            assert!(since.elapsed() < PATIENCE, "{:?}", &kept.0.lock().unwrap()[before..]);
        }
        hub.transmit(&port, "help \u{ff}\r\n", None).await.unwrap();
        lab.hears("help \u{ff}\r\n".as_bytes());
        let baud = hub.steer(&port, SerialControl::Baud(921_600)).await;
        match is_rfc2217 {
            true => baud.unwrap(),
            false => assert!(baud.unwrap_err().why.contains("no baud rate")),
        }
        hub.transmit(&port, "still\n", None).await.unwrap();
        lab.hears(b"still\n");

        lab.stop();
        until(&listener, |received| received.away.is_some()).await;
        let error = hub.transmit(&port, "x", None).await.unwrap_err();
        assert!(error.why.contains("disconnected"), "{error:?}");
        kept.0.lock().unwrap().clear();
        lab.start();
        until(&listener, |received| received.away.is_none()).await;
        said(&mut lab, &listener, &kept).await;
        hub.transmit(&port, "again\n", None).await.unwrap();
        lab.hears(b"again\n");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_not_there_is_told_with_a_way_out() {
    let hub = SerialHub::new(Arc::new(Kept::default()));
    for scheme in ["rfc2217", "tcp"] {
        let port = format!("{scheme}://127.0.0.1:{}", free_port());
        let error = hub.open(&port, DEFAULT_BAUD, 1).await.unwrap_err();
        assert!(
            error.why.contains("no server answers") && error.fix.contains("server"),
            "{error:?}"
        );
    }
}
