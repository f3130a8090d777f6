//! Whether an answer that is to rest on passages of the documentation names the ones it was given.
//!
//! Must not judge what an answer says.

use crate::engine::team::Phase;
use crate::model::UserError;
use crate::text::citations::{citations, without_code};
use crate::tools::PhaseGoal;

use super::open_turn::OpenTurn;

/// Most numbers that are listed.
const MOST_LISTED: usize = 6;

/// How an answer says that the documentation does not help.
const NOTHING_FOUND: [&str; 2] = ["nothing was found", "nothing found"];

/// What the person is told at the end of a turn, if the program searched for it and its answer is all
/// that its phase wants.
pub(in crate::engine) fn remark(turn: &OpenTurn, phase: &Phase) -> Option<UserError> {
    let looks_up = phase.work.get(&turn.agent).is_some_and(|work| work.look_up.is_some());
    let is_answer = looks_up && phase.goal == PhaseGoal::Answered;
    is_answer.then(|| of_text(&turn.text, turn.work.passages)).flatten()
}

/// What is to be said of an answer that was given so many passages.
fn of_text(answer: &str, passages: usize) -> Option<UserError> {
    let mut unknown: Vec<String> = Vec::new();
    let cited = citations(&without_code(answer));
    for citation in &cited {
        let is_known = (1..=passages as u64).contains(&citation.number);
        let words = format!("[{}]", citation.number);
        if !is_known && !unknown.contains(&words) {
            unknown.push(words);
        }
    }
    let given = match passages {
        0 => "nothing was found for it".to_owned(),
        1 => "it was given passage 1 only".to_owned(),
        count => format!("it was given passages 1 to {count}"),
    };
    if !unknown.is_empty() {
        let more = unknown.len().saturating_sub(MOST_LISTED);
        unknown.truncate(MOST_LISTED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let what =
            format!("The answer names sources that do not exist: {}{more}", unknown.join(" "));
        return Some(UserError::new(what, given, "Do not rely on what they stand for."));
    }
    let lower = answer.to_lowercase();
    let says_so = NOTHING_FOUND.iter().any(|words| lower.contains(words));
    let is_silent = cited.is_empty() && passages > 0 && !answer.trim().is_empty() && !says_so;
    is_silent.then(|| {
        let what = "The answer names no source";
        UserError::new(what, given, "It may not come from the documentation: check it.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(answer: &str, passages: usize) -> String {
        of_text(answer, passages)
            .map_or_else(String::new, |notice| format!("{}; {}", notice.what, notice.why))
    }

    #[test]
    fn invented_and_missing_sources_are_told() {
        assert_eq!(
            reported("In passage [9], see also [12], [0] and [1]; again [9].", 5),
            "The answer names sources that do not exist: [9] [12] [0]; it was given passages 1 to 5"
        );
        assert_eq!(
            reported("So it is [Source 1].", 0),
            "The answer names sources that do not exist: [1]; nothing was found for it"
        );
        assert_eq!(
            reported("```c\nint a[1] = {0};\n```\nis all.", 5),
            "The answer names no source; it was given passages 1 to 5"
        );
        assert!(reported("[1-9] [10]", 1).contains("[2] [3] [4] [5] [6] [7] and 3 more"));
    }

    #[test]
    fn an_answer_that_names_its_sources_or_says_there_is_nothing_is_left_alone() {
        for answer in ["Use [1] and 【5】.", "It is [2-4], as `b[9]`.", "Nothing was found.", ""]
        {
            assert_eq!(reported(answer, 5), "", "{answer}");
        }
        assert_eq!(reported("Nobody knows.", 0), "");
    }
}
