//! Sends requests and gives back what comes, with bounds on time and size.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Certificate, NoProxy, Proxy, RequestBuilder, Response};
use secrecy::ExposeSecret;
use tokio::time::Instant;

use super::super::fault::{Fault, deepest};
use super::super::profile::{KeyForm, Profile};
use super::super::service::Service;
use crate::files;
use crate::model::UserError;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(15);

/// Bytes of a refusal that are read.
const MOST_REFUSAL: usize = 64 << 10;

/// Bytes of an answer that does not stream.
const MOST_WHOLE: usize = 16 << 20;

/// The connections to one service; made when the first request goes out.
#[derive(Debug, Default)]
pub struct Client {
    http: OnceLock<reqwest::Client>,
}

/// An answer that has begun well.
#[derive(Debug)]
pub struct HttpReply {
    profile: Arc<Profile>,
    response: Response,
    /// When content came last; at first, when the answer began.
    content_at: Instant,
}

impl Client {
    fn http(&self, profile: &Profile) -> Result<&reqwest::Client, UserError> {
        if let Some(http) = self.http.get() {
            return Ok(http);
        }
        let made = make(profile)?;
        Ok(self.http.get_or_init(|| made))
    }

    /// Posts JSON and waits until the answer begins.
    pub async fn post(
        &self,
        profile: &Arc<Profile>,
        path: &str,
        body: &serde_json::Value,
    ) -> Result<HttpReply, Fault> {
        let http = self.http(profile).map_err(Fault::lasting)?;
        let url = format!("{}{path}", profile.wire.base_url);
        self.send(profile, http.post(url).json(body)).await
    }

    pub async fn get(
        &self,
        profile: &Arc<Profile>,
        path: &str,
    ) -> Result<serde_json::Value, Fault> {
        let http = self.http(profile).map_err(Fault::lasting)?;
        let url = format!("{}{path}", profile.wire.base_url);
        self.send(profile, http.get(url)).await?.whole_of().await
    }

    /// Posts JSON, waits for all of the answer, and says apart what went wrong.
    pub async fn ask(
        &self,
        profile: &Arc<Profile>,
        path: &str,
        body: &serde_json::Value,
        most_bytes: usize,
    ) -> Result<serde_json::Value, AskFault> {
        let http = self.http(profile).map_err(AskFault::Setup)?;
        read_key(profile).await.map_err(AskFault::Setup)?;
        let url = format!("{}{path}", profile.wire.base_url);
        let request = http.post(url).json(body);
        let request = request.headers(headers(profile).map_err(AskFault::Setup)?);
        let cut = |error: reqwest::Error| AskFault::Connection(deepest(&error));
        let mut response = request.send().await.map_err(cut)?;
        let status = response.status();
        let most = if status.is_success() { most_bytes } else { MOST_REFUSAL };
        let mut bytes = Vec::new();
        while let Some(more) = response.chunk().await.map_err(cut)? {
            bytes.extend_from_slice(&more);
            if bytes.len() > most {
                break;
            }
        }
        if !status.is_success() {
            return Err(AskFault::Status(status.as_u16(), bytes));
        }
        if bytes.len() > most {
            return Err(AskFault::TooLong);
        }
        serde_json::from_slice(&bytes).map_err(|error| AskFault::NoJson(error.to_string()))
    }

    async fn send(
        &self,
        profile: &Arc<Profile>,
        request: RequestBuilder,
    ) -> Result<HttpReply, Fault> {
        read_key(profile).await.map_err(Fault::lasting)?;
        let request = request.headers(headers(profile).map_err(Fault::lasting)?);
        let stall = profile.wire.stall;
        let response = match tokio::time::timeout(stall, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(Fault::connection(profile, &error)),
            Err(_) => {
                let what = format!("no answer began within {} s", stall.as_secs_f32());
                return Err(Fault::stalled(profile, &what));
            }
        };
        let (profile_of, content_at) = (Arc::clone(profile), Instant::now());
        let answer = HttpReply { profile: profile_of, response, content_at };
        let status = answer.response.status();
        if status.is_success() {
            return Ok(answer);
        }
        let after = retry_after(answer.response.headers());
        let body = answer.beginning().await;
        Err(Fault::status(profile, status.as_u16(), after, &body))
    }
}

/// Why [`Client::ask`] has no answer.
#[derive(Debug)]
pub enum AskFault {
    /// Nothing was sent.
    Setup(UserError),
    Connection(String),
    /// Another status than success, and the beginning of what came with it.
    Status(u16, Vec<u8>),
    TooLong,
    NoJson(String),
}

/// Reads the key of a profile, if it was not yet.
pub async fn read_key(profile: &Arc<Profile>) -> Result<(), UserError> {
    if profile.is_key_read() {
        return Ok(());
    }
    // A keyring may ask the person first, for which no other task waits.
    let profile = Arc::clone(profile);
    let reading = tokio::task::spawn_blocking(move || profile.key().map(drop));
    // Cancelled only together with the program.
    reading.await.unwrap_or(Ok(()))
}

impl HttpReply {
    /// What the service says the answer is, without parameters, in lower case.
    pub fn content_type(&self) -> String {
        let value = self.response.headers().get(reqwest::header::CONTENT_TYPE);
        let text = value.and_then(|value| value.to_str().ok()).unwrap_or_default();
        text.split(';').next().unwrap_or_default().trim().to_lowercase()
    }

    /// Content came: the time that an answer may be without begins anew. Bytes alone do not count,
    /// because a service can send signs of life for ever.
    pub fn content_came(&mut self) {
        self.content_at = Instant::now();
    }

    /// The next bytes; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Fault> {
        let stall = self.profile.wire.stall;
        let stalled = || {
            let what = format!("no part of an answer came for {} s", stall.as_secs_f32());
            Fault::stalled(&self.profile, &what)
        };
        // Bytes that are always there already never let a time limit have its turn.
        if self.content_at.elapsed() >= stall {
            return Err(stalled());
        }
        match tokio::time::timeout_at(self.content_at + stall, self.response.chunk()).await {
            Ok(Ok(bytes)) => Ok(bytes),
            Ok(Err(error)) => Err(Fault::connection(&self.profile, &error)),
            Err(_) => Err(stalled()),
        }
    }

    /// All that is left of it as JSON.
    pub async fn whole_of(&mut self) -> Result<serde_json::Value, Fault> {
        let mut bytes = Vec::new();
        while let Some(more) = self.next().await? {
            bytes.extend_from_slice(&more);
            // What the bytes say is known at the end only; blanks say nothing.
            if !more.trim_ascii().is_empty() {
                self.content_came();
            }
            if bytes.len() > MOST_WHOLE {
                let what = format!("more than {} MB", MOST_WHOLE >> 20);
                return Err(Fault::excess(&self.profile, &what));
            }
        }
        serde_json::from_slice(&bytes).map_err(|error| {
            let text = String::from_utf8_lossy(&bytes);
            Fault::garbled(&self.profile, &format!("no JSON ({error})"), &text)
        })
    }

    /// The beginning of a refusal, as far as it comes in time.
    pub async fn beginning(mut self) -> String {
        let mut bytes = Vec::new();
        let patience = Duration::from_secs(5);
        let read = async {
            while let Ok(Some(more)) = self.next().await {
                bytes.extend_from_slice(&more);
                if bytes.len() >= MOST_REFUSAL {
                    break;
                }
            }
        };
        // What has come until then says enough.
        let _ = tokio::time::timeout(patience, read).await;
        bytes.truncate(MOST_REFUSAL);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

fn make(profile: &Profile) -> Result<reqwest::Client, UserError> {
    let cannot = |why: String, fix: &str| {
        UserError::new(format!("Cannot use the profile `{}`", profile.name), why, fix)
    };
    // Another part of the program may have done so already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .connect_timeout(CONNECT.min(profile.wire.stall))
        .pool_idle_timeout(Duration::from_secs(60))
        .tcp_nodelay(true)
        // A key must not follow to another host.
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("firmhand/", env!("CARGO_PKG_VERSION")));
    let named = |file: &Path, error: &dyn std::fmt::Display| {
        let fix = "Let `ca_file` name a PEM file of certificates.";
        cannot(format!("{}: {error}", file.display()), fix)
    };
    if let Some(file) = &profile.wire.ca_file {
        let named = |error: &dyn std::fmt::Display| named(file, error);
        let pem = files::read(file, files::SETTINGS).map_err(|error| named(&error))?;
        let certificates = Certificate::from_pem_bundle(&pem).map_err(|error| named(&error))?;
        if certificates.is_empty() {
            return Err(named(&"no certificate is in it"));
        }
        builder = builder.tls_certs_merge(certificates);
    }
    if let Some(url) = &profile.wire.proxy {
        // The cause may repeat the address, in which a password can stand.
        let proxy = Proxy::all(url).map_err(|_| {
            let why = "`proxy` is not an address".to_owned();
            cannot(why, "Let `proxy` of the profile be an address such as http://HOST:PORT.")
        })?;
        builder = builder.proxy(proxy.no_proxy(NoProxy::from_env()));
    } else if is_local(&profile.host()) {
        // A proxy for the world does not lead to this machine.
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| match &profile.wire.ca_file {
        // Only now are the certificates looked into.
        Some(file) => named(file, &deepest(&error)),
        None => cannot(deepest(&error), "Correct the profile."),
    })
}

fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        Some(_) | None => host,
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

fn headers(profile: &Profile) -> Result<HeaderMap, UserError> {
    let mut headers = HeaderMap::new();
    match profile.service {
        Service::Anthropic => {
            headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
        }
        Service::GitHub => {
            headers.insert("x-github-api-version", HeaderValue::from_static("2022-11-28"));
        }
        Service::OpenRouter => {
            headers.insert("x-title", HeaderValue::from_static("firmhand"));
        }
        _ => {}
    }
    if let Some(key) = profile.key()? {
        let key = key.expose_secret();
        let (name, value) = match (&profile.wire.key_form, profile.service) {
            (KeyForm::After(word), _) => ("authorization", format!("{word} {key}")),
            (KeyForm::PasswordOf(user), _) => {
                let login = STANDARD.encode(format!("{user}:{key}"));
                profile.secrets().add_key(&login);
                ("authorization", format!("Basic {login}"))
            }
            (KeyForm::Usual, Service::Azure) => ("api-key", key.to_owned()),
            (KeyForm::Usual, Service::Anthropic) => ("x-api-key", key.to_owned()),
            (KeyForm::Usual, _) => ("authorization", format!("Bearer {key}")),
        };
        let mut value = HeaderValue::from_str(&value).map_err(|_| {
            UserError::new(
                format!("Cannot use the key of the profile `{}`", profile.name),
                format!("{} contains characters that a key cannot have", profile.key_source),
                "Put the key there again, on one line.",
            )
        })?;
        // Keeps it out of debug output.
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    for (name, value) in &profile.wire.headers {
        let wrong = || {
            UserError::new(
                format!("Cannot use the profile `{}`", profile.name),
                format!("`{name}` is not a valid header"),
                "Correct `headers` of the profile.",
            )
        };
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| wrong())?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// How long the service asks to wait: seconds, milliseconds, or a moment.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(millis) = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(millis / 1e3).ok();
    }
    let after = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = after.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let when = jiff::fmt::rfc2822::parse(after).ok()?.timestamp();
    Duration::try_from(when.duration_since(jiff::Timestamp::now())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_a_service_asks_for_is_read_in_all_its_forms() {
        let after = |name: &'static str, value: &str| {
            let value = HeaderValue::from_str(value).unwrap();
            retry_after(&HeaderMap::from_iter([(HeaderName::from_static(name), value)]))
        };
        assert_eq!(after("retry-after", "7"), Some(Duration::from_secs(7)));
        assert_eq!(after("retry-after", "0.5"), Some(Duration::from_millis(500)));
        assert_eq!(after("retry-after-ms", "250"), Some(Duration::from_millis(250)));
        let soon = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(90);
        let date = jiff::fmt::rfc2822::to_string(&soon.to_zoned(jiff::tz::TimeZone::UTC)).unwrap();
        let wait = after("retry-after", &date).unwrap();
        assert!(wait > Duration::from_secs(80) && wait <= Duration::from_secs(90), "{wait:?}");
        for nonsense in ["", "-3", "soon", "nan", "Fri, 31 Dec 1999 23:59:59 GMT"] {
            assert_eq!(after("retry-after", nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn a_proxy_does_not_stand_before_this_machine() {
        for host in ["localhost", "localhost:80", "127.0.0.1:11434", "[::1]:8080"] {
            assert!(is_local(host), "{host}");
        }
        for host in ["api.openai.com", "localhost.example.com", "10.0.0.1:80"] {
            assert!(!is_local(host), "{host}");
        }
    }

    #[test]
    fn a_key_with_a_line_feed_is_refused_with_its_place_and_not_with_its_text() {
        let key = || Ok(Some(secrecy::SecretString::from("sk-a\nb")));
        let source = super::super::super::profile::KeySource::Env("MY_KEY".into());
        let profile =
            Profile::for_test(Service::OpenAi, "http://127.0.0.1").with_key(source, Box::new(key));
        let error = headers(&profile).unwrap_err();
        assert!(error.why.contains("MY_KEY") && !error.why.contains("sk-a"), "{error:?}");
    }
}
