//! Errors in headers from elsewhere that come from what stands before them: a declaration without its
//! end.
//!
//! Owns how many errors of one include are listed, and the search for the code that is unfinished, in
//! the files of the project. A compiler notices such code at the next thing that it reads.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::compiler::Moved;
use super::finding::is_error;
use super::phrases::{PHRASES, begins_with_any};
use crate::files;
use crate::model::{Diagnostic, ProjectPath};
use crate::text::includes::IncludeName;
use crate::text::syntax;

/// So many errors of what one line includes are listed.
const MOST_OF_ONE: usize = 3;

/// So many headers are looked at for one error.
const MOST_HEADERS: usize = 64;

/// What GCC reports at a function without a body and without `;`, when it has read all that follows as
/// its parameters, and at each of them.
const OLD_STYLE: &str = "old-style parameter declarations in prototyped function definition";
const AS_PARAMETER: [&str; 3] =
    ["storage class specified for parameter ", "parameter ‘", "expected declaration specifiers "];

/// Lists no more errors of what one line includes than help, and first the declaration whose missing
/// end led to all of them, when the compiler names it. `moved` are the lines at which errors of what they
/// include are reported.
pub(super) fn condense(found: &mut Vec<Diagnostic>, moved: &Moved) {
    let is_moved = |one: &Diagnostic| {
        let place = one.file.clone().map(|file| (file, one.line));
        is_error(one) && one.column.is_none() && place.is_some_and(|place| moved.contains(&place))
    };
    if let Some(at) = found.iter().position(|one| one.message.starts_with(OLD_STYLE)) {
        let mut cause = found.remove(at);
        let before = found.len();
        found.retain(|one| !(is_moved(one) && is_of_parameters(&one.message)));
        let errors = before - found.len();
        if errors > 0 {
            cause.hint = format!(
                "a `;` is missing at the end of this declaration, or a body is: what follows is \
                 read as its parameters, with {errors} errors in headers"
            );
        }
        let first = found.iter().position(is_error).unwrap_or(0);
        found.insert(first, cause);
    }
    let mut places: Vec<(Option<String>, Option<u32>)> =
        found.iter().filter(|one| is_moved(one)).map(|one| (one.file.clone(), one.line)).collect();
    places.dedup();
    let mut done = HashSet::new();
    for place in places.into_iter().filter(|place| done.insert(place.clone())) {
        shorten(found, |one| is_moved(one) && one.file == place.0 && one.line == place.1);
    }
}

/// Whether it is stated of what is read as a parameter.
fn is_of_parameters(message: &str) -> bool {
    message.starts_with("expected ")
        || AS_PARAMETER.iter().any(|stated| message.starts_with(stated))
}

/// Leaves the first of those that belong together, when they are many.
fn shorten(found: &mut Vec<Diagnostic>, is_one: impl Fn(&Diagnostic) -> bool) {
    let total = found.iter().filter(|one| is_one(one)).count();
    let Some(first) = found.iter_mut().find(|one| is_one(one)).filter(|_| total > MOST_OF_ONE)
    else {
        return;
    };
    if first.hint.is_empty() {
        first.hint = format!(
            "{} more errors are in what this line includes; often something is missing before it",
            total - 1
        );
    }
    let mut is_first = true;
    found.retain(|one| !is_one(one) || std::mem::take(&mut is_first));
}

/// Code whose end is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Unfinished {
    file: String,
    line: u32,
    message: String,
}

/// Moves errors at lines that include headers from elsewhere to the code before them that is
/// unfinished, where the files of `project` show such code; names it in the advice for errors in the
/// first code after the includes.
pub(super) fn blame(project: &Path, found: &mut Vec<Diagnostic>) {
    let mut moved: Vec<Unfinished> = Vec::new();
    for one in found.iter_mut() {
        let is_after = begins_with_any(&one.message, &PHRASES.after_unfinished);
        let (Some(file), Some(line), true) = (&one.file, one.line, is_error(one) && is_after)
        else {
            continue;
        };
        let Some(text) = read(project, file) else { continue };
        let Some(above) = (line as usize).checked_sub(1) else { continue };
        let own = text.lines().nth(above).unwrap_or_default();
        let is_include = include(own).is_some() && one.column.is_none();
        let mut left = MOST_HEADERS;
        let Some(cause) = End { project, file }.unfinished(&text, above, is_include, &mut left)
        else {
            continue;
        };
        let hint =
            format!("{} is unfinished at line {}: {}", cause.file, cause.line, cause.message);
        if !is_include {
            if one.hint.is_empty() {
                one.hint = hint;
            }
            continue;
        }
        let stated =
            format!("the compiler says so in what {file}:{line} includes: {}", one.message);
        (one.file, one.line) = (Some(cause.file.clone()), Some(cause.line));
        (one.message, one.hint) = (cause.message.clone(), stated);
        moved.push(cause);
    }
    let mut seen = HashSet::new();
    let is_moved = |one: &Diagnostic| {
        moved.iter().any(|cause| {
            one.file.as_ref() == Some(&cause.file)
                && one.line == Some(cause.line)
                && one.message == cause.message
        })
    };
    found.retain(|one| {
        !is_moved(one) || seen.insert((one.file.clone(), one.line, one.message.clone()))
    });
}

fn read(project: &Path, file: &str) -> Option<String> {
    let path = ProjectPath::new(file).ok()?;
    syntax::language_of(&path)?;
    files::read_text(&project.join(file), files::SOURCE).ok()
}

/// What a line includes between quotes or brackets.
fn include(line: &str) -> Option<String> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
    IncludeName::bracketed(rest.trim_start()).map(|name| name.target)
}

/// The end of a file of the project, or of a part of it.
#[derive(Clone, Copy)]
struct End<'a> {
    project: &'a Path,
    file: &'a str,
}

impl End<'_> {
    /// The code at the end of the first `count` lines of `text` whose own end is missing: theirs when it
    /// `may_be_here`, else that of a header of the project which is included there. What stands before
    /// other code is not it: the compiler would have noticed it there.
    fn unfinished(
        self,
        text: &str,
        count: usize,
        may_be_here: bool,
        left: &mut usize,
    ) -> Option<Unfinished> {
        let lines: Vec<&str> = text.lines().take(count).map(str::trim).collect();
        for (at, line) in lines.iter().enumerate().rev() {
            if let Some(target) = include(line) {
                let found = header(self.project, self.file, &target)
                    .and_then(|file| End { project: self.project, file: &file }.of_header(left));
                if found.is_some() {
                    return found;
                }
                continue;
            }
            let before = lines.get(..at).and_then(|lines| lines.last());
            let closes_guard = *line == "}" && before.is_some_and(|line| line.starts_with("#if"));
            if !(line.is_empty() || line.starts_with('#') || is_comment(line) || closes_guard) {
                return self.here(text, count, at + 1).filter(|_| may_be_here);
            }
        }
        None
    }

    fn of_header(self, left: &mut usize) -> Option<Unfinished> {
        *left = left.checked_sub(1)?;
        let text = read(self.project, self.file)?;
        self.unfinished(&text, text.lines().count(), true, left)
    }

    /// What is unfinished at line `last`, where the code of the first `count` lines ends.
    fn here(self, text: &str, count: usize, last: usize) -> Option<Unfinished> {
        let path = ProjectPath::new(self.file).ok()?;
        let part: String = text.split_inclusive('\n').take(count).collect();
        let error = syntax::first_error(&path, &part)?;
        let is_at_end = error.line == last || error.message.ends_with(" is never closed");
        let line = u32::try_from(error.line).ok()?;
        is_at_end.then(|| Unfinished { file: self.file.to_owned(), line, message: error.message })
    }
}

fn is_comment(line: &str) -> bool {
    line.starts_with("//")
        || line.starts_with("/*") && !line.contains("*/")
        || line.starts_with('*')
        || line.ends_with("*/") && !line.contains(';')
}

/// The header of the project that an include of `file` names: next to it, or in the folders where
/// components keep theirs.
fn header(project: &Path, file: &str, target: &str) -> Option<String> {
    let sibling = Path::new(file).parent().unwrap_or(Path::new("")).join(target);
    let component = PathBuf::from(file.split_once('/').map_or("", |(first, _)| first));
    let mut folders = vec![component.clone(), component.join("include"), "include".into()];
    for parent in ["components", "lib"] {
        let entries = std::fs::read_dir(project.join(parent)).into_iter().flatten().flatten();
        let mut names: Vec<PathBuf> =
            entries.map(|entry| Path::new(parent).join(entry.file_name())).collect();
        names.sort();
        folders.extend(
            names
                .into_iter()
                .flat_map(|folder| [folder.join("include"), folder.join("src"), folder.clone()]),
        );
    }
    folders.extend(["main".into(), "main/include".into()]);
    let others = folders.into_iter().map(|folder| folder.join(target));
    std::iter::once(sibling)
        .chain(others)
        .filter_map(|path| ProjectPath::new(path.to_str()?).ok())
        .find(|path| project.join(path.as_str()).is_file())
        .map(|path| path.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::search::parse;
    use super::*;

    const HEADER: &str = "#pragma once\n#include \"esp_err.h\"\n\n";
    const SOURCE: &str = "#include \"net.h\"\n#include \"esp_log.h\"\n\nstatic int count;\n";

    /// A project with a header that ends so, and the errors of a log about it.
    fn errors(declaration: &str, log: &str) -> Vec<String> {
        let project = tempfile::tempdir().unwrap();
        let main = project.path().join("main");
        std::fs::create_dir_all(&main).unwrap();
        std::fs::write(main.join("net.h"), format!("{HEADER}{declaration}\n")).unwrap();
        std::fs::write(main.join("main.c"), SOURCE).unwrap();
        let log = log.replace("/p/", &format!("{}/", project.path().display()));
        let mut found = parse(project.path(), log.as_bytes());
        blame(project.path(), &mut found);
        let line = |one: &Diagnostic| {
            let (file, line) = (one.file.as_deref().unwrap_or_default(), one.line.unwrap_or(0));
            format!("{file}:{line} {}", one.message)
        };
        found.iter().filter(|one| is_error(one)).map(line).collect()
    }

    /// As GCC reports errors in a header of the C library.
    fn in_library(messages: &[&str]) -> String {
        let mut log = "In file included from /idf/esp_log.h:11,\n                 from \
                       /p/main/main.c:2:\n"
            .to_owned();
        for (line, message) in messages.iter().enumerate() {
            log.push_str(&format!("/usr/include/inttypes.h:{}:5: error: {message}\n", line + 30));
        }
        log
    }

    #[test]
    fn an_error_in_a_foreign_header_moves_to_the_declaration_before_it_that_has_no_end() {
        let typedef = in_library(&["expected ‘;’, identifier or ‘(’ before ‘typedef’"]);
        for (declaration, line) in [
            ("struct net { int a; }", 4),
            ("enum net {\n    A,\n    B\n}", 7),
            ("int net_count(void)", 4),
            ("typedef struct {\n    int a;\n", 4),
            ("extern int count", 4),
        ] {
            let found = errors(declaration, &typedef);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(
                found[0].starts_with(&format!("main/net.h:{line} ")),
                "{declaration} {found:?}"
            );
        }
        // A header whose end is whole has nothing to do with it, whatever else is unclear in it.
        for whole in [
            "int net_count(void);",
            "MAGIC(a b c) int x\nint net_count(void);",
            "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint a;\n#ifdef __cplusplus\n}\n#endif",
        ] {
            let found = errors(whole, &typedef);
            assert_eq!(found, ["main/main.c:2 expected ‘;’, identifier or ‘(’ before ‘typedef’"]);
        }
    }

    #[test]
    fn a_flood_from_one_declaration_is_told_as_that_declaration() {
        let storage: Vec<String> =
            (0..90).map(|n| format!("storage class specified for parameter ‘t{n}’")).collect();
        let mut log = in_library(&storage.iter().map(String::as_str).collect::<Vec<_>>());
        log.push_str(
            "In file included from /p/main/main.c:1:\n/p/main/net.h:4:5: error: old-style parameter \
             declarations in prototyped function definition\n/p/main/main.c:9: error: expected ‘{’ at \
             end of input\n",
        );
        let expected = [
            format!("main/net.h:4 {OLD_STYLE}"),
            "main/main.c:9 expected ‘{’ at end of input".to_owned(),
        ];
        assert_eq!(errors("int net_count(void)", &log), expected);
    }

    #[test]
    fn many_errors_of_one_include_are_one() {
        let messages: Vec<String> = (0..20).map(|n| format!("unknown type name ‘t{n}’")).collect();
        let log = in_library(&messages.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(errors("int a;", &log), ["main/main.c:2 unknown type name ‘t0’"]);
        // Another header of the same one: its list ends there.
        let mut nested = in_library(&["expected ‘;’ before ‘typedef’"]);
        nested.push_str(
            "In file included from /idf/esp_rom.h:13,\n                 from /idf/esp_log.h:13:\n\
             /idf/reset.h:9:1: error: unknown type name ‘a’\n",
        );
        assert_eq!(errors("int a;", &nested)[1], "main/main.c:2 unknown type name ‘a’");
        let few = in_library(&["unknown type name ‘a’", "unknown type name ‘b’"]);
        assert_eq!(errors("int a;", &few).len(), 2);
    }

    #[test]
    fn the_first_code_after_the_includes_keeps_its_place_and_gets_the_advice() {
        let project = tempfile::tempdir().unwrap();
        std::fs::write(project.path().join("net.h"), "struct net { int a; }\n").unwrap();
        std::fs::write(project.path().join("a.c"), "#include \"net.h\"\n\nint f(void);\n").unwrap();
        let mut found = vec![Diagnostic {
            file: Some("a.c".to_owned()),
            line: Some(3),
            column: Some(1),
            ..Diagnostic::new(
                crate::model::Severity::Error,
                "two or more data types in declaration specifiers".to_owned(),
            )
        }];
        blame(project.path(), &mut found);
        assert_eq!((found[0].file.as_deref(), found[0].line), (Some("a.c"), Some(3)));
        assert!(found[0].hint.starts_with("net.h is unfinished at line 1: "), "{found:?}");
        // A line that does not exist is nobody's.
        found[0].line = Some(0);
        found[0].hint.clear();
        blame(project.path(), &mut found);
        assert_eq!(found[0].hint, "");
    }

    #[test]
    fn code_of_the_source_itself_before_an_include_is_found() {
        let project = tempfile::tempdir().unwrap();
        let source = "struct z { int a; }\n#include <stdlib.h>\nint main(void) { return 0; }\n";
        std::fs::write(project.path().join("a.c"), source).unwrap();
        let log = format!(
            "In file included from {}/a.c:2:\n/usr/include/stdlib.h:56:1: error: expected ‘;’, \
             identifier or ‘(’ before ‘struct’\n",
            project.path().display()
        );
        let mut found = parse(project.path(), log.as_bytes());
        blame(project.path(), &mut found);
        assert_eq!((found[0].file.as_deref(), found[0].line), (Some("a.c"), Some(1)));
    }
}
