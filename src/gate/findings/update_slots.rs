//! Slots for updates that a partition table no longer has.
//!
//! What happens to the data of partitions is told by [`partition_table`](super::partition_table).

use super::Subject;
use crate::model::{Check, CheckKind, Finding, FindingLevel, FindingPlace, Partition, ProjectPath};
use crate::toolchain::partition_csv::is_app;
use crate::toolchain::partitions::from_csv;

/// Parts of tasks that may want updates over the air to end.
const WISHES: [&str; 16] = [
    "factory",
    "without ota",
    "no ota",
    "drop ota",
    "remove ota",
    "remove the ota",
    "drop the ota",
    "single app",
    "one app",
    "one slot",
    "only app",
    "ohne ota",
    "sans ota",
    "sin ota",
    "no updates",
    "no more updates",
];

/// The check of a table; `None` where it has as many slots as before, or a task gives them up.
pub(super) fn find(path: &ProjectPath, subject: &Subject<'_>) -> Option<Check> {
    let (old, new) = (subject.base_text()?, subject.text()?);
    let task = subject.context.person_words();
    let gives_up = WISHES.iter().any(|wish| task.contains(wish));
    if path.extension() != Some("csv") || gives_up || !subject.context.has_task() {
        return None;
    }
    let slots = |text: &str| -> Option<Vec<Partition>> {
        let all = from_csv(text)?.into_iter();
        Some(all.filter(|part| is_app(&part.kind) && part.subtype.starts_with("ota_")).collect())
    };
    let (was, is) = (slots(old)?, slots(new)?);
    if was.len() < 2 || is.len() >= 2 {
        return None;
    }
    let labels: Vec<String> = was.iter().map(|part| format!("`{}`", part.label)).collect();
    let text = format!("leaves no two slots for updates over the air, of {}", labels.join(", "));
    let first = subject.changed().added.first().copied().unwrap_or(1);
    let program = (1..).zip(new.lines()).find(|(line, text)| {
        subject.changed().added.contains(line)
            && text.split(',').nth(1).is_some_and(|it| it.trim() == "app")
    });
    let finding = Finding::new(FindingLevel::Warning, text)
        .at(FindingPlace::line(program.map_or(first, |(line, _)| line)))
        .advice("The task does not ask for it. Boards could no longer be updated from afar.");
    Some(Check::with(CheckKind::PartitionTable, vec![finding]))
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::reported;
    use crate::model::CheckKind;

    #[test]
    fn slots_that_go_are_reported() {
        let old = "nvs, data, nvs, 0x9000, 0x6000\notadata, data, ota, 0xf000, 0x2000\nota_0, app, ota_0, 0x20000, \
                   0x1E0000\nota_1, app, ota_1, 0x200000, 0x1E0000\n";
        let found = |new: &str, task: &str| {
            let all = reported(CheckKind::PartitionTable, ("partitions.csv", Some(old), new), task);
            all.into_iter().filter(|found| found.contains("no two slots")).collect::<Vec<_>>()
        };
        let one = "nvs, data, nvs, 0x9000, 0x6000\nfactory, app, factory, 0x10000, 0x3F0000\n";
        let wanted = "Warning 2: leaves no two slots for updates over the air, of `ota_0`, `ota_1`";
        assert_eq!(found(one, "Make both app slots larger"), [wanted]);
        assert_eq!(found(one, "One factory app is enough"), [] as [String; 0]);
        let smaller = old.replace("0x1E0000", "0x1D0000");
        assert_eq!(found(&smaller, "Make the app slots smaller"), [] as [String; 0]);
    }
}
