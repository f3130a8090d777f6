//! Everything that a broken server can send.

use std::time::Duration;

use firmhand::provider::Service;
use serde_json::json;

use super::{ask, first_request, remote};
use crate::wire::speak::{self, DIALECTS, say};
use crate::wire::{Reply, Server, head};

/// What comes of four tries with such an answer.
async fn refused(service: Service, content_type: &str, body: &[u8]) -> firmhand::model::UserError {
    let server = Server::new();
    for _ in 0..4 {
        server.then(Reply::ok(content_type, body));
    }
    ask(&remote(service, &server), first_request()).await.failed()
}

#[tokio::test]
async fn web_pages_and_noise_are_not_answers() {
    for service in DIALECTS {
        let page = refused(service, "text/html", b"<html><h1>Welcome to nginx</h1></html>").await;
        assert!(page.why.contains("web page") && page.fix.contains("base_url"), "{page:?}");
        let kind = speak::content_type(service);
        for noise in [&b"data: {not json\n\n{nor this\n"[..], b"\xff\xfe\x00data\n\n\xff{\n"] {
            let error = refused(service, kind, noise).await;
            assert!(!error.what.is_empty() && !error.fix.is_empty(), "{service}: {error:?}");
            assert!(!error.why.contains('\u{0}'), "{error:?}");
        }
        refused(service, kind, b"").await;
        refused(service, kind, b"\n\n\n: ping\n\n").await;
        refused(service, kind, b"data: null\n\ndata: 5\n\ndata: []\n\nnull\n5\n[]\n").await;
    }
}

#[tokio::test]
async fn a_giant_message_is_not_kept() {
    for service in DIALECTS {
        let server = Server::new();
        let mut bytes = b"data: ".to_vec();
        bytes.resize(20 << 20, b'x');
        server.then(Reply::ok(speak::content_type(service), &bytes));
        let error = ask(&remote(service, &server), first_request()).await.failed();
        assert!(error.why.contains("megabytes"), "{service}: {error:?}");
    }
}

#[tokio::test]
async fn ten_thousand_calls_are_refused_and_two_hundred_taken() {
    for service in DIALECTS {
        let many = |count| {
            (0..count).fold(say("all"), |say, n| say.call("read_file", json!({ "path": n })))
        };
        let server = Server::new();
        server.then(speak::reply(service, &many(10_000)));
        let error = ask(&remote(service, &server), first_request()).await.failed();
        assert!(error.why.contains("tool calls"), "{service}: {error:?}");
        server.then(speak::reply(service, &many(200)));
        assert_eq!(ask(&remote(service, &server), first_request()).await.calls.len(), 200);
    }
}

#[tokio::test]
async fn odd_counts_and_unknown_tools_do_no_harm() {
    for service in DIALECTS {
        let server = Server::new();
        let mut odd = say("ok").call("no_such_tool", json!("{\"a\": tru")).call("", json!({}));
        odd.usage = (-5, -7, -9);
        server.then(speak::reply(service, &odd));
        let heard = ask(&remote(service, &server), first_request()).await;
        let usage = heard.usage.unwrap();
        assert!(usage.input <= 4 && usage.cached == 0, "{service}: {usage:?}");
        assert!(usage.output <= 1, "{service}");
        assert_eq!(heard.calls[0], ("no_such_tool".into(), "{\"a\": tru".into()), "{service}");
    }
}

#[tokio::test]
async fn what_is_said_twice_counts_once_and_what_comes_later_not_at_all() {
    for service in DIALECTS {
        let server = Server::new();
        let body = speak::body(service, &say("once"));
        let twice = match service {
            // The last events again, and noise behind them.
            Service::OpenAi => {
                let end =
                    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
                body.replace(
                    "data: [DONE]",
                    &format!("data: {end}\n\ndata: {end}\n\ndata: [DONE]\n\ndata: [DONE]"),
                )
            }
            _ => format!("{body}\n{}", body.lines().rev().take(3).collect::<Vec<_>>().join("\n")),
        };
        server.then(Reply::ok(speak::content_type(service), (twice + "\ngarbage").as_bytes()));
        let heard = ask(&remote(service, &server), first_request()).await;
        assert_eq!((heard.text.as_str(), heard.faults.len()), ("once", 0), "{service}");
    }
}

#[tokio::test]
async fn a_connection_that_stays_open_after_the_end_holds_nobody_up() {
    for service in DIALECTS {
        let server = Server::new();
        let mut bytes = head(200, speak::content_type(service), "").into_bytes();
        bytes.extend_from_slice(speak::body(service, &say("done")).as_bytes());
        server.then(Reply::Hang(bytes));
        let asked = ask(&remote(service, &server), first_request()).await;
        assert_eq!((asked.text.as_str(), asked.faults.len()), ("done", 0), "{service}");
    }
}

#[tokio::test]
async fn a_key_does_not_follow_to_another_host() {
    let (server, thief) = (Server::new(), Server::new());
    let location = format!("location: {}\r\n", thief.url("/v1/chat/completions"));
    server.then(Reply::status(307, &location, ""));
    let heard = ask(&remote(Service::OpenAi, &server), first_request()).await;
    assert!(heard.error.is_some());
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(thief.seen().is_empty());
}
