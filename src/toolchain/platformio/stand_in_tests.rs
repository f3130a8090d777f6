//! Builds and uploads with a stand-in for `pio` that answers in its words.

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::model::Severity;

#[derive(Default)]
struct Paper(Mutex<Vec<u8>>);

impl BuildSink for Paper {
    fn output(&self, bytes: &[u8]) {
        self.0.lock().unwrap().extend_from_slice(bytes);
    }

    fn progress(&self, done: u32, total: u32) {
        assert!(done <= total);
    }
}

/// A project in a folder with a space and an umlaut, and the stand-in.
struct Place {
    folder: tempfile::TempDir,
    pio: PlatformioToolchain,
}

const CONFIG: &str = r#"[["platformio", [["default_envs", ["s3"]]]], ["env:one", [["platform", "native"]]], ["env:s3", [["platform", "espressif32"], ["board", "s3box"]]]]"#;

/// Leaves what a build for an ESP32-S3 does.
const IMAGES: &str = "mkdir -p .pio/build/s3\n\
    { printf '\\351\\1\\2\\3\\4\\5\\6\\7\\10\\11\\12\\13\\11\\0'; head -c 40 /dev/zero; } > .pio/build/s3/firmware.bin\n\
    printf '\\252\\120\\1' > .pio/build/s3/partitions.bin";

/// Tells what `esptool` tells, for each image that it was given.
const ESPTOOL: &str = "for word; do case $word in *.bin)\n\
    echo 'Writing at 0x00010000... (100 %)'\necho 'Hash of data verified.';; esac; done";

impl Place {
    /// The stand-in notes its arguments and settings; `run`: commands of a build.
    fn new(run: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let project = root.join("proj é");
        std::fs::create_dir_all(root.join("core/packages")).unwrap();
        std::fs::create_dir_all(project.join("src")).unwrap();
        std::fs::write(project.join(FILE), "[env:s3]\n").unwrap();
        std::fs::write(root.join("config.json"), CONFIG).unwrap();
        let told = serde_json::json!({
            "prog_path": project.join(".pio/build/s3/firmware.elf"),
            "extra": { "application_offset": "0x10000", "flash_images": [
                { "offset": "0x8000", "path": project.join(".pio/build/s3/partitions.bin") },
            ] },
        });
        std::fs::write(root.join("told.json"), told.to_string()).unwrap();
        let shown = root.display();
        let script = format!(
            "#!/bin/sh\necho \"$@\" >> '{shown}/calls'\nenv > '{shown}/env'\ncase \"$*\" in\n\
             'project config --json-output') cat '{shown}/config.json';;\n\
             *'--target idedata') mkdir -p .pio/build/s3\ncp '{shown}/told.json' .pio/build/s3/idedata.json;;\n\
             run*) {run}\n;;\npkg*) {ESPTOOL};;\nesac\n"
        );
        let pio = root.join("pio");
        std::fs::write(&pio, script).unwrap();
        std::fs::set_permissions(&pio, std::fs::Permissions::from_mode(0o755)).unwrap();
        let pio = PlatformioToolchain::at(pio, root.join("core")).with_loader(Loader::Esptool);
        Self { pio, folder }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    fn job(&self, board: Option<&str>) -> (BuildJob, Arc<Paper>) {
        let sink = Arc::new(Paper::default());
        let job = BuildJob {
            project: self.path("proj é"),
            board: board.map(str::to_owned),
            sink: Arc::clone(&sink) as Arc<dyn BuildSink>,
            timeout: Duration::from_secs(60),
            cancel: CancellationToken::new(),
        };
        (job, sink)
    }

    async fn build(&self, board: Option<&str>) -> (BuildReport, String) {
        let (job, sink) = self.job(board);
        let report = self.pio.build(job).await;
        let log = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
        (report, log)
    }

    fn calls(&self) -> String {
        std::fs::read_to_string(self.path("calls")).unwrap()
    }
}

#[tokio::test]
async fn the_default_environment_is_built_and_what_is_known_is_not_asked_again() {
    let place = Place::new("echo 'src/a.c:3:5: warning: unused'");
    assert_eq!(place.pio.command(&place.path("proj é")), "pio run");
    let (report, log) = place.build(None).await;
    assert_eq!(report.outcome, BuildOutcome::Passed, "{log}");
    let [one] = report.diagnostics.as_slice() else { panic!("{report:?}") };
    assert_eq!((one.file.as_deref(), one.line), (Some("src/a.c"), Some(3)));
    assert!(log.contains("-- pio run --environment=s3\n-- not built: one\n"), "{log}");
    let asked = "project config --json-output\n";
    let told = "run --environment=s3 --target idedata\n";
    assert_eq!(place.calls(), format!("{asked}run --environment=s3\n{told}"));
    let env = std::fs::read_to_string(place.path("env")).unwrap();
    for (name, value) in QUIET {
        assert!(env.contains(&format!("{name}={value}\n")), "{name} in {env}");
    }
    std::fs::remove_file(place.path("calls")).unwrap();
    place.build(None).await;
    assert_eq!(place.calls(), "run --environment=s3\n");
    assert_eq!(place.pio.command(&place.path("proj é")), "pio run · s3");
    place.build(Some("one")).await;
    assert!(place.calls().contains("run --environment=one\n"), "a named one goes first");
    std::fs::write(place.path("proj é").join(FILE), "[env:other]\nboard = x\n").unwrap();
    place.build(None).await;
    assert!(place.calls().contains(asked), "the file is another one");
}

#[tokio::test]
async fn a_build_that_fails_is_told_with_its_errors_and_hints() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/platformio/header.txt");
    let place = Place::new(&format!("cat '{data}'; exit 1"));
    let (report, log) = place.build(None).await;
    assert_eq!(report.outcome, BuildOutcome::Failed, "{log}");
    assert!(report.diagnostics[0].hint.contains("lib_deps"), "{report:?}");
    assert!(log.contains("* Looking for Foo.h dependency?"), "the log holds all: {log}");
    let place = Place::new("echo 'Error: Unknown board ID '\"'\"x\"'\"; exit 1");
    let (report, _) = place.build(None).await;
    assert_eq!(report.diagnostics[0].file.as_deref(), Some(FILE), "{report:?}");
}

#[tokio::test]
async fn what_is_not_the_projects_fault_is_no_failed_build() {
    let place = Place::new(
        "echo 'Platform Manager: Installing espressif32'\necho 'HTTPClientError: '\nexit 1",
    );
    let BuildOutcome::NotRun(error) = place.build(None).await.0.outcome else { panic!("it ran") };
    assert!(error.why.contains("could not be reached"), "{error:?}");
    let BuildOutcome::NotRun(error) = place.build(Some("nix")).await.0.outcome else {
        panic!("it ran")
    };
    assert!(error.fix.contains("one, s3"), "{error:?}");
    std::fs::write(place.path("config.json"), "Illegal instruction\n").unwrap();
    std::fs::write(place.path("proj é").join(FILE), "# changed\n").unwrap();
    let (report, log) = place.build(None).await;
    let BuildOutcome::NotRun(error) = report.outcome else { panic!("it ran") };
    assert!(error.why.contains("pio project config") && log.contains("Illegal"), "{error:?}");
    let none = PlatformioToolchain::at("/none/pio".into(), "/none".into());
    let place = Place { pio: none, ..place };
    let BuildOutcome::NotRun(error) = place.build(None).await.0.outcome else { panic!("it ran") };
    assert!(error.what.contains("/none/pio") && !error.fix.is_empty(), "{error:?}");
    std::fs::remove_file(place.path("proj é").join(FILE)).unwrap();
    let BuildOutcome::NotRun(error) = place.build(None).await.0.outcome else { panic!("it ran") };
    assert!(error.why.contains("no platformio.ini"), "{error:?}");
}

#[tokio::test]
async fn a_broken_configuration_is_the_projects_to_mend() {
    let place = Place::new("");
    std::fs::write(place.path("config.json"), "[[\"common\", []]]\n").unwrap();
    let (report, _) = place.build(None).await;
    assert_eq!(report.outcome, BuildOutcome::Failed);
    let [one] = report.diagnostics.as_slice() else { panic!("{report:?}") };
    assert_eq!((one.file.as_deref(), one.severity), (Some(FILE), Severity::Error));
    assert!(!place.calls().contains("run "), "nothing was built");
    let text = include_str!("../../../tests/data/platformio/broken-ini.txt");
    std::fs::write(place.path("broken.txt"), text).unwrap();
    let script = format!("#!/bin/sh\ncat '{}'; exit 1\n", place.path("broken.txt").display());
    std::fs::write(place.path("pio"), script).unwrap();
    std::fs::write(place.path("proj é").join(FILE), "[platformio\n").unwrap();
    let (report, log) = place.build(None).await;
    assert_eq!(report.outcome, BuildOutcome::Failed, "{log}");
    assert_eq!(report.diagnostics[0].file.as_deref(), Some(FILE), "{report:?}");
    assert!(log.contains("InvalidProjectConfError"), "{log}");
}

#[tokio::test]
async fn a_cancelled_build_ends_with_all_it_started() {
    let place = Place::new("sleep 1000 & echo $! > child; wait");
    let (job, _) = place.job(None);
    let (cancel, child) = (job.cancel.clone(), place.path("proj é/child"));
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
    assert!(Note::read(&place.path("proj é")).is_none(), "nothing was built");
}

#[tokio::test]
async fn exactly_the_planned_images_are_written_with_esptool() {
    let mut place = Place::new(IMAGES);
    let (project, port) = (place.path("proj é"), place.path("ttyACM0"));
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
    assert!(plan.touches_boot && !plan.board.simulated && plan.board.chip == "esp32s3");
    let order = |plan: &FlashPlan| FlashOrder {
        project: project.clone(),
        plan: plan.clone(),
        progress: Arc::new(|done, total| assert!(done <= total)),
        notice: Arc::new(|notice| panic!("{notice:?}")),
        cancel: CancellationToken::new(),
    };
    let board = place.pio.flash(order(&plan)).await.unwrap();
    assert!(board.port.ends_with("ttyACM0"));
    let calls = place.calls();
    let wanted = "pkg exec --package tool-esptoolpy -- esptool.py --chip esp32s3 --port ";
    assert!(calls.contains(wanted) && calls.contains(" write_flash 0x8000 "), "{calls}");
    std::fs::write(project.join(".pio/build/s3/firmware.bin"), "other").unwrap();
    let error = place.pio.flash(order(&plan)).await.unwrap_err();
    assert!(error.why.contains("changed after it was approved"), "{error:?}");
}

#[tokio::test]
async fn environments_are_its_boards() {
    let place = Place::new("");
    let boards = place.pio.boards(&place.path("proj é")).await;
    let named: Vec<(&str, &str)> =
        boards.iter().map(|board| (board.fqbn.as_str(), board.name.as_str())).collect();
    assert_eq!(named, [("one", "native"), ("s3", "s3box · espressif32")]);
    assert!(place.pio.boards(&place.path("none")).await.is_empty());
}
