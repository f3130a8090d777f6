//! The variables of a makefile in a command, with the plain words that it gives them.
//!
//! Must not judge commands.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// `NAME := word` and what comes between the two, without a comment behind it.
static VALUE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?m)^[ ]*(?:export[ ]+)?([A-Za-z_]\w*)[ \t]*([:?+!]{0,2}=)[ \t]*([^\n#]*)").ok()
});

/// `$(NAME)` and `${NAME}`.
static USE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\$(?:\(([A-Za-z_]\w*)\)|\{([A-Za-z_]\w*)\})").ok());

/// A command with the words that a makefile gives to its variables. One that it gives several values, or
/// anything but a plain word, stays as it is.
pub(super) fn carried_out<'c>(command: &'c str, makefile: &str) -> Cow<'c, str> {
    let (Some(uses), Some(values)) = (USE.as_ref(), VALUE.as_ref()) else { return command.into() };
    let is_plain = |value: &str| {
        let is_of_path = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
        !value.is_empty() && value.chars().all(is_of_path)
    };
    let mut known: BTreeMap<&str, &str> = BTreeMap::new();
    for groups in values.captures_iter(makefile) {
        let part = |at: usize| groups.get(at).map_or("", |part| part.as_str());
        let value = part(3).trim();
        let value = if part(2).starts_with(['+', '!']) { "" } else { value };
        known.entry(part(1)).and_modify(|known| *known = "").or_insert(value);
    }
    // Values for a target, of `define`, and those that a line works out count, too.
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_set_once = |name: &str| {
        let mut places = makefile.match_indices(name).filter(|(at, _)| {
            let before = makefile.get(..*at).unwrap_or_default();
            let behind = makefile.get(at + name.len()..).unwrap_or_default();
            let is_whole = !before.ends_with(is_of_name) && !behind.starts_with(is_of_name);
            is_whole && !before.ends_with("$(") && !before.ends_with("${")
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
        let makefile = "OUT := build\nCOV = coverage  # report\nHOME_DIR ?= $(HOME)/x\nTWICE = a\nTWICE = /\n\
                        MORE += b\nRUN != ls\nFOR = a\nclean: FOR = /\nall:\n\trm -rf $(OUT)\n";
        let of = |command: &'static str| carried_out(command, makefile);
        assert_eq!(of("rm -rf $(OUT) ${COV}"), "rm -rf build coverage");
        for command in
            ["rm $(HOME_DIR)", "rm $(TWICE)", "rm $(MORE)", "rm $(RUN)", "rm $(NONE)", "rm $(FOR)"]
        {
            assert_eq!(of(command), command);
        }
    }
}
