//! Every data file that ships is right, and everything in `tests/bad/` is refused by file and line.
//!
//! Each folder of `tests/bad/` is a kind of data file. Its `expected.txt` says for every file the
//! line that must be named, and words that the message must hold: `FILE:LINE: WORDS`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use firmhand::config::{Assets, Dirs, Example, Overrides, Settings};
use firmhand::device::{Adapters, PINOUTS, Pinout};
use firmhand::engine::Team;
use firmhand::knowledge::{Knowledge, NameList, Splitter, Synonyms, check_topics};
use firmhand::model::UserError;
use firmhand::policy::{Process, RecordedSelector, tasks};
use firmhand::provider::{Catalogue, parse_script};
use firmhand::tools::known;
use firmhand::ui::{Depth, Keymap, Theme};

/// Puts a file where the program looks for it, and reads it by the program's own loader.
type Load = fn(&Place, file: &str, text: &str) -> Result<(), UserError>;

/// The kinds of data files: folder of the bad ones, and loader.
const KINDS: &[(&str, Load)] = &[
    ("agents", |place, file, text| {
        let assets = place.with(&format!("prompts/agents/{file}"), text);
        Team::load(&assets, "generate", &known).map(drop)
    }),
    ("config", |place, _, text| {
        place.with("config.toml", text);
        place.settings(None, None)
    }),
    ("examples", |place, file, text| {
        let assets = place.with(&format!("assets/examples/{file}"), text);
        Example::all(&assets).map(drop)
    }),
    ("keymaps", |place, file, text| {
        let assets = place.with(&format!("keymaps/{file}"), text);
        Keymap::load(&assets, stem(file)).map(drop)
    }),
    ("knowledge", |_, file, text| Knowledge::new([(file, text)]).map(drop)),
    ("models", |_, file, text| Catalogue::parse(file, text).map(drop)),
    ("boards", |_, file, text| Adapters::parse(file, text).map(drop)),
    ("names", |_, file, text| NameList::parse(file, text).map(drop)),
    ("pinout", |_, file, text| Pinout::parse(&format!("{PINOUTS}/{file}"), file, text).map(drop)),
    ("policy", |place, file, text| {
        place.with(file, text);
        place.settings(None, Some(place.path(file)))
    }),
    ("process", |_, file, text| Process::parse(file, text).map(drop)),
    ("project-config", |place, _, text| {
        place.with("project/.firmhand/config.toml", text);
        place.settings(Some(&place.path("project")), None)
    }),
    ("teams", |place, file, text| {
        let assets = place.with(&format!("prompts/teams/{file}"), text);
        Team::load(&assets, stem(file), &known).map(drop)
    }),
    ("toolchains", |place, file, text| {
        let assets = place.with(&format!("prompts/toolchains/{file}"), text);
        Team::load(&assets, "mend", &known)?.briefed(&assets, stem(file)).map(drop)
    }),
    ("themes", |place, file, text| {
        let assets = place.with(&format!("themes/{file}"), text);
        Theme::load(&assets, stem(file), Depth::True).map(drop)
    }),
];

/// A file's name without what follows its last dot.
fn stem(file: &str) -> &str {
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}

/// A configuration folder of its own.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    fn with(&self, below: &str, text: &str) -> Assets {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        Assets::with_user_folder(self.0.path())
    }

    fn settings(&self, project: Option<&Path>, policy: Option<PathBuf>) -> Result<(), UserError> {
        let dirs = Dirs { config: self.path(""), data: self.path("data") };
        let overrides = Overrides { policy_file: policy, ..Overrides::default() };
        Settings::load(&dirs, project, &overrides).map(drop)
    }
}

/// What must be said about one bad file.
struct Expected {
    file: String,
    line: usize,
    words: String,
}

fn expected(folder: &Path) -> Vec<Expected> {
    let text = fs::read_to_string(folder.join("expected.txt")).unwrap();
    let parse = |line: &str| {
        let mut parts = line.splitn(3, ':');
        let file = parts.next()?.to_owned();
        let number = parts.next()?.parse().ok()?;
        let words = parts.next()?.trim().to_owned();
        (!words.is_empty()).then_some(Expected { file, line: number, words })
    };
    text.lines()
        .map(|line| parse(line).unwrap_or_else(|| panic!("{}: {line}", folder.display())))
        .collect()
}

fn bad() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad")
}

fn names_in(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Whether a message names the line: `FILE, line 3` or `FILE:3`.
fn names_line(what: &str, file: &str, line: usize) -> bool {
    [format!("{file}, line {line}"), format!("{file}:{line}")].iter().any(|place| {
        what.match_indices(place.as_str()).any(|(at, _)| {
            !what[at + place.len()..].starts_with(|next: char| next.is_ascii_digit())
        })
    })
}

#[test]
fn every_bad_file_is_refused_by_file_and_line() {
    let mut wrong = Vec::new();
    for (kind, load) in KINDS {
        let folder = bad().join(kind);
        for Expected { file, line, words } in expected(&folder) {
            let text = fs::read_to_string(folder.join(&file)).unwrap();
            let shown = if kind.ends_with("config") { "config.toml" } else { &file };
            match load(&Place::new(), &file, &text) {
                Ok(()) => wrong.push(format!("{kind}/{file} was taken")),
                Err(error) => {
                    let all = format!("{}\n{}\n{}", error.what, error.why, error.fix);
                    if !names_line(&error.what, shown, line) || !all.contains(&words) {
                        wrong.push(format!("{kind}/{file}, line {line}, {words}: got\n{all}\n"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_bad_file_is_expected_and_every_kind_has_some() {
    let kinds: BTreeSet<String> = KINDS.iter().map(|(kind, _)| (*kind).to_owned()).collect();
    let mut folders = names_in(&bad());
    // Those have a test of their own, `tests/bad_scripts.rs`.
    folders.remove("scripts");
    assert_eq!(folders, kinds);
    for kind in kinds {
        let folder = bad().join(&kind);
        let mut listed: BTreeSet<_> = expected(&folder).into_iter().map(|e| e.file).collect();
        assert!(!listed.is_empty(), "nothing bad in {kind}");
        listed.insert("expected.txt".to_owned());
        assert_eq!(names_in(&folder), listed, "{kind}");
    }
}

#[test]
fn a_line_is_named_only_by_its_own_number() {
    assert!(names_line("Cannot use /x/a.toml, line 3", "a.toml", 3));
    assert!(names_line("Cannot read a.txt:3", "a.txt", 3));
    assert!(!names_line("Cannot use a.toml, line 31", "a.toml", 3));
    assert!(!names_line("Cannot use b.toml, line 3", "a.toml", 3));
}

/// Reads one shipped file by the program's own loader.
fn load_shipped(assets: &Assets, path: &str) -> Result<(), UserError> {
    let (folder, file) = path.rsplit_once('/').unwrap();
    let text = |path: &str| assets.text(path).map(|file| file.text.into_owned());
    match folder {
        "prompts/teams" => Team::load(assets, stem(file), &known).map(drop),
        // Every agent's file is read with any team.
        "prompts/agents" => Team::load(assets, "generate", &known).map(drop),
        "prompts/toolchains" => {
            Team::load(assets, "mend", &known)?.briefed(assets, stem(file)).map(drop)
        }
        "keymaps" => Keymap::load(assets, stem(file)).map(drop),
        "themes" => [Depth::True, Depth::Indexed, Depth::Basic, Depth::None]
            .into_iter()
            .try_for_each(|depth| Theme::load(assets, stem(file), depth).map(drop)),
        "assets/examples" => Example::all(assets).map(drop),
        // Starting points of recordings: `tests/sessions/demo` builds them.
        _ if folder.starts_with("assets/projects") => Ok(()),
        "assets/policy" if file == "tasks.toml" => tasks(path, &text(path)?).map(drop),
        "assets/policy" if file == "selector.toml" => {
            RecordedSelector::parse(path, &text(path)?).map(drop)
        }
        "assets/policy" => Process::parse(path, &text(path)?).map(drop),
        "assets/models" => Catalogue::parse(path, &text(path)?).map(drop),
        "assets/boards" => Adapters::parse(path, &text(path)?).map(drop),
        PINOUTS => Pinout::parse(path, path, &text(path)?).map(drop),
        "assets/names" => NameList::parse(path, &text(path)?).map(drop),
        "assets/knowledge" => Knowledge::new([(path, &*text(path)?)]).map(drop),
        "assets/search" => Synonyms::parse(path, &text(path)?, &mut Splitter::default()).map(drop),
        "assets/search/topics" => check_topics(path, &text(path)?),
        "assets/findings" => {
            let table: toml::Table = toml::from_str(&text(path)?)
                .map_err(|error| UserError::from_cause(format!("cannot read {path}"), &error))?;
            assert!(!table.is_empty(), "{path} holds nothing");
            Ok(())
        }
        "assets" if file == "README.md" => Ok(()),
        // `tests/sandbox` runs tests with them.
        "assets/testing" => Ok(()),
        // What the program prints: `schemas.rs`.
        "assets/schemas" => Ok(()),
        // Built in whole; the tests of `text::line_syntax` read them.
        "assets/syntax" => Ok(()),
        // The tests of `cli::help` read them.
        "assets/help" => Ok(()),
        // Prose with a grammar; the tests of `text::reverty` read it.
        "assets/reverty" => Ok(()),
        // The virtual board's tests compile and run them.
        "assets/scanner" => Ok(()),
        // The toolchain's tests compile it.
        _ if folder.starts_with("assets/virtual") => Ok(()),
        _ if file == "script.toml" => {
            let beside = |name: &str| text(&format!("{folder}/{name}"));
            parse_script(path, &text(path)?, &beside).map(drop)
        }
        _ => {
            let (demo, _) =
                folder.split_once("/files").unwrap_or_else(|| panic!("who reads {path}?"));
            let script = text(&format!("{demo}/script.toml"))?;
            assert!(script.contains(&format!("\"files/{file}\"")), "{path} is in no script");
            Ok(())
        }
    }
}

#[test]
fn every_shipped_file_is_taken_by_its_loader() {
    let assets = Assets::built_in();
    let mut wrong = Vec::new();
    for folder in ["assets", "keymaps", "prompts", "themes"] {
        for path in assets.list(folder) {
            if let Err(error) = load_shipped(&assets, &path) {
                wrong.push(format!("{}\n  {}\n  {}", error.what, error.why, error.fix));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_agent_takes_part_in_a_team() {
    let assets = Assets::built_in();
    let teams: Vec<_> = Team::names(&assets)
        .iter()
        .map(|name| Team::load(&assets, name, &known).unwrap())
        .collect();
    for path in assets.list("prompts/agents") {
        let stem = path.rsplit('/').next().unwrap().strip_suffix(".md").unwrap();
        let used = teams.iter().any(|team| team.agents.keys().any(|name| name.as_str() == stem));
        assert!(used, "{path} is in no team");
    }
}
