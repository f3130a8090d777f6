//! A team of one agent, scripts for it, and a folder for everything.

use std::fs;
use std::path::{Path, PathBuf};

use super::pty::Terminal;

const TEAM: &str = r#"
name = "bench"
title = "Bench"
description = "One agent that plays a script."

[[phases]]
name = "bench"
title = "bench"
participants = ["BenchAgent"]
selection = "round_robin"
goal = "files_saved"
terminate = { any = [{ text = "the bench is over", agent = "BenchAgent" }, { max_messages = 50 }] }
"#;

const AGENT: &str = r#"+++
name = "BenchAgent"
description = "Plays a script."
tools = ["generate_code", "build_project", "flash_project", "monitor_serial"]
+++
Play.
"#;

/// 50 lines each millisecond, as the ESP32 prints them.
const FIRMWARE: &str = r#"#include <stdio.h>
#include <unistd.h>
#include "esp_log.h"
void app_main(void)
{
    for (unsigned n = 0;; n++) {
        for (int i = 0; i < 50; i++) {
            ESP_LOGI("flood", "line %u.%d: the quick brown fox reads temp=%u.%u", n, i, n % 40, n % 10);
        }
        usleep(700);
    }
}
"#;

/// The folder of one measurement.
pub struct Stage {
    dir: tempfile::TempDir,
}

impl Stage {
    /// An empty stage.
    pub fn new() -> Self {
        let stage = Self { dir: tempfile::tempdir().unwrap() };
        stage.write("config/prompts/teams/bench.toml", TEAM);
        stage.write("config/prompts/agents/BenchAgent.md", AGENT);
        stage
    }

    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Puts so many ended sessions into the data folder.
    pub fn sessions(&self, count: usize) {
        for number in 0..count {
            let id = format!("20260101-{number:06}-blink");
            let at = 1_767_225_600_000_u64 + number as u64 * 60_000;
            let start = serde_json::json!({
                "id": id, "task": format!("Blink an LED on GPIO {number}"), "team": "generate",
                "project": "/tmp/blink", "model": "bench", "toolchain": "none", "program": "0",
            });
            let line = |seq: u64, event: serde_json::Value| {
                let at = at + seq * 1_000;
                serde_json::json!({ "v": 1, "seq": seq, "at": at, "event": event }).to_string()
            };
            let mut journal = line(1, serde_json::json!({ "session_started": start }));
            for seq in 2..200 {
                let text = "The scan uses the master driver, but its header is missing.";
                let added = serde_json::json!({ "text_added": { "turn": 1, "text": text } });
                journal.push_str(&format!("\n{}", line(seq, added)));
            }
            let ended = serde_json::json!({ "session_ended": { "outcome": "completed" } });
            journal.push_str(&format!("\n{}\n", line(200, ended)));
            self.write(&format!("data/sessions/{id}/journal.jsonl"), &journal);
        }
    }

    /// Sets the script and how proposals are decided.
    pub fn script(&self, script: &str, decide: &str) {
        self.write("script.toml", script);
        self.write("config/config.toml", &format!("[[policy]]\ndecide = \"{decide}\"\n"));
    }

    /// Sets a script that builds and flashes a firmware that floods its port, and then talks at 200
    /// tokens (800 characters) a second.
    pub fn flood(&self) {
        self.write("main.c", FIRMWARE);
        self.write(
            "top.cmake",
            "include($ENV{IDF_PATH}/tools/cmake/project.cmake)\nproject(flood)\n",
        );
        self.write("main.cmake", "idf_component_register(SRCS main.c)\n");
        let words = "The bus is quiet and the sensor answers as it should. ".repeat(2_000);
        let script = format!(
            r#"format = 1
title = "flood"
task = "flood"
start = "save"
[timing]
chars_per_second = 800
think_ms = 0
[files."CMakeLists.txt"]
versions = ["top.cmake"]
[files."main/CMakeLists.txt"]
versions = ["main.cmake"]
[files."main/main.c"]
versions = ["main.c"]
[[steps]]
id = "save"
agent = "BenchAgent"
say = "saving"
calls = [{{ tool = "generate_code", files = ["CMakeLists.txt", "main/CMakeLists.txt", "main/main.c"] }}]
next = [{{ goto = "build" }}]
[[steps]]
id = "build"
agent = "BenchAgent"
say = "building"
calls = [{{ tool = "build_project" }}]
next = [{{ goto = "flash" }}]
[[steps]]
id = "flash"
agent = "BenchAgent"
say = "flashing"
calls = [{{ tool = "flash_project" }}]
next = [{{ goto = "talk" }}]
[[steps]]
id = "talk"
agent = "BenchAgent"
say = "listening now. {words}"
end = true
"#
        );
        self.script(&script, "allow");
    }

    /// Starts the program on the script.
    pub fn run(&self, cols: u16, rows: u16) -> Terminal {
        let script = self.root().join("script.toml");
        let (script, speed) = (script.to_str().unwrap(), self.speed());
        let args = ["new", "bench", "--team", "bench", "--script", script, "--speed", speed];
        Terminal::start(cols, rows, self.root(), &args)
    }

    fn speed(&self) -> &'static str {
        let script = fs::read_to_string(self.root().join("script.toml")).unwrap();
        if script.contains("chars_per_second") { "real" } else { "max" }
    }

    fn session(&self) -> PathBuf {
        let mut all = fs::read_dir(self.root().join("data/sessions")).unwrap();
        all.next().unwrap().unwrap().path()
    }

    /// When the first record of that kind was made, in milliseconds since 1970.
    pub fn recorded(&self, kind: &str) -> Option<u64> {
        let journal = fs::read_to_string(self.session().join("journal.jsonl")).unwrap();
        let line =
            journal.lines().find(|line| line.contains(&format!("\"event\":{{\"{kind}\"")))?;
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        record["at"].as_u64()
    }

    /// Lines of the serial log so far.
    pub fn serial_lines(&self) -> usize {
        let log = fs::read(self.session().join("logs/serial-1.log")).unwrap();
        log.iter().filter(|&&byte| byte == b'\n').count()
    }
}

/// A script that says so many lines of Markdown.
pub fn say(lines: usize) -> String {
    let mut text = String::from("# A long answer\n\n");
    for number in 1..lines {
        match number % 50 {
            10 => text.push_str("```c\n"),
            11..30 => {
                text.push_str(&format!("    int value_{number} = read({number}); // and so on\n"))
            }
            30 => text.push_str("```\n"),
            31 | 41 => text.push('\n'),
            32..41 => text.push_str(&format!("- point {number} with `code` and **weight**\n")),
            _ => text.push_str(&format!(
                "Line {number} tells more about the bus and what answers on it.\n"
            )),
        }
    }
    text.push_str("\n\nthe very last line\n");
    one(&text, "")
}

/// A script that wants to save one file.
pub fn save(path: &str, content: &str) -> String {
    let content = content.replace('\n', "\\n");
    let call = format!(
        "calls = [{{ tool = \"generate_code\", args = {{ files = [{{ file_name = \"{path}\", code = \"{content}\" }}] }} }}]\nnext = [{{ goto = \"end\" }}]"
    );
    format!(
        "{}[[steps]]\nid = \"end\"\nagent = \"BenchAgent\"\nsay = \"the bench is over\"\nend = true\n",
        one("saving", &call)
    )
}

/// The script, with a pause of half a second before each answer.
pub fn thinking(script: &str) -> String {
    let timing = "\n[timing]\nchars_per_second = 1000000\nthink_ms = 500\n\n[[steps]]";
    script.replacen("[[steps]]", timing, 1)
}

fn one(say: &str, rest: &str) -> String {
    let end = if rest.is_empty() { "end = true" } else { rest };
    format!(
        "format = 1\ntitle = \"bench\"\ntask = \"bench\"\nstart = \"only\"\n\n[[steps]]\nid = \"only\"\nagent = \"BenchAgent\"\nsay = '''\n{say}\n'''\n{end}\n"
    )
}
