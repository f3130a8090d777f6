//! What programs of this machine need to run at all.
//!
//! Owns the list. Nothing on it belongs to the person.

use std::path::{Path, PathBuf};

/// Where shared libraries lie, on systems of all kinds.
const LIBRARIES: &str = "/lib /lib32 /lib64 /usr/lib /usr/lib32 /usr/lib64 /usr/local/lib \
    /etc/ld.so.cache /nix/store /gnu/store";

/// Where programs lie, and what they look up.
const PROGRAMS: &str = "/bin /sbin /usr /opt /etc/alternatives /etc/ld.so.conf /etc/ld.so.conf.d \
    /etc/localtime /etc/mime.types /etc/ssl/certs /run/current-system/sw";

/// What a linked program reads to start.
pub fn libraries() -> impl Iterator<Item = PathBuf> {
    there(LIBRARIES)
}

/// What a shell, an interpreter or a compiler reads.
pub fn programs() -> impl Iterator<Item = PathBuf> {
    there(LIBRARIES).chain(there(PROGRAMS))
}

/// Folders of everybody that a program has of its own, or that hold ways to running programs.
const OWN: [&str; 5] = ["/dev", "/proc", "/run", "/tmp", "/lost+found"];

/// Everything below the root, but for what a program has of its own.
pub fn machine() -> impl Iterator<Item = PathBuf> {
    let all = std::fs::read_dir("/").into_iter().flatten().flatten();
    all.map(|entry| entry.path()).filter(|path| OWN.iter().all(|own| path != Path::new(own)))
}

/// Temporary folders that a build has one of its own in the place of.
pub(super) const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

fn there(paths: &'static str) -> impl Iterator<Item = PathBuf> {
    paths.split(' ').map(PathBuf::from).filter(|path| path.exists())
}
