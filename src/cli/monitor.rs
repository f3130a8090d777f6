//! `firmhand monitor`: listens to one board.

use std::io::{self, BufWriter, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;

use tokio::runtime::{Builder, Runtime};

use super::args::MonitorArgs;
use super::plain_monitor::{Colour, Plain};
use super::report;
use crate::app::compose::World;
use crate::app::monitor::{self, Monitor, Wish};
use crate::app::signals::Signals;
use crate::model::UserError;
use crate::text::esp_log::TagFilter;

/// Bytes of output that are written at once.
const BUFFER: usize = 64 * 1024;

/// Listens until the person leaves.
///
/// # Errors
/// When there is no such port or it cannot be opened.
pub fn run(world: &World, args: MonitorArgs) -> Result<ExitCode, UserError> {
    let filter = TagFilter::parse(&args.filter).map_err(|why| {
        UserError::new("`--filter` cannot be understood", why, "write e.g. `--filter '*:W wifi:V'`")
    })?;
    let project = args.project.unwrap_or_else(|| PathBuf::from("."));
    let project = std::path::absolute(&project).unwrap_or(project);
    let wish = Wish { port: args.port, baud: args.baud, elf: args.elf, project };
    if args.plain {
        let engine = runtime()?;
        return engine.block_on(plain(world, wish, filter));
    }
    super::desk::monitor(world, wish)
}

async fn plain(world: &World, wish: Wish, filter: TagFilter) -> Result<ExitCode, UserError> {
    let mut signals = Signals::watch()?;
    let Monitor { dir, recorder, hub, listener } = monitor::start(world, wish).await?;
    let is_colourful = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let colour = if is_colourful { Colour::On } else { Colour::Off };
    let mut plain = Plain::new(BufWriter::with_capacity(BUFFER, io::stdout()), colour, filter);
    let exit = tokio::select! {
        biased;
        () = signals.ending() => ExitCode::from(130),
        // A reader that went away (`| head`) is no error.
        _ = plain.follow(&listener, &hub) => ExitCode::SUCCESS,
    };
    drop(plain);
    let name = dir.id().clone();
    Monitor { dir, recorder, hub, listener }.end().await;
    report::aside(&format!("kept as session {name}"));
    Ok(exit)
}

fn runtime() -> Result<Runtime, UserError> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.map_err(|error| UserError::from_cause("cannot start", &error))
}
