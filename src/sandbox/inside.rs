//! The process behind the walls: puts itself behind them, and then runs the program.
//!
//! With namespaces it is the first process in them: it stays, waits for the program and collects
//! what the program leaves behind; when it ends, the kernel ends all the others. Without them it
//! becomes the program. Must not touch the descriptors of the program but to hand them on.

#![expect(clippy::disallowed_methods, reason = "the program is started here, behind the walls")]

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::control::{Answer, Channel, SandboxFacts, SandboxOrder};
use super::limits::{self, Counted};
use super::walls::{Level, RunEnd, RunReport, WallFailure, Walls};

/// What this process is told.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct InsideOrder {
    pub order: SandboxOrder,
    /// Whether a control group counts.
    pub is_counted: bool,
    /// Tasks of the same user that a limit counts too.
    pub others: u64,
}

/// Runs what the process outside says, and tells it how that went.
pub(super) fn run() -> io::Result<()> {
    end_with_parent();
    let mut outside = Channel::of_stdin()?;
    let Some(received) = outside.receive::<InsideOrder>()? else { return Ok(()) };
    let ends = outside.take_ends();
    let facts = match build(&received) {
        Ok(facts) => facts,
        Err(failure) => return outside.send(&Answer::Failed(failure), &[]),
    };
    if received.order.is_trial {
        return outside.send(&Answer::Tried(facts), &[]);
    }
    let mut command = command(&received.order.walls, ends)?;
    let walls = &received.order.walls;
    let failed = |error: &io::Error| {
        let step = format!("start {}", walls.program.display());
        Answer::Failed(WallFailure::new(step, error))
    };
    if received.order.level != Level::Namespaces {
        // On success there is nothing of this process left to say so but the closed connection.
        return outside.send(&failed(&command.exec()), &[]);
    }
    let started = Instant::now();
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return outside.send(&failed(&error), &[]),
    };
    // The ends belong to the program alone, so that who reads them sees it end.
    drop(command);
    outside.send(&Answer::Started, &[])?;
    let end = collect(child)?;
    let report = RunReport { end, wall: None, peak: 0, took: started.elapsed() };
    outside.send(&Answer::Ended(report), &[])
}

fn command(walls: &Walls, ends: Vec<OwnedFd>) -> io::Result<Command> {
    let [input, output, errors] =
        <[OwnedFd; 3]>::try_from(ends).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(&walls.program);
    command
        .args(&walls.args)
        .env_clear()
        .envs(walls.env.iter().map(|(name, value)| (name, value)))
        .current_dir(&walls.folder)
        .stdin(Stdio::from(input))
        .stdout(Stdio::from(output))
        .stderr(Stdio::from(errors));
    Ok(command)
}

fn build(received: &InsideOrder) -> Result<SandboxFacts, WallFailure> {
    let order = &received.order;
    let mut facts = SandboxFacts { has_cgroup: received.is_counted, ..SandboxFacts::default() };
    // A session of its own: no terminal of the person's is its terminal.
    let _ = rustix::process::setsid();
    let counted = if received.is_counted { Counted::ByGroup } else { Counted::ByProcess };
    if let Some(processors) = order.walls.limits.processors {
        limits::stay_on(processors);
    }
    #[cfg(target_os = "linux")]
    build_on_linux(order, &mut facts)?;
    if order.walls.machine.is_none() {
        limits::apply(&order.walls.limits, counted, received.others)?;
    }
    #[cfg(target_os = "linux")]
    filter(order, &facts)?;
    Ok(facts)
}

#[cfg(target_os = "linux")]
fn build_on_linux(order: &SandboxOrder, facts: &mut SandboxFacts) -> Result<(), WallFailure> {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    if order.level == Level::None {
        return Ok(());
    }
    if order.level == Level::Namespaces {
        super::namespaces::leave_mounts()?;
        facts.has_proc = super::root::build_root(&order.walls)?;
    }
    super::namespaces::give_up_rights(&order.walls)?;
    // What this process knows is not the program's to read.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(WallFailure::at("keep its own memory to itself"))?;
    facts.landlock = super::landlock_rules::apply(order.level, &order.walls)?;
    if order.level == Level::Landlock && facts.landlock == 0 {
        return Err(WallFailure::new("restrict files (Landlock)", "the kernel does not have it"));
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn filter(order: &SandboxOrder, facts: &SandboxFacts) -> Result<(), WallFailure> {
    let level = order.level;
    if level == Level::None {
        return Ok(());
    }
    super::seccomp::apply(super::seccomp::FilterFor {
        level,
        are_signals_kept: facts.landlock >= super::landlock_rules::SCOPES,
        sees_machine: order.walls.machine.is_some(),
        own: std::process::id(),
    })
}

/// Ends with the process outside, whatever becomes of that.
fn end_with_parent() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, set_parent_process_death_signal};
        let _ = set_parent_process_death_signal(Some(Signal::KILL));
    }
}

/// Waits for the program, and collects what was left to this process meanwhile.
fn collect(child: Child) -> io::Result<RunEnd> {
    let program = child.id();
    loop {
        match rustix::process::wait(rustix::process::WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid.as_raw_nonzero().get().unsigned_abs() == program => {
                return Ok(end_of(ExitStatus::from_raw(status.as_raw())));
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// How a process ended.
pub(super) fn end_of(status: ExitStatus) -> RunEnd {
    match (status.code(), status.signal()) {
        (Some(code), _) => RunEnd::Exit(code),
        (None, Some(signal)) => RunEnd::Signal(signal),
        (None, None) => RunEnd::Stopped,
    }
}

/// How long this process waits for what does not end at once.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);
