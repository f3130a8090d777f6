//! A control group of its own for one run, where one can be had: counts the memory and the processes
//! of the whole family.
//!
//! Owns the group's folder from its making to its removal. Both versions of control groups; a place
//! that may be written is looked for from this process's own group upwards.

#![expect(clippy::disallowed_methods, reason = "a control group is made by making a folder")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::walls::Limits;
use crate::files;

/// Beginning of the names of groups that are made here; the maker's number follows.
const NAME: &str = "firmhand-run-";

/// The group of one run. Dropping it removes its folders, which are empty when the run is over.
#[derive(Debug)]
pub(super) struct Cgroup {
    /// The folder of each kind of counting, or the one folder for all.
    folders: Vec<PathBuf>,
    memory: PathBuf,
    tasks: PathBuf,
    version: Version,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl Cgroup {
    /// Makes one with these limits; `None` where none can be had.
    pub(super) fn make(limits: &Limits) -> Option<Self> {
        let own = files::read_text(Path::new("/proc/self/cgroup"), files::SETTINGS).ok()?;
        let mounts = files::read_text(Path::new("/proc/self/mounts"), files::SETTINGS).ok()?;
        let name = format!("{NAME}{}", std::process::id());
        Self::second(&own, &mounts, &name, limits)
            .or_else(|| Self::first(&own, &mounts, &name, limits))
    }

    fn second(own: &str, mounts: &str, name: &str, limits: &Limits) -> Option<Self> {
        let mount = mount_of(mounts, "cgroup2", None)?;
        let within = own.lines().find_map(|line| line.strip_prefix("0::"))?;
        let parent = upwards(&mount, within).find(|folder| {
            let given = small(&folder.join("cgroup.subtree_control")).unwrap_or_default();
            let has = |kind: &str| given.split_whitespace().any(|word| word == kind);
            has("memory") && has("pids") && may_write(folder)
        })?;
        let folder = made(&parent, name)?;
        let group = Self {
            folders: vec![folder.clone()],
            memory: folder.clone(),
            tasks: folder,
            version: Version::Two,
        };
        group.set(&group.memory, "memory.max", limits.memory).ok()?;
        // Not everywhere there.
        let _ = group.set(&group.memory, "memory.swap.max", 0);
        let _ = group.set(&group.memory, "memory.oom.group", 1);
        group.set(&group.tasks, "pids.max", u64::from(limits.tasks)).ok()?;
        Some(group)
    }

    fn first(own: &str, mounts: &str, name: &str, limits: &Limits) -> Option<Self> {
        let make = |kind: &str| {
            let mount = mount_of(mounts, "cgroup", Some(kind))?;
            let within = own.lines().find_map(|line| {
                let (kinds, path) = line.split_once(':')?.1.split_once(':')?;
                kinds.split(',').any(|one| one == kind).then_some(path)
            })?;
            let parent = upwards(&mount, within).find(|folder| may_write(folder))?;
            made(&parent, name)
        };
        let memory = make("memory")?;
        let mut group = Self {
            folders: vec![memory.clone()],
            memory: memory.clone(),
            tasks: memory,
            version: Version::One,
        };
        let tasks = make("pids")?;
        if !group.folders.contains(&tasks) {
            group.folders.push(tasks.clone());
        }
        group.tasks = tasks;
        group.set(&group.memory, "memory.limit_in_bytes", limits.memory).ok()?;
        // Memory and swap together; not everywhere there.
        let _ = group.set(&group.memory, "memory.memsw.limit_in_bytes", limits.memory);
        group.set(&group.tasks, "pids.max", u64::from(limits.tasks)).ok()?;
        Some(group)
    }

    /// Puts a process in it, with all that it starts from now on.
    pub(super) fn add(&self, pid: u32) -> io::Result<()> {
        self.folders.iter().try_for_each(|folder| self.set(folder, "cgroup.procs", u64::from(pid)))
    }

    /// The most memory it had, in bytes.
    pub(super) fn peak(&self) -> Option<u64> {
        let name = match self.version {
            Version::One => "memory.max_usage_in_bytes",
            Version::Two => "memory.peak",
        };
        small(&self.memory.join(name))?.trim().parse().ok()
    }

    /// Whether the kernel ended a process of it for want of memory.
    pub(super) fn ran_out_of_memory(&self) -> bool {
        let (file, key) = match self.version {
            Version::One => ("memory.oom_control", "oom_kill "),
            Version::Two => ("memory.events", "oom_kill "),
        };
        counted(&self.memory.join(file), key) > 0
    }

    /// Whether a process could not be started because there were too many.
    pub(super) fn ran_out_of_tasks(&self) -> bool {
        counted(&self.tasks.join("pids.events"), "max ") > 0
    }

    fn set(&self, folder: &Path, file: &str, value: u64) -> io::Result<()> {
        fs::write(folder.join(file), value.to_string())
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // The last process may not be gone altogether; then the next run clears it up.
        for folder in &self.folders {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Makes the folder, after clearing up those whose makers are gone.
fn made(parent: &Path, name: &str) -> Option<PathBuf> {
    for entry in fs::read_dir(parent).ok()?.flatten() {
        let other = entry.file_name();
        let maker = other.to_str().and_then(|other| other.strip_prefix(NAME));
        if maker.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            // One with processes in it cannot be removed.
            let _ = fs::remove_dir(entry.path());
        }
    }
    let folder = parent.join(name);
    fs::create_dir(&folder).ok()?;
    Some(folder)
}

/// The group's own folder, then those around it.
fn upwards(mount: &Path, within: &str) -> impl Iterator<Item = PathBuf> {
    let own = mount.join(within.trim_start_matches('/'));
    let top = mount.to_owned();
    let folders: Vec<PathBuf> =
        own.ancestors().take_while(|folder| folder.starts_with(&top)).map(Path::to_owned).collect();
    folders.into_iter().filter(|folder| folder.is_dir())
}

/// Whether groups can be made there and processes put in them.
fn may_write(folder: &Path) -> bool {
    let writable = |path: &Path| rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
    writable(folder) && writable(&folder.join("cgroup.procs"))
}

/// Where the control groups of that kind are mounted.
fn mount_of(mounts: &str, system: &str, kind: Option<&str>) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let mut words = line.split(' ');
        let (_, place, found, options) =
            (words.next()?, words.next()?, words.next()?, words.next()?);
        let fits = kind.is_none_or(|kind| options.split(',').any(|option| option == kind));
        (found == system && fits).then(|| PathBuf::from(place))
    })
}

fn counted(file: &Path, key: &str) -> u64 {
    let text = small(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

fn small(path: &Path) -> Option<String> {
    files::read_text(path, files::SETTINGS).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_of_both_versions_are_found() {
        let mounts = "proc /proc proc rw 0 0\n\
            cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0\n\
            cgroup /sys/fs/cgroup/pids cgroup rw,relatime,pids 0 0\n\
            cgroup2 /sys/fs/cgroup/unified cgroup2 rw,nsdelegate 0 0\n";
        let found = |system, kind| mount_of(mounts, system, kind);
        assert_eq!(found("cgroup", Some("pids")), Some("/sys/fs/cgroup/pids".into()));
        assert_eq!(found("cgroup2", None), Some("/sys/fs/cgroup/unified".into()));
        assert_eq!(found("cgroup", Some("cpuset")), None);
    }

    #[test]
    fn a_place_that_may_be_written_is_looked_for_upwards() {
        let top = tempfile::tempdir().unwrap();
        let user = top.path().join("user.slice/user@1000.service");
        let own = user.join("app.slice/terminal.scope");
        fs::create_dir_all(&own).unwrap();
        for folder in [&own, &user] {
            fs::write(folder.join("cgroup.procs"), "").unwrap();
        }
        fs::write(user.join("cgroup.subtree_control"), "cpu memory pids\n").unwrap();
        let mounts = format!("cgroup2 {} cgroup2 rw 0 0\n", top.path().display());
        let line = "0::/user.slice/user@1000.service/app.slice/terminal.scope\n";
        let limits = Limits { memory: 4096, tasks: 7, ..Limits::default() };
        let group = Cgroup::second(line, &mounts, "firmhand-run-1", &limits).unwrap();
        assert_eq!(group.memory, user.join("firmhand-run-1"));
        group.add(42).unwrap();
        let read = |name: &str| fs::read_to_string(group.memory.join(name)).unwrap();
        assert_eq!((read("memory.max"), read("pids.max")), ("4096".into(), "7".into()));
        assert_eq!(read("cgroup.procs"), "42");
        fs::write(group.memory.join("memory.events"), "max 3\noom_kill 1\n").unwrap();
        fs::write(group.memory.join("pids.events"), "max 0\n").unwrap();
        assert!(group.ran_out_of_memory() && !group.ran_out_of_tasks());
    }
}
