//! Whether keys that nobody meant as a decision decide: `cargo bench --bench typing -- [--trials N]
//! [--at-once N] [--seed N]`.
//!
//! Each trial drives the real program in a pseudo-terminal, in real time, while a proposal appears:
//! words typed at 80 to 120 ms a key, `a` every 200 ms, one key just before or after it is on screen,
//! and pasted text without brackets, in one piece or several. Then the journal tells what was decided.
//! In some trials the same key follows after a pause, and has to decide: else the trials would show
//! nothing. Prints the counts, and ends with code 1 when anything was decided or such a key was not
//! taken. Without `--bench` it makes a few trials, to show that it works.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a bench prints and may stop"
)]

#[path = "support/pty.rs"]
mod pty;
#[path = "support/stage.rs"]
#[allow(dead_code, reason = "other benches use more of it")]
mod stage;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use pty::Terminal;
use stage::Stage;

const COLS: u16 = 120;
const ROWS: u16 = 40;

/// What is on screen once the proposal is.
const MARK: &str = "int answer = 42;";

/// A pause after which a key counts again, whatever came before.
const PAUSE: Duration = Duration::from_millis(1_500);

/// Keys of a paste follow each other within this; where this bench itself was slower, it typed.
const PASTE_GAP: Duration = Duration::from_millis(10);

/// Until a decision is in the journal.
const EFFECT: Duration = Duration::from_millis(600);

/// Of so many trials one ends with a key that has to decide.
const CHECKED: usize = 8;

const WORDS: [&str; 20] = [
    "and", "then", "a", "rather", "all", "of", "do", "not", "yes", "take", "that", "apply",
    "again", "no", "stop", "the", "pump", "with", "this", "quite",
];

const PASTES: [&str; 8] =
    ["aaaa", "ab", "and then do this", "a\r", "aA", "a a a", "yes\r", "rather not\r"];

/// How keys come that are no decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// Words, 80 to 120 ms a key.
    Words,
    /// `a` every 200 ms.
    Repeated,
    /// One key about when the proposal appears.
    Early,
    /// Several keys at once.
    Pasted,
}

impl Manner {
    const ALL: [Self; 4] = [Self::Words, Self::Repeated, Self::Early, Self::Pasted];
}

/// Before a key that comes so soon after the proposal was recorded nobody can have looked.
const NO_LOOK: Duration = Duration::from_millis(280);

/// What a trial came to.
#[derive(Debug, Clone, Copy, Default)]
struct Trial {
    was_decided: bool,
    /// Whether the key after the pause decided; `None` where there was none.
    was_taken: Option<bool>,
}

/// The same chance for the same seed (xorshift64*).
struct Chance(u64);

impl Chance {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % most
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        let at = self.below(all.len() as u64);
        all[usize::try_from(at).unwrap()]
    }

    fn millis(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(from + self.below(to - from + 1))
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let is_bench = args.iter().any(|arg| arg == "--bench");
    let number = |name: &str, usual: usize| {
        let at = args.iter().position(|arg| arg == name);
        at.and_then(|at| args.get(at + 1)?.parse().ok()).unwrap_or(usual)
    };
    let trials = number("--trials", if is_bench { 1_000 } else { 4 });
    let at_once = number("--at-once", if is_bench { 10 } else { 2 });
    let seed = number("--seed", 1) as u64;
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(Manner, Trial)>> = Mutex::new(Vec::new());
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= trials {
                        return;
                    }
                    let manner = Manner::ALL[number % Manner::ALL.len()];
                    let chance = Chance::new(seed * 1_000_003 + number as u64);
                    let is_checked = (number / Manner::ALL.len()).is_multiple_of(CHECKED);
                    let trial = until_valid(manner, chance, is_checked);
                    if trial.was_decided {
                        println!("trial {number} ({manner:?}) decided");
                    }
                    results.lock().unwrap().push((manner, trial));
                }
            });
        }
    });
    let is_good = report(&results.into_inner().unwrap(), began.elapsed());
    std::process::exit(i32::from(!is_good));
}

fn report(results: &[(Manner, Trial)], time: Duration) -> bool {
    let count = |is: &dyn Fn(&(Manner, Trial)) -> bool| results.iter().filter(|it| is(it)).count();
    for manner in Manner::ALL {
        let all = count(&|(of, _)| *of == manner);
        let decided = count(&|(of, trial)| *of == manner && trial.was_decided);
        println!("{manner:?}: {decided} decisions in {all} trials");
    }
    let decided = count(&|(_, trial)| trial.was_decided);
    let checked = count(&|(_, trial)| trial.was_taken.is_some());
    let taken = count(&|(_, trial)| trial.was_taken == Some(true));
    let is_good = decided == 0 && taken == checked && checked > 0;
    println!(
        "{decided} decisions in {} trials, goal 0; a key after a pause decided in {taken} of \
         {checked}: {}; {:.0} s",
        results.len(),
        if is_good { "met" } else { "MISSED" },
        time.as_secs_f64()
    );
    is_good
}

/// The program with a proposal that appears after a while.
fn start(chance: &mut Chance) -> (Stage, Terminal) {
    let stage = Stage::new();
    let think = chance.millis(300, 1_500).as_millis();
    let script = stage::thinking(&stage::save("main/main.c", &format!("{MARK}\n")));
    stage.script(&script.replace("think_ms = 500", &format!("think_ms = {think}")), "ask");
    let terminal = stage.run(COLS, ROWS);
    terminal.wait("the first frame", |screen| screen.contents().contains("firmhand"));
    (stage, terminal)
}

/// A trial; one more where this bench itself was too late with an early key.
fn until_valid(manner: Manner, mut chance: Chance, is_checked: bool) -> Trial {
    loop {
        if let Some(trial) = run(manner, &mut chance, is_checked) {
            return trial;
        }
    }
}

fn run(manner: Manner, chance: &mut Chance, is_checked: bool) -> Option<Trial> {
    let (stage, mut terminal) = start(chance);
    let mut pressed = None;
    match manner {
        Manner::Words => words(&mut terminal, chance),
        Manner::Repeated => {
            until_after(&mut terminal, chance, |_, _| ("a".to_owned(), Duration::from_millis(200)));
        }
        Manner::Early => pressed = early(&mut terminal, chance),
        Manner::Pasted if !paste(&mut terminal, chance) => return None,
        Manner::Pasted => {}
    }
    sleep(EFFECT);
    if manner == Manner::Early {
        let proposed = Duration::from_millis(until_recorded(&stage, "proposed"));
        if pressed.is_none_or(|pressed| pressed > proposed + NO_LOOK) {
            return None;
        }
    }
    let is_decided = || stage.recorded("decided").is_some();
    let was_decided = is_decided();
    // Words may have opened anything.
    let was_taken = (is_checked && !was_decided && manner != Manner::Words).then(|| {
        sleep(PAUSE);
        terminal.type_keys("a");
        let deadline = Instant::now() + 8 * EFFECT;
        while Instant::now() < deadline && !is_decided() {
            sleep(Duration::from_millis(50));
        }
        is_decided()
    });
    Some(Trial { was_decided, was_taken })
}

/// When the first record of that kind was made, in milliseconds since 1970; waits for it.
fn until_recorded(stage: &Stage, kind: &str) -> u64 {
    for _ in 0..600 {
        if let Some(at) = stage.recorded(kind) {
            return at;
        }
        sleep(Duration::from_millis(50));
    }
    stage.recorded(kind).expect("it is recorded within half a minute")
}

/// Types from now on until the proposal was on screen for a second or two.
fn until_after(
    terminal: &mut Terminal,
    chance: &mut Chance,
    mut next: impl FnMut(&mut Chance, usize) -> (String, Duration),
) {
    let goes_on = chance.millis(900, 2_200);
    let began = Instant::now();
    let mut shown: Option<Instant> = None;
    for number in 0.. {
        let (key, pause) = next(chance, number);
        terminal.type_keys(&key);
        sleep(pause);
        if shown.is_none() && terminal.contents().contains(MARK) {
            shown = Some(Instant::now());
        }
        let is_over = shown.is_some_and(|at| at.elapsed() > goes_on);
        if is_over || terminal.is_gone() || began.elapsed() > Duration::from_secs(12) {
            return;
        }
    }
}

/// Half of the trials leave out what opens the line for messages or leaves the program.
fn words(terminal: &mut Terminal, chance: &mut Chance) {
    let opens = ['i', 'q', '/', ':'];
    let is_plain = chance.below(2) == 0;
    let mut rest = String::new();
    until_after(terminal, chance, |chance, _| {
        while rest.is_empty() {
            let word = chance.of(&WORDS);
            if !(is_plain && word.contains(opens)) {
                let end = if chance.below(12) == 0 { "\r" } else { " " };
                rest = format!("{word}{end}");
            }
        }
        let key = rest.remove(0).to_string();
        (key, chance.millis(80, 120))
    });
}

/// One key that a person pressed before there was time to look, and when that was; `None` when the
/// time for it had gone by.
fn early(terminal: &mut Terminal, chance: &mut Chance) -> Option<Duration> {
    let key = chance.of(&["a", "a", "a", "A", "\r", "y"]);
    let is_before = chance.below(3) == 0;
    if is_before {
        sleep(chance.millis(0, 1_200));
    } else {
        terminal.wait_text(MARK);
        sleep(chance.millis(0, 220));
    }
    let pressed = SystemTime::now().duration_since(UNIX_EPOCH).ok();
    terminal.type_keys(key);
    terminal.wait_text(MARK);
    pressed
}

/// Text without brackets, once there was time to look. Tells whether it came as fast as a paste
/// comes.
fn paste(terminal: &mut Terminal, chance: &mut Chance) -> bool {
    terminal.wait_text(MARK);
    sleep(chance.millis(1_000, 2_000));
    let text = chance.of(&PASTES);
    let gap = chance.below(6);
    if chance.below(2) == 0 {
        terminal.type_keys(text);
    } else {
        let mut before: Option<Instant> = None;
        for key in text.chars() {
            terminal.type_keys(&key.to_string());
            let now = Instant::now();
            if before.is_some_and(|before| now - before > PASTE_GAP) {
                return false;
            }
            before = Some(now);
            sleep(Duration::from_millis(gap));
        }
    }
    sleep(Duration::from_millis(300));
    // What it may have opened.
    terminal.type_keys("\x1b");
    true
}
