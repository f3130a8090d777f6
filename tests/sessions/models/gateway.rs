//! Between the program and a service: proxies, and authorities of one's own.
//!
//! `tests/sessions/models/tls` holds a certificate for `model.test`, `localhost` and 127.0.0.1 and the
//! authority that signed it; its keys protect nothing.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::place::{Place, words};
use crate::wire::{Reply, Server};

const AUTHORITY: &str = include_str!("tls/authority.pem");
const MODELS: &str = r#"{"data":[{"id":"m1"}]}"#;

/// The lines of a request's head.
fn head(stream: &mut impl Read) -> Vec<String> {
    let mut reader = BufReader::with_capacity(1, stream);
    let mut lines = Vec::new();
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|count| count > 2) {
        lines.push(std::mem::take(&mut line).trim_end().to_owned());
    }
    lines
}

/// Answers over TLS with a list of models; where it listens.
fn trusted_server() -> SocketAddr {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let chain = CertificateDer::pem_slice_iter(include_bytes!("tls/server.pem"));
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("tls/server.key.pem")).unwrap();
    let config = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain.map(Result::unwrap).collect(), key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = rustls::StreamOwned::new(connection, stream.unwrap());
            if head(&mut stream).is_empty() {
                // Whoever does not trust it goes away before a word.
                continue;
            }
            let length = MODELS.len();
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
                 connection: close\r\n\r\n{MODELS}"
            );
            let _ = stream.write_all(answer.as_bytes());
            stream.conn.send_close_notify();
            let _ = stream.flush();
        }
    });
    address
}

/// A proxy that leads everybody to one address, whatever they ask for.
struct Gate {
    address: SocketAddr,
    /// The heads of the requests.
    seen: Arc<Mutex<Vec<Vec<String>>>>,
}

impl Gate {
    /// With a password, only those who know it are let through.
    fn new(to: SocketAddr, password: Option<&'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen: Arc<Mutex<Vec<Vec<String>>>> = Arc::default();
        let log = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let lines = head(&mut stream);
                log.lock().unwrap().push(lines.clone());
                let may_pass = password.is_none_or(|word| {
                    let wanted = format!("proxy-authorization: Basic {word}");
                    lines.iter().any(|line| line.eq_ignore_ascii_case(&wanted))
                });
                std::thread::spawn(move || lead(stream, &lines, to, may_pass));
            }
        });
        Self { address, seen }
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The first lines of the requests.
    fn asked(&self) -> Vec<String> {
        let seen = self.seen.lock().unwrap();
        seen.iter().filter_map(|lines| lines.first().cloned()).collect()
    }
}

fn lead(mut stream: TcpStream, lines: &[String], to: SocketAddr, may_pass: bool) {
    if !may_pass {
        let refusal = "HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n";
        let _ = stream.write_all(refusal.as_bytes());
        return;
    }
    let mut inner = TcpStream::connect(to).unwrap();
    if lines.first().is_some_and(|line| line.starts_with("CONNECT ")) {
        stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
    } else {
        inner.write_all(format!("{}\r\n\r\n", lines.join("\r\n")).as_bytes()).unwrap();
    }
    let (mut up, mut down) = (inner.try_clone().unwrap(), stream.try_clone().unwrap());
    let back = std::thread::spawn(move || {
        let _ = std::io::copy(&mut inner, &mut down);
        let _ = down.shutdown(Shutdown::Write);
    });
    let _ = std::io::copy(&mut stream, &mut up);
    let _ = up.shutdown(Shutdown::Write);
    let _ = back.join();
}

/// A home with one profile; `wire` are more lines of it. The authority's file lies beside the
/// configuration.
fn place(url: &str, wire: &str) -> Place {
    let config = format!(
        "[profiles.mine]\nprovider = \"openai-compatible\"\nmodel = \"m1\"\n\
         wire.base_url = \"{url}/v1\"\nwire.stall_seconds = 20\n{wire}\n"
    );
    let place = Place::new(&config);
    std::fs::write(place.path("config/authority.pem"), AUTHORITY).unwrap();
    place
}

/// What `firmhand models` prints.
fn models(place: &Place, env: &[(&str, &str)]) -> String {
    words(&place.run(env, &["models", "--profile", "mine"]))
}

const TRUSTED: &str = "wire.ca_file = \"authority.pem\"";

#[test]
fn an_authority_of_ones_own_is_trusted_by_its_file_alone() {
    let url = format!("https://localhost:{}", trusted_server().port());
    let said = models(&place(&url, ""), &[]);
    assert!(said.contains("localhost") && said.contains("cannot be trusted"), "{said}");
    assert!(said.contains("`ca_file` in the profile `mine`"), "{said}");
    // The name is taken from the folder of the configuration, wherever one stands.
    assert_eq!(models(&place(&url, TRUSTED), &[]), "m1\n");
}

#[test]
fn a_file_that_holds_no_authority_is_refused_with_its_name_and_the_cure() {
    let url = format!("https://localhost:{}", trusted_server().port());
    let cases = [
        (None, "No such file"),
        (Some(String::new()), "no certificate is in it"),
        (Some("hello\n".to_owned()), "no certificate is in it"),
        (Some(include_str!("tls/server.key.pem").to_owned()), "no certificate is in it"),
        (Some("-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n".to_owned()), ""),
        (Some(AUTHORITY.replace("MII", "AAA")), ""),
    ];
    for (content, why) in cases {
        let place = place(&url, "wire.ca_file = \"mine.pem\"");
        if let Some(content) = &content {
            std::fs::write(place.path("config/mine.pem"), content).unwrap();
        }
        let said = models(&place, &[]);
        assert!(said.contains("Cannot use the profile `mine`"), "{content:?}: {said}");
        assert!(said.contains("config/mine.pem") && said.contains(why), "{content:?}: {said}");
        assert!(said.contains("PEM file of certificates"), "{content:?}: {said}");
    }
}

#[test]
fn a_proxy_of_the_environment_is_tunnelled_through() {
    let gate = Gate::new(trusted_server(), None);
    let place = place("https://model.test", TRUSTED);
    for name in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"] {
        let said = models(&place, &[(name, &gate.url())]);
        assert_eq!(said, "m1\n", "{name}");
    }
    assert_eq!(gate.asked(), ["CONNECT model.test:443 HTTP/1.1"; 3]);
}

#[test]
fn a_service_without_tls_is_asked_for_by_its_whole_address() {
    let server = Server::new();
    server.then(Reply::ok("application/json", MODELS.as_bytes()));
    let gate = Gate::new(server.address(), None);
    let place = place("http://model.test", "");
    assert_eq!(models(&place, &[("HTTP_PROXY", &gate.url())]), "m1\n");
    assert_eq!(gate.asked(), ["GET http://model.test/v1/models HTTP/1.1"]);
}

#[test]
fn what_no_proxy_names_is_reached_without_it() {
    let service = trusted_server();
    let gate = Gate::new(service, None);
    let url = gate.url();
    // Nobody has this name, so that only the proxy could lead there.
    let place_far = place("https://model.test", TRUSTED);
    for list in ["model.test", ".test", "*"] {
        let said = models(&place_far, &[("HTTPS_PROXY", &url), ("NO_PROXY", list)]);
        assert!(said.contains("model.test") && !said.contains("m1\n"), "{list}: {said}");
    }
    assert_eq!(gate.asked(), Vec::<String>::new());
    // What stands in the profile goes before the environment's proxy, and NO_PROXY before both.
    let base = format!("https://localhost:{}", service.port());
    let place = place(&base, &format!("{TRUSTED}\nwire.proxy = \"{url}\""));
    assert_eq!(models(&place, &[("HTTPS_PROXY", "http://127.0.0.1:9")]), "m1\n");
    assert_eq!(gate.asked(), [format!("CONNECT localhost:{} HTTP/1.1", service.port())]);
    assert_eq!(models(&place, &[("NO_PROXY", "localhost")]), "m1\n");
    assert_eq!(gate.asked().len(), 1, "the second call went past it");
}

#[test]
fn a_proxy_that_wants_a_password_gets_it_and_nobody_else_does() {
    // me:hunter2-secret
    let gate = Gate::new(trusted_server(), Some("bWU6aHVudGVyMi1zZWNyZXQ="));
    let proxy = |user: &str| format!("http://{user}@{}", gate.address);
    let right = format!("{TRUSTED}\nwire.proxy = \"{}\"", proxy("me:hunter2-secret"));
    assert_eq!(models(&place("https://model.test", &right), &[]), "m1\n");
    for wrong in ["me:hunter3-secret", "nobody"] {
        let wire = format!("{TRUSTED}\nwire.proxy = \"{}\"", proxy(wrong));
        let said = models(&place("https://model.test", &wire), &[]);
        assert!(said.contains("proxy") && said.contains("name and a password"), "{said}");
        assert!(said.contains("http://NAME:PASSWORD@"), "{said}");
        assert!(!said.contains("hunter"), "{said}");
    }
    let place = place("http://model.test", "");
    let said = models(&place, &[("HTTP_PROXY", &gate.url())]);
    assert!(said.contains("name and a password"), "{said}");
}

#[test]
fn a_proxy_that_is_not_there_or_no_address_is_named() {
    let nowhere = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let gone = format!("{TRUSTED}\nwire.proxy = \"http://me:hunter2-secret@{nowhere}\"");
    let said = models(&place("https://model.test", &gone), &[]);
    assert!(said.contains("model.test cannot be reached"), "{said}");
    assert!(said.contains(&format!("through the proxy {nowhere}")), "{said}");
    assert!(!said.contains("hunter2"), "{said}");
    for odd in ["http://", "ftp://proxy:1", "http://pro xy:80", "::"] {
        let said = models(&place("https://model.test", &format!("wire.proxy = \"{odd}\"")), &[]);
        assert!(said.contains("proxy") && said.contains("http://"), "{odd}: {said}");
        assert!(!said.contains("m1\n"), "{odd}: {said}");
    }
}
