//! What colours a text: its tree, or its lines.
//!
//! Owns the choice for a file or a fence. Must not know themes.

use std::thread;

use super::line_syntax::{self, LineLanguage};
use super::syntax::{self, Span};
use super::syntax_versions::{self, Changed, Versions};
use super::tree::Language;
use crate::model::ProjectPath;

/// How a text is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Colouring {
    /// By its tree, in some milliseconds.
    Tree(Language),
    /// Line by line, which takes longer than a frame.
    Lines(LineLanguage),
}

impl Colouring {
    /// What the name of a file suggests.
    #[must_use]
    pub fn of(path: &ProjectPath) -> Option<Self> {
        if path.extension() == Some("py") {
            return Some(Self::Tree(Language::Python));
        }
        let lines = || LineLanguage::of_file(path.file_name()).map(Self::Lines);
        syntax::language_of(path).map(Self::Tree).or_else(lines)
    }

    /// What a fence of Markdown names.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let lines = || LineLanguage::named(name).map(Self::Lines);
        syntax::language_named(name).map(Self::Tree).or_else(lines)
    }

    /// Whether it must not be waited for.
    #[must_use]
    pub const fn is_slow(self) -> bool {
        matches!(self, Self::Lines(_))
    }

    /// The coloured pieces of each line of `source`, in order and without overlap; lines behind the
    /// last one have none.
    #[must_use]
    pub fn highlight(self, source: &str) -> Vec<Vec<Span>> {
        match self {
            Self::Tree(language) => syntax::highlight(language, source),
            Self::Lines(language) => line_syntax::highlight(language, source),
        }
    }

    /// The same for two versions; `changes` are in order.
    #[must_use]
    pub fn highlight_versions(self, old: &str, new: &str, changes: &[Changed]) -> Versions {
        match self {
            Self::Tree(language) => {
                syntax_versions::highlight_versions(language, old, new, changes)
            }
            Self::Lines(_) => thread::scope(|scope| {
                let aside = scope.spawn(|| self.highlight(old));
                let new = self.highlight(new);
                Versions { old: aside.join().unwrap_or_default(), new }
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_come_before_lines_and_names_suggest_both() {
        let of = |path| Colouring::of(&ProjectPath::new(path).unwrap());
        assert_eq!(of("main/a.h"), Some(Colouring::Tree(Language::C)));
        assert_eq!(of("CMakeLists.txt"), Some(Colouring::Tree(Language::Cmake)));
        assert_eq!(of("tools/a.py"), Some(Colouring::Tree(Language::Python)));
        for path in [
            "idf_component.yml",
            "Cargo.toml",
            "platformio.ini",
            "sdkconfig",
            "sdkconfig.defaults",
            "sdkconfig.defaults.esp32s3",
            "main/Kconfig",
            "main/Kconfig.projbuild",
            "a.sh",
            "src/main.rs",
            "Makefile",
            "a.mk",
            "start.S",
            "a.ld",
            "a.lf",
            "fix.patch",
            "partitions.csv",
            "boards/a.overlay",
            "README.md",
            ".gitignore",
            ".clang-format",
        ] {
            assert!(of(path).is_some_and(Colouring::is_slow), "{path}");
        }
        assert_eq!((of("a.bin"), of("noending")), (None, None));
        assert!(Colouring::named("yaml").is_some() && Colouring::named("Rust").is_some());
        assert_eq!(Colouring::named("C++"), Some(Colouring::Tree(Language::Cpp)));
        assert_eq!(Colouring::named("python"), Some(Colouring::Tree(Language::Python)));
        assert_eq!(Colouring::named("text"), None);
    }

    #[test]
    fn both_versions_have_their_lines() {
        let yaml = Colouring::named("yaml").unwrap();
        let versions = yaml.highlight_versions("a: 1\nb: 2\n", "a: 1\nb: \"x\"\nc: 3\n", &[]);
        assert_eq!((versions.old.len(), versions.new.len()), (2, 3));
        assert_ne!(versions.old[1], versions.new[1]);
    }
}
