//! Indexes on other machines that take part in the search, as settings.
//!
//! Only the person's own file may name one: a search sends it the question. Must not know how they are
//! asked.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::models::KeyLayer;
use super::origin::Origin;
use super::source::ConfigSource;
use super::spanned::{Spanned, word};
use crate::model::UserError;

/// `[search.remotes.NAME]`: an index on another machine.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoteLayer {
    /// What it is.
    pub kind: RemoteKind,
    /// Its address, without a password: `https://HOST:9200`, `https://NAME.search.windows.net`, or
    /// `postgres://USER@HOST/DATABASE`. To another machine, PostgreSQL is spoken to by TLS unless the
    /// address says `?sslmode=disable`.
    pub url: String,
    /// The index; for PostgreSQL the table or the view, such as `docs.passages`.
    pub index: String,
    /// Who asks, where the key is the password of a person: OpenSearch and Elasticsearch.
    pub user: Option<String>,
    /// Where the key or the password is.
    #[serde(default)]
    pub key: KeyLayer,
    /// How it is reached.
    #[serde(default)]
    pub wire: RemoteWireLayer,
    /// What the fields or columns are called.
    #[serde(default)]
    pub fields: RemoteFieldsLayer,
    /// The version of all its texts, such as `5.4`, unless a field has it.
    #[serde(default)]
    pub version: String,
    /// The chips that its texts are for, unless a field has them; all if none is named.
    #[serde(default)]
    pub chips: Vec<String>,
    /// Azure AI Search: the semantic configuration that puts results in order.
    pub semantic: Option<String>,
    /// PostgreSQL: the configuration of its text search, `english` if it is not given.
    pub language: Option<String>,
}

/// What an index on another machine is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RemoteKind {
    #[serde(rename = "opensearch")]
    OpenSearch,
    Elasticsearch,
    AzureSearch,
    Postgres,
}

impl RemoteKind {
    /// As it is written.
    #[must_use]
    pub fn name(self) -> String {
        word(&self)
    }

    /// How its addresses begin.
    const fn schemes(self) -> &'static [&'static str] {
        match self {
            Self::OpenSearch | Self::Elasticsearch | Self::AzureSearch => &["https://", "http://"],
            Self::Postgres => &["postgres://", "postgresql://"],
        }
    }
}

/// How an index is reached.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RemoteWireLayer {
    /// Azure's API version, `2024-07-01` if it is not given.
    pub api_version: Option<String>,
    /// A PEM file of certificates to trust in addition to the system's.
    pub ca_file: Option<PathBuf>,
    pub proxy: Option<String>,
    /// Headers to add.
    pub headers: BTreeMap<String, String>,
}

/// What the fields or columns of an index are called. Where none is named, the index is not asked for
/// it, and a filter by it is applied to what came.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RemoteFieldsLayer {
    /// The text itself, `body` if it is not given.
    pub text: Option<String>,
    /// `title` if it is not given.
    pub title: Option<String>,
    /// The file, `path` if it is not given.
    pub path: Option<String>,
    /// The section in the file.
    pub anchor: Option<String>,
    /// The headings above the text; OpenSearch and Elasticsearch: `headings` if it is not given.
    pub headings: Option<String>,
    /// The names that are declared; OpenSearch and Elasticsearch: `symbols` if it is not given.
    pub symbols: Option<String>,
    /// One of `guide`, `api`, `example`, `option`, `hint` and `note`.
    pub kind: Option<String>,
    pub version: Option<String>,
    /// Names of chips, such as `esp32c3`; for Azure AI Search a collection.
    pub chips: Option<String>,
    /// The component of the framework.
    pub component: Option<String>,
    /// A vector by the model of `search.embeddings`; not for PostgreSQL.
    pub vector: Option<String>,
    /// PostgreSQL: the column of type `tsvector`, which should have an index. Without it, each search
    /// reads every row.
    pub tsvector: Option<String>,
}

impl RemoteFieldsLayer {
    /// All that are named, each with what it is for.
    #[must_use]
    pub fn named(&self) -> Vec<&str> {
        let all = [
            &self.text,
            &self.title,
            &self.path,
            &self.anchor,
            &self.headings,
            &self.symbols,
            &self.kind,
            &self.version,
            &self.chips,
            &self.component,
            &self.vector,
            &self.tsvector,
        ];
        all.into_iter().flatten().map(String::as_str).collect()
    }
}

/// An index on another machine as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteEntry {
    /// Where it begins.
    pub origin: Origin,
    /// What it says.
    pub says: RemoteLayer,
}

/// Reads an entry of the person's own file.
pub(super) fn entry(
    source: &ConfigSource<'_>,
    name: &Spanned<String>,
    says: &RemoteLayer,
) -> Result<RemoteEntry, UserError> {
    match problem(name.get_ref(), says) {
        Some(why) => Err(source.wrong(name.span(), &why)),
        None => Ok(RemoteEntry { origin: source.origin(name.span()), says: says.clone() }),
    }
}

/// What is wrong with an entry.
fn problem(name: &str, says: &RemoteLayer) -> Option<String> {
    let RemoteLayer { kind, url, index, key, wire, fields, .. } = says;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > 40 || !name.chars().all(is_plain) {
        return Some("the name has letters, digits, `-`, `_` and `.` only, 40 at most".into());
    }
    if ["notes", "esp-idf", "project", "sessions"].contains(&name) {
        return Some(format!(
            "`{name}` is the name of documents on this machine; use another name"
        ));
    }
    if key.names_several() {
        return Some("it has one key: name a variable, a file or a keyring entry".into());
    }
    let Some(rest) = kind.schemes().iter().find_map(|scheme| url.strip_prefix(scheme)) else {
        return Some(format!(
            "`url` of {} begins with {}",
            kind.name(),
            kind.schemes().join(" or ")
        ));
    };
    let is_clean = |text: &str| text.is_ascii() && !text.contains(|c: char| c.is_ascii_control());
    if !is_clean(url) || url.contains(' ') || (rest.is_empty() && *kind != RemoteKind::Postgres) {
        return Some("`url` is an address in ASCII letters; write its host in Punycode".into());
    }
    if url.contains(['?', '#']) && *kind != RemoteKind::Postgres {
        return Some("`url` ends before a `?` or a `#`".into());
    }
    let person = rest.split(['/', '?']).next().and_then(|host| host.rsplit_once('@'));
    let has_password = person.is_some_and(|(person, _)| person.contains(':'));
    if has_password || url.to_ascii_lowercase().contains("password=") {
        return Some("`url` may not have a password; name a variable with `key.env`".into());
    }
    if person.is_some() && *kind != RemoteKind::Postgres {
        return Some("`url` may not have a name; use `user`".into());
    }
    if !is_index(*kind, index) {
        return Some(format!("`{index}` cannot be an index of {}", kind.name()));
    }
    if let Some(field) = fields.named().into_iter().find(|field| !is_field(*kind, field)) {
        return Some(format!("`{field}` cannot be a field of {}", kind.name()));
    }
    if let Some(proxy) = &wire.proxy
        && !(is_clean(proxy) && proxy.starts_with("http"))
    {
        return Some("`proxy` begins with http:// or https://, e.g. http://HOST:PORT".into());
    }
    only_for(says)
}

/// What only some kinds have.
fn only_for(says: &RemoteLayer) -> Option<String> {
    let RemoteLayer { kind, user, wire, fields, semantic, language, .. } = says;
    let (azure, postgres) = (*kind == RemoteKind::AzureSearch, *kind == RemoteKind::Postgres);
    let has_wire = wire.proxy.is_some() || !wire.headers.is_empty();
    let wrong = [
        ("user", user.is_some() && (azure || postgres)),
        ("semantic", semantic.is_some() && !azure),
        ("wire.api_version", wire.api_version.is_some() && !azure),
        ("language", language.is_some() && !postgres),
        ("fields.tsvector", fields.tsvector.is_some() && !postgres),
        ("fields.vector", fields.vector.is_some() && postgres),
        ("wire.proxy or wire.headers", has_wire && postgres),
    ];
    let (name, _) = wrong.into_iter().find(|(_, is_wrong)| *is_wrong)?;
    let fix = if name == "user" && postgres { "; write it into `url`" } else { "" };
    Some(format!("`{name}` is not for {}{fix}", kind.name()))
}

/// An identifier of SQL that means the same in quotation marks.
fn is_identifier(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name.len() <= 63
}

fn is_index(kind: RemoteKind, index: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '*' | ',');
    match kind {
        RemoteKind::Postgres => {
            index.split('.').count() <= 2 && index.split('.').all(is_identifier)
        }
        RemoteKind::AzureSearch => {
            !index.is_empty() && index.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
        }
        RemoteKind::OpenSearch | RemoteKind::Elasticsearch => {
            !index.is_empty() && !index.starts_with(['.', '_', '-']) && index.chars().all(is_plain)
        }
    }
}

fn is_field(kind: RemoteKind, field: &str) -> bool {
    let between = match kind {
        RemoteKind::Postgres => return is_identifier(field),
        RemoteKind::AzureSearch => '/',
        RemoteKind::OpenSearch | RemoteKind::Elasticsearch => '.',
    };
    field.split(between).all(|part| part == "@timestamp" || is_identifier(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> RemoteLayer {
        toml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn what_could_lead_elsewhere_or_holds_a_password_is_refused() {
        for (text, why) in [
            ("kind='postgres'\nurl='postgres://a:pw@h/d'\nindex='t'", "may not have a password"),
            (
                "kind='postgres'\nurl='postgres://h/d?password=x'\nindex='t'",
                "may not have a password",
            ),
            ("kind='postgres'\nurl='https://h'\nindex='t'", "begins with postgres://"),
            (
                "kind='postgres'\nurl='postgres://h/d'\nindex='t; drop table t'",
                "cannot be an index",
            ),
            ("kind='postgres'\nurl='postgres://h/d'\nindex='a.b.c'", "cannot be an index"),
            (
                "kind='postgres'\nurl='postgres://h/d'\nindex='t'\nfields.text='b\" --'",
                "a field of",
            ),
            ("kind='postgres'\nurl='postgres://h/d'\nindex='t'\nuser='x'", "write it into `url`"),
            ("kind='opensearch'\nurl='https://h'\nindex='../_cluster'", "cannot be an index"),
            ("kind='opensearch'\nurl='https://h'\nindex='_all'", "cannot be an index"),
            ("kind='opensearch'\nurl='https://a@h'\nindex='t'", "use `user`"),
            ("kind='opensearch'\nurl='https://'\nindex='t'", "is an address"),
            (
                "kind='opensearch'\nurl='https://h'\nindex='t'\nsemantic='x'",
                "is not for opensearch",
            ),
            ("kind='azure-search'\nurl='https://h'\nindex='t?x'", "cannot be an index"),
            ("kind='azure-search'\nurl='https://h'\nindex='t'\nfields.kind=\"k'\"", "a field of"),
            (
                "kind='elasticsearch'\nurl='https://h'\nindex='t'\nkey={env='A',file='b'}",
                "it has one key",
            ),
        ] {
            let found = problem("team", &of(text)).unwrap_or_default();
            assert!(found.contains(why), "{text}: {found}");
        }
        let good = of("kind='postgres'\nurl='postgres://reader@h/d'\nindex='docs.passages'");
        assert_eq!(problem("team", &good), None);
        for name in ["", "a b", "a:b", "notes", "a/b"] {
            assert!(problem(name, &good).is_some(), "{name}");
        }
        let good =
            of("kind='elasticsearch'\nurl='https://h:9200'\nindex='docs-*'\nfields.text='a.b'");
        assert_eq!(problem("team", &good), None);
    }

    #[test]
    fn unknown_keys_and_kinds_are_refused() {
        for text in
            ["kind='solr'\nurl='https://h'\nindex='t'", "kind='opensearch'\nurl='https://h'"]
        {
            assert!(toml::from_str::<RemoteLayer>(text).is_err(), "{text}");
        }
        let text = "kind='opensearch'\nurl='https://h'\nindex='t'\nkey='sk-in-the-file'";
        assert!(toml::from_str::<RemoteLayer>(text).is_err(), "a key is never in the file");
    }
}
