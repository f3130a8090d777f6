//! New files that hold what another file held: moved, or copied, with a few lines changed on the
//! way.
//!
//! Owns what is alike. Names that follow the name of the file are no change.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use regex::Regex;

use super::subject::BUDGET;
use super::{Subject, wishes};
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};
use crate::text::diff::changed_lines;

/// Deleted files that are compared.
const MOST_DELETED: usize = 16;

/// Files of about this length that are read.
const MOST_READ: usize = 24;

/// Lines from which on a file is told from others.
const FEWEST_LINES: usize = 5;

/// Lines from which on a copy with changes is more than a form that many files have.
const FEWEST_OF_COPY: usize = 20;

/// Of 100 lines so many are the same in a file that was moved.
const MOVED: usize = 80;

/// From so many lines that go, of 100, a file holds something else.
const REPLACED: usize = 60;

/// From so many, of 100, a new file is looked at as a version of the one that goes.
const VERSION: usize = 50;

/// And so many in a copy of a file that stays.
const COPIED: usize = 90;

/// A content of which most lines are those of another file.
struct Likeness {
    from: ProjectPath,
    /// Lines that differ, in the longer version.
    differing: usize,
    /// The first of them in the new version, from 1.
    first: Option<u32>,
    /// What the other file held, with the names that changed.
    held: String,
}

/// What is to be said of a file whose lines another one held: a new one, or one that holds hardly
/// anything of what it held.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    let text = subject.text()?;
    if let Some(base) = subject.base_text() {
        let removed = &subject.changed().removed;
        let is_gone = |at: usize| u32::try_from(at + 1).is_ok_and(|line| removed.contains(&line));
        if !is_rewritten(base, is_gone) {
            return None;
        }
        let found = swapped(path, subject, (base, text));
        if let Some(found) = found.or_else(|| overwritten(path, subject, text)) {
            return Some(found);
        }
    } else if subject.base.is_some() {
        return None;
    }
    let renames = wanted_renames(&subject.context.task);
    let like = |(from, content): (ProjectPath, Arc<[u8]>), least: usize| {
        likeness((path, text), (from, std::str::from_utf8(&content).ok()?), (least, &renames))
    };
    let gone = gone(path, subject).into_iter().chain(replaced(path, subject));
    let moved = gone.filter_map(|gone| like(gone, MOVED));
    if let Some(found) = moved.min_by_key(|found| found.differing) {
        return Some(of_other(path, subject, &found).unwrap_or_else(|| of_moved(&found)));
    }
    if text.lines().count() < FEWEST_OF_COPY {
        return None;
    }
    let copied = alike(path, subject).filter_map(|file| like(file, COPIED));
    let copied = copied.min_by_key(|found| found.differing)?;
    let mut finding = of_copy(&copied);
    let task = subject.context.person_words();
    let is_named = |path: &ProjectPath| task.contains(&path.file_name().to_lowercase());
    if wishes::wants_copy(&task) && is_named(path) && is_named(&copied.from) {
        finding.level = FindingLevel::Note;
    }
    Some(finding)
}

/// What a file held that goes with the change and that a new one takes the place of, with the names that
/// changed; `None` where nothing else differs.
pub(super) fn version_before(path: &ProjectPath, subject: &Subject<'_>) -> Option<String> {
    let text = subject.text().filter(|_| subject.base.is_none())?;
    let renames = wanted_renames(&subject.context.task);
    let going = subject.context.proposed.gone().filter(|gone| gone.extension() == path.extension());
    let versions = going.take(MOST_DELETED).filter_map(|gone| {
        let held = String::from_utf8(subject.project_dir.read(gone).ok()?).ok()?;
        likeness((path, text), (gone.clone(), &held), (VERSION, &renames))
    });
    let nearest = versions.min_by_key(|version| version.differing)?;
    (nearest.differing > 0).then_some(nearest.held)
}

/// Another file of the change that gets what this one held, and whose content this one gets.
fn swapped(path: &ProjectPath, subject: &Subject<'_>, (was, is): (&str, &str)) -> Option<Finding> {
    let mut others = replaced(path, subject).into_iter();
    let (other, _) = others.find(|(other, held)| {
        **held == *is.as_bytes() && subject.text_after(other.as_str()).as_deref() == Some(was)
    })?;
    let text = format!("swaps its content with `{other}`");
    let advice = "The names stay, and what they stand for changes.";
    Some(Finding::new(FindingLevel::Warning, text).advice(advice))
}

/// Another file that the change makes hold the same as this one, which held something else.
fn overwritten(path: &ProjectPath, subject: &Subject<'_>, is: &str) -> Option<Finding> {
    let mut others = subject.context.proposed.paths().filter(|other| *other != path);
    let other = others.find(|other| subject.text_after(other.as_str()).as_deref() == Some(is))?;
    let text = format!("gets the content of `{other}` in the place of its own");
    let advice = "Make sure that what it held is no longer needed.";
    Some(Finding::new(FindingLevel::Warning, text).advice(advice))
}

/// The files that went in this session or go with this change, and what they held.
fn gone(path: &ProjectPath, subject: &Subject<'_>) -> Vec<(ProjectPath, Arc<[u8]>)> {
    let going = subject.context.proposed.gone().filter(|gone| *gone != path);
    let going = going
        .filter_map(|gone| Some((gone.clone(), Arc::from(subject.project_dir.read(gone).ok()?))));
    let deleted = subject.context.deleted_files();
    let deleted = deleted.map(|(deleted, content)| (deleted.path.clone(), content));
    going.chain(deleted).take(MOST_DELETED).collect()
}

/// The files that are rewritten beside this change, and what they hold now.
fn replaced(path: &ProjectPath, subject: &Subject<'_>) -> Vec<(ProjectPath, Arc<[u8]>)> {
    let others = subject.context.proposed.paths().filter(|other| *other != path);
    let rewritten = others.take(MOST_DELETED).filter_map(|other| {
        let was = subject.text_before(other.as_str())?;
        let is = subject.text_after(other.as_str())?;
        let gone = changed_lines(was.as_bytes(), is.as_bytes(), BUDGET).removed;
        let is_gone = |at: usize| gone.iter().any(|lines| lines.contains(&at));
        is_rewritten(&was, is_gone).then(|| (other.clone(), Arc::from(was.into_bytes())))
    });
    rewritten.collect()
}

/// Whether a file keeps hardly any line with words in it; lines are numbered from 0.
fn is_rewritten(was: &str, is_gone: impl Fn(usize) -> bool) -> bool {
    let has_words = |line: &str| line.chars().filter(|c| c.is_alphanumeric()).nth(2).is_some();
    let lines: Vec<usize> =
        was.lines().enumerate().filter(|(_, line)| has_words(line)).map(|(at, _)| at).collect();
    let gone = lines.iter().filter(|at| is_gone(**at)).count();
    lines.len() >= FEWEST_LINES && gone * 100 >= lines.len() * REPLACED
}

/// The files of the project of the same kind and about the same length, with what they hold.
fn alike<'a>(
    path: &'a ProjectPath,
    subject: &'a Subject<'_>,
) -> impl Iterator<Item = (ProjectPath, Arc<[u8]>)> {
    let bytes = subject.content.len() as u64;
    let near = bytes - bytes / 5..=bytes + bytes / 4;
    let files = subject.files().iter();
    let files = files.filter(move |file| near.contains(&file.bytes) && file.path != *path);
    let files = files.filter(move |file| file.path.extension() == path.extension());
    files.take(MOST_READ).filter_map(move |file| {
        let content = subject.project_dir.read(&file.path).ok()?;
        // What is exactly the same is told as such.
        (content != subject.content).then(|| (file.path.clone(), Arc::from(content)))
    })
}

/// The names that a task wants to become others: "rename `cfg_get()` to `settings_load()`".
fn wanted_renames(task: &str) -> Vec<(String, String)> {
    static RENAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let name = r"`?([A-Za-z_]\w*[A-Z_]\w*)(?:\(\))?`?";
        let any = r"`?([A-Za-z_]\w{2,})(?:\(\))?`?";
        let joined = format!(r"{name} (?:to|into|as|in|zu|nach|en|por|a|à) {name}");
        Regex::new(&format!(r"{joined}|{any} ?(?:->|=>|→) ?{any}")).ok()
    });
    let all = RENAME.iter().flat_map(|rename| rename.captures_iter(task));
    let pairs = all.filter_map(|found| {
        let mut names = found.iter().skip(1).flatten();
        Some((names.next()?, names.next()?))
    });
    pairs.map(|(was, is)| (was.as_str().to_owned(), is.as_str().to_owned())).collect()
}

/// How much of a text another file held; `None` when that is too little to tell.
fn likeness(
    (path, text): (&ProjectPath, &str),
    (from, held): (ProjectPath, &str),
    (least, renames): (usize, &[(String, String)]),
) -> Option<Likeness> {
    let (text, held) = (&*squeezed(&without_folders(text)), &*squeezed(&without_folders(held)));
    let held = &*renames.iter().fold(held.to_owned(), |held, (was, is)| held.replace(was, is));
    let (new, old) = (text.lines().count(), held.lines().count());
    let longer = new.max(old);
    if longer < FEWEST_LINES || new.min(old) * 100 < longer * least {
        return None;
    }
    // What shares few lines is not compared line by line.
    let shares = |held: &str| {
        let known: HashSet<&str> = held.lines().collect();
        text.lines().filter(|line| known.contains(line)).count() * 100 >= longer * least
    };
    if !shares(held) && !shares(&renamed(held, &from, path)) {
        return None;
    }
    let count = |ranges: &[Range<usize>]| ranges.iter().map(Range::len).sum::<usize>();
    let compared = |held: String, text: &str| {
        let found = changed_lines(held.as_bytes(), text.as_bytes(), BUDGET);
        let differing = count(&found.added).max(count(&found.removed));
        (differing, found.added.first().map(|lines| lines.start), held)
    };
    // Names that follow the name of the file may have changed with it, or have stayed, each of them.
    let followed = compared(renamed(held, &from, path), text);
    let may_stay = followed.0 > 0 && followed.2 != held;
    let stayed = may_stay.then(|| compared(held.to_owned(), text));
    let some = may_stay.then(|| compared(followed.2.clone(), &renamed(text, &from, path)));
    // The new name may hold the old one: `dosing_pump.c` with `pump_step()`.
    let back = may_stay.then(|| compared(held.to_owned(), &renamed(text, path, &from)));
    let all = [Some(followed), stayed, some, back];
    let nearest = all.into_iter().flatten().min_by_key(|found| found.0);
    let (differing, first, held) = nearest?;
    // Where lines only went, what stands there now tells it.
    let first = first.or_else(|| first_gone(&held, text)).filter(|_| differing > 0);
    let first = first.and_then(|line| u32::try_from(line + 1).ok());
    let is_like = (longer - differing) * 100 >= longer * least;
    is_like.then_some(Likeness { from, differing, first, held })
}

/// A text with single blanks within its lines: columns move with the names in them.
fn squeezed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        let (indent, rest) = line.split_at(indent);
        out.push_str(indent);
        let mut was_blank = false;
        for c in rest.chars() {
            let is_blank = c == ' ' || c == '\t';
            if !(is_blank && was_blank) {
                out.push(c);
            }
            was_blank = is_blank;
        }
    }
    out
}

/// A text with the headers that it includes by their names alone: what moves names them by another way.
fn without_folders(text: &str) -> Cow<'_, str> {
    static FOLDER: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"(?m)^([ \t]*#[ \t]*include[ \t]*")(?:[\w.-]+/)+"#).ok());
    FOLDER.as_ref().map_or(text.into(), |folder| folder.replace_all(text, "${1}"))
}

/// The first line, from 0, that is not what the other text has in its place.
fn first_gone(held: &str, text: &str) -> Option<usize> {
    let last = text.lines().count().checked_sub(1)?;
    let same = held.lines().zip(text.lines()).take_while(|(one, other)| one == other);
    Some(same.count().min(last))
}

/// What a file held with its name replaced by the new one, as a name and as it is written in
/// constants.
fn renamed(held: &str, from: &ProjectPath, to: &ProjectPath) -> String {
    let stem = |path: &ProjectPath| {
        let name = path.file_name();
        name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
    };
    let (from, to) = (stem(from), stem(to));
    if from == to || from.len() < 2 {
        return held.to_owned();
    }
    let capital = |name: &str| {
        let mut letters = name.chars();
        letters.next().map_or_else(String::new, |first| {
            first.to_uppercase().collect::<String>() + letters.as_str()
        })
    };
    let text = held.replace(&from, &to);
    let text = text.replace(&from.to_uppercase(), &to.to_uppercase());
    text.replace(&capital(&from), &capital(&to))
}

fn lines(differing: usize) -> String {
    match differing {
        1 => "1 line differs".to_owned(),
        more => format!("{more} lines differ"),
    }
}

/// A file that moves and gets what another one held that goes, too.
fn of_other(path: &ProjectPath, subject: &Subject<'_>, found: &Likeness) -> Option<Finding> {
    let mut going = subject.context.proposed.gone();
    let own = going.find(|gone| *gone != path && gone.file_name() == path.file_name())?;
    if *own == found.from || found.from.file_name() == path.file_name() || subject.base.is_some() {
        return None;
    }
    let text = format!("holds what `{}` held, and not what `{own}` held", found.from);
    let advice = "The names stay, and what they stand for changes.";
    Some(Finding::new(FindingLevel::Warning, text).advice(advice))
}

fn of_moved(found: &Likeness) -> Finding {
    let from = &found.from;
    match found.differing {
        0 => Finding::new(FindingLevel::Note, format!("holds what `{from}` held")),
        differing => {
            let text = format!("holds what `{from}` held, {}", lines(differing));
            with_place(Finding::new(FindingLevel::Warning, text), found)
        }
    }
}

fn of_copy(found: &Likeness) -> Finding {
    let from = &found.from;
    let text = match found.differing {
        0 => format!("is a copy of `{from}` under another name"),
        differing => format!("is a copy of `{from}`, {}", lines(differing)),
    };
    with_place(Finding::new(FindingLevel::Warning, text), found)
}

fn with_place(mut finding: Finding, found: &Likeness) -> Finding {
    finding.place = found.first.filter(|_| found.differing > 0).map(FindingPlace::line);
    finding.advice("Look at the lines that differ first; the others are not new.")
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::TestProject;
    use super::*;
    use crate::model::CheckKind;

    fn path(text: &str) -> ProjectPath {
        ProjectPath::new(text).unwrap()
    }

    /// A file of numbered lines with some of them replaced.
    fn text(count: usize, replaced: &[(usize, &str)]) -> String {
        let line = |number| {
            let found = replaced.iter().find(|(at, _)| *at == number);
            found.map_or_else(|| format!("int pump_{number};"), |(_, text)| (*text).to_owned())
        };
        (1..=count).map(|number| line(number) + "\n").collect()
    }

    fn of(held: &str, content: &str) -> Option<(usize, Option<u32>)> {
        let found =
            likeness((&path("main/valve.c"), content), (path("main/pump.c"), held), (MOVED, &[]));
        found.map(|found| (found.differing, found.first))
    }

    #[test]
    fn lines_that_differ_are_counted_and_names_that_follow_the_file_are_not() {
        let held = text(10, &[]);
        assert_eq!(of(&held, &held.replace("pump", "valve")), Some((0, None)));
        let renamed = |replaced: &[(usize, &str)]| text(10, replaced).replace("pump", "valve");
        assert_eq!(of(&held, &renamed(&[(4, "int b;")])), Some((1, Some(4))));
        assert_eq!(of(&held, &renamed(&[]).replace("valve_7", "pump_7")), Some((0, None)));
        assert_eq!(of(&held, &renamed(&[(4, "int b;"), (9, "int c;")])), Some((2, Some(4))));
        let three = renamed(&[(1, "a"), (4, "int b;"), (9, "int c;")]);
        assert_eq!(of(&held, &three), None, "70 of 100 lines are the same");
        let shorter = held.replace("pump", "valve").replace("int valve_6;\n", "");
        assert_eq!(of(&held, &shorter), Some((1, Some(6))));
        assert_eq!(of("a\nb\n", "a\nb\n"), None, "too short to tell");
    }

    /// What is found of the origin of files that change together.
    fn found(files: &[(&str, &str)], changes: &[(&str, Option<&str>)]) -> Vec<String> {
        let all = TestProject { files, task: "tidy the folders", chip: None }
            .reported(CheckKind::Origin, changes);
        all.into_iter()
            .filter(|found| found.contains("hold") || found.contains("content"))
            .collect()
    }

    #[test]
    fn files_that_change_places_are_told_from_files_that_move() {
        let (pump, valve) = (text(12, &[]), text(12, &[]).replace("int", "char"));
        let files = [("main/pump.c", pump.as_str()), ("main/valve.c", valve.as_str())];
        let moves = |one: &str, two: &str| {
            found(
                &files,
                &[
                    ("main/pump.c", None),
                    ("main/valve.c", None),
                    ("lib/pump.c", Some(one)),
                    ("lib/valve.c", Some(two)),
                ],
            )
        };
        assert_eq!(
            moves(&pump, &valve),
            [
                "lib/pump.c Note: holds what `main/pump.c` held",
                "lib/valve.c Note: holds what `main/valve.c` held"
            ]
        );
        assert_eq!(
            moves(&valve, &pump),
            [
                "lib/pump.c Warning: holds what `main/valve.c` held, and not what `main/pump.c` held",
                "lib/valve.c Warning: holds what `main/pump.c` held, and not what `main/valve.c` held",
            ]
        );
        let stays = [("main/pump.c", Some(valve.as_str())), ("main/valve.c", Some(pump.as_str()))];
        assert_eq!(
            found(&files, &stays),
            [
                "main/pump.c Warning: swaps its content with `main/valve.c`",
                "main/valve.c Warning: swaps its content with `main/pump.c`",
            ]
        );
    }

    #[test]
    fn a_file_under_another_name_is_compared_with_what_it_held() {
        let text = |name: &str, part: &str| {
            format!(
                "switch:\n  - platform: gpio\n    pin: GPIO10\n    id: {name}_element\n    \
                 restore_mode: ALWAYS_OFF\nsensor:\n  - platform: dallas_temp\n    id: {name}_temp\n    \
                 update_interval: 10s\n{part}"
            )
        };
        let range = |name: &str| {
            format!(
                "    on_value_range:\n      - above: 65\n        then:\n          - switch.turn_off: {name}_element\n"
            )
        };
        let old = text("boiler", &range("boiler"));
        let found = |new: &str| {
            let files = [("boiler.yaml", old.as_str())];
            let project = TestProject { files: &files, task: "rename boiler to tank", chip: None };
            let changes = [("boiler.yaml", None), ("tank.yaml", Some(new))];
            let all = project.findings(CheckKind::Safeguards, &changes).into_iter();
            all.map(|(_, found)| found.text).collect::<Vec<_>>()
        };
        let lost = found(&text("tank", ""));
        assert!(lost.iter().any(|found| found.contains("out of its range")), "{lost:?}");
        assert_eq!(found(&text("tank", &range("tank"))), [] as [String; 0]);
    }

    #[test]
    fn columns_that_move_with_names_are_no_difference() {
        assert_eq!(squeezed("#define A   1\n    b  = 2;\n"), "#define A 1\n    b = 2;\n");
        assert_eq!(squeezed("a\t\tb"), "a\tb");
    }

    #[test]
    fn names_that_the_task_wants_changed_are_told_from_it() {
        let pair = |was: &str, is: &str| vec![(was.to_owned(), is.to_owned())];
        let wanted = pair("cfg_get", "settings_load");
        assert_eq!(wanted_renames("Rename cfg_get() to settings_load() and the files"), wanted);
        assert_eq!(
            wanted_renames("`readTemp` in `readCelsius` umbenennen"),
            pair("readTemp", "readCelsius")
        );
        let both = [pair("Guard", "Overload"), pair("MAX_MA", "LIMIT_MA")].concat();
        assert_eq!(wanted_renames("rename it (Guard -> Overload, MAX_MA → LIMIT_MA)"), both);
        for none in ["Add a way to stop", "from one to two", "Move the led to another file"] {
            assert_eq!(wanted_renames(none), [], "{none}");
        }
    }

    #[test]
    fn a_file_that_gets_the_content_of_another_loses_its_own() {
        let (pump, valve) = (text(12, &[]), text(12, &[]).replace("int", "char"));
        let files = [("main/pump.c", pump.as_str()), ("main/valve.c", valve.as_str())];
        let changes = [
            ("main/flow.c", Some(valve.as_str())),
            ("main/pump.c", Some(valve.as_str())),
            ("main/valve.c", None),
        ];
        assert_eq!(
            found(&files, &changes),
            [
                "main/flow.c Note: holds what `main/valve.c` held",
                "main/pump.c Warning: gets the content of `main/flow.c` in the place of its own",
            ]
        );
        let few = text(12, &[(1, "int a;"), (2, "int b;")]);
        let edited = [("main/pump.c", Some(few.as_str())), ("main/valve.c", None)];
        assert_eq!(found(&files, &edited), [] as [String; 0], "it keeps most of its lines");
    }
}
