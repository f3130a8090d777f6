//! Tests of the analysis as a whole, with the real linters where they are installed and with
//! scripts in their place.

use std::path::Path;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::*;
use crate::model::ProjectPath;
use crate::toolchain::compile_units::CompileUnit;

/// An order about the project at a path, without files.
pub(super) fn order(project: &str) -> AnalysisOrder {
    AnalysisOrder {
        runner: None,
        project: PathBuf::from(project),
        files: Vec::new(),
        units: Vec::new(),
        is_sketch: false,
        timeout: Duration::from_secs(60),
        cancel: CancellationToken::new(),
    }
}

pub(super) fn run_of(order: &AnalysisOrder) -> AnalysisRun<'_> {
    AnalysisRun { order, until: Instant::now() + order.timeout }
}

/// A project with files in a folder of its own, and the order to analyse it.
fn project(files: &[(&str, &str)]) -> (tempfile::TempDir, AnalysisOrder) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let mut order = order(root.to_str().unwrap());
    for (path, text) in files {
        let file = root.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        if path.ends_with(".c") {
            let compiler = PathBuf::from("cc");
            order.files.push(ProjectPath::new(path).unwrap());
            order.units.push(CompileUnit { file, flags: Vec::new(), compiler });
        }
    }
    (folder, order)
}

/// A script that stands for a linter.
fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

const FAULTY: &str = "#include <stddef.h>\nint value(int *p)\n{\n    if (p == NULL) {\n        \
                      return *p;\n    }\n    int b[2] = {0, 0};\n    return b[2];\n}\n";

#[tokio::test]
async fn the_linters_that_are_installed_find_real_faults() {
    let path = std::env::var_os("PATH").unwrap();
    let is_there = |linter: Linter| find(&path, linter.program()).is_some();
    let (_folder, order) = project(&[("main/main.c", FAULTY)]);
    let found = analyze(&order).await;
    for linter in [Linter::ClangTidy, Linter::Cppcheck] {
        assert_eq!(found.ran.contains(&linter), is_there(linter));
        assert_eq!(found.missing.contains(&linter), !is_there(linter));
        let of = found.issues.iter().filter(|issue| issue.tool == linter);
        let lines: Vec<u32> = of.filter_map(|issue| issue.line).collect();
        let reported = lines.contains(&5) || lines.contains(&8);
        assert_eq!(reported, is_there(linter), "{linter:?}: {found:?}");
    }
    assert!(
        !found.ran.contains(&Linter::ArduinoLint) && !found.missing.contains(&Linter::ArduinoLint)
    );
    assert!(found.gaps.is_empty(), "{found:?}");
}

#[tokio::test]
async fn a_configuration_of_the_project_does_not_count() {
    let path = std::env::var_os("PATH").unwrap();
    let Some(program) = find(&path, "clang-tidy") else {
        println!("nothing was tried: clang-tidy is not installed");
        return;
    };
    // With this in force nothing would be found, or a plugin be loaded.
    let own = "Checks: '-*,cert-err34-c'\nExtraArgs: ['-Xclang', '-load', '-Xclang', '/none.so']\n";
    let (_folder, order) =
        project(&[("main/main.c", FAULTY), (".clang-tidy", own), ("main/.clang-tidy", own)]);
    let reported = clang_tidy::run(&run_of(&order), &program).await;
    assert!(reported.gaps.is_empty(), "{reported:?}");
    assert!(
        reported.issues.iter().any(|issue| issue.rule.contains("NullDereference")),
        "{reported:?}"
    );
}

#[tokio::test]
async fn what_is_missing_is_named_and_the_rest_runs() {
    let (folder, mut order) = project(&[("main/main.c", FAULTY)]);
    order.is_sketch = true;
    let line = format!(
        "echo '{}/main/main.c:2:5: warning: \x1b[31modd [bugprone-x]'",
        order.project.display()
    );
    // The same twice is one.
    let tidy = script(folder.path(), "tidy", &format!("{line}\n{line}"));
    let found =
        analyze_with(&order, &|linter| (linter == Linter::ClangTidy).then(|| tidy.clone())).await;
    assert_eq!(found.ran, [Linter::ClangTidy]);
    assert_eq!(found.missing, [Linter::Cppcheck, Linter::ArduinoLint]);
    assert_eq!(found.issues.len(), 1, "{found:?}");
    assert_eq!(found.issues[0].file.as_ref().unwrap().as_str(), "main/main.c");
    assert!(!found.issues[0].message.contains('\u{1b}'), "{found:?}");
    for linter in found.missing {
        assert!(!linter.install().is_empty());
    }
}

#[tokio::test]
async fn a_linter_that_hangs_or_crashes_is_a_gap() {
    let (folder, mut order) = project(&[("main/main.c", FAULTY), ("main/b.c", "")]);
    let hangs = script(folder.path(), "hangs", "sleep 1000 & wait");
    let crashes = script(folder.path(), "crashes", "kill -SEGV $$");
    order.timeout = Duration::from_secs(4);
    let pick = |linter| match linter {
        Linter::ClangTidy => Some(hangs.clone()),
        Linter::Cppcheck => Some(crashes.clone()),
        Linter::ArduinoLint => None,
    };
    let found = analyze_with(&order, &pick).await;
    assert!(found.issues.is_empty());
    let gap = |tool: Linter, words: &str| {
        found.gaps.iter().any(|gap| gap.tool == tool && gap.why.contains(words))
    };
    assert!(gap(Linter::ClangTidy, "no time was left"), "{found:?}");
    assert!(found.is_cut_short(), "{found:?}");
    assert!(gap(Linter::Cppcheck, "crashed"), "{found:?}");
    order.cancel.cancel();
    order.timeout = Duration::from_secs(100);
    let found = analyze_with(&order, &pick).await;
    assert!(found.gaps.iter().any(|gap| gap.why.contains("stopped")), "{found:?}");
}

#[test]
fn programs_are_looked_for_in_absolute_folders_alone() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("cppcheck"), "").unwrap();
    let path = format!(".:tools:{}", folder.path().display());
    assert_eq!(find(path.as_ref(), "cppcheck"), Some(folder.path().join("cppcheck")));
    assert_eq!(find(".:tools:/nowhere".as_ref(), "cppcheck"), None);
}
