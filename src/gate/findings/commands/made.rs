//! What builds, tests and their reports make in the folder of a project, by names alone.
//!
//! Must not know which files a project holds.

/// What a build makes in the folder itself, by its name: `test_pump`, `$(TARGET)`, `*.o`.
pub(super) fn is_made_here(argument: &str) -> bool {
    const ENDS: [&str; 12] =
        ["o", "d", "a", "so", "bin", "elf", "map", "hex", "gcda", "gcno", "out", "exe"];
    const VARIABLES: [&str; 8] = ["TARGET", "BIN", "OBJ", "OBJS", "PROG", "OUT", "EXE", "TEST"];
    if let Some(name) = argument.strip_prefix("${").and_then(|name| name.strip_suffix('}')) {
        return VARIABLES.contains(&name);
    }
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let (stem, end) = argument.rsplit_once('.').map_or((argument, None), |(s, e)| (s, Some(e)));
    let is_stem = stem == "*" && end.is_some() || !stem.is_empty() && stem.chars().all(is_plain);
    is_stem && !stem.starts_with('-') && end.is_none_or(|end| ENDS.contains(&end))
}

/// What a build, its tests and their reports make in the folder of the project, by its name.
pub(super) fn is_of_build(argument: &str) -> bool {
    const MADE: [&str; 12] = [
        "sdkconfig",
        "sdkconfig.old",
        "managed_components",
        "dependencies.lock",
        "coverage",
        "htmlcov",
        "cmake-build",
        "_build",
        ".pio",
        ".pytest_cache",
        "__pycache__",
        "target",
    ];
    if argument.starts_with('-') {
        return true;
    }
    let path = argument.trim_end_matches('/');
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    // `build_scripts` is none.
    const KINDS: [&str; 26] = [
        "host", "test", "debug", "release", "esp", "s2", "s3", "c2", "c3", "c5", "c6", "h2", "p4",
        "qemu", "native", "linux", "sim", "unit", "ci", "asan", "cov", "x86", "arm", "prod", "dev",
        "rev",
    ];
    let kind = ["build-", "build_", "build.", "cmake-build-"]
        .iter()
        .find_map(|start| first.strip_prefix(start));
    let is_build = first == "build"
        || kind.is_some_and(|kind| KINDS.iter().any(|known| kind.starts_with(known)));
    (is_build || MADE.contains(&first))
        && first.chars().all(is_plain)
        && !rest.contains("..")
        && !first.contains("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_build_makes_is_known_by_its_name() {
        for made in ["build", "build/", "build-host", "build_s3/app", "coverage", "-rf", ".pio"] {
            assert!(is_of_build(made), "{made}");
        }
        for other in [
            "main",
            "build/../main",
            "build..",
            "/build",
            "~/build",
            "build*",
            "builder",
            "build_scripts",
        ] {
            assert!(!is_of_build(other), "{other}");
        }
    }
}
