//! What a program that was killed left beside the files of a project, and its end: settled by what
//! the journal of the session says that left it.
//!
//! Must not touch a displaced file that no journal names: it is removed only when it holds what the
//! journal says was replaced. A new content that was never put in place may be incomplete: it is
//! recognised by the proposal and the hash in its name, next to the file it was approved for.

use std::collections::BTreeMap;

use super::effects;
use super::folder::look;
use crate::model::{
    Change, ContentHash, Decision, Event, ProjectPath, ProposalEvent, ProposalId, Record,
    RecordSource, UserError,
};
use crate::workspace::ProjectDir;

/// How names of such files begin.
const PREFIX: &str = ".firmhand-";

/// Most of them that are looked at in one go.
const MOST: usize = 1_000;

/// A file that an effect left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    path: ProjectPath,
    proposal: ProposalId,
    /// The start of the hash in its name.
    hash: String,
    /// Whether it came out of the place of a file; else it was to come into one.
    is_displaced: bool,
}

impl Leftover {
    fn at(path: ProjectPath) -> Option<Self> {
        let (stem, kind) = path.file_name().strip_prefix(PREFIX)?.rsplit_once('.')?;
        let (number, hash) = stem.split_once('-')?;
        let proposal = ProposalId(number.parse().ok()?);
        let is_displaced = match kind {
            "old" => true,
            "tmp" => false,
            _ => return None,
        };
        Some(Self { proposal, hash: hash.to_owned(), is_displaced, path })
    }

    /// Whether an effect of `known` may have left it. An approval that did not get to the disk may have
    /// left a new content; nothing is displaced without one.
    fn is_of(&self, known: &Known) -> bool {
        if self.is_displaced && !known.is_approved() {
            return false;
        }
        let Some((path, base)) = known.place() else { return false };
        let to = known.to();
        let named = if self.is_displaced { to.or(base) } else { to };
        path.parent() == self.path.parent()
            && (base.is_some() || !self.is_displaced)
            && named.is_some_and(|hash| hash.short() == self.hash)
    }
}

/// What the files of a project hold that effects have left.
#[must_use]
pub fn leftovers(project_dir: &ProjectDir) -> Vec<Leftover> {
    project_dir.hidden(PREFIX, MOST).into_iter().filter_map(Leftover::at).collect()
}

/// A proposal as a journal has it.
#[derive(Debug, Clone)]
struct Known {
    change: Change,
    decision: Option<Decision>,
    is_settled: bool,
}

impl Known {
    fn is_approved(&self) -> bool {
        self.decision.as_ref().is_some_and(|it| it.verdict.is_approval())
    }

    /// The file and what it held before.
    fn place(&self) -> Option<(&ProjectPath, Option<ContentHash>)> {
        let path = self.change.path().filter(|_| self.change.board().is_none())?;
        Some((path, self.change.before().map(|blob| blob.hash)))
    }

    /// What it was to hold; `None`: it was to go.
    fn to(&self) -> Option<ContentHash> {
        let blob = match self.decision.as_ref().filter(|_| self.is_approved()) {
            Some(decision) => decision.written(&self.change),
            None => self.change.after(),
        };
        blob.map(|blob| blob.hash)
    }
}

/// Settles those of `found` that the session in `records` has left, and takes them out: what was
/// replaced goes, what another program had saved in that moment goes back. Gives what the person
/// has to know.
///
/// # Errors
/// When the records cannot be read.
pub fn settle_leftovers(
    project_dir: &ProjectDir,
    found: &mut Vec<Leftover>,
    records: &dyn RecordSource,
) -> Result<Vec<UserError>, UserError> {
    let mut known: BTreeMap<ProposalId, Known> = BTreeMap::new();
    records.each(&mut |record| learn(&mut known, found, record))?;
    let mut notices = Vec::new();
    found.retain(|leftover| {
        let of = known.get(&leftover.proposal).filter(|known| leftover.is_of(known));
        let Some((of, (path, base))) = of.and_then(|of| Some((of, of.place()?))) else {
            return true;
        };
        // Long after its end, only what was replaced may be taken away.
        if of.is_settled && leftover.is_displaced && !is_replaced(project_dir, leftover, of, base) {
            return true;
        }
        // Without an approval nothing was displaced.
        let base = base.filter(|_| of.is_approved());
        if let Err(error) = effects::tidy(project_dir, leftover.proposal, path, base, of.to()) {
            notices.push(error.tell("settle", path));
        }
        false
    });
    Ok(notices)
}

/// Removes those of `found` that were never put in place and that no journal names: a power cut has
/// taken the lines with it, and other proposals get their numbers. Only for where no other
/// program changes the project now, whose contents lie ready for a moment too.
pub fn discard_unnamed(project_dir: &ProjectDir, found: &[Leftover]) {
    for leftover in found.iter().filter(|leftover| !leftover.is_displaced) {
        effects::discard_staged(project_dir, &leftover.path);
    }
}

/// Whether a leftover holds what the journal says was in the place, or was to come into it.
fn is_replaced(
    project_dir: &ProjectDir,
    leftover: &Leftover,
    of: &Known,
    base: Option<ContentHash>,
) -> bool {
    let held = look(project_dir, &leftover.path).ok().flatten().map(|held| held.hash);
    held.is_some() && (held == base || held == of.to())
}

fn learn(known: &mut BTreeMap<ProposalId, Known>, found: &[Leftover], record: &Record) {
    match &record.event {
        Event::Proposal(ProposalEvent::Made(proposal))
            if found.iter().any(|it| it.proposal == proposal.id) =>
        {
            let change = proposal.change.clone();
            known.insert(proposal.id, Known { change, decision: None, is_settled: false });
        }
        Event::Proposal(ProposalEvent::Restated { proposal, change, .. }) => {
            if let Some(known) = known.get_mut(proposal) {
                known.change = Change::clone(change);
            }
        }
        Event::Proposal(ProposalEvent::Decided { proposal, decision }) => {
            if let Some(known) = known.get_mut(proposal) {
                known.decision = Some(Decision::clone(decision));
            }
        }
        Event::Proposal(ProposalEvent::Settled { proposal, .. }) => {
            if let Some(known) = known.get_mut(proposal) {
                known.is_settled = true;
            }
        }
        Event::Proposal(_)
        | Event::Session(_)
        | Event::Phase(_)
        | Event::Turn(_)
        | Event::Model(_)
        | Event::Team(_)
        | Event::Files(_)
        | Event::Build(_)
        | Event::Test(_)
        | Event::Log(_)
        | Event::Board(_)
        | Event::Port(_)
        | Event::Person(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::gate::gate_tests::world::proposal as proposed;
    use crate::model::{BlobRef, DecidedBy, Outcome, Seq, Timestamp, Verdict};

    fn blob(text: &str) -> BlobRef {
        BlobRef { hash: ContentHash::of(text.as_bytes()), bytes: text.len() as u64 }
    }

    /// A session whose proposal 3 changes `lib/a.c` from `base` to `new`, or removes it.
    fn session(
        to: Option<&str>,
        verdict: Option<Verdict>,
        outcome: Option<Outcome>,
    ) -> Vec<Record> {
        let path = ProjectPath::new("lib/a.c").unwrap();
        let base = blob("base");
        let change = match to {
            Some(to) => Change::Save { path, base: Some(base), content: blob(to) },
            None => Change::Delete { path, base },
        };
        let (shown, proposal) = (change.hash(), ProposalId(3));
        let by = DecidedBy::Person;
        let decided = verdict.map(|verdict| {
            Event::Proposal(ProposalEvent::Decided {
                proposal,
                decision: Box::new(Decision { verdict, by, shown, unseen: 0, stops: 0 }),
            })
        });
        let made = proposed(3, change);
        let proposed = Event::Proposal(ProposalEvent::Made(Box::new(made)));
        let settled =
            outcome.map(|outcome| Event::Proposal(ProposalEvent::Settled { proposal, outcome }));
        let events = std::iter::once(proposed).chain(decided).chain(settled);
        let record = |(seq, event)| Record { v: 1, seq: Seq(seq), at: Timestamp(0), event };
        (1..).zip(events).map(record).collect()
    }

    /// What lies in `lib` after settling, and what is not settled.
    fn settled(
        files: &[(&str, &str)],
        records: &Vec<Record>,
    ) -> (Vec<(String, String)>, Vec<Leftover>) {
        let folder = tempfile::tempdir().unwrap();
        let lib = folder.path().join("lib");
        fs::create_dir(&lib).unwrap();
        for (name, content) in files {
            fs::write(lib.join(name), content).unwrap();
        }
        let project_dir = ProjectDir::open(folder.path()).unwrap();
        let mut found = leftovers(&project_dir);
        settle_leftovers(&project_dir, &mut found, records).unwrap();
        let mut left: Vec<(String, String)> = fs::read_dir(&lib)
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let name = entry.file_name().into_string().unwrap();
                (name, fs::read_to_string(entry.path()).unwrap())
            })
            .collect();
        left.sort();
        (left, found)
    }

    fn name(hash_of: &str, kind: &str) -> String {
        format!(".firmhand-3-{}.{kind}", ContentHash::of(hash_of.as_bytes()).short())
    }

    fn file(name: &str, content: &str) -> (String, String) {
        (name.to_owned(), content.to_owned())
    }

    #[test]
    fn what_a_kill_left_is_settled_by_what_the_journal_says() {
        let approved = || Some(Verdict::Approve);
        let (old, gone) = (name("new", "old"), name("base", "old"));
        let tmp = name("new", "tmp");
        for (to, outcome, before, after) in [
            (Some("new"), None, vec![("a.c", "new"), (&*old, "base")], vec![("a.c", "new")]),
            (Some("new"), None, vec![("a.c", "base"), (&*old, "new")], vec![("a.c", "base")]),
            (Some("new"), None, vec![("a.c", "base"), (&*tmp, "ne")], vec![("a.c", "base")]),
            (Some("new"), None, vec![("a.c", "new"), (&*old, "theirs")], vec![("a.c", "theirs")]),
            (None, None, vec![(&*gone, "base")], vec![]),
            (None, None, vec![(&*gone, "theirs")], vec![("a.c", "theirs")]),
            (
                Some("new"),
                Some(Outcome::Applied),
                vec![("a.c", "later"), (&*old, "base")],
                vec![("a.c", "later")],
            ),
        ] {
            let (left, found) = settled(&before, &session(to, approved(), outcome));
            let after: Vec<_> = after.iter().map(|(name, content)| file(name, content)).collect();
            assert_eq!(left, after, "{before:?}");
            assert_eq!(found, []);
        }
    }

    #[test]
    fn a_content_whose_approval_did_not_get_to_the_disk_goes_whatever_was_decided_then() {
        let tmp = name("new", "tmp");
        let files = [("a.c", "base"), (tmp.as_str(), "ne")];
        for verdict in [None, Some(Verdict::reject("no"))] {
            let (left, found) = settled(&files, &session(Some("new"), verdict, None));
            assert_eq!((left, found), (vec![file("a.c", "base")], vec![]));
        }
        // Of another content, nobody knows whose it is.
        let (left, _) = settled(&files, &session(Some("else"), None, None));
        assert_eq!(left.len(), 2);
    }

    #[test]
    fn a_leftover_is_that_of_a_change_by_place_content_and_approval() {
        let path = |path: &str| ProjectPath::new(path).unwrap();
        let approve = |change: &Change| {
            let (shown, by) = (change.hash(), DecidedBy::Person);
            Some(Decision { verdict: Verdict::Approve, by, shown, unseen: 0, stops: 0 })
        };
        let is_of = |name: &str, change: &Change, is_approved: bool| {
            let decision = approve(change).filter(|_| is_approved);
            let known = Known { change: change.clone(), decision, is_settled: false };
            Leftover::at(path(name)).unwrap().is_of(&known)
        };
        let saved = |base: Option<&str>| {
            let (base, content) = (base.map(blob), blob("new"));
            Change::Save { path: path("lib/a.c"), base, content }
        };
        let deleted = Change::Delete { path: path("lib/a.c"), base: blob("base") };
        let at = |folder: &str, of: &str, kind: &str| format!("{folder}{}", name(of, kind));
        for (name, change, is_approved, expected) in [
            (at("lib/", "new", "tmp"), saved(Some("base")), true, true),
            (at("lib/", "new", "tmp"), saved(None), false, true),
            (at("lib/", "new", "old"), saved(Some("base")), true, true),
            (at("lib/", "new", "old"), saved(Some("base")), false, false),
            (at("lib/", "new", "old"), saved(None), true, false),
            (at("lib/", "base", "old"), saved(Some("base")), true, false),
            (at("lib/", "base", "old"), deleted.clone(), true, true),
            (at("lib/", "base", "tmp"), deleted, true, false),
            (at("", "new", "tmp"), saved(Some("base")), true, false),
            (at("", "new", "old"), saved(Some("base")), true, false),
        ] {
            assert_eq!(is_of(&name, &change, is_approved), expected, "{name} {change:?}");
        }
    }

    #[test]
    fn a_content_that_no_journal_names_goes_and_a_displaced_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        for name in [name("lost", "tmp"), name("lost", "old"), ".firmhand-x.tmp".to_owned()] {
            fs::write(folder.path().join(name), "lost").unwrap();
        }
        let project_dir = ProjectDir::open(folder.path()).unwrap();
        discard_unnamed(&project_dir, &leftovers(&project_dir));
        assert!(!folder.path().join(name("lost", "tmp")).exists());
        assert!(folder.path().join(name("lost", "old")).exists());
        assert!(folder.path().join(".firmhand-x.tmp").exists(), "not a name of ours");
    }

    #[test]
    fn what_no_journal_names_stays_as_it_is() {
        let (old, other) = (name("new", "old"), name("other", "old"));
        let applied = Some(Outcome::Applied);
        let files = |content| [(old.as_str(), content), ("a.c", "new")];
        let approved = || Some(Verdict::Approve);
        for (before, records) in [
            // Nobody approved it.
            (files("base"), session(Some("new"), None, None)),
            (files("base"), session(Some("new"), Some(Verdict::reject("")), None)),
            // It is over, and something else lies there.
            (files("theirs"), session(Some("new"), approved(), applied.clone())),
            // Another content was written.
            (files("base"), session(Some("else"), approved(), None)),
            ([(other.as_str(), "base"), ("a.c", "new")], session(Some("new"), approved(), None)),
            ([(".firmhand-x.old", "base"), ("a.c", "new")], session(None, approved(), None)),
        ] {
            let (left, _) = settled(&before, &records);
            let mut stays: Vec<_> = before.iter().map(|(name, it)| file(name, it)).collect();
            stays.sort();
            assert_eq!(left, stays);
        }
    }
}
