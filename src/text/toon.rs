//! JSON values in TOON, a notation that takes fewer tokens in front of a model.
//!
//! Owns the one place where the crate is called. Must not decide who is given which notation.

use serde_json::Value;

/// Longest text that is read, in bytes.
const MOST_BYTES: usize = 4 << 20;

/// A value in TOON; `None` for one that TOON cannot hold without a loss, such as one nested deeper
/// than 256 levels.
#[must_use]
pub fn encode(value: &Value) -> Option<String> {
    let text = toon_format::encode_default(value).ok()?;
    // What does not come back as it was is not used.
    (decode(&text).ok().as_ref() == Some(value)).then_some(text)
}

/// The value of a text in TOON.
///
/// # Errors
/// What is wrong with it, in words for whoever wrote it.
pub fn decode(text: &str) -> Result<Value, String> {
    if text.len() > MOST_BYTES {
        return Err(format!("it is longer than {} MiB", MOST_BYTES >> 20));
    }
    toon_format::decode_strict(text).map_err(|error| error.to_string().trim().to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_table_of_alike_objects_names_its_fields_once() {
        let hikes = json!({ "hikes": [
            { "id": 1, "name": "Blue Lake", "km": 7.5, "sunny": true },
            { "id": 2, "name": "Ridge, north", "km": 9.25, "sunny": false },
        ] });
        let text = encode(&hikes).unwrap();
        assert!(text.starts_with("hikes[2]{id,name,km,sunny}:\n  1,Blue Lake,7.5,true"), "{text}");
        assert_eq!(decode(&text).unwrap(), hikes);
        assert!(text.len() < hikes.to_string().len());
    }

    #[test]
    fn half_a_table_is_refused_with_what_is_missing() {
        let error = decode("tests[3]{name,line}:\n  a,1\n  b,2").unwrap_err();
        assert!(error.contains('3') && error.contains('2'), "{error}");
    }

    fn values() -> impl Strategy<Value = Value> {
        let text = prop_oneof!["[ -~]{0,12}", "\\PC{0,8}", "[-0-9.eE:,\"\\\\\\[\\]{} \n\t]{0,10}"];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (-1e9..1e9f64).prop_map(Value::from),
            text.prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec(("[ -~]{0,8}", inner), 0..5)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_encoded_comes_back_as_it_was(value in values()) {
            if let Some(text) = encode(&value) {
                prop_assert_eq!(decode(&text).unwrap(), value);
            }
        }

        #[test]
        fn any_text_is_read_without_harm(text in "\\PC{0,60}|[a-z\\[\\]{}:,\\-0-9 \n]{0,60}") {
            let _ = decode(&text);
        }
    }
}
