//! A number that a text gives a name to, and how numbers are written.
//!
//! Must not know languages.

/// A number that a text gives a name to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NamedNumber {
    pub(super) name: String,
    /// Infinite where it stands for no limit.
    pub(super) value: f64,
    /// What it is counted in, where that is written with it: `pdMS_TO_TICKS`, `s`; else empty.
    pub(super) unit: String,
    /// As it is written.
    pub(super) shown: String,
    /// The line that names it, and the one of a constant that it comes from, from 1.
    pub(super) lines: [u32; 2],
}

/// A number as it is written, and the unit behind it.
pub(super) fn number(raw: &str) -> Option<(f64, String)> {
    let plain: String = raw.chars().filter(|c| !matches!(c, '_' | '\'')).collect();
    let lower = plain.to_ascii_lowercase();
    let (sign, digits) = match lower.strip_prefix('-') {
        Some(digits) => (-1.0, digits),
        None => (1.0, lower.as_str()),
    };
    for (start, radix) in [("0x", 16), ("0b", 2), ("0o", 8)] {
        if let Some(rest) = digits.strip_prefix(start) {
            let value = u64::from_str_radix(rest.trim_end_matches(['u', 'l']), radix).ok()?;
            #[expect(clippy::cast_precision_loss, reason = "compared by their size")]
            return Some((sign * value as f64, String::new()));
        }
    }
    let end = digits.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(digits.len());
    let (value, unit) = digits.split_at(end);
    let value: f64 = match unit.strip_prefix('e').and_then(|power| power.parse::<i32>().ok()) {
        Some(_) => digits.parse().ok()?,
        None => value.parse().ok()?,
    };
    let types = ["u", "l", "ul", "lu", "ull", "ll", "f", "u8", "u16", "u32", "u64", "i32", "i64"];
    let has_unit = unit.bytes().all(|byte| byte.is_ascii_alphabetic()) && !types.contains(&unit);
    Some((sign * value, if has_unit { unit.to_owned() } else { String::new() }))
}
