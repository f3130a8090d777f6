//! Which partition table a project is configured for, where it lies, and how large the flash is.
//!
//! Owns the options that say so. Reads through a function, so that the project can be looked at as
//! it is and as it will be. Must not judge.

use crate::toolchain::flash_map::{TABLE_BYTES, TABLE_OFFSET};
use crate::toolchain::partition_csv::number;

/// Gives the text of a file of the project.
pub(super) type ReadText<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The tables that come with ESP-IDF, by the option that chooses them. Source:
/// `components/partition_table` of v5.5.
const BUILT_IN: [(&str, &str); 4] = [
    ("SINGLE_APP", "nvs,data,nvs,,0x6000\nphy_init,data,phy,,0x1000\nfactory,app,factory,,1M\n"),
    (
        "SINGLE_APP_LARGE",
        "nvs,data,nvs,,0x6000\nphy_init,data,phy,,0x1000\nfactory,app,factory,,1500K\n",
    ),
    (
        "TWO_OTA",
        "nvs,data,nvs,,0x4000\notadata,data,ota,,0x2000\nphy_init,data,phy,,0x1000\n\
         factory,app,factory,,1M\nota_0,app,ota_0,,1M\nota_1,app,ota_1,,1M\n",
    ),
    (
        "TWO_OTA_LARGE",
        "nvs,data,nvs,,0x4000\notadata,data,ota,,0x2000\nphy_init,data,phy,,0x1000\n\
         ota_0,app,ota_0,,1700K\nota_1,app,ota_1,,1700K\n",
    ),
];

/// Where an option stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OptionPlace {
    pub(super) file: String,
    /// From 1.
    pub(super) line: u32,
}

/// The table that a project is configured for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChosenTable {
    /// Its file, or the name of one that comes with ESP-IDF.
    pub(super) name: String,
    /// Whether it is a file of the project.
    pub(super) is_own: bool,
    /// `None` when the file is not there.
    pub(super) text: Option<String>,
    pub(super) place: OptionPlace,
}

impl ChosenTable {
    /// The table of a project whose options, in `file`, choose none.
    pub(super) fn by_default(file: &str) -> Self {
        let place = OptionPlace { file: file.to_owned(), line: 1 };
        let (name, text) = match file {
            "platformio.ini" => ("the framework's own table", None),
            _ => BUILT_IN.first().map_or(("SINGLE_APP", None), |(name, text)| (*name, Some(*text))),
        };
        Self { name: name.to_owned(), is_own: false, text: text.map(str::to_owned), place }
    }
}

/// What the options of a project say about its flash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FlashLayout {
    pub(super) table: Option<ChosenTable>,
    /// Where the table lies; `None` when no option says so.
    pub(super) offset: Option<(u32, OptionPlace)>,
    /// Bytes of flash.
    pub(super) size: Option<(u64, OptionPlace)>,
}

impl FlashLayout {
    /// `first` is a file of options that counts more than others.
    pub(super) fn of(read: ReadText<'_>, first: Option<&str>) -> Self {
        let usual = ["sdkconfig", "sdkconfig.defaults", "platformio.ini"];
        let usual = usual.into_iter().filter(|file| first != Some(*file));
        let files: Vec<(&str, String)> =
            first.into_iter().chain(usual).filter_map(|file| Some((file, read(file)?))).collect();
        Self {
            table: files.iter().find_map(|(file, text)| table(file, text, &files, read)),
            offset: find(&files, "CONFIG_PARTITION_TABLE_OFFSET")
                .and_then(|(value, place)| Some((number(&value)?, place))),
            size: files.iter().find_map(|(file, text)| size(file, text)),
        }
    }

    /// Where the first entry without an offset may begin.
    pub(super) fn first(&self) -> u32 {
        let offset = self.offset.as_ref().map_or(TABLE_OFFSET, |(offset, _)| *offset);
        offset.saturating_add(TABLE_BYTES)
    }
}

/// Names and values, with the lines they stand in.
fn settings(text: &str) -> impl DoubleEndedIterator<Item = (u32, &str, &str)> {
    let lines: Vec<(u32, &str)> = (1..).zip(text.lines()).collect();
    lines.into_iter().filter_map(|(number, line)| {
        let (name, value) = line.split_once('=')?;
        let is_comment = name.trim_start().starts_with(['#', ';']);
        let value = value.trim().trim_matches('"');
        (!is_comment && !value.is_empty()).then_some((number, name.trim(), value))
    })
}

/// The last value that a file gives an option: later lines win.
fn value(text: &str, key: &str) -> Option<(String, u32)> {
    if !text.contains(key) {
        return None;
    }
    let (line, _, value) = settings(text).rev().find(|(_, name, _)| *name == key)?;
    Some((value.to_owned(), line))
}

fn find(files: &[(&str, String)], key: &str) -> Option<(String, OptionPlace)> {
    files.iter().find_map(|(file, text)| {
        let (value, line) = value(text, key)?;
        Some((value, OptionPlace { file: (*file).to_owned(), line }))
    })
}

fn table(
    file: &str,
    text: &str,
    files: &[(&str, String)],
    read: ReadText<'_>,
) -> Option<ChosenTable> {
    let place = |line| OptionPlace { file: file.to_owned(), line };
    if file == "platformio.ini" {
        let (name, line) = value(text, "board_build.partitions")?;
        // What the project does not have comes with the framework.
        let text = read(&name);
        let (is_own, name) = match &text {
            Some(_) => (true, name),
            None => (false, format!("`{name}` of the framework")),
        };
        return Some(ChosenTable { name, is_own, text, place: place(line) });
    }
    let prefix = "CONFIG_PARTITION_TABLE_";
    if !text.contains(prefix) {
        return None;
    }
    let chosen = settings(text).rev().find_map(|(line, name, value)| {
        let choice = name.strip_prefix(prefix)?;
        let is_choice = choice == "CUSTOM" || BUILT_IN.iter().any(|(known, _)| *known == choice);
        (is_choice && value == "y").then_some((line, choice))
    });
    let (line, choice) = chosen?;
    if let Some((name, text)) = BUILT_IN.iter().find(|(known, _)| *known == choice) {
        let (name, text) = ((*name).to_owned(), Some((*text).to_owned()));
        return Some(ChosenTable { name, is_own: false, text, place: place(line) });
    }
    let named = find(files, "CONFIG_PARTITION_TABLE_CUSTOM_FILENAME");
    let (name, place) = named.unwrap_or_else(|| ("partitions.csv".to_owned(), place(line)));
    let text = read(&name);
    Some(ChosenTable { name, is_own: true, text, place })
}

/// `CONFIG_ESPTOOLPY_FLASHSIZE="4MB"` and `CONFIG_ESPTOOLPY_FLASHSIZE_4MB=y`, and PlatformIO's.
fn size(file: &str, text: &str) -> Option<(u64, OptionPlace)> {
    let key = "CONFIG_ESPTOOLPY_FLASHSIZE";
    let names = ["board_upload.flash_size", "board_build.flash_size"];
    if !text.contains(key) && !names.iter().any(|name| text.contains(name)) {
        return None;
    }
    settings(text).rev().find_map(|(line, name, value)| {
        let size = match name.strip_prefix(key) {
            Some("") => value,
            Some(rest) => rest.strip_prefix('_').filter(|_| value == "y")?,
            None => names.contains(&name).then_some(value)?,
        };
        let bytes = number(size.to_ascii_lowercase().trim_end_matches('b'))?;
        Some((u64::from(bytes), OptionPlace { file: file.to_owned(), line }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_say_which_table_there_is_and_where() {
        let read = |file: &str| match file {
            "sdkconfig.defaults" => Some(
                "CONFIG_ESPTOOLPY_FLASHSIZE_2MB=y\nCONFIG_ESPTOOLPY_FLASHSIZE_8MB=y\n\
                 CONFIG_PARTITION_TABLE_CUSTOM=y\n\
                 CONFIG_PARTITION_TABLE_CUSTOM_FILENAME=\"parts/a.csv\"\n\
                 # CONFIG_PARTITION_TABLE_OFFSET=0xa000\nCONFIG_PARTITION_TABLE_OFFSET=0x9000\n"
                    .to_owned(),
            ),
            "parts/a.csv" => Some("nvs,data,nvs,,0x4000\n".to_owned()),
            _ => None,
        };
        let layout = FlashLayout::of(&read, None);
        let table = layout.table.clone().unwrap();
        assert_eq!((table.name.as_str(), table.is_own, table.place.line), ("parts/a.csv", true, 4));
        assert_eq!((layout.first(), layout.size.unwrap().0), (0xa000, 8 << 20));
        let other = |file: &str| match file {
            "sdkconfig" => Some("CONFIG_PARTITION_TABLE_TWO_OTA=y\n".to_owned()),
            _ => read(file),
        };
        let table = FlashLayout::of(&other, None).table.unwrap();
        assert_eq!((table.name.as_str(), table.is_own), ("TWO_OTA", false));
        let first = FlashLayout::of(&other, Some("sdkconfig.defaults")).table.unwrap();
        assert!(first.is_own, "the file at hand counts more");
        assert_eq!(FlashLayout::of(&|_| None, None).table, None);
    }
}
