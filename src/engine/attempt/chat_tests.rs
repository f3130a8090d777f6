//! Tests of what agents are given of a chat: whose words, what is cut, what is summarised.

use serde_json::json;

use super::*;
use crate::model::Usage;

#[test]
fn a_very_long_chat_loses_its_oldest_answers_and_no_answer_of_a_tool_loses_its_call() {
    let mut chat = Chat::default();
    let a = AgentName::from("A");
    chat.tell(None, "the task".into());
    let size = 1 << 20;
    for number in 1..=100 {
        let args = json!({ "code": "x".repeat(size) });
        let call = ToolCall { id: CallId(number), tool: "read_file".into(), args };
        chat.add_answer((TurnId(1), &a), "", vec![call], Audience::ByAll);
        if number == 50 {
            chat.tell(None, "the person's words".into());
        }
        chat.answered(
            (TurnId(1), &a),
            CallId(number),
            &"read_file".into(),
            json!({ "ok": true }).to_string(),
        );
    }
    let kept = chat.messages(&a, &system("rules".into()), Vec::new());
    let texts: Vec<&str> = kept.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(texts[1], "the task");
    assert_eq!(texts[2], "An older part of this conversation was left out here.");
    assert_eq!(texts.iter().filter(|text| text.starts_with("An older")).count(), 1);
    assert!(texts.contains(&"the person's words"));
    let called: Vec<CallId> = kept.iter().flat_map(|it| &it.calls).map(|it| it.id).collect();
    let answered: Vec<CallId> = kept.iter().filter_map(|it| it.answers).collect();
    assert_eq!(called, answered);
    assert_eq!(called.last(), Some(&CallId(100)));
    assert!((16..33).contains(&called.len()), "{}", called.len());
    assert!(chat.bytes <= MOST_BYTES);
}

#[test]
fn an_agent_sees_its_own_calls_and_the_others_see_what_came_of_them() {
    let mut chat = Chat::default();
    let (a, b) = (AgentName::from("A"), AgentName::from("B"));
    chat.tell(None, "the task".into());
    let call = ToolCall { id: CallId(1), tool: "build_project".into(), args: json!({}) };
    chat.add_answer((TurnId(1), &a), "", vec![call], Audience::ByAll);
    let passed = json!({ "ok": true }).to_string();
    chat.answered((TurnId(1), &a), CallId(1), &"build_project".into(), passed);
    chat.tell(Some(b.clone()), "only for B".into());
    let rules = system("rules".into());
    let for_a = chat.messages(&a, &rules, Vec::new());
    let roles: Vec<MessageRole> = for_a.iter().map(|m| m.role).collect();
    assert_eq!(
        roles,
        [MessageRole::System, MessageRole::User, MessageRole::Assistant, MessageRole::Tool]
    );
    assert_eq!(for_a[3].answers, Some(CallId(1)));
    let for_b = chat.messages(&b, &rules, Vec::new());
    assert_eq!(for_b.len(), 4);
    assert_eq!(for_b[2].agent, Some(a));
    assert!(for_b[2].text.contains(r#"{"ok":true}"#));
    assert_eq!(for_b[3].text, "only for B");
}
/// A chat of so many answers of A, each with a call and what came of it.
fn of_answers(answers: u32) -> Chat {
    let mut chat = Chat::default();
    let a = AgentName::from("A");
    chat.tell(None, "the task".into());
    for number in 1..=answers {
        let args = json!({ "path": format!("f{number}.c") });
        let call = ToolCall { id: CallId(number), tool: "read_file".into(), args };
        let words = format!("I read file {number}.");
        chat.add_answer((TurnId(number / 4), &a), &words, vec![call], Audience::ByAll);
        let result = json!({ "text": "x".repeat(100) }).to_string();
        let tool = ToolName::from("read_file");
        chat.answered((TurnId(number / 4), &a), CallId(number), &tool, result);
    }
    chat
}

#[test]
fn a_summary_takes_the_place_of_whole_answers_and_the_next_one_that_of_the_summary() {
    let (a, b) = (AgentName::from("A"), AgentName::from("B"));
    let mut chat = of_answers(10);
    chat.report(TurnId(2), Some(b.clone()), "only for B".into());
    chat.tell(None, "the person's words".into());
    let rules = system("rules".into());
    let mut lengths = Vec::new();
    for round in 1..=2 {
        let count = |message: &Message| message.text.len() as u64;
        let older = chat.older_part((TurnId(9), &a), 400, count);
        assert!(older.messages[round - 1].starts_with("A: I read file"), "{older:?}");
        let all: u32 = older.turns.iter().map(|turn| turn.messages).sum();
        assert_eq!(all as usize + round - 1, older.messages.len());
        assert!(all > 0 && all.is_multiple_of(2), "an answer goes with what its tools said");
        chat.summarised(&ChatSummary {
            turn: TurnId(9),
            replaces: older.turns,
            tokens: older.tokens,
            text: format!("summary {round}"),
            usage: Usage::default(),
            failed: None,
        });
        let kept = chat.messages(&a, &rules, Vec::new());
        let answers = kept.iter().filter_map(|it| it.answers).collect::<Vec<_>>();
        let calls = kept.iter().flat_map(|it| &it.calls).map(|it| it.id).collect::<Vec<_>>();
        assert_eq!(calls, answers);
        let texts: Vec<&str> = kept.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts[1], "the task");
        assert!(texts[2].ends_with(&format!("summary {round}")), "{texts:?}");
        assert_eq!(texts.iter().filter(|text| text.contains("summary ")).count(), 1);
        assert!(texts.contains(&"the person's words"));
        assert_eq!(chat.bytes, chat.lines.iter().map(ChatLine::bytes).sum::<usize>());
        lengths.push(texts.len());
        let more = of_answers(9);
        chat.lines.extend(more.lines.into_iter().skip(1));
        chat.bytes = chat.lines.iter().map(ChatLine::bytes).sum();
    }
    assert_eq!(lengths[0], lengths[1], "{lengths:?}");
    let for_b = chat.messages(&b, &rules, Vec::new());
    assert!(for_b.iter().any(|message| message.text == "only for B"));
}

#[test]
fn a_summary_that_failed_is_not_tried_again_in_its_turn_and_replaces_nothing() {
    let mut chat = of_answers(6);
    let before = chat.lines.clone();
    let failed = Some(crate::model::UserError::new("no", "no", "no"));
    let (turn, usage, a) = (TurnId(1), Usage::default(), AgentName::from("A"));
    let replaces = vec![SummarisedTurn { turn, messages: 4 }];
    chat.summarised(&ChatSummary { turn, replaces, tokens: 9, text: String::new(), usage, failed });
    assert_eq!(chat.lines, before);
    let count = |_: &Message| 100;
    assert_eq!(chat.older_part((turn, &a), 300, count), OlderPart::default());
    assert!(!chat.older_part((TurnId(2), &a), 300, count).turns.is_empty());
    let short = of_answers(1).older_part((turn, &a), 0, count);
    assert_eq!(short, OlderPart::default(), "the newest answer stays, however long it is");
}
