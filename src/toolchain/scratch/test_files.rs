//! Which files of a project hold tests.

use super::c_sources::{has_main, is_source};
use super::folder::ScratchFolder;
use crate::model::ProjectPath;

/// Bytes of a source that are looked at.
const LIMIT: u64 = 1 << 20;

/// The files with tests in Python: those that were named, else those whose names say so.
pub fn python(scratch: &ScratchFolder, paths: &[ProjectPath]) -> Vec<String> {
    let is_test = |path: &str| {
        let stem = path.rsplit('/').next().unwrap_or(path).strip_suffix(".py");
        stem.is_some_and(|stem| {
            stem.starts_with("test_")
                || stem.ends_with("_test")
                || stem == "tests"
                || stem == "test"
        })
    };
    chosen(scratch, paths, |path| path.ends_with(".py"), is_test)
}

/// The sources with tests in C or C++, in the same way.
pub fn c(scratch: &ScratchFolder, paths: &[ProjectPath]) -> Vec<String> {
    let is_named = |path: &str| {
        let mut parts: Vec<&str> = path.split('/').collect();
        let stem = parts.pop().and_then(|name| name.split('.').next()).unwrap_or_default();
        let is_below = parts.iter().any(|folder| {
            ["test", "tests", "host_test", "unit_tests", "test_apps"].contains(folder)
        });
        let words = ["test_", "Test"].iter().any(|word| stem.starts_with(word));
        is_below || words || stem.ends_with("_test") || stem.ends_with("_tests")
    };
    let is_test = |path: &str| {
        let text = || scratch.text(path, LIMIT).unwrap_or_default();
        is_source(path) && is_named(path) && has_tests(&text())
    };
    chosen(scratch, paths, is_source, is_test)
}

/// Whether a source is a test program or can be made one; a helper of tests is neither.
fn has_tests(text: &str) -> bool {
    if text.contains("app_main(") {
        return text.contains("unity.h") && text.contains("RUN_TEST(");
    }
    has_main(text)
        || text.contains("TEST_CASE(")
        || text.contains("criterion/")
        || (text.contains("unity.h") && text.contains("void test"))
}

fn chosen(
    scratch: &ScratchFolder,
    paths: &[ProjectPath],
    is_language: impl Fn(&str) -> bool,
    is_test: impl Fn(&str) -> bool,
) -> Vec<String> {
    let all = scratch.files().map(ProjectPath::as_str);
    let named = |path: &str| paths.iter().any(|wanted| wanted.as_str() == path);
    let below = |path: &str| {
        paths.is_empty() || paths.iter().any(|folder| path.starts_with(&format!("{folder}/")))
    };
    all.filter(|path| (named(path) && is_language(path)) || (below(path) && is_test(path)))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_found_by_name_or_named() {
        let mut scratch = ScratchFolder::new().unwrap();
        for (path, text) in [
            ("test/test_ring.c", "#include \"unity.h\"\nvoid test_a(void)\n{\n}\n"),
            ("test/helper.c", "int helper(void)\n{ return 1; }\n"),
            ("host_test/list.cpp", "int main()\n{ return 0; }\n"),
            ("main/main.c", "void app_main(void)\n{\n}\n"),
            ("main/test_mode.c", "void app_main(void)\n{\n}\n"),
            ("test_apps/main.c", "#include \"unity.h\"\nvoid app_main(void)\n{\nRUN_TEST(a);\n}\n"),
            ("tools/test_pack.py", ""),
            ("tools/pack.py", ""),
        ] {
            scratch.put(&ProjectPath::new(path).unwrap(), text.as_bytes()).unwrap();
        }
        let path = |text: &str| ProjectPath::new(text).unwrap();
        assert_eq!(
            c(&scratch, &[]),
            ["host_test/list.cpp", "test/test_ring.c", "test_apps/main.c"]
        );
        assert_eq!(c(&scratch, &[path("test")]), ["test/test_ring.c"]);
        assert_eq!(c(&scratch, &[path("test/helper.c")]), ["test/helper.c"]);
        assert_eq!(python(&scratch, &[]), ["tools/test_pack.py"]);
        assert_eq!(python(&scratch, &[path("tools/pack.py")]), ["tools/pack.py"]);
        assert!(python(&scratch, &[path("main")]).is_empty());
    }
}
