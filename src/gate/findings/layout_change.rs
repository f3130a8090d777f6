//! Options that give a project another partition table, another place of it, or less flash.
//!
//! Compares the project before with what it will be. The table's own lines are judged by
//! [`partition_table`](super::partition_table).

use super::Subject;
use super::layout_options::{ChosenTable, FlashLayout, OptionPlace};
use super::limit::limited;
use super::partition_data::{amount, lost};
use crate::model::{Check, CheckKind, Finding, FindingLevel, FindingPlace, Partition, ProjectPath};
use crate::toolchain::flash_map::addresses;
use crate::toolchain::partition_csv::{self, is_app};

/// The check of a file of options; `None` for other files.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Check> {
    let name = path.as_str();
    if !name.starts_with("sdkconfig") && name != "platformio.ini" {
        return None;
    }
    let (was, is) = both(subject, Some(name));
    // A new file of options is another way to build, and not a change of the usual one.
    let is_usual = subject.base.is_some() || matches!(name, "sdkconfig" | "sdkconfig.defaults");
    let change = LayoutChange { was, is, own: name };
    let mut found = change.beyond();
    if is_usual {
        found.extend(change.moved());
        found.extend(change.switched());
    }
    Some(limited(CheckKind::PartitionTable, found))
}

/// The check of a deletion: whether the project is still configured for that table.
pub(super) fn deleted(path: &ProjectPath, subject: &Subject<'_>) -> Option<Check> {
    if path.as_str().starts_with("sdkconfig") || path.as_str() == "platformio.ini" {
        let (was, is) = both(subject, None);
        let change = LayoutChange { was, is, own: path.as_str() };
        return Some(limited(CheckKind::PartitionTable, change.switched()));
    }
    let table = FlashLayout::of(&|file| subject.text_after(file), None).table?;
    if !table.is_own || table.name != path.as_str() {
        return None;
    }
    let OptionPlace { file, line } = table.place;
    let text = format!("deletes the partition table that {file}:{line} names");
    let advice = "Name another table there first.";
    let finding = Finding::new(FindingLevel::Stop, text).advice(advice);
    Some(Check::with(CheckKind::PartitionTable, vec![finding]))
}

/// The table that was in force, where a change makes `path` the one instead of it.
pub(super) fn replaced(path: &ProjectPath, subject: &Subject<'_>) -> Option<(String, u32)> {
    let (was, is) = both(subject, None);
    let first = was.first();
    let (was, is) = (was.table?, is.table?);
    let is_new_one = is.is_own && is.name == path.as_str() && was.is_own && was.name != is.name;
    is_new_one.then_some((was.text?, first))
}

fn both(subject: &Subject<'_>, first: Option<&str>) -> (FlashLayout, FlashLayout) {
    let was = FlashLayout::of(&|file| subject.text_before(file), first);
    let after = |file: &str| {
        let text = subject.text_after(file)?;
        match (file, subject.text_before(file)) {
            ("platformio.ini", Some(before)) => Some(without_new_sections(&before, &text)),
            _ => Some(text),
        }
    };
    let mut is = FlashLayout::of(&after, first);
    // What no option chooses any more is the table that the framework uses by default.
    if let (Some(table), None) = (&was.table, &is.table) {
        is.table = Some(ChosenTable::by_default(&table.place.file));
    }
    (was, is)
}

/// The settings of PlatformIO without environments that come in, which are for other boards. Lines keep
/// their numbers.
fn without_new_sections(before: &str, after: &str) -> String {
    let is_section = |line: &str| line.starts_with("[env:") && line.trim_end().ends_with(']');
    let has =
        |text: &str, line: &str| text.lines().any(|other| other.trim_end() == line.trim_end());
    let of = |text: &str, is: fn(&str) -> bool| -> Vec<String> {
        text.lines().filter(|line| is(line)).map(|line| line.trim_end().to_owned()).collect()
    };
    let is_default = |line: &str| line.trim_start().starts_with("default_envs");
    let sections = of(before, is_section);
    // What is built by default may be another one now.
    let stays = sections.iter().all(|section| has(after, section));
    if sections.is_empty() || !stays || of(before, is_default) != of(after, is_default) {
        return after.to_owned();
    }
    let mut is_new = false;
    let mut lines = Vec::new();
    for line in after.lines() {
        if line.starts_with('[') {
            is_new = is_section(line) && !has(before, line);
        }
        lines.push(if is_new { "" } else { line });
    }
    lines.join("\n") + "\n"
}

fn rows(layout: &FlashLayout) -> Option<Vec<Partition>> {
    let text = layout.table.as_ref()?.text.as_ref()?;
    let (rows, _) = partition_csv::read(text, layout.first());
    Some(rows.into_iter().map(|row| row.partition).collect())
}

struct LayoutChange<'a> {
    was: FlashLayout,
    is: FlashLayout,
    /// The file of options that changes.
    own: &'a str,
}

impl LayoutChange<'_> {
    fn finding(&self, level: FindingLevel, text: String, place: Option<&OptionPlace>) -> Finding {
        let finding = Finding::new(level, text);
        match place.filter(|place| place.file == self.own) {
            Some(place) => finding.at(FindingPlace::line(place.line)),
            None => finding,
        }
    }

    fn is_switched(&self) -> bool {
        let name = |layout: &FlashLayout| layout.table.as_ref().map(|table| table.name.clone());
        name(&self.was).is_some() && name(&self.was) != name(&self.is)
    }

    fn is_moved(&self) -> bool {
        self.was.first() != self.is.first()
    }

    /// Partitions behind the end of the flash, once that or the table is another one.
    fn beyond(&self) -> Vec<Finding> {
        let bytes = |layout: &FlashLayout| layout.size.as_ref().map(|(bytes, _)| *bytes);
        if bytes(&self.was) == bytes(&self.is) && !self.is_switched() && !self.is_moved() {
            return Vec::new();
        }
        let (Some((size, place)), Some(table), Some(rows)) =
            (&self.is.size, &self.is.table, rows(&self.is))
        else {
            return Vec::new();
        };
        let last = rows.iter().max_by_key(|row| addresses(row).end);
        let last = last.filter(|row| addresses(row).end > *size);
        let finding = last.map(|row| {
            let (end, flash) = (addresses(row).end, amount(*size));
            let text = format!(
                "sets {flash} of flash, and `{}` of {} ends at 0x{end:x}",
                row.label,
                shown(&table.name, table.is_own)
            );
            let advice = "Take a table that fits, or the size that the board has.";
            self.finding(FindingLevel::Stop, text, Some(place)).advice(advice)
        });
        finding.into_iter().collect()
    }

    /// The table at another place.
    fn moved(&self) -> Vec<Finding> {
        if !self.is_moved() {
            return Vec::new();
        }
        let place = self.is.offset.as_ref().map(|(_, place)| place);
        let (from, to) = (self.was.first(), self.is.first());
        let table_at = |first: u32| first.saturating_sub(partition_csv::SECTOR);
        let (from, to) = (table_at(from), table_at(to));
        let text = format!("moves the partition table from 0x{from:x} to 0x{to:x}");
        let advice = "Boards in use have to be flashed by cable.";
        let mut found = vec![self.finding(FindingLevel::Warning, text, place).advice(advice)];
        let rows = rows(&self.is).unwrap_or_default();
        if let Some(row) = rows.iter().find(|row| row.offset < self.is.first()) {
            let text = format!(
                "puts the partition table at 0x{to:x}, and `{}` is at 0x{:x}",
                row.label, row.offset
            );
            found.insert(0, self.finding(FindingLevel::Stop, text, place));
        }
        found
    }

    /// Another table, and what boards in use lose under it.
    fn switched(&self) -> Vec<Finding> {
        if !self.is_switched() && !self.is_moved() {
            return Vec::new();
        }
        let Some(was) = &self.was.table else { return Vec::new() };
        let place = self.is.table.as_ref().map(|table| &table.place);
        let mut found = Vec::new();
        if let Some(table) = self.is.table.as_ref().filter(|table| table.text.is_none()) {
            if !table.is_own {
                let text = format!(
                    "takes {} as the partition table instead of {}: stored data may be lost",
                    table.name,
                    shown(&was.name, was.is_own)
                );
                let advice = "Compare the two tables, or say that boards in use may lose it.";
                return vec![self.finding(FindingLevel::Stop, text, place).advice(advice)];
            }
            let text = format!("names the table `{}`, which the project does not have", table.name);
            found.push(self.finding(FindingLevel::Stop, text, place));
        }
        let (Some(old), Some(new)) = (rows(&self.was), rows(&self.is)) else { return found };
        let by = match &self.is.table {
            Some(table) if self.is_switched() => {
                format!("takes {} as the partition table, which ", shown(&table.name, table.is_own))
            }
            _ => "with the table at another place ".to_owned(),
        };
        let level = if was.is_own { FindingLevel::Stop } else { FindingLevel::Warning };
        found.extend(lost(old.iter(), new.iter()).into_iter().map(|(_, text)| {
            let advice = "Boards in use lose it. Keep the entry as it is, or say so.";
            self.finding(level, format!("{by}{text}"), place).advice(advice)
        }));
        let is_slot = |row: &&Partition| is_app(&row.kind) && row.subtype.starts_with("ota_");
        let slots = old.iter().filter(is_slot).count();
        if slots > 1 && new.iter().filter(is_slot).count() < 2 {
            let text = "leaves no two slots for updates over the air".to_owned();
            found.push(self.finding(FindingLevel::Warning, text, place));
        }
        found
    }
}

/// The name of a table in words.
fn shown(name: &str, is_own: bool) -> String {
    match is_own {
        true => format!("`{name}`"),
        // Says itself where it is from.
        false if name.starts_with('`') => name.to_owned(),
        false => format!("ESP-IDF's table {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::TestProject;
    use super::*;
    use crate::gate::{FindingsContext, examine};
    use crate::model::{Draft, DraftChange};
    use crate::workspace::ProjectDir;

    const OPTIONS: &str = "CONFIG_ESPTOOLPY_FLASHSIZE_4MB=y\nCONFIG_PARTITION_TABLE_CUSTOM=y\n";
    const TABLE: &str = "nvs,data,nvs,0x9000,0x6000\nfactory,app,factory,0x10000,0x180000\n\
                         storage,data,spiffs,0x360000,0xa0000\n";

    /// What a set of changes is warned of; `None`: the file goes.
    fn warnings(changes: &[(&str, Option<String>)]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let files = [("sdkconfig.defaults", OPTIONS), ("partitions.csv", TABLE), ("old.c", "\n")];
        for (path, text) in files {
            std::fs::write(folder.path().join(path), text).unwrap();
        }
        let list = "idf_component_register(SRCS \"old.c\")\n";
        std::fs::write(folder.path().join("CMakeLists.txt"), list).unwrap();
        let project_dir = ProjectDir::open(folder.path()).unwrap();
        let draft = |(path, text): &(&str, Option<String>)| {
            let path = ProjectPath::new(path).unwrap();
            let base = project_dir.read(&path).ok();
            let change = match text {
                Some(text) => DraftChange::Save { path, base, content: text.clone().into_bytes() },
                None => DraftChange::Delete { path, base: base.unwrap() },
            };
            Draft { change, reason: String::new(), checks: Vec::new() }
        };
        let drafts = changes.iter().map(draft).collect();
        let made = examine(&project_dir, drafts, &FindingsContext::default());
        let found = made.iter().flat_map(|made| &made.checks).flat_map(|check| &check.findings);
        let heavy = found.filter(|found| found.level > FindingLevel::Note);
        heavy.map(|found| found.text.clone()).collect()
    }

    #[track_caller]
    fn expect(changes: &[(&str, Option<String>)], wanted: &[&str]) {
        let mut turned = changes.to_vec();
        turned.reverse();
        for set in [changes.to_vec(), turned] {
            let found = warnings(&set);
            let is_there = |text: &&str| found.iter().any(|found| found.contains(*text));
            assert!(wanted.iter().all(is_there), "{set:?}\n{found:?}");
            assert!(!wanted.is_empty() || found.is_empty(), "{set:?}\n{found:?}");
        }
    }

    #[test]
    fn an_environment_that_comes_in_has_a_table_of_its_own() {
        let small = "nvs,data,nvs,0x9000,0x5000\napp0,app,factory,0x10000,0x200000\nfs,data,spiffs,0x210000,0x10000\n";
        let large = small.replace("0x200000", "0x300000").replace("0x210000", "0x310000");
        let old = "[env:a]\nboard = esp32dev\nboard_build.partitions = small.csv\n";
        let files = [("small.csv", small), ("platformio.ini", old)];
        let project = TestProject { files: &files, chip: Some("esp32"), task: "Add the board b" };
        let found = |ini: &str| {
            let changes = [("platformio.ini", Some(ini)), ("large.csv", Some(large.as_str()))];
            let all = project.findings(CheckKind::PartitionTable, &changes).into_iter();
            all.filter(|(_, found)| found.text.contains("moves")).count()
        };
        let added =
            format!("{old}\n[env:b]\nboard = esp32dev\nboard_build.partitions = large.csv\n");
        assert_eq!(found(&added), 0);
        let renamed = old.replace("env:a", "env:c").replace("small.csv", "large.csv");
        let default = format!("[platformio]\ndefault_envs = b\n\n{added}");
        for moved in [old.replace("small.csv", "large.csv"), renamed, default] {
            assert_ne!(found(&moved), 0, "{moved}");
        }
    }

    #[test]
    fn a_set_is_judged_as_a_whole() {
        let options = |size: &str| Some(OPTIONS.replace("4MB", size));
        let larger = || Some(format!("{TABLE}maps,data,fat,0x400000,0x200000\n"));
        let same = || Some(format!("# table\n{TABLE}"));
        expect(&[("sdkconfig.defaults", options("8MB")), ("partitions.csv", larger())], &[]);
        expect(&[("partitions.csv", larger())], &["beyond the 4 MB"]);
        let both = [("sdkconfig.defaults", options("2MB")), ("partitions.csv", same())];
        expect(&both, &["beyond the 2 MB", "sets 2 MB of flash, and `storage`"]);
        let list = Some("idf_component_register(SRCS \"new.c\")\n".to_owned());
        expect(&[("old.c", None), ("CMakeLists.txt", list)], &[]);
        expect(&[("old.c", None)], &["still named in CMakeLists.txt:1"]);
    }

    #[test]
    fn other_tables_and_places_of_them_are_found() {
        let with = |old: &str, new: &str| Some(OPTIONS.replace(old, new));
        let set = |options| [("sdkconfig.defaults", options)];
        expect(&set(with("4MB", "2MB")), &["sets 2 MB of flash"]);
        expect(&set(with("_CUSTOM=y", "_TWO_OTA=y")), &["removes `storage`", "shrinks `nvs`"]);
        let moved = format!("{OPTIONS}CONFIG_PARTITION_TABLE_OFFSET=0x10000\n");
        expect(&set(Some(moved)), &["from 0x8000 to 0x10000", "`nvs` is at 0x9000"]);
        let other = format!("{OPTIONS}CONFIG_PARTITION_TABLE_CUSTOM_FILENAME=\"v2.csv\"\n");
        expect(&set(Some(other.clone())), &["names the table `v2.csv`"]);
        let table = Some(TABLE.replace("0x6000", "0x4000"));
        let both = [("sdkconfig.defaults", Some(other)), ("v2.csv", table)];
        expect(&both, &["which shrinks `nvs`", "shrinks `nvs` from 0x6000 to 0x4000"]);
        expect(&[("partitions.csv", None)], &["that sdkconfig.defaults:2 names"]);
        expect(&set(with("CONFIG_PARTITION_TABLE_CUSTOM=y\n", "")), &["removes `storage`"]);
        expect(&set(with("_CUSTOM=y", "_CUSTOM=n")), &["removes `storage`"]);
        expect(&[("sdkconfig.defaults", None)], &["removes `storage`"]);
        expect(&set(with("4MB", "8MB")), &[]);
    }
}
