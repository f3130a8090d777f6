//! Where files are written, processes started and boards flashed.
//!
//! `clippy.toml` bans the same functions by their types; this check keeps the list of files that
//! may lift the ban, and says what each is for.

use super::paths::Seen;
use super::{Rule, SourceFile, Violation};

/// A kind of effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Making, changing or removing files and folders.
    Files,
    /// Starting a process.
    Process,
    /// Writing to a board.
    Flash,
    /// Sending to a board, or moving its lines.
    Serial,
    /// Ending the program on the spot.
    Exit,
}

/// The files that may have effects: (path or folder, which, why).
const HOMES: &[(&str, &[Effect], &str)] = &[
    ("app/copies.rs", &[Effect::Files], "a copy of a log in a file that the person names"),
    ("app/history.rs", &[Effect::Files], "messages the person has sent, for later sessions"),
    ("app/editor.rs", &[Effect::Process], "the person's own editor"),
    ("app/keyring.rs", &[Effect::Process], "the desktop's own command for its keyring"),
    (
        "gate/effects.rs",
        &[Effect::Files, Effect::Flash, Effect::Serial],
        "what was approved happens here",
    ),
    ("gate/effects/staged.rs", &[Effect::Files], "a content beside its file, then in its place"),
    ("gate/effects/swap.rs", &[Effect::Files], "files are put in place, and displaced ones back"),
    ("journal/blobs.rs", &[Effect::Files], "contents of a session"),
    ("journal/dir.rs", &[Effect::Files], "a session's own folder"),
    ("journal/kept_facts.rs", &[Effect::Files], "what the list of sessions has read"),
    ("journal/lock.rs", &[Effect::Files], "the lock file of a session"),
    ("journal/log_writer.rs", &[Effect::Files], "raw logs of a session"),
    ("journal/manage.rs", &[Effect::Files], "names of sessions, and the end of sessions"),
    ("journal/times.rs", &[Effect::Files], "when the lines of a raw log came"),
    ("journal/writer.rs", &[Effect::Files], "the journal of a session"),
    ("knowledge/build.rs", &[Effect::Files], "indexes of documentation, in the data folder"),
    ("knowledge/folder.rs", &[Effect::Files], "files of an index of documentation"),
    ("knowledge/leftovers.rs", &[Effect::Files], "what a failed build of an index leaves"),
    ("knowledge/stored_texts.rs", &[Effect::Files], "the index of the notes, in the data folder"),
    ("policy/store.rs", &[Effect::Files], "learned policies, and a chart where the person says"),
    (
        "app/project_folder.rs",
        &[Effect::Files],
        "the folder the person named, before any agent acts",
    ),
    ("app/own_file.rs", &[Effect::Files], "what the program remembers, in the data folder"),
    ("provider/record.rs", &[Effect::Files], "the recording that the person has asked for"),
    (
        "app/editor.rs",
        &[Effect::Files, Effect::Process],
        "a temporary copy of a proposed text in the person's own editor",
    ),
    ("cli/man.rs", &[Effect::Files], "manual pages in a folder that the person names"),
    ("device/", &[Effect::Serial], "the ports themselves"),
    ("device/link.rs", &[Effect::Files], "a port is opened for a moment to see that it is free"),
    ("device/pty.rs", &[Effect::Files], "both ends of a pseudo-terminal are opened"),
    ("app/serial_commands.rs", &[Effect::Serial], "what the person's own keys ask for"),
    (
        "sandbox/",
        &[Effect::Files, Effect::Process],
        "programs of agents are started behind walls, with folders of their own",
    ),
    ("toolchain/", &[Effect::Files, Effect::Process], "builds, and their output folder"),
];

const FILE_FUNCTIONS: &[&str] = &[
    "write",
    "remove_file",
    "remove_dir",
    "remove_dir_all",
    "rename",
    "create_dir",
    "create_dir_all",
    "copy",
    "hard_link",
    "soft_link",
    "symlink",
    "set_permissions",
    "renameat",
    "renameat_with",
    "unlink",
    "unlinkat",
    "mkdir",
    "mkdirat",
    "linkat",
    "symlinkat",
    "chmod",
    "fchmod",
    "truncate",
];

const FILE_METHODS: &[&str] = &[
    "remove_file",
    "remove_dir",
    "remove_dir_all",
    "remove_open_dir",
    "remove_open_dir_all",
    "rename",
    "create_dir",
    "create_dir_all",
    "create_dir_with",
    "hard_link",
    "symlink",
    "symlink_file",
    "symlink_dir",
    "set_permissions",
    "open_with",
];

/// Finds effects outside their homes, and lifted bans outside every home.
pub fn check(file: &SourceFile, seen: &Seen) -> Vec<Violation> {
    let paths = seen
        .paths
        .iter()
        .filter_map(|path| Some((of_path(&path.segments)?, path.segments.join("::"), path.line)));
    let methods = seen.methods.iter().filter_map(|(name, line)| {
        let effect = match name.as_str() {
            "flash" => Effect::Flash,
            "transmit" | "steer" => Effect::Serial,
            name if FILE_METHODS.contains(&name) => Effect::Files,
            _ => return None,
        };
        Some((effect, format!(".{name}()"), *line))
    });
    let mut found: Vec<_> = paths
        .chain(methods)
        .filter(|(effect, ..)| !homes(file).any(|allowed| allowed.contains(effect)))
        .map(|(effect, text, line)| {
            file.broken(Rule::Effect, line, format!("{text}: {effect:?} is not allowed here"))
        })
        .collect();
    let lifted = seen.excused_lints.iter().filter(|(lint, _)| {
        ["clippy::disallowed_methods", "clippy::disallowed_types"].contains(&lint.as_str())
    });
    if homes(file).next().is_none() {
        found.extend(lifted.map(|(lint, line)| {
            file.broken(Rule::Effect, *line, format!("{lint} must not be lifted here"))
        }));
    }
    found
}

fn homes(file: &SourceFile) -> impl Iterator<Item = &'static [Effect]> {
    let fits =
        |home: &str| file.path == home || (home.ends_with('/') && file.path.starts_with(home));
    HOMES.iter().filter(move |(home, ..)| fits(home)).map(|(_, effects, _)| *effects)
}

fn of_path(segments: &[String]) -> Option<Effect> {
    let last = segments.last()?.as_str();
    let owner = segments[..segments.len() - 1].last()?.as_str();
    match (owner, last) {
        ("fs", name) if FILE_FUNCTIONS.contains(&name) => Some(Effect::Files),
        ("fs", "*") => Some(Effect::Files),
        ("File", "create" | "create_new" | "options") => Some(Effect::Files),
        ("OFlags", "CREATE" | "TRUNC" | "WRONLY" | "RDWR" | "APPEND") => Some(Effect::Files),
        ("OpenOptions", "new") => Some(Effect::Files),
        ("Command" | "CommandWrap", "new" | "with_new") => Some(Effect::Process),
        ("Toolchain", "flash") => Some(Effect::Flash),
        ("SerialHub", "transmit" | "steer") => Some(Effect::Serial),
        ("process", "exit" | "abort") => Some(Effect::Exit),
        _ => None,
    }
}
