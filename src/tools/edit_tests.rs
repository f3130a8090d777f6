//! Tests of the tools that teams use on projects they did not write.

use std::sync::Arc;

use serde_json::{Value, json};

use super::tool_tests::{ToolBench, settlement};
use super::*;
use crate::model::{
    Batch, BatchId, BlobRef, BlobSource, CallId, Change, ContentHash, DecidedBy, Draft,
    DraftChange, Facts, Outcome, Proposal, ProposalId, Settlement, TurnId, UserError, Verdict,
};

#[tokio::test]
async fn headers_are_read_as_declarations_and_all_files_are_listed() {
    let mut desk = ToolBench::new();
    desk.context.limits = AnswerLimits::default();
    let desk = desk.remade();
    desk.write("main/include/led.h", "/* c */ int led_on(int a);\n#define LED(n) (n)\n");
    desk.write("components/x/x.hpp", "class X { int a() { return 1; } };\n");
    desk.write("main/main.c", "int led_on(int a) { return a; }\n");
    desk.write("main/latin.h", "int a; // caf\u{e9}\n");
    std::fs::write(desk.folder.path().join("main/bad.h"), b"int \xff\xfe;").unwrap();
    let read = desk.answer("read_header_files", json!({})).await;
    assert_eq!(
        read["text"],
        "### Header: components/x/x.hpp ###\nclass X { int a(); }\n\n\
         ### Header: main/include/led.h ###\nint led_on(int a);\n#define LED(n)\n\n"
    );
    assert_eq!((&read["headers"], &read["declare_nothing"]), (&json!(2), &json!(1)));
    assert_eq!(read["files"]["main"], json!(["bad.h", "latin.h", "main.c"]));
    assert_eq!(read["cut"], json!([{ "path": "main/bad.h", "why": "it is not UTF-8 text" }]));
    let part = desk.answer("read_header_files", json!({ "folder": "components" })).await;
    assert_eq!(part["headers"], 1);
    let outside = desk.call("read_header_files", json!({ "folder": "../x" })).await;
    assert_eq!(outside.err().unwrap().code, "bad_path");
}

#[tokio::test]
async fn headers_that_declare_the_same_say_so() {
    let mut desk = ToolBench::new();
    desk.context.limits = AnswerLimits::default();
    let desk = desk.remade();
    let long = "esp_err_t board_display_init(int width, int height, int rotation);\n";
    for (name, text) in
        [("a.h", long), ("b.h", long), ("c.h", "int c;\n"), ("d.h", "int d(void);\n")]
    {
        desk.write(name, text);
    }
    let read = desk.answer("read_header_files", json!({})).await;
    let expected = format!(
        "### Header: a.h ###\n{long}\n### Header: b.h ###\n// the same as a.h\n\n\
         ### Header: d.h ###\nint d(void);\n\n"
    );
    assert_eq!(read["text"], expected);
    assert_eq!((&read["headers"], &read["declare_nothing"]), (&json!(3), &json!(1)));
}

#[tokio::test]
async fn headers_beyond_the_answer_are_named() {
    let desk = ToolBench::new();
    for name in ["a.h", "b.h", "c.h"] {
        desk.write(name, &format!("int {}_{}(void);\n", &name[..1], "x".repeat(30)));
    }
    let read = desk.answer("read_header_files", json!({})).await;
    assert_eq!(read["headers"], 1);
    assert_eq!(read["cut"][0]["path"], "b.h");
    assert!(read["cut"][1]["why"].as_str().unwrap().contains("full"));
}

#[tokio::test]
async fn chosen_files_are_read_in_their_order() {
    let desk = ToolBench::new();
    desk.write("a.c", "int a;\n");
    desk.write("b.c", "int b;\n");
    let paths = json!({ "paths": ["b.c", "./b.c", "a.c", "none.c"] });
    let read = desk.answer("read_project_files", paths).await;
    assert_eq!(read["text"], "### File: b.c ###\nint b;\n\n### File: a.c ###\nint a;\n\n");
    assert_eq!(read["cut"][0]["path"], "none.c");
    let none = desk.call("read_project_files", json!({ "paths": [] })).await;
    assert_eq!(none.err().unwrap().code, "bad_arguments");
    let outside = desk.call("read_project_files", json!({ "paths": ["a.c", "/etc/passwd"] })).await;
    assert!(outside.err().unwrap().message.contains("paths[1]"));
}

/// What a call proposes, and the answer when the given settlements come back.
async fn proposed(desk: &ToolBench, tool: &str, args: Value) -> (Vec<Draft>, Finish) {
    match desk.call(tool, args).await {
        Ok(Reply::Propose { drafts, finish }) => (drafts, finish),
        Ok(Reply::Answer(answer)) => panic!("{tool} answered {answer}"),
        Err(error) => panic!("{tool}: {error}"),
    }
}

fn applied(number: u32) -> Settlement {
    settlement(number, Verdict::Approve, DecidedBy::Person, Outcome::Applied)
}

fn text(draft: &Draft) -> (&str, &str) {
    match &draft.change {
        DraftChange::Save { path, content, .. } | DraftChange::Insert { path, content, .. } => {
            (path.as_str(), std::str::from_utf8(content).unwrap())
        }
        DraftChange::Delete { path, .. } => (path.as_str(), ""),
        DraftChange::Flash(_)
        | DraftChange::Erase(_)
        | DraftChange::Send(_)
        | DraftChange::Read(_)
        | DraftChange::Nvs(_) => panic!("no file"),
    }
}

#[tokio::test]
async fn insertions_into_one_file_are_one_proposal() {
    let desk = ToolBench::new();
    desk.write("main/a.c", "#include <stdio.h>\r\nint a;\r\nint b;\r\n");
    desk.write("main/b.c", "int z;\n");
    let wish = |file: &str, context: &str, code: &str| json!({ "file_name": file, "context": context, "insertion_code": code, "includes": ["<b.h>"] });
    let wishes = [
        wish("main/a.c", "int b;", "int c;"),
        wish("main/b.c", "int z;\n", "int y;\n"),
        wish("./main/a.c", "int a;", "int ab;"),
    ];
    let (drafts, finish) = proposed(&desk, "insert_code", json!({ "insertions": wishes })).await;
    let texts: Vec<_> = drafts.iter().map(text).collect();
    assert_eq!(
        texts,
        [
            (
                "main/a.c",
                "#include <stdio.h>\r\n#include <b.h>\r\nint a;\r\nint ab;\r\nint b;\r\nint c;\r\n"
            ),
            ("main/b.c", "#include <b.h>\nint z;\nint y;\n"),
        ]
    );
    assert!(drafts.iter().all(|draft| matches!(draft.change, DraftChange::Insert { .. })));
    let rejected =
        settlement(2, Verdict::Approve, DecidedBy::Nobody("stopped".into()), Outcome::Denied);
    let answer = finish(vec![applied(1), rejected]).await.unwrap();
    assert_eq!(answer["inserted"], json!(["main/a.c"]));
    let open = json!({ "file_name": "main/b.c", "reason": "stopped", "undecided": true });
    assert_eq!(answer["rejected"], json!([open]));
    assert_eq!(answer["places"][0]["insertions"][0]["after_line"], 3);
}

#[tokio::test]
async fn an_insertion_without_a_certain_place_proposes_nothing() {
    let desk = ToolBench::new();
    desk.write("a.c", "x();\nx();\n");
    std::fs::write(desk.folder.path().join("wide.c"), b"\xff\xfei\0n\0t\0").unwrap();
    std::fs::write(desk.folder.path().join("bin.c"), b"i\0nt").unwrap();
    let one = |file: &str, context: &str| {
        let wish = json!({ "file_name": file, "context": context, "insertion_code": "y();" });
        json!({ "insertions": [wish] })
    };
    for (file, context, code, words) in [
        ("a.c", "x();", "ambiguous_context", "after line 1, after line 2"),
        ("a.c", "z();", "missing_context", "insertions[0], `a.c`"),
        ("a.c", "", "bad_arguments", "empty"),
        ("none.c", "x", "not_found", "none.c"),
        ("../a.c", "x", "bad_path", "insertions[0].file_name"),
        ("wide.c", "x", "not_text", "UTF-16"),
        ("bin.c", "x", "not_text", "binary"),
    ] {
        let error = desk.call("insert_code", one(file, context)).await.err().unwrap();
        assert_eq!(error.code, code, "{file} {context}: {error}");
        assert!(error.message.contains(words), "{error}");
    }
    desk.write("b.c", "x();\ny();\n");
    let answer = desk.answer("insert_code", one("b.c", "x();")).await;
    assert_eq!(answer["places"][0]["insertions"][0]["present"], true);
}

#[tokio::test]
async fn deleted_files_are_told_with_the_lines_that_still_name_them() {
    let desk = ToolBench::new();
    desk.write("main/led.c", "#include \"led.h\"\n");
    desk.write("main/led.h", "int a;\n");
    desk.write("main/main.c", "#include <stdio.h>\n#include \"led.h\"\n");
    desk.write("main/CMakeLists.txt", "idf_component_register(SRCS main.c\n    led.c)\n");
    let paths = json!({ "paths": ["main/led.c", "main/led.h", "./main/led.c"] });
    let (drafts, finish) = proposed(&desk, "delete_files", paths).await;
    let texts: Vec<_> = drafts.iter().map(|draft| text(draft).0).collect();
    assert_eq!(texts, ["main/led.c", "main/led.h"]);
    for path in texts {
        std::fs::remove_file(desk.folder.path().join(path)).unwrap();
    }
    let answer = finish(vec![applied(1), applied(2)]).await.unwrap();
    assert_eq!(answer["deleted"], json!(["main/led.c", "main/led.h"]));
    assert_eq!(
        answer["still_named"],
        json!([
            { "deleted": "main/led.c", "file_name": "main/CMakeLists.txt", "line": 2, "by": "cmake", "text": "led.c)" },
            { "deleted": "main/led.h", "file_name": "main/main.c", "line": 2, "by": "include", "text": "#include \"led.h\"" },
        ])
    );
    for (paths, code) in [
        (json!([]), "bad_arguments"),
        (json!(["x/../y"]), "bad_path"),
        (json!(["none"]), "not_found"),
        (json!(["main"]), "not_a_file"),
    ] {
        let error = desk.call("delete_files", json!({ "paths": paths })).await.err().unwrap();
        assert_eq!(error.code, code, "{error}");
    }
}

#[tokio::test]
async fn a_diff_becomes_one_proposal_and_tells_what_was_forgiven() {
    let desk = ToolBench::new();
    desk.write("a.c", "int a;\r\nint b;\r\nint c;\r\n");
    let diff = "--- a/a.c\n+++ b/a.c\n@@ -7,3 +7,3 @@\n int a;\n-int b;\n+int z;\n int c;\n";
    let args = json!({ "path": "a.c", "diff": diff });
    let (drafts, finish) = proposed(&desk, "write_file", args).await;
    assert_eq!(text(&drafts[0]), ("a.c", "int a;\r\nint z;\r\nint c;\r\n"));
    let answer = finish(vec![applied(1)]).await.unwrap();
    let hunk = json!({ "hunk": 1, "line": 1, "offset": -6, "white_space_differs": true });
    assert_eq!(answer["hunks"], json!([hunk]));
    let new = "--- /dev/null\n+++ b/n.c\n@@ -0,0 +1 @@\n+int n;\n";
    let (drafts, _) = proposed(&desk, "write_file", json!({ "path": "n.c", "diff": new })).await;
    assert_eq!(text(&drafts[0]), ("n.c", "int n;\n"));
    for (path, diff, code, words) in [
        ("a.c", new, "bad_arguments", "about `b/n.c`"),
        ("n.c", "@@ -1 +1 @@\n-a\n+b\n", "not_found", "n.c"),
        ("a.c", "@@ -1 +1 @@\n-nope\n+b\n", "diff_does_not_apply", "hunk 1"),
        ("a.c", "--- a.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "bad_arguments", "removes"),
        ("../a.c", new, "bad_path", ".."),
    ] {
        let error =
            desk.call("write_file", json!({ "path": path, "diff": diff })).await.err().unwrap();
        assert_eq!(error.code, code, "{error}");
        assert!(error.message.contains(words), "{error}");
    }
}

#[tokio::test]
async fn new_sources_are_listed_by_a_proposal_of_its_own() {
    let desk = ToolBench::new();
    desk.write("main/CMakeLists.txt", "idf_component_register(SRCS main.c)\n");
    desk.write("odd/CMakeLists.txt", "odd()\n");
    let files = json!([
        { "file_name": "main/a.c", "code": "int a;\n" }, { "file_name": "odd/b.c", "code": "int b;\n" },
        { "file_name": "main/main.c", "code": "int m;\n" },
    ]);
    let args = json!({ "files": files });
    let (drafts, finish) = proposed(&desk, "generate_code", args.clone()).await;
    assert_eq!(
        text(&drafts[3]),
        ("main/CMakeLists.txt", "idf_component_register(SRCS main.c a.c)\n")
    );
    assert_eq!(drafts[3].reason, "So that `main/a.c` is compiled.");
    let answer = finish((1..=4).map(applied).collect()).await.unwrap();
    assert_eq!(answer["saved"], json!(["main/a.c", "odd/b.c", "main/main.c"]));
    assert_eq!(answer["registered_in"], json!(["main/CMakeLists.txt"]));
    assert_eq!(answer["not_registered"][0]["file_name"], "odd/b.c");
    assert!(answer["not_registered"][0]["why"].as_str().unwrap().contains("line 1"), "{answer}");
    assert!(answer["advice"].as_str().unwrap().starts_with("These sources are not compiled. Ask"));
    let no = |number| settlement(number, Verdict::Approve, DecidedBy::Person, Outcome::Denied);
    let (_, finish) = proposed(&desk, "generate_code", args.clone()).await;
    let answer = finish(vec![no(1), applied(2), applied(3), applied(4)]).await.unwrap();
    assert_eq!(answer["listed_but_missing"][0]["file_name"], "main/a.c");
    let (_, finish) = proposed(&desk, "generate_code", args).await;
    let answer = finish(vec![applied(1), applied(2), applied(3), no(4)]).await.unwrap();
    assert_eq!(answer["not_registered"].as_array().unwrap().len(), 2);
    assert_eq!(answer["rejected"][0]["file_name"], "main/CMakeLists.txt");
}

#[tokio::test]
async fn a_new_project_is_marked_and_stays_so() {
    let top = |code: &str| json!({ "files": [{ "file_name": "CMakeLists.txt", "code": code }] });
    let marked = "# firmhand: generated project\nproject(a)\n";
    let desk = ToolBench::new();
    let (drafts, _) = proposed(&desk, "generate_code", top("project(a)\n")).await;
    assert_eq!(text(&drafts[0]).1, marked);
    desk.write("CMakeLists.txt", marked);
    desk.write("main/main.c", "");
    assert!(desk.context.project_dir.is_generated());
    let (drafts, _) = proposed(&desk, "generate_code", top("project(b)\n")).await;
    assert_eq!(text(&drafts[0]).1, "# firmhand: generated project\nproject(b)\n");
    let theirs = ToolBench::new();
    theirs.write("main/main.c", "");
    let (drafts, _) = proposed(&theirs, "generate_code", top("project(a)\n")).await;
    assert_eq!(text(&drafts[0]).1, "project(a)\n");
    assert!(!theirs.context.project_dir.is_generated());
}

#[tokio::test]
async fn functions_are_measured_and_what_is_no_source_is_told() {
    let mut desk = ToolBench::new();
    desk.context.limits = AnswerLimits::default();
    let desk = desk.remade();
    desk.write("a.c", "int f(int a) { if (a) { return 1; } return 0; }\n");
    desk.write("b.py", "def g():\n    pass\n");
    desk.write("c.txt", "x");
    let paths = json!({ "paths": ["a.c", "b.py", "c.txt", "none.c"] });
    let answer = desk.answer("analyze_complexity", paths).await;
    let figures = json!({
        "path": "a.c", "function": "f", "line": 1, "lines": 1, "cyclomatic": 2, "cognitive": 1, "nesting": 1,
    });
    assert_eq!(answer["functions"][0], figures);
    assert_eq!(answer["functions"][1]["function"], "g");
    assert_eq!(answer["skipped"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn relevant_files_come_with_sizes_and_reasons() {
    let desk = ToolBench::new();
    desk.write("main/wifi.c", "#include \"wifi.h\"\nint wifi_start(void) { return 0; }\n");
    desk.write("main/wifi.h", "int wifi_start(void);\n");
    desk.write("main/led.c", "int led(void) { return 0; }\n");
    let asked = json!({ "request": "Start the wifi twice", "most_files": 2 });
    let answer = desk.answer("find_relevant_files", asked).await;
    let paths: Vec<&str> =
        answer["files"].as_array().unwrap().iter().map(|f| f["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["main/wifi.c", "main/wifi.h"]);
    assert!(answer["files"][0]["tokens"].as_u64().unwrap() > 5);
    assert!(!answer["files"][0]["why"].as_array().unwrap().is_empty());
    let error = desk.call("find_relevant_files", json!({ "request": " " })).await.err().unwrap();
    assert_eq!(error.code, "bad_arguments");
}

/// The contents that a session keeps.
struct Kept(Vec<Vec<u8>>);

impl BlobSource for Kept {
    fn blob(&self, hash: &ContentHash) -> Result<Arc<[u8]>, UserError> {
        let found = self.0.iter().find(|content| ContentHash::of(content) == *hash);
        found
            .map(|content| Arc::from(content.as_slice()))
            .ok_or_else(|| UserError::new("lost", "", ""))
    }
}

/// What a session records of drafts, and the contents that it keeps.
fn recorded(drafts: &[Draft]) -> (Vec<Proposal>, Kept) {
    let mut kept = Vec::new();
    let mut keep = |content: &[u8]| {
        kept.push(content.to_vec());
        BlobRef { hash: ContentHash::of(content), bytes: content.len() as u64 }
    };
    let mut proposals = Vec::new();
    for (id, draft) in (1..).zip(drafts) {
        let change = match &draft.change {
            DraftChange::Save { path, base, content } => Change::Save {
                path: path.clone(),
                base: base.as_deref().map(&mut keep),
                content: keep(content),
            },
            DraftChange::Insert { path, base, content } => {
                Change::Insert { path: path.clone(), base: keep(base), content: keep(content) }
            }
            _ => panic!("no change of a text"),
        };
        proposals.push(Proposal {
            id: ProposalId(id),
            turn: TurnId(1),
            call: CallId(1),
            agent: "A".into(),
            tool: "t".into(),
            reason: String::new(),
            batch: Batch { id: BatchId(1), index: id, of: 1 },
            change,
            checks: vec![],
            facts: Facts::default(),
        });
    }
    (proposals, Kept(kept))
}

#[tokio::test]
async fn a_call_that_is_taken_up_again_is_answered_as_one_that_was_not_cut_off() {
    let desk = ToolBench::new();
    desk.write("a.c", "int a;\r\nint b;\r\nint c;\r\n");
    desk.write("b.c", "int x;\nint y;\n\nint z;\n");
    desk.write("c.c", "int p;\nint q;\n\nint r;\n");
    let diff = "--- a/a.c\n+++ b/a.c\n@@ -7,3 +7,3 @@\n int a;\n-int b;\n+int z;\n int c;\n";
    let insertions = json!([
        { "file_name": "b.c", "context": "int x;\nint  y;", "insertion_code": "int new;", "includes": ["<string.h>"] },
        { "file_name": "c.c", "context": "int p;\nint q;", "insertion_code": "int r;" },
    ]);
    for (tool, args, field) in [
        ("write_file", json!({ "path": "a.c", "diff": diff }), "hunks"),
        ("insert_code", json!({ "insertions": insertions }), "places"),
    ] {
        let (drafts, finish) = proposed(&desk, tool, args.clone()).await;
        let done: Vec<Settlement> = (1..).zip(&drafts).map(|(id, _)| applied(id)).collect();
        let whole = finish(done.clone()).await.unwrap();
        let (proposals, kept) = recorded(&drafts);
        // The change is on the disk by now.
        for draft in &drafts {
            let (path, content) = text(draft);
            desk.write(path, content);
        }
        let tool = desk.tool(tool);
        let again = tool.finish_recorded(&args, &proposals, &kept).await;
        let again = again(done.clone()).await.unwrap();
        assert!(whole[field].as_array().is_some_and(|reported| !reported.is_empty()), "{whole}");
        assert_eq!(again, whole);
        // Where the content is lost, the rest is told.
        let lost = tool.finish_recorded(&args, &proposals, &Kept(Vec::new())).await;
        assert_eq!(lost(done).await.unwrap().get(field), None);
    }
}
