//! What compilers, linters and the tools of the chips print, and what builds leave.

use std::path::Path;
use std::time::Duration;

use firmhand::model::{BuildId, FlashImage, Timestamp};
use firmhand::toolchain::diagnostics::{self, Gather, NinjaProgress};
use firmhand::toolchain::foreign::{
    arduino_messages, esptool_messages, linter_issues, platformio_messages, project_name,
    registration,
};
use firmhand::toolchain::{
    AnalysisOrder, CompileUnit, IdfToolchain, Linter, Toolchain, console_baud,
};
use tokio_util::sync::CancellationToken;

use super::{file, folder, is_harmful, lossy, pieces};

/// Findings are the same wherever the output is cut; there is no end of progress.
pub fn diagnostics(data: &[u8]) {
    let project = Path::new("/p");
    let found = diagnostics::parse(project, data);
    assert!(found.len() <= 500);
    for one in &found {
        assert!(!one.message.replace('\n', "").contains(is_harmful), "{:?}", one.message);
    }
    let mut gather = Gather::new(project);
    let mut progress = NinjaProgress::default();
    for piece in pieces(data) {
        gather.push(piece);
        if let Some((done, total)) = progress.push(piece) {
            assert!(done <= total, "{done} of {total}");
        }
    }
    assert_eq!(gather.finish(), found);
}

/// Bytes written never go back.
pub fn esptool(data: &[u8]) {
    let image = |offset: u32| FlashImage {
        file: format!("{offset}.bin"),
        offset,
        bytes: 0x4000,
        hash: firmhand::model::ContentHash::of(b""),
        same: false,
    };
    let images = [image(0x1000), image(0x8000), image(0x1_0000)];
    let (done, cause) = esptool_messages(&pieces(data), &images);
    assert!(done.is_sorted(), "{done:?}");
    assert!(!cause.contains(is_harmful), "{cause:?}");
}

/// ESP-IDF where there is none: only what a build left is read.
fn idf() -> IdfToolchain {
    IdfToolchain::at(folder().join("none"), Some("/dev/null".to_owned()))
}

/// Only options that read pass, and only sources of the project count.
pub fn compile_commands(data: &[u8]) {
    file("project/build/compile_commands.json", data);
    let project = folder().join("project");
    for CompileUnit { file, flags, .. } in idf().compile_units(&project) {
        assert!(file.starts_with(&project), "{}", file.display());
        let writes = |flag: &String| flag.starts_with("-o") || flag.starts_with("-fplugin");
        assert!(!flags.iter().any(writes), "{flags:?}");
    }
}

/// What a build left to be flashed lies below its folder.
pub fn flasher_args(data: &[u8]) {
    let text = lossy(data);
    for place in ["build/flasher_args.json", "build/project_description.json"] {
        file(&format!("idf/{place}"), text.as_bytes());
    }
    file("idf/build/app.bin", b"\xe9 an image");
    file("idf/build/boot/boot.bin", b"\xe9 another");
    let project = folder().join("idf");
    if let Ok(plan) = idf().plan_flash(&project, BuildId(1), Timestamp(0)) {
        assert!(plan.images.is_sorted_by_key(|image| image.offset));
        for image in &plan.images {
            assert!(image.file.starts_with("build/") && !image.file.contains(".."));
        }
    }
    idf().size(&project);
}

/// A project's configuration says how fast its console talks.
pub fn sdkconfig(data: &[u8]) {
    file("configured/sdkconfig", data);
    file("configured/sdkconfig.defaults", data);
    let baud = console_baud(&folder().join("configured"));
    assert!(baud.is_none_or(|baud| baud > 0));
}

/// The list files of a project that is built for this computer.
pub fn list_file(data: &[u8]) {
    let text = lossy(data);
    let _ = project_name(&text);
    let _ = registration(&text, &|pattern, _| vec![pattern.replace('*', "a")]);
}

pub fn platformio(data: &[u8]) {
    let (found, _) = platformio_messages(Path::new("/p"), data);
    assert!(found.len() <= 501);
}

pub fn arduino(data: &[u8]) {
    assert!(arduino_messages(data).len() < 100_000);
}

/// Issues are told of the project's own files, on one harmless line.
pub fn linters(data: &[u8]) {
    let order = AnalysisOrder {
        runner: None,
        project: "/p".into(),
        files: Vec::new(),
        units: Vec::new(),
        is_sketch: true,
        timeout: Duration::from_secs(1),
        cancel: CancellationToken::new(),
    };
    let text = lossy(data);
    for linter in [Linter::ClangTidy, Linter::Cppcheck, Linter::ArduinoLint] {
        for issue in linter_issues(linter, &order, &text) {
            assert!(!issue.message.contains(is_harmful), "{:?}", issue.message);
        }
    }
}
