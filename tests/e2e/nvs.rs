//! Stored settings that are changed: at the desk, line by line, by rules, on a chip.

use std::fs;
use std::path::PathBuf;
use std::thread;

use firmhand::model::{Change, Outcome, Proposal, Verdict};
use firmhand::toolchain::nvs::{self, EntryChange};
use serde_json::{Value, json};

use crate::boards::{MEGABYTE, calls, on_chip, open, told, told_of, type_until_decided};
use crate::desk::{Desk, LOOK, NEVER};
use crate::place::Place;
use crate::rom::chip::{Chip, Fault, Kind};
use crate::terminal::Size;

/// What ESP-IDF's own generator has made.
const GENERATED: &[u8] = include_bytes!("../data/nvs/settings.bin");

/// The calls that read the settings back and then change three of them.
fn read_and_edit() -> [(&'static str, Value); 2] {
    let entry = |key: &str, kind: &str, value: Value| json!({ "namespace": "wifi", "key": key, "type": kind, "value": value });
    let entries = json!([
        entry("ssid", "string", json!("another network")),
        entry("password", "string", json!("battery staple")),
        entry("channel", "u8", json!(6)),
    ]);
    [
        ("read_flash", json!({ "partition": "nvs", "path": "build/nvs.bin" })),
        ("edit_nvs", json!({ "base": "build/nvs.bin", "entries": entries, "reason": "to move" })),
    ]
}

/// Where the virtual board keeps its settings.
fn memory(place: &Place) -> PathBuf {
    let mut folders = vec![place.path("data")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            if path.file_name().is_some_and(|name| name == "nvs.bin") {
                return path;
            }
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    panic!("the board has no settings")
}

/// What stands in an entry, as it would be told; `None` when there is none.
fn stored(image: &[u8], key: &str) -> Option<String> {
    let wish = EntryChange { namespace: "wifi".into(), key: key.into(), value: None };
    let planned = nvs::plan(image, vec![wish]).ok()?;
    planned.edits[0].before.as_ref().map(|seen| seen.shown.clone())
}

#[track_caller]
fn next_nvs(desk: &Desk<'_>) -> Proposal {
    let proposal = desk.next_proposal();
    assert!(matches!(proposal.change, Change::Nvs(_)), "{proposal:?}");
    proposal
}

#[test]
fn settings_are_read_back_shown_entry_by_entry_and_changed_after_a_phrase() {
    let place = Place::new();
    let (mut desk, read) = open(&place, &calls(&place, "new", &read_and_edit()));
    desk.approve(&read);
    let proposal = next_nvs(&desk);
    desk.turn_to(&proposal);
    desk.terminal.wait_for("edit nvs of virtual board");
    desk.terminal.wait_for("nvs · 0x9000 – 0xf000 · 24,576 bytes");
    desk.terminal.wait_for(r#"\+ wifi:ssid +string "another network""#);
    desk.terminal.wait_for(r"\+ wifi:password +string •+ \(14 characters\)");
    desk.terminal.wait_for(r"\+ wifi:channel +u8 6");
    assert_eq!(proposal.change.phrase().as_deref(), Some("edit esp32 nvs"));
    desk.nothing_else_confirms(&proposal, "erased and written again", "edit esp32 phy");
    desk.confirm(&proposal);
    assert_eq!(desk.settled(&proposal), Outcome::Applied);
    let edited = json!(["wifi:ssid", "wifi:password", "wifi:channel"]);
    assert_eq!(told_of(&place, 1), json!({ "ok": true, "edited": edited, "verified": true }));
    let image = fs::read(memory(&place)).unwrap();
    assert_eq!(stored(&image, "ssid").as_deref(), Some("\"another network\""));
    assert_eq!(stored(&image, "channel").as_deref(), Some("6"));
}

#[test]
fn a_refused_change_reaches_the_agent_and_a_stale_one_is_not_made() {
    let place = Place::new();
    let [_, edit] = read_and_edit();
    let again = edit.clone();
    let args = calls(&place, "new", &[edit, again]);
    fs::create_dir_all(place.project().join("build")).unwrap();
    // Of another board: what would be shown as changed is not on this one.
    fs::write(place.project().join("build/nvs.bin"), GENERATED).unwrap();
    let (mut desk, refused) = open(&place, &args);
    desk.turn_to(&refused);
    desk.terminal.wait_for(r#"~ wifi:ssid +string "my network" → "another network""#);
    assert!(!desk.terminal.screen().contains("correct horse"), "a password is on screen");
    desk.reject(&refused, "not this network");
    assert_eq!(desk.settled(&refused), Outcome::Denied);
    let answer = told(&place);
    assert_eq!(
        (&answer["edited"], &answer["rejected"]),
        (&Value::Null, &json!("not this network"))
    );
    let stale = next_nvs(&desk);
    desk.turn_to(&stale);
    desk.confirm(&stale);
    assert!(matches!(desk.settled(&stale), Outcome::Stale { found: Some(_) }));
    desk.terminal.wait_for("the board's content changed since it was shown");
    let error = told_of(&place, 1)["error"].clone();
    assert_eq!(error["code"], "not_edited");
    assert!(error["hint"].as_str().unwrap().contains("Read the partition"), "{error}");
}

#[test]
fn settings_are_changed_line_by_line_and_by_no_rule() {
    let place = Place::new();
    let [_, edit] = read_and_edit();
    let mut args = calls(&place, "new", std::slice::from_ref(&edit));
    args.insert(0, "--plain".to_owned());
    fs::create_dir_all(place.project().join("build")).unwrap();
    fs::write(place.project().join("build/nvs.bin"), vec![0xff; 0x6000]).unwrap();
    let (mut desk, proposal) = open(&place, &args);
    let id = proposal.id;
    desk.terminal.wait_for("erases and writes nvs: 24576 bytes at 0x9000");
    desk.terminal.wait_for(r#"\+ string "another network""#);
    assert!(!desk.terminal.screen().contains("battery staple"), "a password is on screen");
    desk.terminal.wait_for(&format!("Type: approve {id} edit esp32 nvs,"));
    thread::sleep(LOOK);
    desk.terminal.type_text(&format!("approve {id}\r"));
    desk.terminal.wait_for("type `approve \\d+ edit esp32 nvs`. The partition is erased");
    assert_eq!(desk.decided(id, NEVER), None);
    let line = format!("approve {id} edit esp32 nvs");
    let decision = type_until_decided(&mut desk, &proposal, &line);
    assert_eq!(decision.verdict, Verdict::ApproveConfirmed { phrase: "edit esp32 nvs".into() });
    assert_eq!(desk.settled(&proposal), Outcome::Applied);

    // A rule denies, and none allows: not even on a virtual board.
    for (rule, answered) in [("allow", Some(0)), ("deny", Some(0))] {
        let place = Place::new();
        let rules = place.config().join("rules.toml");
        fs::write(&rules, format!("[[policy]]\nkind = \"nvs\"\ndecide = \"{rule}\"\n")).unwrap();
        let mut all = calls(&place, "run", std::slice::from_ref(&edit));
        all.extend(["--policy".to_owned(), rules.to_str().unwrap().to_owned()]);
        fs::create_dir_all(place.project().join("build")).unwrap();
        fs::write(place.project().join("build/nvs.bin"), vec![0xff; 0x6000]).unwrap();
        let output = place.run(&all.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(output.status.code(), answered, "{rule}");
        assert_eq!(place.outcome(), Some(Outcome::Denied), "{rule}");
    }
}

#[test]
fn the_settings_of_a_chip_are_changed() {
    let chip = Chip::start(Kind::Esp32C3, Fault::None, MEGABYTE);
    chip.seen.lock().unwrap().flash[0x9000..0xf000].copy_from_slice(GENERATED);
    let place = Place::new();
    let (start, all) = on_chip(&place, &chip, "new", &read_and_edit());
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let mut desk = Desk { place: &place, terminal: place.shell(&start, &all, Size::LARGE) };
    let read = desk.next_proposal();
    desk.approve(&read);
    assert_eq!(desk.settled(&read), Outcome::Applied, "{}", desk.terminal.screen());
    let proposal = next_nvs(&desk);
    desk.turn_to(&proposal);
    desk.terminal.wait_for(r"~ wifi:channel +u8 11 → 6");
    assert!(!desk.terminal.screen().contains("correct horse"), "a password is on screen");
    // The program on the chip goes on with entries of its own meanwhile.
    let value = Some(nvs::value("i16", "77").unwrap());
    let wish = EntryChange { namespace: "app".into(), key: "small".into(), value };
    let later = later_image(wish);
    chip.seen.lock().unwrap().flash[0x9000..0xf000].copy_from_slice(&later);
    desk.confirm(&proposal);
    assert_eq!(desk.settled(&proposal), Outcome::Applied, "{}", desk.terminal.screen());
    let now = chip.flash(0x9000, 0x6000);
    assert_eq!(stored(&now, "ssid").as_deref(), Some("\"another network\""));
    assert_eq!(stored(&now, "channel").as_deref(), Some("6"));
    let left = EntryChange { namespace: "app".into(), key: "small".into(), value: None };
    let left = nvs::plan(&now, vec![left]).unwrap();
    assert_eq!(left.edits[0].before.as_ref().unwrap().shown, "77");
    let journal = fs::read_to_string(place.session().join("journal.jsonl")).unwrap();
    assert!(!journal.contains("correct horse"), "what the board held is in the journal");
}

/// What the chip holds once that was stored.
fn later_image(wish: EntryChange) -> Vec<u8> {
    use firmhand::model::{BoardInfo, FlashRegion, NvsPlan};
    use firmhand::toolchain::nvs::{Planned, Rewritten};
    let Planned { base, image, edits, space } = nvs::plan(GENERATED, vec![wish]).unwrap();
    let label = || "c".to_owned();
    let board = BoardInfo { label: label(), chip: label(), port: label(), simulated: false };
    let region = FlashRegion { label: "nvs".into(), offset: 0x9000, bytes: 0x6000 };
    let plan = NvsPlan { board, region, base, image, edits, space };
    match nvs::rewrite(&plan, GENERATED) {
        Rewritten::Image(image) => image,
        other => panic!("{other:?}"),
    }
}
