//! Objects of libraries that take pins, by the type that they are declared with.
//!
//! Must not know what their methods take.

use foldhash::{HashMap, HashSet};

use crate::text::c_tokens::{Token, TokenKind};

/// The objects of a source whose types have methods that take pins.
#[derive(Debug, Default)]
pub(super) struct PinObjects(HashMap<String, String>);

impl PinObjects {
    /// `methods`: `Type.method` of each known one.
    pub(super) fn of<'a>(tokens: &[Token<'_>], methods: impl Iterator<Item = &'a String>) -> Self {
        let kinds: HashSet<&str> =
            methods.filter_map(|method| Some(method.split_once('.')?.0)).collect();
        let mut found = HashMap::default();
        for (at, kind) in tokens.iter().enumerate() {
            if kind.kind != TokenKind::Word || !kinds.contains(kind.raw) {
                continue;
            }
            let Some([name, next]) = tokens.get(at + 1..at + 3) else { continue };
            let is_declared = ["(", "{", "[", "=", ";", ","].iter().any(|mark| next.is(mark));
            if let Some(name) = name.word().filter(|_| is_declared) {
                found.insert(name.into_owned(), kind.raw.to_owned());
            }
        }
        Self(found)
    }

    /// The type of an object; `None` where it is not known.
    pub(super) fn kind_of(&self, object: &str) -> Option<&str> {
        self.0.get(object).map(String::as_str)
    }
}
