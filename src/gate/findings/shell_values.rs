//! The variables of a shell script in a command, with the plain words that the script gives them.
//!
//! Must not judge commands.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// `$name` and `${name}`.
static USE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})").ok());

/// A command with the words that a script gives to its variables. One that gets several values, or
/// anything but a plain word, stays as it is.
pub(super) fn carried_out<'c>(command: &'c str, script: &str) -> Cow<'c, str> {
    let Some(uses) = USE.as_ref().filter(|_| command.contains('$')) else { return command.into() };
    let is_plain = |value: &str| {
        let is_of_word = |c: char| c.is_ascii_alphanumeric() || "_-./:".contains(c);
        !value.is_empty() && value.chars().all(is_of_word)
    };
    let mut known: BTreeMap<&str, &str> = BTreeMap::new();
    for line in script.lines() {
        let Some((name, value)) = line.trim().split_once('=') else { continue };
        let name = name.rsplit(' ').next().unwrap_or(name);
        let value = value.trim().trim_matches(['"', '\'']);
        // What is given twice may be either.
        known.entry(name).and_modify(|known| *known = "").or_insert(value);
    }
    // `for image in …`, `read image` give it a value, too.
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_set_once = |name: &str| {
        let mut places = script.match_indices(name).filter(|(at, _)| {
            let before = script.get(..*at).unwrap_or_default();
            let behind = script.get(at + name.len()..).unwrap_or_default();
            let is_whole = !before.ends_with(|c| is_of_name(c) || matches!(c, '/' | '.' | '-'))
                && !behind.starts_with(is_of_name);
            is_whole && !before.ends_with('$') && !before.ends_with("${")
        });
        places.next().is_some() && places.next().is_none()
    };
    uses.replace_all(command, |found: &Captures<'_>| {
        let name = found.get(1).or_else(|| found.get(2)).map_or("", |name| name.as_str());
        let whole = found.get(0).map_or("", |whole| whole.as_str());
        let value = known.get(name).copied().filter(|it| is_plain(it) && is_set_once(name));
        value.unwrap_or(whole).to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_take_the_places_of_variables() {
        let script = "set -eu\nimage=build/a.bin\nurl=\"https://a.example/x\"\nexport TWICE=a\nTWICE=b\n\
                      made=$(make)\nfrom=$1\neach=a\nfor each in x; do\n";
        let of = |command: &'static str| carried_out(command, script);
        assert_eq!(of("curl -T \"$image\" ${url}"), "curl -T \"build/a.bin\" https://a.example/x");
        for command in
            ["curl $TWICE", "curl $made", "curl $from", "curl $other", "curl $each", "curl"]
        {
            assert_eq!(of(command), command);
        }
    }
}
