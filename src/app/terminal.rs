//! The terminal guard: takes the screen over and always gives it back.
//!
//! Owns raw mode, the alternate screen, bracketed paste, focus reports and synchronised output.
//! Whatever ends the program (return, error, panic, signal), [`restore`] has run before anything
//! else is printed.

use std::io::{self, BufWriter, Stdout, Write};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::clipboard::CopyToClipboard;
use crossterm::cursor::{Hide, Show};
use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, DisableMouseCapture, EnableBracketedPaste,
    EnableFocusChange, EnableMouseCapture,
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

use crate::config::{Notify, TerminalUse};
use crate::model::UserError;
use crate::text::contain;

/// Bytes collected before a write: a whole 200×60 frame with colours fits.
const FRAME_BUFFER: usize = 256 * 1024;

/// Whether the screen is ours; the panic hook and [`Screen`] share it.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Whether the terminal's own title was changed, and is to be put back.
static TITLED: AtomicBool = AtomicBool::new(false);

/// Most bytes that are put into the clipboard at once; terminals drop more without a word.
const MOST_COPIED: usize = 70_000;

/// What the terminal is used for besides showing text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uses {
    /// Whether the mouse belongs to the program.
    pub mouse: bool,
    /// Whether the title tells what goes on.
    pub title: bool,
    /// How a person who looks elsewhere is called.
    pub notify: Notify,
}

impl Uses {
    /// What the settings say; the environment tells what the terminal understands.
    pub fn of(settings: &TerminalUse, env: impl Fn(&str) -> Option<String>) -> Self {
        let notify = match settings.notify.value {
            Notify::Auto => known_notify(env),
            set => set,
        };
        Self { mouse: settings.mouse.value, title: settings.title.value, notify }
    }
}

/// How the terminal is known to notify: <https://gitlab.freedesktop.org/terminal-wg/specifications>
/// lists OSC 9 of iTerm2 and OSC 777 of rxvt-unicode.
fn known_notify(env: impl Fn(&str) -> Option<String>) -> Notify {
    let says = |name: &str, words: &[&str]| {
        env(name).is_some_and(|value| words.iter().any(|word| value.contains(word)))
    };
    // Within a multiplexer nobody knows what is outside of it.
    if says("TERM", &["tmux", "screen"]) || env("TMUX").is_some() {
        Notify::Bell
    } else if says("TERM_PROGRAM", &["iTerm", "WezTerm", "ghostty"]) || says("TERM", &["kitty"]) {
        Notify::Osc9
    } else if says("TERM", &["foot", "rxvt-unicode"]) {
        Notify::Osc777
    } else {
        Notify::Bell
    }
}

/// The terminal while the program has it. Dropping it gives the terminal back.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
    uses: Uses,
    title: String,
}

impl Screen {
    /// Takes the terminal over.
    ///
    /// # Errors
    /// When standard input or output is no terminal, or the terminal cannot be set up.
    pub fn take(uses: Uses) -> Result<Self, UserError> {
        require()?;
        let failed = |error: io::Error| UserError::from_cause("Cannot set up the terminal", &error);
        install_panic_hook();
        enter(uses).map_err(failed)?;
        let backend = CrosstermBackend::new(BufWriter::with_capacity(FRAME_BUFFER, io::stdout()));
        let terminal = Terminal::new(backend).map_err(|error| {
            restore();
            failed(error)
        })?;
        Ok(Self { terminal, uses, title: String::new() })
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

    /// Puts text into the terminal's clipboard; whether it was taken cannot be known.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn copy(&mut self, text: &str) -> io::Result<()> {
        let end = text.floor_char_boundary(MOST_COPIED);
        execute!(self.terminal.backend_mut(), CopyToClipboard::to_clipboard_from(&text[..end]))
    }

    /// Calls a person who looks elsewhere. `words` must be free of control characters.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn call(&mut self, words: &str) -> io::Result<()> {
        let out = self.terminal.backend_mut();
        match self.uses.notify {
            Notify::Off => return Ok(()),
            Notify::Auto | Notify::Bell => out.write_all(b"\x07")?,
            Notify::Osc9 => write!(out, "\x1b]9;firmhand: {words}\x1b\\")?,
            // A semicolon would begin another part.
            Notify::Osc777 => {
                let words = words.replace(';', ",");
                write!(out, "\x1b]777;notify;firmhand;{words}\x1b\\")?;
            }
        }
        out.flush()
    }

    /// Whether the terminal's window is to have a title.
    #[must_use]
    pub const fn wants_title(&self) -> bool {
        self.uses.title
    }

    /// Gives the terminal's window this title, if that is wanted. `title` must be free of control
    /// characters.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn set_title(&mut self, title: &str) -> io::Result<()> {
        if !self.uses.title || self.title == title {
            return Ok(());
        }
        let out = self.terminal.backend_mut();
        if !TITLED.swap(true, Ordering::SeqCst) {
            // The terminal remembers its own title until the end.
            out.write_all(b"\x1b[22;2t")?;
        }
        write!(out, "\x1b]2;{title}\x1b\\")?;
        title.clone_into(&mut self.title);
        out.flush()
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
        self.retake()
    }

    /// Gives the terminal to something else, e.g. an editor, and takes it back afterwards. Nobody
    /// may read from the terminal meanwhile.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn lend<T>(&mut self, run: impl FnOnce() -> T) -> io::Result<T> {
        restore();
        let done = run();
        self.retake()?;
        Ok(done)
    }

    /// Takes the terminal again after someone else stopped and continued the process.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn retake(&mut self) -> io::Result<()> {
        enter(self.uses)?;
        self.title.clear();
        self.repaint()
    }
}

/// Size of the terminal.
///
/// # Errors
/// When there is none.
pub fn size() -> Result<Size, UserError> {
    let (width, height) = crossterm::terminal::size()
        .map_err(|error| UserError::from_cause("Cannot tell the size of the terminal", &error))?;
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
        "Cannot open the full screen",
        "standard input or output is not a terminal",
        "Run it in a terminal, or use `firmhand run TASK --policy FILE --json` without a screen.",
    ))
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

fn enter(uses: Uses) -> io::Result<()> {
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    let mut out = io::stdout();
    execute!(out, EnterAlternateScreen, EnableBracketedPaste, EnableFocusChange, Hide)
        .and_then(|()| if uses.mouse { execute!(out, EnableMouseCapture) } else { Ok(()) })
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
    if TITLED.swap(false, Ordering::SeqCst) {
        let _ = out.write_all(b"\x1b[23;2t");
    }
    let _ = execute!(
        out,
        EndSynchronizedUpdate,
        DisableMouseCapture,
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
        if contain::is_contained() {
            return;
        }
        restore();
        report(info);
    }));
}
