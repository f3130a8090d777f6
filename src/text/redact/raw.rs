//! Takes known texts out of raw output that comes in pieces, byte for byte: where a secret was,
//! there are as many stars, so that every place in the output stays where it is.
//!
//! Owns what is held back because a secret may begin there. Must not know where output goes.

use std::borrow::Cow;

use super::Redactor;

/// What stands for each byte of a secret.
const STAR: u8 = b'*';

/// The beginning of a secret that is let go when nothing more comes: shorter than any secret.
const HARMLESS: usize = 5;

/// The end of an output that may become a secret with what follows.
#[derive(Debug, Default)]
pub struct RawPieces {
    open: Vec<u8>,
    /// How much of it was passed on already.
    passed: usize,
}

impl RawPieces {
    /// Takes a piece and gives back what can be passed on of the output so far.
    pub fn push<'a>(&mut self, redactor: &Redactor, piece: &'a [u8]) -> Cow<'a, [u8]> {
        let Some(finder) = &redactor.finder else {
            return match self.open.is_empty() {
                true => Cow::Borrowed(piece),
                false => Cow::Owned([self.end(redactor), piece.to_vec()].concat()),
            };
        };
        if self.open.is_empty() && !finder.is_match(piece) && redactor.open_end(piece, 0).is_none()
        {
            return Cow::Borrowed(piece);
        }
        let mut output = std::mem::take(&mut self.open);
        output.extend_from_slice(piece);
        let passed = std::mem::take(&mut self.passed);
        let masked = mask(redactor, &mut output);
        let open = redactor.open_end(&output, 0).unwrap_or(output.len()).max(masked);
        self.open = output.split_off(open);
        self.passed = passed.saturating_sub(open);
        Cow::Owned(output.split_off(passed.min(open)))
    }

    /// Nothing more came for a while: what can be passed on of what was held back. What may be the
    /// larger part of a secret still waits.
    pub fn rest(&mut self) -> Vec<u8> {
        if !self.has_rest() {
            return Vec::new();
        }
        let rest = self.open.get(self.passed..).unwrap_or_default().to_vec();
        self.passed = self.open.len();
        rest
    }

    /// The output is over: what was held back, without secrets.
    pub fn end(&mut self, redactor: &Redactor) -> Vec<u8> {
        let mut rest = std::mem::take(&mut self.open);
        mask(redactor, &mut rest);
        rest.split_off(std::mem::take(&mut self.passed).min(rest.len()))
    }

    /// Whether [`RawPieces::rest`] would give something.
    #[must_use]
    pub const fn has_rest(&self) -> bool {
        self.open.len() > self.passed && self.open.len() <= HARMLESS
    }
}

/// Puts stars in the place of every secret; tells where the last one ended.
fn mask(redactor: &Redactor, output: &mut [u8]) -> usize {
    let Some(finder) = &redactor.finder else { return 0 };
    let found: Vec<_> = finder.find_iter(&*output).map(|found| found.range()).collect();
    for range in &found {
        if let Some(secret) = output.get_mut(range.clone()) {
            secret.fill(STAR);
        }
    }
    found.last().map_or(0, |last| last.end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEY: &str = "sk-live-0123456789abcdef";

    /// All that is passed on when the output comes in pieces of these lengths.
    fn passed(output: &[u8], sizes: &[usize], pauses: bool) -> Vec<u8> {
        let redactor = Redactor::new([KEY]);
        let mut pieces = RawPieces::default();
        let (mut rest, mut out) = (output, Vec::new());
        for size in sizes.iter().cycle() {
            let (piece, later) = rest.split_at((*size).clamp(1, rest.len().max(1)).min(rest.len()));
            out.extend_from_slice(&pieces.push(&redactor, piece));
            if pauses {
                out.extend(pieces.rest());
            }
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        out.extend(pieces.end(&redactor));
        assert!(!pieces.has_rest());
        out
    }

    #[test]
    fn a_secret_becomes_stars_wherever_the_pieces_end() {
        let output = format!("key={KEY}\r\nsk-live-012 and {KEY}{KEY}\u{e9}");
        let stars = "*".repeat(KEY.len());
        let clean = format!("key={stars}\r\nsk-live-012 and {stars}{stars}\u{e9}");
        for size in 1..=output.len() {
            assert_eq!(passed(output.as_bytes(), &[size], false), clean.as_bytes(), "{size}");
        }
    }

    #[test]
    fn after_a_pause_no_more_than_the_beginning_of_a_secret_is_passed_on() {
        let output = format!("key={KEY}\n");
        for size in 1..=output.len() {
            let out = passed(output.as_bytes(), &[size], true);
            assert_eq!(out.len(), output.len(), "{size}");
            let text = String::from_utf8(out).unwrap();
            assert!(!text.contains(&KEY[..HARMLESS + 1]), "{size}: {text}");
            assert!(text.ends_with("***********\n"), "{size}: {text}");
        }
        let redactor = Redactor::new([KEY]);
        let mut pieces = RawPieces::default();
        assert_eq!(&*pieces.push(&redactor, b"login: s"), b"login: ");
        assert_eq!(pieces.rest(), b"s");
        assert_eq!(&*pieces.push(&redactor, b"ure\n"), b"ure\n");
    }

    #[test]
    fn without_secrets_nothing_is_copied_or_held_back() {
        let (redactor, mut pieces) = (Redactor::default(), RawPieces::default());
        assert!(matches!(pieces.push(&redactor, KEY.as_bytes()), Cow::Borrowed(_)));
        assert!(!pieces.has_rest());
        let redactor = Redactor::new([KEY]);
        assert!(matches!(pieces.push(&redactor, b"I (12) main: up\r\n"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn pieces_give_what_the_whole_gives(
            parts in proptest::collection::vec(("[sk\\-live0-9 \n]{0,20}", any::<bool>()), 0..8),
            sizes in proptest::collection::vec(1..40_usize, 1..6),
        ) {
            let mut output = String::new();
            for (text, has_key) in parts {
                output.push_str(&text);
                output.push_str(if has_key { KEY } else { "" });
            }
            let whole = output.replace(KEY, &"*".repeat(KEY.len()));
            prop_assert_eq!(passed(output.as_bytes(), &sizes, false), whole.as_bytes());
        }
    }
}
