//! What happens when a service fails: which failures are tried again, what the person reads.

use std::time::{Duration, Instant};

use firmhand::provider::{Provider, Remote, Service};
use futures::StreamExt;
use serde_json::json;

use super::{ask, first_request, remote};
use crate::wire::speak::{self, DIALECTS, End, KEY, say};
use crate::wire::{Reply, Server};

#[tokio::test]
async fn a_stream_cut_in_the_middle_is_asked_again_and_nothing_is_doubled() {
    for service in DIALECTS {
        let server = Server::new();
        let whole = say("one two three four").call("read_file", json!({ "path": "a" }));
        server.then(speak::reply(service, &whole.clone().ends(End::Nowhere)));
        let body = speak::body(service, &whole);
        let half = &body.as_bytes()[..body.len() / 2];
        server.then(Reply::ok(speak::content_type(service), half));
        server.then(speak::reply(service, &whole));
        let heard = ask(&remote(service, &server), first_request()).await;
        assert_eq!(heard.faults.len(), 2, "{service}: {heard:?}");
        assert!(heard.faults[0].0.what.contains("was interrupted"), "{:?}", heard.faults);
        assert_eq!(heard.text, "one two three four", "{service}");
        assert_eq!(heard.calls.len(), 1, "{service}");
    }
}

#[tokio::test]
async fn a_service_that_asks_for_time_gets_it() {
    for service in DIALECTS {
        let server = Server::new();
        let busy = r#"{"error":{"message":"Rate limit reached"}}"#;
        server.then(Reply::status(429, "retry-after-ms: 120\r\n", busy));
        server.then(Reply::status(529, "", r#"{"error":{"message":"Overloaded"}}"#));
        server.then(speak::reply(service, &say("ok")));
        let since = Instant::now();
        let heard = ask(&remote(service, &server), first_request()).await;
        assert_eq!((heard.text.as_str(), heard.faults.len()), ("ok", 2), "{service}");
        assert!(heard.faults[0].1 >= 120 && since.elapsed() >= Duration::from_millis(120));
        assert!(heard.faults[0].0.why.contains("Rate limit reached"), "{:?}", heard.faults);
    }
    let server = Server::new();
    server.then(Reply::status(429, "retry-after: 86400\r\n", "{}"));
    let error = ask(&remote(Service::OpenAi, &server), first_request()).await.failed();
    assert!(error.fix.contains("--profile"), "nobody waits a day: {error:?}");
}

#[tokio::test]
async fn silence_is_not_waited_for_for_ever() {
    for service in DIALECTS {
        let server = Server::new();
        let part = speak::body(service, &say("It begins").ends(End::Nowhere));
        let mut bytes = crate::wire::head(200, speak::content_type(service), "").into_bytes();
        bytes.extend_from_slice(part.as_bytes());
        server.then(Reply::Hang(Vec::new()));
        server.then(Reply::Hang(bytes));
        server.then(speak::reply(service, &say("at last")));
        let heard = ask(&remote(service, &server), first_request()).await;
        assert_eq!((heard.text.as_str(), heard.faults.len()), ("at last", 2), "{service}");
        assert!(heard.faults.iter().all(|(fault, _)| fault.what.contains("stopped answering")));
    }
}

#[tokio::test]
async fn after_so_many_tries_it_gives_up_with_the_last_cause() {
    for service in DIALECTS {
        let server = Server::new();
        for _ in 0..4 {
            server.then(Reply::status(503, "", r#"{"error":{"message":"no capacity"}}"#));
        }
        let heard = ask(&remote(service, &server), first_request()).await;
        assert_eq!((heard.faults.len(), server.seen().len()), (3, 4), "{service}");
        let error = heard.failed();
        assert!(error.what.contains("has a fault") && error.why.contains("no capacity"));
    }
}

#[tokio::test]
async fn a_pause_is_cancelled_at_once() {
    let server = Server::new();
    server.then(Reply::status(503, "retry-after: 60\r\n", "{}"));
    let remote = remote(Service::OpenAi, &server);
    let mut answer = remote.ask(first_request());
    assert!(answer.next().await.is_some());
    let since = Instant::now();
    drop(answer);
    assert!(since.elapsed() < Duration::from_millis(50));
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn what_a_person_can_mend_is_said_in_plain_words_and_not_tried_again() {
    let cases = [
        (401, "does not accept the key", "FIRMHAND_TEST_KEY"),
        (402, "payment", "credit"),
        (403, "does not allow this key", "firmhand models"),
        (404, "test-model", "test-model"),
        (400, "refused the request", "firmhand doctor"),
    ];
    for service in DIALECTS {
        for (status, what, fix) in cases {
            let server = Server::new();
            let body = json!({ "error": { "message": format!("bad key {KEY}") } }).to_string();
            server.then(Reply::status(status, "", &body));
            let error = ask(&remote(service, &server), first_request()).await.failed();
            assert!(error.what.contains(what), "{service} {status}: {error:?}");
            let fix = if (service, status) == (Service::Ollama, 404) { "ollama pull" } else { fix };
            assert!(error.fix.contains(fix) || status == 404, "{service} {status}: {error:?}");
            assert!(!format!("{error:?}").contains(KEY), "{error:?}");
            assert_eq!(server.seen().len(), 1);
        }
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let gone = Server::new().url("");
    for service in DIALECTS {
        let mut profile = speak::profile(service, &gone);
        profile.wire.tries = 2;
        let heard = ask(&Remote::new(profile), first_request()).await;
        assert_eq!(heard.faults.len(), 1);
        let error = heard.failed();
        assert!(error.what.contains("127.0.0.1") && error.what.contains("reached"), "{error:?}");
        assert!(!error.fix.is_empty());
    }
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_told_apart() {
    for service in DIALECTS {
        let server = Server::new();
        let said = "This model's maximum context length is 8192 tokens.";
        server.then(Reply::status(400, "", &json!({ "error": { "message": said } }).to_string()));
        let heard = ask(&remote(service, &server), first_request()).await;
        assert_eq!(heard.too_long, Some(Some(8192)), "{service}");
        assert!(heard.error.is_some());
    }
}

#[tokio::test]
async fn failures_within_a_stream_are_failures() {
    let cases = [
        (Service::OpenAi, "data: {\"error\":{\"message\":\"Overloaded\",\"code\":502}}\n\n"),
        (
            Service::Anthropic,
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
        ),
        (
            Service::Responses,
            "data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"server_error\",\"message\":\"Overloaded\"}}}\n\n",
        ),
        (Service::Ollama, "{\"error\":\"Overloaded\"}\n"),
    ];
    for (service, body) in cases {
        let server = Server::new();
        server.then(Reply::ok(speak::content_type(service), body.as_bytes()));
        server.then(speak::reply(service, &say("ok")));
        let heard = ask(&remote(service, &server), first_request()).await;
        assert_eq!(heard.text, "ok", "{service}");
        assert!(heard.faults[0].0.why.contains("Overloaded"), "{service}: {:?}", heard.faults);
    }
}
