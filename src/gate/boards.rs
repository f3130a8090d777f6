//! Carries out what was approved for a board: flashing, erasing, sending.
//!
//! Owns that the board's port is free meanwhile and listened to again afterwards, and what is told
//! on the way. The effects themselves are [`effects`](super::effects)'s.

use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use super::approved::{Approved, EditNvs, Erase, Flash, ReadBack, SendText};
use super::effect_time::{BoardWork, Ended, WorkTime, in_time, out_of_time};
use super::effects::{self, EffectResult, Unwritten};
use super::parts::{GateError, GateParts, lock};
use crate::device::Loan;
use crate::model::event::Level;
use crate::model::{
    BoardEvent, BoardInfo, Event, Outcome, PersonEvent, ProposalEvent, ProposalId, UserError,
};
use crate::toolchain::{EraseOrder, FlashOrder, ReadOrder, RewriteOrder};

/// Progress of a flash is recorded at most this often.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// Does to boards what was approved.
pub(super) struct Boards {
    parts: Arc<GateParts>,
    /// What is under way, and how long it may take.
    work: BoardWork,
}

impl Boards {
    pub(super) fn new(parts: &Arc<GateParts>) -> Self {
        Self { parts: Arc::clone(parts), work: BoardWork::default() }
    }

    /// Effects on boards take no longer from here on than there is time. Counts once.
    pub(super) fn bound_by(&self, time: Weak<dyn WorkTime>) {
        self.work.bound_by(time);
    }

    /// Whether a board is being written or read.
    pub(super) fn is_under_way(&self) -> bool {
        self.work.is_under_way()
    }

    /// Work that goes on until what this gives is dropped.
    #[cfg(test)]
    pub(super) fn begin(&self) -> impl Sized + '_ {
        self.work.begin()
    }

    pub(super) async fn flash_approved(
        &self,
        approved: &Approved<Flash>,
    ) -> Result<Outcome, GateError> {
        let cancel = self.parts.cancel.child_token();
        // When whoever waits here goes away, the flash must not go on unseen.
        let _ended = cancel.clone().drop_guard();
        let progress = self.progress(approved.proposal());
        let toolchain = self.parts.toolchain.as_ref();
        let _lent = self.borrow(&approved.effect().plan.board, "it is being flashed").await;
        let order = cancel.clone();
        let flashed = effects::flash(approved, toolchain, |flash| FlashOrder {
            project: self.parts.project_dir.root().to_owned(),
            plan: flash.plan.clone(),
            progress,
            notice: self.notice(),
            cancel: order,
        });
        let board = &approved.effect().plan.board;
        self.connected("flash", board, in_time(&self.work, &cancel, flashed).await)
    }

    pub(super) async fn erase(&self, approved: &Approved<Erase>) -> Result<Outcome, GateError> {
        let cancel = self.parts.cancel.child_token();
        let _ended = cancel.clone().drop_guard();
        let toolchain = self.parts.toolchain.as_ref();
        let _lent = self.borrow(&approved.effect().plan.board, "it is being erased").await;
        let order = cancel.clone();
        let erased = effects::erase(approved, toolchain, |erase| EraseOrder {
            project: self.parts.project_dir.root().to_owned(),
            plan: erase.plan.clone(),
            cancel: order,
        });
        let board = &approved.effect().plan.board;
        self.connected("erasing", board, in_time(&self.work, &cancel, erased).await)
    }

    pub(super) async fn send(&self, approved: &Approved<SendText>) -> Outcome {
        match effects::send(approved, &self.parts.serial).await {
            Ok(()) => Outcome::Applied,
            Err(error) => Outcome::Failed(error),
        }
    }

    pub(super) async fn read_back(&self, approved: &Approved<ReadBack>) -> EffectResult {
        let cancel = self.parts.cancel.child_token();
        let _ended = cancel.clone().drop_guard();
        let toolchain = self.parts.toolchain.as_ref();
        let _lent = self.borrow(&approved.effect().plan.board, "its flash is being read").await;
        let project_dir = &self.parts.project_dir;
        let order = cancel.clone();
        let read = effects::read_back(approved, project_dir, toolchain, |read| ReadOrder {
            project: project_dir.root().to_owned(),
            plan: read.plan.clone(),
            cancel: order,
        });
        let Ended { result: done, is_out_of_time } = in_time(&self.work, &cancel, read).await;
        match done.outcome {
            Outcome::Failed(error) if is_out_of_time => Outcome::Interrupted(format!(
                "The time of the run was over while the flash was read ({}); `{}` was not written.",
                error.why,
                approved.effect().plan.path
            ))
            .into(),
            _ => done,
        }
    }

    pub(super) async fn edit_nvs(
        &self,
        approved: &Approved<EditNvs>,
    ) -> Result<Outcome, GateError> {
        let cancel = self.parts.cancel.child_token();
        let _ended = cancel.clone().drop_guard();
        let progress = self.progress(approved.proposal());
        let toolchain = self.parts.toolchain.as_ref();
        let _lent = self.borrow(&approved.effect().plan.board, "its settings are changed").await;
        let order = cancel.clone();
        let edited = effects::edit_nvs(approved, toolchain, |edit| RewriteOrder {
            project: self.parts.project_dir.root().to_owned(),
            board: edit.plan.board.clone(),
            region: edit.plan.region.clone(),
            remake: Arc::new(|_| None),
            progress,
            cancel: order,
        });
        let Ended { result, is_out_of_time } = in_time(&self.work, &cancel, edited).await;
        let result = match result {
            Ok(board) => Ok(board),
            Err(Unwritten::Failed(error)) => Err(error),
            Err(Unwritten::Stale(found)) => return Ok(Outcome::Stale { found: Some(found) }),
        };
        let board = &approved.effect().plan.board;
        self.connected("change of its settings", board, Ended { result, is_out_of_time })
    }

    /// Whoever writes to a real board needs its port for themselves; it is listened to again when
    /// the loan is dropped. A simulated board's memory is not behind its port.
    async fn borrow(&self, board: &BoardInfo, why: &str) -> Option<Loan> {
        match board.simulated {
            true => None,
            false => self.parts.serial.lend(&board.port, why).await,
        }
    }

    fn connected(
        &self,
        act: &str,
        board: &BoardInfo,
        done: Ended<Result<BoardInfo, UserError>>,
    ) -> Result<Outcome, GateError> {
        match done.result {
            Ok(board) => {
                self.parts.ledger.record(Event::Board(BoardEvent::Connected(board)))?;
                Ok(Outcome::Applied)
            }
            Err(error) if done.is_out_of_time => Ok(out_of_time(act, board, &error)),
            Err(error) => Ok(Outcome::Failed(error)),
        }
    }

    /// Tells what happens on the way to an outcome. It is for the eye, as progress is.
    fn notice(&self) -> Arc<dyn Fn(UserError) + Send + Sync> {
        let ledger = Arc::clone(&self.parts.ledger);
        Arc::new(move |notice| {
            let _ = ledger
                .record(Event::Person(PersonEvent::Noticed { level: Level::Warning, notice }));
        })
    }

    fn progress(&self, proposal: ProposalId) -> Arc<dyn Fn(u64, u64) + Send + Sync> {
        let ledger = Arc::clone(&self.parts.ledger);
        let last: Mutex<Option<Instant>> = Mutex::new(None);
        Arc::new(move |done, total| {
            let mut last = lock(&last);
            let due = last.is_none_or(|last| last.elapsed() >= PROGRESS_EVERY);
            if due || done >= total {
                *last = Some(Instant::now());
                // Progress is for the eye; the outcome is what must not be lost.
                let _ = ledger.record(Event::Proposal(ProposalEvent::FlashProgress {
                    proposal,
                    done,
                    total,
                }));
            }
        })
    }
}
