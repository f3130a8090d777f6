//! What each name of a program means: a function, a global, a local, a parameter.
//!
//! Owns the one scope: a name means one thing everywhere, but functions may have parameters of the
//! same name. Must not look at the order in which statements run.

use super::ast::{ExprKind, Function, Name, Program, Stmt, StmtKind, Type};
use super::fault::Faults;
use super::words::{self, Declared, Dialect, NameId, Names};

/// What is known of a name.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Symbol {
    /// Its place in the list of functions.
    pub function: Option<usize>,
    /// A statement outside of functions assigns it.
    pub is_global: bool,
    /// A global that a function assigns, too.
    pub is_set_by_function: bool,
    /// A function assigns it, and it is not a global.
    pub is_local: bool,
    /// The type that an assignment declares.
    pub declared: Option<Type>,
    /// It was looked at and may be used.
    is_checked: bool,
}

/// The names of a program by their numbers, and its functions.
pub(super) struct Scope<'p, 's> {
    pub symbols: Vec<Symbol>,
    pub functions: Vec<&'p Function<'s>>,
    pub names: &'p Names<'s>,
}

impl<'p, 's> Scope<'p, 's> {
    /// Looks at every definition and assignment.
    pub(super) fn of(program: &'p Program<'s>, faults: &mut Faults) -> Self {
        let symbols = vec![Symbol::default(); program.names.len()];
        let mut scope = Self { symbols, functions: Vec::new(), names: &program.names };
        for (_, function) in program.functions() {
            scope.define(function, faults);
        }
        each_assigned(program.body, &mut |name, declared| {
            scope.symbol(name.id).is_global = true;
            scope.assign(name, declared, faults);
        });
        for number in 0..scope.functions.len() {
            scope.look_into(number, faults);
        }
        for number in 0..scope.functions.len() {
            scope.check_parameters(number, faults);
        }
        scope
    }

    pub(super) fn symbol(&mut self, id: NameId) -> &mut Symbol {
        // Every number of a name is below the number of names.
        let index = id.index().min(self.symbols.len().saturating_sub(1));
        if self.symbols.is_empty() {
            self.symbols.push(Symbol::default());
        }
        &mut self.symbols[index]
    }

    pub(super) fn get(&self, id: NameId) -> Symbol {
        self.symbols.get(id.index()).copied().unwrap_or_default()
    }

    /// The function of that name.
    pub(super) fn function(&self, id: NameId) -> Option<&'p Function<'s>> {
        self.functions.get(self.get(id).function?).copied()
    }

    /// The function of that name which every program has.
    pub(super) fn declared(id: NameId) -> Option<Declared> {
        words::declared_function(id)
    }

    fn define(&mut self, function: &'p Function<'s>, faults: &mut Faults) {
        let Name { id, span } = function.name;
        let text = self.names.text(id);
        if self.get(id).function.is_some() {
            let hint = "Give one of the two another name.";
            faults.add(span, format!("there is another function `{text}`"), hint);
            return;
        }
        if Self::declared(id).is_some() {
            let hint = "Give it another name.";
            faults.add(span, format!("every program has a function `{text}`"), hint);
            return;
        }
        self.check_name(function.name, faults);
        self.symbol(id).function = Some(self.functions.len());
        self.functions.push(function);
    }

    fn assign(&mut self, name: Name, declared: Option<Type>, faults: &mut Faults) {
        let symbol = self.get(name.id);
        if !symbol.is_checked {
            self.check_name(name, faults);
        }
        self.check_not_function(name, faults);
        let Some(declared) = declared else { return };
        match symbol.declared {
            Some(before) if before != declared => {
                let text = self.names.text(name.id);
                let was = self.names.keyword(before.keyword());
                let hint = "A name means one thing in the whole program: use another name.";
                faults.add(name.span, format!("`{text}` is declared as `{was}` before"), hint);
            }
            Some(_) => {}
            None => self.symbol(name.id).declared = Some(declared),
        }
    }

    fn check_not_function(&self, name: Name, faults: &mut Faults) {
        if self.get(name.id).function.is_none() && Self::declared(name.id).is_none() {
            return;
        }
        let text = self.names.text(name.id);
        let hint = "A name means one thing in the whole program: use another name.";
        faults.add(name.span, format!("`{text}` is a function"), hint);
    }

    /// Refuses names that mean something beyond the program.
    fn check_name(&mut self, name: Name, faults: &mut Faults) {
        self.symbol(name.id).is_checked = true;
        let text = self.names.text(name.id);
        if words::is_refused(text) {
            let message = format!("`{text}` belongs to Python and is not available here");
            faults.add(name.span, message, "Use another name.");
        }
        if words::EXCEPTIONS.contains(&text) {
            faults.add(name.span, format!("`{text}` is an exception"), "Use another name.");
        }
        let is_keyword = words::from_reverty(text).is_some();
        if self.names.dialect() == Dialect::Python && is_keyword {
            let message = format!("`{text}` is a keyword of Reverty");
            faults.add(name.span, message, "Use another name.");
        }
    }

    /// What a function assigns: globals of the program, or locals of its own.
    fn look_into(&mut self, number: usize, faults: &mut Faults) {
        let Some(function) = self.functions.get(number).copied() else { return };
        each_assigned(function.body, &mut |name, declared| {
            let is_parameter = function.parameters.iter().any(|(own, _)| own.id == name.id);
            let symbol = self.symbol(name.id);
            if symbol.is_global {
                symbol.is_set_by_function = true;
            } else if !is_parameter {
                symbol.is_local = true;
            }
            self.assign(name, declared, faults);
        });
    }

    fn check_parameters(&mut self, number: usize, faults: &mut Faults) {
        let Some(function) = self.functions.get(number).copied() else { return };
        for (place, (name, own)) in function.parameters.iter().enumerate() {
            let symbol = self.get(name.id);
            if !symbol.is_checked {
                self.check_name(*name, faults);
            }
            self.check_not_function(*name, faults);
            let text = self.names.text(name.id);
            let hint = "A name means one thing in the whole program: use another name.";
            if symbol.is_global {
                faults.add(name.span, format!("`{text}` is a global of the program"), hint);
            }
            if let Some(other) = symbol.declared.filter(|other| other != own) {
                let other = self.names.keyword(other.keyword());
                faults.add(name.span, format!("`{text}` is a `{other}` elsewhere"), hint);
            }
            if function.parameters.iter().take(place).any(|(before, _)| before.id == name.id) {
                let message = format!("there is another parameter `{text}`");
                faults.add(name.span, message, "Give one of the two another name.");
            }
        }
    }
}

/// Calls `found` for every name that the statements assign, with the type that they declare for it;
/// not for those that functions among them assign.
pub(super) fn each_assigned(block: &[Stmt<'_>], found: &mut impl FnMut(Name, Option<Type>)) {
    for Stmt { kind, .. } in block {
        match kind {
            StmtKind::Assign { target, declared, .. } => {
                if let ExprKind::Name(id) = target.kind {
                    found(Name { id, span: target.span }, *declared);
                }
            }
            StmtKind::Augment { target, .. } => {
                if let ExprKind::Name(id) = target.kind {
                    found(Name { id, span: target.span }, None);
                }
            }
            StmtKind::If { branches, otherwise } => {
                branches.iter().for_each(|branch| each_assigned(branch.body, found));
                otherwise.iter().for_each(|(_, body)| each_assigned(body, found));
            }
            StmtKind::While { body, .. } => each_assigned(body, found),
            StmtKind::For { name, body, .. } => {
                found(*name, None);
                each_assigned(body, found);
            }
            StmtKind::Try { body, handlers } => {
                each_assigned(body, found);
                handlers.iter().for_each(|handler| each_assigned(handler.body, found));
            }
            _ => {}
        }
    }
}

/// The globals that a function assigns, in the order in which it does, each once.
pub(super) fn globals_of(
    function: &Function<'_>,
    is_global: &impl Fn(NameId) -> bool,
) -> Vec<NameId> {
    let mut found = Vec::new();
    each_assigned(function.body, &mut |name, _| {
        if is_global(name.id) && !found.contains(&name.id) {
            found.push(name.id);
        }
    });
    found
}
