//! `firmhand tool` builds behind walls, with each toolchain: stand-ins for their programs try what no
//! build may do.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::place::runner;

/// `try NAME COMMAND` notes in the build folder whether the command works.
const TRY: &str = r#"#!/bin/sh
try() { if eval "$2" 2>/dev/null; then echo "OPEN $1"; else echo "closed $1"; fi >> "$LOG"; }
common() {
try project 'echo x > notes.txt'
try script 'echo x > build.sh'
try home 'echo x > "$HOME/planted"'
try key 'grep -q secret "$HOME/.ssh/id"'
try history 'grep -q secret "$HOME/.bash_history"'
try agent 'test -n "$SSH_AUTH_SOCK"'
try token 'test -n "$GH_TOKEN$AWS_SECRET_ACCESS_KEY$GOOGLE_API_KEY"'
try display 'test -n "$DISPLAY$XAUTHORITY$DBUS_SESSION_BUS_ADDRESS"'
try ccache 'echo "compiler = evil" > "$HOME/.ccache/ccache.conf"'
try pip 'mkdir -p "$HOME/.cache/pip/planted"'
mkdir -p .vscode && echo cached > "$HOME/.ccache/object" && test "$IDF_WORD" = kept && echo works >> "$LOG"
}
"#;

/// A home folder, a project that is trusted, and programs that stand in for toolchains.
struct CommandStand {
    top: tempfile::TempDir,
}

impl CommandStand {
    fn new() -> Self {
        let stand = Self { top: tempfile::tempdir_in("/var/tmp").unwrap() };
        for (path, text) in [
            ("home/.ssh/id", "secret"),
            ("home/.bash_history", "secret"),
            ("home/.ccache/CACHEDIR.TAG", ""),
            ("home/.cache/pip/known", ""),
            ("programs/true", ""),
            ("blink/notes.txt", "mine\n"),
            ("blink/build.sh", "mine\n"),
        ] {
            stand.write(path, text);
        }
        stand
    }

    fn path(&self, below: &str) -> PathBuf {
        self.top.path().join(below)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn program(&self, path: &str, script: &str) {
        self.write(path, &format!("{TRY}{script}\n"));
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_default()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_firmhand"));
        let path = format!("{}:/usr/bin:/bin", self.path("programs").display());
        command
            .args(args)
            .env_clear()
            .envs([("PATH", path.as_str()), ("IDF_WORD", "kept"), ("LANG", "C.UTF-8")])
            .envs([("SSH_AUTH_SOCK", "/run/agent"), ("DISPLAY", ":0"), ("GH_TOKEN", "secret")])
            .envs([("AWS_SECRET_ACCESS_KEY", "secret"), ("GOOGLE_API_KEY", "secret")])
            .env("HOME", self.path("home"))
            .env("LOG", self.path("blink/build/log"))
            .env("FIRMHAND_DATA_DIR", self.path("data"))
            .env("FIRMHAND_CONFIG_DIR", self.path("config"));
        command
    }

    /// Builds the project by one call of that tool; the answer.
    fn build(&self, tool: &str, env: &[(&str, &Path)]) -> Value {
        fs::create_dir_all(self.path("blink/build")).unwrap();
        let project = self.path("blink");
        let project = project.to_str().unwrap();
        assert!(self.command(&["trust", project]).output().unwrap().status.success());
        let mut call = self.command(&["tool", tool, "--project", project]);
        let output = call.envs(env.iter().copied()).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
    }

    /// What the stand-in noted, in the folder that its builds make.
    fn log(&self) -> String {
        self.read("blink/build/log") + &self.read("blink/.pio/log")
    }

    /// What is wrong with what the stand-in could do.
    #[track_caller]
    fn check(&self, answer: &Value) {
        let log = self.log();
        assert!(!log.contains("OPEN") && log.contains("works"), "{log}\n{answer}");
        let kept = [self.read("blink/notes.txt"), self.read("blink/build.sh")];
        assert_eq!(kept, ["mine\n", "mine\n"]);
    }
}

/// Whether this machine has walls for builds; says so when it has not.
fn has_walls() -> bool {
    let tried = runner();
    let tried = tried.builds();
    if let Err(failure) = &tried {
        println!("this machine has no walls for builds: {failure}");
    }
    tried.is_ok()
}

#[test]
fn a_build_by_esp_idf_is_walled() {
    if !has_walls() {
        return;
    }
    let stand = CommandStand::new();
    stand.write(
        "idf/export.sh",
        "export PATH=\"$IDF_PATH/tools:$PATH\" IDF_PYTHON_ENV_PATH=/none\n",
    );
    stand.program("idf/tools/idf.py", "common");
    stand.write("blink/CMakeLists.txt", "project(blink)\n");
    stand.write("blink/main/CMakeLists.txt", "");
    let answer = stand.build("build_project", &[("IDF_PATH", &stand.path("idf"))]);
    stand.check(&answer);
    assert!(answer.to_string().contains(".vscode/"), "{answer}");
}

#[test]
fn a_build_by_arduino_cli_is_walled() {
    if !has_walls() {
        return;
    }
    let stand = CommandStand::new();
    stand.write("blink/blink.ino", "void setup() {}\nvoid loop() {}\n");
    stand.write("blink/sketch.yaml", "default_fqbn: esp32:esp32:esp32s3\n");
    for file in ["arduino-cli.yaml", "inventory.yaml", "packages/x", "internal/x", "libraries/x"] {
        stand.write(&format!("home/.arduino15/{file}"), "mine\n");
    }
    let passed = include_str!("../data/arduino/compile-passed.json");
    let passed = passed.replace("PROJECT", stand.path("blink").to_str().unwrap());
    stand.write(
        "answer.json",
        &passed.replace("PLATFORM", stand.path("platform").to_str().unwrap()),
    );
    let script = format!(
        "common\nfor file in arduino-cli.yaml internal/x packages/x libraries/x new; do\n\
         try $file 'echo x > \"$HOME/.arduino15/$file\"'; done\n\
         while [ \"$1\" != --build-path ]; do shift; done\nmkdir -p \"$2\" && echo x > \"$2/x.bin\"\n\
         echo noted > \"$HOME/.arduino15/inventory.yaml\"\ncat '{}'",
        stand.path("answer.json").display()
    );
    stand.program("programs/arduino-cli", &script);
    let answer = stand.build("build_arduino", &[]);
    stand.check(&answer);
    assert_eq!(answer["ok"], true, "{answer}");
    assert!(answer.to_string().contains(".vscode/"), "{answer}");
    assert_eq!(stand.read("blink/build/arduino/x.bin"), "x\n");
    assert_eq!(stand.read("home/.arduino15/inventory.yaml"), "noted\n");
}

#[test]
fn a_build_by_platformio_and_its_questions_are_walled() {
    if !has_walls() {
        return;
    }
    let stand = CommandStand::new();
    let ini = format!("[env:s3]\n[platformio]\nbuild_dir = {}\n", stand.path("home").display());
    stand.write("blink/platformio.ini", &ini);
    stand.write("blink/src/main.cpp", "");
    let core = "home/.platformio";
    for file in ["penv/lib/x.py", "packages/tool-esptoolpy/esptool.py"] {
        stand.write(&format!("{core}/{file}"), "mine\n");
    }
    let script = format!(
        "mkdir -p .pio; LOG=\"$PWD/.pio/log\"\ncommon\nfor file in penv/lib/x.py penv/bin/pio packages/tool-esptoolpy/esptool.py; do\n\
         try $file 'echo x > \"$HOME/.platformio/$file\"'; done\n\
         try remove 'rm -r \"$HOME/.platformio/penv\" || mv \"$HOME/.platformio/penv\" \"$HOME/.platformio/old\"'\n\
         mkdir -p \"$HOME/.platformio/packages/framework\" || echo OPEN >> \"$LOG\"\n\
         case \"$*\" in 'project config --json-output') echo asked >> \"$LOG\"\n\
         echo '[[\"platformio\", [[\"build_dir\", \"{}\"]]], [\"env:s3\", []]]';;\n\
         *) mkdir -p .pio/build/s3 && echo built >> \"$LOG\";; esac",
        stand.path("home").display()
    );
    stand.program(&format!("{core}/penv/bin/pio"), &script);
    let answer = stand.build("build_project", &[]);
    stand.check(&answer);
    let log = stand.log();
    assert!(log.contains("asked") && log.contains("built"), "{log}");
    assert!(stand.path(core).join("packages/framework").is_dir());
}
