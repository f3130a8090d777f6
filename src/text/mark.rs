//! The mark of a project that was made with this program.
//!
//! One comment in the project's own top list of CMake: it is decided with that file, goes along
//! with every clone, and goes away when a person deletes the line.

/// The line, without its end.
pub const LINE: &str = "# firmhand: generated project";

/// How far down the line is looked for: people put licences above it.
const FIRST_LINES: usize = 40;

/// Whether the text of the top list carries the mark.
#[must_use]
pub fn is_marked(list: &str) -> bool {
    list.lines().take(FIRST_LINES).any(|line| line.trim() == LINE)
}

/// The text with the mark, which is put in front.
#[must_use]
pub fn marked(list: &str) -> String {
    match is_marked(list) {
        true => list.to_owned(),
        false => format!("{LINE}{}{list}", super::lines::Newline::of(list)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_put_once_and_found_again() {
        let list = "cmake_minimum_required(VERSION 3.16)\r\nproject(a)\r\n";
        assert!(!is_marked(list));
        let once = marked(list);
        assert_eq!(once, format!("{LINE}\r\n{list}"));
        assert_eq!(marked(&once), once);
        assert!(is_marked(&format!("# My licence.\n  {LINE} \n{list}")));
        assert!(!is_marked(&format!("# not # firmhand: generated project\n{list}")));
    }
}
