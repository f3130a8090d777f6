//! Where something is, as a test program says it.

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub file: String,
    /// From 1.
    pub line: Option<u32>,
}

/// `file:line` at the beginning of `text`, and what follows the next colon.
pub fn place_and_rest(text: &str) -> Option<(Place, &str)> {
    let (file, rest) = text.split_once(':')?;
    let (line, rest) = rest.split_once(':')?;
    let line: u32 = line.trim().parse().ok()?;
    let is_name = !file.is_empty() && !file.contains(['\t', '"']);
    is_name
        .then(|| (Place { file: file.to_owned(), line: Some(line).filter(|line| *line > 0) }, rest))
}
