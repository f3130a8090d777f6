//! How fast a long raw log is opened and searched: `cargo bench --bench logs`.
//!
//! Prints times and memory; without `--bench` it makes one small round, to show that it works.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints and may stop")]

use std::time::Instant;

use firmhand::journal::{LogFiles, SessionDir};
use firmhand::model::*;
use firmhand::ui::panes::logs_index::{Extent, LineIndex};
use firmhand::ui::panes::logs_scroll::Move;
use firmhand::ui::panes::logs_search::Search;
use firmhand::ui::panes::logs_text::LogText;

const LOG: LogId = LogId { kind: LogKind::Serial, number: 1 };

fn main() {
    let is_bench = std::env::args().any(|arg| arg == "--bench");
    let lines: u64 = if is_bench { 1_000_000 } else { 3_000 };
    let data = tempfile::tempdir_in(std::env::current_dir().unwrap().join("target")).unwrap();
    let dir = SessionDir::create(data.path(), "bench", Timestamp(0)).unwrap();
    let source = dir.logs();
    let extent = write(&source, lines);
    println!("log: {lines} lines, {:.1} MB", extent.bytes as f64 / 1e6);
    index(&source, extent);
    search(&source, extent);
    open(&source, extent);
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
        extent.bytes = log.append(LOG, text.as_bytes()).unwrap().bytes;
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

fn search(source: &dyn LogSource, extent: Extent) {
    for pattern in ["temp=39\\.9", "^E .*sensor"] {
        let mut search = Search::new(LOG, pattern).unwrap();
        let start = Instant::now();
        search.advance(source, extent, u64::MAX).unwrap();
        report(&format!("search for {pattern} ({} found)", search.total()), start);
    }
}

fn open(source: &dyn LogSource, extent: Extent) {
    let start = Instant::now();
    let mut text = LogText::new(LOG);
    text.sync(source, extent);
    report("a pane's first frame at the end", start);
    let (mut frames, mut longest) = (1, start.elapsed());
    while text.is_busy() {
        let start = Instant::now();
        text.sync(source, extent);
        longest = longest.max(start.elapsed());
        frames += 1;
    }
    println!("{:<42} {:>9}", "frames until every line can be found", frames);
    println!("{:<42} {:>9.2} ms", "longest of them", longest.as_secs_f64() * 1000.0);
    let start = Instant::now();
    text.go(Move::Start);
    text.sync(source, extent);
    text.go(Move::End);
    text.sync(source, extent);
    report("to the start and back to the end", start);
}

fn report(what: &str, start: Instant) {
    println!("{what:<42} {:>9.2} ms", start.elapsed().as_secs_f64() * 1000.0);
}
