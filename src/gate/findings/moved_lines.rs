//! Parts of other files that come back in this one, changed on the way: a function that was moved,
//! a content that was swapped.
//!
//! Owns what is known again. Whole new files are the business of [`moved`](super::moved).

use std::borrow::Cow;
use std::cell::LazyCell;
use std::ops::Range;

use super::Subject;
use super::subject::BUDGET;
use crate::model::{Finding, FindingLevel, FindingPlace, ProjectPath};
use crate::text::diff::changed_lines;

/// Other changed files that are compared.
const MOST_FILES: usize = 12;

/// Longest file that is compared, in bytes.
const LONGEST: usize = 256 * 1024;

/// Lines with words in them from which on a part is known again.
const FEWEST_LINES: usize = 5;

/// Of 100 lines that went so many have to come back.
const SAME: usize = 70;

/// A part that went from another file and came into this one.
struct MovedPart {
    from: ProjectPath,
    lines: usize,
    differing: usize,
    /// The first line here that differs, or the first of the part, from 0.
    place: usize,
}

/// Lines of a text without what does not matter, each with its number from 0.
struct PlainLines {
    text: String,
    numbers: Vec<usize>,
}

impl PlainLines {
    /// The lines with words in them, of those that are `wanted`.
    fn of(text: &str, wanted: impl Fn(usize) -> bool) -> Self {
        let mut found = Self { text: String::new(), numbers: Vec::new() };
        for (number, line) in text.lines().enumerate().filter(|(number, _)| wanted(*number)) {
            let line = line.trim();
            let line = line.split(" //").next().unwrap_or(line).trim_end();
            let plain = ["pub(crate) ", "pub(super) ", "pub ", "static ", "inline ", "extern "]
                .iter()
                .fold(line, |line, word| line.strip_prefix(word).unwrap_or(line));
            let plain = unnamed(plain);
            if plain.chars().filter(|c| c.is_alphanumeric()).count() >= 3 {
                found.text.push_str(&plain);
                found.text.push('\n');
                found.numbers.push(number);
            }
        }
        found
    }
}

/// The head of a function without the name, which may be another one in another file.
fn unnamed(line: &str) -> Cow<'_, str> {
    let head = || {
        let (before, behind) = line.split_once('(')?;
        let (kind, name) = before.rsplit_once([' ', '*'])?;
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let is_kind = !kind.is_empty() && kind.chars().all(|c| is_name(c) || " *:<>".contains(c));
        let is_head = behind.ends_with(')') || behind.ends_with(") {");
        let is_other = ["return", "else", "case"].iter().any(|word| kind.starts_with(word));
        (is_kind && is_head && !is_other && name.chars().all(is_name) && !name.is_empty())
            .then(|| format!("{kind} ({behind}"))
    };
    head().map_or(Cow::Borrowed(line), Cow::Owned)
}

/// What is to be said of parts that another changed file has lost.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Finding> {
    let text = subject.text()?;
    let added = &subject.changed().added;
    if added.len() < FEWEST_LINES {
        return None;
    }
    let is_added =
        |number: usize| u32::try_from(number + 1).is_ok_and(|number| added.contains(&number));
    let here = LazyCell::new(|| PlainLines::of(text, is_added));
    let others = subject.context.proposed.paths().filter(|other| *other != path);
    let parts = others.take(MOST_FILES).filter_map(|other| {
        let was = subject.text_before(other.as_str()).filter(|text| text.len() <= LONGEST)?;
        let is = subject.text_after(other.as_str()).unwrap_or_default();
        let gone = changed_lines(was.as_bytes(), is.as_bytes(), BUDGET).removed;
        let parts = gone.into_iter().filter_map(|lines| part(&was, lines, (&here, text)));
        let part = parts.max_by_key(|part: &(usize, usize, usize)| (part.1.min(1), part.0));
        part.map(|(lines, differing, place)| MovedPart {
            from: other.clone(),
            lines,
            differing,
            place,
        })
    });
    parts.max_by_key(|part| (part.differing.min(1), part.lines)).map(|part| part.finding())
}

/// A run of lines that went, known again here: its length, the lines that differ, and where.
fn part(
    was: &str,
    lines: Range<usize>,
    (here, text): (&PlainLines, &str),
) -> Option<(usize, usize, usize)> {
    let gone = PlainLines::of(was, |number| lines.contains(&number));
    let count = gone.numbers.len();
    if count < FEWEST_LINES || here.numbers.len() < FEWEST_LINES {
        return None;
    }
    let found = changed_lines(gone.text.as_bytes(), here.text.as_bytes(), BUDGET);
    let missing: usize = found.removed.iter().map(Range::len).sum();
    if (count - missing) * 100 < count * SAME {
        return None;
    }
    // Between the first line that came and the last one.
    let total = here.numbers.len();
    let start = found.added.first().filter(|lines| lines.start == 0).map_or(0, |lines| lines.end);
    let end =
        found.added.last().filter(|lines| lines.end == total).map_or(total, |lines| lines.start);
    // A whole function between two others comes in addition.
    let is_own = |lines: &Range<usize>| {
        let at = |index: usize| here.numbers.get(index).copied();
        let ends = at(lines.start).zip(at(lines.end));
        ends.is_some_and(|(first, next)| is_function(text, first..next))
    };
    let inside = |lines: &&Range<usize>| lines.start >= start && lines.end <= end && !is_own(lines);
    let between = || found.added.iter().filter(inside);
    let differing = between().map(Range::len).sum::<usize>().max(missing);
    // Where lines only went, what stands there now tells it.
    let first_gone = found.removed.first().map_or(0, |lines| lines.start);
    let first = between().next().map_or(start + first_gone, |lines| lines.start);
    let place = *here.numbers.get(first.min(total - 1))?;
    (differing * 100 <= count * (100 - SAME) * 2).then_some((count, differing, place))
}

/// Whether lines of a text, from 0, hold a whole function and nothing else.
fn is_function(text: &str, lines: Range<usize>) -> bool {
    let all: Vec<&str> = text.lines().skip(lines.start).take(lines.len()).collect();
    let has_words = |line: &&&str| line.contains(|c: char| c.is_alphanumeric() || c == '}');
    let is_start = |line: &&str| line.starts_with(|c: char| c.is_alphabetic());
    let last = all.iter().rfind(has_words);
    let depth = all.iter().flat_map(|line| line.bytes()).try_fold(0_i32, |depth, byte| {
        let depth = depth + i32::from(byte == b'{') - i32::from(byte == b'}');
        (depth >= 0).then_some(depth)
    });
    let heads = all.iter().filter(|line| is_start(line) && line.contains('(')).count();
    heads == 1 && all.first().is_some_and(is_start) && last == Some(&"}") && depth == Some(0)
}

impl MovedPart {
    fn finding(&self) -> Finding {
        let (from, lines) = (&self.from, self.lines);
        let (level, text) = match self.differing {
            0 => (FindingLevel::Note, format!("holds {lines} lines that `{from}` held")),
            1 => (
                FindingLevel::Warning,
                format!("holds what `{from}` held, 1 of {lines} lines differs"),
            ),
            more => (
                FindingLevel::Warning,
                format!("holds what `{from}` held, {more} of {lines} lines differ"),
            ),
        };
        let line = u32::try_from(self.place + 1).unwrap_or(u32::MAX);
        Finding::new(level, text)
            .at(FindingPlace::line(line))
            .advice("Look at the lines that differ first; the others are not new.")
    }
}

#[cfg(test)]
mod tests {
    use super::super::FindingsContext;
    use super::*;
    use crate::model::{CheckKind, Draft, DraftChange};
    use crate::workspace::ProjectDir;

    const BODY: &str = "static void open_valve(int seconds)\n{\n    if (seconds > 30) {\n        \
                        seconds = 30;\n    }\n    relay_set(1);\n    timer_start(seconds);\n}\n";

    /// What the second file is told to hold, once the first has lost the function.
    fn reported(moved: &str) -> Vec<(FindingLevel, String, u32)> {
        let folder = tempfile::tempdir().unwrap();
        let old = format!("#include \"a.h\"\n\nint first(void)\n{{\n    return 1;\n}}\n\n{BODY}");
        std::fs::write(folder.path().join("a.c"), &old).unwrap();
        std::fs::write(folder.path().join("b.c"), "#include \"b.h\"\n\nint b(void);\n").unwrap();
        let project_dir = ProjectDir::open(folder.path()).unwrap();
        let draft = |name: &str, content: String| {
            let path = ProjectPath::new(name).unwrap();
            let base = project_dir.read(&path).ok();
            let change = DraftChange::Save { path, base, content: content.into_bytes() };
            Draft { change, reason: String::new(), checks: Vec::new() }
        };
        let rest = old.replace(BODY, "");
        let drafts = vec![
            draft("a.c", rest),
            draft("b.c", format!("#include \"b.h\"\n\nint b(void);\n\n{moved}")),
        ];
        let made = crate::gate::examine(&project_dir, drafts, &FindingsContext::default());
        let checks = made[1].checks.iter().filter(|check| check.kind == CheckKind::Origin);
        let found = checks.flat_map(|check| &check.findings);
        found
            .map(|f| (f.level, f.text.clone(), f.place.as_ref().map_or(0, |place| place.line)))
            .collect()
    }

    #[test]
    fn a_function_that_changes_on_its_way_is_found_at_the_change() {
        assert_eq!(
            reported(&BODY.replace("seconds > 30", "seconds > 3600")),
            [(FindingLevel::Warning, "holds what `a.c` held, 1 of 5 lines differs".to_owned(), 7)]
        );
        assert_eq!(
            reported(&BODY.replace("static ", "")),
            [(FindingLevel::Note, "holds 5 lines that `a.c` held".to_owned(), 5)]
        );
        let more =
            BODY.replace("    relay", "    while (busy()) {\n        wait(1);\n    }\n    relay");
        assert_eq!(
            reported(&more),
            [(FindingLevel::Warning, "holds what `a.c` held, 2 of 5 lines differ".to_owned(), 10)]
        );
        assert_eq!(
            reported("void other(void)\n{\n    int a = 1;\n    f(a);\n    g(a);\n    h(a);\n}\n"),
            []
        );
    }

    #[test]
    fn a_whole_function_is_told_from_a_part_of_one() {
        assert!(is_function(BODY, 0..BODY.lines().count()));
        assert!(is_function(&format!("{BODY}\n\n"), 0..BODY.lines().count() + 2));
        assert!(!is_function(BODY, 2..5) && !is_function(BODY, 0..3));
        assert!(!is_function(&format!("{BODY}{BODY}"), 0..BODY.lines().count() * 2));
        assert!(!is_function("int limit = 3;\n", 0..1));
    }
}
