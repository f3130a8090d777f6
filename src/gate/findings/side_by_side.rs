//! Does several things with one change side by side, where that is worth it.
//!
//! Owns how many threads there are. Results are in the order of the things, whichever thread ends first.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Less text is looked at sooner than threads begin.
const LEAST_BYTES: usize = 8 * 1024;

/// Threads at most.
const MOST: usize = 4;

/// How many processors there are, which takes some time to ask.
static PROCESSORS: LazyLock<usize> =
    LazyLock::new(|| thread::available_parallelism().map_or(1, NonZero::get));

/// What `run` makes of each of `items`; `bytes` is how much text each looks at.
pub(super) fn each<T: Sync, R: Send>(
    items: &[T],
    bytes: usize,
    run: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    if bytes < LEAST_BYTES {
        return items.iter().map(run).collect();
    }
    let processors = *PROCESSORS;
    let next = AtomicUsize::new(0);
    let work = || {
        let mut made = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return made };
            made.push((at, run(item)));
        }
    };
    let mut made = thread::scope(|scope| {
        // Where no thread can be had, this one does all.
        let begin = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..processors.min(MOST)).filter_map(begin).collect();
        let mut made = work();
        for other in others {
            match other.join() {
                Ok(own) => made.extend(own),
                Err(panic) => resume_unwind(panic),
            }
        }
        made
    });
    made.sort_by_key(|(at, _)| *at);
    made.into_iter().map(|(_, made)| made).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_the_things() {
        let items: Vec<usize> = (0..100).collect();
        for bytes in [0, LEAST_BYTES] {
            let made = each(&items, bytes, |item| item * 2);
            assert_eq!(made, (0..100).map(|item| item * 2).collect::<Vec<_>>(), "{bytes}");
        }
    }

    #[test]
    fn a_panic_comes_through() {
        let run = || each(&[1, 2, 3], LEAST_BYTES, |item| assert!(*item != 2, "two"));
        assert!(std::panic::catch_unwind(run).is_err());
    }
}
