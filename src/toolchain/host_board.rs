//! A board that is a process of this machine, whose UART is a pseudo-terminal.
//!
//! Owns the process and the terminal's ends. The firmware has the master's end as its UART; who
//! listens opens the other end like any port.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::host_memory::HostMemory;
use super::{FlashOrder, RewriteOrder};
use crate::device::Pty;
use crate::files;
use crate::model::{BoardInfo, ContentHash, ErasePlan, FlashRegion, UserError};
use crate::sandbox::{
    ConfinedRun, Ends, Limits, RunEnd, RunReport, Runner, Waiter, Wall, Walls, libraries,
};

/// One such board. Dropping it ends its process.
#[derive(Debug)]
pub struct HostBoard {
    /// What the screen calls it, e.g. `virtual board`.
    label: &'static str,
    memory: HostMemory,
    runner: Runner,
    power: Mutex<Power>,
}

#[derive(Debug, Default)]
struct Power {
    firmware: Option<Firmware>,
    /// It stays the same over resets and flashes.
    uart: Option<Pty>,
}

#[derive(Debug)]
struct Firmware {
    run: ConfinedRun,
    /// Set before the process is ended from here.
    is_halted: Arc<AtomicBool>,
}

impl HostBoard {
    /// A board that is switched off.
    #[must_use]
    pub fn new(label: &'static str, folder: PathBuf, runner: Runner) -> Self {
        let memory = HostMemory::new(label, folder);
        Self { label, memory, runner, power: Mutex::default() }
    }

    /// What runs its firmware.
    #[must_use]
    pub fn runner(&self) -> Runner {
        self.runner.clone()
    }

    /// Details of it, as a board with that chip.
    #[must_use]
    pub fn info(&self, chip: &str) -> BoardInfo {
        BoardInfo {
            label: self.label.to_owned(),
            chip: chip.to_owned(),
            port: self.port().unwrap_or_else(|| "virtual".to_owned()),
            simulated: true,
        }
    }

    /// Writes the one image of an approved plan to the board's memory, reads it back and runs it.
    ///
    /// # Errors
    /// When the plan holds anything else, the image has changed since, or it cannot be written or
    /// started.
    pub fn load(&self, order: &FlashOrder) -> Result<BoardInfo, UserError> {
        let failed = |why: String| self.failed(why, "build and flash again");
        let [image] = order.plan.images.as_slice() else {
            return Err(failed("the plan must hold one image".to_owned()));
        };
        let content = files::read(&order.project.join(&image.file), files::PROGRAM)
            .map_err(|error| failed(format!("{}: {error}", image.file)))?;
        if ContentHash::of(&content) != image.hash {
            let why = format!("{} has changed since it was approved", image.file);
            return Err(self.failed(why, "Propose the flash again."));
        }
        self.halt();
        let path = self.memory.program();
        let written = self.memory.write_program(&content, |done| {
            (order.progress)(done, content.len() as u64);
            !order.cancel.is_cancelled()
        });
        written.map_err(|why| self.failed(why, "Free some disk space and flash again."))?;
        let read_back =
            files::read(&path, files::PROGRAM).map_err(|error| failed(error.to_string()))?;
        if ContentHash::of(&read_back) != image.hash {
            return Err(failed("what was read back differs from what was written".to_owned()));
        }
        self.start(&path)?;
        Ok(self.info(&order.plan.board.chip))
    }

    /// Erases the whole memory or its program, after which nothing runs, or the stored settings
    /// alone, after which the firmware starts anew.
    ///
    /// # Errors
    /// When the region is another one, or the memory cannot be erased.
    pub fn erase(&self, plan: &ErasePlan) -> Result<BoardInfo, UserError> {
        let label = plan.region.as_ref().map(|region| region.label.as_str());
        let what = format!("Cannot erase the {}", self.label);
        self.memory.is_part(label).map_err(|error| UserError { what: what.clone(), ..error })?;
        self.halt();
        self.memory.erase(label).map_err(|error| UserError { what, ..error })?;
        self.start_if_flashed()?;
        Ok(self.info(&plan.board.chip))
    }

    /// Reads its memory, see [`HostMemory::read`]. The firmware runs on.
    ///
    /// # Errors
    /// As [`HostMemory::read`].
    pub fn read(&self, region: &FlashRegion) -> Result<Vec<u8>, UserError> {
        self.memory.read(region)
    }

    /// Writes what is made of a part of its memory, while the firmware stands still.
    ///
    /// # Errors
    /// When the region is not the whole of a part that holds data, or cannot be read or written.
    pub fn rewrite(&self, order: &RewriteOrder) -> Result<BoardInfo, UserError> {
        self.halt();
        let written = self.memory.rewrite(order);
        self.start_if_flashed()?;
        written.map(|()| self.info(&order.board.chip))
    }

    /// Starts the program that it was flashed with; `None` when there is none.
    ///
    /// # Errors
    /// As [`HostBoard::start`].
    pub fn switch_on(&self) -> Option<Result<(), UserError>> {
        let image = self.memory.program();
        image.is_file().then(|| self.start(&image).map(drop))
    }

    fn start_if_flashed(&self) -> Result<(), UserError> {
        self.switch_on().unwrap_or(Ok(()))
    }

    fn failed(&self, why: String, fix: &str) -> UserError {
        UserError::new(format!("Cannot flash the {}", self.label), why, fix)
    }

    /// Path of its port; `None` before it was first started.
    #[must_use]
    pub fn port(&self) -> Option<String> {
        self.lock().uart.as_ref().map(|uart| uart.port.clone())
    }

    /// Ends what runs on it.
    pub fn halt(&self) {
        let mut power = self.lock();
        if let Some(mut firmware) = power.firmware.take() {
            end(&mut firmware);
        }
    }

    /// Starts the program at `image` and returns the path of the board's port.
    ///
    /// # Errors
    /// When no pseudo-terminal can be had or the program cannot be started.
    pub fn start(&self, image: &Path) -> Result<String, UserError> {
        self.halt();
        let failed = |error: io::Error| {
            UserError::from_cause(format!("Cannot start the {}", self.label), &error).fix(
                "Build and flash again; if that does not help, check whether the system allows programs in \
                 the data folder to be run.",
            )
        };
        let mut power = self.lock();
        let uart = match power.uart.take() {
            Some(uart) => uart,
            None => Pty::open().map_err(failed)?,
        };
        let ends = ends(&uart).map_err(failed);
        let port = uart.port.clone();
        let board = uart.board.try_clone().map_err(failed);
        power.uart = Some(uart);
        let run = self.runner.start(&self.walls(image), ends?)?;
        let is_halted = Arc::new(AtomicBool::new(false));
        watch(self.label, run.waiter(), is_halted.clone(), board?);
        power.firmware = Some(Firmware { run, is_halted });
        Ok(port)
    }

    /// The firmware reads its image and the libraries of this machine, and writes its own folder.
    fn walls(&self, image: &Path) -> Walls {
        let folder = self.memory.folder().to_owned();
        Walls {
            program: image.to_owned(),
            reads: libraries().chain([image.to_owned()]).collect(),
            writes: vec![folder.clone()],
            folder,
            limits: Limits { processors: Some(1), ..Limits::default() },
            // Nothing of the person's environment reaches the firmware.
            ..Walls::default()
        }
    }

    fn lock(&self) -> MutexGuard<'_, Power> {
        self.power.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for HostBoard {
    fn drop(&mut self) {
        self.halt();
    }
}

fn end(firmware: &mut Firmware) {
    firmware.is_halted.store(true, Ordering::Release);
    firmware.run.stop();
}

fn ends(uart: &Pty) -> io::Result<Ends> {
    let end = || uart.board.try_clone().map(Into::into);
    Ok(Ends { input: end()?, output: end()?, errors: end()? })
}

/// Says on the port when the firmware ends by itself, which a chip's never does. A thread that
/// nobody waits for, because writing waits for a reader.
fn watch(label: &'static str, run: Waiter, is_halted: Arc<AtomicBool>, mut port: File) {
    std::thread::spawn(move || {
        let how = how(&run.wait());
        if is_halted.load(Ordering::Acquire) {
            return;
        }
        let text = format!("\n{label}: the firmware has ended: {how}\n");
        // Without a port there is nobody to tell.
        let _ = port.write_all(text.as_bytes());
    });
}

fn how(report: &RunReport) -> String {
    match (report.wall, report.end) {
        (Some(wall @ (Wall::Memory | Wall::Processes)), _) => {
            format!("the sandbox ended it: it took too much ({wall})")
        }
        (Some(Wall::File), _) => "it wrote a file larger than the sandbox allows".to_owned(),
        (Some(Wall::Disk), _) => "it wrote more than the sandbox allows".to_owned(),
        (_, RunEnd::Exit(code)) => format!("it called exit({code})"),
        (_, RunEnd::Signal(signal)) => format!("signal {signal}"),
        (_, RunEnd::Stopped) => "for an unknown reason".to_owned(),
    }
}
