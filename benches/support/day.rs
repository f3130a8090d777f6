//! A port that prints for a day: the pump, the log, its records, and the index and filter behind
//! the screen, in fast motion.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use firmhand::device::{Pty, SerialHub};
use firmhand::engine::Recorder;
use firmhand::journal::{JournalReader, LogLimits, ReadItem, SessionDir};
use firmhand::model::LogEvent;
use firmhand::model::*;
use firmhand::ui::panes::logs::text::LogText;
use firmhand::view::SessionView;
use firmhand::view::line_index::Extent;
use firmhand::view::line_scan::matcher;

/// A day at 1 MB/s.
pub const DAY: u64 = 86_400_000_000;

/// Records of growth in a day, at the most that are made in a second.
const RECORDS: u64 = 20 * 86_400;

const LOG: LogId = LogId { kind: LogKind::Serial, number: 1 };

/// Lines that are written at once.
const BLOCK: u64 = 1000;

/// How often the screen looks.
const FRAME: Duration = Duration::from_millis(16);

/// `total` bytes through a port, as fast as they go, of which a part is kept; then as many records
/// as a day has.
pub fn day(total: u64) {
    let keep = (total / 8).min(64 << 20);
    let data = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let dir = SessionDir::create(data.path(), "day", Timestamp(0)).unwrap();
    let limits = LogLimits { keep, segment: keep / 16 };
    let recorder = Arc::new(Recorder::create(dir.clone()).unwrap().keeping(limits));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.unwrap();
    let ticks = {
        let _within = runtime.enter();
        recorder.spawn_ticks()
    };
    let hub = SerialHub::new(Arc::clone(&recorder) as Arc<dyn Ledger>);
    let Pty { board, port, held } = Pty::open().unwrap();
    let listener = runtime.block_on(hub.open(&port, 115_200, 1)).unwrap();
    let source: Arc<dyn LogSource> = Arc::new(dir.logs());
    let mut screen = Screen::new(&dir, Arc::clone(&source));
    let feeder = feed(board, total);
    let began = Instant::now();
    let mut next = 0;
    println!("       GB    MB/s   given up GB       lines  RSS MB  on disk MB");
    loop {
        let is_over = feeder.is_finished();
        let now = screen.draw();
        let is_through = is_over && listener.subscribe().borrow().bytes == now.bytes;
        if now.bytes >= next || is_through {
            next += total / 10;
            println!(
                "{:>9.2} {:>7.1} {:>13.2} {:>11} {:>7.1} {:>11.1}",
                now.bytes as f64 / 1e9,
                now.bytes as f64 / 1e6 / began.elapsed().as_secs_f64(),
                screen.text.start().bytes as f64 / 1e9,
                now.feeds,
                resident() as f64 / 1e6,
                size(&dir.root().join("logs")) as f64 / 1e6
            );
        }
        if is_through {
            break;
        }
        thread::sleep(FRAME);
    }
    let sent = feeder.join().unwrap();
    let now = screen.draw();
    assert_eq!((now.bytes, now.feeds), (sent.bytes, sent.feeds), "nothing is left out");
    assert_eq!(source.read_log(LOG, now.bytes - 10..now.bytes).unwrap(), b"state=ok\r\n");
    let kept = size(&dir.root().join("logs"));
    assert!(kept < keep + keep / 4 && screen.text.start().bytes > 0, "{kept} bytes are kept");
    records(&recorder, &mut screen, now, RECORDS.min(total / 1000));
    runtime.block_on(hub.close(&port));
    ticks.abort();
    drop((sent, held));
}

/// What was sent, and the end that it went through.
struct Sent {
    bytes: u64,
    feeds: u64,
    _board: std::fs::File,
}

fn feed(mut board: std::fs::File, total: u64) -> JoinHandle<Sent> {
    thread::spawn(move || {
        let (mut bytes, mut feeds) = (0, 0);
        while bytes < total {
            let mut block = String::new();
            for n in feeds..feeds + BLOCK {
                let _ = write!(block, "I ({n}) app: reading {n} temp=2{}.4 state=ok\r\n", n % 10);
            }
            board.write_all(block.as_bytes()).unwrap();
            bytes += block.len() as u64;
            feeds += BLOCK;
        }
        Sent { bytes, feeds, _board: board }
    })
}

/// What is behind the screen of a monitor.
struct Screen {
    reader: JournalReader,
    view: SessionView,
    text: LogText,
}

impl Screen {
    fn new(dir: &SessionDir, source: Arc<dyn LogSource>) -> Self {
        let mut text = LogText::new(source, LOG);
        text.filter_by(matcher("temp=2").unwrap());
        let reader = JournalReader::open(&dir.journal()).unwrap();
        Self { reader, view: SessionView::default(), text }
    }

    /// Takes up what was recorded and looks at the log as far as it goes.
    fn draw(&mut self) -> Extent {
        while let Some(item) = self.reader.next_item().unwrap() {
            let ReadItem::Record(record) = item else { continue };
            self.view.apply(&record);
        }
        let serial = self.view.logs.serials.last().unwrap();
        let now = Extent { bytes: serial.bytes, feeds: serial.lines };
        if now.bytes > 0 {
            self.text.sync(now);
            assert!(self.text.error.is_none(), "{:?}", self.text.error);
        }
        now
    }
}

/// As many records of growth as that.
fn records(recorder: &Recorder, screen: &mut Screen, now: Extent, count: u64) {
    let (before, began) = (resident(), Instant::now());
    for n in 0..count {
        let grown = Event::Log(LogEvent::Grew { log: LOG, bytes: now.bytes + n, lines: now.feeds });
        recorder.record(grown).unwrap();
        if n % 100 == 0 {
            while let Some(ReadItem::Record(record)) = screen.reader.next_item().unwrap() {
                screen.view.apply(&record);
            }
        }
    }
    println!(
        "{count} records of growth: {:.1} s, RSS {:+.1} MB, journal {:.0} MB",
        began.elapsed().as_secs_f64(),
        (resident() as f64 - before as f64) / 1e6,
        std::fs::metadata(recorder.dir().journal()).unwrap().len() as f64 / 1e6
    );
}

/// Bytes of the files in a folder.
fn size(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).unwrap().flatten();
    files.filter_map(|file| Some(file.metadata().ok()?.len())).sum()
}

/// Bytes of memory that this process has.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    1024 * line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
}
