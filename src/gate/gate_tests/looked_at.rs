//! Checks and facts that the person is shown before deciding.

use super::*;
use crate::model::{Check, ReferenceKind};

impl GateBench {
    /// The checks on a draft, which is then rejected.
    async fn checks(&self, draft: Draft) -> Vec<Check> {
        let task = self.submit(vec![draft]);
        self.on_desk(1).await;
        let id = self.desk.waiting()[0];
        let proposal = self.gate.waiting(id).unwrap();
        self.desk.decide(Shown::whole(id, proposal.change.hash()), reject("")).unwrap();
        task.await.unwrap().unwrap();
        proposal.checks
    }
}

fn of(checks: &[Check], kind: CheckKind) -> (Option<FindingLevel>, &str) {
    let check = checks.iter().find(|check| check.kind == kind);
    let check = check.expect("the check is missing");
    (check.level(), check.findings.first().map_or("", |finding| finding.text.as_str()))
}

/// The line of the first finding of a check.
fn line(checks: &[Check], kind: CheckKind) -> Option<u32> {
    let check = checks.iter().find(|check| check.kind == kind)?;
    Some(check.findings.first()?.place.as_ref()?.line)
}

fn save_bytes(file: &str, base: Option<&[u8]>, content: &[u8]) -> Draft {
    let (base, content) = (base.map(<[u8]>::to_vec), content.to_vec());
    let change = DraftChange::Save { path: path(file), base, content };
    Draft { change, reason: String::new(), checks: Vec::new() }
}

#[tokio::test]
async fn a_sound_change_passes_every_check() {
    let world = GateBench::asking();
    let checks = world.checks(save("main.c", None, "int a;\n")).await;
    assert!(checks.iter().all(|check| check.level().is_none()), "{checks:?}");
    for kind in [CheckKind::Parses, CheckKind::Text, CheckKind::Encoding, CheckKind::Secrets] {
        of(&checks, kind);
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_content_is_told_with_its_place() {
    let world = GateBench::asking();
    let text =
        "int a;\nint b = ;\n#define WIFI_PASS \"hunter2222\"\nint c\u{43e}unt; // \u{202e}\n";
    let checks = world.checks(save("main.c", None, text)).await;
    let expect = |kind, level, at, words: &str| {
        let (found, text) = of(&checks, kind);
        assert_eq!((found, line(&checks, kind)), (Some(level), Some(at)), "{kind:?}: {text}");
        assert!(text.contains(words), "{kind:?}: {text}");
    };
    expect(CheckKind::Parses, FindingLevel::Stop, 2, "does not parse");
    expect(CheckKind::Secrets, FindingLevel::Stop, 3, "");
    expect(CheckKind::Lookalikes, FindingLevel::Warning, 4, "U+043E");
    expect(CheckKind::Text, FindingLevel::Stop, 4, "U+202E");
    let found = checks.iter().flat_map(|check| &check.findings);
    assert!(found.map(|finding| &finding.text).all(|text| !text.contains("hunter")));
}

#[tokio::test]
async fn programs_in_reverty_are_checked_with_all_their_faults() {
    let world = GateBench::asking();
    let right = ":tni -> (tni: n) twice fed\n    nruter n * 2\n";
    let checks = world.checks(save("program.rev", None, right)).await;
    assert_eq!(of(&checks, CheckKind::Parses), (None, ""));
    let wrong = ":tni -> (tni: n) twice fed\n    return n * 2\nx = twice(1, 2)\n";
    let checks = world.checks(save("program.rev", None, wrong)).await;
    assert_eq!(of(&checks, CheckKind::Parses).0, Some(FindingLevel::Stop));
    assert_eq!(line(&checks, CheckKind::Parses), Some(2));
    let check = checks.iter().find(|check| check.kind == CheckKind::Parses).unwrap();
    assert!(check.findings[0].advice.contains("nruter"), "{check:?}");
}

#[tokio::test]
async fn encodings_and_line_ends_that_change_are_told() {
    let world = GateBench::asking();
    let wide: Vec<u8> = "\u{feff}int a;\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(world.path("wide.c"), &wide).unwrap();
    world.write("crlf.c", "int a;\r\nint b;\r\n");
    let narrowed = world.checks(save_bytes("wide.c", Some(&wide), b"int a;\n")).await;
    assert_eq!(of(&narrowed, CheckKind::Encoding).0, Some(FindingLevel::Warning));
    let kept = world.checks(save_bytes("new.c", None, &wide)).await;
    assert_eq!(
        of(&kept, CheckKind::Encoding),
        (Some(FindingLevel::Stop), "is UTF-16, which compilers do not read")
    );
    let binary = world.checks(save_bytes("a.bin", None, b"\x7fELF\x01\0\0\x02")).await;
    assert!(of(&binary, CheckKind::Encoding).1.contains("NUL byte at offset 5"));
    let ends = world.checks(save("crlf.c", Some("int a;\r\nint b;\r\n"), "int a;\nint c;\n")).await;
    assert!(of(&ends, CheckKind::LineEnds).1.contains("to LF in 2 lines"));
}

#[tokio::test]
async fn a_small_wish_that_rewrites_a_long_file_is_told() {
    let world = GateBench::asking();
    let base: String = (0..100).map(|n| format!("int a{n};\n")).collect();
    world.write("a.c", &base);
    let rewritten = world.checks(save("a.c", Some(&base), &base.replace("int", "long"))).await;
    assert_eq!(
        of(&rewritten, CheckKind::Size),
        (Some(FindingLevel::Warning), "rewrites 100 of 100 lines (100 %)")
    );
    let dropped = world.checks(save("a.c", Some(&base), "int a0;\n")).await;
    assert!(of(&dropped, CheckKind::Size).1.starts_with("removes 99 of 100"));
    let small = world.checks(save("a.c", Some(&base), &base.replace("a7;", "b7;"))).await;
    assert_eq!(of(&small, CheckKind::Size).0, None);
}

#[tokio::test]
async fn a_name_that_reads_like_another_is_told() {
    let world = GateBench::asking();
    world.write("main.c", "");
    let lookalike = world.checks(save("m\u{430}in.c", None, "int a;\n")).await;
    assert_eq!(of(&lookalike, CheckKind::Lookalikes).0, Some(FindingLevel::Stop));
    let alone = world.checks(save("sc\u{430}n.c", None, "int a;\n")).await;
    assert_eq!(of(&alone, CheckKind::Lookalikes).0, Some(FindingLevel::Warning));
    assert!(ProjectPath::new("a\nb.c").is_err() && ProjectPath::new("a\x1b[2J.c").is_err());
}

#[tokio::test]
async fn a_deletion_counts_what_files_of_its_set_will_hold() {
    let world = GateBench::asking();
    let user = "#include \"scan.h\"\n";
    world.write("main/scan.h", "#pragma once\n");
    world.write("main/a.c", user);
    world.write("main/b.c", user);
    let drafts = vec![
        save("main/a.c", Some(user), "int a;\n"),
        save("main/new.c", None, &format!("int b;\n{user}")),
        save("notes/scan.txt", None, user),
        delete("main/scan.h", "#pragma once\n"),
    ];
    let task = world.submit(drafts);
    world.on_desk(4).await;
    let references = world.proposals().remove(3).facts.references;
    let named: Vec<_> = references.iter().map(|it| (it.path.as_str(), it.line)).collect();
    assert_eq!(named, [("main/b.c", 1), ("main/new.c", 2)]);
    world.desk.close("done");
    task.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_deletion_tells_who_still_names_the_file() {
    let world = GateBench::asking();
    world.write("main/include/scan.h", "#pragma once\n");
    world.write("main/main.c", "#include <stdio.h>\n#include \"scan.h\"\n");
    world.write("main/CMakeLists.txt", "idf_component_register(SRCS \"main.c\")\n");
    let task = world.submit(vec![delete("main/include/scan.h", "#pragma once\n")]);
    world.on_desk(1).await;
    let proposal = world.proposals().remove(0);
    let [reference] = proposal.facts.references.as_slice() else { panic!("{proposal:?}") };
    assert_eq!((reference.path.as_str(), reference.line), ("main/main.c", 2));
    assert_eq!(reference.kind, ReferenceKind::Include);
    let reported = of(&proposal.checks, CheckKind::Unreferenced);
    assert_eq!(reported, (Some(FindingLevel::Warning), "still named in main/main.c:2"));
    world.desk.close("done");
    task.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_flash_is_set_against_the_partition_table() {
    let world = GateBench::asking();
    world.write(
        "partitions.csv",
        "nvs, data, nvs, 0x9000, 24K\nfactory, app, factory, 0x10000, 4K\n",
    );
    let Draft { change: DraftChange::Flash(mut plan), .. } = flash(false, false) else {
        unreachable!()
    };
    plan.images.push(crate::model::FlashImage {
        file: "build/app.bin".into(),
        offset: 0x1_0000,
        bytes: 5000,
        hash: ContentHash::of(b"app"),
        same: false,
    });
    let draft =
        Draft { change: DraftChange::Flash(plan), reason: String::new(), checks: Vec::new() };
    let task = world.submit(vec![draft]);
    world.on_desk(1).await;
    let proposal = world.proposals().remove(0);
    let facts = proposal.facts.flash.clone().unwrap();
    assert_eq!((facts.source.as_str(), facts.partitions.len()), ("partitions.csv", 2));
    assert_eq!((facts.landings[0].place.as_str(), facts.landings[0].overflow), ("factory", 904));
    assert_eq!((facts.landings[0].erased_from, facts.landings[0].erased_to), (0x1_0000, 0x1_2000));
    assert_eq!(of(&proposal.checks, CheckKind::Fits).0, Some(FindingLevel::Stop));
    world.desk.close("done");
    task.await.unwrap().unwrap();
}

#[tokio::test]
async fn real_efuses_in_place_of_virtual_ones_are_told_at_their_line() {
    let world = GateBench::asking();
    let base = "CONFIG_A=y\nCONFIG_EFUSE_VIRTUAL=y\n";
    world.write("sdkconfig", base);
    for (text, line) in [
        ("CONFIG_A=y\n# CONFIG_EFUSE_VIRTUAL is not set\n", Some(2)),
        ("CONFIG_EFUSE_VIRTUAL=n\nCONFIG_A=y\n", Some(1)),
        ("CONFIG_A=y\n", None),
    ] {
        let checks = world.checks(save("sdkconfig", Some(base), text)).await;
        let check = checks.iter().find(|check| check.kind == CheckKind::Irreversible).unwrap();
        let found = check.findings.iter().find(|it| it.text.contains("virtual eFuses off"));
        let found = found.unwrap_or_else(|| panic!("{text}: {check:?}"));
        assert_eq!(found.place.as_ref().map(|place| place.line), line, "{text}");
        assert!(found.phrase.is_some());
    }
    let stays = world.checks(save("sdkconfig", Some(base), &format!("{base}CONFIG_B=y\n"))).await;
    assert_eq!(of(&stays, CheckKind::Irreversible).0, None);
}

#[tokio::test]
async fn what_did_not_parse_before_is_not_the_fault_of_a_change() {
    let world = GateBench::asking();
    for (path, broken, other) in [
        ("a.py", "def f(:\n    pass\n", "x = 1\ny = (2\n"),
        (
            "a.rev",
            ":tni -> (tni: n) twice fed\n    return n * 2\n",
            ":tni -> (tni: n) half fed\n    nruter n *\n",
        ),
    ] {
        world.write(path, broken);
        let mut check = Vec::new();
        for text in [format!("{broken}\n"), format!("\n{broken}"), other.to_owned()] {
            check = world.checks(save(path, Some(broken), &text)).await;
            let (level, words) = of(&check, CheckKind::Parses);
            let is_known = text != other;
            assert_eq!(level == Some(FindingLevel::Note), is_known, "{text}: {check:?}");
            assert_eq!(words.ends_with(", unchanged"), is_known, "{text}: {check:?}");
        }
        assert!(of(&check, CheckKind::Parses).0 > Some(FindingLevel::Note));
    }
}
