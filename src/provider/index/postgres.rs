//! PostgreSQL: its full text search over one table or view.
//!
//! Values are parameters; names of the table and of columns are identifiers that the settings have
//! checked, in quotation marks. Nothing can be written: the transaction is read-only.

use std::error::Error as _;
use std::str::FromStr;

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
use super::super::wire::read_key;
use super::fault::brief;
use super::tls::{Bounded, TOO_LONG, Tls};
use super::{LONGEST, MOST_BYTES, RemoteIndex};
use crate::model::{RemotePassage, RemoteQuestion};

/// The transaction in which is searched, in milliseconds longer than anybody waits.
const BEGIN: &str = "BEGIN READ ONLY; SET LOCAL statement_timeout = 2500";

/// Rows from which on a word is common: then the others decide which rows are looked at.
const COMMON: usize = 2_000;
/// Rows that are put in order.
const RANKED: usize = 3_000;

/// A statement with its parameters.
#[derive(Debug, Default)]
pub(super) struct Query {
    pub sql: String,
    pub values: Vec<Param>,
}

/// A value of a statement.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Param {
    Text(String),
    Texts(Vec<String>),
    Number(i64),
}

impl Param {
    fn bound(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Self::Text(text) => (text, Type::TEXT),
            Self::Texts(texts) => (texts, Type::TEXT_ARRAY),
            Self::Number(number) => (number, Type::INT8),
        }
    }
}

impl Query {
    /// Adds a value; the name by which the statement has it.
    fn value(&mut self, value: Param) -> String {
        self.values.push(value);
        format!("${}", self.values.len())
    }
}

/// An identifier; it has no quotation marks, because the settings refuse those.
fn quoted(name: &str) -> String {
    let parts = name.split('.').map(|part| format!("\"{}\"", part.replace('"', "")));
    parts.collect::<Vec<_>>().join(".")
}

impl RemoteIndex {
    pub(super) async fn postgres(
        &self,
        question: &RemoteQuestion,
    ) -> Result<Vec<RemotePassage>, String> {
        let (config, host, port) = self.connection().await?;
        let query = self.query(question);
        let unreachable = |error: std::io::Error| self.unreachable(&error.to_string());
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
                    let tls = Tls::of(&self.profile, &name).map_err(|why| self.untrusted(&why))?;
                    rows(&config, stream, tls, &query).await
                }
            }
        };
        let rows = rows.map_err(|error| self.sql_fault(&error))?;
        let document = |row: &String| serde_json::from_str::<Value>(row).ok();
        Ok(rows.iter().filter_map(document).map(|row| self.passage(&row)).collect())
    }

    /// How to connect, and where.
    async fn connection(&self) -> Result<(Config, Host, u16), String> {
        let (url, name) = (&self.profile.wire.base_url, &self.profile.name);
        // The certificate is always checked, which is what the other words for it ask.
        let known = url.replace("sslmode=verify-full", "sslmode=require");
        let known = known.replace("sslmode=verify-ca", "sslmode=require");
        let mut config = Config::from_str(&known).map_err(|error| {
            let why = deepest(&error);
            format!(
                "`url` is not an address of PostgreSQL ({why}); correct `[search.remotes.{name}]`"
            )
        })?;
        read_key(&self.profile).await.map_err(|error| format!("{}; {}", error.why, error.fix))?;
        let key = self.profile.key().ok().flatten();
        if let Some(key) = key {
            config.password(key.expose_secret());
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
            // Else whoever is on the way could say that there is none.
            config.ssl_mode(SslMode::Require);
        }
        let port = config.get_ports().first().copied().unwrap_or(5432);
        Ok((config, host, port))
    }

    /// The search as a statement: rows with the most and the rarest of the words first, then by how near
    /// to each other they are. What is read is bounded, however common the words are.
    pub(super) fn query(&self, question: &RemoteQuestion) -> Query {
        let fields = &self.about.fields;
        let mut query = Query::default();
        let language = query.value(Param::Text(self.about.language.clone()));
        let any: Vec<String> = question.words.iter().map(|word| format!("\"{word}\"")).collect();
        let any = query.value(Param::Text(any.join(" or ")));
        let each = query.value(Param::Texts(question.words.clone()));
        let most = i64::try_from(question.most).unwrap_or(i64::MAX);
        let most = query.value(Param::Number(most));
        let column = |name: &str| format!("t.{}", quoted(name));
        let vector = match &fields.tsvector {
            Some(field) => column(field),
            None => {
                let searched = [
                    fields.title.as_ref(),
                    fields.headings.as_ref(),
                    fields.symbols.as_ref(),
                    Some(&fields.text),
                ];
                let texts = searched.into_iter().flatten();
                let texts: Vec<String> =
                    texts.map(|name| format!("coalesce({}::text, '')", column(name))).collect();
                format!("to_tsvector({language}::regconfig, {})", texts.join(" || ' ' || "))
            }
        };
        let pairs: Vec<String> = fields
            .read()
            .into_iter()
            .map(|(name, field)| {
                let value = match name {
                    "text" => format!("left({}::text, {LONGEST})", column(field)),
                    _ => column(field),
                };
                // An argument of `json_build_object`, which is checked to be an identifier.
                format!("'{field}', {value}")
            })
            .collect();
        let filter = self.filter(question, &mut query);
        let table = quoted(&self.profile.model);
        let row = format!("json_build_object({})", pairs.join(", "));
        // How many rows have a word is read from the index alone; without one it is not asked.
        let count = match &fields.tsvector {
            Some(_) => format!(
                "(SELECT count(*) FROM (SELECT 1 FROM {table} AS t WHERE {vector} @@ w.one \
                 LIMIT {COMMON}) AS few)"
            ),
            None => "0".to_owned(),
        };
        query.sql = format!(
            "WITH one_each AS MATERIALIZED (SELECT DISTINCT phraseto_tsquery({language}::regconfig, w) \
             AS one FROM unnest({each}::text[]) AS w), \
             counted AS MATERIALIZED (SELECT w.one, {count} AS rows FROM one_each AS w \
             WHERE numnode(w.one) > 0), \
             words AS MATERIALIZED (SELECT one, rows, rows < {COMMON} AND sum(rows) OVER \
             (ORDER BY rows, one) <= {RANKED} AS is_rare FROM counted), \
             pick AS MATERIALIZED (SELECT \
             string_agg('(' || one::text || ')', ' | ') FILTER (WHERE is_rare)::tsquery AS rare, \
             string_agg('(' || one::text || ')', ' & ') FILTER (WHERE NOT is_rare)::tsquery AS others \
             FROM words), \
             near AS MATERIALIZED ((SELECT {row} AS row, {vector} AS v FROM pick, {table} AS t \
             WHERE {vector} @@ pick.rare{filter} LIMIT {RANKED}) UNION ALL \
             (SELECT {row}, {vector} FROM pick, {table} AS t WHERE {vector} @@ pick.others \
             AND NOT coalesce({vector} @@ pick.rare, false){filter} LIMIT {COMMON})) \
             SELECT near.row::text FROM near ORDER BY \
             (SELECT sum(ln(1 + {COMMON} * 10.0 / (words.rows + 1))) FROM words \
             WHERE near.v @@ words.one) DESC, \
             ts_rank_cd(near.v, websearch_to_tsquery({language}::regconfig, {any}), 1) DESC LIMIT {most}"
        );
        query
    }

    /// What rows must be.
    fn filter(&self, question: &RemoteQuestion, query: &mut Query) -> String {
        let (fields, wanted) = (&self.about.fields, &question.filter);
        let column = |name: &str| format!("t.{}::text", quoted(name));
        let mut filter = String::new();
        if let (Some(field), false) = (&fields.kind, wanted.kinds.is_empty()) {
            let kinds = query.value(Param::Texts(wanted.kinds.clone()));
            filter.push_str(&format!(" AND lower({}) = ANY({kinds}::text[])", column(field)));
        }
        if let (Some(field), false) = (&fields.chips, wanted.chips.is_empty()) {
            let (chips, field) = (query.value(Param::Texts(wanted.chips.clone())), column(field));
            // A text or an array; what names no chip is for all of them.
            filter.push_str(&format!(
                " AND (coalesce({field}, '') IN ('', '{{}}') OR regexp_split_to_array(\
                 replace(lower({field}), '-', ''), '[^a-z0-9]+') && {chips}::text[])"
            ));
        }
        if let (Some(field), Some(component)) = (&fields.component, &wanted.component) {
            let component = query.value(Param::Text(component.clone()));
            filter.push_str(&format!(" AND {} = {component}", column(field)));
        }
        if let (Some(field), Some(version)) = (&fields.version, &wanted.version) {
            let version = version.trim_start_matches('v').to_owned();
            let (version, field) = (query.value(Param::Text(version)), column(field));
            filter.push_str(&format!(
                " AND (coalesce({field}, '') = '' OR starts_with(ltrim({field}, 'v'), {version}))"
            ));
        }
        filter
    }

    fn unreachable(&self, cause: &str) -> String {
        let name = &self.profile.name;
        format!(
            "it cannot be reached ({}); check the network, and `url` in `[search.remotes.{name}]`",
            brief(cause)
        )
    }

    fn untrusted(&self, cause: &str) -> String {
        let name = &self.profile.name;
        format!(
            "it cannot be trusted ({}); if your network has its own certificate authority, name its \
             file with `wire.ca_file` in `[search.remotes.{name}]`",
            brief(cause)
        )
    }

    fn sql_fault(&self, error: &Error) -> String {
        let (name, index) = (&self.profile.name, &self.profile.model);
        let cause = error.as_db_error().map(|error| brief(error.message()));
        let Some(cause) = cause else {
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
                return self.untrusted(&cause);
            }
            if cause.contains("password missing") {
                return format!(
                    "it asks for a password; name a variable with it as `key.env` in \
                                `[search.remotes.{name}]`"
                );
            }
            return match error.source() {
                Some(_) => self.unreachable(&cause),
                None => format!("the connection was interrupted ({}); try again", brief(&cause)),
            };
        };
        let code = error.code();
        let is = |states: &[SqlState]| code.is_some_and(|code| states.contains(code));
        let fix =
            if is(&[SqlState::INVALID_PASSWORD, SqlState::INVALID_AUTHORIZATION_SPECIFICATION]) {
                format!(
                    "correct the user in `url` or the password from {}",
                    self.profile.key_source
                )
            } else if is(&[SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME]) {
                "correct `index`".to_owned()
            } else if is(&[SqlState::UNDEFINED_COLUMN, SqlState::DATATYPE_MISMATCH]) {
                "correct `fields`".to_owned()
            } else if is(&[SqlState::INSUFFICIENT_PRIVILEGE]) {
                format!("ask for the right to read `{index}`")
            } else if is(&[SqlState::INVALID_CATALOG_NAME]) {
                "correct the database in `url`".to_owned()
            } else if is(&[SqlState::UNDEFINED_OBJECT]) {
                "correct `language`".to_owned()
            } else if is(&[SqlState::QUERY_CANCELED]) {
                "let `fields.tsvector` name a column with an index".to_owned()
            } else {
                "check what is set".to_owned()
            };
        format!("it says “{cause}”; {fix} in `[search.remotes.{name}]`")
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
