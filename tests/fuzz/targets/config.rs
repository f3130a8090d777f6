//! The files with which a person changes the program.

use firmhand::config::{Assets, Dirs, Overrides, Settings};
use firmhand::device::{Adapters, PINOUTS, Pinout};
use firmhand::engine::Team;
use firmhand::knowledge::{
    ChipFacts, ChipSet, Document, Form, NameList, PassageKind, SplitContext, Splitter, Synonyms,
    WindowSize, check_note, split,
};
use firmhand::model::UserError;
use firmhand::provider::Catalogue;
use firmhand::tools::known;
use firmhand::ui::{Depth, Keymap, Theme};

use super::{file, folder, parts};

/// A folder of the person's own, of which only that file counts.
fn assets(below: &str, bytes: &[u8]) -> Assets {
    file(below, bytes);
    Assets::with_user_folder(folder().join("user"))
}

/// An error says where it is.
fn names<T>(read: Result<T, UserError>, name: &str) {
    if let Err(error) = read {
        let told = format!("{} {}", error.what, error.why);
        assert!(told.contains(name), "{told}");
    }
}

pub fn themes(data: &[u8]) {
    let assets = assets("user/themes/fuzz.toml", data);
    for depth in [Depth::True, Depth::Basic] {
        names(Theme::load(&assets, "fuzz", depth), "themes/");
    }
}

pub fn keymaps(data: &[u8]) {
    let assets = assets("user/keymaps/fuzz.toml", data);
    names(Keymap::load(&assets, "fuzz"), "keymaps/");
}

pub fn teams(data: &[u8]) {
    let assets = assets("user/prompts/teams/fuzz.toml", data);
    let _ = Team::load(&assets, "fuzz", &known);
}

pub fn agents(data: &[u8]) {
    let assets = assets("user/prompts/agents/BuildAgent.md", data);
    let _ = Team::load(&assets, "mend", &known);
    std::fs::remove_file(folder().join("user/prompts/agents/BuildAgent.md"))
        .expect("it was just put there");
}

/// The person's settings, and a project's.
pub fn configuration(data: &[u8]) {
    let [own, project] = parts::<2>(data);
    file("settings/config.toml", own);
    file("settings/project/.firmhand/config.toml", project);
    let root = folder().join("settings");
    let dirs = Dirs { config: root.clone(), data: root.join("data") };
    match Settings::load(&dirs, Some(&root.join("project")), &Overrides::default()) {
        Ok(settings) => assert!(!settings.rows().is_empty()),
        Err(error) => names::<()>(Err(error), "config.toml"),
    }
}

pub fn catalogue(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    names(Catalogue::parse("fuzz.toml", text), "fuzz.toml");
    names(Adapters::parse("fuzz.toml", text), "fuzz.toml");
}

pub fn knowledge(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    names(check_note("fuzz.md", text), "fuzz.md");
    let context = SplitContext {
        facts: &ChipFacts::default(),
        window: WindowSize { tokens: 50, overlap: 10 },
        include: &|_| None,
    };
    for path in ["a.md", "a.rst", "include/a.h", "a.c", "hints.yml", "a.txt"] {
        let form = Form::of(path).expect("it is read");
        let (kind, chips) = (PassageKind::Guide, ChipSet::ALL);
        let document = Document { path, text, kind, chips };
        for passage in split(document, form, &context) {
            assert!(!passage.text.is_empty() && passage.path == path);
        }
    }
    let _ = Splitter::default().words(text);
    names(Synonyms::parse("fuzz.txt", text, &mut Splitter::default()), "fuzz.txt");
    if let Ok(list) = NameList::parse("fuzz.txt", text) {
        let _ = list.conflict(text.lines().next().unwrap_or_default());
    }
}

pub fn pinout(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(pinout) = Pinout::parse(&format!("{PINOUTS}/esp32.json"), "esp32.json", text) {
        for name in ["0", "GPIO12", "IO34", text.get(..6).unwrap_or(text)] {
            if let Ok(pin) = pinout.pin(name) {
                let _ = pinout.warnings(pin);
            }
        }
    }
}
