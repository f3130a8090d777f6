//! Shows the start screen until the person chooses.

use std::thread;

use tokio::sync::oneshot;

use super::doctor;
use super::documentation;
use super::event_loop::Left;
use super::idle_wake::{IdleWake, Sources};
use super::machine::Machine;
use super::start_refresh::{RequestScope, SessionReader, SessionRefresh};
use super::terminal::Screen;
use super::unsent_task::UnsentTask;
use crate::journal::{self, JournalError, SessionDir};
use crate::model::{HealthLine, UserError};
use crate::sandbox::Runner;
use crate::ui::start::{Start, StartChoice};

/// Shows `start` and returns what was chosen, or how the person left. Draws only after something
/// happened. The sandbox of the machine is tried meanwhile, because that takes longer than the
/// first frame may; the list of sessions is read again by `reader` from time to time. Sessions are
/// renamed and deleted here.
///
/// # Errors
/// When signals cannot be watched.
pub async fn choose(
    screen: &mut Screen,
    start: &mut Start,
    machine: &Machine,
    reader: SessionReader,
) -> Result<Result<StartChoice, Left>, UserError> {
    let mut sources = Sources::watch()?;
    let mut sandbox = None;
    let mut is_tried = false;
    let mut refresh = SessionRefresh::new(reader);
    let mut is_same = false;
    let mut unsent = UnsentTask::brought_back(&machine.dirs.data, start);
    loop {
        if !std::mem::take(&mut is_same) && screen.draw(|frame| start.draw(frame)).is_err() {
            return Ok(Err(Left::TerminalLost));
        }
        let sandbox = sandbox.get_or_insert_with(|| sandbox_health(machine.runner.clone()));
        let wake = tokio::select! {
            biased;
            wake = sources.next(screen) => wake,
            line = sandbox, if !is_tried => {
                is_tried = true;
                line.into_iter().for_each(|line| start.add_health(line));
                continue;
            }
            (sessions, scope) = refresh.next() => {
                let is_new = scope == RequestScope::All && start.know_all_requests();
                is_same = !start.list_sessions(sessions) && !is_new;
                continue;
            }
            () = unsent.pause() => {
                unsent.keep();
                is_same = true;
                continue;
            }
        };
        refresh.hurry();
        let choice = match wake {
            Ok(IdleWake::Event(event)) => start.on_event(&event),
            Ok(IdleWake::Suspend) => Some(StartChoice::Suspend),
            Ok(IdleWake::Redraw) => None,
            Err(left) => {
                unsent.follow(start, Some(&StartChoice::Quit));
                return Ok(Err(left));
            }
        };
        if start.is_searching() {
            refresh.read_all_requests();
        }
        unsent.follow(start, choice.as_ref());
        match choice {
            None => {}
            Some(StartChoice::Quit) => return Ok(Err(Left::Quit)),
            Some(StartChoice::Suspend) if screen.suspend().is_err() => {
                return Ok(Err(Left::TerminalLost));
            }
            Some(StartChoice::Suspend) => {}
            Some(choice) => match done_here(choice, start, machine) {
                Some(choice) => return Ok(Ok(choice)),
                None => refresh.discard(),
            },
        }
    }
}

/// Changes a session; any other choice comes back.
fn done_here(choice: StartChoice, start: &mut Start, machine: &Machine) -> Option<StartChoice> {
    match choice {
        StartChoice::Rename { name, title } => rename(start, machine, &name, &title),
        StartChoice::Delete(name) => delete(start, machine, &name),
        choice => return Some(choice),
    }
    None
}

/// Gives a session a title.
fn rename(start: &mut Start, machine: &Machine, name: &str, title: &str) {
    let done =
        SessionDir::find(&machine.dirs.data, name).and_then(|dir| journal::rename(&dir, title));
    match done {
        Ok(title) => start.renamed(name, &title),
        Err(error) => start.refuse(UserError::from(error).to_string()),
    }
}

/// Deletes a session, and forgets what it came to.
fn delete(start: &mut Start, machine: &Machine, name: &str) {
    let done = SessionDir::find(&machine.dirs.data, name)
        .and_then(|dir| journal::delete(&dir))
        .map_err(JournalError::of_deletion);
    if done.is_ok() {
        start.deleted(name);
    }
    let forgotten = done.and_then(|()| documentation::forget_sessions(&machine.dirs.data));
    if let Err(error) = forgotten {
        start.refuse(error.to_string());
    }
}

/// The line about the sandbox, when it has been tried. Nobody waits for it at the end.
fn sandbox_health(runner: Runner) -> oneshot::Receiver<HealthLine> {
    let (found, line) = oneshot::channel();
    thread::spawn(move || found.send(doctor::sandbox(runner.protection())));
    line
}
