//! Reads lists of texts out of a Python file without running it.
//!
//! Owns what is understood of the framework's `conf_common.py`: lists of texts that have a name, sums
//! of them, and the dictionary that says on what condition they hold. All else is passed over.

use std::collections::HashMap;

/// The name of the dictionary: condition to pages.
const CONDITIONS: &str = "conditional_include_dict";
/// Most texts of one list, and most conditions.
const MOST_TEXTS: usize = 2_000;
const MOST_CONDITIONS: usize = 2_000;

/// The pages that a file ties to conditions, in its order.
#[must_use]
pub fn conditional_pages(text: &str) -> Vec<(String, Vec<String>)> {
    let mut lists: HashMap<&str, Vec<&str>> = HashMap::new();
    for statement in statements(text) {
        match statement.as_slice() {
            [Token::Name(CONDITIONS), Token::Sign(b'='), value @ ..] => {
                return conditions(value, &lists);
            }
            [Token::Name(name), Token::Sign(b'='), value @ ..] => {
                let list = texts(value, &lists);
                lists.insert(name, list);
            }
            [Token::Name(name), Token::Sign(b'+'), Token::Sign(b'='), value @ ..] => {
                let more = texts(value, &lists);
                let list = lists.entry(name).or_default();
                list.extend(more);
                list.truncate(MOST_TEXTS);
            }
            _ => {}
        }
    }
    Vec::new()
}

/// The pairs of the dictionary: a text and a colon begin the next one.
fn conditions(value: &[Token<'_>], lists: &HashMap<&str, Vec<&str>>) -> Vec<(String, Vec<String>)> {
    let is_key = |place: &usize| {
        matches!(value.get(*place..*place + 2), Some([Token::Text(_), Token::Sign(b':')]))
    };
    let keys: Vec<usize> = (0..value.len()).filter(is_key).take(MOST_CONDITIONS).collect();
    let ends = keys.iter().skip(1).copied().chain([value.len()]);
    let pair = |(&start, end): (&usize, usize)| {
        let Token::Text(key) = value[start] else { return None };
        let pages = texts(&value[start + 2..end], lists);
        Some((key.to_owned(), pages.into_iter().map(str::to_owned).collect()))
    };
    keys.iter().zip(ends).filter_map(pair).collect()
}

/// The texts of a list or of a sum of lists, names replaced by what they stand for.
fn texts<'a>(value: &[Token<'a>], lists: &HashMap<&str, Vec<&'a str>>) -> Vec<&'a str> {
    let mut all: Vec<&'a str> = Vec::new();
    for token in value {
        match token {
            Token::Text(text) => all.push(text),
            Token::Name(name) => all.extend(lists.get(name).into_iter().flatten()),
            Token::Sign(_) => {}
        }
        // Sums of sums could grow without end.
        if all.len() > MOST_TEXTS {
            all.truncate(MOST_TEXTS);
            break;
        }
    }
    all
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    Name(&'a str),
    /// What stands between quotes, as it is written.
    Text(&'a str),
    Sign(u8),
}

/// The statements: what stands on one line, or goes on over several inside brackets.
fn statements(text: &str) -> Vec<Vec<Token<'_>>> {
    let (mut all, mut statement, mut depth) = (Vec::new(), Vec::new(), 0_usize);
    let mut rest = text;
    while let Some(&first) = rest.as_bytes().first() {
        let length = match first {
            b'\n' => {
                if depth == 0 {
                    all.push(std::mem::take(&mut statement));
                }
                1
            }
            b'#' => rest.find('\n').unwrap_or(rest.len()),
            b'\'' | b'"' => {
                let (inside, length) = quoted(rest, first);
                statement.push(Token::Text(inside));
                length
            }
            _ if is_of_name(first) => {
                let length = rest.bytes().take_while(|byte| is_of_name(*byte)).count();
                statement.push(Token::Name(&rest[..length]));
                length
            }
            _ if first.is_ascii() => {
                depth = match first {
                    b'(' | b'[' | b'{' => depth + 1,
                    b')' | b']' | b'}' => depth.saturating_sub(1),
                    _ => depth,
                };
                if !first.is_ascii_whitespace() {
                    statement.push(Token::Sign(first));
                }
                1
            }
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        rest = &rest[length..];
    }
    all.push(statement);
    all
}

const fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// What stands between the quotes at the start of a text, and the length with them. Without an end
/// it goes to the end of the line, or of the text if there are three quotes.
fn quoted(text: &str, quote: u8) -> (&str, usize) {
    let bytes = text.as_bytes();
    let is_long = bytes.starts_with(&[quote; 3]);
    let mark = if is_long { 3 } else { 1 };
    let mut end = mark;
    while let Some(&byte) = bytes.get(end) {
        match byte {
            b'\\' => end += 1,
            b'\n' if !is_long => return (&text[mark..end], end),
            _ if byte == quote && (!is_long || bytes[end..].starts_with(&[quote; 3])) => {
                return (&text[mark..end], end + mark);
            }
            _ => {}
        }
        end += 1;
    }
    (text.get(mark..).unwrap_or_default(), text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(text: &str) -> Vec<(String, String)> {
        conditional_pages(text).into_iter().map(|(key, pages)| (key, pages.join(" "))).collect()
    }

    #[test]
    fn lists_sums_and_conditions_are_read() {
        let text = "# A = ['no.rst']\nimport os\nA = ['a.rst',  # first\n  \"b.rst\"]\nB = (\n [\n  \
                    'c/**', ]\n + A\n)\nN = []  # type: list[str]\nN += ['n.rst']\nx['A'] = ['y']\n\
                    conditional_include_dict = {\n 'SOC_A': A,\n # 'SOC_NO': A,\n 'esp32': B + \
                    N,\n 'SOC_C': ['d.rst'],\n 'SOC_D': NEVER,\n}\nA = ['late.rst']\n";
        let of = |key: &str, pages: &str| (key.to_owned(), pages.to_owned());
        let expected = [
            of("SOC_A", "a.rst b.rst"),
            of("esp32", "c/** a.rst b.rst n.rst"),
            of("SOC_C", "d.rst"),
            of("SOC_D", ""),
        ];
        assert_eq!(pages(text), expected);
    }

    #[test]
    fn a_damaged_file_is_no_list() {
        for text in ["", "conditional_include_dict = {'a': ['b", "'''", "A = ']]]\\", "ä = 'ö\\"]
        {
            let _ = pages(text);
        }
        assert_eq!(pages("conditional_include_dict = {'a': ['b.rst',")[0].1, "b.rst");
        let mut text = "A0 = ['x']\n".to_owned();
        for number in 0..60 {
            text.push_str(&format!("A{} = A{number} + A{number}\n", number + 1));
        }
        text.push_str("conditional_include_dict = {'esp32': A60}\n");
        assert_eq!(conditional_pages(&text)[0].1.len(), MOST_TEXTS);
    }
}
