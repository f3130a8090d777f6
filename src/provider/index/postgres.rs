//! PostgreSQL: its full text search over one table or view. Nothing can be written: the transaction is
//! read-only.

use std::error::Error as _;
use std::str::FromStr;
use std::sync::Arc;

use secrecy::ExposeSecret;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::TlsConnect;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Config, Error, NoTls};

use super::super::fault::deepest;
use super::super::profile::{KeyForm, Profile};
use super::super::wire::read_key;
use super::about::{IndexAbout, MOST_BYTES};
use super::fault::{brief, in_one};
use super::sql::{self, Param, Query};
use super::tls::{Bounded, TOO_LONG, Tls};
use crate::model::{RemotePassage, RemoteQuestion};

/// The transaction in which is searched, in milliseconds longer than anybody waits.
const BEGIN: &str = "BEGIN READ ONLY; SET LOCAL statement_timeout = 2500";

/// The passages that a server finds.
pub async fn search(
    profile: &Arc<Profile>,
    about: &IndexAbout,
    question: &RemoteQuestion,
) -> Result<Vec<RemotePassage>, String> {
    let (config, host, port) = connection(profile).await?;
    let query = sql::query(about, &profile.model, question);
    let unreachable = |error: std::io::Error| unreachable(profile, &error.to_string());
    let left = MOST_BYTES;
    let rows = match host {
        Host::Unix(folder) => {
            let socket = folder.join(format!(".s.PGSQL.{port}"));
            let inner = UnixStream::connect(socket).await.map_err(unreachable)?;
            rows(&config, Bounded { inner, left }, NoTls, &query).await
        }
        Host::Tcp(name) => {
            let inner = TcpStream::connect((name.as_str(), port)).await.map_err(unreachable)?;
            inner.set_nodelay(true).map_err(unreachable)?;
            let stream = Bounded { inner, left };
            if config.get_ssl_mode() == SslMode::Disable {
                rows(&config, stream, NoTls, &query).await
            } else {
                let tls = Tls::of(profile, &name).map_err(|why| untrusted(profile, &why))?;
                rows(&config, stream, tls, &query).await
            }
        }
    };
    let rows = rows.map_err(|error| fault_of(profile, &error))?;
    let document = |row: &String| serde_json::from_str::<Value>(row).ok();
    Ok(rows.iter().filter_map(document).map(|row| about.passage(&row)).collect())
}

/// How to connect, and where.
async fn connection(profile: &Arc<Profile>) -> Result<(Config, Host, u16), String> {
    let (url, name) = (&profile.wire.base_url, &profile.name);
    // The certificate is always checked, which is what the other words for it ask.
    let known = url.replace("sslmode=verify-full", "sslmode=require");
    let known = known.replace("sslmode=verify-ca", "sslmode=require");
    let mut config = Config::from_str(&known).map_err(|error| {
        let why = deepest(&error);
        format!("`url` is not an address of PostgreSQL ({why}); correct `[search.remotes.{name}]`")
    })?;
    read_key(profile).await.map_err(|error| in_one(&error))?;
    let key = profile.key().ok().flatten();
    if let Some(key) = key {
        config.password(key.expose_secret());
    }
    if let KeyForm::PasswordOf(user) = &profile.wire.key_form {
        config.user(user);
    }
    config.application_name("firmhand");
    let host = config.get_hosts().first().cloned();
    let host = host.unwrap_or_else(|| Host::Tcp("localhost".to_owned()));
    let is_here = match &host {
        Host::Unix(_) => true,
        Host::Tcp(name) => is_loopback(name),
    };
    if !url.contains("sslmode=") {
        config.ssl_mode(if is_here { SslMode::Disable } else { SslMode::Require });
    } else if config.get_ssl_mode() == SslMode::Prefer {
        // Otherwise a machine in between could claim that the server has no TLS.
        config.ssl_mode(SslMode::Require);
    }
    let port = config.get_ports().first().copied().unwrap_or(5432);
    Ok((config, host, port))
}

fn unreachable(profile: &Profile, cause: &str) -> String {
    let name = &profile.name;
    format!(
        "it cannot be reached ({}); check the network, and `url` in `[search.remotes.{name}]`",
        brief(cause)
    )
}

fn untrusted(profile: &Profile, cause: &str) -> String {
    let name = &profile.name;
    format!(
        "it cannot be trusted ({}); if your network has its own certificate authority, name its \
         file with `wire.ca_file` in `[search.remotes.{name}]`",
        brief(cause)
    )
}

fn fault_of(profile: &Profile, error: &Error) -> String {
    let (name, index) = (&profile.name, &profile.model);
    let cause = error.as_db_error().map(|error| brief(error.message()));
    let Some(cause) = cause else { return broken(profile, error) };
    let user = format!("correct the user in `url` or the password from {}", profile.key_source);
    let right = format!("ask for the right to read `{index}`");
    let fixes = [
        (SqlState::INVALID_PASSWORD, user.as_str()),
        (SqlState::INVALID_AUTHORIZATION_SPECIFICATION, &user),
        (SqlState::UNDEFINED_TABLE, "correct `index`"),
        (SqlState::INVALID_SCHEMA_NAME, "correct `index`"),
        (SqlState::UNDEFINED_COLUMN, "correct `fields`"),
        (SqlState::DATATYPE_MISMATCH, "correct `fields`"),
        (SqlState::UNDEFINED_FUNCTION, "correct `fields`"),
        (SqlState::INSUFFICIENT_PRIVILEGE, &right),
        (SqlState::INVALID_CATALOG_NAME, "correct the database in `url`"),
        (SqlState::UNDEFINED_OBJECT, "correct `language`"),
        (SqlState::QUERY_CANCELED, "let `fields.tsvector` name a column with an index"),
    ];
    let known = fixes.iter().find(|(state, _)| error.code() == Some(state));
    let fix = known.map_or("check what is set", |(_, fix)| *fix);
    format!("it says “{cause}”; {fix} in `[search.remotes.{name}]`")
}

/// A failure that the server did not tell.
fn broken(profile: &Profile, error: &Error) -> String {
    let (name, index) = (&profile.name, &profile.model);
    let cause = deepest(error);
    if cause.contains(TOO_LONG) {
        let most = MOST_BYTES >> 20;
        return format!(
            "its answer has more than {most} MB; let `{index}` have one passage in \
                        each row"
        );
    }
    if cause.contains("server does not support TLS") {
        return format!(
            "it does not offer TLS, without which nothing is sent to another machine; let it \
             offer TLS, or write `?sslmode=disable` into `url` in `[search.remotes.{name}]`"
        );
    }
    let is_certificate = cause.contains("certificate") || cause.contains("UnknownIssuer");
    if is_certificate {
        return untrusted(profile, &cause);
    }
    if cause.contains("password missing") {
        return format!(
            "it asks for a password; name a variable with it as `key.env` in \
                        `[search.remotes.{name}]`"
        );
    }
    match error.source() {
        Some(_) => unreachable(profile, &cause),
        None => format!("the connection was interrupted ({}); try again", brief(&cause)),
    }
}

fn is_loopback(name: &str) -> bool {
    name == "localhost" || name.parse().is_ok_and(|it: std::net::IpAddr| it.is_loopback())
}

/// The rows that a statement finds, each as one text.
async fn rows<S, T>(config: &Config, stream: S, tls: T, query: &Query) -> Result<Vec<String>, Error>
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: TlsConnect<S>,
{
    let (client, connection) = config.connect_raw(stream, tls).await?;
    let ask = async {
        client.batch_execute(BEGIN).await?;
        let values: Vec<(&(dyn ToSql + Sync), Type)> =
            query.values.iter().map(Param::bound).collect();
        let rows = client.query_typed(&query.sql, &values).await?;
        rows.iter().map(|row| row.try_get(0)).collect()
    };
    let (ask, connection) = (std::pin::pin!(ask), std::pin::pin!(connection));
    // The connection is driven here, so that nothing of it stays when nobody waits any longer.
    match futures::future::select(connection, ask).await {
        futures::future::Either::Right((rows, _)) => rows,
        futures::future::Either::Left((Err(error), _)) => Err(error),
        futures::future::Either::Left((Ok(()), ask)) => ask.await,
    }
}
