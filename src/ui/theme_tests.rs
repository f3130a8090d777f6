//! Tests of reading themes, and of how well they can be read.

use std::collections::HashMap;

use ratatui::style::Color;

use super::*;

fn load(text: &str) -> Result<Theme, UserError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("themes")).unwrap();
    std::fs::write(folder.path().join("themes/own.toml"), text).unwrap();
    Theme::load(&Assets::with_user_folder(folder.path()), "own", Depth::True)
}

const DEPTHS: [Depth; 3] = [Depth::True, Depth::Indexed, Depth::Basic];

fn shipped(depth: Depth) -> impl Iterator<Item = (String, Theme)> {
    let assets = Assets::built_in();
    let names = Theme::names(&assets);
    assert!(names.len() >= 8, "{names:?}");
    names.into_iter().map(move |name| {
        let theme = Theme::load(&Assets::built_in(), &name, depth).unwrap();
        (name, theme)
    })
}

/// Least contrast of text: WCAG 2, level AA, and AAA for the theme that promises more.
fn least(name: &str, depth: Depth) -> f64 {
    if name == "high-contrast" && depth == Depth::True { 7.0 } else { 4.5 }
}

/// How the colours look that can be asked of a terminal with few of them.
fn looks(depth: Depth) -> HashMap<Color, Rgb> {
    let greys = (0..=255_u8).map(|part| Rgb(part, part, part));
    let basic = Rgb::names().filter_map(Rgb::parse);
    let level = |step: u8| if step == 0 { 0 } else { 55 + step * 40 };
    let cube =
        (0..216_u8).map(|place| Rgb(level(place / 36), level(place / 6 % 6), level(place % 6)));
    let all = greys.chain(basic).chain(cube);
    all.filter_map(|rgb| Some((depth.colour(rgb)?, rgb))).collect()
}

fn look(colour: Option<Color>, looks: &HashMap<Color, Rgb>) -> Option<Rgb> {
    match colour? {
        Color::Rgb(red, green, blue) => Some(Rgb(red, green, blue)),
        other => Some(looks[&other]),
    }
}

#[test]
fn text_stands_out_from_every_background_it_is_used_on_at_every_depth() {
    let mut weak = Vec::new();
    let mut pairs = 0;
    for depth in DEPTHS {
        let looks = looks(depth);
        for (name, theme) in shipped(depth) {
            let style = |role| theme.style(role);
            let text = look(style(Role::Text).fg, &looks).unwrap();
            let screen = look(style(Role::Text).bg, &looks).unwrap();
            let bg = |role| look(style(role).bg, &looks).unwrap_or(screen);
            for role in Role::ALL {
                let grounds = match role.ground() {
                    Ground::Plain => vec![screen],
                    Ground::Anywhere => Role::GROUNDS.map(bg).to_vec(),
                    Ground::Own => vec![bg(*role)],
                    Ground::Shape => continue,
                };
                for ground in grounds {
                    pairs += 1;
                    let contrast = look(style(*role).fg, &looks).unwrap_or(text).contrast(ground);
                    if contrast < least(&name, depth) {
                        let role = role.name();
                        weak.push(format!("{name} {depth:?}: {role} on {ground:?}: {contrast:.2}"));
                    }
                }
            }
        }
    }
    assert!(pairs > 3_000, "{pairs}");
    assert!(weak.is_empty(), "{}\n{} weak", weak.join("\n"), weak.len());
}

#[test]
fn with_16_colours_plain_text_is_grey() {
    for (name, theme) in shipped(Depth::Basic) {
        for role in [Role::Text, Role::Strong, Role::Dim] {
            let shade = theme.style(role).fg.unwrap();
            let greys = [Color::Black, Color::DarkGray, Color::Gray, Color::White];
            assert!(greys.contains(&shade), "{name}: {} is {shade:?}", role.name());
        }
    }
}

#[test]
fn a_waiting_decision_is_the_brightest_thing_on_screen() {
    for (name, theme) in shipped(Depth::True) {
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
fn what_was_added_never_looks_like_what_was_removed() {
    for depth in DEPTHS {
        for (name, theme) in shipped(depth) {
            for (added, removed) in [
                (Role::DiffAdded, Role::DiffRemoved),
                (Role::DiffAddedWord, Role::DiffRemovedWord),
                (Role::Ok, Role::Error),
            ] {
                assert_ne!(theme.style(added), theme.style(removed), "{name} {depth:?}");
            }
            let screen = theme.style(Role::Text);
            for role in [Role::DiffAdded, Role::DiffRemoved] {
                assert_ne!(screen.patch(theme.style(role)), screen, "{name} {depth:?}");
            }
        }
    }
}

#[test]
fn without_colours_what_waits_and_what_is_selected_still_shows() {
    for (name, theme) in shipped(Depth::None) {
        for role in Role::ALL {
            let style = theme.style(*role);
            assert_eq!((style.fg, style.bg), (None, None));
        }
        for role in [Role::Waiting, Role::Selection, Role::Cursor] {
            let style = theme.style(role);
            assert!(style.add_modifier.contains(Modifier::REVERSED), "{name}: {}", role.name());
        }
        for role in [Role::DiffAddedWord, Role::DiffRemovedWord, Role::Error, Role::TitleFocus] {
            assert!(!theme.style(role).add_modifier.is_empty(), "{name}: {}", role.name());
        }
    }
}

#[test]
fn a_colour_of_the_palette_is_changed_in_every_look() {
    let theme = load("inherits = 'dark'\n[palette]\nsky = '#010203'\n").unwrap();
    for role in [Role::Accent, Role::SynFunction, Role::Key] {
        assert_eq!(theme.colours(role).0, Some(Rgb(1, 2, 3)), "{}", role.name());
    }
}

#[test]
fn a_persons_own_version_of_a_shipped_file_can_build_on_it() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("themes")).unwrap();
    let text = "inherits = 'nord'\n[palette]\nground = '#010203'\n";
    std::fs::write(folder.path().join("themes/nord.toml"), text).unwrap();
    let assets = Assets::with_user_folder(folder.path());
    let theme = Theme::load(&assets, "nord", Depth::True).unwrap();
    assert_eq!(theme.colours(Role::Text).1, Some(Rgb(1, 2, 3)));
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
        let message = format!("{} {}", error.why, error.fix);
        for word in words {
            assert!(message.contains(word), "{text}: {error:?}");
        }
    }
}
