//! Tests of the person's own version of a proposed text, from the editor to the key that sends it.

use super::deciding_tests::{NEW, OLD, at_desk, intent, opened, refusal_text, restate, type_into};
use super::shown::Shown;
use super::*;
use crate::model::{Shown as ShownHash, *};
use crate::ui::overlay::Overlay;
use crate::ui::pane::UiCommand;
use crate::ui::panes::pane_bench::{LooksFor, PaneBench};

/// Lets the check of the person's version end.
pub(super) fn let_check_end(desk: &PaneBench, pane: &mut ReviewPane) {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        pane.choose(&desk.view, desk.now());
        if !pane.own().is_some_and(Shown::is_checking) {
            return;
        }
        assert!(Instant::now() < end, "the check does not end");
        std::thread::yield_now();
    }
}

/// Takes an edit in, and lets its check end.
pub(super) fn take_in(
    desk: &PaneBench,
    pane: &mut ReviewPane,
    of: ShownHash,
    text: String,
) -> String {
    let reported = refusal_text(&pane.edited(of, text, &desk.view.review));
    let_check_end(desk, pane);
    reported
}

/// Does what the effects of a finished edit ask for.
fn finish(desk: &PaneBench, pane: &mut ReviewPane, overlay: &mut Overlay) -> String {
    let effects = overlay.on_action(Action::AcceptText, &desk.cx());
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Command(_))), "{effects:?}");
    let shown = effects.into_iter().find_map(|effect| match effect {
        Effect::Review(ReviewRequest::ShowEdit { shown, text }) => Some((shown, text)),
        _ => None,
    });
    let (shown, text) = shown.expect("the edit is shown");
    take_in(desk, pane, shown, text)
}

/// Types at the start of the proposed text, and finishes the edit.
fn edit(desk: &PaneBench, pane: &mut ReviewPane, text: &str) {
    let mut overlay = opened(desk.press(pane, Action::Edit));
    type_into(&mut overlay, text);
    finish(desk, pane, &mut overlay);
}

fn hash_of(pane: &ReviewPane, desk: &PaneBench) -> ContentHash {
    match pane.subject(&desk.view) {
        Some((Subject::Proposal { hash, waits: true, is_read: true, .. }, _)) => hash,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_edit_is_shown_before_it_is_sent_and_sent_as_it_is_shown() {
    let (mut desk, mut pane, id) = at_desk();
    let proposed = hash_of(&pane, &desk);
    let mut overlay = opened(desk.press(&mut pane, Action::Edit));
    let why = refusal_text(&overlay.on_action(Action::AcceptText, &desk.cx()));
    assert!(why.contains("nothing was edited"), "{why}");
    assert_eq!(overlay.care(), None, "ending an edit decides nothing");
    type_into(&mut overlay, "int mine = 7; ");
    let reported = finish(&desk, &mut pane, &mut overlay);
    assert!(reported.contains("nothing is sent"), "{reported}");
    let shown = desk.show(&mut pane, 90, 24);
    assert!(shown.contains("✎ your edit: 1 line differs from the proposal"), "{shown}");
    let own: Vec<&str> = shown.lines().filter(|row| row.contains("✎+")).collect();
    assert!(own.len() == 1 && own[0].contains("int mine = 7; #include"), "{shown}");
    assert!(shown.contains("→ writes your edit") && shown.contains("a approve your edit"));
    assert!(shown.contains("−") && shown.contains("int a = 1;"), "{shown}");
    // The keys begin anew: what is on screen is something else now.
    let edited = hash_of(&pane, &desk);
    assert_ne!(edited, proposed);
    desk.wait(400);
    let Intent::Amend { shown, how, content, .. } = intent(desk.press(&mut pane, Action::Approve))
    else {
        panic!("no amendment")
    };
    assert_eq!((shown.proposal, shown.hash, shown.unseen), (id, proposed, 0));
    assert_eq!(how, Amended::Edit);
    let change = desk.view.review.get(id).unwrap().proposal.change.clone();
    let stored = BlobRef { hash: ContentHash::of(&content), bytes: content.len() as u64 };
    assert_eq!(change.with_content(stored).unwrap().hash(), edited);
    assert_eq!(String::from_utf8(content).unwrap().replace("int mine = 7; ", ""), NEW);
}

#[test]
fn a_proposal_that_was_approved_with_an_edit_shows_what_was_written() {
    let (mut desk, mut pane, id) = at_desk();
    let content = desk.store(b"int mine = 7;\n");
    let (how, note, phrase) = (Amended::Edit, DecisionNote::default(), None);
    let verdict = Verdict::ApproveAmended { how, content, note, phrase };
    desk.decide(id, verdict, DecidedBy::Person, 0);
    let outcome = Outcome::Applied;
    desk.record(Event::Proposal(ProposalEvent::Settled { proposal: id, outcome }));
    let shown = desk.show(&mut pane, 90, 24);
    assert!(shown.contains("int mine = 7;") && !shown.contains("int a = 10"), "{shown}");
}

#[test]
fn an_edit_is_gone_on_with_put_aside_and_never_lost() {
    let (desk, mut pane, _) = at_desk();
    edit(&desk, &mut pane, "/* one */");
    desk.show(&mut pane, 90, 24);
    // On: the text is as it was left, and leaving the editor leaves the edit.
    let mut overlay = opened(desk.press(&mut pane, Action::Edit));
    let Overlay::Editor(editor) = &overlay else { panic!() };
    assert!(editor.content().contains("/* one */"));
    for effect in overlay.on_action(Action::Cancel, &desk.cx()) {
        if let Effect::Review(keep) = effect {
            pane.on_request(keep, &desk.view.review);
        }
    }
    assert!(desk.show(&mut pane, 90, 24).contains("a approve your edit"));
    // What was typed since is kept too; what shows is never older than that.
    let mut overlay = opened(desk.press(&mut pane, Action::Edit));
    type_into(&mut overlay, "/* two */");
    for effect in overlay.on_action(Action::Cancel, &desk.cx()) {
        if let Effect::Review(keep) = effect {
            pane.on_request(keep, &desk.view.review);
        }
    }
    let shown = desk.show(&mut pane, 90, 24);
    assert!(shown.contains("your edit is set aside") && shown.contains("your decision"), "{shown}");
    let mut overlay = opened(desk.press(&mut pane, Action::Edit));
    finish(&desk, &mut pane, &mut overlay);
    let shown = desk.show(&mut pane, 90, 24);
    assert!(shown.contains("/* two */") && shown.contains("/* one */"), "{shown}");
    // Aside and back.
    assert!(refusal_text(&desk.press(&mut pane, Action::Back)).contains("your edit is kept"));
    let shown = desk.show(&mut pane, 90, 24);
    assert!(shown.contains("your edit is set aside") && !shown.contains("/* two */"), "{shown}");
    let Intent::Decide { verdict, .. } = intent(desk.press(&mut pane, Action::Approve)) else {
        panic!("the proposal itself is on screen again")
    };
    assert_eq!(verdict, Verdict::Approve);
}

#[test]
fn a_finding_in_the_edit_takes_the_key_for_findings() {
    let (desk, mut pane, _) = at_desk();
    edit(&desk, &mut pane, "/* hunter2 */");
    let shown = desk.show(&mut pane, 90, 24);
    assert!(shown.contains("✗ holds a word · line 1"), "{shown}");
    assert!(shown.contains("X approve although it holds a word"), "{shown}");
    let why = refusal_text(&desk.press(&mut pane, Action::Approve));
    assert!(why.contains("not decided") && why.contains("X approves"), "{why}");
    let Intent::Amend { shown, .. } = intent(desk.press(&mut pane, Action::ApproveDespite)) else {
        panic!("no amendment")
    };
    assert_eq!(shown.stops, 1);
    // Once it is edited out, the plain key counts again, and the other one does not.
    let Overlay::Editor(editor) = opened(desk.press(&mut pane, Action::Edit)) else { panic!() };
    let of = editor.shown;
    take_in(&desk, &mut pane, of, NEW.replace("int d;", "int e;"));
    assert!(!desk.show(&mut pane, 90, 24).contains("holds a word"));
    assert!(
        refusal_text(&desk.press(&mut pane, Action::ApproveDespite)).contains("no check found")
    );
    assert!(matches!(intent(desk.press(&mut pane, Action::Approve)), Intent::Amend { .. }));
}

#[test]
fn lines_of_the_edit_that_were_not_on_screen_are_not_sent_by_the_plain_key() {
    let (desk, mut pane, _) = at_desk();
    let mut overlay = opened(desk.press(&mut pane, Action::Edit));
    overlay.on_paste(&"int more;\n".repeat(60));
    finish(&desk, &mut pane, &mut overlay);
    let shown = desk.show(&mut pane, 90, 24);
    assert!(shown.contains("unseen"), "{shown}");
    assert!(desk.press(&mut pane, Action::Approve).is_empty(), "it shows more, and sends nothing");
    let Intent::Amend { shown, .. } = intent(desk.press(&mut pane, Action::ApproveUnseen)) else {
        panic!("no amendment")
    };
    assert!(shown.unseen > 0);
}

#[test]
fn while_an_edit_is_on_screen_no_key_decides_on_what_is_not() {
    let (desk, mut pane, _) = at_desk();
    edit(&desk, &mut pane, "/* one */");
    desk.show(&mut pane, 90, 24);
    for action in [
        Action::Reject,
        Action::RejectStop,
        Action::ApproveTell,
        Action::ApproveRest,
        Action::ApprovePicked,
        Action::PickLines,
        Action::Comment,
        Action::Ask,
        Action::Rules,
    ] {
        let why = refusal_text(&desk.press(&mut pane, action));
        assert!(why.contains("your edit waits here"), "{action:?}: {why}");
    }
    let cx = desk.cx();
    let choices = pane.decision(&cx).unwrap().choices(&cx);
    let offered: Vec<Action> = choices.into_iter().map(|(action, _)| action).collect();
    assert!(offered.starts_with(&[Action::Approve, Action::Edit, Action::Back]), "{offered:?}");
    assert!(!offered.contains(&Action::Reject));
}

#[test]
fn the_own_editor_gets_the_text_and_its_result_waits_for_the_key() {
    let (mut desk, mut pane, _) = at_desk();
    let edit = match desk.press(&mut pane, Action::EditOutside).pop() {
        Some(Effect::Command(UiCommand::EditOutside(edit))) => edit,
        other => panic!("{other:?}"),
    };
    assert_eq!((edit.name.as_str(), edit.text.as_str()), ("a.c", NEW));
    let mine = format!("{NEW}int mine;\n");
    take_in(&desk, &mut pane, edit.shown, mine.clone());
    assert!(desk.show(&mut pane, 90, 24).contains("your edit: 1 line"));
    let sent = intent(desk.press(&mut pane, Action::Approve));
    assert!(matches!(sent, Intent::Amend { content, .. } if content == mine.as_bytes()));
    match desk.press(&mut pane, Action::EditOutside).pop() {
        Some(Effect::Command(UiCommand::EditOutside(again))) => assert_eq!(again.text, mine),
        other => panic!("{other:?}"),
    }
    // The file changed meanwhile: what was edited is about something else, but not lost.
    restate(&mut desk, edit.shown.proposal);
    let shown = desk.show(&mut pane, 90, 24);
    assert!(shown.contains("your edit is set aside") && shown.contains("int other;"), "{shown}");
    assert!(
        refusal_text(&pane.edited(edit.shown, mine.clone(), &desk.view.review)).contains("kept")
    );
    desk.show(&mut pane, 90, 24);
    desk.wait(400);
    let Overlay::Editor(editor) = opened(desk.press(&mut pane, Action::Edit)) else { panic!() };
    assert_eq!(editor.content(), mine);
}

#[test]
fn what_the_person_undid_in_the_proposal_counts_as_a_difference() {
    let (desk, mut pane, id) = at_desk();
    let Overlay::Editor(editor) = opened(desk.press(&mut pane, Action::Edit)) else { panic!() };
    take_in(&desk, &mut pane, editor.shown, OLD.to_owned());
    let shown = desk.show(&mut pane, 90, 24);
    assert!(shown.contains("your edit: 3 lines differ"), "{shown}");
    assert!(shown.contains("nothing changes"), "{shown}");
    // The same as proposed is no edit.
    assert!(
        refusal_text(&pane.edited(editor.shown, NEW.to_owned(), &desk.view.review))
            .contains("nothing")
    );
    assert!(pane.proposals.get(id).unwrap().edit.is_none());
    assert!(!desk.show(&mut pane, 90, 24).contains("your edit"));
}

/// Looks at an edit only when it is let, and then says this.
struct Slow(std::sync::Mutex<std::sync::mpsc::Receiver<()>>, Result<LooksFor, UserError>);

impl Examiner for Slow {
    fn examine(&self, proposal: &Proposal, content: &[u8]) -> Result<Proposal, UserError> {
        let _ = self.0.lock().unwrap().recv();
        self.1.as_ref().map_err(Clone::clone)?.examine(proposal, content)
    }
}

/// A desk with an edit in it whose check goes on until something is sent.
fn slow(says: Result<LooksFor, UserError>) -> (PaneBench, ReviewPane, std::sync::mpsc::Sender<()>) {
    let (desk, mut pane, _) = at_desk();
    let (go_on, wait) = std::sync::mpsc::channel();
    pane.examine_by(Arc::new(Slow(std::sync::Mutex::new(wait), says)));
    let Overlay::Editor(editor) = opened(desk.press(&mut pane, Action::Edit)) else { panic!() };
    let text = NEW.replace("int d;", "int hunter2;");
    let reported = refusal_text(&pane.edited(editor.shown, text, &desk.view.review));
    assert!(reported.contains("nothing is sent"), "{reported}");
    (desk, pane, go_on)
}

#[test]
fn while_an_edit_is_checked_it_is_shown_and_no_key_decides_on_it() {
    let (desk, mut pane, go_on) = slow(Ok(LooksFor("hunter")));
    let shown = desk.show(&mut pane, 90, 24);
    assert!(shown.contains("1 line differs from the proposal · checking…"), "{shown}");
    assert!(shown.contains("checking your edit…") && shown.contains("✎+ int hunter2;"), "{shown}");
    assert!(!shown.contains("holds a word") && !shown.contains("approve your edit"), "{shown}");
    for action in [Action::Approve, Action::ApproveUnseen, Action::ApproveDespite] {
        let why = refusal_text(&desk.press(&mut pane, action));
        assert!(why.contains("not decided") && why.contains("still being checked"), "{why}");
    }
    {
        let cx = desk.cx();
        let choices = pane.on_screen(&cx).unwrap().choices(&cx);
        let offered: Vec<Action> = choices.into_iter().map(|(action, _)| action).collect();
        assert_eq!(offered, [Action::Edit, Action::Back]);
    }
    assert!(pane.next_wake(&desk.view, desk.now()).is_some(), "it looks for the answer");
    let before = pane.subject(&desk.view);
    go_on.send(()).unwrap();
    let_check_end(&desk, &mut pane);
    let shown = desk.show(&mut pane, 90, 24);
    assert!(shown.contains("✗ holds a word · line 5") && !shown.contains("checking"), "{shown}");
    assert_ne!(pane.subject(&desk.view), before, "keys begin anew with what was found");
    assert_eq!(pane.next_wake(&desk.view, desk.now()), None);
    assert!(refusal_text(&desk.press(&mut pane, Action::Approve)).contains("X approves"));
    assert!(matches!(
        intent(desk.press(&mut pane, Action::ApproveDespite)),
        Intent::Amend { shown: ShownHash { stops: 1, .. }, .. }
    ));
}

#[test]
fn an_edit_can_be_left_while_it_is_checked_and_one_that_cannot_be_checked_is_kept() {
    let (desk, mut pane, go_on) = slow(Ok(LooksFor("hunter")));
    desk.press(&mut pane, Action::Back);
    let shown = desk.show(&mut pane, 90, 24);
    assert!(shown.contains("your edit is set aside") && shown.contains("your decision"), "{shown}");
    drop(go_on);
    let failed = UserError::new("Cannot check your version", "the run is over", "");
    let (desk, mut pane, go_on) = slow(Err(failed));
    drop(go_on);
    let_check_end(&desk, &mut pane);
    let shown = desk.show(&mut pane, 120, 24);
    assert!(shown.contains("not checked: Cannot check your version"), "{shown}");
    let why = refusal_text(&desk.press(&mut pane, Action::Approve));
    assert!(why.contains("not decided") && why.contains("the run is over"), "{why}");
    let Overlay::Editor(editor) = opened(desk.press(&mut pane, Action::Edit)) else { panic!() };
    assert!(editor.content().contains("hunter2"), "the text is kept");
}
