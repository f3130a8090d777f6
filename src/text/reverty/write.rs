//! Expressions as text, with the parentheses that they need and no others.
//!
//! Owns what both languages write alike. The recursion is as deep as the tree, which is bounded
//! where it is read.

use super::ast::{Expr, ExprKind, Level, Op, StmtKind};
use super::literal;
use super::words::{self, Dialect, Keyword, Names};

/// How expressions are written in one language.
#[derive(Clone, Copy)]
pub(super) struct Writer<'n> {
    pub dialect: Dialect,
    pub names: &'n Names<'n>,
}

impl Writer<'_> {
    pub(super) fn keyword(self, keyword: Keyword) -> &'static str {
        match self.dialect {
            Dialect::Reverty => words::reverty(keyword),
            Dialect::Python => words::python(keyword),
        }
    }

    /// Writes an expression that needs no parentheses where it is.
    pub(super) fn expr(self, out: &mut String, value: &Expr<'_>) {
        self.at_level(out, value, Level::Or);
    }

    /// Writes an expression where one is expected that binds at least as tightly as `level`.
    fn at_level(self, out: &mut String, value: &Expr<'_>, level: Level) {
        if value.level() < level {
            out.push('(');
            self.kind(out, value);
            out.push(')');
        } else {
            self.kind(out, value);
        }
    }

    fn kind(self, out: &mut String, value: &Expr<'_>) {
        match &value.kind {
            ExprKind::Number(text) => out.push_str(text),
            ExprKind::Str(inner) => {
                out.push('"');
                match self.dialect {
                    Dialect::Reverty => out.push_str(inner),
                    Dialect::Python => out.push_str(&literal::to_python(inner)),
                }
                out.push('"');
            }
            ExprKind::True => out.push_str(self.keyword(Keyword::True)),
            ExprKind::False => out.push_str(self.keyword(Keyword::False)),
            ExprKind::None => out.push_str(self.keyword(Keyword::None)),
            ExprKind::Name(id) => out.push_str(self.names.text(*id)),
            ExprKind::Call { name, args } => {
                out.push_str(self.names.text(*name));
                self.list(out, ["(", ")"], args);
            }
            ExprKind::Negative(inner) => self.behind(out, "-", inner, Level::Unary),
            ExprKind::Positive(inner) => self.behind(out, "+", inner, Level::Unary),
            ExprKind::Not(inner) => {
                out.push_str(self.keyword(Keyword::Not));
                self.behind(out, " ", inner, Level::Not);
            }
            ExprKind::Chain(chain) => {
                let inner = chain.level.tighter();
                self.at_level(out, &chain.first, inner);
                for (op, operand) in chain.others() {
                    out.push(' ');
                    out.push_str(self.operator(*op));
                    out.push(' ');
                    self.at_level(out, operand, inner);
                }
            }
            ExprKind::List(values) => self.list(out, ["[", "]"], values),
            ExprKind::Tuple(values) => {
                self.list(out, ["(", if values.len() == 1 { ",)" } else { ")" }], values);
            }
            ExprKind::Dict(entries) => {
                let entry = |out: &mut String, (key, value): &(Expr<'_>, Expr<'_>)| {
                    self.expr(out, key);
                    self.behind(out, ": ", value, Level::Or);
                };
                listed(out, ["{", "}"], entries, entry);
            }
            ExprKind::Index(parts) => {
                self.at_level(out, &parts.0, Level::Atom);
                out.push('[');
                self.expr(out, &parts.1);
                out.push(']');
            }
        }
    }

    /// Writes a value behind a sign.
    fn behind(self, out: &mut String, sign: &str, value: &Expr<'_>, level: Level) {
        out.push_str(sign);
        self.at_level(out, value, level);
    }

    fn list(self, out: &mut String, brackets: [&str; 2], values: &[Expr<'_>]) {
        listed(out, brackets, values, |out, value| self.expr(out, value));
    }

    pub(super) fn operator(self, op: Op) -> &'static str {
        match op {
            Op::Or => self.keyword(Keyword::Or),
            Op::And => self.keyword(Keyword::And),
            _ => op.python(),
        }
    }

    /// Writes a statement without a block.
    pub(super) fn simple(self, out: &mut String, kind: &StmtKind<'_>) {
        match kind {
            StmtKind::Return(value) => {
                out.push_str(self.keyword(Keyword::Return));
                if let Some(value) = value {
                    out.push(' ');
                    self.expr(out, value);
                }
            }
            StmtKind::Assign { target, declared, value } => {
                self.expr(out, target);
                if let Some(declared) = declared {
                    out.push_str(": ");
                    out.push_str(self.keyword(declared.keyword()));
                }
                out.push_str(" = ");
                self.expr(out, value);
            }
            StmtKind::Augment { target, op, value } => {
                self.expr(out, target);
                out.push(' ');
                out.push_str(op.python());
                out.push_str("= ");
                self.expr(out, value);
            }
            StmtKind::Expr(value) => self.expr(out, value),
            StmtKind::Break => out.push_str(self.keyword(Keyword::Break)),
            StmtKind::Continue => out.push_str(self.keyword(Keyword::Continue)),
            _ => {}
        }
    }
}

/// Writes several things between two brackets.
fn listed<T>(
    out: &mut String,
    [open, close]: [&str; 2],
    all: &[T],
    write: impl Fn(&mut String, &T),
) {
    out.push_str(open);
    for (number, one) in all.iter().enumerate() {
        out.push_str(if number == 0 { "" } else { ", " });
        write(out, one);
    }
    out.push_str(close);
}
