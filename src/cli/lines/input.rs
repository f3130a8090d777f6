//! Typed lines, as they come.
//!
//! One thread reads them, and reads on only when it is let: whoever lends the terminal to another
//! program in between loses no line to the reader.

use std::io::{self, BufRead};
use std::sync::mpsc::{Sender, channel};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::line_command::{BURST, Manner};

/// A line that was typed.
#[derive(Debug)]
pub struct Typed {
    /// When it came.
    pub at: Instant,
    /// What it says.
    pub line: String,
    /// Whether another one was there already when it was read, which nobody types.
    is_followed: bool,
    /// Whether it is that other one.
    follows: bool,
}

/// The person's lines.
pub struct Input {
    lines: mpsc::UnboundedReceiver<Typed>,
    read_on: Sender<()>,
}

impl Input {
    /// Begins to read; ends at the end of the input.
    pub fn listen() -> Self {
        let (send, lines) = mpsc::unbounded_channel();
        let (read_on, may_read) = channel();
        std::thread::spawn(move || {
            let mut input = io::stdin().lock().lines();
            let mut follows = false;
            while may_read.recv().is_ok() {
                let Some(Ok(line)) = input.next() else { return };
                let (at, is_followed) = (Instant::now(), is_more_there());
                if send.send(Typed { at, line, is_followed, follows }).is_err() {
                    return;
                }
                follows = is_followed;
            }
        });
        let input = Self { lines, read_on };
        input.read_on();
        input
    }

    /// Lets the reader take another line. Not told: the reader is gone, which the end of the lines
    /// tells.
    pub fn read_on(&self) {
        let _ = self.read_on.send(());
    }

    /// The next line; the reader waits until it is let read on.
    pub async fn next(&mut self) -> Option<Typed> {
        self.lines.recv().await
    }

    /// All lines that came at once with `first`; the reader reads on.
    pub async fn burst(&mut self, first: Typed) -> (Vec<Typed>, Manner) {
        let (is_other, mut is_followed) = (first.follows, first.is_followed);
        let mut all = vec![first];
        self.read_on();
        loop {
            // One that is there already comes however slow the machine is.
            let next = match is_followed {
                true => self.lines.recv().await,
                false => timeout(BURST, self.lines.recv()).await.ok().flatten(),
            };
            let Some(next) = next else { break };
            is_followed = next.is_followed;
            all.push(next);
            self.read_on();
        }
        let is_alone = all.len() == 1 && !is_other;
        (all, if is_alone { Manner::Alone } else { Manner::InBurst })
    }
}

/// Whether the terminal holds another line, or the end of the input.
fn is_more_there() -> bool {
    let stdin = io::stdin();
    let mut asked = [PollFd::new(&stdin, PollFlags::IN)];
    poll(&mut asked, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}
