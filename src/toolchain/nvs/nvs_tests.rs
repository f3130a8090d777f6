//! Tests of the format, against images that ESP-IDF's own generator has made.

use proptest::prelude::*;

use super::change::{EntryChange, Planned};
use super::encoding::Encoding;
use super::terms::{name, of_file, value};
use super::*;
use crate::model::{BoardInfo, ContentHash, FlashRegion, NvsKind, NvsPlan};

/// What `esp_idf_nvs_partition_gen` 0.3.0 makes of [`settings`] in 0x6000 bytes.
const GENERATED: &[u8] = include_bytes!("../../../tests/data/nvs/settings.bin");

const NVS: usize = 0x6000;

fn entry(namespace: &str, key: &str, value: StoredValue) -> NvsEntry {
    NvsEntry { namespace: namespace.into(), key: key.into(), value }
}

fn store(entries: Vec<NvsEntry>) -> NvsPartition {
    let mut namespaces: Vec<String> = Vec::new();
    for entry in &entries {
        if !namespaces.contains(&entry.namespace) {
            namespaces.push(entry.namespace.clone());
        }
    }
    NvsPartition { entries, namespaces, damaged: 0 }
}

fn settings() -> NvsPartition {
    let blob =
        StoredValue { kind: NvsKind::Blob, bytes: (0..9000_u32).map(|n| (n * 7) as u8).collect() };
    let all = [
        ("wifi", "ssid", value("string", "my network")),
        ("wifi", "password", value("string", "correct horse")),
        ("wifi", "channel", value("u8", "11")),
        ("app", "big", value("i64", "-5000000000")),
        ("app", "most", value("u64", "18446744073709551615")),
        ("app", "small", value("i16", "-2")),
        ("app", "blob", Ok(blob)),
        ("app", "hex", value("hex2bin", "00FF10")),
        ("app", "base", value("base64", "AQIDBA==")),
        ("app", "empty", value("string", "")),
        ("app", "long", value("string", &"x".repeat(3900))),
    ];
    store(all.map(|(space, key, value)| entry(space, key, value.unwrap())).into())
}

fn write_all(store: &NvsPartition) -> Vec<u8> {
    write::write(store, NVS).unwrap().0
}

#[test]
fn an_image_is_that_of_the_generator_byte_for_byte() {
    let made = write_all(&settings());
    let differs = made.iter().zip(GENERATED).position(|(a, b)| a != b);
    assert_eq!((differs, made.len()), (None, GENERATED.len()));
    assert_eq!(parse::parse(GENERATED).unwrap(), settings());
}

#[test]
fn what_is_erased_or_cut_off_reads_as_the_firmware_reads_it() {
    assert_eq!(parse::parse(&[0xff; NVS]).unwrap(), NvsPartition::default());
    let held = store(vec![entry("a", "n", value("u8", "1").unwrap())]);
    let mut image = write_all(&held);
    // The same key stored anew, and the power gone before the old one was erased.
    let newer = store(vec![entry("a", "n", value("u8", "2").unwrap())]);
    let second = write_all(&newer);
    image[ENTRIES_AT + 2 * ENTRY..ENTRIES_AT + 3 * ENTRY]
        .copy_from_slice(&second[ENTRIES_AT + ENTRY..ENTRIES_AT + 2 * ENTRY]);
    image[STATES_AT] &= !(1 << 4);
    assert_eq!(parse::parse(&image).unwrap(), newer);
    // An entry whose checksum is wrong is left out, and told.
    let mut image = write_all(&settings());
    image[ENTRIES_AT + 3 * ENTRY + 24] ^= 1;
    let damaged = parse::parse(&image).unwrap();
    assert!(damaged.damaged > 0 && damaged.entries.len() < settings().entries.len());
    // Part of a blob is gone.
    let mut image = write_all(&settings());
    image[PAGE..2 * PAGE].fill(0xff);
    let without = parse::parse(&image).unwrap();
    assert!(without.damaged > 0 && !without.entries.iter().any(|entry| entry.key == "blob"));
}

#[test]
fn what_is_no_partition_is_refused_in_words() {
    let says = |image: &[u8]| parse::parse(image).unwrap_err().to_string();
    assert!(says(&[0xff; 100]).contains("100 bytes are not an NVS partition"));
    assert!(says(&[0xff; 2 * PAGE]).contains("at least three"));
    assert!(says(&[0x5a; NVS]).contains("encrypted, or it is another kind"));
    // Encryption leaves the heads of pages alone.
    let mut image = write_all(&settings());
    for page in image.chunks_mut(PAGE) {
        page[ENTRIES_AT..].iter_mut().for_each(|byte| *byte ^= 0x5a);
    }
    assert!(says(&image).contains("it is encrypted, or damaged"));
    let mut image = write_all(&settings());
    image[8] = 0xff;
    let sum = page_checksum(&image[..PAGE]).to_le_bytes();
    image[28..32].copy_from_slice(&sum);
    assert!(says(&image).contains("version 1"));
}

#[test]
fn what_has_no_room_is_refused() {
    let blob = |bytes| StoredValue { kind: NvsKind::Blob, bytes: vec![1; bytes] };
    let full = |bytes| write::write(&store(vec![entry("a", "b", blob(bytes))]), NVS);
    assert!(full(5 * 124 * 32).is_ok());
    let error = full(5 * 126 * 32).unwrap_err().to_string();
    assert!(error.contains("no room") && error.contains("630 entries"), "{error}");
}

#[test]
fn values_are_taken_as_the_generator_takes_them() {
    assert_eq!(value("u8", "0x1F").unwrap().bytes, [0x1f]);
    assert_eq!(value("i32", " -1 ").unwrap().bytes, [0xff; 4]);
    assert_eq!(value("base64", "AQ ID").unwrap().bytes, [1, 2, 3]);
    assert_eq!(of_file("binary", vec![0, 255]).unwrap().bytes, [0, 255]);
    assert_eq!(of_file("hex2bin", b"0a0b\n".to_vec()).unwrap().bytes, [10, 11]);
    for (kind, text, why) in [
        ("u8", "256", "256 does not fit into u8, which holds 0 to 255"),
        ("i8", "-129", "which holds -128 to 127"),
        ("u64", "-1", "which holds 0 to 18446744073709551615"),
        ("i64", "9223372036854775808", "which holds -9223372036854775808"),
        ("u16", "1.5", "`1.5` is not an integer"),
        ("u16", "", "`` is not an integer"),
        ("hex2bin", "abc", "3 hexadecimal digits are not whole bytes"),
        ("hex2bin", "zz", "not hexadecimal digits"),
        ("base64", "*", "it is not base64"),
        ("string", "a\0b", "first NUL"),
        ("float", "1", "`float` is not a type"),
        ("blob", "00", "`blob` is not a type"),
    ] {
        let error = value(kind, text).unwrap_err();
        assert!(error.contains(why), "{kind} {text:?}: {error}");
    }
    let long = value("string", &"x".repeat(4000)).unwrap_err();
    assert_eq!(long, "the text has 4000 bytes; the limit is 3999");
    assert!(value("string", &"x".repeat(3999)).is_ok());
    assert_eq!(name("fifteen-letters"), Ok(()));
    assert_eq!(
        name("sixteen--letters").unwrap_err(),
        "`sixteen--letters` has 16 bytes; the limit is 15"
    );
    assert_eq!(name("").unwrap_err(), "is empty");
    assert!(name("a\nb").is_err());
}

#[test]
fn secrets_are_masked_and_everything_else_is_told() {
    let reported = |key: &str, value: StoredValue| value.shown(key);
    let text = || value("string", "correct horse").unwrap();
    assert_eq!(reported("sta.pswd", text()), "•••••••• (13 characters)");
    assert_eq!(reported("wifi_password", text()), "•••••••• (13 characters)");
    assert_eq!(reported("name", text()), "\"correct horse\"");
    let token = value("string", &format!("ghp_{}", "a1".repeat(20))).unwrap();
    assert!(reported("name", token).contains("•••"));
    assert_eq!(reported("n", value("i8", "-3").unwrap()), "-3");
    assert_eq!(reported("b", value("hex2bin", "00ff").unwrap()), "00ff (2 bytes)");
    let blob = StoredValue { kind: NvsKind::Blob, bytes: vec![7; 100] };
    assert!(reported("b", blob).contains("0707… (100 bytes, sha256 "));
    assert_eq!(reported("s", value("string", "a\"\u{202e}\n").unwrap()), "\"a\\\"\\u{202e}\\n\"");
}

fn wish(namespace: &str, key: &str, wished: Option<(&str, &str)>) -> EntryChange {
    let value = wished.map(|(encoding, text)| value(encoding, text).unwrap());
    EntryChange { namespace: namespace.into(), key: key.into(), value }
}

fn planned(wishes: Vec<EntryChange>) -> NvsPlan {
    let Planned { base, image, edits, space } = plan(GENERATED, wishes).unwrap();
    let board =
        BoardInfo { label: "b".into(), chip: "esp32".into(), port: "p".into(), simulated: false };
    let region = FlashRegion { label: "nvs".into(), offset: 0x9000, bytes: NVS as u32 };
    NvsPlan { board, region, base, image, edits, space }
}

#[test]
fn a_plan_tells_what_changes_and_is_carried_out_on_what_is_there_then() {
    let plan = planned(vec![
        wish("wifi", "password", Some(("string", "battery staple"))),
        wish("wifi", "channel", None),
        wish("new", "on", Some(("u8", "1"))),
        // It is so already.
        wish("app", "small", Some(("i16", "-2"))),
    ]);
    assert_eq!(plan.counts(), (1, 1, 1));
    let json = serde_json::to_string(&plan).unwrap();
    assert!(!json.contains("correct horse"), "what is stored is a secret: {json}");
    assert!(plan.space.used > 0 && plan.space.of == 630);
    let Rewritten::Image(image) = rewrite(&plan, GENERATED) else { panic!("not written") };
    assert_eq!(ContentHash::of(&image), plan.image);
    let mut expected = settings();
    expected.entries[1].value = value("string", "battery staple").unwrap();
    expected.entries.remove(2);
    expected.entries.push(entry("new", "on", value("u8", "1").unwrap()));
    expected.namespaces.push("new".into());
    assert_eq!(parse::parse(&image).unwrap(), expected);

    // The firmware has counted on meanwhile: its own entries stay as they are now.
    let mut later = settings();
    later.entries[5].value = value("i16", "7").unwrap();
    let Rewritten::Image(image) = rewrite(&plan, &write_all(&later)) else { panic!("not written") };
    expected.entries[4].value = value("i16", "7").unwrap();
    assert_eq!(parse::parse(&image).unwrap(), expected);

    // What was shown is so no more.
    let mut later = settings();
    later.entries[1].value = value("string", "changed meanwhile").unwrap();
    assert_eq!(rewrite(&plan, &write_all(&later)), Rewritten::Stale);
    let mut later = settings();
    later.entries.push(entry("new", "on", value("u8", "1").unwrap()));
    assert_eq!(rewrite(&plan, &write_all(&later)), Rewritten::Stale);
    assert_eq!(rewrite(&plan, &[0xff; NVS]), Rewritten::Stale);
    assert!(matches!(rewrite(&plan, &[0; NVS]), Rewritten::Cannot(_)));
    // Something else would be written than was approved.
    let other = NvsPlan { image: ContentHash::of(b""), ..plan };
    assert!(matches!(rewrite(&other, GENERATED), Rewritten::Cannot(_)));
}

#[test]
fn wishes_that_cannot_be_fulfilled_say_why() {
    let says = |wishes| plan(GENERATED, wishes).unwrap_err().to_string();
    let set = || wish("app", "n", Some(("u8", "1")));
    assert_eq!(
        says(vec![wish("wifi", "nope", None)]),
        "there is no `wifi:nope` that could be removed"
    );
    assert_eq!(says(vec![set(), set()]), "`app:n` is named twice");
    assert!(says(vec![wish("app", "small", Some(("i16", "-2")))]).contains("already"));
    let huge = StoredValue { kind: NvsKind::Blob, bytes: vec![0; 30_000] };
    let huge = EntryChange { namespace: "a".into(), key: "b".into(), value: Some(huge) };
    assert!(says(vec![huge]).contains("no room"));
}

fn any_value() -> impl Strategy<Value = StoredValue> {
    let number = prop::sample::select(&NvsKind::ALL[..8]).prop_flat_map(|kind| {
        prop::collection::vec(any::<u8>(), Encoding::of(kind).width.unwrap())
            .prop_map(move |bytes| StoredValue { kind, bytes })
    });
    let text = prop::collection::vec(1..=255_u8, 0..300).prop_map(|mut bytes| {
        bytes.push(0);
        StoredValue { kind: NvsKind::String, bytes }
    });
    let blob = prop::collection::vec(any::<u8>(), 0..5000)
        .prop_map(|bytes| StoredValue { kind: NvsKind::Blob, bytes });
    prop_oneof![4 => number, 2 => text, 1 => blob]
}

fn any_store() -> impl Strategy<Value = NvsPartition> {
    let one = ("[a-z]{1,3}", "[a-zA-Z0-9_.]{1,15}", any_value());
    prop::collection::vec(one, 0..40).prop_map(|all| {
        let mut entries: Vec<NvsEntry> = Vec::new();
        for (namespace, key, value) in all {
            let is_new = |known: &NvsEntry| known.namespace != namespace || known.key != key;
            if entries.iter().all(is_new) {
                entries.push(entry(&namespace, &key, value));
            }
        }
        store(entries)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_read_again(store in any_store()) {
        let Ok((image, used)) = write::write(&store, 0x10000) else { return Ok(()) };
        prop_assert_eq!(parse::parse(&image).unwrap(), store);
        prop_assert!(used <= write::entry_space(0x10000));
        prop_assert!(image[0xf000..].iter().all(|byte| *byte == 0xff));
    }

    #[test]
    fn no_bytes_make_the_reader_fail(
        store in any_store(),
        spots in prop::collection::vec((0..0x3000_usize, any::<u8>()), 0..200),
        noise in prop::collection::vec(any::<u8>(), 0..3 * PAGE),
    ) {
        let _ = parse::parse(&noise);
        let mut padded = noise;
        padded.resize(3 * PAGE, 0);
        let _ = parse::parse(&padded);
        let Ok((mut image, _)) = write::write(&store, 0x10000) else { return Ok(()) };
        for (at, byte) in spots {
            image[at] = byte;
        }
        // What can be read at all can be written again, and is the same then.
        if let Ok(read) = parse::parse(&image)
            && let Ok((again, _)) = write::write(&read, 0x20000)
        {
            prop_assert_eq!(parse::parse(&again).unwrap().entries, read.entries);
        }
    }
}
