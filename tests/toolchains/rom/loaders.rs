//! Our own way to a board's flash, by the loader within and by the real `esptool`.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use firmhand::model::{
    BuildId, ContentHash, ErasePlan, FlashPlan, FlashRegion, NvsPlan, ProjectPath, ReadPlan,
    Timestamp, UserError,
};
use firmhand::toolchain::nvs::{self, EntryChange, Planned, Rewritten};
use firmhand::toolchain::{
    EraseOrder, FlashOrder, IdfToolchain, Loader, ReadOrder, RewriteOrder, Toolchain,
};
use tokio_util::sync::CancellationToken;

use super::chip::{Chip, Fault, Kind};

const MEGABYTE: usize = 1024 * 1024;

/// The Python that has `esptool`, by its whole path: the folder that stands for ESP-IDF has a `python3`
/// of its own, which starts this one. `None` when there is none.
pub fn python() -> Option<String> {
    let python = std::env::var("FIRMHAND_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let script = "import esptool, sys; print(sys.executable)";
    let asked = std::process::Command::new(&python).args(["-c", script]).output();
    let found = asked.ok().filter(|output| output.status.success());
    let path = found.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    if let Some(path) = path.filter(|path| !path.is_empty()) {
        return Some(path);
    }
    eprintln!("not run: {python} has no esptool (`pip install esptool`)");
    None
}

/// A loader, and the Python that it needs.
#[derive(Debug, Clone)]
pub struct Way {
    pub loader: Loader,
    pub python: String,
}

/// Those that can be tried here. The one within needs no Python, which is shown by giving it none.
pub fn ways() -> Vec<Way> {
    let within = Way { loader: Loader::Within, python: "false".to_owned() };
    let esptool = python().map(|python| Way { loader: Loader::Esptool, python });
    [Some(within), esptool].into_iter().flatten().collect()
}

/// A folder with an ESP-IDF that has nothing but that Python, and a project that was built by it.
pub struct Place {
    folder: tempfile::TempDir,
    loader: Loader,
}

/// Bytes that compress in parts only, different for each seed.
pub fn bytes(seed: u32, count: usize) -> Vec<u8> {
    let mut state = seed | 1;
    let noise = (0..count).map(|at| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if at / 512 % 3 == 0 { 0x5a } else { (state >> 24) as u8 }
    });
    noise.collect()
}

impl Place {
    pub fn new(way: &Way, extra: &str) -> Self {
        let Way { loader, python } = way.clone();
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, content: &[u8]| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        };
        let python = match python.contains('/') {
            true => python,
            false => format!("$(command -v {python})"),
        };
        write("idf/tools/idf.py", b"");
        let export = format!(
            "mkdir -p \"$IDF_PATH/bin\"; ln -sf \"{python}\" \"$IDF_PATH/bin/python3-real\"\n\
             printf '#!/bin/sh\\nexec \"{python}\" \"$@\"\\n' > \"$IDF_PATH/bin/python3\"\n\
             chmod +x \"$IDF_PATH/bin/python3\"; export PATH=\"$IDF_PATH/bin:$PATH\"\n"
        );
        write("idf/export.sh", export.as_bytes());
        write("project/build/bootloader/bootloader.bin", &bytes(1, 21_000));
        write("project/build/partition_table/partition-table.bin", &bytes(2, 3072));
        write("project/build/blink.bin", &bytes(3, 190_001));
        let args = format!(
            r#"{{"write_flash_args": ["--flash_mode", "keep"],
            "flash_files": {{"0x0": "bootloader/bootloader.bin",
                "0x8000": "partition_table/partition-table.bin", "0x10000": "blink.bin"}},
            "bootloader": {{"offset": "0x0", "file": "bootloader/bootloader.bin"}},
            "partition-table": {{"offset": "0x8000", "file": "partition_table/partition-table.bin"}},
            "extra_esptool_args": {{"after": "hard_reset", "before": "default_reset",
                "chip": "esp32c3"{extra}}}}}"#
        );
        write("project/build/flasher_args.json", args.as_bytes());
        Self { folder, loader }
    }

    pub fn idf(&self, port: &str) -> IdfToolchain {
        IdfToolchain::at(self.folder.path().join("idf"), Some(port.to_owned()))
            .with_loader(self.loader)
    }

    pub fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub fn image(&self, file: &str) -> Vec<u8> {
        std::fs::read(self.project().join("build").join(file)).unwrap()
    }
}

/// What a flash told.
pub struct Told {
    pub result: Result<firmhand::model::BoardInfo, UserError>,
    progress: Vec<(u64, u64)>,
    notices: Vec<UserError>,
}

pub fn plan(idf: &IdfToolchain, project: &Path) -> FlashPlan {
    idf.plan_flash(project, BuildId(1), Timestamp(0)).unwrap()
}

pub async fn flash(place: &Place, port: &str) -> Told {
    let idf = place.idf(port);
    let (progress, notices) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
    let (steps, said) = (progress.clone(), notices.clone());
    let order = FlashOrder {
        plan: plan(&idf, &place.project()),
        project: place.project(),
        progress: Arc::new(move |done, total| steps.lock().unwrap().push((done, total))),
        notice: Arc::new(move |notice| said.lock().unwrap().push(notice)),
        cancel: CancellationToken::new(),
    };
    let result = idf.flash(order).await;
    let progress = std::mem::take(&mut *progress.lock().unwrap());
    let notices = std::mem::take(&mut *notices.lock().unwrap());
    Told { result, progress, notices }
}

/// Whether the chip holds exactly the images, and nothing beside them.
pub fn assert_holds(chip: &Chip, place: &Place) {
    let files = [
        (0, "bootloader/bootloader.bin"),
        (0x8000, "partition_table/partition-table.bin"),
        (0x1_0000, "blink.bin"),
    ];
    let mut expected = vec![0xff; MEGABYTE];
    for (offset, file) in files {
        let image = place.image(file);
        expected[offset..offset + image.len()].copy_from_slice(&image);
    }
    let held = chip.flash(0, MEGABYTE);
    let differs = held.iter().zip(&expected).position(|(a, b)| a != b);
    assert_eq!(differs, None, "the flash differs from the images at that address");
}

const NO_STUB: &str = r#", "stub": false"#;

async fn every_byte_arrives(way: &Way, extra: &str) {
    let place = Place::new(way, extra);
    let chip = Chip::start(Kind::Esp32C3, Fault::None, MEGABYTE);
    let told = flash(&place, &chip.port).await;
    told.result.unwrap_or_else(|error| panic!("{way:?} {extra}: {error:?}"));
    assert_holds(&chip, &place);
    let total: u64 = 21_000 + 3072 + 190_001;
    assert_eq!(told.progress.first(), Some(&(0, total)));
    assert_eq!(told.progress.last(), Some(&(total, total)));
    assert!(told.progress.len() > 5, "{:?}", told.progress);
    assert!(told.progress.is_sorted(), "{:?}", told.progress);
    assert_eq!(told.notices, []);
}

#[tokio::test]
async fn every_byte_arrives_by_each_loader() {
    for way in ways() {
        every_byte_arrives(&way, "").await;
    }
}

#[tokio::test]
async fn a_build_that_asks_for_the_rom_alone_is_left_to_esptool() {
    let Some(python) = python() else { return };
    every_byte_arrives(&Way { loader: Loader::Fitting, python }, NO_STUB).await;
}

#[tokio::test]
async fn what_is_there_already_is_not_sent_again() {
    let way = Way { loader: Loader::Within, python: "false".to_owned() };
    let place = Place::new(&way, "");
    let chip = Chip::start(Kind::Esp32C3, Fault::None, MEGABYTE);
    flash(&place, &chip.port).await.result.unwrap();
    let sent = || chip.seen.lock().unwrap().commands.iter().filter(|sent| **sent == 0x11).count();
    let first = sent();
    flash(&place, &chip.port).await.result.unwrap();
    assert_holds(&chip, &place);
    assert!(first > 0 && sent() == first, "{first} blocks at first, {} then", sent());
}

#[tokio::test]
async fn what_was_written_is_read_back_and_erased() {
    for way in ways() {
        read_and_erase(&way).await;
    }
}

async fn read_and_erase(way: &Way) {
    let place = Place::new(way, "");
    let chip = Chip::start(Kind::Esp32C3, Fault::None, MEGABYTE);
    flash(&place, &chip.port).await.result.unwrap();
    let idf = place.idf(&chip.port);
    let board = plan(&idf, &place.project()).board;
    let region = FlashRegion { label: "factory".into(), offset: 0x1_0000, bytes: 0x1_8000 };
    let (project, cancel) = (place.project(), CancellationToken::new());
    let path = ProjectPath::new("build/back.bin").unwrap();
    let read = ReadPlan { board: board.clone(), region: region.clone(), path };
    let order = ReadOrder { project: project.clone(), plan: read, cancel: cancel.clone() };
    let read = idf.read_flash(order).await.unwrap();
    assert!(read == place.image("blink.bin")[..0x1_8000], "{way:?}: what was read differs");
    let erase = |region| EraseOrder {
        project: project.clone(),
        plan: ErasePlan { board: board.clone(), region },
        cancel: cancel.clone(),
    };
    idf.erase(erase(Some(region))).await.unwrap();
    assert!(chip.flash(0x1_0000, 0x1_8000).iter().all(|byte| *byte == 0xff));
    assert_eq!(chip.flash(0, 21_000), place.image("bootloader/bootloader.bin"));
    idf.erase(erase(None)).await.unwrap();
    assert!(chip.flash(0, MEGABYTE).iter().all(|byte| *byte == 0xff));
}

/// What ESP-IDF's own generator has made.
const SETTINGS: &[u8] = include_bytes!("../../data/nvs/settings.bin");

#[tokio::test]
async fn settings_are_changed_on_the_chip_and_nothing_beside_them() {
    for way in ways() {
        change_settings(&way).await;
    }
}

async fn change_settings(way: &Way) {
    let place = Place::new(way, "");
    let chip = Chip::start(Kind::Esp32C3, Fault::None, MEGABYTE);
    flash(&place, &chip.port).await.result.unwrap();
    chip.seen.lock().unwrap().flash[0x9000..0xf000].copy_from_slice(SETTINGS);
    let idf = place.idf(&chip.port);
    let board = plan(&idf, &place.project()).board;
    let region = FlashRegion { label: "nvs".into(), offset: 0x9000, bytes: 0x6000 };
    let value = Some(nvs::value("string", "another network").unwrap());
    let wish = EntryChange { namespace: "wifi".into(), key: "ssid".into(), value };
    let Planned { base, image, edits, space } = nvs::plan(SETTINGS, vec![wish]).unwrap();
    let planned =
        NvsPlan { board: board.clone(), region: region.clone(), base, image, edits, space };
    let order = |planned: NvsPlan| RewriteOrder {
        project: place.project(),
        board: board.clone(),
        region: region.clone(),
        remake: Arc::new(move |now| match nvs::rewrite(&planned, now) {
            Rewritten::Image(image) => Some(image),
            Rewritten::Stale | Rewritten::Cannot(_) => None,
        }),
        progress: Arc::new(|_, _| ()),
        cancel: CancellationToken::new(),
    };
    let before = chip.flash(0, MEGABYTE);
    idf.rewrite(order(planned.clone())).await.unwrap();
    let after = chip.flash(0x9000, 0x6000);
    assert_eq!(ContentHash::of(&after), planned.image);
    assert!(after.windows(16).any(|part| part == b"another network\0"));
    assert!(chip.flash(0, 0x9000) == before[..0x9000], "what is before it was changed");
    assert!(chip.flash(0xf000, MEGABYTE - 0xf000) == before[0xf000..], "what is behind it was");
    // It holds what was planned already: the board is let go on, and nothing is written.
    let blocks = |chip: &Chip| {
        let seen = chip.seen.lock().unwrap();
        seen.commands.iter().filter(|command| [0x03, 0x11].contains(*command)).count()
    };
    let written = blocks(&chip);
    idf.rewrite(order(planned)).await.unwrap();
    assert_eq!(blocks(&chip), written);
    assert!(chip.flash(0x9000, 0x6000) == after, "it was changed");
}

#[tokio::test]
async fn a_port_that_is_not_there_or_taken_is_told_before_anything_runs() {
    for loader in [Loader::Within, Loader::Esptool] {
        // No Python is needed: it is never asked.
        refused_ports(&Way { loader, python: "false".to_owned() }).await;
    }
}

async fn refused_ports(way: &Way) {
    let place = Place::new(way, "");
    let chip = Chip::start(Kind::Esp32C3, Fault::None, MEGABYTE);
    let missing = flash(&place, "/dev/ttyUSB99").await.result.unwrap_err();
    assert_eq!(missing.why, "there is no such port");
    // Another program holds the lock, as they do with ports.
    let mut other = std::process::Command::new("flock")
        .args(["-o", chip.port.as_str(), "sh", "-c", "echo held; read line"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn();
    let Ok(other) = other.as_mut() else {
        eprintln!("not run: there is no `flock`");
        return;
    };
    let mut said = [0; 5];
    std::io::Read::read_exact(other.stdout.as_mut().unwrap(), &mut said).unwrap();
    let busy = flash(&place, &chip.port).await.result.unwrap_err();
    other.kill().unwrap();
    other.wait().unwrap();
    assert!(busy.why.contains("(pid ") && busy.why.contains("has it open"), "{busy:?}");
    assert!(chip.seen.lock().unwrap().commands.is_empty());
}

/// What a flash of a chip with a fault says.
async fn says(way: &Way, kind: Kind, fault: Fault) -> UserError {
    let place = Place::new(way, "");
    let chip = Chip::start(kind, fault, MEGABYTE);
    let told = flash(&place, &chip.port).await;
    let error = told.result.unwrap_err();
    eprintln!("{fault:?} on {kind:?} by {:?}: {error:?} after {:?}", way.loader, told.notices);
    error
}

#[tokio::test]
async fn what_goes_wrong_is_told_in_plain_words() {
    for way in ways() {
        for (kind, fault, why) in [
            (Kind::Esp32C3, Fault::NoSync, "no sync"),
            (Kind::Esp32, Fault::None, "wrong chip"),
            (Kind::Esp32C3, Fault::WriteFails(2), "refused"),
            (Kind::Esp32C3, Fault::StuckByte(0x1_0400), "MD5"),
            (Kind::Esp32C3, Fault::SilentAfter(3), "stopped answering"),
            (Kind::Esp32C3, Fault::GoneAfter(3), "disconnected"),
        ] {
            let error = says(&way, kind, fault).await;
            assert!(error.why.contains(why), "{way:?} {fault:?}: {error:?}");
            assert!(!error.fix.is_empty(), "{way:?} {fault:?}: {error:?}");
        }
    }
}

#[tokio::test]
async fn a_line_that_is_too_noisy_is_tried_again_slower() {
    for way in ways() {
        let place = Place::new(&way, "");
        let chip = Chip::start(Kind::Esp32C3, Fault::NoiseAbove(115_200), MEGABYTE);
        let told = flash(&place, &chip.port).await;
        told.result.unwrap_or_else(|error| panic!("{way:?}: {error:?}"));
        assert_holds(&chip, &place);
        assert_eq!(chip.seen.lock().unwrap().opened, 2, "{way:?}");
        let notice = told.notices.first().map(|notice| notice.what.as_str());
        assert_eq!(notice, Some("Trying again with 115200 baud"), "{way:?}: {:?}", told.notices);
    }
}

#[tokio::test]
async fn a_stop_ends_it_between_two_pieces() {
    let way = Way { loader: Loader::Within, python: "false".to_owned() };
    let place = Place::new(&way, "");
    let chip = Chip::start(Kind::Esp32C3, Fault::None, MEGABYTE);
    let idf = place.idf(&chip.port);
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let order = FlashOrder {
        plan: plan(&idf, &place.project()),
        project: place.project(),
        progress: Arc::new(move |done, _| {
            if done > 0 {
                stop.cancel()
            }
        }),
        notice: Arc::new(|_| {}),
        cancel,
    };
    let error = idf.flash(order).await.unwrap_err();
    assert!(error.why.contains("stopped") && error.fix.contains("half"), "{error:?}");
    let blink = chip.flash(0x1_0000, 190_001);
    assert!(blink.iter().all(|byte| *byte == 0xff), "it went on");
}
