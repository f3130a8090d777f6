//! Finds out how strong the walls of this machine are, by building them.
//!
//! Owns what is said about it, and about what is missing. Runs nothing that an agent wrote.

use std::path::{Path, PathBuf};

use super::control::SandboxFacts;
use super::landlock_rules_scopes;
use super::places;
use super::walls::{Level, MachineView, WallFailure, Walls};
use crate::files;
use crate::model::UserError;

/// The walls of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protection {
    pub level: Level,
    /// Whether Landlock is among the walls.
    pub has_landlock: bool,
    /// What would make them stronger.
    pub missing: Vec<Missing>,
}

/// Something that this machine does not have or does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// What is missing, and what the system said.
    pub what: String,
    /// How to get it.
    pub fix: String,
}

impl Protection {
    /// The walls that stand, in words: those of the level that this machine has.
    #[must_use]
    pub fn walls(&self) -> String {
        match self.level {
            Level::Namespaces if !self.has_landlock => "namespaces, seccomp".to_owned(),
            level => level.to_string(),
        }
    }

    /// Why nothing of an agent's is run here.
    #[must_use]
    pub fn refusal(&self) -> UserError {
        let missing: Vec<&str> = self.missing.iter().map(|one| one.what.as_str()).collect();
        UserError::new(
            "Cannot run what an agent wrote: this machine has no sandbox for it",
            missing.join("; "),
            "Run `firmhand doctor` to see how to get one; or let this project's programs run without \
             one, with your rights: `firmhand trust --without-sandbox DIR`.",
        )
    }
}

/// Tries the levels from the strongest on.
pub(super) fn probe(attempt: impl Fn(Level) -> Result<SandboxFacts, WallFailure>) -> Protection {
    let mut missing = Vec::new();
    match attempt(Level::Namespaces) {
        Ok(facts) => {
            missing.extend(without_landlock(&facts).or_else(|| without_scopes(&facts)));
            missing.extend(without_cgroup(&facts));
            let has_landlock = facts.landlock > 0;
            return Protection { level: Level::Namespaces, has_landlock, missing };
        }
        Err(failure) => missing.push(without_namespaces(&failure)),
    }
    match attempt(Level::Landlock) {
        Ok(facts) => {
            missing.extend(without_scopes(&facts));
            missing.extend(without_cgroup(&facts));
            Protection { level: Level::Landlock, has_landlock: true, missing }
        }
        Err(failure) => {
            missing.push(no_landlock(&failure.to_string()));
            Protection { level: Level::None, has_landlock: false, missing }
        }
    }
}

/// A program that needs nothing, for walls around nothing.
pub(super) fn trial() -> Walls {
    Walls {
        program: PathBuf::from("/nothing"),
        folder: PathBuf::from("/"),
        reads: ["/usr", "/lib", "/bin"].map(PathBuf::from).to_vec(),
        ..Walls::default()
    }
}

/// The same as a build has them.
pub(super) fn build_trial() -> Walls {
    let temporary = std::env::temp_dir();
    Walls {
        reads: places::machine().collect(),
        machine: Some(MachineView { hidden: Vec::new(), temporary }),
        ..trial()
    }
}

fn without_namespaces(failure: &WallFailure) -> Missing {
    let is = |file: &str, value: &str| {
        let text = files::read_text(Path::new(file), files::SETTINGS);
        text.is_ok_and(|text| text.trim() == value)
    };
    let fix = if is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1") {
        "AppArmor keeps them from programs without a profile. Allow them: `sudo sysctl \
         kernel.apparmor_restrict_unprivileged_userns=0`, or give firmhand a profile with `userns,`."
    } else if is("/proc/sys/kernel/unprivileged_userns_clone", "0") {
        "Allow them: `sudo sysctl kernel.unprivileged_userns_clone=1`."
    } else if is("/proc/sys/user/max_user_namespaces", "0") {
        "Allow them: `sudo sysctl user.max_user_namespaces=10000`."
    } else if !cfg!(target_os = "linux") {
        "They are there on Linux only."
    } else {
        "In a container, start it with `--security-opt seccomp=unconfined --security-opt \
         apparmor=unconfined --security-opt systempaths=unconfined`; on a machine of your own, allow \
         user namespaces."
    };
    Missing { what: format!("namespaces ({failure})"), fix: fix.to_owned() }
}

fn without_landlock(facts: &SandboxFacts) -> Option<Missing> {
    (facts.landlock == 0).then(|| no_landlock("the kernel does not have it"))
}

fn no_landlock(why: &str) -> Missing {
    let fix = "Use Linux 5.13 or newer with Landlock; if it is built in and off, add `landlock` to the \
               `lsm=` list of the kernel's command line.";
    Missing { what: format!("Landlock ({why})"), fix: fix.to_owned() }
}

fn without_scopes(facts: &SandboxFacts) -> Option<Missing> {
    let fix = "Use Linux 6.12 or newer; until then signals are kept inside by filters, which break \
               programs that signal their own children where there are no namespaces.";
    let what = format!("Landlock of version 6 (it is {})", facts.landlock);
    let is_missing = facts.landlock < landlock_rules_scopes();
    is_missing.then(|| Missing { what, fix: fix.to_owned() })
}

fn without_cgroup(facts: &SandboxFacts) -> Option<Missing> {
    let what = "a control group (limits are checked every 10 ms instead)".to_owned();
    let fix = "Start firmhand in a group of its own: `systemd-run --user --scope -p Delegate=yes \
               firmhand`.";
    (!facts.has_cgroup).then(|| Missing { what, fix: fix.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure() -> WallFailure {
        WallFailure { step: "make namespaces".into(), why: "Operation not permitted".into() }
    }

    #[test]
    fn the_strongest_that_can_be_built_is_taken() {
        let all = SandboxFacts { landlock: 7, has_proc: true, has_cgroup: true };
        let found = probe(|_| Ok(all.clone()));
        assert_eq!((found.level, found.missing.len()), (Level::Namespaces, 0));
        assert_eq!(found.walls(), "namespaces, Landlock, seccomp");
        for (landlock, walls) in [(0, "namespaces, seccomp"), (3, "namespaces, Landlock, seccomp")]
        {
            let found = probe(|_| Ok(SandboxFacts { landlock, ..all.clone() }));
            assert_eq!((found.walls().as_str(), found.missing.len()), (walls, 1));
        }
        let found = probe(|level| match level {
            Level::Landlock => Ok(SandboxFacts { landlock: 3, ..SandboxFacts::default() }),
            Level::Namespaces | Level::None => Err(failure()),
        });
        assert_eq!((found.level, found.missing.len()), (Level::Landlock, 3), "{found:?}");
        assert!(found.missing[0].what.contains("Operation not permitted"));
        let found = probe(|_| Err(failure()));
        assert_eq!((found.level, found.missing.len()), (Level::None, 2));
        let refusal = found.refusal();
        assert!(refusal.why.contains("Landlock") && refusal.fix.contains("firmhand doctor"));
    }
}
