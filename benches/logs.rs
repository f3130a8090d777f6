//! How fast a long raw log is opened and searched: `cargo bench --bench logs`.
//!
//! Prints times and memory; without `--bench` it makes one small round, to show that it works.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench prints, waits and may stop"
)]

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use firmhand::journal::{LogFiles, SessionDir};
use firmhand::model::*;
use firmhand::ui::panes::logs::source::LogSourceView;
use firmhand::ui::panes::logs::text::LogText;
use firmhand::ui::scroll::Move;
use firmhand::ui::search::LogSearch;
use firmhand::view::line_index::{Extent, LineIndex};
use firmhand::view::line_scan::Matcher;
use firmhand::view::line_scan::matcher;

const LOG: LogId = LogId { kind: LogKind::Serial, number: 1 };

fn main() {
    let is_bench = std::env::args().any(|arg| arg == "--bench");
    let lines: u64 = if is_bench { 1_000_000 } else { 3_000 };
    let data = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let dir = SessionDir::create(data.path(), "bench", Timestamp(0)).unwrap();
    let source = Arc::new(dir.logs());
    let extent = write(&source, lines);
    println!("log: {lines} lines, {:.1} MB", extent.bytes as f64 / 1e6);
    index(&*source, extent);
    search(&source, extent);
    open(&source, extent);
    if is_bench {
        let twice = write(&source, lines);
        look_at_everything(&source, Extent { bytes: twice.bytes, feeds: 2 * lines });
    }
}

fn write(log: &LogFiles, lines: u64) -> Extent {
    let mut extent = Extent { bytes: 0, feeds: lines };
    for block in 0..lines / 1000 {
        let text: String = (0..1000)
            .map(|n| {
                let number = block * 1000 + n;
                let level = ['I', 'I', 'I', 'D', 'W', 'E'][(number % 6) as usize];
                format!(
                    "\x1b[0;32m{level} ({number}) sensor: temp={}.{}\x1b[0m\r\n",
                    n % 40,
                    n % 10
                )
            })
            .collect();
        extent.bytes = log.append(LOG, text.as_bytes(), Timestamp(0)).unwrap().bytes;
    }
    extent
}

fn index(source: &dyn LogSource, extent: Extent) {
    let mut index = LineIndex::new(LOG);
    let start = Instant::now();
    index.set_extent(source, extent).unwrap();
    let last = index.lines(source, extent.feeds - 50..extent.feeds).unwrap();
    assert_eq!(last.len(), 50);
    report("last 50 lines without an index", start);
    let start = Instant::now();
    index.advance(source, u64::MAX).unwrap();
    report("index", start);
    println!("{:<42} {:>9} kB", "memory of the index", index.memory() / 1000);
    let start = Instant::now();
    assert_eq!(index.lines(source, extent.feeds / 2..extent.feeds / 2 + 50).unwrap().len(), 50);
    report("50 lines in the middle", start);
}

fn search(source: &Arc<LogFiles>, extent: Extent) {
    for pattern in ["temp=39\\.9", "^E .*sensor"] {
        let raw = LogSourceView::Raw(Arc::<LogFiles>::clone(source), LOG);
        let mut search = LogSearch::new(raw, Matcher::regex(pattern).unwrap());
        let start = Instant::now();
        let mut longest = Duration::ZERO;
        while !search.is_complete(extent.bytes) {
            let frame = Instant::now();
            search.advance(extent.bytes).unwrap();
            longest = longest.max(frame.elapsed());
            thread::sleep(Duration::from_micros(500));
        }
        report(&format!("search for {pattern} ({} found)", search.total()), start);
        println!("{:<42} {:>9.2} ms", "  of it in a frame, at most", millis(longest));
    }
}

fn open(source: &Arc<LogFiles>, extent: Extent) {
    let start = Instant::now();
    let mut text = LogText::new(Arc::<LogFiles>::clone(source), LOG);
    text.sync(extent);
    report("a pane's first frame at the end", start);
    let (mut frames, mut longest) = (1, start.elapsed());
    while text.is_busy() {
        let start = Instant::now();
        text.sync(extent);
        longest = longest.max(start.elapsed());
        frames += 1;
    }
    println!("{:<42} {:>9}", "frames until every line can be found", frames);
    println!("{:<42} {:>9.2} ms", "longest of them", millis(longest));
    let start = Instant::now();
    text.view.go(Move::Start);
    text.sync(extent);
    report("to the start", start);
    let start = Instant::now();
    text.view.go(Move::End);
    text.sync(extent);
    report("jump to the end", start);
    let mut frames: Vec<Duration> = (0..2_000)
        .map(|step| {
            let start = Instant::now();
            text.view.go(Move::Lines(if step < 1_000 { -3 } else { 3 }));
            text.sync(extent);
            start.elapsed()
        })
        .collect();
    frames.sort();
    println!("{:<42} {:>9.2} ms", "a step of scrolling, p99", millis(frames[1_980]));
}

/// Filters and searches twice the lines, and tells how much memory the whole program took.
fn look_at_everything(source: &Arc<LogFiles>, extent: Extent) {
    let mut text = LogText::new(Arc::<LogFiles>::clone(source), LOG);
    text.view.filter_by(matcher("^[IE] ").unwrap());
    text.view.search_for(matcher("temp=").unwrap());
    let start = Instant::now();
    text.sync(extent);
    while text.is_busy() {
        thread::sleep(Duration::from_millis(1));
        text.sync(extent);
    }
    let found = text.view.search().map_or(0, LogSearch::total);
    report(&format!("filter and search {} lines ({found} found)", extent.feeds), start);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM"));
    println!("{:<42} {:>9}", "peak memory of the program", peak.unwrap_or("?"));
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

fn report(what: &str, start: Instant) {
    println!("{what:<42} {:>9.2} ms", millis(start.elapsed()));
}
