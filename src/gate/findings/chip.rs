//! The chip that a project is built for, from its own files.
//!
//! Owns which file says it first. Must not ask tools or boards.

use crate::model::ProjectPath;
use crate::workspace::ProjectDir;

/// Bytes that are read of a file.
const START: u64 = 256 * 1024;

/// Configurations of ESP-IDF and files of other tools, the most certain first.
const FILES: [&str; 9] = [
    "sdkconfig",
    "sdkconfig.defaults",
    "build/project_description.json",
    "dependencies.lock",
    "platformio.ini",
    "sketch.yaml",
    "sketch.yml",
    ".cargo/config.toml",
    "CMakeLists.txt",
];

/// The chips that there are tables for, longer names first.
const CHIPS: [&str; 10] = [
    "esp32s2", "esp32s3", "esp32c61", "esp32c2", "esp32c3", "esp32c5", "esp32c6", "esp32h2",
    "esp32p4", "esp32",
];

/// The chip, e.g. `esp32s3`; `None` when no file says it.
pub fn find(project_dir: &ProjectDir) -> Option<String> {
    FILES.iter().find_map(|name| {
        let path = ProjectPath::new(name).ok()?;
        let start = project_dir.read_start(&path, START).ok()?;
        in_file(name, &String::from_utf8_lossy(&start.content))
    })
}

fn in_file(name: &str, text: &str) -> Option<String> {
    let value_of = |starts: &[&str]| {
        text.lines().find_map(|line| {
            let line = line.trim();
            starts.iter().find_map(|start| {
                let value = line.strip_prefix(start)?.trim_start_matches(['=', ':', ' ', '"']);
                Some(value.split(['"', ',', '#']).next().unwrap_or(value).trim().to_owned())
            })
        })
    };
    match name {
        "sdkconfig" | "sdkconfig.defaults" => normal(&value_of(&["CONFIG_IDF_TARGET="])?),
        "build/project_description.json" => normal(&value_of(&["\"target\""])?),
        "dependencies.lock" => normal(&value_of(&["target:"])?),
        "platformio.ini" => normal(&value_of(&["board_build.mcu"]).unwrap_or_default())
            .or_else(|| of_board(&value_of(&["board ", "board="])?)),
        "sketch.yaml" | "sketch.yml" => {
            of_board(value_of(&["default_fqbn:", "fqbn:", "- fqbn:"])?.split(':').nth(2)?)
        }
        ".cargo/config.toml" => {
            let target = value_of(&["target", "MCU"])?;
            let named = target.split('-').find_map(of_board);
            // The targets of RISC-V name no chip.
            named.filter(|_| !target.starts_with("riscv32imc"))
        }
        _ => {
            let at = text.find("IDF_TARGET")?;
            let line = text.get(at..)?.lines().next()?;
            let value = line.trim_start_matches("IDF_TARGET").trim_start_matches(['"', ' ', '=']);
            normal(value.split(['"', ')', ' ']).next()?)
        }
    }
}

/// The chip that a configuration is for by what it holds, or by its own name:
/// `sdkconfig.defaults.esp32s3`.
pub(super) fn of_options(name: &str, text: &str) -> Option<String> {
    if !name.starts_with("sdkconfig") {
        return None;
    }
    in_file("sdkconfig", text).or_else(|| name.rsplit('.').find_map(of_part))
}

/// The chip that a part of a file's name begins with: `esp32c6`, `esp32-s3-devkitc-1`.
fn of_part(part: &str) -> Option<String> {
    let plain = part.replace(['-', '_'], "").to_ascii_lowercase();
    let starts = |chip: &&&str| **chip != "esp32" && plain.starts_with(**chip);
    normal(part).or_else(|| CHIPS.iter().find(starts).map(|chip| (*chip).to_owned()))
}

/// Where each section of `platformio.ini` starts, with the chip of its board; `None` for sections
/// without one.
pub(super) fn of_sections(text: &str) -> Vec<(usize, Option<String>)> {
    let mut starts: Vec<usize> = text.match_indices("\n[").map(|(at, _)| at + 1).collect();
    if !starts.contains(&0) {
        starts.insert(0, 0);
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let parts: Vec<&str> =
        starts.iter().zip(ends).filter_map(|(start, end)| text.get(*start..end)).collect();
    let chip_of = |part: &str| in_file("platformio.ini", part);
    let inherited = |part: &str| {
        let base = part.lines().find_map(|line| {
            line.trim_start().strip_prefix("extends")?.trim_start().strip_prefix('=')
        })?;
        let head = format!("[{}]", base.trim());
        chip_of(parts.iter().find(|part| part.starts_with(&head))?)
    };
    let chips = parts.iter().map(|part| chip_of(part).or_else(|| inherited(part)));
    starts.iter().copied().zip(chips).collect()
}

/// The chip of that name, as tables are named.
fn normal(name: &str) -> Option<String> {
    let plain: String =
        name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    CHIPS.iter().find(|chip| **chip == plain).map(|chip| (*chip).to_owned())
}

/// The chip of a board by the board's name. Sources: the boards of the Arduino core for ESP32 and
/// of PlatformIO's `espressif32`, which name the chip or are named here.
fn of_board(name: &str) -> Option<String> {
    let plain: String =
        name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let ends = |chip: &str| plain.contains(chip.trim_start_matches("esp32"));
    if plain.contains("esp32") || plain.contains("xiao") || plain.contains("lolin") {
        let other = CHIPS
            .iter()
            .filter(|chip| **chip != "esp32")
            .find(|chip| plain.contains(**chip) || (!plain.contains("esp32") && ends(chip)));
        let is_plain = plain.contains("esp32") || plain.contains("lolin");
        return other.map(|chip| (*chip).to_owned()).or(is_plain.then(|| "esp32".to_owned()));
    }
    const KNOWN: [&str; 10] = [
        "nodemcu32s",
        "esp32doit",
        "wemosd1mini32",
        "d1mini32",
        "ttgo",
        "heltecwifi",
        "m5stack",
        "featheresp32",
        "espea32",
        "pico32",
    ];
    KNOWN.iter().any(|board| plain.starts_with(board)).then(|| "esp32".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_says_its_own_chip() {
        for (name, text, chip) in [
            ("sdkconfig.defaults.esp32s3", "", Some("esp32s3")),
            ("sdkconfig.ci.esp32c61", "CONFIG_X=y\n", Some("esp32c61")),
            ("sdkconfig.esp32-c3-devkitm-1", "", Some("esp32c3")),
            ("sdkconfig.bench", "CONFIG_IDF_TARGET=\"esp32h2\"\n", Some("esp32h2")),
            ("sdkconfig.esp32dev", "", None),
            ("sdkconfig.defaults", "", None),
            ("board.esp32s3", "", None),
        ] {
            assert_eq!(of_options(name, text).as_deref(), chip, "{name} {text}");
        }
        let text = "[env]\nframework = arduino\n[env:a]\nboard = esp32dev\n[env:b]\nboard = \
                    esp32-c6-devkitc-1\n[env:c]\nextends = env:b\n";
        let found: Vec<_> = of_sections(text).into_iter().map(|(_, chip)| chip).collect();
        let chip = |name: &str| Some(name.to_owned());
        assert_eq!(found, [None, chip("esp32"), chip("esp32c6"), chip("esp32c6")]);
    }

    #[test]
    fn the_chip_is_read_from_the_files_of_each_tool() {
        for (name, text, chip) in [
            ("sdkconfig", "# x\nCONFIG_IDF_TARGET=\"esp32c3\"\n", Some("esp32c3")),
            ("sdkconfig.defaults", "CONFIG_IDF_TARGET=esp32s3\n", Some("esp32s3")),
            ("sdkconfig", "CONFIG_X=y\n", None),
            (
                "sdkconfig",
                "CONFIG_IDF_TARGET_ARCH_XTENSA=y\nCONFIG_IDF_TARGET=\"esp32s3\"\n",
                Some("esp32s3"),
            ),
            ("platformio.ini", "board = XIAO_C3\n", Some("esp32c3")),
            ("platformio.ini", "board = lolin_s2_mini\n", Some("esp32s2")),
            ("platformio.ini", "board = lolin_d32\n", Some("esp32")),
            ("platformio.ini", "board = esp32_board_c3\n", Some("esp32")),
            ("platformio.ini", "board = esp32-c61-devkitc\n", Some("esp32c61")),
            ("sdkconfig", "CONFIG_IDF_TARGET=\"esp32c5\"\n", Some("esp32c5")),
            ("build/project_description.json", "{\n  \"target\": \"esp32h2\",\n}", Some("esp32h2")),
            ("dependencies.lock", "target: esp32c6\n", Some("esp32c6")),
            ("platformio.ini", "[env:a]\nboard = esp32-s3-devkitc-1\n", Some("esp32s3")),
            ("platformio.ini", "[env:a]\nboard=esp32dev\n", Some("esp32")),
            ("platformio.ini", "[env:a]\nboard = seeed_xiao_esp32c3\n", Some("esp32c3")),
            ("platformio.ini", "[env:a]\nboard = nodemcu-32s\n", Some("esp32")),
            ("platformio.ini", "[env:a]\nboard = uno\n", None),
            ("sketch.yaml", "default_fqbn: esp32:esp32:esp32s2\n", Some("esp32s2")),
            ("sketch.yaml", "default_fqbn: esp32:esp32:XIAO_ESP32S3\n", Some("esp32s3")),
            (
                ".cargo/config.toml",
                "[build]\ntarget = \"xtensa-esp32s3-none-elf\"\n",
                Some("esp32s3"),
            ),
            ("CMakeLists.txt", "set(IDF_TARGET esp32c3)\n", Some("esp32c3")),
            ("CMakeLists.txt", "set(ENV{IDF_TARGET} \"esp32\")\n", None),
            ("CMakeLists.txt", "project(a)\n", None),
        ] {
            assert_eq!(in_file(name, text).as_deref(), chip, "{name} {text}");
        }
    }
}
