//! Core dumps that a board prints as text.
//!
//! Owns the frame around them and their base64. Must not interpret the bytes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Longest dump that is kept, in bytes of text.
const MAX_BYTES: usize = 16 << 20;

/// A dump that was printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundDump {
    pub bytes: Vec<u8>,
    /// Whether lines of it could not be read and are missing.
    pub is_damaged: bool,
}

/// Collects the lines of a dump.
#[derive(Debug, Default)]
pub struct CoreDumpParser {
    open: Option<OpenDump>,
}

#[derive(Debug, Default)]
struct OpenDump {
    bytes: Vec<u8>,
    is_damaged: bool,
}

impl CoreDumpParser {
    /// Whether a dump is being printed.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Takes one line without escape sequences; returns a dump when it is complete.
    pub fn line(&mut self, text: &str) -> Option<FoundDump> {
        let text = text.trim();
        if text.starts_with("====") && text.contains("CORE DUMP START") {
            self.open = Some(OpenDump::default());
            return None;
        }
        let open = self.open.as_mut()?;
        if text.starts_with("====") && text.contains("CORE DUMP END") {
            let OpenDump { bytes, is_damaged } = self.open.take()?;
            return (!bytes.is_empty()).then_some(FoundDump { bytes, is_damaged });
        }
        match STANDARD.decode(text) {
            Ok(mut line) if open.bytes.len() + line.len() <= MAX_BYTES => {
                open.bytes.append(&mut line);
            }
            Ok(_) | Err(_) => open.is_damaged = true,
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_is_put_together_and_a_bad_line_is_told() {
        let mut parser = CoreDumpParser::default();
        assert_eq!(parser.line("I (1) a: b"), None);
        let lines = ["================= CORE DUMP START =================", "ZmlybQ==", "aGFuZA=="];
        for line in lines {
            assert_eq!(parser.line(line), None);
        }
        assert!(parser.is_open());
        let end = "================= CORE DUMP END =================";
        let found = FoundDump { bytes: b"firmhand".to_vec(), is_damaged: false };
        assert_eq!(parser.line(end), Some(found));
        parser.line(lines[0]);
        parser.line("ZmlybQ==");
        parser.line("not base64!");
        assert!(parser.line(end).unwrap().is_damaged);
        assert_eq!(parser.line(end), None, "nothing is open");
    }
}
