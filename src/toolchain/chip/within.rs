//! Orders as the loader within this program takes them. Must not open a port.

use std::sync::Arc;

use super::super::esptool::{self, WHAT};
use super::super::flash_map::TABLE_BYTES;
use super::super::partitions;
use super::super::{
    CANNOT_COMPARE, CANNOT_ERASE, CANNOT_READ, CANNOT_REWRITE, CompareOrder, Compared, EraseOrder,
    FlashOrder, ReadOrder, RewriteOrder,
};
use super::access::EsptoolOptions;
use crate::device::loader::{
    self, ChipQuery, ChipReply, FlashPiece, LoaderJob, LoaderWork, SAFE_BAUD,
};
use crate::model::{BoardFacts, BoardInfo, FlashImage, UserError};

/// See [`Reach::write`](super::Reach::write).
pub(super) async fn write(
    asked: &EsptoolOptions,
    order: FlashOrder,
) -> Result<BoardInfo, UserError> {
    let FlashOrder { project, plan, progress, notice, cancel } = order;
    let contents = esptool::approved(&project, &plan)?;
    let (kept, pieces): (Vec<_>, Vec<_>) =
        plan.images.iter().zip(contents).partition(|(image, _)| image.same);
    let work = LoaderWork::Write { pieces: all_pieces(pieces), kept: all_pieces(kept) };
    let (board, baud) = (plan.board.clone(), asked.baud());
    loader::run(LoaderJob { what: WHAT, board, work, baud, progress, notice, cancel }).await?;
    Ok(plan.board)
}

fn all_pieces(images: Vec<(&FlashImage, Vec<u8>)>) -> Vec<FlashPiece> {
    images
        .into_iter()
        .map(|(image, content)| FlashPiece { offset: image.offset, content })
        .collect()
}

/// See [`Reach::compare`](super::Reach::compare).
pub(super) async fn compare(order: CompareOrder) -> Result<Compared, UserError> {
    let CompareOrder { project, plan, table } = order;
    let contents = esptool::approved(&project, &plan)?;
    let pieces = all_pieces(plan.images.iter().zip(contents).collect());
    let question =
        ChipQuery { what: CANNOT_COMPARE, board: plan.board, pieces, table: (table, TABLE_BYTES) };
    let ChipReply { same, table, flash_bytes, revision, mac, security } =
        loader::look(question).await?;
    let partitions = partitions::from_image(&table).unwrap_or_default();
    let not_asked = String::new();
    let board = BoardFacts {
        not_asked,
        flash_bytes,
        revision,
        mac,
        secure_boot: security.map(|known| known.secure_boot),
        flash_encryption: security.map(|known| known.flash_encryption),
        jtag_disabled: security.map(|known| known.jtag_disabled),
        partitions,
    };
    Ok(Compared { same, board })
}

/// See [`Reach::erase`](super::Reach::erase).
pub(super) async fn erase(order: EraseOrder) -> Result<BoardInfo, UserError> {
    let EraseOrder { plan, cancel, .. } = order;
    let work = plan.region.as_ref().map_or(LoaderWork::EraseAll, |region| LoaderWork::Erase {
        offset: region.offset,
        bytes: region.bytes,
    });
    let (board, progress, notice) = (plan.board.clone(), Arc::new(|_, _| {}), Arc::new(|_| {}));
    // Little is sent: nothing is gained by a faster rate.
    let (what, baud) = (CANNOT_ERASE, SAFE_BAUD);
    loader::run(LoaderJob { what, board, work, baud, progress, notice, cancel }).await?;
    Ok(plan.board)
}

/// See [`Reach::read`](super::Reach::read).
pub(super) async fn read(asked: &EsptoolOptions, order: ReadOrder) -> Result<Vec<u8>, UserError> {
    let ReadOrder { plan, cancel, .. } = order;
    let work = LoaderWork::Read { offset: plan.region.offset, bytes: plan.region.bytes };
    let (board, progress, notice) = (plan.board, Arc::new(|_, _| {}), Arc::new(|_| {}));
    let (what, baud) = (CANNOT_READ, asked.baud());
    loader::run(LoaderJob { what, board, work, baud, progress, notice, cancel }).await
}

/// See [`Reach::rewrite`](super::Reach::rewrite).
pub(super) async fn rewrite(order: RewriteOrder) -> Result<BoardInfo, UserError> {
    let RewriteOrder { project: _, board, region, remake, progress, cancel } = order;
    let work = LoaderWork::Rewrite { offset: region.offset, bytes: region.bytes, remake };
    // It is little, and nothing of it may get lost on the way: no second try would find what was
    // there before.
    let (what, baud, notice) = (CANNOT_REWRITE, SAFE_BAUD, Arc::new(|_| {}));
    let job = LoaderJob { what, board: board.clone(), work, baud, progress, notice, cancel };
    loader::run(job).await?;
    Ok(board)
}
