//! Tests of what is left out of a conversation, and of what never is.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::model::{CallId, ToolCall};

fn message(role: MessageRole, agent: Option<&str>, text: &str) -> Arc<Message> {
    let agent = agent.map(Into::into);
    Arc::new(Message { role, agent, text: text.into(), calls: vec![], answers: None })
}

fn called(tool: &str) -> Arc<Message> {
    let call = ToolCall { id: CallId(1), tool: tool.into(), args: json!({}) };
    let agent = Some("Me".into());
    let role = MessageRole::Assistant;
    Arc::new(Message { role, agent, text: String::new(), calls: vec![call], answers: None })
}

fn result(text: &str) -> Arc<Message> {
    let (role, answers) = (MessageRole::Tool, Some(CallId(1)));
    Arc::new(Message { role, agent: None, text: text.into(), calls: vec![], answers })
}

fn meter(window: u64) -> Meter {
    Meter { window, answer: 0, counter: TokenCounter::unknown() }
}

fn conversation() -> Arc<[Arc<Message>]> {
    let long = "word ".repeat(700);
    Arc::from([
        message(MessageRole::System, None, "rules"),
        message(MessageRole::User, None, "the task"),
        message(
            MessageRole::User,
            Some("Uploader"),
            &format!("`read_code_files` answered me: old {long}"),
        ),
        message(MessageRole::User, Some("Coder"), &format!("I wrote {long}")),
        called("read_file"),
        result(&long),
        message(
            MessageRole::User,
            Some("Uploader"),
            &format!("`read_code_files` answered me: new {long}"),
        ),
        message(MessageRole::User, None, "the person's words"),
        message(MessageRole::User, Some("Planner"), "Me : mend it"),
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
        let mut all = vec![message(MessageRole::System, None, "rules"), message(MessageRole::User, None, "task")];
        for (number, (kind, size)) in (1_u32..).zip(pieces) {
            let text = "ä".repeat(size);
            if kind == 0 {
                all.push(message(MessageRole::User, Some("Other"), &text));
                continue;
            }
            let mut asked = Message::clone(&called("read_file"));
            let mut result_message = Message::clone(&result(&text));
            asked.calls[0].id = CallId(number);
            result_message.answers = Some(CallId(number));
            all.extend([Arc::new(asked), Arc::new(result_message)]);
        }
        let all: Arc<[_]> = all.into();
        let Ok(fitted) = fit(&all, &[], Some(&meter(window))) else { return Ok(()) };
        let mut open = None;
        for message in fitted.messages.iter() {
            open = message.calls.first().map(|call| call.id).or(open);
            if message.role == MessageRole::Tool {
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
    let roles: Vec<MessageRole> = fitted.messages.iter().map(|message| message.role).collect();
    assert!(
        !roles.contains(&MessageRole::Tool) && !roles.contains(&MessageRole::Assistant),
        "{roles:?}"
    );
    let texts = texts(&fitted);
    for stays in ["rules", "the task", "the person's words", "Me : mend it"] {
        assert!(texts.iter().any(|text| text == stays), "{stays} in {texts:?}");
    }
}

#[test]
fn what_must_stay_and_does_not_fit_is_an_error_and_nothing_is_split() {
    let mut all = conversation().to_vec();
    all.push(message(MessageRole::User, Some("Planner"), &"x".repeat(40_000)));
    let error = fit(&all.into(), &[], Some(&meter(3_000))).err().unwrap();
    assert!(error.why.contains("3000"), "{error:?}");
}

#[test]
fn a_refusal_makes_the_window_smaller_each_time() {
    let request = Request {
        agent: "Me".into(),
        phase: "p".into(),
        attempt: 1,
        step: None,
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
