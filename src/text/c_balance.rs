//! Whether the brackets of a source can add up, however its conditions are decided.
//!
//! Counts brackets by the parts between `#if`, `#else` and `#endif`. Must not know conditions: each
//! may hold or not, so that what is found here holds for every choice.

use super::c_tokens::{Token, TokenKind};

/// What a directive does to the parts of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// `#if` and the like; its first part never counts when it is dead, and is the only one that
    /// does when it is sure.
    If {
        is_dead: bool,
        is_sure: bool,
    },
    /// Another part: `#elif`, or `#else` when nothing else is left.
    Part {
        is_last: bool,
    },
    End,
}

/// Deeper conditions than these are not looked at.
const MAX_DEPTH: usize = 64;

/// Sums of brackets from -64 to 63, a bit for each.
type Sums = u128;
const ZERO: u32 = 64;
const NONE: Sums = 1 << ZERO;

#[derive(Default)]
struct Part {
    /// Opening brackets of its own code without closing ones, or the other way round.
    own: i32,
    /// The opening brackets that nothing has closed yet.
    open: Vec<usize>,
    /// The first bracket that closes nothing here.
    closes: Option<usize>,
    chains: Vec<Chain>,
    is_dead: bool,
    /// What it can add up to.
    sums: Sums,
}

#[derive(Default)]
struct Chain {
    parts: Vec<Part>,
    is_complete: bool,
    is_sure: bool,
    sums: Sums,
}

/// The bracket of a part that no choice of the other conditions makes up for, with what is wrong.
/// `turns` are the directives with their places, in order.
pub(super) fn find(tokens: &[Token<'_>], turns: &[(usize, Turn)]) -> Option<(usize, String)> {
    ["{}", "()"].iter().find_map(|pair| {
        let (open, close) = pair.split_at(1);
        let mut whole = parts(tokens, turns, (open, close))?;
        sum_up(&mut whole)?;
        // What is wrong everywhere is found in every reading.
        let is_possible = whole.sums & NONE != 0;
        let (at, opens) = is_possible.then(|| unmatched(&whole, NONE)).flatten()?;
        let words = match opens {
            true => format!("`{open}` is never closed"),
            false => format!("`{close}` closes nothing"),
        };
        Some((at, words))
    })
}

/// The parts of a source; `None` when the directives are nested too deep, or not in pairs.
fn parts(
    tokens: &[Token<'_>],
    turns: &[(usize, Turn)],
    (open, close): (&str, &str),
) -> Option<Part> {
    let mut stack = vec![Part::default()];
    let mut chains: Vec<Chain> = Vec::new();
    let mut turns = turns.iter().peekable();
    let is_code = |token: &&Token<'_>| !token.in_directive && token.kind == TokenKind::Mark;
    let brackets = tokens.iter().filter(is_code).filter(|t| t.raw == open || t.raw == close);
    let mut brackets = brackets.peekable();
    loop {
        let turn_at = turns.peek().map_or(usize::MAX, |(at, _)| *at);
        let bracket_at = brackets.peek().map_or(usize::MAX, |token| token.start);
        if turn_at == usize::MAX && bracket_at == usize::MAX {
            break;
        }
        if bracket_at < turn_at {
            let (token, part) = (brackets.next()?, stack.last_mut()?);
            match token.raw == open {
                true => {
                    part.own += 1;
                    part.open.push(token.start);
                }
                false => {
                    part.own -= 1;
                    if part.open.pop().is_none() {
                        part.closes.get_or_insert(token.start);
                    }
                }
            }
            continue;
        }
        let (_, turn) = turns.next()?;
        match turn {
            Turn::If { .. } if stack.len() >= MAX_DEPTH => return None,
            Turn::If { is_dead, is_sure } => {
                chains.push(Chain { is_sure: *is_sure, ..Chain::default() });
                stack.push(Part { is_dead: *is_dead, ..Part::default() });
            }
            Turn::Part { is_last } => {
                let chain = chains.last_mut()?;
                chain.parts.push(stack.pop()?);
                chain.is_complete |= is_last;
                stack.push(Part { is_dead: chain.is_sure, ..Part::default() });
            }
            Turn::End => {
                let mut chain = chains.pop()?;
                chain.parts.push(stack.pop()?);
                stack.last_mut()?.chains.push(chain);
            }
        }
    }
    (stack.len() == 1).then(|| stack.pop()).flatten()
}

/// Works out what a part and all in it can add up to; `None` when that is out of range.
fn sum_up(part: &mut Part) -> Option<()> {
    let place = u32::try_from(part.own + 64).ok().filter(|place| (8..120).contains(place))?;
    part.sums = 1 << place;
    for chain in &mut part.chains {
        chain.sums = if chain.is_complete || chain.is_sure { 0 } else { NONE };
        for inner in chain.parts.iter_mut() {
            sum_up(inner)?;
            chain.sums |= if inner.is_dead { 0 } else { inner.sums };
        }
        if chain.sums == 0 {
            chain.sums = NONE;
        }
        part.sums = added(part.sums, chain.sums);
    }
    Some(())
}

/// All sums of one of `a` and one of `b`.
fn added(a: Sums, b: Sums) -> Sums {
    let steps = (0..128_u32).filter(|place| b >> place & 1 == 1);
    steps.fold(0, |sums, place| match place.checked_sub(ZERO) {
        Some(up) => sums | a << up,
        None => sums | a >> (ZERO - place),
    })
}

/// The bracket in a part below `part` that nothing makes up for, and whether it opens; `outside` is
/// what all around `part` can add up to.
fn unmatched(part: &Part, outside: Sums) -> Option<(usize, bool)> {
    let own = added(1 << u32::try_from(part.own + 64).ok()?, outside);
    // What the chains before each one, and those after it, can add up to.
    let mut before = vec![own];
    for chain in &part.chains {
        before.push(added(*before.last()?, chain.sums));
    }
    let mut after = NONE;
    let mut found = None;
    for (chain, before) in part.chains.iter().zip(&before).rev() {
        let others = added(*before, after);
        for inner in chain.parts.iter().filter(|inner| !inner.is_dead) {
            let is_possible = added(inner.sums, others) & NONE != 0;
            let own = inner.open.first().map(|at| (*at, true));
            let here = inner.closes.map(|at| (at, false)).or(own).filter(|_| !is_possible);
            let deeper = if is_possible { unmatched(inner, others) } else { None };
            found = here.or(deeper).or(found);
        }
        after = added(after, chain.sums);
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::text::c_branches::Branches;

    fn found(source: &str) -> Option<(usize, String)> {
        let (at, words) = Branches::of(source, false).unbalanced()?;
        Some((source[..at].matches('\n').count() + 1, words))
    }

    #[test]
    fn a_branch_that_nothing_makes_up_for_is_found() {
        let open = |line| Some((line, "`{` is never closed".to_owned()));
        let other = "#ifdef C\nint c;\n#endif\n";
        let alternative = "#ifdef A\nint a;\n#else\nvoid f(void) { if (1) { g(); }\n#endif\n";
        assert_eq!(found(&format!("{alternative}{other}")), open(4));
        let alone = "#ifdef CONFIG_A\nvoid f(void) {\n#endif\n";
        let related = "#if defined(CONFIG_A) && defined(CONFIG_B)\nint b;\n#endif\n";
        assert_eq!(found(&format!("{alone}{related}")), open(2));
        assert_eq!(
            found("#ifdef A\nvoid f(void) { }\n}\n#endif\n"),
            Some((3, "`}` closes nothing".to_owned()))
        );
        assert_eq!(
            found("#ifdef A\n#if B\nvoid f(void) { g((1);\n}\n#endif\n#endif\n"),
            Some((3, "`(` is never closed".to_owned()))
        );
    }

    #[test]
    fn what_another_condition_makes_up_for_is_left_alone() {
        for source in [
            "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint a;\n#ifdef __cplusplus\n}\n#endif\n",
            "void f(void) {\n#ifdef A\nif (a) {\n#elif B\nif (b) {\n#endif\n}\n}\n",
            "void f(void) {\n#ifdef A\nif (a) {\n#else\n{\n#endif\n}\n}\n",
            "#if 0\nvoid f(void) {\n#endif\n",
            "#if 1\nvoid f(void) {\n#else\nvoid g(void) { {\n#endif\n}\n",
            "#if A\nvoid f(void) {\n#else\nvoid f(int a) {\n#endif\n}\n",
            "#if A\nvoid f(void) {\n#endif\n#if B\n}\n#endif\n",
        ] {
            assert_eq!(found(source), None, "{source}");
        }
    }
}
