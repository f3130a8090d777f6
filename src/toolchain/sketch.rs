//! Which files of a folder make an Arduino sketch.
//!
//! Owns Arduino's rules for them. Reads the folder; must not build anything.

use std::fs;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use super::paths::has_ending;
use crate::files;
use crate::text::sketch::EXTENSION;

/// Sources below `src` that are compiled at most.
const MOST_SOURCES: usize = 2_000;

/// Endings of sources that are compiled beside the tabs.
const COMPILED: &[&str] = &["c", "cc", "cpp", "cxx"];

/// The files of a sketch, relative to its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sketch {
    /// Name of its main tab, without the ending.
    pub name: String,
    /// The tabs: the main one, then the others by name.
    pub tabs: Vec<PathBuf>,
    /// Sources beside the tabs, and all of those below `src`.
    pub sources: Vec<PathBuf>,
}

impl Sketch {
    /// Reads the folder `root`; `None` when it holds no sketch, or a project of ESP-IDF or
    /// PlatformIO.
    #[must_use]
    pub fn read(root: &Path) -> Option<Self> {
        let found = files(root);
        let of_others = ["CMakeLists.txt", "platformio.ini"];
        if found.iter().any(|path| of_others.iter().any(|other| path.as_os_str() == *other)) {
            return None;
        }
        let mut tabs: Vec<PathBuf> =
            found.iter().filter(|path| has_ending(path, &[EXTENSION])).cloned().collect();
        let main = main_tab(root, &tabs)?;
        let main = tabs.remove(main);
        let name = main.file_stem()?.to_str()?.to_owned();
        tabs.insert(0, main);
        let mut sources: Vec<PathBuf> =
            found.into_iter().filter(|path| has_ending(path, COMPILED)).collect();
        sources.extend(below_src(root));
        Some(Self { name, tabs, sources })
    }

    /// Whether the folder holds one.
    #[must_use]
    pub fn is_at(root: &Path) -> bool {
        Self::read(root).is_some()
    }
}

/// The files right in a folder, by name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.path().is_file());
    let mut names: Vec<PathBuf> = files.map(|entry| PathBuf::from(entry.file_name())).collect();
    names.retain(|name| !name.to_string_lossy().starts_with('.'));
    names.sort();
    names
}

fn below_src(root: &Path) -> Vec<PathBuf> {
    let walk = WalkBuilder::new(root.join("src")).standard_filters(false).hidden(true).build();
    let found = walk.flatten().filter(|entry| has_ending(entry.path(), COMPILED));
    let found = found.filter_map(|entry| entry.path().strip_prefix(root).ok().map(Path::to_owned));
    let mut sources: Vec<PathBuf> = found.take(MOST_SOURCES).collect();
    sources.sort();
    sources
}

/// The tab that is called like the folder, else the one with `setup`, else the first.
fn main_tab(root: &Path, tabs: &[PathBuf]) -> Option<usize> {
    let folder = root.file_name().map(PathBuf::from);
    let like_folder = tabs.iter().position(|tab| tab.file_stem().map(PathBuf::from) == folder);
    let has_setup = |tab: &PathBuf| {
        files::read_text(&root.join(tab), files::SOURCE)
            .is_ok_and(|text| text.contains("void setup("))
    };
    like_folder.or_else(|| tabs.iter().position(has_setup)).or((!tabs.is_empty()).then_some(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn the_tab_with_setup_comes_first_and_sources_are_found() {
        let place = folder(&[
            ("a.ino", "int a;"),
            ("z.ino", "void setup() {}"),
            ("led.cpp", ""),
            ("led.h", ""),
            ("src/deep/er.c", ""),
            ("other/not.cpp", ""),
            (".hidden.ino", ""),
        ]);
        let sketch = Sketch::read(place.path()).unwrap();
        let names = |paths: &[PathBuf]| {
            paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(sketch.name, "z");
        assert_eq!(names(&sketch.tabs), ["z.ino", "a.ino"]);
        assert_eq!(names(&sketch.sources), ["led.cpp", "src/deep/er.c"]);
        fs::create_dir(place.path().join("a")).unwrap();
        fs::write(place.path().join("a/a.ino"), "").unwrap();
        fs::write(place.path().join("a/b.ino"), "void setup() {}").unwrap();
        assert_eq!(Sketch::read(&place.path().join("a")).unwrap().name, "a");
    }

    #[test]
    fn a_project_of_esp_idf_and_an_empty_folder_are_none() {
        assert!(!Sketch::is_at(folder(&[("main.c", "")]).path()));
        assert!(!Sketch::is_at(folder(&[("a.ino", ""), ("CMakeLists.txt", "")]).path()));
        assert!(!Sketch::is_at(folder(&[("a.ino", ""), ("platformio.ini", "")]).path()));
        assert!(!Sketch::is_at(Path::new("/none")));
        assert!(Sketch::is_at(folder(&[("a.ino", "")]).path()));
    }
}
