//! PlatformIO's way to a board's flash, by the loader within and by the real `esptool`, which its
//! `pkg exec` starts. That program is a stand-in here, for no registry is needed to try what it is
//! given.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;

use firmhand::model::{
    BuildId, ErasePlan, FlashPlan, FlashRegion, ProjectPath, ReadPlan, Timestamp, UserError,
};
use firmhand::toolchain::{
    EraseOrder, FlashOrder, PlatformioToolchain, ReadOrder, RewriteOrder, Toolchain,
};
use tokio_util::sync::CancellationToken;

use super::chip::{Chip, Fault, Kind};
use super::loaders::{Way, bytes, ways};

const MEGABYTE: usize = 1024 * 1024;

const PIO: &str = "#!/bin/sh\n[ \"$1 $2 $3 $4 $5 $6\" = 'pkg exec --package tool-esptoolpy -- \
                   esptool.py' ] || exit 9\nshift 6\nexec \"PYTHON\" -m esptool \"$@\"\n";

/// A project as a build for an ESP32-C3 leaves it.
struct Place {
    folder: tempfile::TempDir,
    pio: PlatformioToolchain,
}

impl Place {
    fn new(way: &Way) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, content: &[u8]| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        };
        let pio = folder.path().join("pio");
        write("pio", PIO.replace("PYTHON", &way.python).as_bytes());
        std::fs::set_permissions(&pio, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut app = bytes(3, 190_001);
        app[0] = 0xe9;
        app[1] = 1;
        app[12..14].copy_from_slice(&5_u16.to_le_bytes());
        write("project/.pio/build/c3/firmware.bin", &app);
        write("project/.pio/build/c3/bootloader.bin", &bytes(1, 21_000));
        let build = folder.path().join("project/.pio/build/c3");
        let told = serde_json::json!({
            "prog_path": build.join("firmware.elf"),
            "extra": { "application_offset": "0x10000", "flash_images": [
                { "offset": "0x0000", "path": build.join("bootloader.bin") },
            ] },
        });
        write("project/.pio/build/c3/idedata.json", told.to_string().as_bytes());
        let note = r#"{"environment": "c3", "folder": ".pio/build/c3", "sources": "src"}"#;
        write("project/.pio/firmhand.json", note.as_bytes());
        let pio = PlatformioToolchain::at(pio, folder.path().join("core"));
        let pio = pio.with_loader(way.loader);
        Self { folder, pio }
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn image(&self, file: &str) -> Vec<u8> {
        std::fs::read(self.project().join(".pio/build/c3").join(file)).unwrap()
    }

    fn plan(&self, port: &str) -> FlashPlan {
        let pio = self.pio.clone().with_port(port.to_owned());
        pio.plan_flash(&self.project(), BuildId(1), Timestamp(0)).unwrap()
    }

    async fn flash(&self, plan: FlashPlan) -> Result<firmhand::model::BoardInfo, UserError> {
        let order = FlashOrder {
            plan,
            project: self.project(),
            progress: Arc::new(|done, total| assert!(done <= total)),
            notice: Arc::new(|_| {}),
            cancel: CancellationToken::new(),
        };
        self.pio.flash(order).await
    }
}

#[tokio::test]
async fn every_byte_of_a_platformio_build_arrives_and_comes_back() {
    for way in ways() {
        there_and_back(&way).await;
    }
}

async fn there_and_back(way: &Way) {
    let place = Place::new(way);
    let chip = Chip::start(Kind::Esp32C3, Fault::None, MEGABYTE);
    let plan = place.plan(&chip.port);
    assert!(plan.board.chip == "esp32c3", "{plan:?}");
    let board = plan.board.clone();
    place.flash(plan).await.unwrap();
    let app = place.image("firmware.bin");
    assert!(chip.flash(0x1_0000, app.len()) == app, "the application differs");
    assert!(chip.flash(0, 21_000) == place.image("bootloader.bin"), "the bootloader differs");
    let region = FlashRegion { label: "app0".into(), offset: 0x1_0000, bytes: 0x1_8000 };
    let (project, cancel) = (place.project(), CancellationToken::new());
    let path = ProjectPath::new("back.bin").unwrap();
    let read = ReadPlan { board: board.clone(), region: region.clone(), path };
    let order = ReadOrder { project: project.clone(), plan: read, cancel: cancel.clone() };
    let read = place.pio.read_flash(order).await.unwrap();
    assert!(read == app[..0x1_8000], "what was read differs");
    // A part is changed by what it holds, and what stays as it is is not written.
    let order = |made: Option<Vec<u8>>| RewriteOrder {
        project: project.clone(),
        board: board.clone(),
        region: FlashRegion { label: "nvs".into(), offset: 0x9000, bytes: 0x1000 },
        remake: Arc::new(move |now| made.clone().filter(|_| now.iter().all(|byte| *byte == 0xff))),
        progress: Arc::new(|done, total| assert!(done <= total)),
        cancel: cancel.clone(),
    };
    let settings = bytes(7, 0x1000);
    place.pio.rewrite(order(Some(settings.clone()))).await.unwrap();
    assert!(chip.flash(0x9000, 0x1000) == settings, "the settings differ");
    place.pio.rewrite(order(Some(vec![0; 0x1000]))).await.unwrap();
    assert!(chip.flash(0x9000, 0x1000) == settings, "the settings were other ones by then");
    let plan = ErasePlan { board, region: Some(region) };
    place.pio.erase(EraseOrder { project, plan, cancel }).await.unwrap();
    assert!(chip.flash(0x1_0000, 0x1_8000).iter().all(|byte| *byte == 0xff));
    assert_eq!(chip.flash(0, 21_000), place.image("bootloader.bin"));
}

#[tokio::test]
async fn another_chip_than_the_build_is_for_is_not_written() {
    for way in ways() {
        let place = Place::new(&way);
        let chip = Chip::start(Kind::Esp32, Fault::None, MEGABYTE);
        let error = place.flash(place.plan(&chip.port)).await.unwrap_err();
        assert!(error.why.contains("wrong chip"), "{way:?}: {error:?}");
        assert!(chip.flash(0, MEGABYTE).iter().all(|byte| *byte == 0xff), "{way:?} wrote");
    }
}
