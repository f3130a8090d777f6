//! Without a screen: exit codes, and events on standard output.

use std::fs;
use std::process::Command;
use std::time::Duration;

use firmhand::model::{Event, PortEvent, ProposalEvent, Record, SessionEvent, SessionOutcome};

use crate::place::Place;

const TASK: &str = "Generate an I2C driver for the ESP32";

fn policy(place: &Place, text: &str) -> String {
    let file = place.config().join("rules.toml");
    fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn allowed_everything_the_run_completes_and_prints_every_record() {
    let place = Place::new();
    let policy = policy(&place, "[[policy]]\ndecide = \"allow\"\n");
    let project = place.project().to_str().unwrap().to_owned();
    let run = ["run", TASK, "--speed", "max", "--json", "--policy", &policy, "--project", &project];
    let output = place.run(&run);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let printed: Vec<Record> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let journal = place.journal();
    assert_eq!(printed, journal[..printed.len()]);
    let end = Event::Session(SessionEvent::Ended { outcome: SessionOutcome::Completed });
    let at = printed.iter().position(|record| record.event == end).expect("an end");
    // The board runs on when the team is done; nobody has to wait for its last words.
    for record in &journal[at + 1..] {
        let event = &record.event;
        let is_of_board = matches!(
            event,
            Event::Log(_)
                | Event::Port(PortEvent::Changed { .. })
                | Event::Port(PortEvent::Closed { .. })
        );
        assert!(is_of_board, "{event:?}");
    }
    assert!(place.project().join("CMakeLists.txt").exists());
}

#[test]
fn without_rules_nothing_is_written_and_the_run_does_not_succeed() {
    let place = Place::new();
    let project = place.project().to_str().unwrap().to_owned();
    let output = place.run(&["run", TASK, "--speed", "max", "--json", "--project", &project]);
    let code = output.status.code().expect("an exit code");
    assert!([3, 4].contains(&code), "exit code {code}");
    assert!(!place.project().join("CMakeLists.txt").exists());
    for event in place.events() {
        if let Event::Proposal(ProposalEvent::Settled { outcome, .. }) = event {
            assert_eq!(outcome, firmhand::model::Outcome::Denied);
        }
    }
}

#[test]
fn wrong_usage_and_wrong_files_have_their_own_codes_and_a_sentence() {
    let place = Place::new();
    let said = |args: &[&str]| {
        let output = place.run(args);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(!errors.contains("panicked"), "{errors}");
        (output.status.code(), errors)
    };
    assert_eq!(said(&["run"]).0, Some(2));
    assert_eq!(said(&["unheard-of"]).0, Some(2));
    let (code, words) = said(&["run", TASK, "--policy", "/nowhere/rules.toml"]);
    assert!(code == Some(1) && words.contains("/nowhere/rules.toml"), "{code:?} {words}");
    let bad = policy(&place, "[[policy]]\ndecide = \"perhaps\"\n");
    let (code, words) = said(&["run", TASK, "--policy", &bad]);
    assert!(code == Some(1) && words.contains("rules.toml, line 2"), "{code:?} {words}");
    let (code, words) = said(&["run", TASK, "--team", "generte"]);
    assert!(code == Some(1) && words.contains("generate"), "{code:?} {words}");
    let (code, words) = said(&["replay", "no-such-session"]);
    assert!(code == Some(1) && words.contains("no-such-session"), "{code:?} {words}");
}

#[test]
fn without_a_terminal_the_desk_says_so() {
    let place = Place::new();
    let output = place.run(&["demo"]);
    let words = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(words.contains("terminal") && words.contains("firmhand run"), "{words}");
}

#[test]
fn a_fresh_home_has_no_sessions_and_says_how_to_begin() {
    let place = Place::new();
    let output = place.run(&["sessions"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8(output.stdout).unwrap().contains("firmhand demo"));
    assert_eq!(place.run(&["--version"]).status.code(), Some(0));
}

#[test]
fn tools_that_find_facts_answer_with_one_object() {
    let place = Place::new();
    let project = place.project().to_str().unwrap().to_owned();
    fs::create_dir_all(place.project()).unwrap();
    fs::write(place.project().join("a.c"), "int a;\n").unwrap();
    fs::write(place.project().join("build.log"), "../main/main.c:3:1: error: no\n").unwrap();
    let own = place.config().join("assets/pinout");
    fs::create_dir_all(&own).unwrap();
    let table = r#"{"chip": "MY-CHIP", "source": ["me"], "warnings": {}, "pins": [{"gpio": 7}]}"#;
    fs::write(own.join("mychip.json"), table).unwrap();
    for (tool, args, is_ok, pointer, expected) in [
        ("get_pinout_info", r#"{"chip": "ESP32-C3", "pin": "IO9"}"#, true, "/name", "GPIO9"),
        ("get_pinout_info", r#"{"chip": "my-chip", "pin": 7}"#, true, "/source/0", "me"),
        ("get_pinout_info", r#"{"chip": "esp32", "pin": 99}"#, false, "/error/code", "unknown_pin"),
        ("scan_i2c", "{}", true, "/devices/0", "0x3C"),
        ("run_static_analysis", r#"{"timeout": 0}"#, false, "/error/code", "bad_arguments"),
        (
            "check_change",
            r#"{"path": "a.c", "content": "int b;"}"#,
            true,
            "/changes/0/kind",
            "save",
        ),
        ("check_change", r#"{"path": "a.c"}"#, false, "/error/code", "bad_arguments"),
        ("check_change", "{path}", false, "/error/code", "bad_arguments"),
        ("list_boards", "{}", true, "/toolchain", "virtual board"),
        ("no_such_tool", "{}", false, "/error/code", "unknown_tool"),
        ("list_boards", "{port}", false, "/error/code", "bad_arguments"),
        ("read_build_log", r#"{"path": "build.log"}"#, true, "/errors/0/file", "main/main.c"),
        ("read_build_log", r#"{"path": "none.log"}"#, false, "/error/code", "bad_arguments"),
    ] {
        let output = place.run(&["tool", tool, "--args", args, "--project", &project]);
        let printed = String::from_utf8(output.stdout).unwrap();
        assert_eq!(printed.trim_end().lines().count(), 1, "{tool}: {printed}");
        let answer: serde_json::Value = serde_json::from_str(&printed).unwrap();
        assert_eq!(answer["ok"], is_ok, "{tool} {args}: {answer}");
        assert_eq!(output.status.code(), Some(i32::from(!is_ok)), "{tool}");
        assert_eq!(answer.pointer(pointer).unwrap(), expected, "{tool} {args}: {answer}");
    }
}

#[test]
fn what_a_single_tool_would_change_is_decided_by_a_policy() {
    let place = Place::new();
    let project = place.project().to_str().unwrap().to_owned();
    fs::create_dir_all(place.project()).unwrap();
    fs::write(place.project().join("a.c"), "int a;\n").unwrap();
    let diff = "--- a/a.c\n+++ b/a.c\n@@ -1,1 +1,1 @@\n-int a;\n+int b;\n";
    let args = serde_json::json!({ "path": "a.c", "diff": diff }).to_string();
    let call = |rules: Option<&str>| {
        let mut all = vec!["tool", "write_file", "--args", &args, "--project", &project];
        let file = rules.map(|rules| policy(&place, rules));
        if let Some(file) = &file {
            all.extend(["--policy", file]);
        }
        let answer: serde_json::Value = serde_json::from_slice(&place.run(&all).stdout).unwrap();
        let text = fs::read_to_string(place.project().join("a.c")).unwrap();
        (answer, text)
    };
    let (answer, text) = call(None);
    assert_eq!((&answer["error"]["code"], text.as_str()), (&"needs_approval".into(), "int a;\n"));
    let (answer, text) = call(Some("[[policy]]\ntool = \"flash_project\"\ndecide = \"allow\"\n"));
    assert_eq!(text, "int a;\n", "{answer}");
    assert!(answer.to_string().contains("no rule of the policy file allows it"), "{answer}");
    let (answer, text) = call(Some("[[policy]]\ndecide = \"allow\"\n"));
    assert_eq!((&answer["applied"], text.as_str()), (&true.into(), "int b;\n"), "{answer}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_build_waits_for_the_one_that_the_person_runs() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let project = place.project();
    fs::create_dir_all(project.join("build")).unwrap();
    fs::write(project.join("tick.ino"), "void setup() {}\nvoid loop() {}\n").unwrap();
    let ninja = place.path("ninja");
    fs::write(&ninja, "#!/bin/sh\nwhile [ ! -e go ]; do sleep 0.05; done\n").unwrap();
    fs::set_permissions(&ninja, fs::Permissions::from_mode(0o755)).unwrap();
    let mut other = Command::new(&ninja).current_dir(project.join("build")).spawn().unwrap();
    let tool = ["tool", "build_arduino", "--project", project.to_str().unwrap()];
    let mut build = place.command(&tool).stdout(std::process::Stdio::piped()).spawn().unwrap();
    // A build of so little takes less than that.
    std::thread::sleep(Duration::from_secs(4));
    assert!(build.try_wait().unwrap().is_none(), "it builds at the same time");
    assert!(!project.join("build/tick.elf").exists());
    fs::write(project.join("build/go"), "").unwrap();
    assert!(other.wait().unwrap().success());
    let answer = build.wait_with_output().unwrap();
    let told = String::from_utf8(answer.stdout).unwrap();
    assert!(told.contains(r#""ok":true"#), "{told}");
}

#[test]
fn what_one_call_flashes_to_the_simulated_board_is_there_for_the_next_one() {
    let place = Place::new();
    let project = place.project();
    fs::create_dir_all(&project).unwrap();
    let sketch = project.join("tick.ino");
    let source = "void setup() { Serial.begin(115200); }\n\
                  void loop() { Serial.println(\"tick\"); delay(50); }\n";
    fs::write(&sketch, source).unwrap();
    let project = project.to_str().unwrap();
    let rules = policy(&place, "[[policy]]\nkind = \"flash\"\ndecide = \"allow\"\n");
    let call = |tool: &str, args: &str, rest: &[&str]| -> serde_json::Value {
        let mut all = vec!["tool", tool, "--args", args, "--project", project];
        all.extend(rest);
        serde_json::from_slice(&place.run(&all).stdout).unwrap()
    };
    let listen = r#"{"until": "^tick", "timeout": 20}"#;
    let answer = call("monitor_serial", listen, &[]);
    assert_eq!(answer["error"]["code"], "no_board", "nothing was flashed: {answer}");
    let answer = call("flash_arduino", "{}", &["--policy", &rules]);
    assert_eq!(answer["ok"], true, "{answer}");
    for port in ["", r#""port": "virtual", "#] {
        let answer = call("monitor_serial", &listen.replace('{', &format!("{{{port}")), &[]);
        assert_eq!(answer["ok"], true, "{answer}");
        assert!(answer.to_string().contains("tick"), "{answer}");
    }
}

#[test]
fn the_log_of_a_build_is_diagnosed() {
    let place = Place::new();
    let log = place.config().join("build.log");
    fs::create_dir_all(place.config()).unwrap();
    let text = "Running ninja in directory /project/lamp/build\n\
                /opt/idf/err.h:9:3: error: void value not ignored as it ought to be\n\
                /project/lamp/main/lamp.c:7:5: note: in expansion of macro 'ESP_ERROR_CHECK'\n\
                /project/lamp/main/lamp.c:8:5: warning: unused variable 'x' [-Wunused-variable]\n";
    fs::write(&log, text).unwrap();
    let output = place.run(&["diagnose", log.to_str().unwrap()]);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert_eq!(
        printed,
        "main/lamp.c:7:5: error: void value not ignored as it ought to be\n\
         main/lamp.c:8:5: warning: unused variable 'x' [-Wunused-variable]\n"
    );
    let output =
        place.run(&["diagnose", log.to_str().unwrap(), "--json", "--project", "/elsewhere"]);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["errors"][0]["file"], "main/lamp.c", "{answer}");
    assert_eq!(answer["warnings"][0]["line"], 8, "{answer}");
    fs::write(&log, "[1/1] Linking\nDone\n").unwrap();
    let output = place.run(&["diagnose", log.to_str().unwrap()]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    assert_eq!(place.run(&["diagnose", "/nowhere/x.log"]).status.code(), Some(1));
}

#[test]
fn every_tool_is_listed_with_what_it_does() {
    let place = Place::new();
    let output = place.run(&["tool"]);
    assert_eq!(output.status.code(), Some(0));
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.lines().count() > 20, "{printed}");
    for line in printed.lines() {
        let (name, about) = line.split_once(' ').unwrap();
        assert!(!name.is_empty() && about.trim().ends_with('.'), "{line}");
    }
    assert!(printed.contains("get_pinout_info"));
}

#[test]
fn what_a_tool_answers_is_json_without_anything_that_a_terminal_acts_on() {
    let place = Place::new();
    let project = place.project().to_str().unwrap().to_owned();
    let content = "soft\u{ad}hyphen \u{9b}31m \u{1b}]0;x\u{7} \u{202e}\u{feff}\u{7f} e\u{301}\n";
    fs::create_dir_all(place.project()).unwrap();
    fs::write(place.project().join("odd.c"), content).unwrap();
    let args = r#"{"path": "odd.c"}"#;
    let output = place.run(&["tool", "read_file", "--args", args, "--project", &project]);
    let printed = String::from_utf8(output.stdout).unwrap();
    let answer: serde_json::Value = serde_json::from_str(&printed).expect(&printed);
    assert_eq!(answer["ok"], true, "{printed}");
    assert!(answer.to_string().contains("soft\u{ad}hyphen"), "the value is whole: {printed}");
    assert!(printed.trim_end().chars().all(|c| !c.is_control()), "{printed:?}");
    assert!(!printed.contains(['\u{ad}', '\u{202e}', '\u{feff}']), "{printed:?}");
}

#[test]
fn what_was_typed_wrongly_is_repeated_without_escapes() {
    let place = Place::new();
    let evil = "PWN\u{1b}]0;x\u{7}\u{9b}31m\u{202e}";
    for args in [&[evil][..], &["sessions", evil], &["run", "x", "--max-minutes", evil]] {
        let output = place.run(args);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("PWN␛]0;x␇"), "{said:?}");
        assert!(said.chars().all(|c| c == '\n' || !c.is_control()), "{said:?}");
        assert!(!said.contains('\u{202e}'), "{said:?}");
    }
}

#[test]
fn manual_pages_are_written_and_can_be_formatted() {
    let place = Place::new();
    let folder = place.path("man");
    let output = place.run(&["help", "--man", folder.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let pages: Vec<_> = fs::read_dir(&folder).unwrap().map(|page| page.unwrap().path()).collect();
    assert!(pages.len() > 20, "{pages:?}");
    let formatters: [(&str, &[&str]); 2] =
        [("mandoc", &["-T", "lint", "-W", "error"]), ("groff", &["-man", "-Tutf8", "-ww", "-z"])];
    for (program, args) in formatters {
        for page in &pages {
            let run = Command::new(program).args(args).arg(page).output();
            // Not installed everywhere.
            let Ok(run) = run else { break };
            let complaints = String::from_utf8_lossy(&run.stderr).into_owned()
                + &String::from_utf8_lossy(&run.stdout);
            assert!(
                run.status.success() && complaints.is_empty(),
                "{program} {page:?}: {complaints}"
            );
        }
    }
    assert_eq!(place.run(&["help", "keys", "--man", "x"]).status.code(), Some(2));
}
