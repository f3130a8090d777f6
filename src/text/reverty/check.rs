//! What is wrong with a program beyond its form: names that are used before they mean something,
//! calls that do not fit, values that are not of the declared type, ways through a function that
//! return nothing.
//!
//! Owns the order in which statements run. Refuses only what is certain; the rest shows when Python
//! runs it.

use super::ast::{Expr, ExprKind, Function, Handler, Name, Op, Program, Stmt, StmtKind, Type};
use super::expr::name_span;
use super::fault::{Faults, Span};
use super::hints;
use super::scope::{Scope, each_assigned};
use super::words::{self, Dialect, EXCEPTIONS, Keyword, NameId};

/// Loops and handlers in each other, as Python counts them: it allows 20.
pub(super) const MOST_LOOPS: u32 = 18;

/// Checks a program whose form may have faults, too.
pub(super) fn check(program: &Program<'_>, faults: &mut Faults) {
    let scope = Scope::of(program, faults);
    let assigned = vec![false; scope.symbols.len()];
    let parameters = vec![None; scope.symbols.len()];
    let mut walk = Walk {
        scope,
        assigned,
        parameters,
        trail: Vec::new(),
        within: None,
        loops: 0,
        nest: 0,
        faults,
    };
    walk.top(program);
    for number in 0..walk.scope.functions.len() {
        walk.function(number);
    }
}

/// Where the flow goes after a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    /// To the next one.
    On,
    /// Out of the loop, or to its next round.
    OutOfLoop,
    Return,
}

/// A walk along the flow.
struct Walk<'f, 'p, 's> {
    scope: Scope<'p, 's>,
    /// Names that some way to here has assigned.
    assigned: Vec<bool>,
    /// Types of the parameters of the function, and of its locals `None`; by names.
    parameters: Vec<Option<Type>>,
    /// Names that became assigned, in order.
    trail: Vec<NameId>,
    /// The function that the walk is in, by its number.
    within: Option<usize>,
    loops: u32,
    nest: u32,
    faults: &'f mut Faults,
}

impl<'p, 's> Walk<'_, 'p, 's> {
    fn top(&mut self, program: &Program<'s>) {
        for stmt in program.body {
            if !matches!(stmt.kind, StmtKind::Function(_)) {
                self.stmt(stmt);
            }
        }
    }

    fn function(&mut self, number: usize) {
        let Some(function) = self.scope.functions.get(number).copied() else { return };
        self.within = Some(number);
        for id in self.trail.split_off(0) {
            self.set(id, false);
        }
        for (name, declared) in function.parameters {
            self.assign(name.id);
            self.set_parameter(name.id, Some(*declared));
        }
        let flow = self.block(function.body);
        // Without a block it has a fault already.
        let has_block = !function.body.is_empty();
        if flow == Flow::On && function.returns != Type::None && has_block {
            self.missing_return(function);
        }
        for (name, _) in function.parameters {
            self.set_parameter(name.id, None);
        }
    }

    fn missing_return(&mut self, function: &Function<'_>) {
        let text = self.scope.names.text(function.name.id);
        let declared = self.scope.names.keyword(function.returns.keyword());
        let message = format!("`{text}` can end without returning a `{declared}`");
        let hint = format!("End every path with `{} VALUE`.", self.word(Keyword::Return));
        self.faults.add(function.name.span, message, hint);
    }

    /// A keyword as the text writes it.
    fn word(&self, keyword: Keyword) -> &'static str {
        self.scope.names.keyword(keyword)
    }

    /// What is said of a program in Reverty, or of one in Python.
    fn in_dialect<T>(&self, reverty: T, python: T) -> T {
        match self.scope.names.dialect() {
            Dialect::Reverty => reverty,
            Dialect::Python => python,
        }
    }

    fn set_parameter(&mut self, id: NameId, declared: Option<Type>) {
        if let Some(own) = self.parameters.get_mut(id.index()) {
            *own = declared;
        }
    }

    fn set(&mut self, id: NameId, value: bool) {
        if let Some(own) = self.assigned.get_mut(id.index()) {
            *own = value;
        }
    }

    fn is_assigned(&self, id: NameId) -> bool {
        self.assigned.get(id.index()).copied().unwrap_or(false)
    }

    fn assign(&mut self, id: NameId) {
        if !self.is_assigned(id) {
            self.set(id, true);
            self.trail.push(id);
        }
    }

    fn block(&mut self, block: &[Stmt<'s>]) -> Flow {
        let mut flow = Flow::On;
        for stmt in block {
            let next = self.stmt(stmt);
            if flow == Flow::On {
                flow = next;
            }
        }
        flow
    }

    /// Walks along one of several ways; what it assigned is not assigned on the others.
    fn way(&mut self, block: &[Stmt<'s>], merged: &mut Vec<NameId>) -> Flow {
        let mark = self.trail.len();
        let flow = self.block(block);
        let own = self.trail.split_off(mark);
        own.iter().for_each(|id| self.set(*id, false));
        if flow != Flow::Return {
            merged.extend(own);
        }
        flow
    }

    fn stmt(&mut self, stmt: &Stmt<'s>) -> Flow {
        match &stmt.kind {
            StmtKind::Function(function) => {
                let hint = "Define every function at the outermost level.";
                let span = function.name.span;
                self.faults.add(span, "a function is defined within another block", hint);
            }
            StmtKind::If { branches, otherwise } => {
                let mut merged = Vec::new();
                let mut flows = Vec::with_capacity(branches.len() + 1);
                for branch in branches {
                    self.value(&branch.condition);
                    flows.push(self.way(branch.body, &mut merged));
                }
                match otherwise {
                    Some((_, body)) => flows.push(self.way(body, &mut merged)),
                    None => flows.push(Flow::On),
                }
                merged.into_iter().for_each(|id| self.assign(id));
                return joined(&flows);
            }
            StmtKind::While { condition, body } => return self.while_loop(condition, body, stmt),
            StmtKind::For { over, name, body } => {
                self.value(over);
                self.goes_over(over);
                self.assign(name.id);
                self.repeated(body, stmt);
            }
            StmtKind::Try { body, handlers } => return self.attempt(body, handlers, stmt),
            StmtKind::Return(value) => {
                self.returned(value.as_ref(), stmt.place.span);
                return Flow::Return;
            }
            StmtKind::Assign { target, value, declared } => {
                self.assigned_to(target, value, *declared)
            }
            StmtKind::Augment { target, value, .. } => {
                self.value(target);
                self.value(value);
            }
            StmtKind::Expr(value) => self.value(value),
            StmtKind::Break | StmtKind::Continue => {
                if self.loops == 0 {
                    let hint = self.in_dialect(
                        "It belongs in the block of `elihw` or `rof`.",
                        "It belongs in the block of `while` or `for`.",
                    );
                    self.faults.add(stmt.place.span, "there is no loop around this", hint);
                }
                return Flow::OutOfLoop;
            }
        }
        Flow::On
    }

    /// A loop goes over values that have parts.
    fn goes_over(&mut self, over: &Expr<'_>) {
        let Some(own) = self.single(over) else { return };
        let message =
            format!("a loop cannot go over a `{}`", self.scope.names.keyword(own.keyword()));
        let hint = match own {
            Type::Int => self.in_dialect(
                "Count with `: range(N) ni NAME rof`.",
                "Count with `for NAME in range(N)`.",
            ),
            _ => "Go over a string, a list, a tuple, a dictionary, or `range(N)`.",
        };
        self.faults.add(over.span, message, hint);
    }

    /// The type of a value that has no parts; none when it may have some.
    fn single(&self, value: &Expr<'_>) -> Option<Type> {
        let own = match &value.kind {
            ExprKind::Name(id) => {
                let parameter = self.parameters.get(id.index()).copied().flatten();
                parameter.or(self.scope.get(*id).declared)?
            }
            ExprKind::Call { name, .. } => match Scope::declared(*name) {
                Some(function) => match function.name {
                    "len" | "int" | "abs" => Type::Int,
                    "float" => Type::Float,
                    _ => return None,
                },
                None => self.scope.function(*name)?.returns,
            },
            ExprKind::Negative(_) | ExprKind::Positive(_) => Type::Int,
            ExprKind::Not(_) => Type::Bool,
            ExprKind::Chain(chain) => match chain.second.0 {
                Op::Eq | Op::Ne | Op::Lt | Op::Gt | Op::Le | Op::Ge => Type::Bool,
                Op::Sub | Op::Div => Type::Int,
                Op::Add => self.single(&chain.first)?,
                Op::Or | Op::And | Op::Mul | Op::Mod => return None,
            },
            _ => literal_type(value)?,
        };
        matches!(own, Type::Int | Type::Float | Type::Bool | Type::None).then_some(own)
    }

    fn while_loop(&mut self, condition: &Expr<'s>, body: &[Stmt<'s>], stmt: &Stmt<'s>) -> Flow {
        each_assigned(body, &mut |name, _| self.assign(name.id));
        self.value(condition);
        self.repeated(body, stmt);
        let is_endless = matches!(condition.kind, ExprKind::True) && !has_break(body);
        if is_endless { Flow::Return } else { Flow::On }
    }

    /// The block of a loop; what it assigns is there in its next round, and after it.
    fn repeated(&mut self, body: &[Stmt<'s>], stmt: &Stmt<'s>) {
        each_assigned(body, &mut |name, _| self.assign(name.id));
        self.loops += 1;
        self.deeper(1, stmt.place.span);
        self.block(body);
        self.nest -= 1;
        self.loops -= 1;
    }

    fn deeper(&mut self, levels: u32, span: Span) {
        self.nest += levels;
        if self.nest > MOST_LOOPS {
            let hint = "Move the inner ones into a function.";
            let message = "there are too many loops and handlers within each other";
            self.faults.add(span, message, hint);
        }
    }

    fn attempt(&mut self, body: &[Stmt<'s>], handlers: &[Handler<'s>], stmt: &Stmt<'s>) -> Flow {
        if handlers.is_empty() {
            let (message, hint) = self.in_dialect(
                ("`yrt` has no `tpecxe` after it", "Add `: EXCEPTION tpecxe` with a block."),
                ("`try` has no `except` after it", "Add `except EXCEPTION:` with a block."),
            );
            self.faults.add(stmt.place.span, message, hint);
        }
        self.deeper(2, stmt.place.span);
        // Each handler may begin after any statement of the block.
        let mut flows = vec![self.block(body)];
        let mut merged = Vec::new();
        for handler in handlers {
            if let Some(name) = handler.name {
                self.exception(name);
            }
            flows.push(self.way(handler.body, &mut merged));
        }
        merged.into_iter().for_each(|id| self.assign(id));
        self.nest -= 2;
        joined(&flows)
    }

    fn exception(&mut self, name: Name) {
        let text = self.scope.names.text(name.id);
        if EXCEPTIONS.contains(&text) {
            return;
        }
        let none = self.in_dialect(": tpecxe", "except:");
        let otherwise = format!("Use {}; or none: `{none}`.", EXCEPTIONS.join(", "));
        let hint = hints::of_unknown(text, EXCEPTIONS.into_iter(), &otherwise);
        let message = format!("`{text}` is not an exception that Reverty has");
        self.faults.add(name.span, message, hint);
    }

    fn returned(&mut self, value: Option<&Expr<'s>>, span: Span) {
        if let Some(value) = value {
            self.value(value);
        }
        let Some(function) = self.within.and_then(|number| self.scope.functions.get(number)) else {
            let hint = "It belongs in the block of a function.";
            let word = self.word(Keyword::Return);
            self.faults.add(span, format!("there is no function around this `{word}`"), hint);
            return;
        };
        let returns = function.returns;
        match value {
            Some(value) => self.fits(returns, value, "the function returns"),
            None if returns == Type::None => {}
            None => {
                let declared = self.scope.names.keyword(returns.keyword());
                let message = format!("the function returns `{declared}`");
                let hint = format!("Write `{} VALUE`.", self.word(Keyword::Return));
                self.faults.add(span, message, hint);
            }
        }
    }

    fn assigned_to(&mut self, target: &Expr<'s>, value: &Expr<'s>, declared: Option<Type>) {
        self.value(value);
        let ExprKind::Name(id) = target.kind else {
            self.value(target);
            return;
        };
        self.assign(id);
        let parameter = self.parameters.get(id.index()).copied().flatten();
        let known = declared.or(parameter).or(self.scope.get(id).declared);
        if let Some(known) = known {
            self.fits(known, value, "the name is declared as");
        }
    }

    /// A literal is of the declared type, or one that Python takes for it.
    fn fits(&mut self, declared: Type, value: &Expr<'_>, why: &str) {
        let Some(own) = literal_type(value) else { return };
        let is_fine = match declared {
            Type::Float => matches!(own, Type::Float | Type::Int | Type::Bool),
            Type::Int => matches!(own, Type::Int | Type::Bool),
            _ => own == declared,
        };
        if !is_fine {
            let names = self.scope.names;
            let (own, declared) = (names.keyword(own.keyword()), names.keyword(declared.keyword()));
            let message = format!("this is a `{own}`, and {why} `{declared}`");
            self.faults.add(value.span, message, "Change the value or the type.");
        }
    }

    fn value(&mut self, value: &Expr<'s>) {
        value.each_part(&mut |part| self.value(part));
        match &value.kind {
            ExprKind::Name(id) => self.used(*id, value.span),
            ExprKind::Call { name, args } => self.call(*name, args, value),
            _ => {}
        }
    }

    fn used(&mut self, id: NameId, span: Span) {
        let symbol = self.scope.get(id);
        // Who calls the function, and when, is not known here.
        let is_unclear = symbol.is_global && (self.within.is_some() || symbol.is_set_by_function);
        if self.is_assigned(id) || (is_unclear && symbol.function.is_none()) {
            return;
        }
        if self.faults.is_full() {
            self.faults.add(span, "", "");
            return;
        }
        let text = self.scope.names.text(id);
        if symbol.function.is_some() || Scope::declared(id).is_some() {
            let hint = format!("Call it: `{text}(…)`.");
            self.faults.add(span, format!("`{text}` is a function, not a value"), hint);
        } else if symbol.is_global || self.is_own_local(id) {
            let hint = "Assign it before, on the way to here.";
            self.faults.add(span, format!("`{text}` is used before it is assigned"), hint);
        } else if symbol.is_local {
            let hint = "Give it as a parameter, or return it.";
            let message = format!("`{text}` is assigned in another function only");
            self.faults.add(span, message, hint);
        } else {
            let hint = match text {
                "__name__" => "Put what it guards into a function `main` without parameters.",
                _ => "Assign it before, or correct the name.",
            };
            self.unknown(text, span, ("is not known", hint));
        }
    }

    fn is_own_local(&self, id: NameId) -> bool {
        let function = self.within.and_then(|number| self.scope.functions.get(number));
        let mut is_own = false;
        if let Some(function) = function {
            each_assigned(function.body, &mut |name, _| is_own |= name.id == id);
        }
        is_own
    }

    fn unknown(&mut self, text: &str, span: Span, (what, otherwise): (&str, &str)) {
        if self.faults.is_full() {
            self.faults.add(span, "", "");
            return;
        }
        let symbols = &self.scope.symbols;
        let known = self.scope.names.own().filter(|(id, _)| {
            symbols
                .get(id.index())
                .is_some_and(|own| own.function.is_some() || own.is_global || own.is_local)
        });
        let declared = words::DECLARED.iter().map(|function| function.name);
        let hint = hints::of_unknown(text, known.map(|(_, text)| text).chain(declared), otherwise);
        self.faults.add(span, format!("`{text}` {what}"), hint);
    }

    fn call(&mut self, name: NameId, args: &[Expr<'s>], call: &Expr<'s>) {
        let text = self.scope.names.text(name);
        let span = name_span(call, text);
        if let Some(function) = self.scope.function(name) {
            let count = function.parameters.len();
            if args.len() != count {
                self.wrong_count(text, &count.to_string(), args.len(), span);
                return;
            }
            for ((_, declared), arg) in function.parameters.iter().zip(args) {
                self.fits(*declared, arg, "the parameter is declared as");
            }
        } else if let Some(function) = Scope::declared(name) {
            if !(function.least..=function.most).contains(&args.len()) {
                let expected = match (function.least, function.most) {
                    (least, most) if least == most => least.to_string(),
                    (least, usize::MAX) => format!("{least} or more"),
                    (least, most) => format!("{least} to {most}"),
                };
                self.wrong_count(text, &expected, args.len(), span);
            }
        } else if self.is_assigned(name) || self.scope.get(name).is_global {
            let hint = "Call a function by the name that it is defined with.";
            self.faults.add(span, format!("`{text}` is a value, not a function"), hint);
        } else {
            let hint = self.in_dialect(
                "Define it with `fed`, or correct the name.",
                "Define it with `def`, or correct the name; Reverty has no other functions.",
            );
            self.unknown(text, span, ("is not a function of this program", hint));
        }
    }

    fn wrong_count(&mut self, name: &str, expected: &str, given: usize, span: Span) {
        let noun = if expected == "1" { "argument" } else { "arguments" };
        let message = format!("`{name}` takes {expected} {noun}, not {given}");
        self.faults.add(span, message, "Give an argument for each parameter.");
    }
}

/// Where the flow goes after one of several ways.
fn joined(flows: &[Flow]) -> Flow {
    match flows {
        _ if flows.contains(&Flow::On) => Flow::On,
        _ if flows.contains(&Flow::OutOfLoop) => Flow::OutOfLoop,
        _ => Flow::Return,
    }
}

/// Whether a loop with this block can be left by `kaerb`.
fn has_break(block: &[Stmt<'_>]) -> bool {
    block.iter().any(|stmt| match &stmt.kind {
        StmtKind::Break => true,
        StmtKind::If { branches, otherwise } => {
            branches.iter().any(|branch| has_break(branch.body))
                || otherwise.as_ref().is_some_and(|(_, body)| has_break(body))
        }
        StmtKind::Try { body, handlers } => {
            has_break(body) || handlers.iter().any(|handler| has_break(handler.body))
        }
        _ => false,
    })
}

/// The type of a value that is written out.
fn literal_type(value: &Expr<'_>) -> Option<Type> {
    Some(match &value.kind {
        ExprKind::Number(text) if text.contains('.') => Type::Float,
        ExprKind::Number(_) => Type::Int,
        ExprKind::Str(_) => Type::Str,
        ExprKind::True | ExprKind::False => Type::Bool,
        ExprKind::None => Type::None,
        ExprKind::List(_) => Type::List,
        ExprKind::Tuple(_) => Type::Tuple,
        ExprKind::Dict(_) => Type::Dict,
        ExprKind::Negative(inner) | ExprKind::Positive(inner) => match inner.kind {
            ExprKind::Number(text) if text.contains('.') => Type::Float,
            ExprKind::Number(_) => Type::Int,
            _ => return None,
        },
        _ => return None,
    })
}
