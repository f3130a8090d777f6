//! Makes records of what was noticed in a port's output.
//!
//! Owns looking panics up away from the port's own task, and the bound on how many are recorded.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::panic::{FoundDump, PanicEvent, Programs, RawPanic};
use super::received::changed;
use crate::model::{CoreDump, Ledger, LogId, PortChange};

/// Findings recorded per minute; a board that fails all the time does not fill the journal.
const PER_MINUTE: usize = 20;

/// Records findings of one port.
pub(super) struct Findings {
    ledger: Arc<dyn Ledger>,
    programs: Arc<Programs>,
    log: LogId,
    recent: VecDeque<Instant>,
    lines: u64,
    dumps: u32,
}

impl Findings {
    pub fn new(ledger: Arc<dyn Ledger>, programs: Arc<Programs>, log: LogId) -> Self {
        Self { ledger, programs, log, recent: VecDeque::new(), lines: 0, dumps: 0 }
    }

    /// Lines that the log had when the port was last lost.
    pub const fn lines(&self) -> u64 {
        self.lines
    }

    pub const fn set_lines(&mut self, lines: u64) {
        self.lines = lines;
    }

    /// Records what was found; lookups go on by themselves.
    pub fn tell(&mut self, found: impl IntoIterator<Item = PanicEvent>) {
        for found in found {
            let now = Instant::now();
            while self.recent.front().is_some_and(|at| now - *at > Duration::from_secs(60)) {
                self.recent.pop_front();
            }
            if self.recent.len() >= PER_MINUTE {
                continue;
            }
            self.recent.push_back(now);
            match found {
                PanicEvent::Panic(raw) => self.look_up(*raw),
                PanicEvent::Dump(dump) => self.keep(&dump),
            }
        }
    }

    fn look_up(&self, raw: RawPanic) {
        let (ledger, programs, log) =
            (Arc::clone(&self.ledger), Arc::clone(&self.programs), self.log);
        tokio::task::spawn_blocking(move || {
            let report = programs.report(&raw);
            let (line, end) = (raw.lines.start, raw.lines.end);
            // A report that cannot be recorded is in the log as the board printed it.
            let event = PortChange::Panicked { line, end, report: Box::new(report) };
            let _ = ledger.record(changed(log, event));
        });
    }

    fn keep(&mut self, dump: &FoundDump) {
        let Ok(content) = self.ledger.store(&dump.bytes) else { return };
        self.dumps += 1;
        let damaged = if dump.is_damaged { "-damaged" } else { "" };
        let name = format!("core-{}-{}{damaged}.bin", self.log.number, self.dumps);
        let event = PortChange::CoreDumped(CoreDump { name, content });
        let _ = self.ledger.record(changed(self.log, event));
    }
}
