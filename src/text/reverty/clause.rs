//! Lines with their blocks, as both parsers read them.
//!
//! Owns which part belongs to which statement. A fault is noted and the reading continues with the
//! next line. Must not know how a line is written.

use super::ast::{Block, Branch, Expr, Handler, Name, Op, Place, Stmt, StmtKind, Type};
use super::cursor::{Cursor, Failed, Parsed};
use super::expr::{expression, is_target};
use super::lexer::{Tok, Token};
use super::sign::Sign;
use super::words::Dialect;

/// Conditions of one statement.
pub(super) const MOST_BRANCHES: usize = 200;

/// One line with its block: a statement, or a part of the one before it.
pub(super) enum Clause<'s> {
    Stmt(Stmt<'s>),
    Elif(Branch<'s>),
    Else(Place, Block<'s>),
    Except(Handler<'s>),
    /// Nothing is left of it.
    Nothing,
}

/// How a dialect reads a clause.
pub(super) type ReadClause = for<'s> fn(&mut Cursor<'s>) -> Parsed<Clause<'s>>;

/// Reads all statements of a program.
pub(super) fn program<'s>(c: &mut Cursor<'s>, clause: ReadClause) -> Block<'s> {
    let body = c.begin_block();
    while c.kind() != Tok::End {
        statements(c, body, clause);
        c.has(Tok::Dedent);
    }
    c.end_block(body)
}

/// Reads the statements that are indented from here on.
pub(super) fn block<'s>(c: &mut Cursor<'s>, clause: ReadClause) -> Block<'s> {
    c.bump();
    let block = c.begin_block();
    statements(c, block, clause);
    c.has(Tok::Dedent);
    c.end_block(block)
}

/// Reads statements up to the end of the block.
fn statements(c: &mut Cursor<'_>, block: usize, clause: ReadClause) {
    loop {
        let start = c.token();
        match start.kind {
            Tok::End | Tok::Dedent => return,
            Tok::Newline => {
                c.bump();
            }
            Tok::Indent => {
                let hint = "Indent it as the line before it.";
                c.fault(start.span, "this line is indented deeper than its block", hint);
                c.bump();
                statements(c, block, clause);
                c.has(Tok::Dedent);
            }
            _ => match clause(c) {
                Ok(clause) => attach(c, block, clause, start),
                Err(Failed) => {
                    c.recover(start);
                    // The statements of its block are read for their own faults.
                    if c.kind() == Tok::Indent {
                        self::block(c, clause);
                    }
                }
            },
        }
    }
}

/// Puts a part of a statement where it belongs.
fn attach<'s>(c: &mut Cursor<'s>, block: usize, clause: Clause<'s>, start: Token) {
    let dialect = c.dialect();
    let last = c.last_statement(block).map(|last| &mut last.kind);
    match (clause, last) {
        (Clause::Stmt(stmt), _) => c.push_statement(stmt),
        (Clause::Nothing, _) => {}
        (Clause::Elif(branch), Some(StmtKind::If { branches, otherwise: None })) => {
            branches.push(branch);
            if branches.len() == MOST_BRANCHES {
                let message = format!("a statement has at most {MOST_BRANCHES} conditions");
                c.fault(start.span, message, "Move some of them into a function.");
            }
        }
        (Clause::Else(place, body), Some(StmtKind::If { otherwise: otherwise @ None, .. })) => {
            *otherwise = Some((place, body));
        }
        (Clause::Except(handler), Some(StmtKind::Try { handlers, .. })) => {
            let takes_all = handlers.last().is_some_and(|last| last.name.is_none());
            handlers.push(handler);
            if takes_all && dialect == Dialect::Reverty {
                let hint = "Write the handler without an exception last.";
                c.fault(start.span, "the handler before this one takes every exception", hint);
            }
        }
        (part, _) => {
            let (message, hint) = misplaced(&part, dialect);
            c.fault(start.span, message, hint);
        }
    }
}

/// What is wrong with a part that belongs to no statement, and what to do about it.
const fn misplaced(part: &Clause<'_>, dialect: Dialect) -> (&'static str, &'static str) {
    const FIRST: &str = "The first condition is `: CONDITION fi`.";
    match (dialect, part) {
        (Dialect::Reverty, Clause::Elif(_)) => ("`file` has no `fi` before it", FIRST),
        (Dialect::Reverty, Clause::Else(..)) => ("`esle` has no `fi` before it", FIRST),
        (Dialect::Reverty, _) => ("`tpecxe` has no `yrt` before it", "Begin with `: yrt`."),
        (Dialect::Python, Clause::Elif(_) | Clause::Else(..)) => {
            ("there is no `if` before this", "Loops and `try` have no `else` in Reverty.")
        }
        (Dialect::Python, _) => ("there is no `try` before this", ""),
    }
}

/// Ends the line of a statement without a block.
pub(super) fn simple<'s>(
    c: &mut Cursor<'s>,
    start: Token,
    kind: StmtKind<'s>,
) -> Parsed<Clause<'s>> {
    let place = c.place(start);
    c.line_end()?;
    Ok(Clause::Stmt(Stmt { kind, place }))
}

/// A statement that is one keyword.
pub(super) fn keyword_alone<'s>(
    c: &mut Cursor<'s>,
    start: Token,
    kind: StmtKind<'s>,
) -> Parsed<Clause<'s>> {
    c.bump();
    simple(c, start, kind)
}

/// What a function returns, from the keyword on.
pub(super) fn returned<'s>(c: &mut Cursor<'s>, start: Token) -> Parsed<Clause<'s>> {
    c.bump();
    let is_bare = matches!(c.kind(), Tok::Newline | Tok::End);
    let value = if is_bare { None } else { Some(expression(c)?) };
    simple(c, start, StmtKind::Return(value))
}

/// The operator of an assignment such as `+=`.
pub(super) const fn augmenting(kind: Tok) -> Option<Op> {
    match kind {
        Tok::Sign(Sign::PlusAssign) => Some(Op::Add),
        Tok::Sign(Sign::MinusAssign) => Some(Op::Sub),
        Tok::Sign(Sign::StarAssign) => Some(Op::Mul),
        Tok::Sign(Sign::SlashAssign) => Some(Op::Div),
        Tok::Sign(Sign::PercentAssign) => Some(Op::Mod),
        _ => None,
    }
}

/// An assignment such as `+=`, from its operator on.
pub(super) fn augment<'s>(
    c: &mut Cursor<'s>,
    start: Token,
    (target, op): (Expr<'s>, Op),
) -> Parsed<Clause<'s>> {
    check_target(c, &target)?;
    c.bump();
    let kind = StmtKind::Augment { target, op, value: expression(c)? };
    simple(c, start, kind)
}

/// The parameters of a function, in their brackets.
pub(super) fn parameters<'s>(
    c: &mut Cursor<'s>,
    parameter: fn(&mut Cursor<'s>) -> Parsed<(Name, Type)>,
) -> Parsed<&'s [(Name, Type)]> {
    let open = c.expect(Sign::Open, "before the parameters")?;
    let mut parameters = c.list();
    // In Python a comma may follow the last one.
    let is_strict = c.dialect() == Dialect::Reverty;
    while !c.is_sign(Sign::Close) || is_strict && !parameters.is_empty() {
        parameters.push(parameter(c)?);
        c.check_count(parameters.len())?;
        if !c.has_sign(Sign::Comma) {
            break;
        }
    }
    c.close(Sign::Close, open)?;
    Ok(parameters.into_bump_slice())
}

pub(super) fn check_target(c: &mut Cursor<'_>, target: &Expr<'_>) -> Parsed<()> {
    if is_target(target) {
        return Ok(());
    }
    let hint = "Assign to a name or an index; compare with `==`.";
    Err(c.fault(target.span, "this cannot be assigned to", hint))
}

pub(super) fn name(c: &mut Cursor<'_>, what: &str) -> Parsed<Name> {
    let Token { kind: Tok::Name(id), span, .. } = c.token() else {
        return Err(c.unexpected(what));
    };
    c.bump();
    Ok(Name { id, span })
}
