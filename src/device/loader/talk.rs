//! One conversation with a chip's loader.
//!
//! Owns the calls of the `espflash` library, so that nothing else names it. Must not choose words
//! for the person.

use std::borrow::Cow;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use espflash::connection::{Connection, ResetAfterOperation, ResetBeforeOperation};
use espflash::flasher::Flasher;
use espflash::image_format::Segment;
use espflash::target::efuse::esp32;
use espflash::target::{Chip, ProgressCallbacks};
use md5::{Digest, Md5};
use serialport::{SerialPort, TTYPort, UsbPortInfo};

use super::{FlashPiece, LoaderStage, SAFE_BAUD, SECTOR, Trouble};
use crate::device::adapters::Adapters;
use crate::device::{is_free, ports};
use crate::files;
use crate::model::BoardInfo;

/// How a chip is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChipSecurity {
    /// Whether it starts signed programs only.
    pub secure_boot: bool,
    /// Whether its flash is encrypted.
    pub flash_encryption: bool,
    /// Whether a debugger cannot reach it by JTAG.
    pub jtag_disabled: bool,
}

/// Written, compared and read at once; after each of these the person's wish to stop is heard.
pub(super) const CHUNK: usize = 64 * 1024;

/// What the chip's command for its state sets when it starts signed programs only.
const SECURE_BOOT: u32 = 1;

/// What it sets when JTAG is off: until a key is shown, or for good.
const JTAG_DISABLED: u32 = 0b1100_0000;

/// How long the loader may be silent at first.
const PATIENCE: Duration = Duration::from_secs(3);

/// A chip in its loader.
pub(super) struct Talk {
    flasher: Flasher,
    /// A pseudo-terminal has no lines by which the chip could be started.
    has_lines: bool,
}

impl Talk {
    /// Opens the port and starts the chip into its loader.
    fn begin(port: &str, chip: Chip, baud: u32) -> Result<Self, Trouble> {
        // The library's own errors do not tell why a port cannot be had.
        is_free(Path::new(port)).map_err(Trouble::Port)?;
        let opened = serialport::new(port, SAFE_BAUD).timeout(PATIENCE);
        let mut serial = TTYPort::open(&opened).map_err(|error| Trouble::Port(error.into()))?;
        let has_lines = serial.read_clear_to_send().is_ok();
        let before = match has_lines {
            true => ResetBeforeOperation::DefaultReset,
            false => ResetBeforeOperation::NoReset,
        };
        // Each piece is a write of its own; the chip is started once, at the end.
        let after = ResetAfterOperation::NoResetNoStub;
        let connection = Connection::new(serial, usb(port), after, before, SAFE_BAUD);
        let baud = (baud > SAFE_BAUD).then_some(baud);
        let flasher = Flasher::connect(connection, true, true, true, Some(chip), baud)
            .map_err(Trouble::at(LoaderStage::Connecting))?;
        Ok(Self { flasher, has_lines })
    }

    /// Does that with the chip of a board. Whatever becomes of it, the chip does not stay in its boot
    /// loader.
    pub(super) fn with<T>(
        board: &BoardInfo,
        baud: u32,
        work: impl FnOnce(&mut Self) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let Ok(chip) = Chip::from_str(&board.chip) else {
            return Err(Trouble::UnknownChip(board.chip.clone()));
        };
        let mut talk = Self::begin(&board.port, chip, baud)?;
        let done = work(&mut talk);
        let started = talk.end();
        let done = done?;
        started.map(|()| done)
    }

    /// Writes bytes that are not there yet and compares what the chip then holds with them.
    pub(super) fn write(
        &mut self,
        offset: u32,
        bytes: &[u8],
        progress: &dyn Fn(u64),
    ) -> Result<(), Trouble> {
        if !offset.is_multiple_of(SECTOR) {
            return Err(Trouble::Uneven);
        }
        let mut data = Cow::Borrowed(bytes);
        if !bytes.len().is_multiple_of(4) {
            // The loader writes words. What follows in the sector is erased anyway.
            data.to_mut().resize(bytes.len().next_multiple_of(4), 0xff);
        }
        let mut steps = Steps { bytes: bytes.len() as u64, of: 1, progress };
        self.flasher
            .write_bins_to_flash(&[Segment { addr: offset, data }], &mut steps)
            .map_err(Trouble::at(LoaderStage::Writing(offset)))
    }

    /// Whether the flash holds exactly these bytes, by the chip's own sum of them.
    pub(super) fn holds(&mut self, piece: &FlashPiece) -> Result<bool, Trouble> {
        let bytes = u32::try_from(piece.content.len()).unwrap_or(u32::MAX);
        let sum = self.flasher.checksum_md5(piece.offset, bytes);
        let sum = sum.map_err(Trouble::at(LoaderStage::Reading(piece.offset)))?;
        Ok(Md5::digest(&piece.content)[..] == sum.to_be_bytes())
    }

    /// How many bytes of flash there are; `None` when the flash does not tell.
    pub(super) fn flash_bytes(&mut self) -> Option<u64> {
        let size = self.flasher.flash_detect().ok()??;
        Some(u64::from(size.size()))
    }

    /// Revision and address, each empty when it is not told.
    pub(super) fn identity(&mut self) -> (String, String) {
        let chip = self.flasher.chip();
        let connection = self.flasher.connection();
        let revision = chip.revision(connection);
        let mac = chip.mac_address(connection);
        let named = revision.map(|(major, minor)| format!("v{major}.{minor}"));
        (named.unwrap_or_default(), mac.unwrap_or_default())
    }

    /// How it is protected; `None` when it does not tell.
    pub(super) fn security(&mut self) -> Option<ChipSecurity> {
        // The first chip has no command for it.
        if self.flasher.chip() == Chip::Esp32 {
            return self.security_bits();
        }
        let reported = self.flasher.security_info().ok()?;
        Some(ChipSecurity {
            secure_boot: reported.flags & SECURE_BOOT != 0,
            // An odd number of bits means that it is on.
            flash_encryption: reported.flash_crypt_cnt.count_ones() % 2 == 1,
            jtag_disabled: reported.flags & JTAG_DISABLED != 0,
        })
    }

    /// The same from the bits of an ESP32 that are burned once.
    fn security_bits(&mut self) -> Option<ChipSecurity> {
        let (chip, connection) = (self.flasher.chip(), self.flasher.connection());
        let mut read = |field| chip.read_efuse_le::<u32>(connection, field).ok();
        Some(ChipSecurity {
            secure_boot: read(esp32::ABS_DONE_0)? != 0 || read(esp32::ABS_DONE_1)? != 0,
            flash_encryption: read(esp32::FLASH_CRYPT_CNT)?.count_ones() % 2 == 1,
            jtag_disabled: read(esp32::JTAG_DISABLE)? != 0,
        })
    }

    pub(super) fn erase_all(&mut self) -> Result<(), Trouble> {
        self.flasher.erase_flash().map_err(Trouble::at(LoaderStage::Erasing))
    }

    pub(super) fn erase(&mut self, offset: u32, bytes: u32) -> Result<(), Trouble> {
        if !offset.is_multiple_of(SECTOR) || !bytes.is_multiple_of(SECTOR) || bytes == 0 {
            return Err(Trouble::Uneven);
        }
        self.flasher.erase_region(offset, bytes).map_err(Trouble::at(LoaderStage::Erasing))
    }

    pub(super) fn read(&mut self, offset: u32, bytes: u32) -> Result<Vec<u8>, Trouble> {
        let aside = tempfile::NamedTempFile::new().map_err(Trouble::Port)?;
        // One packet after the other: the library drops what arrives while it acknowledges.
        self.flasher
            .read_flash(offset, bytes, SECTOR, 1, aside.path().to_owned())
            .map_err(Trouble::at(LoaderStage::Reading(offset)))?;
        files::read(aside.path(), files::IMAGE).map_err(Trouble::Port)
    }

    /// Starts what is in the flash.
    fn end(&mut self) -> Result<(), Trouble> {
        match self.has_lines {
            true => self.flasher.connection().reset().map_err(Trouble::at(LoaderStage::Starting)),
            false => Ok(()),
        }
    }
}

/// What USB tells of the port: a chip's own USB block is started in another way.
fn usb(port: &str) -> UsbPortInfo {
    let usb = ports::list(&Adapters::default()).into_iter().find(|info| info.path == port);
    let (vid, pid) = usb.and_then(|info| info.usb).map_or((0, 0), |id| (id.vendor, id.product));
    UsbPortInfo { vid, pid, serial_number: None, manufacturer: None, product: None }
}

/// Turns steps of the library into bytes.
struct Steps<'a> {
    bytes: u64,
    of: u64,
    progress: &'a dyn Fn(u64),
}

impl ProgressCallbacks for Steps<'_> {
    fn init(&mut self, _: u32, total: usize) {
        self.of = (total as u64).max(1);
    }

    fn update(&mut self, current: usize) {
        (self.progress)(self.bytes * (current as u64).min(self.of) / self.of);
    }

    fn verifying(&mut self) {}

    fn finish(&mut self, _: bool) {
        (self.progress)(self.bytes);
    }
}
