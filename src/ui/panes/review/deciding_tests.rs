//! Tests of everything that can be said to a proposal besides yes and no.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use insta::assert_snapshot;

use super::*;
use crate::model::ProposalEvent;
use crate::model::{Shown as ShownHash, *};
use crate::ui::guard::Care;
use crate::ui::overlay::Overlay;
use crate::ui::pane::UiCommand;
use crate::ui::panes::pane_bench::{LooksFor, PaneBench, SessionStore};

pub(super) const OLD: &str = "#include \"i2c_scan.h\"\nint a = 1;\nint b = 2;\nint c = 3;\n";
pub(super) const NEW: &str =
    "#include \"i2c_scan.h\"\nint a = 10;\nint b = 2;\nint c = 30;\nint d;\n";

fn pane(desk: &PaneBench) -> ReviewPane {
    ReviewPane::new(Arc::<SessionStore>::clone(&desk.store))
}

/// A desk with one change in sight that can be decided.
pub(super) fn at_desk() -> (PaneBench, ReviewPane, ProposalId) {
    let mut desk = PaneBench::new();
    let id = desk.propose_save("main/a.c", Some(OLD), NEW);
    let mut pane = pane(&desk);
    pane.examine_by(Arc::new(LooksFor("hunter")));
    desk.show(&mut pane, 90, 24);
    desk.wait(400);
    (desk, pane, id)
}

pub(super) fn intent(effects: Vec<Effect>) -> Intent {
    let found = effects.into_iter().find_map(|effect| match effect {
        Effect::Command(UiCommand::Intent(intent)) => Some(intent),
        _ => None,
    });
    found.expect("an intent")
}

pub(super) fn opened(mut effects: Vec<Effect>) -> Overlay {
    match effects.pop() {
        Some(Effect::Open(overlay)) => *overlay,
        other => panic!("{other:?}"),
    }
}

pub(super) fn refusal_text(effects: &[Effect]) -> String {
    let words = effects.iter().map(|effect| match effect {
        Effect::Notice(notice) => notice.text.clone(),
        other => format!("{other:?}"),
    });
    words.collect()
}

pub(super) fn type_into(overlay: &mut Overlay, text: &str) {
    for letter in text.chars() {
        overlay.on_text(&KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE));
    }
}

#[test]
fn picked_lines_alone_are_approved_and_written() {
    let (desk, mut pane, id) = at_desk();
    desk.press(&mut pane, Action::PickLines);
    assert!(
        refusal_text(&desk.press(&mut pane, Action::ApprovePicked)).contains("no line is picked")
    );
    desk.press(&mut pane, Action::ToggleLine);
    desk.press(&mut pane, Action::Bottom);
    desk.press(&mut pane, Action::ToggleSingle);
    assert_snapshot!("picking", desk.show(&mut pane, 90, 24));
    let Intent::Amend { shown, how, content, note, .. } =
        intent(desk.press(&mut pane, Action::ApprovePicked))
    else {
        panic!("no amendment")
    };
    assert_eq!((shown.proposal, shown.unseen, how), (id, 0, Amended::Lines));
    let text = "#include \"i2c_scan.h\"\nint a = 10;\nint b = 2;\nint c = 3;\nint d;\n";
    assert_eq!(String::from_utf8(content).unwrap(), text);
    assert!(note.is_empty());
}

#[test]
fn a_click_turns_to_a_changed_line_and_another_one_picks_its_hunk() {
    let (desk, mut pane, _) = at_desk();
    let shown = desk.show(&mut pane, 90, 24);
    // Below the title.
    let row = |text: &str| shown.lines().skip(1).position(|line| line.contains(text)).unwrap();
    let click = |pane: &mut ReviewPane, row: usize| {
        let at = Position::new(20, u16::try_from(row).unwrap());
        assert!(pane.on_click(at, &desk.cx()).is_empty());
    };
    click(&mut pane, row("int b = 2"));
    assert!(!pane.is_picking(), "an unchanged line is nothing to pick");
    click(&mut pane, row("int d;"));
    assert!(pane.is_picking());
    assert!(
        refusal_text(&desk.press(&mut pane, Action::ApprovePicked)).contains("no line is picked")
    );
    click(&mut pane, row("int d;"));
    let Intent::Amend { content, .. } = intent(desk.press(&mut pane, Action::ApprovePicked)) else {
        panic!("no amendment")
    };
    assert!(String::from_utf8(content).unwrap().ends_with("int d;\n"));
    click(&mut pane, 0);
    assert!(pane.is_picking(), "a click above the change leaves it as it is");
}

#[test]
fn picking_ends_with_back_and_with_another_proposal() {
    let (mut desk, mut pane, id) = at_desk();
    desk.press(&mut pane, Action::PickLines);
    assert!(pane.is_picking());
    desk.press(&mut pane, Action::Back);
    assert!(!pane.is_picking());
    desk.press(&mut pane, Action::PickLines);
    desk.decide(id, Verdict::reject(""), DecidedBy::Nobody("gone".into()), 0);
    desk.propose_save("main/b.c", Some(OLD), NEW);
    desk.show(&mut pane, 90, 24);
    assert!(!pane.is_picking());
}

#[test]
fn lines_that_were_not_on_screen_cannot_be_picked_into_an_approval() {
    let mut desk = PaneBench::new();
    let text: String = (0..60).map(|n| format!("int line_{n};\n")).collect();
    desk.propose_save("main/a.c", None, &text);
    let mut pane = pane(&desk);
    desk.show(&mut pane, 80, 18);
    desk.wait(400);
    desk.press(&mut pane, Action::PickLines);
    desk.press(&mut pane, Action::ToggleAll);
    let why = refusal_text(&desk.press(&mut pane, Action::ApprovePicked));
    assert!(why.contains("were not on screen"), "{why}");
    for action in [Action::Edit, Action::EditOutside, Action::ApproveTell] {
        let why = refusal_text(&desk.press(&mut pane, action));
        assert!(why.contains("not on screen"), "{action:?}: {why}");
    }
}

pub(super) fn restate(desk: &mut PaneBench, id: ProposalId) {
    let path = ProjectPath::new("main/a.c").unwrap();
    let base = Some(desk.store(b"int other;\n"));
    let content = desk.store(b"int other;\nint d;\n");
    let change = Change::Save { path, base, content };
    let why = "main/a.c changed on disk".to_owned();
    desk.record(Event::Proposal(ProposalEvent::Restated {
        proposal: id,
        change: Box::new(change),
        checks: Vec::new(),
        why,
    }));
}

#[test]
fn a_restated_proposal_is_new_to_the_eye_and_keeps_the_persons_words() {
    let (mut desk, mut pane, id) = at_desk();
    let words = ReviewRequest::Words { proposal: id, words: "too much".into() };
    pane.on_request(words, &desk.view.review);
    desk.press(&mut pane, Action::PickLines);
    restate(&mut desk, id);
    let shown = desk.show(&mut pane, 90, 24);
    assert!(shown.contains("changed while it waited: main/a.c changed on disk"), "{shown}");
    assert!(shown.contains("int other;") && !shown.contains("int a = 10"), "{shown}");
    assert!(!pane.is_picking());
    desk.wait(400);
    let Overlay::Words(words) = opened(desk.press(&mut pane, Action::Reject)) else { panic!() };
    assert_eq!(words.words(), "too much");
    let now = desk.view.review.get(id).unwrap().proposal.change.hash();
    assert_eq!(words.shown.hash, now);
}

#[test]
fn comments_stand_beside_their_line_and_go_with_the_decision() {
    let (desk, mut pane, id) = at_desk();
    assert!(refusal_text(&desk.press(&mut pane, Action::Comment)).contains("go to the line"));
    let mut overlay = opened(desk.press(&mut pane, Action::Comment));
    type_into(&mut overlay, "why ten?");
    let effects = overlay.on_action(Action::Accept, &desk.cx());
    for effect in effects {
        if let Effect::Review(keep) = effect {
            pane.on_request(keep, &desk.view.review);
        }
    }
    let shown = desk.show(&mut pane, 90, 24);
    assert!(shown.contains("┃ why ten?"), "{shown}");
    let mut overlay = opened(desk.press(&mut pane, Action::RejectStop));
    type_into(&mut overlay, "no");
    let Intent::Decide { shown: ShownHash { proposal, .. }, verdict } =
        intent(overlay.on_action(Action::Accept, &desk.cx()))
    else {
        panic!("no decision")
    };
    let comment = LineComment { side: Side::Old, line: 2, text: "why ten?".into() };
    let verdict_wanted =
        Verdict::Reject { reason: "no".into(), comments: vec![comment], then: AfterReject::Stop };
    assert_eq!((proposal, verdict), (id, verdict_wanted));
}

#[test]
fn telling_approves_and_asking_does_not() {
    let (desk, mut pane, id) = at_desk();
    let mut overlay = opened(desk.press(&mut pane, Action::ApproveTell));
    assert_eq!(overlay.care(), Some(Care::Typed));
    assert!(
        refusal_text(&overlay.on_action(Action::Accept, &desk.cx())).contains("message is empty")
    );
    type_into(&mut overlay, "next time smaller");
    let Intent::Decide { verdict, .. } = intent(overlay.on_action(Action::Accept, &desk.cx()))
    else {
        panic!("no decision")
    };
    assert_eq!(verdict, Verdict::ApproveAndTell { note: DecisionNote::new("next time smaller") });
    let mut overlay = opened(desk.press(&mut pane, Action::Ask));
    assert_eq!(overlay.care(), None);
    overlay.on_action(Action::Down, &desk.cx());
    let Intent::Inquire { proposal, excerpt, text } =
        intent(overlay.on_action(Action::Accept, &desk.cx()))
    else {
        panic!("no question")
    };
    assert_eq!((proposal, text.as_str()), (id, "Why is this needed?"));
    let excerpt = excerpt.unwrap();
    assert_eq!((excerpt.side, excerpt.first, excerpt.last), (Side::New, 2, 5));
    assert!(excerpt.text.starts_with("-int a = 1;\n+int a = 10;\n"), "{}", excerpt.text);
}

#[test]
fn a_flash_that_touches_the_boot_is_typed_and_hardware_has_no_always() {
    let mut desk = PaneBench::new();
    let plan = FlashPlan {
        board: BoardInfo {
            label: "DevKit".into(),
            chip: "esp32".into(),
            port: "/dev/ttyUSB0".into(),
            simulated: false,
        },
        images: vec![FlashImage {
            file: "build/app.bin".into(),
            offset: 0x10000,
            bytes: 181_232,
            hash: ContentHash::of(b"app"),
            same: false,
        }],
        touches_boot: Some(true),
        options: Vec::new(),
        build: BuildId(2),
        built_at: Timestamp(1_700_000_001_000),
    };
    desk.propose(Change::Flash(plan), (1, 1));
    let mut pane = pane(&desk);
    desk.show(&mut pane, 90, 24);
    desk.wait(400);
    let hints = pane.hints(&desk.cx());
    assert!(hints.contains(&Action::Rules) && !hints.contains(&Action::Comment), "{hints:?}");
    let mut overlay = opened(desk.press(&mut pane, Action::Approve));
    assert!(overlay.care().is_some() && !overlay.on_paste("flash esp32 boot"));
    type_into(&mut overlay, "flash esp32 boo");
    assert!(refusal_text(&overlay.on_action(Action::Accept, &desk.cx())).contains("exactly"));
    type_into(&mut overlay, "t");
    let Intent::Decide { verdict, .. } = intent(overlay.on_action(Action::Accept, &desk.cx()))
    else {
        panic!("no decision")
    };
    assert_eq!(verdict, Verdict::ApproveConfirmed { phrase: "flash esp32 boot".into() });
    let Overlay::Rules(mut rules) = opened(desk.press(&mut pane, Action::Rules)) else { panic!() };
    let Intent::AddRule { rule } = intent(rules.on_action(Action::Accept)) else { panic!() };
    assert_eq!(rule.says, RuleSays::Never);
    assert!(refusal_text(&desk.press(&mut pane, Action::PickLines)).contains("as a whole"));
}

#[test]
fn rules_name_their_scope_and_can_be_ended() {
    let (mut desk, mut pane, _) = at_desk();
    let Overlay::Rules(mut rules) = opened(desk.press(&mut pane, Action::Rules)) else { panic!() };
    rules.on_action(Action::Down);
    let Intent::AddRule { rule } = intent(rules.on_action(Action::Accept)) else { panic!() };
    assert_eq!(rule.to_string(), "always save main/**");
    desk.record(Event::Proposal(ProposalEvent::RuleAdded { rule: RuleId(1), says: rule }));
    let Overlay::Rules(mut rules) = opened(desk.press(&mut pane, Action::Rules)) else { panic!() };
    rules.on_action(Action::Bottom);
    let ended = intent(rules.on_action(Action::Accept));
    assert_eq!(ended, Intent::RevokeRule { rule: RuleId(1) });
}

#[test]
fn an_applied_change_is_taken_back_from_the_history() {
    let (mut desk, mut pane, id) = at_desk();
    assert!(refusal_text(&desk.press(&mut pane, Action::Undo)).contains("still waits"));
    desk.decide(id, Verdict::Approve, DecidedBy::Person, 0);
    desk.record(Event::Proposal(ProposalEvent::Settled {
        proposal: id,
        outcome: Outcome::Applied,
    }));
    assert!(desk.show(&mut pane, 90, 24).contains("u undoes it"));
    assert_eq!(intent(desk.press(&mut pane, Action::Undo)), Intent::Undo { proposal: id });
}

#[test]
fn a_failed_check_changes_what_is_offered_first_and_decides_nothing() {
    let (mut desk, mut pane, id) = at_desk();
    let mut change = desk.view.review.get(id).unwrap().proposal.change.clone();
    if let Change::Save { path, .. } = &mut change {
        *path = ProjectPath::new("main/b.c").unwrap();
    }
    let note = "does not parse: `{` is never closed";
    let failed = Check::of(CheckKind::Parses, FindingLevel::Stop, note);
    let why = "changed".to_owned();
    desk.record(Event::Proposal(ProposalEvent::Restated {
        proposal: id,
        change: Box::new(change),
        checks: vec![failed],
        why,
    }));
    let shown = desk.show(&mut pane, 90, 24);
    let (reject, approve) =
        (shown.find("r reject"), shown.find("X approve although it does not parse"));
    assert!(reject.is_some() && reject < approve && !shown.contains("a approve"), "{shown}");
    for other in [Action::Approve, Action::ApproveUnseen, Action::ApproveTell] {
        let why = refusal_text(&desk.press(&mut pane, other));
        assert!(why.contains("not decided") && why.contains("X approves it"), "{other:?}: {why}");
    }
    let Intent::Decide { shown, verdict } = intent(desk.press(&mut pane, Action::ApproveDespite))
    else {
        panic!("no decision")
    };
    assert_eq!((shown.stops, verdict), (1, Verdict::Approve));
    assert!(matches!(opened(desk.press(&mut pane, Action::Details)), Overlay::Details(_)));
}

#[test]
fn what_was_sent_is_not_asked_for_again() {
    let (desk, mut pane, id) = at_desk();
    pane.queue.send(id, desk.now());
    assert!(refusal_text(&desk.press(&mut pane, Action::Approve)).contains("being sent"));
    let shown = pane.own().map(|shown| shown.for_decision());
    assert!(matches!(shown, Some(ShownHash { unseen: 0, .. })));
}
