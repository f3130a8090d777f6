//! The person's own editor, on a file.
//!
//! Owns which program that is and how a line is named to it. Whoever calls has given the terminal
//! back before, see [`Screen::lend`](super::terminal::Screen::lend).

use std::path::Path;
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpid};

use crate::model::UserError;

/// Opens `file` in `$VISUAL`, `$EDITOR` or `vi`, at a line from 1 where the editor is known to
/// take one, and waits until it ends. The value may hold arguments, e.g. `code --wait`.
///
/// # Errors
/// When there is no such program, or it says that it failed.
pub fn edit(file: &Path, line: Option<u32>) -> Result<(), UserError> {
    let wanted = ["VISUAL", "EDITOR"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.trim().is_empty())
        .unwrap_or_else(|| "vi".to_owned());
    let failed = |why: String| {
        UserError::new(
            format!("the editor `{wanted}` did not work"),
            why,
            "set VISUAL or EDITOR to the command of your editor",
        )
    };
    let mut words = wanted.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let child = start(program, words, file, line).map_err(|error| failed(error.to_string()))?;
    match wait(child) {
        Some(0) => Ok(()),
        Some(status) => Err(failed(format!("it ended with status {status}"))),
        None => Err(failed("it was killed".to_owned())),
    }
}

#[expect(clippy::disallowed_methods, reason = "the person's own editor, at the person's own key")]
fn start<'a>(
    program: &str,
    more: impl Iterator<Item = &'a str>,
    file: &Path,
    line: Option<u32>,
) -> std::io::Result<Child> {
    Command::new(program).args(more).args(arguments(program, file, line)).spawn()
}

/// How an editor is told file and line.
fn arguments(program: &str, file: &Path, line: Option<u32>) -> Vec<String> {
    let file = file.display().to_string();
    let name = Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or(program);
    match (name, line) {
        (
            "vi" | "vim" | "nvim" | "nano" | "emacs" | "emacsclient" | "kak" | "micro",
            Some(line),
        ) => {
            vec![format!("+{line}"), file]
        }
        ("hx" | "helix" | "subl" | "zed", Some(line)) => vec![format!("{file}:{line}")],
        ("code" | "codium", Some(line)) => vec!["--goto".to_owned(), format!("{file}:{line}")],
        (_, _) => vec![file],
    }
}

/// The exit status; `None`: killed. An editor that is stopped with ctrl-z stops the program with
/// it, and both go on together.
fn wait(mut child: Child) -> Option<i32> {
    let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
        return child.wait().ok().and_then(|status| status.code());
    };
    loop {
        match waitpid(Some(pid), WaitOptions::UNTRACED) {
            Ok(Some((_, status))) if status.stopped() => {
                let _ = kill_process(getpid(), Signal::STOP);
                let _ = kill_process(pid, Signal::CONT);
            }
            Ok(Some((_, status))) => return status.exit_status(),
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_editor_is_told_the_line_in_its_own_way() {
        let file = Path::new("/p/main.c");
        assert_eq!(arguments("/usr/bin/vim", file, Some(7)), ["+7", "/p/main.c"]);
        assert_eq!(arguments("hx", file, Some(7)), ["/p/main.c:7"]);
        assert_eq!(arguments("code", file, Some(7)), ["--goto", "/p/main.c:7"]);
        assert_eq!(arguments("my-editor", file, Some(7)), ["/p/main.c"]);
        assert_eq!(arguments("vim", file, None), ["/p/main.c"]);
    }
}
