//! What is done to boards beside flashing, in variants after those of the first journals.

use firmhand::model::*;

pub fn board() -> BoardInfo {
    BoardInfo {
        label: "virtual board".into(),
        chip: "esp32".into(),
        port: "/dev/pts/7".into(),
        simulated: true,
    }
}

/// The variants that only changes of boards and rules about them have.
pub const VARIANTS: std::ops::Range<u32> = 15..20;

pub fn board_change(variant: u32) -> Option<Change> {
    let region = FlashRegion { label: "nvs".into(), offset: 0x9000, bytes: 0x6000 };
    let erase = |region| Change::Erase(ErasePlan { board: board(), region });
    let text = || "wifi \u{202e}\x1b[2J\n".into();
    match variant {
        15 => Some(erase(Some(region))),
        16 => Some(erase(None)),
        17 => Some(Change::Send(SendPlan { board: board(), text: text() })),
        18 => {
            let path = ProjectPath::new("build/nvs.bin").unwrap();
            Some(Change::Read(ReadPlan { board: board(), region, path }))
        }
        19 => Some(Change::Nvs(nvs(region))),
        _ => None,
    }
}

/// An entry of each kind of change, with a name and a value that must not reach a terminal as is.
fn nvs(region: FlashRegion) -> NvsPlan {
    let seen = |kind, shown: &str| NvsSeen {
        kind,
        shown: shown.into(),
        hash: ContentHash::of(shown.as_bytes()),
    };
    let value = |kind, text: &str| Some(NvsValue { kind, text: text.into() });
    let edit = |key: &str, before, after, shown: &str| NvsEdit {
        namespace: "wifi".into(),
        key: key.into(),
        before,
        after,
        shown: shown.into(),
    };
    let edits = vec![
        edit("ssid", None, value(NvsKind::String, "a\u{202e}b"), "\"a\u{202e}\x1b[2Jb\""),
        edit("\x1b[2J", Some(seen(NvsKind::U8, "6")), value(NvsKind::U8, "11"), "11"),
        edit("psk", Some(seen(NvsKind::Blob, "•••••••• (32 bytes, masked)")), None, ""),
    ];
    let (base, image) = (ContentHash::of(b"before"), ContentHash::of(b"after"));
    let room = NvsSpace { used: 12, of: 630, damaged: 1 };
    NvsPlan { board: board(), region, base, image, edits, space: room }
}

pub fn board_kind(variant: u32) -> Option<ChangeKind> {
    board_change(variant).map(|change| change.change_kind())
}
