//! What a team laid out, as tables: the values of its learned policy as a heat map, and its blackboard.
//!
//! Owns the words and shades. Reads the session as the screen knows it, so that a replay shows what
//! was so at that moment.

use super::Overlay;
use super::details::{Details, Grid};
use crate::model::policy::{grouped, short_names, state_words};
use crate::model::{AgentName, PolicyRow, PolicyValue};
use crate::ui::line;
use crate::ui::role::Role;
use crate::view::{Blackboard, PolicyView, PostedArtifact, TeamView};

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
    let (rows, grid) = policy_rows(policy);
    Some(Overlay::Details(Details::grid("Who speaks next, learned", rows, grid)))
}

/// The blackboard; `None` while there is nothing on it.
#[must_use]
pub fn blackboard_overlay(team: &TeamView) -> Option<Overlay> {
    let rows = blackboard_rows(&team.blackboard);
    (!rows.is_empty()).then(|| Overlay::Details(Details::table("Blackboard", rows)))
}

/// The paragraphs, and which of them are the table.
fn policy_rows(policy: &PolicyView) -> (Vec<(String, Role)>, Grid) {
    let table = &policy.table;
    let mut rows = vec![(
        format!(
            "table {} · {} simulated tasks · {} {}",
            line::clean(&table.hash),
            grouped(table.episodes),
            table.sessions,
            if table.sessions == 1 { "session" } else { "sessions" }
        ),
        Role::Dim,
    )];
    let chosen = policy.choice.as_ref();
    if let Some((agent, choice)) = chosen {
        let class = choice.class.as_ref().map_or_else(String::new, |class| format!(" ({class})"));
        let words = state_words(&choice.state);
        rows.push((line::clean(&format!("now {words} (`{}`){class}:", choice.state)), Role::Text));
        rows.push((line::clean(&choice.why(agent)), Role::Strong));
        let words = choice.values.iter().map(|value| format!("  {}", line::clean(&value.words())));
        rows.extend(words.map(|words| (words, Role::Text)));
    }
    rows.push((String::new(), Role::Dim));
    let column = if table.agents.len() < MANY { AGENT } else { NARROW };
    let state_name = |row: &PolicyRow| {
        let class = row.class.as_ref().map_or_else(String::new, |class| format!("{class} "));
        line::clean(&format!("{class}{}", row.state))
    };
    let longest = table.rows.iter().map(|row| state_name(row).chars().count()).max();
    let pinned = (longest.unwrap_or(0) + 2).clamp(8, STATE);
    let names: Vec<String> =
        table.agents.iter().map(|known| line::clean(known.name.as_str())).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let headings = short_names(&names, column - 1);
    let headings: String = headings.iter().map(|name| cell(name, column)).collect();
    let first = rows.len();
    rows.push((format!("{}{headings}", cell("state", pinned)), Role::Dim));
    for row in &table.rows {
        let best = best(&row.values);
        let bounds = bounds(row);
        let values = row.values.iter().enumerate();
        let values: String = values
            .map(|(place, value)| shaded(*value, best == Some(place), bounds, column))
            .collect();
        let is_now = chosen.is_some_and(|(_, choice)| {
            let from = choice.instead.as_ref().unwrap_or(&choice.state);
            *from == row.state && choice.class == row.class
        });
        let mut name = cell(&state_name(row), pinned);
        if is_now {
            name = format!("{}▸ ", name.chars().take(pinned - 2).collect::<String>());
        }
        let role = if is_now { Role::Strong } else { Role::Text };
        rows.push((format!("{name}{values}"), role));
    }
    let grid = Grid { rows: first..rows.len(), pinned, step: column };
    rows.push((String::new(), Role::Dim));
    rows.extend(LEGEND.map(|words| (words.to_owned(), Role::Dim)));
    (rows, grid)
}

/// What the marks and figures are.
const LEGEND: [&str; 3] = [
    "In each row: ░ low  ▒  ▓  █ high   * the best   · never tried or cannot act   ▸ the state now",
    "Figures: points of reward that the task is still worth; ±: how far they may be off by chance; ×: \
     how often it was tried there.",
    "/next AGENT names another one to speak.",
];

/// The smallest and the largest value of a row.
fn bounds(row: &PolicyRow) -> (f64, f64) {
    row.values.iter().flatten().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), known| {
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

fn blackboard_rows(board: &Blackboard) -> Vec<(String, Role)> {
    let mut rows = Vec::new();
    if board.older() > 0 {
        rows.push((format!("{} older entries are in the journal", board.older()), Role::Dim));
    }
    for PostedArtifact { artifact, version, at } in board.entries() {
        let seconds = (at.0 - board.started().0).max(0) / 1000;
        let by = artifact.by.as_ref().map_or("you", AgentName::as_str);
        let (clock, kind) = (format!("{}:{:02}", seconds / 60, seconds % 60), artifact.kind.word());
        let by = cell(&line::clean(by), 18);
        let name = cell(&format!("{kind} {version}"), 12);
        let text = format!("{clock:>6}  {name}{by}{}", line::clean(&artifact.title));
        rows.push((text, Role::Text));
    }
    rows
}

/// A text in so many columns; a longer one is cut.
fn cell(text: &str, width: usize) -> String {
    let text: String = text.chars().take(width - 1).collect();
    format!("{text:<width$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        AgentRole, AgentValue, Artifact, ArtifactKind, ChosenHow, PolicyAgent, PolicyChoice,
        PolicyTable, Timestamp,
    };
    use crate::model::{Event, TurnEvent};
    use crate::ui::fixture::UiBench;

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
                row("start,0", vec![value(8.0), value(7.9)]),
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
        let (rows, grid) = policy_rows(&PolicyView { table: Box::new(table), choice });
        let all: Vec<&str> = rows.iter().map(|(row, _)| row.trim_end()).collect();
        assert!(all[1].contains("now code written, later (`code,2`):"), "{all:#?}");
        assert!(all[2].contains("coder has the highest value, 8.0 ± 0.10"), "{all:#?}");
        assert!(all[3].contains("coder 8.0 ± 0.10 (1,204×)"), "{all:#?}");
        let start = rows.iter().find(|(row, _)| row.starts_with("start,0")).unwrap();
        assert!(start.0.contains("██ 8.00*") && start.0.contains("░░ 7.90 "), "{start:?}");
        assert_eq!(start.1, Role::Text);
        let now = rows.iter().find(|(row, _)| row.starts_with("code,1")).unwrap();
        assert!(now.0.contains("▸ · ") && now.0.contains("██ 5.00*"), "{now:?}");
        assert_eq!(now.1, Role::Strong);
        assert!(rows[grid.rows].iter().all(|(row, _)| row.chars().count() > grid.pinned));
        assert!(!all.concat().contains(['\u{202e}', '\x1b']), "{all:#?}");
    }

    #[test]
    fn twelve_agents_have_headings_that_differ_and_are_reached_sideways() {
        let name = |number: usize| format!("verification-{number}");
        let agents = (1..=12).map(|number| PolicyAgent {
            name: name(number).as_str().into(),
            role: AgentRole::Other,
        });
        let row = PolicyRow {
            class: None,
            state: "start,0".into(),
            values: (1..=12).map(|number| value(f64::from(number))).collect(),
        };
        let table = PolicyTable {
            team: "crew".into(),
            hash: "ab".into(),
            seed: "1".into(),
            episodes: 5000,
            sessions: 0,
            buckets: [2, 4, 7],
            classes: Vec::new(),
            agents: agents.collect(),
            rows: vec![row; 30],
        };
        for columns in [80, 120, 200] {
            let mut desk = UiBench::at_work(columns, 24);
            desk.record(1, Event::Turn(TurnEvent::PolicyTaken(Box::new(table.clone()))));
            desk.sync();
            desk.press("W");
            let mut seen = String::new();
            for _ in 0..12 {
                let screen = desk.screen();
                assert!(screen.contains("start,0"), "{screen}");
                seen += &screen;
                desk.press("right");
            }
            let is_seen = |number: usize| {
                let heading = [format!("…-{number}"), format!("…{number}")];
                seen.contains(&format!(" {number}.00"))
                    && heading.iter().any(|it| seen.contains(it))
            };
            let missing: Vec<usize> = (1..=12).filter(|number| !is_seen(*number)).collect();
            assert!(missing.is_empty(), "{columns}: {missing:?}\n{seen}");
            let last = desk.screen();
            desk.press("left");
            assert!(columns == 200 || desk.screen() != last, "moves at once\n{last}");
            desk.press("end");
            let bottom = desk.screen();
            assert!(bottom.contains("/next AGENT"), "{bottom}");
            desk.press("up");
            assert_ne!(desk.screen(), bottom, "moves at once");
        }
    }

    #[test]
    fn the_blackboard_lists_each_version_with_author_and_time() {
        let mut board = Blackboard::default();
        let mut post = |number, kind, by: Option<&str>, at| {
            let by = by.map(AgentName::from);
            let artifact = Artifact { number, kind, title: format!("it {number}"), by, tokens: 1 };
            board.post(artifact, Timestamp(at));
        };
        post(1, ArtifactKind::Task, None, 1000);
        post(2, ArtifactKind::Code, Some("coder"), 3000);
        post(3, ArtifactKind::Code, Some("debugger"), 66_000);
        let rows = blackboard_rows(&board);
        let rows: Vec<&str> = rows.iter().map(|(row, _)| row.as_str()).collect();
        assert!(rows[0].contains("0:00  task 1") && rows[0].contains("you"), "{rows:?}");
        assert!(rows[2].contains("1:05  code 2") && rows[2].contains("debugger"), "{rows:?}");
        assert!(blackboard_overlay(&TeamView::default()).is_none());
    }
}
