//! Tests of the tools that teams use on projects they did not write.

use serde_json::json;

use super::tool_tests::Desk;
use super::*;

#[tokio::test]
async fn headers_are_read_as_declarations_and_all_files_are_listed() {
    let mut desk = Desk::new();
    desk.context.limits = Limits::default();
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
         ### Header: main/include/led.h ###\nint led_on(int a);\n#define LED(n)\n\n\
         ### Header: main/latin.h ###\n\n"
    );
    assert_eq!(read["headers"], 3);
    assert_eq!(read["files"]["main"], json!(["bad.h", "latin.h", "main.c"]));
    assert_eq!(read["cut"], json!([{ "path": "main/bad.h", "why": "it is not UTF-8 text" }]));
    let part = desk.answer("read_header_files", json!({ "folder": "components" })).await;
    assert_eq!(part["headers"], 1);
    let outside = desk.call("read_header_files", json!({ "folder": "../x" })).await;
    assert_eq!(outside.err().unwrap().code, "bad_path");
}

#[tokio::test]
async fn headers_beyond_the_answer_are_named() {
    let desk = Desk::new();
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
    let desk = Desk::new();
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
