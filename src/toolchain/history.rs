//! What `git` tells about the past of a project. Reads; must not change anything.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::process::{self, ProcessEnd, ProcessSpec};

/// Changes that are looked at.
const MOST_CHANGES: &str = "3000";
/// More than this is not kept, in bytes.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// The log with messages and names of files, each change behind a byte 1, names relative to
/// `project`. Empty without `git`, without a repository, or when it takes longer than `timeout`.
pub async fn git_log(project: &Path, timeout: Duration, cancel: CancellationToken) -> String {
    // Nothing of what the repository itself configures may start a program.
    let safe =
        "-c log.showSignature=false -c core.fsmonitor=false -c core.pager=cat -c diff.external=";
    let log = "log --no-merges --no-ext-diff --no-textconv --no-renames --relative --name-only \
               --format=%x01%s%n%b -n";
    let args = safe.split(' ').chain(log.split(' ')).chain([MOST_CHANGES]);
    let env =
        [("GIT_NO_LAZY_FETCH", "1"), ("GIT_OPTIONAL_LOCKS", "0"), ("GIT_TERMINAL_PROMPT", "0")];
    let env = env.map(|(name, value)| (name.into(), value.into())).to_vec();
    let (args, folder) = (args.map(OsString::from).collect(), project.to_owned());
    let job = ProcessSpec { program: "git".into(), args, env, folder, timeout, cancel };
    match process::output(job, MOST_BYTES).await {
        Ok((ProcessEnd::Well, output)) => String::from_utf8_lossy(&output).into_owned(),
        // A project without a history is nothing out of the ordinary.
        Ok(_) | Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[tokio::test]
    async fn the_log_of_a_project_in_a_folder_of_a_repository_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("app");
        std::fs::create_dir_all(project.join("main")).unwrap();
        let wait = Duration::from_secs(20);
        let none = git_log(Path::new("/proc"), wait, CancellationToken::new()).await;
        assert_eq!(none, "");
        let git = |args: &[&str]| {
            let done = Command::new("git")
                .args(["-c", "user.name=a", "-c", "user.email=a@b"])
                .args(args)
                .current_dir(folder.path())
                .env("HOME", folder.path())
                .output()
                .unwrap();
            assert!(done.status.success(), "{args:?}");
        };
        git(&["init", "-q"]);
        std::fs::write(project.join("main/a.c"), "int a;\n").unwrap();
        git(&["add", "."]);
        git(&["commit", "-q", "-m", "Add a\n\nBody."]);
        let log = git_log(&project, wait, CancellationToken::new()).await;
        assert!(log.starts_with("\u{1}Add a\nBody.\n"), "{log:?}");
        assert!(log.trim_end().ends_with("\n\nmain/a.c"), "{log:?}");
    }
}
