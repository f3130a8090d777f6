//! Checks the names in the code, local variables too: words that a stranger would have to decode
//! are refused, and the glossary of `src/lib.rs` stays short.
//!
//! `banned_identifiers.toml` has the words. Names of more than five words are sentences, those of
//! tests, and are not looked at.

use std::collections::BTreeMap;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};

use crate::words::{files, parts, shown};

/// The data file, as it is written.
#[derive(serde::Deserialize)]
struct BannedIdentifiers {
    /// What to say instead of a word.
    words: BTreeMap<String, String>,
}

/// The most terms of the glossary.
const MOST_TERMS: usize = 40;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Hands every name in `stream` to `take`, with its line.
fn names(stream: TokenStream, take: &mut dyn FnMut(String, usize)) {
    for tree in stream {
        match tree {
            TokenTree::Group(group) => names(group.stream(), take),
            TokenTree::Ident(name) => take(name.to_string(), name.span().start().line),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// The banned words in a source, with line and name.
fn found(text: &str, words: &BTreeMap<String, String>) -> Vec<(String, usize, String)> {
    let mut found = Vec::new();
    names(text.parse().unwrap(), &mut |name, line| {
        let parts = parts(&name);
        if parts.len() > 5 {
            return;
        }
        for part in parts {
            if words.contains_key(&part) {
                found.push((part, line, name.clone()));
            }
        }
    });
    found
}

#[test]
fn names_have_no_private_words() {
    let file = std::fs::read_to_string(root().join("tests/house/banned_identifiers.toml")).unwrap();
    let BannedIdentifiers { words } = toml::from_str(&file).unwrap();
    let mut broken = Vec::new();
    for path in files(&root().join("src")) {
        if path.extension().is_none_or(|ending| ending != "rs") {
            continue;
        }
        let place = shown(&path);
        for (word, line, name) in found(&std::fs::read_to_string(&path).unwrap(), &words) {
            let instead = &words[&word];
            broken.push(format!("{place}:{line}: `{name}` has `{word}`; say {instead}"));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn a_word_is_found_in_names_and_nowhere_else() {
    let words = BTreeMap::from([("ear".to_owned(), "receiver".to_owned())]);
    let text = "// ear\nfn a(left_ear: u8) { let ear = \"ear\"; struct EarOf; }\n\
                fn what_an_ear_hears_is_kept() { b!(ear.len(), near) }\n";
    let found: Vec<_> =
        found(text, &words).into_iter().map(|(_, line, name)| (line, name)).collect();
    let expected = [(2, "left_ear"), (2, "ear"), (2, "EarOf"), (3, "ear")];
    assert_eq!(found, expected.map(|(line, name)| (line, name.to_owned())));
}

#[test]
fn the_glossary_is_short_and_names_a_type_for_each_term() {
    let text = std::fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let glossary = text.split("//! # Glossary").nth(1).expect("a glossary in src/lib.rs");
    let terms: Vec<&str> = glossary.lines().filter(|line| line.starts_with("//! - **")).collect();
    assert!((20..=MOST_TERMS).contains(&terms.len()), "{} terms", terms.len());
    for term in &terms {
        // That the link leads somewhere is checked by rustdoc.
        assert!(term.contains("**: ") && term.ends_with("`]") && term.len() <= 100, "{term}");
    }
    let mut names: Vec<&str> = terms.iter().filter_map(|term| term.split("**").nth(1)).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), terms.len(), "a term is explained twice");
    for term in [
        "session",
        "run",
        "phase",
        "turn",
        "tool call",
        "proposal",
        "finding",
        "verdict",
        "approval",
    ] {
        assert!(names.contains(&term), "{term} is not explained");
    }
}
