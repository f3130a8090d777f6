//! Random trials against the whole screen: early keys, typing and pasting decide nothing.
//!
//! Time is simulated and chance begins with a fixed seed, so that every run is the same.

use std::time::Duration;

use crossterm::event::{Event as TerminalEvent, KeyCode, KeyEvent, KeyModifiers};

use super::fixture::UiBench;
use super::*;
use crate::model::{
    DecidedBy, Decision, Event, Intent, Outcome, PersonEvent, ProposalEvent, ProposalId, Verdict,
};

const SEED: u64 = 0x5eed_f00d_2024_0611;
const TRIALS: u32 = 1_000;
/// Trials before the session is a new one.
const A_SESSION: u32 = 20;

/// What people type, with more of the keys that decide.
const KEYS: &str = "aaaaAAXXUrrRtuuleEcy!123 abcdefghijklmnopqrstuvwxyz.,\n";

/// Chance: `xorshift64*`.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % end
    }

    fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last - first + 1)
    }

    fn text(&mut self, least: u64, most: u64) -> String {
        let all: Vec<char> = KEYS.chars().collect();
        let length = self.between(least, most);
        let mut key = || all[usize::try_from(self.below(all.len() as u64)).unwrap()];
        (0..length).map(|_| key()).collect()
    }
}

/// What a person does while something comes up to be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    /// Presses keys as soon as it is there, and goes on.
    Early,
    /// Was typing when it came, and goes on.
    Typing,
    /// Pastes text into a terminal that says so.
    Pasting,
    /// Pastes text into a terminal that does not.
    PastingPlainly,
}

struct Person {
    desk: UiBench,
    chance: Chance,
    decided: Vec<Intent>,
    proposals: u32,
    keys: u64,
}

impl Person {
    fn new() -> Self {
        let desk = UiBench::at_work(80, 24);
        Self { desk, chance: Chance(SEED), decided: Vec::new(), proposals: 0, keys: 0 }
    }

    fn note(&mut self, commands: Vec<UiCommand>) {
        for command in commands {
            match command {
                // A message, a pause and the like are no decisions.
                UiCommand::Intent(Intent::Say { .. } | Intent::Pause | Intent::Resume) => {}
                UiCommand::Intent(Intent::Stop) => {}
                UiCommand::Intent(intent) => self.decided.push(intent),
                _ => {}
            }
        }
    }

    /// Lets time pass as the loop of the program does: what is due comes first, and every change
    /// is drawn at once, so that keys come alive as early as they can.
    fn pass(&mut self, millis: u64) {
        let end = self.desk.now + Duration::from_millis(millis);
        while let Some(due) = self.desk.ui.bench.deciding.settles_at().filter(|due| *due <= end) {
            self.desk.now = due;
            let commands = self.desk.ui.settle(&self.desk.view, due);
            self.note(commands);
            self.desk.ui.drawn.set(true);
        }
        self.desk.now = end;
    }

    fn sync(&mut self) {
        self.desk.ui.sync(&self.desk.view, None, self.desk.now);
        self.desk.ui.drawn.set(true);
    }

    fn event(&mut self, event: &TerminalEvent) {
        let commands = self.desk.ui.on_event(event, &self.desk.view, self.desk.now);
        self.note(commands);
        self.desk.ui.drawn.set(true);
    }

    /// Presses keys, each so long after the one before.
    fn type_with(&mut self, text: &str, gap: impl Fn(&mut Chance) -> u64) {
        for key in text.chars() {
            let pause = gap(&mut self.chance);
            self.pass(pause);
            let code = if key == '\n' { KeyCode::Enter } else { KeyCode::Char(key) };
            self.event(&TerminalEvent::Key(KeyEvent::new(code, KeyModifiers::NONE)));
            self.keys += 1;
        }
    }

    /// Something comes up to be decided: a proposal, or now and then a question.
    fn appears(&mut self) {
        if self.chance.below(8) == 0 && self.desk.view.head.question.is_none() {
            self.desk.ask();
        } else {
            self.proposals += 1;
            self.desk.propose(self.proposals);
        }
        self.sync();
        self.pass(1);
        self.sync();
    }

    fn trial(&mut self, doing: Doing) {
        let typed = |chance: &mut Chance| chance.between(40, 390);
        match doing {
            Doing::Early => {
                self.pass(2_000);
                self.appears();
                let text = self.chance.text(2, 8);
                self.type_with(&text, |chance| chance.between(0, 390));
            }
            Doing::Typing => {
                let (before, after) = (self.chance.text(1, 4), self.chance.text(3, 8));
                self.type_with(&before, typed);
                self.pass(20);
                self.appears();
                self.type_with(&after, typed);
            }
            Doing::Pasting => {
                self.appears();
                let wait = self.chance.between(0, 3_000);
                self.pass(wait);
                self.sync();
                let text = self.chance.text(1, 20);
                self.event(&TerminalEvent::Paste(text));
            }
            Doing::PastingPlainly => {
                self.appears();
                let wait = self.chance.between(0, 3_000);
                self.pass(wait);
                self.sync();
                let text = self.chance.text(2, 9);
                let mut is_first = true;
                for key in text.chars() {
                    let gap = if is_first { 0 } else { self.chance.between(0, 9) };
                    is_first = false;
                    self.type_with(&key.to_string(), |_| gap);
                }
            }
        }
        self.pass(2_000);
        self.sync();
    }

    /// Whatever waits is gone; what comes next is new.
    fn settle_all(&mut self) {
        for proposal in self.desk.view.review.waiting.clone() {
            let shown = self.desk.view.review.get(proposal).unwrap().proposal.change.hash();
            let (verdict, by) =
                (Verdict::reject(""), DecidedBy::Nobody("the trial is over".into()));
            let decision = Box::new(Decision { verdict, by, shown, unseen: 0, stops: 0 });
            self.desk.record(1, Event::Proposal(ProposalEvent::Decided { proposal, decision }));
            self.desk.record(
                1,
                Event::Proposal(ProposalEvent::Settled { proposal, outcome: Outcome::Denied }),
            );
        }
        if let Some(question) = self.desk.view.head.question.as_ref().map(|asked| asked.id) {
            self.desk.record(
                1,
                Event::Person(PersonEvent::Answered { question, answer: "Nothing".into() }),
            );
        }
        self.sync();
    }

    /// Ends the trial: what is open is closed, and what waits waits no more.
    fn clear(&mut self, number: u32) {
        self.settle_all();
        let is_new = number.is_multiple_of(A_SESSION)
            || self.desk.ui.bench.dialogs.is_open()
            || self.desk.ui.bench.focus.is_composing();
        if is_new {
            let now = self.desk.now;
            self.desk = UiBench::at_work(80, 24);
            self.desk.now = now.max(self.desk.now);
            self.proposals = 0;
        }
    }
}

#[test]
fn early_keys_typing_and_pasting_decide_nothing_in_1000_trials_before_the_whole_screen() {
    println!("seed {SEED:#x}");
    let start = Instant::now();
    let mut person = Person::new();
    for number in 1..=TRIALS {
        let doing = [Doing::Early, Doing::Typing, Doing::Pasting, Doing::PastingPlainly]
            [number as usize % 4];
        person.trial(doing);
        let notice = person.desk.last_row();
        assert!(
            person.decided.is_empty(),
            "trial {number} {doing:?}: {:?} {notice}",
            person.decided
        );
        person.clear(number);
    }
    println!("{TRIALS} trials, {} keys, 0 decisions, {:?}", person.keys, start.elapsed());
    // The same keys decide after a look: the trials could have failed.
    let mut person = Person::new();
    person.proposals = 1;
    person.desk.propose(1);
    person.sync();
    person.pass(1);
    person.sync();
    person.type_with("a", |_| 1_000);
    person.pass(2_000);
    assert_eq!(person.decided.iter().flat_map(Intent::decides).next(), Some(ProposalId(1)));
}
