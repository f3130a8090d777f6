//! Makes a conversation fit into a model: what is least useful is left out first, whole messages
//! at a time, and it is said what was left out.
//!
//! Never left out: the instructions, the task, and what the agent is to answer now. Must not ask a
//! model or record anything.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::{LeftOut, Message, ModelEvent, Role, ToolSpec, TurnId, UserError};
use crate::provider::{Counter, Meter, Request};

/// How much of the room is filled once something has to be left out, in per cent: not to have to
/// leave out more with every message.
const FILL: u64 = 85;

/// Bytes of a token, as few as text and code ever have on average.
const FEWEST_BYTES: u64 = 2;

/// Messages at the end that stay.
const TAIL: usize = 2;

/// A conversation that fits.
pub(super) struct Fitted {
    /// What to send.
    pub messages: Arc<[Arc<Message>]>,
    /// What was left out, if anything.
    pub trimmed: Option<Trimmed>,
}

/// What was left out of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trimmed {
    left_out: Vec<LeftOut>,
    tokens: u64,
    window: u64,
}

impl Trimmed {
    pub fn into_event(self, turn: TurnId) -> ModelEvent {
        let Self { left_out, tokens, window } = self;
        ModelEvent::Trimmed { turn, left_out, tokens, window }
    }
}

/// Messages that only make sense together: an answer with its calls and what came of them.
struct Group {
    range: std::ops::Range<usize>,
    tokens: u64,
    /// `None`: stays whatever happens.
    rank: Option<Rank>,
}

/// How useful something is; the least useful first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// A result that a newer one of the same tool replaces.
    Outdated,
    /// Words of other agents.
    OtherWords,
    /// The agent's own words, calls and their results.
    Own,
    /// The newest results of tools that others have called.
    Result,
    /// What the person or the program said.
    Person,
}

/// Leaves out what does not fit.
///
/// # Errors
/// When what must stay does not fit.
pub(super) fn fit(
    messages: &Arc<[Arc<Message>]>,
    tools: &[ToolSpec],
    meter: Option<&Meter>,
) -> Result<Fitted, UserError> {
    let whole = || Fitted { messages: Arc::clone(messages), trimmed: None };
    let Some(meter) = meter else { return Ok(whole()) };
    let room = meter.window.saturating_sub(meter.answer);
    if bytes(messages, tools) / FEWEST_BYTES <= room {
        return Ok(whole());
    }
    let counter = &meter.counter;
    let declared: u64 = tools.iter().map(|spec| counter.tool(spec)).sum();
    let mut groups = groups(messages, counter);
    let mut tokens = declared + groups.iter().map(|group| group.tokens).sum::<u64>();
    if tokens <= room {
        return Ok(whole());
    }
    let target = room * FILL / 100;
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|&at| groups.get(at).and_then(|group| group.rank));
    let mut gone = BTreeSet::new();
    for at in order {
        let Some(group) = groups.get_mut(at).filter(|group| group.rank.is_some()) else { continue };
        if tokens <= target {
            break;
        }
        tokens -= group.tokens;
        gone.insert(at);
    }
    if tokens > room {
        return Err(too_long(tokens, room, meter.window));
    }
    let left_out = gone.iter().filter_map(|&at| Some(left_out(messages, groups.get(at)?)));
    let left_out: Vec<LeftOut> = left_out.collect();
    let messages = without(messages, &groups, &gone, &left_out);
    Ok(Fitted {
        messages: messages.into(),
        trimmed: Some(Trimmed { left_out, tokens, window: meter.window }),
    })
}

/// Holds a conversation to the tokens that its agent may be given, as well as to the model's.
pub(super) fn within(most: Option<u64>, meter: Option<Meter>) -> Option<Meter> {
    let Some(most) = most else { return meter };
    let meter = meter.unwrap_or_else(unbounded);
    Some(Meter { window: meter.window.min(most.saturating_add(meter.answer)), ..meter })
}

/// A window of which nothing is known.
fn unbounded() -> Meter {
    Meter { window: u64::MAX, answer: 0, counter: Counter::unknown() }
}

/// A smaller window for a model that refused what was to fit; `None` when nothing is known.
pub(super) fn smaller(
    request: &Request,
    meter: Option<&Meter>,
    limit: Option<u64>,
) -> Option<Meter> {
    let meter = meter.cloned().unwrap_or_else(unbounded);
    let counted = |counter: &Counter| -> u64 {
        let messages = request.messages.iter().map(|message| counter.message(message));
        messages.chain(request.tools.iter().map(|spec| counter.tool(spec))).sum()
    };
    let sent = counted(&meter.counter);
    // The service counts otherwise, so its limit alone may not be enough.
    let window = limit.unwrap_or(meter.window).min(sent * 3 / 4 + meter.answer);
    (window > 0).then(|| Meter { answer: meter.answer.min(window / 4), window, ..meter })
}

fn bytes(messages: &[Arc<Message>], tools: &[ToolSpec]) -> u64 {
    let messages = messages.iter().map(|message| {
        let calls = message.calls.iter().map(|call| call.args.to_string().len());
        message.text.len() + calls.sum::<usize>() + 16
    });
    let tools = tools.iter().map(|spec| spec.description.len() + spec.schema.to_string().len());
    messages.chain(tools).sum::<usize>() as u64
}

fn groups(messages: &[Arc<Message>], counter: &Counter) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let tokens = counter.message(message);
        match groups.last_mut() {
            Some(group) if message.role == Role::Tool => {
                group.range.end = at + 1;
                group.tokens += tokens;
            }
            _ => groups.push(Group { range: at..at + 1, tokens, rank: None }),
        }
    }
    let mut has_task = false;
    let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
    let ranks: Vec<Option<Rank>> = groups
        .iter()
        .map(|group| {
            let message = messages.get(group.range.start)?;
            let is_task = message.role == Role::User && message.agent.is_none() && !has_task;
            has_task |= is_task;
            let stays = is_task || message.role == Role::System;
            (!stays).then(|| rank(message))
        })
        .collect();
    for (group, rank) in groups.iter_mut().zip(ranks) {
        group.rank = rank;
    }
    let tail = groups.len().saturating_sub(TAIL);
    for (at, group) in groups.iter_mut().enumerate().rev() {
        if at >= tail {
            group.rank = None;
        }
        let Some(message) = messages.get(group.range.start) else { continue };
        if let Some((agent, tool)) = told_result(message)
            && !seen.insert((agent, tool))
            && group.rank.is_some()
        {
            group.rank = Some(Rank::Outdated);
        }
    }
    groups
}

fn rank(message: &Message) -> Rank {
    match message.role {
        Role::Assistant | Role::Tool => Rank::Own,
        Role::User if message.agent.is_none() => Rank::Person,
        Role::User if told_result(message).is_some() => Rank::Result,
        Role::User | Role::System => Rank::OtherWords,
    }
}

/// The agent and the tool of a result that others are told of.
fn told_result(message: &Message) -> Option<(&str, &str)> {
    let agent = message.agent.as_ref().filter(|_| message.role == Role::User)?;
    let (tool, _) = message.text.strip_prefix('`')?.split_once("` answered me: ")?;
    Some((agent.as_str(), tool))
}

fn left_out(messages: &[Arc<Message>], group: &Group) -> LeftOut {
    let message = messages.get(group.range.start);
    let agent =
        message.and_then(|message| message.agent.as_ref()).map_or("", |agent| agent.as_str());
    let what = match (message.map(|message| &**message), group.rank) {
        (Some(message), _) if told_result(message).is_some() => {
            let (agent, tool) = told_result(message).unwrap_or_default();
            format!("what `{tool}` answered {agent}")
        }
        (Some(message), Some(Rank::Own)) => match message.calls.first() {
            Some(call) => format!("{agent}'s own call of `{}` and its answer", call.tool),
            None => format!("{agent}'s own words “{}”", begin(&message.text)),
        },
        (Some(message), _) if agent.is_empty() => format!("“{}”", begin(&message.text)),
        (Some(message), _) => format!("{agent}: “{}”", begin(&message.text)),
        (None, _) => String::new(),
    };
    LeftOut { what, tokens: group.tokens }
}

/// The first words of a text.
fn begin(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line.to_owned(),
    }
}

fn without(
    messages: &[Arc<Message>],
    groups: &[Group],
    gone: &BTreeSet<usize>,
    left_out: &[LeftOut],
) -> Vec<Arc<Message>> {
    let mut kept = Vec::with_capacity(messages.len() + 1);
    let first = gone.first().copied();
    for (at, group) in groups.iter().enumerate() {
        if Some(at) == first {
            let list: Vec<&str> = left_out.iter().map(|piece| piece.what.as_str()).collect();
            let text = format!(
                "(Left out here and below, because the conversation is too long for you: {}. \
                 Ask for what you need of it.)",
                list.join("; ")
            );
            let (role, calls) = (Role::User, Vec::new());
            kept.push(Arc::new(Message { role, agent: None, text, calls, answers: None }));
        }
        if !gone.contains(&at) {
            kept.extend(messages.get(group.range.clone()).into_iter().flatten().cloned());
        }
    }
    kept
}

fn too_long(tokens: u64, room: u64, window: u64) -> UserError {
    UserError::new(
        "The conversation does not fit into the model",
        format!(
            "even with all that can be spared left out it has {tokens} tokens; of its window of \
             {window}, {room} are left for it"
        ),
        "Choose a model with a larger window, say `context_window` if it has one, or raise the \
         agent's `context_tokens`.",
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::model::{CallId, ToolCall};

    fn said(role: Role, agent: Option<&str>, text: &str) -> Arc<Message> {
        let agent = agent.map(Into::into);
        Arc::new(Message { role, agent, text: text.into(), calls: vec![], answers: None })
    }

    fn called(tool: &str) -> Arc<Message> {
        let call = ToolCall { id: CallId(1), tool: tool.into(), args: json!({}) };
        let agent = Some("Me".into());
        let role = Role::Assistant;
        Arc::new(Message { role, agent, text: String::new(), calls: vec![call], answers: None })
    }

    fn result(text: &str) -> Arc<Message> {
        let (role, answers) = (Role::Tool, Some(CallId(1)));
        Arc::new(Message { role, agent: None, text: text.into(), calls: vec![], answers })
    }

    fn meter(window: u64) -> Meter {
        Meter { window, answer: 0, counter: Counter::unknown() }
    }

    fn conversation() -> Arc<[Arc<Message>]> {
        let long = "word ".repeat(700);
        Arc::from([
            said(Role::System, None, "rules"),
            said(Role::User, None, "the task"),
            said(
                Role::User,
                Some("Uploader"),
                &format!("`read_code_files` answered me: old {long}"),
            ),
            said(Role::User, Some("Coder"), &format!("I wrote {long}")),
            called("read_file"),
            result(&long),
            said(
                Role::User,
                Some("Uploader"),
                &format!("`read_code_files` answered me: new {long}"),
            ),
            said(Role::User, None, "the person's words"),
            said(Role::User, Some("Planner"), "Me : mend it"),
        ])
    }

    fn texts(fitted: &Fitted) -> Vec<String> {
        fitted.messages.iter().map(|message| message.text.chars().take(40).collect()).collect()
    }

    #[test]
    fn an_agent_may_be_given_less_than_its_model_takes() {
        let roomy = within(Some(3_700), Some(meter(100_000)));
        let unknown = within(Some(3_700), None);
        for meter in [roomy, unknown] {
            let fitted = fit(&conversation(), &[], meter.as_ref()).unwrap();
            assert!(fitted.trimmed.is_some_and(|trimmed| trimmed.tokens <= 3_700));
        }
        assert_eq!(within(Some(3_700), Some(meter(600))).map(|meter| meter.window), Some(600));
        assert!(within(None, None).is_none());
    }

    proptest! {
        #[test]
        fn a_call_and_its_results_stay_or_go_together(
            pieces in proptest::collection::vec((0..3_usize, 0..4_000_usize), 0..20),
            window in 50..4_000_u64,
        ) {
            let mut all = vec![said(Role::System, None, "rules"), said(Role::User, None, "task")];
            for (number, (kind, size)) in (1_u32..).zip(pieces) {
                let text = "ä".repeat(size);
                if kind == 0 {
                    all.push(said(Role::User, Some("Other"), &text));
                    continue;
                }
                let mut asked = Message::clone(&called("read_file"));
                let mut told = Message::clone(&result(&text));
                asked.calls[0].id = CallId(number);
                told.answers = Some(CallId(number));
                all.extend([Arc::new(asked), Arc::new(told)]);
            }
            let all: Arc<[_]> = all.into();
            let Ok(fitted) = fit(&all, &[], Some(&meter(window))) else { return Ok(()) };
            let mut open = None;
            for message in fitted.messages.iter() {
                open = message.calls.first().map(|call| call.id).or(open);
                if message.role == Role::Tool {
                    prop_assert_eq!(message.answers, open);
                }
            }
            prop_assert_eq!(&fitted.messages[..2], &all[..2]);
        }
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        let all = conversation();
        let fitted = fit(&all, &[], Some(&meter(100_000))).unwrap();
        assert_eq!((fitted.messages, fitted.trimmed), (all.clone(), None));
        assert_eq!(fit(&all, &[], None).unwrap().messages, all);
    }

    #[test]
    fn what_is_outdated_goes_first_and_is_named() {
        let all = conversation();
        let fitted = fit(&all, &[], Some(&meter(3_700))).unwrap();
        let trimmed = fitted.trimmed.clone().unwrap();
        assert_eq!(trimmed.left_out.len(), 1);
        assert_eq!(trimmed.left_out[0].what, "what `read_code_files` answered Uploader");
        assert!(trimmed.tokens <= 3_700 && trimmed.left_out[0].tokens > 900);
        let texts = texts(&fitted);
        assert_eq!(texts.len(), all.len(), "one gone, one note");
        assert!(texts[2].starts_with("(Left out here"), "{texts:?}");
        assert!(texts[6].contains("answered me: n"), "{texts:?}");
    }

    #[test]
    fn calls_and_their_results_go_together_and_the_task_never() {
        let fitted = fit(&conversation(), &[], Some(&meter(600))).unwrap();
        let roles: Vec<Role> = fitted.messages.iter().map(|message| message.role).collect();
        assert!(!roles.contains(&Role::Tool) && !roles.contains(&Role::Assistant), "{roles:?}");
        let texts = texts(&fitted);
        for stays in ["rules", "the task", "the person's words", "Me : mend it"] {
            assert!(texts.iter().any(|text| text == stays), "{stays} in {texts:?}");
        }
    }

    #[test]
    fn what_must_stay_and_does_not_fit_is_an_error_and_nothing_is_split() {
        let mut all = conversation().to_vec();
        all.push(said(Role::User, Some("Planner"), &"x".repeat(40_000)));
        let error = fit(&all.into(), &[], Some(&meter(3_000))).err().unwrap();
        assert!(error.why.contains("3000"), "{error:?}");
    }

    #[test]
    fn a_refusal_makes_the_window_smaller_each_time() {
        let request = Request {
            agent: "Me".into(),
            phase: "p".into(),
            attempt: 1,
            messages: conversation(),
            tools: Arc::from([]),
            options: crate::provider::ModelOptions::default(),
            form: None,
            state: None,
        };
        let first = smaller(&request, None, None).unwrap();
        assert!(first.window < 4_000, "{}", first.window);
        assert!(fit(&request.messages, &[], Some(&first)).unwrap().trimmed.is_some());
        assert_eq!(smaller(&request, None, Some(900)).unwrap().window, 900);
    }
}
