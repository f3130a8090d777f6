//! The files a call is about to bring into the chat, and what the person has to say to them.
//!
//! Owns which tools list files first and how a list comes about. Sizes are looked up by the run.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::model::{AgentName, ChosenBy, ContextFile, ProjectPath, ToolCall, ToolName};

/// The tool whose files are listed before they are read.
pub(in crate::engine) const READS: &str = "read_project_files";

/// The tool that tells which files a request is about.
const RANKS: &str = "find_relevant_files";

/// Where its paths are.
const PATHS: &str = "paths";

/// How far the list of the open call is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::engine) enum Listing {
    /// There is none, or it is out of date.
    #[default]
    None,
    /// It was shown.
    Shown(Vec<ContextFile>),
}

impl Listing {
    /// Whether files have to be listed before `call` is made.
    pub fn is_due(&self, call: &ToolCall) -> bool {
        call.tool.as_str() == READS && *self == Self::None && Pins::understands(call)
    }

    /// The arguments the call is made with, once its files were listed.
    pub fn arguments(&self, call: &ToolCall) -> Value {
        let mut args = call.args.clone();
        if let (Self::Shown(files), Some(fields)) = (self, args.as_object_mut())
            && call.tool.as_str() == READS
            && fields.contains_key(PATHS)
        {
            let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
            fields.insert(PATHS.to_owned(), json!(paths));
        }
        args
    }
}

/// Files the person wants in the context, and files to be kept out of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::engine) struct Pins {
    added: Vec<ProjectPath>,
    removed: Vec<ProjectPath>,
    /// Why files were found relevant.
    reasons: BTreeMap<ProjectPath, String>,
}

impl Pins {
    /// Takes in what [`RANKS`] found out about files.
    pub fn learn(&mut self, tool: &ToolName, result: &Value) {
        if tool.as_str() != RANKS {
            return;
        }
        let files = result.get("files").and_then(Value::as_array).into_iter().flatten();
        let reasons = files.filter_map(|file| {
            let path = ProjectPath::new(file.get("path")?.as_str()?).ok()?;
            let why = file.get("why")?.as_array()?.iter().filter_map(Value::as_str);
            Some((path, why.collect::<Vec<_>>().join(", ")))
        });
        self.reasons.extend(reasons);
    }

    /// Why a file was found relevant; empty when nothing said so.
    pub fn reason(&self, path: &ProjectPath) -> String {
        self.reasons.get(path).cloned().unwrap_or_default()
    }

    /// Takes a change; the newest word counts.
    pub fn edit(&mut self, add: &[ProjectPath], remove: &[ProjectPath]) {
        self.added.retain(|path| !remove.contains(path) && !add.contains(path));
        self.removed.retain(|path| !add.contains(path) && !remove.contains(path));
        self.added.extend(add.iter().cloned());
        self.removed.extend(remove.iter().cloned());
    }

    /// The files of a call and who wants each: the agent's own choice without what the person
    /// took out, then what the person put in. Paths that are none are left to the tool, which
    /// names them.
    pub fn list(&self, call: &ToolCall, agent: &AgentName) -> Vec<(ProjectPath, ChosenBy)> {
        let own = call.args.get(PATHS).and_then(Value::as_array).into_iter().flatten();
        let mut files: Vec<(ProjectPath, ChosenBy)> = Vec::new();
        for path in own.filter_map(|path| ProjectPath::new(path.as_str()?).ok()) {
            if !self.removed.contains(&path) && !files.iter().any(|(known, _)| *known == path) {
                files.push((path, ChosenBy::Agent(agent.clone())));
            }
        }
        for path in &self.added {
            if !files.iter().any(|(known, _)| known == path) {
                files.push((path.clone(), ChosenBy::Person));
            }
        }
        files
    }

    /// Whether every path of a call can be listed; one that cannot must reach the tool as it is.
    pub fn understands(call: &ToolCall) -> bool {
        let paths = call.args.get(PATHS).and_then(Value::as_array);
        let is_path = |path: &Value| path.as_str().is_some_and(|p| ProjectPath::new(p).is_ok());
        paths.is_some_and(|paths| !paths.is_empty() && paths.iter().all(is_path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CallId;

    fn path(text: &str) -> ProjectPath {
        ProjectPath::new(text).unwrap()
    }

    fn call(args: Value) -> ToolCall {
        ToolCall { id: CallId(1), tool: READS.into(), args }
    }

    #[test]
    fn the_persons_last_word_counts() {
        let mut pins = Pins::default();
        pins.edit(&[path("c.c")], &[path("a.c")]);
        let asked = call(json!({ "paths": ["a.c", "b.c", "b.c"] }));
        let names = |pins: &Pins| -> Vec<String> {
            let files = pins.list(&asked, &"A".into());
            files.into_iter().map(|(path, _)| path.to_string()).collect()
        };
        assert_eq!(names(&pins), ["b.c", "c.c"]);
        pins.edit(&[path("a.c")], &[path("c.c")]);
        assert_eq!(names(&pins), ["a.c", "b.c"]);
    }

    #[test]
    fn the_call_is_made_with_the_listed_files() {
        let asked = call(json!({ "paths": ["a.c"] }));
        assert!(Listing::default().is_due(&asked));
        let by = ChosenBy::Person;
        let file =
            ContextFile { path: path("b.c"), bytes: Some(8), tokens: 2, by, reason: String::new() };
        let listing = Listing::Shown(vec![file]);
        assert!(!listing.is_due(&asked));
        assert_eq!(listing.arguments(&asked), json!({ "paths": ["b.c"] }));
    }

    #[test]
    fn paths_that_are_none_are_left_to_the_tool() {
        assert!(Pins::understands(&call(json!({ "paths": ["a.c"] }))));
        for args in [json!({}), json!({ "paths": ["../a.c"] }), json!({ "paths": [7] })] {
            assert!(!Pins::understands(&call(args.clone())), "{args}");
        }
    }

    #[test]
    fn reasons_come_from_the_ranking_and_stay_with_their_files() {
        let mut pins = Pins::default();
        let result = json!({ "ok": true, "files": [
            { "path": "a.c", "why": ["names `report`", "changed together"] },
            { "path": "../out", "why": ["no"] }, { "path": "b.c" },
        ] });
        pins.learn(&"read_file".into(), &result);
        assert_eq!(pins.reason(&path("a.c")), "");
        pins.learn(&RANKS.into(), &result);
        assert_eq!(pins.reason(&path("a.c")), "names `report`, changed together");
        assert_eq!(pins.reason(&path("b.c")), "");
    }
}
