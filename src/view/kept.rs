//! Lists of views of which the older ones are given up.

use std::sync::Arc;

/// Changes the newest view that `is` the wanted one, if there is one.
pub(super) fn change_newest<T: Clone>(
    views: &mut [Arc<T>],
    is: impl Fn(&T) -> bool,
    change: impl FnOnce(&mut T),
) {
    if let Some(view) = views.iter_mut().rev().find(|view| is(view)) {
        change(Arc::make_mut(view));
    }
}

/// Takes out what is over, the oldest first, until `kept` are left; tells how many. What goes on
/// after `most` others began will never be over.
pub(super) fn shed<T>(
    views: &mut Vec<Arc<T>>,
    (kept, most): (usize, usize),
    is_over: impl Fn(&T) -> bool,
) -> u64 {
    let before = views.len();
    let mut surplus = before.saturating_sub(kept);
    let mut place = 0;
    views.retain(|view| {
        place += 1;
        let goes = surplus > 0 && (is_over(view) || place + most < before);
        surplus -= usize::from(goes);
        !goes
    });
    (before - views.len()) as u64
}
