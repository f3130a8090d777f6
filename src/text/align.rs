//! Which parts of two sequences are alike.
//!
//! Pure. Elements are numbered first: numbers are cheap to compare, and the comparison is compiled
//! once instead of once for each kind of element.

use std::hash::Hash;
use std::time::Instant;

use foldhash::{HashMap, HashMapExt};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

/// The way from `old` to `new`: equal, removed, added and replaced parts in their order. After the
/// deadline what is left is told as replaced.
pub(super) fn align<T: Eq + Hash + ?Sized>(
    algorithm: Algorithm,
    old: &[&T],
    new: &[&T],
    deadline: Option<Instant>,
) -> Vec<DiffOp> {
    let mut numbers = HashMap::with_capacity(old.len());
    let old = number(old, &mut numbers);
    let new = number(new, &mut numbers);
    capture_diff_slices_deadline(algorithm, &old, &new, deadline)
}

/// Gives each distinct element a number.
fn number<'a, T: Eq + Hash + ?Sized>(all: &[&'a T], numbers: &mut HashMap<&'a T, u32>) -> Vec<u32> {
    let of = |element: &&'a T| {
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        *numbers.entry(*element).or_insert(next)
    };
    all.iter().map(of).collect()
}

/// The lines of a text with their ends.
pub(super) fn byte_lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|&byte| byte == b'\n').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alike_is_told_with_its_places() {
        let (old, new) = (["a", "b", "c", "a"], ["a", "c", "a", "d"]);
        for algorithm in [Algorithm::Myers, Algorithm::Patience] {
            let ops = align(algorithm, &old, &new, None);
            let equal = |op: &&DiffOp| matches!(op, DiffOp::Equal { .. });
            let alike: Vec<_> = ops.iter().filter(equal).map(DiffOp::old_range).collect();
            assert_eq!(alike, [0..1, 2..4], "{algorithm:?}");
            assert_eq!(ops.last().map(DiffOp::new_range), Some(3..4), "{algorithm:?}");
        }
        assert!(align::<str>(Algorithm::Myers, &[], &[], None).is_empty());
    }
}
