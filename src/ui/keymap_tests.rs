//! Tests of reading keymaps.

use super::*;

fn load(text: &str) -> Result<Keymap, UserError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("keymaps")).unwrap();
    std::fs::write(folder.path().join("keymaps/own.toml"), text).unwrap();
    Keymap::load(&Assets::with_user_folder(folder.path()), "own")
}

fn keys(text: &str) -> Vec<Key> {
    KeySequence::parse(text).unwrap().keys().to_vec()
}

const REVIEW: [KeyContext; 3] = [KeyContext::Review, KeyContext::Pane, KeyContext::Global];

/// Actions that need no key: the palette is enough for what is done once in a while.
const PALETTE_ONLY: [Action; 4] =
    [Action::ChooseTheme, Action::ChooseModel, Action::ResetLayout, Action::StopRun];

fn shipped() -> Vec<(String, Keymap)> {
    let assets = Assets::built_in();
    let name =
        |path: &String| path.strip_prefix("keymaps/")?.strip_suffix(".toml").map(str::to_owned);
    let names: Vec<String> = assets.list("keymaps").iter().filter_map(name).collect();
    names.into_iter().map(|name| (name.clone(), Keymap::load(&assets, &name).unwrap())).collect()
}

/// The contexts that hold together with one, as the screen asks for them.
fn chain(context: KeyContext) -> Vec<KeyContext> {
    match context {
        KeyContext::Dialog => vec![context],
        KeyContext::Composer => vec![context, KeyContext::Global],
        KeyContext::Global => vec![context],
        KeyContext::Pane | KeyContext::Replay => vec![context, KeyContext::Global],
        _ => vec![context, KeyContext::Pane, KeyContext::Global],
    }
}

#[test]
fn every_shipped_keymap_reaches_every_action_where_it_belongs() {
    let mut missing = Vec::new();
    let keymaps = shipped();
    assert!(keymaps.len() >= 3, "{keymaps:?}");
    for (name, keymap) in keymaps {
        for action in Action::ALL {
            let is_bound = keymap.key_of(&chain(action.home()), *action).is_some();
            if !is_bound && !PALETTE_ONLY.contains(action) {
                missing.push(format!("{name}: no key for {}", action.name()));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn in_every_shipped_keymap_the_way_out_and_the_help_work_from_every_pane() {
    for (name, keymap) in shipped() {
        for context in [KeyContext::Project, KeyContext::Chat, KeyContext::Review, KeyContext::Logs]
        {
            for action in [Action::Help, Action::Quit, Action::Palette, Action::FocusNext] {
                for mode in [vec![], vec![KeyContext::Replay]] {
                    let all =
                        [vec![context, KeyContext::Pane], mode, vec![KeyContext::Global]].concat();
                    assert!(keymap.key_of(&all, action).is_some(), "{name}: {}", action.name());
                }
            }
        }
        for action in [Action::Accept, Action::Cancel, Action::Up, Action::Down] {
            assert!(keymap.key_of(&[KeyContext::Dialog], action).is_some(), "{name}");
        }
    }
}

#[test]
fn the_built_in_keymap_decides_in_the_review_only() {
    let keymap = Keymap::load(&Assets::built_in(), "default").unwrap();
    assert_eq!(keymap.look_up(&REVIEW, &keys("a")), Lookup::Action(Action::Approve));
    assert_eq!(keymap.look_up(&[KeyContext::Chat, KeyContext::Pane], &keys("a")), Lookup::Unbound);
}

#[test]
fn the_special_context_goes_before_the_general_one() {
    let keymap = load("[global]\nhelp = ['x', '?']\n[review]\napprove = 'x'\n").unwrap();
    assert_eq!(keymap.look_up(&REVIEW, &keys("x")), Lookup::Action(Action::Approve));
    let logs = [KeyContext::Logs, KeyContext::Pane, KeyContext::Global];
    assert_eq!(keymap.look_up(&logs, &keys("x")), Lookup::Action(Action::Help));
    assert_eq!(keymap.key_of(&REVIEW, Action::Help).as_deref(), Some("?"));
    assert_eq!(keymap.key_of(&logs, Action::Help).as_deref(), Some("x"));
}

#[test]
fn sequences_tell_what_may_follow() {
    let keymap = load("[pane]\ntop = 'g g'\nbottom = 'g e'\n").unwrap();
    let expected = vec![(keys("e")[0], Action::Bottom), (keys("g")[0], Action::Top)];
    let Lookup::Prefix(mut next) = keymap.look_up(&REVIEW, &keys("g")) else { panic!() };
    next.sort_by_key(|(_, action)| std::cmp::Reverse(*action));
    assert_eq!(next, expected);
    assert_eq!(keymap.look_up(&REVIEW, &keys("g g")), Lookup::Action(Action::Top));
    assert_eq!(keymap.look_up(&REVIEW, &keys("g x")), Lookup::Unbound);
}

#[test]
fn an_own_keymap_replaces_keys_and_takes_them_away() {
    let text = "inherits = 'default'\n[review]\nreject = []\napprove = 'ctrl-y'\n";
    let keymap = load(text).unwrap();
    assert_eq!(keymap.look_up(&REVIEW, &keys("ctrl-y")), Lookup::Action(Action::Approve));
    assert_eq!(keymap.look_up(&REVIEW, &keys("a")), Lookup::Unbound);
    assert_eq!(keymap.look_up(&REVIEW, &keys("r")), Lookup::Unbound);
    let chat = [KeyContext::Chat, KeyContext::Pane, KeyContext::Global];
    assert_eq!(keymap.look_up(&chat, &keys("?")), Lookup::Action(Action::Help));
}

#[test]
fn mistakes_are_told_with_file_line_and_near_names() {
    for (text, line, words) in [
        ("[review]\n\naprove = 'a'", 3, vec!["aprove", "approve"]),
        ("[reviw]\napprove = 'a'", 1, vec!["reviw", "review"]),
        ("[chat]\napprove = 'a'", 2, vec!["approve", "[review]"]),
        ("[review]\napprove = 'hyper-a'", 2, vec!["hyper-a", "ctrl-p"]),
        ("[review]\napprove = 7", 2, vec!["integer"]),
        ("review = 7", 1, vec!["table"]),
        ("[review", 1, vec![]),
        ("[review]\napprove = 'a'\nreject = ['r', 'a']", 3, vec!["approve", "reject", "`a`"]),
        ("[review]\napprove = 'g'\n[pane]\ntop = 'g g'", 4, vec!["g g", "approve", "line 2"]),
        ("inherits = 'default'\n[review]\nreject = 'a'", 3, vec!["approve", "default.toml"]),
    ] {
        let error = load(text).unwrap_err();
        assert!(error.what.ends_with(&format!("own.toml, line {line}")), "{text}: {error:?}");
        let message = format!("{} {}", error.why, error.fix);
        for word in words {
            assert!(message.contains(word), "{text}: {error:?}");
        }
    }
}
