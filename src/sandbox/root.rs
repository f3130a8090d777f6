//! The root of a run with namespaces of its own: what the program may read, read-only; what it may
//! write; a fresh `/tmp`; a `/proc` of its own; a `/dev` with nothing in it but what holds nothing.
//!
//! Owns the mounts. Must be called by the first process of the namespaces, before it gives up rights.

#![expect(clippy::disallowed_methods, reason = "a new root is made of new folders")]

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

use nix::libc;
use rustix::fs::StatVfsMountFlags;
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind_recursive, mount_change,
    mount_remount, unmount,
};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use super::landlock_rules::DEVICES;
use super::places::TEMPORARY;
use super::walls::{WallFailure, Walls};
use crate::files;

/// Where everybody's root is seen while the new one is made.
const OLD: &str = "/.old";

/// Folders that a root can be laid over, the first that is there.
const PLACES: [&str; 4] = ["/tmp", "/var", "/run", "/usr"];

/// What programs ask about names.
const NAMES: [(&str, &str); 3] = [
    ("etc/hosts", "127.0.0.1 localhost\n::1 localhost\n"),
    ("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n"),
    ("etc/host.conf", "multi on\n"),
];

/// Entries that a folder may have to be shown one by one; in a larger one, what is hidden is covered.
const MOST_LISTED: usize = 1000;

/// An empty file, for those that are hidden.
const EMPTY: &str = "/.empty";

/// Where a folder whose entries are shown one by one is read-only as a whole for that moment.
const STAGE: &str = "/.stage";

/// Builds the root and goes there; whether it has a `/proc`.
///
/// # Errors
/// When a mount is refused; nothing may be run then.
pub(super) fn build_root(walls: &Walls) -> Result<bool, WallFailure> {
    let failed = |what: &'static str| WallFailure::at(what);
    let size = walls.machine.is_none().then_some((walls.limits.memory / 2).max(1 << 20));
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(io::Error::from)
        .map_err(failed("begin a root of its own"))?;
    let mounts = mounts().map_err(failed("list what is mounted"))?;
    enter_empty().map_err(failed("begin a root of its own"))?;
    if let Some(size) = size {
        fresh("/tmp", Some(size)).map_err(failed("mount /tmp"))?;
    }
    devices(size).map_err(failed("make /dev"))?;
    let all = plan(walls);
    for (path, shown) in &all {
        let shown = match shown {
            RootEntry::Hidden => hide(path),
            RootEntry::Listed => show_listed(path, walls, &mounts),
            RootEntry::Temporary(folder) => replace(path, folder),
            RootEntry::As(rights) => show(path, *rights, &mounts),
        };
        shown.map_err(|error| named(path, &error))?;
    }
    let is_closed = |shown: &RootEntry<'_>| matches!(shown, RootEntry::Hidden | RootEntry::Listed);
    for (path, _) in all.iter().filter(|(_, shown)| is_closed(shown)) {
        close(path).map_err(|error| named(path, &error))?;
    }
    let has_proc = own_proc(walls);
    match walls.machine {
        Some(_) if !has_proc => return Err(WallFailure::new("mount /proc", "it is refused")),
        Some(_) => {}
        None => {
            names().map_err(failed("write /etc"))?;
            network().map_err(failed("bring up the loopback"))?;
            let _ = rustix::system::sethostname(b"sandbox");
        }
    }
    leave_old().map_err(failed("leave everybody's root"))?;
    Ok(has_proc)
}

/// How a path of the new root is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RootEntry<'a> {
    As(Rights),
    /// Nothing of it is there.
    Hidden,
    /// What is in it now, each by itself, but for what is hidden: what comes later is not seen.
    Listed,
    /// That folder in its place.
    Temporary(&'a Path),
}

/// What is to be made, outer folders before what is in them; the innermost says how it is. Within
/// what is hidden only that is shown which may be written, and what is in it.
fn plan(walls: &Walls) -> Vec<(PathBuf, RootEntry<'_>)> {
    let hidden = walls.machine.iter().flat_map(|machine| &machine.hidden);
    let hidden: Vec<&PathBuf> = hidden.filter(|path| !walls.writes.contains(path)).collect();
    let is_kept = |path: &PathBuf| {
        let around = hidden.iter().filter(|hidden| path.starts_with(hidden)).max();
        around.is_none_or(|hidden| {
            walls.writes.iter().any(|write| path.starts_with(write) && write.starts_with(hidden))
        })
    };
    let mut all = BTreeMap::new();
    let reads = walls.reads.iter().filter(|path| is_kept(path));
    all.extend(reads.map(|path| (path.clone(), RootEntry::As(Rights::Read))));
    all.extend(walls.writes.iter().map(|path| (path.clone(), RootEntry::As(Rights::Write))));
    if let Some(machine) = &walls.machine {
        let folder = RootEntry::Temporary(&machine.temporary);
        all.extend(TEMPORARY.map(|path| (PathBuf::from(path), folder)));
        all.extend(hidden.iter().map(|path| ((*path).clone(), RootEntry::Hidden)));
        all.extend(listed(walls, &hidden).map(|path| (path.to_owned(), RootEntry::Listed)));
    }
    let mut plan: Vec<(PathBuf, RootEntry<'_>)> = Vec::new();
    for (path, shown) in all {
        // A folder comes with what is in it.
        let around = plan.iter().rev().find(|(around, _)| path.starts_with(around));
        // What is listed shows folders in it as a whole.
        if shown == RootEntry::Listed || around.is_none_or(|(_, around)| *around != shown) {
            plan.push((path, shown));
        }
    }
    plan
}

/// The folders around hidden files, and around what is hidden when it comes: a file that is covered is
/// seen again when another one takes its place.
fn listed<'a>(walls: &'a Walls, hidden: &'a [&PathBuf]) -> impl Iterator<Item = &'a Path> {
    let around = hidden.iter().filter(|path| !is_folder(path)).filter_map(|path| path.parent());
    around.filter(|folder| {
        let is_shown = walls.reads.iter().any(|read| folder.starts_with(read));
        let is_written = walls.writes.iter().any(|write| folder.starts_with(write));
        let is_hidden = hidden.iter().any(|hidden| folder.starts_with(hidden));
        let is_small = || fs::read_dir(old(folder)).is_ok_and(|all| all.count() <= MOST_LISTED);
        folder.parent().is_some() && is_shown && !is_written && !is_hidden && is_small()
    })
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(old(path)).is_ok_and(|found| found.is_dir())
}

/// Shows what is in a folder, each by itself. All of it is bound and made read-only once; what is bound
/// from there is read-only already, which spares two thirds of the time where entries are many.
fn show_listed(path: &Path, walls: &Walls, mounts: &[PathBuf]) -> io::Result<()> {
    let hidden = walls.machine.iter().flat_map(|machine| &machine.hidden);
    let hidden: Vec<&PathBuf> = hidden.collect();
    let stage = Path::new(STAGE);
    fs::create_dir_all(stage)?;
    mount_bind_recursive(old(path), stage)?;
    restrict(stage, Rights::Read)?;
    let below = mounts.iter().filter_map(|place| Some((place, place.strip_prefix(path).ok()?)));
    for (_, below) in below.filter(|(place, _)| *place != path) {
        reached(restrict(&stage.join(below), Rights::Read))?;
    }
    fs::create_dir_all(path)?;
    tmpfs(path, "mode=755,size=4m")?;
    for entry in fs::read_dir(stage)? {
        let name = entry?.file_name();
        let entry = path.join(&name);
        if walls.writes.contains(&entry) || hidden.contains(&&entry) {
            continue;
        }
        let staged = stage.join(name);
        reached(place(&staged, &entry).and_then(|is_mount| match is_mount {
            true => Ok(mount_bind_recursive(&staged, &entry)?),
            false => Ok(()),
        }))?;
    }
    unmount(STAGE, UnmountFlags::DETACH)?;
    fs::remove_dir(STAGE)
}

/// What this process does not reach, the program does not reach either.
fn reached(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if !is_out_of_reach(error.raw_os_error()) => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn named(path: &Path, error: &io::Error) -> WallFailure {
    WallFailure::new(format!("show {} to the program", path.display()), error)
}

/// Makes an empty root the root, with everybody's below [`OLD`].
fn enter_empty() -> io::Result<()> {
    let place = PLACES.into_iter().find(|place| Path::new(place).is_dir()).unwrap_or("/tmp");
    tmpfs(Path::new(place), "mode=755,size=1m")?;
    fs::create_dir(format!("{place}{OLD}"))?;
    rustix::process::pivot_root(place, format!("{place}{OLD}").as_str())?;
    std::env::set_current_dir("/")
}

fn leave_old() -> io::Result<()> {
    unmount(OLD, UnmountFlags::DETACH)?;
    fs::remove_dir(OLD)?;
    let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV | MountFlags::BIND;
    Ok(mount_remount("/", flags, "")?)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rights {
    Read,
    Write,
}

/// Puts a path of everybody's root at the same place in this one.
fn show(path: &Path, rights: Rights, mounts: &[PathBuf]) -> io::Result<()> {
    let source = old(path);
    match place(&source, path)? {
        true => bind(&source, path, rights, mounts),
        false => Ok(()),
    }
}

/// Makes what `source` is bound to; whether there is something to bind: links are copied.
fn place(source: &Path, path: &Path) -> io::Result<bool> {
    let Ok(found) = fs::symlink_metadata(source) else { return Ok(false) };
    if found.is_symlink() {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        return match symlink(fs::read_link(source)?, path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            Ok(()) | Err(_) => Ok(false),
        };
    }
    if found.is_dir() {
        fs::create_dir_all(path)?;
    } else if !path.exists() {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, "")?;
    }
    Ok(true)
}

/// Binds `source`, which everybody knows as `path`, there.
fn bind(source: &Path, path: &Path, rights: Rights, mounts: &[PathBuf]) -> io::Result<()> {
    mount_bind_recursive(source, path)?;
    restrict(path, rights)?;
    // Mounts come along with a folder.
    let below = mounts.iter().filter(|place| *place != path && place.starts_with(path));
    below.into_iter().try_for_each(|below| reached(restrict(below, rights)))
}

const fn is_out_of_reach(code: Option<i32>) -> bool {
    matches!(code, Some(libc::EACCES | libc::ENOENT | libc::ENOTCONN | libc::ESTALE))
}

/// Puts a folder in the place of another one, which some systems do not have.
fn replace(path: &Path, folder: &Path) -> io::Result<()> {
    match fs::create_dir_all(path) {
        Ok(()) => bind(&old(folder), path, Rights::Write, &[]),
        Err(_) => Ok(()),
    }
}

/// Puts something empty in the place of a file or a folder, if there is one.
fn hide(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => tmpfs(path, "mode=755,size=1m"),
        // What it leads to is hidden by itself.
        Ok(found) if found.is_symlink() => Ok(()),
        Ok(_) => {
            fs::write(EMPTY, "")?;
            Ok(mount_bind_recursive(EMPTY, path)?)
        }
        // What is shown within it needs a place; where none can be made, nothing of it is seen.
        Err(_) if is_folder(path) && fs::create_dir_all(path).is_ok() => {
            tmpfs(path, "mode=755,size=1m")
        }
        Err(_) => Ok(()),
    }
}

/// Nothing is written to what is hidden, now that all that is shown within it is there.
fn close(path: &Path) -> io::Result<()> {
    match path.exists() {
        true => restrict(path, Rights::Read),
        false => Ok(()),
    }
}

/// No device and no program with another user's rights works there, and nothing is written where
/// that is not allowed.
fn restrict(path: &Path, rights: Rights) -> io::Result<()> {
    let mut flags = MountFlags::BIND | MountFlags::NOSUID | MountFlags::NODEV;
    if rights == Rights::Read {
        flags |= MountFlags::RDONLY;
    }
    // What was forbidden stays forbidden; the kernel insists.
    let found = rustix::fs::statvfs(path)?.f_flag;
    let kept = [
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
        (StatVfsMountFlags::RDONLY, MountFlags::RDONLY),
    ];
    flags.extend(kept.into_iter().filter(|(set, _)| found.contains(*set)).map(|(_, keep)| keep));
    Ok(mount_remount(path, flags, "")?)
}

/// Where something is mounted in everybody's root, which no longer changes.
///
/// # Errors
/// When they cannot be listed: then nobody knows what may be written there.
fn mounts() -> io::Result<Vec<PathBuf>> {
    let text = files::read_text(Path::new("/proc/self/mountinfo"), files::BUILD_FACTS)?;
    Ok(text.lines().filter_map(|line| line.split(' ').nth(4)).map(unescaped).collect())
}

/// Spaces and the like are written in octal there.
fn unescaped(text: &str) -> PathBuf {
    let mut plain = text.to_owned();
    for (code, meant) in [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")] {
        plain = plain.replace(code, meant);
    }
    PathBuf::from(plain)
}

fn old(path: &Path) -> PathBuf {
    let below: PathBuf =
        path.components().filter(|part| matches!(part, Component::Normal(_))).collect();
    Path::new(OLD).join(below)
}

fn names() -> io::Result<()> {
    fs::create_dir_all("/etc")?;
    let (user, group) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    let passwd = format!("sandbox:x:{user}:{group}::/tmp:/bin/sh\n");
    fs::write("/etc/passwd", passwd)?;
    fs::write("/etc/group", format!("sandbox:x:{group}:\n"))?;
    NAMES.iter().try_for_each(|(name, text)| fs::write(Path::new("/").join(name), text))
}

fn devices(size: Option<u64>) -> io::Result<()> {
    for device in DEVICES {
        fs::create_dir_all("/dev")?;
        fs::write(device, "")?;
        mount_bind_recursive(old(Path::new(device)), device)?;
    }
    for (name, target) in [
        ("/dev/fd", "/proc/self/fd"),
        ("/dev/stdin", "/proc/self/fd/0"),
        ("/dev/stdout", "/proc/self/fd/1"),
        ("/dev/stderr", "/proc/self/fd/2"),
    ] {
        symlink(target, name)?;
    }
    fresh("/dev/shm", size)
}

/// A folder of its own, in memory.
fn fresh(path: &str, size: Option<u64>) -> io::Result<()> {
    fs::create_dir_all(path)?;
    let bounds = size.map(|size| format!(",size={size},nr_inodes=16k")).unwrap_or_default();
    tmpfs(Path::new(path), &format!("mode=1777{bounds}"))
}

fn tmpfs(place: &Path, options: &str) -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    let options = CString::new(options)?;
    Ok(mount("tmpfs", place, "tmpfs", flags, options.as_c_str())?)
}

/// Mounts a `/proc` that shows the processes inside and, but to builds, nothing of the machine; in some
/// containers it cannot be had, and the program does without.
fn own_proc(walls: &Walls) -> bool {
    if fs::create_dir_all("/proc").is_err() {
        return false;
    }
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::RDONLY;
    // Tools that build ask how many processors and how much memory there are.
    let options = walls.machine.is_none().then_some(c"subset=pid");
    mount("proc", "/proc", "proc", flags, options).is_ok()
}

/// Brings up the loopback of the new network: the message `RTM_NEWLINK` for interface 1 with the
/// flag `IFF_UP`. Source: rtnetlink(7).
fn network() -> io::Result<()> {
    let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
    let kernel = socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
    let mut message = Vec::with_capacity(32);
    message.extend(32_u32.to_ne_bytes());
    message.extend(16_u16.to_ne_bytes());
    message.extend(1_u16.to_ne_bytes());
    message.extend([0; 8]);
    message.extend([0; 4]);
    message.extend(1_u32.to_ne_bytes());
    message.extend(1_u32.to_ne_bytes());
    message.extend(1_u32.to_ne_bytes());
    rustix::io::write(&kernel, &message)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_mounts_are_read_as_they_are_written() {
        assert_eq!(unescaped("/mnt/my\\040disk\\134x"), PathBuf::from("/mnt/my disk\\x"));
        assert_eq!(old(Path::new("/usr/lib")), PathBuf::from("/.old/usr/lib"));
    }
}
