//! A project folder, and the program under test called as an agent calls its tools.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// A project and nothing else of a person's.
pub struct Project {
    top: tempfile::TempDir,
}

impl Project {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let top = tempfile::tempdir_in("/var/tmp").unwrap();
        let project = Self { top };
        fs::create_dir(project.path("")).unwrap();
        for (path, text) in files {
            let path = project.path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        project
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.top.path().join("project").join(path)
    }

    /// A file that no tool has any business with.
    pub fn outside(&self, name: &str) -> PathBuf {
        self.top.path().join(name)
    }

    /// Calls a tool and returns its answer.
    pub fn tool(&self, name: &str, args: &Value) -> Value {
        self.tool_with(name, args, &[])
    }

    /// Calls a tool with other variables in its environment.
    pub fn tool_with(&self, name: &str, args: &Value, env: &[(&str, &str)]) -> Value {
        let output = Command::new(env!("CARGO_BIN_EXE_firmhand"))
            .args(["tool", name, "--args", &args.to_string(), "--project"])
            .arg(self.path(""))
            .env("XDG_DATA_HOME", self.outside("data"))
            .env("XDG_CONFIG_HOME", self.outside("config"))
            .envs(env.iter().copied())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        serde_json::from_str(&text)
            .unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)))
    }

    /// Every file of the project with its content.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        let mut open = vec![self.path("")];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                match entry.file_type().unwrap().is_dir() {
                    true => open.push(entry.path()),
                    false => files.push((entry.path(), fs::read(entry.path()).unwrap())),
                }
            }
        }
        files.sort();
        files
    }
}

/// The tests of an answer: name and how it ended.
pub fn outcomes(answer: &Value) -> Vec<(String, String)> {
    let tests = answer["tests"].as_array().cloned().unwrap_or_default();
    let text = |test: &Value, key: &str| test[key].as_str().unwrap_or_default().to_owned();
    let short = |name: String| name.rsplit([':', '.']).next().unwrap_or_default().to_owned();
    tests.iter().map(|test| (short(text(test, "name")), text(test, "outcome"))).collect()
}
