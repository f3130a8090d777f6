//! Names that a version of the framework has no longer, and what stands in their place.
//!
//! Owns the table of `assets/findings/removed.toml`. Must not know what is installed.

use std::sync::LazyLock;

use serde::Deserialize;

use super::declared_uses::UseKind;
use crate::knowledge::{COMPONENT, HEADER};
use crate::text::shipped::shipped_table;

/// The table as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    component: Vec<RemovedName>,
    header: Vec<RemovedName>,
    symbol: Vec<RemovedName>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RemovedName {
    names: Vec<String>,
    since: String,
    #[serde(default)]
    instead: String,
    #[serde(default)]
    to: String,
}

static TABLE: LazyLock<Option<Table>> =
    LazyLock::new(|| shipped_table(include_str!("../../../assets/findings/removed.toml")));

/// What is said of a name as it is looked up, in a framework of that version which does not declare
/// it: that it was removed, or that it is there from a later version on. `None` where nothing is
/// known of it.
pub(super) fn advice((kind, name): &(UseKind, String), version: &str) -> Option<String> {
    let table = TABLE.as_ref()?;
    let (entries, name) = match kind {
        UseKind::Component => (&table.component, name.strip_prefix(COMPONENT)?),
        UseKind::Header => (&table.header, name.strip_prefix(HEADER)?),
        UseKind::Symbol => (&table.symbol, name.as_str()),
        UseKind::Option => return None,
    };
    entries.iter().find_map(|entry| {
        let is_without = number(version)? >= number(&entry.since)?;
        let since = &entry.since;
        match is_without {
            true if entry.names.iter().any(|known| known == name) => {
                let instead = match entry.to.as_str() {
                    "" => entry.instead.clone(),
                    to => format!("It is `{to}` now."),
                };
                Some(format!("Removed in ESP-IDF {since}. {instead}"))
            }
            false if !entry.to.is_empty() && entry.to == name => {
                Some(format!("Before ESP-IDF {since} it is `{}`.", entry.names.join("` or `")))
            }
            _ => None,
        }
    })
}

/// The first two numbers of a version.
fn number(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.').map(str::parse);
    let major = parts.next()?.ok()?;
    Some((major, parts.next().and_then(Result::ok).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_entry_says_since_when_and_what_to_do() {
        let table = TABLE.as_ref().expect("the table that ships");
        for entry in table.component.iter().chain(&table.header).chain(&table.symbol) {
            assert!(number(&entry.since).is_some(), "{entry:?}");
            assert!(entry.instead.is_empty() != entry.to.is_empty(), "{entry:?}");
            assert!(!entry.names.is_empty(), "{entry:?}");
        }
    }

    #[test]
    fn a_version_tells_what_it_lacks_and_what_it_does_not_have_yet() {
        let of = |kind, name: &str, version| advice(&(kind, name.to_owned()), version);
        let json = of(UseKind::Component, "component:json", "6.0.1").unwrap();
        assert!(json.starts_with("Removed in ESP-IDF 6.0. Add `espressif/cjson`"), "{json}");
        assert_eq!(of(UseKind::Component, "component:json", "5.5.1"), None);
        let later = of(UseKind::Symbol, "xTaskDelayUntil", "5.4").unwrap();
        assert_eq!(later, "Before ESP-IDF 6.0 it is `vTaskDelayUntil`.");
        assert_eq!(of(UseKind::Symbol, "xTaskDelayUntil", "6.1"), None);
        assert_eq!(of(UseKind::Symbol, "json", "6.1"), None);
        assert_eq!(of(UseKind::Header, "header:driver/rmt.h", ""), None);
    }
}
