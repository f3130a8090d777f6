//! Numbers like `[2]` in an answer that name the sources its turn was given.
//!
//! Owns what counts as such a number. Must not know how a source is opened.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::view::{CallState, TurnView};

use super::row::FoldItem;

/// Numbers in brackets, one or several: `[2]`, `[1, 3]`.
static NUMBERS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]").ok());

/// The sources that a turn was given, by their numbers; of two with one number the newer counts.
pub(super) fn given(turn: &TurnView) -> BTreeMap<u64, FoldItem> {
    let mut given = BTreeMap::new();
    for call in turn.calls() {
        let CallState::Done { result, .. } = &call.state else { continue };
        let chunks = result.get("chunks").and_then(Value::as_array).into_iter().flatten();
        given.extend(chunks.enumerate().filter_map(|(place, chunk)| {
            let number = chunk.get("number").and_then(Value::as_u64)?;
            Some((number, FoldItem::Cited(call.call, place)))
        }));
    }
    given
}

/// The sources that a row of text cites, as they come.
pub(super) fn in_row(text: &str, given: &BTreeMap<u64, FoldItem>) -> Vec<FoldItem> {
    let Some(numbers) = NUMBERS.as_ref() else { return Vec::new() };
    let lists = numbers.captures_iter(text).filter_map(|found| found.get(1));
    let cited = lists.flat_map(|list| list.as_str().split([',', ';']));
    cited.filter_map(|number| given.get(&number.trim().parse().ok()?).copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CallId;

    #[test]
    fn only_numbers_of_sources_that_were_given_are_citations() {
        let cited = |place| FoldItem::Cited(CallId(4), place);
        let given = BTreeMap::from([(1, cited(0)), (3, cited(1))]);
        let found = |text| in_row(text, &given);
        assert_eq!(found("Probe each address [1]. See [3, 1; 7]."), [cited(0), cited(1), cited(0)]);
        assert_eq!(found("buf[2] and [x] and [12345] and 1]"), []);
        assert_eq!(in_row("[1]", &BTreeMap::new()), []);
    }
}
