//! Tests of flash plans and of reading `esptool`'s words.

use std::fs;

use super::*;
use crate::model::{BoardInfo, BuildId, FlashPlan, Timestamp};
use crate::toolchain::esptool::{Writing, first_port};

const ARGS: &str = include_str!("../../../tests/data/build/flasher_args.json");

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let build = folder.path().join("build");
    for part in ["bootloader", "partition_table"] {
        fs::create_dir_all(build.join(part)).unwrap();
    }
    fs::write(build.join("flasher_args.json"), ARGS).unwrap();
    fs::write(build.join("bootloader/bootloader.bin"), "boot").unwrap();
    fs::write(build.join("partition_table/partition-table.bin"), "table").unwrap();
    fs::write(build.join("blink.bin"), "application").unwrap();
    folder
}

fn plan(project: &Path) -> FlashPlan {
    let Written { chip, images, options } = images(project).unwrap();
    let port = "/dev/ttyUSB0".to_owned();
    let board = BoardInfo { label: "board".to_owned(), chip, port, simulated: false };
    FlashPlan { options, ..FlashPlan::new(board, images, BuildId(1), Timestamp(1)) }
}

#[test]
fn a_plan_lists_the_images_by_offset() {
    let project = project();
    let plan = plan(project.path());
    let listed: Vec<(u32, &str, u64)> =
        plan.images.iter().map(|image| (image.offset, image.file.as_str(), image.bytes)).collect();
    assert_eq!(
        listed,
        [
            (0, "build/bootloader/bootloader.bin", 4),
            (0x8000, "build/partition_table/partition-table.bin", 5),
            (0x10000, "build/blink.bin", 11),
        ]
    );
    assert_eq!(plan.board.chip, "esp32c3");
    assert_eq!(plan.options.join(" "), "--flash_mode dio --flash_size 4MB --flash_freq 80m");
    assert_eq!(plan.images[0].hash, crate::model::ContentHash::of(b"boot"));
}

#[test]
fn a_plan_without_images_is_told_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    assert!(images(folder.path()).unwrap_err().fix.contains("linux"));
    let project = project();
    let path = project.path().join("build/flasher_args.json");
    fs::write(&path, ARGS.replace("\"blink.bin\"", "\"../../etc/passwd\"")).unwrap();
    assert!(images(project.path()).unwrap_err().why.contains("outside"));
    fs::write(&path, "{").unwrap();
    assert!(images(project.path()).unwrap_err().why.contains("flasher_args.json"));
}

#[test]
fn what_the_build_asks_of_the_tool_is_kept() {
    let project = project();
    let asked = asked(project.path());
    assert_eq!(asked.write.join(" "), "--flash_mode dio --flash_size 4MB --flash_freq 80m");
    assert_eq!(asked.before.as_deref(), Some("default_reset"));
    assert_eq!(super::asked(&project.path().join("none")), EsptoolOptions::default());
}

#[test]
fn the_words_of_both_generations_of_the_tool_are_understood() {
    let project = project();
    let images = plan(project.path()).images;
    let mut writing = Writing::default();
    assert_eq!(writing.push(b"Writing at 0x00000000... (50 %)", &images), None);
    assert_eq!(writing.push(b"\rWriting at 0x00000000... (100 %)\r", &images), Some(4));
    assert_eq!(writing.push(b"Hash of data verified.\n", &images), None);
    let bar = b"Writing at 0x00010000 [====>    ]  50.0% 5/11 bytes... \r";
    assert_eq!(writing.push(bar, &images), Some(4 + 5 + 5));
    assert_eq!(writing.verified, 1);
    writing.push(b"A fatal error occurred: Could not open /dev/ttyUSB0\nbye\n", &images);
    assert_eq!(writing.cause(), "Could not open /dev/ttyUSB0");
    let message =
        b"\nA serial exception error occurred: Attempting to use a port that is not open\n\
                 Note: This error originates from pySerial.\nFor troubleshooting steps visit: x\n";
    writing.push(message, &images);
    assert_eq!(writing.cause(), "Attempting to use a port that is not open");
    let mut silent = Writing::default();
    silent.push(b"No more data. This can have many causes, for steps visit: https://d\n", &images);
    assert_eq!(silent.cause(), "No more data.");
}

#[test]
fn the_first_port_is_taken() {
    let dev = tempfile::tempdir().unwrap();
    assert!(first_port(dev.path()).is_err());
    for name in ["tty0", "ttyUSB1", "ttyACM0", "ttyUSB0"] {
        fs::write(dev.path().join(name), "").unwrap();
    }
    assert!(first_port(dev.path()).unwrap().ends_with("/ttyACM0"));
}
