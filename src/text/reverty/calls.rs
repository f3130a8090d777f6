//! The calls in a program, and what is called before Python knows it.
//!
//! Owns the walk through statements and values. In Reverty a function is known everywhere; in Python
//! from its definition on.

use super::ast::{Expr, ExprKind, Function, Program, Stmt, StmtKind};
use super::fault::{Faults, Span};
use super::words::NameId;

/// Calls `found` for every call in a statement, with the name that is called; not for those in
/// functions.
pub(super) fn each_call(stmt: &Stmt<'_>, found: &mut impl FnMut(NameId, Span)) {
    match &stmt.kind {
        StmtKind::Function(_) | StmtKind::Break | StmtKind::Continue => {}
        StmtKind::If { branches, otherwise } => {
            for branch in branches {
                in_value(&branch.condition, found);
                in_block(branch.body, found);
            }
            otherwise.iter().for_each(|(_, body)| in_block(body, found));
        }
        StmtKind::While { condition, body } => {
            in_value(condition, found);
            in_block(body, found);
        }
        StmtKind::For { over, body, .. } => {
            in_value(over, found);
            in_block(body, found);
        }
        StmtKind::Try { body, handlers } => {
            in_block(body, found);
            handlers.iter().for_each(|handler| in_block(handler.body, found));
        }
        StmtKind::Return(value) => value.iter().for_each(|value| in_value(value, found)),
        StmtKind::Assign { target, value, .. } | StmtKind::Augment { target, value, .. } => {
            in_value(target, found);
            in_value(value, found);
        }
        StmtKind::Expr(value) => in_value(value, found),
    }
}

fn in_block(block: &[Stmt<'_>], found: &mut impl FnMut(NameId, Span)) {
    block.iter().for_each(|stmt| each_call(stmt, found));
}

fn in_value(value: &Expr<'_>, found: &mut impl FnMut(NameId, Span)) {
    if let ExprKind::Call { name, .. } = value.kind {
        found(name, value.span);
    }
    value.each_part(&mut |part| in_value(part, found));
}

/// A function of a program in Python: where its statement is, and what it calls.
struct Definition {
    name: NameId,
    place: usize,
    calls: Vec<NameId>,
}

impl Definition {
    fn of(place: usize, function: &Function<'_>) -> Self {
        let mut calls = Vec::new();
        in_block(function.body, &mut |name, _| {
            if !calls.contains(&name) {
                calls.push(name);
            }
        });
        Self { name: function.name.id, place, calls }
    }
}

/// Refuses what Python would not know yet, and Reverty would: a call, directly or by way of other
/// functions, of one that is defined further down.
pub(super) fn check_order(program: &Program<'_>, faults: &mut Faults) {
    let functions = program.body.iter().enumerate().filter_map(|(place, stmt)| match &stmt.kind {
        StmtKind::Function(function) => Some(Definition::of(place, function)),
        _ => None,
    });
    let functions: Vec<Definition> = functions.collect();
    let last = functions.last().map_or(0, |function| function.place);
    for (place, stmt) in program.body.iter().enumerate().take(last) {
        each_call(stmt, &mut |name, span| {
            if let Some(late) = defined_later(&functions, name, place) {
                let text = program.names.text(late);
                let message = format!(
                    "`{text}` is called before its definition: Python does not know it here, \
                     Reverty does"
                );
                faults.add(span, message, "Move the definition before this line.");
            }
        });
    }
}

/// What of the functions that a call of `name` leads to is defined after the statement at `place`.
fn defined_later(functions: &[Definition], name: NameId, place: usize) -> Option<NameId> {
    let (mut open, mut seen) = (vec![name], Vec::new());
    while let Some(name) = open.pop() {
        let Some(function) = functions.iter().find(|own| own.name == name) else { continue };
        if seen.contains(&function.place) {
            continue;
        }
        if function.place > place {
            return Some(name);
        }
        seen.push(function.place);
        open.extend(&function.calls);
    }
    None
}
