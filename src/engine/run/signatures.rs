//! The signatures in the sources of the project, within bounds.
//!
//! Reads the project; must not write anything.

use std::time::{Duration, Instant};

use crate::lang;
use crate::model::event::FileSignatures;
use crate::workspace::{Listing, ProjectDir};

/// Longest source that is read, in bytes.
const MOST_BYTES: u64 = 256 << 10;

/// Signatures of all files together.
const MOST_LINES: usize = 400;

/// Time for one file, and for all of them.
const OF_FILE: Duration = Duration::from_millis(100);
const OF_ALL: Duration = Duration::from_secs(2);

/// The signatures of the sources in a list, by file; what is left out is said in the last line.
pub(super) fn read(project: &ProjectDir, listing: &Listing) -> Vec<FileSignatures> {
    let until = Instant::now() + OF_ALL;
    let mut found: Vec<FileSignatures> = Vec::new();
    let (mut lines, mut left_out) = (0, 0);
    for file in listing.files.iter().filter(|file| file.bytes <= MOST_BYTES) {
        if Instant::now() > until {
            left_out += 1;
            continue;
        }
        let Some(text) = project.read(&file.path).ok().and_then(|it| String::from_utf8(it).ok())
        else {
            continue;
        };
        let mut own = lang::signatures(&file.path, &text, OF_FILE);
        if own.is_empty() {
            continue;
        }
        if lines + own.len() > MOST_LINES {
            own.truncate(MOST_LINES.saturating_sub(lines));
            left_out += 1;
        }
        lines += own.len();
        if !own.is_empty() {
            found.push(FileSignatures { path: file.path.clone(), lines: own });
        }
    }
    if let Some(last) = found.last_mut().filter(|_| left_out > 0) {
        last.lines.push(format!("({left_out} more files have signatures that are left out here)"));
    }
    found
}
