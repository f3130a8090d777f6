//! What is done to a board, in the review.

use insta::assert_snapshot;

use super::tests::pane;
use crate::model::ProposalEvent;
use crate::model::*;
use crate::ui::action::Action;
use crate::ui::panes::pane_bench::PaneBench;

/// Two images for the virtual board, the bootloader among them.
pub(super) fn flash_plan() -> FlashPlan {
    let image = |file: &str, offset, bytes| FlashImage {
        file: file.into(),
        offset,
        bytes,
        hash: ContentHash::of(file.as_bytes()),
        same: false,
    };
    FlashPlan {
        board: BoardInfo {
            label: "virtual board".into(),
            chip: "esp32".into(),
            port: "/dev/pts/3".into(),
            simulated: true,
        },
        images: vec![
            image("build/bootloader/bootloader.bin", 0x1000, 26_768),
            image("build/app.bin", 0x10000, 181_232),
        ],
        touches_boot: Some(true),
        options: Vec::new(),
        build: BuildId(2),
        built_at: Timestamp(1_700_000_001_000),
    }
}

fn nvs_facts() -> Facts {
    let part = |label: &str, kind: &str, offset, bytes| Partition {
        label: label.into(),
        kind: kind.into(),
        subtype: label.into(),
        offset,
        bytes,
    };
    let landing = Landing {
        file: String::new(),
        place: "nvs".into(),
        erased_from: 0x9000,
        erased_to: 0xf000,
        overflow: 0,
        touches: vec![FlashArea::Partition("nvs".into())],
    };
    let partitions =
        vec![part("nvs", "data", 0x9000, 0x6000), part("factory", "app", 0x1_0000, 0x10_0000)];
    let source = "partitions.csv".into();
    let flash =
        Some(FlashFacts { source, partitions, table_offset: None, landings: vec![landing] });
    Facts { flash, ..Facts::default() }
}

/// One entry that is new, one that changes its type, a secret, and one that goes.
fn nvs_plan(board: BoardInfo) -> NvsPlan {
    let seen = |kind, shown: &str| {
        let hash = ContentHash::of(shown.as_bytes());
        Some(NvsSeen { kind, shown: shown.into(), hash })
    };
    let value = |kind, text: &str| Some(NvsValue { kind, text: text.into() });
    let edit = |key: &str, before, after, shown: &str| NvsEdit {
        namespace: "wifi".into(),
        key: key.into(),
        before,
        after,
        shown: shown.into(),
    };
    let (masked, longer) = ("•••••••• (8 characters)", "•••••••• (14 characters)");
    let text = NvsKind::String;
    let edits = vec![
        edit("ssid", None, value(text, "my network"), "\"my network\""),
        edit("channel", seen(NvsKind::U8, "6"), value(NvsKind::U16, "11"), "11"),
        edit("password", seen(text, masked), value(text, "battery staple"), longer),
        edit("old_\u{202e}", seen(NvsKind::Blob, "00ff (2 bytes)"), None, ""),
    ];
    let region = FlashRegion { label: "nvs".into(), offset: 0x9000, bytes: 0x6000 };
    let (base, image) = (ContentHash::of(b"before"), ContentHash::of(b"after"));
    let free = NvsSpace { used: 12, of: 630, damaged: 2 };
    NvsPlan { board, region, base, image, edits, space: free }
}

#[test]
fn what_is_done_to_a_board_at_three_widths() {
    let hardware = BoardInfo {
        label: "esp32 board".into(),
        port: "/dev/ttyUSB0".into(),
        simulated: false,
        ..flash_plan().board
    };
    let text = "wifi ssid \u{202e}pass\r\nreboot\n".into();
    let send = Change::Send(SendPlan { board: hardware.clone(), text });
    let region = Some(FlashRegion { label: "nvs".into(), offset: 0x9000, bytes: 0x6000 });
    let part = Change::Erase(ErasePlan { board: hardware.clone(), region });
    let region = FlashRegion { label: "nvs".into(), offset: 0x9000, bytes: 0x6000 };
    let path = ProjectPath::new("build/nvs-backup.bin").unwrap();
    let read = Change::Read(ReadPlan { board: hardware.clone(), region, path });
    let all = Change::Erase(ErasePlan { board: flash_plan().board, region: None });
    let edit = Change::Nvs(nvs_plan(hardware.clone()));
    for (name, change, facts) in [
        ("edit_nvs", edit, Facts::default()),
        ("send", send, Facts::default()),
        ("read", read, Facts::default()),
        ("erase_part", part, nvs_facts()),
        ("erase_all", all, Facts::default()),
    ] {
        let mut desk = PaneBench::new();
        desk.propose_knowing(change, (1, 1), facts);
        let mut pane = pane(&desk);
        let rows = if name == "edit_nvs" { 26 } else { 18 };
        for width in [44, 80, 120] {
            assert_snapshot!(format!("{name}_{width}"), desk.show(&mut pane, width, rows));
        }
    }
}

#[test]
fn the_tables_of_a_flash_give_up_columns_and_never_break_a_row() {
    let mut plan = flash_plan();
    plan.touches_boot = None;
    plan.board.simulated = false;
    plan.images[0].same = true;
    let part = |label: &str, kind: &str, subtype: &str, offset, bytes| Partition {
        label: label.into(),
        kind: kind.into(),
        subtype: subtype.into(),
        offset,
        bytes,
    };
    let partitions = vec![
        part("nvs", "data", "nvs", 0x9000, 0x6000),
        part("factory", "app", "factory", 0x1_0000, 0x10_0000),
    ];
    let landing = |place: &str, erased_from, erased_to, touches| Landing {
        file: String::new(),
        place: place.into(),
        erased_from,
        erased_to,
        overflow: 0,
        touches,
    };
    let factory = vec![FlashArea::Partition("factory".into())];
    let landings = vec![
        landing("bootloader", 0x1000, 0x1000, Vec::new()),
        landing("factory", 0x1_0000, 0x3_d000, factory),
    ];
    let source = "the board".into();
    let flash = Some(FlashFacts { source, partitions, table_offset: Some(0x8000), landings });
    let board = BoardFacts { flash_bytes: Some(4 << 20), ..BoardFacts::default() };
    let facts = Facts { flash, board: Some(board), ..Facts::default() };
    let mut desk = PaneBench::new();
    desk.propose_knowing(Change::Flash(plan), (1, 1), facts);
    let mut pane = pane(&desk);
    for width in [40, 44, 60, 80, 120] {
        let shown = desk.show(&mut pane, width, 30);
        assert!(!shown.contains('↪'), "{width}\n{shown}");
        for words in ["bootloader.bin", "app.bin", "→ factory", "same", "← written"] {
            assert!(shown.contains(words), "{words} at {width}\n{shown}");
        }
        assert!(shown.contains("bootloader and table are kept"), "{width}\n{shown}");
    }
    desk.decide(ProposalId(1), Verdict::Approve, DecidedBy::Person, 0);
    desk.record(Event::Proposal(ProposalEvent::Settled {
        proposal: ProposalId(1),
        outcome: Outcome::Applied,
    }));
    desk.show(&mut pane, 80, 24);
    let message = format!("{:?}", desk.press(&mut pane, Action::Undo));
    assert!(message.contains("a flash cannot be undone"), "{message}");
}
