//! Compares what was printed while a session ran with its journal, and with a replay of it.

use std::collections::BTreeSet;

use firmhand::model::{ProposalId, Record};

use super::check::Told;

/// Beginnings of the lines that a session at a terminal and its replay have in common.
const TOLD: [&str; 9] = [
    "  #",
    "  saved ",
    "  changed ",
    "  deleted ",
    "  calls ",
    "phase ",
    "Step ",
    "Done.",
    "completed",
];

/// Every whole line that was printed live is the record that the journal holds.
pub fn records(printed: &str, records: &[Record], faults: &mut Vec<String>) {
    for line in whole_lines(printed).filter(|line| line.starts_with("{\"v\":")) {
        let Ok(live) = serde_json::from_str::<Record>(line) else {
            faults.push("a line that was printed live is no record".to_owned());
            return;
        };
        let kept = records.binary_search_by_key(&live.seq, |record| record.seq);
        if kept.ok().and_then(|at| records.get(at)) != Some(&live) {
            faults.push("a record was printed live that the journal does not hold".to_owned());
            return;
        }
    }
}

/// What was told line by line is told by the replay too, in the same order.
pub fn lines(printed: &str, replayed: &str, faults: &mut Vec<String>) {
    let mut later = replayed.lines();
    let told = |line: &&str| TOLD.iter().any(|begin| line.starts_with(begin));
    for line in whole_lines(printed).filter(told) {
        if !later.any(|replayed| replayed == line) {
            faults.push(format!("it was told live, and a replay does not tell it: {line}"));
            return;
        }
    }
}

/// A replay tells of the proposals and decisions that the journal holds, and of no others.
pub fn folded(told: &Told, replayed: &str, faults: &mut Vec<String>) {
    let about = |words: &[&str]| -> BTreeSet<ProposalId> {
        let lines = replayed.lines().filter(|line| words.iter().any(|word| line.contains(word)));
        let number = |line: &str| {
            let digits: String =
                line.strip_prefix("  #")?.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().ok().map(ProposalId)
        };
        lines.filter_map(number).collect()
    };
    let made = about(&[" proposed by "]);
    if made != told.made() {
        faults.push(format!("a replay tells of other proposals: {made:?} for {:?}", told.made()));
    }
    let decided = about(&[" by the person"]);
    if decided != told.by_person() {
        let kept = told.by_person();
        faults.push(format!("a replay tells of other decisions: {decided:?} for {kept:?}"));
    }
    let is_over = replayed.lines().any(|line| line.starts_with("  time: "));
    if is_over != told.ended.is_some() {
        faults.push(format!("a replay tells that it is over: {is_over}"));
    }
}

/// The last line may have been cut off.
fn whole_lines(printed: &str) -> impl Iterator<Item = &str> {
    printed.rsplit_once('\n').map_or("", |(whole, _)| whole).lines()
}
