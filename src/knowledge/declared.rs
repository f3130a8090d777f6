//! Which names the installed framework declares: functions, types, macros, options, headers,
//! components.
//!
//! Owns the question whether a name exists, and which names are near. A name is judged only in a
//! namespace of the framework, so that what others declare is never taken for a mistake. Must not
//! know where a name was found.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::corpus::SEPARATE;
use super::index::{COMPONENT, HEADER, MISSING, PassageIndex};
use super::library::Library;

/// Names that begin alike before this beginning counts as the framework's.
const NAMESPACE: usize = 6;
/// The same for one word only, which is easily somebody else's too.
const NAMESPACE_OF_WORD: usize = 40;
/// Names that are compared for advice.
const COMPARED: usize = 6_000;
/// Names in an advice.
const NEAR: usize = 3;
/// Least likeness of a name in an advice, from 0 to 1.
const ALIKE: f64 = 0.72;
/// The names of one framework.
#[derive(Clone)]
pub struct DeclaredNames {
    library: Arc<Library>,
}

impl DeclaredNames {
    /// Of the first framework in a library; `None` when it holds none.
    pub(super) fn of(library: Arc<Library>) -> Option<Self> {
        library.frameworks().next()?;
        Some(Self { library })
    }

    fn index(&self) -> Option<&PassageIndex> {
        self.library.frameworks().next().map(|(_, index)| index)
    }

    /// The framework with its version, e.g. `ESP-IDF 5.4.1`.
    #[must_use]
    pub fn framework(&self) -> String {
        format!("ESP-IDF {}", self.version()).trim_end().to_owned()
    }

    /// The version of the framework, e.g. `5.4.1`; empty when it is not known.
    #[must_use]
    pub fn version(&self) -> &str {
        let first = self.library.frameworks().next();
        first.map_or("", |(corpus, _)| corpus.version.as_str())
    }

    /// Whether the framework knows a name; so when it cannot be found out.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.index().is_none_or(|index| index.has_name(name).unwrap_or(true))
    }

    /// How a name begins, if that is how names of the framework begin: `esp_wifi_` of
    /// `esp_wifi_foo`. `None` where a library could declare it that this framework lacks.
    #[must_use]
    pub fn namespace<'n>(&self, name: &'n str) -> Option<&'n str> {
        let index = self.index()?;
        // Options of examples are their projects' own.
        if self.could_be_missing(name) || name.starts_with("CONFIG_EXAMPLE_") {
            return None;
        }
        let known = |part: &&str| {
            let plain = part.strip_prefix("CONFIG_").unwrap_or(part);
            let is_word = plain.matches('_').count() == 1 && !plain.contains(':');
            let least = if is_word { NAMESPACE_OF_WORD } else { NAMESPACE };
            let names: BTreeSet<String> =
                index.names_like(part, 6 * least).unwrap_or_default().into_iter().collect();
            names.len() >= least
        };
        beginnings(name).into_iter().find(known)
    }

    /// For a name as it is written in code: the nearest ones if the framework should declare it and
    /// does not.
    #[must_use]
    pub fn near_if_unknown(&self, written: &str) -> Option<Vec<String>> {
        let name = written.trim().trim_end_matches("()");
        let name = match name.rsplit_once('.') {
            Some((_, "h" | "hpp" | "hh")) => format!("{HEADER}{name}"),
            Some(_) | None => name.to_owned(),
        };
        let is_judged = name.starts_with("CONFIG_") || self.namespace(&name).is_some();
        let near = || self.near(&name).into_iter();
        (is_judged && !self.has(&name))
            .then(|| near().map(|name| name.trim_start_matches(HEADER).to_owned()).collect())
    }

    fn could_be_missing(&self, name: &str) -> bool {
        let plain = name.strip_prefix(HEADER).unwrap_or(name);
        let plain = plain.strip_prefix("CONFIG_").unwrap_or(plain);
        SEPARATE.iter().any(|(folder, begins)| {
            begins.iter().any(|begin| plain.starts_with(begin))
                && self.has(&format!("{MISSING}{folder}"))
        })
    }

    /// The names that are most like a name, the most alike first.
    #[must_use]
    pub fn near(&self, name: &str) -> Vec<String> {
        let Some(index) = self.index() else { return Vec::new() };
        let mut found: BTreeSet<String> = BTreeSet::new();
        for begin in beginnings(name) {
            found.extend(index.names_like(begin, COMPARED).unwrap_or_default());
        }
        let is_constant = !name.contains(char::is_lowercase);
        let is_type = name.ends_with("_t");
        found.retain(|other| {
            other != name
                && is_constant != other.contains(char::is_lowercase)
                && is_type == other.ends_with("_t")
        });
        let begin = name.find(':').map_or(0, |colon| colon + 1);
        let likeness = |other: &str| {
            let rest = other.get(begin..).unwrap_or(other);
            strsim::jaro_winkler(&name[begin..], rest).max(words_in_common(&name[begin..], rest))
        };
        let mut ranked: Vec<(f64, String)> = found
            .into_iter()
            .map(|other| (likeness(&other), other))
            .filter(|(likeness, _)| *likeness >= ALIKE)
            .collect();
        ranked.sort_by(|(a, name), (b, other)| b.total_cmp(a).then_with(|| name.cmp(other)));
        ranked.into_iter().take(NEAR).map(|(_, name)| name).collect()
    }
}

/// The part of their words that two names have in common.
#[expect(clippy::cast_precision_loss, reason = "names have few words")]
fn words_in_common(one: &str, other: &str) -> f64 {
    let words = |name: &str| -> BTreeSet<String> {
        name.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).collect()
    };
    let (one, other) = (words(one), words(other));
    let all = one.union(&other).count().max(1);
    one.intersection(&other).count() as f64 / all as f64
}

/// How a name may begin in common with others, the longest first: two words, or one of a name of
/// two words; the folder of a header; two humps of `xTaskCreate`.
fn beginnings(name: &str) -> Vec<&str> {
    if let Some(path) = name.strip_prefix(HEADER) {
        let folder = path.rfind('/').map(|slash| HEADER.len() + slash + 1);
        let word = path.find('_').map(|at| HEADER.len() + at + 1);
        return folder.or(word).map(|end| &name[..end]).into_iter().collect();
    }
    if let Some(rest) = name.strip_prefix(COMPONENT) {
        return rest.find('_').map(|at| &name[..=COMPONENT.len() + at]).into_iter().collect();
    }
    let start = if name.starts_with("CONFIG_") { "CONFIG_".len() } else { 0 };
    let breaks: Vec<usize> = name[start..].match_indices('_').map(|(at, _)| start + at).collect();
    let after = |at: &usize| *at > start && at + 1 < name.len();
    let mut ends: Vec<usize> = breaks.into_iter().filter(after).map(|at| at + 1).collect();
    ends.truncate(2);
    ends.reverse();
    if ends.is_empty() && name.starts_with(['x', 'v', 'u', 'p', 'e']) {
        let humps = name.char_indices().filter(|(_, c)| c.is_ascii_uppercase());
        ends.extend(humps.map(|(at, _)| at).nth(1));
    }
    // One word alone says little: `app_`, `my_`.
    ends.into_iter().map(|end| &name[..end]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_begin_with_their_first_words() {
        assert_eq!(beginnings("esp_wifi_foo"), ["esp_wifi_", "esp_"]);
        assert_eq!(beginnings("gpio_foo"), ["gpio_"]);
        assert_eq!(beginnings("CONFIG_ESP_WIFI_FOO"), ["CONFIG_ESP_WIFI_", "CONFIG_ESP_"]);
        assert_eq!(beginnings("header:driver/i2c_x.h"), ["header:driver/"]);
        assert_eq!(beginnings("header:esp_x.h"), ["header:esp_"]);
        assert_eq!(beginnings("component:esp_x"), ["component:esp_"]);
        assert_eq!(beginnings("xTaskCreateFoo"), ["xTask"]);
        assert_eq!(beginnings("_x"), Vec::<&str>::new());
        assert_eq!(beginnings("printf"), Vec::<&str>::new());
    }
}
