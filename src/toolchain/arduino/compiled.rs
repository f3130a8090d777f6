//! What `arduino-cli compile --format json` answers.
//!
//! Owns the shape of that answer and the advice on what it complains of. Pure.

use serde::Deserialize;

use crate::model::{Diagnostic, UserError};
use crate::text::sanitize;

/// What cannot be done when something here goes wrong.
pub(super) const WHAT: &str = "Cannot build with arduino-cli";

/// The folder of builds within the sketch.
pub(super) const BUILD: &str = "build/arduino";

/// The folder at the top of the sketch in which that is.
pub(super) const MADE: &str = "build";

/// The answer, as far as it matters here.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CompiledSketch {
    compiler_out: String,
    compiler_err: String,
    builder_result: Option<Built>,
    /// Whether the sketch was built.
    pub(super) success: bool,
    error: String,
}

#[derive(Debug, Deserialize)]
struct Built {
    used_libraries: Option<Vec<CompiledLibrary>>,
    build_platform: Option<Platform>,
    board_platform: Option<Platform>,
    build_properties: Option<Vec<String>>,
    executable_sections_size: Option<Vec<LibrarySection>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CompiledLibrary {
    name: String,
    version: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Platform {
    install_dir: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct LibrarySection {
    name: String,
    size: u64,
    max_size: u64,
}

impl CompiledSketch {
    /// The answer among what was printed: other words may come before it.
    pub(super) fn find(output: &[u8]) -> Option<Self> {
        let text = sanitize::decode(output);
        let starts = text.match_indices('{').map(|(at, _)| at);
        let lines = starts.filter(|&at| at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n'));
        lines.filter_map(|at| text.get(at..)).find_map(|rest| {
            let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Self>();
            values.next()?.ok().filter(Self::is_answer)
        })
    }

    const fn is_answer(&self) -> bool {
        self.success || !self.error.is_empty() || self.builder_result.is_some()
    }

    /// What the compiler said.
    pub(super) fn summary(&self) -> String {
        format!("{}\n{}\n", self.compiler_out, self.compiler_err)
    }

    /// What the log of the build holds.
    pub(super) fn log(&self) -> String {
        let mut log = self.summary();
        let built = self.builder_result.as_ref();
        for library in built.and_then(|built| built.used_libraries.as_ref()).into_iter().flatten() {
            log.push_str(&format!("Used library {} {}\n", library.name, library.version));
        }
        let sections = built.and_then(|built| built.executable_sections_size.as_ref());
        for LibrarySection { name, size, max_size } in sections.into_iter().flatten() {
            log.push_str(&format!("{name}: {size} of {max_size} bytes\n"));
        }
        if !self.error.is_empty() {
            log.push_str(&self.error);
            log.push('\n');
        }
        log
    }

    /// Why it was not even tried.
    pub(super) fn refusal(&self, fqbn: Option<&str>) -> Option<UserError> {
        let lower = self.error.to_lowercase();
        let is_missing = lower.contains("platform not installed")
            || (lower.contains("platform") && lower.contains("not found"));
        if self.success || !is_missing {
            return None;
        }
        let named = fqbn.map(|fqbn| fqbn.split(':').take(2).collect::<Vec<_>>().join(":"));
        let platform = named.unwrap_or_else(|| "esp32:esp32".to_owned());
        Some(UserError::new(
            WHAT,
            self.error_line(),
            format!("Install the boards with `arduino-cli core install {platform}`."),
        ))
    }

    /// The first line of what went wrong.
    pub(super) fn error_line(&self) -> String {
        let line = self.error.lines().map(str::trim).find(|line| !line.is_empty());
        sanitize::line(line.unwrap_or("arduino-cli failed without a message")).into_owned()
    }

    /// A property of the build, e.g. `build.mcu`.
    pub(super) fn property(&self, name: &str) -> Option<&str> {
        let all = self.builder_result.as_ref()?.build_properties.as_ref()?;
        all.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
    }

    /// Where the boards that were built for are installed.
    pub(super) fn platform(&self) -> Option<&str> {
        let built = self.builder_result.as_ref()?;
        let platforms = [built.build_platform.as_ref(), built.board_platform.as_ref()];
        platforms.into_iter().flatten().map(|one| one.install_dir.as_str()).find(|d| !d.is_empty())
    }
}

/// Adds which command brings the library whose header was not found.
pub(super) fn advise(diagnostic: &mut Diagnostic) {
    let Some(header) = diagnostic.message.strip_suffix(": No such file or directory") else {
        return;
    };
    if diagnostic.hint.is_empty() {
        let name = header.rsplit('/').next().unwrap_or(header).trim_end_matches(".h");
        diagnostic.hint = format!(
            "no installed library has {header}; `arduino-cli lib search {name}` finds the library, \
             `arduino-cli lib install` brings it"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_found_behind_other_words() {
        let output = b"Warning: {not this}\n{\n \"compiler_out\": \"\", \"compiler_err\": \"a.ino:1:1: error: x\\n\",\n \"success\": false, \"error\": \"Error during build: exit status 1\"\n}\n";
        let compiled = CompiledSketch::find(output).unwrap();
        assert!(!compiled.success && compiled.summary().contains("a.ino:1:1"));
        assert_eq!(compiled.error_line(), "Error during build: exit status 1");
        assert!(compiled.refusal(None).is_none());
        for none in ["", "{}", "{\"boards\": []}", "{\"success\":"] {
            assert!(CompiledSketch::find(none.as_bytes()).is_none(), "{none}");
        }
    }

    #[test]
    fn boards_that_are_not_installed_are_named_with_the_command() {
        let output = br#"{"success": false, "error": "Error during build: Platform 'esp32:esp32' not found: platform not installed\nTry running `arduino-cli core install esp32:esp32`"}"#;
        let compiled = CompiledSketch::find(output).unwrap();
        let error = compiled.refusal(Some("esp32:esp32:esp32s3")).unwrap();
        assert!(error.fix.contains("core install esp32:esp32`"), "{error:?}");
    }
}
