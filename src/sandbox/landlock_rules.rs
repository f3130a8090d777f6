//! What Landlock lets a program read, write and reach.
//!
//! Owns the rules. Asks for everything this version of the crate knows; the kernel gives what it has.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

use super::walls::{Level, WallFailure, Walls};

/// What is asked for; a kernel without it leaves it out.
const ASKED: ABI = ABI::V6;

/// Signals and abstract sockets are kept inside from this version on.
pub(super) const SCOPES: u32 = 6;

/// Devices that hold nothing.
pub(super) const DEVICES: [&str; 5] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Puts the rules in force, for this process and all that it starts; the version of Landlock that
/// they are held by, 0 where there is none.
///
/// # Errors
/// When the kernel has Landlock and refuses the rules.
pub(super) fn apply(level: Level, walls: &Walls) -> Result<u32, WallFailure> {
    let status = match level {
        Level::Namespaces => inside(walls),
        Level::Landlock => outside(walls),
        Level::None => return Ok(0),
    };
    status.map_err(WallFailure::at("restrict files (Landlock)"))
}

/// In a root of its own: it is read-only but for these.
fn inside(walls: &Walls) -> Result<u32, RulesetError> {
    let own = ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from);
    let mut rules = begin(Level::Namespaces)?;
    rules = read(rules, ["/"])?;
    rules = write(rules, walls.writes.iter().chain(&own))?;
    finish(devices(rules)?)
}

/// In the root of everybody.
fn outside(walls: &Walls) -> Result<u32, RulesetError> {
    let mut rules = begin(Level::Landlock)?;
    // What `/proc/self` leads to: this process becomes the program.
    let own = PathBuf::from(format!("/proc/{}", std::process::id()));
    rules = read(rules, walls.reads.iter().chain([&own]))?;
    rules = write(rules, &walls.writes)?;
    finish(devices(rules)?)
}

fn begin(level: Level) -> Result<RulesetCreated, RulesetError> {
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ASKED))?
        .scope(Scope::from_all(ASKED))?;
    match level {
        // Its network is its own.
        Level::Namespaces => rules.create(),
        Level::Landlock | Level::None => rules.handle_access(AccessNet::from_all(ASKED))?.create(),
    }
}

fn read<P: AsRef<Path>>(
    rules: RulesetCreated,
    paths: impl IntoIterator<Item = P>,
) -> Result<RulesetCreated, RulesetError> {
    add(rules, paths, AccessFs::from_read(ASKED))
}

fn write<P: AsRef<Path>>(
    rules: RulesetCreated,
    paths: impl IntoIterator<Item = P>,
) -> Result<RulesetCreated, RulesetError> {
    use AccessFs::{IoctlDev, MakeBlock, MakeChar};
    add(rules, paths, AccessFs::from_all(ASKED) & !(MakeBlock | MakeChar | IoctlDev))
}

fn devices(rules: RulesetCreated) -> Result<RulesetCreated, RulesetError> {
    add(rules, DEVICES, AccessFs::ReadFile | AccessFs::WriteFile)
}

fn add<P: AsRef<Path>>(
    mut rules: RulesetCreated,
    paths: impl IntoIterator<Item = P>,
    access: landlock::BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    for path in paths {
        // What is not there cannot be opened either.
        let Ok(opened) = PathFd::new(path.as_ref()) else { continue };
        let access = match path.as_ref().is_dir() {
            true => access,
            false => access & AccessFs::from_file(ASKED),
        };
        rules = rules.add_rule(PathBeneath::new(opened, access))?;
    }
    Ok(rules)
}

fn finish(rules: RulesetCreated) -> Result<u32, RulesetError> {
    let status = rules.restrict_self()?;
    let version = match status.landlock {
        LandlockStatus::Available { effective_abi, .. } => effective_abi as u32,
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => 0,
    };
    Ok(if status.ruleset == RulesetStatus::NotEnforced { 0 } else { version })
}
