//! Reads a list of files from JSON that is still being written.
//!
//! Owns the form of such a list alone: objects of two texts, a name and a code. What can no longer
//! become one is none.

use std::str::Chars;

/// A file of the list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct OpenFile {
    pub path: String,
    /// As far as it has come.
    pub code: String,
    /// Whether all of it has come.
    pub is_whole: bool,
}

/// A piece of JSON.
enum Piece<T> {
    Whole(T),
    /// The text ended in it.
    Cut(T),
    /// It is something else.
    Wrong,
}

/// The files so far; `None`: the text is something else.
pub(super) fn read(text: &str) -> Option<Vec<OpenFile>> {
    let mut rest = text.trim_start().chars();
    let mut files = Vec::new();
    match rest.next() {
        None => return Some(files),
        Some('[') => {}
        Some('{') => {
            skip_blanks(&mut rest);
            match string(&mut rest) {
                Piece::Whole(key) if key == "files" => {}
                Piece::Cut(key) if "files".starts_with(&key) => return Some(files),
                Piece::Whole(_) | Piece::Cut(_) | Piece::Wrong => return None,
            }
            for wanted in [':', '['] {
                skip_blanks(&mut rest);
                match rest.next() {
                    None => return Some(files),
                    Some(c) if c == wanted => {}
                    Some(_) => return None,
                }
            }
        }
        Some(_) => return None,
    }
    loop {
        skip_blanks(&mut rest);
        match rest.next() {
            // Whatever follows belongs to no file.
            None | Some(']') => return Some(files),
            Some(',') => {}
            Some('{') => match file(&mut rest) {
                Piece::Whole(file) => files.push(file),
                Piece::Cut(file) => {
                    if !file.path.is_empty() {
                        files.push(file);
                    }
                    return Some(files);
                }
                Piece::Wrong => return None,
            },
            Some(_) => return None,
        }
    }
}

fn skip_blanks(rest: &mut Chars<'_>) {
    *rest = rest.as_str().trim_start().chars();
}

/// The rest of an object after its brace.
fn file(rest: &mut Chars<'_>) -> Piece<OpenFile> {
    let mut file = OpenFile::default();
    loop {
        skip_blanks(rest);
        match rest.clone().next() {
            None => return Piece::Cut(file),
            Some('}') => {
                rest.next();
                file.is_whole = true;
                return Piece::Whole(file);
            }
            Some(',') => {
                rest.next();
                continue;
            }
            Some(_) => {}
        }
        let key = match string(rest) {
            Piece::Whole(key) => key,
            Piece::Cut(_) => return Piece::Cut(file),
            Piece::Wrong => return Piece::Wrong,
        };
        let is_path = match key.as_str() {
            "file_name" | "path" => true,
            "code" | "content" => false,
            _ => return Piece::Wrong,
        };
        skip_blanks(rest);
        match rest.next() {
            None => return Piece::Cut(file),
            Some(':') => {}
            Some(_) => return Piece::Wrong,
        }
        skip_blanks(rest);
        match (string(rest), is_path) {
            (Piece::Whole(path), true) => file.path = path,
            (Piece::Whole(code), false) => file.code = code,
            // Half a name says little.
            (Piece::Cut(_), true) => return Piece::Cut(file),
            (Piece::Cut(code), false) => {
                file.code = code;
                return Piece::Cut(file);
            }
            (Piece::Wrong, _) => return Piece::Wrong,
        }
    }
}

/// A text in quotes.
fn string(rest: &mut Chars<'_>) -> Piece<String> {
    match rest.next() {
        None => return Piece::Cut(String::new()),
        Some('"') => {}
        Some(_) => return Piece::Wrong,
    }
    let mut text = String::new();
    loop {
        match rest.next() {
            None => return Piece::Cut(text),
            Some('"') => return Piece::Whole(text),
            Some('\\') => match escaped(rest) {
                Piece::Whole(c) => text.push(c),
                Piece::Cut(_) => return Piece::Cut(text),
                Piece::Wrong => return Piece::Wrong,
            },
            Some(c) => text.push(c),
        }
    }
}

/// What follows a backslash. Halves of a pair become a sign of their own: what is shown once all has
/// come is read anew.
fn escaped(rest: &mut Chars<'_>) -> Piece<char> {
    match rest.next() {
        None => Piece::Cut(' '),
        Some('n') => Piece::Whole('\n'),
        Some('t') => Piece::Whole('\t'),
        Some('r') => Piece::Whole('\r'),
        Some('b') => Piece::Whole('\u{8}'),
        Some('f') => Piece::Whole('\u{c}'),
        Some(c @ ('"' | '\\' | '/')) => Piece::Whole(c),
        Some('u') => {
            let digits: String = rest.by_ref().take(4).collect();
            match u32::from_str_radix(&digits, 16) {
                _ if digits.chars().count() < 4 => Piece::Cut(' '),
                Ok(code) => {
                    Piece::Whole(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
                }
                Err(_) => Piece::Wrong,
            }
        }
        Some(_) => Piece::Wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"[
  {"file_name": "main/a.c", "code": "int a;\nchar *s = \"x\\n\"; // \u00f6\n"},
  {"path": "b.h", "content": "\/\/ b"}
]"#;

    #[test]
    fn every_start_of_a_list_of_files_is_one_and_grows_to_it() {
        let mut lines = 0;
        for (end, _) in WHOLE.char_indices() {
            let files = read(&WHOLE[..end]).unwrap_or_else(|| panic!("{}", &WHOLE[..end]));
            let now = files.iter().map(|file| file.code.lines().count()).sum::<usize>();
            assert!(now >= lines, "{}", &WHOLE[..end]);
            lines = now;
        }
        for text in [WHOLE.to_owned(), format!("{{\"files\": {WHOLE}}}")] {
            let files = read(&text).unwrap();
            let file = |path: &str, code: &str| OpenFile {
                path: path.into(),
                code: code.into(),
                is_whole: true,
            };
            let first = file("main/a.c", "int a;\nchar *s = \"x\\n\"; // ö\n");
            assert_eq!(files, [first, file("b.h", "// b")]);
        }
    }

    #[test]
    fn anything_else_is_none() {
        for text in [
            "{\"next\": \"A\"}",
            "[1, 2",
            "[{\"file_name\": \"a\", \"why\": \"",
            "[{\"file_name\": 3",
            "int a;",
            "{\"keep\": [",
            "[\"a\"",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
