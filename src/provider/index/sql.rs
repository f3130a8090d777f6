//! The statement by which PostgreSQL is searched.
//!
//! Values are parameters; names of the table and of columns are identifiers that the settings have
//! checked, in quotation marks.

use tokio_postgres::types::{ToSql, Type};

use super::about::{IndexAbout, IndexFields, LONGEST};
use crate::model::RemoteQuestion;

/// Rows from which on a word is common: then the others decide which rows are looked at.
const COMMON: usize = 2_000;
/// Rows that are put in order.
const RANKED: usize = 3_000;

/// A statement with its parameters.
#[derive(Debug, Default)]
pub struct Query {
    pub sql: String,
    pub values: Vec<Param>,
}

/// A value of a statement.
#[derive(Debug, PartialEq, Eq)]
pub enum Param {
    Text(String),
    Texts(Vec<String>),
    Number(i64),
}

impl Param {
    /// The value with its type.
    pub fn bound(&self) -> (&(dyn ToSql + Sync), Type) {
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

/// The search as a statement: rows with the most and the rarest of the words first, then by how near
/// to each other they are. What is read is bounded, however common the words are.
pub fn query(about: &IndexAbout, table: &str, question: &RemoteQuestion) -> Query {
    let fields = &about.fields;
    let mut query = Query::default();
    let language = query.value(Param::Text(about.language.clone()));
    let any: Vec<String> = question.words.iter().map(|word| format!("\"{word}\"")).collect();
    let any = query.value(Param::Text(any.join(" or ")));
    let each = query.value(Param::Texts(question.words.clone()));
    let most = i64::try_from(question.most).unwrap_or(i64::MAX);
    let most = query.value(Param::Number(most));
    let (vector, row) = (vector(fields, &language), row(fields));
    let filter = filter_of(about, question, &mut query);
    let table = quoted(table);
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
fn filter_of(about: &IndexAbout, question: &RemoteQuestion, query: &mut Query) -> String {
    let (fields, wanted) = (&about.fields, &question.filter);
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

/// The column `name` of the table.
fn column(name: &str) -> String {
    format!("t.{}", quoted(name))
}

/// What words are looked for in.
fn vector(fields: &IndexFields, language: &str) -> String {
    if let Some(field) = &fields.tsvector {
        return column(field);
    }
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

/// A row as one object of JSON.
fn row(fields: &IndexFields) -> String {
    let pair = |(name, field): (&str, &str)| {
        let value = match name {
            "text" => format!("left({}::text, {LONGEST})", column(field)),
            _ => column(field),
        };
        // The settings have checked that it is an identifier.
        format!("'{field}', {value}")
    };
    let pairs: Vec<String> = fields.read().into_iter().map(pair).collect();
    format!("json_build_object({})", pairs.join(", "))
}
