//! What boards send, and what is read of their memory and programs.

use std::collections::BTreeSet;
use std::time::Instant;

use firmhand::device::panic::{CoreDumpParser, PanicEvent, PanicParser, Program, Registers, Watch};
use firmhand::device::{LineSplitter, Programs, Rfc2217Decoder, ScanReader, rfc2217_escape};
use firmhand::model::{ErasePlan, FlashPlan, NvsPlan, NvsValue};
use firmhand::text::esp_log::{self, TagFilter};
use firmhand::toolchain::foreign::program_size;
use firmhand::toolchain::nvs::{self, EntryChange, Rewritten, WhyNot};
use firmhand::toolchain::{esp_image, flash_map, partition_csv, partitions};
use serde_json::json;

use super::{file, is_harmful, lossy, pieces};

/// Lines are the same wherever the bytes are cut, and harmless.
pub fn serial(data: &[u8]) {
    let (mut one, mut other) = (LineSplitter::default(), LineSplitter::default());
    let at_once = one.push(data);
    let in_pieces: Vec<_> = pieces(data).into_iter().flat_map(|piece| other.push(piece)).collect();
    assert_eq!(at_once, in_pieces);
    assert_eq!(one.partial(), other.partial());
    let mut scan = ScanReader::default();
    for line in at_once.iter().chain(&one.partial()) {
        assert!(!line.text.contains(is_harmful), "{:?}", line.text);
        scan.push(&line.text);
    }
    let mut seen = BTreeSet::new();
    if let Some(found) = scan.best() {
        assert!(found.devices.iter().all(|address| *address < 0x80), "{:?}", found.devices);
        seen.extend(found.devices);
    }
    assert!(seen.len() <= 0x80);
}

/// Data comes through, and what is no data never grows.
pub fn rfc2217(data: &[u8]) {
    let (mut got, mut replies) = (Vec::new(), Vec::new());
    let mut decoder = Rfc2217Decoder::default();
    for piece in pieces(data) {
        decoder.push(piece, &mut got, &mut replies);
    }
    assert!(got.len() <= data.len());
    let (mut whole, mut answers) = (Vec::new(), Vec::new());
    Rfc2217Decoder::default().push(data, &mut whole, &mut answers);
    assert_eq!((whole, answers), (got, replies));
    let mut back = Vec::new();
    Rfc2217Decoder::default().push(&rfc2217_escape(data), &mut back, &mut Vec::new());
    assert_eq!(back, data);
}

/// The parts of a line lie in it; a filter is read as it is shown.
pub fn esp_log(data: &[u8]) {
    let text = lossy(data);
    for line in text.lines() {
        if let Some(log) = esp_log::parse(line) {
            assert!(line.get(log.message..).is_some(), "{line:?}: {log:?}");
            assert!(line.contains(log.tag) && line.contains(log.time));
        }
    }
    if let Ok(filter) = TagFilter::parse(&text) {
        text.lines().for_each(|line| {
            let _ = filter.shows(line);
        });
        let shown = filter.to_string();
        let again = TagFilter::parse(&shown).expect("what is shown can be read");
        assert_eq!(again.to_string(), shown);
    }
}

/// Panics and dumps are found whatever a board prints around them, and what is told of them is
/// looked up in a program that need not be theirs.
pub fn panics(data: &[u8]) {
    let now = Instant::now();
    let (mut one, mut other) = (Watch::default(), Watch::default());
    let mut found = one.push(data, now);
    let in_pieces = pieces(data).into_iter().flat_map(|piece| other.push(piece, now)).count();
    assert_eq!(found.len(), in_pieces);
    assert_eq!(one.lines(), other.lines());
    found.extend(one.finish());
    let programs = Programs::named(None, None);
    for found in &found {
        match found {
            PanicEvent::Panic(panic) => {
                assert!(panic.lines.start <= panic.lines.end, "{:?}", panic.lines);
                let _ = programs.report(panic);
            }
            PanicEvent::Dump(dump) => assert!(!dump.bytes.is_empty()),
        }
    }
    let (mut panics, mut dumps) = (PanicParser::default(), CoreDumpParser::default());
    for (number, line) in lossy(data).lines().enumerate() {
        panics.line(number as u64, line);
        dumps.line(line);
    }
    panics.finish();
}

/// A program's addresses, its calls, and its size.
pub fn elf(data: &[u8]) {
    let path = file("program.elf", data);
    let table = file("table.bin", data);
    let _ = program_size(&path, &table);
    let Ok(program) = Program::open(&path) else { return };
    let start = data
        .get(24..28)
        .map_or(0, |at| u64::from(u32::from_le_bytes([at[0], at[1], at[2], at[3]])));
    for pc in [0, 1, start, start.wrapping_add(4), 0x4200_0020, u64::from(u32::MAX), u64::MAX] {
        assert!(!program.frames(pc).is_empty());
        let _ = program.is_code(pc);
        let value = |name: &str| match name {
            "MEPC" => Some(pc),
            "RA" => Some(pc.wrapping_add(2)),
            "SP" => Some(0x3fc0_0000),
            _ => None,
        };
        if let Some(registers) = Registers::read(value) {
            let calls = program.unwind(&registers, &|at| u32::try_from(at ^ start).ok());
            assert!(calls.len() <= 64);
        }
    }
    let _ = program.has_hash("00");
}

/// Tables as images and as text, and what a flash and an erase do to them.
pub fn partitions(data: &[u8]) {
    let tables = [partitions::from_image(data), partitions::from_csv(&lossy(data))];
    let number = |at: usize| {
        data.get(at..at + 4).map_or(at as u64, |bytes| {
            u64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        })
    };
    let board = json!({ "label": "b", "chip": "esp32", "port": "p", "simulated": false });
    let image = |at: usize| {
        let hash = "0".repeat(64);
        json!({ "file": format!("{at}.bin"), "offset": number(at), "bytes": number(at + 4), "hash": hash })
    };
    let images = [image(0), image(8), image(36)];
    let plan = json!({ "board": board, "images": images, "touches_boot": false, "build": 1, "built_at": 0 });
    let plan: FlashPlan = serde_json::from_value(plan).expect("it is a plan");
    let region = json!({ "offset": number(4), "bytes": number(8) });
    let erase: ErasePlan =
        serde_json::from_value(json!({ "board": board, "region": region })).expect("it is a plan");
    for table in tables.iter().flatten() {
        assert!(table.is_sorted_by_key(|partition| partition.offset));
        let map = flash_map::FlashMap::new("esp32", Some(number(12) as u32), table.clone());
        let landings = map.landings(&plan);
        for landing in landings.into_iter().chain(partitions::erased(&erase, table)) {
            assert!(landing.erased_from <= landing.erased_to, "{landing:?}");
        }
    }
    let (rows, _) = partition_csv::read(&lossy(data), 0x9000);
    assert!(rows.iter().all(|row| row.line > 0 && row.partition.bytes > 0));
    let _ = esp_image::ImageHeader::read(data).map(|header| esp_image::Chip::with_id(header.chip));
    let _ = (esp_image::looks_encrypted(data), esp_image::chosen_slot(data, 2));
}

/// A change that is planned comes true, byte by byte, and then there is nothing left to change.
pub fn nvs(data: &[u8]) {
    let mut base = data.to_vec();
    // Whole pages, so that a fuzzer need not learn that.
    base.resize(data.len().clamp(1, 8 * 4096).next_multiple_of(4096).max(3 * 4096), 0xff);
    let wishes = || -> Vec<EntryChange> {
        let wish = |key: &str, encoding: &str, text: &str| EntryChange {
            namespace: "fuzz".to_owned(),
            key: key.to_owned(),
            value: Some(nvs::value(encoding, text).expect("it is a value")),
        };
        vec![wish("n", "u32", "7"), wish("s", "string", "words"), wish("b", "hex2bin", "00ff10")]
    };
    let planned = match nvs::plan(&base, wishes()) {
        Ok(planned) => planned,
        Err(WhyNot::Nothing | WhyNot::Nvs(_) | WhyNot::Several(_)) => return,
        Err(other) => panic!("{other:?}"),
    };
    let seen: Vec<Option<NvsValue>> = planned.edits.iter().map(|edit| edit.after.clone()).collect();
    assert!(seen.iter().all(Option::is_some));
    let board = json!({ "label": "b", "chip": "esp32", "port": "p", "simulated": false });
    let plan = json!({
        "board": board, "region": { "label": "nvs", "offset": 0x9000, "bytes": base.len() },
        "base": planned.base, "image": planned.image, "edits": planned.edits, "room": planned.space,
    });
    let plan: NvsPlan = serde_json::from_value(plan).expect("it is a plan");
    let Rewritten::Image(image) = nvs::rewrite(&plan, &base) else {
        panic!("what was planned on these bytes can be written on them");
    };
    assert_eq!(image.len(), base.len());
    assert!(matches!(nvs::plan(&image, wishes()), Err(WhyNot::Nothing)));
}
