//! Which source an object file was made from, as far as its name and the log say.

use std::collections::HashMap;
use std::path::Path;

use super::paths::Paths;
use super::patterns::{self, group};

/// How names of sources end, which most build systems keep in the names of their objects.
const SOURCES: [&str; 9] = [".c", ".cpp", ".cc", ".cxx", ".c++", ".S", ".s", ".asm", ".ino"];

/// How names of objects end.
const OBJECTS: [&str; 2] = [".obj", ".o"];

/// Whether a file is a source, by its name.
pub(super) fn is_source(name: &str) -> bool {
    SOURCES.iter().any(|end| name.ends_with(end))
}

/// Where objects come from, as far as the log says.
#[derive(Debug, Default)]
pub(super) struct Objects {
    /// Folders of components by name.
    folders: HashMap<String, String>,
    /// Sources below their component's folder, by component and name.
    sources: HashMap<(String, String), String>,
    /// Sources by the target of CMake that they are compiled for, and by name.
    of_targets: HashMap<(String, String), String>,
    /// The source of the function that the linker's next lines are about.
    current: Option<String>,
}

impl Objects {
    /// Takes a line that names components or objects.
    pub(super) fn take(&mut self, line: &str, paths: &Paths) {
        if let Some(folders) = line.strip_prefix("-- Component paths: ") {
            for folder in folders.split(' ').filter(|folder| paths.is_own(folder)) {
                let name = folder.rsplit('/').next().unwrap_or(folder);
                self.folders.insert(name.to_owned(), paths.relative(folder));
            }
        } else if let Some(found) = patterns::OBJECT_OF.captures(line) {
            let (component, source) = (group(&found, 1), group(&found, 2));
            let name = source.rsplit('/').next().unwrap_or(source);
            let key = (component.to_owned(), name.to_owned());
            self.sources.insert(key, source.to_owned());
        } else if let Some(found) = patterns::OBJECT_OF_TARGET.captures(line) {
            let source = format!("{}{}", group(&found, 1), group(&found, 3));
            let name = source.rsplit('/').next().unwrap_or(&source).to_owned();
            self.of_targets.insert((group(&found, 2).to_owned(), name), paths.relative(&source));
        } else if let Some(found) =
            patterns::IN_FUNCTION.captures(line).or_else(|| patterns::IN_OBJECT.captures(line))
        {
            self.current = self.source(group(&found, 1), paths);
        }
    }

    /// The source of an object or of an object in an archive; a source is its own.
    pub(super) fn source(&self, object: &str, paths: &Paths) -> Option<String> {
        if let Some(found) = patterns::ARCHIVED.captures(object) {
            return self.of_component(group(&found, 1), group(&found, 2));
        }
        if is_source(object) {
            return Some(self.full(paths.relative(object)));
        }
        let source = OBJECTS.iter().find_map(|end| object.strip_suffix(end))?;
        let object = source.replace('\\', "/");
        let inside = patterns::IDF_OBJECT.captures(&object);
        if let Some(found) = inside {
            return self.of_component(group(&found, 1), group(&found, 2));
        }
        let found = patterns::BUILT_OBJECT.captures(&object)?;
        let (folder, below) = (group(&found, 1), group(&found, 2));
        let below =
            below.strip_suffix(".cpp").filter(|name| name.ends_with(".ino")).unwrap_or(below);
        is_source(below).then(|| paths.relative(&format!("{folder}{below}")))
    }

    /// The path of a source of which the linker names only the last part.
    pub(super) fn full(&self, file: String) -> String {
        let is_part = |full: &&String| {
            !file.contains('/') && Path::new(full).file_name().is_some_and(|name| *name == *file)
        };
        self.current.as_ref().filter(is_part).cloned().unwrap_or(file)
    }

    /// The source of an object of one of the project's components.
    fn of_component(&self, component: &str, object: &str) -> Option<String> {
        let name = object.rsplit('/').next().unwrap_or(object);
        let key = (component.to_owned(), name.to_owned());
        let folder = match self.folders.get(component) {
            Some(folder) => folder.as_str(),
            None if component == "main" && !self.of_targets.contains_key(&key) => "main",
            None => return self.of_targets.get(&key).cloned(),
        };
        let below = self.sources.get(&key).map_or(object, String::as_str);
        Some(format!("{folder}/{below}"))
    }
}
