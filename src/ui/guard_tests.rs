//! Tests of the guard, in simulated time.

use crossterm::event::{KeyCode, KeyModifiers};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use super::*;
use crate::model::ContentHash;

const CALL: Duration = Duration::from_millis(20);

fn press(c: char) -> KeyEvent {
    KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE)
}

fn proposal(number: u32) -> Subject {
    let hash = ContentHash::of(&number.to_le_bytes());
    Subject::Proposal { id: ProposalId(number), hash, waits: true, is_read: true }
}

/// A person, a guard and the keys that decide, as the screen brings them together.
struct GuardBench {
    guard: Guard,
    start: Instant,
    now: Instant,
    pressed: Option<(char, Instant, Instant)>,
    decided: Vec<(char, u64)>,
    refused: Vec<KeyRefusal>,
    proposals: u32,
}

impl GuardBench {
    fn new() -> Self {
        let start = Instant::now();
        let mut desk = Self {
            guard: Guard::default(),
            start,
            now: start,
            pressed: None,
            decided: Vec::new(),
            refused: Vec::new(),
            proposals: 0,
        };
        desk.guard.look_at(None, start);
        desk
    }

    /// A proposal appears and is drawn.
    fn appears(&mut self) {
        self.proposals += 1;
        if self.guard.look_at(Some(proposal(self.proposals)), self.now) && self.pressed.is_some() {
            self.pressed = None;
            self.refused.push(KeyRefusal::Changed);
        }
        self.guard.drawn(self.now);
    }

    fn pass_to(&mut self, at: u64) {
        self.now = self.start + Duration::from_millis(at);
        if let Some((key, at, due)) = self.pressed.filter(|(_, _, due)| *due <= self.now) {
            self.pressed = None;
            let millis = due.duration_since(self.start).as_millis();
            self.decided.push((key, u64::try_from(millis).unwrap()));
            self.guard.note_decided(Some(Key::of(&press(key))), at);
            // What waits next comes to the screen.
            let now = std::mem::replace(&mut self.now, due + CALL);
            self.appears();
            self.now = now.max(self.now);
        }
    }

    fn key(&mut self, key: char, at: u64) {
        self.pass_to(at);
        self.guard.watch(&press(key), self.now);
        if self.pressed.take().is_some() {
            self.refused.push(self.guard.overtaken());
        }
        if "atruA".contains(key) {
            match self.guard.check(Care::Looked, self.now) {
                Ok(due) => self.pressed = Some((key, self.now, due)),
                Err(refusal) => self.refused.push(refusal),
            }
        }
    }

    /// What was decided once everything came to rest.
    fn decisions(&mut self) -> Vec<(char, u64)> {
        let rest = self.now.duration_since(self.start).as_millis() + 2_000;
        self.pass_to(u64::try_from(rest).unwrap());
        std::mem::take(&mut self.decided)
    }
}

/// A desk with a proposal that appears at 1 s, and these keys.
fn desk_with(keys: &[(char, u64)]) -> GuardBench {
    let mut desk = GuardBench::new();
    let (before, after): (Vec<_>, Vec<_>) = keys.iter().partition(|(_, at)| *at < 1_000);
    before.into_iter().for_each(|(key, at)| desk.key(key, at));
    desk.pass_to(1_000);
    desk.appears();
    after.into_iter().for_each(|(key, at)| desk.key(key, at));
    desk
}

fn decided(keys: &[(char, u64)]) -> Vec<(char, u64)> {
    desk_with(keys).decisions()
}

#[test]
fn a_key_counts_after_a_moment_of_silence_and_takes_effect_when_nothing_follows() {
    assert_eq!(decided(&[('a', 1_399)]), []);
    assert_eq!(desk_with(&[('a', 1_399)]).refused, [KeyRefusal::TooSoon]);
    assert_eq!(decided(&[('a', 1_400)]), [('a', 1_425)]);
    // A key that does something else begins the silence anew, once.
    assert_eq!(desk_with(&[('j', 1_300), ('a', 1_650)]).refused, [KeyRefusal::Typing]);
    assert_eq!(decided(&[('j', 1_300), ('a', 1_650)]), []);
    assert_eq!(decided(&[('j', 1_300), ('a', 1_700)]), [('a', 1_725)]);
    let looked = [('j', 1_500), ('j', 1_700), ('n', 1_900), ('a', 2_060)];
    assert_eq!(decided(&looked), [('a', 2_085)], "after the silence keys come as they come");
}

#[test]
fn the_next_proposal_is_decided_by_the_first_key_after_a_look() {
    let keys = [('a', 2_000), ('a', 2_500), ('a', 3_100), ('r', 3_700), ('a', 4_300)];
    let decisions = decided(&keys);
    assert_eq!(decisions.iter().map(|(key, _)| *key).collect::<String>(), "aaara");
    let waits = decisions.iter().zip(&keys).map(|((_, due), (_, at))| due - at);
    assert!(waits.into_iter().all(|wait| wait <= 130), "{decisions:?}");
}

#[test]
fn nothing_counts_before_it_was_drawn_nor_right_after_more_came_in_sight() {
    let mut guard = Guard::default();
    let now = Instant::now();
    let after = |millis| now + Duration::from_millis(millis);
    assert!(guard.look_at(Some(proposal(1)), now) && !guard.look_at(Some(proposal(1)), now));
    guard.watch(&press('a'), after(5_000));
    assert_eq!(guard.check(Care::Looked, after(5_000)), Err(KeyRefusal::TooSoon));
    guard.drawn(after(6_000));
    guard.drawn(after(9_000));
    assert_eq!(guard.ready_at(), Some(after(6_300)));
    guard.completed(after(6_400));
    guard.watch(&press('a'), after(6_600));
    assert_eq!(guard.check(Care::Looked, after(6_600)), Err(KeyRefusal::TooSoon));
    guard.watch(&press('a'), after(6_800));
    assert!(guard.check(Care::Looked, after(6_800)).is_ok());
    // It changes: all begins anew.
    guard.look_at(Some(proposal(2)), after(7_000));
    assert_eq!(guard.ready_at(), None);
}

#[test]
fn a_key_held_down_decides_once() {
    for (delay, every) in [(250, 33), (660, 33), (500, 100), (1_000, 33), (400, 92)] {
        let mut keys = vec![('a', 2_000)];
        keys.extend((2_000 + delay..6_000).step_by(every).map(|at| ('a', at)));
        assert_eq!(decided(&keys), [('a', 2_025)], "{delay} {every}");
    }
    let mut guard = Guard::default();
    let now = Instant::now();
    guard.watch(&KeyEvent { kind: KeyEventKind::Repeat, ..press('a') }, now);
    assert_eq!(guard.check(Care::Typed, now), Err(KeyRefusal::Held));
}

#[test]
fn pasted_text_decides_nothing_by_any_of_its_keys() {
    for text in ["aaaa", "ab", "ba", "and then do this", "a\n", "ra", "a a a"] {
        for (gap, chunk) in [(0, 99), (1, 99), (4, 99), (9, 99), (20, 99), (0, 2), (1, 3)] {
            let keys: Vec<_> = (0..)
                .zip(text.chars())
                .map(|(n, key)| (key, 2_000 + n * gap + n / chunk * 60))
                .collect();
            let mut desk = desk_with(&keys);
            assert_eq!(desk.decisions(), [], "{text} {gap} {chunk}");
            assert!(desk.refused.contains(&KeyRefusal::Pasted), "{text} {gap} {chunk}");
        }
    }
    // A rest of it that comes late begins like a key of its own, so silence is needed again.
    assert_eq!(decided(&[('x', 2_000), ('y', 2_001), ('a', 2_200)]), []);
    assert_eq!(decided(&[('x', 2_000), ('y', 2_001), ('a', 2_500)]), [('a', 2_525)]);
    let mut desk = desk_with(&[('a', 2_000)]);
    desk.pass_to(2_005);
    desk.guard.pasted(desk.now);
    desk.refused.extend(desk.pressed.take().map(|_| desk.guard.overtaken()));
    desk.key('a', 2_060);
    assert_eq!(desk.refused, [KeyRefusal::Pasted, KeyRefusal::Pasted]);
}

#[test]
fn words_typed_for_a_decision_need_no_silence_but_are_not_pasted() {
    let mut guard = Guard::default();
    let now = Instant::now();
    let after = |millis| now + Duration::from_millis(millis);
    for (key, at) in [('n', 0), ('o', 90)] {
        guard.watch(&press(key), after(at));
    }
    assert!(guard.check(Care::Typed, after(90)).is_ok());
    guard.watch(&press('x'), after(91));
    assert_eq!(guard.check(Care::Typed, after(91)), Err(KeyRefusal::Pasted));
}

/// Text as a person might type or paste it, rich in keys that decide.
fn text() -> impl Strategy<Value = String> {
    "[aartuA bcdefghijk]{2,40}"
}

/// Runs 1,000 trials that are the same each time.
fn trials<S: Strategy>(strategy: &S, check: impl Fn(S::Value)) {
    let config = ProptestConfig { cases: 1_000, failure_persistence: None, ..Default::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    runner
        .run(strategy, |value| {
            check(value);
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_sentence_typed_while_a_proposal_appears_decides_nothing_in_1000_trials() {
    let gaps = prop::collection::vec(80_u64..=120, 40);
    // It appears somewhere in the sentence.
    trials(&(text(), gaps, 0.0_f64..1.0), |(text, gaps, share)| {
        let length: u64 = gaps.iter().take(text.len()).sum();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let mut at = 1_000 - (share * length as f64).min(990.0) as u64;
        let keys: Vec<_> = text
            .chars()
            .zip(&gaps)
            .map(|(key, gap)| {
                at += gap;
                (key, at)
            })
            .collect();
        // Nothing but the first key can come after a rest.
        let keys = &keys[usize::from(keys[0].1 >= 1_400)..];
        assert_eq!(decided(keys), [], "{keys:?}");
    });
}

#[test]
fn early_keys_decide_nothing_in_1000_trials() {
    // Whatever is pressed before, and however often: without a rest of 400 ms nothing counts.
    let gaps = prop::collection::vec(10_u64..400, 1..30);
    trials(&(text(), gaps, 0_u64..400), |(text, gaps, first)| {
        let mut at = 1_000 + first;
        let keys: Vec<_> = text
            .chars()
            .zip(&gaps)
            .map(|(key, gap)| {
                let key = (key, at);
                at += gap;
                key
            })
            .collect();
        assert_eq!(decided(&keys), [], "{keys:?}");
    });
    let every_200: Vec<_> = (0..100).map(|n| ('a', 900 + n * 200)).collect();
    assert_eq!(decided(&every_200), []);
}

#[test]
fn pasting_decides_nothing_in_1000_trials() {
    // Chunks of any size, close together, whenever it comes.
    let chunks = prop::collection::vec((2_usize..12, 0_u64..90), 1..8);
    trials(&(text(), chunks, 0_u64..5_000, 0_u64..20), |(text, chunks, start, gap)| {
        let (mut at, mut keys) = (500 + start, Vec::new());
        let mut letters = text.chars().peekable();
        for (size, pause) in chunks {
            for key in letters.by_ref().take(size) {
                keys.push((key, at));
                at += gap;
            }
            at += pause;
        }
        if keys.len() < 2 || keys[1].1 - keys[0].1 >= 25 {
            return;
        }
        assert_eq!(decided(&keys), [], "{keys:?}");
    });
}

#[test]
fn why_a_key_does_not_count_fits_on_a_small_screen() {
    for refusal in KeyRefusal::ALL {
        assert!(crate::ui::line::width(refusal.words()) <= 78, "{}", refusal.words());
    }
}
