//! Tests of what is around the panes: palette, themes, help, which-key, mouse, calls.

use crossterm::event::{
    Event as TerminalEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

use super::action::{Action, KeyContext};
use super::fixture::UiBench;
use super::layout::PaneId;
use super::{Mode, ThemeChoice, UiCommand};
use crate::model::{Cost, Event, Intent, ModelEvent, TurnEvent, TurnId, Usage};

fn mouse(desk: &mut UiBench, kind: MouseEventKind, column: u16, row: u16) -> Vec<UiCommand> {
    let modifiers = KeyModifiers::NONE;
    desk.event(&TerminalEvent::Mouse(MouseEvent { kind, column, row, modifiers }))
}

const DOWN: MouseEventKind = MouseEventKind::Down(MouseButton::Left);
const DRAG: MouseEventKind = MouseEventKind::Drag(MouseButton::Left);
const UP: MouseEventKind = MouseEventKind::Up(MouseButton::Left);

#[test]
fn overlays_around_the_panes() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let mut desk = UiBench::at_work(width, height);
        desk.press(":");
        insta::assert_snapshot!(format!("palette_{width}x{height}"), desk.screen());
        desk.type_text("nxt er");
        insta::assert_snapshot!(format!("palette_found_{width}x{height}"), desk.screen());
        desk.press("esc");
        desk.press("?");
        desk.press("/");
        desk.type_text("log");
        insta::assert_snapshot!(format!("help_found_{width}x{height}"), desk.screen());
    }
}

#[test]
fn the_palette_does_what_is_chosen_also_in_another_pane() {
    let mut desk = UiBench::at_work(120, 40);
    desk.press("2 :");
    desk.type_text("zoom");
    assert_eq!(desk.press("enter"), []);
    assert_eq!(desk.ui.bench.areas.layout.panes.len(), 1);
    desk.press("z :");
    desk.type_text("next-tab");
    desk.press("enter");
    assert_eq!(desk.ui.bench.focus.front(), PaneId::Logs);
    assert!(!desk.ui.bench.dialogs.is_open());
}

#[test]
fn the_palette_decides_nothing_and_says_why() {
    let mut desk = UiBench::at_work(120, 40);
    desk.propose(1);
    desk.pass(1000);
    let decides = |action: &&Action| action.is_decision() && action.home() != KeyContext::Dialog;
    for action in Action::ALL.iter().filter(decides) {
        desk.press(":");
        desk.type_text(action.name());
        let commands = desk.press("enter");
        assert_eq!(commands, [], "{}", action.name());
        let message = desk.last_row();
        assert!(message.contains("decide in the"), "{}: {message}", action.name());
        desk.press("esc");
    }
}

#[test]
fn what_cannot_be_done_is_not_listed_and_its_reason_told_when_it_is_named() {
    let mut desk = UiBench::at_work(120, 40);
    desk.press(":");
    desk.type_text("play-pause");
    assert!(desk.screen().contains("play-pause is not possible now: this is not a replay"));
    desk.press("enter");
    assert!(desk.last_row().contains("this is not a replay"), "{}", desk.last_row());
    assert!(desk.ui.bench.dialogs.is_open());
    let mut desk = UiBench::new(120, 40, Mode::Replay);
    desk.begin();
    desk.work();
    desk.sync();
    desk.press(":");
    desk.type_text("toggle-pause");
    assert!(desk.screen().contains("toggle-pause is not possible now: this is a replay"));
}

#[test]
fn every_action_of_the_palette_does_something_or_says_why_not() {
    for action in Action::ALL {
        let mut desk = UiBench::at_work(120, 40);
        desk.press(":");
        desk.type_text(action.name());
        let before = desk.screen();
        let commands = desk.press("enter");
        let after = desk.screen();
        assert!(!commands.is_empty() || before != after, "{} did nothing", action.name());
    }
}

#[test]
fn a_cost_that_nobody_told_is_marked_as_an_estimate() {
    let mut desk = UiBench::at_work(200, 60);
    let answered = |cents: u64, is_estimated| {
        let cost = Cost(cents * 10_000_000);
        let usage = Usage { input: 5, output: 5, cached: 0, cost, is_estimated };
        Event::Turn(TurnEvent::ModelAnswered { turn: TurnId(1), usage, state: None })
    };
    desk.record(5, answered(12, false));
    desk.sync();
    assert!(desk.screen().contains(" $0.12"), "{}", desk.screen());
    desk.record(5, answered(30, true));
    desk.sync();
    assert!(desk.screen().contains(" ~$0.42"), "{}", desk.screen());
}

#[test]
fn a_model_is_chosen_from_the_list_of_those_there_are() {
    let mut desk = UiBench::at_work(80, 24);
    desk.press(":");
    desk.type_text("choose-model");
    assert!(desk.screen().contains("not possible now: a recorded model"), "{}", desk.screen());
    desk.press("esc i");
    desk.type_text("/model");
    desk.press("enter");
    assert!(desk.last_row().contains("a recorded model"), "{}", desk.last_row());
    let chosen = |profile: &str| {
        let (provider, label) = (format!("profile:{profile}"), format!("{profile}-model (openai)"));
        Event::Model(ModelEvent::Chosen { provider, label })
    };
    let mut desk = UiBench::at_work(80, 24);
    desk.record(5, chosen("strong"));
    desk.sync();
    desk.press(":");
    desk.type_text("choose-model");
    desk.press("enter");
    insta::assert_snapshot!("models_80x24", desk.screen());
    desk.press("down");
    let wish = Intent::UseModel { profile: "cheap".into() };
    assert_eq!(desk.press("enter"), [UiCommand::Intent(wish)]);
    assert!(!desk.ui.bench.dialogs.is_open());
    desk.record(5, chosen("cheap"));
    desk.sync();
    assert!(desk.screen().contains("cheap-model (openai)"), "{}", desk.screen());
    desk.press("i");
    desk.type_text("/model");
    desk.press("enter");
    assert!(desk.screen().contains("● cheap"), "{}", desk.screen());
    assert_eq!(desk.press("esc"), []);
    let mut desk = UiBench::new(120, 40, Mode::Replay);
    desk.begin();
    desk.sync();
    desk.press(":");
    desk.type_text("choose-model");
    assert!(desk.screen().contains("not possible now: this is a replay"), "{}", desk.screen());
}

#[test]
fn a_theme_is_shown_while_it_is_chosen_and_comes_back_when_it_is_not() {
    let mut desk = UiBench::at_work(80, 24);
    desk.press(":");
    desk.type_text("choose-theme");
    desk.press("enter");
    assert_eq!(desk.press("down"), [UiCommand::ShowTheme("nord".into())]);
    assert_eq!(desk.press("esc"), [UiCommand::ShowTheme("dark".into())]);
    assert_eq!(desk.ui.arrangement().theme, None);
    desk.press(":");
    desk.type_text("choose-theme");
    desk.press("enter down");
    assert_eq!(desk.press("enter"), [UiCommand::KeepTheme("nord".into())]);
    let theme = desk.ui.bench.scene.looks.theme.clone();
    desk.ui.set_theme(theme, "nord", ThemeChoice::Yes);
    assert_eq!(desk.ui.arrangement().theme.as_deref(), Some("nord"));
}

#[test]
fn the_help_finds_words_and_keys() {
    let mut desk = UiBench::at_work(80, 24);
    desk.press("? /");
    desk.type_text("ctrl-z");
    assert!(desk.screen().contains("Go back to the shell"), "{}", desk.screen());
    desk.press("esc");
    assert!(desk.ui.bench.dialogs.is_open(), "the first esc ends the search");
    desk.press("/");
    desk.type_text("xyzzy");
    assert!(desk.screen().contains("no key matches"));
    desk.press("esc esc");
    assert!(!desk.ui.bench.dialogs.is_open());
}

#[test]
fn a_prefix_shows_all_that_may_follow() {
    let mut desk = UiBench::at_work(80, 24);
    desk.ui.bench.scene.keymap =
        super::Keymap::load(&crate::config::Assets::built_in(), "vim").unwrap();
    desk.press("ctrl-w");
    let screen = desk.screen();
    for words in ["w next pane", "h project", "= reset sizes", "> wider"] {
        assert!(screen.contains(words), "{words}\n{screen}");
    }
    insta::assert_snapshot!("which_key_vim", screen);
    desk.press("h");
    assert_eq!(desk.ui.bench.focus.front(), PaneId::Project);
}

#[test]
fn panes_are_resized_by_keys_and_keep_their_sizes() {
    let mut desk = UiBench::at_work(120, 40);
    let width = |desk: &UiBench, id| desk.ui.bench.areas.layout.pane(id).unwrap().body.width;
    let before = width(&desk, PaneId::Chat);
    desk.press("2 alt-right");
    assert_eq!(width(&desk, PaneId::Chat), before + 4);
    desk.press("3 alt-right");
    assert_eq!(width(&desk, PaneId::Chat), before, "the review grows to the left");
    desk.press("4");
    let rows = desk.ui.bench.areas.layout.pane(PaneId::Logs).unwrap().body.height;
    desk.press("alt-up");
    assert_eq!(desk.ui.bench.areas.layout.pane(PaneId::Logs).unwrap().body.height, rows + 2);
    desk.press("alt-right");
    assert!(desk.last_row().contains("as wide as the screen"), "{}", desk.last_row());
    let sizes = desk.ui.arrangement().sizes;
    assert!(sizes.chat.is_some() && sizes.logs.is_some() && sizes.project.is_none());
    for _ in 0..60 {
        desk.press("1 alt-right");
        desk.screen();
    }
    assert!(width(&desk, PaneId::Review) >= 30 && width(&desk, PaneId::Chat) >= 30);
}

#[test]
fn dragging_selects_and_copies_text_and_no_marks() {
    let mut desk = UiBench::at_work(120, 40);
    let body = desk.ui.bench.areas.layout.pane(PaneId::Chat).unwrap().body;
    mouse(&mut desk, DOWN, body.x, body.y + 4);
    mouse(&mut desk, DRAG, body.right() - 1, body.y + 5);
    let commands = mouse(&mut desk, UP, body.right() - 1, body.y + 5);
    let [UiCommand::Copy(text)] = commands.as_slice() else { panic!("{commands:?}") };
    let screen = desk.screen();
    let lines: Vec<&str> = screen.lines().skip(usize::from(body.y + 4)).take(2).collect();
    assert_eq!(text.lines().count(), 2);
    for (copied, shown) in text.lines().zip(lines) {
        assert!(shown.contains(copied.trim_end()), "{copied:?} {shown:?}");
    }
    assert!(desk.ui.mouse.selection.is_some());
    desk.press("j");
    assert!(desk.ui.mouse.selection.is_none());
}

#[test]
fn the_mouse_never_decides() {
    let mut desk = UiBench::at_work(120, 40);
    desk.propose(1);
    desk.pass(1000);
    for row in 0..40 {
        for column in (0..120).step_by(9) {
            let mut commands = mouse(&mut desk, DOWN, column, row);
            commands.extend(mouse(&mut desk, UP, column, row));
            let decides = |command: &UiCommand| {
                matches!(command, UiCommand::Intent(Intent::Decide { .. } | Intent::Answer { .. }))
            };
            assert!(!commands.iter().any(decides), "{column},{row}: {commands:?}");
        }
    }
}

#[test]
fn a_person_who_looks_elsewhere_is_called_once_for_what_waits() {
    let mut desk = UiBench::at_work(80, 24);
    desk.propose(9);
    desk.pass(10);
    assert_eq!(desk.ui.take_call(), None, "the person is here");
    desk.event(&TerminalEvent::FocusLost);
    desk.pass(10);
    assert_eq!(desk.ui.take_call(), None, "it waited before");
    desk.propose(10);
    desk.pass(10);
    let call = desk.ui.take_call().unwrap();
    assert!(call.contains("asks to save"), "{call}");
    desk.pass(10);
    assert_eq!(desk.ui.take_call(), None);
    desk.event(&TerminalEvent::FocusGained);
    desk.propose(11);
    desk.pass(10);
    assert_eq!(desk.ui.take_call(), None);
}

#[test]
fn the_terminals_title_tells_what_waits_in_clean_words() {
    let mut desk = UiBench::at_work(80, 24);
    desk.propose(1);
    desk.pass(10);
    let title = desk.ui.terminal_title(&desk.view);
    assert!(title.starts_with("firmhand · ") && title.ends_with("1 waiting"), "{title}");
    assert!(!title.chars().any(char::is_control));
}

#[test]
fn keys_sent_in_one_go_to_the_leave_dialog_are_refused_in_words() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut desk = UiBench::at_work(width, height);
        desk.propose(1);
        desk.sync();
        desk.press("q");
        assert!(desk.screen().contains("1 proposal waits for you."), "{}", desk.screen());
        desk.press_after("down", 300);
        assert_eq!(desk.press_after("enter", 0), []);
        assert_eq!(desk.rest(), []);
        assert!(desk.screen().contains("not decided: several keys"), "{}", desk.screen());
    }
}
