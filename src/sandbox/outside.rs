//! The process in front of the walls: starts the one behind them, watches time, memory and
//! processes, and ends everything when a wall is hit, when it is no longer wanted, or when the
//! program is done.
//!
//! Owns the lives of all processes of one run. Must not read or write what they say.

#![expect(clippy::disallowed_methods, reason = "the process behind the walls is started here")]

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal, WaitOptions};
use rustix::time::Timespec;

use super::control::{Answer, Channel, SandboxOrder};
use super::disk::DiskWatch;
use super::inside::{InsideOrder, PATIENCE, end_of};
use super::limits;
use super::walls::{BEHIND, COMMAND, Level, RunEnd, RunReport, Wall, WallFailure};

/// How often is looked where no control group counts.
const TICK: Duration = Duration::from_millis(10);

/// How often is looked whether something happened that nothing tells of.
const SLOW_TICK: Duration = Duration::from_millis(200);

/// Signal of a file that became too large.
const TOO_LARGE: i32 = 25;

/// Runs what the launcher says, and tells it how that went.
pub(super) fn run() -> io::Result<()> {
    close_inherited();
    // The person's keys do not reach it; only its launcher ends it.
    let _ = rustix::process::setsid();
    let mut launcher = Channel::of_stdin()?;
    let Some(order) = launcher.receive::<SandboxOrder>()? else { return Ok(()) };
    let ends = launcher.take_ends();
    match OutsideRun::begin(order, &ends) {
        Err(failure) => launcher.send(&Answer::Failed(failure), &[]),
        Ok(mut run) => {
            drop(ends);
            match run.first_words() {
                Some(Answer::Started) => {
                    launcher.send(&Answer::Started, &[])?;
                    let report = run.watch(&launcher);
                    launcher.send(&Answer::Ended(report), &[])
                }
                other => {
                    run.end_all();
                    let none = || Answer::Failed(run.broken_off());
                    launcher.send(&other.unwrap_or_else(none), &[])
                }
            }
        }
    }
}

/// Closes what the launcher was started with and passed on without knowing: the program shall have
/// three descriptors.
fn close_inherited() {
    #[cfg(target_os = "linux")]
    {
        let Ok(all) = std::fs::read_dir("/proc/self/fd") else { return };
        let open: Vec<i32> =
            all.flatten().filter_map(|one| one.file_name().to_str()?.parse().ok()).collect();
        for descriptor in open.into_iter().filter(|descriptor| *descriptor > 2) {
            // One of them was the folder just read.
            let _ = nix::unistd::close(descriptor);
        }
    }
}

struct OutsideRun {
    order: SandboxOrder,
    child: Child,
    inside: Channel,
    #[cfg(target_os = "linux")]
    group: Option<super::cgroup::Cgroup>,
    started: Instant,
}

impl OutsideRun {
    fn begin(order: SandboxOrder, ends: &[OwnedFd]) -> Result<Self, WallFailure> {
        let failed = || WallFailure::at("start the process behind the walls");
        #[cfg(target_os = "linux")]
        let group = {
            let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
            let mut most = order.walls.limits.clone();
            // The first process of the namespaces is one of them.
            most.tasks = most.tasks.saturating_add(1);
            // A build is not limited, so that nothing counts it.
            match order.walls.machine {
                None => super::cgroup::Cgroup::make(&most),
                Some(_) => None,
            }
        };
        #[cfg(target_os = "linux")]
        if order.level == Level::Namespaces {
            super::namespaces::leave(&order.walls)?;
        }
        let (mine, its) = UnixStream::pair().map_err(failed())?;
        let child = Command::new(own_program().map_err(failed())?)
            .args([COMMAND, BEHIND])
            .env_clear()
            .stdin(Stdio::from(OwnedFd::from(its)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed())?;
        #[cfg(target_os = "linux")]
        // A group that does not take it counts nothing.
        let group = group.filter(|group| group.add(child.id()).is_ok());
        #[cfg(target_os = "linux")]
        let is_counted = group.is_some();
        #[cfg(not(target_os = "linux"))]
        let is_counted = false;
        // In users of its own only its own processes are counted.
        let others = match order.level {
            Level::Namespaces => 1,
            Level::Landlock | Level::None => limits::tasks_of_user(),
        };
        let inside = Channel::new(mine);
        let orders = InsideOrder { order: order.clone(), is_counted, others };
        let borrowed: Vec<_> = ends.iter().map(AsFd::as_fd).collect();
        inside.send(&orders, &borrowed).map_err(failed())?;
        Ok(Self {
            order,
            child,
            inside,
            #[cfg(target_os = "linux")]
            group,
            started: Instant::now(),
        })
    }

    /// Whether the program runs, or what was in the way.
    fn first_words(&mut self) -> Option<Answer> {
        match self.inside.receive() {
            Ok(Some(answer)) => Some(answer),
            // It became the program, which took the connection's place.
            Ok(None) if self.order.level != Level::Namespaces => Some(Answer::Started),
            Ok(None) | Err(_) => None,
        }
    }

    fn broken_off(&mut self) -> WallFailure {
        let step = "build the walls".to_owned();
        let why = match self.child.wait() {
            Ok(status) => format!("the process behind them ended: {status}"),
            Err(error) => error.to_string(),
        };
        WallFailure { step, why }
    }

    fn watch(&mut self, launcher: &Channel) -> RunReport {
        let stopped = self.until_over(launcher);
        let took = self.started.elapsed();
        let end = self.end_all();
        let (wall, end) = match stopped {
            Some(Stop::Unwanted) => (None, RunEnd::Stopped),
            Some(Stop::At(wall)) => (Some(wall), RunEnd::Stopped),
            None => (self.wall_met(end), end),
        };
        RunReport { end, wall, peak: self.peak(), took }
    }

    /// Waits until the program is over, or must be.
    fn until_over(&mut self, launcher: &Channel) -> Option<Stop> {
        let limits = self.order.walls.limits.clone();
        let own = rustix::process::pidfd_open(self.pid(), rustix::process::PidfdFlags::empty());
        let own = own.ok();
        // A build writes what it needs.
        let mut disk = match self.order.walls.machine {
            None => Some(DiskWatch::new(&self.order.walls.writes, limits.disk)),
            Some(_) => None,
        };
        loop {
            let is_watched = self.order.walls.machine.is_none() && !self.is_counted();
            let tick = if !is_watched && own.is_some() { SLOW_TICK } else { TICK };
            let left = limits.time.map(|time| time.saturating_sub(self.started.elapsed()));
            let wait = left.map_or(tick, |left| left.min(tick));
            let (is_over, is_unwanted) = pause(launcher, own.as_ref(), wait);
            if is_over || (own.is_none() && self.has_ended()) {
                return None;
            }
            if is_unwanted {
                return Some(Stop::Unwanted);
            }
            if limits.time.is_some_and(|time| self.started.elapsed() >= time) {
                return Some(Stop::At(Wall::Time));
            }
            let holders = || limits::descendants(rustix::process::getpid());
            if disk.as_mut().is_some_and(|disk| disk.is_over(holders)) {
                return Some(Stop::At(Wall::Disk));
            }
            if is_watched {
                let taken = self.taken();
                if taken.memory > limits.memory {
                    return Some(Stop::At(Wall::Memory));
                }
                if taken.tasks > limits.tasks {
                    return Some(Stop::At(Wall::Processes));
                }
            }
        }
    }

    /// Where nothing tells of the end of a process, it is asked for.
    fn has_ended(&self) -> bool {
        let options = rustix::process::WaitIdOptions::EXITED
            | rustix::process::WaitIdOptions::NOWAIT
            | rustix::process::WaitIdOptions::NOHANG;
        let id = rustix::process::WaitId::Pid(self.pid());
        rustix::process::waitid(id, options).is_ok_and(|status| status.is_some())
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// What the program and its family have.
    fn taken(&self) -> limits::Taken {
        match self.order.level {
            // Not the first process of the namespaces, which is none of theirs.
            Level::Namespaces => limits::taken_below(self.pid()),
            Level::Landlock | Level::None => limits::taken_below(rustix::process::getpid()),
        }
    }

    #[cfg(target_os = "linux")]
    fn is_counted(&self) -> bool {
        self.group.is_some()
    }

    #[cfg(not(target_os = "linux"))]
    fn is_counted(&self) -> bool {
        false
    }

    /// The wall that the program ended at by itself.
    fn wall_met(&self, end: RunEnd) -> Option<Wall> {
        #[cfg(target_os = "linux")]
        if let Some(group) = &self.group {
            if group.ran_out_of_memory() {
                return Some(Wall::Memory);
            }
            if group.ran_out_of_tasks() {
                return Some(Wall::Processes);
            }
        }
        (end == RunEnd::Signal(TOO_LARGE)).then_some(Wall::File)
    }

    fn peak(&self) -> u64 {
        #[cfg(target_os = "linux")]
        {
            use nix::sys::resource::{UsageWho, getrusage};
            let largest = getrusage(UsageWho::RUSAGE_CHILDREN).map(|used| used.max_rss());
            let largest = largest.ok().and_then(|kib| u64::try_from(kib).ok()).unwrap_or(0);
            self.group.as_ref().and_then(super::cgroup::Cgroup::peak).unwrap_or(largest * 1024)
        }
        #[cfg(not(target_os = "linux"))]
        0
    }

    /// Ends whatever is left of the run, and says how the program ended.
    fn end_all(&mut self) -> RunEnd {
        let reported = self.reported();
        // One signal for the whole group, or for the first process, with which all others end.
        let _ = rustix::process::kill_process_group(self.pid(), Signal::KILL);
        let _ = self.child.kill();
        let end = self.child.wait().map_or(RunEnd::Stopped, end_of);
        self.sweep();
        reported.unwrap_or(end)
    }

    /// What the first process of the namespaces reported at last.
    fn reported(&mut self) -> Option<RunEnd> {
        if self.order.level != Level::Namespaces || !self.has_ended() {
            return None;
        }
        match self.inside.receive() {
            Ok(Some(Answer::Ended(report))) => Some(report.end),
            Ok(_) | Err(_) => None,
        }
    }

    /// Ends what has left the group and was handed to this process.
    fn sweep(&self) {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            for pid in limits::descendants(rustix::process::getpid()) {
                if let Some(pid) = Pid::from_raw(pid) {
                    let _ = rustix::process::kill_process(pid, Signal::KILL);
                }
            }
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some(_)) => {}
                Ok(None) => _ = poll(&mut [], Some(&timespec(Duration::from_millis(1)))),
                // There is nobody left.
                Err(_) => return,
            }
        }
    }
}

/// Why a program is ended that has not ended by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    Unwanted,
    At(Wall),
}

/// Waits a moment: whether the program is over, and whether it is no longer wanted.
fn pause(launcher: &Channel, own: Option<&OwnedFd>, wait: Duration) -> (bool, bool) {
    let mut watched = vec![PollFd::new(launcher.socket(), PollFlags::IN)];
    watched.extend(own.map(|own| PollFd::new(own, PollFlags::IN)));
    // Interrupted or not, both are asked again soon.
    let _ = poll(&mut watched, Some(&timespec(wait)));
    let happened = |index: usize| watched.get(index).is_some_and(|one| !one.revents().is_empty());
    (happened(1), happened(0))
}

fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(time.subsec_nanos()),
    }
}

/// This program, also when its file was replaced meanwhile.
fn own_program() -> io::Result<std::path::PathBuf> {
    if cfg!(target_os = "linux") {
        return Ok("/proc/self/exe".into());
    }
    std::env::current_exe()
}
