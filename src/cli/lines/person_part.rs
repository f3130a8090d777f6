//! What the person decided, said and answered, in one line each; a replay tells all of it, a session
//! that goes on only what the person has not just typed.

use crate::model::{DecidedBy, Event, PersonEvent, ProposalEvent, ProposalId, TurnEvent, Verdict};
use crate::view::SessionView;

/// Whose story is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Story {
    /// A session while it goes on.
    Live,
    /// A saved session, from its start to its end.
    Saved,
}

/// An event in one line, not made safe for a terminal yet; `None`: it is told as anywhere else.
pub(super) fn line(event: &Event, view: &SessionView, story: Story) -> Option<String> {
    match event {
        Event::Proposal(ProposalEvent::Decided { proposal, decision })
            if decision.by == DecidedBy::Person =>
        {
            let what = change_of(*proposal, view);
            let words = words_of(&decision.verdict);
            Some(format!("  #{proposal} {} by the person: {what}{words}", decision.verdict.label()))
        }
        Event::Proposal(ProposalEvent::Made(proposal)) if story == Story::Saved => {
            let (id, agent, tool) = (proposal.id, &proposal.agent, &proposal.tool);
            Some(format!("  #{id} {} proposed by {agent} with {tool}", change_of(id, view)))
        }
        // What was asked for stands in the message before.
        Event::Turn(TurnEvent::SpeakerChosen { agent, reason, .. }) => {
            let (who, _) = reason.split_once(&format!(" asked {agent} to “"))?;
            Some(format!("{agent}: as {who} asked"))
        }
        Event::Person(PersonEvent::Wrote { to, text }) if story == Story::Saved => {
            let to = to.as_ref().map_or_else(String::new, |agent| format!(" to {agent}"));
            Some(format!("the person{to}: {text}"))
        }
        Event::Person(PersonEvent::Answered { answer, .. }) if story == Story::Saved => {
            Some(format!("answer of the person: {answer}"))
        }
        Event::Person(PersonEvent::StopRequested) if story == Story::Saved => {
            Some("the person stopped the run".to_owned())
        }
        _ => None,
    }
}

/// What a proposal does, to which file or board.
fn change_of(id: ProposalId, view: &SessionView) -> String {
    let Some(found) = view.review.get(id) else { return "a change".to_owned() };
    let change = &found.proposal.change;
    let path = change.path().map(|path| path.as_str().to_owned());
    let target = path.or_else(|| change.board().map(|board| board.label.clone()));
    format!("{} {}", change.kind(), target.unwrap_or_default()).trim_end().to_owned()
}

/// What the person said with a verdict.
fn words_of(verdict: &Verdict) -> String {
    let words = match verdict {
        Verdict::Reject { reason, .. } => reason.as_str(),
        Verdict::ApproveAndTell { note } => note.words.as_str(),
        Verdict::Approve | Verdict::ApproveConfirmed { .. } | Verdict::ApproveAmended { .. } => "",
    };
    if words.is_empty() { String::new() } else { format!(" (“{words}”)") }
}
