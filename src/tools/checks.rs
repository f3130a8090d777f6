//! The checks on a file's new content that are made before the person is asked.

use crate::knowledge::NameList;
use crate::model::{Check, CheckKind, FindingLevel, ProjectPath};
use crate::text::{reverty, syntax};
use crate::toolchain::platformio;
use crate::toolchain::sketch::Sketch;
use crate::workspace::{ProjectDir, Registration, is_compiled, registration};

/// A file with its new content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NewFile {
    /// Where it goes.
    pub(super) path: ProjectPath,
    /// What it shall hold.
    pub(super) code: String,
}

/// What checks look at beside the file itself.
pub(super) struct Surroundings<'a> {
    /// The project as it is.
    pub(super) project_dir: &'a ProjectDir,
    /// Names that are taken.
    pub(super) names: &'a NameList,
    /// All files that are proposed together.
    pub(super) batch: &'a [NewFile],
}

impl Surroundings<'_> {
    /// Checks one file of the batch. A check that does not apply is left out.
    pub(super) fn check(&self, file: &NewFile) -> Vec<Check> {
        let found = [parses(file), self.name(file), self.in_cmake(file), Some(text(file))];
        found.into_iter().flatten().collect()
    }

    /// What the nearest `CMakeLists.txt` will say once the batch is saved.
    pub(super) fn registration(&self, path: &ProjectPath) -> Registration {
        registration(path, &|list| {
            if let Some(file) = self.batch.iter().find(|file| file.path == *list) {
                return Some(file.code.clone());
            }
            let content = self.project_dir.read(list).ok()?;
            String::from_utf8(content).ok()
        })
    }

    fn name(&self, file: &NewFile) -> Option<Check> {
        // A file that is there already is part of a project that may have good reasons.
        if self.project_dir.is_file(&file.path) {
            return None;
        }
        Some(match self.names.conflict(file.path.file_name()) {
            None => Check::clean(CheckKind::Name),
            Some(conflict) => Check::of(CheckKind::Name, FindingLevel::Warning, conflict.why),
        })
    }

    fn in_cmake(&self, file: &NewFile) -> Option<Check> {
        // The sources of a sketch are found by where they lie.
        if !is_compiled(&file.path) || Sketch::is_at(self.project_dir.root()) {
            return None;
        }
        Some(match self.registration(&file.path) {
            Registration::In(_) => Check::clean(CheckKind::InCmake),
            Registration::NotIn(list) => {
                let note = format!("`{list}` does not list it, so it would not be compiled");
                Check::of(CheckKind::InCmake, FindingLevel::Warning, note)
            }
            Registration::Unclear(list, why) => {
                let note = format!("`{list}` is not understood ({why}); it may not be compiled");
                Check::of(CheckKind::InCmake, FindingLevel::Warning, note)
            }
            // PlatformIO finds sources by where they lie, too.
            Registration::Nowhere if platformio::is_at(self.project_dir.root()) => return None,
            Registration::Nowhere => {
                let note = "there is no CMakeLists.txt for it".to_owned();
                Check::of(CheckKind::InCmake, FindingLevel::Warning, note)
            }
        })
    }
}

fn parses(file: &NewFile) -> Option<Check> {
    if reverty::is_program(file.path.as_str()) {
        let faults = reverty::check(&file.code);
        return Some(faults.first().map_or_else(
            || Check::clean(CheckKind::Parses),
            |fault| {
                let note = format!("{}:{}: {}", fault.line, fault.column, fault.message);
                Check::of(CheckKind::Parses, FindingLevel::Stop, note)
            },
        ));
    }
    if file.path.extension() == Some("py") {
        return Some(syntax::python_error(&file.path, &file.code).map_or_else(
            || Check::clean(CheckKind::Parses),
            |error| {
                let note = format!("{}:{}: {}", error.line, error.column, error.message);
                Check::of(CheckKind::Parses, FindingLevel::Warning, note)
            },
        ));
    }
    syntax::language_of(&file.path)?;
    Some(match syntax::first_error(&file.path, &file.code) {
        None => Check::clean(CheckKind::Parses),
        Some(error) => {
            let note = format!("{}:{}: {}", error.line, error.column, error.message);
            let level = match error.certainty {
                syntax::Certainty::Certain => FindingLevel::Stop,
                syntax::Certainty::Possible => FindingLevel::Note,
            };
            Check::of(CheckKind::Parses, level, note)
        }
    })
}

fn text(file: &NewFile) -> Check {
    let suspect =
        file.code.lines().enumerate().find_map(|(index, line)| {
            line.chars().find(|&c| is_suspect(c)).map(|c| (index + 1, c))
        });
    match suspect {
        None => Check::clean(CheckKind::Text),
        Some((line, c)) => {
            let note = format!("line {line} holds the invisible character U+{:04X}", u32::from(c));
            Check::of(CheckKind::Text, FindingLevel::Stop, note)
        }
    }
}

/// Controls, and what changes the order or hides text on screen: code that looks like other code.
fn is_suspect(c: char) -> bool {
    (c.is_control() && c != '\t' && c != '\r')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{61c}')
}
