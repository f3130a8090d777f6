//! What is done to the flash of a real chip, for every toolchain alike.
//!
//! Owns the choice between the loader within this program and `esptool`. Must not decide anything:
//! each order was approved before.

mod access;
mod by_esptool;
mod within;

pub use access::Loader;
pub(super) use access::{Esptool, EsptoolOptions, FlashAccess, NoEsptool};

use super::{
    CANNOT_COMPARE, CANNOT_ERASE, CANNOT_READ, CANNOT_REWRITE, CompareOrder, Compared, EraseOrder,
    FlashOrder, ReadOrder, RewriteOrder,
};
use crate::model::{BoardInfo, FlashPlan, UserError};

impl FlashAccess<'_> {
    fn is_within(&self, what: &str, board: &BoardInfo) -> Result<bool, UserError> {
        if board.simulated {
            let why = format!("the {} has no flash", board.label);
            return Err(UserError::new(what, why, "Build for a chip and connect it."));
        }
        Ok(self.loader.map_or_else(Loader::named, Ok)?.is_within(board, &self.asked))
    }

    /// Writes exactly the images of the plan, compares what the chip then holds with them, and starts
    /// the board. Where the chip stops answering at the usual rate, it is tried once more at one that
    /// every cable carries.
    ///
    /// # Errors
    /// When the port cannot be had, an image is no longer the planned one, or the chip refuses.
    pub(super) async fn write(&self, order: FlashOrder) -> Result<BoardInfo, UserError> {
        let reach = self.with_options_of(&order.plan);
        match reach.is_within(super::esptool::WHAT, &order.plan.board)? {
            true => within::write(&reach.asked, order).await,
            // `esptool` would write what the person was told is left as it is.
            false if order.plan.images.iter().any(|image| image.same) => Err(UserError::new(
                super::esptool::WHAT,
                "the board was compared by another loader than the one that would write",
                "Propose the flash again.",
            )),
            false => by_esptool::write(&reach, order).await,
        }
    }

    /// Which images of a plan the board holds already, and what it is. Writes nothing, and starts
    /// the board.
    ///
    /// # Errors
    /// When the port cannot be had, an image is no longer the planned one, the chip is another
    /// one or does not answer, or the loader cannot tell.
    pub(super) async fn compare(&self, order: CompareOrder) -> Result<Compared, UserError> {
        match self.with_options_of(&order.plan).is_within(CANNOT_COMPARE, &order.plan.board)? {
            true => within::compare(order).await,
            false => {
                let why = "this board is flashed by `esptool`, which cannot compare";
                Err(UserError::new(CANNOT_COMPARE, why, ""))
            }
        }
    }

    /// The same with the options of that plan, which are what was approved.
    fn with_options_of(&self, plan: &FlashPlan) -> Self {
        let asked = EsptoolOptions { write: plan.options.clone(), ..self.asked.clone() };
        Self { esptool: self.esptool, asked, loader: self.loader }
    }

    /// Erases the board's flash, or a part of it, and starts the board.
    ///
    /// # Errors
    /// When the port cannot be had, or the chip refuses.
    pub(super) async fn erase(&self, order: EraseOrder) -> Result<BoardInfo, UserError> {
        match self.is_within(CANNOT_ERASE, &order.plan.board)? {
            true => within::erase(order).await,
            false => by_esptool::erase(self, order).await,
        }
    }

    /// Reads a part of the board's flash, compares it with the chip's own digest of it, and starts
    /// the board.
    ///
    /// # Errors
    /// When the board is a simulated one, the port cannot be had, or what came is not what the chip
    /// holds.
    pub(super) async fn read(&self, order: ReadOrder) -> Result<Vec<u8>, UserError> {
        match self.is_within(CANNOT_READ, &order.plan.board)? {
            true => within::read(&self.asked, order).await,
            false => by_esptool::read(self, order).await,
        }
    }

    /// Reads a part of the board's flash, writes what is made of it, compares it with the chip's own
    /// digest of it, and starts the board. Between the two the chip waits in its boot loader: a
    /// program that counts its starts would change what was just read.
    ///
    /// # Errors
    /// As [`FlashAccess::read`] and [`FlashAccess::write`].
    pub(super) async fn rewrite(&self, order: RewriteOrder) -> Result<BoardInfo, UserError> {
        match self.is_within(CANNOT_REWRITE, &order.board)? {
            true => within::rewrite(order).await,
            false => by_esptool::rewrite(self, order).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(chip: &str, port: &str) -> BoardInfo {
        let (chip, port) = (chip.to_owned(), port.to_owned());
        BoardInfo { label: String::new(), chip, port, simulated: false }
    }

    #[test]
    fn known_chips_at_ports_of_this_machine_need_no_esptool() {
        let near = board("esp32c3", "/dev/ttyUSB0");
        let strange = board("esp9000", "/dev/ttyUSB0");
        for (name, board, within) in [
            ("", &near, true),
            ("esptool", &near, false),
            ("", &board("esp32", "rfc2217://lab:4000"), false),
            ("", &strange, false),
            ("espflash", &strange, true),
        ] {
            let loader = Loader::read(name).unwrap();
            assert_eq!(
                loader.is_within(board, &EsptoolOptions::default()),
                within,
                "{name} {board:?}"
            );
        }
        let error = Loader::read("esptol").unwrap_err();
        assert!(error.why.contains("esptol") && error.fix.contains("espflash"), "{error:?}");
    }

    #[test]
    fn what_only_esptool_does_is_left_to_it() {
        let near = board("esp32c3", "/dev/ttyUSB0");
        let write = |words: &str| EsptoolOptions {
            write: words.split_whitespace().map(str::to_owned).collect(),
            ..EsptoolOptions::default()
        };
        let started = |before: &str, after: &str| EsptoolOptions {
            before: Some(before.to_owned()),
            after: Some(after.to_owned()),
            ..EsptoolOptions::default()
        };
        for (asked, within) in [
            (write("--flash_mode dio --flash-freq 80m --flash_size 4MB"), true),
            (write("--flash_mode dio --flash_size detect"), false),
            (write("--flash_mode dio --encrypt"), false),
            (write("--force x"), false),
            (started("default_reset", "hard-reset"), true),
            (started("usb_reset", "hard_reset"), false),
            (started("default_reset", "no_reset"), false),
            (EsptoolOptions { stub: Some(false), ..EsptoolOptions::default() }, false),
        ] {
            assert_eq!(Loader::Fitting.is_within(&near, &asked), within, "{asked:?}");
        }
    }
}
