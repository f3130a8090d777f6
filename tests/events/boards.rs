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
pub const VARIANTS: std::ops::Range<u32> = 15..19;

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
        _ => None,
    }
}

pub fn board_kind(variant: u32) -> Option<ChangeKind> {
    board_change(variant).map(|change| change.change_kind())
}
