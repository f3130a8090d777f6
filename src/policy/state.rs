//! What a policy sees of a team's work, and its number in a table.
//!
//! Owns the observed state: four facts, a bucket of the actions taken, and the class of the task where
//! a policy knows it. Must not know how the work is simulated.

use std::fmt;

/// Observed states of one class of tasks: 2⁴ facts × 4 buckets.
pub const STATES: usize = 64;

/// Buckets of the actions taken.
pub const BUCKETS: usize = 4;

/// An observed state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State(u16);

/// What is true of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Facts {
    pub has_plan: bool,
    pub has_code: bool,
    pub has_error: bool,
    pub tests_pass: bool,
}

/// The bucket of so many actions, by the first number of each bucket after the first.
pub fn bucket(limits: &[u32], actions: u32) -> usize {
    limits.iter().filter(|first| actions >= **first).count()
}

impl State {
    /// The state of these facts; `bucket` is at most 3, `class` 0 where the policy knows no classes.
    #[must_use]
    pub fn new(facts: Facts, bucket: usize, class: usize) -> Self {
        let bits = u16::from(facts.has_plan)
            | u16::from(facts.has_code) << 1
            | u16::from(facts.has_error) << 2
            | u16::from(facts.tests_pass) << 3;
        let bucket = u16::try_from(bucket.min(BUCKETS - 1)).unwrap_or_default();
        let class = u16::try_from(class).unwrap_or_default();
        Self(bits | bucket << 4 | class << 6)
    }

    /// The state of this number.
    #[must_use]
    pub fn from_index(index: usize) -> Self {
        Self(u16::try_from(index).unwrap_or_default())
    }

    /// Its row in a table.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// What is true of the work.
    #[must_use]
    pub const fn facts(self) -> Facts {
        Facts {
            has_plan: self.0 & 1 != 0,
            has_code: self.0 & 2 != 0,
            has_error: self.0 & 4 != 0,
            tests_pass: self.0 & 8 != 0,
        }
    }

    /// Which bucket of actions taken, 0 to 3.
    #[must_use]
    pub const fn bucket(self) -> usize {
        (self.0 >> 4 & 3) as usize
    }

    /// The number of the task's class.
    #[must_use]
    pub const fn class(self) -> usize {
        (self.0 >> 6) as usize
    }

    /// The same facts and class in another bucket.
    #[must_use]
    pub fn in_bucket(self, bucket: usize) -> Self {
        Self::new(self.facts(), bucket, self.class())
    }

    /// Reads a state as [`fmt::Display`] writes it, e.g. `plan,code,2`; words in any order.
    #[must_use]
    pub fn parse(text: &str, classes: &[&str]) -> Option<Self> {
        let (mut facts, mut bucket, mut class) = (Facts::default(), 0, 0);
        for word in text.split([',', ' ']).filter(|word| !word.is_empty()) {
            match word {
                "start" => {}
                "plan" => facts.has_plan = true,
                "code" => facts.has_code = true,
                "error" => facts.has_error = true,
                "pass" => facts.tests_pass = true,
                _ => match word.parse::<usize>() {
                    Ok(number) if number < BUCKETS => bucket = number,
                    Ok(_) => return None,
                    Err(_) => class = classes.iter().position(|name| *name == word)?,
                },
            }
        }
        Some(Self::new(facts, bucket, class))
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let facts = self.facts();
        let words = [
            (facts.has_plan, "plan"),
            (facts.has_code, "code"),
            (facts.has_error, "error"),
            (facts.tests_pass, "pass"),
        ];
        let mut is_start = true;
        for (_, word) in words.into_iter().filter(|(is_true, _)| *is_true) {
            write!(f, "{word},")?;
            is_start = false;
        }
        if is_start {
            write!(f, "start,")?;
        }
        write!(f, "{}", self.bucket())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_read_as_it_is_written() {
        for index in 0..STATES {
            let state = State::from_index(index);
            assert_eq!(State::new(state.facts(), state.bucket(), 0), state);
            assert_eq!(State::parse(&state.to_string(), &[]), Some(state), "{state}");
        }
        let complex = State::parse("complex plan 3", &["simple", "complex"]).unwrap();
        assert_eq!((complex.class(), complex.bucket(), complex.facts().has_plan), (1, 3, true));
        assert_eq!(State::parse("plan,4", &[]), None);
        assert_eq!(State::parse("plans", &["simple"]), None);
    }
}
