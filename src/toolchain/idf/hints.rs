//! The framework's own advice for what went wrong.
//!
//! Owns asking the installation's hint rules about each error by itself, so that advice stands
//! with the error it explains. Installations without such rules (before v5.0) give none.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::model::{Diagnostic, Severity};
use crate::toolchain::flow::MOST_ANSWER;
use crate::toolchain::process::{self, ProcessSpec};

/// More errors than this are rarely read; the first ones explain the rest.
const MAX_ERRORS: usize = 40;

/// The rules are looked through in well under a second.
const TIME: Duration = Duration::from_secs(20);

/// What a build says of itself, below the project.
const DESCRIPTION: &str = "build/project_description.json";

/// Reads a list of texts from a file, prints a list of lists of hints.
const SCRIPT: &str = include_str!("../../../assets/testing/firmhand_hints.py");

/// Adds advice to the errors of `diagnostics` that have none. Whatever goes wrong here leaves them
/// as they are: the build has failed anyway, and its own words are what matters.
pub(super) async fn advise(
    project: &Path,
    diagnostics: &mut [Diagnostic],
    env: Vec<(OsString, OsString)>,
    cancel: &CancellationToken,
) {
    let errors: Vec<&mut Diagnostic> = diagnostics
        .iter_mut()
        .filter(|found| found.severity == Severity::Error && found.hint.is_empty())
        .take(MAX_ERRORS)
        .collect();
    let texts: Vec<String> = errors.iter().map(|error| as_printed(project, error)).collect();
    if texts.is_empty() {
        return;
    }
    let Some(hints) = ask(project, &texts, env, cancel).await else { return };
    for (error, hints) in errors.into_iter().zip(hints) {
        let hint = hints.join(" ");
        error.hint = hint.split_whitespace().collect::<Vec<_>>().join(" ");
    }
}

/// The error in the form in which the rules expect it.
fn as_printed(project: &Path, error: &Diagnostic) -> String {
    let is_fatal = error.message.ends_with(": No such file or directory");
    let kind = if is_fatal { "fatal error" } else { "error" };
    match (&error.file, error.line) {
        (Some(file), Some(line)) => {
            let file = project.join(file);
            let column = error.column.map(|column| format!(":{column}")).unwrap_or_default();
            format!("{}:{line}{column}: {kind}: {}", file.display(), error.message)
        }
        _ => error.message.clone(),
    }
}

async fn ask(
    project: &Path,
    texts: &[String],
    env: Vec<(OsString, OsString)>,
    cancel: &CancellationToken,
) -> Option<Vec<Vec<String>>> {
    let mut file = tempfile::NamedTempFile::new().ok()?;
    file.write_all(&serde_json::to_vec(texts).ok()?).ok()?;
    // Whatever a build has put into the project, no module is taken from there: it runs as a program
    // of the person.
    let mut args = ["-I", "-c", SCRIPT].map(OsString::from).to_vec();
    args.extend([file.path().into(), project.join(DESCRIPTION).into()]);
    let (folder, timeout, cancel) = (PathBuf::from("/"), TIME, cancel.clone());
    let job = ProcessSpec { program: "python3".into(), args, env, folder, timeout, cancel };
    let (_, output) = process::output(job, MOST_ANSWER).await.ok()?;
    // Modules of the rules may print what they like before.
    let last = output.trim_ascii_end().rsplit(|&byte| byte == b'\n').next()?;
    serde_json::from_slice(last).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(file: Option<&str>, message: &str) -> Diagnostic {
        Diagnostic {
            file: file.map(str::to_owned),
            line: file.map(|_| 3),
            column: None,
            severity: Severity::Error,
            message: message.to_owned(),
            hint: String::new(),
        }
    }

    /// An installation with one rule, as far as hints go.
    fn rules(folder: &Path, body: &str) -> Vec<(OsString, OsString)> {
        let actions = folder.join("tools/idf_py_actions");
        std::fs::create_dir_all(&actions).unwrap();
        std::fs::write(actions.join("tools.py"), body).unwrap();
        vec![("IDF_PATH".into(), folder.into())]
    }

    #[tokio::test]
    async fn each_error_gets_its_own_advice() {
        let folder = tempfile::tempdir().unwrap();
        let body = "def load_hints(): return 'driver'\n\
                    def generate_hints_buffer(text, rules):\n    \
                    print('noise')\n    \
                    if rules in text: yield 'add\\nit: ' + text.split('/')[-1]\n";
        let env = rules(folder.path(), body);
        let mut found = [
            error(Some("main/a.c"), "driver/i2c.h: No such file or directory"),
            error(None, "something else"),
        ];
        advise(folder.path(), &mut found, env, &CancellationToken::new()).await;
        assert_eq!(found[0].hint, "add it: i2c.h: No such file or directory");
        assert_eq!(found[1].hint, "");
    }

    #[tokio::test]
    async fn nothing_of_the_project_is_run_for_it() {
        let (idf, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let body = "def load_hints(): return 'driver'\n\
                    def generate_hints_buffer(text, rules): yield 'advice'\n\
                    found = {}\n\
                    def get_build_context(): return found\n";
        let env = rules(idf.path(), body);
        for module in ["json", "os", "idf_py_actions"] {
            let planted = format!("open({:?}, 'w')\n", project.path().join("ran"));
            std::fs::write(project.path().join(format!("{module}.py")), planted).unwrap();
        }
        let mut found = [error(None, "driver")];
        advise(project.path(), &mut found, env, &CancellationToken::new()).await;
        assert_eq!(found[0].hint, "advice");
        assert!(!project.path().join("ran").exists());
    }

    #[tokio::test]
    async fn an_installation_without_rules_gives_none() {
        let folder = tempfile::tempdir().unwrap();
        let env = vec![("IDF_PATH".into(), folder.path().into())];
        let mut found = [error(None, "x")];
        advise(folder.path(), &mut found, env, &CancellationToken::new()).await;
        assert_eq!(found[0].hint, "");
    }
}
