//! How the sources of a PlatformIO project were compiled, by what PlatformIO tells editors.
//!
//! Must not have `compile_commands.json` made: PlatformIO writes it among the project's own files.
//! Reads files only.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use super::build_output::{BuildNote, IdeData};
use crate::toolchain::syntax::{self, CompileEntry, CompileLines, CompilePaths};

/// Sources that are looked at, at most.
const MOST_SOURCES: usize = 2_000;

/// The last build's; `None` before the first one, and when what it tells would have to be guessed.
/// `packages`: where PlatformIO keeps its compilers and frameworks.
pub(super) fn lines(project: &Path, packages: &Path) -> Option<CompileLines> {
    let note = BuildNote::read(project)?;
    let folder = project.join(&note.folder);
    let reported = IdeData::read(&folder)?;
    // Such words were quoted for a shell, and are told with a part of their quotes.
    let all = [&reported.cc_flags, &reported.cxx_flags, &reported.defines];
    if all.into_iter().flatten().any(|word| word.contains(['\\', '\''])) {
        return None;
    }
    let sources = project.join(&note.sources);
    let entries = compiled(&sources, &folder, &note);
    let entries = entries.filter_map(|source| entry(project, &source, &reported));
    let path = syntax::path_of(&[]);
    let real = packages.canonicalize().ok();
    let framework = real.as_deref().unwrap_or(project);
    let known = CompilePaths { framework, tools: real.as_deref(), path: &path };
    let all = syntax::lines_of(entries, project, &known)?;
    // Headers of a library come into reach once a source includes one, so that a header that is not
    // found is no mistake before the next build.
    Some(CompileLines { all, is_old: true, made: Vec::new(), path: Some(path) })
}

/// The sources that are compiled: all, or where something chooses among them those that the last
/// build has made objects of. One that fails has none.
fn compiled(
    sources: &Path,
    folder: &Path,
    note: &BuildNote,
) -> impl Iterator<Item = PathBuf> + use<> {
    let (objects, root, takes_all) = (folder.join("src"), sources.to_owned(), note.takes_all);
    let walk = WalkBuilder::new(sources).standard_filters(false).build();
    let files = walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let made = files.filter_map(move |entry| {
        let source = entry.into_path();
        let inner = source.strip_prefix(&root).ok()?;
        let mut whole = inner.as_os_str().to_owned();
        whole.push(".o");
        let names = [PathBuf::from(whole), inner.with_extension("o")];
        let is_compiled = takes_all || names.iter().any(|name| objects.join(name).is_file());
        is_compiled.then_some(source)
    });
    made.take(MOST_SOURCES)
}

/// How one source is compiled; `None` for what is neither C nor C++.
fn entry(project: &Path, source: &Path, reported: &IdeData) -> Option<CompileEntry> {
    let (compiler, flags) = match source.extension()?.to_str()? {
        "c" => (&reported.cc_path, &reported.cc_flags),
        "cc" | "cpp" | "cxx" => (&reported.cxx_path, &reported.cxx_flags),
        _ => return None,
    };
    let mut words = vec![compiler.clone()];
    words.extend(flags.iter().cloned());
    words.extend(reported.defines.iter().map(|define| format!("-D{define}")));
    let folders = reported.includes.build.iter().chain(&reported.includes.compatlib);
    words.extend(folders.map(|folder| format!("-I{folder}")));
    Some(CompileEntry::of(project.to_owned(), source.to_str()?.to_owned(), words))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A project that was built for this machine, and the folder of what is installed.
    fn built(define: &str, takes_all: bool) -> tempfile::TempDir {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        let folder = root.join("p/.pio/build/a");
        for path in ["p/src/deep", "p/.pio/build/a/src/deep", "packages"] {
            std::fs::create_dir_all(root.join(path)).unwrap();
        }
        for path in ["src/main.c", "src/deep/er.cpp", "src/left_out.c", "src/notes.txt"] {
            std::fs::write(root.join("p").join(path), "int a;\n").unwrap();
        }
        for path in ["src/main.o", "src/deep/er.cpp.o"] {
            std::fs::write(folder.join(path), "").unwrap();
        }
        let gcc = ["/usr/bin/gcc", "/usr/bin/cc"].iter().find(|gcc| Path::new(gcc).exists());
        let reported = serde_json::json!({
            "cc_path": gcc.unwrap(), "cxx_path": "/none/evil", "cc_flags": ["-Wall", "-MMD"],
            "cxx_flags": [], "defines": [define],
            "includes": { "build": [root.join("p/src")], "compatlib": ["/lib/x"], "toolchain": [] },
        });
        std::fs::write(folder.join("idedata.json"), reported.to_string()).unwrap();
        let note = BuildNote {
            environment: "a".to_owned(),
            folder: ".pio/build/a".into(),
            sources: "src".into(),
            port: None,
            upload_speed: None,
            monitor_speed: None,
            takes_all,
        };
        note.keep(&root.join("p"), &root.join("packages")).unwrap();
        place
    }

    #[test]
    fn compiled_sources_are_known_with_their_options_and_no_other_programs() {
        let place = built("BOARD=\"ESP32 Dev\"", false);
        let (project, packages) = (place.path().join("p"), place.path().join("packages"));
        let lines = lines(&project, &packages).unwrap();
        let [one] = lines.all.as_slice() else { panic!("{lines:?}") };
        assert_eq!(one.source, Path::new("src/main.c"), "one is left out, one has no compiler");
        let folder = format!("-I{}", project.join("src").display());
        assert_eq!(one.options, ["-Wall", "-DBOARD=\"ESP32 Dev\"", folder.as_str(), "-I/lib/x"]);
        assert!(lines.is_old, "a header that is not found is no mistake yet");
    }

    #[test]
    fn without_a_filter_every_source_counts_also_one_that_fails() {
        let place = built("A", true);
        let lines = lines(&place.path().join("p"), &place.path().join("packages")).unwrap();
        let mut names: Vec<_> =
            lines.all.iter().map(|line| line.source.display().to_string()).collect();
        names.sort();
        assert_eq!(names, ["src/left_out.c", "src/main.c"]);
    }

    #[test]
    fn words_that_would_have_to_be_guessed_give_no_answer() {
        for define in ["A=\\\"x\\\"", "SEPARATOR=','"] {
            let place = built(define, true);
            assert_eq!(lines(&place.path().join("p"), &place.path().join("packages")), None);
        }
        assert_eq!(lines(Path::new("/none"), Path::new("/none")), None);
    }
}
