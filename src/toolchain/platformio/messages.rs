//! What PlatformIO itself says went wrong, beside what compilers and linkers say.
//!
//! Owns the forms in which `pio` and its SCons tell errors. Pure. Source: what PlatformIO Core 6.2
//! prints, and its lists of exceptions.

use std::path::Path;

use super::project::FILE;
use crate::model::{Diagnostic, Severity, UserError};
use crate::text::pattern::Pattern;
use crate::text::sanitize;

/// Lines that are kept at most; the first say what is wrong.
const MOST_LINES: usize = 200;

/// Bytes of a line that are kept.
const MOST_BYTES: usize = 1000;

/// What `pio` says before it fetches a platform, a tool or a library.
const FETCHING: &str = " Manager: Installing ";

/// Errors of the way to the registry, not of the project. One of them has no words of its own.
const OFFLINE: [&str; 2] = ["HTTPClientError", "InternetConnectionError"];

/// `NameOfException: words`, as Python programs end.
static EXCEPTION: Pattern = Pattern::new(r"^((?:\w+\.)*\w*(?:Error|Exception|Unknown\w+)): ?(.*)$");

/// A place in a script or in `platformio.ini`.
static PLACE: Pattern = Pattern::new(r#"^\s*[Ff]ile:? ["'](.+)["'], line:? (\d+)"#);

/// What only a build by PlatformIO prints.
const MARKS: [&str; 4] = [FETCHING, "[FAILED] Took ", "If you like PlatformIO", "PLATFORM: "];

/// Adds what PlatformIO itself says in the saved log of a build that failed.
pub fn add_messages(project: &Path, log: &[u8], found: &mut Vec<Diagnostic>) {
    let mut stated = PioMessages::default();
    stated.push(log);
    stated.keep();
    let text = String::from_utf8_lossy(log);
    let is_failed = text.contains("[FAILED] Took ")
        || (!text.contains("[SUCCESS] Took ") && stated.exception(project).is_some());
    if !is_failed || !MARKS.iter().any(|mark| text.contains(mark)) {
        return;
    }
    if let Some(offline) = stated.judge(project, found) {
        found.insert(0, Diagnostic { hint: offline.fix, ..error(&offline.why) });
    }
}

/// Keeps those lines of a build that are PlatformIO's own.
#[derive(Debug, Default)]
pub(super) struct PioMessages {
    line: Vec<u8>,
    lines: Vec<String>,
}

impl PioMessages {
    /// Takes more output.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            let space = MOST_BYTES.saturating_sub(self.line.len());
            self.line.extend_from_slice(part.get(..part.len().min(space)).unwrap_or_default());
            if part.ends_with(b"\n") {
                self.keep();
            }
        }
    }

    fn keep(&mut self) {
        let line = sanitize::log_line(&self.line).trim_end().to_owned();
        self.line.clear();
        if self.lines.len() < MOST_LINES && is_own(&line) {
            self.lines.push(line);
        }
    }

    /// Adds what was said to what the compilers said of a build that failed. An error is returned
    /// when nothing is wrong with the project.
    pub(super) fn judge(
        mut self,
        project: &Path,
        found: &mut Vec<Diagnostic>,
    ) -> Option<UserError> {
        self.keep();
        if let Some(error) = self.offline() {
            return Some(error);
        }
        found.retain(|one| !self.is_exception(one));
        found.iter_mut().for_each(advise);
        if !found.iter().any(|one| one.severity == Severity::Error) {
            let own = self.exception(project).or_else(|| self.last_word());
            found.insert(0, own.unwrap_or_else(|| error("PlatformIO failed without a message")));
        }
        None
    }

    /// Whether an error without a place repeats an exception, whose place is known here.
    fn is_exception(&self, one: &Diagnostic) -> bool {
        let repeats = |line: &String| {
            let found = EXCEPTION.captures(line);
            // What has no other name than that is read as any program's error.
            let has_name =
                found.and_then(|found| found.get(1)).is_some_and(|name| name.as_str() != "Error");
            has_name && line.trim_end_matches(':').ends_with(one.message.trim_end_matches(':'))
        };
        one.severity == Severity::Error && one.file.is_none() && self.lines.iter().any(repeats)
    }

    /// What could not be fetched.
    fn offline(&self) -> Option<UserError> {
        let at =
            self.lines.iter().position(|line| OFFLINE.iter().any(|name| line.starts_with(name)))?;
        let before = self.lines.iter().take(at).rev();
        let name = self.lines.get(at).and_then(|line| line.split(':').next()).unwrap_or_default();
        let what = before.into_iter().find_map(|line| Some(line.split_once(FETCHING)?.1));
        let what = what.map_or("what the project needs".to_owned(), |what| format!("`{what}`"));
        Some(UserError::new(
            super::project::WHAT,
            format!(
                "{what} is not installed, and PlatformIO's registry could not be reached ({name})"
            ),
            "Connect to the network and build again, or run `pio pkg install` in the project's folder while the network is available.",
        ))
    }

    /// What ended PlatformIO or a script, at the place in the project that it came from.
    fn exception(&self, project: &Path) -> Option<Diagnostic> {
        let (at, stated) = self
            .lines
            .iter()
            .enumerate()
            .find_map(|(at, line)| Some((at, EXCEPTION.captures(line)?)))?;
        let (name, words) = (stated.get(1)?.as_str(), stated.get(2)?.as_str());
        let words = words.strip_prefix(": ").unwrap_or(words).trim_end_matches(':');
        let mut places = self.lines.iter().filter_map(|line| place(project, line));
        // Calls are told from the outside inwards.
        let inner = places.next_back();
        let of_configuration = name.contains("Project")
            || name.contains("Env")
            || ["Platform", "Board", "Framework", "Package"].iter().any(|part| name.contains(part));
        let message = match (name.ends_with("InvalidProjectConfError"), words.split_once(": '")) {
            // It begins with the file's path, which is where the finding stands already.
            (true, Some((_, why))) => {
                format!("{FILE} is not understood: {}", why.trim_end_matches('\''))
            }
            _ if words.is_empty() => name.to_owned(),
            _ if of_configuration => words.to_owned(),
            _ => format!("{name}: {words}"),
        };
        let (file, line) = match inner {
            Some((file, line)) => (Some(file), Some(line)),
            None => (of_configuration.then(|| FILE.to_owned()), None),
        };
        let more = self.lines.get(at + 1).filter(|line| line.starts_with("Please "));
        let hint = more.cloned().or_else(|| of_package(name)).unwrap_or_default();
        Some(Diagnostic { file, line, hint, ..error(&message) })
    }

    /// What SCons could not make or find.
    fn last_word(&self) -> Option<Diagnostic> {
        let stated = self.lines.iter().find_map(|line| line.strip_prefix("*** "))?;
        let mut found = error(stated);
        if stated.starts_with("missing SConscript file") {
            found.file = Some(FILE.to_owned());
            found.hint = "the option `extra_scripts` names it".to_owned();
        }
        Some(found)
    }
}

/// Whether a line may be PlatformIO's own.
fn is_own(line: &str) -> bool {
    line.starts_with("*** ")
        || line.starts_with("Please ")
        || line.contains(FETCHING)
        || EXCEPTION.is_match(line)
        || PLACE.is_match(line)
}

/// The file of the project and the line that a line names.
fn place(project: &Path, line: &str) -> Option<(String, u32)> {
    let found = PLACE.captures(line)?;
    let file = Path::new(found.get(1)?.as_str());
    let inside = if file.is_absolute() { file.strip_prefix(project).ok()? } else { file };
    let is_own = !inside.starts_with(".pio");
    is_own.then_some((inside.to_string_lossy().into_owned(), found.get(2)?.as_str().parse().ok()?))
}

fn of_package(name: &str) -> Option<String> {
    (name.contains("Package") || name.contains("Platform"))
        .then(|| "`pio pkg search` lists packages of that name".to_owned())
}

/// Adds what to do where neither the compiler nor PlatformIO says it at the error.
fn advise(found: &mut Diagnostic) {
    let stated = &found.message;
    if let Some(header) = stated.strip_suffix(": No such file or directory")
        && [".h", ".hpp"].iter().any(|ending| header.ends_with(ending))
        && found.hint.is_empty()
    {
        found.hint = format!(
            "no library that the project uses has {header}: `pio pkg search \"header:{header}\"` \
             finds the library, `lib_deps` in {FILE} brings it"
        );
    } else if stated.starts_with("The program size ") && found.hint.is_empty() {
        found.hint = format!(
            "choose a partition table with a larger application, e.g. `board_build.partitions = \
             huge_app.csv` in {FILE}, or make the program smaller"
        );
    } else if stated.starts_with("Unknown board ID ") {
        found.file = Some(FILE.to_owned());
        found.hint = "`pio boards` lists the names of boards".to_owned();
    }
}

fn error(message: &str) -> Diagnostic {
    Diagnostic::new(Severity::Error, sanitize::line(message).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::diagnostics;

    fn judged(output: &str) -> Result<Vec<Diagnostic>, UserError> {
        let project = Path::new("/w/proj é");
        let mut stated = PioMessages::default();
        output.as_bytes().chunks(7).for_each(|part| stated.push(part));
        let mut found = diagnostics::parse(project, output.as_bytes());
        stated.judge(project, &mut found).map_or(Ok(found), Err)
    }

    fn first(output: &str) -> Diagnostic {
        judged(output).unwrap().remove(0)
    }

    #[test]
    fn a_missing_header_is_told_once_with_where_its_library_comes_from() {
        let found = judged(include_str!("../../../tests/data/platformio/header.txt")).unwrap();
        let [one] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((one.file.as_deref(), one.line), (Some("src/main.c"), Some(1)));
        assert!(one.hint.contains("\"header:Foo.h\"") && one.hint.contains("lib_deps"), "{one:?}");
    }

    #[test]
    fn what_is_wrong_in_the_configuration_stands_at_its_file() {
        let broken = first(include_str!("../../../tests/data/platformio/broken-ini.txt"));
        assert_eq!((broken.file.as_deref(), broken.line), (Some(FILE), Some(1)));
        assert!(broken.message.contains("no section headers"), "{broken:?}");
        for (stated, words) in [
            (
                "InvalidProjectConfError: Invalid '/w/proj é/platformio.ini' (project configuration file): 'No section: 'nix''\n",
                "No section",
            ),
            (
                "UndefinedEnvPlatformError: Please specify platform for 'x' environment\n",
                "Please specify platform",
            ),
            (
                "UnknownEnvNamesError: Unknown environment names 'b'. Valid names are 'a'\n",
                "Valid names",
            ),
            ("UnknownPackageError: Could not find the package with 'nix' requirements\n", "'nix'"),
            (
                "Verbose mode\nError: Unknown board ID 'nope'\n==== [FAILED] Took 1 seconds\n",
                "'nope'",
            ),
            (
                "*** missing SConscript file 'x.py'\nFile \"/pio/main.py\", line 167, in <module>\n",
                "x.py",
            ),
        ] {
            let found = first(stated);
            assert_eq!(found.file.as_deref(), Some(FILE), "{found:?}");
            assert!(found.message.contains(words), "{found:?}");
        }
    }

    #[test]
    fn a_script_that_fails_is_told_at_its_line() {
        let found = first(include_str!("../../../tests/data/platformio/script.txt"));
        assert_eq!((found.file.as_deref(), found.line), (Some("x.py"), Some(3)));
        assert_eq!(found.message, "ValueError: 1");
    }

    #[test]
    fn without_a_network_nothing_is_wrong_with_the_project() {
        let stated = "Platform Manager: Installing espressif32 @ 6.13.0\nHTTPClientError: \n";
        let error = judged(stated).unwrap_err();
        assert!(error.why.contains("`espressif32 @ 6.13.0`"), "{error:?}");
        assert!(
            error.why.contains("could not be reached") && error.fix.contains("pio pkg install")
        );
        let stated = "InternetConnectionError: You are not connected to the Internet.\n";
        assert!(judged(stated).is_err());
    }

    #[test]
    fn saved_logs_tell_what_platformio_said_when_the_build_failed() {
        let read = |log: &str| {
            let project = Path::new("/w/proj é");
            let mut found = diagnostics::parse(project, log.as_bytes());
            add_messages(project, log.as_bytes(), &mut found);
            let errors = found.into_iter().filter(|one| one.severity == Severity::Error);
            errors.map(|one| one.message).collect::<Vec<_>>()
        };
        let offline = "Tool Manager: Installing tool-x @ 1\nHTTPClientError: \n";
        assert!(matches!(&read(offline)[..], [one] if one.contains("`tool-x @ 1`")));
        let failed = "PLATFORM: Espressif 32\n==== [FAILED] Took 2 seconds ====\n";
        assert_eq!(read(failed).len(), 1);
        let target = "*** [src/a.o] Source `a.c' not found, needed by target `src/a.o'.\n\
                      === [FAILED] Took 2 seconds ===\n";
        assert_eq!(read(target), ["Source `a.c' not found, needed by target `src/a.o'."]);
        let passed = "PLATFORM: Espressif 32\nPlease wait\n=== [SUCCESS] Took 2 seconds ===\n";
        assert_eq!(read(passed), [""; 0]);
        assert_eq!(read("ValueError is a name\n"), [""; 0], "not of PlatformIO");
    }

    #[test]
    fn a_program_that_is_too_large_and_an_end_without_words_are_told() {
        let large = "Flash: [==========]  110.2% (used 1444113 bytes from 1310720 bytes)\nError: The \
                     program size (1444113 bytes) is greater than maximum allowed (1310720 bytes)\n\
                     *** [checkprogsize] Explicit exit, status 1\n";
        let found = first(large);
        assert!(
            found.message.contains("1444113") && found.hint.contains("partitions"),
            "{found:?}"
        );
        assert!(first("").message.contains("without a message"));
        assert_eq!(first("*** [.pio/build/a/firmware.elf] Error 1\n").file, None);
    }

    proptest::proptest! {
        #[test]
        fn whatever_a_failed_build_says_there_is_an_error_to_show(
            lines in proptest::collection::vec("(\\*\\*\\* |[A-Z]{1,4}Error: ?|  File \"/w/proj é/|Please |HTTPClientError: |Tool Manager: Installing )?\\PC{0,80}", 0..30),
        ) {
            if let Ok(found) = judged(&lines.join("\n")) {
                proptest::prop_assert!(found.iter().any(|one| one.severity == Severity::Error));
                proptest::prop_assert!(found.iter().all(|one| !one.message.contains('\n')));
            }
        }
    }

    #[test]
    fn undefined_references_are_not_drowned_by_scons() {
        let found = judged(include_str!("../../../tests/data/platformio/link.txt")).unwrap();
        let [one] = found.as_slice() else { panic!("{found:?}") };
        assert!(one.message.contains("undefined reference to `foo'"), "{one:?}");
    }
}
