//! A board that fails at every single step of a flash.
//!
//! Whatever happens at whichever command, the person is told so, and a flash that holds a part of what
//! was to be written is never left without a word about it.

use super::chip::{Chip, Fault, Kind};
use super::loaders::{Place, Way, assert_holds, bytes, flash, ways};

const FLASH: usize = 512 * 1024;

/// The commands that carry what is written, plain and compressed.
const DATA: [u8; 2] = [0x03, 0x11];

/// What the flash held before.
fn former() -> Vec<u8> {
    bytes(99, FLASH)
}

fn start(fault: Fault) -> Chip {
    let chip = Chip::start(Kind::Esp32C3, fault, FLASH);
    chip.seen.lock().unwrap().flash = former();
    chip
}

/// How a flash with a fault came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Came {
    /// It went well, and the flash holds all of it.
    Well,
    /// It was told, and the flash is as it was.
    Untouched,
    /// It was told, with a word about what is half written.
    SaidHalf,
    /// It was told, and the flash has changed without such a word.
    Unsaid,
}

async fn came(way: &Way, fault: Fault) -> Came {
    let place = Place::new(way, "");
    let chip = start(fault);
    let told = flash(&place, &chip.port).await;
    let is_as_before = chip.seen.lock().unwrap().flash == former();
    match told.result {
        Ok(_) => {
            let images = [
                (0, "bootloader/bootloader.bin"),
                (0x8000, "partition_table/partition-table.bin"),
                (0x1_0000, "blink.bin"),
            ];
            for (offset, file) in images {
                let image = place.image(file);
                assert!(chip.flash(offset, image.len()) == image, "{fault:?}: {file} differs");
            }
            Came::Well
        }
        Err(error) => {
            assert!(!error.why.is_empty() && !error.fix.is_empty(), "{fault:?}: {error:?}");
            let says_half = format!("{} {}", error.why, error.fix).contains("may hold half");
            match (is_as_before, says_half) {
                (true, false) => Came::Untouched,
                (_, true) => Came::SaidHalf,
                (false, false) => {
                    eprintln!("{way:?} {fault:?}: {error:?}");
                    Came::Unsaid
                }
            }
        }
    }
}

/// How many commands a flash without a fault has.
async fn commands(way: &Way) -> u32 {
    let place = Place::new(way, "");
    let chip = start(Fault::None);
    flash(&place, &chip.port).await.result.unwrap();
    let seen = chip.seen.lock().unwrap();
    eprintln!("{:?}: {:02x?}", way.loader, seen.commands);
    u32::try_from(seen.commands.len()).unwrap()
}

/// All faults of a kind at once: each waits most of its time.
async fn at_every_command(way: Way, fault: fn(u32) -> Fault) {
    let count = commands(&way).await;
    let tries: Vec<_> = (0..count)
        .map(|at| {
            let way = way.clone();
            tokio::spawn(async move { came(&way, fault(at)).await })
        })
        .collect();
    let mut all = Vec::new();
    for one in tries {
        all.push(one.await.unwrap());
    }
    let counted = |wanted: Came| all.iter().filter(|came| **came == wanted).count();
    eprintln!(
        "{:?}, {:?}: {count} commands, {} untouched, {} said to be half written, {} went well",
        way.loader,
        fault(0),
        counted(Came::Untouched),
        counted(Came::SaidHalf),
        counted(Came::Well),
    );
    assert_eq!(counted(Came::Unsaid), 0, "{way:?}");
    assert!(counted(Came::Untouched) > 0 && counted(Came::SaidHalf) > 0, "{way:?}: {all:?}");
}

fn within() -> Way {
    ways().remove(0)
}

#[tokio::test]
async fn a_board_that_falls_silent_at_any_step_is_told_with_what_it_may_hold() {
    at_every_command(within(), Fault::SilentAt).await;
}

#[tokio::test]
async fn a_board_that_is_unplugged_at_any_step_is_told_with_what_it_may_hold() {
    at_every_command(within(), Fault::GoneAt).await;
}

#[tokio::test]
async fn a_board_that_refuses_at_any_step_is_told_with_what_it_may_hold() {
    at_every_command(within(), Fault::RefusesAt).await;
}

/// `esptool` waits for minutes where a board is silent.
#[tokio::test]
#[ignore = "takes minutes, and needs esptool"]
async fn the_same_holds_with_esptool() {
    for way in ways().into_iter().skip(1) {
        for fault in [Fault::GoneAt, Fault::RefusesAt, Fault::SilentAt] {
            at_every_command(way.clone(), fault).await;
        }
    }
}

#[tokio::test]
async fn too_small_a_flash_and_another_chip_are_refused_before_the_first_byte() {
    for way in ways() {
        for (kind, fault) in [(Kind::Esp32C3, Fault::FlashOf(18)), (Kind::Esp32, Fault::None)] {
            let place = Place::new(&way, "");
            // It ends behind the first 256 KiB.
            let app = place.project().join("build/blink.bin");
            std::fs::write(app, bytes(3, 300_000)).unwrap();
            let chip = Chip::start(kind, fault, FLASH);
            chip.seen.lock().unwrap().flash = former();
            let error = flash(&place, &chip.port).await.result.unwrap_err();
            eprintln!("{way:?} {kind:?} {fault:?}: {error:?}");
            assert!(chip.seen.lock().unwrap().flash == former(), "{way:?} {fault:?}: {error:?}");
            assert!(!error.fix.contains("may hold half"), "{way:?} {fault:?}: {error:?}");
            // esptool 5 leaves the chip by a write of no bytes, which erases nothing.
            let seen = chip.seen.lock().unwrap();
            assert!(!seen.commands.iter().any(|sent| DATA.contains(sent)), "{way:?} {fault:?}");
        }
        let place = Place::new(&way, "");
        let chip = Chip::start(Kind::Esp32C3, Fault::FlashOf(18), 1024 * 1024);
        flash(&place, &chip.port).await.result.unwrap();
        assert_holds(&chip, &place);
    }
}
