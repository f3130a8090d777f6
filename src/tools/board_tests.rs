//! Tests of the tools that build, flash and listen, through the registry, with a recorded
//! toolchain and a pseudo-terminal in the board's place.

mod bench;
mod memory;

use std::io::Write;

use serde_json::{Value, json};

use super::*;
use crate::model::{
    BuildEvent, BuildId, BuildOutcome, CheckKind, ContentHash, DraftChange, Event, LogId, LogKind,
    Outcome, PortChange, PortEvent, SerialControl, Severity, Timestamp, ToolName, UserError,
    Verdict,
};
use bench::{BoardBench, finding, settlement};

const BUILD_LOG: LogId = LogId { kind: LogKind::Build, number: 1 };

#[tokio::test]
async fn a_build_waits_for_another_one_and_takes_only_its_own_folder() {
    let bench = BoardBench::new(BuildOutcome::Passed, vec![]);
    let other = bench.answer("build_project", json!({ "project_path": "main" })).await;
    assert_eq!(other["error"]["code"], "bad_path", "{other}");
    let root = bench.folder.path().canonicalize().unwrap();
    let answer = bench.answer("build_project", json!({ "project_path": root })).await;
    assert_eq!(answer["ok"], true, "{answer}");
    assert!(answer["toolchain"].is_string(), "{answer}");
    let held = crate::files::open_folder(&root).unwrap();
    held.lock().unwrap();
    bench.cancel.cancel();
    let waiting = bench.answer("build_project", json!({ "project_path": "." })).await;
    assert_eq!(waiting["error"]["code"], "stopped", "{waiting}");
    assert_eq!(waiting["build"], Value::Null, "it has not begun");
}

#[tokio::test]
async fn a_build_is_recorded_from_its_start_to_its_end() {
    let warning = finding(Severity::Warning, 4);
    let bench = BoardBench::new(BuildOutcome::Passed, vec![warning.clone()]);
    let answer = bench.answer("build_project", json!({})).await;
    assert_eq!((&answer["ok"], &answer["build"]), (&json!(true), &json!(1)));
    assert_eq!((&answer["errors"], &answer["warnings"]), (&json!([]), &json!([warning])));
    let events = bench.kept.events.lock().unwrap().clone();
    let command = "make".to_owned();
    assert_eq!(
        events[0],
        Event::Build(BuildEvent::Started { build: BuildId(1), log: BUILD_LOG, command })
    );
    assert!(matches!(
        events.last(),
        Some(Event::Build(BuildEvent::Ended { build: BuildId(1), .. }))
    ));
    let last = Event::Build(BuildEvent::Progress { build: BuildId(1), done: 1000, total: 1000 });
    assert!(events.contains(&last) && events.len() < 500, "{}", events.len());
    let log = bench.kept.logs.lock().unwrap()[&BUILD_LOG].clone();
    assert_eq!(log.iter().filter(|&&byte| byte == b'\n').count(), 1000);
    let again = bench.answer("build_project", json!({})).await;
    assert_eq!(again["build"], 2);
}

#[tokio::test]
async fn the_size_of_what_passed_is_told_against_the_build_before() {
    let bench = BoardBench::new(BuildOutcome::Passed, Vec::new());
    let memory = |bytes: u64| json!({ "name": "flash", "bytes": bytes, "limit": 4096 });
    let first = bench.answer("build_project", json!({})).await;
    assert_eq!(first["size"], json!({ "program": "a.elf", "memory": [memory(1000)] }));
    let mut grown = memory(1010);
    grown["change"] = json!(10);
    let second = bench.answer("build_project", json!({})).await;
    assert_eq!(second["size"]["memory"], json!([grown]));
    let events = bench.kept.events.lock().unwrap().clone();
    let recorded = events.iter().filter_map(|event| match event {
        Event::Build(BuildEvent::Ended { size, .. }) => {
            size.as_ref().map(|size| size.uses[0].bytes)
        }
        _ => None,
    });
    assert_eq!(recorded.collect::<Vec<_>>(), [1000, 1010]);
    let bench = BoardBench::new(BuildOutcome::Failed, Vec::new());
    assert_eq!(bench.answer("build_project", json!({})).await.get("size"), None);
}

#[tokio::test]
async fn errors_are_told_first_and_within_the_bound() {
    let found = (1..=5)
        .map(|line| finding(if line < 3 { Severity::Error } else { Severity::Warning }, line))
        .collect();
    let bench = BoardBench::new(BuildOutcome::Failed, found);
    let answer = bench.answer("build_project", json!({})).await;
    assert_eq!((&answer["ok"], &answer["error"]["code"]), (&json!(false), &json!("build_failed")));
    assert_eq!(answer["errors"].as_array().unwrap().len(), 2);
    assert_eq!((&answer["warnings"][0]["line"], &answer["omitted"]), (&json!(3), &json!(2)));
    assert_eq!(answer.get("output_tail"), None);
}

#[tokio::test]
async fn a_failure_without_a_finding_shows_the_end_of_the_output() {
    let bench = BoardBench::new(BuildOutcome::Failed, Vec::new());
    let answer = bench.answer("build_project", json!({})).await;
    let tail = answer["output_tail"].as_str().unwrap();
    assert!(tail.starts_with('[') && tail.ends_with("[1000/1000] step"), "{tail}");
    assert!(tail.len() <= 4096);
}

#[tokio::test]
async fn only_a_fresh_build_can_be_flashed() {
    let bench = BoardBench::new(BuildOutcome::Failed, Vec::new());
    assert_eq!(bench.answer("flash_project", json!({})).await["error"]["code"], "not_built");
    bench.answer("build_project", json!({})).await;
    assert_eq!(bench.answer("flash_project", json!({})).await["error"]["code"], "not_built");
    let bench = BoardBench::new(BuildOutcome::Passed, Vec::new());
    bench.answer("build_project", json!({})).await;
    let other = bench.answer("flash_project", json!({ "port": "/dev/ttyUSB7" })).await;
    assert_eq!(other["error"]["code"], "bad_arguments");
    let reply = bench.call("flash_project", json!({})).await;
    let Ok(Reply::Propose { drafts, finish }) = reply else { panic!("no proposal") };
    let checks: Vec<_> = drafts[0].checks.iter().map(|check| (check.kind, check.level())).collect();
    assert_eq!(checks, [(CheckKind::BuildFresh, None)]);
    let DraftChange::Flash(plan) = &drafts[0].change else { panic!("{drafts:?}") };
    assert_eq!((plan.build, plan.built_at), (BuildId(1), Timestamp(7)));
    let rejected = Verdict::reject("wrong board");
    let answer = finish(vec![settlement(rejected, Outcome::Denied)]).await.unwrap();
    assert_eq!(answer["rejected"], "wrong board");
    assert_eq!(answer["flashed"], false);
}

#[tokio::test]
async fn a_flashed_board_is_listened_to_and_nothing_it_says_is_lost() {
    let bench = BoardBench::new(BuildOutcome::Passed, Vec::new());
    assert_eq!(bench.answer("monitor_serial", json!({})).await["error"]["code"], "no_board");
    bench.prints("rst:0x1 (POWERON),boot:0x13 (SPI_FAST_FLASH_BOOT)\n");
    let flashed = bench.flashed().await;
    let (ok, bytes, log) = (&flashed["ok"], &flashed["bytes"], &flashed["serial_log"]);
    assert_eq!((ok, bytes, log), (&json!(true), &json!(5), &json!("serial-1")));
    bench.prints("\x1b[0;32mI (10) app: found 0x3C\x1b[0m\nI (11) app: later\n");
    let args = json!({ "until": "found 0x[0-9A-F]+", "timeout": 100 });
    let received = bench.answer("monitor_serial", args).await;
    assert_eq!((&received["ok"], &received["matched"]), (&json!(true), &json!(true)));
    assert_eq!(received["matched_line"], "I (10) app: found 0x3C");
    assert_eq!(received["resets"], json!(["0x1 (POWERON)"]));
    assert!(!received["log"].as_str().unwrap().contains('\u{1b}'));
    assert_eq!(received["disconnected"], Value::Null);
    bench.prints("Guru Meditation Error: Core 0 panic'ed\nBacktrace: 0x1:0x2\nend\n");
    let received = bench.answer("monitor_serial", json!({ "until": "^end$" })).await;
    let log = received["log"].as_str().unwrap();
    assert!(!log.contains("found"), "told twice: {log}");
    let panic = &received["panics"][0];
    assert_eq!(panic["message"], "Guru Meditation Error: Core 0 panic'ed");
    assert_eq!((&panic["kind"], &panic["core"]), (&json!("exception"), &json!(0)));
    assert_eq!(panic["traces"][0]["frames"][0]["pc"], "0x00000001");
}

#[tokio::test]
async fn a_board_that_goes_away_ends_listening() {
    let bench = BoardBench::new(BuildOutcome::Passed, Vec::new());
    bench.flashed().await;
    let BoardBench { master, kept, registry, .. } = bench;
    (&master).write_all(b"last words\n").unwrap();
    let tool = registry.get(&ToolName::from("monitor_serial")).unwrap();
    let Ok(Reply::Answer(received)) = tool.call(json!({ "until": "words" })).await else {
        panic!("no answer")
    };
    assert_eq!(received["matched"], true);
    drop(master);
    let Ok(Reply::Answer(received)) = tool.call(json!({ "timeout": 100 })).await else {
        panic!("no answer")
    };
    assert!(received["disconnected"].is_string(), "{received}");
    let lost = |event: &Event| {
        matches!(event, Event::Port(PortEvent::Changed { event: PortChange::Lost { .. }, .. }))
    };
    assert!(kept.events.lock().unwrap().iter().any(lost));
}

#[tokio::test]
async fn listening_ends_with_the_run_and_refuses_nonsense() {
    let bench = BoardBench::new(BuildOutcome::Passed, Vec::new());
    bench.flashed().await;
    for (args, field) in [
        (json!({ "until": "(" }), "until"),
        (json!({ "timeout": 0 }), "timeout"),
        (json!({ "timeout": 1000 }), "timeout"),
    ] {
        let answer = bench.answer("monitor_serial", args).await;
        assert!(answer["error"]["message"].as_str().unwrap().starts_with(field), "{answer}");
    }
    bench.cancel.cancel();
    let received = bench.answer("monitor_serial", json!({ "until": "x", "timeout": 100 })).await;
    // The port ends with the run as well, whichever comes first.
    let is_closed = received["error"]["code"] == "cannot_listen";
    assert!(is_closed || received["matched"] == false, "{received}");
}

#[tokio::test]
async fn what_the_old_firmware_said_is_not_the_new_ones() {
    let bench = BoardBench::new(BuildOutcome::Passed, Vec::new());
    bench.flashed().await;
    bench.prints("I (1) app: done\n");
    bench.answer("build_project", json!({})).await;
    let reply = bench.call("flash_project", json!({})).await;
    let Ok(Reply::Propose { finish, .. }) = reply else { panic!("no proposal") };
    // The last line tells no reset, though it looks like one.
    bench.prints(
        "I (2) app: done\nrst:0xc (SW_CPU_RESET)\nI (1) app: fresh\nI (2) dma: burst:0x1 (x)\n",
    );
    let applied = settlement(Verdict::Approve, Outcome::Applied);
    let flashed = finish(vec![applied]).await.unwrap();
    assert_eq!(flashed["serial_log"], "serial-1", "{flashed}");
    let received = bench.answer("monitor_serial", json!({ "until": "app:" })).await;
    assert_eq!(received["matched_line"], "I (1) app: fresh");
}

#[tokio::test]
async fn a_port_that_is_open_is_listened_to_as_the_new_firmware_talks() {
    let bench = BoardBench::new(BuildOutcome::Passed, Vec::new());
    bench.flashed().await;
    let retuned = || {
        let baud = |event: &Event| match event {
            Event::Port(PortEvent::Changed {
                event: PortChange::Controlled(SerialControl::Baud(baud)),
                ..
            }) => Some(*baud),
            _ => None,
        };
        bench.kept.events.lock().unwrap().iter().filter_map(baud).collect::<Vec<_>>()
    };
    for (args, then) in [
        (json!({}), vec![]),
        (json!({ "baud": 921_600 }), vec![921_600]),
        (json!({ "baud": 921_600 }), vec![921_600]),
        // A project that does not say how it talks changes nothing.
        (json!({}), vec![921_600]),
    ] {
        bench.answer("build_project", json!({})).await;
        let Ok(Reply::Propose { finish, .. }) = bench.call("flash_project", args.clone()).await
        else {
            panic!("no proposal")
        };
        let answer = finish(vec![settlement(Verdict::Approve, Outcome::Applied)]).await.unwrap();
        assert_eq!((&answer["flashed"], &answer["not_retuned"]), (&json!(true), &Value::Null));
        assert_eq!(retuned(), then, "{args}");
    }
}

#[tokio::test]
async fn a_scan_that_was_printed_is_told_and_stays_unheard_by_the_monitor() {
    let bench = BoardBench::new(BuildOutcome::Passed, Vec::new());
    assert_eq!(bench.answer("scan_i2c", json!({})).await["error"]["code"], "no_board");
    bench.flashed().await;
    bench.prints("rst:0x1 (POWERON)\nfound 0x50\nscan done\n");
    bench.prints("rst:0xc (SW_CPU_RESET)\nscanning\nI (1) a: found a device at 0x3c\n");
    bench.prints("I (2) a: found a device at 0x76\nI (3) a: 2 devices on the bus\n");
    bench.prints("I (4) dma: burst:0x1 (x)\n");
    let reported = bench.answer("scan_i2c", json!({ "timeout": 60 })).await;
    let expected = (json!(true), json!(["0x3C", "0x76"]), json!(true));
    assert_eq!(
        (&reported["ok"], &reported["devices"], &reported["complete"]),
        (&expected.0, &expected.1, &expected.2)
    );
    assert_eq!(reported["since"], "the last reset");
    assert_eq!(reported["evidence"].as_array().unwrap().len(), 4, "{reported}");
    let received = bench.answer("monitor_serial", json!({ "until": "2 devices" })).await;
    assert_eq!(received["matched"], true, "{received}");
    let BoardBench { master, kept: _kept, registry, .. } = bench;
    drop(master);
    // What was said before the board went away still counts.
    let tool = registry.get(&ToolName::from("scan_i2c")).unwrap();
    let Ok(Reply::Answer(reported)) = tool.call(json!({})).await else { panic!("no answer") };
    assert_eq!(reported["devices"], expected.1);
}

#[tokio::test]
async fn firmware_that_does_not_scan_brings_a_scanner() {
    let bench = BoardBench::new(BuildOutcome::Passed, Vec::new());
    bench.flashed().await;
    let silent = bench.answer("scan_i2c", json!({ "timeout": 1 })).await;
    assert!(silent["error"]["message"].as_str().unwrap().ends_with("has printed nothing"));
    bench.prints("I (1) app: temp=21.4\n");
    let reported = bench.answer("scan_i2c", json!({ "timeout": 1 })).await;
    assert_eq!((&reported["ok"], &reported["error"]["code"]), (&json!(false), &json!("no_scan")));
    let hint = reported["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("main/main.c") && hint.contains("flash_project"), "{hint}");
    assert_eq!(reported["scanner"]["file_name"], "main/main.c");
    assert!(reported["scanner"]["code"].as_str().unwrap().contains("i2c_master_probe"));
    std::fs::write(bench.folder.path().join("blink.ino"), "void setup() {}\n").unwrap();
    let reported = bench.answer("scan_i2c", json!({ "timeout": 1 })).await;
    assert_eq!(reported["scanner"]["file_name"], "blink.ino");
    assert!(reported["scanner"]["code"].as_str().unwrap().contains("Wire.begin"));
    bench.prints("Type 'help'\ni2c-tools> \n");
    let reported = bench.answer("scan_i2c", json!({ "timeout": 1 })).await;
    assert!(reported["error"]["hint"].as_str().unwrap().contains("`i2cdetect`"), "{reported}");
    let refused = bench.answer("scan_i2c", json!({ "timeout": 0 })).await;
    assert_eq!(refused["error"]["code"], "bad_arguments");
}

#[tokio::test]
async fn what_is_sent_is_proposed_with_its_line_end() {
    let bench = BoardBench::new(BuildOutcome::Passed, Vec::new());
    let none = bench.answer("serial_send", json!({ "text": "help" })).await;
    assert_eq!(none["error"]["code"], "no_board");
    let gone = json!({ "text": "help", "port": "/dev/no-such-port" });
    let gone = bench.answer("serial_send", gone).await;
    assert_eq!(gone["error"]["code"], "cannot_send");
    for (args, text) in [
        (json!({ "text": "help" }), "help\n"),
        (json!({ "text": "help", "line_end": "crlf" }), "help\r\n"),
        (json!({ "text": "\u{3}", "line_end": "none" }), "\u{3}"),
    ] {
        let mut args = args;
        args["port"] = json!(bench.board.port);
        let reply = bench.call("serial_send", args).await;
        let Ok(Reply::Propose { drafts, finish }) = reply else { panic!("no proposal") };
        let DraftChange::Send(plan) = &drafts[0].change else { panic!("{drafts:?}") };
        assert_eq!((plan.text.as_str(), &plan.board.port), (text, &bench.board.port));
        let sent = finish(vec![settlement(Verdict::Approve, Outcome::Applied)]).await.unwrap();
        assert_eq!((&sent["sent"], &sent["bytes"]), (&json!(true), &json!(text.len())));
    }
    let port = &bench.board.port;
    for text in [String::new(), "x".repeat(5000)] {
        let args = json!({ "text": text, "port": port, "line_end": "none" });
        assert_eq!(bench.answer("serial_send", args).await["error"]["code"], "bad_arguments");
    }
    let reply = bench.call("serial_send", json!({ "text": "reboot", "port": port })).await;
    let Ok(Reply::Propose { finish, .. }) = reply else { panic!("no proposal") };
    let refused = settlement(Verdict::reject("not now"), Outcome::Denied);
    let answer = finish(vec![refused]).await.unwrap();
    assert_eq!((&answer["sent"], &answer["rejected"]), (&json!(false), &json!("not now")));
}
