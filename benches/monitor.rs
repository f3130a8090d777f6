//! How fast a port's output reaches the screen, and a panic's addresses become lines:
//! `cargo bench --bench monitor`, or a part of it: `-- screen`, `-- reconnect`,
//! `-- stream`, `-- decode` or `-- day`.
//!
//! The board is a pseudo-terminal. `stream` runs the monitor of this program and every other one of
//! [`OTHERS`] that is on the `PATH` in turns, each in a terminal of 200x50.
//! `FIRMHAND_BENCH_ELF` names a program to decode addresses of, else one is compiled. `day` is run
//! only when it is named: as many bytes as come in a day at 1 MB/s, or `FIRMHAND_BENCH_GB` of them,
//! with the memory that is in use meanwhile. Without `--bench` it makes one small round, to show
//! that it works.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::duration_suboptimal_units,
    reason = "a bench prints, waits and may stop"
)]

#[path = "support/day.rs"]
mod day;
#[path = "support/pty.rs"]
mod pty;

use std::fmt::Write as _;
use std::io::{ErrorKind, Write};
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use firmhand::device::Pty;
use firmhand::device::panic::Program;
use object::{Object, ObjectSymbol, SymbolKind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use pty::Terminal;

const COLS: u16 = 200;
const ROWS: u16 = 50;

/// Lines in a block of output.
const BLOCK: usize = 1000;

/// Other programs that show a port: their name, which part of the lines they get, for some take
/// minutes for what others do in a second, and the command, with `PORT` in its place, or `TCP` if it
/// opens no pseudo-terminal but listens to an address. That of espflash is not among them: it takes
/// the system's own serial ports only.
const OTHERS: [(&str, usize, &str); 4] = [
    ("cat", 1, "exec cat PORT"),
    ("tio", 10, "exec tio PORT"),
    ("lnav", 10, "cat PORT | lnav -N"),
    ("idf-monitor", 100, "exec idf-monitor -p socket://TCP --no-reset --target esp32"),
];

fn main() {
    let is_bench = std::env::args().any(|arg| arg == "--bench");
    let names: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let is_wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    if is_wanted("screen") {
        screen(if is_bench { 300 } else { 5 });
    }
    if is_wanted("reconnect") {
        reconnect(if is_bench { 100 } else { 2 });
    }
    if is_wanted("stream") {
        let (lines, rounds) = if is_bench { (2_000_000, 3) } else { (5_000, 1) };
        for round in 0..rounds {
            println!("round {}", round + 1);
            stream(lines, is_bench);
        }
    }
    if is_wanted("decode") {
        decode();
    }
    if is_wanted("day") && (!is_bench || !names.is_empty()) {
        let named = std::env::var("FIRMHAND_BENCH_GB").ok();
        let named = named.map(|gigabytes| (gigabytes.parse::<f64>().unwrap() * 1e9) as u64);
        day::day(named.unwrap_or(if is_bench { day::DAY } else { 16_000_000 }));
    }
}

/// The monitor at a board, its settings below a folder of its own.
fn monitor(board: &Pty, data: &Path) -> Terminal {
    let terminal = Terminal::start(COLS, ROWS, data, &["monitor", &board.port]);
    terminal.wait_text(&board.port);
    terminal
}

/// From the last byte of a line until it is on the screen.
fn screen(lines: usize) {
    let data = tempfile::tempdir().unwrap();
    let board = Pty::open().unwrap();
    let terminal = monitor(&board, data.path());
    let mut times: Vec<Duration> = (0..lines)
        .map(|number| {
            // Longer than a frame, so that each line meets the program asleep.
            thread::sleep(Duration::from_millis(23));
            let mark = format!("mark {number:05}");
            let sent = Instant::now();
            (&board.board).write_all(format!("I (1) app: {mark}\r\n").as_bytes()).unwrap();
            terminal.wait_text(&mark).saturating_duration_since(sent)
        })
        .collect();
    times.sort();
    let (median, p99) = (times[lines / 2], times[lines * 99 / 100]);
    println!("byte to screen: median {median:.1?}, p99 {p99:.1?}");
}

/// From the moment a board is plugged in again until its first line is on the screen.
fn reconnect(unplugs: usize) {
    let data = tempfile::tempdir().unwrap();
    // A name for wherever the board is, as the system gives one to a port.
    let port = data.path().join("ttyUSB0");
    let plug = |board: &Pty| std::os::unix::fs::symlink(&board.port, &port).unwrap();
    let mut board = Pty::open().unwrap();
    plug(&board);
    let name = port.to_str().unwrap();
    let terminal = Terminal::start(COLS, ROWS, data.path(), &["monitor", name]);
    terminal.wait_text("open");
    let mut times: Vec<Duration> = (0..unplugs)
        .map(|number| {
            std::fs::remove_file(&port).unwrap();
            board = Pty::open().unwrap();
            thread::sleep(Duration::from_millis(150));
            let plugged = Instant::now();
            plug(&board);
            let mark = format!("back {number:05}");
            (&board.board).write_all(format!("I (1) app: {mark}\r\n").as_bytes()).unwrap();
            terminal.wait_text(&mark).saturating_duration_since(plugged)
        })
        .collect();
    times.sort();
    let (median, worst) = (times[unplugs / 2], times[unplugs - 1]);
    println!("reconnect, {unplugs} unplugs: median {median:.1?}, worst {worst:.1?}");
}

/// Lines through a monitor, and what they cost.
fn stream(lines: usize, is_bench: bool) {
    let data = tempfile::tempdir().unwrap();
    let board = Pty::open().unwrap();
    let terminal = monitor(&board, data.path());
    pour("firmhand monitor", &board.board, &terminal, lines);
    drop(terminal);
    for (name, part, command) in OTHERS.into_iter().filter(|_| is_bench) {
        let found = std::env::var_os("PATH").is_some_and(|path| {
            std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
        });
        if !found {
            println!("{name}: not on the PATH");
            continue;
        }
        let board = Pty::open().unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let is_tcp = command.contains("TCP");
        let address = tcp.local_addr().unwrap().to_string();
        let command = command.replace("PORT", &board.port).replace("TCP", &address);
        let terminal = Terminal::of(COLS, ROWS, &["sh".to_owned(), "-c".to_owned(), command]);
        thread::sleep(Duration::from_secs(3));
        if !is_tcp {
            pour(name, &board.board, &terminal, lines / part);
        } else if is_ready(&tcp, PollFlags::IN) {
            pour(name, &tcp.accept().unwrap().0, &terminal, lines / part);
        } else {
            println!("{name}: does not listen\n{}", terminal.contents().trim_end());
        }
    }
}

/// Whether that can be done with it within a moment.
fn is_ready(fd: &impl AsFd, flags: PollFlags) -> bool {
    let moment = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
    poll(&mut [PollFd::new(fd, flags)], Some(&moment)).is_ok_and(|ready| ready > 0)
}

/// Writes for as long as there is a program that may read it.
fn write<B: AsFd>(mut board: &B, mut bytes: &[u8], terminal: &Terminal) -> bool
where
    for<'a> &'a B: Write,
{
    while !bytes.is_empty() {
        if terminal.is_gone() {
            return false;
        }
        match board.write(bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                is_ready(board, PollFlags::OUT);
            }
            Err(_) => return false,
        }
    }
    true
}

/// Prints lines on a board until the program at it is idle again.
fn pour<B: AsFd>(name: &str, board: &B, terminal: &Terminal, lines: usize)
where
    for<'a> &'a B: Write,
{
    rustix::io::ioctl_fionbio(board, true).unwrap();
    let mut block = String::new();
    for n in 0..BLOCK {
        let _ = write!(block, "I ({n}) app: reading {n} temp=23.4 hum=41.2 state=ok\r\n");
    }
    let (started, before) = (Instant::now(), terminal.group_cpu());
    if !(0..lines / BLOCK).all(|_| write(board, block.as_bytes(), terminal)) {
        println!("{name}: has ended\n{}", terminal.contents().trim_end());
        return;
    }
    let mut last = (terminal.group_cpu(), Instant::now());
    while last.1.elapsed() < Duration::from_millis(400) {
        thread::sleep(Duration::from_millis(50));
        let now = terminal.group_cpu();
        if now > last.0 {
            last = (now, Instant::now());
        }
    }
    let seconds = (last.1 - started).as_secs_f64();
    let cpu = (last.0 - before).as_secs_f64().max(0.01);
    let per = |seconds: f64| lines as f64 / seconds / 1e3;
    println!(
        "{name:<16} {lines:>8} lines in {seconds:>6.2} s: {:>7.0} thousand/s, {:>7.0} thousand per CPU \
         second, {:>5.1} MB",
        per(seconds),
        per(cpu),
        terminal.memory_kb("VmRSS") as f64 / 1024.0
    );
}

/// Functions and lines of addresses.
fn decode() {
    let folder = tempfile::tempdir().unwrap();
    let elf = std::env::var_os("FIRMHAND_BENCH_ELF")
        .map_or_else(|| compiled(folder.path()), |named| Some(PathBuf::from(named)));
    let Some(elf) = elf else {
        println!("decode: not run, there is no C compiler");
        return;
    };
    let content = std::fs::read(&elf).unwrap();
    let file = object::File::parse(&*content).unwrap();
    let functions = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text);
    let pcs: Vec<u64> = functions
        .filter(|symbol| symbol.size() > 8)
        .flat_map(|symbol| [symbol.address() + 4, symbol.address() + symbol.size() / 2])
        .take(20_000)
        .collect();
    let started = Instant::now();
    let program = Program::open(&elf).unwrap();
    println!("program loaded: {:.1?}, {} addresses", started.elapsed(), pcs.len());
    let mut times = Vec::with_capacity(pcs.len());
    let mut found = 0;
    for pc in &pcs {
        let started = Instant::now();
        found += usize::from(program.frames(*pc).iter().any(|frame| frame.line.is_some()));
        times.push(started.elapsed());
    }
    times.sort();
    let all: Duration = times.iter().sum();
    let (count, median) = (times.len(), times[times.len() / 2]);
    println!(
        "an address: {:.1?} on average, median {median:.1?}, p99 {:.1?}; {found} of {count} have a line",
        all / u32::try_from(count).unwrap(),
        times[count * 99 / 100]
    );
}

/// A program of a thousand functions in fifty files.
fn compiled(folder: &Path) -> Option<PathBuf> {
    let mut files = Vec::new();
    for unit in 0..50 {
        let mut text = String::from("static inline int twice(int x) { return 2 * x; }\n");
        for n in 0..20 {
            let _ = writeln!(
                text,
                "int f{unit}_{n}(int x) {{\n  int y = twice(x) + {n};\n  return y * y;\n}}"
            );
        }
        let file = folder.join(format!("part{unit}.c"));
        std::fs::write(&file, text).unwrap();
        files.push(file);
    }
    let main = folder.join("main.c");
    std::fs::write(&main, "int main(void) { return 0; }\n").unwrap();
    let elf = folder.join("program.elf");
    let mut compiler = Command::new("cc");
    let compiler = compiler.args(["-g", "-O1", "-o"]).arg(&elf).arg(main).args(files);
    compiler.status().is_ok_and(|status| status.success()).then_some(elf)
}
