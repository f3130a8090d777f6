//! What the findings about a change of 1,000 lines cost, beside the check of its syntax.
//!
//! Owns the changes that are looked at: one per kind of file that has findings of its own, new as
//! well as edited, and a flash. Prints the median of each without the check of the syntax, which is
//! measured on the same text in the same round: how long one waits, and what all threads together need
//! of processors.

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use firmhand::gate::{FindingsContext, examine};
use firmhand::model::{
    BoardInfo, BuildId, ContentHash, Draft, DraftChange, FlashImage, FlashPlan, ProjectPath,
    Timestamp,
};
use firmhand::text::syntax::{SyntaxError, first_error};
use firmhand::workspace::ProjectDir;

const LINES: usize = 1000;
/// Most that the findings about one change may cost.
const GOAL_MS: f64 = 5.0;

/// Looks `rounds` times at every change.
pub fn run(data: &Path, rounds: usize) {
    let project = data.join("firmware");
    fs::create_dir_all(project.join("main")).unwrap();
    fs::create_dir_all(project.join("build")).unwrap();
    let images = images(&project);
    let project_dir = ProjectDir::open(&project).unwrap();
    let mut context = FindingsContext::default();
    context.chip = Some("esp32".to_owned());
    context.task = "Let the pump run at most half an hour, in main/pump.c".to_owned();
    for (what, change) in changes(images) {
        let (mut times, mut syntax, mut work) = (Vec::new(), Vec::new(), Vec::new());
        let mut found = 0;
        for _ in 0..rounds {
            let draft = Draft { change: change.clone(), reason: String::new(), checks: Vec::new() };
            let (proposals, all) = timed(|| examine(&project_dir, vec![draft], &context));
            let parsed = timed(|| parses(&change)).1;
            times.push((all.waited - parsed.waited).max(0.0));
            work.push((all.worked - parsed.worked).max(0.0));
            syntax.push(parsed.waited);
            found = proposals.iter().flat_map(|p| &p.checks).map(|c| c.findings.len()).sum();
        }
        let most = times.iter().copied().fold(0.0, f64::max);
        let (median, syntax, work) =
            (super::median(times), super::median(syntax), super::median(work));
        println!(
            "findings, {what}: {median:.2} ms, at most {most:.2} ms (goal {GOAL_MS} ms), {found} found; \
             processors {work:.2} ms, syntax {syntax:.2} ms"
        );
    }
}

/// Milliseconds that something takes.
struct Took {
    /// By the clock.
    waited: f64,
    /// Of processors, all threads together.
    worked: f64,
}

/// What something gives, and how long it takes.
fn timed<T>(work: impl FnOnce() -> T) -> (T, Took) {
    let (began, used) = (Instant::now(), processor_ms());
    let made = black_box(work());
    let waited = began.elapsed().as_secs_f64() * 1e3;
    (made, Took { waited, worked: processor_ms() - used })
}

/// Time that this process has had on processors.
fn processor_ms() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// The check of the syntax alone.
fn parses(change: &DraftChange) -> Option<SyntaxError> {
    match change {
        DraftChange::Save { path, content, .. } => {
            first_error(path, std::str::from_utf8(content).unwrap())
        }
        _ => None,
    }
}

fn changes(images: Vec<FlashImage>) -> Vec<(&'static str, DraftChange)> {
    let board = BoardInfo {
        label: "bench".to_owned(),
        chip: "esp32".to_owned(),
        port: "/dev/ttyUSB0".to_owned(),
        simulated: false,
    };
    let flash = FlashPlan {
        board,
        images,
        touches_boot: None,
        options: Vec::new(),
        build: BuildId(1),
        built_at: Timestamp(0),
    };
    vec![
        ("C file, new", new("main/pump.c", c_source(30))),
        ("C file, three lines edited", edited("main/pump.c", c_source(30), few())),
        ("C file, 200 lines edited", edited("main/pump.c", c_source(30), c_source(3600))),
        ("C file without a line as before", edited("main/pump.c", c_source(30), crlf())),
        ("CMakeLists.txt, new", new("main/CMakeLists.txt", cmake("part"))),
        ("CMakeLists.txt, edited", edited("main/CMakeLists.txt", cmake("part"), cmake("piece"))),
        ("sdkconfig, new", new("sdkconfig", sdkconfig("y"))),
        ("sdkconfig, edited", edited("sdkconfig", sdkconfig("n"), sdkconfig("y"))),
        ("partitions.csv, new", new("partitions.csv", partitions(4))),
        ("partitions.csv, edited", edited("partitions.csv", partitions(4), partitions(8))),
        ("flash", DraftChange::Flash(flash)),
    ]
}

fn new(path: &str, content: String) -> DraftChange {
    let path = ProjectPath::new(path).unwrap();
    DraftChange::Save { path, base: None, content: content.into_bytes() }
}

fn edited(path: &str, base: String, content: String) -> DraftChange {
    let (path, base) = (ProjectPath::new(path).unwrap(), Some(base.into_bytes()));
    DraftChange::Save { path, base, content: content.into_bytes() }
}

/// `count` times what `line` writes.
fn lines(count: usize, mut line: impl FnMut(usize, &mut String)) -> String {
    let mut text = String::new();
    for number in 0..count {
        line(number, &mut text);
        text.push('\n');
    }
    text
}

/// Pins and what is named after them, numbers, texts, comments and calls.
fn c_source(limit: u32) -> String {
    let block = |number: usize, text: &mut String| {
        write!(
            text,
            "#define PIN_{number} {pin}\n\
             #define LIMIT_{number} ({limit} + {number})\n\
             static const char *NAME_{number} = \"part {number} of the pump\"; /* a name */\n\
             static void part_{number}(int level)\n\
             {{\n\
             \x20   gpio_set_direction(PIN_{number}, GPIO_MODE_OUTPUT);\n\
             \x20   if (level > LIMIT_{number}) {{ // too high\n\
             \x20       gpio_set_level((gpio_num_t)PIN_{number}, 0);\n\
             \x20   }}\n\
             }}",
            pin = number % 40,
        )
        .unwrap();
    };
    lines(LINES / 10, block)
}

/// Three limits are raised.
fn few() -> String {
    c_source(30).replacen("(30 +", "(3600 +", 3)
}

fn crlf() -> String {
    c_source(30).replace('\n', "\r\n")
}

fn cmake(name: &str) -> String {
    let block = |number: usize, text: &mut String| {
        write!(
            text,
            "# {name} {number}\n\
             set({name}_{number}_SRCS \"{name}_{number}.c\" \"{name}_{number}_test.c\")\n\
             if(CONFIG_USE_{number})\n\
             \x20   list(APPEND srcs ${{{name}_{number}_SRCS}})\n\
             endif()",
        )
        .unwrap();
    };
    lines(LINES / 5, block)
}

fn sdkconfig(value: &str) -> String {
    let line = |number: usize, text: &mut String| match number % 3 {
        0 => write!(text, "# CONFIG_PART_{number} is not set").unwrap(),
        1 => write!(text, "CONFIG_PART_{number}={value}").unwrap(),
        _ => write!(text, "CONFIG_PART_{number}_NAME=\"part {number}\"").unwrap(),
    };
    lines(LINES, line)
}

fn partitions(kib: usize) -> String {
    let line = |number: usize, text: &mut String| {
        let offset = 0x9000 + number * 0x2000;
        write!(text, "data_{number}, data, 0x40, {offset:#x}, {kib}K,").unwrap();
    };
    lines(LINES, line)
}

/// A bootloader, a table and an application of one megabyte, as files of the build.
fn images(project: &Path) -> Vec<FlashImage> {
    let program = |length: usize| {
        let mut content = vec![0x5a; length];
        content[..4].copy_from_slice(&[0xe9, 1, 2, 0x20]);
        content[12..14].copy_from_slice(&[0, 0]);
        content
    };
    let table = vec![0xff; 0xc00];
    let files = [
        ("build/bootloader.bin", 0x1000, program(26 * 1024)),
        ("build/partition-table.bin", 0x8000, table),
        ("build/app.bin", 0x1_0000, program(1024 * 1024)),
    ];
    let image = |(file, offset, content): (&str, u32, Vec<u8>)| {
        fs::write(project.join(file), &content).unwrap();
        FlashImage {
            file: file.to_owned(),
            offset,
            bytes: content.len() as u64,
            hash: ContentHash::of(&content),
            same: false,
        }
    };
    files.into_iter().map(image).collect()
}
