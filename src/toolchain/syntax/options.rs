//! Which words of a recorded compilation are handed to the compiler again.
//!
//! A compiler can be told by options to run programs and to write files anywhere. Those that change
//! how a source is read pass, those that only change what is made are left out; with any other the
//! compilation is not repeated at all, for its verdict could be wrong.

use std::path::{Path, PathBuf};

/// Specs that come with the compilers of ESP-IDF.
const SPECS: &[&str] =
    &["nano.specs", "nosys.specs", "newlib.specs", "picolibc.specs", "picolibcpp.specs"];

/// Options that name a folder of headers, in their next word or their rest.
const FOLDERS: &[&str] = &["-isystem", "-iquote", "-idirafter", "-I"];

/// Options that name a file that is read before the source.
const FILES: &[&str] = &["-include", "-imacros"];

/// Options that only change what is made, with their value in the next word.
const DROPPED_PAIRS: &[&str] = &["-o", "-MF", "-MT", "-MQ"];

/// Options without a value that change how a source is read.
const PLAIN: &str = "-w -ansi -pedantic -pedantic-errors -pthread -nostdinc -nostdinc++ -undef";

/// Options without a value that only change what is made.
const DROPPED: &[&str] =
    &["-c", "-S", "-E", "-pipe", "-nostdlib", "-nostartfiles", "-nodefaultlibs", "-s", "-v"];

/// Beginnings of `-f…` that make a compiler write further files.
const WRITING: &[&str] =
    &["dump", "stack-usage", "callgraph", "test-coverage", "profile", "lto", "save", "time-trace"];

/// Where the words of a compilation may lead.
pub(super) struct Places<'a> {
    /// Where the compiler ran, which relative paths start from.
    pub(super) directory: &'a Path,
    /// Folders whose files may be read before the source.
    pub(super) known: &'a [PathBuf],
}

/// The options to repeat a compilation of `source` with; `None` when it cannot be repeated.
/// `words` are those after the compiler, without files of further words.
pub(super) fn taken(words: &[String], source: &str, places: &Places<'_>) -> Option<Vec<String>> {
    let mut taken = Vec::new();
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if let Some((name, value)) = with_value(word, FOLDERS, &mut words) {
            taken.push(format!("{name}{}", places.directory.join(value?).to_str()?));
        } else if let Some((name, value)) = with_value(word, FILES, &mut words) {
            let path = places.directory.join(value?).canonicalize().ok()?;
            if !places.known.iter().any(|known| path.starts_with(known)) {
                return None;
            }
            taken.push(name.to_owned());
            taken.push(path.to_str()?.to_owned());
        } else if let Some((name, value)) = with_value(word, &["-D", "-U"], &mut words) {
            taken.push(format!("{name}{}", value?));
        } else if DROPPED_PAIRS.contains(&word) {
            words.next()?;
        } else if is_kept(word) {
            taken.push(word.to_owned());
        } else if !is_dropped(word) && word != source {
            return None;
        }
    }
    Some(taken)
}

/// The option that `word` is or begins with, and its value.
fn with_value<'a>(
    word: &'a str,
    names: &[&'static str],
    words: &mut impl Iterator<Item = &'a str>,
) -> Option<(&'static str, Option<&'a str>)> {
    let name = names.iter().find(|name| word.starts_with(**name))?;
    let rest = word.get(name.len()..)?;
    Some((name, if rest.is_empty() { words.next() } else { Some(rest) }))
}

fn is_kept(word: &str) -> bool {
    if PLAIN.split(' ').any(|plain| plain == word) || word.starts_with("-std=") {
        return true;
    }
    if let Some(name) = word.strip_prefix("-specs=").or_else(|| word.strip_prefix("--specs=")) {
        return SPECS.contains(&name);
    }
    let rest = |prefix| word.strip_prefix(prefix);
    if let Some(flag) = rest("-f") {
        return !flag.contains(['=', ',', '/']) && !WRITING.iter().any(|bad| flag.starts_with(bad));
    }
    if let Some(flag) = rest("-m") {
        // One of them loads a library by its name.
        return !flag.contains(['/', ',', '.']) && !flag.starts_with("dynconfig");
    }
    rest("-W").is_some_and(|flag| !flag.contains(','))
        || rest("-O").is_some_and(|level| level.chars().all(char::is_alphanumeric))
}

fn is_dropped(word: &str) -> bool {
    DROPPED.contains(&word)
        || ["-f", "-g", "-M", "-Wa,", "-Wl,", "-Wp,-M", "-mdynconfig=xtensa_esp32", "-l", "-L"]
            .iter()
            .any(|prefix| word.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(text: &str) -> Option<Vec<String>> {
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let known = [PathBuf::from(env!("CARGO_MANIFEST_DIR"))];
        let places = Places { directory: Path::new("/p/build"), known: &known };
        taken(&words, "/p/main/a.c", &places)
    }

    #[test]
    fn what_changes_how_a_source_is_read_passes_and_what_is_made_is_left_out() {
        let esp = "-mlongcalls -march=rv32imc_zicsr_zifencei -DA=\"b\" -D B -U C -Iconfig -I /x \
                   -isystem ../sys -specs=picolibc.specs -std=gnu17 -Wall -Werror=all -Og -w \
                   -fstrict-volatile-bitfields -fmacro-prefix-map=/p=. -fdump-tree-all -ggdb \
                   -Wp,-MD,x.d -MD -MT a.o -MF a.d -mdynconfig=xtensa_esp32s3.so -o a.o -c \
                   /p/main/a.c";
        assert_eq!(
            take(esp).unwrap(),
            [
                "-mlongcalls",
                "-march=rv32imc_zicsr_zifencei",
                "-DA=\"b\"",
                "-DB",
                "-UC",
                "-I/p/build/config",
                "-I/x",
                "-isystem/p/build/../sys",
                "-specs=picolibc.specs",
                "-std=gnu17",
                "-Wall",
                "-Werror=all",
                "-Og",
                "-w",
                "-fstrict-volatile-bitfields",
            ]
        );
    }

    #[test]
    fn with_what_could_run_or_mean_something_else_nothing_is_repeated() {
        for word in [
            "-B./bin",
            "-specs=./x.specs",
            "-specs=x",
            "-wrapper",
            "@file",
            "-Xclang",
            "-Xpreprocessor",
            "-x",
            "--sysroot=/x",
            "-isysroot",
            "-dumpbase",
            "-aux-info",
            "-mdynconfig=./x.so",
            "-Wp,-include,x",
            "-include /etc/passwd",
            "-include gone.h",
            "-imacros /etc/passwd",
            "other.c",
            "-I",
            "-D",
            "-o",
            "",
        ] {
            assert_eq!(take(word), None, "{word}");
        }
        assert_eq!(take("-fplugin=./evil.so -fplugin-arg-x=y").unwrap(), Vec::<String>::new());
        let own = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        assert_eq!(take(&format!("-include {own}")).unwrap(), ["-include", own]);
    }
}
