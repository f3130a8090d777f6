//! A pseudo-terminal in a port's place.

use std::fs::File;
use std::io;

use rustix::fs::{Mode, OFlags};
use rustix::pty::OpenptFlags;
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

/// Both ends of one, in raw mode: what one end writes, the other receives byte for byte.
#[derive(Debug)]
pub struct Pty {
    /// The board's end.
    pub board: File,
    /// Where who listens opens the other end, e.g. `/dev/pts/7`.
    pub port: String,
    /// The other end, held open: the kernel keeps the mode, and what the board prints while nobody
    /// listens. When its buffer is full the board waits, as with hardware flow control.
    pub held: File,
}

impl Pty {
    /// Makes one.
    ///
    /// # Errors
    /// As the system says, e.g. when there is no pseudo-terminal left.
    pub fn open() -> io::Result<Self> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        // Others cannot ask for it at once; there a program that is started while it is made has
        // the board's end too, and leaves it alone.
        #[cfg(any(target_os = "linux", target_os = "freebsd"))]
        let flags = flags | OpenptFlags::CLOEXEC;
        let board = rustix::pty::openpt(flags)?;
        rustix::pty::grantpt(&board)?;
        rustix::pty::unlockpt(&board)?;
        let port = rustix::pty::ptsname(&board, Vec::new())?.to_string_lossy().into_owned();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let held = rustix::fs::open(&port, flags, Mode::empty())?;
        let mut mode = tcgetattr(&held)?;
        mode.make_raw();
        tcsetattr(&held, OptionalActions::Now, &mode)?;
        Ok(Self { board: File::from(board), port, held: File::from(held) })
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn every_byte_arrives_as_it_was_sent_whoever_listens() {
        let Pty { mut board, port, held } = Pty::open().unwrap();
        let all: Vec<u8> = (0..=255).collect();
        board.write_all(&all).unwrap();
        let reader_end =
            rustix::fs::open(&port, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        let mut reader_end = File::from(reader_end);
        let mut received = [0; 256];
        reader_end.read_exact(&mut received).unwrap();
        assert_eq!(received.as_slice(), all);
        reader_end.write_all(&all).unwrap();
        board.read_exact(&mut received).unwrap();
        assert_eq!(received.as_slice(), all);
        drop((reader_end, board));
        let error = (&held).read(&mut received);
        assert!(matches!(error, Ok(0) | Err(_)), "the board's end is gone");
    }
}
