//! What a target of a makefile deletes, and whether a task names it.
//!
//! Must not know how heavy a command is.

use super::Subject;
use super::plain_values;
use super::subject::MOST_FILES;

/// Whether a command of a makefile only deletes what the project does not hold, in a folder that a task,
/// in small letters, names.
pub(super) fn are_named(command: &str, subject: &Subject<'_>, task: &str) -> bool {
    let makefile = subject.text().unwrap_or_default();
    let command = plain_values::of_make(command.trim(), makefile);
    let own = subject.source().and_then(|source| source.path.parent()).unwrap_or_default();
    let full = |path: &str| match own {
        "" => path.to_owned(),
        own => format!("{own}/{path}"),
    };
    // Files that are there, or are to be: what a run makes is not among them.
    let files = subject.files().iter().map(|file| &file.path);
    let files: Vec<&str> =
        files.chain(subject.context.proposed.paths()).map(|path| path.as_str()).collect();
    let holds = |path: &str| {
        let path = full(path.trim_end_matches('/'));
        let (folder, last) = path.rsplit_once('/').unwrap_or(("", &path));
        let (start, end) = last.split_once('*').unwrap_or((last, ""));
        let is_pattern = last.contains('*');
        files.iter().any(|file| {
            let Some(rest) = file.strip_prefix(folder) else { return false };
            let rest = rest.trim_start_matches('/');
            match is_pattern {
                true => rest.starts_with(start) && rest.ends_with(end),
                false => rest == last || rest.starts_with(&format!("{last}/")),
            }
        })
    };
    let mut words = command.split_whitespace();
    let is_rm = words.next().is_some_and(|program| program.trim_start_matches('@') == "rm");
    let is_of_path = |c: char| c.is_ascii_alphanumeric() || "_-./*".contains(c);
    let named: Vec<&str> =
        task.split(|c: char| !c.is_alphanumeric() && !"_-".contains(c)).collect();
    let mut paths = words.filter(|word| !word.starts_with('-')).peekable();
    let is_named = |path: &str| {
        let folder = path.split('/').next().unwrap_or_default();
        path.chars().all(is_of_path)
            && !path.contains("..")
            && !folder.is_empty()
            && !folder.contains(['*', '.'])
            && named.contains(&folder)
            && path.matches('*').count() <= usize::from(!path.ends_with('/'))
            && !path
                .trim_end_matches('/')
                .rsplit_once('/')
                .is_some_and(|(folders, _)| folders.contains('*'))
            && !holds(path)
    };
    // Of a project with more files than are listed nothing is known.
    let is_whole = subject.files().len() < MOST_FILES;
    is_whole && is_rm && paths.peek().is_some() && paths.all(is_named)
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::TestProject;
    use crate::model::CheckKind;

    #[test]
    fn what_a_target_deletes_is_wanted_where_the_task_names_it_and_the_project_does_not_hold_it() {
        let found = |command: &str, task: &str| {
            let text = format!("LOG_DIR := logs\n\nclean-logs:\n\t{command}\n");
            let files = [("main/main.c", "int a;\n"), ("logs/notes.md", "a\n")];
            TestProject { files: &files, task, chip: None }
                .reported(CheckKind::HostCode, &[("Makefile", Some(&text))])
                .iter()
                .filter(|found| !found.contains(" Note: "))
                .count()
        };
        let task = "Add make clean-logs, which removes the csv files in logs/; main stays";
        assert_eq!(found("rm -f $(LOG_DIR)/*.csv", task), 0);
        for command in [
            "rm -f logs/*",
            "rm -f logs/*.md",
            "rm -rf logs",
            "rm -rf main",
            "rm -rf main/*.c",
            "rm -rf logs/../main",
            "rm -f logs/*/notes.md",
            "rm -rf logs/*/",
            "rm -rf data",
            "rm -rf *",
            "rm -f /logs/*.csv",
        ] {
            assert_eq!(found(command, task), 1, "{command}");
        }
        assert_eq!(found("rm -f logs/*.csv", "Record the weights"), 1);
    }
}
