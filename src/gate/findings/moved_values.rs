//! Numbers that a new file got from other files of the same change which no longer have them.
//!
//! Must not judge them.

use std::collections::BTreeMap;

use super::Subject;
use super::named_numbers::{self, NamedNumber};
use super::source::SourceText;
use crate::model::ProjectPath;

/// Other files of a change in which the numbers of a new one are looked for.
const MOST_OTHERS: usize = 32;

/// Such numbers whose names are wanted: as they were, and as they are in the new file.
pub(super) fn find(
    path: &ProjectPath,
    subject: &Subject<'_>,
    wanted: &dyn Fn(&str) -> bool,
) -> Vec<(NamedNumber, NamedNumber)> {
    let Some(source) = subject.source() else { return Vec::new() };
    let new = named_numbers::find(source, wanted);
    let is = once(&new);
    let others = subject.context.proposed.paths().filter(|other| *other != path);
    let mut found = Vec::new();
    for other in others.take(MOST_OTHERS).filter(|_| !is.is_empty()) {
        let before = subject.text_before(other.as_str());
        let has_one = |text: &String| is.keys().any(|name| text.contains(name));
        let Some(before) = before.filter(has_one) else { continue };
        let after = subject.text_after(other.as_str()).unwrap_or_default();
        let of = |text: &str| named_numbers::find(&SourceText::new(other, text), wanted);
        let stays = of(&after);
        let was = of(&before);
        for (name, was) in once(&was) {
            let is_here = stays.iter().any(|number| number.name == name);
            if let (Some(was), Some(Some(now)), false) = (was, is.get(name), is_here) {
                found.push((was.clone(), (*now).clone()));
            }
        }
    }
    found
}

/// Numbers by their names; `None` where one has several.
fn once(all: &[NamedNumber]) -> BTreeMap<&str, Option<&NamedNumber>> {
    let mut found: BTreeMap<&str, Option<&NamedNumber>> = BTreeMap::new();
    for number in all {
        found.entry(&number.name).and_modify(|known| *known = None).or_insert(Some(number));
    }
    found
}
