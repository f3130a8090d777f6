//! The table of USB ids: which adapter it is and which chips may sit behind it.
//!
//! Owns the reading of `assets/boards/usb.toml`. Must not look at the machine.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::model::UserError;
use crate::text::lines::line_at;

/// Where the table is.
pub const FILE: &str = "assets/boards/usb.toml";

/// How DTR and RTS of an adapter start the chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResetStyle {
    /// Two transistors on EN and IO0.
    #[default]
    Classic,
    /// Lines inside the chip.
    UsbJtag,
}

/// One row of the table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adapter {
    pub vendor: u16,
    /// USB product; `None`: every other product of the vendor.
    pub product: Option<u16>,
    /// What it is called.
    pub name: String,
    /// Chips that it is usually found with, the likeliest first.
    pub chips: Vec<String>,
    /// How it starts the chip.
    pub reset: ResetStyle,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Adapters {
    rows: Vec<Adapter>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    adapter: Vec<toml::Spanned<Adapter>>,
}

impl Adapters {
    /// Reads a table; `origin` names it in errors.
    ///
    /// # Errors
    /// When it is not TOML of the right shape, or an adapter is listed twice.
    pub fn parse(origin: &str, text: &str) -> Result<Self, UserError> {
        let line_of = |at: usize| line_at(text, at);
        let wrong = |line: usize, why: String| {
            let what = format!("{origin}:{line}: not a table of USB adapters");
            UserError::new(what, why, "Compare it with the shipped assets/boards/usb.toml.")
        };
        let file: File = toml::from_str(text).map_err(|error| {
            wrong(error.span().map_or(1, |span| line_of(span.start)), error.message().to_owned())
        })?;
        let mut seen = BTreeSet::new();
        let mut rows = Vec::new();
        for row in file.adapter {
            let line = line_of(row.span().start);
            let row = row.into_inner();
            if !seen.insert((row.vendor, row.product)) {
                return Err(wrong(line, format!("{} is listed twice", row.name)));
            }
            if row.chips.is_empty() {
                return Err(wrong(line, format!("{} names no chip", row.name)));
            }
            rows.push(row);
        }
        Ok(Self { rows })
    }

    /// The adapter with those ids.
    #[must_use]
    pub fn find(&self, vendor: u16, product: u16) -> Option<&Adapter> {
        let of_vendor = || self.rows.iter().filter(|row| row.vendor == vendor);
        let exact = of_vendor().find(|row| row.product == Some(product));
        exact.or_else(|| of_vendor().find(|row| row.product.is_none()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exact_product_goes_before_the_vendor() {
        let table = Adapters::parse(FILE, include_str!("../../assets/boards/usb.toml")).unwrap();
        assert_eq!(table.find(0x303a, 0x1001).unwrap().name, "USB-Serial-JTAG");
        assert_eq!(table.find(0x303a, 0x4242).unwrap().name, "Espressif USB");
        assert_eq!(table.find(0x10c4, 0xea60).unwrap().reset, ResetStyle::Classic);
        assert_eq!(table.find(0x1234, 1), None);
    }

    #[test]
    fn a_wrong_table_is_refused_with_its_line() {
        let row =
            "[[adapter]]\nvendor = 1\nname = \"a\"\nchips = [\"esp32\"]\nreset = \"classic\"\n";
        let error = Adapters::parse("usb.toml", &format!("{row}{row}")).unwrap_err();
        assert!(error.what.starts_with("usb.toml:6:") && error.why.contains("twice"), "{error:?}");
        let error = Adapters::parse("usb.toml", &row.replace("classic", "kick")).unwrap_err();
        assert!(error.what.starts_with("usb.toml:5:"), "{error:?}");
    }
}
