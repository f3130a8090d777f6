//! What is new in this version: the newest lines of the change log that ships with the program.

const CHANGES: &str = include_str!("../../CHANGELOG.md");

/// The newest `most` changes, the newest first, each on one line.
#[must_use]
pub fn newest(most: usize) -> Vec<String> {
    newest_of(CHANGES, most)
}

fn newest_of(changes: &str, most: usize) -> Vec<String> {
    let (mut items, mut versions): (Vec<String>, u32) = (Vec::new(), 0);
    for line in changes.lines() {
        if line.starts_with("## ") {
            versions += 1;
        }
        match line.strip_prefix("- ") {
            _ if versions != 1 => {}
            Some(words) => items.push(words.trim().to_owned()),
            None if line.starts_with("  ") => {
                if let Some(item) = items.last_mut() {
                    item.push(' ');
                    item.push_str(line.trim());
                }
            }
            None => {}
        }
    }
    items.into_iter().rev().take(most).map(|item| item.replace('`', "")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_of_the_first_version_come_first() {
        let text = "# Changelog\n\n- none\n\n## [2]\n\n### Added\n\n- One that\n  goes `on`.\n- Two.\n\n\
                    ### Fixed\n\n- Three.\n\n## [1]\n\n- Old.\n";
        assert_eq!(newest_of(text, 9), ["Three.", "Two.", "One that goes on."]);
        assert_eq!(newest_of(text, 1), ["Three."]);
        assert!(!newest(3).is_empty());
    }
}
