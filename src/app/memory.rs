//! The arrangement of the screen, remembered for each project: `projects/*.toml` of the data
//! folder.
//!
//! Never inside the project: what a person likes to look at is no part of it. Losing such a file
//! costs nothing, so one that cannot be read counts as not there.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::own_file;
use crate::files;
use crate::model::ContentHash;
use crate::ui::Arrangement;

/// The memory of one project's screen.
#[derive(Debug, Clone)]
pub struct ScreenMemory {
    file: PathBuf,
    project: String,
}

/// A file as it is written.
#[derive(Debug, Serialize, Deserialize)]
struct MemoryFile {
    /// For people who look into the folder.
    project: String,
    #[serde(flatten)]
    arrangement: Arrangement,
}

impl ScreenMemory {
    /// The memory of `project` below the data folder. All projects inside of sessions share one:
    /// each of them is seen once only.
    #[must_use]
    pub fn of(data: &Path, project: &Path) -> Self {
        let project = std::path::absolute(project).unwrap_or_else(|_| project.to_owned());
        let is_sessions_own = project.starts_with(data.join("sessions"));
        let (name, project) = if is_sessions_own {
            ("sessions".to_owned(), "projects inside of sessions".to_owned())
        } else {
            let path = project.display().to_string();
            let hash = ContentHash::of(path.as_bytes()).to_string();
            (hash.chars().filter(char::is_ascii_alphanumeric).take(24).collect(), path)
        };
        Self { file: data.join("projects").join(format!("{name}.toml")), project }
    }

    /// What was remembered; as usual when nothing was.
    #[must_use]
    pub fn recall(&self) -> Arrangement {
        let text = files::read_text(&self.file, files::SETTINGS).unwrap_or_default();
        toml::from_str::<MemoryFile>(&text).map(|page| page.arrangement).unwrap_or_default()
    }

    /// Remembers.
    ///
    /// # Errors
    /// When the data folder cannot be written.
    pub fn keep(&self, arrangement: Arrangement) -> io::Result<()> {
        if arrangement == self.recall() {
            return Ok(());
        }
        let page = MemoryFile { project: self.project.clone(), arrangement };
        let text = toml::to_string(&page).map_err(io::Error::other)?;
        own_file::put(&self.file, &text)
    }
}

#[cfg(test)]
mod tests {
    use crate::ui::layout::PaneId;
    use crate::ui::sizes::Sizes;

    use std::fs;

    use super::*;

    fn arrangement() -> Arrangement {
        Arrangement {
            theme: Some("nord".into()),
            front: Some(PaneId::Logs),
            sizes: Sizes { chat: Some(400), ..Sizes::default() },
            used: [("zoom".to_owned(), 2)].into(),
        }
    }

    #[test]
    fn every_project_has_its_own_memory_outside_of_itself() {
        let data = tempfile::tempdir().unwrap();
        let project = tempfile::tempdir().unwrap();
        let memory = ScreenMemory::of(data.path(), project.path());
        assert_eq!(memory.recall(), Arrangement::default());
        memory.keep(arrangement()).unwrap();
        assert_eq!(ScreenMemory::of(data.path(), project.path()).recall(), arrangement());
        let other = ScreenMemory::of(data.path(), Path::new("/elsewhere"));
        assert_eq!(other.recall(), Arrangement::default());
        assert_eq!(fs::read_dir(project.path()).unwrap().count(), 0);
        let names: Vec<_> = fs::read_dir(data.path().join("projects")).unwrap().collect();
        assert_eq!(names.len(), 1, "no unfinished file stays");
    }

    #[test]
    fn projects_inside_of_sessions_share_one_memory() {
        let data = tempfile::tempdir().unwrap();
        let inside = |name: &str| data.path().join("sessions").join(name).join("project");
        ScreenMemory::of(data.path(), &inside("a")).keep(arrangement()).unwrap();
        assert_eq!(ScreenMemory::of(data.path(), &inside("b")).recall(), arrangement());
    }

    #[test]
    fn a_damaged_memory_counts_as_none() {
        let data = tempfile::tempdir().unwrap();
        let memory = ScreenMemory::of(data.path(), Path::new("/p"));
        memory.keep(arrangement()).unwrap();
        fs::write(&memory.file, "front = 7").unwrap();
        assert_eq!(memory.recall(), Arrangement::default());
        memory.keep(arrangement()).unwrap();
        assert_eq!(memory.recall(), arrangement());
    }
}
