//! Limits of the system on what one process takes, and how much a family of processes has taken.
//!
//! Owns resource limits and the counting where no control group counts. Reads `/proc`.

use std::fs;

use rustix::process::{Pid, Resource, Rlimit, setrlimit};

use super::walls::{Limits, WallFailure};

/// Descriptors that one process may have open.
const DESCRIPTORS: u64 = 1024;

/// Processes that are looked at, at most, when they are counted.
const MAX_COUNTED: usize = 4096;

/// Whether a control group counts memory and processes; then a single process needs no narrower
/// limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counted {
    ByGroup,
    ByProcess,
}

/// Puts the limits in force, for this process and all that it starts.
///
/// # Errors
/// When the system refuses one.
pub(super) fn apply(limits: &Limits, counted: Counted, others: u64) -> Result<(), WallFailure> {
    let mut all = vec![
        (Resource::Core, 0),
        (Resource::Fsize, limits.file),
        (Resource::Nofile, DESCRIPTORS),
        (Resource::Nproc, others.saturating_add(u64::from(limits.tasks))),
    ];
    if cfg!(target_os = "linux") {
        all.extend(kernel_objects());
    }
    if counted == Counted::ByProcess {
        all.push((Resource::Data, limits.memory));
        // Shared memory is not in the other one.
        all.push((Resource::As, limits.memory.saturating_mul(4).saturating_add(1 << 30)));
    }
    for (resource, most) in all {
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        setrlimit(resource, limit).map_err(WallFailure::at("limit what a process takes"))?;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn kernel_objects() -> Vec<(Resource, u64)> {
    vec![
        (Resource::Memlock, 1 << 20),
        (Resource::Msgqueue, 0),
        (Resource::Nice, 0),
        (Resource::Rtprio, 0),
        (Resource::Sigpending, 1024),
    ]
}

#[cfg(not(target_os = "linux"))]
fn kernel_objects() -> Vec<(Resource, u64)> {
    Vec::new()
}

/// Keeps this process, and all that it starts, on so many processors.
#[cfg(target_os = "linux")]
pub(super) fn stay_on(processors: usize) {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let Ok(allowed) = sched_getaffinity(None) else { return };
    let here = rustix::thread::sched_getcpu();
    let mut wanted = CpuSet::new();
    let from_here = (here..CpuSet::MAX_CPU).chain(0..here).filter(|cpu| allowed.is_set(*cpu));
    from_here.take(processors.max(1)).for_each(|cpu| wanted.set(cpu));
    // It takes what the scheduler gives it otherwise.
    let _ = sched_setaffinity(None, &wanted);
}

#[cfg(not(target_os = "linux"))]
pub(super) fn stay_on(_processors: usize) {}

/// What a family of processes has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Taken {
    pub tasks: u32,
    /// Memory that is no file's, in bytes.
    pub memory: u64,
}

/// What the descendants of a process have, without itself.
pub(super) fn taken_below(ancestor: Pid) -> Taken {
    let mut taken = Taken::default();
    for pid in descendants(ancestor) {
        let Ok(status) = fs::read_dir(format!("/proc/{pid}/task")) else { continue };
        taken.tasks = taken.tasks.saturating_add(u32::try_from(status.count()).unwrap_or(0));
        taken.memory = taken.memory.saturating_add(memory_of(pid));
    }
    taken
}

/// The processes below one, itself left out.
pub(super) fn descendants(ancestor: Pid) -> Vec<i32> {
    let mut found = children(ancestor.as_raw_nonzero().get());
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        next += 1;
        if found.len() < MAX_COUNTED {
            found.extend(children(pid));
        }
    }
    found
}

/// The tasks of this user; a limit of processes counts them all.
pub(super) fn tasks_of_user() -> u64 {
    let own = rustix::process::getuid().as_raw();
    let Ok(all) = fs::read_dir("/proc") else { return 0 };
    let mine = all.flatten().filter(|entry| {
        use std::os::unix::fs::MetadataExt;
        let is_process = entry.file_name().to_string_lossy().bytes().all(|b| b.is_ascii_digit());
        is_process && entry.metadata().is_ok_and(|found| found.uid() == own)
    });
    mine.map(|entry| fs::read_dir(entry.path().join("task")).map_or(0, Iterator::count) as u64)
        .sum()
}

fn children(pid: i32) -> Vec<i32> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists = tasks.flatten().filter_map(|task| small(&task.path().join("children")));
    lists
        .flat_map(|list| {
            list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()
        })
        .collect()
}

/// Private memory of a process in bytes.
fn memory_of(pid: i32) -> u64 {
    let Some(status) = small(format!("/proc/{pid}/status").as_ref()) else { return 0 };
    let kib = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    let of = |name| kib(name).unwrap_or(0);
    (of("RssAnon:") + of("RssShmem:") + of("VmSwap:")).saturating_mul(1024)
}

/// A file that the kernel makes when it is read.
fn small(path: &std::path::Path) -> Option<String> {
    crate::files::read_text(path, crate::files::SETTINGS).ok()
}
