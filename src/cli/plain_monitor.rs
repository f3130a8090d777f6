//! `firmhand monitor --plain`: what a board prints, line by line on standard output.
//!
//! Owns the form of the lines: harmless, coloured by level, panics looked up under them. Must not
//! send anything.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::device::panic::{PanicEvent, Watch};
use crate::device::{Listener, Received, SerialHub};
use crate::model::{LogId, LogSource};
use crate::text::esp_log::{self, LogLevel, TagFilter};
use crate::text::sanitize;

/// Silence after which a line without an end, or a panic without one, is shown.
const SILENCE: Duration = Duration::from_millis(300);

/// A line without an end is shown after this many bytes.
const MAX_LINE: usize = 4096;

/// Whether lines are coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    On,
    /// Not at all.
    Off,
}

/// Shows one port.
pub struct Plain<W> {
    out: W,
    colour: Colour,
    filter: TagFilter,
    partial: Vec<u8>,
    watch: Watch,
    logs: Arc<dyn LogSource>,
    /// Where the log is looked at next, whether its beginning is still kept.
    look_at: u64,
}

/// Bytes between two looks whether the beginning of the log is still kept.
const LOOK_EVERY: u64 = 1 << 20;

impl<W: Write> Plain<W> {
    /// Shows on `out` what `filter` lets through; `logs` keep all of it.
    pub fn new(out: W, colour: Colour, filter: TagFilter, logs: Arc<dyn LogSource>) -> Self {
        let (partial, watch) = (Vec::new(), Watch::default());
        Self { out, colour, filter, partial, watch, logs, look_at: LOOK_EVERY }
    }

    /// Shows what `listener` hears until its port is closed; `hub` looks panics up.
    ///
    /// # Errors
    /// When the output takes no more.
    pub async fn follow(&mut self, listener: &Listener, hub: &Arc<SerialHub>) -> io::Result<()> {
        let mut received = listener.subscribe();
        let mut position = 0;
        let (mut away, mut lost) = (None, None);
        loop {
            let now = received.borrow_and_update().clone();
            if now.bytes > position {
                let (start, bytes) = listener.since(position);
                if start > position {
                    self.note(&format!(
                        "{} bytes were too fast to be shown; the log has them",
                        start - position
                    ))?;
                }
                position = start + bytes.len() as u64;
                let found = self.push(&bytes)?;
                self.report(found, hub).await?;
                self.say_given_up(listener.log, position)?;
            }
            if now.lost != lost {
                lost.clone_from(&now.lost);
                self.flush_partial()?;
                match &lost {
                    Some(why) => self.note(&format!("the log cannot be written: {why}"))?,
                    None => {
                        self.note("the log is written again; the output in between is missing")?
                    }
                }
            }
            if now.away != away {
                away.clone_from(&now.away);
                self.flush_partial()?;
                match &away {
                    Some(why) => self.note(&format!("{why}; waiting for it to return"))?,
                    None => self.note("it is back")?,
                }
            }
            self.out.flush()?;
            if now.closed.is_some() {
                self.flush_partial()?;
                return self.out.flush();
            }
            if !self.wait(&mut received, hub).await? {
                return Ok(());
            }
        }
    }

    /// Says once that the beginning of the log is no longer kept.
    fn say_given_up(&mut self, log: LogId, position: u64) -> io::Result<()> {
        if position < self.look_at {
            return Ok(());
        }
        self.look_at = position + LOOK_EVERY;
        let gone = self.logs.start(log).map_or(0, |start| start.bytes);
        if gone == 0 {
            return Ok(());
        }
        self.look_at = u64::MAX;
        self.flush_partial()?;
        self.note(&format!(
            "the first {gone} bytes are no longer kept with the session; `logs.keep_mib` sets how much is kept"
        ))
    }

    /// Waits for more; `false` when there will be none.
    async fn wait(
        &mut self,
        received: &mut watch::Receiver<Received>,
        hub: &Arc<SerialHub>,
    ) -> io::Result<bool> {
        if self.partial.is_empty() && !self.watch.is_open() {
            return Ok(received.changed().await.is_ok());
        }
        match tokio::time::timeout(SILENCE, received.changed()).await {
            Ok(changed) => Ok(changed.is_ok()),
            Err(_) => {
                let found = self.watch.finish();
                self.flush_partial()?;
                self.report(found, hub).await?;
                self.out.flush()?;
                Ok(received.changed().await.is_ok())
            }
        }
    }

    /// Shows complete lines; returns what was found in them.
    fn push(&mut self, bytes: &[u8]) -> io::Result<Vec<PanicEvent>> {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, after) = rest.split_at(end);
            rest = after.get(1..).unwrap_or_default();
            if self.partial.is_empty() {
                self.line(line)?;
            } else {
                let mut whole = std::mem::take(&mut self.partial);
                whole.extend_from_slice(line);
                self.line(&whole)?;
            }
        }
        self.partial.extend_from_slice(rest);
        if self.partial.len() > MAX_LINE {
            self.flush_partial()?;
        }
        Ok(self.watch.push(bytes, Instant::now()))
    }

    fn flush_partial(&mut self) -> io::Result<()> {
        if self.partial.is_empty() {
            return Ok(());
        }
        let partial = std::mem::take(&mut self.partial);
        self.line(&partial)
    }

    fn line(&mut self, bytes: &[u8]) -> io::Result<()> {
        let text = sanitize::log_line(bytes);
        if !self.filter.shows(&text) {
            return Ok(());
        }
        let code = match self.colour {
            Colour::Off => None,
            Colour::On => esp_log::parse(&text).map(|log| match log.level {
                LogLevel::Error => "31",
                LogLevel::Warning => "33",
                LogLevel::Info => "32",
                LogLevel::Debug | LogLevel::Verbose => "2",
            }),
        };
        self.coloured(&text, code)
    }

    fn coloured(&mut self, text: &str, code: Option<&str>) -> io::Result<()> {
        match code.filter(|_| self.colour == Colour::On) {
            Some(code) => writeln!(self.out, "\x1b[{code}m{text}\x1b[0m"),
            None => {
                self.out.write_all(text.as_bytes())?;
                self.out.write_all(b"\n")
            }
        }
    }

    fn note(&mut self, text: &str) -> io::Result<()> {
        self.coloured(&format!("--- {} ---", sanitize::line(text)), Some("36"))
    }

    async fn report(
        &mut self,
        found: impl IntoIterator<Item = PanicEvent>,
        hub: &Arc<SerialHub>,
    ) -> io::Result<()> {
        for found in found {
            let PanicEvent::Panic(raw) = found else {
                self.note("a core dump was saved with the session")?;
                continue;
            };
            let hub = Arc::clone(hub);
            let report = tokio::task::spawn_blocking(move || hub.report(&raw)).await;
            let Ok(report) = report else { continue };
            for line in report.lines() {
                self.coloured(&sanitize::line(&line), Some("35"))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::SessionDir;
    use crate::model::Timestamp;

    fn shown(filter: &str, colour: Colour, bytes: &[u8]) -> String {
        let data = tempfile::tempdir().unwrap();
        let logs = SessionDir::create(data.path(), "t", Timestamp(0)).unwrap().logs();
        let filter = TagFilter::parse(filter).unwrap();
        let mut plain = Plain::new(Vec::new(), colour, filter, Arc::new(logs));
        for piece in bytes.chunks(5) {
            plain.push(piece).unwrap();
        }
        plain.flush_partial().unwrap();
        String::from_utf8(plain.out).unwrap()
    }

    #[test]
    fn lines_are_filtered_coloured_by_level_and_harmless() {
        let bytes = b"E (1) a: bad\r\nI (2) a: fine\n\x1b]0;title\x07x\npart";
        assert_eq!(shown("*:E", Colour::Off, bytes).lines().next(), Some("E (1) a: bad"));
        let text = shown("", Colour::On, bytes);
        assert!(text.starts_with("\x1b[31mE (1) a: bad\x1b[0m\n\x1b[32mI (2)"), "{text:?}");
        assert!(!text.contains("\x1b]") && text.ends_with("part\n"), "{text:?}");
    }

    #[test]
    fn a_line_without_an_end_is_shown_in_pieces() {
        let text = shown("", Colour::Off, &[b'x'; 3 * MAX_LINE]);
        assert!(text.lines().count() >= 3 && text.matches('x').count() == 3 * MAX_LINE);
    }
}
