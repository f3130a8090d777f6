//! Tests with the machine's own compiler, on a project as CMake leaves it.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use serde_json::json;

use super::*;

/// Tests are about meaning, and may run on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

struct SyntaxProject {
    folder: tempfile::TempDir,
    commands: Vec<serde_json::Value>,
    path: OsString,
}

impl SyntaxProject {
    fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("größe und Maß").tempdir().unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let mut place = Self { folder, commands: Vec::new(), path };
        place.write("CMakeLists.txt", "project(a)");
        place.write("main/CMakeLists.txt", "idf_component_register(SRCS a.c)");
        place
            .write("main/include/bus.h", "#pragma once\n#include \"pins.h\"\nint bus_open(int);\n");
        place.write("main/include/pins.h", "#pragma once\n#define SDA 21\n");
        place.write("main/src/a.c", "#include \"bus.h\"\nint f(void) { return bus_open(SDA); }\n");
        place.compiled("main/src/a.c", "cc", "-Wall -Werror=implicit-function-declaration");
        place
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Adds a source to what was compiled last.
    fn compiled(&mut self, source: &str, compiler: &str, options: &str) {
        let root = self.root().display();
        let include = source.split('/').next().unwrap();
        let command = format!(
            "{compiler} -DV=\\\"1\\\" \"-I{root}/{include}/include\" {options} -o x.o -c \"{root}/{source}\""
        );
        let entry = json!({
            "directory": self.root().join("build"), "command": command,
            "file": self.root().join(source),
        });
        self.commands.push(entry);
        self.write("build/compile_commands.json", &json!(self.commands).to_string());
        self.write("build/build.ninja", "");
    }

    fn lines(&self) -> CompileLines {
        let known = CompilePaths { framework: Path::new("/usr"), tools: None, path: &self.path };
        Commands::default().lines(self.root(), &self.root().join("build"), &known).unwrap()
    }

    fn job(&self, files: &[(&str, &str)]) -> SyntaxJob {
        let texts = files.iter().map(|(path, text)| NewText {
            path: ProjectPath::new(path).unwrap(),
            content: text.as_bytes().to_vec(),
        });
        SyntaxJob {
            project: self.root().to_owned(),
            files: texts.collect(),
            limit: PATIENCE,
            runner: None,
        }
    }

    /// For each file: `ok`, `file:line message` of its first error, or `-` without an answer.
    async fn findings_of(&self, files: &[(&str, &str)]) -> Vec<String> {
        let found = check(self.job(files), self.lines()).await;
        let reported = found.iter().map(|finding| match finding.as_deref() {
            None => "-".to_owned(),
            Some([]) => "ok".to_owned(),
            Some([first, ..]) => {
                let file = first.file.as_deref().unwrap_or("?");
                format!("{file}:{} {}", first.line.unwrap_or(0), first.message)
            }
        });
        reported.collect()
    }

    fn everything(&self) -> Vec<PathBuf> {
        let walk = ignore::WalkBuilder::new(self.root()).standard_filters(false).build();
        walk.map(|entry| entry.unwrap().into_path()).collect()
    }
}

const GOOD: &str = "#include \"bus.h\"\nint f(void) { return bus_open(SDA) + 1; }\n";
const BAD: &str = "#include \"bus.h\"\nint f(void) { return bus_shut(SDA); }\n";

#[tokio::test]
async fn a_changed_source_is_compiled_as_it_shall_become_and_nothing_is_written() {
    let place = SyntaxProject::new();
    let before = place.everything();
    assert_eq!(place.findings_of(&[("main/src/a.c", GOOD)]).await, ["ok"]);
    let reported = place.findings_of(&[("main/src/a.c", BAD)]).await;
    assert!(reported[0].starts_with("main/src/a.c:2 implicit declaration of"), "{reported:?}");
    assert_eq!(place.everything(), before);
    // What no compiler reads has no answer, and is in nobody's way.
    let reported = place.findings_of(&[("README.md", "x"), ("main/src/a.c", GOOD)]).await;
    assert_eq!(reported, ["-", "ok"]);
}

#[tokio::test]
async fn files_of_a_batch_see_each_other() {
    let place = SyntaxProject::new();
    let header = "#pragma once\n#include \"pins.h\"\nint bus_open(int);\nint bus_shut(int);\n";
    let reported =
        place.findings_of(&[("main/src/a.c", BAD), ("main/include/bus.h", header)]).await;
    assert_eq!(reported, ["ok", "ok"]);
    // A header that another one includes from its own folder is found changed as well.
    let pins = "#pragma once\n#define SCL 22\n";
    let reported =
        place.findings_of(&[("main/include/pins.h", pins), ("main/src/a.c", GOOD)]).await;
    assert_eq!(reported[1].split(' ').next(), Some("main/src/a.c:2"), "{reported:?}");
    let wrong = "#pragma once\nint bus_open(nt x);\n";
    let reported =
        place.findings_of(&[("main/include/bus.h", wrong), ("main/src/a.c", GOOD)]).await;
    assert!(reported[0].starts_with("main/include/bus.h:") && reported[1] != "ok", "{reported:?}");
    // Whose fault it is cannot be said where the error shows behind the header.
    let open = "#pragma once\n#include \"pins.h\"\nint bus_open(int)\n";
    let reported = place.findings_of(&[("main/include/bus.h", open), ("main/src/a.c", GOOD)]).await;
    assert!(reported[0] == "-" && reported[1].starts_with("main/src/a.c:"), "{reported:?}");
}

#[tokio::test]
async fn a_header_is_read_through_a_source_that_includes_it() {
    let place = SyntaxProject::new();
    let fine = "#pragma once\n#include \"pins.h\"\nint bus_open(int); /* the bus */\n";
    assert_eq!(place.findings_of(&[("main/include/bus.h", fine)]).await, ["ok"]);
    let wrong = "#pragma once\n#include \"pins.h\"\nint bus_open(nt x);\n";
    let reported = place.findings_of(&[("main/include/bus.h", wrong)]).await;
    assert!(reported[0].starts_with("main/include/bus.h:3 "), "{reported:?}");
    // It is whole in itself, but what includes it needs what is gone.
    let less = "#pragma once\n#include \"pins.h\"\n";
    let reported = place.findings_of(&[("main/include/bus.h", less)]).await;
    assert!(reported[0].starts_with("main/src/a.c:2 "), "{reported:?}");
    assert_eq!(
        place.findings_of(&[("main/include/alone.h", "int (")]).await,
        ["-"],
        "nobody includes it"
    );
}

#[tokio::test]
async fn a_header_that_no_branch_includes_has_no_answer() {
    let mut place = SyntaxProject::new();
    place.write(
        "main/src/c.c",
        "#if 0\n#include \"spare.h\"\n#endif\n#include \"../include/bus.h\"\nint g(void) { return 1; }\n",
    );
    place.compiled("main/src/c.c", "cc", "-Wall");
    let broken = "#pragma once\nint spare(int\n";
    assert_eq!(place.findings_of(&[("main/include/spare.h", broken)]).await, ["-"]);
    let whole = "#pragma once\n#include \"pins.h\"\nint bus_open(int);\n";
    assert_eq!(place.findings_of(&[("main/include/bus.h", whole)]).await, ["ok"]);
}

#[tokio::test]
async fn a_new_source_is_compiled_as_the_nearest_of_its_component() {
    let mut place = SyntaxProject::new();
    assert_eq!(place.findings_of(&[("main/src/b.c", GOOD)]).await, ["ok"]);
    assert_ne!(place.findings_of(&[("main/src/b.c", BAD)]).await, ["ok"]);
    place.write("components/led/CMakeLists.txt", "idf_component_register(SRCS led.c)");
    assert_eq!(
        place.findings_of(&[("components/led/led.c", GOOD)]).await,
        ["-"],
        "no source of it yet"
    );
    assert_eq!(place.findings_of(&[("main/src/b.cpp", GOOD)]).await, ["-"], "no source in C++ yet");
    place.compiled("main/src/c.cpp", "c++", "-std=gnu++20");
    let reported = place.findings_of(&[("main/src/b.cpp", "auto x = [] { return 1; }();\n")]).await;
    assert_eq!(reported, ["ok"]);
}

#[tokio::test]
async fn what_changed_lists_may_bring_is_no_error() {
    let place = SyntaxProject::new();
    let source = "#include \"led.h\"\nint f(void) { return 1; }\n";
    let reported = place.findings_of(&[("main/src/a.c", source)]).await;
    assert_eq!(reported, ["main/src/a.c:1 led.h: No such file or directory"]);
    let list = ("main/CMakeLists.txt", "idf_component_register(SRCS a.c REQUIRES led)");
    assert_eq!(place.findings_of(&[("main/src/a.c", source), list]).await, ["-", "-"]);
    assert_eq!(place.findings_of(&[("main/src/a.c", GOOD), list]).await, ["ok", "-"]);
    // As when the list was changed after the last configuration.
    let lines = CompileLines { is_old: true, ..place.lines() };
    let found = check(place.job(&[("main/src/a.c", source)]), lines).await;
    assert_eq!(found, [None]);
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    let ninja = std::fs::File::open(place.root().join("build/build.ninja")).unwrap();
    ninja.set_modified(long_ago).unwrap();
    assert!(place.lines().is_old);
}

#[tokio::test]
async fn what_a_project_brings_is_never_run() {
    let mut place = SyntaxProject::new();
    let mark = place.root().join("was-run");
    let script = format!("#!/bin/sh\ntouch \"{}\"\n", mark.display());
    for name in ["bin/cc", "bin/evil"] {
        place.write(name, &script);
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(place.root().join(name), mode).unwrap();
    }
    for compiler in ["bin/cc", "bin/evil", "../bin/cc"] {
        place.commands.clear();
        let compiler = place.root().join(compiler).display().to_string().replace(' ', "\\ ");
        place.compiled("main/src/a.c", &compiler, "");
        assert_eq!(place.findings_of(&[("main/src/a.c", GOOD)]).await, ["-"], "{compiler}");
    }
    // Nor when a folder of the project stands first in the PATH.
    place.commands.clear();
    place.compiled("main/src/a.c", "cc", "-B./bin");
    assert_eq!(place.findings_of(&[("main/src/a.c", GOOD)]).await, ["-"]);
    place.commands.clear();
    place.compiled("main/src/a.c", "cc", "");
    let folders = std::env::split_paths(&place.path).collect::<Vec<_>>();
    let bin = [place.root().join("bin"), "bin".into()];
    place.path = std::env::join_paths(bin.into_iter().chain(folders)).unwrap();
    assert_eq!(place.findings_of(&[("main/src/a.c", GOOD)]).await, ["ok"]);
    assert!(!mark.exists());
}

#[tokio::test]
async fn a_text_that_leads_out_of_the_project_is_not_compiled() {
    let place = SyntaxProject::new();
    let reported = place.findings_of(&[("main/src/a.c", "#include \"/dev/zero\"\n")]).await;
    assert_eq!(reported, ["-"]);
    // One such file speaks for its whole batch: others may include it.
    let reported = place
        .findings_of(&[("main/x.h", "#include \"/dev/zero\"\n"), ("main/src/a.c", GOOD)])
        .await;
    assert_eq!(reported, ["-", "-"]);
}

#[tokio::test]
async fn a_compiler_that_does_not_end_is_ended_and_says_nothing() {
    let mut place = SyntaxProject::new();
    let bin = tempfile::tempdir().unwrap();
    let script = "#!/bin/sh\necho \"a.c:1:1: error: x\" >&2\nsleep 1000\n";
    let compiler = bin.path().join("cc");
    std::fs::write(&compiler, script).unwrap();
    std::fs::set_permissions(&compiler, std::fs::Permissions::from_mode(0o755)).unwrap();
    let folders = std::env::split_paths(&place.path).collect::<Vec<_>>();
    let first = [bin.path().to_owned()];
    place.path = std::env::join_paths(first.into_iter().chain(folders)).unwrap();
    let job =
        SyntaxJob { limit: Duration::from_millis(300), ..place.job(&[("main/src/a.c", GOOD)]) };
    assert_eq!(check(job, place.lines()).await, [None]);
}

#[test]
fn a_list_of_compilations_that_is_damaged_or_missing_gives_no_answer() {
    let place = SyntaxProject::new();
    let known = CompilePaths { framework: Path::new("/usr"), tools: None, path: &place.path };
    let build = place.root().join("build");
    let commands = Commands::default();
    assert_eq!(commands.lines(place.root(), &build, &known).unwrap().all.len(), 1);
    for text in ["[{", "{}", "[]", "[{\"directory\": \"/\", \"file\": 1}]", ""] {
        place.write("build/compile_commands.json", text);
        let lines = commands.lines(place.root(), &build, &known);
        assert!(lines.is_none_or(|lines| lines.all.is_empty()), "{text}");
    }
    assert_eq!(commands.lines(place.root(), &place.root().join("none"), &known), None);
}
