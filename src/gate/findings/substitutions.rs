//! The `substitutions:` of ESPHome, carried out in the text that they stand in.

use std::borrow::Cow;
use std::sync::LazyLock;

use foldhash::HashMap;
use regex::{Captures, Regex};

/// `$name` and `${name}`.
static USE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\$(?:\{\s*([A-Za-z_]\w*)\s*\}|([A-Za-z_]\w*))").ok());

/// A text with the values of its own substitutions in their places; its lines stay those that they were.
pub(super) fn carried_out(text: &str) -> Cow<'_, str> {
    let (Some(uses), true) = (USE.as_ref(), text.contains('$')) else { return text.into() };
    let values = values(text);
    if values.is_empty() {
        return text.into();
    }
    uses.replace_all(text, |found: &Captures<'_>| {
        let name = found.get(1).or_else(|| found.get(2)).map_or("", |name| name.as_str());
        let whole = found.get(0).map_or("", |whole| whole.as_str());
        values.get(name).copied().unwrap_or(whole).to_owned()
    })
}

/// The names and values below `substitutions:`.
fn values(text: &str) -> HashMap<&str, &str> {
    let lines = text.lines().skip_while(|line| line.trim_end() != "substitutions:").skip(1);
    let inside = lines.take_while(|line| line.is_empty() || line.starts_with([' ', '\t', '#']));
    let pairs = inside.filter_map(|line| {
        let (name, value) = line.trim().split_once(':')?;
        Some((name, value.trim().trim_matches(['"', '\''])))
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_take_the_places_of_their_names() {
        let text = "substitutions:\n  cutoff: \"72\"\n  # a comment\n  name: boiler\n\n\
                    esphome:\n  name: $name\non_value_range:\n  - above: ${cutoff}\n  - below: ${other}\n";
        let wanted = text.replace("$name", "boiler").replace("${cutoff}", "72");
        assert_eq!(carried_out(text), wanted);
        for text in ["esphome:\n  name: $name\n", "substitutions:\n  name: a\nid: name\n", ""] {
            assert_eq!(carried_out(text), text);
        }
    }
}
