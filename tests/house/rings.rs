//! Checks how the files of one top module name each other: no rings, and no type whose methods are
//! spread over several files.
//!
//! What is left of both is listed below and may only become less: an entry with a file that is no
//! longer needed fails the test too.

use std::collections::BTreeSet;
use std::path::Path;

use crate::floor_rules::rings::Ring;
use crate::floor_rules::slices::Slices;
use crate::floor_rules::{Graph, SourceFile, read_tree, rings, slices};

/// Files that are known to break a rule, and why they do.
struct Known {
    /// The type whose methods they hold; empty for a ring.
    name: &'static str,
    /// Paths below `src/`.
    files: &'static [&'static str],
    reason: &'static str,
}

/// Files that import each other.
const RINGS: &[Known] = &[
    Known {
        name: "",
        files: &["cli/full_screen.rs", "cli/mod.rs", "cli/monitor.rs", "cli/start.rs"],
        reason: "a command may lead to another one: leaving a session leads back to the start screen",
    },
    Known {
        name: "",
        files: &["toolchain/platformio/mod.rs", "toolchain/platformio/upload.rs"],
        reason: "the toolchain's own esptool belongs to its uploads",
    },
    Known {
        name: "",
        files: &[
            "ui/overlay/batch.rs",
            "ui/overlay/confirm.rs",
            "ui/overlay/context_files.rs",
            "ui/overlay/details.rs",
            "ui/overlay/editor.rs",
            "ui/overlay/frame.rs",
            "ui/overlay/help.rs",
            "ui/overlay/jump_to.rs",
            "ui/overlay/mod.rs",
            "ui/overlay/models.rs",
            "ui/overlay/palette.rs",
            "ui/overlay/plan.rs",
            "ui/overlay/preview.rs",
            "ui/overlay/question.rs",
            "ui/overlay/quit.rs",
            "ui/overlay/reverty_views.rs",
            "ui/overlay/rules.rs",
            "ui/overlay/run_overview.rs",
            "ui/overlay/search_field.rs",
            "ui/overlay/sources.rs",
            "ui/overlay/tags.rs",
            "ui/overlay/themes.rs",
            "ui/overlay/words.rs",
            "ui/pane.rs",
        ],
        reason: "what a dialog asks for may be another dialog",
    },
];

/// Types with methods in several files: none.
const SLICES: &[Known] = &[];

/// What is not known of, and what of `known` is no longer there. `found` has a name, its files,
/// and the words of its report.
fn report(found: &[(&str, BTreeSet<&str>, String)], known: &[Known]) -> Vec<String> {
    let fits = |entry: &Known, name: &str, files: &BTreeSet<&str>| {
        entry.name == name && files.iter().all(|file| entry.files.contains(file))
    };
    let new = found
        .iter()
        .filter(|(name, files, _)| !known.iter().any(|entry| fits(entry, name, files)))
        .map(|(_, _, text)| text.clone());
    let gone = known.iter().flat_map(|entry| {
        let there: BTreeSet<&str> = found
            .iter()
            .filter(|(name, files, _)| fits(entry, name, files))
            .flat_map(|(_, files, _)| files.iter().copied())
            .collect();
        let gone = entry.files.iter().filter(move |file| !there.contains(*file));
        gone.map(|file| format!("{file}: remove it from its entry ({})", entry.reason))
    });
    new.chain(gone).collect()
}

fn of_rings(found: &[Ring<'_>], known: &[Known]) -> Vec<String> {
    let found: Vec<_> =
        found.iter().map(|ring| ("", ring.files.clone(), ring.violation().to_string())).collect();
    report(&found, known)
}

fn of_slices(found: &[Slices<'_>], known: &[Known]) -> Vec<String> {
    let found: Vec<_> = found
        .iter()
        .map(|slices| {
            let files = slices.blocks.iter().map(|(file, _)| *file).collect();
            (slices.name.as_str(), files, slices.violation().to_string())
        })
        .collect();
    report(&found, known)
}

fn sources() -> Vec<SourceFile> {
    let files = read_tree(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(files.len() > 50, "found only {} source files", files.len());
    files
}

#[test]
fn files_of_a_module_do_not_import_each_other() {
    let files = sources();
    let report = of_rings(&rings::find(&Graph::new(&files)), RINGS);
    assert!(report.is_empty(), "{} findings:\n{}", report.len(), report.join("\n"));
}

#[test]
fn the_methods_of_a_type_are_in_one_file() {
    let files = sources();
    let report = of_slices(&slices::find(&Graph::new(&files)), SLICES);
    assert!(report.is_empty(), "{} findings:\n{}", report.len(), report.join("\n"));
}

/// Small programs that must be refused, and some that must not.
mod samples {
    use super::*;

    fn parse(files: &[(&str, &str)]) -> Vec<SourceFile> {
        let parse = |(path, text): &(&str, &str)| SourceFile::parse(path, (*text).to_owned());
        files.iter().map(|file| parse(file).unwrap()).collect()
    }

    /// The files of each ring in `files`.
    fn rings_of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let files = parse(files);
        let found = rings::find(&Graph::new(&files));
        found.iter().map(|ring| ring.files.iter().map(ToString::to_string).collect()).collect()
    }

    /// The name and the files of each type with methods in several of `files`.
    fn slices_of(files: &[(&str, &str)]) -> Vec<String> {
        let files = parse(files);
        let found = slices::find(&Graph::new(&files));
        found
            .iter()
            .map(|slices| {
                let files: Vec<_> = slices.blocks.iter().map(|(file, _)| *file).collect();
                format!("{} of {}: {}", slices.name, slices.home, files.join(" "))
            })
            .collect()
    }

    const PARENT: (&str, &str) = ("ui/mod.rs", "mod a;\nmod b;\nmod c;\n");

    #[test]
    fn two_files_that_import_each_other() {
        for (a, b) in [
            ("use super::b::B;", "use super::a::A;"),
            ("use crate::ui::b::B;", "fn f() { super::a::f(); }"),
            ("fn f(x: crate::ui::b::B) {}", "fn f() { say!(super::a::NAME); }"),
            ("use super::{b, c};", "use crate::ui::{a as first};"),
            ("use super::b::*;", "use super::a;"),
        ] {
            let files = [PARENT, ("ui/a.rs", a), ("ui/b.rs", b), ("ui/c.rs", "")];
            assert_eq!(rings_of(&files), [["ui/a.rs", "ui/b.rs"]], "{a} {b}");
        }
    }

    #[test]
    fn a_ring_by_way_of_others_and_two_rings_apart() {
        let files = [
            ("ui/mod.rs", "mod a;"),
            ("ui/a.rs", "use super::b::B; use super::c::C;"),
            ("ui/b.rs", "use super::c::C;"),
            ("ui/c.rs", "use super::a::A; use super::d::D;"),
            ("ui/d.rs", "use super::e::E; use super::f::F;"),
            ("ui/e.rs", "use super::d::D;"),
            ("ui/f.rs", ""),
        ];
        let both = [vec!["ui/a.rs", "ui/b.rs", "ui/c.rs"], vec!["ui/d.rs", "ui/e.rs"]];
        assert_eq!(rings_of(&files), both);
    }

    #[test]
    fn a_report_says_which_imports_close_the_ring() {
        let files = parse(&[
            ("ui/mod.rs", ""),
            ("ui/a.rs", "//! A.\nuse super::b::B;"),
            ("ui/b.rs", "//! B.\n\nuse super::a::A;"),
        ]);
        let text = rings::find(&Graph::new(&files))[0].violation().to_string();
        assert!(text.contains("src/ui/a.rs:2: ImportRing: 2 files"), "{text}");
        assert!(text.contains("ui/b.rs:3 names A of ui/a.rs"), "{text}");
    }

    #[test]
    fn a_parent_that_only_declares_and_passes_on_is_in_no_ring() {
        let parent = ("ui/mod.rs", "mod a;\nmod b;\npub use a::A;\npub(crate) use b::{B, f};\n");
        let files =
            [parent, ("ui/a.rs", "use super::B;\npub struct A;"), ("ui/b.rs", "pub struct B;")];
        assert!(rings_of(&files).is_empty());
    }

    #[test]
    fn a_name_that_the_parent_passes_on_stands_where_it_is_defined() {
        for parent in ["pub use a::A;", "use self::a::A;", "pub use a::*;", "pub use a::X as A;"] {
            let files = [
                ("ui/mod.rs", parent),
                ("ui/a.rs", "use crate::ui::b::B;\npub struct A;\npub struct X;"),
                ("ui/b.rs", "use super::A;\npub struct B;"),
            ];
            let found = rings_of(&files);
            assert!(
                found.iter().any(|ring| ring.contains(&"ui/b.rs".to_owned())),
                "{parent}: {found:?}"
            );
        }
        let through_two = [
            ("ui/mod.rs", "pub use panes::A;"),
            ("ui/panes/mod.rs", "mod a;\npub use a::A;"),
            ("ui/panes/a.rs", "use crate::ui::b::B;\npub struct A;"),
            ("ui/b.rs", "use super::A;\npub struct B;"),
        ];
        assert_eq!(rings_of(&through_two), [["ui/b.rs", "ui/panes/a.rs"]]);
    }

    #[test]
    fn a_parent_that_uses_its_children_is_no_home_of_what_they_share() {
        let child = ("ui/a.rs", "use super::Shared;\npub struct A;");
        for parent in [
            "mod a;\npub struct Shared;\nfn f() { a::start(); }",
            "mod a;\nuse a::A;\npub struct Shared(A);",
            "mod a;\npub use a::A;\npub struct Shared(A);",
        ] {
            assert_eq!(rings_of(&[("ui/mod.rs", parent), child]), [["ui/a.rs", "ui/mod.rs"]]);
        }
        let parent = "mod a;\npub use a::A;\npub struct Shared;";
        assert!(rings_of(&[("ui/mod.rs", parent), child]).is_empty());
    }

    #[test]
    fn tests_and_other_modules_do_not_count() {
        let back = "#[cfg(test)]\nmod tests { use super::super::a::A; }";
        let files = [PARENT, ("ui/a.rs", "use super::b::B;"), ("ui/b.rs", back)];
        assert!(rings_of(&files).is_empty());
        let parent = ("ui/mod.rs", "mod a;\n#[cfg(test)]\nmod b;\n");
        let files = [parent, ("ui/a.rs", "use super::b::B;"), ("ui/b.rs", "use super::a::A;")];
        assert!(rings_of(&files).is_empty());
        let files = [
            ("cli/mod.rs", "use crate::app::App;\npub struct Cli;"),
            ("app/mod.rs", "use crate::cli::Cli;\npub struct App;"),
        ];
        assert!(rings_of(&files).is_empty());
    }

    #[test]
    fn a_type_with_methods_in_two_files() {
        let home = ("ui/a.rs", "pub struct A<T>(T);\nimpl<T> A<T> { fn f(&self) {} }");
        for (import, name) in [
            ("use super::a::A;", "A<u8>"),
            ("use crate::ui::A;", "A<u8>"),
            ("", "super::A<u8>"),
            ("use super::a::A as B;", "B<u8>"),
        ] {
            let other = format!("{import}\nimpl {name} {{ fn g(&self) {{}} }}");
            let files = [("ui/mod.rs", "mod a; mod b; pub use a::A;"), home, ("ui/b.rs", &other)];
            assert_eq!(slices_of(&files).len(), 1, "{other}");
        }
        let other = ("ui/b.rs", "use super::a::A;\nimpl A<u8> { fn g(&self) {} }");
        assert_eq!(slices_of(&[PARENT, home, other]), ["A of ui/a.rs: ui/a.rs ui/b.rs"]);
    }

    #[test]
    fn traits_namesakes_and_tests_are_no_slices() {
        let home = ("ui/a.rs", "pub struct A;\nimpl A { fn f(&self) {} }\nimpl A { fn g() {} }");
        for other in [
            "use super::a::A;\nimpl Clone for A { fn clone(&self) -> A { A } }",
            "struct A;\nimpl A { fn g(&self) {} }",
            "use super::a::A;\n#[cfg(test)]\nimpl A { fn g(&self) {} }",
            "#[cfg(test)]\nmod tests { use super::super::a::A; impl A { fn g(&self) {} } }",
        ] {
            assert!(slices_of(&[PARENT, home, ("ui/b.rs", other)]).is_empty(), "{other}");
        }
    }

    #[test]
    fn what_is_known_may_only_become_less() {
        let known = |files| [Known { name: "", files, reason: "old" }];
        let found =
            |files: &[&'static str]| [("", files.iter().copied().collect(), "a ring".to_owned())];
        assert!(report(&found(&["a", "b"]), &known(&["a", "b"])).is_empty());
        assert_eq!(report(&found(&["a", "b", "c"]), &known(&["a", "b"]))[0], "a ring");
        let left = "b: remove it from its entry (old)";
        assert_eq!(report(&found(&["a", "c"]), &known(&["a", "b", "c"])), [left]);
        assert_eq!(report(&[], &known(&["b"])), [left]);
        let named = [Known { name: "X", files: &["a", "b"], reason: "old" }];
        assert_eq!(report(&found(&["a", "b"]), &named)[0], "a ring");
    }
}
