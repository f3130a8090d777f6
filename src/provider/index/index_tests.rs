//! Tests of what is sent to an index, and of what comes from one, against servers on this machine.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use secrecy::SecretString;
use serde_json::json;

use super::super::super::profile::{KeyForm, KeySource, Wire};
use super::super::super::service::Service;
use super::super::about::IndexFields;
use super::super::sql;
use super::*;
use crate::model::RemoteFilter;

const KEY: &str = "sk-team-0123456789";

fn fields() -> IndexFields {
    let some = |name: &str| Some(name.to_owned());
    IndexFields {
        text: "body".to_owned(),
        title: some("title"),
        path: some("path"),
        headings: some("headings"),
        symbols: some("symbols"),
        kind: some("kind"),
        chips: some("chips"),
        version: some("version"),
        ..IndexFields::default()
    }
}

fn index(kind: IndexKind, url: &str, key: Option<&'static str>) -> RemoteIndex {
    let service = if kind == IndexKind::AzureSearch { Service::Azure } else { Service::Compatible };
    let mut wire = Wire::new(url);
    if kind == IndexKind::OpenSearch {
        wire.key_form = KeyForm::PasswordOf("reader".to_owned());
    }
    let name = if kind == IndexKind::Postgres { "docs.passages" } else { "passages" };
    let read = move || Ok(key.map(SecretString::from));
    let source = KeySource::Env("TEAM_KEY".to_owned());
    let profile = Profile::new("team", service, name, wire).with_key(source, Box::new(read));
    let about =
        IndexAbout { kind, fields: fields(), semantic: None, language: "english".to_owned() };
    RemoteIndex::new(profile, about)
}

fn question(words: &[&str]) -> RemoteQuestion {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    RemoteQuestion { text: words.join(" "), words, most: 10, ..RemoteQuestion::default() }
}

/// Answers one request with these bytes; gives the address, and the request once it came.
fn serve(
    answer: impl FnOnce(&mut std::net::TcpStream) + Send + 'static,
) -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let seen = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut bytes = vec![0; 64 << 10];
        let mut text = String::new();
        while !text.contains("}}") && !text.ends_with('}') {
            let read = stream.read(&mut bytes).unwrap();
            if read == 0 {
                break;
            }
            text.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
        answer(&mut stream);
        text
    });
    (url, seen)
}

fn reply(status: &str, more: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n{more}\r\n{body}").into_bytes()
}

async fn asked(
    kind: IndexKind,
    status: &'static str,
    more: &'static str,
    body: &str,
) -> (Result<Vec<RemotePassage>, String>, String) {
    let bytes = reply(status, more, body);
    let (url, seen) = serve(move |stream| {
        let _ = stream.write_all(&bytes);
    });
    let found = index(kind, &url, Some(KEY)).search(&question(&["zorbex", "wifi"])).await;
    (found, seen.join().unwrap())
}

#[tokio::test]
async fn opensearch_is_asked_and_read() {
    let body = json!({ "hits": { "hits": [
        { "_id": "7", "_score": 3.2, "_source": {
            "title": "Bus", "body": "The zorbex bus.", "headings": ["A", "B"],
            "symbols": "one\ntwo", "kind": "api", "chips": "esp32, ESP32-C3" } },
        { "_id": "8", "_source": { "path": "a.rst", "body": ["first", "second"], "version": 5 } },
        { "_id": "9" },
    ]}});
    let (found, seen) = asked(IndexKind::OpenSearch, "200 OK", "", &body.to_string()).await;
    let found = found.unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].path.as_str(), found[0].text.as_str()), ("7", "The zorbex bus."));
    assert_eq!((found[0].headings.len(), found[0].symbols.len()), (2, 2));
    assert_eq!(found[0].chips, ["esp32", "ESP32-C3"]);
    assert_eq!((found[1].text.as_str(), found[1].version.as_str()), ("first\nsecond", "5"));
    assert!(seen.starts_with("POST /passages/_search "), "{seen}");
    // `reader:` and the key.
    let login = "authorization: Basic cmVhZGVyOnNrLXRlYW0tMDEyMzQ1Njc4OQ==";
    assert!(seen.contains(login) && seen.contains("zorbex wifi"), "{seen}");
}

#[tokio::test]
async fn azure_is_asked_and_read() {
    let body = json!({ "value": [{ "@search.score": 1.5, "title": "Bus", "body": "It runs." }] });
    let (found, seen) = asked(IndexKind::AzureSearch, "200 OK", "", &body.to_string()).await;
    assert_eq!(found.unwrap()[0].text, "It runs.");
    let line = "POST /indexes/passages/docs/search?api-version=2024-07-01 ";
    assert!(seen.starts_with(line) && seen.contains(&format!("api-key: {KEY}")), "{seen}");
}

#[tokio::test]
async fn every_failure_says_why_and_what_to_do_and_never_the_key() {
    let es = IndexKind::Elasticsearch;
    let missing =
        r#"{"error":{"root_cause":[{"reason":"no such index [passages]"}]},"status":404}"#;
    let leak = r#"{"error":"bad key sk-team-0123456789"}"#;
    for (kind, status, more, body, words) in [
        (es, "401 X", "", leak, ["refuses the key from $TEAM_KEY", "correct `key`"]),
        (IndexKind::AzureSearch, "403 X", "", "", ["refuses the key", "403"]),
        (es, "404 X", "", missing, ["no such index [passages]", "correct `index`"]),
        (es, "400 X", "", "{}", ["does not understand", "check `fields`"]),
        (es, "429 X", "", "", ["too often", "later"]),
        (es, "503 X", "", "<html>", ["failed (503)", "later"]),
        (es, "200 OK", "", "<html>", ["is not JSON", "check `url`"]),
        (es, "200 OK", "", "{\"hits\":[]}", ["another form", "check `kind`"]),
        (es, "302 X", "location: http://127.0.0.1:9/\r\n", "", ["is not followed", "`url`"]),
        (es, "500 X", "", r#"{"error":"\u001b[31mred"}"#, ["“red”", "500"]),
    ] {
        let (found, _) = asked(kind, status, more, body).await;
        let why = found.unwrap_err();
        assert!(words.iter().all(|word| why.contains(word)), "{status}: {why}");
        assert!(!why.contains(KEY) && !why.contains('\u{1b}'), "{why}");
    }
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let why = index(es, &url, None).search(&question(&["x"])).await.unwrap_err();
    assert!(why.contains("cannot be reached") && why.contains("[search.remotes.team]"), "{why}");
}

#[tokio::test]
async fn an_answer_without_end_is_cut_off() {
    let (url, _) = serve(|stream| {
        let head = b"HTTP/1.1 200 OK\r\ncontent-length: 104857600\r\n\r\n{\"hits\":\"";
        let _ = stream.write_all(head);
        let piece = vec![b'x'; 1 << 20];
        for _ in 0..100 {
            if stream.write_all(&piece).is_err() {
                return;
            }
        }
    });
    let start = Instant::now();
    let index = index(IndexKind::Elasticsearch, &url, None);
    let why = index.search(&question(&["x"])).await.unwrap_err();
    assert!(why.contains("more than 8 MB") && start.elapsed() < Duration::from_secs(2), "{why}");
}

#[test]
fn filters_and_vectors_are_asked_for_where_the_index_has_fields_for_them() {
    let url = "http://127.0.0.1:1";
    let mut question = question(&["zorbex"]);
    question.vector = Some(vec![0.5]);
    question.filter = RemoteFilter {
        kinds: vec!["gui'de".to_owned()],
        chips: vec!["esp32".to_owned()],
        component: Some("bus".to_owned()),
        version: Some("v5.4".to_owned()),
    };
    let body = opensearch::body(&index(IndexKind::Elasticsearch, url, None).about, &question);
    // It has no field for components and none for vectors.
    assert_eq!(body["query"]["bool"]["filter"].as_array().unwrap().len(), 3, "{body}");
    assert!(body.get("knn").is_none() && body["_source"].as_array().unwrap().len() == 8);
    let mut with_vectors = index(IndexKind::Elasticsearch, url, None);
    with_vectors.about.fields.vector = Some("near".to_owned());
    assert_eq!(opensearch::body(&with_vectors.about, &question)["knn"]["field"], "near");
    with_vectors.about.kind = IndexKind::OpenSearch;
    let should =
        opensearch::body(&with_vectors.about, &question)["query"]["bool"]["should"].clone();
    assert_eq!(should[1]["knn"]["near"]["k"], 10);
    let mut of_azure = index(IndexKind::AzureSearch, url, None);
    of_azure.about.semantic = Some("usual".to_owned());
    of_azure.about.fields.vector = Some("near".to_owned());
    question.text = "how does zorbex -work+ (well)?".to_owned();
    let body = azure::body(&of_azure.about, &question);
    let filter = "(kind eq 'gui''de') and (chips/any(chip: chip eq 'esp32') or not chips/any())";
    assert_eq!(body["filter"], filter);
    assert_eq!(body["search"], "how does zorbex work well");
    assert_eq!(
        (&body["queryType"], &body["vectorQueries"][0]["k"]),
        (&json!("semantic"), &json!(10))
    );
}

#[test]
fn values_of_a_statement_are_parameters() {
    let mut question = question(&["zorbex", "o_or_1"]);
    question.filter.version = Some("5'; DROP TABLE x; --".to_owned());
    question.filter.kinds = vec!["api".to_owned()];
    let index = index(IndexKind::Postgres, "postgres://h/d", None);
    let query = sql::query(&index.about, &index.profile.model, &question);
    assert!(!query.sql.contains("zorbex") && !query.sql.contains("DROP"), "{}", query.sql);
    assert!(query.sql.contains(", \"docs\".\"passages\" AS t WHERE"), "{}", query.sql);
    assert_eq!(query.values.len(), 6);
    assert_eq!(query.values[1], sql::Param::Text("\"zorbex\" or \"o_or_1\"".to_owned()));
}

#[test]
fn a_secret_in_a_question_is_not_sent() {
    let index = index(IndexKind::Elasticsearch, "http://127.0.0.1:1", Some(KEY));
    assert!(index.profile.key().is_ok());
    let mut asked = question(&["wifi", "sk", "team", "0123456789"]);
    asked.text = format!("wifi {KEY}");
    assert_eq!(index.cleaned(&asked).words, ["wifi"]);
}

/// The server that `FIRMHAND_TEST_POSTGRES` names, with the rights to make a table.
fn server() -> Option<String> {
    let url = std::env::var("FIRMHAND_TEST_POSTGRES").ok();
    if url.is_none() {
        println!(
            "not tested: FIRMHAND_TEST_POSTGRES names no server (postgres://USER:KEY@HOST/DB)"
        );
    }
    url
}

#[tokio::test]
async fn a_real_server_of_postgresql_finds_passages_and_refuses_with_reasons() {
    let Some(url) = server() else { return };
    let connect = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    let (client, connection) = connect;
    tokio::spawn(connection);
    let make = "DROP SCHEMA IF EXISTS firmhand_test CASCADE; CREATE SCHEMA firmhand_test;
        CREATE TABLE firmhand_test.passages (title text, path text, body text, headings text,
            symbols text[], kind text, version text, chips text[]);
        INSERT INTO firmhand_test.passages VALUES
            ('Bus', 'bus.rst', 'The zorbex bus starts the wifi driver.', 'A', '{zorbex_start,b}',
             'api', 'v5.4-fork', '{esp32c3}'),
            ('Wifi', 'wifi.rst', 'The wifi driver scans.', '', NULL, 'guide', '5.4', NULL),
            ('Old', 'old.rst', 'The zorbex of wifi.', '', NULL, 'guide', '4.4', '{}');";
    client.batch_execute(make).await.unwrap();
    let of = |table: &str| {
        let mut index = index(IndexKind::Postgres, &url, None);
        let profile = Profile::new("team", Service::Compatible, table, Wire::new(&url));
        index.profile = Arc::new(profile);
        index
    };
    let paths = async |question: &RemoteQuestion| -> Vec<String> {
        let found = of("firmhand_test.passages").search(question).await.unwrap();
        found.into_iter().map(|it| it.path).collect()
    };
    let both = question(&["zorbex", "start", "wifi"]);
    assert_eq!(paths(&both).await, ["bus.rst", "old.rst", "wifi.rst"]);
    assert_eq!(paths(&question(&["zorbex_start"])).await, ["bus.rst"]);
    assert!(paths(&question(&["zebra", "or", "and"])).await.is_empty());
    let with = |change: fn(&mut RemoteFilter)| {
        let mut question = both.clone();
        change(&mut question.filter);
        question
    };
    let version = with(|it| it.version = Some("v5.4".to_owned()));
    assert_eq!(paths(&version).await, ["bus.rst", "wifi.rst"]);
    let chip = with(|it| it.chips = vec!["esp32s3".to_owned()]);
    assert_eq!(paths(&chip).await, ["old.rst", "wifi.rst"]);
    assert_eq!(paths(&with(|it| it.kinds = vec!["api".to_owned()])).await, ["bus.rst"]);
    let found = of("firmhand_test.passages").search(&both).await.unwrap();
    assert_eq!(
        (found[0].symbols.as_slice(), found[0].chips[0].as_str()),
        (["zorbex_start".to_owned(), "b".to_owned()].as_slice(), "esp32c3")
    );
    let why = of("firmhand_test.none").search(&both).await.unwrap_err();
    assert!(why.contains("does not exist") && why.contains("correct `index`"), "{why}");
    let mut wrong = of("firmhand_test.passages");
    wrong.about.fields.text = "no_column".to_owned();
    let why = wrong.search(&both).await.unwrap_err();
    assert!(why.contains("no_column") && why.contains("correct `fields`"), "{why}");
    wrong.about = IndexAbout { fields: fields(), language: "klingon".to_owned(), ..wrong.about };
    let why = wrong.search(&both).await.unwrap_err();
    assert!(why.contains("klingon") && why.contains("correct `language`"), "{why}");
    client.batch_execute("DROP SCHEMA firmhand_test CASCADE").await.unwrap();
}
