//! A home of its own for the program: settings, data and project in a temporary folder.

use std::process::{Command, Output, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_firmhand");

pub struct Place(pub tempfile::TempDir);

impl Place {
    pub fn new(config: &str) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        for folder in ["home", "config", "data", "project"] {
            std::fs::create_dir(place.0.path().join(folder)).unwrap();
        }
        std::fs::write(place.0.path().join("config/config.toml"), config).unwrap();
        place
    }

    pub fn command(&self, env: &[(&str, &str)], args: &[&str]) -> Command {
        let own = |below: &str| self.0.path().join(below);
        let mut command = Command::new(PROGRAM);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        command.env("HOME", own("home")).current_dir(own("home"));
        command.env("FIRMHAND_CONFIG_DIR", own("config")).env("FIRMHAND_DATA_DIR", own("data"));
        command.envs(env.iter().copied()).args(args).stdin(Stdio::null());
        command
    }

    pub fn run(&self, env: &[(&str, &str)], args: &[&str]) -> Output {
        self.command(env, args).output().unwrap()
    }

    pub fn path(&self, below: &str) -> String {
        self.0.path().join(below).to_str().unwrap().to_owned()
    }
}

/// All that the program printed.
pub fn words(output: &Output) -> String {
    let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8_lossy(&text).into_owned()
}
