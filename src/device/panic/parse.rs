//! Recognises panics in a board's output, line by line.
//!
//! Owns the knowledge of what ESP-IDF's panic handlers print, on Xtensa and RISC-V. Pure: text in,
//! numbers and words out. Nothing here acts on what a board prints.

use super::raw::{RawPanic, RawTrace};
use crate::model::{PanicKind, PanicRegister};

/// Lines of one panic that are looked at; a stack dump takes most of them.
const MAX_LINES: u64 = 600;

/// Words of stack memory that are kept.
const MAX_STACK: usize = 8192;

/// Other lines kept as details.
const MAX_DETAILS: usize = 12;

/// Longest detail in bytes.
const MAX_DETAIL: usize = 300;

/// Lines of other logs within what a watchdog tells; after more it has told nothing else.
const MAX_OTHERS: u64 = 3;

/// How lines begin that go on with what a watchdog tells of another core.
const GOES_ON: [&str; 5] = ["Core", "Print CPU", "Stack memory:", "===", "Setting breakpoint"];

/// Puts the lines of a panic together.
#[derive(Debug, Default)]
pub struct PanicParser {
    open: Option<OpenPanic>,
}

#[derive(Debug)]
struct OpenPanic {
    panic: RawPanic,
    /// Core of the dump that is being printed.
    core: Option<u8>,
    lines: u64,
    /// Lines of other logs seen so far.
    others: u64,
    /// Whether a backtrace or a hash was seen, so that an ordinary line ends the panic.
    has_end: bool,
}

impl PanicParser {
    /// Whether a panic is being printed.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Takes one line without escape sequences; returns a panic when it is complete.
    pub fn line(&mut self, number: u64, text: &str) -> Option<RawPanic> {
        let text = text.trim();
        let Some(open) = &mut self.open else {
            self.open = start(text).map(|panic| OpenPanic::new(panic, number, text));
            return None;
        };
        open.lines += 1;
        if is_new_start(&open.panic, open.has_end, text) {
            let ended = self.finish();
            self.open = start(text).map(|panic| OpenPanic::new(panic, number, text));
            return ended;
        }
        match open.take(text) {
            Took::Part => {
                open.panic.lines.end = number + 1;
                (open.lines > MAX_LINES).then(|| self.finish()).flatten()
            }
            Took::Last => {
                open.panic.lines.end = number + 1;
                self.finish()
            }
            Took::NotMine => self.finish(),
        }
    }

    /// Ends a panic that is being printed.
    pub fn finish(&mut self) -> Option<RawPanic> {
        self.open.take().map(|open| open.panic)
    }
}

/// What a line is to an open panic.
enum Took {
    Part,
    Last,
    NotMine,
}

impl OpenPanic {
    fn new(mut panic: RawPanic, number: u64, text: &str) -> Self {
        panic.lines = number..number + 1;
        panic.message = cut(text);
        let mut open = Self { core: panic.core, panic, lines: 0, others: 0, has_end: false };
        open.addresses(text);
        // A brownout is one line.
        open.has_end = open.panic.kind == PanicKind::Brownout;
        open
    }

    fn take(&mut self, text: &str) -> Took {
        if text.is_empty() {
            return Took::Part;
        }
        if text.starts_with("Rebooting...") || text.starts_with("CPU halted") {
            return Took::Last;
        }
        if super::super::lines::reset_cause(text).is_some() {
            return Took::NotMine;
        }
        if let Some(rest) = text.strip_prefix("Backtrace:") {
            self.backtrace(rest);
            return Took::Part;
        }
        if let Some((_, sha)) = text.split_once("ELF file SHA256:") {
            self.panic.sha256 = sha_of(sha);
            self.has_end = true;
            return Took::Part;
        }
        if self.registers(text) || self.stack(text) {
            return Took::Part;
        }
        let is_log = crate::text::esp_log::parse(text).is_some();
        if is_log && !text.contains("task_wdt") {
            return self.others_log();
        }
        if !is_log && self.is_complete() && !GOES_ON.iter().any(|start| text.starts_with(start)) {
            return Took::NotMine;
        }
        self.detail(text);
        Took::Part
    }

    /// What a line of the log of somebody else is: another core may log in between.
    fn others_log(&mut self) -> Took {
        self.others += 1;
        let is_over = self.panic.kind == PanicKind::TaskWatchdog && self.others > MAX_OTHERS;
        if self.has_end || self.is_complete() || is_over { Took::NotMine } else { Took::Part }
    }

    /// Whether a watchdog that lets the program run has told all: the calls, or the stack where the
    /// chip's own code cannot follow them.
    fn is_complete(&self) -> bool {
        let is_watchdog = self.panic.kind == PanicKind::TaskWatchdog;
        is_watchdog && (self.has_end || !self.panic.stack.is_empty())
    }

    fn detail(&mut self, text: &str) {
        if let Some((_, rest)) = text.split_once("Core")
            && text.contains("register dump")
        {
            self.core = number_in(rest);
            return;
        }
        if let Some((_, rest)) = text.split_once("Print CPU ") {
            self.core = number_in(rest);
            return;
        }
        if text.starts_with("Stack memory:") || text.starts_with("===") {
            return;
        }
        self.addresses(text);
        if let Some(reason) = canary_task(text) {
            self.panic.kind = PanicKind::StackOverflow;
            self.panic.task = Some(reason);
        }
        if self.panic.task.is_none() && self.panic.kind == PanicKind::TaskWatchdog {
            self.panic.task = watchdog_task(text);
        }
        if self.panic.details.len() < MAX_DETAILS && text != self.panic.message {
            self.panic.details.push(cut(text));
        }
    }

    /// `… at PC 0x400d1c2b`, `… at 0x400d1c2b`
    fn addresses(&mut self, text: &str) {
        for before in [" at PC 0x", ") at 0x", " in function 0x"] {
            if let Some((_, rest)) = text.split_once(before)
                && let Some(pc) = hex_start(rest)
            {
                self.panic.pcs.push(pc);
            }
        }
    }

    /// `0x400d1c2b:0x3ffb5a40 0x400d2345:0x3ffb5a60 |<-CORRUPTED`
    fn backtrace(&mut self, text: &str) {
        let mut trace = RawTrace { core: self.core, ..RawTrace::default() };
        for word in text.split_whitespace() {
            if word.contains("CORRUPT") || word == "|<-CONTINUES" {
                trace.is_corrupted = word.contains("CORRUPT");
                continue;
            }
            let pc = word.split(':').next().unwrap_or_default();
            if let Some(pc) = pc.strip_prefix("0x").and_then(hex_start) {
                trace.pcs.push(pc);
            }
        }
        if !trace.pcs.is_empty() {
            self.panic.traces.push(trace);
        }
        self.has_end = true;
    }

    /// `PC      : 0x400d1234  PS      : 0x00060330 …`
    fn registers(&mut self, text: &str) -> bool {
        let mut found = Vec::new();
        let mut rest = text;
        while let Some((name, after)) = rest.split_once(':') {
            let name = name.trim();
            let after = after.trim_start();
            let is_name = !name.is_empty()
                && name.len() <= 8
                && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'/');
            let Some(digits) = after.strip_prefix("0x").filter(|_| is_name) else { break };
            let Some(value) = hex_start(digits) else { break };
            found.push(PanicRegister { name: name.to_owned(), value });
            let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
            rest = digits.get(end..).unwrap_or_default();
        }
        if found.is_empty() {
            return false;
        }
        // The other core's registers would only confuse; its calls are told.
        if self.core.is_none() || self.core == self.panic.core || self.panic.registers.is_empty() {
            self.panic.registers.append(&mut found);
        }
        true
    }

    /// `3fc8f010: 0x00000000 0x00000001 …`
    fn stack(&mut self, text: &str) -> bool {
        let Some((address, words)) = text.split_once(": 0x") else { return false };
        let is_address = address.len() == 8 && address.bytes().all(|b| b.is_ascii_hexdigit());
        let Some(address) = hex_start(address).filter(|_| is_address) else { return false };
        let words = words.split_whitespace().map(|word| word.trim_start_matches("0x"));
        for (place, word) in words.enumerate() {
            let Ok(word) = u32::from_str_radix(word, 16) else { break };
            if self.panic.stack.len() < MAX_STACK {
                self.panic.stack.insert(address + place as u64 * 4, word);
            }
        }
        true
    }
}

/// Whether a line begins another panic although one is open.
fn is_new_start(open: &RawPanic, has_end: bool, text: &str) -> bool {
    // What the first line names is more than the abort or exception that follows from it.
    has_end
        && (text.starts_with("Guru Meditation Error")
            || start(text)
                .is_some_and(|new| new.kind != open.kind || new.kind != PanicKind::TaskWatchdog))
}

/// The panic that a line begins.
fn start(text: &str) -> Option<RawPanic> {
    let kind = kind_of(text)?;
    let mut panic = RawPanic::new(kind);
    if let Some((_, rest)) = text.split_once("Core")
        && kind != PanicKind::Brownout
    {
        panic.core = number_in(rest);
    } else if let Some((_, rest)) = text.split_once(" on core ") {
        panic.core = number_in(rest);
    }
    if kind == PanicKind::StackOverflow {
        panic.task = text
            .split_once("in task ")
            .map(|(_, rest)| rest.split(" has been").next().unwrap_or(rest).trim().to_owned());
    }
    panic.task = panic.task.or_else(|| canary_task(text));
    Some(panic)
}

fn kind_of(text: &str) -> Option<PanicKind> {
    if let Some(rest) = text.strip_prefix("Guru Meditation Error") {
        return Some(if rest.contains("Interrupt wdt timeout") {
            PanicKind::InterruptWatchdog
        } else if rest.contains("Cache disabled") || rest.contains("Cache error") {
            PanicKind::CacheError
        } else if canary_task(rest).is_some() || rest.contains("Stack protection fault") {
            PanicKind::StackOverflow
        } else {
            PanicKind::Exception
        });
    }
    let starts = [
        ("abort() was called at PC", PanicKind::Abort),
        ("assert failed:", PanicKind::Assert),
        ("assertion \"", PanicKind::Assert),
        ("***ERROR*** A stack overflow in task", PanicKind::StackOverflow),
        ("ESP_ERROR_CHECK failed:", PanicKind::ErrorCheck),
        ("CORRUPT HEAP:", PanicKind::HeapCorruption),
        ("Brownout detector was triggered", PanicKind::Brownout),
        ("Stack smashing protect failure!", PanicKind::StackOverflow),
    ];
    if let Some((_, kind)) = starts.iter().find(|(start, _)| text.starts_with(start)) {
        return Some(*kind);
    }
    let log = crate::text::esp_log::parse(text)?;
    let message = text.get(log.message..).unwrap_or_default();
    if log.tag == "task_wdt" && message.contains("watchdog got triggered") {
        return Some(PanicKind::TaskWatchdog);
    }
    message.starts_with("Brownout detector was triggered").then_some(PanicKind::Brownout)
}

/// `Stack canary watchpoint triggered (main)`
fn canary_task(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("Stack canary watchpoint triggered (")?;
    Some(rest.split(')').next()?.trim().to_owned())
}

/// `E (10318) task_wdt:  - IDLE0 (CPU 0)`
fn watchdog_task(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("task_wdt:")?;
    let task = rest.trim().strip_prefix("- ")?;
    Some(task.split(" (").next().unwrap_or(task).trim().to_owned())
}

/// The first decimal number of a text.
fn number_in(text: &str) -> Option<u8> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let digits = text.get(start..)?;
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits.get(..end)?.parse().ok()
}

/// The hexadecimal number a text begins with.
fn hex_start(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(text.len());
    u64::from_str_radix(text.get(..end)?, 16).ok()
}

/// A hash of at least eight digits.
fn sha_of(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches('.');
    let is_hash = text.len() >= 8 && text.bytes().all(|b| b.is_ascii_hexdigit());
    is_hash.then(|| text.to_ascii_lowercase())
}

fn cut(text: &str) -> String {
    text.get(..text.floor_char_boundary(MAX_DETAIL)).unwrap_or(text).to_owned()
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
