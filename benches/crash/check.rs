//! What must hold of a journal and a project, whatever happened to the program.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use firmhand::journal::{JournalReader, ReadItem, SessionDir};
use firmhand::model::{
    Change, ContentHash, DecidedBy, Decision, Event, Outcome, PersonEvent, ProposalEvent,
    ProposalId, Record, SessionEvent, SessionOutcome,
};

use super::other::Save;

/// A content, or that there is no file.
type Content = Option<ContentHash>;

/// When a project is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The session will go on.
    Between,
    /// It is over.
    Over,
}

/// What a project may hold beside what the session writes.
pub struct Project<'a> {
    pub root: &'a Path,
    /// What the person had there before.
    pub own: &'a BTreeMap<String, ContentHash>,
    /// What somebody else saved meanwhile, in order.
    pub saves: &'a [Save],
}

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

/// How many changes the person took back.
pub fn undone(records: &[Record]) -> u64 {
    let is_undo = |record: &&Record| {
        let Event::Proposal(ProposalEvent::Made(proposal)) = &record.event else { return false };
        proposal.tool.as_str() == "undo"
    };
    records.iter().filter(is_undo).count() as u64
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

    /// Proposals that were made.
    pub fn made(&self) -> BTreeSet<ProposalId> {
        self.changes.keys().copied().collect()
    }

    /// Proposals that a person decided.
    pub fn by_person(&self) -> BTreeSet<ProposalId> {
        let is_persons = |(_, decision): &(_, &Decision)| decision.by == DecidedBy::Person;
        self.decided.iter().filter(is_persons).map(|(id, _)| *id).collect()
    }

    /// One whose change was done and can be taken back.
    pub fn applied(&self) -> Option<ProposalId> {
        let is_applied = |id: &&ProposalId| self.settled.get(id) == Some(&Outcome::Applied);
        self.order.iter().rev().find(is_applied).copied()
    }

    /// Approved changes, in the order of their decisions.
    fn approved(&self) -> impl Iterator<Item = (ProposalId, &Change, &Decision)> {
        self.order.iter().filter_map(|id| {
            let (change, decision) = (self.changes.get(id)?, self.decided.get(id)?);
            decision.verdict.is_approval().then_some((*id, change, decision))
        })
    }

    /// What each file may hold: what was approved last, or what was there before where nobody has
    /// told yet whether it was done.
    fn allowed(&self, own: &BTreeMap<String, ContentHash>) -> BTreeMap<String, BTreeSet<Content>> {
        let start = own.iter().map(|(path, hash)| (path.clone(), BTreeSet::from([Some(*hash)])));
        let mut allowed: BTreeMap<String, BTreeSet<Content>> = start.collect();
        for (id, change, decision) in self.approved() {
            let Some(path) = change.path() else { continue };
            let after = match change {
                Change::Delete { .. } => None,
                _ => decision.written(change).or_else(|| change.after()).map(|blob| blob.hash),
            };
            match self.settled.get(&id) {
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

    /// Whether a change that was approved had this content before it.
    fn was_replaced(&self, path: &str, content: ContentHash) -> bool {
        self.approved().any(|(_, change, _)| {
            change.path().is_some_and(|of| of.to_string() == path)
                && change.before().is_some_and(|before| before.hash == content)
        })
    }

    /// Whether everything that was proposed was done.
    pub fn all_applied(&self) -> bool {
        self.settled.values().all(|outcome| *outcome == Outcome::Applied)
    }
}

/// Sees that all contents that the journal names are kept beside it: content first, then the line.
pub fn contents(told: &Told, session: &Path, faults: &mut Vec<String>) {
    let Some(dir) = SessionDir::at(session.to_owned()) else { return };
    let blobs = dir.blobs();
    let mut lost = BTreeMap::new();
    for (id, change) in &told.changes {
        let written = told.decided.get(id).and_then(|decision| decision.written(change));
        for blob in [change.before(), change.after(), written].into_iter().flatten() {
            if let Err(error) = blobs.load(&blob.hash) {
                lost.insert(blob.hash, format!("of proposal {id}: {error}"));
            }
        }
    }
    if let Some(first) = lost.values().next() {
        faults.push(format!("contents that the journal names are lost: {}, {first}", lost.len()));
    }
}

/// Compares the project with what the journal allows.
pub fn project(told: &Told, project: &Project<'_>, moment: Moment, faults: &mut Vec<String>) {
    let mut allowed = told.allowed(project.own);
    let mut files = BTreeMap::new();
    collect(project.root, "", &mut files);
    let last: BTreeMap<&str, ContentHash> =
        project.saves.iter().map(|save| (save.path.as_str(), save.hash)).collect();
    for (path, hash) in &last {
        allowed.entry((*path).to_owned()).or_default().insert(Some(*hash));
        // Somebody else's content that lies elsewhere was not lost.
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let is_there = files.iter().any(|(at, held)| at.starts_with(folder) && held == hash);
        if !is_there && !told.was_replaced(path, *hash) {
            faults.push(format!("what somebody else saved in {path} is lost"));
        }
    }
    for (path, contents) in &allowed {
        let content = files.get(path).copied();
        if !contents.contains(&content) {
            faults.push(format!("{path} holds something else than was approved last"));
        }
    }
    for (path, content) in files.iter().filter(|(path, _)| !allowed.contains_key(*path)) {
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_of_other = project.saves.iter().any(|save| save.hash == *content);
        match name.strip_prefix(".firmhand-") {
            // The content of a proposal that is being written, until the session goes on.
            Some(_) if moment == Moment::Between => {}
            Some(_) => faults.push(format!("a temporary file is left over: {path}")),
            // Saved at the moment of a change; the person is told its name.
            None if is_of_other && name.contains(".kept-") => {}
            None => faults.push(format!("{path} was never approved")),
        }
    }
    if moment == Moment::Over {
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
