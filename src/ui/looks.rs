//! The theme in use, and those it could be.

use super::theme::Theme;

/// The theme in use, and those there are.
#[derive(Debug, Clone)]
pub struct ThemeState {
    /// How things look.
    pub theme: Theme,
    pub name: String,
    /// Names of all themes.
    pub names: Vec<String>,
}

/// Whether the person chose a look, or only looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThemeChoice {
    Yes,
    /// It is a preview, or the file of the look in use has changed.
    No,
}
