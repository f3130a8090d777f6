//! What a person sees of each proposal on the whole screen, and which keys it takes.
//!
//! The line that gives a bad proposal away has to be on the first screen, and few keys have to
//! decide it, on a small terminal as on a large one. Time is simulated.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossterm::event::{Event as TerminalEvent, KeyCode, KeyEvent, KeyModifiers};
use firmhand::config::Assets;
use firmhand::model::event::SessionStart;
use firmhand::model::{
    BlobSource, ContentHash, Event, EventSource, Intent, LogId, LogSource, Proposal, ProposalEvent,
    Record, SessionEvent, Timestamp, UserError, Verdict,
};
use firmhand::text::sanitize;
use firmhand::ui::{Arrangement, Depth, Keymap, Mode, Theme, ThemeState, Ui, UiCommand, UiSetup};
use firmhand::view::SessionView;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Size;

use super::set::{self, Sample, Wanted};
use super::{alarms, examined, is_found_in};

/// A small terminal and a usual one.
const SIZES: [(u16, u16); 2] = [(80, 24), (120, 40)];

/// Screens that are paged through at most.
const MOST_PAGES: usize = 40;

/// Characters of the line before its mark that have to be there too.
const BEFORE: usize = 6;

/// Longest part of a finding that has to stand on one row.
const WORDS: usize = 30;

/// The contents of a sample, by their hashes.
struct Contents(HashMap<ContentHash, Arc<[u8]>>);

impl Contents {
    fn of(sample: &Sample) -> Self {
        let texts = sample.files.values().chain(&sample.base).map(|text| text.clone().into_bytes());
        let files = sample.changes.iter().filter(|wanted| wanted.images.is_empty());
        let files = files.filter(|wanted| !wanted.delete);
        let all = texts.chain(files.map(|wanted| sample.content(wanted)));
        Self(all.map(|bytes| (ContentHash::of(&bytes), bytes.into())).collect())
    }
}

impl BlobSource for Contents {
    fn blob(&self, hash: &ContentHash) -> Result<Arc<[u8]>, UserError> {
        let missing = || UserError::new("cannot show it", "its content is missing", "");
        self.0.get(hash).cloned().ok_or_else(missing)
    }
}

/// A session without logs and records.
struct Nothing;

impl LogSource for Nothing {
    fn read_log(&self, _: LogId, _: std::ops::Range<u64>) -> Result<Vec<u8>, UserError> {
        Ok(Vec::new())
    }
}

impl EventSource for Nothing {
    fn records(&self, _: std::ops::Range<u64>) -> Result<Vec<Record>, UserError> {
        Ok(Vec::new())
    }
}

/// A person before the whole screen.
struct Desk {
    ui: Ui,
    view: SessionView,
    now: Instant,
    terminal: Terminal<TestBackend>,
    keys: usize,
}

impl Desk {
    /// A session in which this proposal waits and was looked at.
    fn before(sample: &Sample, proposal: &Proposal, (width, height): (u16, u16)) -> Self {
        let assets = Assets::built_in();
        let theme = Theme::load(&assets, "dark", Depth::True).unwrap();
        let ui = Ui::new(UiSetup {
            looks: ThemeState { theme, name: "dark".into(), names: Vec::new() },
            keymap: Keymap::load(&assets, "default").unwrap(),
            arrangement: Arrangement::default(),
            mode: Mode::Live,
            size: Size { width, height },
            blobs: Arc::new(Contents::of(sample)),
            logs: Arc::new(Nothing),
            events: Arc::new(Nothing),
            files: None,
            models: Vec::new(),
            history: Vec::new(),
        });
        let terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let view = SessionView::default();
        let mut desk = Self { ui, view, now: Instant::now(), terminal, keys: 0 };
        let start = serde_json::json!({
            "id": "s", "task": sample.task, "team": "generate", "project": "/p", "model": "m",
            "toolchain": "virtual board", "program": "0",
        });
        let start: SessionStart = serde_json::from_value(start).unwrap();
        desk.record(Event::Session(SessionEvent::Started(Box::new(start))));
        desk.record(Event::Proposal(ProposalEvent::Made(Box::new(proposal.clone()))));
        desk.pass(20);
        desk.pass(1_000);
        desk
    }

    fn record(&mut self, event: Event) {
        let seq = self.view.seq.next();
        let at = Timestamp(1_700_000_000_000 + i64::try_from(seq.0).unwrap());
        self.view.apply(&Record { v: 1, seq, at, event });
    }

    fn draw(&mut self) {
        self.terminal.draw(|frame| self.ui.draw(frame, &self.view)).unwrap();
    }

    /// Lets time pass, and what the screen reads aside be read.
    fn pass(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
        self.ui.sync(&self.view, None, self.now);
        self.draw();
        for _ in 0..500 {
            if !self.screen().contains("reading and comparing") {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
            self.ui.sync(&self.view, None, self.now);
            self.draw();
        }
        self.ui.sync(&self.view, None, self.now);
        self.draw();
    }

    /// The drawn cells, row by row.
    fn screen(&self) -> String {
        let buffer = self.terminal.backend().buffer();
        let rows = (0..buffer.area.height)
            .map(|y| (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect::<String>());
        rows.collect::<Vec<_>>().join("\n")
    }

    /// Presses a key after a look, and waits until it has its effect.
    fn press(&mut self, code: KeyCode) -> Vec<Intent> {
        self.keys += 1;
        self.pass(1_200);
        let key = TerminalEvent::Key(KeyEvent::new(code, KeyModifiers::NONE));
        let mut commands = self.ui.on_event(&key, &self.view, self.now);
        self.draw();
        self.now += Duration::from_millis(200);
        commands.extend(self.ui.settle(&self.view, self.now));
        self.pass(20);
        let intents = commands.into_iter().filter_map(|command| match command {
            UiCommand::Intent(intent) => Some(intent),
            _ => None,
        });
        intents.collect()
    }
}

/// Without blanks and signs of wrapping: a line may go on in the next row.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !"↪│┃›✎".contains(*c)).collect()
}

/// Part of a line with the mark in it.
fn around(line: &str, mark: &str) -> String {
    let at = line.find(mark).unwrap_or(0);
    let before = line.get(..at).unwrap_or_default().chars().count();
    line.chars().skip(before.saturating_sub(BEFORE)).take(WORDS.max(mark.chars().count())).collect()
}

/// What of the screen gives the proposal away: the marked line, else the words of a finding.
fn signs(sample: &Sample, proposal: &Proposal, wanted: &Wanted) -> Vec<String> {
    let kinds = sample.kinds();
    if !sample.mark.is_empty() && wanted.images.is_empty() {
        let content = String::from_utf8_lossy(&sample.content(wanted)).into_owned();
        let lines = content.split('\n').filter(|line| line.contains(&sample.mark));
        let mark = squeezed(&sanitize::line(&sample.mark));
        return lines.map(|line| around(&squeezed(&sanitize::line(line)), &mark)).collect();
    }
    let found = alarms(proposal).into_iter().filter(|(kind, _)| kinds.contains(&kind.as_str()));
    let words = |text: &str| squeezed(&sanitize::line(text)).chars().take(WORDS).collect();
    found.map(|(_, finding)| words(&finding.text)).collect()
}

/// The change of a sample that is bad, as it was found to be.
fn bad_change<'a>(
    sample: &'a Sample,
    proposals: &'a [Proposal],
) -> Option<(&'a Proposal, &'a Wanted)> {
    let mut all = proposals.iter().zip(&sample.changes);
    all.find(|(proposal, wanted)| is_found_in(sample, proposal, wanted))
}

fn median(mut numbers: Vec<usize>) -> usize {
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied().unwrap_or(0)
}

#[test]
fn bad_proposals_give_themselves_away_on_the_first_screen_and_take_few_keys() {
    let samples = set::load("bad");
    for size in SIZES {
        let (mut at_once, mut keys, mut hidden) = (0, Vec::new(), Vec::new());
        for sample in &samples {
            let proposals = examined(sample);
            let (proposal, wanted) =
                bad_change(sample, &proposals).unwrap_or_else(|| panic!("{}", sample.name));
            let signs = signs(sample, proposal, wanted);
            let mut desk = Desk::before(sample, proposal, size);
            let shows = |desk: &Desk| {
                let screen = squeezed(&desk.screen());
                signs.iter().any(|sign| screen.contains(sign))
            };
            if shows(&desk) {
                at_once += 1;
            } else {
                hidden.push(format!("{}: {signs:?}\n{}", sample.name, desk.screen()));
            }
            while !shows(&desk) && desk.keys < MOST_PAGES {
                desk.press(KeyCode::PageDown);
            }
            assert!(desk.press(KeyCode::Char('r')).is_empty());
            let sent = desk.press(KeyCode::Enter);
            assert!(
                matches!(
                    sent.as_slice(),
                    [Intent::Decide { shown, verdict: Verdict::Reject { .. } }]
                        if shown.hash == proposal.change.hash()
                ),
                "{}: {sent:?}\n{}",
                sample.name,
                desk.screen()
            );
            keys.push(desk.keys);
        }
        let (all, (width, height), median) = (samples.len(), size, median(keys));
        println!("{width}×{height}: {at_once} of {all} on the first screen, median keys {median}");
        assert!(at_once * 100 >= all * 95, "{width}×{height}:\n{}", hidden.join("\n\n"));
        assert!(median <= 2, "{median} keys");
    }
}

#[test]
fn good_proposals_take_few_keys() {
    let samples = set::load("good");
    for size in SIZES {
        let mut keys = Vec::new();
        for sample in &samples {
            for proposal in &examined(sample) {
                let mut desk = Desk::before(sample, proposal, size);
                let mut sent = Vec::new();
                while sent.is_empty() && desk.keys < MOST_PAGES {
                    // The same key shows what was not seen yet, and approves once all was.
                    sent = desk.press(KeyCode::Char('a'));
                }
                assert!(
                    matches!(
                        sent.as_slice(),
                        [Intent::Decide { shown, verdict: Verdict::Approve }]
                            if shown.unseen == 0 && shown.hash == proposal.change.hash()
                    ),
                    "{}: {sent:?}\n{}",
                    sample.name,
                    desk.screen()
                );
                keys.push(desk.keys);
            }
        }
        let (count, (width, height), median) = (keys.len(), size, median(keys));
        println!("{width}×{height}: {count} good changes, median keys {median}");
        assert!(median <= 2, "{median} keys");
    }
}
