//! Colours of two versions of one source at the price of little more than one.
//!
//! Owns what the versions share: the old one is parsed as an edit of the new one, only its own lines
//! are coloured, and long sources of C are cut at their outermost level so that several threads work
//! on them. Must not compare.

use std::thread;

use tree_sitter::Tree;

use super::c_level;
use super::diff::{FileDiff, LineKind};
use super::syntax::{self, Span};
pub use super::syntax_edit::Changed;
use super::syntax_edit::{Text, edited};
use super::tree::{self, Language, Limits};

/// Least bytes of a piece: below, a thread costs more than it saves.
const LEAST_PIECE: usize = 48 * 1024;
/// Most threads for one source.
const MAX_PIECES: usize = 4;

/// The coloured pieces of both versions, by line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Versions {
    /// Of the old one; empty for the lines that it shares with the new one.
    pub old: Vec<Vec<Span>>,
    /// Of the new one.
    pub new: Vec<Vec<Span>>,
}

/// What a comparison found; `None` when it does not tell all of it.
#[must_use]
pub fn changes_of(found: &FileDiff) -> Option<Vec<Changed>> {
    let mut changes: Vec<Changed> = Vec::new();
    for hunk in &found.hunks {
        let first = |start: usize, len: usize| if len == 0 { start } else { start - 1 };
        let mut old = first(hunk.old_start, hunk.old_len);
        let mut new = first(hunk.new_start, hunk.new_len);
        let mut is_open = false;
        for line in &hunk.lines {
            let is_changed = line.kind != LineKind::Context;
            if is_changed && !is_open {
                changes.push(Changed { old: old..old, new: new..new });
            }
            is_open = is_changed;
            old += usize::from(line.kind != LineKind::Added);
            new += usize::from(line.kind != LineKind::Removed);
            if let Some(last) = changes.last_mut().filter(|_| is_open) {
                (last.old.end, last.new.end) = (old, new);
            }
        }
    }
    (found.left_out == 0).then_some(changes)
}

/// Colours `new`, and of `old` the lines that differ; `changes` are in order. A version that is too
/// long, or takes too long, has no colours.
#[must_use]
pub fn highlight_versions(
    language: Language,
    old: &str,
    new: &str,
    changes: &[Changed],
) -> Versions {
    let pieces = pieces(language, &Text::new(old), &Text::new(new), changes);
    let limits = Limits::colours();
    let mut done = thread::scope(|scope| {
        let mut rest = pieces.iter();
        let first = rest.next();
        let aside: Vec<_> =
            rest.map(|piece| scope.spawn(move || piece.colour(language, limits))).collect();
        let mut done = vec![first.map(|piece| piece.colour(language, limits)).unwrap_or_default()];
        done.extend(aside.into_iter().map(|thread| thread.join().unwrap_or_default()));
        done
    });
    // Lines are counted through all pieces: without one of them the others would be out of place.
    let lacks_old =
        done.iter().zip(&pieces).any(|(it, of)| it.old.is_empty() && !of.old.is_empty());
    let lacks_new =
        done.iter().zip(&pieces).any(|(it, of)| it.new.is_empty() && !of.new.is_empty());
    let mut whole = Versions::default();
    for piece in &mut done {
        whole.old.append(&mut piece.old);
        whole.new.append(&mut piece.new);
    }
    if lacks_old {
        whole.old.clear();
    }
    if lacks_new {
        whole.new.clear();
    }
    whole
}

/// A part of both versions that can be parsed by itself.
struct ParsedPart<'a> {
    old: &'a str,
    new: &'a str,
    changes: Vec<Changed>,
}

impl ParsedPart<'_> {
    fn colour(&self, language: Language, limits: Limits) -> Versions {
        let Some(tree) = tree::parse(language, self.new, limits) else {
            return Versions::default();
        };
        let new = syntax::coloured(language, &tree, self.new, None, limits);
        let old = self.colour_old(language, tree, limits);
        Versions { old: old.unwrap_or_default(), new: new.unwrap_or_default() }
    }

    fn colour_old(&self, language: Language, tree: Tree, limits: Limits) -> Option<Vec<Vec<Span>>> {
        let old = Text::new(self.old);
        let tree = edited(tree, (self.old, self.new), &self.changes);
        let tree = tree::parse_edited(language, self.old, Some(&tree), limits)?;
        let own = self.changes.iter().map(|change| old.bytes(&change.old));
        let own: Vec<_> = own.filter(|bytes| !bytes.is_empty()).collect();
        syntax::coloured(language, &tree, self.old, Some(&own), limits)
    }
}

/// Cuts both versions at the same places, where neither is inside of anything.
fn pieces<'a>(
    language: Language,
    old: &Text<'a>,
    new: &Text<'a>,
    changes: &[Changed],
) -> Vec<ParsedPart<'a>> {
    let mut pieces = Vec::new();
    let (mut from_old, mut from_new) = (0, 0);
    let mut cut = |to_old: usize, to_new: usize| {
        let within = |change: &&Changed| from_new <= change.new.start && change.new.end <= to_new;
        let within = |change: &&Changed| {
            within(change) && from_old <= change.old.start && change.old.end <= to_old
        };
        let changes = changes.iter().filter(within).map(|change| Changed {
            old: change.old.start - from_old..change.old.end - from_old,
            new: change.new.start - from_new..change.new.end - from_new,
        });
        pieces.push(ParsedPart {
            old: old.slice(&(from_old..to_old)),
            new: new.slice(&(from_new..to_new)),
            changes: changes.collect(),
        });
        (from_old, from_new) = (to_old, to_new);
    };
    for (to_old, to_new) in places(language, old, new, changes) {
        cut(to_old, to_new);
    }
    cut(old.lines(), new.lines());
    pieces
}

/// Lines, old and new, before which both versions can be cut.
fn places(
    language: Language,
    old: &Text<'_>,
    new: &Text<'_>,
    changes: &[Changed],
) -> Vec<(usize, usize)> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_PIECES);
    let parts = threads.min(new.text.len() / LEAST_PIECE);
    if parts < 2 || !matches!(language, Language::C | Language::Cpp) {
        return Vec::new();
    }
    let (outer_old, outer_new) = (c_level::outer(old.text), c_level::outer(new.text));
    let mut places = Vec::new();
    let mut from = 1;
    for part in 1..parts {
        let middle = new.text.len() / parts * part;
        from = from.max(new.starts.partition_point(|start| *start < middle));
        let found = (from..new.lines()).find_map(|line| {
            let counterpart = matching_line(line, changes)?;
            let is_outer = |outer: &[bool], line: usize| outer.get(line) == Some(&true);
            (is_outer(&outer_new, line) && is_outer(&outer_old, counterpart))
                .then_some((counterpart, line))
        });
        let Some((counterpart, line)) = found else { break };
        places.push((counterpart, line));
        from = line + 1;
    }
    places
}

/// The old line that is the same as this new one; `None` when there is none.
fn matching_line(line: usize, changes: &[Changed]) -> Option<usize> {
    let after = changes.partition_point(|change| change.new.end <= line);
    if changes.get(after).is_some_and(|change| change.new.start <= line) {
        return None;
    }
    let before = after.checked_sub(1).and_then(|at| changes.get(at));
    Some(before.map_or(line, |change| change.old.end + (line - change.new.end)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::diff::{DiffLimits, Options, diff};

    fn changes(old: &str, new: &str) -> Vec<Changed> {
        changes_of(&diff(old.as_bytes(), new.as_bytes(), Options::default())).unwrap()
    }

    /// What is coloured together equals what is coloured alone.
    fn check(language: Language, old: &str, new: &str) {
        let changes = changes(old, new);
        let both = highlight_versions(language, old, new, &changes);
        assert_eq!(both.new, syntax::highlight(language, new));
        let alone = syntax::highlight(language, old);
        assert_eq!(both.old.len(), alone.len());
        for change in changes {
            assert_eq!(both.old[change.old.clone()], alone[change.old]);
        }
    }

    fn function(seed: usize) -> String {
        let body = match seed % 5 {
            0 => "    return n + 1; /* } */\n",
            1 => "    /* a {\n     * long remark */\n    return n;\n",
            2 => {
                "    for (int i = 0; i < n; i++) {\n        puts(\"}\\\"{\");\n    }\n    return '}';\n"
            }
            3 => "#if CONFIG_LATE\n    n++;\n#endif\n    return n;\n",
            _ => "    // } one line {\n    const struct point at = {.x = 1};\n    return at.x;\n",
        };
        format!("static int step_{seed}(int n)\n{{\n{body}}}\n\n")
    }

    #[test]
    fn a_long_source_is_cut_and_coloured_as_if_it_were_not() {
        let old: String = (0..4_000).map(function).collect();
        let edited = |seed: usize| match seed % 9 {
            0 => function(seed).replace("return", "n--;\n    return"),
            4 => String::new(),
            7 => function(seed).replace("static int", "static long /* wide */ int"),
            _ => function(seed),
        };
        let new: String = (0..4_000).map(edited).collect();
        let (texts, found) = ((Text::new(&old), Text::new(&new)), changes(&old, &new));
        if thread::available_parallelism().is_ok_and(|threads| threads.get() > 1) {
            assert!(pieces(Language::C, &texts.0, &texts.1, &found).len() > 1);
        }
        check(Language::C, &old, &new);
        check(Language::C, "", &new);
        check(Language::C, &old, "");
    }

    #[test]
    fn a_comparison_that_was_cut_short_tells_no_changes() {
        let limits = DiffLimits { lines: 2, ..DiffLimits::default() };
        let options = Options { limits, ..Options::default() };
        assert_eq!(changes_of(&diff(b"", b"a\nb\nc\n", options)), None);
        assert_eq!(changes("a\n", "a\n"), []);
    }

    #[test]
    fn a_source_without_an_outermost_level_stays_whole() {
        let inside: String = (0..3_000).map(function).collect();
        let guarded = format!("#ifndef A_H\n#define A_H\n{inside}#endif\n");
        let linkage = format!("extern \"C\" {{\n{inside}}}\n");
        for text in [guarded, linkage] {
            let text = Text::new(&text);
            assert!(places(Language::Cpp, &text, &text, &[]).is_empty());
        }
    }

    proptest! {
        #[test]
        fn versions_are_coloured_together_as_alone(
            olds in proptest::collection::vec(0..40_usize, 0..12),
            news in proptest::collection::vec(0..40_usize, 0..12),
        ) {
            let text = |seeds: &[usize]| seeds.iter().map(|seed| function(*seed)).collect::<String>();
            for language in [Language::C, Language::Cpp] {
                check(language, &text(&olds), &text(&news));
            }
        }
    }
}
