//! One way to a board: a terminal device, or a socket.
//!
//! Owns opening, locking, reading, writing and the control lines. Must not interpret bytes.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags};
use serial2::SerialPort;
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::refusal::check_baud;
use super::reset::ControlLines;
use super::rfc2217::{self, Agreed, Decoder};
use crate::model::UserError;

/// How long a connection over the network may take.
const CONNECT_TIME: Duration = Duration::from_secs(3);

/// How long a write may take before the port counts as stuck.
const WRITE_TIME: Duration = Duration::from_secs(2);

/// Where a port is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A terminal device, real or pseudo.
    Tty(PathBuf),
    /// Bytes over TCP, `host:port`.
    Tcp(String),
    /// RFC 2217, `host:port`.
    Rfc2217(String),
}

impl Address {
    /// Reads `/dev/ttyUSB0`, `tcp://host:port` or `rfc2217://host:port`.
    ///
    /// # Errors
    /// When a network address names no port or another protocol.
    pub fn parse(port: &str) -> Result<Self, UserError> {
        let Some((scheme, place)) = port.split_once("://") else {
            return Ok(Self::Tty(PathBuf::from(port)));
        };
        let refused = |why: String| {
            let fix = "Write e.g. `/dev/ttyUSB0`, `rfc2217://host:4000` or `tcp://host:4000`.";
            UserError::new(format!("`{port}` is not a serial port"), why, fix)
        };
        // What follows the address are settings of other programs.
        let place = place.split(['?', '/']).next().unwrap_or(place);
        let number = place.rsplit_once(':').and_then(|(host, number)| {
            number.parse::<u16>().ok().filter(|number| *number > 0 && !host.is_empty())
        });
        if number.is_none() {
            return Err(refused("it does not end with the number of a port".to_owned()));
        }
        match scheme {
            "tcp" | "socket" => Ok(Self::Tcp(place.to_owned())),
            "rfc2217" | "telnet" => Ok(Self::Rfc2217(place.to_owned())),
            other => Err(refused(format!("`{other}` is not a protocol it can be reached by"))),
        }
    }

    /// Whether it may be there: a device that is not has no file.
    #[must_use]
    pub fn may_be_there(&self) -> bool {
        match self {
            Self::Tty(path) => path.exists(),
            Self::Tcp(_) | Self::Rfc2217(_) => true,
        }
    }

    /// Whether another device may get this very name once the first is gone: the number of a
    /// pseudo-terminal goes to the next one, and what comes from that is somebody else's.
    #[must_use]
    pub fn is_given_away(&self) -> bool {
        matches!(self, Self::Tty(path) if path.starts_with("/dev/pts"))
    }
}

/// An open way to a board.
#[derive(Debug)]
pub enum Link {
    /// A terminal device.
    Tty(AsyncFd<SerialPort>),
    Tcp(TcpStream),
    /// With control of the port behind it.
    Rfc2217(Box<Telnet>),
}

/// A connection by RFC 2217.
#[derive(Debug)]
pub struct Telnet {
    stream: TcpStream,
    decoder: Decoder,
    baud: u32,
    /// Data that was read and did not fit.
    ready: Vec<u8>,
    has_settings: bool,
}

impl Link {
    /// Opens a port with 8 data bits, no parity and one stop bit, for itself alone.
    ///
    /// # Errors
    /// As the system says; a port that another program has is `ResourceBusy`, a rate that no port
    /// has `InvalidInput`.
    pub async fn open(address: &Address, baud: u32) -> io::Result<Self> {
        check_baud(baud)?;
        match address {
            Address::Tty(path) => open_tty(path, baud),
            Address::Tcp(place) => Ok(Self::Tcp(connect(place).await?)),
            Address::Rfc2217(place) => {
                let mut stream = connect(place).await?;
                stream.write_all(&rfc2217::greeting()).await?;
                let (decoder, ready) = (Decoder::default(), Vec::new());
                let telnet = Telnet { stream, decoder, baud, ready, has_settings: false };
                Ok(Self::Rfc2217(Box::new(telnet)))
            }
        }
    }

    /// Reads some bytes; 0 when there will be no more. Cancelling loses nothing.
    ///
    /// # Errors
    /// As the system says.
    pub async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tty(port) => loop {
                let mut ready = port.readable().await?;
                let read = |port: &AsyncFd<SerialPort>| {
                    rustix::io::read(port.get_ref(), &mut *buffer).map_err(io::Error::from)
                };
                match ready.try_io(read) {
                    Ok(result) => return result,
                    Err(_would_block) => {}
                }
            },
            Self::Tcp(stream) => stream.read(buffer).await,
            Self::Rfc2217(telnet) => telnet.read(buffer).await,
        }
    }

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// As the system says; `TimedOut` when nothing is taken for two seconds.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let write = async {
            match self {
                Self::Tty(port) => write_tty(port, bytes).await,
                Self::Tcp(stream) => stream.write_all(bytes).await,
                Self::Rfc2217(telnet) => telnet.stream.write_all(&rfc2217::escape(bytes)).await,
            }
        };
        tokio::time::timeout(WRITE_TIME, write)
            .await
            .unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut)))
    }

    /// Changes the baud rate; what was received stays.
    ///
    /// # Errors
    /// As the system says; `Unsupported` where there is no such thing, `InvalidInput` for a rate
    /// that no port has.
    pub async fn set_baud(&mut self, baud: u32) -> io::Result<()> {
        check_baud(baud)?;
        match self {
            Self::Tty(port) => {
                let mut settings = port.get_ref().get_configuration()?;
                settings.set_baud_rate(baud)?;
                port.get_mut().set_configuration(&settings)
            }
            Self::Tcp(_) => Err(unsupported("a plain TCP connection has no baud rate")),
            Self::Rfc2217(telnet) => {
                telnet.baud = baud;
                telnet.control(&rfc2217::set_baud(baud)).await
            }
        }
    }

    /// Sets DTR and RTS.
    ///
    /// # Errors
    /// As the system says; `Unsupported` where there are no lines.
    pub async fn set_lines(&mut self, lines: ControlLines) -> io::Result<()> {
        match self {
            Self::Tty(port) => {
                let port = port.get_ref();
                // A pseudo-terminal has no lines and says so in a way of its own.
                let reported = |error: io::Error| match error.raw_os_error() {
                    Some(22 | 25) => unsupported("this port has no DTR and RTS lines"),
                    _ => error,
                };
                port.set_dtr(lines.dtr).map_err(reported)?;
                port.set_rts(lines.rts).map_err(reported)
            }
            Self::Tcp(_) => Err(unsupported("a plain TCP connection has no DTR and RTS lines")),
            Self::Rfc2217(telnet) => telnet.control(&rfc2217::set_lines(lines)).await,
        }
    }
}

impl Telnet {
    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.ready.is_empty() {
                let count = self.ready.len().min(buffer.len());
                if let (Some(to), Some(from)) = (buffer.get_mut(..count), self.ready.get(..count)) {
                    to.copy_from_slice(from);
                }
                self.ready.drain(..count);
                return Ok(count);
            }
            // Cancelled here nothing is lost: what was read is in `ready` before the next wait.
            let count = self.stream.read(buffer).await?;
            if count == 0 {
                return Ok(0);
            }
            let mut replies = Vec::new();
            let bytes = buffer.get(..count).unwrap_or_default();
            self.decoder.push(bytes, &mut self.ready, &mut replies);
            if self.decoder.agreed() == Agreed::Yes && !self.has_settings {
                self.has_settings = true;
                replies.extend(rfc2217::settings(self.baud));
            }
            if !replies.is_empty() {
                // A few bytes always fit; if they do not, the connection is as good as gone.
                self.stream.try_write(&replies)?;
            }
        }
    }

    async fn control(&mut self, command: &[u8]) -> io::Result<()> {
        if self.decoder.agreed() == Agreed::No {
            return Err(unsupported("the other side does not support RFC 2217"));
        }
        self.stream.write_all(command).await
    }
}

async fn connect(place: &str) -> io::Result<TcpStream> {
    let stream = tokio::time::timeout(CONNECT_TIME, TcpStream::connect(place))
        .await
        .unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut)))?;
    // A key that was pressed goes at once.
    stream.set_nodelay(true)?;
    Ok(stream)
}

impl Drop for Link {
    /// Gives the lock back at once: a process that is being started holds a copy of the port for a
    /// moment, and with it the lock.
    fn drop(&mut self) {
        if let Self::Tty(port) = self {
            let _ = rustix::fs::flock(port.get_ref(), FlockOperation::Unlock);
        }
    }
}

fn open_tty(path: &Path, baud: u32) -> io::Result<Link> {
    let port = SerialPort::open(path, baud)?;
    // Other programs that lock ports respect this one, and the lock ends with the file.
    rustix::fs::flock(&port, FlockOperation::NonBlockingLockExclusive)
        .map_err(|_| io::Error::from(io::ErrorKind::ResourceBusy))?;
    if !path.starts_with("/dev/pts") {
        // Where it is not known the lock has to do.
        let _ = rustix::termios::ioctl_tiocexcl(&port);
    }
    #[expect(
        deprecated,
        reason = "the port owns its descriptor; the other constructor is `unsafe`"
    )]
    let port = AsyncFd::new(port)?;
    Ok(Link::Tty(port))
}

/// Tells whether a device is there, may be opened and is nobody else's, by opening it for a moment. A
/// process that is being started holds a copy of a port that was just closed, and with it the lock;
/// so a port that is taken is asked about for 200 ms.
///
/// # Errors
/// As the system says; a port that another program has is `ResourceBusy`.
#[expect(clippy::disallowed_methods, reason = "nothing tells when a lock of another process ends")]
pub fn is_free(path: &Path) -> io::Result<()> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let port = rustix::fs::open(path, flags, Mode::empty())?;
    let lock = || rustix::fs::flock(&port, FlockOperation::NonBlockingLockExclusive);
    let mut tries = 20;
    while lock().is_err() {
        if tries == 0 {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        tries -= 1;
        std::thread::sleep(Duration::from_millis(10));
    }
    // A process that was started meanwhile may share the lock until it runs its program.
    rustix::fs::flock(&port, FlockOperation::Unlock).map_err(io::Error::from)
}

/// Which device a port's name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    inode: (u64, u64),
    made: (i64, i64),
}

/// The device that has the name now; another one may get it once the first is gone, as happens at
/// once with pseudo-terminals. `None`: there is none, or the port is not of this machine.
#[must_use]
pub fn identity(port: &str) -> Option<Identity> {
    let found = std::fs::metadata(port).ok()?;
    let (inode, made) = ((found.dev(), found.ino()), (found.ctime(), found.ctime_nsec()));
    Some(Identity { inode, made })
}

async fn write_tty(port: &AsyncFd<SerialPort>, bytes: &[u8]) -> io::Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let mut ready = port.writable().await?;
        let write = |port: &AsyncFd<SerialPort>| {
            rustix::io::write(port.get_ref(), rest).map_err(io::Error::from)
        };
        if let Ok(written) = ready.try_io(write) {
            rest = rest.get(written?..).unwrap_or_default();
        }
    }
    Ok(())
}

fn unsupported(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_ends_soon_is_waited_for() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let held = std::fs::File::open(file.path()).unwrap();
        rustix::fs::flock(&held, FlockOperation::LockExclusive).unwrap();
        let error = is_free(file.path()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ResourceBusy);
        let other = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            drop(held);
        });
        is_free(file.path()).unwrap();
        other.join().unwrap();
    }

    #[test]
    fn addresses_are_read_and_nonsense_is_refused() {
        let tty = Address::Tty(PathBuf::from("/dev/ttyUSB0"));
        assert_eq!(Address::parse("/dev/ttyUSB0").unwrap(), tty);
        let lab = Address::Rfc2217("lab:4000".to_owned());
        assert_eq!(Address::parse("rfc2217://lab:4000?ign_set_control").unwrap(), lab);
        assert_eq!(Address::parse("tcp://[::1]:23").unwrap(), Address::Tcp("[::1]:23".to_owned()));
        for port in ["rfc2217://lab", "tcp://:1", "http://lab:80", "tcp://lab:99999"] {
            let error = Address::parse(port).unwrap_err();
            assert!(error.what.contains(port) && error.fix.contains("rfc2217://"), "{error:?}");
        }
    }
}
