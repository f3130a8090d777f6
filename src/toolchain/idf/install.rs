//! An installed ESP-IDF: where it is, which version, and the environment its tools need.
//!
//! Owns finding it and asking its `export.sh`. Must not know projects.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use crate::files;
use crate::model::UserError;
use crate::toolchain::flow::MOST_ANSWER;
use crate::toolchain::process::{self, ProcessEnd, ProcessSpec};

/// Places of an installation that nobody has named, below the home folder and absolute.
const HOMES: &[&str] = &["esp/esp-idf", "esp-idf", ".espressif/esp-idf"];
const PLACES: &[&str] = &["/opt/esp/idf", "/opt/esp-idf"];

/// `export.sh` asks for no more than a few programs' versions; longer, and it hangs.
const EXPORT_TIME: Duration = Duration::from_secs(120);

/// A person who asks what works is not kept waiting for it so long.
const CHECK_TIME: Duration = Duration::from_secs(10);

/// Sources `export.sh`, whose words go to stderr, and prints the variables that then hold.
const EXPORT: &str = r#". "$IDF_PATH/export.sh" >&2 || exit; printf '\n%s\n' "$0"; exec env -0"#;

/// Comes before the variables in what [`EXPORT`] prints.
const MARK: &str = "firmhand-environment";

/// Variables by name.
type Variables = Vec<(OsString, OsString)>;

const WHAT: &str = "Cannot build with ESP-IDF";

/// An installed ESP-IDF.
#[derive(Debug)]
pub(super) struct Installation {
    /// The folder that `IDF_PATH` names.
    pub(super) root: PathBuf,
    /// `v5.4.1`, as it calls itself; empty when it does not say.
    pub(super) version: String,
    /// Whether the variables and paths of its `export.sh` are set already.
    is_exported: bool,
    /// What `export.sh` sets, asked for once.
    exported: OnceCell<Variables>,
}

impl Installation {
    /// Finds an installation: the one in `IDF_PATH`, or one in a usual place.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn find(env: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, UserError> {
        let named = env("IDF_PATH").filter(|path| !path.is_empty()).map(PathBuf::from);
        if let Some(root) = &named
            && !is_idf(root)
        {
            let root = root.display();
            let why = format!("`IDF_PATH` names {root}, which holds no `tools/idf.py`");
            let fix = "Set `IDF_PATH` to the folder of ESP-IDF, or unset it.";
            return Err(UserError::new(WHAT, why, fix));
        }
        let home = env("HOME").map(PathBuf::from);
        let usual = home.iter().flat_map(|home| HOMES.iter().map(|place| home.join(place)));
        let usual = usual.chain(PLACES.iter().map(PathBuf::from));
        let Some(root) = named.into_iter().chain(usual).find(|root| is_idf(root)) else {
            let why = "no installation was found: `IDF_PATH` is not set";
            let fix = "Install ESP-IDF and run its `export.sh` in this shell, or build for the \
                       virtual board.";
            return Err(UserError::new(WHAT, why, fix));
        };
        let path = env("PATH").unwrap_or_default();
        let is_exported = env("IDF_PYTHON_ENV_PATH").is_some()
            && std::env::split_paths(&path).any(|folder| folder.join("idf.py").is_file());
        Ok(Self { is_exported, ..Self::at(root) })
    }

    /// The installation in that folder, which may be broken.
    pub(super) fn at(root: PathBuf) -> Self {
        let version = version(&root);
        Self { root, version, is_exported: false, exported: OnceCell::new() }
    }

    /// The variables its tools need beside those of this program. The first call may run
    /// `export.sh`, which takes seconds; `output` takes what that prints.
    ///
    /// # Errors
    /// When `export.sh` fails; the error quotes the end of its words.
    pub(super) async fn env(
        &self,
        cancel: &CancellationToken,
        output: &(dyn Fn(&[u8]) + Sync),
    ) -> Result<Variables, UserError> {
        let export = || self.export(cancel, output, EXPORT_TIME);
        let exported = self.exported.get_or_try_init(export).await?;
        let mut env = exported.clone();
        env.push(("IDF_PATH".into(), self.root.clone().into_os_string()));
        // Otherwise progress comes in one piece at the end.
        env.push(("PYTHONUNBUFFERED".into(), "1".into()));
        Ok(env)
    }

    /// Whether builds find `idf.py` once `export.sh` has run.
    ///
    /// # Errors
    /// When `export.sh` fails, takes long, or does not put `idf.py` on the `PATH`.
    pub(super) async fn check(&self) -> Result<(), UserError> {
        let cancel = CancellationToken::new();
        let export = || self.export(&cancel, &|_| {}, CHECK_TIME);
        self.find_program(self.exported.get_or_try_init(export).await?)
    }

    /// Whether `idf.py` is found with those variables.
    ///
    /// # Errors
    /// When it is not.
    pub(super) fn find_program(&self, variables: &Variables) -> Result<(), UserError> {
        match has_program(variables) {
            true => Ok(()),
            false => Err(self.failed("it did not put idf.py on the PATH".to_owned())),
        }
    }

    fn failed(&self, why: String) -> UserError {
        UserError::new(
            format!("ESP-IDF's export.sh in {} failed", self.root.display()),
            why,
            "Run ESP-IDF's `install.sh`, then its `export.sh` in this shell.",
        )
    }

    /// The variables of `export.sh` as far as they are known without running it.
    pub(super) fn exported(&self) -> &[(OsString, OsString)] {
        self.exported.get().map_or(&[], Vec::as_slice)
    }

    async fn export(
        &self,
        cancel: &CancellationToken,
        output: &(dyn Fn(&[u8]) + Sync),
        timeout: Duration,
    ) -> Result<Variables, UserError> {
        if self.is_exported {
            return Ok(Vec::new());
        }
        let env = vec![
            (OsString::from("IDF_PATH"), self.root.clone().into_os_string()),
            ("IDF_PATH_FORCE".into(), "1".into()),
        ];
        output(format!("-- Running {}/export.sh\n", self.root.display()).as_bytes());
        let (args, folder) = (["-c", EXPORT, MARK].map(OsString::from).to_vec(), self.root.clone());
        let cancel = cancel.clone();
        let job = ProcessSpec { program: "bash".into(), args, env, folder, timeout, cancel };
        let ended = process::output(job, MOST_ANSWER).await;
        let (ended, message) = ended.map_err(|error| self.failed(error.to_string()))?;
        let (words, variables) = split_at_mark(&message);
        output(words);
        let why = match (ended, variables.map(parse_variables)) {
            (ProcessEnd::Well, Some(variables)) => match complaint(words, &variables) {
                Some(complaint) => complaint,
                None => return Ok(variables),
            },
            (ProcessEnd::Well, None) => "it printed no variables".to_owned(),
            (ProcessEnd::Badly(_), _) => last_line(words),
            (ProcessEnd::TimedOut, _) => {
                format!("it took too long: it did not end within {} s", timeout.as_secs())
            }
            (ProcessEnd::Cancelled, _) => "it was stopped".to_owned(),
        };
        Err(self.failed(why))
    }
}

/// Whether a folder of the `PATH` holds `idf.py`.
fn has_program(variables: &Variables) -> bool {
    let named = variables.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.clone());
    let path = named.or_else(|| std::env::var_os("PATH")).unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join("idf.py").is_file())
}

/// The words before the mark, and the variables after it.
fn split_at_mark(message: &[u8]) -> (&[u8], Option<&[u8]>) {
    let mark = format!("\n{MARK}\n");
    match memchr::memmem::find(message, mark.as_bytes()) {
        Some(at) => (message.get(..at).unwrap_or_default(), message.get(at + mark.len()..)),
        None => (message, None),
    }
}

/// Reads `NAME=value\0…`, leaving out what belongs to the shell that printed it.
fn parse_variables(bytes: &[u8]) -> Variables {
    let pairs = bytes.split(|&byte| byte == 0).filter_map(|pair| {
        let at = memchr::memchr(b'=', pair)?;
        let (name, value) = (pair.get(..at)?, pair.get(at + 1..)?);
        let is_shells = matches!(name, b"" | b"_" | b"SHLVL" | b"PWD" | b"OLDPWD");
        let owned = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        (!is_shells && std::env::var_os(OsStr::from_bytes(name)) != Some(owned(value)))
            .then(|| (owned(name), owned(value)))
    });
    pairs.collect()
}

fn last_line(words: &[u8]) -> String {
    let text = crate::text::sanitize::decode(words);
    let last = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
    last.map_or_else(
        || "it failed without a message".to_owned(),
        |line| crate::text::sanitize::log_line(line.as_bytes()).into_owned(),
    )
}

/// The complaint of an `export.sh` that returned success and set nothing up; `None` when it did.
fn complaint(words: &[u8], variables: &Variables) -> Option<String> {
    if has_program(variables) || variables.iter().any(|(name, _)| name == "IDF_PYTHON_ENV_PATH") {
        return None;
    }
    let text = crate::text::sanitize::decode(words);
    let is_complaint = |line: &&str| {
        let line = line.to_ascii_lowercase();
        ["error", "not found", "missing", "doesn't exist", "does not exist", "failed"]
            .iter()
            .any(|word| line.contains(word))
    };
    let line = text.lines().map(str::trim).find(is_complaint)?;
    Some(crate::text::sanitize::log_line(line.as_bytes()).into_owned())
}

fn is_idf(root: &Path) -> bool {
    root.join("tools/idf.py").is_file()
}

/// `v5.4.1`, as the installation calls itself; empty when it does not say.
fn version(root: &Path) -> String {
    if let Ok(text) = files::read_text(&root.join("version.txt"), files::SETTINGS) {
        return text.trim().to_owned();
    }
    let text = files::read_text(&root.join("tools/cmake/version.cmake"), files::SETTINGS)
        .unwrap_or_default();
    let number = |name: &str| {
        let (_, rest) = text.split_once(&format!("set(IDF_VERSION_{name} "))?;
        rest.split_once(')').map(|(number, _)| number.trim().to_owned())
    };
    match (number("MAJOR"), number("MINOR"), number("PATCH")) {
        (Some(major), Some(minor), Some(patch)) if patch == "0" => format!("v{major}.{minor}"),
        (Some(major), Some(minor), Some(patch)) => format!("v{major}.{minor}.{patch}"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installation_is_found_by_its_variable_or_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("esp/esp-idf");
        let nothing = |_: &str| None;
        // The usual absolute places may exist on this machine.
        if PLACES.iter().all(|place| !is_idf(Path::new(place))) {
            let error = Installation::find(&nothing).unwrap_err();
            assert!(error.fix.contains("export.sh"), "{error:?}");
        }
        let home = |name: &str| (name == "HOME").then(|| folder.path().as_os_str().to_owned());
        std::fs::create_dir_all(root.join("tools/cmake")).unwrap();
        std::fs::write(root.join("tools/idf.py"), "").unwrap();
        let text = "set(IDF_VERSION_MAJOR 5)\nset(IDF_VERSION_MINOR 4)\nset(IDF_VERSION_PATCH 0)\n";
        std::fs::write(root.join("tools/cmake/version.cmake"), text).unwrap();
        let found = Installation::find(&home).unwrap();
        assert_eq!((found.version.as_str(), found.is_exported), ("v5.4", false));
        std::fs::write(root.join("version.txt"), "v6.0.2\n").unwrap();
        let tools = root.join("tools").into_os_string();
        let exported = |name: &str| match name {
            "IDF_PATH" => Some(root.clone().into_os_string()),
            "IDF_PYTHON_ENV_PATH" => Some("/env".into()),
            "PATH" => Some(tools.clone()),
            _ => None,
        };
        let found = Installation::find(&exported).unwrap();
        assert_eq!((found.version.as_str(), found.is_exported), ("v6.0.2", true));
        let wrong = |name: &str| (name == "IDF_PATH").then(|| "/nowhere".into());
        let error = Installation::find(&wrong).unwrap_err();
        assert!(error.why.contains("/nowhere"), "{error:?}");
    }

    fn at(root: &Path) -> Installation {
        Installation::at(root.to_owned())
    }

    #[tokio::test]
    async fn export_is_asked_once_and_its_words_are_shown() {
        let folder = tempfile::tempdir().unwrap();
        let script = "echo Setting up; export IDF_TOOLS=\"$IDF_PATH/it's here\"; echo x >> runs\n";
        std::fs::write(folder.path().join("export.sh"), script).unwrap();
        let idf = at(folder.path());
        let received = std::sync::Mutex::new(Vec::new());
        let hear = |bytes: &[u8]| received.lock().unwrap().extend_from_slice(bytes);
        for _ in 0..2 {
            let env = idf.env(&CancellationToken::new(), &hear).await.unwrap();
            let tools = env.iter().find(|(name, _)| name == "IDF_TOOLS").unwrap();
            assert_eq!(tools.1, folder.path().join("it's here").into_os_string());
            assert!(env.iter().all(|(name, _)| name != "SHLVL"));
        }
        let running = format!("-- Running {}/export.sh\n", folder.path().display());
        assert_eq!(
            String::from_utf8(received.into_inner().unwrap()).unwrap(),
            running + "Setting up\n"
        );
        assert_eq!(std::fs::read_to_string(folder.path().join("runs")).unwrap(), "x\n");
    }

    #[tokio::test]
    async fn an_export_that_claims_success_without_an_environment_is_no_success() {
        let folder = tempfile::tempdir().unwrap();
        let script = "echo 'Checking Python'; echo \"ERROR: /x/python doesn't exist! Run \
                      install.sh\" >&2; echo 'Done'\n";
        std::fs::write(folder.path().join("export.sh"), script).unwrap();
        let error = at(folder.path()).env(&CancellationToken::new(), &|_| {}).await.unwrap_err();
        assert_eq!(error.why, "ERROR: /x/python doesn't exist! Run install.sh");
    }

    #[tokio::test]
    async fn an_export_without_words_that_puts_no_program_on_the_path_does_not_pass_the_check() {
        let folder = tempfile::tempdir().unwrap();
        let write = |script: &str| std::fs::write(folder.path().join("export.sh"), script).unwrap();
        for script in [":\n", "export IDF_PYTHON_ENV_PATH=/none PATH=/bin:/usr/bin\n"] {
            write(script);
            let error = at(folder.path()).check().await.unwrap_err();
            assert!(error.why.contains("idf.py on the PATH"), "{error:?}");
            assert!(!error.fix.contains("sandbox"), "{error:?}");
        }
        std::fs::write(folder.path().join("idf.py"), "").unwrap();
        write("export PATH=\"$IDF_PATH:$PATH\"\n");
        at(folder.path()).check().await.unwrap();
    }

    #[tokio::test]
    async fn nothing_is_set_that_idf_py_would_do_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("export.sh"), "export A=1\n").unwrap();
        let env = at(folder.path()).env(&CancellationToken::new(), &|_| {}).await.unwrap();
        let names: Vec<_> = env.iter().map(|(name, _)| name.to_string_lossy()).collect();
        let ours = ["A", "IDF_PATH", "IDF_PATH_FORCE", "PYTHONUNBUFFERED"];
        assert!(names.iter().all(|name| ours.contains(&&**name)), "{names:?}");
    }

    #[tokio::test]
    async fn a_broken_export_is_told_in_its_own_words() {
        let folder = tempfile::tempdir().unwrap();
        let script = "echo 'ERROR: tool cmake is not installed' >&2; return 1\n";
        std::fs::write(folder.path().join("export.sh"), script).unwrap();
        let error = at(folder.path()).env(&CancellationToken::new(), &|_| {}).await.unwrap_err();
        assert_eq!(error.why, "ERROR: tool cmake is not installed");
        assert!(error.fix.contains("install.sh"));
    }
}
