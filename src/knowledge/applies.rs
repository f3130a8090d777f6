//! Which chips the files of a framework apply to.
//!
//! Owns what the framework itself says about that: the list of pages that only some chips have
//! (`docs/conf_common.py`), the table of supported targets of each example, and the chips in the
//! names of pages. Reads those files; whatever it does not understand holds for every chip.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

use super::chips::{ChipFacts, ChipSet};
use super::python_lists::conditional_pages;
use crate::files;

/// Where the framework lists the pages that only some chips have.
const CONDITIONS: &str = "docs/conf_common.py";
/// The folder that the pages in that list are in.
const PAGES: &str = "docs/en/";
/// The folder of the examples.
const EXAMPLES: &str = "examples/";
/// The file of an example with the table of chips, and how much of it is looked at, in bytes.
const README: &str = "README.md";
const START_OF_README: u64 = 8 << 10;
/// How the line of chips in that table begins.
const TARGETS: &str = "Supported Targets";
/// Longest pattern of pages, in bytes.
const LONGEST_PATTERN: usize = 300;

/// What a framework says about the chips of its files.
#[derive(Debug, Default)]
pub struct Applicability {
    pages: PageRules,
    examples: BTreeMap<String, ChipSet>,
}

impl Applicability {
    /// Reads it, with the paths of the framework's files.
    #[must_use]
    pub fn read<'a>(root: &Path, facts: &ChipFacts, paths: impl Iterator<Item = &'a str>) -> Self {
        Self { pages: PageRules::read(root, facts), examples: targets_of_examples(root, paths) }
    }

    /// The chips that a file is for, out of those that its folder names.
    #[must_use]
    pub fn chips(&self, path: &str, of_folder: ChipSet) -> ChipSet {
        let chips = match path.strip_prefix(PAGES) {
            Some(page) => self.pages.chips(page).and(in_name(page)),
            None => of_example(&self.examples, path),
        };
        let both = of_folder.and(chips);
        // Two sources that contradict each other say nothing.
        if both.is_empty() { of_folder } else { both }
    }
}

/// Which pages are for some chips only.
#[derive(Debug, Default)]
struct PageRules {
    exact: HashMap<String, ChipSet>,
    patterns: Vec<(GlobMatcher, ChipSet)>,
}

impl PageRules {
    fn read(root: &Path, facts: &ChipFacts) -> Self {
        let mut rules = Self::default();
        let Ok(text) = files::read_text(&root.join(CONDITIONS), files::SETTINGS) else {
            return rules;
        };
        for (condition, pages) in conditional_pages(&text) {
            let mut chips = facts.holds_for(&condition);
            if ChipSet::of(&condition).is_none() {
                // What a chip can do that the framework does not describe is not known.
                chips = chips.or(facts.listed().others());
            }
            pages.into_iter().for_each(|page| rules.add(page, chips));
        }
        rules
    }

    fn add(&mut self, page: String, chips: ChipSet) {
        if !page.contains(['*', '?', '[', '{']) {
            let known = self.exact.entry(page).or_insert(ChipSet::NONE);
            *known = known.or(chips);
            return;
        }
        if page.len() <= LONGEST_PATTERN
            && let Ok(glob) = GlobBuilder::new(&page).literal_separator(true).build()
        {
            self.patterns.push((glob.compile_matcher(), chips));
        }
    }

    /// The chips that have a page: all those of the rules that name it, every chip if none does.
    fn chips(&self, page: &str) -> ChipSet {
        let exact = self.exact.get(page).copied().unwrap_or(ChipSet::NONE);
        let fitting = self.patterns.iter().filter(|(glob, _)| glob.is_match(page));
        let chips = fitting.fold(exact, |chips, (_, more)| chips.or(*more));
        if chips.is_empty() { ChipSet::ALL } else { chips }
    }
}

/// The chips in the name of a page, such as `summary_ESP32-C3_dump.rst`; all when there is none.
fn in_name(page: &str) -> ChipSet {
    let name = page.rsplit('/').next().unwrap_or(page);
    let stem = name.split('.').next().unwrap_or(name);
    let parts: Vec<&str> = stem.split(['-', '_']).collect();
    let mut chips = ChipSet::NONE;
    let mut place = 0;
    while let Some(part) = parts.get(place) {
        let next = parts.get(place + 1).and_then(|next| ChipSet::of(&format!("{part}{next}")));
        place += if next.is_some() { 2 } else { 1 };
        chips = next.or_else(|| ChipSet::of(part)).map_or(chips, |chip| chips.or(chip));
    }
    if chips.is_empty() { ChipSet::ALL } else { chips }
}

/// The chips of each folder below the examples whose description has a table of them.
fn targets_of_examples<'a>(
    root: &Path,
    paths: impl Iterator<Item = &'a str>,
) -> BTreeMap<String, ChipSet> {
    let mut targets = BTreeMap::new();
    for path in paths {
        if let Some(folder) = path.strip_suffix(README)
            && folder.starts_with(EXAMPLES)
            && let Ok(start) = files::read_start(&root.join(path), START_OF_README)
            && let Some(chips) = supported_targets(&String::from_utf8_lossy(&start))
        {
            targets.insert(folder.to_owned(), chips);
        }
    }
    targets
}

/// The chips that the first table of supported targets in a text names.
fn supported_targets(text: &str) -> Option<ChipSet> {
    let cells = |line: &str| line.trim().strip_prefix('|').map(str::to_owned);
    let row = text.lines().filter_map(cells).find(|row| row.trim_start().starts_with(TARGETS))?;
    let chips = row.split('|').filter_map(ChipSet::of).fold(ChipSet::NONE, ChipSet::or);
    (!chips.is_empty()).then_some(chips)
}

/// The chips of the nearest folder above a file that names some; of what several examples share,
/// those of any of them.
fn of_example(targets: &BTreeMap<String, ChipSet>, path: &str) -> ChipSet {
    let mut folder = path;
    while let Some(end) = folder.trim_end_matches('/').rfind('/') {
        folder = &folder[..=end];
        if let Some(chips) = targets.get(folder) {
            return *chips;
        }
    }
    let Some(group) = shared_by(path) else { return ChipSet::ALL };
    let below = targets.range(group.to_owned()..).take_while(|(name, _)| name.starts_with(group));
    let chips = below.fold(ChipSet::NONE, |chips, (_, more)| chips.or(*more));
    if chips.is_empty() { ChipSet::ALL } else { chips }
}

/// The folder of the examples that share a file: it describes them, or lies in their common folder.
fn shared_by(path: &str) -> Option<&str> {
    let group = match path.find("/common") {
        Some(end) => &path[..=end],
        None => path.strip_suffix(README)?,
    };
    (group.starts_with(EXAMPLES) && group != EXAMPLES).then_some(group)
}

#[cfg(test)]
#[path = "applies_tests.rs"]
mod tests;
