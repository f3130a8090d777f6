//! Tests of reading themes, and of how well they can be read.

use super::*;
use crate::ui::role::Ground;

fn load(text: &str) -> Result<Theme, UserError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("themes")).unwrap();
    std::fs::write(folder.path().join("themes/own.toml"), text).unwrap();
    Theme::load(&Assets::with_user_folder(folder.path()), "own", Depth::True)
}

/// Least contrast of text: WCAG 2, level AA.
const LEAST: f64 = 4.5;

#[test]
fn text_stands_out_from_every_background_it_is_used_on() {
    let mut weak = Vec::new();
    for path in Assets::built_in().list("themes") {
        let name = path.trim_start_matches("themes/").trim_end_matches(".toml");
        let theme = Theme::load(&Assets::built_in(), name, Depth::True).unwrap();
        let (Some(text), Some(screen)) = theme.colours(Role::Text) else {
            panic!("{name}: the role `text` needs fg and bg");
        };
        let bg = |role| theme.colours(role).1.unwrap_or(screen);
        let anywhere = [
            Role::Text,
            Role::Code,
            Role::Selection,
            Role::SelectionDim,
            Role::DiffAdded,
            Role::DiffRemoved,
            Role::DiffAddedWord,
            Role::DiffRemovedWord,
        ];
        for role in Role::ALL {
            let (fg, own) = theme.colours(*role);
            let grounds = match role.ground() {
                Ground::Plain => vec![screen],
                Ground::Anywhere => anywhere.map(bg).to_vec(),
                Ground::Own => vec![own.unwrap_or(screen)],
                Ground::Shape => continue,
            };
            for ground in grounds {
                let contrast = fg.unwrap_or(text).contrast(ground);
                if contrast < LEAST {
                    weak.push(format!("{name}: {} on {ground:?}: {contrast:.2}", role.name()));
                }
            }
        }
    }
    assert!(weak.is_empty(), "{}", weak.join("\n"));
}

#[test]
fn a_waiting_decision_is_the_brightest_thing_on_screen() {
    for name in ["dark", "light"] {
        let theme = Theme::load(&Assets::built_in(), name, Depth::True).unwrap();
        let screen = theme.colours(Role::Text).1.unwrap();
        let stands_out = |role| theme.colours(role).1.map_or(1.0, |bg| bg.contrast(screen));
        let waiting = stands_out(Role::Waiting);
        for role in Role::ALL.iter().filter(|role| **role != Role::Waiting) {
            if !matches!(role, Role::Cursor) {
                assert!(stands_out(*role) < waiting, "{name}: {}", role.name());
            }
        }
    }
}

#[test]
fn without_colours_what_waits_and_what_is_selected_still_shows() {
    for name in ["dark", "light"] {
        let theme = Theme::load(&Assets::built_in(), name, Depth::None).unwrap();
        for role in Role::ALL {
            let style = theme.style(*role);
            assert_eq!((style.fg, style.bg), (None, None));
        }
        for role in [Role::Waiting, Role::Selection, Role::Cursor] {
            assert!(theme.style(role).add_modifier.contains(Modifier::REVERSED), "{}", role.name());
        }
        for role in [Role::DiffAddedWord, Role::DiffRemovedWord, Role::Error, Role::TitleFocus] {
            assert!(!theme.style(role).add_modifier.is_empty(), "{}", role.name());
        }
    }
}

#[test]
fn a_theme_that_inherits_names_only_what_it_changes() {
    let text = "inherits = 'dark'\n[palette]\nmine = '#010203'\n[roles]\n\"diff.added\" = { bg = 'mine', bold = true }\naccent = 'mine'\n";
    let theme = load(text).unwrap();
    assert_eq!(theme.colours(Role::DiffAdded), (None, Some(Rgb(1, 2, 3))));
    assert!(theme.style(Role::DiffAdded).add_modifier.contains(Modifier::BOLD));
    assert_eq!(theme.colours(Role::Accent).0, Some(Rgb(1, 2, 3)));
    let dark = Theme::load(&Assets::built_in(), "dark", Depth::True).unwrap();
    assert_eq!(theme.colours(Role::Error), dark.colours(Role::Error));
}

#[test]
fn mistakes_are_told_with_file_and_line() {
    for (text, line, words) in [
        ("inherits = 'dark'\n[roles]\n\"diff.aded\" = 'red'", 3, vec!["diff.aded", "diff.added"]),
        ("inherits = 'dark'\n[roles]\ntext = 'rde'", 3, vec!["rde", "red"]),
        (
            "inherits = 'dark'\n[roles]\ntext = { fg = 'red', colour = 'red' }",
            3,
            vec!["colour", "bg"],
        ),
        ("inherits = 'dark'\n[roles]\ntext = { bold = 1 }", 3, vec!["true or false"]),
        ("inherits = 'dark'\n[palette]\na = '#12'", 3, vec!["#12"]),
        ("inherits = 'dark'\n[role]\n", 2, vec!["role", "roles"]),
        ("[roles]\ntext = 'red'", 1, vec!["border.focus", "status.ok"]),
        ("[roles\n", 1, vec![]),
    ] {
        let error = load(text).unwrap_err();
        assert!(error.what.ends_with(&format!("own.toml, line {line}")), "{text}: {error:?}");
        let said = format!("{} {}", error.why, error.fix);
        for word in words {
            assert!(said.contains(word), "{text}: {error:?}");
        }
    }
}
