//! Which names say that their value bounds something.
//!
//! Owns the words of names. Must not look at values.

/// Words of names that bound something.
const LIMITS: [&str; 21] = [
    "limit",
    "limits",
    "lim",
    "max",
    "maximum",
    "min",
    "minimum",
    "timeout",
    "timeouts",
    "tmo",
    "threshold",
    "thresholds",
    "thresh",
    "deadline",
    "cutoff",
    "ceiling",
    "watchdog",
    "wdt",
    "bound",
    "budget",
    "quota",
];

/// Whether a name says that its value bounds something.
pub(super) fn is_limit(name: &str) -> bool {
    let mut was_time = false;
    words(name).any(|word| {
        let is = |known: &str| word.eq_ignore_ascii_case(known);
        let is_it = LIMITS.iter().any(|limit| is(limit)) || was_time && is("out");
        was_time = is("time");
        is_it
    })
}

/// The words of a name: `MAX_TEMP`, `maxTemp`, `max-temp`.
pub(super) fn words(name: &str) -> impl Iterator<Item = &str> {
    let bytes = name.as_bytes();
    let is_upper = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_uppercase);
    let mut at = 0;
    std::iter::from_fn(move || {
        while !bytes.get(at)?.is_ascii_alphabetic() {
            at += 1;
        }
        // A word ends before a capital letter behind a small one.
        let mut end = at + 1;
        while bytes.get(end).is_some_and(u8::is_ascii_alphabetic)
            && (!is_upper(end) || is_upper(end - 1))
        {
            end += 1;
        }
        let word = name.get(at..end);
        at = end;
        word
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_name_end_at_marks_and_capitals() {
        let all = |name: &str| words(name).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(all("MAX_TEMP2_C"), ["MAX", "TEMP", "C"]);
        assert_eq!(all("kChargeMv"), ["k", "Charge", "Mv"]);
        assert_eq!(all("max-current.a"), ["max", "current", "a"]);
        assert_eq!(all("__1"), [] as [String; 0]);
    }

    #[test]
    fn names_say_whether_they_bound_something() {
        assert!(is_limit("BUDGET_MS") && is_limit("kQuota"));
        for name in ["PUMP_LIMIT", "pumpLimit", "kMaxTemp", "CONFIG_X_TIMEOUT_S", "time_out_ms"] {
            assert!(is_limit(name), "{name}");
        }
        for name in ["CLIMATE", "maxim", "minute", "unlimited", "timer", "LED_GPIO"] {
            assert!(!is_limit(name), "{name}");
        }
    }
}
