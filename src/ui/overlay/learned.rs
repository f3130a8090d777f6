//! What a team laid out, as tables: the values of its learned policy as a heat map, and its blackboard.
//!
//! Owns the words and shades. Reads the session as the screen knows it, so that a replay shows what
//! was so at that moment.

use super::Overlay;
use super::details::Details;
use crate::model::policy::{grouped, state_words};
use crate::model::{AgentName, Artifact, PolicyRow, PolicyTable, PolicyValue, Timestamp};
use crate::text::sanitize;
use crate::ui::role::Role;
use crate::view::{PolicyView, TeamView};

/// Columns of a state, and of an agent.
const STATE: usize = 26;
const AGENT: usize = 14;

/// The narrowest column of an agent: its value with its shade and mark.
const NARROW: usize = 11;

/// Agents from which on columns are narrow, so that a screen of 80 columns has all of them.
const MANY: usize = 4;

/// The learned policy; `None` while none chooses.
#[must_use]
pub fn policy_overlay(team: &TeamView) -> Option<Overlay> {
    let policy = team.policy.as_ref()?;
    Some(Overlay::Details(Details::table("Who speaks next, learned", policy_rows(policy))))
}

/// The blackboard; `None` while there is nothing on it.
#[must_use]
pub fn blackboard_overlay(team: &TeamView) -> Option<Overlay> {
    let rows = blackboard_rows(&team.blackboard);
    (!rows.is_empty()).then(|| Overlay::Details(Details::table("Blackboard", rows)))
}

fn policy_rows(policy: &PolicyView) -> Vec<(String, Role)> {
    let table = &policy.table;
    let mut rows = vec![(
        format!(
            "table {} · {} simulated tasks · {} sessions",
            clean(&table.hash),
            grouped(table.episodes),
            table.sessions
        ),
        Role::Dim,
    )];
    let chosen = policy.choice.as_ref();
    if let Some((agent, choice)) = chosen {
        let class = choice.class.as_ref().map_or_else(String::new, |class| format!(" ({class})"));
        let words = state_words(&choice.state);
        let text = format!("now {words} (`{}`){class}: {agent} speaks", choice.state);
        rows.push((clean(&text), Role::Text));
        let words = choice.values.iter().map(|value| format!("  {}", clean(&value.words())));
        rows.extend(words.map(|words| (words, Role::Text)));
    }
    rows.push((String::new(), Role::Dim));
    let names = table.agents.iter();
    let agent = if table.agents.len() < MANY { AGENT } else { NARROW };
    let state_name = |row: &PolicyRow| {
        let class = row.class.as_ref().map_or_else(String::new, |class| format!("{class} "));
        clean(&format!("{class}{}", row.state))
    };
    let longest = table.rows.iter().map(|row| state_name(row).chars().count()).max();
    let state = (longest.unwrap_or(0) + 2).clamp(8, STATE);
    let names: String = names.map(|known| cell(&clean(known.name.as_str()), agent)).collect();
    rows.push((format!("{}{names}", cell("state", state)), Role::Dim));
    let bounds = bounds(table);
    for row in &table.rows {
        let name = state_name(row);
        let best = best(&row.values);
        let values = row.values.iter().enumerate();
        let values: String = values
            .map(|(place, value)| shaded(*value, best == Some(place), bounds, agent))
            .collect();
        let is_now = chosen.is_some_and(|(_, choice)| {
            let from = choice.instead.as_ref().unwrap_or(&choice.state);
            *from == row.state && choice.class == row.class
        });
        let role = if is_now { Role::Strong } else { Role::Text };
        rows.push((format!("{}{values}", cell(&name, state)), role));
    }
    rows.push((String::new(), Role::Dim));
    let legend = "░ low  ▒  ▓  █ high   * the best   · never tried   /next AGENT names another";
    rows.push((legend.to_owned(), Role::Dim));
    rows
}

/// The smallest and the largest value of a table.
fn bounds(table: &PolicyTable) -> (f64, f64) {
    let values = table.rows.iter().flat_map(|row| row.values.iter().flatten());
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), known| {
        (low.min(known.value), high.max(known.value))
    })
}

fn best(values: &[Option<PolicyValue>]) -> Option<usize> {
    let known = values.iter().enumerate().filter_map(|(place, value)| Some((place, (*value)?)));
    let best = known.reduce(|one, other| if other.1.value > one.1.value { other } else { one });
    best.map(|(place, _)| place)
}

fn shaded(
    value: Option<PolicyValue>,
    is_best: bool,
    (low, high): (f64, f64),
    columns: usize,
) -> String {
    let Some(known) = value else { return cell("·", columns) };
    let share = if high > low { (known.value - low) / (high - low) } else { 1.0 };
    let shade = match share {
        share if share < 0.25 => '░',
        share if share < 0.5 => '▒',
        share if share < 0.75 => '▓',
        _ => '█',
    };
    let mark = if is_best { "*" } else { "" };
    cell(&format!("{shade}{shade} {:.2}{mark}", known.value), columns)
}

fn blackboard_rows(entries: &[(Artifact, Timestamp)]) -> Vec<(String, Role)> {
    let mut versions = std::collections::BTreeMap::new();
    let mut rows = Vec::new();
    let started = entries.first().map_or(Timestamp(0), |(_, at)| *at);
    for (artifact, at) in entries {
        let version: &mut u32 = versions.entry(artifact.kind).or_default();
        *version += 1;
        let seconds = (at.0 - started.0).max(0) / 1000;
        let by = artifact.by.as_ref().map_or("you", AgentName::as_str);
        let (clock, kind) = (format!("{}:{:02}", seconds / 60, seconds % 60), artifact.kind.word());
        let by = cell(&clean(by), 18);
        let name = cell(&format!("{kind} {version}"), 12);
        let text = format!("{clock:>6}  {name}{by}{}", clean(&artifact.title));
        rows.push((text, Role::Text));
    }
    rows
}

fn clean(text: &str) -> String {
    sanitize::line(text).into_owned()
}

/// A text in so many columns; a longer one is cut.
fn cell(text: &str, width: usize) -> String {
    let text: String = text.chars().take(width - 1).collect();
    format!("{text:<width$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AgentRole, AgentValue, ArtifactKind, ChosenHow, PolicyAgent, PolicyChoice};

    fn value(value: f64) -> Option<PolicyValue> {
        Some(PolicyValue { value, spread: 0.1, visits: 1204 })
    }

    #[test]
    fn the_heat_map_shades_marks_the_best_and_the_present_state() {
        let agent = |name: &str, role| PolicyAgent { name: name.into(), role };
        let row = |state: &str, values| PolicyRow { class: None, state: state.into(), values };
        let table = PolicyTable {
            team: "learned".into(),
            hash: "ab\u{202e}".into(),
            seed: "1".into(),
            episodes: 5000,
            sessions: 2,
            buckets: [2, 4, 7],
            classes: Vec::new(),
            agents: vec![agent("coder", AgentRole::Code), agent("x\x1b[2J", AgentRole::Other)],
            rows: vec![
                row("start,0", vec![value(8.0), value(2.0)]),
                row("code,1", vec![None, value(5.0)]),
            ],
        };
        let choice = PolicyChoice {
            table: "ab".into(),
            state: "code,2".into(),
            class: None,
            instead: Some("code,1".into()),
            how: ChosenHow::Best,
            chance: Some(1.0),
            values: vec![AgentValue {
                agent: "coder".into(),
                value: Some(8.0),
                spread: Some(0.1),
                visits: 1204,
                reason: None,
            }],
        };
        let choice = Some(("coder".into(), Box::new(choice)));
        let rows = policy_rows(&PolicyView { table: Box::new(table), choice });
        let all: Vec<&str> = rows.iter().map(|(row, _)| row.trim_end()).collect();
        assert!(all[1].contains("now code written, later (`code,2`): coder speaks"), "{all:#?}");
        assert!(all[2].contains("coder 8.0 ± 0.10 (1,204×)"), "{all:#?}");
        let start = rows.iter().find(|(row, _)| row.starts_with("start,0")).unwrap();
        assert!(start.0.contains("██ 8.00*") && start.0.contains("░░ 2.00 "), "{start:?}");
        assert_eq!(start.1, Role::Text);
        let now = rows.iter().find(|(row, _)| row.starts_with("code,1")).unwrap();
        assert!(now.0.contains("· ") && now.0.contains("▓▓ 5.00*"), "{now:?}");
        assert_eq!(now.1, Role::Strong);
        assert!(!all.concat().contains(['\u{202e}', '\x1b']), "{all:#?}");
    }

    #[test]
    fn the_blackboard_lists_each_version_with_author_and_time() {
        let entry = |number, kind, by: Option<&str>, at| {
            let by = by.map(AgentName::from);
            let artifact = Artifact { number, kind, title: format!("it {number}"), by, tokens: 1 };
            (artifact, Timestamp(at))
        };
        let rows = blackboard_rows(&[
            entry(1, ArtifactKind::Task, None, 1000),
            entry(2, ArtifactKind::Code, Some("coder"), 3000),
            entry(3, ArtifactKind::Code, Some("debugger"), 66_000),
        ]);
        let rows: Vec<&str> = rows.iter().map(|(row, _)| row.as_str()).collect();
        assert!(rows[0].contains("0:00  task 1") && rows[0].contains("you"), "{rows:?}");
        assert!(rows[2].contains("1:05  code 2") && rows[2].contains("debugger"), "{rows:?}");
        assert!(blackboard_overlay(&TeamView::default()).is_none());
    }
}
