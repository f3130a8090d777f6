//! The plan of a project: the files the team set out to write, ticked off as they are saved.

use serde_json::Value;

use super::team::Progress;
use crate::model::{Outcome, ProjectPath};

/// The tool that takes the list of files and has their names checked.
pub(super) const TOOL: &str = "file_name_checker";

/// A list of files to write.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FilePlan {
    /// In the order of the plan.
    pub files: Vec<PlannedFile>,
}

/// A file of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedFile {
    /// Where it goes.
    pub path: ProjectPath,
    /// What for, in a line.
    pub purpose: String,
    /// How far it is.
    pub state: PlannedState,
}

/// How far a planned file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlannedState {
    /// Nothing has come of it yet.
    Open,
    /// A proposal for it waits or is under way.
    Proposed,
    /// A proposal for it was refused or failed.
    Refused,
    /// It was written.
    Done,
}

impl PlannedState {
    /// Its sign in a list.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Open => "☐",
            Self::Proposed => "◐",
            Self::Refused => "✗",
            Self::Done => "✓",
        }
    }
}

impl FilePlan {
    /// How many files were written.
    #[must_use]
    pub fn done(&self) -> usize {
        self.files.iter().filter(|file| file.state == PlannedState::Done).count()
    }

    /// How far it is.
    pub(super) fn progress(&self) -> Progress {
        let next = self.files.iter().find(|file| file.state != PlannedState::Done);
        let current = next.map_or_else(String::new, |file| file.path.as_str().to_owned());
        let (done, total, side_by_side) = (self.done(), self.files.len(), Vec::new());
        Progress { done, total, unit: "files", current, side_by_side }
    }

    /// The plan in the arguments of [`TOOL`]; `None`: they hold none.
    pub(super) fn read(args: &Value) -> Option<Self> {
        let file = |planned: &Value| {
            let path = ProjectPath::new(planned.get("file_name")?.as_str()?).ok()?;
            let purpose = planned.get("description").and_then(Value::as_str).unwrap_or_default();
            Some(PlannedFile { path, purpose: purpose.to_owned(), state: PlannedState::Open })
        };
        let files: Vec<PlannedFile> =
            args.get("files")?.as_array()?.iter().filter_map(file).collect();
        (!files.is_empty()).then_some(Self { files })
    }

    /// Takes over how far files of an earlier plan are.
    pub(super) fn go_on_from(&mut self, before: &Self) {
        for file in &mut self.files {
            let known = before.files.iter().find(|known| known.path == file.path);
            file.state = known.map_or(PlannedState::Open, |known| known.state);
        }
    }

    pub(super) fn file_mut(&mut self, path: &ProjectPath) -> Option<&mut PlannedFile> {
        self.files.iter_mut().find(|file| file.path == *path)
    }
}

impl PlannedFile {
    /// Takes over what came of a proposal for it; what was written stays written.
    pub(super) fn settle(&mut self, outcome: &Outcome) {
        self.state = match (outcome, self.state) {
            (Outcome::Applied, _) | (_, PlannedState::Done) => PlannedState::Done,
            (_, _) => PlannedState::Refused,
        };
    }
}
