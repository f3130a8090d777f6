//! Paths inside a project, checked when they are made.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A relative path with `/` between its parts that cannot lead out of the project by its text.
///
/// Symbolic links are a matter of the disk; the sandboxed directory refuses those.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct ProjectPath(String);

/// Why a text is not a path inside the project.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Nothing is left once `.` parts are dropped.
    #[error("the path is empty")]
    Empty,
    /// It starts at the root, at a drive or at a home folder.
    #[error("`{0}` is absolute; paths are relative to the project folder")]
    Absolute(String),
    /// It has a `..` part.
    #[error("`{0}` has a `..` part, which could leave the project folder")]
    Parent(String),
    /// It has a control, bidirectional or otherwise invisible character, or a backslash.
    #[error("`{path}` holds the character U+{code:04X}, which no project path may hold")]
    Character {
        /// The path, with that character escaped.
        path: String,
        /// The character's code point.
        code: u32,
    },
    /// It is longer than 1,024 bytes or a part is longer than 255 bytes.
    #[error("the path is too long (1,024 bytes at most, 255 for one part)")]
    TooLong,
}

impl ProjectPath {
    /// Reads a path; `.` parts and doubled slashes are dropped.
    ///
    /// # Errors
    /// See [`PathError`].
    pub fn new(text: &str) -> Result<Self, PathError> {
        if let Some(bad) = text.chars().find(|&c| is_forbidden(c)) {
            let path = text.escape_debug().to_string();
            return Err(PathError::Character { path, code: u32::from(bad) });
        }
        if text.starts_with('/') {
            return Err(PathError::Absolute(text.to_owned()));
        }
        let parts: Vec<&str> = text.split('/').filter(|p| !p.is_empty() && *p != ".").collect();
        if parts.contains(&"..") {
            return Err(PathError::Parent(text.to_owned()));
        }
        let path = parts.join("/");
        if path.is_empty() {
            return Err(PathError::Empty);
        }
        // Checked on the tidied form: `./~/x` must not become `~/x`.
        if path.starts_with('~') || path.as_bytes().get(1) == Some(&b':') {
            return Err(PathError::Absolute(text.to_owned()));
        }
        if path.len() > 1024 || parts.iter().any(|p| p.len() > 255) {
            return Err(PathError::TooLong);
        }
        Ok(Self(path))
    }

    /// The path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last part.
    #[must_use]
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The text after the last dot of the file name, if there is one.
    #[must_use]
    pub fn extension(&self) -> Option<&str> {
        self.file_name().rsplit_once('.').map(|(_, extension)| extension)
    }

    /// The folder that holds it; `None` at the project's root.
    #[must_use]
    pub fn parent(&self) -> Option<&str> {
        self.0.rsplit_once('/').map(|(parent, _)| parent)
    }
}

/// Backslashes, controls, zero-width and bidirectional formatting characters.
fn is_forbidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\\' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

impl fmt::Display for ProjectPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for ProjectPath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::new(text)
    }
}

impl<'de> Deserialize<'de> for ProjectPath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::new(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tidies_what_is_harmless() {
        let path = ProjectPath::new("./main//src/./a.c").unwrap();
        assert_eq!(path.as_str(), "main/src/a.c");
        assert_eq!((path.file_name(), path.extension()), ("a.c", Some("c")));
        assert_eq!(path.parent(), Some("main/src"));
    }

    #[test]
    fn refuses_what_could_leave_the_project() {
        for text in
            ["/etc/passwd", "~/x", "C:/x", "a/../../x", "..", "", ".", "a\\b", "a\u{202e}c", "a\nb"]
        {
            assert!(ProjectPath::new(text).is_err(), "{text:?} was taken");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_taken_stays_inside(text in "\\PC{0,40}|[./~a-c]{0,24}") {
            if let Ok(path) = ProjectPath::new(&text) {
                prop_assert!(!path.as_str().starts_with('/'));
                prop_assert!(path.as_str().split('/').all(|p| !p.is_empty() && p != "." && p != ".."));
                prop_assert_eq!(ProjectPath::new(path.as_str()).unwrap(), path);
            }
        }
    }
}
