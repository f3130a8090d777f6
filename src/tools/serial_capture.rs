//! What a port printed while somebody listened, within bounds.
//!
//! Owns the newest lines, and the panics and resets among all of them.

use std::collections::VecDeque;
use std::time::Instant;

use regex::Regex;
use serde_json::{Value, json};

use super::answer;
use crate::device::panic::{PanicEvent, RawPanic, Watch};
use crate::device::{LineKind, LineSplitter, SerialLine};

/// Panics and resets in one answer, at most.
const MAX_FINDINGS: usize = 10;

/// What was heard so far.
pub(super) struct SerialCapture {
    limit: usize,
    until: Option<Regex>,
    splitter: LineSplitter,
    lines: VecDeque<String>,
    bytes: usize,
    omitted_lines: u64,
    /// Bytes that were gone before they could be heard.
    pub skipped_bytes: u64,
    /// The line that ends listening.
    pub matched: Option<String>,
    watch: Watch,
    panics: Vec<RawPanic>,
    resets: Vec<String>,
}

impl SerialCapture {
    /// Keeps `limit` bytes of text; `until` is the pattern of the line that ends listening.
    pub fn new(limit: usize, until: Option<Regex>) -> Self {
        Self {
            limit,
            until,
            splitter: LineSplitter::default(),
            lines: VecDeque::new(),
            bytes: 0,
            omitted_lines: 0,
            skipped_bytes: 0,
            matched: None,
            watch: Watch::default(),
            panics: Vec::new(),
            resets: Vec::new(),
        }
    }

    /// Takes what was printed.
    pub fn take(&mut self, bytes: &[u8]) {
        let found = self.watch.push(bytes, Instant::now());
        self.note(found);
        for line in self.splitter.push(bytes) {
            self.line(line);
        }
        // A prompt has no line end.
        if let Some(line) = self.splitter.partial() {
            self.compare(&line.text);
        }
    }

    /// The panics, one that has not ended included.
    pub fn take_panics(&mut self) -> Vec<RawPanic> {
        let open = self.watch.finish();
        self.note(open);
        std::mem::take(&mut self.panics)
    }

    /// The fields of the answer.
    pub fn finish(mut self) -> Value {
        if let Some(line) = self.splitter.partial() {
            self.line(line);
        }
        let log: Vec<String> = self.lines.into();
        let mut fields = json!({ "log": log.join("\n") });
        if self.until.is_some() {
            fields["matched"] = json!(self.matched.is_some());
            answer::set(&mut fields, "matched_line", self.matched);
        }
        fields["resets"] = json!(self.resets);
        let counted = |count: u64| (count > 0).then_some(count);
        answer::set(&mut fields, "omitted_lines", counted(self.omitted_lines));
        answer::set(&mut fields, "skipped_bytes", counted(self.skipped_bytes));
        fields
    }

    fn note(&mut self, found: impl IntoIterator<Item = PanicEvent>) {
        for found in found {
            match found {
                PanicEvent::Panic(panic) if self.panics.len() < MAX_FINDINGS => {
                    self.panics.push(*panic)
                }
                PanicEvent::Panic(_) | PanicEvent::Dump(_) => {}
            }
        }
    }

    fn line(&mut self, line: SerialLine) {
        self.compare(&line.text);
        match line.kind {
            LineKind::Reset { cause } if self.resets.len() < MAX_FINDINGS => {
                self.resets.push(cause);
            }
            LineKind::Reset { .. } | LineKind::Plain | LineKind::Log { .. } => {}
        }
        self.keep(line.text);
    }

    fn keep(&mut self, text: String) {
        self.bytes += text.len() + 1;
        self.lines.push_back(text);
        while self.bytes > self.limit
            && self.lines.len() > 1
            && let Some(oldest) = self.lines.pop_front()
        {
            self.bytes -= oldest.len() + 1;
            self.omitted_lines += 1;
        }
    }

    fn compare(&mut self, text: &str) {
        if self.matched.is_none() && self.until.as_ref().is_some_and(|until| until.is_match(text)) {
            self.matched = Some(text.to_owned());
        }
    }
}
