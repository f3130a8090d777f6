//! Programs in Python, with the line of Reverty that each line comes from.
//!
//! Owns the differences of meaning: `global` in functions, definitions before their first call, the
//! call of `main`. Comments stay behind, so that no text of the program is outside of its strings.

use std::fmt::Write as _;

use super::ast::{Expr, ExprKind, Function, Place, Program, Stmt, StmtKind};
use super::calls::each_call;
use super::expr::as_name;
use super::scope::globals_of;
use super::words::{Dialect, Keyword, NameId, declared_function};
use super::write::Writer;

/// A program in Python.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Python {
    pub text: String,
    /// For each line, the line of Reverty that it comes from, counted from 1; 0 for none.
    pub lines: Vec<u32>,
}

impl Python {
    /// The line of Reverty for a line of Python, both counted from 1.
    #[must_use]
    pub fn line_of(&self, line: usize) -> Option<u32> {
        let line = self.lines.get(line.checked_sub(1)?).copied()?;
        (line > 0).then_some(line)
    }
}

/// Whether the program's `main` is called at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    CallMain,
    /// As it is: for a part of a program.
    Nothing,
}

/// Writes a program that has no faults; only the statements from the line `first` on.
pub(super) fn translate(program: &Program<'_>, first: u32, ending: Ending) -> Python {
    let writer = Writer { dialect: Dialect::Python, names: &program.names };
    let globals = globals(program);
    let mut form = PythonForm {
        out: String::new(),
        lines: Vec::new(),
        writer,
        globals,
        declared_global: Vec::new(),
        depth: 0,
    };
    let is_asked = |stmt: &&Stmt<'_>| stmt.place.line >= first;
    let has_early_call = calls_before_definition(program);
    if has_early_call {
        let functions = program.body.iter().filter(is_asked);
        functions.filter(|stmt| is_function(stmt)).for_each(|stmt| form.top(stmt));
    }
    for stmt in program.body.iter().filter(is_asked) {
        if !(has_early_call && is_function(stmt)) {
            form.top(stmt);
        }
    }
    if let Some(place) = main_of(program).filter(|_| ending == Ending::CallMain) {
        form.apart();
        form.line(0, "if __name__ == \"__main__\":");
        form.line(place.line, "    main()");
    }
    Python { text: form.out, lines: form.lines }
}

fn is_function(stmt: &Stmt<'_>) -> bool {
    matches!(stmt.kind, StmtKind::Function(_))
}

/// The names that statements outside of functions assign, by their numbers.
pub(super) fn globals(program: &Program<'_>) -> Vec<bool> {
    let mut globals = vec![false; program.names.len()];
    super::scope::each_assigned(program.body, &mut |name, _| {
        if let Some(own) = globals.get_mut(name.id.index()) {
            *own = true;
        }
    });
    globals
}

/// Where `main` is defined, when it has no parameters and the program does not call it itself.
fn main_of(program: &Program<'_>) -> Option<Place> {
    let is_called = calls_main(program);
    let mut functions = program.functions().filter(|_| !is_called);
    let main = functions.find(|(_, function)| {
        program.names.text(function.name.id) == "main" && function.parameters.is_empty()
    });
    main.map(|(stmt, _)| stmt.place)
}

/// Whether a statement outside of blocks calls `main`.
pub(super) fn calls_main(program: &Program<'_>) -> bool {
    program.body.iter().any(|stmt| match &stmt.kind {
        StmtKind::Expr(Expr { kind: ExprKind::Call { name, .. }, .. }) => {
            program.names.text(*name) == "main"
        }
        _ => false,
    })
}

/// Whether a statement calls a function before all functions are defined. In Reverty the order does
/// not matter; in Python all definitions then come first.
fn calls_before_definition(program: &Program<'_>) -> bool {
    let last = program.body.iter().rposition(is_function).unwrap_or(0);
    let before = program.body.get(..last).unwrap_or_default();
    let mut found = false;
    before.iter().filter(|stmt| !is_function(stmt)).for_each(|stmt| {
        each_call(stmt, &mut |name, _| found |= declared_function(name).is_none());
    });
    found
}

struct PythonForm<'p> {
    out: String,
    lines: Vec<u32>,
    writer: Writer<'p>,
    globals: Vec<bool>,
    /// The globals that the function assigns; Python takes no type for them there.
    declared_global: Vec<NameId>,
    depth: usize,
}

impl PythonForm<'_> {
    /// A statement of the outermost level, with empty lines around functions.
    fn top(&mut self, stmt: &Stmt<'_>) {
        let is_after_function = self.out.lines().next_back().is_some_and(|l| l.starts_with(' '));
        if is_function(stmt) || is_after_function {
            self.apart();
        }
        self.stmt(stmt);
    }

    fn apart(&mut self) {
        if !self.out.is_empty() {
            self.out.push_str("\n\n");
            self.lines.extend([0, 0]);
        }
    }

    fn line(&mut self, from: u32, text: &str) {
        self.begin();
        self.out.push_str(text);
        self.end(from);
    }

    fn begin(&mut self) {
        self.out.extend(std::iter::repeat_n("    ", self.depth));
    }

    fn end(&mut self, from: u32) {
        self.out.push('\n');
        self.lines.push(from);
    }

    fn body(&mut self, from: u32, globals: &[NameId], body: &[Stmt<'_>]) {
        self.out.push(':');
        self.end(from);
        self.depth += 1;
        for id in globals {
            let text = format!("global {}", self.writer.names.text(*id));
            self.line(from, &text);
        }
        if body.is_empty() {
            self.line(from, "pass");
        }
        body.iter().for_each(|stmt| self.stmt(stmt));
        self.depth -= 1;
    }

    /// `word condition:` and the block.
    fn head(
        &mut self,
        place: Place,
        word: Keyword,
        condition: Option<&Expr<'_>>,
        body: &[Stmt<'_>],
    ) {
        self.begin();
        self.out.push_str(self.writer.keyword(word));
        if let Some(condition) = condition {
            self.out.push(' ');
            self.writer.expr(&mut self.out, condition);
        }
        self.body(place.line, &[], body);
    }

    fn stmt(&mut self, stmt: &Stmt<'_>) {
        let place = stmt.place;
        match &stmt.kind {
            StmtKind::Function(function) => self.function(function, place),
            StmtKind::If { branches, otherwise } => {
                for (number, branch) in branches.iter().enumerate() {
                    let word = if number == 0 { Keyword::If } else { Keyword::Elif };
                    self.head(branch.place, word, Some(&branch.condition), branch.body);
                }
                if let Some((place, body)) = otherwise {
                    self.head(*place, Keyword::Else, None, body);
                }
            }
            StmtKind::While { condition, body } => {
                self.head(place, Keyword::While, Some(condition), body);
            }
            StmtKind::For { over, name, body } => {
                self.begin();
                let _ = write!(self.out, "for {} in ", self.writer.names.text(name.id));
                self.writer.expr(&mut self.out, over);
                self.body(place.line, &[], body);
            }
            StmtKind::Try { body, handlers } => {
                self.head(place, Keyword::Try, None, body);
                for handler in handlers {
                    let name =
                        handler.name.map_or("Exception", |own| self.writer.names.text(own.id));
                    self.begin();
                    let _ = write!(self.out, "except {name}");
                    self.body(handler.place.line, &[], handler.body);
                }
            }
            StmtKind::Assign { target, declared: Some(_), value }
                if as_name(target).is_some_and(|id| self.declared_global.contains(&id)) =>
            {
                self.begin();
                self.writer.expr(&mut self.out, target);
                self.out.push_str(" = ");
                self.writer.expr(&mut self.out, value);
                self.end(place.line);
            }
            simple => {
                self.begin();
                self.writer.simple(&mut self.out, simple);
                self.end(place.line);
            }
        }
    }

    fn function(&mut self, function: &Function<'_>, place: Place) {
        self.begin();
        let _ = write!(self.out, "def {}(", self.writer.names.text(function.name.id));
        for (number, (name, declared)) in function.parameters.iter().enumerate() {
            let declared = self.writer.keyword(declared.keyword());
            let comma = if number == 0 { "" } else { ", " };
            let _ = write!(self.out, "{comma}{}: {declared}", self.writer.names.text(name.id));
        }
        let returns = self.writer.keyword(function.returns.keyword());
        let _ = write!(self.out, ") -> {returns}");
        let is_global = |id: NameId| self.globals.get(id.index()).copied().unwrap_or(false);
        self.declared_global = globals_of(function, &is_global);
        let globals = self.declared_global.clone();
        self.body(place.line, &globals, function.body);
        self.declared_global.clear();
    }
}

/// The names of the functions that a program defines.
pub(super) fn defined(program: &Program<'_>) -> Vec<String> {
    let names = program.functions().map(|(_, function)| program.names.text(function.name.id));
    names.map(str::to_owned).collect()
}
