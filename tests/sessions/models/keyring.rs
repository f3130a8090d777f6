//! Keys in the desktop's keyring, with a stand-in for the desktop's command.

use std::os::unix::fs::PermissionsExt;

use firmhand::provider::Service;
use serde_json::json;

use super::place::{Place, words};
use crate::wire::speak::{self, KEY, say};
use crate::wire::{Reply, Server};

/// A home whose `PATH` begins with a stand-in for the command; it notes its arguments and does
/// the rest of `script`.
fn place(config: &str, script: &str) -> (Place, String) {
    let place = Place::new(config);
    let name = if cfg!(target_os = "macos") { "security" } else { "secret-tool" };
    let folder = place.path("bin");
    std::fs::create_dir(&folder).unwrap();
    let file = place.path(&format!("bin/{name}"));
    let note = "echo \"$@\" >> \"$0.asked\"; env > \"$0.env\"";
    std::fs::write(&file, format!("#!/bin/sh\n{note}\n{script}\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
    (place, path)
}

/// How often the command was asked.
fn asked(place: &Place) -> Vec<String> {
    let name = if cfg!(target_os = "macos") { "security" } else { "secret-tool" };
    let text = std::fs::read_to_string(place.path(&format!("bin/{name}.asked")));
    text.unwrap_or_default().lines().map(str::to_owned).collect()
}

fn profile(server: &Server) -> String {
    format!(
        "[profiles.work]\nprovider = \"openai-compatible\"\nmodel = \"m\"\n\
         key.keyring = \"work\"\nwire.base_url = \"{}\"\n\
         [profiles.work.agents.FileOrganizerAgent]\nmodel = \"small\"\n",
        server.url("/v1")
    )
}

#[test]
fn a_key_in_the_keyring_is_fetched_once_and_stays_secret() {
    let server = Server::new();
    // The key stands in the stand-in's own file beside the home, where no search looks.
    let secret = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(secret.path(), format!("{KEY}\n")).unwrap();
    let (place, path) = place(&profile(&server), &format!("cat {}", secret.path().display()));
    server.then(speak::reply(Service::OpenAi, &say("FileOrganizerAgent : list the files")));
    server.then(speak::reply(Service::OpenAi, &say("main.c")));
    let leak = json!({ "error": { "message": format!("bad key {KEY}") } }).to_string();
    server.then(Reply::status(401, "", &leak));
    let project = place.path("project");
    let args = ["run", "Blink", "--json", "--project", &project, "--profile", "work"];
    let env = [("PATH", path.as_str()), ("OPENAI_API_KEY", "sk-another-0123456789")];
    let output = place.run(&env, &args);
    let shown = words(&output);
    assert_eq!(server.seen().len(), 3, "{shown}");
    for seen in server.seen() {
        assert_eq!(seen.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    }
    let models: Vec<String> =
        server.seen().iter().map(|seen| seen.body["model"].to_string()).collect();
    assert_eq!(models, ["\"m\"", "\"small\"", "\"m\""], "two models of one profile");
    assert_eq!(asked(&place).len(), 1, "{:?}", asked(&place));
    assert!(asked(&place)[0].contains("firmhand") && asked(&place)[0].contains("work"));
    assert!(!shown.contains(KEY), "{shown}");
    let mut found = Vec::new();
    assert!(super::hygiene::search(place.0.path(), &mut found) >= 3);
    assert_eq!(found, Vec::<String>::new());
    let name = if cfg!(target_os = "macos") { "security" } else { "secret-tool" };
    let seen = std::fs::read_to_string(place.path(&format!("bin/{name}.env"))).unwrap();
    assert!(seen.contains("HOME=") && !seen.contains("sk-another"), "{seen}");
}

#[test]
fn a_keyring_that_has_nothing_says_how_to_store_the_key_before_a_session_begins() {
    let server = Server::new();
    let (place, path) = place(&profile(&server), "exit 1");
    let run = |path: &str| {
        let args = ["run", "Blink", "--profile", "work"];
        let output = place.run(&[("PATH", path)], &args);
        assert_eq!(output.status.code(), Some(1), "{}", words(&output));
        words(&output)
    };
    let said = run(&path);
    assert!(said.contains("keyring entry `work`") && said.contains("found none"), "{said}");
    assert!(said.contains("Store it with"), "{said}");
    // Without the desktop's command.
    let said = run(&place.path("home"));
    assert!(said.contains("is not installed") && said.contains("key.file"), "{said}");
    assert!(server.seen().is_empty());
    assert!(!std::path::Path::new(&place.path("data/sessions")).exists(), "nothing is left");
}
