//! One program per session: an exclusive lock on the session's `lock` file.

#![expect(
    clippy::disallowed_methods,
    reason = "takes the session's lock file, and waits for it a moment"
)]

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::thread;
use std::time::Duration;

use super::dir::SessionDir;
use super::error::JournalError;

/// Held as long as this lives; the system releases it when the program ends, however it ends.
#[derive(Debug)]
pub(super) struct SessionLock {
    _file: File,
}

/// Somebody who only looks whether the lock is held has it for an instant.
const TRIES: u32 = 5;

impl SessionLock {
    pub fn acquire(dir: &SessionDir) -> Result<Self, JournalError> {
        let path = dir.lock_file();
        let failed = || JournalError::io("lock the session", dir.lock_file());
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed())?;
        for attempt in 1.. {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if attempt < TRIES => {
                    thread::sleep(Duration::from_millis(10));
                }
                Err(TryLockError::WouldBlock) => {
                    let holder = read_pid(&mut file);
                    return Err(JournalError::Locked { session: dir.id().clone(), holder });
                }
                Err(TryLockError::Error(error)) => return Err(failed()(error)),
            }
        }
        // The process id only helps the person; the lock holds without it, even on a full disk.
        let _ = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| write!(file, "{}", std::process::id()));
        Ok(Self { _file: file })
    }
}

/// Whether a program runs the session now, and which, if its id can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    Nobody,
    Process(Option<u32>),
}

pub(super) fn holder(dir: &SessionDir) -> Holder {
    let Ok(mut file) = File::open(dir.lock_file()) else { return Holder::Nobody };
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Holder::Process(read_pid(&mut file)),
        Ok(()) | Err(TryLockError::Error(_)) => Holder::Nobody,
    }
}

fn read_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(20).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
