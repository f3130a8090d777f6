//! The variables of a makefile or a script in a command, with the plain words that the file gives them.
//!
//! Must not judge commands.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// `NAME := word` of make, and what comes between the two, without a comment behind it.
static MAKE_VALUE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?m)^[ ]*(?:export[ ]+)?([A-Za-z_]\w*)[ \t]*(?:[:?]{0,2}=)[ \t]*([^\n#]*)").ok()
});

/// `name=word` of a shell.
static SHELL_VALUE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)^[ \t]*(?:\w+[ \t]+)?([A-Za-z_]\w*)=([^\n]*)").ok());

/// `$(NAME)` and `${NAME}` of make.
static MAKE_USE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\$(?:\(([A-Za-z_]\w*)\)|\{([A-Za-z_]\w*)\})").ok());

/// `$name` and `${name}` of a shell.
static SHELL_USE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})").ok());

/// A command of a makefile with the words that it gives to its variables. One that it names more than
/// once without using it, or gives anything but a plain word, stays as it is.
pub(super) fn of_make<'c>(command: &'c str, makefile: &str) -> Cow<'c, str> {
    carried_out(command, makefile, [&MAKE_USE, &MAKE_VALUE])
}

/// A command of a shell script, in the same way.
pub(super) fn of_shell<'c>(command: &'c str, script: &str) -> Cow<'c, str> {
    carried_out(command, script, [&SHELL_USE, &SHELL_VALUE])
}

fn carried_out<'c>(
    command: &'c str,
    text: &str,
    [uses, values]: [&LazyLock<Option<Regex>>; 2],
) -> Cow<'c, str> {
    let (Some(uses), Some(values)) = (uses.as_ref(), values.as_ref()) else {
        return command.into();
    };
    if !command.contains('$') {
        return command.into();
    }
    let value = |groups: Captures<'_>| {
        let (name, value) = (groups.get(1)?.as_str().to_owned(), groups.get(2)?.as_str().trim());
        Some((name, value.trim_matches(['"', '\'']).to_owned()))
    };
    let known: BTreeMap<String, String> = values.captures_iter(text).filter_map(value).collect();
    let is_plain = |value: &str| {
        let is_of_word = |c: char| c.is_ascii_alphanumeric() || "_-./:".contains(c);
        !value.is_empty() && value.chars().all(is_of_word)
    };
    uses.replace_all(command, |found: &Captures<'_>| {
        let name = found.get(1).or_else(|| found.get(2)).map_or("", |name| name.as_str());
        let whole = found.get(0).map_or("", |whole| whole.as_str());
        let value = known.get(name).filter(|value| is_plain(value) && is_set_once(name, text));
        value.map_or(whole, String::as_str).to_owned()
    })
}

/// Whether a text names a variable once where it does not use it. Values for one target, of `define`, of
/// loops and of `read` would count, too.
fn is_set_once(name: &str, text: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut places = text.match_indices(name).filter(|(at, _)| {
        let before = text.get(..*at).unwrap_or_default();
        let behind = text.get(at + name.len()..).unwrap_or_default();
        let is_whole = !before.ends_with(|c| is_of_name(c) || matches!(c, '/' | '.' | '-'))
            && !behind.starts_with(is_of_name);
        is_whole && !["$", "$(", "${"].iter().any(|start| before.ends_with(start))
    });
    places.next().is_some() && places.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_of_a_makefile_take_the_places_of_variables() {
        let makefile = "OUT := build\nCOV = coverage  # report\nHOME_DIR ?= $(HOME)/x\nTWICE = a\nTWICE = /\n\
                        MORE += b\nRUN != ls\nFOR = a\nclean: FOR = /\nall:\n\trm -rf $(OUT)\n";
        let of = |command: &'static str| of_make(command, makefile);
        assert_eq!(of("rm -rf $(OUT) ${COV}"), "rm -rf build coverage");
        for command in
            ["rm $(HOME_DIR)", "rm $(TWICE)", "rm $(MORE)", "rm $(RUN)", "rm $(NONE)", "rm $(FOR)"]
        {
            assert_eq!(of(command), command);
        }
    }

    #[test]
    fn plain_words_of_a_script_take_the_places_of_variables() {
        let script = "set -eu\nimage=build/a.bin\nexport url=\"https://a.example/x\"\nexport TWICE=a\nTWICE=b\n\
                      made=$(make)\nfrom=$1\neach=a\nfor each in x; do\nread -r more\nmore=a\n";
        let of = |command: &'static str| of_shell(command, script);
        assert_eq!(of("curl -T \"$image\" ${url}"), "curl -T \"build/a.bin\" https://a.example/x");
        for command in [
            "curl $TWICE",
            "curl $made",
            "curl $from",
            "curl $other",
            "curl $each",
            "curl $more",
            "curl",
        ] {
            assert_eq!(of(command), command);
        }
    }
}
