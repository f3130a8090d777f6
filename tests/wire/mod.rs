//! A model service for tests: a real HTTP server on this machine that speaks every dialect, and
//! does wrong whatever a test wants it to.

#![allow(dead_code, reason = "not every test uses all of it")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's helpers fail the test")]

pub mod speak;

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What the server does with a request.
#[derive(Debug, Clone)]
pub enum Reply {
    /// These bytes, each after a pause.
    Raw(Vec<(Duration, Vec<u8>)>),
    /// A beginning, a piece so many times, and an end.
    Repeat {
        /// The beginning, with the headers.
        head: Vec<u8>,
        /// What is repeated.
        piece: Vec<u8>,
        /// How often.
        times: usize,
        tail: Vec<u8>,
    },
    /// These bytes, then nothing for ever.
    Hang(Vec<u8>),
}

impl Reply {
    /// An answer with a body whose end is that of the connection.
    pub fn ok(content_type: &str, body: &[u8]) -> Self {
        let mut bytes = head(200, content_type, "").into_bytes();
        bytes.extend_from_slice(body);
        Self::Raw(vec![(Duration::ZERO, bytes)])
    }

    pub fn status(status: u16, more: &str, body: &str) -> Self {
        let mut bytes = head(status, "application/json", more).into_bytes();
        bytes.extend_from_slice(body.as_bytes());
        Self::Raw(vec![(Duration::ZERO, bytes)])
    }

    /// As [`Reply::ok`], the body in pieces of so many bytes.
    pub fn dripping(content_type: &str, body: &[u8], size: usize) -> Self {
        let first = head(200, content_type, "").into_bytes();
        let mut pieces = vec![(Duration::ZERO, first)];
        pieces.extend(body.chunks(size).map(|part| (Duration::from_micros(200), part.to_vec())));
        Self::Raw(pieces)
    }
}

/// The beginning of an answer.
pub fn head(status: u16, content_type: &str, more: &str) -> String {
    format!(
        "HTTP/1.1 {status} X\r\ncontent-type: {content_type}\r\nconnection: close\r\n{more}\r\n"
    )
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Method and path.
    pub line: String,
    /// Header lines in lower case, values as they came.
    pub headers: Vec<(String, String)>,
    /// The body, or null.
    pub body: serde_json::Value,
}

impl Seen {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The server; it ends with the value.
pub struct Server {
    address: std::net::SocketAddr,
    replies: Arc<Mutex<VecDeque<Reply>>>,
    seen: Arc<Mutex<Vec<Seen>>>,
    is_over: Arc<AtomicBool>,
    /// Connections on which a reply is still being written.
    pub busy: Arc<AtomicUsize>,
}

impl Server {
    pub fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            replies: Arc::default(),
            seen: Arc::default(),
            is_over: Arc::default(),
            busy: Arc::default(),
        };
        let (replies, seen) = (Arc::clone(&server.replies), Arc::clone(&server.seen));
        let (is_over, busy) = (Arc::clone(&server.is_over), Arc::clone(&server.busy));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                let (replies, seen) = (Arc::clone(&replies), Arc::clone(&seen));
                let (is_over, busy) = (Arc::clone(&is_over), Arc::clone(&busy));
                std::thread::spawn(move || {
                    busy.fetch_add(1, Ordering::SeqCst);
                    // A client that goes away is part of the tests.
                    let _ = serve(stream.unwrap(), &replies, &seen, &is_over);
                    busy.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        server
    }

    /// Where it listens.
    pub fn address(&self) -> std::net::SocketAddr {
        self.address
    }

    /// Where it is, with this path behind.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Answers the next request like this.
    pub fn then(&self, reply: Reply) {
        self.replies.lock().unwrap().push_back(reply);
    }

    /// The requests so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Replies that nobody has asked for yet.
    pub fn left(&self) -> usize {
        self.replies.lock().unwrap().len()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

fn serve(
    mut stream: TcpStream,
    replies: &Mutex<VecDeque<Reply>>,
    seen: &Mutex<Vec<Seen>>,
    is_over: &AtomicBool,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = serde_json::from_slice(&body).unwrap_or_default();
    seen.lock().unwrap().push(Seen { line: line.trim_end().to_owned(), headers, body });
    let reply = replies.lock().unwrap().pop_front();
    match reply {
        Some(Reply::Raw(pieces)) => {
            for (pause, bytes) in pieces {
                std::thread::sleep(pause);
                stream.write_all(&bytes)?;
            }
            Ok(())
        }
        Some(Reply::Repeat { head, piece, times, tail }) => {
            let mut out = std::io::BufWriter::with_capacity(64 << 10, stream);
            out.write_all(&head)?;
            for _ in 0..times {
                out.write_all(&piece)?;
            }
            out.write_all(&tail)?;
            out.flush()
        }
        Some(Reply::Hang(bytes)) => {
            stream.write_all(&bytes)?;
            stream.set_read_timeout(Some(Duration::from_millis(20)))?;
            // Until the client has gone, or the test is over.
            while !is_over.load(Ordering::Relaxed) {
                match reader.read(&mut [0]) {
                    Ok(0) => return Ok(()),
                    Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {
                        return Ok(());
                    }
                    Ok(_) | Err(_) => {}
                }
            }
            Ok(())
        }
        None => stream.write_all(head(599, "text/plain", "").as_bytes()),
    }
}
