//! What a service repeats of the person's secrets goes no further, wherever and however it does.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use firmhand::provider::{Remote, Service};
use serde_json::json;

use super::place::{Place, words};
use super::{Heard, ask, first_request};
use crate::wire::speak::{self, DIALECTS, KEY, Say, say};
use crate::wire::{Reply, Server};

const HEADER: &str = "hdr-Wire-0815-zyxwvu";

fn discreet(service: Service, server: &Server) -> Remote {
    let mut profile = speak::profile(service, &server.url(""));
    profile.wire.headers.insert("x-extra".to_owned(), HEADER.to_owned());
    profile.wire.headers.insert("x-mode".to_owned(), "production".to_owned());
    profile.wire.headers.insert("accept".to_owned(), "application/json".to_owned());
    Remote::new(profile)
}

fn holds_none(heard: &Heard, what: &str) {
    let parts: String = heard.parts.iter().flat_map(|(_, args)| args.iter().cloned()).collect();
    let all = format!("{heard:?} {parts}");
    for secret in [KEY, HEADER, &STANDARD.encode(KEY)] {
        assert!(!all.contains(secret), "{what}: {all}");
    }
}

#[tokio::test]
async fn a_secret_in_what_a_model_says_is_taken_out_also_across_pieces() {
    let (one, two) = KEY.split_at(9);
    let pieces = ["Your key is ", KEY, " and ", one, two, ". ", HEADER, " in production, ", one];
    for service in DIALECTS {
        let server = Server::new();
        let mut all = Say { text: pieces.map(str::to_owned).to_vec(), ..say("") };
        all.reasoning = format!("I know {KEY} and {}", STANDARD.encode(KEY));
        let code = format!("#define KEY \"{KEY}\"\n");
        let all = all.call("generate_code", json!({ "code": code, KEY: [HEADER] }));
        server.then(speak::reply(service, &all));
        let heard = ask(&discreet(service, &server), first_request()).await;
        holds_none(&heard, service.name());
        let expected = format!("Your key is ••• and •••. ••• in production, {one}");
        assert_eq!(heard.text, expected, "{service}");
        assert!(heard.reasoning.starts_with("I know ••• and •••"), "{service}: {heard:?}");
        let args = json!({ "code": "#define KEY \"•••\"\n", "•••": ["•••"] });
        assert_eq!(heard.calls, [("generate_code".to_owned(), args.to_string())], "{service}");
        let sent = &server.seen()[0];
        assert_eq!(sent.header("x-extra"), Some(HEADER), "it is sent all the same");
    }
}

#[tokio::test]
async fn a_text_that_is_cut_byte_by_byte_hides_its_secrets_too() {
    for service in DIALECTS {
        let server = Server::new();
        let text = format!("<{KEY}{HEADER}> {KEY}");
        let letters = text.chars().map(String::from).collect();
        server.then(speak::reply(service, &Say { text: letters, ..say("") }));
        let heard = ask(&discreet(service, &server), first_request()).await;
        assert_eq!(heard.text, "<••••••> •••", "{service}");
    }
}

#[tokio::test]
async fn a_secret_in_an_error_or_in_the_name_of_a_model_is_taken_out() {
    for service in DIALECTS {
        let server = Server::new();
        let leak = json!({ "error": { "message": format!("bad {HEADER} {KEY}"), "type": KEY } });
        server.then(Reply::status(500, "", &leak.to_string()));
        server.then(Reply::status(400, "", &leak.to_string()));
        let heard = ask(&discreet(service, &server), first_request()).await;
        holds_none(&heard, service.name());
        assert!(heard.failed().why.contains("bad ••• •••"), "{service}");
    }
    let server = Server::new();
    let body = json!({ "model": KEY, "choices": [{ "message": { "content": "ok" } }] });
    server.then(Reply::ok("application/json", body.to_string().as_bytes()));
    let heard = ask(&discreet(Service::OpenAi, &server), first_request()).await;
    assert_eq!(heard.models, ["••• (openai)"]);
    let list = json!({ "data": [{ "id": format!("m-{KEY}") }] });
    server.then(Reply::ok("application/json", list.to_string().as_bytes()));
    assert_eq!(discreet(Service::OpenAi, &server).models().await.unwrap(), ["m-•••"]);
}

const TEAM: &str = "name = \"ask\"\ntitle = \"A\"\ndescription = \"d\"\n[[phases]]\nname = \"p\"\n\
     title = \"p\"\nparticipants = [\"Asker\"]\nselection = \"round_robin\"\ngoal = \"answered\"\n\
     terminate = { any = [{ spoke = \"Asker\" }, { max_messages = 9 }] }\n";

const AGENT: &str = "+++\nname = \"Asker\"\ndescription = \"d\"\n\
     tools = [\"read_file\", \"generate_code\"]\n+++\nYou answer.\n";

/// Files below `folder` that hold one of `secrets`.
fn search(folder: &Path, secrets: &[&str], found: &mut Vec<String>) -> usize {
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            seen += search(&path, secrets, found);
            continue;
        }
        seen += 1;
        let bytes = std::fs::read(&path).unwrap();
        if secrets.iter().any(|secret| memchr::memmem::find(&bytes, secret.as_bytes()).is_some()) {
            found.push(path.display().to_string());
        }
    }
    seen
}

/// Puts the team and its agent below the person's configuration.
fn lay_team(place: &Place) {
    for (below, text) in [("teams/ask.toml", TEAM), ("agents/Asker.md", AGENT)] {
        let file = place.0.path().join("config/prompts").join(below);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
}

#[test]
fn a_run_leaves_no_secret_behind_whatever_its_service_repeats() {
    let server = Server::new();
    let config = format!(
        "[profiles.p]\nprovider = \"openai\"\nmodel = \"m\"\n\
         key.env = \"P_KEY\"\nwire.base_url = \"{}\"\nwire.headers = {{ x-extra = \"{HEADER}\" }}\n",
        server.url("/v1")
    );
    let place = Place::new(&config);
    lay_team(&place);
    // The person's own file holds the key; an agent reads it.
    std::fs::write(place.path("project/own.h"), format!("#define OWN \"{KEY}\"\n")).unwrap();
    let path = json!({ "path": "own.h" });
    server.then(speak::reply(Service::OpenAi, &say("I look.").call("read_file", path)));
    let code = format!("#define A \"{KEY}\" // {HEADER}\n");
    let files = json!({ "files": [{ "file_name": "main/a.h", "code": code, "reason": KEY }] });
    let mut leak = Say { reasoning: format!("It is {KEY}."), ..say(&format!("The key is {KEY} ")) };
    leak.text.extend([&HEADER[..5], &HEADER[5..]].map(str::to_owned));
    server.then(speak::reply(Service::OpenAi, &leak.call("generate_code", files)));
    let said = json!({ "error": { "message": format!("odd {KEY} {HEADER}") } });
    server.then(Reply::status(500, "", &said.to_string()));
    let own = json!({ "files": [{ "file_name": "own.h", "code": "#define OWN 1\n" }] });
    server.then(speak::reply(Service::OpenAi, &say("I change it.").call("generate_code", own)));
    server.then(speak::reply(Service::OpenAi, &say("Done.")));
    let (project, record) = (place.path("project"), place.path("home/run.toml"));
    let rules = place.path("config/rules.toml");
    std::fs::write(&rules, "[[policy]]\ndecide = \"allow\"\n").unwrap();
    let args = [
        "run",
        "Say it",
        "--team",
        "ask",
        "--profile",
        "p",
        "--json",
        "--project",
        &project,
        "--record",
        &record,
        "--policy",
        &rules,
    ];
    let output = place.run(&[("P_KEY", KEY)], &args);
    let shown = words(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(!shown.contains(KEY) && !shown.contains(HEADER), "{shown}");
    assert!(shown.contains("The key is ••• •••") || shown.contains("The key is •••"), "{shown}");
    assert!(shown.contains("odd ••• •••"), "{shown}");
    let sent: Vec<String> = server.seen().iter().map(|seen| seen.body.to_string()).collect();
    assert_eq!(sent.len(), 5, "{sent:?}");
    assert!(sent[4].contains("holds_secret"), "{}", sent[4]);
    assert!(sent.iter().all(|body| !body.contains(KEY)), "no model is told it: {sent:?}");
    assert!(sent[1].contains("#define OWN"), "the rest of the file is: {}", sent[1]);
    let mut found = Vec::new();
    for folder in ["data", "home"] {
        let folder = place.0.path().join(folder);
        assert!(search(&folder, &[KEY, HEADER], &mut found) > 0, "there is something to search");
    }
    assert_eq!(found, Vec::<String>::new());
    assert!(shown.contains("#define A") && shown.contains("// •••"), "{shown}");
    let mut found = Vec::new();
    search(Path::new(&project), &[KEY, HEADER], &mut found);
    assert_eq!(found, [place.path("project/own.h")], "no agent wrote one into a file");
}
