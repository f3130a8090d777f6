//! The boot loader in a chip's ROM, by which its flash is written, erased and read.
//!
//! Owns the port while that lasts, and what is told when it goes wrong. Speaks through the
//! `espflash` library; must not decide what is written: that was approved before.

mod flash;
mod look;
mod talk;
mod words;

use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use espflash::target::Chip;
use tokio_util::sync::CancellationToken;

use super::identity;
use crate::model::{BoardInfo, UserError};
pub use flash::{FlashPiece, SAFE_BAUD, SECTOR};
pub use look::{ChipQuery, ChipReply, look};
pub use talk::ChipSecurity;
use talk::Talk;
use words::{FlashState, LoaderStage, Trouble};

/// Before another try: what was on its way meanwhile is lost then.
const PAUSE: Duration = Duration::from_millis(200);

/// Makes what a part of the flash shall hold of what it holds; `None` leaves it as it is.
pub type Remake = Arc<dyn Fn(&[u8]) -> Option<Vec<u8>> + Send + Sync>;

/// What is done with the flash.
#[derive(Clone)]
pub enum LoaderWork {
    /// Writes pieces and compares what the chip then holds with them.
    Write {
        /// What is written.
        pieces: Vec<FlashPiece>,
        /// What the flash has to hold already; if it does not, nothing is written.
        kept: Vec<FlashPiece>,
    },
    /// Erases the whole flash.
    EraseAll,
    /// Erases whole sectors.
    Erase {
        /// The address of the first byte.
        offset: u32,
        /// How many bytes.
        bytes: u32,
    },
    /// Reads bytes and compares them with the chip's own digest of them.
    Read {
        /// The address of the first byte.
        offset: u32,
        /// How many bytes.
        bytes: u32,
    },
    /// Reads bytes and writes what is made of them, while nothing else runs on the chip.
    Rewrite {
        /// The address of the first byte.
        offset: u32,
        /// How many bytes.
        bytes: u32,
        remake: Remake,
    },
}

impl LoaderWork {
    /// Bytes in all, as far as progress can be told.
    fn total(&self) -> u64 {
        match self {
            Self::Write { pieces, .. } => {
                pieces.iter().map(|piece| piece.content.len() as u64).sum()
            }
            Self::EraseAll => 1,
            Self::Erase { bytes, .. } | Self::Read { bytes, .. } | Self::Rewrite { bytes, .. } => {
                u64::from(*bytes)
            }
        }
    }
}

/// One piece of work on one board.
#[derive(Clone)]
pub struct LoaderJob {
    /// What cannot be done when something goes wrong.
    pub what: &'static str,
    /// The board; another chip is refused.
    pub board: BoardInfo,
    /// What to do.
    pub work: LoaderWork,
    /// Bits per second; a rate that fails is given up for 115200.
    pub baud: u32,
    /// Takes (done, total) bytes.
    pub progress: Arc<dyn Fn(u64, u64) + Send + Sync>,
    /// Takes what the person should know meanwhile.
    pub notice: Arc<dyn Fn(UserError) + Send + Sync>,
    /// Ends it before the next piece.
    pub cancel: CancellationToken,
}

/// Whether chips of that name are known here.
#[must_use]
pub fn knows(chip: &str) -> bool {
    Chip::from_str(chip).is_ok()
}

/// Does the work, then starts the board. Returns what was read, which is nothing unless it was
/// asked for.
///
/// # Errors
/// No port, busy, another chip, no answer, writes refused, bytes that read back differently, or
/// stopped.
pub async fn run(job: LoaderJob) -> Result<Vec<u8>, UserError> {
    let job = Arc::new(job);
    let board = identity(&job.board.port);
    // Of all tries: what the first has begun stays begun.
    let has_begun = Arc::new(AtomicBool::new(false));
    let tell = |trouble: &Trouble| {
        let flash = match has_begun.load(Ordering::Acquire) {
            true => FlashState::Begun,
            false => FlashState::Untouched,
        };
        trouble.tell(job.what, &job.board.port, flash)
    };
    let trouble = match aside(&job, job.baud, &has_begun).await {
        Ok(read) => return Ok(read),
        Err(trouble) => trouble,
    };
    if identity(&job.board.port) != board {
        return Err(tell(&Trouble::Gone));
    }
    if job.baud <= SAFE_BAUD || !trouble.may_be_the_rate() {
        return Err(tell(&trouble));
    }
    let what = format!("Trying again with {SAFE_BAUD} baud");
    (job.notice)(UserError::new(what, tell(&trouble).why, ""));
    tokio::time::sleep(PAUSE).await;
    // A chip that does not even begin again says less than where it fell silent.
    let worse = |again: Trouble| tell(if again.is_no_sync() { &trouble } else { &again });
    aside(&job, SAFE_BAUD, &has_begun).await.map_err(worse)
}

/// The library blocks.
async fn aside(
    job: &Arc<LoaderJob>,
    baud: u32,
    has_begun: &Arc<AtomicBool>,
) -> Result<Vec<u8>, Trouble> {
    let (job, has_begun) = (Arc::clone(job), Arc::clone(has_begun));
    let done = tokio::task::spawn_blocking(move || attempt(&job, baud, &has_begun)).await;
    done.unwrap_or_else(|error| Err(Trouble::Port(error.into())))
}

fn attempt(job: &LoaderJob, baud: u32, has_begun: &AtomicBool) -> Result<Vec<u8>, Trouble> {
    let total = job.work.total();
    (job.progress)(0, total);
    let read =
        Talk::with(&job.board, baud, |talk| Course { job, talk, total, has_begun }.perform())?;
    (job.progress)(total, total);
    Ok(read)
}

/// The work while it is done.
struct Course<'a> {
    job: &'a LoaderJob,
    talk: &'a mut Talk,
    total: u64,
    /// Whether writing or erasing has begun.
    has_begun: &'a AtomicBool,
}

impl Course<'_> {
    fn perform(&mut self) -> Result<Vec<u8>, Trouble> {
        self.goes_on()?;
        match &self.job.work {
            LoaderWork::Write { pieces, kept } => {
                self.fits(pieces)?;
                self.are_kept(kept)?;
                self.write(pieces)?;
            }
            LoaderWork::EraseAll => {
                self.begin();
                self.talk.erase_all()?;
            }
            LoaderWork::Erase { offset, bytes } => {
                self.begin();
                self.talk.erase(*offset, *bytes)?;
            }
            LoaderWork::Read { offset, bytes } => return self.read(*offset, *bytes),
            LoaderWork::Rewrite { offset, bytes, remake } => {
                let held = self.read(*offset, *bytes)?;
                if let Some(content) = remake(&held) {
                    self.write(&[FlashPiece { offset: *offset, content }])?;
                }
            }
        }
        Ok(Vec::new())
    }

    /// From here on the flash may be half of this and half of that.
    fn begin(&self) {
        self.has_begun.store(true, Ordering::Release);
    }

    fn goes_on(&self) -> Result<(), Trouble> {
        match self.job.cancel.is_cancelled() {
            true => Err(Trouble::Stopped),
            false => Ok(()),
        }
    }

    /// Nothing is written when the last byte would not be in the flash.
    fn fits(&mut self, pieces: &[FlashPiece]) -> Result<(), Trouble> {
        let Some(bytes) = self.talk.flash_bytes() else { return Ok(()) };
        let end = |piece: &FlashPiece| u64::from(piece.offset) + piece.content.len() as u64;
        match pieces.iter().map(end).max() {
            Some(end) if end > bytes => Err(Trouble::TooSmall { end, bytes }),
            Some(_) | None => Ok(()),
        }
    }

    /// Nothing is written when the flash does not hold what was approved to stay.
    fn are_kept(&mut self, kept: &[FlashPiece]) -> Result<(), Trouble> {
        for piece in kept {
            self.goes_on()?;
            if !self.talk.holds(piece)? {
                return Err(Trouble::OtherContent(piece.offset));
            }
        }
        Ok(())
    }

    fn write(&mut self, pieces: &[FlashPiece]) -> Result<(), Trouble> {
        let mut done = 0;
        for piece in pieces {
            let mut offset = piece.offset;
            for part in piece.content.chunks(talk::CHUNK) {
                self.goes_on()?;
                self.begin();
                let tell = |bytes| (self.job.progress)(done + bytes, self.total);
                self.talk.write(offset, part, &tell)?;
                offset = offset.saturating_add(u32::try_from(part.len()).unwrap_or(u32::MAX));
                done += part.len() as u64;
                (self.job.progress)(done, self.total);
            }
        }
        Ok(())
    }

    fn read(&mut self, offset: u32, bytes: u32) -> Result<Vec<u8>, Trouble> {
        let mut read = Vec::new();
        let mut done = 0;
        while done < bytes {
            self.goes_on()?;
            let part = (bytes - done).min(talk::CHUNK as u32);
            read.extend(self.talk.read(offset.saturating_add(done), part)?);
            done += part;
            (self.job.progress)(u64::from(done), self.total);
        }
        Ok(read)
    }
}
