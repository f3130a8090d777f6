//! Expressions, which both languages write alike but for a few words.
//!
//! Owns precedence. Depth and height of what is read are bounded by the cursor.

use std::borrow::Cow;

use super::ast::{Chain, Expr, ExprKind, Level, Op, Type};
use super::cursor::{Cursor, Failed, Parsed};
use super::fault::Span;
use super::hints;
use super::lexer::Tok;
use super::literal;
use super::sign::Sign;
use super::words::{Dialect, Keyword, NameId};

/// Reads one expression.
pub(super) fn expression<'s>(c: &mut Cursor<'s>) -> Parsed<Expr<'s>> {
    at_level(c, Level::Or)
}

/// The operator that the token is.
fn operator(kind: Tok) -> Option<Op> {
    Some(match kind {
        Tok::Key(Keyword::Or) => Op::Or,
        Tok::Key(Keyword::And) => Op::And,
        Tok::Sign(sign) => match sign {
            Sign::Eq => Op::Eq,
            Sign::Ne => Op::Ne,
            Sign::Lt => Op::Lt,
            Sign::Gt => Op::Gt,
            Sign::Le => Op::Le,
            Sign::Ge => Op::Ge,
            Sign::Plus => Op::Add,
            Sign::Minus => Op::Sub,
            Sign::Star => Op::Mul,
            Sign::Slash => Op::Div,
            Sign::Percent => Op::Mod,
            _ => return None,
        },
        _ => return None,
    })
}

/// Reads an expression whose operators bind at least as tightly as `level`.
fn at_level<'s>(c: &mut Cursor<'s>, level: Level) -> Parsed<Expr<'s>> {
    let mut left = operand(c, level)?;
    while let Some(op) = operator(c.kind()) {
        let own = op.level();
        if own < level {
            break;
        }
        let second = next_operand(c, op)?;
        let mut rest = c.list();
        while let Some(op) = operator(c.kind()).filter(|op| op.level() == own) {
            rest.push(next_operand(c, op)?);
        }
        let span = c.span(left.span);
        let chain = Chain { level: own, first: left, second, rest: rest.into_bump_slice() };
        left = Expr { kind: ExprKind::Chain(c.keep(chain)), span };
    }
    Ok(left)
}

/// An operator and what is on its right; the cursor has the height of what is on its left.
fn next_operand<'s>(c: &mut Cursor<'s>, op: Op) -> Parsed<(Op, Expr<'s>)> {
    let left = c.height;
    c.bump();
    let right = at_level(c, op.level().tighter())?;
    c.set_height(left.max(c.height).saturating_add(1))?;
    Ok((op, right))
}

/// What an operator of this level can have on its left or right.
fn operand<'s>(c: &mut Cursor<'s>, level: Level) -> Parsed<Expr<'s>> {
    let start = c.token();
    let wrap: fn(&'s Expr<'s>) -> ExprKind<'s> = match start.kind {
        Tok::Key(Keyword::Not) if level <= Level::Not => ExprKind::Not,
        Tok::Key(Keyword::Not) => {
            let word = c.text(start.span);
            let hint = format!("Put it in parentheses: `({word} …)`.");
            return Err(c.fault(start.span, format!("`{word}` binds too loosely here"), hint));
        }
        Tok::Sign(Sign::Minus) => ExprKind::Negative,
        Tok::Sign(Sign::Plus) => ExprKind::Positive,
        _ => return atom(c),
    };
    c.enter()?;
    c.bump();
    let inner = if start.kind == Tok::Key(Keyword::Not) { Level::Not } else { Level::Unary };
    let operand = match inner {
        Level::Not => at_level(c, Level::Not)?,
        _ => operand(c, Level::Unary)?,
    };
    c.leave();
    c.set_height(c.height.saturating_add(1))?;
    Ok(Expr { kind: wrap(c.keep(operand)), span: c.span(start.span) })
}

/// A value without operators, with the indexes after it.
fn atom<'s>(c: &mut Cursor<'s>) -> Parsed<Expr<'s>> {
    let start = c.token().span;
    let mut value = plain(c)?;
    let mut indexes = 0;
    while c.is_sign(Sign::OpenList) {
        let height = c.height;
        indexes += 1;
        c.enter()?;
        let open = c.bump();
        refuse_slice(c)?;
        let index = expression(c)?;
        refuse_slice(c)?;
        c.close(Sign::CloseList, open)?;
        let span = c.span(start);
        value = Expr { kind: ExprKind::Index(c.keep((value, index))), span };
        c.set_height(height.max(c.height).saturating_add(1))?;
    }
    (0..indexes).for_each(|_| c.leave());
    Ok(value)
}

fn refuse_slice(c: &mut Cursor<'_>) -> Parsed<()> {
    if !c.is_sign(Sign::Colon) {
        return Ok(());
    }
    let hint = "Take the parts one by one, by their index, in a loop.";
    Err(c.fault(c.token().span, "there are no slices in Reverty", hint))
}

fn plain<'s>(c: &mut Cursor<'s>) -> Parsed<Expr<'s>> {
    let start = c.token();
    c.height = 1;
    let kind = match start.kind {
        Tok::Number => {
            c.bump();
            ExprKind::Number(literal::number(c.text(start.span)))
        }
        Tok::Str => {
            c.bump();
            if c.kind() == Tok::Str {
                let hint = "Write `+` between them.";
                c.fault(c.token().span, "strings side by side are not joined in Reverty", hint);
            }
            while c.kind() == Tok::Str {
                c.bump();
            }
            ExprKind::Str(string(c, start.span))
        }
        Tok::Key(Keyword::True) => taken(c, ExprKind::True),
        Tok::Key(Keyword::False) => taken(c, ExprKind::False),
        Tok::Key(Keyword::None) => taken(c, ExprKind::None),
        Tok::Name(name) => {
            c.bump();
            if c.is_sign(Sign::Open) {
                ExprKind::Call { name, args: list(c, Sign::Close)? }
            } else {
                ExprKind::Name(name)
            }
        }
        Tok::Sign(Sign::Open) => return parenthesised(c),
        Tok::Sign(Sign::OpenList) => ExprKind::List(list(c, Sign::CloseList)?),
        Tok::Sign(Sign::OpenDict) => ExprKind::Dict(dictionary(c)?),
        Tok::Key(keyword) => return Err(no_value(c, keyword)),
        _ => return Err(c.unexpected("a value")),
    };
    Ok(Expr { kind, span: c.span(start.span) })
}

/// Notes that a keyword is where a value is wanted.
fn no_value(c: &mut Cursor<'_>, keyword: Keyword) -> Failed {
    let Some(own) = Type::of(keyword) else { return c.unexpected("a value") };
    let span = c.token().span;
    let message = format!("`{}` is a type, not a value", c.text(span));
    c.fault(span, message, hints::of_type_as_value(own))
}

fn taken<'s>(c: &mut Cursor<'s>, kind: ExprKind<'s>) -> ExprKind<'s> {
    c.bump();
    kind
}

/// The text between the quotes, as Reverty writes it.
fn string<'s>(c: &Cursor<'s>, span: Span) -> &'s str {
    let text = c.text(span);
    let within = |quotes: usize| text.get(quotes..text.len().saturating_sub(quotes));
    let inner = within(1).unwrap_or_default();
    let is_triple = text.len() >= 6 && (text.starts_with("\"\"\"") || text.starts_with("'''"));
    match c.dialect() {
        Dialect::Reverty => inner,
        Dialect::Python if is_triple => {
            let line = literal::on_one_line(within(3).unwrap_or_default());
            c.arena.alloc_str(&literal::from_python(&line))
        }
        Dialect::Python => match literal::from_python(inner) {
            Cow::Borrowed(same) => same,
            Cow::Owned(other) => c.arena.alloc_str(&other),
        },
    }
}

/// Values between brackets, of which the first is the token that is there.
fn list<'s>(c: &mut Cursor<'s>, close: Sign) -> Parsed<&'s [Expr<'s>]> {
    c.enter()?;
    let open = c.bump();
    let (values, mut highest) = (c.begin_values(), 0);
    while !c.is_sign(close) {
        let value = expression(c)?;
        c.push_value(value);
        highest = highest.max(c.height);
        if !c.has_sign(Sign::Comma) {
            break;
        }
        if close == Sign::Close && c.is_sign(close) && c.dialect() == Dialect::Reverty {
            return Err(c.no_more("an argument"));
        }
    }
    c.close(close, open)?;
    c.leave();
    c.set_height(highest + 1)?;
    Ok(c.end_values(values))
}

fn dictionary<'s>(c: &mut Cursor<'s>) -> Parsed<&'s [(Expr<'s>, Expr<'s>)]> {
    c.enter()?;
    let open = c.bump();
    let (mut entries, mut highest) = (c.list(), 0);
    while !c.is_sign(Sign::CloseDict) {
        let key = expression(c)?;
        highest = highest.max(c.height);
        c.expect(Sign::Colon, "between key and value")?;
        entries.push((key, expression(c)?));
        highest = highest.max(c.height);
        if !c.has_sign(Sign::Comma) {
            break;
        }
    }
    c.close(Sign::CloseDict, open)?;
    c.leave();
    c.set_height(highest + 1)?;
    Ok(entries.into_bump_slice())
}

/// `(x)` is x; with a comma, or nothing in it, it is a tuple.
fn parenthesised<'s>(c: &mut Cursor<'s>) -> Parsed<Expr<'s>> {
    c.enter()?;
    let open = c.bump();
    let (begin, mut highest, mut is_tuple) = (c.begin_values(), 0, c.is_sign(Sign::Close));
    while !c.is_sign(Sign::Close) {
        let value = expression(c)?;
        c.push_value(value);
        highest = highest.max(c.height);
        if !c.has_sign(Sign::Comma) {
            break;
        }
        is_tuple = true;
    }
    c.close(Sign::Close, open)?;
    c.leave();
    c.set_height(highest + 1)?;
    let span = c.span(open.span);
    match c.end_values(begin) {
        [only] if !is_tuple => Ok(Expr { span, ..*only }),
        values => Ok(Expr { kind: ExprKind::Tuple(values), span }),
    }
}

/// The name of a call, where it is written: a call begins with it.
pub(super) fn name_span(call: &Expr<'_>, name: &str) -> Span {
    let length = u32::try_from(name.len()).unwrap_or(0);
    Span { start: call.span.start, end: call.span.start + length }
}

/// Whether the value can be assigned to.
pub(super) fn is_target(value: &Expr<'_>) -> bool {
    matches!(value.kind, ExprKind::Name(_) | ExprKind::Index(_))
}

/// The name alone, when the value is one.
pub(super) fn as_name(value: &Expr<'_>) -> Option<NameId> {
    match value.kind {
        ExprKind::Name(id) => Some(id),
        _ => None,
    }
}
