//! What a board holds already: asked before a flash, and looked at once more before it is written.

use std::sync::Arc;

use firmhand::model::{BoardFacts, FlashPlan, UserError};
use firmhand::toolchain::{CompareOrder, Compared, FlashOrder, Loader, Toolchain};
use tokio_util::sync::CancellationToken;

use super::chip::{Chip, Fault, Kind};
use super::loaders::{Place, Way, assert_holds, flash, plan};

const MEGABYTE: usize = 1024 * 1024;

/// Commands that change the flash: blocks, plain and compressed, and erasing.
const WRITES: [u8; 8] = [0x02, 0x03, 0x04, 0x10, 0x11, 0x12, 0xd0, 0xd1];

fn within() -> Way {
    Way { loader: Loader::Within, python: "false".to_owned() }
}

async fn compare(place: &Place, chip: &Chip) -> Result<Compared, UserError> {
    let idf = place.idf(&chip.port);
    let plan = plan(&idf, &place.project());
    idf.compare(CompareOrder { project: place.project(), plan, table: 0x8000 }).await
}

async fn write(place: &Place, chip: &Chip, plan: FlashPlan) -> Result<(), UserError> {
    let order = FlashOrder {
        plan,
        project: place.project(),
        progress: Arc::new(|_, _| {}),
        notice: Arc::new(|_| {}),
        cancel: CancellationToken::new(),
    };
    place.idf(&chip.port).flash(order).await.map(|_| ())
}

fn writes(chip: &Chip) -> usize {
    let seen = chip.seen.lock().unwrap();
    seen.commands.iter().filter(|command| WRITES.contains(command)).count()
}

#[tokio::test]
async fn a_board_tells_what_it_holds_and_is_left_as_it_is() {
    let place = Place::new(&within(), "");
    let chip = Chip::start(Kind::Esp32C3, Fault::None, MEGABYTE);
    let empty = compare(&place, &chip).await.unwrap();
    assert_eq!(empty.same, [false, false, false]);
    let BoardFacts { flash_bytes, not_asked, secure_boot, flash_encryption, jtag_disabled, .. } =
        empty.board;
    assert_eq!((flash_bytes, not_asked.as_str()), (Some(4 << 20), ""));
    assert_eq!([secure_boot, flash_encryption, jtag_disabled], [Some(false); 3]);
    assert_eq!(writes(&chip), 0, "the comparison wrote something");
    flash(&place, &chip.port).await.result.unwrap();
    let before = writes(&chip);
    assert_eq!(compare(&place, &chip).await.unwrap().same, [true, true, true]);
    chip.seen.lock().unwrap().flash[0x1_0000 + 190_000] ^= 1;
    assert_eq!(compare(&place, &chip).await.unwrap().same, [true, true, false]);
    assert_eq!(writes(&chip), before, "the comparison wrote something");
}

#[tokio::test]
async fn the_table_of_the_board_is_read() {
    let place = Place::new(&within(), "");
    let chip = Chip::start(Kind::Esp32C3, Fault::None, MEGABYTE);
    let mut entry = vec![0xaa, 0x50, 1, 2, 0, 0x90, 0, 0, 0, 0x60, 0, 0];
    entry.extend(b"nvs");
    entry.resize(32, 0);
    chip.seen.lock().unwrap().flash[0x8000..0x8020].copy_from_slice(&entry);
    let partitions = compare(&place, &chip).await.unwrap().board.partitions;
    let [nvs] = partitions.as_slice() else { panic!("{partitions:?}") };
    assert_eq!((nvs.label.as_str(), nvs.offset, nvs.bytes), ("nvs", 0x9000, 0x6000));
}

#[tokio::test]
async fn what_is_the_same_is_not_written_and_has_to_be_so_still() {
    let place = Place::new(&within(), "");
    let chip = Chip::start(Kind::Esp32C3, Fault::None, MEGABYTE);
    flash(&place, &chip.port).await.result.unwrap();
    let mut plan = plan(&place.idf(&chip.port), &place.project());
    plan.images[0].same = true;
    plan.images[1].same = true;
    chip.seen.lock().unwrap().flash[0x1_0000..0x2_0000].fill(0);
    write(&place, &chip, plan.clone()).await.unwrap();
    assert_holds(&chip, &place);
    // Another board is at the port now.
    chip.seen.lock().unwrap().flash[..0x2_0000].fill(0xff);
    let before = writes(&chip);
    let error = write(&place, &chip, plan).await.unwrap_err();
    assert!(error.why.contains("from 0x0 on since it was compared"), "{error:?}");
    assert_eq!(writes(&chip), before);
}

#[tokio::test]
async fn what_does_not_fit_into_the_flash_is_refused_before_the_first_byte() {
    let place = Place::new(&within(), "");
    let chip = Chip::start(Kind::Esp32C3, Fault::None, MEGABYTE);
    let mut plan = plan(&place.idf(&chip.port), &place.project());
    plan.images[2].offset = 0x3f_0000;
    let error = write(&place, &chip, plan).await.unwrap_err();
    assert!(error.why.contains("flash at 0x400000; nothing was written"), "{error:?}");
    assert_eq!(writes(&chip), 0);
}

#[tokio::test]
async fn a_silent_board_is_said_to_be_one() {
    let place = Place::new(&within(), "");
    let chip = Chip::start(Kind::Esp32C3, Fault::NoSync, MEGABYTE);
    let error = compare(&place, &chip).await.unwrap_err();
    assert!(error.why.contains("no sync"), "{error:?}");
}
