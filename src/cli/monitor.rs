//! `firmhand monitor`: listens to one board.

use std::io::{self, BufWriter, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use super::args::MonitorArgs;
use super::plain_monitor::{Colour, Plain};
use super::{report, runtime};
use crate::app::event_loop::Left;
use crate::app::machine::Machine;
use crate::app::monitor::{self, Monitor, MonitorOptions};
use crate::app::ports::{self, PortFilter};
use crate::app::shipped::load_adapters;
use crate::app::signals::Signals;
use crate::app::terminal::{self, Screen, Uses};
use crate::device::{Address, DEFAULT_BAUD};
use crate::journal::LogFiles;
use crate::model::{LogSource, UserError};
use crate::text::esp_log::TagFilter;
use crate::toolchain::console_baud;
use crate::ui::ports::PortList;
use crate::ui::{Depth, Keymap, Theme};

/// Bytes of output that are written at once.
const BUFFER: usize = 64 * 1024;

/// Listens until the person leaves.
///
/// # Errors
/// When there is no such port or it cannot be opened.
pub fn run(machine: &Machine, args: MonitorArgs) -> Result<ExitCode, UserError> {
    let filter = TagFilter::parse(&args.filter).map_err(|why| {
        UserError::new("Cannot use `--filter`", why, "Write e.g. `--filter '*:W wifi:V'`.")
    })?;
    let project = args.project.unwrap_or_else(|| PathBuf::from("."));
    let project = std::path::absolute(&project).unwrap_or(project);
    let baud = args.baud.or_else(|| console_baud(&project)).unwrap_or(DEFAULT_BAUD);
    let mut wish = MonitorOptions { port: None, baud, elf: args.elf, project };
    if args.plain {
        wish.port = match args.ports.as_slice() {
            [] => None,
            [port] => Some(port.clone()),
            [_, ..] => return Err(several()),
        };
        return runtime::engine()?.block_on(plain(machine, wish, filter));
    }
    for port in &args.ports {
        Address::parse(port)?;
    }
    terminal::require()?;
    let wanted = PortFilter { named: args.ports, adapters: load_adapters(&machine.assets)? };
    if let Some(port) = wanted.only() {
        wish.port = Some(port);
        return super::full_screen::monitor(machine, wish, filter);
    }
    let mut error = None;
    loop {
        let port = match choose(machine, &wanted, error.take())? {
            Ok(port) => port,
            Err(left) => return Ok(super::full_screen::exit_code(left)),
        };
        let wish = MonitorOptions { port: Some(port), ..wish.clone() };
        match super::full_screen::monitor(machine, wish, filter.clone()) {
            Ok(code) => return Ok(code),
            // One that was waited for comes back at once; there would be nothing to read.
            Err(failed) if wanted.named.len() == 1 => return Err(failed),
            Err(failed) => {
                error = Some(format!("{}: {} · {}", failed.what, failed.why, failed.fix))
            }
        }
    }
}

/// Lets the person choose a port, or waits for the one that was named.
fn choose(
    machine: &Machine,
    wanted: &PortFilter,
    error: Option<String>,
) -> Result<Result<String, Left>, UserError> {
    let env = |name: &str| std::env::var(name).ok();
    let theme = Theme::load(&machine.assets, &machine.settings.theme.value, Depth::detect(env))?;
    let keymap = Keymap::load(&machine.assets, &machine.settings.keymap.value)?;
    let mut list = PortList::new(theme, keymap, wanted.look(), error);
    let mut screen = Screen::take(Uses::of(&machine.settings.terminal, env))?;
    runtime::screen()?.block_on(ports::choose(&mut screen, &mut list, wanted))
}

fn several() -> UserError {
    UserError::new(
        "Cannot listen to several ports with `--plain`",
        "`--plain` cannot ask which port to use",
        "Name one, or leave `--plain` out.",
    )
}

async fn plain(
    machine: &Machine,
    wish: MonitorOptions,
    filter: TagFilter,
) -> Result<ExitCode, UserError> {
    let mut signals = Signals::watch()?;
    let Monitor { dir, recorder, hub, listener } = monitor::start(machine, wish).await?;
    let is_colourful = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let colour = if is_colourful { Colour::On } else { Colour::Off };
    let out = BufWriter::with_capacity(BUFFER, io::stdout());
    let logs = recorder.logs();
    let mut plain = Plain::new(out, colour, filter, Arc::<LogFiles>::clone(&logs));
    let exit = tokio::select! {
        biased;
        () = signals.ending() => ExitCode::from(130),
        // A reader that went away (`| head`) is no error.
        _ = plain.follow(&listener, &hub) => ExitCode::SUCCESS,
    };
    drop(plain);
    let name = dir.id().clone();
    let gone = logs.start(listener.log).map_or(0, |start| start.bytes);
    Monitor { dir, recorder, hub, listener }.end().await;
    let gone = match gone {
        0 => String::new(),
        gone => format!(", without the first {gone} bytes"),
    };
    report::aside(&format!("kept as session {name}{gone}"));
    Ok(exit)
}
