//! One declaration of a header, and how its text is put in one line.

/// Longest text of one declaration, in characters: an enum of a thousand values is cut.
const MAX_TEXT: usize = 600;

/// What is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DeclarationKind {
    /// A function without body.
    Prototype,
    /// A function whose body is in the header.
    Inline,
    /// A macro with arguments.
    Macro,
    /// A structure, union, enumeration, class or other name of a type.
    Type,
    /// A variable that another file holds.
    Variable,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// What is declared.
    pub kind: DeclarationKind,
    /// Its name; empty for a type without one.
    pub name: String,
    /// Line it starts on, from 1.
    pub line: u32,
    /// The text in one line: comments and bodies of functions are left out.
    pub text: String,
}

/// White space collapsed, and cut where it is too long.
pub(super) fn bounded(text: &str) -> String {
    let joined =
        text.split_whitespace().collect::<Vec<_>>().join(" ").replace(" ;", ";").replace(";;", ";");
    if joined.chars().count() <= MAX_TEXT {
        return joined;
    }
    let mut cut: String = joined.chars().take(MAX_TEXT).collect();
    cut.push('…');
    cut
}
