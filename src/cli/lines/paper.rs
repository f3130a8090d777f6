//! What was printed of one proposal, and the decisions that can be made from it.
//!
//! Owns the numbers that stand before changed lines. Nothing is decided here: an intent is made,
//! and the gate checks it like any other.

use std::collections::BTreeSet;
use std::time::Instant;

use super::line_command::{Decide, DecisionScope};
use super::proposal_text::{self, ProposalText, versions};
use crate::app::editor;
use crate::cli::report;
use crate::model::{
    Amended, BlobSource, DecisionNote, Examiner, Intent, LineComment, Proposal, RuleSays,
    SessionRule, Shown, Side, Verdict,
};
use crate::text::diff::{self, DiffLimits, LineKind, Options};
use crate::text::select::{LineSelection, select};
use crate::ui::OutsideEdit;

/// A printed proposal.
pub struct Paper {
    pub proposal: Proposal,
    /// When it was printed.
    pub at: Instant,
    /// Whether it could be printed at all.
    is_readable: bool,
    changed: Vec<(LineKind, usize)>,
    unseen: u32,
    comments: Vec<LineComment>,
    /// The person's own version.
    edit: Option<String>,
    /// The proposal as it would be with that, as it was printed.
    edited: Option<Proposal>,
}

impl Paper {
    pub fn new(proposal: Proposal, reported: Option<&ProposalText>, at: Instant) -> Self {
        let changed = reported.map(|reported| reported.changed.clone()).unwrap_or_default();
        let unseen = reported.map_or(0, |reported| reported.unseen);
        let is_readable = reported.is_some();
        Self {
            proposal,
            at,
            is_readable,
            changed,
            unseen,
            comments: Vec::new(),
            edit: None,
            edited: None,
        }
    }

    /// Keeps what the person wrote about an earlier statement of it.
    pub fn take_words_of(&mut self, old: Self) {
        self.edit = old.edit;
        if old.proposal.change.hash() == self.proposal.change.hash() {
            (self.comments, self.edited) = (old.comments, old.edited);
        }
    }

    /// What of it was printed.
    pub fn shown(&self) -> Shown {
        let (proposal, hash) = (self.proposal.id, self.proposal.change.hash());
        Shown { proposal, hash, unseen: self.unseen, stops: 0 }
    }

    /// Why an approval needs to name lines that were not printed.
    fn unprinted(&self) -> String {
        let lines = match self.unseen {
            1 => "1 changed line was".to_owned(),
            lines => format!("{lines} changed lines were"),
        };
        let approval = self.approval();
        format!(
            "{lines} not printed, as there are too many; `{approval}` approves all of it anyway"
        )
    }

    /// What a line asks for, as a wish for the engine.
    ///
    /// # Errors
    /// Why it decides nothing.
    pub fn decide(&mut self, what: Decide, blobs: &dyn BlobSource) -> Result<Intent, String> {
        let approves = !matches!(what, Decide::Reject(..) | Decide::Ask(_));
        if approves && !self.is_readable {
            return Err("a proposal that cannot be shown cannot be approved".to_owned());
        }
        let (names_unseen, what) = match what {
            Decide::Unseen(how) => (true, *how),
            other => (false, other),
        };
        let is_whole = matches!(
            what,
            Decide::Approve | Decide::Tell(_) | Decide::Despite | Decide::Confirm(_)
        );
        if is_whole && self.unseen > 0 && !names_unseen {
            return Err(self.unprinted());
        }
        let passes = matches!(what, Decide::Approve | Decide::Tell(_));
        if passes && self.proposal.phrase().is_none() && self.proposal.stops() > 0 {
            return Err(format!(
                "a check found a problem, see above; `{}` approves it anyway",
                self.approval()
            ));
        }
        if what == Decide::Despite && self.proposal.stops() == 0 {
            return Err("no check found a problem; leave out `despite`".to_owned());
        }
        let note = |words: String| DecisionNote { words, comments: self.comments.clone() };
        Ok(match what {
            Decide::Approve | Decide::Unseen(_) | Decide::Despite => match self.proposal.phrase() {
                Some(_) => return Err(self.needs()),
                None if self.comments.is_empty() => self.says(Verdict::Approve),
                None => self.says(Verdict::ApproveAndTell { note: note(String::new()) }),
            },
            Decide::Confirm(typed) => match self.proposal.phrase() {
                Some(phrase) if phrase == typed => self.says(Verdict::ApproveConfirmed { phrase }),
                Some(_) => return Err(self.needs()),
                None => return Err("nothing has to be confirmed here".to_owned()),
            },
            Decide::Tell(_) if self.proposal.phrase().is_some() => return Err(self.needs()),
            Decide::Tell(words) => self.says(Verdict::ApproveAndTell { note: note(words) }),
            Decide::Lines(numbers) => {
                let content = self.picked(&numbers, blobs)?;
                self.amend(Amended::Lines, content)
            }
            Decide::Edited | Decide::EditedDespite | Decide::EditedConfirm(_) => {
                self.sends_edit(&what)?
            }
            Decide::Reject(reason, then) => {
                let comments = self.comments.clone();
                self.says(Verdict::Reject { reason, comments, then })
            }
            Decide::Ask(text) => {
                Intent::Inquire { proposal: self.proposal.id, excerpt: None, text }
            }
        })
    }

    /// Whoever gets here has named what stands against it, or nothing does.
    fn says(&self, verdict: Verdict) -> Intent {
        let mut shown = self.shown();
        match verdict {
            Verdict::Reject { .. } => shown.unseen = 0,
            _ => shown.stops = self.proposal.stops(),
        }
        Intent::Decide { shown, verdict }
    }

    /// Approves the person's own version as it was printed.
    fn sends_edit(&self, what: &Decide) -> Result<Intent, String> {
        let id = self.proposal.id;
        let edit = self.edit.clone().ok_or("there is no edit yet; type `edit NUMBER`")?;
        let Some(edited) = &self.edited else {
            return Err(format!("the file changed since your edit; `edit {id}` opens it again"));
        };
        let typed =
            if let Decide::EditedConfirm(typed) = what { Some(typed.clone()) } else { None };
        match (edited.phrase(), edited.stops()) {
            (Some(phrase), _) if typed.as_ref() != Some(&phrase) => {
                let stake = edited.stake().unwrap_or_default();
                return Err(format!("type `approve {id} edited {phrase}`. {stake}"));
            }
            (Some(_), _) => {}
            (None, _) if typed.is_some() => {
                return Err("nothing has to be confirmed in your edit".to_owned());
            }
            (None, 1..) if *what == Decide::Edited => {
                return Err(format!(
                    "a check found a problem in your edit, see above; `approve {id} edited despite` approves it anyway"
                ));
            }
            (None, 0) if *what == Decide::EditedDespite => {
                return Err("no check found a problem in your edit; leave out `despite`".to_owned());
            }
            (None, _) => {}
        }
        let shown = Shown { unseen: 0, stops: edited.stops(), ..self.shown() };
        let (how, content) = (Amended::Edit, edit.into_bytes());
        Ok(Intent::Amend { shown, how, content, note: self.comments_alone(), phrase: typed })
    }

    fn comments_alone(&self) -> DecisionNote {
        DecisionNote { words: String::new(), comments: self.comments.clone() }
    }

    /// The line that approves all of it, with everything that it has to name.
    pub fn approval(&self) -> String {
        let unseen = if self.unseen > 0 { " unseen" } else { "" };
        format!("approve {}{unseen}{}", self.proposal.id, behind(&self.proposal))
    }

    fn needs(&self) -> String {
        let stake = self.proposal.stake().unwrap_or_default();
        format!("type `{}`. {stake}", self.approval())
    }

    fn amend(&self, how: Amended, content: Vec<u8>) -> Intent {
        let shown = Shown { unseen: 0, ..self.shown() };
        Intent::Amend { shown, how, content, note: self.comments_alone(), phrase: None }
    }

    /// The file with the lines of these printed numbers only.
    fn picked(&self, numbers: &BTreeSet<usize>, blobs: &dyn BlobSource) -> Result<Vec<u8>, String> {
        let mut accepted = LineSelection::default();
        for number in numbers {
            let (kind, line) = self.changed_line(*number)?;
            let lines = match kind {
                LineKind::Removed => &mut accepted.removed,
                LineKind::Added | LineKind::Context => &mut accepted.added,
            };
            lines.insert(line);
        }
        let (old, new) =
            versions(&self.proposal.change, blobs).map_err(|error| error.to_string())?;
        let limits = DiffLimits { lines: usize::MAX, line: usize::MAX, bytes: usize::MAX };
        let found = diff::diff(&old, &new, Options { limits, ..Options::default() });
        Ok(select(&old, &new, &found, &accepted))
    }

    /// The changed line of a printed number.
    fn changed_line(&self, number: usize) -> Result<(LineKind, usize), String> {
        let line = number.checked_sub(1).and_then(|place| self.changed.get(place)).copied();
        let count = self.changed.len();
        line.ok_or_else(|| format!("changed lines have the numbers 1 to {count}"))
    }

    /// Keeps a comment on the line of a printed number; empty words take it away.
    ///
    /// # Errors
    /// When there is no such line.
    pub fn comment(&mut self, number: usize, words: &str) -> Result<(), String> {
        let (kind, line) = self.changed_line(number)?;
        let side = if kind == LineKind::Removed { Side::Old } else { Side::New };
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        self.comments.retain(|old| (old.side, old.line) != (side, line));
        if !words.is_empty() {
            self.comments.push(LineComment { side, line, text: words.to_owned() });
        }
        Ok(())
    }

    /// Lets the person edit the proposed text in their editor; nothing is decided by it. Returns
    /// what was changed, in lines to print.
    ///
    /// # Errors
    /// In words for the person; nothing is lost.
    pub fn edit(
        &mut self,
        blobs: &dyn BlobSource,
        examiner: &dyn Examiner,
    ) -> Result<ProposalText, String> {
        let change = &self.proposal.change;
        if change.after().is_none() {
            return Err(format!("a {} has no text to edit", change.kind()));
        }
        let (_, proposed) = versions(change, blobs).map_err(|error| error.to_string())?;
        let not_text = |_| "it is not UTF-8 text, so it cannot be edited".to_owned();
        let start = match &self.edit {
            Some(edit) => edit.clone(),
            None => String::from_utf8(proposed.to_vec()).map_err(not_text)?,
        };
        let name = change.path().map_or("proposal", |path| path.file_name()).to_owned();
        let edited = editor::edit_text(&OutsideEdit { shown: self.shown(), name, text: start })?;
        if edited.as_bytes() == &*proposed {
            (self.edit, self.edited) = (None, None);
            return Err("nothing was edited".to_owned());
        }
        let mut reported = ProposalText::of_texts(&proposed, edited.as_bytes());
        report::line("Checking your version.");
        let looked_at = examiner.examine(&self.proposal, edited.as_bytes());
        self.edit = Some(edited);
        let looked_at = looked_at.map_err(|error| error.to_string())?;
        reported.lines.extend(proposal_text::findings(&looked_at));
        let (id, behind) = (self.proposal.id, behind(&looked_at));
        reported.lines.push(format!("Nothing is decided yet. Type: approve {id} edited{behind}."));
        self.edited = Some(looked_at);
        // A line that was typed before this was printed is not about it.
        self.at = Instant::now();
        Ok(reported)
    }

    /// A rule about proposals like this one.
    ///
    /// # Errors
    /// Why there can be none.
    pub fn rule(&self, says: RuleSays, scope: DecisionScope) -> Result<Intent, String> {
        let proposal = &self.proposal;
        let kind = Some(proposal.change.change_kind());
        let mut rule = SessionRule { says, kind, path: None, tool: None, agent: None };
        match scope {
            DecisionScope::Path => {
                let path = proposal.change.path().ok_or("a flash has no path")?;
                rule.path = Some(path.as_str().to_owned());
            }
            DecisionScope::Tool => rule.tool = Some(proposal.tool.clone()),
            DecisionScope::Agent => rule.agent = Some(proposal.agent.clone()),
        }
        Ok(Intent::AddRule { rule })
    }
}

/// What an approval of it has to name: the phrase, or that a check found a problem.
fn behind(proposal: &Proposal) -> String {
    match (proposal.phrase(), proposal.stops()) {
        (Some(phrase), _) => format!(" {phrase}"),
        (None, 0) => String::new(),
        (None, _) => " despite".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{
        Batch, BatchId, BlobRef, CallId, Change, Check, CheckKind, ContentHash, Facts, Finding,
        FindingLevel, ProjectPath, ProposalId, TurnId, UserError,
    };

    struct NoBlobs;

    impl BlobSource for NoBlobs {
        fn blob(&self, hash: &ContentHash) -> Result<Arc<[u8]>, UserError> {
            Err(UserError::new("no content", hash.to_string(), ""))
        }
    }

    fn proposal(findings: Vec<Finding>) -> Proposal {
        let content = BlobRef { hash: ContentHash::of(b"a"), bytes: 1 };
        let path = ProjectPath::new("sdkconfig.defaults").unwrap();
        Proposal {
            id: ProposalId(3),
            turn: TurnId(1),
            call: CallId(1),
            agent: "A".into(),
            tool: "t".into(),
            reason: String::new(),
            batch: Batch { id: BatchId(1), index: 1, of: 1 },
            change: Change::Save { path, base: None, content },
            checks: vec![Check::with(CheckKind::Irreversible, findings)],
            facts: Facts::default(),
        }
    }

    /// What a decision on an edit with these findings comes to: the stops and the phrase it names.
    fn sent(findings: Vec<Finding>, what: Decide) -> Result<(u32, Option<String>), String> {
        let refusal = ProposalText::of_texts(b"", b"a");
        let mut paper = Paper::new(proposal(Vec::new()), Some(&refusal), Instant::now());
        (paper.edit, paper.edited) = (Some("mine\n".to_owned()), Some(proposal(findings)));
        match paper.decide(what, &NoBlobs)? {
            Intent::Amend { shown, how: Amended::Edit, content, phrase, .. } => {
                assert_eq!((shown.unseen, content.as_slice()), (0, b"mine\n".as_slice()));
                Ok((shown.stops, phrase))
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_proposal_can_be_approved_by_the_line_that_is_asked_for() {
        use super::super::line_command::LineCommand;
        let stop = || Finding::new(FindingLevel::Stop, "sets secure boot");
        let burns = stop().phrase("burn esp32 efuses");
        for (findings, line) in [
            (Vec::new(), "approve 3"),
            (vec![stop()], "approve 3 despite"),
            (vec![burns], "approve 3 burn esp32 efuses"),
        ] {
            for unseen in [0, 7] {
                let printed = ProposalText { unseen, ..ProposalText::of_texts(b"", b"a") };
                let line = match unseen {
                    0 => line.to_owned(),
                    _ => line.replace("approve 3", "approve 3 unseen"),
                };
                let new = || Paper::new(proposal(findings.clone()), Some(&printed), Instant::now());
                assert_eq!(new().approval(), line);
                let decide = |line: &str| match LineCommand::parse(line) {
                    LineCommand::Decide(3, what) => new().decide(what, &NoBlobs),
                    other => panic!("{line}: {other:?}"),
                };
                assert!(matches!(
                    decide(&line).unwrap(),
                    Intent::Decide { shown, verdict }
                        if shown.unseen == unseen && !matches!(verdict, Verdict::Reject { .. })
                ));
                // With less than that it is refused, with the line to type.
                for less in
                    ["approve 3", "approve 3 unseen", "approve 3 despite", "tell 3 well done"]
                {
                    let is_enough = less == line
                        || less == "approve 3 unseen" && line == "approve 3"
                        || less == "tell 3 well done" && line == "approve 3";
                    let refused = decide(less).err();
                    assert_eq!(refused.is_none(), is_enough, "{less} for {line}: {refused:?}");
                    assert!(refused.is_none_or(
                        |why| why.contains(&format!("`{line}`")) || why.contains("leave out")
                    ));
                }
            }
        }
    }

    #[test]
    fn an_edit_is_sent_by_just_the_words_that_its_findings_ask_for() {
        let stop = || Finding::new(FindingLevel::Stop, "sets secure boot");
        let burns = || vec![stop().phrase("burn esp32 efuses")];
        let typed = |words: &str| Decide::EditedConfirm(words.to_owned());
        assert_eq!(sent(Vec::new(), Decide::Edited), Ok((0, None)));
        assert_eq!(sent(vec![stop()], Decide::EditedDespite), Ok((1, None)));
        let phrase = "burn esp32 efuses".to_owned();
        assert_eq!(sent(burns(), typed("burn esp32 efuses")), Ok((1, Some(phrase))));
        let refused = [
            (vec![stop()], Decide::Edited, "`approve 3 edited despite`"),
            (Vec::new(), Decide::EditedDespite, "leave out `despite`"),
            (burns(), Decide::Edited, "type `approve 3 edited burn esp32 efuses`"),
            (burns(), Decide::EditedDespite, "type `approve 3 edited burn esp32 efuses`"),
            (burns(), typed("burn it"), "type `approve 3 edited burn esp32 efuses`"),
            (Vec::new(), typed("burn esp32 efuses"), "nothing has to be confirmed"),
            (vec![stop()], typed("burn esp32 efuses"), "nothing has to be confirmed"),
        ];
        for (findings, what, why) in refused {
            let refusal = sent(findings, what.clone()).unwrap_err();
            assert!(refusal.contains(why), "{what:?}: {refusal}");
        }
    }
}
