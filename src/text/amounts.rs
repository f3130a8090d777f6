//! Amounts for people: few digits, with the unit behind them.

pub use crate::model::policy::grouped;

/// A count for people: `918`, `41.2k`, `3.1M`.
#[must_use]
pub fn count(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{}k", tenths(count, 1_000)),
        _ => format!("{}M", tenths(count, 1_000_000)),
    }
}

/// `count` in units, with one digit after the point below 100 units.
#[must_use]
pub fn tenths(count: u64, unit: u64) -> String {
    let tenths = count / (unit / 10);
    if tenths < 1_000 {
        format!("{}.{}", tenths / 10, tenths % 10)
    } else {
        (tenths / 10).to_string()
    }
}

/// So many of something, in words for one and for several: `1 line`, `1,200 lines`.
#[must_use]
pub fn counted(count: usize, one: &str, several: &str) -> String {
    format!("{} {}", grouped(count as u64), if count == 1 { one } else { several })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_and_several_differ() {
        let lines = [0, 1, 2, 1_200].map(|lines| counted(lines, "line", "lines"));
        assert_eq!(lines, ["0 lines", "1 line", "2 lines", "1,200 lines"]);
    }

    #[test]
    fn counts_have_few_digits() {
        assert_eq!(
            [0, 999, 41_236, 119_945, 2_041_236].map(count),
            ["0", "999", "41.2k", "119k", "2.0M"]
        );
    }
}
