//! Builds and uploads with a stand-in for `pio` that answers in its words.

use super::*;
use crate::model::Severity;
use crate::toolchain::stand_in::{self, ESPTOOL};

const CONFIG: &str = r#"[["platformio", [["default_envs", ["s3"]]]], ["env:one", [["platform", "native"]]], ["env:s3", [["platform", "espressif32"], ["board", "s3box"], ["upload_speed", "921600"], ["monitor_speed", 74880]]]]"#;

/// Leaves what a build for an ESP32-S3 does.
const IMAGES: &str = "mkdir -p .pio/build/s3\n\
    { printf '\\351\\1\\2\\3\\4\\5\\6\\7\\10\\11\\12\\13\\11\\0'; head -c 40 /dev/zero; } > .pio/build/s3/firmware.bin\n\
    printf '\\252\\120\\1' > .pio/build/s3/partitions.bin";

/// A project in a folder with a space and an umlaut, and the stand-in.
struct ProjectBench {
    base: stand_in::StandInProject,
    pio: PlatformioToolchain,
}

impl ProjectBench {
    /// The stand-in notes its settings; `run`: commands of a build.
    fn new(run: &str) -> Self {
        let base =
            stand_in::StandInProject::new("proj é", &[(FILE, "[env:s3]\n"), ("src/main.c", "")]);
        std::fs::create_dir_all(base.path("core/packages")).unwrap();
        std::fs::write(base.path("config.json"), CONFIG).unwrap();
        let reported = serde_json::json!({
            "prog_path": base.project().join(".pio/build/s3/firmware.elf"),
            "extra": { "application_offset": "0x10000", "flash_images": [
                { "offset": "0x8000", "path": base.project().join(".pio/build/s3/partitions.bin") },
            ] },
        });
        std::fs::write(base.path("told.json"), reported.to_string()).unwrap();
        let root = base.path("");
        let commands = format!(
            "beside='{}'\nenv > \"$beside/env\"\ncase \"$*\" in\n\
             'project config --json-output') cat \"$beside/config.json\";;\n\
             *'--target idedata') mkdir -p .pio/build/s3\n\
             cp \"$beside/told.json\" .pio/build/s3/idedata.json;;\n\
             run*) {run}\n;;\npkg*) {ESPTOOL};;\nesac",
            root.display()
        );
        let pio = PlatformioToolchain::at(base.program("pio", &commands), base.path("core"))
            .with_loader(Loader::Esptool);
        Self { base, pio }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.base.path(below)
    }

    async fn build(&self, board: Option<&str>) -> (BuildReport, String) {
        self.base.build(&self.pio, board).await
    }

    fn calls(&self) -> String {
        self.base.calls()
    }
}

#[tokio::test]
async fn the_default_environment_is_built_and_what_is_known_is_not_asked_again() {
    let place = ProjectBench::new("echo 'src/a.c:3:5: warning: unused'");
    assert_eq!(place.pio.command(place.base.project()), "pio run");
    let (report, log) = place.build(None).await;
    assert_eq!(report.outcome, BuildOutcome::Passed, "{log}");
    let [one] = report.diagnostics.as_slice() else { panic!("{report:?}") };
    assert_eq!((one.file.as_deref(), one.line), (Some("src/a.c"), Some(3)));
    assert!(log.contains("-- pio run --environment=s3\n-- not built: one\n"), "{log}");
    let asked = "project config --json-output\n";
    let reported = "run --environment=s3 --target idedata\n";
    assert_eq!(place.calls(), format!("{asked}run --environment=s3\n{reported}"));
    let env = std::fs::read_to_string(place.path("env")).unwrap();
    for (name, value) in QUIET {
        assert!(env.contains(&format!("{name}={value}\n")), "{name} in {env}");
    }
    std::fs::remove_file(place.path("calls")).unwrap();
    place.build(None).await;
    assert_eq!(place.calls(), "run --environment=s3\n");
    assert_eq!(place.pio.command(place.base.project()), "pio run · s3");
    place.build(Some("one")).await;
    assert!(place.calls().contains("run --environment=one\n"), "a named one goes first");
    place.base.write(FILE, "[env:other]\nboard = x\n");
    place.build(None).await;
    assert!(place.calls().contains(asked), "the file is another one");
}

#[tokio::test]
async fn a_build_that_fails_is_told_with_its_errors_and_hints() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/platformio/header.txt");
    let place = ProjectBench::new(&format!("cat '{data}'; exit 1"));
    let (report, log) = place.build(None).await;
    assert_eq!(report.outcome, BuildOutcome::Failed, "{log}");
    assert!(report.diagnostics[0].hint.contains("lib_deps"), "{report:?}");
    assert!(log.contains("* Looking for Foo.h dependency?"), "the log holds all: {log}");
    let place = ProjectBench::new("echo 'Error: Unknown board ID '\"'\"x\"'\"; exit 1");
    let (report, _) = place.build(None).await;
    assert_eq!(report.diagnostics[0].file.as_deref(), Some(FILE), "{report:?}");
}

#[tokio::test]
async fn what_is_not_the_projects_fault_is_no_failed_build() {
    let place = ProjectBench::new(
        "echo 'Platform Manager: Installing espressif32'\necho 'HTTPClientError: '\nexit 1",
    );
    let BuildOutcome::NotRun(error) = place.build(None).await.0.outcome else { panic!("it ran") };
    assert!(error.why.contains("could not be reached"), "{error:?}");
    let BuildOutcome::NotRun(error) = place.build(Some("nix")).await.0.outcome else {
        panic!("it ran")
    };
    assert!(error.fix.contains("one, s3"), "{error:?}");
    std::fs::write(place.path("config.json"), "Illegal instruction\n").unwrap();
    place.base.write(FILE, "# changed\n");
    let (report, log) = place.build(None).await;
    let BuildOutcome::NotRun(error) = report.outcome else { panic!("it ran") };
    assert!(error.why.contains("pio project config") && log.contains("Illegal"), "{error:?}");
    let none = PlatformioToolchain::at("/none/pio".into(), "/none".into());
    let place = ProjectBench { pio: none, ..place };
    let BuildOutcome::NotRun(error) = place.build(None).await.0.outcome else { panic!("it ran") };
    assert!(error.what.contains("/none/pio") && !error.fix.is_empty(), "{error:?}");
    std::fs::remove_file(place.base.project().join(FILE)).unwrap();
    let BuildOutcome::NotRun(error) = place.build(None).await.0.outcome else { panic!("it ran") };
    assert!(error.why.contains("no platformio.ini"), "{error:?}");
}

#[tokio::test]
async fn a_broken_configuration_is_the_projects_to_mend() {
    let place = ProjectBench::new("");
    std::fs::write(place.path("config.json"), "[[\"common\", []]]\n").unwrap();
    let (report, _) = place.build(None).await;
    assert_eq!(report.outcome, BuildOutcome::Failed);
    let [one] = report.diagnostics.as_slice() else { panic!("{report:?}") };
    assert_eq!((one.file.as_deref(), one.severity), (Some(FILE), Severity::Error));
    assert!(!place.calls().contains("run "), "nothing was built");
    let text = include_str!("../../../tests/data/platformio/broken-ini.txt");
    std::fs::write(place.path("broken.txt"), text).unwrap();
    place.base.program("pio", &format!("cat '{}'; exit 1", place.path("broken.txt").display()));
    place.base.write(FILE, "[platformio\n");
    let (report, log) = place.build(None).await;
    assert_eq!(report.outcome, BuildOutcome::Failed, "{log}");
    assert_eq!(report.diagnostics[0].file.as_deref(), Some(FILE), "{report:?}");
    assert!(log.contains("InvalidProjectConfError"), "{log}");
}

#[tokio::test]
async fn a_cancelled_build_ends_with_all_it_started() {
    let place = ProjectBench::new("sleep 1000 & echo $! > child; wait");
    let (job, cancel) = place.base.job(None);
    let child = place.base.project().join("child");
    let pid = tokio::spawn(async move {
        loop {
            // The file is there before what is written to it.
            match std::fs::read_to_string(&child).ok().and_then(|text| text.trim().parse().ok()) {
                Some(pid) => {
                    cancel.cancel();
                    return pid;
                }
                None => tokio::task::yield_now().await,
            }
        }
    });
    assert_eq!(place.pio.build(job).await.outcome, BuildOutcome::Cancelled);
    let pid: u32 = pid.await.unwrap();
    let state = || std::fs::read_to_string(format!("/proc/{pid}/stat"));
    while state().is_ok_and(|stat| !stat.contains(") Z ")) {
        tokio::task::yield_now().await;
    }
    assert!(BuildNote::read(place.base.project()).is_none(), "nothing was built");
}

#[tokio::test]
async fn exactly_the_planned_images_are_written_with_esptool() {
    let mut place = ProjectBench::new(IMAGES);
    let (project, port) = (place.base.project().to_owned(), place.path("ttyACM0"));
    std::fs::write(&port, "").unwrap();
    place.pio.port = Some(port.display().to_string());
    let plan = |pio: &PlatformioToolchain| pio.plan_flash(&project, BuildId(1), Timestamp(0));
    assert!(plan(&place.pio).unwrap_err().fix.contains("Build the project first"));
    place.build(None).await;
    let plan = plan(&place.pio).unwrap();
    let shown: Vec<(u32, &str)> =
        plan.images.iter().map(|image| (image.offset, image.file.as_str())).collect();
    assert_eq!(
        shown,
        [(0x8000, ".pio/build/s3/partitions.bin"), (0x1_0000, ".pio/build/s3/firmware.bin")]
    );
    assert!(!plan.board.simulated && plan.board.chip == "esp32s3");
    let board = place.pio.flash(place.base.order(&plan)).await.unwrap();
    assert!(board.port.ends_with("ttyACM0"));
    let calls = place.calls();
    let wanted = "pkg exec --package tool-esptoolpy -- esptool.py --chip esp32s3 --port ";
    assert!(calls.contains(wanted) && calls.contains(" write_flash 0x8000 "), "{calls}");
    assert!(calls.contains(" --baud 921600 "), "the project names the rate: {calls}");
    assert_eq!(crate::toolchain::console_baud(&project), Some(74_880));
    std::fs::write(project.join(".pio/build/s3/firmware.bin"), "other").unwrap();
    let error = place.pio.flash(place.base.order(&plan)).await.unwrap_err();
    assert!(error.why.contains("changed after it was approved"), "{error:?}");
}

#[tokio::test]
async fn environments_are_its_boards() {
    let place = ProjectBench::new("");
    let boards = place.pio.boards(place.base.project()).await;
    let named: Vec<(&str, &str)> =
        boards.iter().map(|board| (board.fqbn.as_str(), board.name.as_str())).collect();
    assert_eq!(named, [("one", "native"), ("s3", "s3box · espressif32")]);
    assert!(place.pio.boards(&place.path("none")).await.is_empty());
}
