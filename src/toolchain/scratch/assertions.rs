//! Which tests passed without a check of anything.
//!
//! Owns the words that check something, in Python and in C. Reads the sources only: a test counts as
//! one that checks nothing when neither it nor a function of its file that it calls has such a word.
//! Where the function is not found nothing is said.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::folder::ScratchFolder;
use super::order::TestLanguage;
use crate::model::{TestCase, TestOutcome};
use crate::text::c_tokens::{Style, Token, TokenKind, tokens};
use crate::text::pattern::Pattern;

/// Bytes of a source that is looked at.
const LIMIT: u64 = 1 << 20;

/// Tests that are looked at.
const MOST: usize = 2_000;

/// Words that check something, or end a test as failed.
static CHECKS: Pattern = Pattern::new(
    r"(?i)assert|expect|check|verif|require|should|must|fail|raise|throw|warns|approx|abort|^exit$|^cr_|ensure|^equals?$|compare|match",
);

/// The names of the tests that passed and check nothing, in order.
pub(super) fn checking_nothing(
    scratch: &ScratchFolder,
    language: TestLanguage,
    tests: &[TestCase],
) -> Vec<String> {
    let mut sources: HashMap<&str, Option<Functions>> = HashMap::new();
    let passed = tests.iter().filter(|test| test.outcome == TestOutcome::Passed);
    let mut found = Vec::new();
    for test in passed.take(MOST) {
        let Some(file) = test.file.as_deref() else { continue };
        let functions = sources.entry(file).or_insert_with(|| {
            scratch.text(file, LIMIT).map(|text| Functions::read(&text, language))
        });
        let Some(functions) = functions else { continue };
        if functions.checks(function_of(&test.name)) == Some(false) {
            found.push(test.name.clone());
        }
    }
    found
}

/// The function of a test, without its file, class and parameters: `test_a.py::T::test_b[1]`.
fn function_of(name: &str) -> &str {
    let name = name.split(['[', '(', ' ']).next().unwrap_or(name);
    name.rsplit([':', '.', '/']).next().unwrap_or(name)
}

/// The functions of one source: the words in each, of all functions of that name.
struct Functions(HashMap<String, HashSet<String>>);

impl Functions {
    fn read(text: &str, language: TestLanguage) -> Self {
        let style = match language {
            TestLanguage::Python => Style::Python,
            TestLanguage::C => Style::C,
        };
        let all = tokens(text, style);
        let bodies = match language {
            TestLanguage::Python => python(text, &all),
            TestLanguage::C => c(&all),
        };
        let mut functions: HashMap<String, HashSet<String>> = HashMap::new();
        for (name, body) in bodies {
            let words = all.get(body).unwrap_or_default().iter();
            let words = words.filter_map(|token| Some(token.word()?.into_owned()));
            functions.entry(name).or_default().extend(words);
        }
        Self(functions)
    }

    /// Whether a function checks something; `None` where it is not found.
    fn checks(&self, name: &str) -> Option<bool> {
        let mut open = vec![name];
        let mut seen: HashSet<&str> = HashSet::from([name]);
        self.0.get(name)?;
        while let Some(function) = open.pop() {
            let Some(words) = self.0.get(function) else { continue };
            if words.iter().any(|word| CHECKS.is_match(word)) {
                return Some(true);
            }
            let called = words.iter().map(String::as_str).filter(|word| self.0.contains_key(*word));
            open.extend(called.filter(|word| seen.insert(word)));
        }
        Some(false)
    }
}

/// Each `def` with the tokens of its block.
fn python(text: &str, all: &[Token<'_>]) -> Vec<(String, Range<usize>)> {
    let line_start = |at: usize| text.get(..at).and_then(|t| t.rfind('\n')).map_or(0, |n| n + 1);
    // Where a line begins with code, and how deep.
    let indent = |token: &Token<'_>| {
        let start = line_start(token.start);
        let before = text.get(start..token.start).unwrap_or_default();
        before.trim().is_empty().then_some(before.len())
    };
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut lines = Vec::new();
    for (number, token) in all.iter().enumerate() {
        if depth == 0
            && let Some(columns) = indent(token)
        {
            lines.push((number, columns));
        }
        if token.kind == TokenKind::Mark {
            match token.raw {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
    }
    for (place, (number, columns)) in lines.iter().enumerate() {
        let is_async = all.get(*number).is_some_and(|token| token.is_word("async"));
        let def = number + usize::from(is_async);
        if !all.get(def).is_some_and(|token| token.is_word("def")) {
            continue;
        }
        let Some(name) = all.get(def + 1).and_then(Token::word) else { continue };
        let mut rest = lines.iter().skip(place + 1);
        let end = rest.find(|(_, other)| other <= columns).map_or(all.len(), |(end, _)| *end);
        found.push((name.into_owned(), def + 2..end));
    }
    found
}

/// Each name before `(…) {` at the outermost level with the tokens of its block; of a macro such as
/// `Test(suite, name) {` the last name in the brackets.
fn c(all: &[Token<'_>]) -> Vec<(String, Range<usize>)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < all.len() {
        let Some(open) = (at..all.len()).find(|n| all[*n].is("{") && !all[*n].in_directive) else {
            break;
        };
        let end = matching(all, open..all.len(), ("{", "}")).unwrap_or(all.len());
        for name in names_before(all.get(at..open).unwrap_or_default()) {
            found.push((name, open..end));
        }
        at = end + 1;
    }
    found
}

/// The place of the bracket that ends what the first of these tokens begins.
fn matching(
    all: &[Token<'_>],
    mut places: impl Iterator<Item = usize>,
    (begin, end): (&str, &str),
) -> Option<usize> {
    let mut depth = 0_usize;
    places.find(|place| {
        match &all[*place] {
            token if token.is(begin) => depth += 1,
            token if token.is(end) => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    })
}

/// The name of a function from the tokens before its block, and the words in its brackets, which are
/// the names where a macro makes the function.
fn names_before(head: &[Token<'_>]) -> Vec<String> {
    let Some(close) = head.iter().rposition(|token| token.is(")")) else { return Vec::new() };
    let Some(open) = matching(head, (0..=close).rev(), (")", "(")) else { return Vec::new() };
    let Some(name) = open.checked_sub(1).and_then(|at| head[at].word()) else { return Vec::new() };
    let inside = head.get(open..close).unwrap_or_default();
    let is_macro = name.chars().next().is_some_and(char::is_uppercase);
    let names = inside.iter().filter_map(|token| match token.kind {
        TokenKind::Word => token.word().map(std::borrow::Cow::into_owned),
        TokenKind::Text => token.text(),
        _ => None,
    });
    let mut found = vec![name.clone().into_owned()];
    if is_macro {
        found.extend(names);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn checks(language: TestLanguage, text: &str, expected: &[(&str, Option<bool>)]) {
        let functions = Functions::read(text, language);
        for (name, expected) in expected {
            assert_eq!(functions.checks(function_of(name)), *expected, "{name}");
        }
    }

    #[test]
    fn a_test_in_python_that_only_calls_checks_nothing() {
        checks(
            TestLanguage::Python,
            "import unittest, pytest\n\
             def helper(x):\n    # no assert here\n    return x\n\
             def same(a, b):\n    assert a == b\n\
             def test_calls():\n    helper(1)\n    print(\"assert\")\n\
             def test_direct():\n    assert helper(1) == 1\n\
             async def test_by_helper():\n    same(1,\n1)\n\
             class T(unittest.TestCase):\n    def test_method(self):\n        self.assertEqual(1, 1)\n\
             \x20   def test_empty(self):\n        pass\n\
             def test_error():\n    with pytest.raises(ValueError):\n        helper(2)\n",
            &[
                ("tests/test_a.py::test_calls", Some(false)),
                ("tests/test_a.py::test_direct[1-2]", Some(true)),
                ("tests/test_a.py::test_by_helper", Some(true)),
                ("test_a.T.test_method", Some(true)),
                ("test_a.py::T::test_empty", Some(false)),
                ("test_error", Some(true)),
                ("test_elsewhere", None),
            ],
        );
    }

    #[test]
    fn a_test_in_c_that_only_calls_checks_nothing() {
        checks(
            TestLanguage::C,
            "#include \"unity.h\"\n#define SAME(a, b) { a; }\n\
             static void fill(int *x) { if (x) { *x = 1; } }\n\
             static void same(int a, int b) { TEST_ASSERT_EQUAL_INT(a, b); }\n\
             void test_calls(void) { int x; fill(&x); /* assert */ }\n\
             void test_direct(void) { TEST_ASSERT_TRUE(1); }\n\
             void test_by_helper(void) { for (;;) { same(1, 1); break; } }\n\
             Test(ring, empty) { fill(0); }\n\
             TEST_CASE(\"ring holds\", \"[ring]\") { same(1, 1); }\n\
             int main(void) { return 0; }\n",
            &[
                ("test_calls", Some(false)),
                ("test_direct", Some(true)),
                ("test_by_helper", Some(true)),
                ("ring::empty", Some(false)),
                ("test_elsewhere", None),
            ],
        );
    }
}
