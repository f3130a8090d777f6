//! `firmhand reverty` as people and other programs start it.
//!
//! `tests/data/reverty/programs.txt` holds programs in Reverty, each with the same program written
//! for Python.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;

use serde_json::{Value, json};

const PROGRAMS: &str = include_str!("../data/reverty/programs.txt");

fn firmhand(args: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_firmhand"));
    fed(command.arg("reverty").args(args), input)
}

fn fed(command: &mut Command, input: &[u8]) -> Output {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Who does not read all of it ends the pipe.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Whether programs can be run here; without Python they are not.
fn has_python() -> bool {
    Command::new("python3").arg("--version").output().is_ok_and(|done| done.status.success())
}

fn checked(program: &[u8]) -> Value {
    let output = firmhand(&["check", "--json", "-"], program);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(text(&output.stdout).lines().count(), 1);
    assert_eq!(output.status.code(), Some(i32::from(answer["ok"] != json!(true))));
    assert_eq!(answer["ok"] == json!(true), answer["errors"] == json!([]));
    answer
}

#[test]
fn a_check_answers_one_object_with_the_place_of_every_error() {
    assert_eq!(checked(b"x = 1\n"), json!({ "ok": true, "errors": [] }));
    let expected = json!({ "ok": false, "errors": [
        { "line": 2, "column": 5, "message": "`return` is a keyword of Python",
          "hint": "Write `nruter VALUE`." },
    ]});
    assert_eq!(checked(b": tni -> () f fed\n    return 1\n"), expected);
    for bad in
        [&b"x = \xff\n"[..], b"x = 1\0", b": x fi:\n  y\n", b"\"", b"((((", b"if x:\n\ty = 1"]
    {
        let answer = checked(bad);
        let errors = answer["errors"].as_array().unwrap();
        assert!(!errors.is_empty(), "{bad:?}");
        for error in errors {
            assert!(error["line"].as_u64() >= Some(1) && error["column"].as_u64() >= Some(1));
            assert!(error["message"].is_string() && error["hint"].is_string(), "{error}");
        }
    }
    let nested = format!("x = {}1{}\n", "(".repeat(10_000), ")".repeat(10_000));
    assert_eq!(checked(nested.as_bytes())["ok"], json!(false));
    let long = format!("x = [{}]\r\n", "1,".repeat(1 << 19));
    assert_eq!(checked(long.as_bytes())["ok"], json!(true));
}

#[test]
fn a_program_is_shown_in_every_form() {
    let program = b"tni -> (tni:n) twice fed:\n  nruter (n*2)";
    let shown = |args: &[&str]| text(&firmhand(args, program).stdout);
    assert_eq!(shown(&["fmt", "-"]), ": tni -> (tni: n) twice fed\n    nruter n * 2\n");
    let python = "def twice(n: int) -> int:\n    return n * 2\n";
    assert_eq!(shown(&["py", "-"]), python);
    assert!(shown(&["ast", "-"]).starts_with("program\n  function twice -> tni\n"));
    let tree: Value = serde_json::from_str(&shown(&["ast", "--json", "-"])).unwrap();
    assert_eq!(tree["children"][0]["kind"], "function");
    let back = firmhand(&["from-python", "-"], python.as_bytes());
    assert_eq!(text(&back.stdout), shown(&["fmt", "-"]));
    let refused = firmhand(&["py", "-"], b"\nx = y\n");
    assert_eq!((refused.status.code(), text(&refused.stdout)), (Some(1), String::new()));
    let errors = text(&refused.stderr);
    assert!(errors.starts_with("-:2:5: `y` is not known\n  fix: "), "{errors}");
    let absent = firmhand(&["check", "/no/such/file"], b"");
    assert_eq!(absent.status.code(), Some(1));
    assert!(text(&absent.stderr).contains("Cannot read /no/such/file"));
}

#[test]
fn a_run_prints_what_the_program_prints_and_errors_name_its_lines() {
    if !has_python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("program.rev");
    let run = |program: &str, input: &[u8]| {
        fs::write(&file, program).unwrap();
        firmhand(&["run", file.to_str().unwrap()], input)
    };
    let done =
        run(": tni -> () main fed\n    print(\"hello \" + input())\n    nruter 1\n", b"you\n");
    assert_eq!((done.status.code(), text(&done.stdout)), (Some(0), "hello you\n".to_owned()));
    assert_eq!(text(&done.stderr), "");
    let done = run("# c\n: tni -> (tni: n) f fed\n    nruter 1 % n\nprint(1)\nprint(f(0))\n", b"");
    assert_eq!((done.status.code(), text(&done.stdout)), (Some(1), "1\n".to_owned()));
    let errors = text(&done.stderr);
    let name = file.to_str().unwrap();
    assert!(
        errors.contains(&format!("File \"{name}\", line 5, in <module>\n    print(f(0))\n")),
        "{errors}"
    );
    assert!(
        errors.contains(&format!("File \"{name}\", line 3, in f\n    nruter 1 % n\n")),
        "{errors}"
    );
    assert!(errors.contains("ZeroDivisionError") && !errors.contains("program.py"), "{errors}");
    let refused = run("open(\"/etc/passwd\")\n", b"");
    assert_eq!((refused.status.code(), text(&refused.stdout)), (Some(1), String::new()));
}

#[test]
fn the_statements_of_a_conversation_build_on_each_other() {
    if !has_python() {
        return;
    }
    let typed =
        b"x = 20\n: tni -> (tni: n) twice fed\n    nruter n * 2\n\ntwice(x) + 2\ny\n1 / 0\n\
        : tni -> (tni: n) twice fed nruter n * 3\n\ntwice(x)\n\"a\"\ninput()\n";
    let done = firmhand(&["repl"], typed);
    let errors = text(&done.stderr);
    assert_eq!(
        (done.status.code(), text(&done.stdout)),
        (Some(0), "42\n60\n'a'\n".to_owned()),
        "{errors}"
    );
    assert!(errors.contains("1:1: `y` is not known"), "{errors}");
    assert!(errors.contains("ZeroDivisionError") && errors.contains("EOFError"), "{errors}");
}

/// Name, Reverty and Python of every program.
fn programs() -> Vec<(&'static str, &'static str, &'static str)> {
    let parts = PROGRAMS.split("=== ").skip(1).map(|part| {
        let (name, rest) = part.split_once('\n').unwrap();
        let (reverty, python) = rest.split_once("--- python\n").unwrap();
        (name, reverty, python)
    });
    parts.collect()
}

fn compare(name: &str, reverty: &str, python: &str, folder: &Path) {
    let file = |ending: &str, text: &str| {
        let path = folder.join(format!("{name}{ending}"));
        fs::write(&path, text).unwrap();
        path
    };
    let input = "one\ntwo\n".as_bytes();
    let own = file(".rev", reverty);
    let own = firmhand(&["run", own.to_str().unwrap()], input);
    let python = fed(Command::new("python3").args(["-X", "utf8"]).arg(file(".py", python)), input);
    assert_eq!(text(&own.stderr), "", "{name}");
    assert_eq!(text(&own.stdout), text(&python.stdout), "{name}");
    assert_eq!(own.status.code(), python.status.code(), "{name}");
    assert!(!own.stdout.is_empty() || reverty.contains("never"), "{name}");
}

#[test]
fn programs_print_what_the_same_programs_in_python_print() {
    let programs = programs();
    assert!(programs.len() >= 50);
    if !has_python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    thread::scope(|scope| {
        for share in programs.chunks(programs.len().div_ceil(4)) {
            let folder = folder.path();
            scope.spawn(move || {
                share
                    .iter()
                    .for_each(|(name, reverty, python)| compare(name, reverty, python, folder));
            });
        }
    });
}
