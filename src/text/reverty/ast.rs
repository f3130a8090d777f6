//! The syntax tree of a program. Both languages have the same one; where parentheses change nothing
//! they are not in it.
//!
//! Its nodes stand in an arena, which is freed as a whole: nothing in them may need to be dropped.

use bumpalo::collections::Vec as ArenaVec;

use super::fault::Span;
use super::words::{Keyword, NameId, Names};

/// A whole program.
#[derive(Debug)]
pub struct Program<'s> {
    pub body: Block<'s>,
    pub comments: Vec<Comment<'s>>,
    pub names: Names<'s>,
}

/// A comment, from its `#` to the end of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Comment<'s> {
    pub text: &'s str,
    pub line: u32,
    /// Bytes before it in its line.
    pub indent: u32,
}

/// Where a statement, or a part of one with a block of its own, is written: its own line or lines,
/// not those of its block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    pub span: Span,
    pub line: u32,
    pub end_line: u32,
    /// Bytes before it in its line.
    pub indent: u32,
}

#[derive(Debug)]
pub struct Stmt<'s> {
    pub kind: StmtKind<'s>,
    pub place: Place,
}

/// The statements of a block; none only where there was an error.
pub type Block<'s> = &'s [Stmt<'s>];

#[derive(Debug)]
pub enum StmtKind<'s> {
    Function(&'s Function<'s>),
    /// Conditions with their blocks in order, then the block of `esle`.
    If {
        branches: ArenaVec<'s, Branch<'s>>,
        otherwise: Option<(Place, Block<'s>)>,
    },
    While {
        condition: Expr<'s>,
        body: Block<'s>,
    },
    For {
        over: Expr<'s>,
        name: Name,
        body: Block<'s>,
    },
    Try {
        body: Block<'s>,
        handlers: ArenaVec<'s, Handler<'s>>,
    },
    Return(Option<Expr<'s>>),
    /// The target is a name or an index.
    Assign {
        target: Expr<'s>,
        declared: Option<Type>,
        value: Expr<'s>,
    },
    Augment {
        target: Expr<'s>,
        op: Op,
        value: Expr<'s>,
    },
    Expr(Expr<'s>),
    Break,
    Continue,
}

#[derive(Debug)]
pub struct Function<'s> {
    pub name: Name,
    pub parameters: &'s [(Name, Type)],
    pub returns: Type,
    pub body: Block<'s>,
}

#[derive(Debug)]
pub struct Branch<'s> {
    pub condition: Expr<'s>,
    pub body: Block<'s>,
    pub place: Place,
}

#[derive(Debug)]
pub struct Handler<'s> {
    /// The exception; without one, any.
    pub name: Option<Name>,
    pub body: Block<'s>,
    pub place: Place,
}

/// A name where it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    pub id: NameId,
    pub span: Span,
}

#[derive(Debug, Clone, Copy)]
pub struct Expr<'s> {
    pub kind: ExprKind<'s>,
    pub span: Span,
}

#[derive(Debug, Clone, Copy)]
pub enum ExprKind<'s> {
    Number(&'s str),
    /// What is between the quotes, as it is written in Reverty.
    Str(&'s str),
    True,
    False,
    None,
    Name(NameId),
    Call {
        name: NameId,
        args: &'s [Expr<'s>],
    },
    Negative(&'s Expr<'s>),
    Positive(&'s Expr<'s>),
    Not(&'s Expr<'s>),
    Chain(&'s Chain<'s>),
    List(&'s [Expr<'s>]),
    Tuple(&'s [Expr<'s>]),
    Dict(&'s [(Expr<'s>, Expr<'s>)]),
    Index(&'s (Expr<'s>, Expr<'s>)),
}

/// Operands of one level with the operators between them: `a - b + c` is one chain, `(a - b) + c`
/// is one in another.
#[derive(Debug)]
pub struct Chain<'s> {
    pub level: Level,
    pub first: Expr<'s>,
    /// Most chains have no more, and need no list.
    pub second: (Op, Expr<'s>),
    pub rest: &'s [(Op, Expr<'s>)],
}

impl<'s> Chain<'s> {
    /// The operands after the first one, each with the operator before it.
    pub fn others(&self) -> impl Iterator<Item = &(Op, Expr<'s>)> {
        std::iter::once(&self.second).chain(self.rest)
    }
}

/// How tightly operators bind, loosest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Or,
    And,
    Not,
    Comparison,
    Sum,
    Product,
    Unary,
    Atom,
}

impl Level {
    /// The next tighter one.
    #[must_use]
    pub const fn tighter(self) -> Self {
        match self {
            Self::Or => Self::And,
            Self::And => Self::Not,
            Self::Not => Self::Comparison,
            Self::Comparison => Self::Sum,
            Self::Sum => Self::Product,
            Self::Product => Self::Unary,
            Self::Unary | Self::Atom => Self::Atom,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Or,
    And,
    Eq,
    Ne,
    Lt,
    Gt,
    Le,
    Ge,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
}

impl Op {
    #[must_use]
    pub const fn level(self) -> Level {
        match self {
            Self::Or => Level::Or,
            Self::And => Level::And,
            Self::Eq | Self::Ne | Self::Lt | Self::Gt | Self::Le | Self::Ge => Level::Comparison,
            Self::Add | Self::Sub => Level::Sum,
            Self::Mul | Self::Div | Self::Mod => Level::Product,
        }
    }

    /// As it is written in both languages; the two words as in Python.
    #[must_use]
    pub const fn python(self) -> &'static str {
        match self {
            Self::Or => "or",
            Self::And => "and",
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Gt => ">",
            Self::Le => "<=",
            Self::Ge => ">=",
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Mod => "%",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    Int,
    Float,
    Str,
    Bool,
    None,
    List,
    Dict,
    Tuple,
}

impl Type {
    /// The type that a keyword names.
    #[must_use]
    pub const fn of(keyword: Keyword) -> Option<Self> {
        Some(match keyword {
            Keyword::Int => Self::Int,
            Keyword::Float => Self::Float,
            Keyword::Str => Self::Str,
            Keyword::Bool => Self::Bool,
            Keyword::None => Self::None,
            Keyword::List => Self::List,
            Keyword::Dict => Self::Dict,
            Keyword::Tuple => Self::Tuple,
            _ => return None,
        })
    }

    #[must_use]
    pub const fn keyword(self) -> Keyword {
        match self {
            Self::Int => Keyword::Int,
            Self::Float => Keyword::Float,
            Self::Str => Keyword::Str,
            Self::Bool => Keyword::Bool,
            Self::None => Keyword::None,
            Self::List => Keyword::List,
            Self::Dict => Keyword::Dict,
            Self::Tuple => Keyword::Tuple,
        }
    }
}

impl Expr<'_> {
    /// How tightly it holds together when it is written without parentheses.
    #[must_use]
    pub const fn level(&self) -> Level {
        match &self.kind {
            ExprKind::Chain(chain) => chain.level,
            ExprKind::Not(_) => Level::Not,
            ExprKind::Negative(_) | ExprKind::Positive(_) => Level::Unary,
            ExprKind::Number(_)
            | ExprKind::Str(_)
            | ExprKind::True
            | ExprKind::False
            | ExprKind::None
            | ExprKind::Name(_)
            | ExprKind::Call { .. }
            | ExprKind::List(_)
            | ExprKind::Tuple(_)
            | ExprKind::Dict(_)
            | ExprKind::Index(_) => Level::Atom,
        }
    }
}
