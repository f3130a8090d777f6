//! Where the table of partitions is in the flash of a project.

use crate::model::ProjectPath;
use crate::toolchain::partition_csv;
use crate::workspace::ProjectDir;

/// Where the table of partitions lies, as the last build or the configuration says.
pub(super) fn table_offset(project_dir: &ProjectDir) -> Option<u32> {
    let read = |file: &str| {
        let content = project_dir.read(&ProjectPath::new(file).ok()?).ok()?;
        String::from_utf8(content).ok()
    };
    let built = || {
        let args: serde_json::Value =
            serde_json::from_str(&read("build/flasher_args.json")?).ok()?;
        partition_csv::number(args.get("partition-table")?.get("offset")?.as_str()?)
    };
    let configured = || {
        let text = read("sdkconfig")?;
        let value =
            text.lines().find_map(|line| line.strip_prefix("CONFIG_PARTITION_TABLE_OFFSET="));
        partition_csv::number(value?.trim())
    };
    built().or_else(configured)
}
