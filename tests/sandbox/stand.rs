//! The walls of this machine at each level it has: a level is lowered by really taking away what it is
//! made of, as on a machine that lacks it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use firmhand::sandbox::{Level, RunEnd, Runner};
use nix::libc;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

use crate::place::{Place, Ran, runner};

/// One level, and a place to try it at.
pub struct Stand {
    pub level: Level,
    pub runner: Runner,
    pub place: Place,
}

/// Runs `test` once for each level with walls that this machine has.
pub fn at_every_level(test: impl Fn(&mut Stand) + Sync) {
    let mut tried = 0;
    for level in [Level::Namespaces, Level::Landlock] {
        let missing: &[i64] = match level {
            Level::Namespaces => &[],
            Level::Landlock | Level::None => &[libc::SYS_unshare],
        };
        on_a_machine_without(missing, || {
            let runner = runner();
            if runner.protection().level != level {
                println!("this machine has not {level}: {:?}", runner.protection());
                return 0;
            }
            test(&mut Stand { level, runner, place: Place::new() });
            1
        })
        .into_iter()
        .for_each(|one| tried += one);
    }
    // Where there are none, nothing of an agent's runs, which has tests of its own.
    let level = runner().protection().level;
    assert!(tried > 0 || level == Level::None, "nothing was tried at {level}");
}

/// Runs `test` once for each level at which this machine runs what agents wrote: not at all where it
/// has no walls.
pub fn wherever_code_runs(test: impl Fn() + Sync) {
    for missing in [&[][..], &[libc::SYS_unshare]] {
        on_a_machine_without(missing, || match runner().protection().level {
            Level::None => println!("not tried: {:?}", runner().protection()),
            Level::Namespaces | Level::Landlock => test(),
        });
    }
}

/// Runs `test` where these system calls are refused, in it and in all that it starts.
pub fn on_a_machine_without<T: Send>(calls: &[i64], test: impl FnOnce() -> T + Send) -> Option<T> {
    std::thread::scope(|scope| {
        let joined = scope.spawn(|| {
            if !calls.is_empty() {
                let rules = calls.iter().map(|call| (*call, Vec::new())).collect();
                let arch = std::env::consts::ARCH.try_into().unwrap();
                let refused = SeccompAction::Errno(u32::try_from(libc::EPERM).unwrap());
                let filter =
                    SeccompFilter::new(rules, SeccompAction::Allow, refused, arch).unwrap();
                seccompiler::apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
            }
            test()
        });
        match joined.join() {
            Ok(result) => Some(result),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

impl Stand {
    /// Tries a way out.
    #[track_caller]
    pub fn attempt(&mut self, way: &[&str]) -> Ran {
        self.place.walls.program = tool().to_owned();
        self.place.walls.args = way.iter().map(|word| (*word).to_owned()).collect();
        self.place.walls.reads.push(tool().to_owned());
        let ran = self.place.run(&self.runner);
        assert_ne!(ran.report.end, RunEnd::Exit(99), "{}", ran.said);
        ran
    }

    /// Tries a way that must be closed.
    #[track_caller]
    pub fn closed(&mut self, way: &[&str]) -> Ran {
        let ran = self.attempt(way);
        assert_ne!(ran.report.end, RunEnd::Exit(42), "{:?}: {way:?}: {}", self.level, ran.said);
        assert!(!ran.said.contains("OPEN"), "{:?}: {way:?}: {}", self.level, ran.said);
        ran
    }
}

/// The program that tries.
pub fn tool() -> &'static Path {
    static TOOL: OnceLock<PathBuf> = OnceLock::new();
    TOOL.get_or_init(|| {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::Builder::new()
            .permissions(std::fs::Permissions::from_mode(0o755))
            .tempdir()
            .unwrap()
            .keep();
        let built = folder.join("attempt");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sandbox/attempt.c");
        let mut compiler = Command::new("cc");
        let done = compiler.args(["-O1", "-pthread", source, "-o"]).arg(&built).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        built
    })
}
