//! Tests of the list of a batch, and of the keys that each state names.

use super::board_tests::flash_plan;
use super::edit_tests::take_in;
use super::*;
use crate::model::ProposalEvent;
use crate::model::*;
use crate::ui::action::KeyContext;
use crate::ui::overlay::{BatchList, Overlay};
use crate::ui::pane::{Mode, UiCommand};
use crate::ui::panes::pane_bench::{LooksFor, PaneBench, SessionStore};
use crate::ui::role::Role;

fn pane(desk: &PaneBench) -> ReviewPane {
    ReviewPane::new(Arc::<SessionStore>::clone(&desk.store))
}

/// A batch of files of one line, of which those in `bad` have a finding against them.
fn batch(of: u32, bad: &[u32]) -> (PaneBench, ReviewPane) {
    let mut desk = PaneBench::new();
    for index in 1..=of {
        let path = ProjectPath::new(&format!("main/file_{index}.c")).unwrap();
        let content = desk.store(format!("int a_{index};\n").as_bytes());
        let change = Change::Save { path, base: None, content };
        let id = desk.propose(change.clone(), (index, of));
        let level = if bad.contains(&index) { FindingLevel::Stop } else { FindingLevel::Note };
        let checks = vec![Check::of(CheckKind::Secrets, level, "contains a password")];
        desk.record(Event::Proposal(ProposalEvent::Restated {
            proposal: id,
            change: Box::new(change),
            checks,
            why: String::new(),
        }));
    }
    let mut pane = pane(&desk);
    for _ in 0..of {
        desk.show(&mut pane, 80, 24);
        desk.press(&mut pane, Action::NextProposal);
    }
    pane.queue.back();
    desk.show(&mut pane, 80, 24);
    (desk, pane)
}

fn intents(effects: &[Effect]) -> Vec<Intent> {
    let intent = |effect: &Effect| match effect {
        Effect::Command(UiCommand::Intent(intent)) => Some(intent.clone()),
        _ => None,
    };
    effects.iter().filter_map(intent).collect()
}

fn list(mut effects: Vec<Effect>) -> BatchList {
    match effects.pop() {
        Some(Effect::Open(overlay)) => match *overlay {
            Overlay::Batch(list) => list,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

fn drawn(list: &BatchList, desk: &PaneBench, width: u16, height: u16) -> String {
    let area = Rect::new(0, 0, width, height);
    let mut buf = Buffer::empty(area);
    list.draw(area, &mut buf, &desk.cx());
    let row = |y| (0..width).map(|x| buf[(x, y)].symbol()).collect::<String>();
    (0..height).map(row).collect::<Vec<_>>().join("\n")
}

#[test]
fn findings_come_first_and_are_left_out_of_what_one_key_approves() {
    for bad in [1, 17, 30] {
        let (desk, mut pane) = batch(30, &[bad]);
        let mut list = list(desk.press(&mut pane, Action::ApproveRest));
        for (width, height) in [(80, 24), (120, 40), (200, 60)] {
            let screen = drawn(&list, &desk, width, height);
            let first = screen.find(&format!("file_{bad}.c")).expect("in sight");
            assert!(screen[..first].contains("✗1") && screen.contains("1/30"), "{screen}");
            assert!(screen.contains("A approves 29"), "{screen}");
        }
        let done = intents(&list.on_action(Action::ApproveAll, &desk.cx()));
        let [Intent::DecideAll { shown, verdict: Verdict::Approve }] = &done[..] else {
            panic!("{done:?}")
        };
        assert_eq!(shown.len(), 29);
        assert!(shown.iter().all(|shown| shown.proposal.0 != bad && shown.unseen == 0));
    }
    // A warning is decided by itself as well, and the list says what it warns of.
    let mut desk = PaneBench::new();
    for (index, level) in (1..).zip([FindingLevel::Warning, FindingLevel::Note]) {
        let path = ProjectPath::new(&format!("main/file_{index}.c")).unwrap();
        let content = desk.store(format!("int a_{index};\n").as_bytes());
        let checks = vec![Check::of(CheckKind::Size, level, "removes 95 of 120 lines")];
        let change = Change::Save { path, base: None, content };
        desk.propose_checked(change, (index, 2), Facts::default(), checks);
    }
    let mut pane = pane(&desk);
    desk.show(&mut pane, 120, 40);
    let mut warned = list(desk.press(&mut pane, Action::ApproveRest));
    let screen = drawn(&warned, &desk, 120, 40);
    assert_eq!(screen.matches("removes 95 of 120 lines").count(), 1, "{screen}");
    let done = intents(&warned.on_action(Action::AcceptUnseen, &desk.cx()));
    let [Intent::DecideAll { shown, .. }] = &done[..] else { panic!("{done:?}") };
    assert_eq!(shown.iter().map(|shown| shown.proposal.0).collect::<Vec<_>>(), [2]);
    // With nothing but findings no key approves anything together.
    let (desk, mut pane) = batch(3, &[1, 2, 3]);
    let mut list = list(desk.press(&mut pane, Action::ApproveRest));
    for action in [Action::ApproveAll, Action::AcceptUnseen] {
        assert_eq!(intents(&list.on_action(action, &desk.cx())), []);
    }
    assert_eq!(list.approves_by(), None);
}

#[test]
fn the_list_is_gone_through_to_its_end() {
    let (desk, mut pane) = batch(30, &[]);
    let mut list = list(desk.press(&mut pane, Action::ApproveRest));
    let mut place = |action| {
        list.on_action(action, &desk.cx());
        let screen = drawn(&list, &desk, 80, 24);
        let at = screen.find("batch · ").expect("a title") + "batch · ".len();
        screen[at..].split(' ').next().unwrap_or_default().to_owned()
    };
    assert_eq!(place(Action::Bottom), "30/30");
    assert_eq!(place(Action::Down), "30/30");
    assert_eq!(place(Action::PageUp), "22/30");
    assert_eq!(place(Action::Top), "1/30");
    assert_eq!(place(Action::PageDown), "9/30");
    let last = {
        list.on_action(Action::Bottom, &desk.cx());
        drawn(&list, &desk, 80, 24)
    };
    assert!(last.contains("file_30.c"), "{last}");
}

#[test]
fn a_row_is_opened_decided_there_and_the_list_comes_back() {
    let (desk, mut pane) = batch(4, &[3]);
    let mut all = list(desk.press(&mut pane, Action::ApproveRest));
    let opened = match all.on_action(Action::Accept, &desk.cx()).pop() {
        Some(Effect::Review(ReviewRequest::OpenRow(id))) => id,
        other => panic!("{other:?}"),
    };
    assert_eq!(opened, ProposalId(3), "what was found comes first");
    pane.on_request(ReviewRequest::OpenRow(opened), &desk.view.review);
    assert!(desk.show(&mut pane, 80, 24).contains("a_3"));
    // Back leads to the list as it was.
    let back = list(desk.press(&mut pane, Action::Back));
    assert!(drawn(&back, &desk, 80, 24).contains("1/4"));
    pane.on_request(ReviewRequest::OpenRow(opened), &desk.view.review);
    desk.show(&mut pane, 80, 24);
    let approved = intents(&desk.press(&mut pane, Action::ApproveDespite));
    let rest = list(pane.note_sent(&approved[0], &desk.cx()));
    let screen = drawn(&rest, &desk, 80, 24);
    assert!(screen.contains("1/3") && !screen.contains("file_3.c"), "{screen}");
    assert!(pane.return_to_list(&desk.cx()).is_empty(), "once");
}

fn is_refused(effects: &[Effect]) -> bool {
    effects.iter().any(
        |effect| matches!(effect, Effect::Notice(reported) if reported.role == Role::NoticeError),
    )
}

type ListState = (&'static str, fn() -> (PaneBench, ReviewPane));

fn save(new: &str) -> (PaneBench, ReviewPane) {
    let mut desk = PaneBench::new();
    desk.propose_save("main/a.c", Some("int a;\n"), new);
    let mut pane = pane(&desk);
    desk.show(&mut pane, 80, 24);
    (desk, pane)
}

fn hardware(change: Change) -> (PaneBench, ReviewPane) {
    let mut desk = PaneBench::new();
    desk.propose(change, (1, 1));
    let mut pane = pane(&desk);
    desk.show(&mut pane, 80, 24);
    (desk, pane)
}

/// The person's own version of a change is on screen.
fn edited(text: &str) -> (PaneBench, ReviewPane) {
    let (desk, mut pane) = save("int b;\n");
    pane.examine_by(Arc::new(LooksFor("hunter")));
    let of = pane.own().unwrap().for_decision();
    take_in(&desk, &mut pane, of, text.to_owned());
    desk.show(&mut pane, 80, 24);
    (desk, pane)
}

/// Ways in which something waits.
const WAITING: [ListState; 13] = [
    ("clean", || save("int b;\n")),
    ("unseen lines", || save(&"int b;\n".repeat(90))),
    ("nothing changes", || save("int a;\n")),
    ("a finding", || batch(1, &[1])),
    ("a batch", || batch(3, &[2])),
    ("picking", || {
        let (desk, mut pane) = save("int b;\n");
        desk.press(&mut pane, Action::PickLines);
        (desk, pane)
    }),
    ("picked", || {
        let (desk, mut pane) = save("int b;\n");
        desk.press(&mut pane, Action::PickLines);
        desk.press(&mut pane, Action::ToggleAll);
        (desk, pane)
    }),
    ("damaged content", || {
        let mut desk = PaneBench::new();
        let path = ProjectPath::new("main/a.c").unwrap();
        let content = BlobRef { hash: ContentHash::of(b"gone"), bytes: 4 };
        desk.propose(Change::Save { path, base: None, content }, (1, 1));
        let pane = pane(&desk);
        (desk, pane)
    }),
    ("an edit to be sent", || edited("int c;\n")),
    ("an edit with a finding", || edited("int hunter2;\n")),
    ("an edit with unseen lines", || edited(&"int c;\n".repeat(90))),
    ("a flash with a phrase", || {
        hardware(Change::Flash(FlashPlan { touches_boot: Some(true), ..flash_plan() }))
    }),
    ("an erasure", || {
        let board = flash_plan().board;
        hardware(Change::Erase(ErasePlan { board, region: None }))
    }),
];

#[test]
fn each_key_that_a_state_names_works_in_it() {
    for (name, begin) in WAITING {
        let named = {
            let (desk, mut pane) = begin();
            desk.show(&mut pane, 80, 24);
            let cx = desk.cx();
            let choices = pane.decision(&cx).expect("it waits").choices(&cx);
            choices.into_iter().map(|(action, _)| action).collect::<Vec<_>>()
        };
        assert!(!named.is_empty(), "{name}");
        for action in &named {
            let (desk, mut pane) = begin();
            desk.show(&mut pane, 80, 24);
            let effects = desk.press(&mut pane, *action);
            assert!(!is_refused(&effects), "{name}: {action:?}: {effects:?}");
        }
        // What decides and is not named decides nothing.
        let all = Action::ALL.iter().filter(|action| action.is_decision());
        for action in all.filter(|action| !named.contains(action)) {
            // The longer form of a key that is named.
            let is_longer = matches!(action, Action::RejectStop) && named.contains(&Action::Reject);
            // While lines are picked, its key has another meaning.
            let is_shadowed = name.starts_with("pick") && *action != Action::ApprovePicked;
            if is_longer || is_shadowed || action.home() == KeyContext::Dialog {
                continue;
            }
            let (desk, mut pane) = begin();
            desk.show(&mut pane, 80, 24);
            let effects = desk.press(&mut pane, *action);
            let opens = effects.iter().any(|effect| matches!(effect, Effect::Open(_)));
            assert!(intents(&effects).is_empty() && !opens, "{name}: {action:?}: {effects:?}");
        }
    }
}

/// Contents that take until the sender is dropped to be read.
struct Slow(Arc<SessionStore>, std::sync::Mutex<std::sync::mpsc::Receiver<()>>);

impl BlobSource for Slow {
    fn blob(&self, hash: &ContentHash) -> Result<Arc<[u8]>, UserError> {
        let _ = self.1.lock().unwrap().recv();
        self.0.blob(hash)
    }
}

#[test]
fn while_a_content_is_being_read_it_can_only_be_rejected_or_asked_about() {
    let mut desk = PaneBench::new();
    desk.propose_save("main/a.c", None, &"int a_line_of_source;\n".repeat(5_000));
    let (go, wait) = std::sync::mpsc::channel();
    let slow = Slow(Arc::clone(&desk.store), std::sync::Mutex::new(wait));
    let mut pane = ReviewPane::new(Arc::new(slow));
    let shown = desk.show(&mut pane, 80, 24);
    assert!(shown.contains("still being read"), "{shown}");
    let row = shown.lines().find(|row| row.contains("still being read")).unwrap();
    assert!(row.contains("r reject") && !row.contains("approve") && !row.contains("edit"), "{row}");
    assert!(pane.has_subject_unread(&desk), "a key pressed now is about nothing");
    let approves = |action: &&Action| {
        action.is_decision() && !matches!(action, Action::Reject | Action::RejectStop)
    };
    for action in Action::ALL.iter().filter(approves) {
        let effects = desk.press(&mut pane, *action);
        assert!(intents(&effects).is_empty(), "{action:?}: {effects:?}");
    }
    drop(go);
}

impl ReviewPane {
    fn has_subject_unread(&self, desk: &PaneBench) -> bool {
        matches!(self.subject(&desk.view), Some((Subject::Proposal { is_read: false, .. }, _)))
    }
}

#[test]
fn while_the_keys_go_elsewhere_no_key_is_named() {
    let (desk, mut pane) = save("int b;\n");
    let here = desk.show(&mut pane, 80, 24);
    let cx = Cx { keys: crate::ui::pane::Keys::Elsewhere, ..desk.cx() };
    let area = Rect::new(0, 0, 80, 24);
    pane.prepare(area, &cx);
    let mut buf = Buffer::empty(area);
    pane.draw(area, &mut buf, &cx);
    let row = |y: u16| (0..80).map(|x| buf[(x, y)].symbol()).collect::<String>();
    let there: Vec<String> = (0..24).map(|y| row(y).trim_end().to_owned()).collect();
    let all = there.join("\n");
    assert!(all.contains("waits for your decision") && !all.contains("a approve"), "{all}");
    // Nothing else moves.
    let at = |rows: &[String], text: &str| rows.iter().position(|row| row.contains(text));
    let rows: Vec<String> = here.lines().skip(1).map(str::to_owned).collect();
    assert!(here.contains("a approve"));
    assert_eq!(at(&rows, "int b;"), at(&there, "int b;"));
}

#[test]
fn where_nothing_can_be_decided_no_key_is_named() {
    let decided = || {
        let (mut desk, mut pane) = hardware(Change::Flash(flash_plan()));
        desk.decide(ProposalId(1), Verdict::Approve, DecidedBy::Person, 0);
        desk.record(Event::Proposal(ProposalEvent::Settled {
            proposal: ProposalId(1),
            outcome: Outcome::Applied,
        }));
        desk.show(&mut pane, 80, 24);
        (desk, pane)
    };
    let sent = || {
        let (desk, mut pane) = save("int b;\n");
        pane.queue.send(ProposalId(1), desk.now());
        (desk, pane)
    };
    let replay = || {
        let (mut desk, pane) = save("int b;\n");
        desk.mode = Mode::Replay;
        (desk, pane)
    };
    type Begin<'a> = &'a dyn Fn() -> (PaneBench, ReviewPane);
    let states: [(&str, Begin<'_>); 3] =
        [("decided", &decided), ("sent", &sent), ("replay", &replay)];
    for (name, begin) in states {
        let (desk, mut pane) = begin();
        let shown = desk.show(&mut pane, 80, 24);
        let foot = shown.lines().last().unwrap_or_default();
        for key in ["a approve", "r reject", "u takes", "A list"] {
            assert!(!foot.contains(key), "{name}: {foot}");
        }
        for action in [Action::Approve, Action::Reject, Action::ApproveRest, Action::Undo] {
            assert!(is_refused(&desk.press(&mut pane, action)), "{name}: {action:?}");
        }
    }
    let (desk, mut pane) = decided();
    let why = format!("{:?}", desk.press(&mut pane, Action::Undo));
    assert!(why.contains("a flash cannot be undone"), "{why}");
}
