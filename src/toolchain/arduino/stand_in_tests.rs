//! Builds and uploads with a stand-in for `arduino-cli` that answers in its words.

use crate::toolchain::esptool::first_port;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::*;
use crate::toolchain::BuildSink;

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

/// A sketch, boards' files, and the stand-in.
struct Place {
    folder: tempfile::TempDir,
    arduino: ArduinoToolchain,
}

impl Place {
    /// The stand-in notes its arguments and answers with the file `answer`; `after`: more commands.
    fn new(answer: &str, after: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let project = root.join("blink");
        std::fs::create_dir_all(&project).unwrap();
        std::fs::write(project.join("blink.ino"), "void setup() {}\nvoid loop() {}\n").unwrap();
        std::fs::write(project.join("sketch.yaml"), "default_fqbn: esp32:esp32:esp32s3\n").unwrap();
        let platform = root.join("platform/tools/partitions");
        std::fs::create_dir_all(&platform).unwrap();
        std::fs::write(platform.join("boot_app0.bin"), "ota").unwrap();
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/arduino");
        let text = std::fs::read_to_string(data.join(answer)).unwrap();
        let text = text
            .replace("PROJECT", &project.display().to_string())
            .replace("PLATFORM", &root.join("platform").display().to_string());
        std::fs::write(root.join("answer.json"), text).unwrap();
        let shown = root.display();
        let script = format!(
            "#!/bin/sh\necho \"$@\" >> {shown}/calls\ncase $1 in\ncompile)\n{after}\n\
             cat {shown}/answer.json;;\nupload) {UPLOAD};;\nesac\n"
        );
        let cli = root.join("arduino-cli");
        std::fs::write(&cli, script).unwrap();
        std::fs::set_permissions(&cli, std::fs::Permissions::from_mode(0o755)).unwrap();
        Self { arduino: ArduinoToolchain::at(cli), folder }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    async fn build(&self, board: Option<&str>) -> (BuildReport, String) {
        let sink = Arc::new(Paper::default());
        let job = BuildJob {
            project: self.path("blink"),
            board: board.map(str::to_owned),
            sink: Arc::clone(&sink) as Arc<dyn BuildSink>,
            timeout: Duration::from_secs(60),
            cancel: CancellationToken::new(),
        };
        let report = self.arduino.build(job).await;
        let log = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
        (report, log)
    }

    fn calls(&self) -> String {
        std::fs::read_to_string(self.path("calls")).unwrap()
    }
}

/// Leaves images as the boards' build does.
const IMAGES: &str = "while [ \"$1\" != --build-path ]; do shift; done\nmkdir -p \"$2\"\n\
                      for part in bootloader.bin partitions.bin bin; do\n\
                      echo $part > \"$2/blink.ino.$part\"\ndone";

/// Tells what `esptool` tells, for each image that it was given.
const UPLOAD: &str = "while [ \"$1\" != --input-dir ]; do shift; done\n\
                      for image in \"$2\"/*; do\n\
                      echo 'Writing at 0x00010000... (100 %)'\necho 'Hash of data verified.'\ndone";

#[tokio::test]
async fn a_build_is_told_with_its_findings_libraries_and_sizes() {
    let place = Place::new("compile-passed.json", IMAGES);
    let (report, log) = place.build(None).await;
    assert_eq!(report.outcome, BuildOutcome::Passed, "{log}");
    let [warning] = report.diagnostics.as_slice() else { panic!("{report:?}") };
    assert_eq!((warning.file.as_deref(), warning.line), (Some("blink.ino"), Some(4)));
    assert_eq!(warning.severity, Severity::Warning);
    for told in ["-- arduino-cli compile", "Used library Wire 3.0.0", "text: 262461 of 1310720"] {
        assert!(log.contains(told), "no {told} in {log}");
    }
    let calls = place.calls();
    let wanted = "compile --fqbn esp32:esp32:esp32s3 --build-path ";
    assert!(calls.starts_with(wanted) && calls.contains("--format json"), "{calls}");
    place.build(Some("esp32:esp32:esp32c3")).await;
    assert!(
        place.calls().contains("--fqbn esp32:esp32:esp32c3"),
        "the tool's own board goes first"
    );
}

#[tokio::test]
async fn a_missing_library_is_told_with_the_command_that_brings_it() {
    let place = Place::new("compile-failed.json", "");
    let (report, log) = place.build(None).await;
    assert_eq!(report.outcome, BuildOutcome::Failed, "{log}");
    let first = &report.diagnostics[0];
    assert_eq!((first.file.as_deref(), first.line), (Some("blink.ino"), Some(1)));
    assert!(first.hint.contains("lib search Adafruit_BME280"), "{first:?}");
}

#[tokio::test]
async fn what_is_not_installed_or_not_understood_is_no_failed_build() {
    let place = Place::new("no-platform.json", "");
    let BuildOutcome::NotRun(error) = place.build(None).await.0.outcome else { panic!("it ran") };
    assert!(error.fix.contains("core install esp32:esp32"), "{error:?}");
    std::fs::write(place.path("answer.json"), "Illegal instruction\n").unwrap();
    let (report, log) = place.build(None).await;
    let BuildOutcome::NotRun(error) = report.outcome else { panic!("it ran") };
    assert!(error.why.contains("--format json") && log.contains("Illegal instruction"), "{log}");
    let none = ArduinoToolchain::at("/none/arduino-cli".into());
    let place = Place { arduino: none, ..place };
    let BuildOutcome::NotRun(error) = place.build(None).await.0.outcome else { panic!("it ran") };
    assert!(error.what.contains("/none/arduino-cli") && !error.fix.is_empty(), "{error:?}");
}

#[tokio::test]
async fn exactly_the_planned_images_are_uploaded_and_verified() {
    let place = Place::new("compile-passed.json", IMAGES);
    let (project, dev) = (place.path("blink"), place.path("dev"));
    let plan = |dev: &Path| upload::plan(&project, BuildId(1), Timestamp(0), &|| first_port(dev));
    assert!(plan(&dev).unwrap_err().fix.contains("Build the sketch first"));
    place.build(None).await;
    assert!(plan(&dev).unwrap_err().why.contains("no board was found"));
    std::fs::create_dir(&dev).unwrap();
    std::fs::write(dev.join("ttyACM0"), "").unwrap();
    let plan = plan(&dev).unwrap();
    let shown: Vec<(u32, &str)> =
        plan.images.iter().map(|image| (image.offset, image.file.as_str())).collect();
    assert_eq!(
        shown,
        [
            (0, "build/arduino/blink.ino.bootloader.bin"),
            (0x8000, "build/arduino/blink.ino.partitions.bin"),
            (0xe000, "build/arduino/boot_app0.bin"),
            (0x1_0000, "build/arduino/blink.ino.bin"),
        ]
    );
    assert!(plan.touches_boot && !plan.board.simulated && plan.board.chip == "esp32s3");
    let order = |plan: &FlashPlan| FlashOrder {
        project: project.clone(),
        plan: plan.clone(),
        progress: Arc::new(|done, total| assert!(done <= total)),
        notice: Arc::new(|notice| panic!("{notice:?}")),
        cancel: CancellationToken::new(),
    };
    let board = place.arduino.flash(order(&plan)).await.unwrap();
    assert!(board.port.ends_with("ttyACM0"));
    let calls = place.calls();
    assert!(calls.contains("upload --fqbn esp32:esp32:esp32s3 --port "), "{calls}");
    std::fs::write(project.join("build/arduino/blink.ino.bin"), "other").unwrap();
    let error = place.arduino.flash(order(&plan)).await.unwrap_err();
    assert!(error.why.contains("changed after it was approved"), "{error:?}");
}
