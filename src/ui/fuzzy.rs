//! Ranks texts by how well they match a few letters.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// Places of the texts that match, the best first; those that match equally well keep their
/// order. An empty pattern matches everything.
#[must_use]
pub fn rank<'a>(pattern: &str, texts: impl IntoIterator<Item = &'a str>) -> Vec<usize> {
    rank_by(pattern, CaseMatching::Smart, Config::DEFAULT.match_paths(), texts)
}

/// As [`rank`], with what letters and texts are.
pub(super) fn rank_by<'a>(
    pattern: &str,
    case: CaseMatching,
    config: Config,
    texts: impl IntoIterator<Item = &'a str>,
) -> Vec<usize> {
    let mut matcher = Matcher::new(config);
    let pattern = Pattern::parse(pattern, case, Normalization::Smart);
    let mut buffer = Vec::new();
    let mut found: Vec<(u32, usize)> = texts
        .into_iter()
        .enumerate()
        .filter_map(|(place, text)| {
            let score = pattern.score(Utf32Str::new(text, &mut buffer), &mut matcher)?;
            Some((score, place))
        })
        .collect();
    found.sort_by_key(|(score, place)| (u32::MAX - score, *place));
    found.into_iter().map(|(_, place)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_match_comes_first_and_none_is_left_out_without_a_pattern() {
        let paths =
            ["CMakeLists.txt", "main/include/i2c_scan.h", "main/src/i2c_scan.c", "main/main.c"];
        assert_eq!(rank("", paths), [0, 1, 2, 3]);
        assert_eq!(rank("scan.c", paths)[0], 2);
        assert_eq!(rank("mainc", paths)[0], 3);
        assert!(rank("nothing", paths).is_empty());
    }
}
