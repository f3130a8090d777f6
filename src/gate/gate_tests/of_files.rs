//! What is found in a file by its name, its bytes and the project around it.

use super::*;
use crate::gate::{FindingsContext, examine};
use crate::model::Check;
use crate::workspace::ProjectDir;

/// A change of `file` from `base` to `content`, looked at in a project that holds `around`.
fn looked_at(
    around: &[(&str, &str)],
    (file, base, content): (&str, Option<&[u8]>, &[u8]),
) -> Proposal {
    let folder = tempfile::tempdir().unwrap();
    let held = around.iter().map(|(path, text)| (*path, text.as_bytes()));
    for (path, bytes) in held.chain(base.map(|base| (file, base))) {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let project_dir = ProjectDir::open(folder.path()).unwrap();
    let (base, content) = (base.map(<[u8]>::to_vec), content.to_vec());
    let change = DraftChange::Save { path: path(file), base, content };
    let draft = Draft { change, reason: String::new(), checks: Vec::new() };
    examine(&project_dir, vec![draft], &FindingsContext::default()).remove(0)
}

fn check(kind: CheckKind, proposal: &Proposal) -> Option<&Check> {
    proposal.checks.iter().find(|check| check.kind == kind)
}

#[test]
fn a_change_of_the_encoding_is_told_and_line_ends_of_one_kind_are_not() {
    const TEXT: &[u8] = b"int a;\n";
    for (base, text) in [
        (&b"\xef\xbb\xbfint a;\n"[..], Some("removes the byte order mark at the start")),
        (b"int \xe9;\n", Some("changes the encoding to UTF-8")),
        (b"int\0 a;\n", Some("changes the encoding to UTF-8")),
        (b"\xff\xfei\0n\0t\0", Some("changes the encoding from UTF-16 to UTF-8")),
        (b"int b;\n", None),
    ] {
        let proposal = looked_at(&[], ("main/a.c", Some(base), TEXT));
        let found = &check(CheckKind::Encoding, &proposal).unwrap().findings;
        assert_eq!(found.first().map(|found| found.text.as_str()), text, "{base:?}");
    }
    for content in ["int a;\r\nint b;\r\n", "int a;\nint b;\n", "int a;"] {
        let proposal = looked_at(&[], ("main/a.c", None, content.as_bytes()));
        assert_eq!(check(CheckKind::LineEnds, &proposal), None, "{content:?}");
    }
    let mixed = looked_at(&[], ("main/a.c", None, b"int a;\r\nint b;\n"));
    assert!(check(CheckKind::LineEnds, &mixed).unwrap().findings[0].text.contains("1 lines end"));
}

#[test]
fn a_table_is_known_by_its_lines_its_name_and_the_project() {
    const ROWS: &str = "nvs,data,nvs,0x9000,0x6000\nfactory,app,factory,0x10000,1M\n";
    const OTHER: &str = "time,value\n1,2\n";
    let named = |value: &str| format!("CONFIG_PARTITION_TABLE_CUSTOM_FILENAME={value}\n");
    let (own, empty) = (named("\"tables/own.csv\""), named("\"\""));
    type Case<'a> = (&'a [(&'a str, &'a str)], &'a str, &'a str, bool);
    let cases: [Case<'_>; 12] = [
        (&[], "data/layout.csv", ROWS, true),
        (&[], "data/layout.txt", ROWS, false),
        (&[], "data/partitions-4m.csv", OTHER, true),
        (&[], "data/measured.csv", OTHER, false),
        (&[], "data/measured.csv", "", false),
        (&[], "data/measured.csv", "nvs,data,nvs,0x9000,0x6000\nx\ny\n", false),
        (&[], "data/measured.csv", "a,0x40,0x01,0x9000,0x1000\n", false),
        (&[("sdkconfig", &own)], "tables/own.csv", OTHER, true),
        (&[("sdkconfig.defaults", &own)], "tables/own.csv", OTHER, true),
        (&[("sdkconfig", &own)], "data/measured.csv", OTHER, false),
        (&[("sdkconfig", &empty)], "data/measured.csv", OTHER, false),
        (
            &[("platformio.ini", "[env:a]\nboard_build.partitions = own.csv\n")],
            "own.csv",
            OTHER,
            true,
        ),
    ];
    for (around, file, content, is_table) in cases {
        let proposal = looked_at(around, (file, None, content.as_bytes()));
        let found = check(CheckKind::PartitionTable, &proposal);
        assert_eq!(found.is_some(), is_table, "{file}, {around:?}: {content}");
    }
}

#[test]
fn pins_are_looked_for_in_code_and_configurations_alone() {
    for (file, content, is_found) in [
        ("sdkconfig.defaults", "CONFIG_BLINK_GPIO=6\n", true),
        ("main/a.c", "void f(void) { gpio_reset_pin(6); }\n", true),
        ("notes/pins.md", "void f(void) { gpio_reset_pin(6); }\n", false),
    ] {
        let proposal = looked_at(&[], (file, None, content.as_bytes()));
        let found = check(CheckKind::Pins, &proposal);
        assert_eq!(found.is_some_and(|check| !check.findings.is_empty()), is_found, "{file}");
    }
}

#[test]
fn what_follows_from_a_change_is_one_line_of_facts() {
    let values = |value: u32| -> String {
        ["A", "B", "C", "D", "E"].map(|name| format!("#define {name} {value}\n")).concat()
    };
    let (old, new) = (values(1), values(2));
    let four = |text: &str| text.lines().take(4).fold(String::new(), |all, row| all + row + "\n");
    let three = new.replace("D 2", "D 1").replace("E 2", "E 1");
    let cases: [(&str, Option<String>, String, &str); 8] = [
        ("main/a.c", None, new.clone(), "makes 1 file, rebuilds 1 unit"),
        ("main/a.h", None, new.clone(), "makes 1 file"),
        ("CMakeLists.txt", None, "# a\n".to_owned(), "makes 1 file, configures the project again"),
        ("sdkconfig.ci", None, "A=1\n".to_owned(), "makes 1 file, configures the project again"),
        ("docs/notes.txt", None, "a\n".to_owned(), "makes 1 file"),
        (
            "a.h",
            Some(old.clone()),
            new.clone(),
            "writes 1 file, a 1 → 2, b 1 → 2, c 1 → 2, 2 more values",
        ),
        (
            "a.h",
            Some(four(&old)),
            four(&new),
            "writes 1 file, a 1 → 2, b 1 → 2, c 1 → 2, 1 more value",
        ),
        ("a.h", Some(old), three, "writes 1 file, a 1 → 2, b 1 → 2, c 1 → 2"),
    ];
    for (file, base, content, line) in cases {
        let base = base.as_deref().map(str::as_bytes);
        let proposal = looked_at(&[], (file, base, content.as_bytes()));
        assert_eq!(proposal.facts.consequence, line, "{file}: {content}");
    }
}
