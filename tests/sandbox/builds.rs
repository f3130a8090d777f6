//! Builds behind walls: a stand-in for ESP-IDF that does what builds do, and what they must not.

use std::ffi::OsStr;
use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use firmhand::model::{BuildOutcome, Severity};
use firmhand::toolchain::{
    BuildJob, BuildReport, BuildSandbox, BuildSink, BuildWalls, IdfToolchain, Toolchain,
};
use nix::libc;
use tokio_util::sync::CancellationToken;

use crate::place::runner;
use crate::stand::on_a_machine_without;

#[derive(Default)]
struct Log(Mutex<Vec<u8>>);

impl BuildSink for Log {
    fn output(&self, bytes: &[u8]) {
        self.0.lock().unwrap().extend_from_slice(bytes);
    }

    fn progress(&self, _: u32, _: u32) {}
}

/// A project, a home folder, and an ESP-IDF whose `idf.py` runs a script.
struct BuildStand {
    top: tempfile::TempDir,
    sandbox: BuildSandbox,
    timeout: Duration,
}

impl BuildStand {
    fn new(script: &str) -> Self {
        let top = tempfile::tempdir().unwrap();
        let sandbox = BuildSandbox {
            runner: runner(),
            walls: BuildWalls::On,
            private: vec![top.path().join("sessions")],
            writable: Vec::new(),
        };
        let stand = Self { top, sandbox, timeout: Duration::from_secs(60) };
        let home = stand.path("home");
        let export = format!(
            "export PATH=\"$IDF_PATH/tools:$PATH\" IDF_PYTHON_ENV_PATH=/none HOME='{}' SESSIONS='{}'\n",
            home.display(),
            stand.path("sessions").display()
        );
        for (path, text) in [
            ("idf/export.sh", export.as_str()),
            ("idf/tools/idf.py", &format!("#!/bin/sh\n{script}\n")),
            ("home/.ssh/id_ed25519", "secret"),
            ("home/.netrc", "secret"),
            ("home/.gitconfig", "[user]\n"),
            ("sessions/journal", "secret"),
            ("project/CMakeLists.txt", "project(x)\n"),
            ("project/main/main.c", "int x;\n"),
            ("project/.git/hooks/sample", ""),
            ("project/sdkconfig.defaults", "CONFIG_IDF_TARGET=\"linux\"\n"),
        ] {
            let path = stand.path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let program = stand.path("idf/tools/idf.py");
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
        stand
    }

    fn path(&self, inside: &str) -> PathBuf {
        self.top.path().join(inside)
    }

    fn build(&self) -> (BuildReport, String) {
        self.build_in(self.path("project"))
    }

    fn build_in(&self, project: PathBuf) -> (BuildReport, String) {
        let idf = IdfToolchain::at(self.path("idf"), None).with_build_sandbox(self.sandbox.clone());
        let log = Arc::new(Log::default());
        let job = BuildJob {
            project,
            board: None,
            sink: Arc::clone(&log) as Arc<dyn BuildSink>,
            timeout: self.timeout,
            cancel: CancellationToken::new(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let report = runtime.block_on(idf.build(job));
        let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        (report, log)
    }

    /// Whether this machine has walls for builds; says so when it has not.
    fn has_walls(&self) -> bool {
        let tried = self.sandbox.check();
        if let Err(failure) = tried {
            println!("this machine has no walls for builds: {failure}");
        }
        tried.is_ok()
    }
}

const MISDEEDS: &str = r#"
try() { if eval "$2" 2>/dev/null; then echo "OPEN $1"; else echo "closed $1"; fi; }
mkdir -p build managed_components && echo app > build/app.elf && echo one >> sdkconfig || exit 7
echo lock > dependencies.lock && mv dependencies.lock dependencies.lock.new || exit 7
mv dependencies.lock.new dependencies.lock && ln -f build/app.elf build/again || exit 7
echo x > /tmp/scratch && mv /tmp/scratch build/moved && echo "temporary files work"
ls "$HOME/.gitconfig" > /dev/null && test -r main/main.c && echo "sources and settings are read"
grep -q . /proc/cpuinfo && test -r /etc/passwd && echo "the machine is seen"
try source 'echo x > main/main.c'
try new-source 'echo x > main/new.c'
try list 'echo x >> CMakeLists.txt'
try remove 'rm main/main.c'
try replace 'mv build/moved main/main.c'
try swap 'mv main build/main'
try hook 'echo x > .git/hooks/pre-commit'
try defaults 'echo x >> sdkconfig.defaults'
try home 'echo x > "$HOME/planted"'
try profile 'echo x >> "$HOME/.bashrc"'
try key 'cat "$HOME/.ssh/id_ed25519"'
try key-linked 'ln -s "$HOME/.ssh" build/keys && cat build/keys/id_ed25519'
try netrc 'grep secret "$HOME/.netrc"'
try sessions 'cat "$SESSIONS/journal"'
try system 'echo x > /etc/planted || echo x > /usr/planted || echo x > /var/planted'
try remount 'mount -o remount,rw / || mount -o remount,bind,rw "$HOME"'
try uncover 'umount "$HOME/.ssh" || umount -l "$HOME/.netrc"'
try namespaces 'unshare -m true || unshare -Ur true'
try shadow 'test -s /etc/shadow -a -r /etc/shadow'
try device 'cat /dev/mem || ls /dev/sd* /dev/vd* /dev/tty*'
try others 'ls -d /proc/[0-9]*/exe | grep -v "/proc/[0-9]\{1,2\}/exe"'
try sockets 'ls /run/user /run/docker.sock /var/run/dbus'
(sleep 600; echo late > build/late) > /dev/null 2>&1 &
echo done
"#;

#[test]
fn a_build_writes_what_it_makes_and_reaches_nothing_else() {
    let stand = BuildStand::new(MISDEEDS);
    if !stand.has_walls() {
        return;
    }
    let began = Instant::now();
    let (report, log) = stand.build();
    assert_eq!(report.outcome, BuildOutcome::Passed, "{log}\n{report:?}");
    assert!(!log.contains("OPEN"), "{log}");
    assert!(log.contains("done\n"), "{log}");
    for works in ["temporary files work", "sources and settings are read", "the machine is seen"] {
        assert!(log.contains(works), "{log}");
    }
    let written = "-- Written into the project by this build: dependencies.lock, sdkconfig\n";
    assert!(log.contains(written), "{log}");
    let read = |path: &str| fs::read_to_string(stand.path(path)).unwrap();
    assert_eq!(
        (read("project/main/main.c"), read("project/build/app.elf")),
        ("int x;\n".into(), "app\n".into())
    );
    assert!(!stand.path("home/planted").exists() && !Path::new("/etc/planted").exists());
    assert!(began.elapsed() < Duration::from_secs(60), "what it left running was waited for");
    // A second build finds what the first one made.
    let (report, _) = stand.build();
    assert_eq!(report.outcome, BuildOutcome::Passed);
    assert_eq!(read("project/sdkconfig"), "one\none\n");
}

#[test]
fn what_the_walls_refuse_is_named_with_the_way_to_allow_it() {
    let mut stand = BuildStand::new("mkdir -p build && touch \"$HOME/tool/state\"");
    if !stand.has_walls() {
        return;
    }
    let folder = stand.path("home/tool");
    fs::create_dir(&folder).unwrap();
    let (report, log) = stand.build();
    assert_eq!(report.outcome, BuildOutcome::Failed, "{log}");
    let first = &report.diagnostics[0];
    assert_eq!(first.severity, Severity::Error);
    assert!(first.message.contains(folder.join("state").to_str().unwrap()), "{first:?}");
    assert!(first.hint.contains(&format!("writable = [\"{}\"]", folder.display())), "{first:?}");
    stand.sandbox.writable = vec![folder.clone()];
    assert_eq!(stand.build().0.outcome, BuildOutcome::Passed);
    assert!(folder.join("state").exists());
    // A folder of the project, by its place in it.
    let stand = BuildStand::new("mkdir -p build && touch main/version.h");
    assert_eq!(stand.build().0.outcome, BuildOutcome::Failed);
    let sandbox = BuildSandbox { writable: vec!["main".into()], ..stand.sandbox.clone() };
    let stand = BuildStand { sandbox, ..stand };
    assert_eq!(stand.build().0.outcome, BuildOutcome::Passed);
}

#[test]
fn what_is_hidden_stays_so_when_another_file_takes_its_place() {
    let stand = BuildStand::new(
        "mkdir -p build && touch build/ready\n\
         until test -e build/go; do sleep 0.02; done\n\
         for name in .netrc .git-credentials .config/git/credentials .aws/key .ssh/id_ed25519; do\n\
         grep -q secret \"$HOME/$name\" && echo \"OPEN $name\"; done\n\
         grep -q name \"$HOME/.config/git/config\" && ls \"$HOME/.gitconfig\" && echo works",
    );
    if !stand.has_walls() {
        return;
    }
    for (path, text) in [("git/config", "name"), ("git/credentials", "secret")] {
        let path = stand.path("home/.config").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let (report, log) = std::thread::scope(|scope| {
        let built = scope.spawn(|| stand.build());
        while !stand.path("project/build/ready").exists() && !built.is_finished() {
            std::thread::yield_now();
        }
        for name in [".netrc", ".git-credentials", ".config/git/credentials", ".aws/key"] {
            let path = stand.path("home").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(stand.path("new"), "secret").unwrap();
            fs::rename(stand.path("new"), path).unwrap();
        }
        fs::create_dir_all(stand.path("project/build")).unwrap();
        fs::write(stand.path("project/build/go"), "").unwrap();
        built.join().unwrap()
    });
    assert_eq!(report.outcome, BuildOutcome::Passed, "{log}\n{report:?}");
    assert!(log.contains("works") && !log.contains("OPEN"), "{log}");
}

#[test]
fn sockets_of_other_programs_are_not_reached() {
    let stand = BuildStand::new(
        "mkdir -p build\n\
         python3 -c \"import socket; socket.socketpair()\" && echo works\n\
         python3 - <<'END'\n\
         import os, socket\n\
         for place in (os.environ['HOME'] + '/.cache/agent', chr(0) + 'firmhand-test-socket'):\n\
         \x20try:\n\
         \x20 socket.socket(socket.AF_UNIX).connect(place)\n\
         \x20 print('OPEN')\n\
         \x20except OSError as error:\n\
         \x20 print('closed', error)\n\
         END",
    );
    if !stand.has_walls() {
        return;
    }
    let place = stand.path("home/.cache/agent");
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    let _listener = UnixListener::bind(place).unwrap();
    let name = SocketAddr::from_abstract_name("firmhand-test-socket").unwrap();
    let _abstract = UnixListener::bind_addr(&name).unwrap();
    let (report, log) = stand.build();
    assert_eq!(report.outcome, BuildOutcome::Passed, "{log}\n{report:?}");
    assert!(log.contains("works") && !log.contains("OPEN"), "{log}");
    assert_eq!(log.matches("closed").count(), 2, "{log}");
}

#[test]
fn nobody_opens_what_is_hidden_by_letting_builds_write_it() {
    let mut stand =
        BuildStand::new("mkdir -p build; cat \"$HOME/.ssh/id_ed25519\" && echo OPEN; true");
    if !stand.has_walls() {
        return;
    }
    stand.sandbox.writable = vec![stand.path("home/.ssh")];
    let (report, log) = stand.build();
    assert_eq!(report.outcome, BuildOutcome::Passed, "{log}\n{report:?}");
    assert!(
        !log.contains("OPEN") && log.contains("-- Not writable, because it holds keys"),
        "{log}"
    );
}

#[test]
fn walls_that_cannot_be_set_up_end_the_build() {
    let stand = BuildStand::new("mkdir -p build && touch \"$HOME/planted\"");
    if !stand.has_walls() {
        return;
    }
    let project = stand.top.path().join(OsStr::from_bytes(b"proj\xffect"));
    fs::rename(stand.path("project"), &project).unwrap();
    let (report, log) = stand.build_in(project);
    let BuildOutcome::NotRun(error) = report.outcome else { panic!("it ran: {log}") };
    assert!(error.why.contains("the sandbox of builds cannot be set up"), "{error:?}");
    assert!(error.fix.contains("builds = \"off\""), "{error:?}");
    assert!(!stand.path("home/planted").exists());
}

#[test]
fn where_there_are_no_walls_builds_run_as_before_and_it_is_said() {
    let script = "mkdir -p build && touch \"$HOME/planted\"";
    on_a_machine_without(&[libc::SYS_unshare], || {
        let stand = BuildStand::new(script);
        let (report, log) = stand.build();
        assert_eq!(report.outcome, BuildOutcome::Passed, "{log}");
        assert!(log.contains("-- This runs without the sandbox: cannot make namespaces"), "{log}");
        assert!(stand.path("home/planted").exists());
    });
    let mut stand = BuildStand::new(script);
    stand.sandbox.walls = BuildWalls::Off;
    let (report, log) = stand.build();
    assert_eq!(report.outcome, BuildOutcome::Passed, "{log}");
    assert!(!log.contains("sandbox") && stand.path("home/planted").exists(), "{log}");
}

#[test]
fn a_build_that_takes_too_long_is_ended_with_all_that_it_started() {
    let mut stand = BuildStand::new("mkdir -p build; (setsid sleep 7654321 &) ; sleep 7654321");
    if !stand.has_walls() {
        return;
    }
    stand.timeout = Duration::from_secs(2);
    assert_eq!(stand.build().0.outcome, BuildOutcome::TimedOut);
    let all = fs::read_dir("/proc").unwrap().flatten();
    let left = all.filter(|entry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.starts_with(b"sleep\x007654321")
    });
    assert_eq!(left.count(), 0);
}

#[test]
fn a_build_that_closes_its_output_is_waited_for() {
    let stand = BuildStand::new(
        "mkdir -p build; exec > /dev/null 2>&1 >&- 2>&-; sleep 1; touch build/late",
    );
    let (report, log) = stand.build();
    assert_eq!(report.outcome, BuildOutcome::Passed, "{log}");
    assert!(stand.path("project/build/late").exists());
}
