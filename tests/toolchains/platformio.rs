//! The real PlatformIO, where there is one: `FIRMHAND_TEST_PIO=native cargo test --test toolchains platformio`
//! with `pio` on the PATH; another word than `native` tells where the native platform is, e.g.
//! `symlink:///opt/platform-native`. Elsewhere these tests say that they did nothing.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::builds::{Built, check, job, write};
use firmhand::model::{BuildId, BuildOutcome, Memory, Timestamp};
use firmhand::toolchain::{BuildReport, PlatformioToolchain, Toolchain};

const MAIN: &str = "#include <stdio.h>\n#include <unistd.h>\n#include \"word.h\"\n\nint main(void)\n{\n    for (;;) {\n        printf(\"%s from %s\\n\", word(), BOARD);\n        fflush(stdout);\n        usleep(100000);\n    }\n}\n";

/// Where the native platform is; `None`: these tests were not asked for.
fn platform() -> Option<String> {
    let named = std::env::var("FIRMHAND_TEST_PIO").ok();
    if named.is_none() {
        eprintln!("nothing done: FIRMHAND_TEST_PIO is not set");
    }
    named
}

/// A project whose folder has a space and an umlaut, and whose configuration has to be computed.
fn project(root: &Path, platform: &str) -> PathBuf {
    let project = root.join("prüf stand");
    let ini = format!(
        "[platformio]\ndefault_envs = host\n\n[common]\nflags = -Wall\n\n[env:plain]\nplatform = \
         {platform}\nbuild_flags = ${{common.flags}}\n\n[env:host]\nextends = env:plain\nbuild_flags \
         = ${{common.flags}} -DBOARD=\\\"host\\\"\n"
    );
    write(&project, "platformio.ini", &ini);
    write(&project, "src/main.c", MAIN);
    write(&project, "src/word.h", "const char *word(void);\n");
    write(&project, "src/word.c", "const char *word(void) { return \"hello\"; }\n");
    project
}

async fn build(
    pio: &PlatformioToolchain,
    project: &Path,
    board: Option<&str>,
) -> (BuildReport, String) {
    let Built { report, log, progress, command, time } =
        crate::builds::build(pio, project, board).await;
    eprintln!("{command}: {:?} in {time:?}", report.outcome);
    if report.outcome == BuildOutcome::Passed {
        assert!(progress.is_some_and(|(done, total)| done == total), "{progress:?}");
    }
    (report, log)
}

/// The project's own files.
fn files(project: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(project).unwrap().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_is_built_mended_looked_at_and_run() {
    let Some(platform) = platform() else { return };
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path(), &platform);
    let pio = PlatformioToolchain::find()
        .unwrap()
        .with_host_folder(folder.path().join("board"), crate::sandbox_runner())
        .with_build_sandbox(crate::build_sandbox());

    let (report, log) = build(&pio, &project, None).await;
    assert_eq!(report.outcome, BuildOutcome::Passed, "{log}");
    assert!(report.diagnostics.is_empty() && log.contains("not built: plain"), "{log}");
    assert_eq!(files(&project), [".pio", "platformio.ini", "src"], "nothing else was made");
    let size = pio.size(&project).unwrap();
    assert_eq!((size.host.as_str(), size.uses[0].memory), ("host process", Memory::Text));

    // Seen before it is saved.
    assert_eq!(check(&pio, &project, "src/main.c", MAIN).await, Some(vec![]));
    let found =
        check(&pio, &project, "src/main.c", &MAIN.replace("BOARD", "BOARDS")).await.unwrap();
    assert_eq!(found[0].line, Some(8), "{found:?}");
    let library = check(&pio, &project, "src/main.c", &MAIN.replace("unistd.h", "Wire.h")).await;
    assert_eq!(library, None, "a header may come with a library that the next build finds");

    // A header that no library has, then one mistake less.
    write(&project, "src/main.c", &MAIN.replace("unistd.h", "Nowhere.h"));
    let (report, log) = build(&pio, &project, None).await;
    assert_eq!(report.outcome, BuildOutcome::Failed, "{log}");
    let first = &report.diagnostics[0];
    assert_eq!((first.file.as_deref(), first.line), (Some("src/main.c"), Some(2)), "{first:?}");
    assert!(first.hint.contains("header:Nowhere.h"), "{first:?}");
    write(&project, "src/main.c", MAIN);
    let (report, log) = build(&pio, &project, None).await;
    assert_eq!(report.outcome, BuildOutcome::Passed, "{log}");

    let plan = pio.plan_flash(&project, BuildId(1), Timestamp(0)).unwrap();
    assert_eq!(plan.images[0].file, ".pio/build/host/program");
    crate::builds::run_until(&pio, &project, "hello from host").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_project_is_told_where_it_can_be_mended() {
    let Some(platform) = platform() else { return };
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path(), &platform);
    let pio = PlatformioToolchain::find().unwrap();
    let ini = std::fs::read_to_string(project.join("platformio.ini")).unwrap();
    let boards = pio.boards(&project).await;
    assert_eq!(boards.iter().map(|one| one.fqbn.as_str()).collect::<Vec<_>>(), ["plain", "host"]);

    // The macro is of the other environment, and stops the compiler and the linker.
    let (report, log) = build(&pio, &project, Some("plain")).await;
    assert_eq!(report.outcome, BuildOutcome::Failed, "{log}");
    assert!(report.diagnostics[0].message.contains("BOARD"), "{report:?}");
    let (report, _) = build(&pio, &project, Some("nix")).await;
    let BuildOutcome::NotRun(error) = report.outcome else { panic!("{report:?}") };
    assert!(error.fix.contains("plain, host"), "{error:?}");
    write(&project, "src/word.c", "");
    let (report, log) = build(&pio, &project, None).await;
    assert!(report.diagnostics[0].message.contains("undefined reference to `word'"), "{log}");

    write(&project, "broken.py", "x = 1\nraise ValueError(\"no key\")\n");
    let with = |line: &str| format!("{ini}{line}\n");
    for (text, file, line, words) in [
        ("[platformio\n".to_owned(), "platformio.ini", Some(1), "no section headers"),
        ("[common]\na = b\n".to_owned(), "platformio.ini", None, "no environment"),
        (with("board = nope"), "platformio.ini", None, "Unknown board ID 'nope'"),
        (with("extra_scripts = pre:gone.py"), "platformio.ini", None, "gone.py"),
        (with("extra_scripts = pre:broken.py"), "broken.py", Some(2), "no key"),
        (ini.replace("flags}", "nothing}"), "platformio.ini", None, "nothing"),
        ("[env:a]\nboard = b\n".to_owned(), "platformio.ini", None, "specify platform"),
    ] {
        write(&project, "platformio.ini", &text);
        let (report, log) = build(&pio, &project, None).await;
        assert_eq!(report.outcome, BuildOutcome::Failed, "{text}: {log}");
        let first = &report.diagnostics[0];
        assert_eq!((first.file.as_deref(), first.line), (Some(file), line), "{first:?}: {log}");
        assert!(first.message.contains(words), "{first:?}");
    }
}

/// Processes whose folder is the project, without those that have ended.
fn working_in(project: &Path) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let inside = |entry: &std::fs::DirEntry| {
        std::fs::read_link(entry.path().join("cwd")).is_ok_and(|folder| folder == project)
    };
    processes.filter(inside).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_build_leaves_no_process_behind() {
    let Some(platform) = platform() else { return };
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path(), &platform);
    write(&project, "wait.py", "import time\nprint(\"waiting\", flush=True)\ntime.sleep(1000)\n");
    let ini = std::fs::read_to_string(project.join("platformio.ini")).unwrap();
    write(&project, "platformio.ini", &format!("{ini}extra_scripts = pre:wait.py\n"));
    let (job, log) = job(&project, None);
    let cancel = job.cancel.clone();
    let build = tokio::spawn(async move { PlatformioToolchain::find().unwrap().build(job).await });
    while !log.text().contains("waiting") {
        assert!(!build.is_finished(), "it ended by itself");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(working_in(&project) >= 2, "PlatformIO and its SCons");
    cancel.cancel();
    assert_eq!(build.await.unwrap().outcome, BuildOutcome::Cancelled);
    // Ended processes go as soon as whoever adopted them looks.
    while working_in(&project) > 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
