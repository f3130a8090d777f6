//! A board that is a process of this machine, whose UART is a pseudo-terminal.
//!
//! Owns the process and the terminal's ends. The firmware has the master's end as its UART; who
//! listens opens the other end like any port. One such end stays open here, so that the kernel
//! keeps what the board prints while nobody listens; when it is full the board waits, as with
//! hardware flow control.

#![expect(
    clippy::disallowed_methods,
    reason = "flashing writes the board's memory, running starts it"
)]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use rustix::pty::OpenptFlags;
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

use super::{CANNOT_READ, FlashOrder};
use crate::model::{BoardInfo, ContentHash, ErasePlan, FlashRegion, Partition, UserError};

/// Bytes written to the board between two reports of progress.
const CHUNK: usize = 16 * 1024;

/// The board's memory, in its folder.
const FLASH: &str = "flash.elf";

/// What the firmware stores in its `nvs` partition, in the same folder.
const SETTINGS: &str = "nvs.bin";

/// Flash address of a program in ESP-IDF's default partition table.
pub(super) const APP_OFFSET: u32 = 0x1_0000;

/// What the board's memory has: one file each.
const PARTS: [Part; 2] = [
    Part {
        label: "nvs",
        kind: "data",
        subtype: "nvs",
        offset: 0x9000,
        bytes: 0x6000,
        file: SETTINGS,
    },
    Part {
        label: "factory",
        kind: "app",
        subtype: "factory",
        offset: APP_OFFSET,
        bytes: 0x10_0000,
        file: FLASH,
    },
];

/// What erased flash reads as.
const ERASED: u8 = 0xff;

/// A part of the memory, where ESP-IDF's default partition table has it.
struct Part {
    label: &'static str,
    kind: &'static str,
    subtype: &'static str,
    offset: u32,
    bytes: u32,
    file: &'static str,
}

/// One such board. Dropping it ends its process.
#[derive(Debug)]
pub struct HostBoard {
    /// What the screen calls it, e.g. `virtual board`.
    label: &'static str,
    /// Flash memory and stored settings lie here.
    folder: PathBuf,
    power: Mutex<Power>,
}

#[derive(Debug, Default)]
struct Power {
    firmware: Option<Firmware>,
    uart: Option<Uart>,
}

#[derive(Debug)]
struct Firmware {
    process: Child,
    /// Set before the process is ended from here.
    is_halted: Arc<AtomicBool>,
}

/// The pseudo-terminal; it stays the same over resets and flashes.
#[derive(Debug)]
struct Uart {
    master: OwnedFd,
    /// Keeps the kernel's buffer alive while nobody listens.
    _listening: OwnedFd,
    port: String,
}

impl HostBoard {
    /// A board that is switched off.
    #[must_use]
    pub fn new(label: &'static str, folder: PathBuf) -> Self {
        Self { label, folder, power: Mutex::default() }
    }

    /// What is known of it, as a board with that chip.
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
        let content = fs::read(order.project.join(&image.file))
            .map_err(|error| failed(format!("{}: {error}", image.file)))?;
        if ContentHash::of(&content) != image.hash {
            let why = format!("{} has changed since it was approved", image.file);
            return Err(self.failed(why, "propose the flash again"));
        }
        self.halt();
        let path = self.folder.join(FLASH);
        self.write_flash(&path, &content, |done| {
            (order.progress)(done, content.len() as u64);
            !order.cancel.is_cancelled()
        })?;
        let read_back = fs::read(&path).map_err(|error| failed(error.to_string()))?;
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
        let failed = |why: String, fix: &str| {
            UserError::new(format!("cannot erase the {}", self.label), why, fix)
        };
        let label = plan.region.as_ref().map(|region| region.label.as_str());
        let is_meant = |part: &&Part| label.is_none_or(|label| label == part.label);
        let files: Vec<&str> = PARTS.iter().filter(is_meant).map(|part| part.file).collect();
        if files.is_empty() {
            let why = format!("it has no partition `{}`", label.unwrap_or_default());
            return Err(failed(why, "Erase `nvs`, `factory`, or everything."));
        }
        self.halt();
        for file in files {
            match fs::remove_file(self.folder.join(file)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(failed(format!("{file}: {error}"), "Make the folder writable."));
                }
                Ok(()) | Err(_) => {}
            }
        }
        let image = self.folder.join(FLASH);
        if image.is_file() {
            self.start(&image)?;
        }
        Ok(self.info(&plan.board.chip))
    }

    /// What its memory is divided into; there is no table in the memory itself.
    #[must_use]
    pub fn partitions() -> Vec<Partition> {
        let named = |part: &Part| Partition {
            label: part.label.to_owned(),
            kind: part.kind.to_owned(),
            subtype: part.subtype.to_owned(),
            offset: part.offset,
            bytes: part.bytes,
        };
        PARTS.iter().map(named).collect()
    }

    /// Reads its memory: the settings as the firmware stored them, the program as it was loaded,
    /// and erased flash in the rest of each. The firmware runs on.
    ///
    /// # Errors
    /// When the region is not inside one of [`HostBoard::partitions`], or cannot be read.
    pub fn read(&self, region: &FlashRegion) -> Result<Vec<u8>, UserError> {
        let (from, to) =
            (u64::from(region.offset), u64::from(region.offset) + u64::from(region.bytes));
        let holds = |part: &&Part| {
            let start = u64::from(part.offset);
            (start..=start + u64::from(part.bytes)).contains(&to) && start <= from
        };
        let Some(part) = PARTS.iter().find(holds) else {
            let end = |part: &Part| part.offset + part.bytes;
            let there = PARTS
                .each_ref()
                .map(|part| format!("`{}` (0x{:x} – 0x{:x})", part.label, part.offset, end(part)));
            let why = format!(
                "the {} holds only {}: nothing is behind other addresses, and it has no bootloader \
                 and no partition table",
                self.label,
                there.join(" and ")
            );
            return Err(UserError::new(CANNOT_READ, why, "Read within one of them."));
        };
        let held = match fs::read(self.folder.join(part.file)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            held => held.map_err(|error| UserError::from_cause(CANNOT_READ, &error))?,
        };
        let start = (region.offset - part.offset) as usize;
        let mut content = held.get(start..).unwrap_or_default().to_vec();
        content.resize(region.bytes as usize, ERASED);
        Ok(content)
    }

    fn failed(&self, why: String, fix: &str) -> UserError {
        UserError::new(format!("cannot flash the {}", self.label), why, fix)
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
            UserError::new(
                format!("cannot start the {}", self.label),
                error.to_string(),
                "build and flash again; if it stays so, look whether the system allows programs in \
                 the data folder to be run",
            )
        };
        let mut power = self.lock();
        let uart = match power.uart.take() {
            Some(uart) => uart,
            None => open_uart().map_err(failed)?,
        };
        let firmware = self.launch(image, &uart);
        let port = uart.port.clone();
        power.uart = Some(uart);
        power.firmware = Some(firmware.map_err(failed)?);
        Ok(port)
    }

    fn launch(&self, image: &Path, uart: &Uart) -> io::Result<Firmware> {
        let end = || uart.master.try_clone().map(Stdio::from);
        let process = Command::new(image)
            // Nothing of the person's environment reaches the firmware.
            .env_clear()
            .current_dir(&self.folder)
            .process_group(0)
            .stdin(end()?)
            .stdout(end()?)
            .stderr(end()?)
            .spawn()?;
        let is_halted = Arc::new(AtomicBool::new(false));
        watch(self.label, process.id(), is_halted.clone(), uart.master.try_clone()?);
        Ok(Firmware { process, is_halted })
    }

    /// Writes the board's memory in chunks. After each, `goes_on` is told how many bytes are
    /// written and says whether to go on.
    ///
    /// # Errors
    /// When the file cannot be written, or it was told to stop.
    fn write_flash(
        &self,
        path: &Path,
        content: &[u8],
        mut goes_on: impl FnMut(u64) -> bool,
    ) -> Result<(), UserError> {
        let failed = |why: String| self.failed(why, "free some disk space and flash again");
        let write =
            |file: &mut File, part: &[u8]| file.write_all(part).map_err(|e| failed(e.to_string()));
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(|error| failed(error.to_string()))?;
        // A new file, because a program that still ends may have the old one open.
        let fresh = path.with_extension("new");
        let mut file = File::create(&fresh).map_err(|error| failed(error.to_string()))?;
        let mut done = 0;
        for part in content.chunks(CHUNK) {
            write(&mut file, part)?;
            done += part.len() as u64;
            if !goes_on(done) {
                return Err(failed("it was stopped".to_owned()));
            }
        }
        let executable = fs::Permissions::from_mode(0o700);
        file.set_permissions(executable).map_err(|error| failed(error.to_string()))?;
        drop(file);
        fs::rename(&fresh, path).map_err(|error| failed(error.to_string()))
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
    if let Some(group) = pid(firmware.process.id()) {
        // It may have ended by itself.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = firmware.process.wait();
}

fn pid(id: u32) -> Option<Pid> {
    i32::try_from(id).ok().and_then(Pid::from_raw)
}

/// Says on the port when the firmware ends by itself, which a chip's never does. A thread that
/// nobody waits for, because writing waits for a reader.
fn watch(label: &'static str, id: u32, is_halted: Arc<AtomicBool>, port: OwnedFd) {
    let Some(firmware) = pid(id) else { return };
    std::thread::spawn(move || {
        // Leaves it to `end` to collect the process, so that its number is not given anew.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let Ok(Some(status)) = waitid(WaitId::Pid(firmware), options) else { return };
        if is_halted.load(Ordering::Acquire) {
            return;
        }
        let how = match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => format!("it called exit({code})"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "for an unknown reason".to_owned(),
        };
        let text = format!("\n{label}: the firmware has ended: {how}\n");
        // Without a port there is nobody to tell.
        let _ = File::from(port).write_all(text.as_bytes());
    });
}

fn open_uart() -> io::Result<Uart> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    // Others cannot ask for it at once; there the compilers see the port, and leave it alone.
    #[cfg(any(target_os = "linux", target_os = "freebsd"))]
    let flags = flags | OpenptFlags::CLOEXEC;
    let master = rustix::pty::openpt(flags)?;
    rustix::pty::grantpt(&master)?;
    rustix::pty::unlockpt(&master)?;
    let name = rustix::pty::ptsname(&master, Vec::new())?;
    let port = name.to_string_lossy().into_owned();
    let listening = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(i32::try_from(OFlags::NOCTTY.bits()).unwrap_or_default())
        .open(&port)?;
    let mut settings = tcgetattr(&listening)?;
    settings.make_raw();
    tcsetattr(&listening, OptionalActions::Now, &settings)?;
    Ok(Uart { master, _listening: listening.into(), port })
}
