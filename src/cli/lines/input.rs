//! Typed lines, as they come.
//!
//! One thread reads them, and reads on only when it is let: whoever lends the terminal to another
//! program in between loses no line to the reader.

use std::io::{self, BufRead};
use std::sync::mpsc::{Sender, channel};
use std::time::Instant;

use tokio::sync::mpsc;
use tokio::time::timeout;

use super::heard::{BURST, Manner};

/// A line that was typed, and when it came.
pub type Typed = (Instant, String);

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
            while may_read.recv().is_ok() {
                let Some(Ok(line)) = input.next() else { return };
                if send.send((Instant::now(), line)).is_err() {
                    return;
                }
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
        let mut all = vec![first];
        self.read_on();
        while let Ok(Some(next)) = timeout(BURST, self.lines.recv()).await {
            all.push(next);
            self.read_on();
        }
        let manner = if all.len() == 1 { Manner::Alone } else { Manner::InBurst };
        (all, manner)
    }
}
