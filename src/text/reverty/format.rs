//! Programs in the one canonical form: four spaces, one space around operators, heads with their
//! colon first, no parentheses without need, one empty line at most.
//!
//! Owns where comments go: each stays before the statement that it was before, or at the end of its
//! line. What is written is read back as the same tree.

use std::fmt::Write as _;

use super::ast::{Comment, Expr, Function, Place, Program, Stmt, StmtKind};
use super::words::{Dialect, Keyword};
use super::write::Writer;

/// After every line of the program.
const NO_LINE: u32 = u32::MAX;

/// Writes a program.
pub(super) fn format(program: &Program<'_>) -> String {
    let writer = Writer { dialect: Dialect::Reverty, names: &program.names };
    let mut form = Formatter {
        out: String::new(),
        writer,
        comments: &program.comments,
        depth: 0,
        last_line: 0,
    };
    form.block(program.body, NO_LINE);
    form.comments_before(NO_LINE, 0);
    form.out
}

struct Formatter<'p> {
    out: String,
    writer: Writer<'p>,
    /// Those that are still to be written.
    comments: &'p [Comment<'p>],
    depth: usize,
    /// The line of the source that was written last; 0 at the beginning of a block.
    last_line: u32,
}

impl Formatter<'_> {
    /// Writes statements; what comes after them is in the line `until`.
    fn block(&mut self, block: &[Stmt<'_>], until: u32) {
        let lines = block.iter().skip(1).map(|stmt| stmt.place.line).chain([until]);
        for (stmt, next) in block.iter().zip(lines) {
            self.stmt(stmt, next);
        }
        if let Some(first) = block.first().filter(|_| self.depth > 0) {
            self.comments_before(until, first.place.indent);
        }
    }

    /// Writes the comments above a line that are indented at least so far.
    fn comments_before(&mut self, line: u32, indent: u32) {
        while let Some((comment, rest)) = self.comments.split_first() {
            if comment.line >= line || comment.indent < indent {
                return;
            }
            self.comments = rest;
            self.begin(comment.line);
            self.out.push_str(comment.text);
            self.end(comment.line);
        }
    }

    /// Begins a line for what is in that line of the source; an empty line stays.
    fn begin(&mut self, line: u32) {
        if self.last_line > 0 && line > self.last_line + 1 {
            self.out.push('\n');
        }
        self.out.extend(std::iter::repeat_n("    ", self.depth));
    }

    fn end(&mut self, line: u32) {
        self.out.push('\n');
        self.last_line = line;
    }

    /// Ends the line of a statement or head, with the comment that is behind it.
    fn end_of(&mut self, place: Place) {
        if let Some((comment, rest)) = self.comments.split_first()
            && comment.line == place.end_line
        {
            self.comments = rest;
            self.out.push_str("  ");
            self.out.push_str(comment.text);
        }
        self.end(place.end_line);
    }

    fn stmt(&mut self, stmt: &Stmt<'_>, until: u32) {
        let place = stmt.place;
        self.comments_before(place.end_line, 0);
        if let StmtKind::If { branches, otherwise } = &stmt.kind {
            let ends = branches.iter().skip(1).map(|branch| branch.place.line);
            let last = otherwise.as_ref().map(|(place, _)| place.line);
            let ends = ends.chain(last).chain([until]);
            for (number, (branch, end)) in branches.iter().zip(ends).enumerate() {
                let word = if number == 0 { Keyword::If } else { Keyword::Elif };
                self.head(branch.place, Some(&branch.condition), word, branch.body, end);
            }
            if let Some((place, body)) = otherwise {
                self.head(*place, None, Keyword::Else, body, until);
            }
            return;
        }
        match &stmt.kind {
            StmtKind::While { condition, body } => {
                self.head(place, Some(condition), Keyword::While, body, until);
            }
            StmtKind::For { over, name, body } => {
                self.begin(place.line);
                self.out.push_str(": ");
                self.writer.expr(&mut self.out, over);
                let name = self.writer.names.text(name.id);
                let _ = write!(self.out, " ni {name} rof");
                self.body(place, body, until);
            }
            StmtKind::Try { body, handlers } => {
                let ends = handlers.iter().map(|handler| handler.place.line).chain([until]);
                let mut ends = ends.fuse();
                self.head(place, None, Keyword::Try, body, ends.next().unwrap_or(until));
                for (handler, end) in handlers.iter().zip(ends) {
                    self.comments_before(handler.place.end_line, 0);
                    self.begin(handler.place.line);
                    self.out.push_str(": ");
                    if let Some(name) = handler.name {
                        self.out.push_str(self.writer.names.text(name.id));
                        self.out.push(' ');
                    }
                    self.out.push_str("tpecxe");
                    self.body(handler.place, handler.body, end);
                }
            }
            StmtKind::Function(function) => self.function(function, place, until),
            simple => {
                self.begin(place.line);
                self.writer.simple(&mut self.out, simple);
                self.end_of(place);
            }
        }
    }

    fn head(
        &mut self,
        place: Place,
        condition: Option<&Expr<'_>>,
        word: Keyword,
        body: &[Stmt<'_>],
        until: u32,
    ) {
        self.comments_before(place.end_line, 0);
        self.begin(place.line);
        self.out.push_str(": ");
        if let Some(condition) = condition {
            self.writer.expr(&mut self.out, condition);
            self.out.push(' ');
        }
        self.out.push_str(self.writer.keyword(word));
        self.body(place, body, until);
    }

    fn body(&mut self, place: Place, body: &[Stmt<'_>], until: u32) {
        self.end_of(place);
        self.depth += 1;
        // No empty line after a head.
        self.last_line = 0;
        if body.is_empty() {
            self.begin(0);
            self.out.push_str("enoN");
            self.end(place.end_line);
        }
        self.block(body, until);
        self.depth -= 1;
    }

    fn function(&mut self, function: &Function<'_>, place: Place, until: u32) {
        self.begin(place.line);
        let returns = self.writer.keyword(function.returns.keyword());
        let _ = write!(self.out, ": {returns} -> (");
        for (number, (name, declared)) in function.parameters.iter().enumerate() {
            let declared = self.writer.keyword(declared.keyword());
            let comma = if number == 0 { "" } else { ", " };
            let _ = write!(self.out, "{comma}{declared}: {}", self.writer.names.text(name.id));
        }
        let _ = write!(self.out, ") {} fed", self.writer.names.text(function.name.id));
        self.body(place, function.body, until);
    }
}
