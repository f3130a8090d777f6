//! Tests of taking answers out of prose, and of what is said when there is none.

use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn each_step_takes_its_own_kind_of_answer() {
    let files = json!([{ "file_name": "main/a.c", "code": "int a[] = {1};\n" }]);
    for text in [
        r#"[{"file_name":"main/a.c","code":"int a[] = {1};\n"}]"#.to_owned(),
        format!("Here it is:\n```json\n{files:#}\n```\nDone, see [1]."),
        format!("```c\nint x[] = {{1}};\n```\nand\n~~~\n{files}\n~~~"),
        format!("Here: {files} as asked"),
        format!("In [1] and {{this}} I found: {files} - see `a[0]`."),
        format!("````toon\n{files}\n````"),
        format!("```json\n{files}"),
    ] {
        assert_eq!(structured(&text).as_ref(), Ok(&files), "{text}");
    }
}

#[test]
fn a_list_of_one_is_not_taken_for_its_element() {
    assert_eq!(structured("x [{\"a\": 1}] y"), Ok(json!([{ "a": 1 }])));
    assert_eq!(structured("[1]: {\"a\": [1]}."), Ok(json!({ "a": [1] })));
}

#[test]
fn half_an_answer_is_an_error_that_says_where_it_is_open() {
    let error = structured("Files:\n[{\"a\": 1}, {\"b\":").unwrap_err().to_string();
    assert_eq!(
        error,
        "the JSON value that begins at line 2, column 1 is cut off: the `{` at line 2, column \
         12 is never closed; give the whole value again, closed"
    );
    let error = structured("{\"a\": [1], \"b\": \"int").unwrap_err().to_string();
    assert!(error.contains("within the string that begins at line 1, column 17"), "{error}");
}

#[test]
fn a_malformed_value_is_reported_with_place_cause_and_what_stands_there() {
    let error = structured("ä\n[{\"a\": 1,},\n {\"b\": 2}]").unwrap_err().to_string();
    assert_eq!(
        error,
        "the JSON value that begins at line 2, column 1 is wrong at line 2, column 10: \
         trailing comma; remove the comma before the closing bracket, near `ä\\n[{\"a\": 1,},\\n \
         {\"b\": 2}`"
    );
    let error = structured("{\"code\": \"a\nb\"}").unwrap_err().to_string();
    assert!(error.contains("a line break is written `\\n`"), "{error}");
}

#[test]
fn prose_alone_is_an_error_that_quotes_it() {
    assert_eq!(structured(" \n"), Err(RecoverError::Empty));
    let error = structured("I could not { do } that.").unwrap_err().to_string();
    assert!(error.ends_with("begins with `I could not { do } that.`"), "{error}");
    let long = "I could not do what you asked me for, because there is no board.";
    let error = structured(long).unwrap_err().to_string();
    assert!(error.ends_with("begins with `I could not do what you asked me for,…`"), "{error}");
}

#[test]
fn many_open_brackets_cost_no_more_than_a_look() {
    for bracket in ["[", "{", "{\"", "[ ", "{ x"] {
        assert!(structured(&bracket.repeat(200_000)).is_err());
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[ -~äß\n\t`{}\\[\\]\"]{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec(("[a-z\"`]{0,6}", inner), 0..5)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn pending_list(value: &Value, is_pretty: bool) -> String {
    if is_pretty { format!("{value:#}") } else { value.to_string() }
}

proptest! {
    #[test]
    fn any_value_comes_out_of_a_fence(
        value in any_json(),
        is_pretty: bool,
        name in prop_oneof![
            Just(""), Just("json"), Just("c"), Just("python"), Just("reverty"), Just("toon"),
        ],
        before in "[A-Za-z ,.:{}\\[\\]\"\n]{0,40}",
        after in "[A-Za-z ,.:{}\\[\\]\"\n]{0,40}",
    ) {
        let json = pending_list(&value, is_pretty);
        let text = format!("{before}\n```{name}\n{json}\n```\n{after}");
        prop_assert_eq!(structured(&text), Ok(value));
    }

    #[test]
    fn any_object_or_list_comes_out_of_prose(
        value in any_json().prop_filter("a bare word is prose", |v| v.is_object() || v.is_array()),
        is_pretty: bool,
        before in "[A-Za-z ,.:\"\n-]{0,40}",
        after in "[A-Za-z ,.:\"\n-]{0,40}",
    ) {
        let text = format!("{before}{}{after}", pending_list(&value, is_pretty));
        // Within quotes it is a piece of text, and an answer as a whole.
        let whole = serde_json::from_str::<Value>(&text);
        prop_assume!(!whole.is_ok_and(|whole| whole.is_string()));
        prop_assert_eq!(structured(&text), Ok(value));
    }

    #[test]
    fn no_text_does_harm(text in any::<String>()) {
        let _ = structured(&text);
    }

    #[test]
    fn no_text_of_brackets_does_harm(text in "[\\[\\]{}\",:0tfn\\\\ \n`ä-]{0,60}") {
        if let Err(error) = structured(&text) {
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn a_cut_off_answer_is_never_taken_for_its_beginning(
        values in prop::collection::vec(any_json(), 2..4), cut in 1_usize..200,
    ) {
        let json = Value::from(values).to_string();
        let cut = json.floor_char_boundary(cut.min(json.len() - 1));
        prop_assume!(cut > 0);
        prop_assert!(structured(&json[..cut]).is_err());
    }
}

#[test]
fn a_block_of_toon_is_read_and_half_a_one_is_told_with_its_cause() {
    let whole = "Here:\n```toon\ncomplexity: 4\ngoals[2]: add,list\n```\nDone.";
    assert_eq!(structured(whole).unwrap(), json!({ "complexity": 4, "goals": ["add", "list"] }));
    assert_eq!(
        structured("```TOON\n{\"complexity\": 4}\n```").unwrap(),
        json!({ "complexity": 4 })
    );
    let half = structured("```toon\ntests[3]{name,line}:\n  a,1\n  b,2\n```").unwrap_err();
    assert!(half.to_string().starts_with("the TOON block is wrong: "), "{half}");
    assert!(half.to_string().contains('3'), "{half}");
}
