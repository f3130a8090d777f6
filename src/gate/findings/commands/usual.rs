//! Commands that do what everybody expects of them: `cargo` on the project's own sources, a variable
//! that gets a list of words.
//!
//! Must not judge programs by their names alone.

/// Whether a command only gives a variable several words: `envs="esp32dev lolin32"`.
pub(super) fn is_list_of_words(command: &str) -> bool {
    let Some((name, value)) = command.trim().split_once('=') else { return false };
    let inner = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    !name.is_empty()
        && name.chars().all(is_name)
        && inner.is_some_and(|inner| !inner.contains(['"', '`', '$', '\\']))
}

/// What `cargo` does with the project's own sources, as the build of ESP-IDF does.
const OF_CARGO: [&str; 7] = ["build", "check", "clippy", "test", "fmt", "doc", "run"];

/// Whether `cargo` works on the project with its own programs; alone it only tells its verbs.
pub(super) fn is_usual_cargo(arguments: &[&str]) -> bool {
    let is_other = |it: &&str| {
        ["--config", "--manifest-path", "-Z"].iter().any(|option| it.starts_with(option))
    };
    arguments.first().is_none_or(|verb| OF_CARGO.contains(verb)) && !arguments.iter().any(is_other)
}

/// Compilers that come with the system.
const COMPILERS: [&str; 6] = ["cc", "gcc", "g++", "c++", "clang", "clang++"];

/// Whether a compiler makes something of files of the project, without a program besides it.
pub(super) fn is_plain_compilation(program: &str, arguments: &[&str]) -> bool {
    let is_other = |it: &&str| {
        [
            "-fplugin",
            "-fuse-ld",
            "--ld-path",
            "--config",
            "-cc1",
            "-Wl,-plugin",
            "-Wl,--plugin",
            "-no-integrated-cpp",
            "-B",
            "-wrapper",
            "-specs",
            "--specs",
            "@",
            "-load",
            "-Xclang",
            "/",
            "~",
            "-L/",
            "-I/",
        ]
        .iter()
        .any(|start| it.starts_with(start))
            || it.contains(".git/")
    };
    COMPILERS.contains(&program) && !arguments.is_empty() && !arguments.iter().any(is_other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_is_usual_with_files_of_the_project() {
        let usual = ["-std=c11", "-fsanitize=address", "-Imain", "main/a.c", "-o", "build/test_a"];
        assert!(is_plain_compilation("cc", &usual));
        for other in
            ["-fplugin=x.so", "@args", "-specs=x", "/tmp/x.c", "-wrapper", ".git/hooks/pre-push"]
        {
            assert!(!is_plain_compilation("cc", &[&usual[..], &[other]].concat()), "{other}");
        }
        assert!(!is_plain_compilation("cc1", &usual) && !is_plain_compilation("cc", &[]));
    }

    #[test]
    fn a_list_of_words_runs_nothing() {
        assert!(is_list_of_words("envs=\"esp32dev lolin32\""));
        for other in
            ["envs=\"$(id)\"", "envs=\"`id`\"", "PATH=\"/tmp a\"", "a=\"b\" c=\"d\"", "envs=b c"]
        {
            assert!(!is_list_of_words(other), "{other}");
        }
    }

    #[test]
    fn cargo_is_usual_with_its_own_programs() {
        for usual in [&["build", "--release"][..], &["clippy"], &[]] {
            assert!(is_usual_cargo(usual), "{usual:?}");
        }
        for other in [
            &["install", "x"][..],
            &["build", "--manifest-path=/tmp/x"],
            &["run", "--config", "build.rustc-wrapper=x"],
            &["+nightly", "build"],
        ] {
            assert!(!is_usual_cargo(other), "{other:?}");
        }
    }
}
