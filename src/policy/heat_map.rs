//! The whole table to look at: as numbers, as shades, and as a picture in SVG.
//!
//! Owns how it fits the columns that there are: agents that do not fit come in a further block below.
//! Shades compare the agents of one state with each other, since states differ much more from each
//! other than agents do, and only agents are chosen among.

use std::fmt::Write;

use super::experience::available;
use super::file::Trained;
use super::state::State;
use crate::model::policy::{grouped, short_names};

/// Letters of an agent's heading, at most.
const HEADING: usize = 15;

/// A state that was visited.
struct Row {
    name: String,
    /// By agent: value and visits; `None` where it was never tried.
    cells: Vec<Option<(f64, u64)>>,
    /// The agent that is chosen.
    best: Option<usize>,
}

impl Row {
    /// Where a value is between the smallest and the largest of the row, 0 to 1.
    fn level(&self, value: f64) -> f64 {
        let known = self.cells.iter().flatten();
        let (low, high) = known.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), cell| {
            (low.min(cell.0), high.max(cell.0))
        });
        if high > low { (value - low) / (high - low) } else { 1.0 }
    }

    fn mark(&self, agent: usize) -> &'static str {
        if self.best == Some(agent) { "*" } else { "" }
    }
}

/// The states that were visited, with the class of each.
fn rows(policy: &Trained) -> Vec<Row> {
    let classes = policy.classes();
    let visited = (0..policy.table.states())
        .map(State::from_index)
        .filter(|state| policy.table.visits(*state) > 0);
    visited
        .map(|state| {
            let agents = 0..policy.model.agents.len();
            let cells = agents.map(|agent| {
                let entry = policy.table.entry(state, agent);
                (entry.visits > 0).then_some((entry.estimate, entry.visits))
            });
            Row {
                name: match classes.get(state.class()) {
                    Some(class) => format!("{class} {state}"),
                    None => state.to_string(),
                },
                cells: cells.collect(),
                best: policy.table.best(state, available(policy, state)).map(|best| best.agent),
            }
        })
        .collect()
}

/// The table in so many columns: a row for each visited state, a column for each agent with value and
/// visits, `*` at the choice.
#[must_use]
pub fn table(policy: &Trained, width: usize) -> String {
    blocks(policy, width, |row, agent| match row.cells[agent] {
        Some((value, visits)) => {
            format!("{value:.2} ({}){:1}", grouped(visits), row.mark(agent))
        }
        None => "- ".to_owned(),
    })
}

/// The table as shades: `·` never tried, then `░▒▓█` from the lowest value of the row to its highest,
/// `*` at the choice.
#[must_use]
pub fn heat_map(policy: &Trained, width: usize) -> String {
    blocks(policy, width, |row, agent| match row.cells[agent] {
        Some((value, _)) => {
            let shade = shade(row.level(value));
            format!("{shade}{shade}{shade}{:1}", row.mark(agent))
        }
        None => "·   ".to_owned(),
    })
}

/// The shade of a level between 0 and 1.
const fn shade(level: f64) -> char {
    match level {
        level if level < 0.25 => '░',
        level if level < 0.5 => '▒',
        level if level < 0.75 => '▓',
        _ => '█',
    }
}

/// A row for each state and a column for each agent, as many side by side as there is space for.
fn blocks(policy: &Trained, width: usize, cell: impl Fn(&Row, usize) -> String) -> String {
    let rows = rows(policy);
    let count = |text: &str| text.chars().count();
    let names: Vec<&str> = policy.model.agents.iter().map(String::as_str).collect();
    let first = rows.iter().map(|row| count(&row.name)).max().unwrap_or(0).max("state".len());
    let cells: Vec<Vec<String>> =
        rows.iter().map(|row| (0..names.len()).map(|agent| cell(row, agent)).collect()).collect();
    let widest = cells.iter().flatten().map(|cell| count(cell)).max().unwrap_or(0);
    let space = width.saturating_sub(first + 1).max(4);
    let longest = names.iter().map(|name| count(name)).max().unwrap_or(0);
    let headings = short_names(&names, longest.min(HEADING).min(space));
    let column = headings.iter().map(|name| count(name) + 1).max().unwrap_or(0).max(widest);
    let fitting = (space / (column + 1)).clamp(1, names.len().max(1));
    let mut text = String::new();
    for begin in (0..names.len()).step_by(fitting) {
        let block = begin..(begin + fitting).min(names.len());
        if begin > 0 {
            text.push('\n');
        }
        let _ = write!(text, "{:<first$}", "state");
        for agent in block.clone() {
            let _ = write!(text, " {:>column$}", format!("{} ", headings[agent]));
        }
        text.push('\n');
        for (row, cells) in rows.iter().zip(&cells) {
            let mut line = format!("{:<first$}", row.name);
            for agent in block.clone() {
                let _ = write!(line, " {:>column$}", cells[agent]);
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    text
}

/// The table as a picture in SVG; the choice of each state has a border and bold figures.
#[must_use]
pub fn heat_map_svg(policy: &Trained) -> String {
    const LEFT: usize = 220;
    const WIDTH: usize = 110;
    const HEIGHT: usize = 22;
    let rows = rows(policy);
    let size = (LEFT + WIDTH * policy.model.agents.len() + 10, HEIGHT * (rows.len() + 1) + 10);
    let mut svg = svg_start(size);
    let names: Vec<&str> = policy.model.agents.iter().map(String::as_str).collect();
    for (column, agent) in short_names(&names, HEADING).iter().enumerate() {
        svg_text(&mut svg, (LEFT + column * WIDTH + 4, 16), agent);
    }
    for (number, row) in rows.iter().enumerate() {
        let y = HEIGHT * (number + 1);
        svg_text(&mut svg, (4, y + 16), &row.name);
        for (agent, cell) in row.cells.iter().enumerate() {
            let Some((value, visits)) = cell else { continue };
            let (x, fill) = (LEFT + agent * WIDTH, green(row.level(*value)));
            let is_best = row.best == Some(agent);
            let border = if is_best { " stroke=\"black\" stroke-width=\"2\"" } else { "" };
            let (left, top, width, height) = (x + 1, y + 1, WIDTH - 2, HEIGHT - 2);
            let _ = writeln!(
                svg,
                "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" \
                 fill=\"{fill}\"{border}/>"
            );
            let bold = if is_best { " font-weight=\"bold\"" } else { "" };
            let _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"{}\"{bold}>{value:.2} ({visits})</text>",
                x + 5,
                y + 16
            );
        }
    }
    svg + "</svg>\n"
}

/// Opens a picture of this size.
pub(super) fn svg_start((width, height): (usize, usize)) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    )
}

/// Writes text at a place.
pub(super) fn svg_text(svg: &mut String, (x, y): (usize, usize), text: &str) {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\">{text}</text>");
}

/// A green that is the darker the higher the level, 0 to 1; black is read on each.
fn green(level: f64) -> String {
    let between = |light: f64, dark: f64| (light + (dark - light) * level).round() as u8;
    format!(
        "#{:02x}{:02x}{:02x}",
        between(236.0, 64.0),
        between(249.0, 191.0),
        between(242.0, 128.0)
    )
}

#[cfg(test)]
mod tests {
    use super::super::file::tests::trained;
    use super::super::process::{Agent, Role};
    use super::*;

    fn widest(text: &str) -> usize {
        text.lines().map(|line| line.chars().count()).max().unwrap()
    }

    #[test]
    fn the_table_is_shown_as_text_shades_and_picture_in_the_columns_there_are() {
        let policy = trained("mixed", true, 1, 5000);
        for width in [80, 60, 40] {
            let (numbers, shades) = (table(&policy, width), heat_map(&policy, width));
            assert!(numbers.contains("complex start,0"), "{numbers}");
            assert!(widest(&numbers) <= width && widest(&shades) <= width, "{width}\n{numbers}");
            for name in &policy.model.agents {
                assert!(numbers.contains(name) && shades.contains(name), "{name}\n{numbers}");
            }
        }
        let svg = heat_map_svg(&policy);
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && svg.contains("tester"));
        let rows = rows(&policy).len();
        assert_eq!(svg.matches("font-weight=\"bold\"").count(), rows, "one choice in each row");
    }

    #[test]
    fn shades_tell_the_agents_of_a_state_apart() {
        let policy = trained("simple", false, 1, 5000);
        let shades = heat_map(&policy, 80);
        let start = shades.lines().find(|line| line.starts_with("start,0")).unwrap();
        assert!(start.contains("░░░ ") && start.contains("███*"), "{shades}");
        let full = shades.lines().filter(|line| line.matches('█').count() > 3).count();
        assert!(full <= 2, "{shades}");
    }

    #[test]
    fn twelve_agents_with_long_names_have_headings_that_differ() {
        let mut policy = trained("simple", false, 1, 0);
        for number in 1..=8 {
            let name = format!("verification-helper-{number}");
            policy.origin.process.agents.push(Agent { name, role: Role::Other });
        }
        let mut policy = Trained::new(policy.origin).unwrap();
        super::super::train::Trainer::new(&policy.model, 1, 0).train(&mut policy.table, 200);
        for text in [table(&policy, 80), heat_map(&policy, 80), heat_map_svg(&policy)] {
            let named = (1..=8).filter(|number| text.contains(&format!("…{number}"))).count();
            assert_eq!(named, 8, "{text}");
        }
        assert!(widest(&table(&policy, 80)) <= 80);
    }
}
