//! What a model's service costs beyond the bare connection: `cargo bench --bench models`.
//!
//! Each figure is the median of several runs, against the same bytes read from a plain socket.
//! Without `--bench` it makes one small round, to show that it works.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench prints and may stop"
)]

#[path = "../tests/wire/mod.rs"]
mod wire;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use firmhand::model::{Message, MessageRole};
use firmhand::provider::{Delta, ModelOptions, Provider, Remote, Request, Service};
use futures::StreamExt;
use wire::speak::{self, DIALECTS, Say, say};
use wire::{Reply, Server};

const RUNS: usize = 7;

fn main() {
    let is_bench = std::env::args().any(|arg| arg == "--bench");
    let (tokens, turns, flood) = if is_bench { (50_000, 200, 1_000_000) } else { (500, 5, 5_000) };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.unwrap();
    for service in DIALECTS {
        let (mut ours, mut raw) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            let server = Server::new();
            let reply = many(service, tokens);
            server.then(reply.clone());
            raw.push(bare(&server));
            server.then(reply);
            let remote = Remote::new(speak::profile(service, &server.url("")));
            let since = Instant::now();
            let heard = runtime.block_on(listen(&remote));
            ours.push(since.elapsed());
            assert!(heard >= tokens * 5, "{heard}");
        }
        let (ours, raw) = (median(&mut ours), median(&mut raw));
        let each = |time: Duration| time.as_nanos() as f64 / 1e3 / tokens as f64;
        println!(
            "{service}: {:.2} µs a token, {:.2} µs over the bare connection",
            each(ours),
            each(ours.saturating_sub(raw))
        );
    }
    for service in DIALECTS {
        turn(&runtime, service, turns);
    }
    let before = memory();
    let server = Server::new();
    server.then(many(Service::OpenAi, flood));
    let remote = Remote::new(speak::profile(Service::OpenAi, &server.url("")));
    let since = Instant::now();
    runtime.block_on(listen(&remote));
    let (peak, taken) = (memory(), since.elapsed());
    println!(
        "{flood} tokens streamed in {:.1} s: {} KiB more memory at the peak",
        taken.as_secs_f64(),
        peak.saturating_sub(before)
    );
}

/// A stream of so many tokens, of which the server holds only one.
fn many(service: Service, tokens: usize) -> Reply {
    let empty = speak::body(service, &Say { usage: (1, 1, 0), ..Say::default() });
    let one = Say { text: vec!["words".into()], usage: (1, 1, 0), ..Say::default() };
    let whole = speak::body(service, &one);
    let place = whole.find("words").unwrap();
    let mark = if service == Service::Ollama { "\n" } else { "\n\n" };
    let begin = whole[..place].rfind(mark).map_or(0, |at| at + mark.len());
    let end = whole[place..].find(mark).map_or(whole.len(), |at| place + at + mark.len());
    assert!(empty.len() < whole.len());
    let head = wire::head(200, speak::content_type(service), "") + &whole[..begin];
    Reply::Repeat {
        head: head.into_bytes(),
        piece: whole.as_bytes()[begin..end].to_vec(),
        times: tokens,
        tail: whole.as_bytes()[end..].to_vec(),
    }
}

fn turn(runtime: &tokio::runtime::Runtime, service: Service, turns: usize) {
    let (mut ours, mut raw) = (Vec::new(), Vec::new());
    let server = Server::new();
    let remote = Remote::new(speak::profile(service, &server.url("")));
    for _ in 0..turns {
        server.then(speak::reply(service, &say("ok")));
        raw.push(bare(&server));
        server.then(speak::reply(service, &say("ok")));
        let since = Instant::now();
        runtime.block_on(listen(&remote));
        ours.push(since.elapsed());
    }
    let (ours, raw) = (median(&mut ours), median(&mut raw));
    println!(
        "{service}: {:.0} µs a turn, {:.0} µs over the bare connection",
        ours.as_nanos() as f64 / 1e3,
        ours.saturating_sub(raw).as_nanos() as f64 / 1e3
    );
}

/// The same bytes, read and thrown away.
fn bare(server: &Server) -> Duration {
    let url = server.url("");
    let since = Instant::now();
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.write_all(b"POST /v1 HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}").unwrap();
    let mut buffer = vec![0; 64 << 10];
    while stream.read(&mut buffer).unwrap() > 0 {}
    since.elapsed()
}

async fn listen(remote: &Remote) -> usize {
    let message = |role, text: &str| {
        let text = text.to_owned();
        Arc::new(Message { role, agent: None, text, calls: Vec::new(), answers: None })
    };
    let messages = vec![message(MessageRole::System, "rules"), message(MessageRole::User, "task")];
    let mut answer = remote.ask(Request {
        step: None,
        agent: "A".into(),
        phase: "p".into(),
        attempt: 1,
        messages: messages.into(),
        tools: Arc::from([]),
        options: ModelOptions::default(),
        form: None,
        state: None,
    });
    let mut bytes = 0;
    while let Some(delta) = answer.next().await {
        match delta.unwrap() {
            Delta::Text(text) => bytes += text.len(),
            Delta::Again { fault, .. } => panic!("{fault:?}"),
            _ => {}
        }
    }
    bytes
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// The most memory this process has had, in KiB.
fn memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
