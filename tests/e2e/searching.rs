//! `firmhand search` and `firmhand index`: what is printed, and what is said when something is
//! missing.

use std::fs;
use std::process::Output;
use std::time::Duration;

use serde_json::{Value, json};

use crate::place::Place;
use crate::wire::{Reply, Server};

/// Runs the program with that `IDF_PATH`.
fn run(place: &Place, idf: &str, args: &[&str]) -> (Output, String) {
    let output = place.command(args).env("IDF_PATH", idf).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, errors)
}

fn answer(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn an_idf_path_that_names_nothing_is_reported() {
    let place = Place::new();
    let nowhere = place.path("nowhere");
    let nowhere = nowhere.to_str().unwrap();
    let (output, errors) = run(&place, nowhere, &["search", "--json", "wifi", "scan"]);
    let answer = answer(&output);
    assert!(!answer["results"].as_array().unwrap().is_empty(), "the notes answer");
    let left_out = answer["not_searched"][0].as_str().unwrap();
    let says = |text: &str| text.contains(nowhere) && text.contains("does not exist");
    assert!(says(left_out), "{left_out}");
    assert!(says(&errors), "{errors}");
    for command in ["list", "build"] {
        let (output, errors) = run(&place, nowhere, &["index", command]);
        assert_eq!(output.status.success(), command == "list", "{command}");
        assert!(says(&errors), "{command}: {errors}");
    }
    let folder = place.path("folder");
    fs::create_dir(&folder).unwrap();
    let (_, errors) = run(&place, folder.to_str().unwrap(), &["search", "wifi scan"]);
    assert!(errors.contains("is not an ESP-IDF"), "{errors}");
}

#[test]
fn what_cannot_be_removed_or_built_is_a_failure_and_told() {
    let place = Place::new();
    let (output, errors) = run(&place, "", &["index", "build"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    // This machine may have a framework in a usual place.
    assert!(output.status.success() && !said.is_empty(), "{said}{errors}");
    let paper = place.path("good.md");
    fs::write(&paper, "# Pump\n\nIt runs.\n").unwrap();
    run(&place, "", &["index", "add", paper.to_str().unwrap()]);
    let (output, errors) = run(&place, "", &["index", "remove", "bad.md"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(errors.contains("bad.md") && errors.contains("good.md"), "{errors}");
    let (output, errors) = run(&place, "", &["index", "remove", "good.md"]);
    assert!(output.status.success(), "{errors}");
    let (output, _) = run(&place, "", &["index", "list"]);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("good.md"));
}

#[test]
fn documents_that_cannot_be_read_are_named_and_the_others_are_found() {
    let place = Place::new();
    let folder = place.path("papers");
    fs::create_dir(&folder).unwrap();
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/pdf");
    for name in ["locked.pdf", "scan.pdf"] {
        fs::copy(format!("{data}/{name}"), folder.join(name)).unwrap();
    }
    let broken = "Pump\n==\n\n.. only:: (((\n\n.. code-block::\n   zorbex\n .. |x| replace::\n::\n";
    fs::write(folder.join("broken.rst"), broken).unwrap();
    fs::write(folder.join("bytes.md"), b"# Lamp\n\n\xff\xfe zorbinex \xc3(\n").unwrap();
    // More than is read of one file.
    let more = "It runs and runs, and nobody reads this log to its end.\n".repeat(170_000);
    fs::write(folder.join("long.txt"), format!("The turbopump runs at noon.\n{more}")).unwrap();
    let begun = std::time::Instant::now();
    let (output, errors) = run(&place, "", &["index", "add", folder.to_str().unwrap()]);
    let said = format!("{}{errors}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{said}");
    for words in ["locked.pdf", "password", "scan.pdf", "may be scanned", "long.txt", "first 8 MiB"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
    for (word, path) in
        [("zorbex", "broken.rst"), ("zorbinex", "bytes.md"), ("turbopump", "long.txt")]
    {
        let (output, _) = run(&place, "", &["search", "--json", "--corpus", "papers", word]);
        let source =
            answer(&output)["results"][0]["source"].as_str().unwrap_or_default().to_owned();
        assert!(source.starts_with(path), "{word}: {source}");
    }
    // The documents go; what was indexed still answers, and building says what is missing.
    fs::remove_dir_all(&folder).unwrap();
    let (output, _) = run(&place, "", &["search", "--json", "--corpus", "papers", "zorbinex"]);
    assert!(!answer(&output)["results"].as_array().unwrap().is_empty());
    let (output, errors) = run(&place, "", &["index", "build"]);
    let said = format!("{}{errors}", String::from_utf8_lossy(&output.stdout));
    assert!(said.contains("is not there"), "{said}");
    assert_eq!(output.status.code(), Some(1));
}

/// A folder with two documents, added, and a configuration that names that server.
fn documents(place: &Place, server: &Server) {
    let folder = place.path("manuals");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("pump.md"), "# Pump\n\nThe zorbex runs at noon.\n").unwrap();
    fs::write(folder.join("lamp.md"), "# Lamp\n\nThe lamp is zorbex green.\n").unwrap();
    let base = server.url("/v1");
    let wire = format!("wire = {{ base_url = \"{base}\", tries = 1 }}");
    let profile = |name: &str| {
        format!(
            "[profiles.{name}]\nprovider = \"openai-compatible\"\nmodel = \"{name}-1\"\n{wire}\n\
             key = {{ env = \"NEAR_KEY\" }}\n"
        )
    };
    let config = format!(
        "[search]\nembeddings = \"near\"\nreranker = \"order\"\n{}{}",
        profile("near"),
        profile("order")
    );
    fs::write(place.config().join("config.toml"), config).unwrap();
}

fn json_reply(value: &Value) -> Reply {
    Reply::ok("application/json", value.to_string().as_bytes())
}

fn with_key(place: &Place, args: &[&str]) -> (Output, String) {
    let mut command = place.command(args);
    let output = command.env("NEAR_KEY", "sk-very-secret-key-1").output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!errors.contains("sk-very-secret"), "{errors}");
    (output, errors)
}

#[test]
fn endpoints_take_part_in_a_search_when_they_are_set_up() {
    let (place, server) = (Place::new(), Server::new());
    documents(&place, &server);
    // `lamp.md` comes before `pump.md`.
    server.then(json_reply(&json!({"data": [
        {"index": 1, "embedding": [0.0, 1.0]}, {"index": 0, "embedding": [1.0, 0.0]},
    ]})));
    let folder = place.path("manuals");
    let (output, errors) = with_key(&place, &["index", "add", folder.to_str().unwrap()]);
    let words = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(words.contains("2 vectors; 2 made"), "{words} {errors}");
    let request = server.seen().remove(0);
    let sent = &request.body;
    assert!(request.line.contains("POST /v1/embeddings"), "{}", request.line);
    assert_eq!(sent["model"], "near-1");
    assert_eq!(request.header("authorization"), Some("Bearer sk-very-secret-key-1"));
    let texts = sent["input"].as_array().unwrap();
    assert_eq!(texts.len(), 2);
    let is_lamp_first = texts[0].as_str().unwrap().contains("lamp");
    // The question has no word of the documents, and the vector of the second text.
    server.then(json_reply(&json!({"data": [{"index": 0, "embedding": [0.2, 1.0]}]})));
    let question = ["search", "--json", "xylophone"];
    let (output, errors) = with_key(&place, &question);
    let found = answer(&output);
    let expected = if is_lamp_first { "pump.md" } else { "lamp.md" };
    assert_eq!(found["results"][0]["source"], expected, "{found} {errors}");
    assert!(found["results"][0]["why"].as_str().unwrap().contains("similar by 0.9"), "{found}");
    assert!(found.get("not_searched").is_none(), "{found}");
    // Both fit by their words; the reranker turns their order.
    let before = ["search", "--json", "zorbex"];
    let rerank = |best: usize| {
        json_reply(&json!({"results": [
            {"index": best, "relevance_score": 0.9}, {"index": 1 - best, "relevance_score": 0.1},
        ]}))
    };
    let mut first = Vec::new();
    for best in [0, 1] {
        server.then(json_reply(&json!({"data": [{"index": 0, "embedding": [1.0, 1.0]}]})));
        server.then(rerank(best));
        let (output, _) = with_key(&place, &before);
        first.push(answer(&output)["results"][0]["source"].clone());
    }
    assert_ne!(first[0], first[1]);
    let seen = server.seen();
    let last = seen.last().unwrap();
    assert!(last.line.contains("POST /v1/rerank"), "{}", last.line);
    assert_eq!(last.body["query"], "zorbex");
    assert_eq!(last.body["documents"].as_array().unwrap().len(), 2);
}

#[test]
fn an_endpoint_that_fails_or_is_slow_is_left_out_and_named() {
    let (place, server) = (Place::new(), Server::new());
    documents(&place, &server);
    let folder = place.path("manuals");
    server.then(Reply::status(500, "", "{\"error\":{\"message\":\"no model near-1\"}}"));
    let (output, errors) = with_key(&place, &["index", "add", folder.to_str().unwrap()]);
    assert!(!output.status.success() && errors.contains("no model near-1"), "{errors}");
    // The words are indexed nevertheless, and nothing waits for a service that says nothing.
    let silent = Reply::Raw(vec![(Duration::from_secs(30), Vec::new())]);
    server.then(silent);
    server.then(Reply::status(404, "", "{}"));
    let (output, errors) = with_key(&place, &["search", "--json", "zorbex"]);
    let found = answer(&output);
    assert_eq!(found["results"].as_array().unwrap().len(), 2, "{found}");
    let left_out = found["not_searched"].to_string();
    assert!(left_out.contains("the vectors: no answer within 2 s"), "{left_out}");
    assert!(left_out.contains("the reranker: "), "{left_out}");
    assert!(errors.contains("not searched: the vectors"), "{errors}");
}

/// A configuration that names an index on that server.
fn team_index(place: &Place, server: &Server) {
    let config = format!(
        "[search.remotes.team]\nkind = \"elasticsearch\"\nurl = \"{}\"\nindex = \"fork\"\n\
         version = \"5.4-fork\"\nkey = {{ env = \"NEAR_KEY\" }}\n",
        server.url("")
    );
    fs::write(place.config().join("config.toml"), config).unwrap();
}

fn hits(sources: &[Value]) -> Reply {
    let hits: Vec<Value> = sources.iter().map(|it| json!({ "_id": "1", "_source": it })).collect();
    json_reply(&json!({ "hits": { "hits": hits } }))
}

#[test]
fn an_index_of_the_team_is_searched_and_listed() {
    let (place, server) = (Place::new(), Server::new());
    team_index(&place, &server);
    let bus = json!({
        "title": "Zorbex \u{1b}[31mbus", "path": "docs/bus.rst",
        "body": "The zorbex bus is started before wifi.",
    });
    server.then(hits(&[bus, json!({ "title": "Bread", "body": "It is baked." })]));
    let (output, errors) = with_key(&place, &["search", "--json", "how is the zorbex bus started"]);
    let found = answer(&output);
    let first = found["results"].as_array().unwrap().iter().find(|it| it["corpus"] == "team");
    let first = first.unwrap_or_else(|| panic!("{found} {errors}"));
    assert_eq!(
        (&first["source"], &first["version"]),
        (&json!("team:docs/bus.rst"), &json!("5.4-fork"))
    );
    assert_eq!((&first["title"], &first["kind"]), (&json!("Zorbex bus"), &json!("guide")));
    assert!(!found.to_string().contains("Bread") && found.get("not_searched").is_none(), "{found}");
    let request = server.seen().remove(0);
    assert!(request.line.starts_with("POST /fork/_search "), "{}", request.line);
    assert_eq!(request.header("authorization"), Some("ApiKey sk-very-secret-key-1"));
    // About something else, whatever comes, there is nothing.
    server.then(hits(&[json!({ "title": "Capital", "body": "A capital letter." })]));
    let (output, _) = with_key(&place, &["search", "--json", "what is the capital of france"]);
    assert_eq!(answer(&output)["results"], json!([]));
    server.then(hits(&[]));
    let (output, _) = with_key(&place, &["index", "list"]);
    let list = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = list.lines().find(|line| line.starts_with("team 5.4-fork ")).unwrap();
    assert!(line.contains(" answers ") && line.contains("elasticsearch at 127.0.0.1"), "{list}");
    server.then(Reply::status(401, "", "{}"));
    let (output, _) = with_key(&place, &["index", "list", "--json"]);
    let list = String::from_utf8_lossy(&output.stdout).into_owned();
    let last: Value = serde_json::from_str(list.lines().last().unwrap()).unwrap();
    assert_eq!(last["answers"], false);
    assert!(last["why"].as_str().unwrap().contains("refuses the key from $NEAR_KEY"), "{last}");
}

#[test]
fn an_index_of_the_team_that_fails_is_left_out_and_a_project_cannot_name_one() {
    let (place, server) = (Place::new(), Server::new());
    team_index(&place, &server);
    let silent = Reply::Raw(vec![(Duration::from_secs(3), Vec::new())]);
    for (reply, words) in [
        (silent, "no answer within 2 s"),
        (Reply::status(404, "", "{}"), "it has no index `fork`"),
        (Reply::status(302, "location: http://127.0.0.1:9/\r\n", ""), "is not followed"),
    ] {
        server.then(reply);
        let begun = std::time::Instant::now();
        let (output, errors) = with_key(&place, &["search", "--json", "wifi scan"]);
        assert!(begun.elapsed() < Duration::from_secs(5), "{words}: {:?}", begun.elapsed());
        let found = answer(&output);
        assert!(!found["results"].as_array().unwrap().is_empty(), "{found}");
        let left_out = found["not_searched"][0].as_str().unwrap();
        assert!(left_out.starts_with("team (") && left_out.contains(words), "{left_out}");
        assert!(left_out.contains("[search.remotes.team]") && errors.contains(words), "{errors}");
    }
    assert_eq!(server.seen().len(), 3, "no redirect is followed");
    let project = place.project();
    fs::create_dir_all(project.join(".firmhand")).unwrap();
    let text = fs::read_to_string(place.config().join("config.toml")).unwrap();
    fs::write(project.join(".firmhand/config.toml"), text).unwrap();
    let args = ["search", "wifi", "--project", project.to_str().unwrap()];
    let (output, errors) = with_key(&place, &args);
    assert!(!output.status.success() && errors.contains("may not send questions"), "{errors}");
    assert_eq!(server.seen().len(), 3);
}

/// The sources and texts of what a search finds.
fn found(place: &Place, args: &[&str]) -> Vec<(String, String)> {
    let project = place.project();
    let mut all = vec!["search", "--json", "--project", project.to_str().unwrap()];
    all.extend(args);
    let (output, errors) = run(place, "", &all);
    assert!(output.status.success(), "{errors}");
    let answer = answer(&output);
    let results = answer["results"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    results.map(|result| (text(&result["source"]), text(&result["text"]))).collect()
}

#[test]
fn the_project_and_its_past_sessions_are_searched_when_named_and_deleted_ones_are_forgotten() {
    let place = Place::new();
    let policy = place.config().join("rules.toml");
    fs::write(&policy, "[[policy]]\ndecide = \"allow\"\n").unwrap();
    let (policy, project) = (policy.to_str().unwrap(), place.project());
    let project = project.to_str().unwrap();
    let task = "Generate an I2C driver for the ESP32";
    let run = ["run", task, "--speed", "max", "--policy", policy, "--project", project];
    assert!(place.run(&run).status.success());
    let sources = found(&place, &["--kind", "project", "i2c_bus_init"]);
    assert!(!sources.is_empty());
    for (source, text) in &sources {
        let path = source.split('#').next().unwrap();
        let file = fs::read_to_string(place.project().join(path)).unwrap();
        assert!(file.contains(text.lines().last().unwrap().trim()), "{source}: {text}");
    }
    let lessons = found(&place, &["--kind", "session", "build error ESP_LOGI"]);
    let fixed = lessons.iter().find(|(_, text)| text.contains("The build failed:"));
    let (source, text) = fixed.unwrap_or_else(|| panic!("{lessons:#?}"));
    assert!(text.contains("ESP_LOGI") && text.contains("+#include \"esp_log.h\""), "{text}");
    let journal = source.split('#').next().unwrap();
    assert!(place.path("data/sessions").join(journal).is_file(), "{source}");
    // Nobody named a kind, or another one: the person's own work stays out.
    for args in [vec!["ESP_LOGI"], vec!["--kind", "note", "ESP_LOGI"]] {
        let found = found(&place, &args);
        let is_note =
            |source: &str| source.split('#').next().is_some_and(|file| file.ends_with(".md"));
        assert!(found.iter().all(|(source, _)| is_note(source)), "{found:?}");
    }
    // Of another project there is nothing to see.
    let other = place.path("other");
    fs::create_dir(&other).unwrap();
    let args = ["search", "--json", "--project", other.to_str().unwrap(), "--kind", "session"];
    let (output, _) = self::run(&place, "", &[&args[..], &["ESP_LOGI"]].concat());
    assert_eq!(answer(&output)["results"], json!([]));
    let name = journal.split('/').next().unwrap();
    assert!(place.run(&["sessions", "delete", name, "--yes"]).status.success());
    let kept = fs::read_dir(place.path("data/knowledge")).unwrap().flatten();
    let names: Vec<_> = kept.map(|entry| entry.file_name().into_string().unwrap()).collect();
    assert!(names.iter().all(|name| !name.starts_with("sessions-")), "{names:?}");
    assert!(found(&place, &["--kind", "session", "build error ESP_LOGI"]).is_empty());
}
