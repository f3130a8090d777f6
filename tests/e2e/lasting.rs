//! What is recorded as done is on the disk, by name too: the system calls of a run, in their order.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use firmhand::model::{Event, Outcome, ProposalEvent};

use crate::place::Place;
use crate::terminal::Size;

/// The calls that make names and bring them to the disk, and those that write.
const CALLS: &str = "trace=renameat,renameat2,mkdir,mkdirat,openat,write,fsync,fdatasync";

/// The calls of a traced run, each where it returned.
fn calls(trace: &str) -> Vec<String> {
    let mut begun: BTreeMap<&str, String> = BTreeMap::new();
    let mut calls = Vec::new();
    for line in trace.lines() {
        let Some((process, call)) = line.split_once(' ') else { continue };
        let call = call.trim_start();
        if let Some((first, _)) = call.split_once(" <unfinished") {
            begun.insert(process, first.to_owned());
        } else if let Some((_, rest)) = call.split_once(" resumed>") {
            calls.extend(begun.remove(process).map(|first| first + rest));
        } else {
            calls.push(call.to_owned());
        }
    }
    calls
}

/// The path of the `number`th file that a call names by its descriptor.
fn descriptor(call: &str, number: usize) -> Option<&str> {
    call.split('<').nth(number + 1)?.split('>').next()
}

fn quoted(call: &str) -> Option<&str> {
    call.split('"').nth(1)
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// The folder in which a call has made a name that has to last, if it has.
fn makes_name(call: &str) -> Option<&str> {
    let name = quoted(call)?;
    match call.split('(').next()? {
        "renameat" | "renameat2" => descriptor(call, 1),
        "mkdirat" => descriptor(call, 0),
        "mkdir" => Some(parent(name)),
        "openat" if call.contains("O_CREAT") => {
            let is_kept = ["/journal.jsonl", "/blobs.pack"].iter().any(|end| name.ends_with(end));
            is_kept.then(|| parent(name))
        }
        _ => None,
    }
}

fn has_strace() -> bool {
    Command::new("strace").arg("-V").output().is_ok_and(|it| it.status.success())
}

/// Runs the program without a terminal; `more` are options for the tracer. The calls that succeeded.
fn traced(place: &Place, more: &[&str], args: &[&str]) -> (Output, Vec<String>) {
    let trace = place.path("trace");
    let untraced = place.command(args);
    let mut command = Command::new("strace");
    command.args(["-f", "-y", "-s", "160", "-e", CALLS]).args(more).arg("-o").arg(&trace);
    command.arg(untraced.get_program()).args(untraced.get_args());
    command.env_clear().current_dir(place.home()).stdin(Stdio::null());
    let variables = untraced.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let output = command.envs(variables).output().unwrap();
    let text = fs::read_to_string(&trace).unwrap();
    (output, calls(&text).into_iter().filter(|call| !call.contains(" = -1 ")).collect())
}

fn draft(place: &Place) -> Vec<String> {
    let rules = place.config().join("rules.toml");
    fs::write(&rules, "[[policy]]\ndecide = \"allow\"\n").unwrap();
    let (rules, project) = (rules.to_str().unwrap().to_owned(), place.project());
    let task = ["run", "Draft a project that counts button presses", "--team", "draft"];
    let options = ["--speed", "max", "--json", "--policy", &rules, "--project"];
    let all = task.into_iter().chain(options).chain([project.to_str().unwrap()]);
    all.map(str::to_owned).collect()
}

fn is_line(call: &str) -> bool {
    call.starts_with("write(")
        && descriptor(call, 0).is_some_and(|file| file.ends_with("/journal.jsonl"))
}

fn synced(call: &str) -> Option<&str> {
    let is_sync = call.starts_with("fsync(") || call.starts_with("fdatasync(");
    descriptor(call, 0).filter(|_| is_sync)
}

#[test]
fn no_line_is_written_before_the_names_that_it_rests_on_are_on_the_disk() {
    if !has_strace() {
        return;
    }
    let place = Place::new();
    let args = draft(&place);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (output, calls) = traced(&place, &[], &args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (project, data) = (place.project(), place.path("data"));
    let (project, data) = (project.to_str().unwrap(), data.to_str().unwrap());
    let (mut unsynced, mut lines, mut changes) = (BTreeSet::new(), 0, 0);
    for call in &calls {
        // Indexes are made again where they are missing.
        let is_index = call.contains(&format!("{data}/knowledge"));
        if let Some(folder) = makes_name(call).filter(|_| !is_index) {
            let counts = folder.starts_with(project) || folder.starts_with(data);
            unsynced.extend(counts.then(|| folder.to_owned()));
            changes += u32::from(folder.starts_with(project));
        } else if let Some(folder) = synced(call) {
            unsynced.remove(folder);
        } else if is_line(call) {
            lines += 1;
            let of_session = |folder: &&String| folder.starts_with(data);
            assert_eq!(unsynced.iter().find(of_session), None, "before {call}");
            if call.contains("settled") {
                assert_eq!(unsynced.iter().next(), None, "before {call}");
            }
        }
    }
    assert!(lines > 20 && changes > 3, "{lines} lines, {changes} changes");
}

#[test]
fn what_a_killed_run_has_renamed_is_on_the_disk_before_resume_calls_it_applied() {
    if !has_strace() {
        return;
    }
    let place = Place::new();
    let args = draft(&place);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let kill = ["-e", "inject=renameat2:signal=KILL:when=1"];
    let (output, _) = traced(&place, &kill, &args);
    assert!(!output.status.success());
    // As if it had come one call further: the file is in its place, and its folder is not synced.
    let ready = fs::read_dir(place.project()).unwrap().next().unwrap().unwrap();
    assert!(ready.file_name().to_str().unwrap().starts_with(".firmhand-"), "{ready:?}");
    let decided = place.events().into_iter().find_map(|event| match event {
        Event::Proposal(ProposalEvent::Made(proposal)) => proposal.change.path().cloned(),
        _ => None,
    });
    fs::rename(ready.path(), place.project().join(decided.unwrap().as_str())).unwrap();
    let trace = place.path("resumed");
    let script = format!(
        "exec strace -f -y -s 160 -e {CALLS} -o {} \"$0\" resume --speed max",
        trace.display()
    );
    let terminal = place.shell(&script, &[], Size::SMALL);
    let outcome =
        place.wait_for_event(&terminal, "the first change to be settled", |event| match event {
            Event::Proposal(ProposalEvent::Settled { outcome, .. }) => Some(outcome.clone()),
            _ => None,
        });
    assert_eq!(outcome, Outcome::Applied);
    let is_settled = |call: &String| is_line(call) && call.contains("settled");
    let before = (0..200).find_map(|_| {
        let all = calls(&fs::read_to_string(&trace).unwrap());
        let end = all.iter().position(is_settled);
        if end.is_none() {
            thread::sleep(Duration::from_millis(50));
        }
        end.map(|end| all[..end].to_vec())
    });
    let project = place.project();
    let before = before.expect("the trace has the line");
    let is_synced = before.iter().any(|call| synced(call) == project.to_str());
    assert!(is_synced, "the folder of the file is on the disk first");
}
