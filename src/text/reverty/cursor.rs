//! The place of a parser in its tokens, and what is common to all rules: expecting a token, naming
//! what came instead, going on after a fault.
//!
//! Must not know the rules of either language.

use bumpalo::Bump;
use bumpalo::collections::Vec as ArenaVec;

use super::ast::{Block, Expr, Name, Place, Stmt};
use super::fault::Span;
use super::hints;
use super::lexer::{Lexer, Tok, Token};
use super::sign::Sign;
use super::words::{Dialect, Keyword};

/// A rule that did not fit; the fault is noted.
#[derive(Debug)]
pub(super) struct Failed;

pub(super) type Parsed<T> = Result<T, Failed>;

/// Levels of an expression in each other; Python allows 200 parentheses.
pub(super) const MOST_DEPTH: u32 = 90;

/// Operands of an expression in each other, as Python counts: `a + b + c` is three.
pub(super) const MOST_HEIGHT: u32 = 500;

/// Parameters of one function.
pub(super) const MOST_PARAMETERS: usize = 255;

/// The tokens of a text, with the one to be looked at.
pub(super) struct Cursor<'s> {
    /// Where the nodes of the tree stand.
    pub arena: &'s Bump,
    pub lexer: Lexer<'s>,
    /// The end of the last token that was taken.
    last: Token,
    depth: u32,
    /// Whether a statement is read that is the block of one on the same line.
    is_in_line: bool,
    /// Of the expression that was read last.
    pub height: u32,
    /// Names that a rule wants to see again at the end.
    pub noted: Vec<Name>,
    /// The values of the lists that are open, innermost last.
    values: Vec<Expr<'s>>,
    /// The statements of the blocks that are open, innermost last.
    statements: Vec<Stmt<'s>>,
}

impl<'s> Cursor<'s> {
    pub(super) fn new(arena: &'s Bump, text: &'s str, dialect: Dialect) -> Self {
        let mut lexer = Lexer::new(text, dialect);
        lexer.advance();
        Self {
            arena,
            last: lexer.token,
            lexer,
            depth: 0,
            is_in_line: false,
            height: 0,
            noted: Vec::new(),
            values: Vec::new(),
            statements: Vec::new(),
        }
    }

    /// A node that stays as long as the tree.
    pub(super) fn keep<T>(&self, node: T) -> &'s T {
        self.arena.alloc(node)
    }

    /// An empty list that stays as long as the tree.
    pub(super) fn list<T>(&self) -> ArenaVec<'s, T> {
        ArenaVec::new_in(self.arena)
    }

    /// Begins a list of values: where it begins among those of the lists around it.
    pub(super) const fn begin_values(&self) -> usize {
        self.values.len()
    }

    /// Adds a value to the innermost list.
    pub(super) fn push_value(&mut self, value: Expr<'s>) {
        self.values.push(value);
    }

    /// The values of the list that began there, which ends.
    pub(super) fn end_values(&mut self, begin: usize) -> &'s [Expr<'s>] {
        let values = self.arena.alloc_slice_copy(self.values.get(begin..).unwrap_or_default());
        self.values.truncate(begin);
        values
    }

    /// Begins a block: where it begins among the statements of the blocks around it.
    pub(super) const fn begin_block(&self) -> usize {
        self.statements.len()
    }

    /// Adds a statement to the innermost block.
    pub(super) fn push_statement(&mut self, statement: Stmt<'s>) {
        self.statements.push(statement);
    }

    /// The statement that was added last to the block that began there.
    pub(super) fn last_statement(&mut self, begin: usize) -> Option<&mut Stmt<'s>> {
        self.statements.get_mut(begin..)?.last_mut()
    }

    /// The block that began there, which ends.
    pub(super) fn end_block(&mut self, begin: usize) -> Block<'s> {
        let begin = begin.min(self.statements.len());
        self.arena.alloc_slice_fill_iter(self.statements.drain(begin..))
    }

    pub(super) const fn token(&self) -> Token {
        self.lexer.token
    }

    pub(super) const fn kind(&self) -> Tok {
        self.lexer.token.kind
    }

    pub(super) fn text(&self, span: Span) -> &'s str {
        self.lexer.slice(span)
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.lexer.names.dialect()
    }

    /// Takes the token.
    pub(super) fn bump(&mut self) -> Token {
        let taken = self.lexer.token;
        match taken.kind {
            Tok::Sign(Sign::Open | Sign::OpenList | Sign::OpenDict) => self.lexer.brackets += 1,
            Tok::Sign(Sign::Close | Sign::CloseList | Sign::CloseDict) => {
                self.lexer.brackets = self.lexer.brackets.saturating_sub(1);
            }
            _ => {}
        }
        self.last = taken;
        self.lexer.advance();
        taken
    }

    pub(super) fn is_sign(&self, sign: Sign) -> bool {
        self.lexer.token.kind == Tok::Sign(sign)
    }

    /// Takes the token if it is the next one.
    pub(super) fn has(&mut self, kind: Tok) -> bool {
        let is_there = self.kind() == kind;
        if is_there {
            self.bump();
        }
        is_there
    }

    pub(super) fn has_sign(&mut self, sign: Sign) -> bool {
        self.has(Tok::Sign(sign))
    }

    pub(super) fn has_key(&mut self, keyword: Keyword) -> bool {
        self.has(Tok::Key(keyword))
    }

    pub(super) fn expect(&mut self, sign: Sign, after: &str) -> Parsed<Token> {
        if self.is_sign(sign) {
            return Ok(self.bump());
        }
        Err(self.unexpected(&format!("`{}` {after}", sign.text())))
    }

    /// Closes a bracket; what is wrong otherwise is most often that it was never closed.
    pub(super) fn close(&mut self, sign: Sign, open: Token) -> Parsed<()> {
        if self.has_sign(sign) {
            return Ok(());
        }
        let bracket = self.text(open.span);
        if matches!(self.kind(), Tok::End | Tok::Newline | Tok::Dedent)
            || self.lexer.token.line > open.line
        {
            let hint = format!("Add a `{}`.", sign.text());
            return Err(self.fault(open.span, format!("this `{bracket}` is never closed"), hint));
        }
        Err(self.unexpected(&format!("`,` or `{}` after this", sign.text())))
    }

    /// Notes that something else was expected than the token that is there.
    pub(super) fn unexpected(&mut self, expected: &str) -> Failed {
        let Token { kind, span, .. } = self.lexer.token;
        if kind == Tok::Bad {
            return Failed;
        }
        if let Tok::Python(id) = kind {
            let word = self.lexer.names.text(id);
            let (message, hint) = hints::of_python_word(word, self.dialect());
            return self.fault(span, message, hint);
        }
        let found = self.found();
        let hint = hints::instead(kind, self.dialect());
        self.fault(span, format!("expected {expected}, found {found}"), hint)
    }

    /// The token in words.
    fn found(&self) -> String {
        match self.lexer.token.kind {
            Tok::Newline => "the end of the line".to_owned(),
            Tok::Indent => "a deeper indentation".to_owned(),
            Tok::Dedent => "the end of the block".to_owned(),
            Tok::End => "the end of the program".to_owned(),
            Tok::Str => "a string".to_owned(),
            Tok::Number | Tok::Name(_) | Tok::Key(_) | Tok::Python(_) | Tok::Sign(_) | Tok::Bad => {
                let text = self.text(self.lexer.token.span);
                let short: String = text.chars().take(40).collect();
                format!("`{short}`")
            }
        }
    }

    pub(super) fn fault(
        &mut self,
        at: Span,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Failed {
        self.lexer.faults.add(at, message, hint);
        Failed
    }

    /// Notes that a comma was the last one, and what should come after it.
    pub(super) fn no_more(&mut self, expected: &str) -> Failed {
        let message = format!("expected {expected} after the comma, found {}", self.found());
        self.fault(self.lexer.token.span, message, "Remove the comma before it.")
    }

    /// Notes that a line with this place has no block: where the block should begin, which is at the
    /// line itself when nothing comes after it.
    pub(super) fn no_block(&mut self, head: Place, message: &str, hint: &str) -> Failed {
        if self.lexer.is_over() {
            return self.fault(head.span, message, hint);
        }
        let message = format!("{message} in line {}", head.line);
        self.fault(self.lexer.token.span, message, hint)
    }

    /// Goes one level deeper into an expression.
    pub(super) fn enter(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth <= MOST_DEPTH {
            return Ok(());
        }
        let message = format!("this is nested more than {MOST_DEPTH} levels deep");
        let hint = "Assign an inner part to a name first.";
        Err(self.fault(self.lexer.token.span, message, hint))
    }

    pub(super) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Refuses more parameters than anybody can name.
    pub(super) fn check_count(&mut self, parameters: usize) -> Parsed<()> {
        if parameters <= MOST_PARAMETERS {
            return Ok(());
        }
        let message = format!("a function has at most {MOST_PARAMETERS} parameters");
        Err(self.fault(self.last.span, message, "Give it a list."))
    }

    /// Begins a statement on the line of the one that it belongs to.
    pub(super) fn enter_line(&mut self) {
        self.is_in_line = true;
    }

    pub(super) fn leave_line(&mut self) {
        self.is_in_line = false;
    }

    /// Refuses a block within a statement that is such a block itself.
    pub(super) fn check_line(&mut self) -> Parsed<()> {
        if !self.is_in_line {
            return Ok(());
        }
        let hint = "Write it in a block of its own, on deeper lines.";
        Err(self.fault(self.last.span, "only a simple statement can be on the same line", hint))
    }

    /// Notes the height of the expression that was just read.
    pub(super) fn set_height(&mut self, height: u32) -> Parsed<()> {
        self.height = height;
        if height <= MOST_HEIGHT {
            return Ok(());
        }
        let message = format!("an expression has at most {MOST_HEIGHT} operands in a chain");
        Err(self.fault(self.last.span, message, "Assign a part of it to a name first."))
    }

    /// Takes the end of a line.
    pub(super) fn line_end(&mut self) -> Parsed<()> {
        if matches!(self.kind(), Tok::Newline | Tok::End) {
            self.bump();
            return Ok(());
        }
        Err(self.unexpected("the end of the line"))
    }

    /// Skips to the beginning of the next line after a fault in a statement that began with `start`.
    pub(super) fn recover(&mut self, start: Token) {
        self.depth = 0;
        self.is_in_line = false;
        self.lexer.brackets = 0;
        self.values.clear();
        let is_at_start = self.lexer.token.span.start == start.span.start;
        // An open bracket hid the end of the line; what comes now may be a statement.
        let line = if is_at_start { self.lexer.token.line } else { self.last.line };
        loop {
            match self.kind() {
                Tok::End | Tok::Indent | Tok::Dedent => return,
                Tok::Newline => {
                    self.bump();
                    return;
                }
                _ if self.lexer.token.line > line => return,
                _ => {
                    self.bump();
                    self.lexer.brackets = 0;
                }
            }
        }
    }

    /// Where something is written that began with `start` and ended with the last token.
    pub(super) fn place(&self, start: Token) -> Place {
        Place {
            span: start.span.to(self.last.span),
            line: start.line,
            end_line: self.last.line.max(start.line),
            indent: start.indent,
        }
    }

    /// The piece from a token to the last one.
    pub(super) fn span(&self, start: Span) -> Span {
        start.to(self.last.span)
    }
}
