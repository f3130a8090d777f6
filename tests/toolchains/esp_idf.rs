//! The real ESP-IDF, where there is one: `FIRMHAND_TEST_IDF=1 cargo test --test toolchains esp_idf` in a shell
//! in which its `export.sh` has run. Elsewhere these tests say that they did nothing.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::builds::{Built, check, write};
use firmhand::model::{BuildOutcome, Memory, Severity};
use firmhand::toolchain::{IdfToolchain, Toolchain};

async fn build(idf: &IdfToolchain, project: &Path) -> Built {
    crate::builds::build(idf, project, None).await
}

const MAIN: &str = "#include <stdio.h>\n#include <unistd.h>\n#include \"esp_log.h\"\n\n\
    void app_main(void)\n{\n    ESP_LOGI(\"main\", \"hello from the host\");\n    \
    fflush(stdout);\n    while (1) sleep(1);\n}\n";

/// A project for the target `linux`, in a folder whose name needs care.
fn project(folder: &Path) -> std::path::PathBuf {
    let project = folder.join("größe und Maß");
    write(
        &project,
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.16)\n\
         include($ENV{IDF_PATH}/tools/cmake/project.cmake)\n\
         set(COMPONENTS main)\nproject(hello)\n",
    );
    write(
        &project,
        "main/CMakeLists.txt",
        "idf_component_register(SRC_DIRS . PRIV_REQUIRES log)\n",
    );
    write(&project, "main/main.c", MAIN);
    write(&project, "sdkconfig.defaults", "CONFIG_IDF_TARGET=\"linux\"\n");
    project
}

fn is_measured(idf: &IdfToolchain, project: &Path) {
    let size = idf.size(project).unwrap();
    assert_eq!((size.program.as_str(), size.host.as_str()), ("hello.elf", "host process"));
    assert!(size.uses.iter().any(|used| used.memory == Memory::Text && used.bytes > 10_000));
}

/// How long the compiler takes to say that a file is fine.
async fn a_mistake_is_seen_before_it_is_saved(idf: &IdfToolchain, project: &Path) -> Duration {
    let began = Instant::now();
    assert_eq!(check(idf, project, "main/main.c", MAIN).await, Some(vec![]));
    let time = began.elapsed();
    let wrong = MAIN.replace("ESP_LOGI(\"main\", ", "ESP_LOGI(");
    let found = check(idf, project, "main/main.c", &wrong).await.unwrap();
    assert_eq!(
        (found[0].file.as_deref(), found[0].line),
        (Some("main/main.c"), Some(7)),
        "{found:?}"
    );
    let found = check(idf, project, "main/new.c", "#include \"esp_timer.h\"\n").await.unwrap();
    assert!(found[0].message.contains("esp_timer.h"), "{found:?}");
    assert!(!project.join("main/new.c").exists());
    time
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_is_built_mended_and_run() {
    if std::env::var_os("FIRMHAND_TEST_IDF").is_none() {
        eprintln!("nothing done: FIRMHAND_TEST_IDF is not set");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path());
    let idf = IdfToolchain::find()
        .unwrap()
        .with_host_folder(folder.path().join("board"), crate::sandbox_runner())
        .with_build_sandbox(crate::build_sandbox());

    let first = build(&idf, &project).await;
    assert_eq!(first.report.outcome, BuildOutcome::Passed, "{}", first.log);
    assert!(first.command.ends_with("linux · idf.py build"), "{}", first.command);
    assert!(first.progress.is_some_and(|(done, total)| done == total && total > 10));

    is_measured(&idf, &project);
    let looked = a_mistake_is_seen_before_it_is_saved(&idf, &project).await;
    eprintln!("one file looked at in {looked:?}");

    // A mistake that the framework has advice for.
    write(&project, "main/main.c", &MAIN.replace("unistd.h", "esp_timer.h"));
    let broken = build(&idf, &project).await;
    assert!(broken.command.ends_with("ninja -C build"), "{}", broken.command);
    assert_eq!(broken.report.outcome, BuildOutcome::Failed, "{}", broken.log);
    let error = &broken.report.diagnostics[0];
    assert_eq!((error.severity, error.file.as_deref()), (Severity::Error, Some("main/main.c")));
    assert_eq!(error.line, Some(2));
    assert!(error.hint.contains("esp_timer") && error.hint.contains("REQUIRES"), "{error:?}");
    assert!(broken.log.contains("HINT: "), "{}", broken.log);

    // A new file that only a configuration finds.
    write(
        &project,
        "main/main.c",
        &format!(
            "const char *word(void);\n{}",
            MAIN.replace("\"hello from the host\"", "\"%s\", word()")
        ),
    );
    write(&project, "main/word.c", "const char *word(void) { return \"hello from the host\"; }\n");
    let wider = build(&idf, &project).await;
    assert!(wider.command.ends_with("idf.py reconfigure build"), "{}", wider.command);
    assert_eq!(wider.report.outcome, BuildOutcome::Passed, "{}", wider.log);

    write(&project, "main/word.c", "const char *word(void) { return \"hello again\"; }\n");
    let again = build(&idf, &project).await;
    assert!(again.command.ends_with("ninja -C build"), "{}", again.command);
    assert_eq!(again.report.outcome, BuildOutcome::Passed, "{}", again.log);
    eprintln!("first {:?}, one file by ninja {:?}", first.time, again.time);

    // What the walls let through is all there is to do: without them nothing is left.
    assert!(!first.log.contains("without the sandbox"), "{}", first.log);
    let plain = build(&IdfToolchain::find().unwrap(), &project).await;
    assert!(plain.log.contains("no work to do"), "{}", plain.log);
    crate::builds::run_until(&idf, &project, "hello again").await;
}
