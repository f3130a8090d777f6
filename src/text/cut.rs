//! Shortens a text for a sentence about it.

use std::borrow::Cow;

/// A text of at most `most` characters; a longer one ends at a word, with an ellipsis. Where the last
/// blank is in its first half, the word is cut.
#[must_use]
pub fn cut_at_word(text: &str, most: usize) -> Cow<'_, str> {
    let Some((end, _)) = text.char_indices().nth(most) else { return Cow::Borrowed(text) };
    let kept = &text[..end];
    let kept =
        kept.rfind(' ').filter(|blank| *blank > end / 2).map_or(kept, |blank| &kept[..blank]);
    Cow::Owned(format!("{kept}…"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_ends_at_a_word() {
        assert_eq!(cut_at_word("the tests fail", 14), "the tests fail");
        assert_eq!(cut_at_word("the tests fail again", 17), "the tests fail…");
        assert_eq!(cut_at_word("ä blank-less-text", 10), "ä blank-le…");
        assert_eq!(cut_at_word("ääää", 2), "ää…");
        assert_eq!(cut_at_word("", 0), "");
    }
}
