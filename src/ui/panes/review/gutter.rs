//! What stands before a line of the change: its numbers and its sign.

use super::body::ReviewBody;
use super::body_line::LineRole;

/// What stands before a line of the change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Gutter {
    /// Nothing but a blank.
    #[default]
    None,
    /// One number of that many digits, and a sign.
    One(usize),
    /// Two of them, and a sign.
    Two(usize),
}

impl Gutter {
    /// What fits before the lines of `body` in a pane of that many columns.
    #[must_use]
    pub fn of(body: &ReviewBody, width: usize) -> Self {
        let (mut has_old, mut has_new) = (false, false);
        for line in &body.lines {
            if let LineRole::Diff(_, old, new) = line.role {
                has_old |= old.is_some();
                has_new |= new.is_some();
            }
            if has_old && has_new {
                break;
            }
        }
        match (has_old, has_new) {
            (false, false) => Self::None,
            (true, true) if width >= 44 + 2 * body.digits => Self::Two(body.digits),
            (true | false, true | false) => Self::One(body.digits),
        }
    }

    #[must_use]
    pub const fn width(self) -> usize {
        match self {
            Self::None => 1,
            Self::One(digits) => digits + 4,
            Self::Two(digits) => 2 * digits + 5,
        }
    }

    /// Its text: a mark, the numbers, a sign. Rows after a line's first have no numbers.
    #[must_use]
    pub fn text(self, mark: &str, numbers: [Option<usize>; 2], sign: &str) -> String {
        let number = |number: Option<usize>, digits: usize| match number {
            Some(number) => format!("{number:>digits$}"),
            None => " ".repeat(digits),
        };
        let [old, new] = numbers;
        match self {
            Self::None => mark.to_owned(),
            Self::One(digits) => format!("{mark}{} {sign} ", number(new.or(old), digits)),
            Self::Two(digits) => {
                format!("{mark}{} {} {sign} ", number(old, digits), number(new, digits))
            }
        }
    }
}
