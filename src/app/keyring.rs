//! Keys in the desktop's own keyring, read through the desktop's own command.
//!
//! Owns what was read, so that nobody is asked to unlock the keyring twice. A key comes through a
//! pipe and is never an argument, a variable or a part of a message.

#![expect(
    clippy::disallowed_methods,
    reason = "the desktop's own command for its keyring, as the person has configured it"
)]

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use secrecy::SecretString;

use crate::model::UserError;
use crate::text::sanitize;
use crate::toolchain::process::key_variables;

/// How long the person may take to unlock the keyring.
const PATIENCE: Duration = Duration::from_secs(120);

/// Bytes that are read of what the command prints.
const MOST_BYTES: u64 = 64 << 10;

/// The keyring, with what was read of it.
#[derive(Debug, Clone, Default)]
pub struct Keyring {
    /// By entry; a secret does not print itself.
    known: Arc<Mutex<BTreeMap<String, SecretString>>>,
}

/// The command of a desktop.
struct Desktop {
    program: &'static str,
    /// Its arguments before the name of the entry, which comes last but for `after`.
    before: &'static [&'static str],
    after: &'static [&'static str],
    /// How the person stores a key, before the name of the entry.
    store: &'static str,
    /// How the person gets the command.
    install: &'static str,
}

const MACOS: Desktop = Desktop {
    program: "security",
    before: &["find-generic-password", "-s", "firmhand", "-a"],
    after: &["-w"],
    store: "security add-generic-password -s firmhand -w -a",
    install: "It belongs to macOS; check that /usr/bin is in PATH",
};

const LINUX: Desktop = Desktop {
    program: "secret-tool",
    before: &["lookup", "service", "firmhand", "account"],
    after: &[],
    store: "secret-tool store --label=firmhand service firmhand account",
    install: "Install it (the package is libsecret-tools or libsecret)",
};

/// The command of this machine's desktop.
const fn desktop() -> Desktop {
    if cfg!(target_os = "macos") { MACOS } else { LINUX }
}

impl Keyring {
    /// The key of an entry; the desktop may ask the person to unlock the keyring.
    ///
    /// # Errors
    /// When there is no such command or entry, or it says no.
    pub fn read(&self, entry: &str) -> Result<SecretString, UserError> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = known().get(entry) {
            return Ok(key.clone());
        }
        // Not under the lock, as the person may take their time.
        let key = look_up(&desktop(), entry)?;
        known().insert(entry.to_owned(), key.clone());
        Ok(key)
    }
}

fn look_up(desktop: &Desktop, entry: &str) -> Result<SecretString, UserError> {
    let Desktop { program, before, after, store, install } = desktop;
    let cannot = |why: String, fix: String| {
        UserError::new(format!("Cannot read the keyring entry `{entry}`"), why, fix)
    };
    let other = "or put the key into a file with mode 600 and name it with `key.file`";
    let mut command = Command::new(program);
    command.args(*before).arg(entry).args(*after).stdin(Stdio::null());
    for name in key_variables() {
        command.env_remove(name);
    }
    let printed = match run(command) {
        Ok(printed) => printed,
        Err(KeyringError::Missing) => {
            let why = format!("the command `{program}` is not installed");
            return Err(cannot(why, format!("{install}, {other}")));
        }
        Err(KeyringError::Silent) => {
            let seconds = PATIENCE.as_secs();
            let why = format!("`{program}` did not answer within {seconds} s");
            return Err(cannot(why, format!("Unlock the keyring first, {other}.")));
        }
        Err(KeyringError::Other(error)) => {
            return Err(cannot(format!("`{program}`: {error}"), other.to_owned()));
        }
    };
    let fix = format!("Store it with `{store} {entry}`, {other}.");
    if !printed.status.success() {
        let why = match printed.message.as_str() {
            "" => format!("`{program}` found none"),
            output => format!("`{program}` said “{output}”"),
        };
        return Err(cannot(why, fix));
    }
    match String::from_utf8(printed.key) {
        Ok(key) if key.trim().is_empty() => Err(cannot("it is empty".to_owned(), fix)),
        Ok(key) if key.trim().lines().count() > 1 => {
            Err(cannot("it has more than one line".to_owned(), fix))
        }
        Ok(key) => Ok(SecretString::from(key.trim().to_owned())),
        // The error would hold the bytes.
        Err(_) => Err(cannot("it is not text".to_owned(), fix)),
    }
}

/// What the command printed: the key on one way, words for people on the other.
struct Printed {
    status: ExitStatus,
    key: Vec<u8>,
    message: String,
}

enum KeyringError {
    /// There is no such command.
    Missing,
    /// It did not end in time.
    Silent,
    Other(std::io::Error),
}

fn run(mut command: Command) -> Result<Printed, KeyringError> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => KeyringError::Missing,
        _ => KeyringError::Other(error),
    })?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let (done, ended) = mpsc::channel();
    // Both are read at once, so that neither fills up and holds the command.
    let words = std::thread::spawn(move || read(err));
    std::thread::spawn(move || {
        // Nobody may wait for it any more.
        let _ = done.send((read(out), words.join().unwrap_or_default()));
    });
    let Ok((key, output)) = ended.recv_timeout(PATIENCE) else {
        // It may end by itself just now.
        let _ = child.kill();
        let _ = child.wait();
        return Err(KeyringError::Silent);
    };
    let status = child.wait().map_err(KeyringError::Other)?;
    let output = String::from_utf8_lossy(&output);
    let output = output.lines().next().unwrap_or_default().trim();
    let output = sanitize::line(output).chars().take(200).collect();
    Ok(Printed { status, key, message: output })
}

/// All that comes, within bounds.
fn read(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        // What came until then is all there is.
        let _ = pipe.take(MOST_BYTES).read_to_end(&mut bytes);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use secrecy::ExposeSecret;

    use super::*;

    /// A stand-in for the desktop's command.
    fn stand_in(folder: &Path, script: &str) -> Desktop {
        let file = folder.join("stand-in");
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        let program: &'static str = Box::leak(file.to_str().unwrap().to_owned().into_boxed_str());
        Desktop { program, ..LINUX }
    }

    #[test]
    fn the_key_is_what_the_command_prints_and_errors_never_hold_it() {
        let folder = tempfile::tempdir().unwrap();
        let ask = |script: &str| look_up(&stand_in(folder.path(), script), "work");
        let key = ask("[ \"$*\" = 'lookup service firmhand account work' ] && echo sk-12345");
        assert_eq!(key.unwrap().expose_secret(), "sk-12345");
        let error = |script: &str| ask(script).unwrap_err();
        let none = error("exit 1");
        assert!(none.why.contains("found none"), "{none:?}");
        assert!(none.fix.contains("account work`"), "{none:?}");
        let locked = error("echo 'Cannot autolaunch\u{1b}[2J D-Bus' >&2; echo sk-12345; exit 1");
        assert!(locked.why.contains("Cannot autolaunch"), "{locked:?}");
        assert!(!format!("{locked:?}").contains(['\u{1b}']), "{locked:?}");
        assert!(!format!("{locked:?}").contains("sk-12345"), "{locked:?}");
        assert!(error("echo ' '").why.contains("empty"));
        let odd = error("printf 'sk-12345\\377'");
        assert!(odd.why.contains("not text") && !format!("{odd:?}").contains("sk-"), "{odd:?}");
        let gone = look_up(&Desktop { program: "/no/such/command", ..LINUX }, "work").unwrap_err();
        assert!(gone.fix.contains("libsecret") && gone.fix.contains("key.file"), "{gone:?}");
    }

    #[test]
    fn a_command_that_prints_without_end_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let desktop = stand_in(folder.path(), "yes >&2 & yes; wait");
        assert!(look_up(&desktop, "work").unwrap_err().why.contains("more than one line"));
    }
}
