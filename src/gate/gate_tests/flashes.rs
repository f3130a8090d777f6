//! What a flash touches, by addresses and contents, and what the person has to type for it.

use super::*;
use crate::model::{BoardFacts, BuildId, Change, FlashImage, FlashPlan, Partition};
use crate::toolchain::Compared;
use crate::toolchain::partitions::from_csv;
use crate::workspace::ProjectDir;

/// An address at which applications of an ESP32 lie, and one of its memory.
const FLASH: u32 = 0x3f40_0020;
const RAM: u32 = 0x3fff_0018;

const TABLE: &str = "nvs, data, nvs, 0x9000, 24K\nphy_init, data, phy, , 4K\n\
                     factory, app, factory, , 1M\n";

const OTA: &str = "nvs, data, nvs, 0x9000, 16K\notadata, data, ota, , 8K\nphy, data, phy, , 4K\n\
                   ota_0, app, ota_0, 0x10000, 1M\nota_1, app, ota_1, , 1M\n";

/// An image for an ESP32 with one segment at `address`.
fn image(address: u32, size: u8, content: &[u8]) -> Vec<u8> {
    let mut image = vec![0xe9, 1, 2, size << 4, 0, 0, 0, 0, 0xee];
    image.resize(24, 0);
    image.extend(address.to_le_bytes());
    image.extend(u32::try_from(content.len()).unwrap().to_le_bytes());
    image.extend(content);
    image
}

fn app() -> Vec<u8> {
    image(FLASH, 2, &[7; 30_000])
}

fn boot() -> Vec<u8> {
    image(RAM, 2, &[9; 20_000])
}

/// A table as the build makes it.
fn table(csv: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in from_csv(csv).unwrap() {
        let (kind, subtype) = match (part.kind.as_str(), part.subtype.as_str()) {
            ("app", "factory") => (0, 0),
            ("app", slot) => (0, 0x10 + slot[4..].parse::<u8>().unwrap()),
            (_, "ota") => (1, 0),
            (_, "phy") => (1, 1),
            (_, "nvs") => (1, 2),
            (_, _) => (1, 0x82),
        };
        bytes.extend([0xaa, 0x50, kind, subtype]);
        bytes.extend(part.offset.to_le_bytes());
        bytes.extend(part.bytes.to_le_bytes());
        let mut label = part.label.into_bytes();
        label.resize(16, 0);
        bytes.extend(label);
        bytes.extend([0; 4]);
    }
    bytes.resize(0xc00, 0xff);
    bytes
}

/// The data that makes the application of this number start, from 1.
fn ota_data(number: u32) -> Vec<u8> {
    let mut bytes = vec![0xff; 0x2000];
    bytes[..4].copy_from_slice(&number.to_le_bytes());
    bytes
}

type Image<'a> = (&'a str, u32, Vec<u8>);

impl GateBench {
    /// Writes the images into the project and proposes to flash them.
    fn flash_of(&self, chip: &str, images: &[Image<'_>]) -> Draft {
        let images = images.iter().map(|(file, offset, content)| {
            fs::create_dir_all(self.path("build")).unwrap();
            fs::write(self.path("build").join(file), content).unwrap();
            FlashImage {
                file: format!("build/{file}"),
                offset: *offset,
                bytes: content.len() as u64,
                hash: ContentHash::of(content),
                same: false,
            }
        });
        let board = BoardInfo {
            label: format!("{chip} board"),
            chip: chip.into(),
            port: "/dev/x".into(),
            simulated: false,
        };
        let plan = FlashPlan::new(board, images.collect(), BuildId(1), Timestamp(0));
        Draft { change: DraftChange::Flash(plan), reason: String::new(), checks: Vec::new() }
    }

    /// The proposal that comes of it; it is not approved.
    async fn proposed(&self, draft: Draft) -> Proposal {
        let task = self.submit(vec![draft]);
        self.on_desk(1).await;
        let id = self.desk.waiting()[0];
        let proposal = self.gate.waiting(id).unwrap();
        self.desk.decide(Shown::whole(id, proposal.change.hash()), reject("")).unwrap();
        task.await.unwrap().unwrap();
        proposal
    }

    fn answers(&self, same: &[bool], flash_bytes: u64, csv: &str) {
        let partitions: Vec<Partition> = from_csv(csv).unwrap_or_default();
        let board =
            BoardFacts { flash_bytes: Some(flash_bytes), partitions, ..BoardFacts::default() };
        *self.bench.compared.lock().unwrap() = Some(Compared { same: same.to_vec(), board });
    }
}

fn finding_texts(proposal: &Proposal) -> Vec<String> {
    let tell = |found: &crate::model::Finding| format!("{:?} {}", found.level, found.text);
    proposal.findings().map(tell).collect()
}

/// One wrong flash: the chip, the table of the project, the images, and what has to be said.
type Wrong<'a> = (&'a str, &'a str, Vec<Image<'a>>, &'a str);

#[tokio::test]
async fn what_is_wrong_with_a_flash_is_said_before_it_is_decided() {
    let cases: Vec<Wrong<'_>> = vec![
        ("esp32", TABLE, vec![("app.bin", 0x1000, app())], "in place of the bootloader"),
        ("esp32s3", TABLE, vec![("x", 0x1000, boot())], "looks for its bootloader at 0x0"),
        ("esp32", TABLE, vec![("x", 0xf000, vec![1; 5000])], "runs into factory"),
        ("esp32", TABLE, vec![("x", 0x1_0010, app())], "starts within a sector"),
        ("esp32", TABLE, vec![("x", 0x2_0000, app())], "and `factory` at 0x10000"),
        ("esp32", TABLE, vec![("t.bin", 0x8000, vec![0xff; 5120])], "runs into nvs"),
        ("esp32", TABLE, vec![("t.bin", 0x8000, vec![0xff; 3072])], "not a partition table"),
        ("esp32", TABLE, vec![("x", 0x80_0000, app())], "outside of every partition"),
        ("esp32", TABLE, vec![("x", 0x1_0000, vec![7; 1_048_577])], "1 bytes too long for factory"),
        ("esp32", TABLE, vec![("x", 0x9000, app())], "is a program, and `nvs` is for data"),
        ("esp32", TABLE, vec![("x", 0x9000, vec![0xff; 0x6000])], "replaces the settings"),
        ("esp32", TABLE, vec![("x", 0x1_0000, vec![0; 4096])], "is not an application"),
        ("esp32", TABLE, vec![("x", 0x1_0000, boot())], "is a bootloader, and `factory`"),
        ("esp32c3", TABLE, vec![("x", 0x1_0000, app())], "is made for an esp32, and the board"),
        (
            "esp32",
            TABLE,
            vec![("a", 0x1_0000, app()), ("b", 0x1_7000, app())],
            "over each other from 0x17000 on",
        ),
        (
            "esp32",
            OTA,
            vec![("a", 0x1_0000, app()), ("b", 0x11_0000, app())],
            "writes 2 applications",
        ),
        ("esp32", OTA, vec![("b", 0x11_0000, app())], "is not written"),
        (
            "esp32",
            "ota_0, app, ota_0, 0x10000, 1M\nota_1, app, ota_1, , 1M\n",
            vec![("b", 0x11_0000, app())],
            "there is no `otadata` partition",
        ),
        (
            "esp32",
            "nvs, data, nvs, 0x9000, 16K\nkeys, data, nvs_keys, , 4K\nfactory, app, factory, , 1M\n",
            vec![("k", 0xd000, vec![5; 4096])],
            "replaces the keys stored in `keys`",
        ),
        (
            "esp32",
            OTA,
            vec![("a", 0x1_0000, app()), ("o", 0xd000, ota_data(2))],
            "`build/o` makes `ota_1` start, and this flash does not write `ota_1`",
        ),
    ];
    for (chip, csv, images, words) in cases {
        let world = GateBench::asking();
        world.write("partitions.csv", csv);
        let proposal = world.proposed(world.flash_of(chip, &images)).await;
        let reported = finding_texts(&proposal);
        assert!(reported.iter().any(|reported| reported.contains(words)), "{words}: {reported:#?}");
        assert!(proposal.needs_person());
    }
}

#[test]
fn a_task_that_names_the_settings_makes_their_replacement_a_note_and_nothing_else() {
    let world = GateBench::asking();
    world.write(
        "partitions.csv",
        "nvs, data, nvs, 0x9000, 16K\ncalib, data, nvs, , 16K\nfactory, app, factory, 0x20000, 1M\n",
    );
    let found = |content: Vec<u8>, task: &str| {
        let draft = world.flash_of("esp32", &[("calib.bin", 0xd000, content)]);
        let mut context = FindingsContext::default();
        task.clone_into(&mut context.task);
        let project_dir = ProjectDir::open(&world.path("")).unwrap();
        let made = examine(&project_dir, vec![draft], &context);
        finding_texts(&made[0])
    };
    let named = "Write build/calib.bin to the partition calib";
    let replaced = "replaces the settings stored in `calib`";
    assert_eq!(found(vec![0xff; 0x4000], "Flash it"), [format!("Warning {replaced}")]);
    assert_eq!(found(vec![0xff; 0x4000], named), [format!("Note {replaced}")]);
    let stop = "Stop `build/calib.bin` is a program, and `calib` is for data";
    assert!(found(app(), named).contains(&stop.to_owned()));
}

#[tokio::test]
async fn a_board_that_decrypts_its_flash_needs_encrypted_images() {
    let world = GateBench::asking();
    world.write("partitions.csv", TABLE);
    let says = |proposal: &Proposal, words: &str| {
        finding_texts(proposal).iter().any(|reported| reported.contains(words))
    };
    for (encryption, is_found) in [(Some(true), true), (Some(false), false), (None, false)] {
        let board = BoardFacts { flash_encryption: encryption, ..BoardFacts::default() };
        *world.bench.compared.lock().unwrap() = Some(Compared { same: vec![false], board });
        let draft = world.flash_of("esp32", &[("app.bin", 0x1_0000, app())]);
        let plain = world.proposed(draft.clone()).await;
        assert_eq!(says(&plain, "the board decrypts its flash"), is_found, "{encryption:?}");
        let DraftChange::Flash(mut plan) = draft.change else { panic!("it is a flash") };
        plan.options = vec!["--encrypt".to_owned()];
        let encrypted = Draft { change: DraftChange::Flash(plan), ..draft };
        assert!(!says(&world.proposed(encrypted).await, "the board decrypts its flash"));
    }
    // Bytes without any order, as encryption leaves them.
    let mut state = 1_u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
    .take(20_000)
    .collect();
    for (content, words) in
        [(noise, "it looks encrypted"), (vec![1; 20_000], "is written in its place")]
    {
        let proposal = world.proposed(world.flash_of("esp32", &[("b", 0x1000, content)])).await;
        assert!(says(&proposal, words), "{words}: {:#?}", finding_texts(&proposal));
    }
}

#[tokio::test]
async fn an_application_that_stays_as_it_is_is_not_written() {
    let world = GateBench::asking();
    world.write("partitions.csv", OTA);
    let two = [("a", 0x1_0000, app()), ("b", 0x11_0000, app())];
    for (same, is_found) in [([false, false], true), ([true, false], false)] {
        world.answers(&same, 4 << 20, OTA);
        let proposal = world.proposed(world.flash_of("esp32", &two)).await;
        let reported = finding_texts(&proposal);
        let has = reported.iter().any(|reported| reported.contains("writes 2 applications"));
        assert_eq!(has, is_found, "{reported:#?}");
    }
    let chosen = [("b", 0x11_0000, app()), ("o", 0xd000, ota_data(2))];
    world.answers(&[false, false], 4 << 20, OTA);
    let proposal = world.proposed(world.flash_of("esp32", &chosen)).await;
    let reported = finding_texts(&proposal);
    assert!(!reported.iter().any(|reported| reported.contains("start")), "{reported:#?}");
}

#[tokio::test]
async fn the_bootloader_is_known_by_its_address_under_any_name() {
    let world = GateBench::asking();
    world.write("partitions.csv", TABLE);
    for (chip, offset, file) in [
        ("esp32", 0x1000, "app.bin"),
        ("esp32s2", 0x1000, "data.bin"),
        ("esp32c3", 0, "firmware.bin"),
        ("esp32p4", 0x2000, "app.bin"),
        ("esp32", 0x7fff, "a.bin"),
        ("esp9000", 0x3000, "a.bin"),
    ] {
        let content = image(RAM, 2, &[1; 200]);
        let proposal = world.proposed(world.flash_of(chip, &[(file, offset, content)])).await;
        let phrase = format!("flash {chip} boot");
        assert_eq!(
            proposal.phrase(),
            Some(phrase),
            "{chip} {offset:x}: {:#?}",
            finding_texts(&proposal)
        );
        assert!(
            finding_texts(&proposal)
                .iter()
                .any(|reported| reported.contains("writes the bootloader"))
        );
    }
}

#[tokio::test]
async fn what_a_bootloader_was_not_compared_with_is_said_with_the_reason() {
    let world = GateBench::asking();
    world.write("partitions.csv", TABLE);
    const BREAKS: &str = "If it is broken, the board does not start.";
    for (not_asked, starts) in [
        (Some("the port is in use"), "Not compared with the board (the port is in use). "),
        (None, ""),
    ] {
        let board =
            BoardFacts { not_asked: not_asked.unwrap_or_default().into(), ..BoardFacts::default() };
        *world.bench.compared.lock().unwrap() = Some(Compared { same: vec![false], board });
        let proposal = world.proposed(world.flash_of("esp32", &[("b", 0x1000, boot())])).await;
        let advice = proposal.findings().find(|found| found.text.contains("bootloader")).unwrap();
        assert_eq!(advice.advice, format!("{starts}{BREAKS}"));
    }
}

#[tokio::test]
async fn a_sound_flash_of_an_application_has_no_findings_and_takes_a_key() {
    let world = GateBench::asking();
    world.write("partitions.csv", TABLE);
    let proposal = world.proposed(world.flash_of("esp32", &[("app.bin", 0x1_0000, app())])).await;
    assert_eq!((finding_texts(&proposal), proposal.phrase()), (Vec::new(), None));
    let full = [("b", 0x1000, boot()), ("t", 0x8000, table(TABLE)), ("a", 0x1_0000, app())];
    let proposal = world.proposed(world.flash_of("esp32", &full)).await;
    assert_eq!(proposal.stops(), 0, "{:#?}", finding_texts(&proposal));
    assert_eq!(proposal.findings().count(), 2, "bootloader and table");
    assert_eq!(proposal.facts.board.unwrap().not_asked, "the board is silent");
}

#[tokio::test]
async fn what_the_board_holds_already_is_skipped_and_takes_no_phrase() {
    let world = GateBench::asking();
    let full = [("b", 0x1000, boot()), ("t", 0x8000, table(TABLE)), ("a", 0x1_0000, app())];
    world.answers(&[true, true, false], 4 << 20, TABLE);
    let draft = world.flash_of("esp32", &full);
    let proposal = world.proposed(draft.clone()).await;
    assert_eq!((finding_texts(&proposal), proposal.phrase()), (Vec::new(), None));
    let facts = proposal.facts.flash.clone().unwrap();
    assert_eq!(facts.source, "the board");
    assert!(facts.landings[0].touches.is_empty() && facts.landings[2].erased_to == 0x1_8000);
    assert_eq!(world.approved_one(draft).await, Outcome::Applied);
    let flashed = world.bench.flashed.lock().unwrap().take().unwrap();
    let same: Vec<bool> = flashed.images.iter().map(|image| image.same).collect();
    assert_eq!(same, [true, true, false]);
    // A bootloader that differs is written, and says so.
    world.answers(&[false, true, true], 4 << 20, TABLE);
    let proposal = world.proposed(world.flash_of("esp32", &full)).await;
    assert_eq!(proposal.phrase().as_deref(), Some("flash esp32 boot"));
}

#[tokio::test]
async fn what_another_image_erases_is_not_skipped() {
    let world = GateBench::asking();
    world.answers(&[true, false], 4 << 20, TABLE);
    let over = [("b", 0x1000, boot()), ("x", 0x5000, vec![0; 4096])];
    let proposal = world.proposed(world.flash_of("esp32", &over)).await;
    let Change::Flash(plan) = &proposal.change else { panic!("{proposal:?}") };
    assert!(plan.images.iter().all(|image| !image.same));
}

#[tokio::test]
async fn a_layout_beyond_the_flash_of_the_board_is_stopped() {
    let world = GateBench::asking();
    let large = "nvs, data, nvs, 0x9000, 24K\nfactory, app, factory, 0x10000, 2M\n\
                 files, data, spiffs, 0x400000, 12M\n";
    let app = image(FLASH, 4, &[7; 3000]);
    let images =
        [("t", 0x8000, table(large)), ("a", 0x1_0000, app), ("f", 0x40_0000, vec![1; 4096])];
    world.answers(&[false, false, false], 4 << 20, TABLE);
    let proposal = world.proposed(world.flash_of("esp32", &images)).await;
    let lines = finding_texts(&proposal).join("\n");
    for words in [
        "`build/f` ends at 0x401000, and the board has 4 MB of flash",
        "the partition `files` ends at 0x1000000",
        "`build/a` is made for 16 MB of flash, and the board has 4 MB",
    ] {
        assert!(lines.contains(words), "{words}\n{lines}");
    }
    // Without an answer, what the images are made for counts.
    *world.bench.compared.lock().unwrap() = None;
    let small = image(FLASH, 1, &[7; 3000]);
    let images = [("t", 0x8000, table(large)), ("a", 0x1_0000, small)];
    let proposal = world.proposed(world.flash_of("esp32", &images)).await;
    assert!(finding_texts(&proposal).join("\n").contains("made for 2 MB of flash"));
}

#[tokio::test]
async fn a_table_that_moves_what_the_board_stores_is_stopped() {
    let world = GateBench::asking();
    world.answers(&[false], 4 << 20, TABLE);
    let moved = TABLE.replace("0x9000, 24K", "0xa000, 20K");
    let proposal = world.proposed(world.flash_of("esp32", &[("t", 0x8000, table(&moved))])).await;
    let reported = finding_texts(&proposal).join("\n");
    assert!(
        reported.contains("moves `nvs` from 0x9000 to 0xa000: the stored data is lost"),
        "{reported}"
    );
    assert!(reported.contains("writes the partition table"), "{reported}");
}

#[tokio::test]
async fn one_image_for_everything_is_seen_through() {
    let world = GateBench::asking();
    let mut merged = vec![0xff; 0x1_0000];
    merged[0x1000..0x1000 + boot().len()].copy_from_slice(&boot());
    merged[0x8000..0x8c00].copy_from_slice(&table(TABLE));
    merged.extend(app());
    let proposal = world.proposed(world.flash_of("esp32", &[("merged.bin", 0, merged)])).await;
    let reported = finding_texts(&proposal).join("\n");
    assert!(reported.contains("over nvs: the stored data is lost"), "{reported}");
    assert!(reported.contains("the bootloader and the partition table"), "{reported}");
    assert_eq!(proposal.phrase().as_deref(), Some("flash esp32 boot"));
    assert_eq!(proposal.facts.flash.unwrap().source, "build/merged.bin");
}

#[tokio::test]
async fn what_the_loader_is_told_besides_is_weighed() {
    for (option, phrase) in [
        ("--erase-all", Some("erase esp32 all")),
        ("--encrypt", Some("encrypt esp32 flash")),
        ("--force", None),
    ] {
        let world = GateBench::asking();
        world.write("partitions.csv", TABLE);
        let mut draft = world.flash_of("esp32", &[("a", 0x1_0000, app())]);
        let DraftChange::Flash(plan) = &mut draft.change else { panic!("it is a flash") };
        plan.options = ["--flash_mode", "dio", option].map(str::to_owned).to_vec();
        let proposal = world.proposed(draft).await;
        assert_eq!((proposal.stops(), proposal.phrase().as_deref()), (1, phrase), "{option}");
    }
}

#[tokio::test]
async fn a_table_elsewhere_is_found_where_the_build_put_it() {
    let world = GateBench::asking();
    world.write("sdkconfig", "CONFIG_PARTITION_TABLE_OFFSET=0x10000\n");
    let far = "nvs, data, nvs, 0x11000, 24K\nfactory, app, factory, 0x20000, 1M\n";
    world.write("partitions.csv", far);
    let proposal = world.proposed(world.flash_of("esp32", &[("a", 0x2_0000, app())])).await;
    assert_eq!((finding_texts(&proposal), proposal.phrase()), (Vec::new(), None));
    let proposal = world.proposed(world.flash_of("esp32", &[("a", 0xc000, app())])).await;
    assert_eq!(proposal.phrase().as_deref(), Some("flash esp32 boot"));
}

#[tokio::test]
async fn what_burns_efuses_is_typed() {
    let world = GateBench::asking();
    for (text, phrase) in [
        ("burn-efuse DIS_JTAG 1\r\n", Some("burn esp32 efuses")),
        ("efuse write 3 1\n", Some("burn esp32 efuses")),
        ("wifi ssid burned\n", None),
    ] {
        let board = BoardInfo {
            label: "board".into(),
            chip: "esp32".into(),
            port: "/dev/x".into(),
            simulated: false,
        };
        let change = DraftChange::Send(crate::model::SendPlan { board, text: text.into() });
        let draft = Draft { change, reason: String::new(), checks: Vec::new() };
        assert_eq!(world.proposed(draft).await.phrase().as_deref(), phrase, "{text}");
    }
}

#[test]
fn a_chip_that_was_known_is_not_forgotten_with_the_file_that_names_it() {
    let world = GateBench::asking();
    assert_eq!(world.gate.examinations.context().chip, None);
    world.write("sdkconfig", "CONFIG_IDF_TARGET=\"esp32c3\"\n");
    assert_eq!(world.gate.examinations.context().chip.as_deref(), Some("esp32c3"));
    fs::remove_file(world.path("sdkconfig")).unwrap();
    assert_eq!(world.gate.examinations.context().chip.as_deref(), Some("esp32c3"));
    world.write("sdkconfig", "CONFIG_IDF_TARGET=\"esp32s3\"\n");
    assert_eq!(world.gate.examinations.context().chip.as_deref(), Some("esp32s3"));
}
