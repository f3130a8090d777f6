//! What a build writes into the project beside the folder that it builds in.
//!
//! Owns the comparison of before and after. Reads names, times and lengths.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

use super::{BuildPlaces, is_made};

/// Names shown at most.
const SHOWN: usize = 8;

/// The files at the top of a project, before a build.
#[derive(Debug)]
pub(in crate::toolchain) struct Changes(BTreeMap<String, (SystemTime, u64)>);

impl Changes {
    /// Looks at a project.
    pub(in crate::toolchain) fn before(places: &BuildPlaces) -> Self {
        Self(files(&places.project))
    }

    /// A line about what is new or different now; `None` when nothing is. Folders that builds make are
    /// left out.
    pub(in crate::toolchain) fn line(&self, places: &BuildPlaces) -> Option<String> {
        let now = files(&places.project);
        let mut changed: Vec<&str> = now
            .iter()
            .filter(|(name, found)| self.0.get(*name) != Some(found))
            .map(|(name, _)| name.as_str())
            .collect();
        // What nobody expects comes first.
        changed.sort_by_key(|name| is_made(name.as_ref(), places));
        changed.truncate(SHOWN);
        (!changed.is_empty())
            .then(|| format!("-- Written into the project by this build: {}\n", changed.join(", ")))
    }
}

fn files(project: &Path) -> BTreeMap<String, (SystemTime, u64)> {
    let entries = std::fs::read_dir(project).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| {
        let found = entry.metadata().ok().filter(|found| !found.is_dir())?;
        let name = crate::text::sanitize::line(&entry.file_name().to_string_lossy()).into_owned();
        Some((name, (found.modified().ok()?, found.len())))
    });
    files.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_build_leaves_beside_its_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("CMakeLists.txt", "x");
        write("sdkconfig", "x");
        let places = BuildPlaces {
            project: folder.path().to_owned(),
            made: vec!["build", "sdkconfig"],
            ..BuildPlaces::default()
        };
        let before = Changes::before(&places);
        assert_eq!(before.line(&places), None);
        std::fs::create_dir(folder.path().join("build")).unwrap();
        write("sdkconfig", "longer");
        write("surprise.sh", "x");
        let line = before.line(&places).unwrap();
        assert_eq!(line, "-- Written into the project by this build: surprise.sh, sdkconfig\n");
    }
}
