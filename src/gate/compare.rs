//! Asks a board what it holds before the person is asked to write to it.
//!
//! What the board holds already is left out of the flash, so that an ordinary one writes nothing
//! that the board starts from. Nothing is written here; a board that cannot be asked is said to be
//! not compared.

use std::time::Duration;

use super::parts::GateParts;
use super::table_offset::table_offset;
use crate::model::{BoardFacts, Draft, DraftChange, Facts, FlashPlan};
use crate::toolchain::esp_image::erased;
use crate::toolchain::flash_map::{FlashMap, SECTOR};
use crate::toolchain::{CompareOrder, Compared};

/// A board that takes longer is not waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// Compares the board of a flash with its images, and notes in the plan which of them it holds.
pub(super) async fn compared(parts: &GateParts, draft: &mut Draft) -> Facts {
    let DraftChange::Flash(plan) = &mut draft.change else { return Facts::default() };
    if plan.board.simulated {
        return Facts::default();
    }
    let board = compare(parts, plan).await;
    Facts { board: Some(board), ..Facts::default() }
}

async fn compare(parts: &GateParts, plan: &mut FlashPlan) -> BoardFacts {
    let project_dir = &parts.project_dir;
    let table = FlashMap::new(&plan.board.chip, table_offset(project_dir), Vec::new()).table;
    let project = project_dir.root().to_owned();
    let _lent = parts.serial.lend(&plan.board.port, "it is compared with the build").await;
    let order = CompareOrder { project, plan: plan.clone(), table };
    let asked = tokio::time::timeout(PATIENCE, parts.toolchain.compare(order)).await;
    match asked {
        Ok(Ok(Compared { same, board })) => {
            mark(plan, &same);
            board
        }
        Ok(Err(error)) => BoardFacts::not_asked(error.why),
        Err(_) => BoardFacts::not_asked("the board took too long to answer"),
    }
}

/// Marks the images that stay as they are on the board: those that it holds, unless another image
/// erases a part of them.
fn mark(plan: &mut FlashPlan, same: &[bool]) {
    let range = |place: usize| {
        plan.images.get(place).map(|image| erased(image.offset, image.bytes, SECTOR))
    };
    let is_same = |place: usize| same.get(place).copied().unwrap_or(false);
    let stays = |place: usize| {
        let Some(own) = range(place).filter(|_| is_same(place)) else { return false };
        let others = (0..plan.images.len()).filter(|other| *other != place);
        let mut clashes = others.filter_map(range);
        !clashes.any(|other| other.start < own.end && own.start < other.end)
    };
    let kept: Vec<bool> = (0..plan.images.len()).map(stays).collect();
    for (image, kept) in plan.images.iter_mut().zip(kept) {
        image.same = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BoardInfo, BuildId, ContentHash, FlashImage, Timestamp};

    /// Which images stay, when the board holds the first of two that are at these places.
    fn stay(first: (u32, u64), second: (u32, u64)) -> Vec<bool> {
        let image = |(offset, bytes)| {
            let hash = ContentHash::of(b"");
            FlashImage { file: String::new(), offset, bytes, hash, same: false }
        };
        let (label, chip, port) = (String::new(), "esp32".to_owned(), "/dev/a".to_owned());
        let board = BoardInfo { label, chip, port, simulated: false };
        let images = vec![image(first), image(second)];
        let mut plan = FlashPlan::new(board, images, BuildId(1), Timestamp(0));
        mark(&mut plan, &[true, false]);
        plan.images.iter().map(|image| image.same).collect()
    }

    #[test]
    fn an_image_on_the_board_stays_unless_another_one_erases_a_part_of_it() {
        for (first, second, stays) in [
            ((0x1000, 0x1000), (0x2000, 0x1000), true),
            ((0x2000, 0x1000), (0x1000, 0x1000), true),
            ((0x1000, 0x1001), (0x2000, 0x1000), false),
            ((0x2000, 0x1000), (0x1000, 0x1001), false),
            ((0x1000, 0x4000), (0x2000, 0x10), false),
        ] {
            assert_eq!(stay(first, second), [stays, false], "{first:x?} {second:x?}");
        }
    }
}
