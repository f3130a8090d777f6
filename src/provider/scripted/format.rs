//! The script's file as it is written, before anything is checked beyond its shape.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};
use toml::Spanned;

use super::condition::When;
use super::script::{Aside, Expect};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptFile {
    pub format: Spanned<u32>,
    pub title: String,
    pub task: String,
    pub team: Option<String>,
    pub project: Option<Spanned<String>>,
    pub start: Spanned<String>,
    #[serde(default)]
    pub starts: Vec<Spanned<NextTable>>,
    #[serde(default)]
    pub verbatim: bool,
    pub timing: Option<TimingTable>,
    #[serde(default)]
    pub files: BTreeMap<Spanned<String>, FileTable>,
    #[serde(default)]
    pub steps: Vec<Spanned<StepTable>>,
    #[serde(default)]
    pub asides: Vec<Spanned<Aside>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TimingTable {
    pub chars_per_second: Spanned<u32>,
    pub think_ms: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileTable {
    pub path: Option<Spanned<String>>,
    pub versions: Spanned<Vec<Spanned<String>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StepTable {
    pub id: Spanned<String>,
    pub agent: String,
    #[serde(default)]
    pub expect: Expect,
    #[serde(default)]
    pub say: String,
    pub list: Option<Spanned<FilesWord>>,
    #[serde(default)]
    pub calls: Vec<CallTable>,
    #[serde(default)]
    pub next: Vec<Spanned<NextTable>>,
    #[serde(default)]
    pub end: bool,
}

/// Names from `[files]`, or the word `rejected`.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum FilesWord {
    Word(String),
    Names(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallTable {
    pub tool: Spanned<String>,
    pub raw: Option<String>,
    #[serde(default)]
    pub args: Map<String, Value>,
    pub files: Option<Spanned<FilesWord>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NextTable {
    pub when: Option<Spanned<When>>,
    pub goto: Spanned<String>,
}
