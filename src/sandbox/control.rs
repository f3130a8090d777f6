//! Messages between who starts a program and who builds the walls: a line of JSON each, over a
//! socket, and with it the ends that the program shall read from and write to.
//!
//! Owns the form of messages. Must not know what they are for.

use std::io::{self, IoSlice, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::walls::{Level, RunReport, WallFailure, Walls};

/// Longest message, in bytes.
const MAX_MESSAGE: usize = 1 << 20;

/// Descriptors that come with one message.
const MAX_ENDS: usize = 3;

/// What is to be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SandboxOrder {
    pub level: Level,
    pub walls: Walls,
    /// The walls are built and nothing is run within them.
    pub is_trial: bool,
}

/// What is said about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    /// The walls stand and the program runs.
    Started,
    /// The walls stand; nothing was to be run.
    Tried(SandboxFacts),
    /// They do not stand, or the program cannot be run; nothing runs.
    Failed(WallFailure),
    Ended(RunReport),
}

/// What the walls are made of on this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SandboxFacts {
    /// The version of Landlock in force; 0: none.
    pub landlock: u32,
    /// Whether the program has a `/proc` of its own.
    pub has_proc: bool,
    /// Whether its memory and its processes are counted by a control group.
    pub has_cgroup: bool,
}

/// One end of the connection.
pub(super) struct Channel {
    socket: UnixStream,
    /// What came behind the last message.
    rest: Vec<u8>,
    ends: Vec<OwnedFd>,
}

impl Channel {
    pub(super) fn new(socket: UnixStream) -> Self {
        Self { socket, rest: Vec::new(), ends: Vec::new() }
    }

    /// The socket that this process was given in the place of its standard input.
    pub(super) fn of_stdin() -> io::Result<Self> {
        Ok(Self::new(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?)))
    }

    pub(super) fn socket(&self) -> &UnixStream {
        &self.socket
    }

    /// Sends a message, with descriptors for whoever receives it.
    pub(super) fn send<T: Serialize>(
        &self,
        message: &T,
        ends: &[BorrowedFd<'_>],
    ) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_ENDS))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !ends.is_empty() && !control.push(SendAncillaryMessage::ScmRights(ends)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let parts = [IoSlice::new(&line)];
        let sent = sendmsg(&self.socket, &parts, &mut control, SendFlags::NOSIGNAL)?;
        (&self.socket).write_all(line.get(sent..).unwrap_or_default())
    }

    /// The next message; `None` when there comes no more.
    pub(super) fn receive<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        loop {
            if let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                return Ok(Some(serde_json::from_slice(&line)?));
            }
            if self.rest.len() > MAX_MESSAGE {
                return Err(io::ErrorKind::InvalidData.into());
            }
            if self.fill()? == 0 {
                return Ok(None);
            }
        }
    }

    /// The descriptors that came so far.
    pub(super) fn take_ends(&mut self) -> Vec<OwnedFd> {
        std::mem::take(&mut self.ends)
    }

    fn fill(&mut self) -> io::Result<usize> {
        let mut bytes = [0; 4096];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_ENDS))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut parts = [IoSliceMut::new(&mut bytes)];
        #[cfg(target_os = "linux")]
        let flags = RecvFlags::CMSG_CLOEXEC;
        #[cfg(not(target_os = "linux"))]
        let flags = RecvFlags::empty();
        let got = loop {
            match recvmsg(&self.socket, &mut parts, &mut control, flags) {
                Err(rustix::io::Errno::INTR) => {}
                // Whoever is at the other end was ended.
                Err(rustix::io::Errno::CONNRESET) => return Ok(0),
                other => break other?,
            }
        };
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(ends) = message {
                self.ends.extend(ends);
            }
        }
        self.rest.extend_from_slice(bytes.get(..got.bytes).unwrap_or_default());
        Ok(got.bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn messages_arrive_one_by_one_with_what_belongs_to_them() {
        let (one, other) = UnixStream::pair().unwrap();
        let (sender, mut receiver) = (Channel::new(one), Channel::new(other));
        let (mut reader, writer) = io::pipe().unwrap();
        let long = "x".repeat(20_000);
        sender.send(&long, &[writer.as_fd()]).unwrap();
        sender.send(&Answer::Started, &[]).unwrap();
        drop((sender, writer));
        assert_eq!(receiver.receive::<String>().unwrap().unwrap(), long);
        assert_eq!(receiver.receive::<Answer>().unwrap(), Some(Answer::Started));
        let [end] = <[OwnedFd; 1]>::try_from(receiver.take_ends()).unwrap();
        std::fs::File::from(end).write_all(b"through").unwrap();
        let mut read = String::new();
        reader.read_to_string(&mut read).unwrap();
        assert_eq!(read, "through");
        assert_eq!(receiver.receive::<Answer>().unwrap(), None, "the sender is gone");
    }

    #[test]
    fn a_message_without_an_end_is_an_error() {
        let (one, other) = UnixStream::pair().unwrap();
        let mut receiver = Channel::new(other);
        let sender = std::thread::spawn(move || {
            let _ = (&one).write_all(&vec![b'x'; 2 * MAX_MESSAGE]);
        });
        assert!(receiver.receive::<String>().is_err());
        drop(receiver);
        sender.join().unwrap();
    }
}
