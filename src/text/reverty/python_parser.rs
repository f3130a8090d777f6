//! Statements of Python, as far as Reverty mirrors them.
//!
//! Owns what of Python is refused. Names and types are checked by the same rules as in Reverty.

use bumpalo::Bump;

use super::ast::{
    Block, Branch, Expr, ExprKind, Function, Handler, Name, Op, Place, Program, Stmt, StmtKind,
    Type,
};
use super::calls::check_order;
use super::clause::{
    self, Clause, augment, augmenting, check_target, keyword_alone, name, parameters, returned,
    simple,
};
use super::cursor::{Cursor, Parsed};
use super::expr::{as_name, expression};
use super::fault::Faults;
use super::hints;
use super::lexer::{Lexer, Tok, Token};
use super::python;
use super::scope::each_assigned;
use super::sign::Sign;
use super::words::{self, Dialect, Keyword, NameId};

/// Reads a program in Python, and what of it has no form in Reverty.
pub(super) fn parse<'s>(arena: &'s Bump, text: &'s str) -> (Program<'s>, Faults) {
    let mut c = Cursor::new(arena, text, Dialect::Python);
    let mut body = clause::program(&mut c, clause);
    let Cursor { lexer, noted, .. } = c;
    let Lexer { names, comments, mut faults, .. } = lexer;
    // What Reverty does without being asked.
    let has_guard = body.split_last().filter(|(stmt, _)| {
        matches!(&stmt.kind, StmtKind::If { branches, otherwise: None }
        if matches!(branches.as_slice(), [only] if is_main_guard(only, &|id| names.text(id))))
    });
    body = has_guard.map_or(body, |(_, others)| others);
    let program = Program { body, comments, names };
    if faults.is_empty() {
        check_globals(&program, &noted, &mut faults);
        check_main(&program, has_guard.is_some(), &mut faults);
        check_order(&program, &mut faults);
    }
    (program, faults)
}

/// In Python a function has names of its own; in Reverty those that the program assigns outside of
/// functions are the same everywhere.
fn check_globals(program: &Program<'_>, declared: &[Name], faults: &mut Faults) {
    let globals = python::globals(program);
    let is_global = |id: NameId| globals.get(id.index()).copied().unwrap_or(false);
    for Name { id, span } in declared.iter().filter(|name| !is_global(name.id)) {
        let message = format!("`{}` is assigned in functions only", program.names.text(*id));
        faults.add(*span, message, "Assign it outside of functions, too.");
    }
    let body = &program.body;
    let ends = body.iter().skip(1).map(|stmt| stmt.place.span.start).chain([u32::MAX]);
    for (stmt, end) in body.iter().zip(ends) {
        let StmtKind::Function(function) = &stmt.kind else { continue };
        let own =
            declared.iter().filter(|name| (stmt.place.span.start..end).contains(&name.span.start));
        let mut known: Vec<NameId> = own.map(|name| name.id).collect();
        each_assigned(function.body, &mut |name, _| {
            if is_global(name.id) && !known.contains(&name.id) {
                known.push(name.id);
                let text = program.names.text(name.id);
                let message = format!("`{text}` is a local here, and a global of the program");
                let hint = "A name means one thing in the whole program: use another name.";
                faults.add(name.span, message, hint);
            }
        });
    }
}

/// Reverty calls `main` at the end of a program that does not do so itself.
fn check_main(program: &Program<'_>, has_guard: bool, faults: &mut Faults) {
    let mut functions = program.functions().map(|(_, function)| function);
    let main = functions.find(|own| program.names.text(own.name.id) == "main");
    let main = main.filter(|own| own.parameters.is_empty());
    if let Some(main) = main.filter(|_| python::calls_main(program) == has_guard) {
        let hint = "Call it once, at the end: `main()`.";
        faults.add(main.name.span, "a function `main` of Reverty runs at the end", hint);
    }
}

/// `if __name__ == "__main__": main()`.
fn is_main_guard<'n>(branch: &Branch<'_>, text: &impl Fn(NameId) -> &'n str) -> bool {
    let ExprKind::Chain(chain) = &branch.condition.kind else { return false };
    let is_guard = as_name(&chain.first).is_some_and(|id| text(id) == "__name__")
        && chain.rest.is_empty()
        && matches!(&chain.second, (Op::Eq, Expr { kind: ExprKind::Str(value), .. })
            if *value == "__main__");
    let [Stmt { kind: StmtKind::Expr(call), .. }] = branch.body else { return false };
    let is_call = matches!(&call.kind, ExprKind::Call { name, args }
        if args.is_empty() && text(*name) == "main");
    is_guard && is_call
}

fn clause<'s>(c: &mut Cursor<'s>) -> Parsed<Clause<'s>> {
    let start = c.token();
    let keyword = match start.kind {
        Tok::Key(keyword) => keyword,
        Tok::Python(id) => return word(c, start, c.lexer.names.text(id)),
        _ => return expression_line(c, start),
    };
    match keyword {
        Keyword::Def => function(c, start),
        Keyword::Return => returned(c, start),
        Keyword::Break => keyword_alone(c, start, StmtKind::Break),
        Keyword::Continue => keyword_alone(c, start, StmtKind::Continue),
        Keyword::If | Keyword::Elif | Keyword::While => {
            c.bump();
            let condition = expression(c)?;
            let (place, body) = suite(c, start)?;
            Ok(match keyword {
                Keyword::If => {
                    let mut branches = c.list();
                    branches.push(Branch { condition, body, place });
                    Clause::Stmt(Stmt { kind: StmtKind::If { branches, otherwise: None }, place })
                }
                Keyword::Elif => Clause::Elif(Branch { condition, body, place }),
                _ => Clause::Stmt(Stmt { kind: StmtKind::While { condition, body }, place }),
            })
        }
        Keyword::Else => {
            c.bump();
            let (place, body) = suite(c, start)?;
            Ok(Clause::Else(place, body))
        }
        Keyword::For => for_loop(c, start),
        Keyword::Try => {
            c.bump();
            let (place, body) = suite(c, start)?;
            Ok(Clause::Stmt(Stmt { kind: StmtKind::Try { body, handlers: c.list() }, place }))
        }
        Keyword::Except => except(c, start),
        _ => expression_line(c, start),
    }
}

/// Statements that Reverty does not need, and those that it does not have.
fn word<'s>(c: &mut Cursor<'s>, start: Token, word: &str) -> Parsed<Clause<'s>> {
    match word {
        "pass" => {
            c.bump();
            let none = Expr { kind: ExprKind::None, span: start.span };
            simple(c, start, StmtKind::Expr(none))
        }
        "global" => {
            c.bump();
            loop {
                let name = name(c, "a name")?;
                c.noted.push(name);
                if !c.has_sign(Sign::Comma) {
                    break;
                }
            }
            c.line_end()?;
            Ok(Clause::Nothing)
        }
        _ => Err(c.unexpected("a statement")),
    }
}

fn for_loop<'s>(c: &mut Cursor<'s>, start: Token) -> Parsed<Clause<'s>> {
    c.bump();
    let name = name(c, "the name that takes each value")?;
    if !c.has_key(Keyword::In) {
        return Err(c.unexpected("`in`; a loop of Reverty has one name"));
    }
    let over = expression(c)?;
    let (place, body) = suite(c, start)?;
    Ok(Clause::Stmt(Stmt { kind: StmtKind::For { over, name, body }, place }))
}

fn except<'s>(c: &mut Cursor<'s>, start: Token) -> Parsed<Clause<'s>> {
    c.bump();
    let name = match c.is_sign(Sign::Colon) {
        true => None,
        false => Some(name(c, "the name of one exception")?),
    };
    let (place, body) = suite(c, start)?;
    Ok(Clause::Except(Handler { name, body, place }))
}

fn expression_line<'s>(c: &mut Cursor<'s>, start: Token) -> Parsed<Clause<'s>> {
    let target = expression(c)?;
    if let Some(op) = augmenting(c.kind()) {
        return augment(c, start, (target, op));
    }
    if !c.is_sign(Sign::Assign) && !c.is_sign(Sign::Colon) {
        return simple(c, start, StmtKind::Expr(target));
    }
    check_target(c, &target)?;
    let declared = if c.has_sign(Sign::Colon) { Some(type_hint(c)?) } else { None };
    c.expect(Sign::Assign, "and a value")?;
    let value = expression(c)?;
    simple(c, start, StmtKind::Assign { target, declared, value })
}

/// Reads a type; in Python these are names.
fn type_hint(c: &mut Cursor<'_>) -> Parsed<Type> {
    let token = c.token();
    let text = c.text(token.span);
    let Some(found) = words::from_python(text).and_then(Type::of) else {
        let hint = hints::of_type(text, Dialect::Python);
        let short: String = text.chars().take(40).collect();
        let message = format!("`{}` is not a type of Reverty", short.trim_end());
        return Err(c.fault(token.span, message, hint));
    };
    c.bump();
    if c.is_sign(Sign::OpenList) {
        let hint = format!("Write `{text}` alone.");
        let span = c.token().span;
        return Err(c.fault(span, "types of Reverty have no parameters", hint));
    }
    Ok(found)
}

fn function<'s>(c: &mut Cursor<'s>, start: Token) -> Parsed<Clause<'s>> {
    c.bump();
    let name = name(c, "the name of the function")?;
    let parameters = parameters(c, parameter)?;
    if !c.has_sign(Sign::Arrow) {
        let hint = "Write the type that it returns, such as `-> int` or `-> None`.";
        return Err(c.fault(c.token().span, "a function of Reverty has a type", hint));
    }
    let returns = type_hint(c)?;
    let (place, body) = suite(c, start)?;
    let function = c.keep(Function { name, parameters, returns, body });
    Ok(Clause::Stmt(Stmt { kind: StmtKind::Function(function), place }))
}

fn parameter(c: &mut Cursor<'_>) -> Parsed<(Name, Type)> {
    let own = name(c, "the name of a parameter")?;
    if !c.has_sign(Sign::Colon) {
        let hint = "Write its type, such as `n: int`.";
        return Err(c.fault(own.span, "a parameter of Reverty has a type", hint));
    }
    let declared = type_hint(c)?;
    if c.is_sign(Sign::Assign) {
        let span = c.token().span;
        let hint = "Give every argument in the call.";
        return Err(c.fault(span, "parameters of Reverty have no default", hint));
    }
    Ok((own, declared))
}

fn suite<'s>(c: &mut Cursor<'s>, start: Token) -> Parsed<(Place, Block<'s>)> {
    let place = c.place(start);
    c.expect(Sign::Colon, "before the block")?;
    c.check_line()?;
    if c.kind() != Tok::Newline {
        c.enter_line();
        let read = clause(c)?;
        c.leave_line();
        let body: Block<'_> = match read {
            Clause::Stmt(stmt) => std::slice::from_ref(c.keep(stmt)),
            _ => &[],
        };
        return Ok((place, body));
    }
    c.bump();
    if c.kind() != Tok::Indent {
        return Err(c.no_block(place, "there is no block after this", "Indent its lines."));
    }
    Ok((place, clause::block(c, clause)))
}
