//! The system calls that a program within the walls may not make.
//!
//! Owns the lists and their reasons. A call on them fails with `EPERM`, so that a program notices
//! and goes on; `clone3` is said to be missing, because a filter cannot look at what it asks for, and
//! every C library then asks `clone`.

use std::collections::BTreeMap;

use nix::libc;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch,
};

use super::walls::{Level, WallFailure};

/// What a program sees and reaches of others, of the kernel and of the machine.
const DENIED: &[i64] = &[
    // other processes
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    // mounts and namespaces
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_unshare,
    // files by other ways than their paths
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_acct,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    // keys
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // wide doors into the kernel
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_memfd_secret,
    libc::SYS_lookup_dcookie,
    libc::SYS_nfsservctl,
    // the machine
    libc::SYS_reboot,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    libc::SYS_personality,
    libc::SYS_mbind,
    libc::SYS_set_mempolicy,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    // lifting its own limit of processors
    libc::SYS_sched_setaffinity,
];

#[cfg(target_arch = "x86_64")]
const DENIED_HERE: &[i64] =
    &[libc::SYS_kexec_file_load, libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt];
#[cfg(not(target_arch = "x86_64"))]
const DENIED_HERE: &[i64] = &[];

/// Where no namespaces stand between: what Landlock does not restrict, and reaches others by their
/// number or their name.
const DENIED_WITHOUT_NAMESPACES: &[i64] = &[
    // who owns a file, who may use it, what it is labelled with, and when it was changed
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
    // memory and messages that are shared by name
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // leaving the group that is ended as one
    libc::SYS_setsid,
    libc::SYS_setpgid,
    // how other processes run
    libc::SYS_setpriority,
    libc::SYS_ioprio_set,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_process_mrelease,
];

/// All of the network, there as well: what is reached is not told apart by address.
const NETWORK: &[i64] = &[libc::SYS_socket];

#[cfg(target_arch = "x86_64")]
const DENIED_WITHOUT_NAMESPACES_HERE: &[i64] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
const DENIED_WITHOUT_NAMESPACES_HERE: &[i64] = &[];

/// Signals, where neither namespaces nor Landlock keep them inside: only to itself.
const SIGNALS: &[i64] = &[libc::SYS_kill, libc::SYS_tgkill, libc::SYS_rt_tgsigqueueinfo];
const SIGNALS_ANY: &[i64] =
    &[libc::SYS_tkill, libc::SYS_rt_sigqueueinfo, libc::SYS_pidfd_send_signal];

// Newer than what `libc` names everywhere. Source: include/uapi/asm-generic/unistd.h of Linux.
const FCHMODAT2: i64 = 452;
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;

/// Requests of terminals: typing in the person's place, and changing what a terminal is.
const IOCTLS: [u64; 4] = [0x5412, 0x541c, 0x541d, 0x5423];

/// New namespaces, asked for with a new process.
const NAMESPACES: [u64; 7] =
    [0x2_0000, 0x200_0000, 0x400_0000, 0x800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000];

/// Calls of the x32 interface have the same numbers with this bit.
#[cfg(target_arch = "x86_64")]
const X32: i64 = 0x4000_0000;

/// Families of sockets: unix, which stays within a network and a root of one's own; IPv4 and IPv6; and
/// netlink for what interfaces there are.
const UNIX: u64 = 1;
const FAMILIES: [u64; 2] = [2, 10];
const NETLINK: u64 = 16;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// What the filter depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FilterFor {
    pub level: Level,
    /// Whether Landlock keeps signals inside.
    pub are_signals_kept: bool,
    /// Whether the program sees the files of the machine, among which sockets of other programs are:
    /// no wall of files keeps it from connecting to them.
    pub sees_machine: bool,
    /// The process whose program is about to be run.
    pub own: u32,
}

/// Puts the filters in force, for this process and all that it starts.
///
/// # Errors
/// When the system has no filters, or knows none for this kind of processor.
pub(super) fn apply(filter: FilterFor) -> Result<(), WallFailure> {
    let failed = || WallFailure::at("filter system calls (seccomp)");
    for program in programs(filter).map_err(WallFailure::at("filter system calls"))? {
        seccompiler::apply_filter(&program).map_err(failed())?;
    }
    Ok(())
}

fn programs(filter: FilterFor) -> Result<Vec<BpfProgram>, BackendError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let denied = |rules: Rules, code: i32| {
        let code = u32::try_from(code).unwrap_or_default();
        SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(code), arch)
            .and_then(BpfProgram::try_from)
    };
    let all = |calls: &[i64]| with_x32(calls.iter().map(|call| (*call, Vec::new())).collect());
    let mut programs = vec![
        denied(with_x32(rules(filter)?), libc::EPERM)?,
        denied(all(&[libc::SYS_clone3]), libc::ENOSYS)?,
    ];
    if filter.level != Level::Namespaces {
        // As in a network of one's own without a way out, so that programs say what is wrong.
        programs.push(denied(all(NETWORK), libc::ENETUNREACH)?);
    }
    Ok(programs)
}

fn rules(filter: FilterFor) -> Result<Rules, BackendError> {
    let mut rules = Rules::new();
    let mut deny = |calls: &[i64]| rules.extend(calls.iter().map(|call| (*call, Vec::new())));
    deny(DENIED);
    deny(DENIED_HERE);
    if filter.level != Level::Namespaces {
        deny(DENIED_WITHOUT_NAMESPACES);
        deny(DENIED_WITHOUT_NAMESPACES_HERE);
    }
    let mut when = |call: i64, all: &[&[SeccompCondition]]| -> Result<(), BackendError> {
        let chain: Result<Vec<_>, _> =
            all.iter().map(|conditions| SeccompRule::new(conditions.to_vec())).collect();
        rules.insert(call, chain?);
        Ok(())
    };
    let ioctls = of_each(&IOCTLS, |number| is(1, number))?;
    when(libc::SYS_ioctl, &slices(&ioctls))?;
    let spaces = of_each(&NAMESPACES, |bit| flag(0, bit))?;
    when(libc::SYS_clone, &slices(&spaces))?;
    if filter.level == Level::Namespaces {
        let unix = (!filter.sees_machine).then_some(UNIX);
        let allowed = FAMILIES.into_iter().chain([NETLINK]).chain(unix);
        let others: Vec<_> = allowed.map(|family| is_not(0, family)).collect::<Result<_, _>>()?;
        let routes = [is(0, NETLINK)?, is_not(2, 0)?];
        when(libc::SYS_socket, &[&others, &routes])?;
        // The kernel's own encryption is a door of its own, and so are raw packets.
        return Ok(rules);
    }
    // Limits of other processes.
    when(libc::SYS_prlimit64, &[&[is_not(0, 0)?]])?;
    if !filter.are_signals_kept {
        for call in SIGNALS {
            when(*call, &[&[is_not(0, u64::from(filter.own))?, is_not(0, 0)?]])?;
        }
        for call in SIGNALS_ANY {
            rules.insert(*call, Vec::new());
        }
    }
    Ok(rules)
}

#[cfg(target_arch = "x86_64")]
fn with_x32(rules: Rules) -> Rules {
    let others: Rules = rules.iter().map(|(call, rules)| (call | X32, rules.clone())).collect();
    rules.into_iter().chain(others).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn with_x32(rules: Rules) -> Rules {
    rules
}

fn of_each(
    values: &[u64],
    condition: impl Fn(u64) -> Result<SeccompCondition, BackendError>,
) -> Result<Vec<[SeccompCondition; 1]>, BackendError> {
    values.iter().map(|value| condition(*value).map(|condition| [condition])).collect()
}

fn slices(conditions: &[[SeccompCondition; 1]]) -> Vec<&[SeccompCondition]> {
    conditions.iter().map(|one| one.as_slice()).collect()
}

/// The kernel takes these arguments as 32 bits and leaves the others unread.
fn is(argument: u8, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

fn is_not(argument: u8, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value)
}

fn flag(argument: u8, bit: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(bit), bit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_can_be_made() {
        for level in [Level::Namespaces, Level::Landlock] {
            for are_signals_kept in [true, false] {
                for sees_machine in [true, false] {
                    let filter = FilterFor { level, are_signals_kept, sees_machine, own: 7 };
                    let programs = programs(filter).unwrap();
                    assert_eq!(programs.len(), if level == Level::Namespaces { 2 } else { 3 });
                    // The kernel takes at most 4096 instructions.
                    let (denied, others) = programs.split_first().unwrap();
                    assert!((100..4096).contains(&denied.len()), "{}", denied.len());
                    assert!(others.iter().all(|program| program.len() < 40));
                }
            }
        }
    }

    #[test]
    fn signals_stay_inside_by_one_way_or_the_other() {
        let kept = |are_signals_kept| {
            let (level, sees_machine) = (Level::Landlock, false);
            let filter = FilterFor { level, are_signals_kept, sees_machine, own: 7 };
            rules(filter).unwrap().contains_key(&libc::SYS_kill)
        };
        assert!(kept(false) && !kept(true));
    }
}
