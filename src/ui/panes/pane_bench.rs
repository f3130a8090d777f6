//! A session in memory and a desk before it, for the tests of panes.

use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::config::Assets;
use crate::model::event::SessionStart;
use crate::model::*;
use crate::model::{LogEvent, ProposalEvent, SessionEvent};
use crate::ui::action::Action;
use crate::ui::agents::Agents;
use crate::ui::clock::Clock;
use crate::ui::pane::{BuildErrors, Cx, Decides, Effect, Keys, Mode, Pane};
use crate::ui::{Depth, Keymap, Theme};
use crate::view::SessionView;

/// What a session keeps, in memory.
#[derive(Default)]
pub(super) struct SessionStore {
    blobs: Mutex<Vec<Vec<u8>>>,
    logs: Mutex<Vec<(LogId, Vec<u8>)>>,
    /// How much of every log is no longer kept.
    gone: Mutex<u64>,
    records: Mutex<Vec<Record>>,
}

impl BlobSource for SessionStore {
    fn blob(&self, hash: &ContentHash) -> Result<Arc<[u8]>, UserError> {
        let blobs = self.blobs.lock().unwrap();
        let found = blobs.iter().find(|bytes| ContentHash::of(bytes) == *hash);
        found.map(|bytes| bytes.as_slice().into()).ok_or_else(|| {
            UserError::new(
                "cannot show the change",
                format!("content {} is missing", hash.short()),
                "",
            )
        })
    }
}

impl LogSource for SessionStore {
    fn read_log(&self, log: LogId, range: Range<u64>) -> Result<Vec<u8>, UserError> {
        let logs = self.logs.lock().unwrap();
        let (_, bytes) = logs.iter().find(|(known, _)| *known == log).unwrap();
        let end = usize::try_from(range.end).unwrap().min(bytes.len());
        let start = usize::try_from(range.start).unwrap();
        assert!(range.start >= *self.gone.lock().unwrap(), "{range:?} is no longer there");
        Ok(bytes.get(start..end).unwrap_or_default().to_vec())
    }

    fn start(&self, log: LogId) -> Result<LogStart, UserError> {
        let gone = *self.gone.lock().unwrap();
        let logs = self.logs.lock().unwrap();
        let (_, bytes) = logs.iter().find(|(known, _)| *known == log).unwrap();
        let before = bytes.get(..usize::try_from(gone).unwrap()).unwrap_or_default();
        let lines = memchr::memchr_iter(b'\n', before).count() as u64;
        Ok(LogStart { bytes: gone, lines, since: (gone > 0).then_some(Timestamp(START + 90_000)) })
    }
}

impl EventSource for SessionStore {
    fn records(&self, range: Range<u64>) -> Result<Vec<Record>, UserError> {
        let records = self.records.lock().unwrap();
        Ok(records.iter().filter(|record| range.contains(&record.seq.0)).cloned().collect())
    }
}

/// Finds a word, and nothing else.
pub(in crate::ui) struct LooksFor(pub &'static str);

impl Examiner for LooksFor {
    fn examine(&self, proposal: &Proposal, content: &[u8]) -> Result<Proposal, UserError> {
        let stored = BlobRef { hash: ContentHash::of(content), bytes: content.len() as u64 };
        let change = proposal.change.with_content(stored).unwrap();
        let text = String::from_utf8_lossy(content);
        let found = (1..).zip(text.lines()).find(|(_, line)| line.contains(self.0));
        let finding = found.map(|(line, _)| {
            let place = FindingPlace { side: Side::New, line, column: None, length: 0 };
            Finding { place: Some(place), ..Finding::new(FindingLevel::Stop, "holds a word") }
        });
        let checks = vec![Check::with(CheckKind::Secrets, finding.into_iter().collect())];
        let facts = Facts { consequence: "writes your edit".into(), ..Facts::default() };
        Ok(Proposal { change, checks, facts, ..proposal.clone() })
    }
}

/// A person's desk.
pub(super) struct PaneBench {
    pub store: Arc<SessionStore>,
    pub view: SessionView,
    pub mode: Mode,
    theme: Theme,
    keymap: Keymap,
    agents: Agents,
    clock: Clock,
    proposals: u32,
}

/// When the session began.
const START: i64 = 1_700_000_000_000;

impl PaneBench {
    pub fn new() -> Self {
        let assets = Assets::built_in();
        let now = Instant::now();
        let mut desk = Self {
            store: Arc::default(),
            view: SessionView::default(),
            mode: Mode::Live,
            theme: Theme::load(&assets, "dark", Depth::True).unwrap(),
            keymap: Keymap::load(&assets, "default").unwrap(),
            agents: Agents::default(),
            clock: Clock { now, anchor: (now, Timestamp(START)), mode: Mode::Live },
            proposals: 0,
        };
        desk.record(Event::Session(SessionEvent::Started(Box::new(SessionStart {
            id: SessionId::new("test"),
            task: "Scan the bus".into(),
            team: "generate".into(),
            project: "/project".into(),
            model: "scripted model".into(),
            toolchain: "virtual board".into(),
            program: "0".into(),
            parts: Default::default(),
        }))));
        desk
    }

    /// Records a fact, a second after the one before.
    pub fn record(&mut self, event: Event) {
        let seq = self.view.seq.next();
        let at = Timestamp(START + 1000 * i64::try_from(seq.0).unwrap());
        let record = Record { v: 1, seq, at, event };
        self.view.apply(&record);
        self.store.records.lock().unwrap().push(record);
        self.clock.anchor = (self.clock.now, at);
    }

    pub fn store(&self, bytes: &[u8]) -> BlobRef {
        self.store.blobs.lock().unwrap().push(bytes.to_vec());
        BlobRef { hash: ContentHash::of(bytes), bytes: bytes.len() as u64 }
    }

    /// Gives up the first `bytes` of every log.
    pub fn give_up(&self, bytes: u64) {
        *self.store.gone.lock().unwrap() = bytes;
    }

    /// Makes a log longer, and records that.
    pub fn log(&mut self, log: LogId, text: &str) {
        let length = {
            let mut logs = self.store.logs.lock().unwrap();
            if !logs.iter().any(|(known, _)| *known == log) {
                logs.push((log, Vec::new()));
            }
            let (_, bytes) = logs.iter_mut().find(|(known, _)| *known == log).unwrap();
            bytes.extend(text.as_bytes());
            let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
            (bytes.len() as u64, lines)
        };
        self.record(Event::Log(LogEvent::Grew { log, bytes: length.0, lines: length.1 }));
    }

    /// Proposes a change as the `index`-th of a batch of `of`; its number.
    pub fn propose(&mut self, change: Change, place: (u32, u32)) -> ProposalId {
        self.propose_knowing(change, place, Facts::default())
    }

    pub fn propose_knowing(
        &mut self,
        change: Change,
        (index, of): (u32, u32),
        facts: Facts,
    ) -> ProposalId {
        let name = "the name is close to driver/i2c.h";
        let checks = vec![
            Check::clean(CheckKind::Parses),
            Check::of(CheckKind::Name, FindingLevel::Warning, name),
            Check::clean(CheckKind::InProject),
        ];
        self.propose_checked(change, (index, of), facts, checks)
    }

    /// A proposal with these checks.
    pub fn propose_checked(
        &mut self,
        change: Change,
        (index, of): (u32, u32),
        facts: Facts,
        checks: Vec<Check>,
    ) -> ProposalId {
        self.proposals += 1;
        let id = ProposalId(self.proposals);
        self.record(Event::Proposal(ProposalEvent::Made(Box::new(Proposal {
            id,
            turn: TurnId(1),
            call: CallId(1),
            agent: AgentName::from("CodeReviewerAgent"),
            tool: ToolName::from("generate_code"),
            reason: "adds the header that the build asked for".into(),
            batch: Batch { id: BatchId(self.proposals - index + 1), index, of },
            change,
            checks,
            facts,
        }))));
        id
    }

    /// Proposes to write a file.
    pub fn propose_save(&mut self, path: &str, old: Option<&str>, new: &str) -> ProposalId {
        let change = Change::Save {
            path: ProjectPath::new(path).unwrap(),
            base: old.map(|old| self.store(old.as_bytes())),
            content: self.store(new.as_bytes()),
        };
        self.propose(change, (1, 1))
    }

    pub fn decide(&mut self, proposal: ProposalId, verdict: Verdict, by: DecidedBy, unseen: u32) {
        let shown = self.view.review.get(proposal).unwrap().proposal.change.hash();
        let decision = Decision { verdict, by, shown, unseen, stops: 0 };
        self.record(Event::Proposal(ProposalEvent::Decided {
            proposal,
            decision: Box::new(decision),
        }));
    }

    /// What time it is here.
    pub fn now(&self) -> Instant {
        self.clock.now
    }

    pub fn wait(&mut self, millis: u64) {
        self.clock.now += Duration::from_millis(millis);
    }

    pub fn cx(&self) -> Cx<'_> {
        Cx {
            view: &self.view,
            timeline: None,
            title: "",
            theme: &self.theme,
            keymap: &self.keymap,
            agents: &self.agents,
            clock: &self.clock,
            mode: self.mode,
            keys: Keys::Here,
            decides: Decides::Now,
            build_errors: BuildErrors::default(),
        }
    }

    /// Draws a pane with its title above, and lets it be seen.
    pub fn show(&self, pane: &mut dyn Pane, width: u16, height: u16) -> String {
        let area = Rect::new(0, 0, width, height);
        let cx = self.cx();
        pane.prepare(area, &cx);
        pane.was_shown();
        // What was seen changes what is said of it.
        pane.prepare(area, &cx);
        let mut buf = Buffer::empty(area);
        pane.draw(area, &mut buf, &cx);
        let rows = (0..height).map(|y| {
            let row: String = (0..width).map(|x| buf[(x, y)].symbol()).collect();
            format!("{}\n", row.trim_end())
        });
        format!("─ {} ─\n{}", pane.title(&cx), rows.collect::<String>())
    }

    /// Presses the key of an action.
    pub fn press(&self, pane: &mut dyn Pane, action: Action) -> Vec<Effect> {
        pane.on_action(action, &self.cx())
    }
}
