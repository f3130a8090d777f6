//! What a partition holds, and how much.

use crate::model::Partition;
use crate::toolchain::partition_csv::{is_app, is_data};

/// E.g. `4 MB`.
pub(super) fn amount(bytes: u64) -> String {
    match bytes >> 20 {
        megabytes if megabytes > 0 && bytes.is_multiple_of(1 << 20) => format!("{megabytes} MB"),
        _ => format!("{bytes} bytes"),
    }
}

/// Whether a partition holds what nobody can make again: settings, keys, files.
pub(super) fn keeps_data(partition: &Partition) -> bool {
    const MADE_AGAIN: [&str; 5] = ["ota", "phy", "coredump", "esphttpd", "tee_ota"];
    const PROGRAMS: [&str; 4] = ["bootloader", "partition_table", "0x02", "0x03"];
    let is_program = is_app(&partition.kind) || PROGRAMS.contains(&partition.kind.as_str());
    let is_made_again =
        is_data(&partition.kind) && MADE_AGAIN.contains(&partition.subtype.as_str());
    !is_program && !is_made_again
}
