//! Brings a request inside the tokens an agent may be given; what is left out is said in it.

use std::sync::Arc;

use crate::model::{LeftOut, Message, ModelEvent, Role, TurnId, estimated_tokens};

/// What was left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Cut {
    left_out: Vec<LeftOut>,
    /// Tokens of what is given, about.
    given: u64,
    /// Tokens that may be given.
    budget: u64,
}

impl Cut {
    /// As it is recorded.
    pub fn told(self, turn: TurnId) -> ModelEvent {
        let Self { left_out, given: tokens, budget: window } = self;
        ModelEvent::Trimmed { turn, left_out, tokens, window }
    }
}

/// Messages at the front that always stay: the instructions and the task.
const KEPT: usize = 2;

/// A single message may take this part of the budget.
const SHARE: u64 = 3;

/// Fits `messages` into `budget` tokens: first the longest texts are shortened in their middle,
/// then the oldest messages go, a call always with its answers.
pub(super) fn fit(messages: Vec<Arc<Message>>, budget: u64) -> (Vec<Arc<Message>>, Option<Cut>) {
    let total: u64 = messages.iter().map(|message| tokens(message)).sum();
    if total <= budget {
        return (messages, None);
    }
    let mut left_out = Vec::new();
    let mut messages = messages;
    for message in messages.iter_mut().skip(1) {
        if let Some(short) = shortened(message, budget / SHARE) {
            let gone = tokens(message).saturating_sub(tokens(&short));
            left_out.push(piece(&format!("the middle of a message of {}", author(message)), gone));
            *message = Arc::new(short);
        }
    }
    let mut left: u64 = messages.iter().map(|message| tokens(message)).sum();
    let mut end = KEPT.min(messages.len());
    while left > budget {
        let group = group_at(&messages, end);
        // The last group stays: without it there is nothing to answer.
        if end + group >= messages.len() {
            break;
        }
        let gone: u64 = messages.iter().skip(end).take(group).map(|gone| tokens(gone)).sum();
        left -= gone;
        let first = messages.get(end).map_or("", |message| author(message));
        left_out.push(piece(&format!("{group} messages of {first}"), gone));
        end += group;
    }
    let first = KEPT.min(messages.len());
    let gone = end - first;
    if gone > 0 {
        let text = format!(
            "[{gone} older messages were left out here: the chat is longer than you may be given]"
        );
        let (role, calls) = (Role::User, Vec::new());
        let note = Message { role, agent: None, text, calls, answers: None };
        messages.splice(first..end, [Arc::new(note)]);
    }
    let is_cut = !left_out.is_empty();
    (messages, is_cut.then_some(Cut { left_out, given: left, budget }))
}

fn piece(what: &str, tokens: u64) -> LeftOut {
    LeftOut { what: what.to_owned(), tokens }
}

fn author(message: &Message) -> &str {
    match (&message.agent, message.role) {
        (Some(agent), _) => agent.as_str(),
        (None, Role::Tool) => "a tool",
        (None, Role::Assistant) => "its own",
        (None, Role::System | Role::User) => "the person",
    }
}

/// How many messages from `at` on belong together: a call and its answers.
fn group_at(messages: &[Arc<Message>], at: usize) -> usize {
    let answers = messages.iter().skip(at + 1).take_while(|next| next.role == Role::Tool).count();
    1 + answers
}

fn tokens(message: &Message) -> u64 {
    let calls = message.calls.iter().map(|call| call.args.to_string().len()).sum::<usize>();
    estimated_tokens((message.text.len() + calls) as u64)
}

/// The message with the middle of its text taken out; `None` when it is short enough.
fn shortened(message: &Message, most: u64) -> Option<Message> {
    let text = message.text.as_str();
    if estimated_tokens(text.len() as u64) <= most {
        return None;
    }
    let bytes = usize::try_from(most).unwrap_or(usize::MAX).saturating_mul(4);
    let head = floor(text, bytes / 4 * 3);
    let tail = ceil(text, text.len().saturating_sub(bytes / 4));
    let gone = estimated_tokens(tail.saturating_sub(head) as u64);
    let text = format!(
        "{}\n[about {gone} tokens were left out here]\n{}",
        text.get(..head).unwrap_or_default(),
        text.get(tail..).unwrap_or_default()
    );
    (text.len() < message.text.len()).then(|| Message { text, ..message.clone() })
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

fn ceil(text: &str, at: usize) -> usize {
    (at..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::model::{CallId, ToolCall};

    fn message(role: Role, text: &str) -> Arc<Message> {
        let calls = Vec::new();
        Arc::new(Message { role, agent: None, text: text.into(), calls, answers: None })
    }

    fn call(id: u32) -> [Arc<Message>; 2] {
        let call = ToolCall { id: CallId(id), tool: "t".into(), args: json!({}) };
        let mut asked = Message::clone(&message(Role::Assistant, &"a".repeat(400)));
        asked.calls.push(call);
        let mut told = Message::clone(&message(Role::Tool, &"b".repeat(400)));
        told.answers = Some(CallId(id));
        [Arc::new(asked), Arc::new(told)]
    }

    #[test]
    fn what_fits_is_left_alone() {
        let messages = vec![message(Role::System, "rules"), message(Role::User, "task")];
        assert_eq!(fit(messages.clone(), 100), (messages, None));
    }

    #[test]
    fn a_call_goes_with_its_answer_and_the_gap_is_told() {
        let mut messages = vec![message(Role::System, "rules"), message(Role::User, "task")];
        messages.extend(call(1));
        messages.extend(call(2));
        messages.push(message(Role::User, "now"));
        let (fitted, cut) = fit(messages, 320);
        let cut = cut.unwrap();
        assert_eq!(cut.left_out.len(), 1);
        assert!(cut.given <= cut.budget, "{cut:?}");
        assert!(fitted[2].text.starts_with("[2 older messages were left out here"));
        assert_eq!(fitted[3].calls[0].id, CallId(2));
        assert_eq!(fitted[4].answers, Some(CallId(2)));
        assert_eq!(fitted.last().unwrap().text, "now");
    }

    #[test]
    fn one_message_longer_than_its_share_loses_its_middle() {
        let long = format!("begin{}end", "x".repeat(8_000));
        let messages = vec![message(Role::System, "rules"), message(Role::User, &long)];
        let (fitted, cut) = fit(messages, 900);
        assert!(cut.unwrap().left_out[0].what.starts_with("the middle"));
        assert!(fitted[1].text.starts_with("begin") && fitted[1].text.ends_with("end"));
        assert!(fitted[1].text.contains("tokens were left out here]"));
    }

    proptest! {
        #[test]
        fn answers_never_lose_their_call(
            sizes in proptest::collection::vec((0..3_usize, 0..4_000_usize), 0..20),
            budget in 50..4_000_u64,
        ) {
            let mut messages = vec![message(Role::System, "rules"), message(Role::User, "täsk")];
            for (number, (kind, size)) in sizes.into_iter().enumerate() {
                match kind {
                    0 => messages.push(message(Role::User, &"ä".repeat(size))),
                    _ => messages.extend(call(u32::try_from(number).unwrap())),
                }
            }
            let (fitted, _) = fit(messages, budget);
            let mut open = None;
            for message in &fitted {
                open = message.calls.first().map(|call| call.id).or(open);
                if message.role == Role::Tool {
                    prop_assert_eq!(message.answers, open);
                }
            }
        }
    }
}
