//! Namespaces of its own for one run: users, mounts, processes, messages, names and network.
//!
//! Owns their making. [`leave`] is called in the process that then starts the first one of the new
//! namespaces, [`leave_mounts`] in that first one, which then builds its root.

use std::fs;
use std::io;

use nix::sched::{CloneFlags, unshare};
use rustix::process::{getegid, geteuid};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

use super::walls::{WallFailure, Walls};

/// Who the program is inside when it would be root.
const NOBODY_SPECIAL: u32 = 1000;

const MAKE: &str = "make namespaces";

/// What the first process inside needs to build its root and to give up the rest.
const NEEDED: [CapabilitySet; 4] = [
    CapabilitySet::SYS_ADMIN,
    CapabilitySet::NET_ADMIN,
    CapabilitySet::SETPCAP,
    CapabilitySet::DAC_OVERRIDE,
];

/// Leaves everybody's namespaces. The process that is started next is the first of the new ones.
///
/// # Errors
/// When the system does not allow it.
pub(super) fn leave(walls: &Walls) -> Result<(), WallFailure> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let mut own = CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWIPC;
    let failed = || WallFailure::at(MAKE);
    if walls.machine.is_none() {
        own |= CloneFlags::CLONE_NEWUTS | CloneFlags::CLONE_NEWNET;
    } else if user == 0 {
        // Root builds what belongs to others, too; among users of its own it could not.
        unshare(own).map_err(WallFailure::at(MAKE))?;
        return pass_on().map_err(failed());
    }
    match unshare(own | CloneFlags::CLONE_NEWUSER) {
        Ok(()) => {
            be_oneself("/proc/self/uid_map", user).map_err(failed())?;
            // Without it no group may be named.
            match write("/proc/self/setgroups", "deny") {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(WallFailure::new(MAKE, error));
                }
                Ok(()) | Err(_) => {}
            }
            be_oneself("/proc/self/gid_map", group).map_err(failed())?;
        }
        // Root needs no users of its own for the rest.
        Err(_) if user == 0 => unshare(own).map_err(WallFailure::at(MAKE))?,
        Err(error) => return Err(WallFailure::new(MAKE, error)),
    }
    pass_on().map_err(failed())
}

/// Leaves everybody's mounts. Only the first process inside does: who shares them with it would see
/// its root change too.
///
/// # Errors
/// When the system does not allow it.
pub(super) fn leave_mounts() -> Result<(), WallFailure> {
    unshare(CloneFlags::CLONE_NEWNS).map_err(WallFailure::at(MAKE))
}

/// Inside, the user is the same, and nobody where that would be root.
fn be_oneself(map: &str, id: u32) -> io::Result<()> {
    let inside = if id == 0 { NOBODY_SPECIAL } else { id };
    write(map, &format!("{inside} {id} 1"))
}

/// Lets the next program keep what it needs; whoever is not root loses it otherwise.
fn pass_on() -> io::Result<()> {
    let mut own = capabilities(None)?;
    let needed: CapabilitySet = NEEDED.into_iter().collect();
    own.inheritable |= needed & own.permitted;
    set_capabilities(None, own)?;
    for one in NEEDED {
        rustix::thread::configure_capability_in_ambient_set(one, true)?;
    }
    Ok(())
}

/// What a build by root keeps of its rights: those over files. What it must not reach is not there.
const OVER_FILES: [CapabilitySet; 5] = [
    CapabilitySet::CHOWN,
    CapabilitySet::DAC_OVERRIDE,
    CapabilitySet::FOWNER,
    CapabilitySet::FSETID,
    CapabilitySet::KILL,
];

/// Gives up every right that is more than an ordinary user's, for good; a build by root keeps those
/// over files.
///
/// # Errors
/// When the system refuses.
pub(super) fn give_up_rights(walls: &Walls) -> Result<(), WallFailure> {
    let is_roots = walls.machine.is_some() && geteuid().is_root();
    let kept: CapabilitySet = OVER_FILES.into_iter().filter(|_| is_roots).collect();
    let failed = || WallFailure::at("give up rights");
    rustix::thread::set_no_new_privs(true).map_err(failed())?;
    let may_bound =
        capabilities(None).is_ok_and(|own| own.effective.contains(CapabilitySet::SETPCAP));
    for bit in 0..u64::BITS {
        let one = CapabilitySet::from_bits_retain(1 << bit);
        // The first that the kernel does not know ends the list.
        if !kept.contains(one)
            && may_bound
            && rustix::thread::remove_capability_from_bounding_set(one).is_err()
        {
            break;
        }
    }
    rustix::thread::clear_ambient_capability_set().map_err(failed())?;
    let kept = kept & capabilities(None).map_err(failed())?.permitted;
    let left = rustix::thread::CapabilitySets {
        effective: kept,
        permitted: kept,
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, left).map_err(failed())
}

fn write(file: &str, text: &str) -> io::Result<()> {
    #[expect(clippy::disallowed_methods, reason = "who is who inside, told to the kernel")]
    fs::write(file, text)
}
