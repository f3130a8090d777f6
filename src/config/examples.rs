//! The example library: tasks to begin with, read from `assets/examples`.
//!
//! Owns their format and what is refused in it. Whether a team exists is for whoever runs it.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use super::assets::{AssetFile, Assets};
use crate::model::UserError;
use crate::text::lines::line_at;

/// Folder of the library.
const FOLDER: &str = "assets/examples";

/// A task with the team that takes it on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// Its name, for the command line.
    pub name: String,
    /// What it is, in a few words.
    pub title: String,
    pub team: String,
    /// The task in words for the team.
    pub task: String,
    /// The project it begins with, a folder of `assets/projects`.
    pub project: Option<String>,
    /// The example whose project it changes.
    pub after: Option<String>,
    /// What it needs that the virtual board does not have; empty: nothing.
    pub needs: String,
    /// Whether a recorded conversation can play it without a model.
    pub is_recorded: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExampleLibrary {
    examples: Vec<Spanned<ExampleRow>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExampleRow {
    name: Spanned<String>,
    title: String,
    team: String,
    task: Spanned<String>,
    project: Option<String>,
    after: Option<Spanned<String>>,
    #[serde(default)]
    needs: String,
    #[serde(default)]
    recorded: bool,
}

impl Example {
    /// What it needs, or that nothing but this program is needed; in a few words.
    #[must_use]
    pub fn note(&self) -> String {
        match (self.is_recorded, &self.after, self.needs.as_str()) {
            (true, ..) => "recorded, runs without a model".to_owned(),
            (false, Some(after), _) => format!("changes what `{after}` made"),
            (false, None, "") => String::new(),
            (false, None, needs) => format!("needs {needs}"),
        }
    }

    /// Whether it changes a project rather than making one.
    #[must_use]
    pub fn changes_project(&self) -> bool {
        let changes = ["edit-generated", "edit-existing", "extend-existing", "mend", "pair"];
        self.after.is_some() || changes.contains(&self.team.as_str())
    }

    /// The whole library, file by file in the order of their names.
    ///
    /// # Errors
    /// When a file is wrong; names file and line.
    pub fn all(assets: &Assets) -> Result<Vec<Self>, UserError> {
        let mut all: Vec<Self> = Vec::new();
        for path in assets.list(FOLDER) {
            read(&assets.text(&path)?, &mut all)?;
        }
        Ok(all)
    }

    /// The example of that name.
    ///
    /// # Errors
    /// When there is none; tells those there are.
    pub fn find(assets: &Assets, name: &str) -> Result<Self, UserError> {
        let all = Self::all(assets)?;
        let names: Vec<String> = all.iter().map(|example| example.name.clone()).collect();
        all.into_iter().find(|example| example.name == name).ok_or_else(|| {
            UserError::new(
                format!("Cannot find the example `{name}`"),
                "no file of assets/examples has it",
                format!("Use one of: {}.", names.join(", ")),
            )
        })
    }
}

fn read(file: &AssetFile, all: &mut Vec<Example>) -> Result<(), UserError> {
    let wrong = |span: Range<usize>, why: String, fix: &str| {
        let line = line_at(&file.text, span.start);
        UserError::new(format!("Cannot use {}, line {line}", file.origin), why, fix)
    };
    let library: ExampleLibrary = toml::from_str(&file.text).map_err(|error| {
        let why = error.message().trim().replace('\n', ", ");
        wrong(error.span().unwrap_or(0..0), why, "Correct or remove that line.")
    })?;
    for row in library.examples {
        let row = row.into_inner();
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if row.name.get_ref().is_empty() || !row.name.get_ref().chars().all(is_plain) {
            let why = format!("`{}` is not a valid name for an example", row.name.get_ref());
            return Err(wrong(row.name.span(), why, "Use small letters, digits and `-`."));
        }
        if all.iter().any(|known| known.name == *row.name.get_ref()) {
            let why = format!("there are two examples `{}`", row.name.get_ref());
            return Err(wrong(row.name.span(), why, "Give each its own name."));
        }
        if row.task.get_ref().trim().is_empty() {
            let why = "the task is empty".to_owned();
            return Err(wrong(row.task.span(), why, "Write what the team should do."));
        }
        if let Some(after) = row.after.as_ref().filter(|_| row.project.is_some()) {
            let why = "an example has either `project` or `after`".to_owned();
            return Err(wrong(after.span(), why, "Keep one of them."));
        }
        all.push(Example {
            name: row.name.into_inner(),
            title: row.title,
            team: row.team,
            task: row.task.into_inner().trim().to_owned(),
            project: row.project,
            after: row.after.map(Spanned::into_inner),
            needs: row.needs,
            is_recorded: row.recorded,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_holds_tasks_for_each_kind_of_work() {
        let all = Example::all(&Assets::built_in()).unwrap();
        let of = |team: &str| all.iter().filter(|example| example.team == team).count();
        assert_eq!(of("generate"), 8);
        assert_eq!(all.iter().filter(|example| example.after.is_some()).count(), 10);
        for example in all.iter().filter_map(|example| example.after.as_ref()) {
            assert!(all.iter().any(|known| known.name == *example), "{example}");
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = Example::find(&Assets::built_in(), "toaster").unwrap_err();
        assert!(error.fix.contains("i2c-driver"), "{error:?}");
    }
}
