//! What an agent is told about a decision beside yes or no: words, comments, and each difference
//! between what it proposed and what was done.
//!
//! Owns the shape of these answers. Must not decide anything.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::parts::lock;
use crate::model::{
    Amended, BlobRef, BlobSource, Decision, LineComment, Proposal, ProposalId, Settlement, Side,
    UserError, Verdict,
};
use crate::text::diff::{LineKind, Options, diff};

/// Longest text of a comparison that is told, in bytes.
const MOST_DIFF: usize = 64 * 1024;

/// Most refused lines that are told one by one.
const MOST_LINES: usize = 400;

/// What agents have not been told yet.
pub(super) struct AgentFeedback {
    blobs: Arc<dyn BlobSource>,
    kept: Mutex<BTreeMap<ProposalId, Value>>,
}

impl AgentFeedback {
    pub(super) fn new(blobs: &Arc<dyn BlobSource>) -> Self {
        Self { blobs: Arc::clone(blobs), kept: Mutex::default() }
    }

    /// Keeps what there is to tell about a decision.
    pub(super) fn keep(&self, proposal: &Proposal, decision: &Decision) {
        if decision.verdict.amended().is_none()
            && decision.verdict.words().is_empty()
            && decision.verdict.comments().is_empty()
        {
            return;
        }
        // What is lost of a session does not keep the rest from being told.
        let read = |blob: Option<BlobRef>| -> Arc<[u8]> {
            let content = blob.and_then(|blob| self.blobs.blob(&blob.hash).ok());
            content.unwrap_or_else(|| Arc::from([]))
        };
        let (base, proposed) = (read(proposal.change.before()), read(proposal.change.after()));
        let written = read(decision.verdict.amended().or(proposal.change.after()));
        let versions = DecidedVersions { base: &base, proposed: &proposed, written: &written };
        if let Some(feedback) = feedback(proposal, decision, &versions) {
            lock(&self.kept).insert(proposal.id, feedback);
        }
    }

    /// Keeps what is uncertain about a change that was made.
    pub(super) fn keep_doubt(&self, proposal: &Proposal, doubt: &UserError) {
        let mut kept = lock(&self.kept);
        let entry = kept.entry(proposal.id).or_insert_with(|| match proposal.change.path() {
            Some(path) => json!({ "file_name": path }),
            None => json!({}),
        });
        entry["uncertain"] = json!(doubt.to_string());
    }

    /// Gives what was kept about these decisions, once.
    pub(super) fn take(&self, settlements: &[Settlement]) -> Vec<Value> {
        let mut kept = lock(&self.kept);
        settlements.iter().filter_map(|settled| kept.remove(&settled.proposal)).collect()
    }
}

/// The versions of a file that a decision was about.
struct DecidedVersions<'a> {
    /// As it was.
    base: &'a [u8],
    proposed: &'a [u8],
    /// As it was written; the same as `proposed` when nothing was amended.
    written: &'a [u8],
}

/// What there is to tell; `None` when yes or no, and the reason, say it all.
fn feedback(
    proposal: &Proposal,
    decision: &Decision,
    versions: &DecidedVersions<'_>,
) -> Option<Value> {
    let verdict = &decision.verdict;
    let comments = verdict.comments();
    let subject = proposal
        .change
        .path()
        .map_or_else(|| proposal.change.kind().to_owned(), ToString::to_string);
    let mut answer = json!({ "file_name": subject, "decision": verdict.label() });
    let says_more = match verdict {
        Verdict::Approve | Verdict::ApproveConfirmed { .. } => false,
        Verdict::ApproveAndTell { .. } => true,
        Verdict::ApproveAmended { how, .. } => {
            amended(*how, &subject, versions, &mut answer);
            true
        }
        Verdict::Reject { .. } => !comments.is_empty(),
    };
    if !says_more {
        return None;
    }
    if !verdict.words().trim().is_empty() {
        answer["words"] = json!(verdict.words());
    }
    if !comments.is_empty() {
        let comments: Vec<Value> =
            comments.iter().map(|comment| comment_json(&subject, comment, versions)).collect();
        answer["comments"] = json!(comments);
    }
    Some(answer)
}

/// Each line that was proposed and not written, each that was kept or put in instead.
fn amended(how: Amended, subject: &str, versions: &DecidedVersions<'_>, answer: &mut Value) {
    let difference = diff(versions.proposed, versions.written, Options::default());
    let unified = difference.unified(&format!("proposed/{subject}"), &format!("saved/{subject}"));
    let (mut refused, mut kept) = (Vec::new(), Vec::new());
    for line in difference.lines() {
        match (line.kind, line.old_no, line.new_no) {
            (LineKind::Removed, Some(number), _) => {
                refused.push(json!({ "line": number, "text": line.text }));
            }
            (LineKind::Added, _, Some(number)) => {
                kept.push(json!({ "line": number, "text": line.text }));
            }
            _ => {}
        }
    }
    if how == Amended::Lines {
        let omitted =
            refused.len().saturating_sub(MOST_LINES) + kept.len().saturating_sub(MOST_LINES);
        refused.truncate(MOST_LINES);
        kept.truncate(MOST_LINES);
        answer["refused_lines"] = json!(refused);
        answer["kept_lines"] = json!(kept);
        if omitted > 0 {
            answer["lines_not_listed"] = json!(omitted);
        }
    }
    answer["diff_from_proposed_to_saved"] = json!(cut(&unified));
    if versions.written.len() <= MOST_DIFF
        && let Ok(saved) = std::str::from_utf8(versions.written)
    {
        answer["saved_content"] = json!(saved);
    }
}

fn comment_json(subject: &str, comment: &LineComment, versions: &DecidedVersions<'_>) -> Value {
    let (bytes, side) = match comment.side {
        Side::Old => (versions.base, "the file before"),
        Side::New => (versions.proposed, "your proposal"),
    };
    let number = usize::try_from(comment.line).unwrap_or(usize::MAX).saturating_sub(1);
    let line = bytes.split(|&byte| byte == b'\n').nth(number).unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    json!({
        "at": format!("{subject}:{}", comment.line),
        "in": side,
        "line": String::from_utf8_lossy(line),
        "comment": comment.text,
    })
}

fn cut(text: &str) -> String {
    if text.len() <= MOST_DIFF {
        return text.to_owned();
    }
    let end = (0..=MOST_DIFF).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    let left = text.len() - end;
    format!("{}\n[{left} more bytes]\n", text.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::gate_tests::world::proposal;
    use crate::model::*;

    fn applied_changes(
        verdict: Verdict,
        base: &str,
        proposed: &str,
        written: &str,
    ) -> Option<Value> {
        let blob = |text: &str| BlobRef {
            hash: ContentHash::of(text.as_bytes()),
            bytes: text.len() as u64,
        };
        let change = Change::Save {
            path: ProjectPath::new("main/a.c").unwrap(),
            base: Some(blob(base)),
            content: blob(proposed),
        };
        let shown = change.hash();
        let proposal = proposal(1, change);
        let decision = Decision { verdict, by: DecidedBy::Person, shown, unseen: 0, stops: 0 };
        let [base, proposed, written] = [base, proposed, written].map(str::as_bytes);
        feedback(&proposal, &decision, &DecidedVersions { base, proposed, written })
    }

    #[test]
    fn refused_lines_are_told_by_number_and_text_with_the_reason() {
        let written = "a\nnew b\nc\n";
        let hash = ContentHash::of(written.as_bytes());
        let verdict = Verdict::ApproveAmended {
            how: Amended::Lines,
            content: BlobRef { hash, bytes: written.len() as u64 },
            note: DecisionNote::new("keep c"),
            phrase: None,
        };
        let answer = applied_changes(verdict, "a\nb\nc\n", "a\nnew b\nnew c\n", written).unwrap();
        assert_eq!(answer["decision"], "approved in part");
        assert_eq!(answer["words"], "keep c");
        assert_eq!(answer["refused_lines"], json!([{ "line": 3, "text": "new c" }]));
        assert_eq!(answer["kept_lines"], json!([{ "line": 3, "text": "c" }]));
        let unified = answer["diff_from_proposed_to_saved"].as_str().unwrap();
        assert!(unified.contains("-new c\n+c\n"), "{unified}");
    }

    #[test]
    fn lines_beyond_the_first_ones_are_counted() {
        for (refused, kept, omitted) in
            [(MOST_LINES, MOST_LINES, None), (MOST_LINES + 3, MOST_LINES + 4, Some(7))]
        {
            let proposed: String = (0..refused).map(|line| format!("new {line}\n")).collect();
            let written: String = (0..kept).map(|line| format!("old {line}\n")).collect();
            let hash = ContentHash::of(written.as_bytes());
            let verdict = Verdict::ApproveAmended {
                how: Amended::Lines,
                content: BlobRef { hash, bytes: written.len() as u64 },
                note: DecisionNote::new(""),
                phrase: None,
            };
            let answer = applied_changes(verdict, &written, &proposed, &written).unwrap();
            assert_eq!(answer.get("lines_not_listed"), omitted.map(|count| json!(count)).as_ref());
            assert_eq!(answer["kept_lines"].as_array().map(Vec::len), Some(MOST_LINES));
        }
    }

    #[test]
    fn a_long_text_is_cut_at_a_character_and_says_what_is_left_out() {
        let full = "x".repeat(MOST_DIFF);
        assert_eq!(cut(&full), full);
        assert_eq!(cut(&format!("{full}y")), format!("{full}\n[1 more bytes]\n"));
        let umlaut = format!("{}ü", "x".repeat(MOST_DIFF - 1));
        let cut = cut(&umlaut);
        assert_eq!(cut, format!("{}\n[2 more bytes]\n", "x".repeat(MOST_DIFF - 1)));
    }

    #[test]
    fn comments_go_back_with_their_place_and_line() {
        let comments = vec![
            LineComment { side: Side::New, line: 2, text: "why?".into() },
            LineComment { side: Side::Old, line: 9, text: "gone".into() },
        ];
        let verdict =
            Verdict::Reject { reason: "see comments".into(), comments, then: AfterReject::GoOn };
        let answer = applied_changes(verdict, "a\n", "a\r\nb\r\n", "a\r\nb\r\n").unwrap();
        assert_eq!(answer["comments"][0]["at"], "main/a.c:2");
        assert_eq!(answer["comments"][0]["line"], "b");
        assert_eq!(answer["comments"][1]["line"], "");
    }

    #[test]
    fn a_plain_answer_says_nothing_more() {
        assert_eq!(applied_changes(Verdict::Approve, "a", "b", "b"), None);
        assert_eq!(applied_changes(Verdict::reject("no"), "a", "b", "b"), None);
    }
}
