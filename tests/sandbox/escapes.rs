//! Ways out that programs really try, at each level of walls that this machine has: to files, to other
//! processes, to the network, into the kernel.

use std::fs;
use std::io::{ErrorKind, Read};
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use firmhand::device::Pty;
use firmhand::sandbox::{Ends, Level, RunEnd};

use crate::stand::{Stand, at_every_level, tool};

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A file outside that everybody may read and write.
fn secret(stand: &Stand, name: &str) -> String {
    let path = stand.place.outside(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "secret").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    text(&path).to_owned()
}

fn is_untouched(path: &str) -> bool {
    let found = fs::metadata(path).unwrap();
    fs::read_to_string(path).unwrap() == "secret"
        && found.permissions().mode() & 0o7777 == 0o666
        && found.modified().unwrap().elapsed().unwrap() < Duration::from_secs(600)
}

struct Victim(Child);

impl Victim {
    fn new() -> Self {
        Self(Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap())
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn files_outside_are_not_read() {
    at_every_level(|stand| {
        let secrets = ["secret", "home/.ssh/id_rsa", "session/journal.jsonl", "home/.netrc"];
        for name in secrets {
            let path = secret(stand, name);
            stand.closed(&["read", &path]);
            let inside = stand.place.inside("");
            stand.closed(&["read", &format!("{}../{name}", text(&inside))]);
            for root in ["/proc/1/root", "/proc/self/root/..", "/proc/self/cwd/../..", "/.old"] {
                stand.closed(&["read", &format!("{root}{path}")]);
            }
            stand.closed(&["handle", &path]);
        }
        for path in ["/etc/shadow", "/proc/kcore", "/proc/kmsg", "/proc/1/environ", "/dev/mem"] {
            stand.closed(&["read", path]);
        }
        let top = stand.place.outside("home");
        for path in
            [text(&top), "/root", "/home", "/var/log", "/proc/1/root", "/sys", "/run", "/.old"]
        {
            stand.closed(&["list", path]);
        }
    });
}

#[test]
fn files_outside_are_not_changed() {
    at_every_level(|stand| {
        let path = secret(stand, "secret");
        let outside = |name: &str| text(&stand.place.outside(name)).to_owned();
        let (new, folder, moved) = (outside("new"), outside("folder"), outside("moved"));
        fs::write(stand.place.inside("own"), "own").unwrap();
        let own = text(&stand.place.inside("own")).to_owned();
        stand.closed(&["write", &path]);
        stand.closed(&["write", &new]);
        stand.closed(&["remove", &path]);
        stand.closed(&["rename", &path, &moved]);
        stand.closed(&["rename", &own, &moved]);
        stand.closed(&["make-folder", &folder]);
        stand.closed(&["metadata", &path]);
        for path in ["/usr/bin/new", "/usr/lib/new", "/etc/new", "/new", "/var/tmp/new"] {
            stand.closed(&["write", path]);
        }
        for path in ["/proc/sys/kernel/hostname", "/proc/sysrq-trigger", "/proc/self/oom_score_adj"]
        {
            stand.closed(&["write", path]);
        }
        // Their times, rights and owners too.
        stand.closed(&["metadata", "/usr/bin/env"]);
        assert!(is_untouched(&path));
        for path in [&new, &folder, &moved] {
            assert!(!Path::new(path).exists(), "{path}");
        }
        assert!(fs::metadata("/usr/bin/env").unwrap().len() > 0);
    });
}

#[test]
fn links_lead_nowhere() {
    at_every_level(|stand| {
        let path = secret(stand, "secret");
        let link = text(&stand.place.inside("link")).to_owned();
        stand.closed(&["symlink-out", &path, &link]);
        stand.closed(&["symlink-out", "../secret", &link]);
        let hard = text(&stand.place.inside("hard")).to_owned();
        stand.closed(&["hardlink-out", &path, &hard]);
        // One that the person has made leads nowhere either.
        std::os::unix::fs::symlink(stand.place.outside(""), stand.place.inside("given")).unwrap();
        let given = text(&stand.place.inside("given/secret")).to_owned();
        stand.closed(&["read", &given]);
        stand.closed(&["write", &given]);
        assert!(is_untouched(&path) && !Path::new(&hard).exists());
    });
}

#[test]
fn what_the_program_leaves_inside_is_not_another_users() {
    at_every_level(|stand| {
        let script = "cp /bin/true t; chmod 6755 t; mknod d b 8 0; ls -l";
        stand.place.shell(script).run(&stand.runner);
        assert!(!stand.place.inside("d").exists());
        if let Ok(found) = fs::metadata(stand.place.inside("t")) {
            use std::os::unix::fs::MetadataExt;
            assert_eq!(found.uid(), rustix::process::getuid().as_raw());
        }
        let ran = stand.attempt(&["status"]);
        for line in ["NoNewPrivs:\t1", "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000"] {
            // Whoever is not root has nothing to be bound.
            let is_bound = !line.starts_with("CapBnd") || stand.level == Level::Namespaces;
            assert!(!is_bound || ran.said.contains(line), "{line}: {}", ran.said);
        }
        for program in ["/usr/bin/su", "/usr/bin/sudo", "/usr/bin/mount", "/usr/bin/newgrp"] {
            let ran = stand.attempt(&["run", program, "-c", "id -u"]);
            assert!(!ran.said.lines().any(|line| line == "0"), "{program}: {}", ran.said);
        }
    });
}

#[test]
fn devices_and_terminals_are_out_of_reach() {
    at_every_level(|stand| {
        let port = Pty::open().unwrap();
        for path in
            [&port.port, "/dev/tty", "/dev/ttyS0", "/dev/ttyUSB0", "/dev/ttyACM0", "/dev/vda"]
        {
            stand.closed(&["write", path]);
            stand.closed(&["read", path]);
        }
        // Typing in the place of whoever sits at the terminal that it writes to.
        stand.place.walls.program = tool().to_owned();
        stand.place.walls.args = vec!["type".into()];
        let (mut output, writer) = std::io::pipe().unwrap();
        let end = || port.held.try_clone().unwrap().into();
        let ends = Ends { input: end(), output: writer.into(), errors: end() };
        let run = stand.runner.start(&stand.place.walls, ends).unwrap();
        let mut said = String::new();
        output.read_to_string(&mut said).unwrap();
        assert!(said.contains("held: TIOCSTI") && !said.contains("OPEN"), "{said}");
        assert_ne!(run.waiter().wait().end, RunEnd::Exit(42));
    });
}

#[test]
fn the_network_is_not_reached() {
    at_every_level(|stand| {
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        tcp.set_nonblocking(true).unwrap();
        let port = tcp.local_addr().unwrap().port().to_string();
        stand.closed(&["tcp", "127.0.0.1", &port]);
        stand.closed(&["tcp", "1.1.1.1", "53"]);
        assert_eq!(tcp.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        udp.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        stand.attempt(&["udp", "127.0.0.1", &udp.local_addr().unwrap().port().to_string()]);
        stand.attempt(&["udp", "8.8.8.8", "53"]);
        assert!(udp.recv(&mut [0; 8]).is_err());
        let path = stand.place.outside("socket");
        let by_path = UnixListener::bind(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        stand.closed(&["unix", text(&path)]);
        stand.closed(&["unix", "/run/docker.sock"]);
        stand.closed(&["unix", "/run/dbus/system_bus_socket"]);
        let name = format!("firmhand-test-{}-{:?}", std::process::id(), stand.level);
        use std::os::linux::net::SocketAddrExt;
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let by_name = UnixListener::bind_addr(&address).unwrap();
        stand.closed(&["abstract", &name]);
        for listener in [by_path, by_name] {
            listener.set_nonblocking(true).unwrap();
            assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
        }
    });
}

#[test]
fn other_processes_are_neither_ended_nor_read_nor_slowed() {
    at_every_level(|stand| {
        let mut victim = Victim::new();
        let own = std::process::id().to_string();
        stand.closed(&["memory-of", &victim.pid()]);
        stand.closed(&["memory-of", &own]);
        stand.closed(&["run-of", &victim.pid()]);
        stand.closed(&["signal-all"]);
        stand.closed(&["signal", &victim.pid()]);
        // The process in front of the walls is its parent without namespaces.
        let ran = stand
            .place
            .shell("kill -9 $PPID; kill -9 1; sleep 0.1; echo still here")
            .run(&stand.runner);
        assert!(ran.said.contains("still here"), "{ran:?}");
        assert!(victim.0.try_wait().unwrap().is_none(), "the victim is gone");
        let stat = fs::read_to_string(format!("/proc/{}/stat", victim.pid())).unwrap();
        let nice = stat.rsplit(") ").next().unwrap().split(' ').nth(16).unwrap();
        assert_eq!(
            nice,
            fs::read_to_string("/proc/self/stat")
                .unwrap()
                .rsplit(") ")
                .next()
                .unwrap()
                .split(' ')
                .nth(16)
                .unwrap()
        );
    });
}

#[test]
fn memory_shared_by_name_is_not_reached() {
    let key = (0x4f00_0000 + std::process::id() % 0xf_ffff).to_string();
    let outside = |words: &[&str]| {
        let done = Command::new(tool()).args(words).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    };
    let id = outside(&["make-shared", &key]);
    at_every_level(|stand| {
        stand.closed(&["shared", &key]);
    });
    outside(&["drop-shared", &id]);
}

#[test]
fn doors_into_the_kernel_are_shut() {
    at_every_level(|stand| {
        stand.closed(&["kernel"]);
        stand.closed(&["namespaces"]);
        let folder = text(&stand.place.inside("")).to_owned();
        stand.closed(&["mounts", &folder]);
        stand.closed(&["root"]);
    });
}

#[test]
fn nothing_of_the_person_leaks_in() {
    at_every_level(|stand| {
        let ran = stand.closed(&["environment"]);
        assert!(ran.said.lines().all(|line| line.starts_with("PATH=")), "{}", ran.said);
        stand.closed(&["descriptors"]);
    });
}

/// As root all of the above was tried; now as somebody who is not.
#[test]
fn ordinary_users_get_no_further() {
    if !rustix::process::getuid().is_root() {
        return;
    }
    let own = std::env::current_exe().unwrap();
    let as_user = |program: &Path, words: &[&str]| {
        Command::new("setpriv")
            .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
            .arg(program)
            .args(words)
            .env("TMPDIR", "/tmp")
            .env("HOME", "/nonexistent")
            .output()
    };
    match as_user(Path::new(env!("CARGO_BIN_EXE_firmhand")), &["--version"]) {
        Ok(found) if found.status.success() => {}
        other => return println!("the program cannot be run by others: {other:?}"),
    }
    let done =
        as_user(&own, &["escapes::", "limits::", "--nocapture", "--test-threads", "2"]).unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}\n{}", String::from_utf8_lossy(&done.stderr));
    println!("{said}");
}
