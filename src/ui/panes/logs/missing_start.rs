//! What is said of the output at the start of a log that is no longer kept.
//!
//! Must not read a clock.

use jiff::tz::TimeZone;

use crate::model::{LogStart, Timestamp};
use crate::ui::line;

/// How much is gone, and since when there is something, e.g. `1.2 GB before 14:05:09 not kept`;
/// `None` where everything is there. The day is said where it is not that of `began`.
pub(super) fn words(start: LogStart, began: Timestamp) -> Option<String> {
    words_in(start, began, &TimeZone::system())
}

fn words_in(start: LogStart, began: Timestamp, zone: &TimeZone) -> Option<String> {
    if start.bytes == 0 {
        return None;
    }
    let moment = |at: Timestamp| {
        let moment = jiff::Timestamp::from_millisecond(at.0).ok()?;
        Some(moment.to_zoned(zone.clone()))
    };
    let since = start.since.and_then(moment).map_or_else(String::new, |since| {
        let is_that_day = moment(began).is_some_and(|began| began.date() == since.date());
        let form = if is_that_day { " before %H:%M:%S" } else { " before %-d %b %H:%M" };
        since.strftime(form).to_string()
    });
    Some(format!("{}{since} not kept", line::bytes(start.bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_how_much_and_since_when() {
        let began = Timestamp(1_700_000_000_000);
        let words = |bytes, since: Option<i64>| {
            let start =
                LogStart { bytes, lines: 9, since: since.map(|ms| Timestamp(began.0 + ms)) };
            words_in(start, began, &TimeZone::UTC)
        };
        assert_eq!(words(0, None), None);
        assert_eq!(words(1_234_000, None).unwrap(), "1.2 MB not kept");
        assert_eq!(words(1_234_000, Some(65_000)).unwrap(), "1.2 MB before 22:14:25 not kept");
        assert_eq!(
            words(86_400_000_000, Some(86_400_000)).unwrap(),
            "86.4 GB before 15 Nov 22:13 not kept"
        );
    }
}
