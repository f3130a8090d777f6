//! How fast a project's firmware talks on its console.

use std::path::Path;

use super::{idf, platformio};

/// Bits per second at which the firmware of `project` talks, as it was built; `None`: the project
/// does not say.
///
/// Sources: `monitor_baud` of ESP-IDF's `project_description.json`, into which its build writes
/// `CONFIG_ESPTOOLPY_MONITOR_BAUD`, and before a build `CONFIG_ESP_CONSOLE_UART_BAUDRATE`, which
/// that option takes its default from; `monitor_speed` of PlatformIO's environment.
#[must_use]
pub fn console_baud(project: &Path) -> Option<u32> {
    let message = match platformio::is_at(project) {
        true => platformio::monitor_speed(project),
        false => None,
    };
    message.or_else(|| idf::monitor_baud(project)).filter(|baud| *baud > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_build_goes_before_the_configuration() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path();
        let write = |path: &str, text: &str| {
            let path = project.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        assert_eq!(console_baud(project), None);
        write("sdkconfig.defaults", "# console\nCONFIG_ESP_CONSOLE_UART_BAUDRATE=9600\n");
        assert_eq!(console_baud(project), Some(9_600));
        write("sdkconfig", "CONFIG_ESP_CONSOLE_UART_BAUDRATE=230400\n");
        assert_eq!(console_baud(project), Some(230_400));
        write("build/project_description.json", r#"{ "monitor_baud": "921600" }"#);
        assert_eq!(console_baud(project), Some(921_600), "what runs was built before");
        for none in [r#"{ "monitor_baud": "fast" }"#, r#"{ "monitor_baud": "0" }"#] {
            write("build/project_description.json", none);
            assert_eq!(console_baud(project), None, "{none}");
        }
        // The console of a project of PlatformIO is told by its last build.
        write("platformio.ini", "[env:a]\nmonitor_speed = 74880\n");
        let note = r#"{ "environment": "a", "folder": "b", "sources": "src", "port": null,
            "monitor_speed": 74880 }"#;
        write(".pio/firmhand.json", note);
        assert_eq!(console_baud(project), Some(74_880));
    }
}
