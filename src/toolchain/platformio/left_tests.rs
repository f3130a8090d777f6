//! What a build leaves behind, with files as PlatformIO writes them.

use super::*;

/// An application's head for a chip.
fn app(number: u16) -> Vec<u8> {
    let mut content = vec![0; 64];
    content[0] = crate::toolchain::esp_image::MAGIC;
    content[12..14].copy_from_slice(&number.to_le_bytes());
    content
}

/// A project whose last build was for the environment `a`, and the folder of what is installed.
fn built(reported: &serde_json::Value) -> (tempfile::TempDir, PathBuf, BuildNote) {
    let place = tempfile::tempdir().unwrap();
    let (project, folder) = (place.path().join("p é"), place.path().join("p é/.pio/build/a"));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::create_dir_all(place.path().join("packages/fw")).unwrap();
    std::fs::write(project.join(FILE), "").unwrap();
    std::fs::write(folder.join("firmware.bin"), app(9)).unwrap();
    std::fs::write(folder.join("partitions.bin"), [0xaa, 0x50, 1]).unwrap();
    std::fs::write(place.path().join("packages/fw/boot_app0.bin"), "ota").unwrap();
    let text = reported.to_string().replace("PROJECT", &project.display().to_string());
    let text = text.replace("PACKAGES", &place.path().join("packages").display().to_string());
    std::fs::write(folder.join(REPORTED), text).unwrap();
    let note = BuildNote {
        environment: "a".to_owned(),
        folder: ".pio/build/a".into(),
        sources: "src".into(),
        port: None,
        upload_speed: Some(921_600),
        monitor_speed: Some(74_880),
        takes_all: false,
    };
    note.keep(&project, &place.path().join("packages")).unwrap();
    (place, project, note)
}

fn esp32s3() -> serde_json::Value {
    serde_json::json!({
        "prog_path": "PROJECT/.pio/build/a/firmware.elf",
        "cc_path": "PACKAGES/toolchain/bin/xtensa-esp32s3-elf-gcc",
        "extra": {
            "application_offset": "0x10000",
            "flash_images": [
                { "offset": "0x8000", "path": "PROJECT/.pio/build/a/partitions.bin" },
                { "offset": 0xe000, "path": "PACKAGES/fw/boot_app0.bin" },
            ],
        },
    })
}

#[test]
fn images_are_those_that_the_platform_tells_and_all_lie_in_the_project() {
    let (_place, project, note) = built(&esp32s3());
    assert_eq!(BuildNote::read(&project).unwrap(), note);
    let images = note.images(&project).unwrap();
    let shown: Vec<(u32, &str)> =
        images.all.iter().map(|image| (image.offset, image.file.as_str())).collect();
    assert_eq!(
        shown,
        [
            (0x8000, ".pio/build/a/partitions.bin"),
            (0xe000, ".pio/firmhand/boot_app0.bin"),
            (0x1_0000, ".pio/build/a/firmware.bin"),
        ]
    );
    assert_eq!(images.chip, "esp32s3");
    let table = project.join(COPIES).join(TABLE);
    assert_eq!(std::fs::read(&table).unwrap(), [0xaa, 0x50, 1]);
    std::fs::remove_file(project.join(".pio/build/a").join(TABLE)).unwrap();
    note.keep(&project, &project).unwrap();
    assert!(!table.exists(), "the build made none");
}

#[test]
fn an_application_may_be_alone() {
    let mut reported = esp32s3();
    reported["extra"] = serde_json::json!({});
    let (_place, project, note) = built(&reported);
    let images = note.images(&project).unwrap();
    assert_eq!((images.all.len(), images.all[0].offset), (1, APPLICATION));
}

#[test]
fn what_is_no_image_of_an_esp32_is_not_written() {
    let error = |reported: &serde_json::Value, change: &dyn Fn(&Path)| {
        let (_place, project, note) = built(reported);
        change(&project.join(".pio/build/a"));
        note.images(&project).unwrap_err()
    };
    let nothing = |_: &Path| {};
    let other = |folder: &Path| std::fs::write(folder.join("firmware.bin"), app(0x7777)).unwrap();
    assert!(error(&esp32s3(), &other).fix.contains("target upload"));
    let signed = |folder: &Path| std::fs::write(folder.join("firmware-signed.bin"), "").unwrap();
    assert!(error(&esp32s3(), &signed).why.contains("signed"));
    let gone = |folder: &Path| std::fs::remove_file(folder.join(REPORTED)).unwrap();
    assert!(error(&esp32s3(), &gone).fix.contains("Build the project again"));
    for (key, bad) in [("path", "/etc/hostname"), ("path", "PROJECT/../x"), ("offset", "0xz")] {
        let mut reported = esp32s3();
        reported["extra"]["flash_images"][0][key] = bad.into();
        let error = error(&reported, &nothing);
        assert!(error.fix.contains("again"), "{bad}: {error:?}");
    }
    let mut older = esp32s3();
    older["cc_path"] = "PACKAGES/xtensa-lx106-elf-gcc".into();
    assert!(error(&older, &nothing).why.contains("not an application for an ESP32"));
}

#[test]
fn a_file_of_the_person_is_not_copied_to_be_flashed() {
    let mut reported = esp32s3();
    reported["extra"]["flash_images"][1]["path"] = "/etc/hostname".into();
    let (_place, project, note) = built(&reported);
    assert!(!project.join(COPIES).join("hostname").exists());
    assert!(note.images(&project).unwrap_err().why.contains("hostname"));
}

#[test]
fn pio_is_asked_anew_once_something_it_goes_by_has_changed() {
    let (place, project, note) = built(&esp32s3());
    let packages = place.path().join("packages");
    let old = SystemTime::now() - std::time::Duration::from_secs(60);
    let touch = |path: &Path, at: SystemTime| {
        std::fs::File::open(path).unwrap().set_modified(at).unwrap();
    };
    let library = project.join(".pio/build/a/lib1f3");
    std::fs::create_dir(&library).unwrap();
    std::fs::write(project.join("big.csv"), "").unwrap();
    let all = [project.join(FILE), packages.clone(), library, project.join("big.csv")];
    all.iter().for_each(|path| touch(path, old));
    assert!(!is_stale(&project, &note, &packages));
    for path in &all {
        touch(path, SystemTime::now() + std::time::Duration::from_secs(60));
        assert!(is_stale(&project, &note, &packages), "{}", path.display());
        touch(path, old);
    }
    std::fs::remove_file(project.join(".pio/build/a").join(REPORTED)).unwrap();
    assert!(is_stale(&project, &note, &packages));
}
