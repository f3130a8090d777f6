//! Money, as models cost it.

use serde::{Deserialize, Serialize};

/// Money, in billionths of a US dollar.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Cost(pub u64);

impl Cost {
    /// Nothing was spent.
    pub const ZERO: Self = Self(0);

    /// Whether it is nothing.
    #[must_use]
    pub const fn is_zero(&self) -> bool {
        self.0 == 0
    }

    /// In dollars, with the mark of an estimate.
    #[must_use]
    pub fn about(self) -> String {
        format!("~{self}")
    }

    /// So many US dollars; what is negative or no number counts as nothing.
    #[must_use]
    pub fn from_dollars(dollars: f64) -> Self {
        // `as` saturates, and makes nothing of what is negative or no number.
        Self((dollars * 1e9).round() as u64)
    }
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
    }
}

/// Billionths of a dollar in a cent.
const CENT: u64 = 10_000_000;

impl std::fmt::Display for Cost {
    /// In dollars: cents where it is whole ones or a dollar and more, else four digits behind the point.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let dollars = self.0 as f64 / 1e9;
        match self.0 {
            0 => f.write_str("$0"),
            1..100_000 => f.write_str("<$0.0001"),
            100_000..1_000_000_000 if !self.0.is_multiple_of(CENT) => write!(f, "${dollars:.4}"),
            _ => write!(f, "${dollars:.2}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_shown_with_the_digits_that_matter() {
        let shown = |dollars| Cost::from_dollars(dollars).to_string();
        assert_eq!(shown(0.0), "$0");
        assert_eq!(shown(0.000_01), "<$0.0001");
        assert_eq!(shown(0.001_23), "$0.0012");
        assert_eq!(shown(0.023), "$0.0230", "no digit comes or goes on the way to a dollar");
        assert_eq!(shown(0.5), "$0.50");
        assert_eq!(shown(12.5), "$12.50");
        assert_eq!(shown(-1.0), "$0");
        assert_eq!(shown(f64::NAN), "$0");
    }
}
