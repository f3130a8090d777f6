//! New files that stand in for one of the framework's by their folders, as the build prefers those
//! of the project.

use super::{Subject, host_code};
use crate::knowledge::NameList;
use crate::model::{Finding, FindingLevel, ProjectPath};
use crate::workspace::Sources;

/// Headers of the Arduino core for ESP32 that sketches include. A program without that core may
/// have files of these names.
const ARDUINO: [&str; 34] = [
    "Arduino.h",
    "ArduinoOTA.h",
    "BLEDevice.h",
    "BluetoothSerial.h",
    "Client.h",
    "DNSServer.h",
    "EEPROM.h",
    "ESPmDNS.h",
    "Esp.h",
    "FS.h",
    "HTTPClient.h",
    "HTTPUpdate.h",
    "HardwareSerial.h",
    "LittleFS.h",
    "NetworkClient.h",
    "NetworkClientSecure.h",
    "Preferences.h",
    "Print.h",
    "SD.h",
    "SD_MMC.h",
    "SPI.h",
    "SPIFFS.h",
    "Server.h",
    "Stream.h",
    "Ticker.h",
    "Update.h",
    "WString.h",
    "WebServer.h",
    "WiFi.h",
    "WiFiClient.h",
    "WiFiClientSecure.h",
    "WiFiMulti.h",
    "WiFiUdp.h",
    "Wire.h",
];

/// What a new file stands in for, where its folder says so.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>, names: &NameList) -> Option<Finding> {
    let text = component(path.as_str(), names)
        .or_else(|| names.hidden_by(path.as_str()))
        .or_else(|| arduino(path, subject))?;
    Some(finding(text))
}

fn finding(text: String) -> Finding {
    let advice = "Take another name, or make sure that nothing else is meant to be replaced.";
    Finding::new(FindingLevel::Warning, text).advice(advice)
}

/// Whether a header stands in for the framework where tests run without it: `test/host/stubs/esp_log.h`.
/// It does not where a list of the firmware, or PlatformIO, names its folder.
pub(super) fn is_stub(path: &ProjectPath, subject: &Subject<'_>) -> bool {
    const STUBS: [&str; 8] = ["stub", "stubs", "mock", "mocks", "fake", "fakes", "shim", "shims"];
    let folders = || path.parent().unwrap_or_default().split('/');
    let Some(folder) = folders().find(|folder| STUBS.contains(folder)) else { return false };
    let is_of_firmware = |file: &ProjectPath| {
        let is_read = matches!(file.file_name(), "CMakeLists.txt" | "platformio.ini");
        let builds = |text: String| {
            (text.contains("idf_component_register") || file.file_name() == "platformio.ini")
                && text.contains(folder)
        };
        is_read && subject.text_after(file.as_str()).is_some_and(builds)
    };
    let on_disk = subject.files().iter().map(|file| &file.path);
    folders().any(|folder| folder.contains("test"))
        && !on_disk.chain(subject.context.proposed.paths()).any(is_of_firmware)
}

/// A component of the project with the name of one of the framework's: the build takes the project's.
fn component(path: &str, names: &NameList) -> Option<String> {
    let folder = path.strip_suffix("/CMakeLists.txt")?;
    let mut parts = folder.rsplit('/');
    let (name, above) = (parts.next()?, parts.next()?);
    if above == "bootloader_components" && name == "main" {
        return Some("replaces the program of the framework's bootloader".to_owned());
    }
    let is_component = matches!(above, "components" | "bootloader_components");
    let replaced = names.replaced(name).filter(|_| is_component);
    replaced.map(|_| format!("replaces the framework's component `{name}` by one of the project"))
}

/// A header that hides one of the Arduino core's, in a project that uses it.
fn arduino(path: &ProjectPath, subject: &Subject<'_>) -> Option<String> {
    let name = ARDUINO.iter().find(|name| **name == path.file_name())?;
    let text = subject.text_after("platformio.ini").unwrap_or_default();
    let of_platformio = text.lines().any(|line| {
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        key.trim() == "framework" && value.contains("arduino")
    });
    let is_sketch = |path: &ProjectPath| path.extension() == Some("ino");
    let uses_core = of_platformio
        || subject.context.proposed.paths().any(is_sketch)
        || Sources::of(subject.project_dir).texts().any(|(path, _)| is_sketch(&path));
    uses_core.then(|| format!("`{name}` would hide the header of the Arduino core"))
}

/// Modules that MicroPython has built in. Source: its documentation, v1.24, "MicroPython libraries" and
/// the libraries of the ESP32.
const MICROPYTHON: [&str; 33] = [
    "asyncio",
    "uasyncio",
    "binascii",
    "bluetooth",
    "btree",
    "cryptolib",
    "deflate",
    "errno",
    "esp",
    "esp32",
    "espnow",
    "framebuf",
    "gc",
    "hashlib",
    "heapq",
    "io",
    "json",
    "machine",
    "micropython",
    "neopixel",
    "network",
    "ntptime",
    "os",
    "platform",
    "random",
    "re",
    "select",
    "socket",
    "ssl",
    "struct",
    "sys",
    "time",
    "tls",
];

/// A module of the project that stands in for one that MicroPython has built in.
pub(super) fn of_micropython(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    let name = path.file_name().strip_suffix(".py")?;
    let is_there = MICROPYTHON.contains(&name) && matches!(path.parent(), None | Some("" | "lib"));
    let text = format!("`{name}.py` would take the place of MicroPython's own module `{name}`");
    (is_there && host_code::is_micropython(subject)).then(|| finding(text))
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::TestProject;
    use crate::model::CheckKind;

    #[test]
    fn a_module_with_the_name_of_a_built_in_one_is_reported() {
        let found = |path: &str, main: &str| {
            let files = [("main.py", main)];
            let project = TestProject { files: &files, task: "Send more", chip: None };
            project.reported(CheckKind::Name, &[(path, Some("import tls\n"))]).len()
        };
        let main = "import ssl\nfrom machine import Pin\n";
        assert_eq!(found("ssl.py", main), 1);
        assert_eq!(found("lib/ssl.py", main), 1);
        assert_eq!(found("tls_settings.py", main), 0);
        assert_eq!(found("ssl.py", "import ssl\n"), 0, "it may run on a computer");
        assert_eq!(found("tools/ssl.py", main), 0);
    }
}
