//! Checks the words that people and agents read against `banned_words.toml`: plain, international
//! English. It looks at string literals, documents, prompts, themes and keymaps, and at the names
//! that the sources define; it does not look at code for tests or at comments.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use regex::{Regex, RegexBuilder};

/// The data file, as it is written.
#[derive(serde::Deserialize)]
struct BannedFile {
    texts: BTreeMap<String, String>,
    names: BTreeMap<String, String>,
}

/// One text with its place.
struct Passage {
    place: String,
    text: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn banned() -> (Vec<(Regex, String)>, BTreeMap<String, String>) {
    let file = std::fs::read_to_string(root().join("tests/house/banned_words.toml")).unwrap();
    let BannedFile { texts, names } = toml::from_str(&file).unwrap();
    let patterns = texts.into_iter().map(|(pattern, instead)| {
        (RegexBuilder::new(&pattern).case_insensitive(true).build().unwrap(), instead)
    });
    (patterns.collect(), names)
}

/// Files below `folder`, in order.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

pub fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string()
}

/// Sources that are part of the program: not tests, not what only tests use.
fn sources() -> Vec<(String, String)> {
    let all = files(&root().join("src")).into_iter().filter(|path| {
        let name = shown(path);
        let is_test = ["tests", "_tests.", "test_", "stand_in", "fixture", "pane_bench"];
        name.ends_with(".rs") && !is_test.iter().any(|part| name.contains(part))
    });
    all.map(|path| (shown(&path), std::fs::read_to_string(&path).unwrap())).collect()
}

/// Lines of the documents and data files that people or agents read.
fn documents() -> Vec<Passage> {
    let mut paths = vec![root().join("README.md"), root().join("CHANGELOG.md")];
    for folder in [".github", "prompts", "themes", "keymaps", "assets/examples"] {
        paths.extend(files(&root().join(folder)));
    }
    for folder in ["src/provider", "assets"] {
        let notes = files(&root().join(folder)).into_iter();
        paths.extend(notes.filter(|path| {
            let place = shown(path);
            place.ends_with(".md") && !place.contains("knowledge") && !place.contains("demo")
        }));
    }
    // Names are no words: of files, teams, actions and options.
    let names = Regex::new(r#"`[^` ]*`|"[\w.-]*"|^[a-z-]+ ="#).unwrap();
    let mut passages = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            let place = format!("{}:{}", shown(&path), number + 1);
            let text = names.replace_all(line, "").into_owned();
            passages.push(Passage { place, text });
        }
    }
    passages
}

/// Gathers string literals outside of code for tests; `///` only where `has_docs` says so.
struct Literals<'a> {
    file: &'a str,
    has_docs: bool,
    found: Vec<Passage>,
}

impl Literals<'_> {
    fn walk(&mut self, stream: TokenStream) {
        let mut trees = stream.into_iter().peekable();
        let mut is_for_tests = false;
        while let Some(tree) = trees.next() {
            let is_attribute = matches!(&tree, TokenTree::Punct(mark) if mark.as_char() == '#');
            if is_attribute && matches!(trees.peek(), Some(TokenTree::Punct(_))) {
                // What a file says of itself, for those who change it.
                trees.next();
                trees.next();
                continue;
            }
            if is_attribute
                && let Some(TokenTree::Group(group)) = trees.peek()
                && group.delimiter() == Delimiter::Bracket
            {
                let text = group.to_string();
                is_for_tests |= text.contains("cfg (test)") || text.contains("cfg(test)");
                if self.is_read(group.stream()) {
                    self.walk(group.stream());
                }
                trees.next();
                continue;
            }
            match tree {
                TokenTree::Group(group) if is_for_tests => {
                    is_for_tests = group.delimiter() != Delimiter::Brace;
                }
                TokenTree::Group(group) => self.walk(group.stream()),
                TokenTree::Punct(mark) if mark.as_char() == ';' => is_for_tests = false,
                TokenTree::Literal(literal) => self.literal(&literal),
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
    }

    /// Whether a person reads what is in this attribute.
    fn is_read(&self, attribute: TokenStream) -> bool {
        let Some(TokenTree::Ident(name)) = attribute.into_iter().next() else { return false };
        name == "error"
            || (self.has_docs && ["doc", "arg", "command"].iter().any(|own| name == own))
    }

    fn literal(&mut self, literal: &proc_macro2::Literal) {
        let source = literal.to_string();
        // A regular expression is no text.
        if !source.starts_with('"') {
            return;
        }
        let Ok(text) = syn::parse_str::<syn::LitStr>(&source) else { return };
        let text = text.value();
        if text.contains(' ') {
            let place = format!("{}:{}", self.file, literal.span().start().line);
            self.found.push(Passage { place, text });
        }
    }
}

fn literals(file: &str, text: &str) -> Vec<Passage> {
    let mut literals = Literals { file, has_docs: file == "src/cli/args.rs", found: Vec::new() };
    literals.walk(text.parse().unwrap());
    literals.found
}

fn report(passages: &[Passage], patterns: &[(Regex, String)]) -> Vec<String> {
    let mut broken = Vec::new();
    for passage in passages {
        for (pattern, instead) in patterns {
            if let Some(found) = pattern.find(&passage.text) {
                let word = found.as_str();
                broken.push(format!("{}: `{word}`; write: {instead}", passage.place));
            }
        }
    }
    broken
}

#[test]
fn people_and_agents_read_plain_english() {
    let (patterns, _) = banned();
    assert!(patterns.len() >= 40, "only {} patterns", patterns.len());
    let mut passages = documents();
    for (file, text) in sources() {
        passages.extend(literals(&file, &text));
    }
    assert!(passages.len() > 4000, "only {} passages were found", passages.len());
    let broken = report(&passages, &patterns);
    assert!(broken.is_empty(), "{} banned words:\n{}", broken.len(), broken.join("\n"));
}

#[test]
fn a_banned_word_is_found_where_people_read_it_and_nowhere_else() {
    let text = "//! mend\n/// mend\n#[error(\"cannot mend it\")]\nstruct A;\n\
                fn a() { say(\"fix \\\n   or mend\", \"a mender\", r\"mend (it)\"); }\n\
                #[cfg(test)]\nmod tests { fn b() { say(\"mend it\"); } }\n\
                fn c() { say(\"to mend\") }\n";
    let (patterns, _) = banned();
    let lines = |file: &str| -> Vec<String> {
        let broken = report(&literals(file, text), &patterns);
        broken.iter().map(|line| line.split('`').next().unwrap().trim().to_owned()).collect()
    };
    assert_eq!(lines("src/a.rs"), ["src/a.rs:3:", "src/a.rs:5:", "src/a.rs:9:"]);
}

/// Words of a name in any case: `LedState` and `led_state` are `led`, `state`.
pub fn parts(name: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut was_lower = false;
    for letter in name.chars() {
        let starts = letter == '_' || (letter.is_uppercase() && was_lower);
        if starts || parts.is_empty() {
            parts.push(String::new());
        }
        if letter != '_'
            && let Some(part) = parts.last_mut()
        {
            part.extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase() || letter.is_ascii_digit();
    }
    parts
}

#[test]
fn types_functions_and_modules_have_usual_names() {
    let (_, names) = banned();
    let definition = Regex::new(
        r"^\s*(?:pub(?:\([a-z: ]+\))? )?(?:const |async )*(?:fn|struct|enum|mod|trait|type) (\w+)",
    );
    let definition = definition.unwrap();
    let mut broken = Vec::new();
    for (file, text) in sources() {
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let mut before = "";
        for (number, line) in code.lines().enumerate() {
            let is_test = std::mem::replace(&mut before, line).contains("test");
            let Some(found) = definition.captures(line).filter(|_| !is_test) else { continue };
            for part in parts(&found[1]) {
                if let Some(instead) = names.get(&part) {
                    broken.push(format!("{file}:{}: `{}`, say {instead}", number + 1, &found[1]));
                }
            }
        }
    }
    assert_eq!(parts("toldFaultOf_it2B"), ["told", "fault", "of", "it2", "b"]);
    assert!(broken.is_empty(), "private words:\n{}", broken.join("\n"));
}
