//! The syntax tree as nodes that a person can read, each with its place.
//!
//! Owns the words of nodes. The recursion is as deep as the tree, which is bounded where it is read.

use serde::Serialize;

use super::ast::{Expr, ExprKind, Place, Program, Stmt, StmtKind};
use super::words::{self, Names};

/// A node: what it is, its own text, where its source begins and ends, and what it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Node {
    pub kind: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The line that it begins in, counted from 1; that of its statement for an expression.
    pub line: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Node>,
}

/// The tree of a program.
pub(super) fn tree(program: &Program<'_>) -> Node {
    let maker = Maker { names: &program.names };
    maker.node("program", "", 1, maker.block(program.body))
}

/// The nodes as indented lines: what each is, and its text.
#[must_use]
pub fn outline(node: &Node) -> String {
    let mut out = String::new();
    write_outline(node, 0, &mut out);
    out
}

fn write_outline(node: &Node, depth: usize, out: &mut String) {
    out.extend(std::iter::repeat_n("  ", depth));
    out.push_str(node.kind);
    if !node.text.is_empty() {
        out.push(' ');
        out.push_str(&node.text);
    }
    out.push('\n');
    node.children.iter().for_each(|child| write_outline(child, depth + 1, out));
}

#[derive(Clone, Copy)]
struct Maker<'p> {
    names: &'p Names<'p>,
}

impl Maker<'_> {
    fn node(self, kind: &'static str, text: &str, line: u32, children: Vec<Node>) -> Node {
        Node { kind, text: text.to_owned(), line, children }
    }

    fn block(self, block: &[Stmt<'_>]) -> Vec<Node> {
        block.iter().map(|stmt| self.stmt(stmt)).collect()
    }

    fn part(self, kind: &'static str, place: Place, body: &[Stmt<'_>]) -> Node {
        self.node(kind, "", place.line, self.block(body))
    }

    fn stmt(self, stmt: &Stmt<'_>) -> Node {
        let line = stmt.place.line;
        match &stmt.kind {
            StmtKind::Function(function) => {
                let word = |declared: super::ast::Type| words::reverty(declared.keyword());
                let text =
                    format!("{} -> {}", self.names.text(function.name.id), word(function.returns));
                let parameters = function.parameters.iter().map(|(name, declared)| {
                    let text = format!("{}: {}", word(*declared), self.names.text(name.id));
                    self.node("parameter", &text, line, Vec::new())
                });
                let mut children: Vec<Node> = parameters.collect();
                children.push(self.part("block", stmt.place, function.body));
                self.node("function", &text, line, children)
            }
            StmtKind::If { branches, otherwise } => {
                let branches = branches.iter().map(|branch| {
                    let line = branch.place.line;
                    let condition = self.expr(&branch.condition, line);
                    let body = self.part("block", branch.place, branch.body);
                    self.node("branch", "", line, vec![condition, body])
                });
                let otherwise =
                    otherwise.iter().map(|(place, body)| self.part("otherwise", *place, body));
                self.node("if", "", line, branches.chain(otherwise).collect())
            }
            StmtKind::While { condition, body } => {
                let children =
                    vec![self.expr(condition, line), self.part("block", stmt.place, body)];
                self.node("while", "", line, children)
            }
            StmtKind::For { over, name, body } => {
                let children = vec![self.expr(over, line), self.part("block", stmt.place, body)];
                self.node("for", self.names.text(name.id), line, children)
            }
            StmtKind::Try { body, handlers } => {
                let mut children = vec![self.part("block", stmt.place, body)];
                children.extend(handlers.iter().map(|handler| {
                    let name = handler.name.map_or("", |name| self.names.text(name.id));
                    self.node("handler", name, handler.place.line, self.block(handler.body))
                }));
                self.node("try", "", line, children)
            }
            simple => self.simple(simple, line),
        }
    }

    fn simple(self, kind: &StmtKind<'_>, line: u32) -> Node {
        let (kind, text, values) = match kind {
            StmtKind::Return(value) => ("return", "", value.iter().collect()),
            StmtKind::Assign { target, declared, value } => {
                let declared = declared.map_or("", |declared| words::reverty(declared.keyword()));
                ("assign", declared, vec![target, value])
            }
            StmtKind::Augment { target, op, value } => {
                ("augment", op.python(), vec![target, value])
            }
            StmtKind::Expr(value) => ("expression", "", vec![value]),
            StmtKind::Break => ("break", "", Vec::new()),
            StmtKind::Continue => ("continue", "", Vec::new()),
            _ => ("block", "", Vec::new()),
        };
        let values = values.into_iter().map(|value| self.expr(value, line));
        self.node(kind, text, line, values.collect())
    }

    fn expr(self, value: &Expr<'_>, line: u32) -> Node {
        let mut parts = Vec::new();
        value.each_part(&mut |part| parts.push(self.expr(part, line)));
        let mut node = |kind, text: &str| self.node(kind, text, line, std::mem::take(&mut parts));
        match &value.kind {
            ExprKind::Number(text) => node("number", text),
            ExprKind::Str(text) => node("string", &format!("\"{text}\"")),
            ExprKind::True => node("value", "eurT"),
            ExprKind::False => node("value", "eslaF"),
            ExprKind::None => node("value", "enoN"),
            ExprKind::Name(id) => node("name", self.names.text(*id)),
            ExprKind::Call { name, .. } => node("call", self.names.text(*name)),
            ExprKind::Negative(_) => node("negative", ""),
            ExprKind::Positive(_) => node("positive", ""),
            ExprKind::Not(_) => node("not", ""),
            ExprKind::List(_) => node("list", ""),
            ExprKind::Tuple(_) => node("tuple", ""),
            ExprKind::Index(_) => node("index", ""),
            ExprKind::Chain(chain) => {
                let mut parts = parts.into_iter();
                let mut children: Vec<Node> = parts.next().into_iter().collect();
                children.extend(chain.others().zip(parts).map(|((op, _), operand)| {
                    self.node("operator", op.python(), line, vec![operand])
                }));
                self.node("operation", "", line, children)
            }
            ExprKind::Dict(_) => {
                let (mut entries, mut parts) = (Vec::new(), parts.into_iter());
                while let (Some(key), Some(value)) = (parts.next(), parts.next()) {
                    entries.push(self.node("entry", "", line, vec![key, value]));
                }
                self.node("dictionary", "", line, entries)
            }
        }
    }
}
