//! Keys stay where they belong: everything that the program writes or shows is searched for them.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use super::place::{Place, words};
use crate::wire::speak::{self, KEY, say};
use crate::wire::{Reply, Server};
use firmhand::provider::Service;

/// Every file below a folder that holds the key; how many were looked at.
pub fn search(folder: &Path, found: &mut Vec<String>) -> usize {
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            seen += search(&path, found);
        } else {
            seen += 1;
            let bytes = std::fs::read(&path).unwrap();
            if memchr::memmem::find(&bytes, KEY.as_bytes()).is_some() {
                found.push(path.display().to_string());
            }
        }
    }
    seen
}

#[test]
fn nothing_that_is_written_or_shown_holds_a_key() {
    let server = Server::new();
    let url = server.url("/v1");
    let env = [("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", url.as_str())];
    let place = Place::new("");
    let leak = json!({ "error": { "message": format!("Incorrect API key provided: {KEY}") } });
    let mut shown = String::new();
    let record = place.path("home/run.toml");
    let project = place.path("project");
    // One answer, then refusals that repeat the key, at first passing ones.
    server.then(speak::reply(Service::OpenAi, &say("FileOrganizerAgent : list the files")));
    server.then(Reply::status(429, "retry-after: 0\r\n", &leak.to_string()));
    server.then(Reply::status(401, "", &leak.to_string()));
    let task = "Blink an LED";
    let args = ["run", task, "--json", "--project", &project, "--record", &record];
    let output = place.run(&env, &args);
    assert_eq!(output.status.code(), Some(4), "{}", words(&output));
    shown.push_str(&words(&output));
    assert!(shown.contains("does not accept the key"), "{shown}");
    assert!(std::fs::read_to_string(&record).unwrap().contains("list the files"));
    for args in [&["config"][..], &["doctor"], &["doctor", "--offline"], &["models"], &["sessions"]]
    {
        server.then(Reply::status(401, "", &leak.to_string()));
        shown.push_str(&words(&place.run(&env, args)));
    }
    assert!(!shown.contains(KEY), "{shown}");
    let mut found = Vec::new();
    assert!(search(place.0.path(), &mut found) >= 3, "there is something to search");
    assert_eq!(found, Vec::<String>::new());
    let sent = server.seen().iter().filter(|seen| seen.header("authorization").is_some()).count();
    assert!(sent >= 4, "the key was used: {sent}");
}

#[test]
fn the_list_of_processes_does_not_show_a_key() {
    let server = Server::new();
    server.then(Reply::Hang(Vec::new()));
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), KEY).unwrap();
    let config = format!(
        "[profiles.mine]\nprovider = \"openai-compatible\"\nmodel = \"m\"\n\
         key.file = \"{}\"\nwire.base_url = \"{}\"\n",
        file.path().display(),
        server.url("/v1")
    );
    let place = Place::new(&config);
    let project = place.path("project");
    let args = ["run", "Blink", "--project", &project, "--profile", "mine"];
    let mut child = place.command(&[], &args).stdout(Stdio::null()).spawn().unwrap();
    let since = Instant::now();
    while server.seen().is_empty() {
        assert!(since.elapsed() < Duration::from_secs(20), "it never asked");
        std::thread::sleep(Duration::from_millis(10));
    }
    let of = |name: &str| std::fs::read(format!("/proc/{}/{name}", child.id())).unwrap();
    let (line, env) = (of("cmdline"), of("environ"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(memchr::memmem::find(&line, b"--profile").is_some());
    assert!(memchr::memmem::find(&line, KEY.as_bytes()).is_none());
    assert!(memchr::memmem::find(&env, KEY.as_bytes()).is_none());
    assert_eq!(server.seen()[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let mut found = Vec::new();
    search(place.0.path(), &mut found);
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn profiles_that_cannot_be_used_say_why_before_a_session_begins() {
    let server = Server::new();
    let config = format!(
        "[profiles.here]\nprovider = \"openai-compatible\"\nwire.base_url = \"{}\"\n\
         [profiles.odd]\nprovider = \"opnai\"\n[profiles.nokey]\nprovider = \"openai\"\nkey.env = \"NOT_THERE\"\n\
         [profiles.nowhere]\nprovider = \"azure\"\nmodel = \"d\"\n",
        server.url("/v1")
    );
    let place = Place::new(&config);
    let said = |profile: &str| {
        let output = place.run(&[], &["run", "Blink", "--profile", profile]);
        assert_eq!(output.status.code(), Some(1), "{}", words(&output));
        words(&output)
    };
    assert!(said("here").contains("firmhand models --profile here"));
    assert!(said("odd").contains("config.toml:4") && said("odd").contains("openrouter"));
    assert!(said("nokey").contains("NOT_THERE is not set"));
    assert!(said("nowhere").contains("base_url"));
    assert!(said("unheard").contains("here, nokey, nowhere, odd"));
    assert!(!Path::new(&place.path("data/sessions")).exists(), "nothing is left behind");
    server.then(Reply::ok("application/json", br#"{"data":[{"id":"m1"},{"id":"m2"}]}"#));
    let models = place.run(&[], &["models", "--profile", "here"]);
    assert_eq!(words(&models), "m1\nm2\n");
}

#[test]
fn a_budget_that_is_used_up_ends_a_run_without_a_person_in_order() {
    let server = Server::new();
    let url = server.url("/v1");
    let env = [("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", url.as_str())];
    let place = Place::new("");
    let project = place.path("project");
    for _ in 0..4 {
        server.then(speak::reply(Service::OpenAi, &say("FileOrganizerAgent : list the files")));
    }
    let args = ["run", "Blink", "--project", &project, "--max-tokens", "200"];
    let output = place.run(&env, &args);
    let shown = words(&output);
    assert_eq!(output.status.code(), Some(4), "{shown}");
    assert!(shown.contains("240 of 200 tokens are used") && shown.contains("stopped"), "{shown}");
    assert_eq!(server.seen().len(), 2);
    let most = server.seen()[1].body["max_completion_tokens"].as_u64();
    assert!(most.is_some_and(|most| most <= 256), "the second answer may only be short: {most:?}");
}
