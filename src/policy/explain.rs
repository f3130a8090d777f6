//! Why an agent speaks next in a state, and the whole table to look at.
//!
//! Owns the words and the two pictures, for terminals and as SVG. Decides nothing.

use std::fmt::Write;

use serde::Serialize;

use super::experience::available;
use super::file::Trained;
use super::model::reason_against;
use super::state::State;
use crate::model::policy::grouped;

/// What a table says of an agent in a state.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Opinion {
    pub agent: String,
    /// Estimated value; `None` when it was never tried, or cannot act.
    pub value: Option<f64>,
    /// Half of the 95 % interval of the value; `None` when it was tried once only.
    pub spread: Option<f64>,
    pub visits: u64,
    /// Share of the value that is not learned yet.
    pub unlearned: f64,
    /// Why it cannot act.
    pub reason: Option<&'static str>,
}

/// Why an agent is chosen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    pub state: String,
    pub class: Option<String>,
    /// The choice; `None` when nothing is known.
    pub agent: Option<String>,
    /// The state whose values were used, when this one was never visited.
    pub instead: Option<String>,
    pub opinions: Vec<Opinion>,
}

/// Explains the choice in a state.
#[must_use]
pub fn explain(policy: &Trained, state: State) -> Explanation {
    let set = available(policy, state);
    let best = policy.table.best(state, set);
    let from = best.map_or(state, |best| best.from);
    let name = |agent: usize| policy.model.agents[agent].clone();
    let mut opinions: Vec<Opinion> = (0..policy.model.agents.len())
        .map(|agent| {
            let entry = policy.table.entry(from, agent);
            let reason = reason_against(policy.role(agent), state.facts());
            let is_known = entry.visits > 0 && reason.is_none();
            Opinion {
                agent: name(agent),
                value: is_known.then_some(entry.estimate),
                spread: (is_known && entry.visits > 1).then(|| 1.96 * entry.standard_error()),
                visits: entry.visits,
                unlearned: entry.estimate_unlearned,
                reason,
            }
        })
        .collect();
    let rank = |opinion: &Opinion| opinion.value.unwrap_or(f64::NEG_INFINITY);
    opinions.sort_by(|one, other| rank(other).total_cmp(&rank(one)));
    Explanation {
        state: state.to_string(),
        class: policy.classes().get(state.class()).map(|class| (*class).to_owned()),
        agent: best.map(|best| name(best.agent)),
        instead: (from != state).then(|| from.to_string()),
        opinions,
    }
}

impl Explanation {
    /// One line, e.g. `coder 8.5 ± 0.02 (1,204×) · planner 8.1 · tester: no code yet`.
    #[must_use]
    pub fn line(&self) -> String {
        let mut parts = Vec::new();
        for (place, opinion) in self.opinions.iter().enumerate() {
            parts.push(match (opinion.value, opinion.spread, opinion.reason) {
                (Some(value), Some(spread), _) if place == 0 => {
                    let visits = grouped(opinion.visits);
                    format!("{} {value:.1} ± {spread:.2} ({visits}×)", opinion.agent)
                }
                (Some(value), None, _) if place == 0 => {
                    format!("{} {value:.1}, tried once only", opinion.agent)
                }
                (Some(value), _, _) => format!("{} {value:.1}", opinion.agent),
                (None, _, Some(reason)) => format!("{}: {reason}", opinion.agent),
                (None, _, None) => format!("{}: never tried", opinion.agent),
            });
        }
        parts.join(" · ")
    }

    /// Several lines for a person.
    #[must_use]
    pub fn text(&self) -> String {
        let class = self.class.as_deref().map_or(String::new(), |class| format!(" ({class} task)"));
        let mut text = match &self.agent {
            Some(agent) => format!("State {}{class}: {agent} speaks next.\n", self.state),
            None => {
                format!("State {}{class} was never visited, nor was a similar one.\n", self.state)
            }
        };
        if let Some(instead) = &self.instead {
            let _ =
                writeln!(text, "It was never visited; these are the values of state {instead}.");
        }
        text + &self.line()
    }
}

/// The states that were visited, with the class of each.
fn rows(policy: &Trained) -> Vec<(State, String)> {
    let classes = policy.classes();
    let visited = (0..policy.table.states())
        .map(State::from_index)
        .filter(|state| policy.table.visits(*state) > 0);
    visited
        .map(|state| match classes.get(state.class()) {
            Some(class) => (state, format!("{class} {state}")),
            None => (state, state.to_string()),
        })
        .collect()
}

/// The table: a row for each visited state, a column for each agent, `*` at the choice.
#[must_use]
pub fn table(policy: &Trained) -> String {
    let mut text = format!("{:<26}", "state");
    for agent in &policy.model.agents {
        let _ = write!(text, " {:>16}", shortened(agent));
    }
    text.push('\n');
    for (state, name) in rows(policy) {
        let _ = write!(text, "{name:<26}");
        let best = policy.table.best(state, available(policy, state)).map(|best| best.agent);
        for agent in 0..policy.model.agents.len() {
            let entry = policy.table.entry(state, agent);
            let mark = if best == Some(agent) { '*' } else { ' ' };
            let cell = match entry.visits {
                0 => "-".to_owned(),
                visits => format!("{:.2} ({visits})", entry.estimate),
            };
            let _ = write!(text, " {cell:>15}{mark}");
        }
        text.push('\n');
    }
    text
}

fn shortened(name: &str) -> String {
    name.chars().take(15).collect()
}

/// Where a value is between the smallest and the largest of the table, 0 to 1.
fn levels(policy: &Trained) -> impl Fn(f64) -> f64 {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for (state, _) in rows(policy) {
        for agent in 0..policy.model.agents.len() {
            let entry = policy.table.entry(state, agent);
            if entry.visits > 0 {
                low = low.min(entry.estimate);
                high = high.max(entry.estimate);
            }
        }
    }
    move |value| if high > low { (value - low) / (high - low) } else { 1.0 }
}

/// The table as shades: `·` never tried, then `░▒▓█` from the lowest value to the highest.
#[must_use]
pub fn heat_map(policy: &Trained) -> String {
    let level = levels(policy);
    let mut text = format!("{:<26} {}\n", "state", policy.model.agents.join(" "));
    for (state, name) in rows(policy) {
        let _ = write!(text, "{name:<26}");
        for (agent, column) in policy.model.agents.iter().enumerate() {
            let entry = policy.table.entry(state, agent);
            let share = level(entry.estimate);
            let shade = match entry.visits {
                0 => "·",
                _ if share < 0.25 => "░",
                _ if share < 0.5 => "▒",
                _ if share < 0.75 => "▓",
                _ => "█",
            };
            let _ = write!(text, " {}", shade.repeat(column.chars().count()));
        }
        text.push('\n');
    }
    text
}

/// The table as a picture in SVG.
#[must_use]
pub fn heat_map_svg(policy: &Trained) -> String {
    const LEFT: usize = 220;
    const WIDTH: usize = 110;
    const HEIGHT: usize = 22;
    let (rows, level) = (rows(policy), levels(policy));
    let size = (LEFT + WIDTH * policy.model.agents.len() + 10, HEIGHT * (rows.len() + 1) + 10);
    let mut svg = svg_start(size);
    for (column, agent) in policy.model.agents.iter().enumerate() {
        svg_text(&mut svg, (LEFT + column * WIDTH + 4, 16), agent);
    }
    for (row, (state, name)) in rows.iter().enumerate() {
        let y = HEIGHT * (row + 1);
        svg_text(&mut svg, (4, y + 16), name);
        for agent in 0..policy.model.agents.len() {
            let entry = policy.table.entry(*state, agent);
            if entry.visits == 0 {
                continue;
            }
            let (x, lightness) = (LEFT + agent * WIDTH, 95.0 - 45.0 * level(entry.estimate));
            let _ = writeln!(
                svg,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"hsl(150,50%,{lightness:.0}%)\"/>"
            );
            svg_text(
                &mut svg,
                (x + 4, y + 16),
                &format!("{:.2} ({})", entry.estimate, entry.visits),
            );
        }
    }
    svg + "</svg>\n"
}

/// Opens a picture of this size.
pub(super) fn svg_start((width, height): (usize, usize)) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    )
}

/// Writes text at a place.
pub(super) fn svg_text(svg: &mut String, (x, y): (usize, usize), text: &str) {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\">{text}</text>");
}

#[cfg(test)]
mod tests {
    use super::super::file::tests::trained;
    use super::*;

    #[test]
    fn a_choice_is_explained_with_values_visits_and_reasons() {
        let policy = trained("simple", false, 1, 5000);
        let start = explain(&policy, State::from_index(0));
        assert_eq!(start.agent.as_deref(), Some("coder"));
        let line = start.line();
        assert!(line.starts_with("coder 8.") && line.contains(" ± 0."), "{line}");
        assert!(line.contains("×) · planner 8."), "{line}");
        assert!(
            line.contains("tester: no code yet") && line.contains("debugger: no error"),
            "{line}"
        );
    }

    #[test]
    fn one_trial_says_nothing_of_the_spread() {
        let policy = trained("simple", false, 1, 1);
        let start = explain(&policy, State::from_index(0));
        assert_eq!((start.opinions[0].visits, start.opinions[0].spread), (1, None));
        assert!(start.line().contains(", tried once only"), "{}", start.line());
    }

    #[test]
    fn a_state_that_was_never_visited_says_so() {
        let policy = trained("trivial", false, 1, 300);
        let classes = [];
        let late = State::parse("start,3", &classes).unwrap();
        let explained = explain(&policy, late);
        assert!(explained.instead.is_some(), "{explained:?}");
        assert!(explained.text().contains("never visited; these are the values of"));
        let unknown = explain(&trained("simple", false, 1, 0), late);
        assert_eq!(unknown.agent, None);
        assert!(unknown.text().contains("never visited, nor was a similar one"));
        assert!(unknown.line().contains("coder: never tried"));
    }

    #[test]
    fn the_table_is_shown_as_text_shades_and_picture() {
        let policy = trained("mixed", true, 1, 500);
        assert!(table(&policy).contains("complex start,0"));
        assert!(heat_map(&policy).contains('█'));
        let svg = heat_map_svg(&policy);
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && svg.contains("tester"));
    }
}
