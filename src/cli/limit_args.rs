//! `--limit NAME=N`: one option for every limit of a run.

use std::collections::BTreeMap;

use crate::config::LimitOverrides;
use crate::model::{Budget, Cost};

/// A limit as it was typed.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedLimit {
    name: LimitName,
    value: f64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum LimitName {
    Tokens,
    Cost,
    Minutes,
    Turns,
    Attempts,
    BuildSeconds,
    ToolSeconds,
    MonitorSeconds,
    /// One of the team's file; `PHASE/NAME` for one of a nested team.
    Team(String),
}

const NAMES: [(&str, LimitName); 8] = [
    ("tokens", LimitName::Tokens),
    ("cost", LimitName::Cost),
    ("minutes", LimitName::Minutes),
    ("turns", LimitName::Turns),
    ("attempts", LimitName::Attempts),
    ("build-seconds", LimitName::BuildSeconds),
    ("tool-seconds", LimitName::ToolSeconds),
    ("monitor-seconds", LimitName::MonitorSeconds),
];

/// Reads `NAME=N`; costs are in US dollars, everything else is a whole number from 1 on.
///
/// # Errors
/// In words for the person.
pub fn limit(text: &str) -> Result<NamedLimit, String> {
    let known = || NAMES.map(|(name, _)| name).join(", ");
    let Some((name, number)) = text.split_once('=') else {
        return Err(format!("expected NAME=N with one of the names {}", known()));
    };
    let asked = name.trim().replace('_', "-");
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '/');
    let name = match NAMES.into_iter().find(|(known, _)| *known == asked) {
        Some((_, name)) => name,
        // Which limits a team has is known when its file was read.
        None if !asked.is_empty() && asked.chars().all(is_word) => {
            let (phase, own) = name.trim().rsplit_once('/').unwrap_or(("", name.trim()));
            let own = own.replace('-', "_");
            LimitName::Team(if phase.is_empty() { own } else { format!("{phase}/{own}") })
        }
        None => return Err(format!("there is no limit `{asked}`; use one of {}", known())),
    };
    let number = number.trim().trim_start_matches('$');
    let value = match name {
        // What is less than the smallest amount counts as nothing.
        LimitName::Cost => number
            .parse::<f64>()
            .ok()
            .filter(|cost| cost.is_finite() && !Cost::from_dollars(*cost).is_zero()),
        _ => number.parse::<u32>().ok().map(f64::from),
    };
    match value.filter(|value| *value > 0.0) {
        Some(value) => Ok(NamedLimit { name, value }),
        None if name == LimitName::Cost => Err("expected an amount of dollars above 0".to_owned()),
        None => Err("expected a whole number from 1 on".to_owned()),
    }
}

/// Reads a whole number from 1 on.
///
/// # Errors
/// In words for the person.
pub fn number(text: &str) -> Result<u64, String> {
    let number = text.trim().parse::<u64>().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "expected a whole number from 1 on".to_owned())
}

/// Reads a sampling temperature.
///
/// # Errors
/// In words for the person.
pub fn temperature(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if (0.0..=2.0).contains(&number) => Ok(number),
        Ok(_) | Err(_) => Err("expected a number from 0 to 2".to_owned()),
    }
}

/// What the session may use according to these limits, where `budget` does not say.
pub fn budget(limits: &[NamedLimit], budget: Budget) -> Budget {
    let value = |name| value(limits, name);
    Budget {
        tokens: budget.tokens.or(value(LimitName::Tokens).map(|number| number as u64)),
        cost: budget.cost.or(value(LimitName::Cost).map(Cost::from_dollars)),
        seconds: budget.seconds.or(value(LimitName::Minutes).map(|number| number as u64 * 60)),
        turns: budget.turns.or(value(LimitName::Turns).map(|number| number as u32)),
    }
}

fn value(limits: &[NamedLimit], name: LimitName) -> Option<f64> {
    limits.iter().rfind(|limit| limit.name == name).map(|limit| limit.value)
}

/// Those that are the team's own.
pub fn of_team(limits: &[NamedLimit]) -> BTreeMap<String, u32> {
    let own = limits.iter().filter_map(|limit| match &limit.name {
        LimitName::Team(name) => Some((name.clone(), limit.value as u32)),
        _ => None,
    });
    own.collect()
}

/// The other limits.
pub fn overrides(limits: &[NamedLimit]) -> LimitOverrides {
    let value = |name| value(limits, name).map(|number| number as u32);
    LimitOverrides {
        max_attempts: value(LimitName::Attempts),
        build_seconds: value(LimitName::BuildSeconds),
        tool_seconds: value(LimitName::ToolSeconds),
        monitor_seconds: value(LimitName::MonitorSeconds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_have_names_and_numbers_above_nothing() {
        for wrong in [
            "tokens",
            "tokens=0",
            "tokens=-1",
            "tokens=1.5",
            "cost=0",
            "cost=1e-12",
            "cost=NaN",
            "x y=1",
            "max_reviews=0",
        ] {
            assert!(limit(wrong).is_err(), "{wrong}");
        }
        assert!(limit("=1").unwrap_err().contains("attempts"));
        let own = ["max-reviews=1", "turns=3", "max_debug=4", "fix-it/max-debug=5"];
        let own = own.map(|text| limit(text).unwrap());
        let wanted = [("fix-it/max_debug", 5), ("max_debug", 4), ("max_reviews", 1)];
        assert_eq!(of_team(&own), wanted.map(|(name, number)| (name.to_owned(), number)).into());
        let limits = ["tokens=5", "cost=$0.5", "minutes=2", "turns=3", "attempts=4", "tokens=9"];
        let limits: Vec<_> = limits.into_iter().map(|text| limit(text).unwrap()).collect();
        let found = budget(&limits, Budget::default());
        let cost = Some(Cost::from_dollars(0.5));
        assert_eq!(found, Budget { tokens: Some(9), cost, seconds: Some(120), turns: Some(3) });
        let own = Budget { tokens: Some(1), ..Budget::default() };
        assert_eq!(budget(&limits, own).tokens, Some(1), "the option of that name goes first");
        assert_eq!(overrides(&limits).max_attempts, Some(4));
        let one = [limit("build_seconds=60").unwrap()];
        assert_eq!(overrides(&one).build_seconds, Some(60));
    }

    #[test]
    fn a_number_of_tokens_is_refused_in_words() {
        assert_eq!(number("7"), Ok(7));
        for wrong in ["0", "-1", "1.5", "many"] {
            assert_eq!(number(wrong), Err("expected a whole number from 1 on".to_owned()));
        }
    }

    #[test]
    fn a_temperature_is_from_0_to_2() {
        assert_eq!(temperature("0.7"), Ok(0.7));
        assert!(temperature("2.1").is_err() && temperature("-1").is_err());
        assert!(temperature("NaN").is_err() && temperature("warm").is_err());
    }
}
