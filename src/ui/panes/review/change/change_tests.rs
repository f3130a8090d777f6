//! Tests of where a proposal opens, and of what of it was seen.

#[path = "../../../../../tests/proposals/set.rs"]
#[expect(dead_code, reason = "the gate's tests use the rest")]
mod set;

use super::*;
use crate::model::{
    AgentName, Batch, BatchId, BlobRef, CallId, Check, CheckKind, ContentHash, Finding,
    ProjectPath, ProposalId, ToolName, TurnId, UserError,
};

const VIEWPORT: Viewport = Viewport { one: 40, half: None, rows: 10 };

struct Contents(Vec<Vec<u8>>);

impl BlobSource for Contents {
    fn blob(&self, hash: &ContentHash) -> Result<Arc<[u8]>, UserError> {
        let found = self.0.iter().find(|bytes| ContentHash::of(bytes) == *hash);
        found.map(|bytes| bytes.as_slice().into()).ok_or_else(|| UserError::new("no", "blob", ""))
    }
}

fn shown(content: &str) -> ChangeView {
    shown_with(content, Vec::new())
}

fn shown_with(content: &str, checks: Vec<Check>) -> ChangeView {
    let bytes = content.as_bytes().to_vec();
    let content = BlobRef { hash: ContentHash::of(&bytes), bytes: bytes.len() as u64 };
    let proposal = Proposal {
        id: ProposalId(1),
        turn: TurnId(1),
        call: CallId(1),
        agent: AgentName::from("a"),
        tool: ToolName::from("t"),
        reason: String::new(),
        batch: Batch { id: BatchId(1), index: 1, of: 1 },
        change: Change::Save { path: ProjectPath::new("a.c").unwrap(), base: None, content },
        checks,
        facts: crate::model::Facts::default(),
    };
    let blobs: Arc<dyn BlobSource> = Arc::new(Contents(vec![bytes]));
    ChangeView::new(&proposal, &blobs)
}

#[test]
fn going_to_the_unseen_ends_with_all_seen() {
    let text: String = (0..100).map(|n| format!("int line_{n};\n")).collect();
    let mut shown = shown(&text);
    assert_eq!(shown.unseen(), 100);
    let mut rounds = 0;
    loop {
        shown.lay_out(Look::default(), VIEWPORT, &BTreeMap::new());
        shown.was_shown();
        rounds += 1;
        if shown.unseen() == 0 {
            break;
        }
        assert!(shown.go_to_unseen(&mut Look::default()));
    }
    assert_eq!((shown.unseen(), rounds), (0, 11));
}

/// The bad proposals of the set that tell a line, each with a finding there and a lighter one
/// at the end.
#[test]
fn what_was_found_is_on_the_first_screen() {
    let samples = set::load("bad");
    let (mut tried, mut missed) = (0, Vec::new());
    for (columns, rows) in [(70, 16), (110, 30)] {
        for sample in samples.iter().filter(|sample| !sample.mark.is_empty()) {
            let marked = |wanted| sample.lines(wanted).first().map(|line| (wanted, *line));
            let Some((wanted, line)) = sample.changes.iter().find_map(marked) else { continue };
            let Ok(text) = String::from_utf8(sample.content(wanted)) else { continue };
            let before: String = (0..90).map(|n| format!("int line_{n};\n")).collect();
            let text = format!("{before}{text}{before}");
            let line = 90 + line;
            let at = |level, line| Finding::new(level, "x").at(FindingPlace::line(line));
            let found = vec![at(FindingLevel::Warning, 2), at(FindingLevel::Stop, line)];
            let mut shown = shown_with(&text, vec![Check::with(CheckKind::Origin, found)]);
            shown.lay_out(
                Look::default(),
                Viewport { one: columns, half: None, rows },
                &BTreeMap::new(),
            );
            tried += 1;
            let (body, layout) = (shown.body().unwrap(), shown.layout().unwrap());
            let numbers = shown.rows().flat_map(|row| layout.cells(row)).flatten();
            let mut roles = numbers.map(|cell| body.lines[cell.line].role);
            let is_there =
                |role| matches!(role, LineRole::Diff(_, _, Some(n)) if n == line as usize);
            if !roles.any(is_there) {
                missed.push(&sample.name);
            }
        }
    }
    assert!(tried > 120 && missed.len() * 20 <= tried, "{tried}: {missed:?}");
}
