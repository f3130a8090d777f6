//! The person's own editor, on a file of the project or on a proposed text.
//!
//! Owns which program that is, how a line is named to it, and the temporary file of a proposed
//! text, which lies outside of every project and is gone afterwards. Whoever calls has given the
//! terminal back before.

#![expect(
    clippy::disallowed_methods,
    reason = "the person's own editor, at the person's own key, on a temporary copy of a text"
)]

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpid};

use crate::files;
use crate::model::UserError;
use crate::toolchain::process::key_variables;
use crate::ui::OutsideEdit;

/// Opens `file` in `$VISUAL`, `$EDITOR` or `vi`, at a line from 1 where the editor is known to
/// take one, and waits until it ends. The value may hold arguments, e.g. `code --wait`.
///
/// # Errors
/// When there is no such program, or it says that it failed.
pub fn edit_file(file: &Path, line: Option<u32>) -> Result<(), UserError> {
    let wanted = wanted(|name| std::env::var(name).ok()).unwrap_or_else(|| "vi".to_owned());
    run(&wanted, file, line)
}

/// Opens a proposed text in `$VISUAL` or `$EDITOR`, waits for its end, and reads what it left.
///
/// # Errors
/// In words for the person: when there is no editor, it cannot be started, it fails, or what it
/// left cannot be read.
pub fn edit_text(edit: &OutsideEdit) -> Result<String, String> {
    let wanted = wanted(|name| std::env::var(name).ok()).ok_or_else(|| {
        "no editor is set: set $VISUAL or $EDITOR, or edit here instead".to_owned()
    })?;
    // The whole name goes at the end, so that the editor knows the language by its ending.
    let suffix = format!("-{}", edit.name);
    let mut file = tempfile::Builder::new()
        .prefix("firmhand-")
        .suffix(&suffix)
        .tempfile()
        .map_err(|error| format!("cannot make a temporary file for the editor: {error}"))?;
    file.write_all(edit.text.as_bytes())
        .and_then(|()| file.flush())
        .map_err(|error| format!("cannot write the temporary file for the editor: {error}"))?;
    run(&wanted, file.path(), None).map_err(|error| {
        format!("{}: {}; nothing was decided, nothing is lost", error.what, error.why)
    })?;
    // Editors may replace the file, so it is read by its name.
    let bytes = files::read(file.path(), files::SOURCE)
        .map_err(|error| format!("cannot read back what `{wanted}` wrote: {error}"))?;
    String::from_utf8(bytes)
        .map_err(|_| format!("`{wanted}` left no UTF-8 text; nothing was decided"))
}

/// The person's editor with its arguments.
fn wanted(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    ["VISUAL", "EDITOR"]
        .into_iter()
        .filter_map(variable)
        .map(|line| line.trim().to_owned())
        .find(|line| !line.is_empty())
}

fn run(wanted: &str, file: &Path, line: Option<u32>) -> Result<(), UserError> {
    let failed = |why: String| {
        UserError::new(
            format!("Cannot run the editor `{wanted}`"),
            why,
            "Set $VISUAL or $EDITOR to the command of your editor.",
        )
    };
    let mut words = wanted.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let mut command = Command::new(program);
    command.args(words).args(arguments(program, file, line));
    // An editor runs plugins and shells, none of which needs the keys of models.
    for name in key_variables() {
        command.env_remove(name);
    }
    match wait(command.spawn().map_err(|error| failed(error.to_string()))?) {
        Some(0) => Ok(()),
        Some(status) => Err(failed(format!("it ended with status {status}"))),
        None => Err(failed("it was killed".to_owned())),
    }
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
    fn visual_goes_before_editor_and_none_is_said() {
        let both = |name: &str| Some(if name == "VISUAL" { "code -w" } else { "vi" }.to_owned());
        assert_eq!(wanted(both).as_deref(), Some("code -w"));
        let empty = |name: &str| Some(if name == "VISUAL" { " " } else { "vi" }.to_owned());
        assert_eq!(wanted(empty).as_deref(), Some("vi"));
        assert_eq!(wanted(|_| None), None);
    }

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
