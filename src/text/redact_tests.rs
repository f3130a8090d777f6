//! Secrets do not get through, however they are written and wherever a text is cut.

use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use serde_json::json;

use super::*;

const KEY: &str = "sk-fh-TOPSECRET-4711/+\"\\x";

fn redactor() -> Redactor {
    Redactor::new([KEY, "hunter2-hunter3", "sk-fh-TOP", "aaab"])
}

/// What comes out when the pieces are pushed one after the other.
fn streamed(redactor: &Redactor, pieces: &[&str]) -> String {
    let mut stream = Pieces::default();
    let mut out: String = pieces.iter().map(|piece| stream.push(redactor, piece)).collect();
    out.push_str(&stream.end(redactor));
    out
}

#[test]
fn a_secret_is_found_in_every_form_in_which_others_repeat_it() {
    let redactor = redactor();
    let hex: String = KEY.bytes().map(|byte| format!("{byte:02x}")).collect();
    let quoted = json!({ "key": KEY }).to_string();
    let mut texts = vec![KEY.to_owned(), quoted.clone(), json!(quoted).to_string(), hex];
    texts.push("sk%2Dfh%2DTOPSECRET%2D4711%2F%2B%22%5Cx".to_owned());
    texts.push("sk-fh-TOPSECRET-4711%2F%2B%22%5Cx".to_owned());
    for before in ["", "a", "ab", "abc", "user:"] {
        for after in ["", "\n", "12"] {
            texts.push(STANDARD.encode(format!("{before}{KEY}{after}")));
            texts.push(URL_SAFE_NO_PAD.encode(format!("{before}{KEY}{after}")));
        }
    }
    for text in texts {
        let clean = redactor.clean(&text);
        assert!(clean.contains(REMOVED) && redactor.finds(text.as_bytes()), "{text}: {clean}");
        assert!(clean.len() < text.len() && !clean.contains("TOPSECRET"), "{text}: {clean}");
    }
    assert_eq!(redactor.clean("nothing of it"), "nothing of it");
    assert_eq!(Redactor::default().clean(KEY), KEY);
}

#[test]
fn json_is_cleaned_in_texts_names_and_escapes() {
    let redactor = redactor();
    let mut value = json!({ "hunter2-hunter3": [1, { "a": "x hunter2-hunter3" }], "b": null });
    assert!(redactor.clean_value(&mut value));
    assert_eq!(value, json!({ "•••": [1, { "a": "x •••" }], "b": null }));
    assert!(!redactor.clean_value(&mut value));
    assert_eq!(redactor.clean_json(r#"{"a":"\u0068unter2-hunter3"}"#), r#"{"a":"•••"}"#);
    assert_eq!(redactor.clean_json(r#"{"a":"\u0068unter"}"#), r#"{"a":"\u0068unter"}"#);
    assert_eq!(redactor.clean_json(r#"{"a": hunter2-hunter3"#), r#"{"a": •••"#);
}

#[test]
fn pieces_are_passed_on_as_soon_as_they_can_be_no_secret() {
    let redactor = redactor();
    let mut stream = Pieces::default();
    assert_eq!(stream.push(&redactor, "My key is h"), "My key is ");
    assert_eq!(stream.push(&redactor, "unt"), "");
    assert_eq!(stream.push(&redactor, "ing"), "hunting");
    assert_eq!(stream.push(&redactor, " hunter2-"), " ");
    assert_eq!(stream.push(&redactor, "hunter3!"), "•••!");
    assert_eq!(stream.push(&redactor, "hunter2"), "");
    assert_eq!(stream.end(&redactor), "hunter2");
    // The short one may still become the long one.
    assert_eq!(stream.push(&redactor, "sk-fh-TOP"), "");
    assert_eq!(stream.push(&redactor, "SECRET-4711/+\"\\x"), "•••");
    assert_eq!(stream.push(&redactor, "sk-fh-TOP"), "");
    assert_eq!(stream.push(&redactor, "LESS"), "•••LESS");
    stream.push(&redactor, "hunter2");
    stream.forget();
    assert_eq!(stream.end(&redactor), "");
}

proptest! {
    #[test]
    fn where_a_text_is_cut_makes_no_difference(
        parts in prop::collection::vec(prop_oneof![
            Just(KEY.to_owned()), Just("hunter2-hunter3".to_owned()), Just("sk-fh-TOP".to_owned()),
            "[a-b ]{0,6}", "(hunt|hunter2-|sk-fh-|sk-fh-TOPSEC|ä|🦀)",
        ], 0..12),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..10),
    ) {
        let redactor = redactor();
        let text = parts.concat();
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        places.retain(|at| text.is_char_boundary(*at));
        places.extend([0, text.len()]);
        places.sort_unstable();
        let pieces: Vec<&str> = places.windows(2).map(|at| &text[at[0]..at[1]]).collect();
        prop_assert_eq!(streamed(&redactor, &pieces), redactor.clean(&text));
    }
}
