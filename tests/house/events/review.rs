//! Proposals, what is asked about them, and what came of them.

use firmhand::model::ProposalEvent;
use firmhand::model::*;

use super::boards::{board, board_change, board_kind};
use super::{blob, error, path};

fn change(variant: u32, number: u32) -> Change {
    let (path, base, content) = (path(number), blob(number), blob(number + 1));
    if let Some(change) = board_change(variant) {
        return change;
    }
    match variant % 5 {
        0 => Change::Save { path, base: None, content },
        1 => Change::Save { path, base: Some(base), content },
        2 => Change::Delete { path, base },
        3 => Change::Insert { path, base, content },
        _ => Change::Flash(FlashPlan {
            board: board(),
            images: vec![FlashImage {
                file: "build/app.bin".into(),
                offset: 0x10000,
                bytes: 9,
                hash: base.hash,
                same: false,
            }],
            touches_boot: Some(false),
            options: Vec::new(),
            build: BuildId(number),
            built_at: Timestamp(5),
        }),
    }
}

pub(super) fn proposal(variant: u32, number: u32) -> Event {
    Event::Proposal(ProposalEvent::Made(Box::new(Proposal {
        id: ProposalId(number),
        turn: TurnId(number),
        call: CallId(number),
        agent: "CodeReviewerAgent".into(),
        tool: "generate_code".into(),
        reason: "needed \u{202e}".into(),
        batch: Batch { id: BatchId(1), index: 1, of: 2 },
        change: change(variant, number),
        checks: vec![Check::of(CheckKind::Parses, FindingLevel::Warning, "odd")],
        facts: facts(variant, number),
    })))
}

fn facts(variant: u32, number: u32) -> Facts {
    let reference = Reference {
        path: path(number + 1),
        line: 4,
        kind: if variant.is_multiple_of(2) { ReferenceKind::Include } else { ReferenceKind::Cmake },
        text: "#include \"f.h\"".into(),
    };
    let flash = FlashFacts {
        source: "partitions.csv".into(),
        partitions: vec![Partition {
            label: "factory".into(),
            kind: "app".into(),
            subtype: "factory".into(),
            offset: 0x1_0000,
            bytes: 0x10_0000,
        }],
        table_offset: None,
        landings: vec![Landing {
            file: "build/app.bin".into(),
            place: "factory".into(),
            erased_from: 0x1_0000,
            erased_to: 0x1_1000,
            overflow: 0,
            touches: Vec::new(),
        }],
    };
    match variant % 4 {
        0 => Facts::default(),
        1 => Facts { undoes: Some(ProposalId(number)), ..Facts::default() },
        2 => Facts { references: vec![reference], ..Facts::default() },
        _ => Facts { flash: Some(flash), ..Facts::default() },
    }
}

/// What happens while proposals wait.
pub(super) fn desk_event(kind: usize, variant: u32, number: u32) -> Event {
    let (inquiry, proposal, rule) = (InquiryId(number), ProposalId(number), RuleId(number));
    match kind {
        34 => {
            let kind = CheckKind::Merged;
            let check = Check::of(kind, FindingLevel::Warning, "merged");
            let why = "the file was changed on disk".into();
            let change = change(variant, number + 1);
            Event::Proposal(ProposalEvent::Restated {
                proposal,
                change: Box::new(change),
                checks: vec![check],
                why,
            })
        }
        35 | 55 => {
            let text = "+int a;".into();
            let excerpt = Excerpt { side: Side::New, first: 2, last: 3, text };
            let excerpt = variant.is_multiple_of(2).then_some(excerpt);
            let agent = "CodeReviewerAgent".into();
            Event::Proposal(ProposalEvent::Inquired {
                inquiry,
                proposal,
                agent,
                turn: (kind == 55).then_some(TurnId(number)),
                excerpt,
                text: "why?".into(),
            })
        }
        36 => Event::Proposal(ProposalEvent::InquiryTextAdded { inquiry, text: "because ".into() }),
        37 => {
            let usage = Usage { input: 5, output: 2, cached: 0, cost: Cost(3), is_estimated: true };
            let failed = (variant % 2 == 1).then(|| error("cut off"));
            Event::Proposal(ProposalEvent::InquiryEnded { inquiry, usage, failed })
        }
        38 => {
            let kinds =
                [ChangeKind::Save, ChangeKind::Delete, ChangeKind::Insert, ChangeKind::Flash];
            let says = if variant.is_multiple_of(2) { RuleSays::Always } else { RuleSays::Never };
            let kind = board_kind(variant).or(kinds.get(variant as usize % 5).copied());
            let path = variant.is_multiple_of(3).then(|| "main/**".to_owned());
            let tool = (variant % 3 == 1).then(|| "generate_code".into());
            let agent = Some("CodeReviewerAgent".into());
            Event::Proposal(ProposalEvent::RuleAdded {
                rule,
                says: SessionRule { says, kind, path, tool, agent },
            })
        }
        _ => Event::Proposal(ProposalEvent::RuleRevoked { rule }),
    }
}

pub(super) fn decided(variant: u32, number: u32) -> Event {
    let comments = vec![LineComment { side: Side::New, line: 3, text: "why?".into() }];
    let note = DecisionNote { words: "mind the pins".into(), comments: comments.clone() };
    let content = blob(number + 2);
    let verdict = match variant % 7 {
        0 => Verdict::Approve,
        1 => Verdict::reject("no"),
        2 => Verdict::ApproveConfirmed { phrase: "flash esp32 boot".into() },
        3 => Verdict::ApproveAndTell { note },
        4 => Verdict::ApproveAmended { how: Amended::Lines, content, note, phrase: None },
        5 => Verdict::ApproveAmended {
            how: Amended::Edit,
            content,
            note: DecisionNote::default(),
            phrase: None,
        },
        _ => Verdict::Reject { reason: "no".into(), comments, then: AfterReject::Stop },
    };
    let by = match variant % 3 {
        0 => DecidedBy::Person,
        1 => DecidedBy::Policy("allow save".into()),
        _ => DecidedBy::Nobody("the desk is gone".into()),
    };
    let shown = ContentHash::of(b"shown");
    Event::Proposal(ProposalEvent::Decided {
        proposal: ProposalId(number),
        decision: Box::new(Decision { verdict, by, shown, unseen: 0, stops: 0 }),
    })
}

pub(super) fn settled(variant: u32, number: u32) -> Event {
    let outcome = match variant % 5 {
        0 => Outcome::Applied,
        1 => Outcome::Denied,
        2 => Outcome::Stale { found: Some(ContentHash::of(b"other")) },
        3 => Outcome::Failed(error("disk")),
        _ => Outcome::Interrupted("half".into()),
    };
    Event::Proposal(ProposalEvent::Settled { proposal: ProposalId(number), outcome })
}
