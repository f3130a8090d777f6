//! The indexes on other machines that the settings name, as the search has them.
//!
//! Owns what a setting means for an index, and whether one answers.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::machine::Machine;
use super::waiter::Waiter;
use crate::config::{RemoteEntry, RemoteKind, RemoteLayer};
use crate::knowledge::{ChipSet, Corpus, RemoteCorpus, RemoteFacts, SEARCH_TIME};
use crate::model::{RemotePassage, RemoteQuestion, UserError};
use crate::provider::{IndexAbout, IndexFields, IndexKind, RemoteIndex};

/// An index, and what waits for it: made with the first question, once for all of them.
struct Remote {
    facts: RemoteFacts,
    index: Arc<RemoteIndex>,
    waiter: Arc<OnceLock<Result<Waiter, UserError>>>,
    /// Whether each search reads every row.
    has_slow_rows: bool,
}

impl RemoteCorpus for Remote {
    fn facts(&self) -> &RemoteFacts {
        &self.facts
    }

    fn search(
        &self,
        question: RemoteQuestion,
        within: Duration,
    ) -> Result<Vec<RemotePassage>, String> {
        let waiter = self.waiter.get_or_init(Waiter::new).as_ref();
        let waiter = waiter.map_err(|error| error.why.to_string())?;
        let index = Arc::clone(&self.index);
        let answer = waiter.wait(within, async move { index.search(&question).await });
        answer.unwrap_or_else(|| {
            let (name, most) = (&self.facts.corpus.name, SEARCH_TIME.as_secs());
            let fix = match self.has_slow_rows {
                true => "let `fields.tsvector` name a column with an index in",
                false => "check the network, and what is slow there, or remove",
            };
            Err(format!("no answer within {most} s; {fix} `[search.remotes.{name}]`"))
        })
    }
}

/// The indexes that the settings name, and what is wrong with those that cannot be used. Nothing is
/// connected or started before they are asked.
pub fn remotes(machine: &Machine) -> (Vec<Arc<dyn RemoteCorpus>>, Vec<String>) {
    let (mut remotes, mut wrong) = (Vec::<Arc<dyn RemoteCorpus>>::new(), Vec::new());
    let waiter = Arc::new(OnceLock::new());
    for (name, entry) in &machine.settings.search.remotes {
        match remote(machine, (name, entry), &waiter) {
            Ok(remote) => remotes.push(Arc::new(remote)),
            Err(error) => wrong.push(format!("{name}: {}; {}", error.why, error.fix)),
        }
    }
    (remotes, wrong)
}

fn remote(
    machine: &Machine,
    (name, entry): (&str, &RemoteEntry),
    waiter: &Arc<OnceLock<Result<Waiter, UserError>>>,
) -> Result<Remote, UserError> {
    let says = &entry.says;
    let chips = says.chips.iter().map(|chip| {
        ChipSet::of(chip).ok_or_else(|| {
            let why = format!("`{chip}` is not a chip that is known here");
            let fix = format!("use some of {}", ChipSet::ALL.names().join(", "));
            UserError::new(format!("Cannot use `[search.remotes.{name}]`"), why, fix)
        })
    });
    let chips = chips.collect::<Result<Vec<_>, _>>()?.into_iter().reduce(ChipSet::or);
    let facts = RemoteFacts {
        corpus: Corpus::remote(name, &says.version),
        chips: chips.unwrap_or(ChipSet::ALL),
        kind: says.kind.name(),
        address: address(says),
        takes_vectors: says.fields.vector.is_some(),
    };
    let index = Arc::new(RemoteIndex::new(machine.profiles.remote(name)?, about(says)));
    let has_slow_rows = says.kind == RemoteKind::Postgres && says.fields.tsvector.is_none();
    Ok(Remote { facts, index, waiter: Arc::clone(waiter), has_slow_rows })
}

/// Host and index, for people; no key and no name is in it.
fn address(says: &RemoteLayer) -> String {
    let rest = says.url.split_once("://").map_or(says.url.as_str(), |(_, rest)| rest);
    let rest = rest.split('?').next().unwrap_or(rest).trim_end_matches('/');
    let rest = rest.split_once('@').map_or(rest, |(_, rest)| rest);
    format!("{} at {rest}, {}", says.kind.name(), says.index)
}

fn about(says: &RemoteLayer) -> IndexAbout {
    let own = says.fields.clone();
    let or = |field: Option<String>, usual: &str| Some(field.unwrap_or_else(|| usual.to_owned()));
    // These pass over a field that is not there; the others refuse it.
    let is_lenient = matches!(says.kind, RemoteKind::OpenSearch | RemoteKind::Elasticsearch);
    let if_lenient = |field: Option<String>, usual: &str| match is_lenient {
        true => or(field, usual),
        false => field,
    };
    let fields = IndexFields {
        text: own.text.unwrap_or_else(|| "body".to_owned()),
        title: or(own.title, "title"),
        path: or(own.path, "path"),
        headings: if_lenient(own.headings, "headings"),
        symbols: if_lenient(own.symbols, "symbols"),
        anchor: own.anchor,
        kind: own.kind,
        version: own.version,
        chips: own.chips,
        component: own.component,
        vector: own.vector,
        tsvector: own.tsvector,
    };
    let kind = match says.kind {
        RemoteKind::OpenSearch => IndexKind::OpenSearch,
        RemoteKind::Elasticsearch => IndexKind::Elasticsearch,
        RemoteKind::AzureSearch => IndexKind::AzureSearch,
        RemoteKind::Postgres => IndexKind::Postgres,
    };
    let language = says.language.clone().unwrap_or_else(|| "english".to_owned());
    IndexAbout { kind, fields, semantic: says.semantic.clone(), language }
}

/// Each index that the settings name, and why it does not answer, if it does not; all are asked at once.
#[must_use]
pub fn check(machine: &Machine) -> Vec<(RemoteFacts, Result<(), String>)> {
    let (remotes, _) = remotes(machine);
    let question = RemoteQuestion {
        text: "firmware".to_owned(),
        words: vec!["firmware".to_owned()],
        most: 1,
        ..RemoteQuestion::default()
    };
    let question = &question;
    std::thread::scope(|scope| {
        let asked = remotes.iter().map(|remote| {
            let ask = move || remote.search(question.clone(), SEARCH_TIME).map(drop);
            (remote.facts().clone(), scope.spawn(ask))
        });
        let asked: Vec<_> = asked.collect();
        let broken = |_| Err("asking it stopped unexpectedly".to_owned());
        asked
            .into_iter()
            .map(|(facts, asking)| (facts, asking.join().unwrap_or_else(broken)))
            .collect()
    })
}
