//! Calls that were cut off between what was recorded and what was answered: after coming back every
//! proposal is there, and the agent is told what really became of it.

use std::fs;
use std::io::Write;

use firmhand::model::{Event, ProposalEvent, ProposalId, TurnEvent};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::place::Place;
use crate::terminal::{Size, Terminal};

const TEAM: &str = r#"
name = "edits"
title = "Edits"
description = "Changes files."
[[phases]]
name = "work"
title = "work"
participants = ["Editor"]
selection = "round_robin"
goal = "answered"
terminate = { any = [ { spoke = "Editor" } ] }
"#;

const AGENT: &str = r#"+++
name = "Editor"
description = "Changes files."
tools = ["generate_code", "write_file", "insert_code", "delete_files"]
+++
You change files.
"#;

const RESUME: [&str; 4] = ["resume", "--plain", "--speed", "max"];

/// A place whose only agent makes one call and then says that it is done.
fn place(call: &str) -> Place {
    let place = Place::new();
    let prompts = place.config().join("prompts");
    fs::create_dir_all(prompts.join("teams")).unwrap();
    fs::create_dir_all(prompts.join("agents")).unwrap();
    fs::write(prompts.join("teams/edits.toml"), TEAM).unwrap();
    fs::write(prompts.join("agents/Editor.md"), AGENT).unwrap();
    let script = format!(
        "format = 1\ntitle = \"x\"\ntask = \"x\"\nteam = \"edits\"\nstart = \"one\"\n\
         [timing]\nchars_per_second = 100000\nthink_ms = 0\n\
         [[steps]]\nid = \"one\"\nagent = \"Editor\"\nsay = \"Now.\"\ncalls = [{call}]\n\
         next = [{{ goto = \"two\" }}]\n\
         [[steps]]\nid = \"two\"\nagent = \"Editor\"\nsay = \"Done.\"\nend = true\n"
    );
    fs::write(place.path("script.toml"), script).unwrap();
    fs::create_dir(place.project()).unwrap();
    place
}

fn start(place: &Place) -> Terminal {
    let (script, project) = (place.path("script.toml"), place.project());
    let (script, project) = (script.to_str().unwrap(), project.to_str().unwrap());
    let args = ["new", "x", "--team", "edits", "--script", script, "--project", project, "--plain"];
    place.open(&args, Size::LARGE)
}

/// Waits until both proposals are recorded and the first can be decided.
fn all_proposed(place: &Place, terminal: &mut Terminal) {
    terminal.wait_for("approve 1,");
    place.wait_for_event(terminal, "the last proposal", |event| match event {
        Event::Proposal(ProposalEvent::Made(proposal)) if proposal.batch.index == 2 => Some(()),
        _ => None,
    });
}

fn allow_everything(place: &Place) {
    fs::write(place.config().join("config.toml"), "[[policy]]\ndecide = \"allow\"\n").unwrap();
}

/// What the agent was told, for each call.
fn answers(place: &Place) -> Vec<Value> {
    let answer = |event| match event {
        Event::Turn(TurnEvent::ToolAnswered { result, .. }) => Some(result),
        _ => None,
    };
    place.events().into_iter().filter_map(answer).collect()
}

/// Cuts the journal behind the last record that fits, as a kill at that moment leaves it.
fn cut_behind(place: &Place, is_last: impl Fn(&Event) -> bool) {
    let at = place.journal().iter().rposition(|record| is_last(&record.event)).unwrap();
    let file = place.session().join("journal.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    let kept: String = text.split_inclusive('\n').take(at + 1).collect();
    fs::write(&file, kept).unwrap();
}

#[test]
fn of_two_deletions_the_one_that_was_not_decided_waits_again() {
    let place = place(r#"{ tool = "delete_files", args = { paths = ["a.c", "b.c"] } }"#);
    for name in ["a.c", "b.c"] {
        fs::write(place.project().join(name), format!("int only_in_{};\n", &name[..1])).unwrap();
    }
    let mut terminal = start(&place);
    all_proposed(&place, &mut terminal);
    std::thread::sleep(std::time::Duration::from_millis(500));
    terminal.type_text("approve 1\r");
    let settled = |id: u32| {
        move |event: &Event| match event {
            Event::Proposal(ProposalEvent::Settled { proposal, outcome }) if proposal.0 == id => {
                Some(outcome.clone())
            }
            _ => None,
        }
    };
    place.wait_for_event(&terminal, "the first deletion", settled(1));
    terminal.signal(Signal::KILL);
    terminal.wait_exit();
    assert!(!place.project().join("a.c").exists());
    // As after a power cut, the last line is incomplete.
    let journal = place.session().join("journal.jsonl");
    let mut file = fs::OpenOptions::new().append(true).open(journal).unwrap();
    file.write_all(b"{\"v\":1,\"se").unwrap();

    let mut terminal = place.open(&RESUME, Size::LARGE);
    terminal.wait_for("was damaged at the end");
    terminal.wait_for("approve 2,");
    terminal.wait_for("int only_in_b;");
    assert_eq!(place.waiting(), [ProposalId(2)]);
    assert!(answers(&place).is_empty(), "{:?}", answers(&place));
    std::thread::sleep(std::time::Duration::from_millis(500));
    terminal.type_text("reject 2 it is needed\r");
    assert!(terminal.wait_exit().success());
    let answer = &answers(&place)[0];
    assert_eq!(answer["deleted"], json!(["a.c"]), "{answer}");
    assert_eq!(answer["kept"][0]["reason"], "it is needed", "{answer}");
    assert!(place.project().join("b.c").exists());
}

/// Each kind of file change, and what its answer has to say once it is carried out.
const CHANGES: [(&str, &str, &str, &str); 4] = [
    (
        r#"{ tool = "write_file", args = { path = "a.c", diff = "--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-int a;\n+int z;\n" } }"#,
        "/applied",
        "true",
        "int z;\n",
    ),
    (
        r#"{ tool = "write_file", args = { path = "new.c", diff = "--- /dev/null\n+++ b/new.c\n@@ -0,0 +1 @@\n+int n;\n" } }"#,
        "/applied",
        "true",
        "int a;\n",
    ),
    (
        r#"{ tool = "insert_code", args = { insertions = [{ file_name = "a.c", context = "int a;", insertion_code = "int b;" }] } }"#,
        "/inserted",
        r#"["a.c"]"#,
        "int a;\nint b;\n",
    ),
    (
        r#"{ tool = "generate_code", args = { files = [{ file_name = "a.c", code = "int x;\n" }, { file_name = "src/b.c", code = "int y;\n" }] } }"#,
        "/saved",
        r#"["a.c","src/b.c"]"#,
        "int x;\n",
    ),
];

#[test]
fn what_was_carried_out_before_the_answer_is_told_as_done_and_not_done_again() {
    for (call, field, expected, content) in CHANGES {
        for is_settled in [false, true] {
            let place = place(call);
            allow_everything(&place);
            fs::write(place.project().join("a.c"), "int a;\n").unwrap();
            assert!(start(&place).wait_exit().success());
            let usual = answers(&place)[0].clone();
            assert_eq!(usual["ok"], true, "{usual}");
            cut_behind(&place, |event| match event {
                Event::Proposal(ProposalEvent::Decided { .. }) => !is_settled,
                Event::Proposal(ProposalEvent::Settled { .. }) => is_settled,
                _ => false,
            });
            assert!(place.open(&RESUME, Size::LARGE).wait_exit().success());
            let answer = answers(&place)[0].clone();
            assert_eq!(answer["ok"], true, "{call}: {answer}");
            assert_eq!(answer.pointer(field).unwrap().to_string(), expected, "{call}: {answer}");
            assert_eq!(answer.pointer(field), usual.pointer(field));
            assert_eq!(fs::read_to_string(place.project().join("a.c")).unwrap(), content);
            let proposals = place
                .events()
                .into_iter()
                .filter(|e| matches!(e, Event::Proposal(ProposalEvent::Made(_))));
            assert_eq!(proposals.count(), if call.contains("src/b.c") { 2 } else { 1 });
        }
    }
}

#[test]
fn a_batch_that_was_recorded_in_part_is_proposed_to_its_end() {
    let place = place(CHANGES[3].0);
    let mut terminal = start(&place);
    all_proposed(&place, &mut terminal);
    terminal.signal(Signal::KILL);
    drop(terminal);
    cut_behind(
        &place,
        |event| matches!(event, Event::Proposal(ProposalEvent::Made(p)) if p.batch.index == 1),
    );
    allow_everything(&place);
    assert!(place.open(&RESUME, Size::LARGE).wait_exit().success());
    assert_eq!(answers(&place)[0]["saved"], json!(["a.c", "src/b.c"]));
}

#[test]
fn what_cannot_be_proposed_any_more_is_told_beside_what_was() {
    let delete = r#"{ tool = "delete_files", args = { paths = ["a.c", "b.c"] } }"#;
    let place = place(delete);
    for name in ["a.c", "b.c"] {
        fs::write(place.project().join(name), "int a;\n").unwrap();
    }
    let mut terminal = start(&place);
    all_proposed(&place, &mut terminal);
    terminal.signal(Signal::KILL);
    drop(terminal);
    cut_behind(
        &place,
        |event| matches!(event, Event::Proposal(ProposalEvent::Made(p)) if p.batch.index == 1),
    );
    fs::remove_file(place.project().join("b.c")).unwrap();
    allow_everything(&place);
    assert!(place.open(&RESUME, Size::LARGE).wait_exit().success());
    let answer = &answers(&place)[0];
    assert_eq!(answer["deleted"], json!(["a.c"]), "{answer}");
    assert_eq!(answer["not_proposed"]["changes"], 1, "{answer}");
}
