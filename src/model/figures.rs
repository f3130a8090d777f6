//! How complex a function is, as a proposal records it.

use serde::{Deserialize, Serialize};

/// The figures of one version of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeFigures {
    /// Lines from its first to its last.
    pub lines: u32,
    /// Decisions + 1.
    pub cyclomatic: u32,
    /// Decisions weighed by how deep they are nested.
    pub cognitive: u32,
    /// Deepest nesting of decisions and loops.
    pub nesting: u32,
}

/// A function of a proposed source, and what it was before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionFigures {
    pub name: String,
    /// Line it begins on, from 1.
    pub line: u32,
    pub now: CodeFigures,
    /// `None`: the function is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<CodeFigures>,
}

impl FunctionFigures {
    /// Whether it is new or its figures changed.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.before != Some(self.now)
    }

    /// One line, e.g. `walk: cyclomatic 5 (+2), cognitive 7 (+3), 12 lines (+4), nesting 2`.
    #[must_use]
    pub fn words(&self) -> String {
        let delta = |of: fn(&CodeFigures) -> u32| match &self.before {
            Some(before) => match i64::from(of(&self.now)) - i64::from(of(before)) {
                0 => String::new(),
                more => format!(" ({more:+})"),
            },
            None => String::new(),
        };
        let CodeFigures { lines, cyclomatic, cognitive, nesting } = self.now;
        let (unit, new) = (
            if lines == 1 { "line" } else { "lines" },
            if self.before.is_none() { "new, " } else { "" },
        );
        format!(
            "{}: {new}cyclomatic {cyclomatic}{}, cognitive {cognitive}{}, {lines} {unit}{}, nesting \
             {nesting}{}",
            self.name,
            delta(|it| it.cyclomatic),
            delta(|it| it.cognitive),
            delta(|it| it.lines),
            delta(|it| it.nesting),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_a_line_with_what_changed() {
        let now = CodeFigures { lines: 12, cyclomatic: 5, cognitive: 7, nesting: 2 };
        let before = CodeFigures { lines: 8, cyclomatic: 3, cognitive: 9, nesting: 2 };
        let mut function = FunctionFigures { name: "walk".into(), line: 3, now, before: None };
        assert_eq!(function.words(), "walk: new, cyclomatic 5, cognitive 7, 12 lines, nesting 2");
        function.before = Some(before);
        assert!(function.is_changed());
        let words = "walk: cyclomatic 5 (+2), cognitive 7 (-2), 12 lines (+4), nesting 2";
        assert_eq!(function.words(), words);
        function.before = Some(now);
        assert!(!function.is_changed());
    }
}
