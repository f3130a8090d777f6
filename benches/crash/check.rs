//! What must hold of a journal and a project, whatever happened to the program.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use firmhand::journal::{JournalReader, ReadItem};
use firmhand::model::{
    Change, ContentHash, Decision, Event, Outcome, PersonEvent, ProposalEvent, ProposalId, Record,
    SessionEvent, SessionOutcome,
};

/// A content, or that there is no file.
type Content = Option<ContentHash>;

/// Whether the run has asked the person and has no answer yet.
pub fn has_open_question(records: &[Record]) -> bool {
    let mut open = BTreeSet::new();
    for record in records {
        match &record.event {
            Event::Person(PersonEvent::Asked { question, .. }) => {
                open.insert(*question);
            }
            Event::Person(PersonEvent::Answered { question, .. }) => {
                open.remove(question);
            }
            _ => {}
        }
    }
    !open.is_empty()
}

/// Reads all records; a fault for every line that is none.
pub fn records(path: &Path, faults: &mut Vec<String>) -> Vec<Record> {
    let mut records = Vec::new();
    let mut reader = match JournalReader::open(path) {
        Ok(reader) => reader,
        Err(error) => {
            faults.push(format!("the journal cannot be opened: {error}"));
            return records;
        }
    };
    loop {
        match reader.next_item() {
            Ok(Some(ReadItem::Record(record))) => records.push(record),
            Ok(Some(ReadItem::Damaged(damage))) => {
                faults.push(format!("the journal has a damaged line: {}", damage.why));
            }
            Ok(None) => return records,
            Err(error) => {
                faults.push(format!("the journal cannot be read: {error}"));
                return records;
            }
        }
    }
}

/// What a journal tells of its proposals.
#[derive(Default)]
pub struct Told {
    changes: BTreeMap<ProposalId, Change>,
    decided: BTreeMap<ProposalId, Decision>,
    settled: BTreeMap<ProposalId, Outcome>,
    /// Decisions in their order.
    order: Vec<ProposalId>,
    /// How the session ended, unless it was resumed after that.
    pub ended: Option<SessionOutcome>,
}

impl Told {
    /// Reads the records; a fault for what can never be.
    pub fn of(records: &[Record], faults: &mut Vec<String>) -> Self {
        let mut told = Self::default();
        for record in records {
            match &record.event {
                Event::Proposal(ProposalEvent::Made(proposal)) => {
                    let known = told.changes.insert(proposal.id, proposal.change.clone());
                    let twice = || format!("proposal {} is proposed twice", proposal.id);
                    faults.extend(known.map(|_| twice()));
                }
                Event::Proposal(ProposalEvent::Restated { proposal, change, .. }) => {
                    told.changes.insert(*proposal, (**change).clone());
                }
                Event::Proposal(ProposalEvent::Decided { proposal, decision }) => {
                    if told.decided.insert(*proposal, (**decision).clone()).is_some() {
                        faults.push(format!("proposal {proposal} is decided twice"));
                    }
                    told.order.push(*proposal);
                }
                Event::Proposal(ProposalEvent::Settled { proposal, outcome }) => {
                    if told.settled.insert(*proposal, outcome.clone()).is_some() {
                        faults.push(format!("proposal {proposal} is settled twice"));
                    }
                    if !told.decided.contains_key(proposal) && *outcome == Outcome::Applied {
                        faults.push(format!("proposal {proposal} is applied and undecided"));
                    }
                }
                Event::Session(SessionEvent::Ended { outcome }) => {
                    told.ended = Some(outcome.clone())
                }
                Event::Session(SessionEvent::Resumed { .. }) => told.ended = None,
                _ => {}
            }
        }
        told
    }

    /// Proposals that wait for a decision.
    pub fn waiting(&self) -> Vec<ProposalId> {
        let is_open =
            |id: &&ProposalId| !self.decided.contains_key(id) && !self.settled.contains_key(id);
        self.changes.keys().filter(is_open).copied().collect()
    }

    /// What each file may hold: what was approved last, or what was there before where nobody has
    /// told yet whether it was done.
    fn allowed(&self) -> BTreeMap<String, BTreeSet<Content>> {
        let mut allowed: BTreeMap<String, BTreeSet<Content>> = BTreeMap::new();
        for id in &self.order {
            let (Some(change), Some(decision)) = (self.changes.get(id), self.decided.get(id))
            else {
                continue;
            };
            let (Some(path), true) = (change.path(), decision.verdict.is_approval()) else {
                continue;
            };
            let after = match change {
                Change::Delete { .. } => None,
                _ => decision.written(change).or_else(|| change.after()).map(|blob| blob.hash),
            };
            match self.settled.get(id) {
                Some(Outcome::Applied) => {
                    allowed.insert(path.to_string(), BTreeSet::from([after]));
                }
                // It was not done, or taken back.
                Some(_) => {}
                None => {
                    let before = allowed.entry(path.to_string());
                    before.or_insert_with(|| BTreeSet::from([None])).insert(after);
                }
            }
        }
        allowed
    }

    /// Whether it was decided or settled, or still waits.
    pub fn is_known(&self, id: ProposalId) -> bool {
        self.changes.contains_key(&id)
    }

    /// Whether everything that was proposed was done.
    pub fn all_applied(&self) -> bool {
        self.settled.values().all(|outcome| *outcome == Outcome::Applied)
    }
}

/// Compares the project with what the journal allows.
pub fn project(told: &Told, project: &Path, is_over: bool, faults: &mut Vec<String>) {
    let allowed = told.allowed();
    let mut files = BTreeMap::new();
    collect(project, "", &mut files);
    for (path, contents) in &allowed {
        let content = files.get(path).copied();
        if !contents.contains(&content) {
            faults.push(format!("{path} holds something else than was approved last"));
        }
    }
    for path in files.keys().filter(|path| !allowed.contains_key(*path)) {
        let name = path.rsplit('/').next().unwrap_or(path);
        match name.strip_prefix(".firmhand-") {
            // The content of a proposal that is being written, until the session goes on.
            Some(_) if !is_over => {}
            Some(_) => faults.push(format!("a temporary file is left over: {path}")),
            None => faults.push(format!("{path} was never approved")),
        }
    }
    if is_over {
        for id in told.changes.keys().filter(|id| !told.settled.contains_key(id)) {
            faults.push(format!("proposal {id} is gone: neither done nor denied at the end"));
        }
    }
}

fn collect(folder: &Path, below: &str, files: &mut BTreeMap<String, ContentHash>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(&entry.path(), &path, files);
        } else if let Ok(content) = fs::read(entry.path()) {
            files.insert(path, ContentHash::of(&content));
        }
    }
}
