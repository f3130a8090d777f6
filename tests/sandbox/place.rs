//! A folder, a program in it, and the walls around both.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use firmhand::sandbox::{ConfinedRun, Ends, Limits, RunReport, Runner, Walls};

/// What a run said and how it ended.
#[derive(Debug)]
pub struct Ran {
    pub report: RunReport,
    pub said: String,
}

/// Folders inside and outside of the walls.
pub struct Place {
    top: tempfile::TempDir,
    pub walls: Walls,
}

impl Place {
    pub fn new() -> Self {
        // Not in `/tmp`, of which it has one of its own.
        let top = tempfile::tempdir_in("/var/tmp").unwrap();
        let open = fs::Permissions::from_mode(0o755);
        fs::set_permissions(top.path(), open).unwrap();
        let inside = top.path().join("inside");
        fs::create_dir(&inside).unwrap();
        let reads = ["/bin", "/lib", "/lib64", "/usr", "/etc/ld.so.cache", "/etc/alternatives"];
        let walls = Walls {
            program: "/bin/sh".into(),
            args: Vec::new(),
            env: vec![("PATH".into(), "/usr/bin:/bin".into())],
            folder: inside.clone(),
            reads: reads.map(PathBuf::from).to_vec(),
            writes: vec![inside],
            limits: Limits { time: Some(Duration::from_secs(20)), ..Limits::default() },
            machine: None,
        };
        Self { top, walls }
    }

    /// The folder around the one that the program may write; it does not even see this one.
    pub fn outside(&self, name: &str) -> PathBuf {
        self.top.path().join(name)
    }

    /// The folder that the program may write.
    pub fn inside(&self, name: &str) -> PathBuf {
        self.top.path().join("inside").join(name)
    }

    pub fn shell(&mut self, script: &str) -> &mut Self {
        self.walls.program = "/bin/sh".into();
        self.walls.args = vec!["-c".into(), script.into()];
        self
    }

    pub fn run(&self, runner: &Runner) -> Ran {
        self.run_with(runner, b"")
    }

    pub fn run_with(&self, runner: &Runner, input: &[u8]) -> Ran {
        let (run, mut output) = self.start(runner, input);
        let waiter = run.waiter();
        let mut bytes = Vec::new();
        (&mut output).take(4 << 20).read_to_end(&mut bytes).unwrap();
        std::io::copy(&mut output, &mut std::io::sink()).unwrap();
        let report = waiter.wait();
        drop(run);
        Ran { report, said: String::from_utf8_lossy(&bytes).into_owned() }
    }

    pub fn start(&self, runner: &Runner, input: &[u8]) -> (ConfinedRun, std::io::PipeReader) {
        let (reader, mut feed) = std::io::pipe().unwrap();
        feed.write_all(input).unwrap();
        let (output, writer) = std::io::pipe().unwrap();
        let errors = writer.try_clone().unwrap();
        let ends = Ends { input: reader.into(), output: writer.into(), errors: errors.into() };
        (runner.start(&self.walls, ends).unwrap(), output)
    }
}

/// A runner that builds walls with the program under test.
pub fn runner() -> Runner {
    Runner::new(PathBuf::from(env!("CARGO_BIN_EXE_firmhand")))
}
