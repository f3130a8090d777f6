//! One entry of a `compile_commands.json`, as Clang's JSON Compilation Database describes it.
//!
//! Pure. Must not believe anything of it: who takes options from it checks them.

use std::path::PathBuf;

use serde::Deserialize;

/// Programs that go before a compiler and change nothing of what it reads.
const LAUNCHERS: [&str; 2] = ["ccache", "sccache"];

/// One source as it was compiled.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(in crate::toolchain) struct CompileEntry {
    /// Where the compiler ran.
    pub(in crate::toolchain) directory: PathBuf,
    /// The source, as the compiler was told it.
    pub(in crate::toolchain) file: String,
    #[serde(default)]
    command: String,
    #[serde(default)]
    arguments: Vec<String>,
}

impl CompileEntry {
    /// A compilation as a toolchain tells it: where its compiler runs, the source, and all words.
    pub(in crate::toolchain) const fn of(
        directory: PathBuf,
        file: String,
        arguments: Vec<String>,
    ) -> Self {
        Self { directory, file, command: String::new(), arguments }
    }

    /// The source, not relative to where the compiler ran.
    pub(in crate::toolchain) fn source(&self) -> PathBuf {
        self.directory.join(&self.file)
    }

    /// The compiler and its options, without a launcher; `None` when a quote is not closed.
    pub(in crate::toolchain) fn words(&self) -> Option<Vec<String>> {
        let mut all = match self.arguments.is_empty() {
            true => shell_words::split(&self.command).ok()?,
            false => self.arguments.clone(),
        };
        let launcher = all.first().is_some_and(|first| LAUNCHERS.contains(&file_name(first)));
        if launcher {
            all.remove(0);
        }
        Some(all)
    }
}

/// The last part of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &str) -> Option<Vec<String>> {
        let entry = serde_json::json!({ "directory": "/b", "file": "a.c", "command": command });
        serde_json::from_value::<CompileEntry>(entry).unwrap().words()
    }

    #[test]
    fn quotes_and_backslashes_are_taken_off_as_a_shell_does() {
        assert_eq!(
            words(r#"cc -DV=\"v6\"  -DN="a \"b\"" 'c d' -I"/x y"/z"#).unwrap(),
            ["cc", "-DV=\"v6\"", "-DN=a \"b\"", "c d", "-I/x y/z"]
        );
        assert_eq!(words(r#"a "" '\n' "\n""#).unwrap(), ["a", "", "\\n", "\\n"]);
        assert!(words(" \n").unwrap().is_empty());
        for open in ["a 'b", "a \"b"] {
            assert_eq!(words(open), None, "{open}");
        }
    }

    #[test]
    fn launchers_are_no_compilers() {
        assert_eq!(words("/usr/bin/ccache gcc -c a.c").unwrap(), ["gcc", "-c", "a.c"]);
        assert_eq!(words("sccache gcc").unwrap(), ["gcc"]);
        let entry =
            r#"{"directory": "/b", "file": "../a.c", "arguments": ["ccache", "cc", "a b"]}"#;
        let entry: CompileEntry = serde_json::from_str(entry).unwrap();
        assert_eq!(entry.words().unwrap(), ["cc", "a b"]);
        assert_eq!(entry.source(), std::path::Path::new("/b/../a.c"));
    }
}
