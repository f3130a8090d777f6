//! Builds and uploads with a stand-in for `arduino-cli` that answers in its words.

use std::path::PathBuf;

use super::*;
use crate::toolchain::esptool::first_port;
use crate::toolchain::stand_in::{self, ESPTOOL};

/// A sketch, boards' files, and the stand-in.
struct SketchBench {
    base: stand_in::StandInProject,
    arduino: ArduinoToolchain,
}

impl SketchBench {
    /// The stand-in answers with the file `answer`; `after`: more commands.
    fn new(answer: &str, after: &str) -> Self {
        let base = stand_in::StandInProject::new(
            "blink",
            &[
                ("blink.ino", "void setup() {}\nvoid loop() {}\n"),
                ("sketch.yaml", "default_fqbn: esp32:esp32:esp32s3\n"),
                ("../platform/tools/partitions/boot_app0.bin", "ota"),
            ],
        );
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/arduino");
        let text = std::fs::read_to_string(data.join(answer)).unwrap();
        let text = text
            .replace("PROJECT", &base.project().display().to_string())
            .replace("PLATFORM", &base.path("platform").display().to_string());
        std::fs::write(base.path("answer.json"), text).unwrap();
        let commands = format!(
            "case $1 in\ncompile)\n{after}\ncat '{}';;\n\
             upload) while [ \"$1\" != --input-dir ]; do shift; done\nset -- \"$2\"/*\n{ESPTOOL};;\n\
             esac",
            base.path("answer.json").display()
        );
        let arduino = ArduinoToolchain::at(base.program("arduino-cli", &commands));
        Self { base, arduino }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.base.path(below)
    }

    async fn build(&self, board: Option<&str>) -> (BuildReport, String) {
        self.base.build(&self.arduino, board).await
    }

    fn calls(&self) -> String {
        self.base.calls()
    }
}

/// Leaves images as the boards' build does.
const IMAGES: &str = "while [ \"$1\" != --build-path ]; do shift; done\nmkdir -p \"$2\"\n\
                      for part in bootloader.bin partitions.bin bin; do\n\
                      echo $part > \"$2/blink.ino.$part\"\ndone";

#[tokio::test]
async fn a_build_is_told_with_its_findings_libraries_and_sizes() {
    let place = SketchBench::new("compile-passed.json", IMAGES);
    let (report, log) = place.build(None).await;
    assert_eq!(report.outcome, BuildOutcome::Passed, "{log}");
    let [warning] = report.diagnostics.as_slice() else { panic!("{report:?}") };
    assert_eq!((warning.file.as_deref(), warning.line), (Some("blink.ino"), Some(4)));
    assert_eq!(warning.severity, Severity::Warning);
    for reported in ["-- arduino-cli compile", "Used library Wire 3.0.0", "text: 262461 of 1310720"]
    {
        assert!(log.contains(reported), "no {reported} in {log}");
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
    let place = SketchBench::new("compile-failed.json", "");
    let (report, log) = place.build(None).await;
    assert_eq!(report.outcome, BuildOutcome::Failed, "{log}");
    let first = &report.diagnostics[0];
    assert_eq!((first.file.as_deref(), first.line), (Some("blink.ino"), Some(1)));
    assert!(first.hint.contains("lib search Adafruit_BME280"), "{first:?}");
}

#[tokio::test]
async fn what_is_not_installed_or_not_understood_is_no_failed_build() {
    let place = SketchBench::new("no-platform.json", "");
    let BuildOutcome::NotRun(error) = place.build(None).await.0.outcome else { panic!("it ran") };
    assert!(error.fix.contains("core install esp32:esp32"), "{error:?}");
    std::fs::write(place.path("answer.json"), "Illegal instruction\n").unwrap();
    let (report, log) = place.build(None).await;
    let BuildOutcome::NotRun(error) = report.outcome else { panic!("it ran") };
    assert!(error.why.contains("--format json") && log.contains("Illegal instruction"), "{log}");
    let none = ArduinoToolchain::at("/none/arduino-cli".into());
    let place = SketchBench { arduino: none, ..place };
    let BuildOutcome::NotRun(error) = place.build(None).await.0.outcome else { panic!("it ran") };
    assert!(error.what.contains("/none/arduino-cli") && !error.fix.is_empty(), "{error:?}");
}

#[tokio::test]
async fn exactly_the_planned_images_are_uploaded_and_verified() {
    let place = SketchBench::new("compile-passed.json", IMAGES);
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
    assert!(!plan.board.simulated && plan.board.chip == "esp32s3");
    let board = place.arduino.flash(place.base.order(&plan)).await.unwrap();
    assert!(board.port.ends_with("ttyACM0"));
    let calls = place.calls();
    assert!(calls.contains("upload --fqbn esp32:esp32:esp32s3 --port "), "{calls}");
    std::fs::write(project.join("build/arduino/blink.ino.bin"), "other").unwrap();
    let error = place.arduino.flash(place.base.order(&plan)).await.unwrap_err();
    assert!(error.why.contains("changed after it was approved"), "{error:?}");
}
