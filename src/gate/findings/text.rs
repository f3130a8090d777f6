//! The form of a text: does it parse, what hides in it, how is it encoded, how much changes.

use super::Subject;
use super::double_encoded;
use super::limit::limited;
use super::source::{SourceText, is_c, number};
use crate::model::{Check, CheckKind, Finding, FindingLevel, FindingPlace, ProjectPath};
use crate::text::c_tokens::Style;
use crate::text::confusables::{self, Reading};
use crate::text::inspect::{self, Charset, Located};
use crate::text::invisible::{Invisible, invisible};
use crate::text::posing_marks::{MarkReading, posing_marks};
use crate::text::reverty;
use crate::text::syntax::{self, Certainty, SyntaxError};
use crate::text::tree::Language;
use crate::workspace::ProjectDir;

/// Longest line of code that is quickly read, in bytes.
const LONGEST_LINE: usize = 4_000;

/// A file shorter than this is quickly read, however much of it changes.
const LONG: usize = 40;

/// The checks of a file's new content by itself, besides its syntax.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Vec<Check> {
    let mut found = Vec::new();
    let mut in_text = Vec::new();
    if let Some(text) = subject.text() {
        found.push(hidden(text));
        let reading = match syntax::language_of(path) {
            Some(Language::C | Language::Cpp) => Reading::Source,
            _ if path.extension() == Some("py") => Reading::Python,
            Some(_) | None => Reading::Words,
        };
        in_text = confusables::lookalikes(text, reading);
        in_text.extend(mark_reading(path).map_or_else(Vec::new, |of| posing_marks(text, of)));
        if path.extension().is_some_and(|end| PAGES.contains(&end)) {
            in_text.retain(|place| !is_apostrophe(text, place));
        }
        in_text.sort_by_key(|place| (place.line, place.column));
    }
    found.extend(lookalikes(path, in_text, subject.project_dir));
    found
}

/// Files of pages, whose texts in single quotes have the apostrophe of typesetting.
const PAGES: [&str; 6] = ["js", "mjs", "cjs", "ts", "json", "vue"];

/// Whether a mark stands between two letters, as in "l’eau".
fn is_apostrophe(text: &str, place: &Located) -> bool {
    let letters: Vec<char> =
        text.lines().nth(place.line.saturating_sub(1)).unwrap_or_default().chars().collect();
    let is_between = |at: usize| {
        let letter = |at: usize| letters.get(at).is_some_and(|c| c.is_alphabetic());
        letters.get(at) == Some(&'\u{2019}') && at > 0 && letter(at - 1) && letter(at + 1)
    };
    place.what.starts_with("U+2019")
        && (is_between(place.column) || is_between(place.column.saturating_sub(1)))
}

/// How marks in a file are read; `None` where all of it is prose.
fn mark_reading(path: &ProjectPath) -> Option<MarkReading> {
    let name = path.file_name();
    Some(match path.extension() {
        Some("md" | "rst" | "html" | "htm" | "css" | "svg" | "xml" | "po") => return None,
        Some("txt") if name != "CMakeLists.txt" && !name.starts_with("requirements") => {
            return None;
        }
        Some(
            "c" | "h" | "cc" | "hh" | "cpp" | "hpp" | "cxx" | "hxx" | "ino" | "inc" | "rs" | "js"
            | "ts" | "tpp" | "ipp",
        ) => MarkReading::Source(Style::C),
        Some("py" | "csv") => MarkReading::Source(Style::Python),
        _ if name.starts_with("sdkconfig") => MarkReading::Source(Style::Python),
        Some("txt" | "cmake" | "sh" | "bash" | "mk") => MarkReading::Script,
        None if matches!(name, "Makefile" | "GNUmakefile") => MarkReading::Script,
        Some(_) | None => MarkReading::Settings,
    })
}

/// The checks of the new content against what the file holds.
pub(super) fn compare(subject: &Subject<'_>) -> Vec<Check> {
    let mut encoding = encoding(subject.base, subject.content, &subject.context.person_words());
    encoding.findings.extend(double_encoded::find(subject));
    let mut found = vec![encoding];
    found.extend(line_ends(subject));
    let mut size = size(subject);
    size.findings.extend(long_line(subject));
    found.push(size);
    found
}

fn hidden(text: &str) -> Check {
    let finding = |Invisible { place, is_harmful }: Invisible| {
        let level = if is_harmful { FindingLevel::Stop } else { FindingLevel::Warning };
        let at = FindingPlace::columns(number(place.line), number(place.column), 1);
        Finding::new(level, format!("contains the invisible character {}", place.what)).at(at)
    };
    limited(CheckKind::Text, invisible(text).into_iter().map(finding).collect())
}

/// Whether the new content parses; `None` in a language that is not known, and for what is not text.
/// What did not parse before, at the same place, is not the fault of this change.
pub(super) fn parses(path: &ProjectPath, subject: &Subject<'_>) -> Option<Check> {
    let text = subject.text()?;
    if reverty::is_program(path.as_str()) {
        let known = subject.base_text().map(reverty::check).unwrap_or_default();
        let was_so = |fault: &reverty::Fault| {
            let line = subject.changed().line_before(fault.line);
            known.iter().any(|was| Some(was.line) == line && was.message == fault.message)
        };
        let found = |fault: reverty::Fault| {
            let is_known = was_so(&fault);
            let mut finding = self::fault(fault);
            if is_known {
                finding.level = FindingLevel::Note;
                finding.text.push_str(", unchanged");
            }
            finding
        };
        let faults = reverty::check(text).into_iter();
        return Some(limited(CheckKind::Parses, faults.map(found).collect()));
    }
    if path.extension() == Some("py") {
        return Some(python(path, text, subject));
    }
    syntax::language_of(path)?;
    let parsed = subject.source().and_then(SourceText::parsed);
    let Some(errors) = parsed.and_then(|parsed| parsed.errors(text)) else {
        let words = "takes too long to parse: only a compiler can check this";
        return Some(Check::of(CheckKind::Parses, FindingLevel::Note, words));
    };
    if errors.is_empty() {
        return Some(Check::clean(CheckKind::Parses));
    }
    let before = subject.base_text().and_then(|base| subject.base_parsed()?.errors(base));
    let known = before.unwrap_or_default();
    let was_so = |error: &SyntaxError| {
        let line = subject.changed().line_before(number(error.line));
        known.iter().any(|was| Some(number(was.line)) == line && was.message == error.message)
    };
    let is_certain = |error: &&SyntaxError| error.certainty == Certainty::Certain;
    let fresh = errors.iter().filter(is_certain).find(|error| !was_so(error));
    let first = fresh.or_else(|| errors.iter().find(is_certain)).or(errors.first())?;
    let (level, words) = match (fresh, first.certainty) {
        (Some(_), _) => (FindingLevel::Stop, format!("does not parse: {}", first.message)),
        (None, Certainty::Certain) => {
            (FindingLevel::Note, format!("does not parse: {}, unchanged", first.message))
        }
        (None, Certainty::Possible) => {
            (FindingLevel::Note, format!("only a compiler can check this: {}", first.message))
        }
    };
    let at = FindingPlace::columns(number(first.line), number(first.column), 1);
    Some(Check::with(CheckKind::Parses, vec![Finding::new(level, words).at(at)]))
}

/// Whether a file of Python parses. The person may know better: newer versions have more words.
fn python(path: &ProjectPath, text: &str, subject: &Subject<'_>) -> Check {
    let Some(error) = syntax::python_error(path, text) else {
        return Check::clean(CheckKind::Parses);
    };
    let line = number(error.line);
    let known = subject.base_text().and_then(|base| syntax::python_error(path, base));
    let was_so = known.is_some_and(|was| {
        Some(number(was.line)) == subject.changed().line_before(line)
            && was.message == error.message
    });
    let (level, words) = match was_so {
        true => {
            (FindingLevel::Note, format!("does not parse as Python: {}, unchanged", error.message))
        }
        false => (FindingLevel::Warning, format!("does not parse as Python: {}", error.message)),
    };
    let at = FindingPlace::columns(line, number(error.column), 1);
    Check::with(CheckKind::Parses, vec![Finding::new(level, words).at(at)])
}

/// A fault of a program in Reverty.
fn fault(fault: reverty::Fault) -> Finding {
    let at = FindingPlace::columns(fault.line, fault.column, 1);
    Finding::new(FindingLevel::Stop, fault.message).at(at).advice(fault.hint)
}

fn encoding(base: Option<&[u8]>, content: &[u8], task: &str) -> Check {
    let asks_for_it =
        ["bom", "byte order mark", "byte-order mark"].iter().any(|it| task.contains(it));
    let stop = |text: String| Check::of(CheckKind::Encoding, FindingLevel::Stop, text);
    let warning = |text: &str| Check::of(CheckKind::Encoding, FindingLevel::Warning, text);
    let now = inspect::charset(content);
    match now {
        Charset::Binary(at) => {
            return stop(format!("is not text: there is a NUL byte at offset {at}"));
        }
        Charset::Other(at) => return stop(format!("is not UTF-8 from offset {at} on")),
        Charset::Utf16 => return stop("is UTF-16, which compilers do not read".to_owned()),
        Charset::Utf8 | Charset::Utf8Bom => {}
    }
    match (base.map(inspect::charset), now) {
        (Some(Charset::Utf16), _) => warning("changes the encoding from UTF-16 to UTF-8"),
        (Some(Charset::Binary(_) | Charset::Other(_)), _) => {
            warning("changes the encoding to UTF-8")
        }
        (Some(Charset::Utf8Bom), Charset::Utf8) => match asks_for_it {
            true => Check::clean(CheckKind::Encoding),
            false => warning("removes the byte order mark at the start"),
        },
        (Some(Charset::Utf8) | None, Charset::Utf8Bom) => warning("adds a byte order mark"),
        _ => Check::clean(CheckKind::Encoding),
    }
}

/// A finding only when there is one: ends that change, or that are mixed.
fn line_ends(subject: &Subject<'_>) -> Option<Check> {
    let now = inspect::line_ends(subject.content);
    let was = subject.base.map(inspect::line_ends).unwrap_or_default();
    let task = subject.context.person_words();
    let is_asked_for = {
        let named = ["line end", "line-end", "crlf", "zeilenend", "fin de ligne", "fins de ligne"];
        let other = ["finales de línea", "fin de línea", "saltos de línea", "auf lf", "dos2unix"];
        named.iter().chain(&other).any(|words| task.contains(words))
    };
    // What differs in more than what ends its line is easily missed among the others.
    let first = subject.base.and(subject.changed().added.first());
    let differing = first.map_or(0, |_| subject.changed().added.len());
    let others = match differing {
        0 => String::new(),
        1 => ", of which 1 differs in more".to_owned(),
        more => format!(", of which {more} differ in more"),
    };
    let text = if was.crlf > 0 && was.lf == 0 && now.lf > 0 {
        format!("changes line ends from CRLF to LF in {} lines{others}", now.lf)
    } else if was.lf > 0 && was.crlf == 0 && now.crlf > 0 {
        format!("changes line ends from LF to CRLF in {} lines{others}", now.crlf)
    } else if now.lf > 0 && now.crlf > 0 {
        format!("mixes line ends: {} lines end with LF, {} with CRLF", now.lf, now.crlf)
    } else {
        return None;
    };
    let level = match is_asked_for && (now.lf == 0 || now.crlf == 0) {
        true => FindingLevel::Note,
        false => FindingLevel::Warning,
    };
    let mut finding = Finding::new(level, text);
    if let Some(first) = first.filter(|_| !others.is_empty()) {
        finding = finding.at(FindingPlace::line(*first));
    }
    Some(Check::with(CheckKind::LineEnds, vec![finding]))
}

/// A finding only when there is one. A name that reads like that of another file is wrong; other
/// such letters are worth a look.
fn lookalikes(
    path: &ProjectPath,
    in_text: Vec<Located>,
    project_dir: &ProjectDir,
) -> Option<Check> {
    let name = path.as_str();
    let reads = confusables::skeleton(name);
    let other = ProjectPath::new(&reads).ok();
    let other = other.filter(|other| reads != name && project_dir.is_file(other));
    let level = match (other, confusables::lookalikes(name, Reading::Words).is_empty()) {
        (Some(_), _) => Some(FindingLevel::Stop),
        (None, false) => Some(FindingLevel::Warning),
        (None, true) => None,
    };
    let letter = name.chars().find(|c| confusables::poses_as(*c).is_some());
    if let (Some(level), Some(c)) = (level, letter) {
        let text = format!("its name looks like `{reads}` but contains U+{:04X}", u32::from(c));
        return Some(Check::of(CheckKind::Lookalikes, level, text));
    }
    let says = |what: &str| format!("contains {what}");
    (!in_text.is_empty())
        .then(|| places(CheckKind::Lookalikes, FindingLevel::Warning, in_text, says))
}

fn size(subject: &Subject<'_>) -> Check {
    let Some(base) = subject.base else { return Check::clean(CheckKind::Size) };
    let lines = |bytes: &[u8]| bytes.split_inclusive(|&byte| byte == b'\n').count();
    let before = lines(base);
    if before < LONG || base == subject.content {
        return Check::clean(CheckKind::Size);
    }
    let removed = subject.changed().removed.len();
    let share = removed * 100 / before;
    let after = lines(subject.content);
    let is_split = after < before && stands_elsewhere(subject);
    let text = if is_split {
        return Check::clean(CheckKind::Size);
    } else if after * 2 < before {
        format!("removes {} of {before} lines", before - after)
    } else if share >= 60 && !is_same_but_for_blanks(base, subject.content) {
        format!("rewrites {removed} of {before} lines ({share} %)")
    } else {
        return Check::clean(CheckKind::Size);
    };
    Check::of(CheckKind::Size, FindingLevel::Warning, text)
}

/// Whether most of the lines that went stand in other files of the change, so that a file was split.
fn stands_elsewhere(subject: &Subject<'_>) -> bool {
    let Some(old) = subject.base_source() else { return false };
    let texts = subject.context.proposed.texts().filter(|(other, _)| *other != old.path);
    let lines: std::collections::HashSet<&str> =
        texts.flat_map(|(_, text)| text.lines().map(str::trim)).collect();
    let gone = subject.changed().removed.iter();
    let gone = gone.map(|line| old.line(usize::try_from(line - 1).unwrap_or(usize::MAX)).trim());
    let (stays, all) =
        gone.filter(|line| line.len() > 2).fold((0_usize, 0_usize), |(stays, all), line| {
            (stays + usize::from(lines.contains(line)), all + 1)
        });
    all > 0 && stays * 10 >= all * 6
}

/// A line of code or of a page that comes in and that is too long to read.
fn long_line(subject: &Subject<'_>) -> Option<Finding> {
    let is_page = |end: &str| matches!(end, "html" | "htm" | "css" | "md");
    let is_read = |path: &ProjectPath| is_c(path) || path.extension().is_some_and(is_page);
    let source = subject.source().filter(|source| is_read(source.path))?;
    let added = &subject.changed().added;
    let mut lines = (1..).zip(source.text.lines()).filter(|(line, _)| added.contains(line));
    let (line, text) = lines.find(|(_, text)| text.len() > LONGEST_LINE)?;
    let count = text.chars().count();
    let finding = Finding::new(FindingLevel::Warning, format!("has a line of {count} characters"));
    let at = FindingPlace::line(line);
    Some(finding.at(at).advice("Put data into a file of its own, or into lines that can be read."))
}

/// Whether two contents differ in white space alone, which is told as such.
fn is_same_but_for_blanks(one: &[u8], other: &[u8]) -> bool {
    let bare =
        |of: &'_ [u8]| of.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let (one, other): (Vec<u8>, Vec<u8>) = (bare(one), bare(other));
    one == other
}

/// A finding for each place.
fn places(
    kind: CheckKind,
    level: FindingLevel,
    places: Vec<Located>,
    says: impl Fn(&str) -> String,
) -> Check {
    let finding = |place: Located| {
        let at = FindingPlace::columns(number(place.line), number(place.column), 1);
        Finding::new(level, says(&place.what)).at(at)
    };
    limited(kind, places.into_iter().map(finding).collect())
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::{check, reported};
    use super::*;

    #[test]
    fn line_ends_that_the_task_asks_for_are_a_note() {
        let level = |task: &str, new: &str| {
            check(CheckKind::LineEnds, ("flash.bat", Some("a\nb\n"), new), task)?.level()
        };
        let asked = "flash.bat must have Windows line ends";
        assert_eq!(level(asked, "a\r\nb\r\n"), Some(FindingLevel::Note));
        assert_eq!(level(asked, "a\r\nb\n"), Some(FindingLevel::Warning), "only half of it");
        assert_eq!(level("say the port", "a\r\nb\r\n"), Some(FindingLevel::Warning));
        assert_eq!(level("end it with a newline", "a\r\nb\r\n"), Some(FindingLevel::Warning));
        assert_eq!(level("say the port", "a\nc\n"), None);
    }

    #[test]
    fn lines_that_differ_in_more_than_their_ends_are_pointed_at() {
        let found = |new: &str| {
            let change = ("main/a.c", Some("int a;\nint b = 5;\nint c;\n"), new);
            reported(CheckKind::LineEnds, change, "say the port")
        };
        let text = "changes line ends from LF to CRLF in 3 lines";
        assert_eq!(found("int a;\r\nint b = 5;\r\nint c;\r\n"), [format!("Warning 0: {text}")]);
        let more = format!("Warning 2: {text}, of which 1 differs in more");
        assert_eq!(found("int a;\r\nint b = 50;\r\nint c;\r\n"), [more]);
    }

    #[test]
    fn marks_are_read_as_the_kind_of_file_has_them() {
        let reading = |path: &str| mark_reading(&ProjectPath::new(path).unwrap());
        let (c, python) = (MarkReading::Source(Style::C), MarkReading::Source(Style::Python));
        for (paths, expected) in [
            (&["main/a.c", "a.hpp", "a.ino", "a.rs", "a.js"][..], Some(c)),
            (&["a.py", "partitions.csv", "sdkconfig", "sdkconfig.defaults"], Some(python)),
            (
                &[
                    "CMakeLists.txt",
                    "requirements.txt",
                    "a.cmake",
                    "a.sh",
                    "Makefile",
                    "GNUmakefile",
                ],
                Some(MarkReading::Script),
            ),
            (&["a.yml", "a.json", "Kconfig", "LICENSE"], Some(MarkReading::Settings)),
            (&["README.md", "notes.txt", "index.html", "a.css"], None),
        ] {
            for path in paths {
                assert_eq!(reading(path), expected, "{path}");
            }
        }
    }
}
