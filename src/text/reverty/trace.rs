//! Stack traces of Python about a translated program, as if Reverty itself had run.
//!
//! Owns the form of such traces.

use super::python::Python;

/// A trace whose places are lines of `source` in the file `shown`; other text stays as it is. `file`
/// is the name that Python ran the program by.
#[must_use]
pub fn mapped(trace: &str, file: &str, program: &Python, source: &str, shown: &str) -> String {
    let mut out = String::with_capacity(trace.len());
    // Python shows the text of each line below its place, and marks below that.
    let mut is_below = false;
    for line in trace.lines() {
        if let Some((number, rest)) = place(line, file) {
            let own = program.line_of(number);
            let number = own.map_or_else(|| "?".to_owned(), |line| line.to_string());
            out.push_str(&format!("  File \"{shown}\", line {number}{rest}\n"));
            if let Some(text) = own.and_then(|line| source.lines().nth(line as usize - 1)) {
                out.push_str(&format!("    {}\n", text.trim()));
            }
            is_below = true;
        } else if !(is_below && line.starts_with("    ")) {
            is_below = false;
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// `  File "FILE", line NUMBER`, with what follows.
fn place<'t>(line: &'t str, file: &str) -> Option<(usize, &'t str)> {
    let rest = line.strip_prefix("  File \"")?.strip_prefix(file)?.strip_prefix("\", line ")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = rest.split_at_checked(digits)?;
    Some((number.parse().ok()?, rest))
}
