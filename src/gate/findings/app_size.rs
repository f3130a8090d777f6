//! How large the program of the project is, as far as its files tell: the last build, or a report of one
//! that somebody keeps.
//!
//! Must not judge whether it fits.

use std::sync::LazyLock;

use regex::Regex;

use super::Subject;
use crate::model::ProjectPath;

/// Reports that are read.
const MOST_REPORTS: usize = 8;

/// How much of a report is read, in bytes.
const REPORT_BYTES: u64 = 1 << 18;

/// The program's length in bytes, and the file that tells it.
pub(super) struct AppSize {
    pub(super) file: String,
    pub(super) bytes: u64,
}

impl AppSize {
    /// Of the last build, else the one that a report names.
    pub(super) fn of(subject: &Subject<'_>) -> Option<Self> {
        built(subject).or_else(|| reported(subject))
    }
}

fn built(subject: &Subject<'_>) -> Option<AppSize> {
    let read = |file: &str| subject.project_dir.read(&ProjectPath::new(file).ok()?).ok();
    let args: serde_json::Value = serde_json::from_slice(&read("build/flasher_args.json")?).ok()?;
    let file = format!("build/{}", args.get("app")?.get("file")?.as_str()?);
    let path = ProjectPath::new(&file).ok()?;
    let bytes = subject.project_dir.read_start(&path, 1).ok()?.total;
    Some(AppSize { file, bytes })
}

/// What `idf.py build` and `idf.py size` say in a file whose name speaks of it.
fn reported(subject: &Subject<'_>) -> Option<AppSize> {
    static SIZE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"binary size 0x([0-9a-fA-F]+) bytes|Total image size:\s*(\d+)").ok()
    });
    let size = SIZE.as_ref()?;
    let is_report = |path: &ProjectPath| {
        let name = path.file_name().to_ascii_lowercase();
        path.extension().is_some_and(|end| ["txt", "log", "md"].contains(&end))
            && ["size", "build", "report"].iter().any(|word| name.contains(word))
    };
    let reports = subject.files().iter().map(|file| &file.path).filter(|path| is_report(path));
    reports.take(MOST_REPORTS).find_map(|path| {
        let start = subject.project_dir.read_start(path, REPORT_BYTES).ok()?;
        let text = String::from_utf8_lossy(&start.content).into_owned();
        // The bootloader's size is told the same way, before that of the program.
        let lines = text.lines().filter(|line| !line.to_lowercase().contains("bootloader"));
        let mut bytes = lines.filter_map(|line| {
            let groups = size.captures(line)?;
            match (groups.get(1), groups.get(2)) {
                (Some(hex), _) => u64::from_str_radix(hex.as_str(), 16).ok(),
                (None, total) => total?.as_str().parse().ok(),
            }
        });
        Some(AppSize { file: path.as_str().to_owned(), bytes: bytes.next_back()? })
    })
}

#[cfg(test)]
mod tests {
    use super::super::test_changes::TestProject;
    use crate::model::CheckKind;

    #[test]
    fn a_slot_that_is_smaller_than_a_kept_report_says_is_told() {
        let table = |size: &str| {
            format!("nvs,data,nvs,0x9000,0x6000\nfactory,app,factory,0x10000,{size}\n")
        };
        let found = |report: (&str, &str), size: &str| {
            let files = [("partitions.csv", &*table("0x1f0000")), report];
            let all = TestProject { files: &files, task: "Make room", chip: None }
                .reported(CheckKind::PartitionTable, &[("partitions.csv", Some(&table(size)))]);
            all.into_iter().filter(|found| found.contains(" gives ")).collect::<Vec<_>>()
        };
        let build =
            "Bootloader binary size 0x6880 bytes.\na.bin binary size 0x1586b0 bytes. 31% free.\n";
        let wanted = "partitions.csv Warning: gives `factory` 1048576 bytes, and \
                      `docs/size-report.txt` says that the program has 1410736";
        assert_eq!(found(("docs/size-report.txt", build), "0x100000"), [wanted]);
        let total = "Total image size: 1410736 bytes (.bin may be padded larger)\n";
        assert_eq!(found(("docs/size-report.txt", total), "0x100000"), [wanted]);
        assert_eq!(found(("docs/size-report.txt", build), "0x160000"), [] as [String; 0]);
        assert_eq!(found(("docs/notes.txt", build), "0x100000"), [] as [String; 0]);
    }
}
