//! Work of a foreign reader that may break: what it broke costs its answer, and nothing else.
//!
//! Owns the mark by which the program's own report of a crash leaves such work alone.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Does some work; `None` when it panics, of which nothing is reported.
pub fn contained<T>(work: impl FnOnce() -> T) -> Option<T> {
    let before = CONTAINED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work)).ok();
    CONTAINED.set(before);
    done
}

/// Whether this thread does such work: a panic is no crash of the program.
#[must_use]
pub fn is_contained() -> bool {
    CONTAINED.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_breaks_has_no_answer_and_the_thread_goes_on() {
        assert_eq!(contained(|| 7), Some(7));
        let broken = contained(|| {
            assert!(is_contained());
            Vec::<u8>::new()[0]
        });
        assert_eq!((broken, is_contained()), (None, false));
    }
}
