//! A board that is a pseudo-terminal.

use std::fs::{File, OpenOptions};
use std::io::Write;

use rustix::pty::OpenptFlags;
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

/// Prints what it is told; hears nothing.
pub struct Board {
    master: File,
    /// Kept open, so that the settings stay.
    _slave: File,
    port: String,
}

impl Board {
    pub fn new() -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = rustix::pty::openpt(flags).unwrap();
        rustix::pty::grantpt(&master).unwrap();
        rustix::pty::unlockpt(&master).unwrap();
        let port = rustix::pty::ptsname(&master, Vec::new()).unwrap();
        let port = port.to_string_lossy().into_owned();
        let slave = OpenOptions::new().read(true).write(true).open(&port).unwrap();
        let mut settings = tcgetattr(&slave).unwrap();
        settings.make_raw();
        tcsetattr(&slave, OptionalActions::Now, &settings).unwrap();
        Self { master: File::from(master), _slave: slave, port }
    }

    /// The port that it is at.
    pub fn port(&self) -> &str {
        &self.port
    }

    /// Prints all of it; waits while nobody reads.
    pub fn print(&self, bytes: &[u8]) {
        (&self.master).write_all(bytes).unwrap();
    }
}
