//! From what shall change to a plan, and from a plan to the partition that is written.

use super::terms::of_plan;
use super::{NvsEntry, NvsError, NvsPartition, StoredValue, parse, write};
use crate::model::{ContentHash, NvsEdit, NvsPlan, NvsSpace};

/// One entry that shall be set, or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryChange {
    pub namespace: String,
    /// The key in it.
    pub key: String,
    /// What it shall hold; `None`: it is removed.
    pub value: Option<StoredValue>,
}

/// What a plan says of the partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// What it holds now.
    pub base: ContentHash,
    /// What it would hold.
    pub image: ContentHash,
    /// What changes; what is so already is left out.
    pub edits: Vec<NvsEdit>,
    /// How full it would be.
    pub space: NvsSpace,
}

/// Why nothing can be planned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WhyNot {
    /// The partition cannot be read or written.
    #[error(transparent)]
    Nvs(#[from] NvsError),
    /// What shall be removed is not there.
    #[error("there is no `{0}` that could be removed")]
    Missing(String),
    /// The same entry is named twice.
    #[error("`{0}` is named twice")]
    Twice(String),
    /// A key has values of several types.
    #[error("`{0}` holds values of several types; erase the partition, or let the firmware do it")]
    Several(String),
    /// There is nothing to change.
    #[error("the partition already holds all of it")]
    Nothing,
}

/// What a partition has to become, or why it does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rewritten {
    /// It is written.
    Image(Vec<u8>),
    /// What was shown of it is so no more.
    Stale,
    /// It cannot be done.
    Cannot(String),
}

/// Plans the wished changes of a partition.
///
/// # Errors
/// When it cannot be read, a wish cannot be fulfilled, or there is no room.
pub fn plan(base: &[u8], wishes: Vec<EntryChange>) -> Result<Planned, WhyNot> {
    let mut store = parse::parse(base)?;
    let mut edits: Vec<NvsEdit> = Vec::new();
    for EntryChange { namespace, key, value } in wishes {
        let name = format!("{namespace}:{key}");
        if edits.iter().any(|edit| edit.name() == name) {
            return Err(WhyNot::Twice(name));
        }
        let before = match found(&store, &namespace, &key).as_slice() {
            [] if value.is_none() => return Err(WhyNot::Missing(name)),
            [] => None,
            [entry] => Some(entry.value.clone()),
            [..] => return Err(WhyNot::Several(name)),
        };
        if before == value {
            continue;
        }
        let shown = value.as_ref().map(|value| value.shown(&key)).unwrap_or_default();
        let (before, after) =
            (before.map(|value| value.seen(&key)), value.as_ref().map(StoredValue::planned));
        set(&mut store, &namespace, &key, value);
        edits.push(NvsEdit { namespace, key, before, after, shown });
    }
    if edits.is_empty() {
        return Err(WhyNot::Nothing);
    }
    let (image, used) = write::write(&store, base.len())?;
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let space = NvsSpace {
        used: count(used),
        of: count(write::entry_space(base.len())),
        damaged: store.damaged,
    };
    Ok(Planned { base: ContentHash::of(base), image: ContentHash::of(&image), edits, space })
}

/// What becomes of a partition that holds `now`. What else changed in it since the plan was made
/// stays as it is now.
#[must_use]
pub fn rewrite(plan: &NvsPlan, now: &[u8]) -> Rewritten {
    let mut store = match parse::parse(now) {
        Ok(store) => store,
        Err(error) => return Rewritten::Cannot(error.to_string()),
    };
    for edit in &plan.edits {
        let found = found(&store, &edit.namespace, &edit.key);
        let hashes: Vec<ContentHash> = found.iter().map(|entry| entry.value.hash()).collect();
        if hashes != Vec::from_iter(edit.before.as_ref().map(|seen| seen.hash)) {
            return Rewritten::Stale;
        }
    }
    for edit in &plan.edits {
        let value = match edit.after.as_ref().map(of_plan).transpose() {
            Ok(value) => value,
            Err(why) => return Rewritten::Cannot(format!("`{}`: {why}", edit.name())),
        };
        set(&mut store, &edit.namespace, &edit.key, value);
    }
    match write::write(&store, now.len()) {
        Err(error) => Rewritten::Cannot(error.to_string()),
        Ok((image, _))
            if ContentHash::of(now) == plan.base && ContentHash::of(&image) != plan.image =>
        {
            Rewritten::Cannot("what would be written is not what was approved".to_owned())
        }
        Ok((image, _)) => Rewritten::Image(image),
    }
}

fn found<'a>(store: &'a NvsPartition, namespace: &str, key: &str) -> Vec<&'a NvsEntry> {
    let is_meant = |entry: &&NvsEntry| entry.namespace == namespace && entry.key == key;
    store.entries.iter().filter(is_meant).collect()
}

/// Sets an entry where it is, or at the end; or removes it.
fn set(store: &mut NvsPartition, namespace: &str, key: &str, value: Option<StoredValue>) {
    let is_meant = |entry: &NvsEntry| entry.namespace == namespace && entry.key == key;
    let Some(value) = value else {
        store.entries.retain(|entry| !is_meant(entry));
        return;
    };
    if let Some(entry) = store.entries.iter_mut().find(|entry| is_meant(entry)) {
        entry.value = value;
        return;
    }
    let (namespace, key) = (namespace.to_owned(), key.to_owned());
    if !store.namespaces.contains(&namespace) {
        store.namespaces.push(namespace.clone());
    }
    store.entries.push(NvsEntry { namespace, key, value });
}
