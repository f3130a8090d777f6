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

impl<'s> Program<'s> {
    /// The functions that it defines, each with its statement.
    pub fn functions(&self) -> impl Iterator<Item = (&'s Stmt<'s>, &'s Function<'s>)> {
        self.body.iter().filter_map(|stmt| match &stmt.kind {
            StmtKind::Function(function) => Some((stmt, *function)),
            _ => None,
        })
    }
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
        const WORDS: [&str; 13] =
            ["or", "and", "==", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "%"];
        WORDS[self as usize]
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

/// The keyword of each type.
const TYPES: [(Type, Keyword); 8] = [
    (Type::Int, Keyword::Int),
    (Type::Float, Keyword::Float),
    (Type::Str, Keyword::Str),
    (Type::Bool, Keyword::Bool),
    (Type::None, Keyword::None),
    (Type::List, Keyword::List),
    (Type::Dict, Keyword::Dict),
    (Type::Tuple, Keyword::Tuple),
];

impl Type {
    /// The type that a keyword names.
    #[must_use]
    pub fn of(keyword: Keyword) -> Option<Self> {
        TYPES.iter().find(|(_, own)| *own == keyword).map(|(own, _)| *own)
    }

    #[must_use]
    pub const fn keyword(self) -> Keyword {
        TYPES[self as usize].1
    }
}

impl<'s> Expr<'s> {
    /// How tightly it holds together when it is written without parentheses.
    #[must_use]
    pub const fn level(&self) -> Level {
        match &self.kind {
            ExprKind::Chain(chain) => chain.level,
            ExprKind::Not(_) => Level::Not,
            ExprKind::Negative(_) | ExprKind::Positive(_) => Level::Unary,
            _ => Level::Atom,
        }
    }

    /// Calls `take` for each value that it is made of, in their order.
    pub fn each_part(&self, take: &mut impl FnMut(&Self)) {
        match &self.kind {
            ExprKind::Call { args: values, .. }
            | ExprKind::List(values)
            | ExprKind::Tuple(values) => values.iter().for_each(take),
            ExprKind::Negative(inner) | ExprKind::Positive(inner) | ExprKind::Not(inner) => {
                take(inner);
            }
            ExprKind::Chain(chain) => {
                take(&chain.first);
                chain.others().for_each(|(_, operand)| take(operand));
            }
            ExprKind::Dict(entries) => entries.iter().for_each(|(key, value)| {
                take(key);
                take(value);
            }),
            ExprKind::Index(parts) => {
                take(&parts.0);
                take(&parts.1);
            }
            ExprKind::Number(_) | ExprKind::Str(_) | ExprKind::Name(_) => {}
            ExprKind::True | ExprKind::False | ExprKind::None => {}
        }
    }
}
