//! What a flash does to the board's memory.

use super::Subject;
use crate::model::{Check, CheckKind, Facts, Finding, FindingLevel, FlashPlan};

/// The checks of a flash.
pub(super) fn find(plan: &FlashPlan, subject: &Subject<'_>) -> Vec<Check> {
    let mut found = vec![match plan.touches_boot {
        true => Check::of(
            CheckKind::BootUntouched,
            FindingLevel::Warning,
            "writes the bootloader or the partition table",
        ),
        false => Check::clean(CheckKind::BootUntouched),
    }];
    found.extend(fits(subject.facts));
    found
}

fn fits(facts: &Facts) -> Option<Check> {
    let flash = facts.flash.as_ref()?;
    let wrong = flash.landings.iter().filter_map(|landing| {
        let text = match (landing.place.is_empty(), landing.overflow) {
            (true, _) => format!("`{}` is outside of every partition", landing.file),
            (false, 0) => return None,
            (false, bytes) => {
                format!("`{}` is {bytes} bytes too long for {}", landing.file, landing.place)
            }
        };
        Some(Finding::new(FindingLevel::Stop, text))
    });
    Some(Check::with(CheckKind::Fits, wrong.collect()))
}
