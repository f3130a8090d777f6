//! Tests of what the screen offers: only what can be done, once, and the same in every look.

use std::time::Duration;

use super::fixture::UiBench;
use super::overlay::PaletteUses;
use super::*;
use crate::config::Assets;

fn rows(desk: &UiBench) -> Vec<String> {
    desk.screen().lines().map(str::to_owned).collect()
}

#[test]
fn the_palette_lists_what_can_be_done_and_what_was_chosen_most_often_first() {
    let mut desk = UiBench::new(120, 40, Mode::Live);
    desk.begin();
    desk.sync();
    desk.press(":");
    let all = desk.screen();
    assert!(!all.contains("not now") && !all.contains("next-proposal"), "{all}");
    desk.type_text("approve-rest");
    assert!(desk.screen().contains("approve-rest is not possible now"), "{}", desk.screen());
    desk.press("esc : ");
    desk.type_text("zoom");
    desk.press("enter :");
    let entries: Vec<String> =
        rows(&desk).into_iter().skip_while(|row| !row.contains("type an action")).collect();
    assert!(entries.iter().skip(2).take(1).any(|row| row.contains("zoom")), "{entries:#?}");
    assert_eq!(desk.ui.arrangement().used, PaletteUses::from([("zoom".to_owned(), 1)]));
}

#[test]
fn hints_offer_what_does_something_and_not_what_the_pane_says_already() {
    let mut desk = UiBench::at_work(120, 40);
    desk.press("3");
    let row = desk.last_row();
    assert!(!row.contains("next hunk") && !row.contains("next proposal"), "{row}");
    desk.propose(1);
    desk.sync();
    desk.pass(1_000);
    let screen = desk.screen();
    assert_eq!(screen.matches("a approve").count(), 1, "{screen}");
    desk.press("1 end");
    assert!(desk.last_row().contains("p "), "a file can be pinned: {}", desk.last_row());
}

#[test]
fn the_tab_that_is_shown_is_marked_in_every_theme_whoever_has_the_keys() {
    use ratatui::style::Modifier;
    let assets = Assets::built_in();
    for name in Theme::names(&assets) {
        for keys in ["2", "4"] {
            let mut desk = UiBench::at_work(120, 40);
            let theme = Theme::load(&assets, &name, Depth::True).unwrap();
            desk.ui.set_theme(theme, &name, ThemeChoice::No);
            desk.press(keys);
            let buffer = desk.buffer();
            let style_of = |word: &str| {
                let y = (0..40).find(|y| {
                    let row: String = (0..120).map(|x| buffer[(x, *y)].symbol()).collect();
                    row.contains("Build") && row.contains("Events")
                });
                let y = y.unwrap();
                let row: Vec<&str> = (0..120).map(|x| buffer[(x, y)].symbol()).collect();
                let x = (0..100).find(|x| row[*x..].concat().starts_with(word)).unwrap();
                buffer[(u16::try_from(x).unwrap(), y)].modifier
            };
            assert!(style_of("Build").contains(Modifier::UNDERLINED), "{name} {keys}");
            assert!(!style_of("Events").contains(Modifier::UNDERLINED), "{name} {keys}");
        }
    }
}

#[test]
fn while_nothing_waits_the_right_side_shows_the_plan_or_the_file_under_the_cursor() {
    let mut desk = UiBench::at_work(120, 40);
    desk.press("1 end");
    for _ in 0..50 {
        std::thread::sleep(Duration::from_millis(10));
        desk.pass(20);
        if desk.screen().contains("#include \"i2c_scan.h\"") {
            break;
        }
    }
    let screen = desk.screen();
    assert!(screen.contains("File ") && screen.contains("#include \"i2c_scan.h\""), "{screen}");
    // What waits goes first.
    desk.propose(1);
    desk.sync();
    assert!(!desk.screen().contains("─ File "), "{}", desk.screen());
}

#[test]
fn what_was_asked_stands_once_on_a_small_screen_and_in_every_pane() {
    use crate::model::SessionOutcome;
    for (width, height) in [(80, 24), (60, 16)] {
        let mut desk = UiBench::at_work(width, height);
        for is_over in [false, true] {
            for pane in ["alt-1", "alt-2", "alt-3", "alt-4"] {
                desk.press(pane);
                let screen = desk.screen();
                let times = screen.matches("Task ").count();
                assert_eq!(times, 1, "{width} {pane} over: {is_over}\n{screen}");
            }
            if !is_over {
                desk.end(SessionOutcome::Completed);
                desk.sync();
            }
        }
        assert_eq!(desk.screen().matches(" write").count(), 1, "{}", desk.screen());
        assert!(!desk.screen().contains("leaves"), "{}", desk.screen());
    }
}

#[test]
fn an_empty_message_offers_nothing_to_complete() {
    let mut desk = UiBench::at_work(80, 24);
    desk.press("i");
    assert!(!desk.last_row().contains("complete"), "{}", desk.last_row());
    desk.type_text("@");
    assert!(desk.last_row().contains("complete"), "{}", desk.last_row());
}

#[test]
fn the_palette_finds_a_way_to_stop() {
    let mut desk = UiBench::at_work(120, 40);
    desk.press(":");
    desk.type_text("stop");
    let screen = desk.screen();
    assert!(screen.contains("stop-run"), "{screen}");
    desk.press("enter");
    assert!(desk.screen().contains("/stop"), "{}", desk.screen());
}

#[test]
fn the_help_of_a_replay_explains_the_signs_of_its_timeline() {
    let mut desk = UiBench::new(60, 16, Mode::Replay);
    desk.begin();
    desk.sync();
    desk.press("?");
    let mut seen = String::new();
    for _ in 0..20 {
        seen.push_str(&desk.screen());
        desk.press("pagedown");
    }
    for words in ["Signs on the timeline", "crashes", "is rejected", "proposes something"] {
        assert!(seen.contains(words), "{words}: {}", desk.screen());
    }
}

#[test]
fn a_replay_offers_to_play_and_explains_all_signs_on_a_small_screen() {
    let mut desk = UiBench::new(80, 24, Mode::Replay);
    desk.begin();
    desk.work();
    desk.propose(1);
    desk.sync();
    desk.press("2");
    assert!(desk.last_row().contains("space play/pause"), "{}", desk.last_row());
    assert_eq!(panes::TimelineBar::rows(80), 3, "track, time and signs");
}

#[test]
fn a_question_in_a_dialog_is_not_repeated_in_the_composer() {
    let mut desk = UiBench::at_work(80, 24);
    desk.ask();
    desk.sync();
    let rows = rows(&desk);
    let has = |words: &str| rows.iter().any(|row| row.contains(words));
    let shown = rows.join("\n");
    assert!(has("the team waits for an answer") && !has("› ? CodeFixerAgent"), "{shown}");
}

#[test]
fn what_would_do_nothing_is_not_offered() {
    let mut desk = UiBench::new(120, 40, Mode::Live);
    desk.begin();
    desk.sync();
    desk.press("2");
    let offered = |desk: &mut UiBench, action: &str| {
        desk.press(":");
        desk.type_text(action);
        let screen = desk.screen();
        desk.press("esc");
        !screen.contains("is not possible now")
    };
    assert!(!offered(&mut desk, "copy-code"), "there is no code");
    desk.work();
    desk.sync();
    assert!(offered(&mut desk, "copy-code"), "there is");
    desk.propose(1);
    desk.sync();
    desk.press("3");
    assert!(!offered(&mut desk, "translation"), "C is not translated");
    desk.press("4");
    for _ in 0..5 {
        if desk.screen().contains("no board") || desk.screen().contains("no port") {
            break;
        }
        desk.press("tab");
    }
    desk.press("2 end");
    let mut folds = 0;
    while desk.last_row().contains("next fold") && folds < 20 {
        desk.press("J");
        folds += 1;
    }
    assert!(folds < 20, "the last fold is the end: {}", desk.last_row());
}

#[test]
fn a_run_at_a_glance_names_every_file() {
    use crate::model::{Event, Outcome, ProposalEvent, ProposalId};
    let mut desk = UiBench::at_work(120, 40);
    for number in 1..=6 {
        let mut proposal = desk.propose(number);
        let file = crate::model::ProjectPath::new(&format!("main/part_{number}.c")).unwrap();
        if let crate::model::Change::Save { path, .. } = &mut proposal.change {
            *path = file;
        }
        proposal.id = ProposalId(number + 10);
        let (id, outcome) = (proposal.id, Outcome::Applied);
        desk.record(1, Event::Proposal(ProposalEvent::Made(Box::new(proposal))));
        desk.record(1, Event::Proposal(ProposalEvent::Settled { proposal: id, outcome }));
    }
    desk.sync();
    desk.press("I");
    let screen = desk.screen();
    assert!(screen.contains("part_6.c") && !screen.contains(" more,"), "{screen}");
}
