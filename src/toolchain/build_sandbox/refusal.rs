//! What the walls around a build kept it from, as the tools that it ran tell it.
//!
//! Reads what was printed, in pieces. Must not know the walls.

use std::path::{Path, PathBuf};

use crate::model::{Diagnostic, Severity};
use crate::text::sanitize;
use crate::toolchain::hidden;

/// What tools say of a file that they may not write.
const READ_ONLY: [&str; 2] = ["Read-only file system", "[Errno 30]"];

/// What `git` says when there is no key to log in with.
const NO_KEY: [&str; 2] = ["Permission denied (publickey", "Host key verification failed"];

/// Lines after such a message in which its path may stand, as CMake prints it.
const NEAR: usize = 3;

/// Longer lines are not looked at, in bytes.
const LONGEST: usize = 4096;

/// Collects them while a build prints.
#[derive(Debug, Default)]
pub(in crate::toolchain) struct Refusals {
    line: Vec<u8>,
    /// The first path that could not be written; empty when none was named.
    path: Option<String>,
    /// Lines in which it may still come.
    near: usize,
    has_no_key: bool,
}

impl Refusals {
    /// Takes what was printed.
    pub(in crate::toolchain) fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                b'\n' | b'\r' => {
                    let line = std::mem::take(&mut self.line);
                    self.take(&sanitize::strip_sequences(&sanitize::decode(&line)));
                }
                _ if self.line.len() < LONGEST => self.line.push(*byte),
                _ => {}
            }
        }
    }

    fn take(&mut self, line: &str) {
        self.has_no_key |= NO_KEY.iter().any(|words| line.contains(words));
        let is_refused = READ_ONLY.iter().any(|words| line.contains(words));
        if is_refused && self.path.is_none() {
            self.path = Some(path_in(line).unwrap_or_default());
            self.near = NEAR;
        } else if self.near > 0 {
            self.near -= 1;
            if self.path.as_deref() == Some("") {
                self.path = path_in(line).or(Some(String::new()));
            }
        }
    }

    /// What it amounts to; `None` when the walls kept it from nothing.
    pub(in crate::toolchain) fn finish(mut self) -> Option<Diagnostic> {
        self.push(b"\n");
        if let Some(path) = self.path {
            let (named, folder) = match path.rsplit_once('/') {
                Some((folder, _)) if !folder.is_empty() => (path.as_str(), folder),
                _ => ("a file outside of what builds write", "/path/of/the/folder"),
            };
            let message = format!("the sandbox of builds does not let them write {named}");
            let home = std::env::var_os("HOME").map(PathBuf::from);
            // A build prints what it likes; nobody shall open all of their folders to it.
            let hint = match hidden::is_private(Path::new(folder), home.as_deref()) {
                true => "builds do not write there; look at what wants to".to_owned(),
                false => format!(
                    "if the build has to, put `writable = [\"{folder}\"]` below `[sandbox]` into your \
                     own config.toml; `builds = \"off\"` there runs builds without the sandbox"
                ),
            };
            return Some(Diagnostic { hint, ..Diagnostic::new(Severity::Error, message) });
        }
        self.has_no_key.then(|| {
            let message = "the sandbox of builds hides your SSH keys, which this build needs";
            let hint = "fetch what it depends on by hand once, or use an https address; `builds = \
                        \"off\"` below `[sandbox]` of your own config.toml runs builds without the \
                        sandbox";
            let stated = Diagnostic::new(Severity::Error, message.to_owned());
            Diagnostic { hint: hint.to_owned(), ..stated }
        })
    }
}

/// The first absolute path in a line.
fn path_in(line: &str) -> Option<String> {
    let mut quoted = line.split(['\'', '"', '`', '‘', '’']).skip(1).step_by(2);
    let quoted = quoted.find(|word| word.starts_with('/')).map(str::to_owned);
    quoted.or_else(|| {
        let words = line.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | ';'));
        let mut words = words.map(|word| word.trim_end_matches(':'));
        words.find(|word| word.len() > 1 && word.starts_with('/')).map(str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_in(output: &str) -> Option<Diagnostic> {
        let mut refusals = Refusals::default();
        // In pieces, as it comes.
        output.as_bytes().chunks(7).for_each(|piece| refusals.push(piece));
        refusals.finish()
    }

    #[test]
    fn the_path_is_found_in_what_tools_say() {
        for (output, path) in [
            ("touch: cannot touch '/root/my files/x': Read-only file system\n", "/root/my files/x"),
            (
                "OSError: [Errno 30] Read-only file system: '/home/me/.tool/lock'",
                "/home/me/.tool/lock",
            ),
            ("ninja: error: mkdir(/opt/x/y): Read-only file system\n", "/opt/x/y"),
            (
                "cc1: fatal error: cannot open /usr/x.o for writing: Read-only file system",
                "/usr/x.o",
            ),
            (
                "CMake Error at a.cmake:3 (file):\n  file failed to open for writing (Read-only file \
                 system):\n\n    /p/main/version.h\n",
                "/p/main/version.h",
            ),
            (
                "\x1b[31mcp: cannot create regular file '/a/b': Read-only file system\x1b[0m\r\n",
                "/a/b",
            ),
        ] {
            let found = found_in(output).unwrap();
            assert!(found.message.ends_with(&format!("write {path}")), "{output}: {found:?}");
            let folder = path.rsplit_once('/').unwrap().0;
            assert!(found.hint.contains(&format!("writable = [\"{folder}\"]")), "{found:?}");
        }
    }

    #[test]
    fn nobody_is_asked_to_open_what_they_keep() {
        let home = std::env::var("HOME").unwrap();
        for path in ["/etc/passwd", &format!("{home}/x"), &format!("{home}/.ssh/id")] {
            let output = format!("touch: cannot touch '{path}': Read-only file system\n");
            let hint = found_in(&output).unwrap().hint;
            assert!(!hint.contains("writable"), "{path}: {hint}");
        }
    }

    #[test]
    fn what_names_no_path_and_what_needs_a_key_is_told_too() {
        let found =
            found_in("mkdir: cannot create directory main/gen: Read-only file system\n").unwrap();
        assert!(found.message.contains("outside of what builds write"), "{found:?}");
        let found = found_in("git@host: Permission denied (publickey).\nfatal: no\n").unwrap();
        assert!(found.message.contains("SSH keys"), "{found:?}");
        assert_eq!(found_in("main.c:1:1: error: expected ';'\nninja: build stopped\n"), None);
    }
}
