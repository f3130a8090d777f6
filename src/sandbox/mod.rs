//! The sandbox around every program that an agent wrote.
//!
//! This program starts itself again as the hidden command [`COMMAND`], which starts itself once more
//! behind the walls; that one runs the program. Between them go an order and its answers; when the
//! connection closes, everything ends. On Linux the walls are namespaces, Landlock, seccomp, resource
//! limits and control groups, as far as the machine allows them; how far is tried once and said.
//!
//! Owns the walls. Must not know which programs are run, nor decide whether they may be.

#[cfg(target_os = "linux")]
mod cgroup;
mod control;
mod disk;
mod inside;
#[cfg(target_os = "linux")]
mod landlock_rules;
mod limits;
#[cfg(target_os = "linux")]
mod namespaces;
mod outside;
mod places;
mod probe;
#[cfg(target_os = "linux")]
mod root;
mod runner;
#[cfg(target_os = "linux")]
mod seccomp;
mod walls;

pub use places::{libraries, machine, programs};
pub use probe::{Missing, Protection};
pub use runner::{ConfinedRun, Consent, Ends, Runner, Waiter};
pub use walls::{COMMAND, Level, Limits, MachineView, RunEnd, RunReport, Wall, WallFailure, Walls};

use std::process::ExitCode;

/// Runs the hidden command when the arguments ask for it; `None` when they ask for something else.
#[must_use]
pub fn enter(mut arguments: impl Iterator<Item = std::ffi::OsString>) -> Option<ExitCode> {
    arguments.next().filter(|first| first == COMMAND)?;
    let done = match arguments.next() {
        None => outside::run(),
        Some(second) if second == walls::BEHIND => inside::run(),
        Some(_) => return Some(ExitCode::from(2)),
    };
    Some(if done.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// From which version on Landlock keeps signals inside.
const fn landlock_rules_scopes() -> u32 {
    #[cfg(target_os = "linux")]
    return landlock_rules::SCOPES;
    #[cfg(not(target_os = "linux"))]
    return 6;
}
