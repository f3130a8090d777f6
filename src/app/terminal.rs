//! The terminal guard: takes the screen over and always gives it back.
//!
//! Owns raw mode, the alternate screen, bracketed paste, focus reports and synchronised output.
//! Whatever ends the program (return, error, panic, signal), [`restore`] has run before anything
//! else is printed.

use std::io::{self, BufWriter, Stdout, Write};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::{Hide, Show};
use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, EnableBracketedPaste, EnableFocusChange,
};
use crossterm::style::ResetColor;
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Size;
use ratatui::{Frame, Terminal};

use crate::model::UserError;

/// Bytes collected before a write: a whole 200×60 frame with colours fits.
const FRAME_BUFFER: usize = 256 * 1024;

/// Whether the screen is ours; the panic hook and [`Screen`] share it.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal while the program has it. Dropping it gives the terminal back.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
}

impl Screen {
    /// Takes the terminal over.
    ///
    /// # Errors
    /// When standard input or output is no terminal, or the terminal cannot be set up.
    pub fn take() -> Result<Self, UserError> {
        require()?;
        let failed = |error: io::Error| UserError::from_cause("cannot set up the terminal", &error);
        install_panic_hook();
        enter().map_err(failed)?;
        let backend = CrosstermBackend::new(BufWriter::with_capacity(FRAME_BUFFER, io::stdout()));
        let terminal = Terminal::new(backend).map_err(|error| {
            restore();
            failed(error)
        })?;
        Ok(Self { terminal })
    }

    /// Draws one frame; the terminal shows it at once and whole.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn draw(&mut self, render: impl FnOnce(&mut Frame)) -> io::Result<()> {
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        self.terminal.draw(render)?;
        queue!(self.terminal.backend_mut(), EndSynchronizedUpdate)?;
        self.terminal.backend_mut().flush()
    }

    /// Forgets what is on screen, so that the next frame is drawn in full.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn repaint(&mut self) -> io::Result<()> {
        self.terminal.clear()
    }

    /// Gives the terminal back, stops the process as Ctrl-Z does, and takes the terminal again
    /// when the shell continues it.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn suspend(&mut self) -> io::Result<()> {
        restore();
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP)?;
        enter()?;
        self.repaint()
    }

    /// Takes the terminal again after someone else stopped and continued the process.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn retake(&mut self) -> io::Result<()> {
        enter()?;
        self.repaint()
    }
}

/// Size of the terminal.
///
/// # Errors
/// When there is none.
pub fn size() -> Result<Size, UserError> {
    let (width, height) = crossterm::terminal::size()
        .map_err(|error| UserError::from_cause("cannot tell the size of the terminal", &error))?;
    Ok(Size { width, height })
}

/// Checks that there is a terminal, so that nothing is begun that could not be shown.
///
/// # Errors
/// When standard input or output is no terminal.
pub fn require() -> Result<(), UserError> {
    if rustix::termios::isatty(io::stdout()) && rustix::termios::isatty(io::stdin()) {
        return Ok(());
    }
    Err(UserError::new(
        "cannot open the full-screen desk",
        "standard input or output is not a terminal",
        "run it in a terminal, or use `firmhand run TASK --policy FILE --json` without a screen",
    ))
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste, EnableFocusChange, Hide)
        .inspect_err(|_| restore())
}

/// Gives the terminal back if it is ours; harmless otherwise.
pub fn restore() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    // Each step is tried even when the one before failed: a terminal that is gone cannot be
    // helped, one that is half there can.
    let mut out = io::stdout();
    let _ = execute!(
        out,
        EndSynchronizedUpdate,
        DisableFocusChange,
        DisableBracketedPaste,
        ResetColor,
        LeaveAlternateScreen,
        Show
    );
    let _ = disable_raw_mode();
}

fn install_panic_hook() {
    static INSTALLED: AtomicBool = AtomicBool::new(false);
    if INSTALLED.swap(true, Ordering::SeqCst) {
        return;
    }
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        restore();
        report(info);
    }));
}
