//! Checks the sources against the house rules: floors, shapes, and where effects may be.
//!
//! The floors are read from the documentation of `src/lib.rs`, so the picture there stays true.
//! What a rule lets pass is listed below with its reason; an entry that is no longer needed fails
//! the test too.

use std::path::{Path, PathBuf};

use crate::floor_rules::{Floors, Rule, SourceFile, Violation, check, read_tree};

/// A place where a rule does not hold, and why.
struct Exception {
    /// Path below `src/`.
    file: &'static str,
    rule: Rule,
    /// What the violation's text must contain.
    about: &'static str,
    reason: &'static str,
}

/// Every exception there is.
const EXCEPTIONS: &[Exception] = &[
    Exception {
        file: "engine/team/format.rs",
        rule: Rule::StructSize,
        about: "PhaseFile",
        reason: "one field for each key a phase may have in a team's file",
    },
    Exception {
        file: "engine/team/format.rs",
        rule: Rule::StructSize,
        about: "ConditionFile",
        reason: "one field for each condition a team's file may name",
    },
];

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

#[test]
fn the_sources_keep_the_house_rules() {
    let files = read_tree(&src());
    assert!(files.len() > 50, "found only {} source files", files.len());
    let floors = Floors::from_docs(&std::fs::read_to_string(src().join("lib.rs")).unwrap());
    let (excused, broken): (Vec<_>, Vec<_>) =
        check(&files, &floors).into_iter().partition(|violation| exception_of(violation).is_some());
    let stale: Vec<_> = EXCEPTIONS
        .iter()
        .filter(|exception| !excused.iter().any(|violation| excuses(exception, violation)))
        .map(|exception| {
            format!("{}: exception is not needed: {}", exception.file, exception.reason)
        })
        .collect();
    let report: Vec<_> = broken.iter().map(ToString::to_string).chain(stale).collect();
    assert!(report.is_empty(), "{} broken rules:\n{}", report.len(), report.join("\n"));
}

#[test]
fn every_module_of_the_library_has_a_floor() {
    let lib = std::fs::read_to_string(src().join("lib.rs")).unwrap();
    let floors = Floors::from_docs(&lib);
    let base = std::fs::read_to_string(src().join("base.rs")).unwrap();
    let named = |text: &str| -> Vec<String> {
        let lines =
            text.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
        lines.map(str::to_owned).collect()
    };
    let (lower, upper) = (named(&base), named(&lib));
    assert!(lower.len() > 10 && upper.len() > 4, "{lower:?} {upper:?}");
    for name in lower.iter().chain(&upper) {
        let floor = floors.of(name);
        assert!(floor.is_some(), "{name} is not in the floors of src/lib.rs");
        let is_low = floor < floors.of("gate");
        assert_eq!(is_low, lower.contains(name), "{name}: F0 and F1 are in src/base.rs, no other");
    }
    assert!(floors.of("model") < floors.of("view") && floors.of("view") < floors.of("ui"));
}

/// The project's folder with the right to write in it: what is asked for it is an effect.
#[test]
fn only_the_gate_gets_the_folder_for_effects() {
    let files = read_tree(&src());
    let names_it = |file: &&SourceFile| file.text.contains("dir_for_effects");
    let all: Vec<_> = files.iter().filter(names_it).map(|file| file.path.as_str()).collect();
    let strangers: Vec<_> = all
        .iter()
        .filter(|path| !path.starts_with("gate/") && **path != "workspace/project_dir.rs")
        .collect();
    assert!(all.len() > 1 && strangers.is_empty(), "{all:?}");
}

fn exception_of(violation: &Violation) -> Option<&'static Exception> {
    EXCEPTIONS.iter().find(|exception| excuses(exception, violation))
}

fn excuses(exception: &Exception, violation: &Violation) -> bool {
    exception.file == violation.file
        && exception.rule == violation.rule
        && violation.detail.contains(exception.about)
}

/// Snippets that must be refused, so that no rule passes because it looks at nothing.
mod refusals {
    use super::*;

    fn floors() -> Floors {
        Floors::from_docs(
            "//! - F0 [`model`], [`text`], [`files`]: words.\n//! - F1 [`journal`], [`config`],\n\
             //!   [`view`], [`toolchain`].\n//! - F2 [`tools`], [`gate`].\n//! - F3 [`engine`], [`ui`]: x.\n\
             //! - F4 [`app`], [`cli`].\n",
        )
    }

    fn rules_broken(path: &str, body: &str) -> Vec<Rule> {
        let file = SourceFile::parse(path, format!("//! Doc.\n{body}")).unwrap();
        check(&[file], &floors()).into_iter().map(|violation| violation.rule).collect()
    }

    #[track_caller]
    fn refused(path: &str, body: &str, rule: Rule) {
        assert_eq!(rules_broken(path, body), [rule], "{path}: {body}");
    }

    #[track_caller]
    fn passes(path: &str, body: &str) {
        assert_eq!(rules_broken(path, body), [], "{path}: {body}");
    }

    #[test]
    fn upward_imports() {
        refused("view/mod.rs", "use crate::engine::Run;", Rule::Floor);
        refused("gate/queue.rs", "use crate::{model::Seq, ui::Theme};", Rule::Floor);
        refused("view/chat.rs", "use super::super::engine::Run;", Rule::Floor);
        refused("gate/queue.rs", "fn f() { crate::engine::run(); }", Rule::Floor);
        refused("gate/queue.rs", "fn f(x: Vec<crate::ui::Theme>) {}", Rule::Floor);
        refused("gate/queue.rs", "fn f() { let _ = vec![crate::ui::new()]; }", Rule::Floor);
        refused("gate/queue.rs", "mod inner { use super::super::super::ui::Theme; }", Rule::Floor);
        refused("model/mod.rs", "use firmhand::engine::Run;", Rule::Floor);
        refused("tools/mod.rs", "fn f() { use crate::engine::Run; }", Rule::Floor);
        passes("engine/run.rs", "use crate::gate::Desk; use super::turn::Turn;");
        passes("engine/a/b.rs", "use super::super::turn::Turn; use self::x::Y;");
    }

    #[test]
    fn sideways_imports() {
        refused("ui/mod.rs", "use crate::engine::Run;", Rule::Floor);
        refused("engine/mod.rs", "use crate::ui::Theme;", Rule::Floor);
        refused("tools/mod.rs", "use crate::gate::Desk as D;", Rule::Floor);
        refused("view/mod.rs", "use crate::journal;", Rule::Floor);
        refused("engine/mod.rs", "use crate::*;", Rule::Floor);
        passes("cli/mod.rs", "use crate::app::Mode;");
        refused("app/mod.rs", "use crate::cli::Args;", Rule::Floor);
        passes("view/mod.rs", "use crate::model::Seq; use super::view::X;");
    }

    #[test]
    fn the_screen_sees_only_what_it_may() {
        refused("ui/mod.rs", "use crate::gate::Desk;", Rule::Floor);
        refused("ui/panes/chat.rs", "use crate::journal::LogFiles;", Rule::Floor);
        passes("ui/panes/chat.rs", "use crate::{config::Settings, text::diff, view::Chat};");
    }

    #[test]
    fn unknown_modules_have_no_floor() {
        refused("model/mod.rs", "use crate::extras::X;", Rule::Floor);
        refused("extras/mod.rs", "", Rule::Floor);
    }

    #[test]
    fn tests_may_look_anywhere_but_only_tests() {
        passes("view/mod.rs", "#[cfg(test)] mod tests { use crate::engine::Run; }");
        refused("view/mod.rs", "#[cfg(not(test))] mod x { use crate::engine::Run; }", Rule::Floor);
        refused("view/mod.rs", "#[cfg(unix)] use crate::engine::Run;", Rule::Floor);
    }

    #[test]
    fn a_test_file_is_known_by_its_declaration() {
        let parent = "//! A.\n#[cfg(test)]\nmod golden_tests;\n";
        let child = "//! B.\nuse crate::engine::Run;\n";
        let parse = |path: &str, text: &str| SourceFile::parse(path, text.to_owned()).unwrap();
        let files = [parse("view/mod.rs", parent), parse("view/golden_tests.rs", child)];
        assert!(check(&files, &floors()).is_empty());
        let files = [
            parse("view/mod.rs", "//! A.\nmod golden_tests;\n"),
            parse("view/golden_tests.rs", child),
        ];
        assert_eq!(check(&files, &floors()).len(), 1);
        let parent = "//! A.\n#[cfg(test)]\n#[path = \"chat_tests.rs\"]\nmod tests;\n";
        let files = [parse("view/chat.rs", parent), parse("view/chat_tests.rs", child)];
        assert!(check(&files, &floors()).is_empty());
    }

    #[test]
    fn files_without_a_word_on_themselves() {
        for text in ["use std::fmt;\n", "\n//! Late.\n", "//!\n", "// Not a doc.\n"] {
            let file = SourceFile::parse("model/mod.rs", text.to_owned()).unwrap();
            let found = check(&[file], &floors());
            assert_eq!(found.iter().map(|v| v.rule).collect::<Vec<_>>(), [Rule::Header], "{text}");
        }
    }

    #[test]
    fn long_files_functions_and_structs() {
        refused("model/mod.rs", &"//\n".repeat(600), Rule::FileLength);
        passes("model/mod.rs", &"//\n".repeat(599));
        let function = |lines: usize| format!("fn f() {{\n{}}}\n", "g();\n".repeat(lines));
        refused("model/mod.rs", &function(61), Rule::FunctionLength);
        passes("model/mod.rs", &function(60));
        passes("model/mod.rs", &format!("fn f() {{\n{}}}\n", "// why\n\n".repeat(61)));
        let excused = "#[expect(clippy::too_many_lines, reason = \"a table\")]\n";
        passes("model/mod.rs", &format!("{excused}{}", function(61)));
        refused("model/mod.rs", &format!("impl X {{ {} }}", function(61)), Rule::FunctionLength);
        let fields: String = (0..13).map(|n| format!("f{n}: u8, ")).collect();
        refused("model/mod.rs", &format!("struct S {{ {fields} }}"), Rule::StructSize);
        passes("model/mod.rs", "struct S { a: u8 }");
    }

    #[test]
    fn replay_flags_and_colours() {
        refused("view/mod.rs", "fn f() { let from_replay = 1; }", Rule::ReplayFlag);
        refused("ui/mod.rs", "struct S { from_replay: u8 }", Rule::ReplayFlag);
        refused("ui/draw.rs", "fn f() { let c = Color::Rgb(1, 2, 3); }", Rule::Colour);
        refused("ui/draw.rs", "fn f() { g!(ratatui::style::Color::Rgb(1, 2, 3)); }", Rule::Colour);
        refused("ui/draw.rs", "fn f() { let c = Color::from_u32(7); }", Rule::Colour);
        refused("ui/draw.rs", "fn f() { let c = Color::Red; }", Rule::Colour);
        refused("ui/draw.rs", "use ratatui::style::Color::*;", Rule::Colour);
        passes("ui/theme.rs", "fn f() { let c = Color::Rgb(1, 2, 3); }");
        passes("ui/colour.rs", "fn f() { let c = Color::Rgb(1, 2, 3); }");
    }

    #[test]
    fn public_switches_without_a_name() {
        refused("model/mod.rs", "pub fn f(deep: bool) {}", Rule::BoolParameter);
        refused("model/mod.rs", "impl X { pub fn f(&self, deep: bool) {} }", Rule::BoolParameter);
        refused("model/mod.rs", "pub trait X { fn f(&self, deep: bool); }", Rule::BoolParameter);
        refused(
            "model/mod.rs",
            "pub struct X; impl X { pub fn f(&self, deep: bool) {} }",
            Rule::BoolParameter,
        );
        passes("model/mod.rs", "pub(super) struct X; impl X { pub fn f(&self, deep: bool) {} }");
        passes("model/mod.rs", "fn f(deep: bool) {} pub fn g() -> bool { true }");
    }

    #[test]
    fn effects_outside_the_named_files() {
        for body in [
            "fn f() { std::fs::write(\"a\", \"b\"); }",
            "fn f() { fs::remove_file(\"a\"); }",
            "use std::fs::rename;",
            "use std::fs::{create_dir_all as make};",
            "fn f() { tokio::fs::write(\"a\", \"b\"); }",
            "fn f() { let c = tokio::process::Command::new(\"cc\"); }",
            "fn f() { let c = std::process::Command::new(\"cc\"); }",
            "fn f() { File::create(\"a\"); }",
            "fn f() { OpenOptions::new(); }",
            "use rustix::fs::{AtFlags, unlinkat};",
            "fn f() { let flags = OFlags::RDWR; }",
            "fn f() { std::process::exit(1); }",
            "fn f(dir: Dir) { dir.remove_file(\"a\"); }",
            "fn f(dir: Dir) { dir.create_dir_all(\"a\"); }",
            "fn f(t: T) { t.flash(order); }",
            "fn f() { let go = Toolchain::flash; }",
            "fn f(hub: H) { hub.transmit(port, text, None); }",
            "fn f() { let go = SerialHub::steer; }",
            "fn f() { say!(std::fs::write(\"a\", \"b\")); }",
            "#[expect(clippy::disallowed_methods, reason = \"mine\")] fn f() {}",
            "#[allow(clippy::disallowed_methods)] fn f() {}",
        ] {
            refused("view/mod.rs", body, Rule::Effect);
        }
        passes(
            "view/mod.rs",
            "#[cfg(test)] mod tests { fn f() { std::fs::write(\"a\", \"b\"); } }",
        );
        passes("view/mod.rs", "fn f(out: &mut W) { out.write(b\"x\"); std::fs::metadata(\"a\"); }");
        passes("view/mod.rs", "impl X { fn f(&self) { self.flash(); } fn flash(&self) {} }");
    }

    #[test]
    fn files_that_are_read_without_a_bound() {
        for body in [
            "fn f() { std::fs::read(\"a\"); }",
            "fn f() { fs::read_to_string(\"a\"); }",
            "use std::fs::{read as r};",
            "fn f() { tokio::fs::read(\"a\"); }",
            "fn f() { File::open(\"a\"); }",
            "fn f() { std::fs::File::open(\"a\"); }",
            "fn f() { say!(std::fs::read(\"a\")); }",
        ] {
            refused("toolchain/idf/route.rs", body, Rule::Read);
            passes("files.rs", body);
            passes("journal/reader.rs", body);
        }
        passes("config/x.rs", "fn f() { crate::files::read(p, 1); std::fs::read_dir(\"a\"); }");
    }

    #[test]
    fn effects_of_one_kind_do_not_open_another() {
        passes("gate/effects.rs", "fn f(t: T) { t.flash(order); }");
        refused("gate/queue.rs", "fn f(t: T) { t.flash(order); }", Rule::Effect);
        refused("journal/writer.rs", "fn f() { Command::new(\"cc\"); }", Rule::Effect);
        refused("toolchain/process.rs", "fn f() { std::process::exit(1); }", Rule::Effect);
    }
}
