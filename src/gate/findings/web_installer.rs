//! Manifests of web installers (ESP Web Tools) that put a bootloader where the chip does not look for it.
//!
//! Owns the form of a manifest. Where each chip looks is known to [`esp_image`](crate::toolchain::esp_image).

use serde::Deserialize;

use super::Subject;
use crate::model::{Check, CheckKind, Finding, FindingLevel, FindingPlace, ProjectPath};
use crate::toolchain::esp_image::Chip;

#[derive(Deserialize)]
struct Manifest {
    builds: Vec<Build>,
}

#[derive(Deserialize)]
struct Build {
    #[serde(rename = "chipFamily")]
    chip: String,
    parts: Vec<Part>,
}

#[derive(Deserialize)]
struct Part {
    path: String,
    offset: u32,
}

/// The check of a manifest; `None` where nothing is at a wrong place.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Check> {
    let text = subject.text().filter(|text| text.contains("chipFamily"))?;
    if path.extension() != Some("json") {
        return None;
    }
    let manifest: Manifest = serde_json::from_str(text).ok()?;
    let mut found = Vec::new();
    for build in manifest.builds {
        let Some(chip) = Chip::named(&build.chip) else { continue };
        let is_bootloader = |part: &&Part| part.path.contains("bootloader");
        let wrong = |part: &&Part| part.offset != chip.boot;
        for Part { path, offset } in build.parts.iter().filter(is_bootloader).filter(wrong) {
            let sentence = format!(
                "puts the bootloader of the {} at 0x{offset:x}, and it starts from 0x{:x}",
                build.chip, chip.boot
            );
            let advice = format!("Write {} as its offset.", chip.boot);
            let finding = Finding::new(FindingLevel::Stop, sentence).advice(advice);
            found.push(match line_of(text, path) {
                Some(line) => finding.at(FindingPlace::line(line)),
                None => finding,
            });
        }
    }
    (!found.is_empty()).then(|| Check::with(CheckKind::BootUntouched, found))
}

/// The last line, from 1, that names a file.
fn line_of(text: &str, path: &str) -> Option<u32> {
    (1..).zip(text.lines()).filter(|(_, line)| line.contains(path)).last().map(|(line, _)| line)
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use crate::model::CheckKind;

    fn found(chip: &str, offset: u32) -> Vec<String> {
        let text = format!(
            "{{\n  \"name\": \"Rain\",\n  \"builds\": [\n    {{ \"chipFamily\": \"{chip}\", \"parts\": [\n      \
             {{ \"path\": \"s3/bootloader.bin\", \"offset\": {offset} }},\n      \
             {{ \"path\": \"s3/rain.bin\", \"offset\": 65536 }}\n    ] }}\n  ]\n}}\n"
        );
        reported(CheckKind::BootUntouched, ("site/manifest.json", None, &text), "Add the S3")
    }

    #[test]
    fn a_bootloader_where_the_chip_does_not_start_is_told() {
        let wanted =
            "Stop 5: puts the bootloader of the ESP32-S3 at 0x1000, and it starts from 0x0";
        assert_eq!(found("ESP32-S3", 4096), [wanted]);
        assert_eq!(found("ESP32", 0).len(), 1);
        for (chip, offset) in [("ESP32-S3", 0), ("ESP32", 4096), ("ESP32-S2", 4096), ("X", 3)] {
            assert_eq!(found(chip, offset), [] as [String; 0], "{chip} {offset}");
        }
    }
}
