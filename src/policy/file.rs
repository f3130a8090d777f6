//! The file of a policy: its table with where it comes from.
//!
//! Owns the format: TOML below a line that names the format and the checksum of what follows. Reads
//! and writes texts only; files are `store.rs`.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::model::UserError;

use super::model::{ClassFeature, Model};
use super::process::{Process, Role};
use super::state::State;
use super::table::{Entry, Table};

/// How the first line begins.
const MARK: &str = "# firmhand policy, format ";

/// The format that this program reads and writes.
const FORMAT: &str = "1";

/// Letters of a table's hash.
const HASH: usize = 16;

/// A trained policy with its provenance.
#[derive(Debug, Clone)]
pub struct Trained {
    pub origin: Provenance,
    pub model: Model,
    pub table: Table,
}

/// Where a table comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The team whose policy it is.
    pub team: String,
    /// A class of tasks, or all of them.
    pub tasks: String,
    /// Whether the class is part of the state.
    pub knows_classes: bool,
    /// As text: TOML has no unsigned numbers of 64 bits.
    pub seed: String,
    pub episodes: u64,
    /// Sessions learned from.
    pub sessions: u64,
    /// Names of those whose journals were read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub learned_from: Vec<String>,
    /// When it was written.
    pub date: String,
    pub process: Process,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    origin: Provenance,
    #[serde(default)]
    entry: Vec<EntryBody>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryBody {
    state: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    class: Option<String>,
    agent: String,
    value: f64,
    unlearned: f64,
    estimate: f64,
    square: f64,
    estimate_unlearned: f64,
    visits: u64,
    successes: f64,
    failures: f64,
}

impl Provenance {
    /// The seed as a number.
    #[must_use]
    pub fn seed_number(&self) -> u64 {
        self.seed.parse().unwrap_or_default()
    }

    /// Whether the class is part of the state.
    #[must_use]
    pub const fn feature(&self) -> ClassFeature {
        if self.knows_classes { ClassFeature::On } else { ClassFeature::Off }
    }
}

impl Trained {
    /// A policy that knows nothing yet.
    ///
    /// # Errors
    /// When there is no such class of tasks.
    pub fn new(origin: Provenance) -> Result<Self, UserError> {
        let model = Model::new(&origin.process, &origin.tasks, origin.feature())?;
        let table = Table::new(&model, origin.process.learning.rate);
        Ok(Self { origin, model, table })
    }

    /// Names of the classes that the state knows.
    #[must_use]
    pub fn classes(&self) -> Vec<&str> {
        if !self.origin.knows_classes {
            return Vec::new();
        }
        self.origin.process.classes.iter().map(|class| class.name.as_str()).collect()
    }

    /// The state of these words, of a class where the table knows classes; `None` for one that it
    /// does not have.
    #[must_use]
    pub fn state(&self, class: Option<&str>, words: &str) -> Option<State> {
        let classes = self.classes();
        let class = class.filter(|_| !classes.is_empty());
        let class = class.map_or_else(String::new, |class| format!("{class},"));
        let state = State::parse(&format!("{class}{words}"), &classes)?;
        (state.index() < self.table.states()).then_some(state)
    }

    /// The role of an agent.
    #[must_use]
    pub fn role(&self, agent: usize) -> Role {
        self.origin.process.agents.get(agent).map_or(Role::Other, |agent| agent.role)
    }

    /// The text of its file.
    ///
    /// # Errors
    /// When a value cannot be written.
    pub fn to_text(&self) -> Result<String, UserError> {
        let classes = self.classes();
        let mut entry = Vec::new();
        for state in (0..self.table.states()).map(State::from_index) {
            for (agent, name) in self.model.agents.iter().enumerate() {
                let known = self.table.entry(state, agent);
                if known.visits > 0 {
                    let class = classes.get(state.class()).map(|name| (*name).to_owned());
                    entry.push(EntryBody::new(state, class, name, known));
                }
            }
        }
        let body = toml::to_string(&Body { origin: self.origin.clone(), entry })
            .map_err(|error| UserError::from_cause("Cannot write the policy", &error))?;
        Ok(format!("{MARK}{FORMAT}, sha256 {}\n{body}", checksum(&body)))
    }

    /// The hash of its table, by which sessions name it: of everything but the date.
    ///
    /// # Errors
    /// When a value cannot be written.
    pub fn hash(&self) -> Result<String, UserError> {
        let mut undated = self.clone();
        undated.origin.date.clear();
        Ok(checksum(&undated.to_text()?).chars().take(HASH).collect())
    }

    /// Reads a file's text; `name` is what errors call it.
    ///
    /// # Errors
    /// When it is not a policy, of another format or team, or was changed since it was written.
    pub fn parse(name: &str, text: &str, team: &str) -> Result<Self, UserError> {
        let fix = format!(
            "Run `firmhand policy reset --team {team} --to NUMBER` to use an older table, or \
             `firmhand policy train --team {team}`."
        );
        let refuse = |why: String| UserError::new(format!("Cannot use {name}"), why, fix.clone());
        let (first, body) = text.split_once('\n').unwrap_or((text, ""));
        let Some(rest) = first.strip_prefix(MARK) else {
            return Err(refuse("it does not begin as a policy file does".to_owned()));
        };
        let (format, sum) = rest.split_once(", sha256 ").unwrap_or((rest, ""));
        if format != FORMAT {
            let why = format!("its format is {format}, this program reads format {FORMAT}");
            return Err(refuse(why));
        }
        if sum.trim() != checksum(body) {
            let why = "its checksum is wrong: it is damaged, or was edited".to_owned();
            return Err(refuse(why));
        }
        let body: Body = toml::from_str(body).map_err(|error| refuse(error.to_string()))?;
        if body.origin.team != team {
            let why =
                format!("it is the policy of the team `{}`, not of `{team}`", body.origin.team);
            return Err(refuse(why));
        }
        body.origin.process.check().map_err(refuse)?;
        let mut trained = Self::new(body.origin)?;
        for entry in body.entry {
            if !trained.restore(&entry) {
                let why = format!(
                    "it holds a value that cannot be: {} in `{}`",
                    entry.agent, entry.state
                );
                return Err(refuse(why));
            }
        }
        Ok(trained)
    }

    fn restore(&mut self, body: &EntryBody) -> bool {
        let classes = self.classes();
        let written = match &body.class {
            Some(class) => format!("{class},{}", body.state),
            None => body.state.clone(),
        };
        let state = State::parse(&written, &classes);
        let agent = self.model.agents.iter().position(|name| *name == body.agent);
        let (Some(state), Some(agent)) = (state, agent) else { return false };
        let entry = body.entry();
        let numbers = [entry.value, entry.estimate, entry.square];
        let shares = [entry.unlearned, entry.estimate_unlearned];
        let is_sound = numbers.iter().all(|number| number.is_finite())
            && shares.iter().all(|share| (0.0..=1.0).contains(share))
            && [entry.successes, entry.failures].iter().all(|count| (0.0..=1e6).contains(count));
        is_sound && self.table.restore(state, agent, entry)
    }
}

impl EntryBody {
    fn new(state: State, class: Option<String>, agent: &str, entry: &Entry) -> Self {
        Self {
            state: state.to_string(),
            class,
            agent: agent.to_owned(),
            value: entry.value,
            unlearned: entry.unlearned,
            estimate: entry.estimate,
            square: entry.square,
            estimate_unlearned: entry.estimate_unlearned,
            visits: entry.visits,
            successes: entry.successes,
            failures: entry.failures,
        }
    }

    const fn entry(&self) -> Entry {
        Entry {
            value: self.value,
            unlearned: self.unlearned,
            estimate: self.estimate,
            square: self.square,
            estimate_unlearned: self.estimate_unlearned,
            visits: self.visits,
            successes: self.successes,
            failures: self.failures,
        }
    }
}

fn checksum(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::train::Trainer;
    use super::*;

    pub fn trained(tasks: &str, knows_classes: bool, seed: u64, episodes: u64) -> Trained {
        let process =
            Process::parse("p", include_str!("../../assets/policy/process.toml")).unwrap();
        let mut trained = Trained::new(Provenance {
            team: "learned".to_owned(),
            tasks: tasks.to_owned(),
            knows_classes,
            seed: seed.to_string(),
            episodes,
            sessions: 0,
            learned_from: Vec::new(),
            date: "2026-01-01".to_owned(),
            process,
        })
        .unwrap();
        Trainer::new(&trained.model, seed, 0).train(&mut trained.table, episodes);
        trained
    }

    #[test]
    fn a_policy_is_read_as_it_was_written_bit_by_bit() {
        for (tasks, knows_classes) in [("simple", false), ("mixed", true)] {
            let policy = trained(tasks, knows_classes, u64::MAX, 500);
            let text = policy.to_text().unwrap();
            let same = Trained::parse("p.toml", &text, "learned").unwrap();
            assert_eq!((&same.origin, &same.table), (&policy.origin, &policy.table));
            assert_eq!(same.to_text().unwrap(), text);
        }
    }

    #[test]
    fn training_that_is_interrupted_goes_on_as_if_it_was_not() {
        let whole = trained("mixed", true, 5, 900);
        let half = trained("mixed", true, 5, 400);
        let mut half = Trained::parse("p", &half.to_text().unwrap(), "learned").unwrap();
        Trainer::new(&half.model, 5, 400).train(&mut half.table, 500);
        assert_eq!(half.table, whole.table);
        assert_ne!(trained("mixed", true, 6, 900).table, whole.table);
    }

    #[test]
    fn a_file_that_is_none_is_refused_with_the_reason() {
        let text = trained("simple", false, 1, 50).to_text().unwrap();
        let forged = |from: &str, to: &str| {
            let body = text.split_once('\n').unwrap().1;
            assert!(body.contains(from), "{from}");
            let body = body.replacen(from, to, 1);
            format!("{MARK}1, sha256 {}\n{body}", checksum(&body))
        };
        for (bad, words) in [
            (String::new(), "does not begin"),
            ("[origin]\n".to_owned(), "does not begin"),
            (text.replacen("format 1", "format 9", 1), "its format is 9"),
            (text.replacen("visits = ", "visits = 1", 1), "checksum"),
            (text[..text.len() / 2].to_owned(), "checksum"),
            (forged("team = \"learned\"", "team = \"review\""), "the team `review`"),
            (forged("agent = \"coder\"", "agent = \"cook\""), "cook"),
            (forged("state = \"start,0\"", "state = \"start,9\""), "start,9"),
            (forged("coder_success_with_plan = 0.85", "coder_success_with_plan = 7.0"), "0 and 1"),
            (forged("max_actions = 10", "max_actions = 4000000000"), "max_actions"),
            (forged("unlearned = ", "unlearned = -"), "cannot be"),
        ] {
            let error = Trained::parse("p.toml", &bad, "learned").expect_err(words);
            assert!(error.why.contains(words), "{words}: {error}");
            assert!(error.what.contains("p.toml") && error.fix.contains("train --team learned"));
        }
    }
}
