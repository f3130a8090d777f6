//! The folder of one try: a team of one agent, its script, rules, a project and a data folder.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use firmhand::model::ContentHash;

const TEAM: &str = r#"name = "crash"
title = "Crash"
description = "One agent that saves, changes and deletes."

[[phases]]
name = "work"
title = "work"
participants = ["CrashAgent"]
selection = "round_robin"
goal = "answered"
terminate = { any = [{ spoke = "CrashAgent" }, { max_seconds = 600 }] }
"#;

const AGENT: &str = r#"+++
name = "CrashAgent"
description = "Saves, changes and deletes files."
tools = ["generate_code", "write_file", "insert_code", "delete_files"]
+++
You save, change and delete files.
"#;

/// Rules that let everything happen, and rules that ask the person.
pub const ALLOW: &str = "[[policy]]\ndecide = \"allow\"\n";
pub const ASK: &str = "[[policy]]\ndecide = \"ask\"\n";

/// Files of one round.
const FILES: usize = 4;

/// What the person has in the project before; the agent changes the last of these files.
const OWN: [(&str, &str); 4] = [
    ("README.md", "# Mine\n\nNobody else writes here.\n"),
    ("lib/part0/src/own.c", "int own(void)\n{\n    return 1;\n}\n"),
    ("notes/todo.txt", "- nothing\n"),
    ("lib/part0/src/file2.c", "// file 2 as it was\n"),
];

/// Everything of one try, below one folder.
pub struct World {
    root: PathBuf,
    /// What the project holds before the session.
    pub own: BTreeMap<String, ContentHash>,
}

impl World {
    /// Makes the folder anew.
    pub fn new(root: &Path, rounds: usize) -> Self {
        let _ = fs::remove_dir_all(root);
        let own = OWN.map(|(path, text)| (path.to_owned(), ContentHash::of(text.as_bytes())));
        let world = Self { root: root.to_owned(), own: BTreeMap::from(own) };
        for (path, text) in OWN {
            world.put(&format!("state/project/{path}"), text);
        }
        world.put("config/prompts/teams/crash.toml", TEAM);
        world.put("config/prompts/agents/CrashAgent.md", AGENT);
        world.put("config/rules.toml", ALLOW);
        world.put("script/script.toml", &world.script(rounds));
        fs::create_dir_all(world.state().join("data")).unwrap();
        world
    }

    fn put(&self, below: &str, text: &str) {
        let path = self.root.join(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Says what the person's own configuration decides.
    pub fn rule(&self, text: &str) {
        self.put("config/config.toml", text);
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What the program writes to: its data folder and the project.
    pub fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    pub fn project(&self) -> PathBuf {
        self.state().join("project")
    }

    /// The journal; `None` before there is one.
    pub fn journal(&self) -> Option<PathBuf> {
        let sessions = fs::read_dir(self.state().join("data/sessions")).ok()?;
        let mut found = sessions.flatten().map(|entry| entry.path().join("journal.jsonl"));
        found.find(|path| path.is_file())
    }

    /// The words that start a session; `None`: the person decides, line by line.
    pub fn start(&self, policy: Option<&str>) -> Vec<String> {
        let path = |below: &str| self.root.join(below).to_str().unwrap().to_owned();
        let mut words: Vec<String> = match policy {
            Some(_) => vec!["run".into(), "Crash".into(), "--json".into()],
            None => vec!["new".into(), "Crash".into(), "--plain".into()],
        };
        if let Some(policy) = policy {
            words.extend(["--policy".to_owned(), path(policy)]);
        }
        words.extend(["--team", "crash", "--speed", "max", "--script"].map(str::to_owned));
        words.push(path("script/script.toml"));
        words.extend(["--project".to_owned(), self.project().to_str().unwrap().to_owned()]);
        words
    }

    /// The script: each round saves four files in a batch, changes one by a diff, inserts into
    /// another, and deletes two in a batch.
    fn script(&self, rounds: usize) -> String {
        let mut files = String::new();
        let mut steps: Vec<(String, String)> = Vec::new();
        for round in 0..rounds {
            let mut names = Vec::new();
            for number in 0..FILES {
                let (key, file) = (format!("r{round}f{number}"), source(round, number));
                self.put(&format!("script/{key}.txt"), &file);
                let path = path(number);
                let _ =
                    writeln!(files, "[files.{key}]\npath = {path:?}\nversions = [\"{key}.txt\"]\n");
                names.push(format!("{key:?}"));
            }
            let saved = format!("tool = \"generate_code\", files = [{}]", names.join(", "));
            steps.push((format!("save{round}"), saved));
            let old = source(round, 0);
            let first: Vec<&str> = old.lines().take(3).collect();
            let diff = format!(
                "@@ -1,3 +1,4 @@\n {}\n {}\n+// changed in round {round}\n {}\n",
                first[0], first[1], first[2]
            );
            let changed = format!(
                "tool = \"write_file\", args = {{ path = {:?}, reason = \"r\", diff = {diff:?} }}",
                path(0)
            );
            steps.push((format!("change{round}"), changed));
            let gone = format!(
                "tool = \"delete_files\", args = {{ paths = [{:?}, {:?}] }}",
                path(1),
                path(3)
            );
            steps.push((format!("delete{round}"), gone));
        }
        let mut text = format!(
            "format = 1\ntitle = \"Crash\"\ntask = \"Crash\"\nteam = \"crash\"\nstart = {:?}\n\n\
             [timing]\nchars_per_second = 100000\nthink_ms = 0\n\n{files}",
            steps[0].0
        );
        for (number, (id, call)) in steps.iter().enumerate() {
            let next = steps.get(number + 1).map_or("end", |(id, _)| id);
            let _ = write!(
                text,
                "[[steps]]\nid = {id:?}\nagent = \"CrashAgent\"\nsay = \"Step {id}.\"\n\
                 calls = [{{ {call} }}]\nnext = [{{ goto = {next:?} }}]\n\n"
            );
        }
        text.push_str(
            "[[steps]]\nid = \"end\"\nagent = \"CrashAgent\"\nsay = \"Done.\"\nend = true\n",
        );
        text
    }
}

/// The files that the agent works on.
pub fn paths() -> Vec<String> {
    (0..FILES).map(path).collect()
}

fn path(number: usize) -> String {
    format!("lib/part{}/src/file{number}.c", number % 2)
}

fn source(round: usize, number: usize) -> String {
    let mut text = format!("// file {number} of round {round}\n#include <stdint.h>\n\n");
    for function in 0..8 {
        let _ = write!(
            text,
            "int f{number}_{round}_{function}(void)\n{{\n    return {};\n}}\n\n",
            function * 7 + round
        );
    }
    text
}
