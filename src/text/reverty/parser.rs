//! Statements of Reverty.
//!
//! Owns their order: what follows a colon.

use bumpalo::Bump;

use super::ast::{
    Block, Branch, Expr, Function, Handler, Name, Place, Program, Stmt, StmtKind, Type,
};
use super::clause::{
    self, Clause, augment, augmenting, check_target, keyword_alone, name, parameters, returned,
    simple,
};
use super::cursor::{Cursor, Failed, Parsed};
use super::expr::{as_name, expression};
use super::fault::{Faults, Span};
use super::hints;
use super::lexer::{Tok, Token};
use super::sign::Sign;
use super::words::{self, Dialect, Keyword};

/// Reads a whole program, and what is wrong with its form.
pub(super) fn parse<'s>(arena: &'s Bump, text: &'s str) -> (Program<'s>, Faults) {
    let mut c = Cursor::new(arena, text, Dialect::Reverty);
    let body = clause::program(&mut c, clause);
    let lexer = c.lexer;
    (Program { body, comments: lexer.comments, names: lexer.names }, lexer.faults)
}

fn clause<'s>(c: &mut Cursor<'s>) -> Parsed<Clause<'s>> {
    let start = c.token();
    match start.kind {
        Tok::Sign(Sign::Colon) => {
            c.bump();
            after_colon(c, start)
        }
        Tok::Key(Keyword::Else | Keyword::Try) => {
            missing_colon(c, start);
            after_colon(c, start)
        }
        Tok::Key(_) if c.lexer.is_assignment_ahead() => {
            let message = format!("`{}` is a keyword of Reverty", c.text(start.span));
            Err(c.fault(start.span, message, "A keyword cannot be a name: use another one."))
        }
        Tok::Key(keyword) => match keyword {
            Keyword::Return => returned(c, start),
            Keyword::Break => keyword_alone(c, start, StmtKind::Break),
            Keyword::Continue => keyword_alone(c, start, StmtKind::Continue),
            Keyword::Def
            | Keyword::If
            | Keyword::Elif
            | Keyword::While
            | Keyword::For
            | Keyword::In
            | Keyword::Except => {
                let word = c.text(start.span);
                let message = format!("`{word}` comes at the end of its line");
                Err(c.fault(start.span, message, hints::form(keyword)))
            }
            _ if keyword != Keyword::None && Type::of(keyword).is_some() => function(c, start),
            _ => expression_line(c, start),
        },
        _ => expression_line(c, start),
    }
}

/// Notes that a line begins as if its colon had been forgotten.
fn missing_colon(c: &mut Cursor<'_>, start: Token) {
    let keyword = match c.kind() {
        Tok::Key(keyword) => keyword,
        _ => Keyword::Def,
    };
    c.fault(start.span, "the colon at the beginning of the line is missing", hints::form(keyword));
}

/// A line that begins with an expression: itself, an assignment, or the condition of a statement
/// whose colon is missing.
fn expression_line<'s>(c: &mut Cursor<'s>, start: Token) -> Parsed<Clause<'s>> {
    let value = expression(c)?;
    if let Some(op) = augmenting(c.kind()) {
        return augment(c, start, (value, op));
    }
    match c.kind() {
        Tok::Sign(Sign::Assign | Sign::Colon) => assignment(c, start, value),
        Tok::Sign(Sign::Arrow) => function_after(c, start, &value),
        Tok::Key(Keyword::If | Keyword::Elif | Keyword::While | Keyword::In | Keyword::Except) => {
            c.check_line()?;
            missing_colon(c, start);
            after_condition(c, start, value)
        }
        Tok::Name(_) if as_name(&value).is_some() => Err(prose(c, start)),
        Tok::Python(id)
            if as_name(&value).is_some()
                && words::from_python(c.lexer.names.text(id)).is_none() =>
        {
            Err(prose(c, start))
        }
        _ => simple(c, start, StmtKind::Expr(value)),
    }
}

/// Notes that words follow each other as in a sentence.
fn prose(c: &mut Cursor<'_>, start: Token) -> Failed {
    let message = "words follow each other: this is no statement";
    let hint = "Write sentences as comments, after `#`; a call has parentheses: `print(x)`.";
    c.fault(start.span, message, hint)
}

fn assignment<'s>(c: &mut Cursor<'s>, start: Token, target: Expr<'s>) -> Parsed<Clause<'s>> {
    check_target(c, &target)?;
    let mut declared = None;
    if c.has_sign(Sign::Colon) {
        if as_name(&target).is_none() {
            let hint = "Declare the type of the name where it is first assigned.";
            return Err(c.fault(target.span, "only a name has a type", hint));
        }
        declared = Some(type_hint(c)?);
    }
    c.expect(Sign::Assign, "and a value")?;
    let value = expression(c)?;
    simple(c, start, StmtKind::Assign { target, declared, value })
}

/// Reads a type.
fn type_hint(c: &mut Cursor<'_>) -> Parsed<Type> {
    let token = c.token();
    if let Tok::Key(keyword) = token.kind
        && let Some(own) = Type::of(keyword)
    {
        c.bump();
        return Ok(own);
    }
    let word = c.text(token.span);
    if matches!(token.kind, Tok::Name(_) | Tok::Python(_)) {
        let hint = hints::of_type(word, Dialect::Reverty);
        return Err(c.fault(token.span, format!("`{word}` is not a type"), hint));
    }
    Err(c.unexpected("a type"))
}

fn after_colon<'s>(c: &mut Cursor<'s>, start: Token) -> Parsed<Clause<'s>> {
    match c.kind() {
        Tok::Key(Keyword::Else) => {
            c.bump();
            let (place, body) = suite(c, start, "esle")?;
            Ok(Clause::Else(place, body))
        }
        Tok::Key(Keyword::Try) => {
            c.bump();
            let (place, body) = suite(c, start, "yrt")?;
            Ok(Clause::Stmt(Stmt { kind: StmtKind::Try { body, handlers: c.list() }, place }))
        }
        Tok::Key(Keyword::Except) => {
            c.bump();
            let (place, body) = suite(c, start, "tpecxe")?;
            Ok(Clause::Except(Handler { name: None, body, place }))
        }
        Tok::Key(keyword) if keyword != Keyword::None && Type::of(keyword).is_some() => {
            function(c, start)
        }
        Tok::Key(keyword @ (Keyword::Def | Keyword::If | Keyword::Elif | Keyword::While)) => {
            let word = c.text(c.token().span);
            let message = format!("`{word}` comes at the end of its line");
            Err(c.fault(c.token().span, message, hints::form(keyword)))
        }
        _ => {
            let condition = expression(c)?;
            after_condition(c, start, condition)
        }
    }
}

/// What follows the expression after a colon says which statement it is.
fn after_condition<'s>(
    c: &mut Cursor<'s>,
    start: Token,
    condition: Expr<'s>,
) -> Parsed<Clause<'s>> {
    match c.kind() {
        Tok::Key(Keyword::If) => {
            c.bump();
            let (place, body) = suite(c, start, "fi")?;
            let mut branches = c.list();
            branches.push(Branch { condition, body, place });
            Ok(Clause::Stmt(Stmt { kind: StmtKind::If { branches, otherwise: None }, place }))
        }
        Tok::Key(Keyword::Elif) => {
            c.bump();
            let (place, body) = suite(c, start, "file")?;
            Ok(Clause::Elif(Branch { condition, body, place }))
        }
        Tok::Key(Keyword::While) => {
            c.bump();
            let (place, body) = suite(c, start, "elihw")?;
            Ok(Clause::Stmt(Stmt { kind: StmtKind::While { condition, body }, place }))
        }
        Tok::Key(Keyword::In) => {
            c.bump();
            let name = name(c, "the name that takes each value")?;
            if !c.has_key(Keyword::For) {
                return Err(c.unexpected("`rof`"));
            }
            let (place, body) = suite(c, start, "rof")?;
            Ok(Clause::Stmt(Stmt { kind: StmtKind::For { over: condition, name, body }, place }))
        }
        Tok::Key(Keyword::Except) => {
            c.bump();
            let Some(id) = as_name(&condition) else {
                let hint = "Write its name, such as `: ValueError tpecxe`.";
                return Err(c.fault(condition.span, "this is not an exception", hint));
            };
            let name = Some(Name { id, span: condition.span });
            let (place, body) = suite(c, start, "tpecxe")?;
            Ok(Clause::Except(Handler { name, body, place }))
        }
        Tok::Sign(Sign::Arrow) => function_after(c, start, &condition),
        _ => Err(c.unexpected("`fi`, `file`, `elihw`, or `ni NAME rof`")),
    }
}

/// `enoN` was read as a value before its arrow was seen.
fn function_after<'s>(c: &mut Cursor<'s>, start: Token, value: &Expr<'_>) -> Parsed<Clause<'s>> {
    if matches!(value.kind, super::ast::ExprKind::None) {
        return function_from(c, start, Type::None);
    }
    let word: String = c.text(value.span).chars().take(40).collect();
    let hint = hints::of_type(&word, Dialect::Reverty);
    Err(c.fault(value.span, format!("`{word}` is not a type"), hint))
}

fn function<'s>(c: &mut Cursor<'s>, start: Token) -> Parsed<Clause<'s>> {
    let returns = type_hint(c)?;
    function_from(c, start, returns)
}

/// A function from its arrow on.
fn function_from<'s>(c: &mut Cursor<'s>, start: Token, returns: Type) -> Parsed<Clause<'s>> {
    c.expect(Sign::Arrow, "after the type that is returned")?;
    let parameters = parameters(c, parameter)?;
    let name = name(c, "the name of the function")?;
    if !c.has_key(Keyword::Def) {
        return Err(c.unexpected("`fed`"));
    }
    // As in the published examples.
    c.has_sign(Sign::Colon);
    let (place, body) = suite(c, start, "fed")?;
    let function = c.keep(Function { name, parameters, returns, body });
    Ok(Clause::Stmt(Stmt { kind: StmtKind::Function(function), place }))
}

fn parameter(c: &mut Cursor<'_>) -> Parsed<(Name, Type)> {
    let first = c.token();
    if c.is_sign(Sign::Close) {
        return Err(c.no_more("a parameter"));
    }
    let is_turned = matches!(first.kind, Tok::Name(_)) && {
        let word = c.text(first.span);
        hints::of_type(word, Dialect::Reverty).starts_with("Types")
    };
    if is_turned {
        let hint = "Write `tni: n`.";
        return Err(c.fault(first.span, "the type comes before the name of a parameter", hint));
    }
    let declared = type_hint(c)?;
    c.expect(Sign::Colon, "between type and name")?;
    Ok((name(c, "the name of the parameter")?, declared))
}

/// A block: one statement on the same line, or deeper lines.
fn suite<'s>(c: &mut Cursor<'s>, start: Token, after: &str) -> Parsed<(Place, Block<'s>)> {
    let place = c.place(start);
    if c.is_sign(Sign::Colon) {
        let span: Span = c.token().span;
        let hint = "The colon comes first in the line; remove this one.";
        c.fault(span, format!("there is no colon after `{after}`"), hint);
        c.bump();
        if c.kind() != Tok::Newline {
            return Err(Failed);
        }
    }
    c.check_line()?;
    let first = c.token();
    if first.kind != Tok::Newline {
        c.enter_line();
        let read = clause(c)?;
        c.leave_line();
        // Anything else has a block, which the line cannot have.
        let Clause::Stmt(stmt) = read else { return Err(Failed) };
        return Ok((place, std::slice::from_ref(c.keep(stmt))));
    }
    c.bump();
    if c.kind() != Tok::Indent {
        let hint = "Indent the lines that belong to it; `enoN` does nothing.";
        c.no_block(place, &format!("there is no block after `{after}`"), hint);
        // So that what belongs to this statement is still found.
        return Ok((place, &[]));
    }
    Ok((place, clause::block(c, clause)))
}
